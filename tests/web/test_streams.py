"""Events to browsers: nothing lost, nothing told twice, nobody held up."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from weft.protocol.conversation_events import ModelSettled, TextStreamed
from weft.protocol.events import FeedItem, NoticeGiven, Record, StepSkipped
from weft.web.streams import LIVE_LIMIT, MOST_WAITING, Buffer, Sent, Watch, stream


def encode(item: FeedItem) -> dict[str, Any]:
    event = item.event if isinstance(item, Record) else item
    plain = {name: getattr(event, name) for name in event.__slots__}
    return {"seq": item.seq, "at": item.at, "event": plain} if isinstance(item, Record) else {"event": plain}


def record(seq: int) -> Record:
    return Record(seq, "now", StepSkipped(run=1, step=f"s{seq}", reason="up to date"))


def text(piece: str, execution: str = "t1/model") -> TextStreamed:
    return TextStreamed(conversation="main", execution=execution, text=piece)


def settled(seq: int, execution: str = "t1/model") -> Record:
    return Record(
        seq, "now", ModelSettled(conversation="main", turn=1, execution=execution, outcome="completed", text="whole")
    )


def told(sent: list[Sent]) -> list[tuple[int | None, str]]:
    return [(one.id, one.event) for one in sent]


def test_pieces_that_were_not_fetched_yet_become_one() -> None:
    async def check() -> None:
        buffer = Buffer(seen=0)
        for piece in "a tide":
            buffer.put(encode(text(piece)))
        buffer.put(encode(text("other", "t2/model")))
        taken = await buffer.take()
        assert [json.loads(one.data)["event"]["text"] for one in taken] == ["a tide", "other"]
        buffer.put(encode(text(" rises")))
        assert [json.loads(one.data)["event"]["text"] for one in await buffer.take()] == [" rises"]

    asyncio.run(check())


def test_a_text_that_settled_is_not_told_after_its_settlement() -> None:
    async def check() -> None:
        buffer = Buffer(seen=0)
        buffer.put(encode(text("half")))
        buffer.put(encode(text("another", "t2/model")))
        buffer.put(encode(settled(1)))
        assert told(await buffer.take()) == [(1, "model_settled"), (None, "text_streamed")]

    asyncio.run(check())


def test_what_waits_for_a_client_is_bounded() -> None:
    async def check() -> None:
        buffer = Buffer(seen=0)
        for _ in range(10):
            buffer.put(encode(text("x" * LIVE_LIMIT)))
        (one,) = await buffer.take()
        assert len(json.loads(one.data)["event"]["text"]) == LIVE_LIMIT
        buffer.fetched = 7
        for seq in range(8, MOST_WAITING + 9):
            buffer.put(encode(record(seq)))
        assert [(sent.event, sent.data) for sent in await buffer.take()] == [("reload", '{"after": 7}')]
        assert buffer.closed
        assert not buffer.durable

    asyncio.run(check())


def test_who_joins_in_the_middle_of_a_text_gets_it_from_its_beginning() -> None:
    async def check() -> None:
        queue: asyncio.Queue[FeedItem] = asyncio.Queue()

        async def source(_: int) -> AsyncIterator[FeedItem]:
            while True:
                yield await queue.get()

        watch = Watch(source, encode, 0)
        running = asyncio.create_task(watch.run())
        for piece in ("The ", "tide"):
            queue.put_nowait(text(piece))
        await asyncio.sleep(0)
        while not queue.empty():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        with watch.joined() as late:
            (one,) = await late.take()
            event = json.loads(one.data)["event"]
            assert (event["text"], event["whole"]) == ("The tide", True)
            queue.put_nowait(text(" rises"))
            (one,) = await late.take()
            assert json.loads(one.data)["event"]["text"] == " rises"
            queue.put_nowait(settled(1))
            assert told(await late.take()) == [(1, "model_settled")]
        with watch.joined() as after:
            assert not after.live
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(check())


class Life:
    """A log that grows, sources that end at any time and begin again somewhat earlier, clients that read slowly."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.total = 40
        self.written = 0
        self.grown = asyncio.Event()

    async def source(self, after: int) -> AsyncIterator[FeedItem]:
        at = max(0, after - self.chance.randrange(4))  # an old source may tell again what was told
        for _ in range(self.chance.randrange(1, 12)):
            while at >= self.written:
                self.grown.clear()
                await self.grown.wait()
            at += 1
            yield record(at)
            if self.chance.random() < 0.3:
                yield NoticeGiven(text="live")

    begins = 0

    async def records(self, after: int, upto: int) -> AsyncIterator[Record]:
        for seq in range(after + 1, upto + 1):
            await self.dawdle()
            yield record(seq)

    async def client(self, watch: Watch, after: int) -> list[int]:
        seen: list[int] = []
        async for data in stream(watch, after, self, encode):
            for event in data.decode().strip().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in event.split("\n"))
                seen += [int(fields["id"])] if "id" in fields else []
            if seen and seen[-1] == self.total:
                break
            await self.dawdle()
        return seen

    async def dawdle(self) -> None:
        for _ in range(self.chance.randrange(3)):
            await asyncio.sleep(0)

    async def live(self) -> None:
        watch = Watch(self.source, encode, 0)
        running = asyncio.create_task(watch.run())
        clients: list[tuple[int, asyncio.Task[list[int]]]] = []
        while self.written < self.total:
            if self.chance.random() < 0.2 and watch.last:
                after = self.chance.randrange(watch.last)
                clients.append((after, asyncio.create_task(self.client(watch, after))))
            self.written += 1
            self.grown.set()
            await asyncio.sleep(0)
        clients.append((0, asyncio.create_task(self.client(watch, 0))))
        async with asyncio.timeout(20):
            for after, task in clients:
                assert await task == list(range(after + 1, self.total + 1))
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.parametrize("seed", range(60))
def test_every_client_sees_each_record_once_and_in_order(seed: int) -> None:
    asyncio.run(Life(seed).live())
