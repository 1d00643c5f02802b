"""The calls of an attempt: told while they happen, kept whatever happens, nothing counted twice or lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from weft.models.answer import gather
from weft.models.model import Part, Request, Stop, TextDelta
from weft.orchestrator.attempt_calls import AttemptCalls, AttemptOverError, Kept
from weft.protocol.call_events import CallSettled, CallStarted, LiveCallEvent, StepTextStreamed, used_by
from weft.protocol.errors import ExternalError
from weft.protocol.events import ItemSettled, StepProgressed
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import Message, Text, Usage
from weft.testing.scripted import Hold, ScriptedModel, Turn, says


class Book:
    """Keeps what it is told to, when it is let."""

    def __init__(self) -> None:
        self.live: list[LiveCallEvent | StepProgressed] = []
        self.kept: list[Kept] = []
        self.let = asyncio.Event()
        self.let.set()
        self.reached = asyncio.Event()
        self.fault: Exception | None = None
        self.now = 10.0

    def calls(self) -> AttemptCalls:
        return AttemptCalls(1, "draft", 2, self.keep, self.live.append, lambda *_: None, lambda: self.now)

    async def keep(self, together: Sequence[tuple[CallSettled | ItemSettled, bytes | None]]) -> None:
        self.reached.set()
        await self.let.wait()
        if self.fault:
            raise self.fault
        self.kept += [(settled, data) for settled, data in together if isinstance(settled, CallSettled)]

    @property
    def settled(self) -> list[CallSettled]:
        return [settled for settled, _ in self.kept]


def run(story: Any) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def request(text: str = "hello") -> Request:
    return Request(system="be brief", messages=(Message(role="user", content=(Text(text=text),)),))


def test_calls_are_timed_and_kept_with_what_was_asked() -> None:
    async def story() -> None:
        book = Book()
        calls = book.calls()
        async with calls.model("work/large", "think", "the prompt", dropped=("skills (rhyme)",)) as call:
            call.text("so ", thinking=True)
            call.used(Usage(input=10, output=1))
            book.now += 1.5
            call.used(Usage(input=10, output=4))
        async with calls.tool("Read", "notes.md", {"path": "notes.md"}) as tool:
            tool.settle(message="120 lines")
        assert [(one.call, one.kind) for one in book.live if isinstance(one, CallStarted)] == [
            ("1", "model"),
            ("2", "tool"),
        ]
        assert [one.text for one in book.live if isinstance(one, StepTextStreamed)] == ["so "]
        model, tool_call = book.settled
        assert (model.ms, model.usage, model.model) == (1500, {"input": 10, "output": 4}, "work/large")
        assert model.dropped == ("skills (rhyme)",)
        assert (tool_call.message, tool_call.model, tool_call.usage) == ("120 lines", None, {})
        data = book.kept[0][1]
        assert data == b"the prompt"
        assert model.request == hash_bytes(data)
        assert book.kept[1][1] == b'{\n  "path": "notes.md"\n}'
        used = calls.used
        assert (used.model, used.usage, used.by_model, used.ms) == ("work/large", {"input": 10, "output": 4}, {}, 1500)

    run(story())


def test_two_models_are_told_apart_and_a_parent_that_never_ended_does_not_hide_its_calls() -> None:
    def settled(call: str, parent: str, model: str, tokens: int, ms: int) -> CallSettled:
        return CallSettled(
            run=1,
            step="s",
            attempt=1,
            call=call,
            kind="model",
            name=model,
            ms=ms,
            ok=True,
            parent=parent,
            model=model,
            usage={"input": tokens},
        )

    used = used_by([settled("2", "1", "a", 5, 40), settled("3", "1", "b", 7, 2), settled("4", "1", "a", 1, 0)])
    assert used.usage == {"input": 13}
    assert used.by_model == {"a": {"input": 6}, "b": {"input": 7}}
    assert used.ms == 42
    assert used_by([]).model is None


def test_what_is_left_by_an_exception_says_why() -> None:
    async def story() -> None:
        book = Book()
        calls = book.calls()
        with pytest.raises(ExternalError):
            async with calls.tool("Fetch", "a page"):
                raise ExternalError("the site does not answer\nat all")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), calls.tool("Shell"):
                await asyncio.Event().wait()
        first, second = book.settled
        assert (first.ok, first.message) == (False, "the site does not answer at all")
        assert (second.ok, second.message) == (False, "interrupted")
        assert await calls.close("left open") == []

    run(story())


def test_a_settlement_is_kept_although_its_task_is_cancelled_while_it_is_written() -> None:
    async def story() -> None:
        book = Book()
        book.let.clear()
        calls = book.calls()

        async def work() -> None:
            async with calls.model("work/large") as call:
                call.used({"input": 9})

        task = asyncio.create_task(work())
        await book.reached.wait()
        task.cancel()
        closing = asyncio.create_task(calls.close("interrupted"))
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not closing.done()
        book.let.set()
        assert await closing == []
        (settled,) = book.settled
        assert (settled.ok, settled.usage) == (True, {"input": 9})

    run(story())


def test_closing_settles_what_is_open_the_last_first_and_nothing_begins_after() -> None:
    async def story() -> None:
        book = Book()
        calls = book.calls()
        await calls.tool("Fetch").__aenter__()
        call = await calls.model("work/large", request="what").__aenter__()
        call.used({"input": 4})
        left = await calls.close("interrupted")
        assert [(one.call, one.ok, one.message, data) for one, data in left] == [
            ("2", False, "interrupted", b"what"),
            ("1", False, "interrupted", None),
        ]
        assert calls.used.usage == {"input": 4}
        await call.__aexit__(None, None, None)
        call.text("late")
        assert book.kept == []
        assert not any(isinstance(one, StepTextStreamed) for one in book.live)
        with pytest.raises(AttemptOverError):
            await calls.tool("Read").__aenter__()

    run(story())


def test_a_disk_that_takes_nothing_is_not_passed_over() -> None:
    async def story() -> None:
        book = Book()
        book.fault = ExternalError("the disk is full")
        calls = book.calls()
        with pytest.raises(ExternalError, match="full"):
            async with calls.tool("Read"):
                pass
        with pytest.raises(ExternalError, match="full"):
            await calls.close("left open")

    run(story())


def test_a_watched_model_reports_every_stream_and_keeps_its_ways() -> None:
    async def story() -> None:
        book = Book()
        hold = Hold()
        model = ScriptedModel([Turn(says("one two")), Turn(Usage(input=3), says("half"), hold)])
        calls = book.calls()
        watched = calls.watched(model, "work/large", "make a.json")
        assert (watched.name, watched.window) == (model.name, model.window)
        assert (await gather(watched.stream(request()))).text == "one two"
        task = asyncio.create_task(gather(watched.stream(request("again"))))
        await hold.reached.wait()
        assert calls.used.usage["input"] == 13
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        first, second = book.settled
        assert (first.ok, first.title, first.usage["input"]) == (True, "make a.json", 10)
        assert (second.ok, second.message, second.usage) == (False, "interrupted", {"input": 3})
        assert second.title == "make a.json, asked again (2)"
        asked = book.kept[1][1]
        assert asked is not None
        assert asked.decode() == "=== system ===\nbe brief\n\n=== user ===\nagain\n"
        streamed = "".join(one.text for one in book.live if isinstance(one, StepTextStreamed))
        assert streamed == "one twohalf"

    run(story())


def test_a_stream_that_is_left_after_its_end_went_well() -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Part]:
            yield TextDelta(text="done")
            yield Stop(reason="end")
            yield TextDelta(text="more")

    async def story() -> None:
        book = Book()
        stream: Any = book.calls().watched(Endless([]), "m", "t").stream(request())
        async for part in stream:
            if isinstance(part, Stop):
                break
        await stream.aclose()
        (settled,) = book.settled
        assert settled.ok

    run(story())
