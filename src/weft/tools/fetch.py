"""One way to the web: GET an address a model or a person named, and never reach what is not public.

    fetched = await fetch("https://example.org/paper.pdf")

The name is resolved here, every address it has is judged, and the connection goes to exactly the address that was
judged, so that a name which answers differently the second time gains nothing. The same happens for each redirect.
No cookies, no credentials, no proxy; size (also unfolded), redirects and the whole time are bounded.
`allow_loopback` and `resolver` are arguments for tests: nothing in a workspace can reach them.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from weft.protocol.errors import ExternalError, UserError
from weft.protocol.values import dataclass
from weft.tools.addresses import closed_kind, is_loopback
from weft.tools.http_reply import LINE_LIMIT, ReplyHead, read_body, read_head
from weft.tools.threads import in_thread
from weft.version import __version__

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host and a port to addresses; OSError when there is none."""

URL_LIMIT: Final = 4096
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ODD: Final = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_NUMERIC: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_PATH_LETTERS: Final = "/%:@!$&'()*+,;=~-._"
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    size: int = 20 * 2**20
    """Bytes of the body, as it comes and as it unfolds."""
    seconds: float = 30
    """For everything together: names, connections, redirects, the body."""
    connect_seconds: float = 10
    """For one connection to one address."""
    redirects: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    url: str
    """Where it was in the end; `redirects` are the addresses before it, in order."""
    status: int
    media_type: str
    charset: str | None
    data: bytes
    redirects: tuple[str, ...] = ()

    def good(self) -> Fetched:
        """Itself, or an error in words when the server refused."""
        if 200 <= self.status < 300:
            return self
        hints = {401: "it wants a password", 403: "it wants no programs, or a password", 404: "check the address"}
        raise ExternalError(
            f"{self.url} answered with status {self.status}",
            hint=hints.get(self.status, "try again later" if self.status >= 500 or self.status == 429 else ""),
            retryable=self.status >= 500 or self.status == 429,
        )


@dataclass(frozen=True, slots=True)
class _Target:
    url: str
    scheme: str
    host: str
    port: int
    request_path: str
    literal: bool


async def fetch(
    url: str,
    *,
    limits: FetchLimits = FetchLimits(),  # noqa: B008  a frozen value
    resolver: Resolver | None = None,
    other_hosts: bool = True,
    allow_loopback: bool = False,
    tls: ssl.SSLContext | None = None,
) -> Fetched:
    """GET `url`. UserError when it may not be reached, ExternalError when it can't be.

    `other_hosts=False`: a redirect to another host is told, not followed. Whoever allowed one host did not allow those
    it points to.
    """
    target = parse_url(url)
    trail: list[str] = []
    try:
        async with asyncio.timeout(limits.seconds):
            while True:
                head, data = await _get(target, limits, resolver or resolve, allow_loopback, tls)
                location = head.headers.get("location")
                if head.status not in REDIRECTS or not location:
                    return _fetched(target.url, head, data, trail)
                trail.append(target.url)
                if len(trail) > limits.redirects:
                    raise ExternalError(f"{url} redirects more than {limits.redirects} times", hint="try its last page")
                target = _redirected(target, location, other_hosts)
    except TimeoutError as error:
        raise ExternalError(
            f"{target.url} took longer than {limits.seconds:g} seconds", hint="try again", retryable=True
        ) from error


def parse_url(url: str) -> _Target:
    """The parts of an address that may be fetched, or why it may not."""
    shown = url if len(url) <= 120 else f"{url[:120]}…"
    if len(url) > URL_LIMIT:
        raise UserError(f"the address {shown} is longer than {URL_LIMIT:,} characters")
    if _ODD.search(url):
        raise UserError(f"the address {shown!r} has a space, a backslash or a control character in it")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise UserError(f"{shown} is not an address of the web: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https"):
        raise UserError(f"{shown} is not an http or https address", hint="write it whole: https://…")
    if parts.username is not None or parts.password is not None:
        raise UserError(f"the address {shown} has a name or a password in it", hint="remove what stands before the @")
    host, literal = _host(host, shown)
    port = port if port is not None else (443 if scheme == "https" else 80)
    if port not in (80, 443) and port < 1024:
        raise UserError(f"port {port} of {shown} does not belong to the web")
    path = quote(parts.path or "/", safe=_PATH_LETTERS)
    if parts.query:
        path += f"?{quote(parts.query, safe=_PATH_LETTERS + '?')}"
    return _Target(parts._replace(fragment="").geturl(), scheme, host, port, path, literal)


def _host(host: str, shown: str) -> tuple[str, bool]:
    """The host in small ASCII letters, and whether it is an address already."""
    if ":" in host:
        if closed_kind(host) == "no address":
            raise UserError(f"the host of {shown} is not an address")
        return host, True
    try:
        plain = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise UserError(f"the host of {shown} is not a name of the web") from error
    labels = plain.split(".")
    if len(plain) > 253 or not all(_LABEL.match(label) for label in labels):
        raise UserError(f"the host of {shown} is not a name of the web")
    if _NUMERIC.match(labels[-1]):
        if closed_kind(plain) == "no address":  # 127.1, 0x7f000001, 2130706433: spellings that hide where they lead
            raise UserError(f"the host of {shown} is a number, but not in the form 1.2.3.4")
        return plain, True
    return plain, False


def _redirected(target: _Target, location: str, other_hosts: bool) -> _Target:
    try:
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        pass  # then it is what it says, letter by letter
    try:
        following = parse_url(urljoin(target.url, location))
    except (UserError, ValueError) as error:
        raise UserError(
            f"{target.url} redirects to where it may not: {getattr(error, 'message', error)}",
            hint="name the page itself",
        ) from error
    if target.scheme == "https" and following.scheme == "http":
        raise UserError(
            f"{target.url} redirects from https to the open {following.url}", hint="name that address if you trust it"
        )
    if not other_hosts and following.host.removeprefix("www.") != target.host.removeprefix("www."):
        raise UserError(
            f"{target.url} redirects to another host: {following.url}", hint="fetch that address itself if it is right"
        )
    return following


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, in the order the system prefers."""
    found = await in_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), "weft-resolve")
    return [str(entry[4][0]) for entry in found]


async def _judged(target: _Target, resolver: Resolver, allow_loopback: bool) -> list[str]:
    """Every address of the host, all of them public: one that is not spoils the name."""
    try:
        found = [target.host] if target.literal else list(dict.fromkeys(await resolver(target.host, target.port)))
    except (OSError, UnicodeError) as error:
        raise ExternalError(
            f"{target.host} has no address ({error})", hint="check the name and the network", retryable=True
        ) from error
    if not found:
        raise ExternalError(f"{target.host} has no address", hint="check the name", retryable=True)
    for address in found:
        kind = closed_kind(address)
        if kind and not (allow_loopback and is_loopback(address)):
            named = target.host if target.literal else f"{target.host} ({address})"
            raise UserError(
                f"{named} is not on the open web: {kind}",
                hint="only public addresses are fetched; save the page to a file and use that",
            )
    return found


async def _get(
    target: _Target, limits: FetchLimits, resolver: Resolver, allow_loopback: bool, tls: ssl.SSLContext | None
) -> tuple[ReplyHead, bytes]:
    addresses = await _judged(target, resolver, allow_loopback)
    reader, writer = await _connect(target, addresses, limits, tls)
    try:
        writer.write(_request(target))
        await writer.drain()
        head = await read_head(reader)
        if head.status in REDIRECTS and "location" in head.headers:
            return head, b""
        return head, await read_body(reader, head, limits.size)
    except (OSError, ssl.SSLError) as error:
        raise ExternalError(
            f"the connection to {target.host} broke ({error})", hint="try again", retryable=True
        ) from error
    finally:
        writer.transport.abort()


def _request(target: _Target) -> bytes:
    host = f"[{target.host}]" if ":" in target.host else target.host
    usual = target.port == (443 if target.scheme == "https" else 80)
    lines = (
        f"GET {target.request_path} HTTP/1.1",
        f"Host: {host if usual else f'{host}:{target.port}'}",
        f"User-Agent: weft/{__version__}",
        "Accept: text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.8",
        "Accept-Encoding: gzip, deflate",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _connect(
    target: _Target, addresses: Sequence[str], limits: FetchLimits, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    failures: list[str] = []
    for address in addresses:
        try:
            async with asyncio.timeout(limits.connect_seconds):
                return await _connect_to(address, target, tls)
        except ssl.SSLCertVerificationError as error:
            raise ExternalError(
                f"the certificate of {target.host} is not to be trusted: {error.verify_message}",
                hint="the page may be forged; it was not fetched",
            ) from error
        except (OSError, TimeoutError) as error:
            failures.append(f"{address}: {str(error) or 'no answer'}")
    raise ExternalError(
        f"can't connect to {target.host} ({'; '.join(failures[:3])})", hint="check the network", retryable=True
    )


async def _connect_to(
    address: str, target: _Target, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to this very address: no name is looked up behind this point."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (address, target.port))
        if target.scheme == "http":
            return await asyncio.open_connection(sock=sock, limit=LINE_LIMIT)
        context = tls or await in_thread(ssl.create_default_context, "weft-certificates")
        return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=target.host, limit=LINE_LIMIT)
    except BaseException:
        sock.close()
        raise


def _fetched(url: str, head: ReplyHead, data: bytes, trail: Sequence[str]) -> Fetched:
    said = head.headers.get("content-type", "")
    media_type = said.partition(";")[0].strip().lower()
    charset = _CHARSET.search(said)
    return Fetched(
        url=url,
        status=head.status,
        media_type=media_type if _MEDIA_TYPE.match(media_type) else "application/octet-stream",
        charset=charset[1].lower() if charset else None,
        data=data,
        redirects=tuple(trail),
    )
