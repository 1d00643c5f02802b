"""The server itself: HTTP/1.1 by hand, because the faults are below what a web framework lets one do.

It runs in the test's own loop. Every connection is a task that ends with the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from weft.testing.wire.replies import Reply, Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(slots=True)
class WireServer:
    wire: Wire
    replies: Sequence[Reply] = ()
    forever: Reply | None = None
    """What every request beyond the replies gets; without it, that is a fault of the test."""
    listed: Sequence[Mapping[str, Any]] = ()
    """The models that it says it has."""
    wants_key: str = ""
    """Without it, nothing is listed."""
    seen: list[Seen] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client leaves before its answer is complete."""
    unexpected: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self.wire.base}"

    def assert_done(self) -> None:
        if self.unexpected or (self.forever is None and len(self.seen) != len(self.replies)):
            raise AssertionError(f"{len(self.seen)} requests came for {len(self.replies)} replies")

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            # The server is closing: the task's end is what it waits for, and asyncio would log a cancelled one.
            return
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
        if not head:
            return False
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        path = lines[0].split(" ")[1]
        if lines[0].startswith("GET ") and path == f"{self.wire.base}/models":
            return await self._refuse(self._list(headers), writer)
        number = len(self.seen)
        self.seen.append(Seen(path=path, headers=headers, body=json.loads(body or b"null")))
        reply = self.replies[number] if number < len(self.replies) else self.forever
        if reply is None or path.split("?")[0] != self.wire.path:
            self.unexpected += 1
            reply = Reply(status=400, error=f"the test did not expect this request to {path}")
        if reply.hold is not None and reply.hold_after is None and await self._held(reply, reader):
            return False
        if reply.raw is not None or reply.status != 200:
            return await self._refuse(reply, writer)
        return await self._answer(reply, reader, writer)

    def _list(self, headers: Mapping[str, str]) -> Reply:
        if self.wants_key and headers.get("authorization") != f"Bearer {self.wants_key}":
            return Reply(status=401, error="this key is not known here")
        return Reply(raw=json.dumps({"object": "list", "data": list(self.listed)}).encode())

    async def _held(self, reply: Reply, reader: asyncio.StreamReader) -> bool:
        """Waits for the test; whether the client left meanwhile."""
        assert reply.hold is not None
        reply.hold.reached.set()
        left = asyncio.ensure_future(reader.read(1))
        released = asyncio.ensure_future(reply.hold.release.wait())
        try:
            await asyncio.wait({left, released}, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                self.gone.set()
                return True
            return False
        finally:
            left.cancel()
            released.cancel()

    async def _refuse(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        data = json.dumps(self.wire.error_body(reply)).encode() if reply.raw is None else reply.raw
        headers = {"content-type": "application/json", **reply.headers, "content-length": str(len(data))}
        said = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} Said\r\n{said}\r\n".encode() + data)
        await writer.drain()
        return True

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        # No length and no chunks: the end of the connection ends the body, so a broken one can look like an end.
        framed = reply.break_as != "ended"
        kind = "transfer-encoding: chunked" if framed else "connection: close"
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{kind}\r\n\r\n".encode())
        said, clock = 0, asyncio.get_running_loop().time
        begun = clock()
        for one in self.wire.stream(reply, self.seen[-1].body):
            if one.said:
                if reply.break_after == said:
                    return await self._break(reply, writer)
                if reply.hold is not None and reply.hold_after == said and await self._held(reply, reader):
                    return False
                if reply.a_second and (early := begun + said / reply.a_second - clock()) > 0:
                    await asyncio.sleep(early)
                said += 1
            data = one.encode() + (self.wire.ping if reply.pings else b"")
            step = reply.split or len(data)
            for at in range(0, len(data), step):
                await self._write(data[at : at + step], writer, framed=framed, apart=bool(reply.split))
        if reply.break_after is not None:
            return await self._break(reply, writer)
        await self._write(b"", writer, framed=framed, apart=False)
        return framed

    async def _write(self, data: bytes, writer: asyncio.StreamWriter, *, framed: bool, apart: bool) -> None:
        writer.write(b"%x\r\n%b\r\n" % (len(data), data) if framed else data)
        await writer.drain()
        if apart:
            await asyncio.sleep(0)

    async def _break(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        if reply.break_as == "error event":
            await self._write(self.wire.error_event(reply).encode(), writer, framed=True, apart=False)
            await self._write(b"", writer, framed=True, apart=False)
            return True
        if reply.break_as == "broken json":
            await self._write(self.wire.broken, writer, framed=True, apart=False)
            await self._write(b"", writer, framed=True, apart=False)
            return True
        await writer.drain()
        if reply.break_as == "dropped":
            writer.transport.abort()
        return False
