"""A model behind a wire of server-sent events, read by ourselves: `HttpModel` sends, a `Reader` of each wire takes in.

    bytes -> unpacked, within bounds -> events -> Reader.take -> parts

What a server says instead of an answer is an error in its own words: a status, a page, a JSON value, an error among the
events. Nothing it sends can hold up the loop or fill the memory: what is packed is unpacked in small pieces, and every
answer has an end.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.models.endpoint import UNPAID, Endpoint, EndpointModel, http_client
from weft.models.model import ModelError, Part, Request, Stop, TextDelta
from weft.models.provider_errors import (
    MOST_OF_AN_ERROR,
    broken_off,
    malformed,
    no_stream,
    reply_error,
    transport_error,
)
from weft.protocol.messages import Usage

if TYPE_CHECKING:
    import httpx2

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one answer. The longest that any model writes is a hundredth of it."""
_PIECE: Final = 64 * 1024
LOOP: Final = 4000
"""Characters: so much of the same, four times or more, is no answer any more."""


class Reader(Protocol):
    """Takes the events of one answer."""

    def take(self, event: Any) -> list[Part]:
        """The parts of one event, which is any JSON value. ModelError when it says that something went wrong."""
        ...

    def whole(self, value: Mapping[str, Any]) -> list[Part] | None:
        """The parts of an answer that came as one value; None when it is no answer."""
        ...

    def end(self) -> list[Part] | None:
        """What comes last; None when the answer has not come to its end."""
        ...


class HttpModel(EndpointModel, ABC):
    """One model of one wire. Subclasses say where and what is sent, and what reads the answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._built: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient] | None = None

    @abstractmethod
    def url(self) -> str: ...

    @abstractmethod
    def body(self, request: Request) -> dict[str, Any]: ...

    @abstractmethod
    def reader(self) -> Reader: ...

    def headers(self) -> dict[str, str]:
        key = {"authorization": f"Bearer {self._endpoint.key}"} if self._endpoint.key else {}
        return {"content-type": "application/json", "accept": "text/event-stream", **key}

    async def prepare(self) -> None:
        """Loads the transport, which the first call would wait for."""
        await self._client()

    async def aclose(self) -> None:
        """Lets go of the connections. The model may be used again."""
        built, self._built = self._built, None
        if built is not None and built[0] is asyncio.get_running_loop():
            await built[1].aclose()

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        if request.thinking == "off" and self._endpoint.thinking != "off":
            request = replace(request, thinking=self._endpoint.thinking)
        async for part in self.answer(self.body(request)):
            yield part

    async def answer(self, body: Mapping[str, Any]) -> AsyncIterator[Part]:
        """What comes back for one body that is sent."""
        client = await self._client()
        reader, watch, begun = self.reader(), Repetition(), False
        data = json.dumps(body, ensure_ascii=False).encode()
        try:
            async with client.stream("POST", self.url(), content=data, headers=self.headers()) as reply:
                if reply.status_code != 200:
                    raise await self._refusal(reply)
                kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind in ("application/json", "text/html"):
                    for part in await self._at_once(reply, reader, kind):
                        yield part
                    return
                async for event in events(_bytes(reply, self.name), self.name):
                    for part in reader.take(event):
                        begun = True
                        yield part
                        if isinstance(part, TextDelta) and watch.notes(part.text):
                            yield Stop(reason="repeated")
                            return
            last = reader.end()
            if last is None:
                raise broken_off(self.name)
            for part in last:
                yield part
        except ModelError as error:
            told = ModelError(
                error.kind, self._redact(error.message), hint=error.hint, retryable=error.retryable, wait=error.wait
            )
            if told.kind in UNPAID and not begun:
                yield Usage(input=0, output=0)
            raise told from None
        except Exception as error:  # noqa: BLE001 - sorted by kind, and raised again when it is a bug
            raise transport_error(error, self.name, self._redact) from None

    async def _refusal(self, reply: httpx2.Response) -> ModelError:
        said = await self._short(reply)
        return reply_error(self.name, reply.status_code, reply.headers, said)

    async def _at_once(self, reply: httpx2.Response, reader: Reader, kind: str) -> list[Part]:
        """The parts of an answer that is no stream, or an error in the server's words."""
        said = await self._short(reply) if kind == "text/html" else await _whole(_bytes(reply, self.name))
        try:
            value = json.loads(said)
        except (ValueError, RecursionError):
            value = None
        parts = reader.whole(value) if isinstance(value, dict) and "error" not in value else None
        if parts is None:
            raise no_stream(self.name, said, value)
        return parts

    async def _short(self, reply: httpx2.Response) -> str:
        said = b""
        async for piece in _bytes(reply, self.name):
            said += piece
            if len(said) > MOST_OF_AN_ERROR:
                break
        return said[:MOST_OF_AN_ERROR].decode("utf-8", "replace")

    async def _client(self) -> httpx2.AsyncClient:
        """Connections belong to the loop that opened them, so another loop gets a client of its own."""
        loop = asyncio.get_running_loop()
        if self._built is None or self._built[0] is not loop:
            client = await asyncio.to_thread(http_client, self._endpoint)
            if self._built is None or self._built[0] is not loop:
                self._built = (loop, client)
            else:
                await client.aclose()  # another call was first
        return self._built[1]


class Repetition:
    """Whether a text that grows ends in the same few words over and over. Looked at from time to time."""

    def __init__(self, length: int = LOOP) -> None:
        self._length = length
        self._tail = ""
        self._unseen = 0

    def notes(self, text: str) -> bool:
        self._tail += text
        self._unseen += len(text)
        if self._unseen < self._length // 4:
            return False
        self._unseen = 0
        self._tail = self._tail[-self._length :]
        return len(self._tail) == self._length and goes_in_circles(self._tail)


def goes_in_circles(tail: str) -> bool:
    """Whether a text is the same piece again and again, four times or more."""
    probe = tail[-20:]
    before = tail.rfind(probe, 0, len(tail) - 1)
    period = len(tail) - len(probe) - before
    # A text with the period n is equal to itself moved by n.
    return before >= 0 and 0 < period <= len(tail) // 4 and tail[period:] == tail[:-period]


async def events(pieces: AsyncIterator[bytes], name: str) -> AsyncIterator[Any]:
    """The values of server-sent events. Their names are left out: every wire has its kind inside. `[DONE]` is None."""
    rest, data = list[bytes](), list[bytes]()
    async for piece in pieces:
        first, *lines = piece.split(b"\n")
        rest.append(first)
        if not lines:
            continue  # a line that is still going on
        lines.insert(0, b"".join(rest))
        rest = [lines.pop()]
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:])
            elif data and line in (b"", b"\r"):
                text, data = b"\n".join(data).strip(), []
                if text == b"[DONE]":
                    yield None
                elif text:
                    yield _value(text, name)


def _value(text: bytes, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise malformed(name, f"what it sent is no JSON: {error}") from None


async def _bytes(reply: httpx2.Response, name: str) -> AsyncIterator[bytes]:
    """The body as it comes, unpacked in small pieces where it is packed although nobody asked for that."""
    packed = reply.headers.get("content-encoding", "identity").strip().lower()
    unpack = _unpacker(packed, name)
    size = 0
    async for piece in reply.aiter_raw():
        if unpack is None:
            size += len(piece)
            yield piece
        else:
            left = piece
            while left:
                made, left = unpack(left)
                size += len(made)
                yield made
                if size > MOST_BYTES:
                    break
                await asyncio.sleep(0)
        if size > MOST_BYTES:
            raise malformed(name, f"the answer is larger than {MOST_BYTES // 2**20} MB", retryable=False)


def _unpacker(packed: str, name: str) -> Callable[[bytes], tuple[bytes, bytes]] | None:
    if packed in ("", "identity"):
        return None
    if packed not in ("gzip", "deflate"):
        raise malformed(name, f"the answer is packed as {packed}, which was not asked for", retryable=False)
    unpacking = zlib.decompressobj(47)

    def unpack(data: bytes) -> tuple[bytes, bytes]:
        try:
            made = unpacking.decompress(data, _PIECE)
        except zlib.error as error:
            raise malformed(name, f"the answer can't be unpacked: {error}") from None
        return made, unpacking.unconsumed_tail

    return unpack


async def _whole(pieces: AsyncIterator[bytes]) -> str:
    return b"".join([piece async for piece in pieces]).decode("utf-8", "replace")
