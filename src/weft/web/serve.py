"""The server itself: which addresses, how it begins and how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from typing import Final, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from weft.app import Access, App
from weft.protocol.errors import EXIT_USAGE, UserError
from weft.protocol.values import dataclass
from weft.web.api import ApiInSteps
from weft.web.asking import Served
from weft.web.frames import Frames
from weft.web.guard import UPLOAD_LIMIT, ASGIApp, Attempts, Guard, House, Way, loopback_origins, named_origins
from weft.web.mcp import PATH, McpHall
from weft.web.place import ServedWorkspace

PORT: Final = 8700
PATIENCE: Final = 15.0
"""Seconds that a connection may have no request under way, about: twice of this at most."""
MOST_CONNECTIONS: Final = 512
"""Each takes an open file, and those of sessions are taken from the same number."""
Answering = Callable[[str], AbstractAsyncContextManager[ASGIApp]]
"""What answers at a path, for as long as it is open."""
WAYS: Final = (
    Way("/", "open"),
    Way("/api", "signed-in"),
    Way("/sign-in", "sign-in"),
    Way("/frame", "frame"),
    Way("/mcp", "token", UPLOAD_LIMIT),
    Way("/x", "frame"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    """What else this server is called, beyond loopback."""
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    """A proxy in front does the encryption."""
    resume: bool = True
    """Runs that were going when the server ended go on by themselves."""
    schedules: bool = True
    """What is due is begun."""

    @property
    def is_local(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def scheme(self) -> str:
        return "https" if self.certificate or self.behind_proxy else "http"


def check(options: ServeOptions, access: Access) -> None:
    """UserError for what would let strangers in, and for TLS files that are none."""
    check_encrypted(options)
    check_files(options)
    if not options.is_local and not access.has_passphrase:
        raise UserError(
            f"nobody has a passphrase, so nobody could sign in from beyond this machine ({options.host})",
            hint="weft persons add NAME --passphrase",
            exit_code=EXIT_USAGE,
        )


def check_encrypted(options: ServeOptions) -> None:
    if not options.is_local and options.scheme != "https":
        raise UserError(
            f"beyond this machine ({options.host}) everything would go in clear",
            hint="give --certificate and --key, or say --behind-proxy when a proxy does the encryption",
            exit_code=EXIT_USAGE,
        )


def check_files(options: ServeOptions) -> None:
    """UserError for TLS files that are none."""
    if options.certificate is None:
        if options.key is not None:
            raise UserError("a key without its certificate", hint="give --certificate as well", exit_code=EXIT_USAGE)
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.certificate, options.key)
    except (OSError, ssl.SSLError) as error:
        files = f"{options.certificate}{f' and {options.key}' if options.key else ''}"
        raise UserError(
            f"can't use the TLS files {files}: {error.strerror or error}",
            hint="--certificate is a PEM file with the certificate and what signed it, --key a PEM file with its key",
            exit_code=EXIT_USAGE,
        ) from None


def origins_of(options: ServeOptions, port: int) -> frozenset[str]:
    """Every address that is this server."""
    origins = loopback_origins(port, scheme="https" if options.certificate else "http")
    return origins | named_origins(
        [*options.names, *([] if options.is_local else [options.host])], port, options.scheme
    )


def bound(options: ServeOptions) -> socket.socket:
    """The port, taken before anything is promised. UserError when somebody else has it."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((options.host, options.port))
    except OSError as error:
        taken.close()
        raise UserError(
            f"can't listen on {options.host} port {options.port}: {error.strerror or error}",
            hint="another program has it; stop that, or choose another --port (0 takes any free one)",
        ) from None
    return taken


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, places: Iterable[ServedWorkspace] = ()) -> None:
        super().__init__(config)
        self._places = places

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """What told it to end is given on to who was there before, once it answers nobody any more. By a polite kill
        the process would end there, and with it what its sessions do: they are let go of first."""
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(signal.SIGTERM, before)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for place in self._places:
            place.end_streams()
        await super().shutdown(sockets)


async def serve(
    apps: Sequence[tuple[str, App]],
    access: Access,
    options: ServeOptions,
    listening: socket.socket,
    ready: Callable[[str], None],
    trouble: Callable[[str, Exception], None],
) -> None:
    """Until it is told to stop (SIGINT, SIGTERM). `ready` gets the address, `trouble` what went wrong in a session that
    nobody waits for."""
    port: int = listening.getsockname()[1]
    origins = origins_of(options, port)
    uploads = tuple(
        Way(f"/api/w/{name}/{what}", "signed-in", UPLOAD_LIMIT)
        for name, _ in apps
        for what in ("uploads", "collections", "imports")
    )
    house = House(origins, (*WAYS, *uploads), secure=options.scheme == "https")
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        places: dict[str, ServedWorkspace] = {}
        for name, app in apps:
            place = ServedWorkspace(name, app, tasks, trouble)
            places[name] = place
            stack.push_async_callback(place.close)
        api = ApiInSteps(Served(places, access, house, Frames(secrets.token_bytes(32))))
        hall = McpHall(dict(apps), tasks)
        guard = Guard(hall.before(api), access, house, Attempts(time.monotonic))
        if options.resume:
            for place in places.values():
                place.take_up()
                place.watch_clock()
        if options.schedules:
            for place in places.values():
                place.watch_schedules()
        host = "127.0.0.1" if options.is_local else (options.names or (options.host,))[0]
        scheme = "https" if options.certificate or not options.is_local else "http"
        listening.listen(1024)  # from here on whoever comes is let in a moment later
        ready(f"{scheme}://{host}:{port}")
        loading = tasks.create_task(api.load_soon(), name="loads the rest of the API")
        await _Server(_config(guard, options), places.values()).serve([listening])
        loading.cancel()
        await hall.close()
        for place in places.values():
            await place.close()


async def serve_mcp(
    answering: Answering,
    access: Access,
    options: ServeOptions,
    listening: socket.socket,
    ready: Callable[[str], None],
) -> None:
    """One thing alone, at `/mcp`, for whoever has a token for it. Until it is interrupted."""
    host, port = listening.getsockname()[:2]
    house = House(origins_of(options, port), (Way("/", "token", UPLOAD_LIMIT),), secure=options.certificate is not None)
    async with answering(PATH) as app:
        guard = Guard(app, access, house, Attempts(time.monotonic))
        listening.listen(128)
        ready(f"{'https' if options.certificate else 'http'}://{host}:{port}{PATH}")
        await _Server(_config(guard, options)).serve([listening])


class _Connection(H11Protocol):
    """One that asks nothing, or never comes to the end of what it asks, is sent away: it would keep others out. Where
    there is no room, the oldest of these goes for who comes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._came = self.loop.time()
        self._before: object = self
        if len(self.connections) > MOST_CONNECTIONS:
            others = (one for one in self.connections if isinstance(one, _Connection) and one is not self)
            silent = [one for one in others if one._asked is None and not one.transport.is_closing()]
            min(silent, key=lambda one: one._came, default=self).transport.abort()
        self._look()

    @property
    def _asked(self) -> RequestResponseCycle | None:
        return cast(RequestResponseCycle | None, self.cycle)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._looks.cancel()

    def _look(self) -> None:
        asked = self._asked
        resting = asked is None or asked.response_complete
        if resting and self._before is asked:
            self.transport.abort()
            return
        self._before = asked if resting else self
        self._looks = self.loop.call_later(PATIENCE, self._look)


def _config(app: ASGIApp, options: ServeOptions) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=str(options.certificate) if options.certificate else None,
        ssl_keyfile=str(options.key) if options.key else None,
        proxy_headers=False,
        lifespan="off",
    )
