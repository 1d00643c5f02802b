"""Real servers on loopback, each told byte by byte what to send."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

CERTIFICATE = Path(__file__).parent / "certificates" / "weft-test.pem"
"""For the name weft.test and for nothing else; its key is public."""

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Served:
    port: int
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(handler: Handler, *, tls: bool = False, host: str = "127.0.0.1") -> AsyncIterator[Served]:
    """A server that hands each request's head to `handler` and closes the connection when that returns."""
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            served.requests.append(head)
            await handler(head, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went away, as several tests want
        finally:
            if writer.can_write_eof() and not writer.is_closing():
                try:
                    writer.write_eof()
                except OSError:
                    pass
            writer.close()

    server = await asyncio.start_server(connected, host, 0, ssl=context)
    served = Served(server.sockets[0].getsockname()[1])
    try:
        yield served
    finally:
        server.close()


def sends(data: bytes) -> Handler:
    async def handler(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return handler


def reply(body: bytes, *headers: str, status: str = "200 OK", media: str = "text/plain; charset=utf-8") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return reply(b"", f"Location: {location}", status=status)


def names(**addresses: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that knows these names (with _ for a dot) and no other."""
    known = {name.replace("_", "."): found for name, found in addresses.items()}

    async def resolver(host: str, port: int) -> Sequence[str]:
        if host not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return known[host]

    return resolver
