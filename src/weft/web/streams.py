"""Events on their way to browsers: durable ones once and in order, live ones joined, nobody held up by a slow client.

    source -> Watch (one for each session that somebody looks at) -> Buffer (one for each client) -> server-sent events

A `Watch` follows wherever the session is held: here, in another process, or nowhere, when only its log can grow. It
knows the last number it passed on, so that moving from one source to another leaves no gap and tells nothing twice. A
`Buffer` takes at the speed of the source: pieces of a text that were not fetched yet become one piece, and a client
that falls too far behind is told to load again from the number it has, which costs no memory.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Any, Final, Protocol

from weft.protocol.events import FeedItem, Record
from weft.protocol.values import dataclass

MOST_WAITING: Final = 2_000
"""Durable events that wait for one client."""
MOST_BYTES: Final = 8 * 2**20
LIVE_LIMIT: Final = 64 * 2**10
"""Characters of one joined text that wait for one client; more than that is cut at its beginning."""
TOGETHER: Final = 64 * 2**10
"""Bytes of what was before, sent at once."""
LIVE_SECONDS: Final = 0.04
"""Between two times that a client is sent what is live: pieces that come meanwhile become one. The eye sees no more."""
BEAT_SECONDS: Final = 15.0
"""A stream that has nothing to say says that it is there."""

Encode = Callable[[FeedItem], dict[str, Any]]
_JOINED: Final = frozenset({"text_streamed", "thinking_streamed", "step_text_streamed"})
"""Live events whose `text` goes on where the last one ended."""
_PLACE: Final = ("conversation", "execution", "step", "attempt", "call", "question")
_SETTLED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "model_settled": ("conversation", "execution"),
    "tool_settled": ("conversation", "execution"),
    "call_settled": ("step", "attempt", "call"),
}
"""Durable events that end what live ones tell of, and by what they belong together."""
Live = OrderedDict[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Sent:
    """One server-sent event."""

    event: str
    data: str
    id: int | None = None

    def encoded(self) -> bytes:
        head = f"id: {self.id}\n" if self.id is not None else ""
        lines = "\n".join(f"data: {line}" for line in self.data.split("\n"))
        return f"{head}event: {self.event}\n{lines}\n\n".encode()


@dataclass(slots=True, eq=False)
class Buffer:
    """What waits for one client."""

    seen: int
    """The number of the last durable event that was put in."""
    durable: deque[Sent] = field(default_factory=deque)
    live: Live = field(default_factory=OrderedDict)
    size: int = 0
    behind: bool = False
    """Too much waited: all of it was dropped, and the client has to load again."""
    closed: bool = False
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    urgent: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with `ready` for what does not wait for further pieces: all that is durable, and the end."""
    sent_live: float = 0.0
    """When it was last sent something live."""
    fetched: int = 0
    """The number of the last durable event that the client has."""

    def put(self, value: Mapping[str, Any]) -> None:
        seq, event = value.get("seq"), value["event"]
        if self.behind or self.closed:
            return
        if seq is None:
            self._put_live(event)
        elif seq > self.seen:
            self.seen = seq
            sent = Sent(event["type"], json.dumps(value, ensure_ascii=False), seq)
            self.durable.append(sent)
            self.size += len(sent.data)
            # What was live is part of what has now settled, or comes again: it must not be shown after it.
            _drop_settled(self.live, event)
            if len(self.durable) > MOST_WAITING or self.size > MOST_BYTES:
                self.behind = True
                self.durable.clear()
                self.live.clear()
            self.urgent.set()
        self.ready.set()

    def _put_live(self, event: Mapping[str, Any]) -> None:
        key = _live_key(event)
        self.live[key] = _joined(self.live.get(key), event)

    def close(self) -> None:
        self.closed = True
        self.urgent.set()
        self.ready.set()

    async def take(self) -> list[Sent]:
        """What waits now, or as soon as something does; after a while of nothing, a beat. [] when it is over."""
        try:
            async with asyncio.timeout(BEAT_SECONDS):
                await self.ready.wait()
        except TimeoutError:
            return [Sent("beat", "{}")]
        clock = asyncio.get_running_loop().time
        if not self.urgent.is_set() and (left := self.sent_live + LIVE_SECONDS - clock()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self.urgent.wait()
        if self.live:
            self.sent_live = clock()
        self.ready.clear()
        self.urgent.clear()
        if self.behind:
            self.closed = True
            return [Sent("reload", json.dumps({"after": self.fetched}))]
        taken = [*self.durable, *(Sent(one["type"], json.dumps({"event": one})) for one in self.live.values())]
        if self.durable:
            self.fetched = self.durable[-1].id or self.fetched
        self.durable.clear()
        self.live.clear()
        self.size = 0
        return taken


def _live_key(event: Mapping[str, Any]) -> tuple[str, str]:
    """What a live event is about: a later one about the same joins it, or takes its place."""
    return event["type"], "/".join(str(event.get(name, "")) for name in _PLACE)


def _joined(before: Mapping[str, Any] | None, event: Mapping[str, Any]) -> Mapping[str, Any]:
    if before is None or event["type"] not in _JOINED:
        return event
    return {**before, "text": (before["text"] + event["text"])[-LIVE_LIMIT:]}


def _drop_settled(live: Live, event: Mapping[str, Any]) -> None:
    """Take out what a durable event makes meaningless."""
    about = _SETTLED_BY.get(event["type"])
    if about is None:
        return
    for key, one in [*live.items()]:
        if all(one.get(name) == event.get(name) for name in about):
            del live[key]


Source = Callable[[int], AsyncIterator[FeedItem]]
"""The events of a session after a number, for as long as this source has any."""


class Watch:
    """One session, for as long as somebody looks at it."""

    def __init__(self, source: Source, encode: Encode, after: int) -> None:
        self._source = source
        self._encode = encode
        self._buffers: set[Buffer] = set()
        self._live: Live = OrderedDict()
        """What is being written now, from its beginning: for who begins to watch in the middle of it."""
        self.last = after

    @property
    def is_watched(self) -> bool:
        return bool(self._buffers)

    async def run(self) -> None:
        """Pass on everything, from one source to the next."""
        try:
            while True:
                async for item in self._source(self.last):
                    self._pass_on(item)
        finally:
            self.close()

    def close(self) -> None:
        """Whoever watches is told the end, and comes again."""
        for buffer in self._buffers:
            buffer.close()

    def _pass_on(self, item: FeedItem) -> None:
        value = self._encode(item)
        if isinstance(item, Record):
            if item.seq <= self.last:
                return
            self.last = item.seq
            _drop_settled(self._live, value["event"])
        elif value["event"]["type"] in _JOINED:
            key = _live_key(value["event"])
            self._live[key] = _joined(self._live.get(key), value["event"])
        for buffer in self._buffers:
            buffer.put(value)

    @contextmanager
    def joined(self) -> Iterator[Buffer]:
        """A buffer that gets everything from now on, and what is being written now from its beginning."""
        buffer = Buffer(seen=self.last, fetched=self.last)
        for key, event in self._live.items():
            buffer.live[key] = {**event, "whole": True}
            buffer.ready.set()
        self._buffers.add(buffer)
        try:
            yield buffer
        finally:
            self._buffers.discard(buffer)


class History(Protocol):
    """What a log has."""

    begins: int
    """Of the conversation nothing before this event was among the records; 0: nothing was left out."""

    def records(self, after: int, upto: int) -> AsyncIterator[Record]: ...


async def stream(watch: Watch, after: int, history: History, encode: Encode) -> AsyncGenerator[bytes, None]:
    """A client's events: what the log has after `after`, as fast as the client takes it, then what comes."""
    with watch.joined() as buffer:
        upto = buffer.seen
        buffer.seen = max(after, upto)
        past: list[bytes] = []
        size = 0
        async for record in history.records(after, upto):
            past.append(Sent(record.event.type, json.dumps(encode(record), ensure_ascii=False), record.seq).encoded())
            size += len(past[-1])
            if size > TOGETHER:
                yield b"".join(past)
                past, size = [], 0
        told = {"seq": max(after, upto), "begins": history.begins}
        yield b"".join([*past, Sent("caught_up", json.dumps(told)).encoded()])
        while not buffer.closed or buffer.durable:
            for sent in await buffer.take():
                yield sent.encoded()
