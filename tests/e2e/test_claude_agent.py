"""Conversations on the Claude agent runtime: the real bundled program, and a server of ours in place of its provider."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.app import App
from weft.app.talks import OpenTalk, TalkAsk
from weft.protocol import talk as t
from weft.testing.wire import Called, Reply, WireServer, anthropic_wire

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("claude_agent_sdk") is None, reason="needs weft[claude]"),
]

Play = Callable[[OpenTalk, WireServer], Awaitable[None]]


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def connect(weft: Weft, url: str, more: str = "") -> None:
    config = weft.workspace / "config.toml"
    text = config.read_text() if config.exists() else ""
    text = text.partition("[models.claude]")[0]
    config.write_text(f'{text}[models.claude]\nkind = "claude-agent"\nmodel = "claude-sonnet-4-5"\nbase_url = "{url}"\n{more}')


def called(tool: str, call: str = "toolu_1", **given: Any) -> Called:
    return Called(tool=tool, call=call, arguments=json.dumps(given))


def talking(weft: Weft, replies: Sequence[Reply], desk: Path, play: Play, more: str = "", **ask: Any) -> list[Any]:
    """Plays with an open talk on the runtime; the durable events of the session's log afterwards."""
    ask.setdefault("session", "the-talk")

    async def go() -> None:
        async with WireServer(anthropic_wire, replies) as server:
            connect(weft, server.url, more)
            with App.open(weft.workspace) as app:
                async with app.talk(TalkAsk(model="claude", working=desk, **ask)) as talk:
                    await play(talk, server)
                    await talk.conversation.shutdown()
            server.assert_done()

    asyncio.run(asyncio.wait_for(go(), 100))
    with App.open(weft.workspace) as app:
        return [record.event for record in app.sessions.records(ask["session"])]


def of(kind: type, events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_turn_with_text_and_thinking(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenTalk, server: WireServer) -> None:
        talk.conversation.say("Hello?")
        await talk.conversation.idle()
        assert talk.model == "claude/claude-sonnet-4-5"

    events = talking(weft, [Reply(text="Hello there.", thinking="A greeting.", signature="sig")], desk, play)
    (settled,) = of(t.ModelSettled, events)
    assert (settled.outcome, settled.text, settled.model) == ("completed", "Hello there.", "claude/claude-sonnet-4-5")
    assert settled.thinking == ({"text": "A greeting.", "signature": "sig"},)
    assert settled.usage["input"] == 12
    assert settled.usage["output"] == 7
    (completed,) = of(t.TurnCompleted, events)
    assert completed.disposition == "final"


def test_a_tool_call_that_is_allowed(weft: Weft, desk: Path) -> None:
    (desk / "a.md").write_text("one two three\n")

    async def play(talk: OpenTalk, server: WireServer) -> None:
        talk.conversation.say("Read it.")
        await talk.conversation.idle()

    replies = [Reply(text="Let me look.", calls=(called("Read", file_path=str(desk / "a.md")),)), Reply(text="Three words.")]
    events = talking(weft, replies, desk, play)
    (asked,) = of(t.ToolRequested, events)
    assert (asked.tool, asked.verdict, asked.input["path"]) == ("Read", "allow", "a.md")
    (ended,) = of(t.ToolSettled, events)
    assert ended.outcome == "succeeded"
    assert "one two three" in ended.text
    assert [one.text for one in of(t.ModelSettled, events)] == ["Let me look.", "Three words."]
