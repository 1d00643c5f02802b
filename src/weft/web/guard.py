"""What every request passes first: is it meant for this server, is it from here, who sends it, how large is it.

    Host      must name this server (a page of a foreign name that resolves to this address is turned away)
    Origin    when a browser tells it, must be this server; whatever changes something by cookie must tell it
    who       a signed-in browser by its cookie, a program by its token; nobody else, except where the way says so
    size      of the body is bounded while it arrives, not after

The rules are `refusal`, a pure function of a request's head; around it is a thin ASGI layer that also puts the same
headers on every response. A way (`Way`) says what a path needs; a path that no way covers needs the highest role.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from weft.app import Access, Identity
from weft.protocol.values import dataclass

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE: Final = "weft"
SECURE_COOKIE: Final = "__Host-weft"
BODY_LIMIT: Final = 2**20
UPLOAD_LIMIT: Final = 64 * 2**20
SIGN_INS_EACH: Final = 5
"""Tries to sign in that one address has in a minute."""
SIGN_INS_ALL: Final = 20
MINUTE: Final = 60.0
PIECE_SECONDS: Final = 60.0
"""Between two pieces of a body."""
STRANGER_SECONDS: Final = 20.0
"""For all of the body of somebody who has not signed in."""
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_END: Final[Message] = {"type": "http.response.body", "body": b""}

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "manifest-src 'self'; worker-src 'self'"
)
FRAME_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "script-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""For what others wrote, shown in a frame: an origin of its own, no cookie, no way out to any server."""
NO_CONNECTION: Final = {"Connection-Allowlist": "()"}
"""The ways out of a frame that its policy does not close, of which the first is that of WebRTC. A link that was shared
is followed by people, and does without."""

Kind = Literal["open", "signed-in", "token", "frame", "sign-in"]


@dataclass(frozen=True, slots=True)
class Way:
    """What requests below a path need."""

    prefix: str
    kind: Kind
    limit: int = BODY_LIMIT


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What of a request decides whether it comes in."""

    method: str
    path: str
    host: str = ""
    origin: str = ""
    site: str = ""
    """`Sec-Fetch-Site`, as browsers tell it."""
    content_type: str = ""
    length: int | None = None
    cookie: str = ""
    bearer: str = ""
    fetched_by_page: bool = False
    """It carries the header that only a script of this very page can send."""


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class House:
    """What the guard is told once: where this server is, and which ways there are."""

    origins: frozenset[str]
    """Every `scheme://host:port` that is this server."""
    ways: tuple[Way, ...]
    secure: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(urlsplit(origin).netloc.lower() for origin in self.origins)

    @property
    def cookie(self) -> str:
        return SECURE_COOKIE if self.secure else COOKIE

    def way(self, path: str) -> Way:
        fitting = [way for way in self.ways if path == way.prefix or path.startswith(way.prefix.rstrip("/") + "/")]
        return max(fitting, key=lambda way: len(way.prefix), default=Way("/", "signed-in"))


def refusal(head: RequestHead, house: House, who: Identity | None) -> Refusal | None:
    """Why a request does not come in; None when it does."""
    way = house.way(head.path)
    if head.host.lower() not in house.hosts:
        return Refusal(
            421,
            f"this server is not {head.host[:80] or 'told which host is meant'}",
            "open the address that weft serve printed, or name this one with --name",
        )
    if head.origin and head.origin.lower() not in house.origins:
        return Refusal(403, f"a page of {head.origin[:80]} may not use this server", "use this server's own page")
    if head.site == "cross-site" and way.kind != "open" and head.method not in _READING:
        return Refusal(403, "another site sent this", "use this server's own page")
    if head.length is not None and head.length > way.limit:
        return Refusal(413, f"the body is larger than {way.limit // 2**20} MB", "send less at once")
    return _unknown(head, way, who)


def _unknown(head: RequestHead, way: Way, who: Identity | None) -> Refusal | None:
    """Why whoever asks may not use this way."""
    if way.kind in ("open", "frame"):
        return None
    if way.kind == "sign-in":
        if head.method not in _READING and not head.origin:
            return Refusal(403, "it is not told where this comes from", "sign in with a browser")
        return None
    if who is None:
        return Refusal(401, "you are not signed in", "open the link that `weft serve` prints, or send a token")
    if way.kind == "token":
        if who.by == "token" and who.may_use("mcp"):
            return None
        return Refusal(403, "this token is not for MCP", "weft tokens add NAME --scope mcp makes one that is")
    if who.by == "browser" and head.method not in _READING:
        if not head.origin:
            return Refusal(403, "it is not told where this comes from", "a browser tells it; a program uses a token")
        if not head.fetched_by_page:
            return Refusal(403, "this was not sent by the page", "programs use a token")
    return None


class Attempts:
    """Tries to sign in within the last minute: a few for each address, some more for all together."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tries: deque[tuple[float, str]] = deque()

    def allowed(self, address: str) -> bool:
        now = self._clock()
        while self._tries and self._tries[0][0] <= now - MINUTE:
            self._tries.popleft()
        own = sum(one == address for _, one in self._tries)
        if own >= SIGN_INS_EACH or len(self._tries) >= SIGN_INS_ALL:
            return False
        self._tries.append((now, address))
        return True


@dataclass(slots=True)
class Guard:
    """The ASGI layer around the app."""

    app: ASGIApp
    access: Access
    house: House
    attempts: Attempts
    headers: Mapping[str, str] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = _head(scope, self.house.cookie)
        way = self.house.way(head.path)
        who = self._who(head) if way.kind not in ("open", "frame") else None
        found = refusal(head, self.house, who)
        if found is None and way.kind == "sign-in" and head.method not in _READING:
            client = scope.get("client") or ("", 0)
            if not self.attempts.allowed(str(client[0])):
                found = Refusal(429, "too many tries to sign in", "wait a minute")
        if found is not None:
            await refuse(found, head.path, self._finish(send, way))
            return
        scope["state"] = {**scope.get("state", {}), "who": who}
        await self._answer(scope, receive, self._finish(send, way), head, way)

    async def _answer(self, scope: Scope, receive: Receive, out: Send, head: RequestHead, way: Way) -> None:
        who = scope["state"]["who"]
        bounded = _bounded(receive, way.limit, is_stranger=who is None)
        started = ended = False

        async def watched(message: Message) -> None:
            """Whoever follows something and is let in no longer (signed out, revoked, over) has had the end of it: the
            app is told that they have gone, as it is of everybody, and what it still says goes nowhere."""
            nonlocal started, ended
            started = started or message["type"] == "http.response.start"
            if ended:
                return
            if who is not None and message.get("more_body") and self._who(head) is None:
                message = _END
            ended = message["type"] != "http.response.start" and not message.get("more_body")
            await out(message)

        try:
            await self.app(scope, bounded, watched)
            if started and not ended:  # others' streams of MCP just stop, when the server does
                await out(_END)
        except TooLargeError:
            if not started:
                told = Refusal(413, f"the body is larger than {way.limit // 2**20} MB", "send less at once")
                await refuse(told, head.path, out)
        except TooSlowError:
            if not started:
                await refuse(Refusal(408, "the rest of the body did not come", "send it again"), head.path, out)

    def _who(self, head: RequestHead) -> Identity | None:
        if head.bearer:
            return self.access.identify_token(head.bearer)
        return self.access.identify_browser(head.cookie) if head.cookie else None

    def _finish(self, send: Send, way: Way) -> Send:
        extra = {
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), microphone=(), geolocation=()",
            "content-security-policy": FRAME_POLICY if way.kind == "frame" else PAGE_POLICY,
            **({"strict-transport-security": "max-age=31536000"} if self.house.secure else {}),
            **self.headers,
        }

        async def finished(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = list(message.get("headers", ()))
                names = {name.lower() for name, _ in have}
                if way.kind == "frame":
                    have = [(name, value) for name, value in have if name.lower() != b"set-cookie"]
                if b"cache-control" not in names:
                    have.append((b"cache-control", b"no-store"))
                have += [(name.encode(), value.encode()) for name, value in extra.items() if name.encode() not in names]
                message = {**message, "headers": have}
            await send(message)

        return finished


def _bounded(receive: Receive, limit: int, *, is_stranger: bool) -> Receive:
    """A body in pieces, as much as the way allows, as long as more of it comes."""
    size, whole = 0, False
    clock = asyncio.get_running_loop().time
    last = clock() + STRANGER_SECONDS

    async def bounded() -> Message:
        nonlocal size, whole
        if whole:  # what comes now is that they have gone
            return await receive()
        try:
            async with asyncio.timeout_at(last if is_stranger else clock() + PIECE_SECONDS):
                message = await receive()
        except TimeoutError:
            raise TooSlowError from None
        size += len(message.get("body", b""))
        whole = not message.get("more_body")
        if size > limit:
            raise TooLargeError
        return message

    return bounded


class TooLargeError(Exception):
    """More came than the way allows."""


class TooSlowError(Exception):
    """The rest did not come."""


def loopback_origins(port: int, *, scheme: str = "http") -> frozenset[str]:
    return frozenset(f"{scheme}://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))


def named_origins(names: Iterable[str], port: int, scheme: str) -> frozenset[str]:
    """With the port, and without it where a browser leaves it out."""
    usual = {"https": 443, "http": 80}[scheme]
    found = {f"{scheme}://{name.lower()}:{port}" for name in names}
    return frozenset(found | ({f"{scheme}://{name.lower()}" for name in names} if port == usual else set()))


def _head(scope: Scope, cookie: str) -> RequestHead:
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    told: dict[str, list[str]] = {}
    for name, value in headers:
        told.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def one(name: str) -> str:
        values = told.get(name, [])
        return values[0] if len(values) == 1 else ("" if not values else "\0")  # told twice is told wrongly

    length = one("content-length")
    authorization = one("authorization")
    return RequestHead(
        method=scope["method"],
        path=scope["path"],
        host=one("host"),
        origin=one("origin"),
        site=one("sec-fetch-site"),
        content_type=one("content-type"),
        length=int(length) if length.isdecimal() else None,
        cookie=_cookie("; ".join(told.get("cookie", ())), cookie),
        bearer=authorization.removeprefix("Bearer ").strip() if authorization.startswith("Bearer ") else "",
        fetched_by_page="x-weft" in told,
    )


def _cookie(text: str, name: str) -> str:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


async def refuse(found: Refusal, where: str, send: Send) -> None:
    body = json.dumps({"what": found.what, "where": where, "hint": found.hint}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if found.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="weft"'))
    await send({"type": "http.response.start", "status": found.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
