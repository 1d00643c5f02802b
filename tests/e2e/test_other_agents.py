"""Conversations and steps on agents of others, the same stories for each: verdicts, files, stop, death, environment.

The agents are programs of the tests that speak the protocols by hand; real ones are in test_agent_programs.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.doors import OpenConversation, talk_in
from tests.made import Weft
from weft.app import App
from weft.conversation.other_agent.agent_conversation import OtherAgent
from weft.conversation.other_agent.runtime import AgentReach
from weft.models.file_making import FilesRequest
from weft.models.model import Request
from weft.protocol import conversation_events as t
from weft.protocol.errors import Finding, ModelFeedback, UserError
from weft.protocol.events import Record
from weft.protocol.messages import Message, Text

HERE = Path(__file__).parent
TABLES = {
    "acp": f"kind = 'acp'\ncommand = ['{sys.executable}', '{HERE / 'acp_stub.py'}']\n",
    "codex": (
        f"kind = 'codex'\ncommand = ['{sys.executable}', '{HERE / 'codex_stub.py'}']\n"
        "model = 'm'\nbase_url = 'http://127.0.0.1:9/v1'\nkey = 'none'\n"
    ),
}


@pytest.fixture(params=sorted(TABLES))
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "notes.txt").write_text("low tide at six\n")
    return folder


def played(
    weft: Weft,
    desk: Path,
    agent: str,
    story: Callable[[OpenConversation], Awaitable[None]],
    *,
    mode: Any = "ask",
    agreed: bool = True,
    table: str = "",
) -> list[Any]:
    (weft.workspace / "config.toml").write_text(f'model = "other"\n[models.other]\n{table or TABLES[agent]}')

    async def go() -> list[Any]:
        async with asyncio.timeout(100):
            with App.open(weft.workspace) as app:
                app.consents.ask = lambda request: agreed
                async with talk_in(app, session="the-talk", working=desk, mode=mode) as talk:
                    await story(talk)
                    found = [record.event for record in await talk.session.records()]
                    await talk.shutdown()
                    return found

    return asyncio.run(go())


def of(kind: type[Any], events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def asked(talk: OpenConversation, before: int = 0) -> t.ApprovalRequested:
    """The first thing that is asked about after so many others."""
    async for item in talk.events():
        if isinstance(item, Record) and isinstance(item.event, t.ApprovalRequested):
            before -= 1
            if before >= 0:
                continue
            while talk.engine.status != "awaiting_approval":
                await asyncio.sleep(0.01)
            return item.event
    raise AssertionError("nothing was asked")


def test_its_answer_is_a_turn_of_ours(weft: Weft, desk: Path, agent: str) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("say Six.")
        await talk.idle()
        talk.say("say Seven.")
        await talk.idle()

    events = played(weft, desk, agent, story)
    first, second = of(t.ModelSettled, events)
    assert (first.text, first.stop) == ("Six.", "end")
    assert first.model == {"acp": "other/agent", "codex": "other/m"}[agent]
    assert first.usage == second.usage == {"input": 11, "output": 3}
    assert first.thinking[0]["text"] == "hm"
    assert second.text == "Seven."


@pytest.mark.parametrize("decision", ["once", "denied"])
def test_what_it_asks_for_is_judged_by_our_rules_and_in_our_log(
    weft: Weft, desk: Path, agent: str, decision: t.Decision
) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("run")
        found = await asked(talk)
        assert (found.tool, (desk / "ran.txt").exists()) == ("Shell", False)
        talk.approve(found.call, decision)
        await talk.idle()

    events = played(weft, desk, agent, story)
    (settled,) = of(t.ToolSettled, events)
    texts = [one.text for one in of(t.ModelSettled, events)]
    if decision == "once":
        assert (settled.outcome, settled.text) == ("succeeded", "exit code 0")
        assert (desk / "ran.txt").read_text() == "made by the agent\n"
        assert texts == ["", "It ran."]
    else:
        assert settled.outcome == "denied"
        assert not (desk / "ran.txt").exists()
        answer = {"acp": "{'outcome': 'selected', 'optionId': 'no'}", "codex": "decline"}[agent]
        assert texts == ["", f"Not allowed ({answer})."]
    (requested,) = of(t.ToolRequested, events)
    assert requested.input == {"command": "touch ran.txt"}


def test_what_it_fetched_is_from_outside_and_the_next_command_is_asked_about(
    weft: Weft, desk: Path, agent: str
) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("run touch first.txt")
        await talk.idle()
        talk.say("run timeout 9 curl http://127.0.0.1:9/")
        await talk.idle()
        talk.say("run curl http://127.0.0.1:9/?what")
        talk.approve((await asked(talk)).call, "denied")
        await talk.idle()

    events = played(weft, desk, agent, story, mode="auto")
    assert [one.tainting for one in of(t.ToolSettled, events)] == [False, True, False]


def test_its_files_are_read_and_written_by_us_and_not_outside(weft: Weft, desk: Path) -> None:
    agent = "acp"

    async def story(talk: OpenConversation) -> None:
        talk.say("files")
        await talk.idle()
        talk.say("out")
        await talk.idle()

    events = played(weft, desk, agent, story, mode="edits")
    assert (desk / "copy.txt").read_text() == "LOW TIDE AT SIX\n"
    assert [(one.tool, one.input.get("path")) for one in of(t.ToolRequested, events)] == [
        ("Read", "notes.txt"),
        ("Write", "copy.txt"),
        ("Read", "/etc/hostname"),
    ]
    assert "outside the working folder" in of(t.ModelSettled, events)[-1].text


def test_a_change_is_allowed_once_and_its_file_is_written_within_it(weft: Weft, desk: Path) -> None:
    """It waits for the file before the call ends, and the call must end before another is looked at."""
    (desk / "notes.txt").write_text("low tide\n")

    async def story(talk: OpenConversation) -> None:
        talk.say("change it")
        talk.approve((await asked(talk)).call, "once")
        await talk.idle()

    events = played(weft, desk, "acp", story)
    assert (desk / "notes.txt").read_text() == "LOW TIDE\n"
    assert [(one.tool, one.input["path"]) for one in of(t.ToolRequested, events)] == [("Edit", "notes.txt")]
    assert of(t.ModelSettled, events)[-1].text == "Changed."


def test_it_gets_those_files_of_a_home_that_its_table_names(
    weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, token = tmp_path / "person", "tok-of-a-person-0123456789"
    (home / ".agent").mkdir(parents=True)
    (home / ".agent/auth.json").write_text(json.dumps({"token": token}))
    (home / ".agent/other.json").write_text("{}")
    monkeypatch.setenv("HOME", str(home))

    async def story(talk: OpenConversation) -> None:
        talk.say("home please")
        await talk.idle()

    table = f"{TABLES['acp']}home = ['.agent/auth.json']\n"
    (settled,) = of(t.ModelSettled, played(weft, desk, "acp", story, table=table))
    assert ".agent/auth.json" in settled.text
    assert "other.json" not in settled.text
    assert token not in settled.text, "what it was handed is a secret like any other"

    async def refused(talk: OpenConversation) -> None:
        talk.say("home please")
        await talk.idle()

    (home / ".agent/auth.json").unlink()
    (_, told) = of(t.ModelSettled, played(weft, desk, "acp", refused, table=table))
    assert "there is no .agent/auth.json in your home" in (told.reason or "")


def test_to_stop_it_ends_all_that_it_started_and_another_knows_what_was_said(
    weft: Weft, desk: Path, agent: str
) -> None:
    left: list[psutil.Process] = []
    before = psutil.Process().children(recursive=True)  # other tests may keep a server

    def children() -> list[psutil.Process]:
        return [one for one in psutil.Process().children(recursive=True) if one not in before]

    def words(process: psutil.Process) -> str:
        with contextlib.suppress(psutil.NoSuchProcess):
            return " ".join(process.cmdline())
        return ""

    async def story(talk: OpenConversation) -> None:
        talk.say("slow")
        async for item in talk.events():
            if isinstance(item, t.TextStreamed):
                break
        async with asyncio.timeout(60):
            while not any("sleep" in words(one) for one in children()):
                await asyncio.sleep(0.05)  # what it said may be here before what it started
        left.extend(children())
        assert talk.interrupt() == "accepted"
        await talk.idle()
        talk.say("told")
        await talk.idle()

    events = played(weft, desk, agent, story)
    assert [one.outcome for one in of(t.ModelSettled, events)] == ["interrupted", "completed"]
    assert "slow" in of(t.ModelSettled, events)[-1].text, "what was said before is told to the next"
    _, alive = psutil.wait_procs([one for one in left if one.is_running()], timeout=60)
    assert not alive


def test_its_death_is_said_and_the_conversation_goes_on(weft: Weft, desk: Path, agent: str) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("die")
        await talk.idle()
        talk.say("say Back.")
        await talk.idle()

    failed, answered = of(t.ModelSettled, played(weft, desk, agent, story))
    assert failed.outcome == "failed"
    assert "exit code 7" in failed.reason
    assert "Claude" not in failed.reason
    assert answered.text == "Back."


def test_it_sees_nothing_of_ours(weft: Weft, desk: Path, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient-0123456789abcdef")

    async def story(talk: OpenConversation) -> None:
        talk.say("env")
        await talk.idle()

    seen = json.loads(of(t.ModelSettled, played(weft, desk, agent, story))[-1].text)
    assert "OPENAI_API_KEY" not in seen["names"]
    assert "ANTHROPIC_API_KEY" not in seen["names"]
    assert seen["home"].endswith(f".{agent}-agent/home")


def test_a_program_that_is_not_there_is_said(weft: Weft, desk: Path) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("say hello")
        await talk.idle()

    table = "kind = 'acp'\ncommand = ['no-such-agent', 'acp']\n"
    (failed,) = of(t.ModelSettled, played(weft, desk, "acp", story, table=table))
    assert "there is no program no-such-agent" in failed.reason


def test_a_program_that_a_workspace_names_is_run_when_somebody_agreed(weft: Weft, desk: Path, agent: str) -> None:
    async def story(talk: OpenConversation) -> None:
        raise AssertionError("it was opened")

    with pytest.raises(UserError, match="nobody has agreed to the model connection other: command"):
        played(weft, desk, agent, story, agreed=False)


def test_a_change_of_several_files_is_judged_file_by_file(weft: Weft, desk: Path) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("files copy.txt second.txt")
        await talk.idle()
        talk.say("files inside.txt ../../outside.txt")
        await talk.idle()

    events = played(weft, desk, "codex", story, mode="edits")
    assert [one.input["path"] for one in of(t.ToolRequested, events)][:3] == ["copy.txt", "second.txt", "inside.txt"]
    first, second, third, outside = of(t.ToolSettled, events)
    assert [one.outcome for one in (first, second, third, outside)] == ["succeeded", "succeeded", "succeeded", "failed"]
    assert "together with the other files" in first.text
    assert "together with the other files" in third.text
    assert "outside the working folder" in outside.text
    assert sorted(one.name for one in desk.iterdir()) == ["copy.txt", "notes.txt", "second.txt"]
    assert of(t.ModelSettled, events)[-1].text == "Not changed (decline)."


def test_it_goes_on_with_its_own_record_after_the_process_ended(weft: Weft, desk: Path) -> None:
    async def first(talk: OpenConversation) -> None:
        talk.say("say Six.")
        await talk.idle()

    async def second(talk: OpenConversation) -> None:
        talk.say("told")
        await talk.idle()

    played(weft, desk, "codex", first)
    last = of(t.ModelSettled, played(weft, desk, "codex", second))[-1]
    assert last.text == "told", "what it remembers itself is not told again"
    assert last.usage == {"input": 11, "output": 3}, "what the thread used before was counted before"


def test_its_own_failure_is_said_in_its_words(weft: Weft, desk: Path) -> None:
    async def story(talk: OpenConversation) -> None:
        talk.say("fail")
        await talk.idle()

    (failed,) = of(t.ModelSettled, played(weft, desk, "codex", story))
    assert failed.outcome == "failed"
    assert "the model of the agent is away" in failed.reason


def test_it_makes_the_files_of_a_step_and_is_told_what_is_wrong(tmp_path: Path, agent: str) -> None:
    stub = (sys.executable, str(HERE / f"{agent}_stub.py"))
    reach = AgentReach(name="other", command=stub, surroundings={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    made_by = OtherAgent(reach=reach, protocol="codex" if agent == "codex" else "acp")
    told: list[str] = []

    def judge(_: str, data: bytes) -> list[Finding]:
        return [] if data == b"LOW TIDE AT SIX\n" else [Finding("made.txt", "", "is not loud", "write it so")]

    request = Request(system="", messages=(Message(role="user", content=(Text(text="make it"),)),))
    ask = FilesRequest(request=request, files=("made.txt",), judge=judge, say=told.append, asks=2)
    made = asyncio.run(made_by.make(ask))
    assert made.files == {"made.txt": b"LOW TIDE AT SIX\n"}
    if agent == "acp":
        assert [one.split(":")[0] for one in told] == ["Write made.txt", "not done", "Write made.txt"]
        assert made.usage.input == 22
    else:
        assert (told, made.usage.input) == (["Edit made.txt"], 11)
    never = FilesRequest(request=request, files=("other.txt",), judge=judge, say=told.append, asks=1)
    with pytest.raises(ModelFeedback, match=r"other\.txt"):
        asyncio.run(made_by.make(never))
