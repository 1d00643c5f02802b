"""The HTTP client of sources: bounded answers, faults as answers, and no way to where a source does not belong.

A connection that can't be made and a refusal come back as errors of the protocol with what is known of them (`data`),
so that one request fails and not the whole connection, and whoever called can tell what was never sent. Addresses that
others name (metadata of a sign-in) must be public unless the source itself is local; a cloud's metadata is none at all.
The connection goes to the very address that was judged: a name that answers otherwise the second time gains nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from weft.protocol.errors import ExternalError, UserError
from weft.protocol.json_text import json_value
from weft.tools.addresses import closed_kind, is_loopback, is_metadata
from weft.tools.fetch import resolve
from weft.tools.http_reply import Unfolder

ANSWER_LIMIT: Final = 16 * 2**20
CONNECT_SECONDS: Final = 15.0
WIRE_CODE: Final = -32950
"""Of errors that were made here, in place of an answer that is no message of the protocol."""


class AnswerTooLargeError(ExternalError):
    """An answer was over the limit."""


class _Bounded(httpx2.AsyncByteStream):
    """The answer as it comes, unfolded and never more than the limit. `broken` makes an error of what the connection
    raises."""

    def __init__(
        self, inner: Any, encoding: str, *, endless: bool, broken: Callable[[httpx2.TransportError], Exception]
    ) -> None:
        self._inner = inner
        self._unfold = Unfolder(encoding)
        self._left = None if endless else ANSWER_LIMIT
        self._broken = broken

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                for made in self._unfold.feed(piece):
                    if self._left is not None:
                        self._left -= len(made)
                        if self._left < 0:
                            raise AnswerTooLargeError(
                                f"the answer is over {ANSWER_LIMIT // 2**20} MB", hint="ask for less"
                            )
                    yield made
        except httpx2.TransportError as error:
            raise self._broken(error) from error
        self._unfold.finish()

    async def aclose(self) -> None:
        await self._inner.aclose()


class Wire(httpx2.AsyncBaseTransport):
    """`home` is the source's own address. With `faults_as_answers` a fault is an answer in the protocol's words."""

    def __init__(self, home: str, *, faults_as_answers: bool, verify: Any = True) -> None:
        self._verify = verify
        self._inner: dict[str, httpx2.AsyncHTTPTransport] = {}
        """By host: a connection that was made to one is not another's, though both may be at one address."""
        self._home = urlsplit(home).hostname or ""
        self._faults_as_answers = faults_as_answers
        self._found: dict[str, str] = {}
        """The judged address at which a host was reached."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        request.headers["accept-encoding"] = "gzip, deflate"
        try:
            response = await self._reached(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            if not self._faults_as_answers:
                raise ExternalError(f"{host} can't be reached: {error}", retryable=True) from error
            return _fault(request, 503, f"{host} can't be reached: {error}", {"unsent": True})
        except httpx2.TransportError as error:
            broken = _broken(host, error)
            if not self._faults_as_answers:
                raise broken from error
            return _fault(request, 503, broken.message, {"lost": True})
        response.stream = _Bounded(
            response.stream,
            response.headers.pop("content-encoding", ""),
            endless=response.headers.get("content-type", "").startswith("text/event-stream"),
            broken=lambda error: error if self._faults_as_answers else _broken(host, error),
        )
        status = response.status_code
        if status == 404 and self._faults_as_answers and "mcp-session-id" in request.headers:
            await response.aread()
            await response.aclose()
            return _fault(request, status, f"{host} has forgotten the session", {"expired": True})
        if self._faults_as_answers and request.method == "POST" and _is_refusal(status):
            body = await response.aread()
            await response.aclose()
            if status != 401 and _is_of_the_protocol(body):
                kind = {"content-type": response.headers.get("content-type", "application/json")}
                return httpx2.Response(status, headers=kind, content=body, request=request)
            said = body[:300].decode(errors="replace").strip()
            words = f"{host} answered with status {status}" + (f": {' '.join(said.split())[:200]}" if said else "")
            told = {"status": status, "challenge": response.headers.get("www-authenticate", "")}
            return _fault(request, status, words, told)
        return response

    async def aclose(self) -> None:
        for inner in self._inner.values():
            await inner.aclose()

    async def _reached(self, request: httpx2.Request) -> httpx2.Response:
        """By the address that answers first. What can't be connected to was sent nothing."""
        host, failed = request.url.host, None
        if host not in self._inner:
            self._inner[host] = httpx2.AsyncHTTPTransport(verify=self._verify, retries=0)
        async for address in self._places(host, request.url.port or 443):
            there = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                response = await self._inner[host].handle_async_request(there)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failed = error
            else:
                self._found[host] = address
                return response
        raise failed or httpx2.ConnectError("it has no address")

    async def _places(self, host: str, port: int) -> AsyncIterator[str]:
        """Where it was reached before; when that is over, where its name leads now."""
        if host in self._found:
            yield self._found.pop(host)
        for address in await self._judged(host, port):
            yield address

    async def _judged(self, host: str, port: int) -> Sequence[str]:
        """What others name may not lead into a private network, unless the source itself is on this machine; and
        nothing leads to where a cloud tells a machine its keys."""
        is_free = host == self._home or is_local(self._home)
        try:
            addresses = await resolve(host, port)
        except (OSError, UnicodeError) as error:
            if is_free:
                raise httpx2.ConnectError(str(error)) from error
            raise ExternalError(f"there is no host {host}", hint="check the address") from error
        for address in addresses:
            if is_metadata(address):
                raise UserError(
                    f"{host} leads to {address}, where machines are told their own keys",
                    hint="no source is there; nothing was sent",
                )
            if not is_free and (kind := closed_kind(address)):
                raise UserError(
                    f"{host} leads to {address}: {kind}", hint="a server may not name such an address; nothing was sent"
                )
        return list(dict.fromkeys(addresses))


def is_local(host: str) -> bool:
    return host == "localhost" or is_loopback(host)


def _is_refusal(status: int) -> bool:
    """401, 403 and what passes. Any other refusal is how servers of older protocols answer a probe."""
    return status in (401, 403, 429) or status >= 500


def _is_of_the_protocol(body: bytes) -> bool:
    """A refusal in the protocol's own words; what a gateway before the server says is none."""
    try:
        told = json_value(body)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("jsonrpc") == "2.0"


def _fault(request: httpx2.Request, status: int, words: str, data: dict[str, Any]) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": WIRE_CODE, "message": words, "data": data}}
    headers = {"content-type": "application/json"}
    return httpx2.Response(status, headers=headers, content=json.dumps(body).encode(), request=request)


def _broken(host: str, error: Exception) -> ExternalError:
    return ExternalError(f"the connection to {host} broke: {str(error) or type(error).__name__}", retryable=True)


def open_client(
    home: str, *, auth: httpx2.Auth | None = None, headers: dict[str, str] | None = None, faults_as_answers: bool
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=Wire(home, faults_as_answers=faults_as_answers),
        auth=auth,
        headers=headers,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        follow_redirects=False,
    )
