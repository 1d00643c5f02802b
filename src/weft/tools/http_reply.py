"""One HTTP/1.1 reply, read from a stream that may lie: every length is bounded, every surprise an error in words.

The body is counted as it comes and again as it unfolds, so neither an endless body nor a small one that unfolds to
gigabytes gets further than the limit.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from weft.protocol.errors import ExternalError
from weft.protocol.values import dataclass

LINE_LIMIT: Final = 16 * 1024
HEAD_LIMIT: Final = 64 * 1024
PIECE: Final = 64 * 1024
EARLY_REPLIES: Final = 5

_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: .*)?\Z", re.DOTALL)
_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\Z", re.DOTALL)
_LENGTH: Final = re.compile(r"[0-9]{1,18}\Z")


@dataclass(frozen=True, slots=True)
class ReplyHead:
    status: int
    headers: Mapping[str, str]
    """Names in small letters; a name that came twice has its values with commas between them."""


def malformed(what: str) -> ExternalError:
    return ExternalError(f"the server's reply can't be read: {what}", hint="try again, or try another address")


async def read_head(stream: asyncio.StreamReader) -> ReplyHead:
    """The head of the final reply; early ones (1xx) are passed over."""
    for _ in range(EARLY_REPLIES + 1):
        head = await _one_head(stream)
        if head.status >= 200:
            return head
    raise malformed("early replies that never end")


async def _one_head(stream: asyncio.StreamReader) -> ReplyHead:
    first = await _line(stream)
    found = _STATUS.match(first)
    if not found:
        raise malformed(f"it begins with {first[:40]!r}, which is not HTTP/1")
    return ReplyHead(int(found[1]), await _headers(stream))


async def _headers(stream: asyncio.StreamReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    size = 0
    while line := await _line(stream):
        size += len(line)
        if size > HEAD_LIMIT:
            raise malformed(f"its head has more than {HEAD_LIMIT:,} bytes")
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.match(name):
            raise malformed(f"the header line {line[:40]!r}")
        if b"\0" in value or b"\r" in value:
            raise malformed(f"a control character in the header {name[:40]!r}")
        key, text = name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        line = await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        what = "after nothing" if not error.partial else f"in the middle of the line {error.partial[:40]!r}"
        raise _cut(what) from error
    except asyncio.LimitOverrunError as error:
        raise malformed(f"a line of more than {LINE_LIMIT:,} bytes") from error
    if len(line) > LINE_LIMIT:
        raise malformed(f"a line of more than {LINE_LIMIT:,} bytes")
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _cut(where: str) -> ExternalError:
    return ExternalError(f"the server ended its reply {where}", hint="try again", retryable=True)


async def read_body(stream: asyncio.StreamReader, head: ReplyHead, limit: int) -> bytes:
    """The unfolded body; ExternalError when it is cut short, malformed or larger than `limit`."""
    if head.status in (204, 304):
        return b""
    unfold = Unfolder(head.headers.get("content-encoding", ""))
    received, body = 0, bytearray()
    async for piece in _pieces(stream, head, limit):
        received += len(piece)
        for made in unfold.feed(piece):
            body += made
            if max(received, len(body)) > limit:
                raise too_large(limit)
        if received > limit:
            raise too_large(limit)
    unfold.finish()
    return bytes(body)


def too_large(limit: int) -> ExternalError:
    return ExternalError(
        f"the reply is larger than {limit:,} bytes", hint="fetch it yourself and give the file, or raise the limit"
    )


def _pieces(stream: asyncio.StreamReader, head: ReplyHead, limit: int) -> AsyncIterator[bytes]:
    transfer = head.headers.get("transfer-encoding", "").strip().lower()
    if transfer:
        if transfer != "chunked":
            raise malformed(f"the transfer encoding {transfer[:40]!r}, which was not asked for")
        return _chunks(stream)
    said = head.headers.get("content-length")
    if said is None:
        return _to_the_end(stream)
    lengths = {part.strip() for part in said.split(",")}
    if len(lengths) != 1 or not _LENGTH.match(length := lengths.pop()):
        raise malformed(f"the length {said[:40]!r}")
    if int(length) > limit:
        raise too_large(limit)
    return _exactly(stream, int(length))


async def _to_the_end(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while piece := await stream.read(PIECE):
        yield piece


async def _exactly(stream: asyncio.StreamReader, length: int) -> AsyncIterator[bytes]:
    left = length
    while left:
        piece = await stream.read(min(left, PIECE))
        if not piece:
            raise _cut(f"{left:,} of {length:,} bytes too early")
        left -= len(piece)
        yield piece


async def _chunks(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        line = await _line(stream)
        found = _CHUNK.match(line)
        if not found:
            raise malformed(f"the chunk size {line[:40]!r}")
        size = int(found[1], 16)
        if size == 0:
            await _headers(stream)  # what may follow the last chunk; bounded as the head is
            return
        async for piece in _exactly(stream, size):
            yield piece
        if await _line(stream):
            raise malformed("a chunk that is longer than it says")


class Unfolder:
    """Content encodings, unfolded piece by piece: what little came is never more than `PIECE` at once."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise malformed(f"the content encoding {name[:40]!r}, which was not asked for")
        self._kind = {"": "plain", "identity": "plain", "deflate": "deflate"}.get(name, "gzip")
        self._inner = zlib.decompressobj(31 if self._kind == "gzip" else 15)
        self._begun = False
        self._held = b""
        """The first half of the sign of another member."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._kind == "plain":
            yield piece
            return
        piece, self._held = self._held + piece, b""
        is_full = False
        while piece or is_full:
            if self._inner.eof:
                if self._kind == "gzip" and piece == b"\x1f":
                    self._held = piece
                    return
                if self._kind != "gzip" or piece[:2] != b"\x1f\x8b":
                    return  # padding behind the end means nothing
                self._inner = zlib.decompressobj(31)  # several members, one after the other, are one body
            made, piece = self._unfold(piece)
            is_full = len(made) == PIECE  # there may be more, although everything was taken in
            yield made

    def _unfold(self, piece: bytes) -> tuple[bytes, bytes]:
        try:
            made = self._inner.decompress(piece, PIECE)
        except zlib.error as error:
            if self._kind != "deflate" or self._begun:
                raise malformed(f"its {self._kind} does not unfold ({error})") from error
            self._inner = zlib.decompressobj(-15)  # many servers mean the bare format when they say deflate
            self._begun = True
            return self._unfold(piece)
        self._begun = True
        return made, self._inner.unconsumed_tail or self._inner.unused_data

    def finish(self) -> None:
        if self._kind != "plain" and self._begun and not self._inner.eof:
            raise _cut(f"in the middle of its {self._kind}")
