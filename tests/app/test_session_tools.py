"""Sessions as tools of another program: a run is started, left, taken up by another, and answered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from weft.access import Identity, Role
from weft.app import App
from weft.app.sessions.session_serving import make_session_server
from weft.app.sessions.session_tools import TOOLS, SessionTools
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError
from weft.protocol.events import RunStarted
from weft.testing.scripted import ScriptedModel, Turn, says

pytestmark = pytest.mark.process

PIPELINE = """\
name: note
description: Counts words and waits
steps:
  count:
    artifact: count.json
    code: note.py:count
    gate: {message: Is this right?}
  report:
    artifact: report.md
    code: note.py:report
    requires: [count]
    final: true
"""
CODE = """\
def count(step):
    return {"words": len(step.text.split())}

def report(step):
    return f"# {step.artifacts['count.json']['words']} words\\n"
"""


def lay(workspace: Path) -> Path:
    for name, text in {"pipelines/note.yaml": PIPELINE, "code/note.py": CODE}.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    with App.open(workspace) as app:
        for request in app.not_agreed():
            app.consents.agree(request, "asked")
    return workspace


async def ask(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, given)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def test_another_program_drives_a_run_that_survives_it(tmp_path: Path) -> None:
    workspace = lay(tmp_path / "desk")

    async def first() -> None:
        with App.open(workspace) as app:
            tools = SessionTools(app, Actor("person", face="mcp"))
            async with Client(make_session_server(tools)) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names == list(TOOLS)
                assert (await ask(client, "list_pipelines"))["pipelines"][0]["name"] == "note"
                assert (await ask(client, "validate", kind="pipeline", name="note"))["good"]
                begun = await ask(client, "start_run", pipeline="note", text="one two three", session="the-note")
                assert begun["session"] == "the-note"
                waits = await ask(client, "run_state", session="the-note", wait_seconds=60)
                assert waits["outcome"] == "waiting"
                assert waits["gates"][0]["message"] == "Is this right?"
            await tools.close()

    async def second() -> None:
        with App.open(workspace) as app:
            tools = SessionTools(app, Actor("person", face="mcp"))
            async with Client(make_session_server(tools)) as client:
                wrong = await client.call_tool("reply_to_gate", {"session": "the-note", "choice": "perhaps"})
                assert wrong.is_error
                await ask(client, "reply_to_gate", session="the-note", choice="proceed")
                done = await ask(client, "run_state", session="the-note", wait_seconds=60)
                assert done["outcome"] == "done"
                made = await ask(client, "read_artifact", session="the-note", artifact="report.md")
                assert made == {"artifact": "report.md", "text": "# 3 words\n", "next_offset": None}
                told = (await ask(client, "read_session", session="the-note"))["text"]
                assert "Is this right?" in told
                assert "# 3 words" in told
                await ask(client, "describe_session", session="the-note", title="Three words")
                listed = (await ask(client, "list_sessions"))["sessions"]
                assert [(one["id"], one["title"], one["state"]) for one in listed] == [
                    ("the-note", "Three words", "done")
                ]
                nothing = await client.call_tool("run_state", {"session": "another"})
                assert nothing.is_error
            await tools.close()

    asyncio.run(asyncio.wait_for(first(), 60))
    asyncio.run(asyncio.wait_for(second(), 60))
    log = (workspace / "sessions" / "the-note" / "log.jsonl").read_text().splitlines()
    assert any('"face": "mcp"' in line or '"face":"mcp"' in line for line in log), json.loads(log[0])


def test_who_comes_over_the_network_may_do_what_their_role_says_under_their_name(tmp_path: Path) -> None:
    workspace = lay(tmp_path / "desk")

    def someone(role: Role) -> Identity:
        return Identity(person="ada", role=role, by="token", id="t", scopes=("mcp",))

    async def life() -> None:
        with App.open(workspace) as app:
            tools = SessionTools(app, Actor("person", face="mcp"))
            assert (await tools.call("list_pipelines", {}, someone("look")))["pipelines"]
            begin = {"pipeline": "note", "text": "one two", "session": "the-note"}
            for name, given in (("start_run", begin), ("describe_session", {"session": "the-note", "title": "x"})):
                with pytest.raises(UserError, match="needs the role"):
                    await tools.call(name, given, someone("look"))
            with pytest.raises(UserError, match="needs the role run"):
                await tools.call("start_run", begin, someone("answer"))
            await tools.call("start_run", begin, someone("run"))
            await tools.call("run_state", {"session": "the-note", "wait_seconds": 60}, someone("look"))
            await tools.close()
            started = [one for one in app.sessions.records("the-note") if isinstance(one.event, RunStarted)]
            assert [one.envelope.by for one in started if one.envelope] == [Actor("person", "ada", "mcp")]

    asyncio.run(asyncio.wait_for(life(), 60))


def test_another_program_names_no_file_where_keys_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = lay(tmp_path / "desk")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/id_rsa").write_text("a key\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    brief = PIPELINE.replace("name: note", "name: brief\nparameters: {brief: {type: file}}")
    (workspace / "pipelines/brief.yaml").write_text(brief)

    async def life() -> None:
        with App.open(workspace) as app:
            tools = SessionTools(app, Actor("person", face="mcp"))
            given = {"pipeline": "brief", "text": "one", "parameters": {"brief": "~/.ssh/id_rsa"}}
            with pytest.raises(UserError, match="is where keys are kept"):
                await tools.call("start_run", given)

    asyncio.run(asyncio.wait_for(life(), 60))


def test_a_small_model_is_asked_and_an_agent_remembers(tmp_path: Path) -> None:
    workspace = lay(tmp_path / "desk")
    (workspace / ".claude/agents").mkdir(parents=True)
    (workspace / ".claude/agents/scout.md").write_text("---\nname: scout\ndescription: Looks\n---\nLook.\n")
    (workspace / "config.toml").write_text('[roles]\nsmall = "tiny"\n')
    model = ScriptedModel([Turn(says("Blue."))])

    async def life() -> None:
        with App.open(workspace, models={"tiny": model}) as app:
            tools = SessionTools(app, Actor("person", face="mcp"))
            answer = await tools.call("ask_model", {"prompt": "Which colour?"})
            assert (answer["model"], answer["text"]) == ("tiny", "Blue.")
            where = {"agent": "scout", "key": "last"}
            assert (await tools.call("agent_state", where))["value"] is None
            await tools.call("agent_state", {**where, "value": {"seen": 3}})
            assert (await SessionTools(app, Actor("person")).call("agent_state", where))["value"] == {"seen": 3}
            await tools.call("agent_state", {**where, "value": None})
            assert (await tools.call("agent_state", where))["value"] is None
            for wrong in ({"agent": "nobody", "key": "x"}, {**where, "value": "x" * 70_000}):
                with pytest.raises(UserError):
                    await tools.call("agent_state", wrong)

    asyncio.run(life())
