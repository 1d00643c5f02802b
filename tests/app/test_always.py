"""A question offers the rule that spares it; whoever takes it is not asked about the like of it again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.doors import OpenConversation, talk_in
from weft.app import App
from weft.protocol.commands import Accepted, Refused
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalRequested, ToolRequested
from weft.testing.scripted import ScriptedModel, Turn, calls, says

pytestmark = pytest.mark.process


async def asked(talk: OpenConversation, call: str) -> None:
    async for item in talk.events():
        event = getattr(item, "event", None)
        if isinstance(event, ApprovalRequested) and event.call == call:
            return


def decide(call: str, *, always: bool = True) -> DecideApproval:
    return DecideApproval(conversation="main", call=call, decision="once", always=always)


def test_the_rule_that_was_shown_is_written_and_holds(tmp_path: Path) -> None:
    workspace, work = tmp_path / "workspace", tmp_path / "work"
    work.mkdir()
    workspace.mkdir()
    (workspace / "config.toml").write_text('model = "scripted"\n')
    (workspace / "permissions.yaml").write_text("# mine\ndeny:\n  - {tool: WebFetch}\n")
    model = ScriptedModel(
        [
            Turn(calls("Write", {"path": "notes/a.md", "content": "a"}, call="one")),
            Turn(calls("Write", {"path": "notes/deep/b.md", "content": "b"}, call="two")),
            Turn(calls("Write", {"path": "other/c.md", "content": "c"}, call="three")),
            Turn(calls("Shell", {"command": "rm -rf notes"}, call="four")),
            Turn(says("Done.")),
        ]
    )

    async def life() -> list[ToolRequested]:
        with App.open(workspace, models={"scripted": model}) as app:
            for request in app.not_agreed():
                app.consents.agree(request, "asked")
            async with talk_in(app, session="talk", working=work) as talk:
                await talk.say("write")
                await asked(talk, "one")
                assert isinstance(await talk.session.submit(decide("one")), Accepted)
                await asked(talk, "three")
                assert isinstance(await talk.session.submit(decide("three", always=False)), Accepted)
                await asked(talk, "four")
                refused = await talk.session.submit(decide("four"))
                assert isinstance(refused, Refused)
                assert "no rule that would spare this question" in refused.reason
                assert isinstance(await talk.session.submit(decide("four", always=False)), Accepted)
                await talk.idle()
            events = [record.event for record in app.sessions.records("talk")]
        return [event for event in events if isinstance(event, ToolRequested)]

    found = asyncio.run(life())
    model.assert_done()
    assert [(one.call, one.verdict) for one in found] == [
        ("one", "ask"),
        ("two", "allow"),
        ("three", "ask"),
        ("four", "ask"),
    ]
    assert [one.always for one in found] == [
        '{"tool": "Write", "path": "notes/**"}',
        None,
        '{"tool": "Write", "path": "other/**"}',
        None,
    ]
    text = (workspace / "permissions.yaml").read_text()
    assert text == '# mine\ndeny:\n  - {tool: WebFetch}\nallow:\n  - {"tool": "Write", "path": "notes/**"}\n'
    assert (work / "other/c.md").read_text() == "c"
