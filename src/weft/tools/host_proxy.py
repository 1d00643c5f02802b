"""The network by named host: the way out of a boundary that has none, for the hosts that were allowed and no other.

A command inside has a loopback of its own. There a bridge (`bridge.py`) listens and carries every connection to a
socket in the file system, at whose other end, outside, this proxy stands. It takes requests of HTTP proxies, `CONNECT`
and plain ones, looks at the host that is named, resolves it itself, and connects to public addresses only, unless an
address was itself what was allowed. Whatever does not speak to a proxy reaches nothing.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from weft.protocol.errors import ExternalError
from weft.tools.addresses import closed_kind
from weft.tools.boundary import Boundary
from weft.tools.threads import in_thread

PORT: Final = 3128
"""Where the bridge listens: in a network of its own."""
USUAL_PORTS: Final = (80, 443)
_HEAD_LIMIT: Final = 64 * 1024
_CONNECT_SECONDS: Final = 20
_BRIDGE: Final = str(Path(__file__).with_name("bridge.py"))


def is_allowed(host: str, port: int, hosts: Sequence[str]) -> bool:
    """`api.example.com` has the usual ports, `localhost:8080` its own, `*.example.com` every name below."""
    asked = host.lower().rstrip(".")
    for entry in hosts:
        name, _, own = entry.lower().partition(":")
        ports = (int(own),) if own.isdigit() else USUAL_PORTS
        below = name.startswith("*.") and asked.endswith(name[1:]) and asked != name[2:]
        if port in ports and (asked == name or below):
            return True
    return False


def is_address(host: str) -> bool:
    return closed_kind(host) != "no address"


class HostProxy:
    def __init__(self, hosts: Sequence[str], folder: Path) -> None:
        self.hosts = tuple(hosts)
        self.folder = folder
        self.refused: list[str] = []
        """What was asked for and is not among the hosts."""
        self._server: asyncio.Server | None = None
        self._going: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(cls, hosts: Sequence[str], boundary: Boundary) -> HostProxy:
        """ExternalError where the boundary can't keep everything else out."""
        if boundary.kind not in ("bubblewrap", "namespaces"):
            raise ExternalError(
                f"the network can't be opened for {', '.join(hosts)} alone here: the boundary is {boundary.kind}",
                hint="install bubblewrap, or allow user namespaces (`weft doctor`); nothing was run",
            )
        made = cls(hosts, Path(tempfile.mkdtemp(prefix="weft-net-", dir="/tmp")))
        made._server = await asyncio.start_unix_server(made._take, str(made.folder / "way"), limit=_HEAD_LIMIT)
        return made

    def bridged(self, command: Sequence[str]) -> tuple[str, ...]:
        return (sys.executable, "-I", "-S", _BRIDGE, str(self.folder / "way"), str(PORT), *command)

    @property
    def environment(self) -> dict[str, str]:
        way = f"http://127.0.0.1:{PORT}"
        named = {name: way for one in ("http", "https", "all") for name in (f"{one}_proxy", f"{one.upper()}_PROXY")}
        return {**named, "no_proxy": "", "NO_PROXY": ""}

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._going:
            task.cancel()
        if self._going:
            await asyncio.wait(self._going)
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._going.add(task)
        try:
            await self._carry(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            with suppress(OSError):
                writer.write(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n")
        except asyncio.CancelledError:
            return  # the command it was for is over
        finally:
            self._going.discard(task)
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, _, rest = head.partition(b"\r\n")
        method, target, version = first.decode("latin-1").split(" ", 2)
        plain = method != "CONNECT"
        parts = urlsplit(target if plain else f"//{target}")
        host, port = parts.hostname or "", parts.port or (80 if plain else 443)
        if (plain and parts.scheme != "http") or not is_allowed(host, port, self.hosts):
            await self._refuse(writer, f"{host}:{port}")
            return
        there, back = await asyncio.wait_for(self._connect(host, port), _CONNECT_SECONDS)
        try:
            if plain:
                path = parts._replace(scheme="", netloc="").geturl() or "/"
                kept = [
                    line for line in rest.split(b"\r\n") if not line.lower().startswith((b"proxy-", b"connection:"))
                ]
                back.write(f"{method} {path} {version}\r\nConnection: close\r\n".encode("latin-1") + b"\r\n".join(kept))
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            back.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To an address that was judged. Only one that was itself allowed may be on this machine or private."""
        if is_address(host):
            return await asyncio.open_connection(host, port)
        found = await in_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), "weft-resolve")
        addresses = dict.fromkeys(str(one[4][0]) for one in found)
        own = host.lower() == "localhost"
        public = [one for one in addresses if closed_kind(one) is None or own]
        if not public:
            raise OSError(f"{host} leads to no public address")
        return await asyncio.open_connection(public[0], port)

    async def _refuse(self, writer: asyncio.StreamWriter, asked: str) -> None:
        self.refused.append(asked)
        told = f"{asked} is not among the hosts that were allowed: {', '.join(self.hosts)}\n".encode()
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n")
        writer.write(f"Content-Length: {len(told)}\r\n\r\n".encode() + told)
        await writer.drain()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
    except (ConnectionError, RuntimeError):
        target.close()
