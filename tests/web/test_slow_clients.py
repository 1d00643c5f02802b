"""Clients that come and ask nothing, or never come to the end: each takes a place from others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from weft.web import serve
from weft.web.guard import Receive, Scope, Send

Talk = Callable[[int], Awaitable[None]]
ASKED = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Says something, and something more when it has thought for longer than anybody has patience here."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"a", "more_body": True})
    await asyncio.sleep(0.6 if scope["path"] == "/slow" else 0)
    await send({"type": "http.response.body", "body": b"b"})


def served(talk: Talk) -> None:
    async def lived() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            server = serve._Server(serve._config(_app, serve.ServeOptions()))
            async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
                tasks.create_task(server.serve([listening]))
                await talk(listening.getsockname()[1])
                server.should_exit = True

    asyncio.run(lived())


async def said(reading: asyncio.StreamReader) -> bytes:
    """All that comes until the other end is closed."""
    found = b""
    with suppress(ConnectionResetError):
        while data := await reading.read(1000):
            found += data
    return found


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "PATIENCE", 0.2)


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: h\r\nX-A: ", ASKED + b"GET / HTTP/1.1\r\nHost"])
def test_who_asks_nothing_to_the_end_is_sent_away(begun: bytes) -> None:
    async def talk(port: int) -> None:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        writing.write(begun)
        found = await said(reading)
        assert found.count(b"HTTP/1.1 200") == begun.count(ASKED)
        writing.close()

    served(talk)


def test_who_drips_is_sent_away_as_well() -> None:
    async def talk(port: int) -> None:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        ended = asyncio.create_task(said(reading))
        while not ended.done():
            writing.write(b"G")
            await asyncio.sleep(0.05)
        writing.close()

    served(talk)


def test_who_is_answered_is_not_though_it_takes_long() -> None:
    async def talk(port: int) -> None:
        reading, writing = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):  # on the same connection
            writing.write(ASKED.replace(b"/ ", b"/slow ", 1))
            assert (await reading.readuntil(b"ab")).startswith(b"HTTP/1.1 200")
        writing.close()

    served(talk)


def test_where_there_is_no_room_the_oldest_that_asks_nothing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "MOST_CONNECTIONS", 2)
    monkeypatch.setattr(serve, "PATIENCE", 60.0)

    async def talk(port: int) -> None:
        opened = []
        for asks in (b"/slow ", b"", b""):
            opened.append(await asyncio.open_connection("127.0.0.1", port))
            if asks:
                opened[-1][1].write(ASKED.replace(b"/ ", asks, 1))
            await asyncio.sleep(0.05)
        assert await said(opened[1][0]) == b""
        assert (await opened[0][0].readuntil(b"ab")).startswith(b"HTTP/1.1 200")
        opened[2][1].write(ASKED)
        assert (await opened[2][0].readuntil(b"ab")).startswith(b"HTTP/1.1 200")
        for _, writing in opened:
            writing.close()

    served(talk)
