"""Conversations on an agent of others, by the Agent Client Protocol: verdicts, files, stop, death, environment."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.doors import Talk, talk_in
from tests.made import Weft
from weft.app import App
from weft.protocol import talk as t
from weft.protocol.errors import UserError
from weft.protocol.events import Record

COMMAND = [sys.executable, str(Path(__file__).parent / "acp_stub.py")]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "notes.txt").write_text("low tide at six\n")
    return folder


def played(
    weft: Weft, desk: Path, story: Callable[[Talk], Awaitable[None]], *, mode: Any = "ask", agreed: bool = True
) -> list[Any]:
    command = json.dumps(COMMAND)
    (weft.workspace / "config.toml").write_text(f'model = "other"\n[models.other]\nkind = "acp"\ncommand = {command}\n')

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


async def asked(talk: Talk) -> t.ApprovalRequested:
    async for item in talk.events():
        if isinstance(item, Record) and isinstance(item.event, t.ApprovalRequested):
            while talk.engine.status != "awaiting_approval":
                await asyncio.sleep(0.01)
            return item.event
    raise AssertionError("nothing was asked")


def test_its_answer_is_a_turn_of_ours(weft: Weft, desk: Path) -> None:
    async def story(talk: Talk) -> None:
        talk.say("say Six.")
        await talk.idle()
        talk.say("say Seven.")
        await talk.idle()

    events = played(weft, desk, story)
    first, second = of(t.ModelSettled, events)
    assert (first.text, first.stop, first.model) == ("Six.", "end", "other/agent")
    assert first.usage == {"input": 11, "output": 3}
    assert first.thinking[0]["text"] == "hm"
    assert second.text == "Seven."


@pytest.mark.parametrize("decision", ["once", "denied"])
def test_what_it_asks_for_is_judged_by_our_rules_and_in_our_log(weft: Weft, desk: Path, decision: t.Decision) -> None:
    async def story(talk: Talk) -> None:
        talk.say("run")
        found = await asked(talk)
        assert (found.tool, (desk / "ran.txt").exists()) == ("Shell", False)
        talk.approve(found.call, decision)
        await talk.idle()

    events = played(weft, desk, story)
    (settled,) = of(t.ToolSettled, events)
    texts = [one.text for one in of(t.ModelSettled, events)]
    if decision == "once":
        assert (settled.outcome, settled.text) == ("succeeded", "exit code 0")
        assert (desk / "ran.txt").read_text() == "made by the agent\n"
        assert texts == ["", "It ran."]
    else:
        assert settled.outcome == "denied"
        assert not (desk / "ran.txt").exists()
        assert texts == ["", "Not allowed ({'outcome': 'selected', 'optionId': 'no'})."]
    (requested,) = of(t.ToolRequested, events)
    assert requested.input == {"command": "touch ran.txt"}


def test_its_files_are_read_and_written_by_us_and_not_outside(weft: Weft, desk: Path) -> None:
    async def story(talk: Talk) -> None:
        talk.say("files")
        await talk.idle()
        talk.say("out")
        await talk.idle()

    events = played(weft, desk, story, mode="edits")
    assert (desk / "copy.txt").read_text() == "LOW TIDE AT SIX\n"
    assert [(one.tool, one.input.get("path")) for one in of(t.ToolRequested, events)] == [
        ("Read", "notes.txt"),
        ("Write", "copy.txt"),
        ("Read", "/etc/hostname"),
    ]
    assert "outside the working folder" in of(t.ModelSettled, events)[-1].text


def test_to_stop_it_ends_all_that_it_started_and_another_knows_what_was_said(weft: Weft, desk: Path) -> None:
    left: list[psutil.Process] = []
    before = psutil.Process().children(recursive=True)  # other tests may keep a server

    async def story(talk: Talk) -> None:
        talk.say("slow")
        async for item in talk.events():
            if isinstance(item, t.TextStreamed):
                break
        left.extend(one for one in psutil.Process().children(recursive=True) if one not in before)
        assert any("sleep" in " ".join(one.cmdline()) for one in left)
        assert talk.interrupt() == "accepted"
        await talk.idle()
        talk.say("told")
        await talk.idle()

    events = played(weft, desk, story)
    assert [one.outcome for one in of(t.ModelSettled, events)] == ["interrupted", "completed"]
    assert "slow" in of(t.ModelSettled, events)[-1].text, "what was said before is told to the next"
    _, alive = psutil.wait_procs([one for one in left if one.is_running()], timeout=10)
    assert not alive


def test_its_death_is_said_and_the_conversation_goes_on(weft: Weft, desk: Path) -> None:
    async def story(talk: Talk) -> None:
        talk.say("die")
        await talk.idle()
        talk.say("say Back.")
        await talk.idle()

    failed, answered = of(t.ModelSettled, played(weft, desk, story))
    assert failed.outcome == "failed"
    assert "exit code 7" in failed.reason
    assert "Claude" not in failed.reason
    assert answered.text == "Back."


def test_it_sees_nothing_of_ours(weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient-0123456789abcdef")

    async def story(talk: Talk) -> None:
        talk.say("env")
        await talk.idle()

    seen = json.loads(of(t.ModelSettled, played(weft, desk, story))[-1].text)
    assert "OPENAI_API_KEY" not in seen["names"]
    assert "ANTHROPIC_API_KEY" not in seen["names"]
    assert seen["home"].endswith(".acp-agent/home")


def test_a_program_that_is_not_there_is_said(weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.e2e.test_acp_agent.COMMAND", ["no-such-agent", "acp"])

    async def story(talk: Talk) -> None:
        talk.say("say hello")
        await talk.idle()

    (failed,) = of(t.ModelSettled, played(weft, desk, story))
    assert "there is no program no-such-agent" in failed.reason


def test_a_program_that_a_workspace_names_is_run_when_somebody_agreed(weft: Weft, desk: Path) -> None:
    async def story(talk: Talk) -> None:
        raise AssertionError("it was opened")

    with pytest.raises(UserError, match="nobody has agreed to the model connection other: command"):
        played(weft, desk, story, agreed=False)
