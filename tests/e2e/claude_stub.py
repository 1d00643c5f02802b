"""A conversation on the real runtime, with a server of ours in place of its provider."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.doors import OpenConversation, talk_in
from tests.made import Weft
from weft.app import App
from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.testing.wire import Called, Reply, WireServer, anthropic_wire

Play = Callable[[OpenConversation, WireServer], Awaitable[None]]
needs_runtime = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("claude_agent_sdk") is None, reason="needs weft[claude]"),
]


def connect(weft: Weft, url: str, more: str = "") -> None:
    config = weft.workspace / "config.toml"
    text = config.read_text() if config.exists() else ""
    text = text.partition("[models.claude]")[0]
    config.write_text(
        f'{text}[models.claude]\nkind = "claude-agent"\nmodel = "claude-sonnet-4-5"\nbase_url = "{url}"\n{more}'
    )


def called(tool: str, call: str = "toolu_1", **given: Any) -> Called:
    return Called(tool=tool, call=call, arguments=json.dumps(given))


def talking(
    weft: Weft,
    replies: Sequence[Reply],
    desk: Path,
    play: Play,
    more: str = "",
    forever: Reply | None = None,
    **ask: Any,
) -> list[Any]:
    """Plays with an open talk on the runtime; the durable events of the session's log afterwards."""
    ask.setdefault("session", "the-talk")

    async def go() -> None:
        async with WireServer(anthropic_wire, replies, forever) as server:
            connect(weft, server.url, more)
            with App.open(weft.workspace) as app:
                app.consents.ask = lambda request: True
                async with talk_in(app, model="claude", working=desk, **ask) as talk:
                    await play(talk, server)
                    await talk.shutdown()
            server.assert_done()

    asyncio.run(asyncio.wait_for(go(), 100))
    with App.open(weft.workspace) as app:
        return [record.event for record in app.sessions.records(ask["session"])]


def of(kind: type, events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def until(talk: OpenConversation, kind: type) -> Any:
    async for item in talk.events():
        if isinstance(item, Record) and isinstance(item.event, kind):
            return item.event
    raise AssertionError(f"no {kind.__name__} came")


def told(server: WireServer) -> str:
    """The last message of the last request."""
    return json.dumps(server.seen[-1].body["messages"][-1])


def processes_of(folder: Path) -> list[int]:
    """What runs on behalf of this test: everything whose environment names its folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and str(folder) in "".join(process.environ().values()):
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return [pid for pid in found if pid != os.getpid()]


async def first_words(talk: OpenConversation) -> None:
    async for item in talk.events():
        if isinstance(item, t.TextStreamed):
            return


def transcripts(weft: Weft) -> list[Path]:
    return sorted((weft.workspace / "sessions" / "the-talk" / ".claude-agent" / "projects").rglob("*.jsonl"))
