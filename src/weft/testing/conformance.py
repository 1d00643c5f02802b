"""What every model must do, as plain checks: run each of `CONFORMANCE` with a stage for the model.

A stage opens a model that answers the given `Reply` values in order: a scripted model, a replay, or a real client with
a loopback server behind it. `check_any_model` asks less and takes any model as it is, such as the embedded one.

    @pytest.mark.parametrize("check", CONFORMANCE, ids=lambda check: check.__name__)
    def test_my_model(check): asyncio.run(check(my_stage))
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from weft.models.answer import Answer, gather
from weft.models.model import ErrorKind, Model, ModelError, Part, Request, Stop, TextDelta, ThinkingDelta
from weft.protocol.messages import Message, Text, Thinking, ToolCall, ToolResult, ToolSpec, Usage
from weft.testing.scripted import Hold
from weft.testing.wire.replies import Called, Reply

Stage = Callable[[Sequence[Reply]], AbstractAsyncContextManager[Model]]
Check = Callable[[Stage], Coroutine[Any, Any, None]]
DEADLINE: Final = 30.0
READ: Final = ToolSpec(
    name="read",
    description="Reads a file",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
HELLO: Final = Request(system="Be terse.", messages=(Message(role="user", content=(Text(text="Hello"),)),))
WITH_TOOLS: Final = Request(system="Be terse.", messages=HELLO.messages, tools=(READ,))


async def check_any_model(model: Model, request: Request = HELLO) -> Answer:
    """The least: a name, a window, one stop at the end, nothing after it, the same request usable twice."""
    assert model.name
    assert model.window > 0
    for _ in range(2):
        parts = [part async for part in model.stream(request)]
        assert [type(part) for part in parts].count(Stop) == 1, "exactly one Stop"
        assert isinstance(parts[-1], Stop), "nothing comes after it"
    closed = model.stream(request)
    await anext(aiter(closed))
    await _close(closed)
    return await gather(model.stream(request))


async def text_comes_as_it_is_written(stage: Stage) -> None:
    said = "Tide tables: naïve, 東京, 🌊👩‍👩‍👧 and e\u0301."
    async with stage([Reply(text=said, pieces=7, split=1, pings=True)]) as model:
        parts = [part async for part in model.stream(HELLO)]
        deltas = [part for part in parts if isinstance(part, TextDelta)]
        assert "".join(part.text for part in deltas) == said
        assert len(deltas) > 1, "it is streamed"
        assert parts[-1] == Stop(reason="end")
        assert sum(isinstance(part, Stop) for part in parts) == 1
        used = [part for part in parts if isinstance(part, Usage)]
        assert used, "usage is always reported"
        assert (used[-1].input, used[-1].output) == (12, 7)


async def calls_come_whole(stage: Stage) -> None:
    calls = (
        Called(tool="read", arguments='{"path": "a.md"}', call="call_a"),
        Called(tool="read", arguments='{"path": "ü 🌊.md"}', call="call_b"),
        Called(tool="read", arguments="", call="call_c"),
    )
    async with stage([Reply(text="Looking.", calls=calls)]) as model:
        answer = await gather(model.stream(WITH_TOOLS))
        assert answer.stop == "tool_calls"
        assert [(call.call, call.tool, dict(call.input)) for call in answer.calls] == [
            ("call_a", "read", {"path": "a.md"}),
            ("call_b", "read", {"path": "ü 🌊.md"}),
            ("call_c", "read", {}),
        ]
        assert answer.text == "Looking."


async def arguments_that_are_no_json_are_handed_over(stage: Stage) -> None:
    calls = (Called(tool="read", arguments='{"path": "a'), Called(tool="read", arguments="[1]", call="call_2"))
    async with stage([Reply(calls=calls)]) as model:
        answer = await gather(model.stream(WITH_TOOLS))
        assert [(dict(call.input), call.malformed) for call in answer.calls] == [({}, '{"path": "a'), ({}, "[1]")]


async def a_whole_exchange_is_taken(stage: Stage) -> None:
    """Thinking, calls and results of an earlier answer go back; so do errors and several texts."""
    call = ToolCall(call="call_1", tool="read", input={"path": "a.md"})
    broken = ToolCall(call="call_2", tool="read", input={}, malformed="{")
    told = Message(
        role="user",
        content=(
            ToolResult(call="call_1", tool="read", text="Low tide at six."),
            ToolResult(call="call_2", tool="read", text="not JSON", is_error=True),
            Text(text="Go on."),
        ),
    )
    said = Message(role="assistant", content=(Thinking(text="hm"), Text(text="Let me look."), call, broken))
    request = Request(system="Be terse.", messages=(*HELLO.messages, said, told), tools=(READ,))
    async with stage([Reply(text="At six.")]) as model:
        assert (await gather(model.stream(request))).text == "At six."


async def thinking_is_told_apart(stage: Stage) -> None:
    async with stage([Reply(text="Six.", thinking="Let me see.", signature="seal", reasoning=3)]) as model:
        request = Request(system="", messages=HELLO.messages, thinking="low")
        parts = [part async for part in model.stream(request)]
        assert "".join(part.text for part in parts if isinstance(part, ThinkingDelta)) == "Let me see."
        assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "Six."


async def an_answer_at_its_limit_says_so(stage: Stage) -> None:
    async with stage([Reply(text="And so", stop="max_tokens"), Reply(text="No.", stop="refused")]) as model:
        assert (await gather(model.stream(HELLO))).stop == "max_tokens"
        assert (await gather(model.stream(HELLO))).stop == "refused"


async def errors_are_sorted(stage: Stage) -> None:
    faults: list[tuple[Reply, ErrorKind, bool]] = [
        (Reply(status=401, error="invalid key"), "auth", False),
        (Reply(status=429, error="slow down", headers={"retry-after": "7"}), "rate_limited", True),
        (Reply(status=529, error="busy"), "overloaded", True),
        (Reply(status=500, error="oops"), "overloaded", True),
        (Reply(status=400, error="prompt is too long: 9 tokens > 8 maximum"), "context_too_long", False),
        (Reply(status=400, error="temperature must be at most 2"), "invalid_request", False),
        (Reply(status=404, error="no such model"), "invalid_request", False),
    ]
    async with stage([fault for fault, _, _ in faults]) as model:
        for fault, kind, retryable in faults:
            error = await _fails(model)
            assert (error.kind, error.retryable) == (kind, retryable), f"{fault.status}: {error!r}"
            assert error.hint, "it says what the person can do"
            assert error.wait == (7.0 if fault.status == 429 else None)


async def a_broken_answer_keeps_what_came(stage: Stage) -> None:
    breaks: list[tuple[Reply, ErrorKind]] = [
        (Reply(text="one two three", break_after=1, break_as="dropped"), "network"),
        (Reply(text="one two three", break_after=1, break_as="ended"), "network"),
        (Reply(text="one two three", break_after=1, break_as="error event"), "overloaded"),
        (Reply(text="one two three", break_after=1, break_as="broken json"), "malformed"),
    ]
    async with stage([reply for reply, _ in breaks]) as model:
        for reply, kind in breaks:
            got: list[Part] = []
            error = await _fails(model, got)
            assert error.kind == kind, f"{reply.break_as}: {error!r}"
            assert error.retryable
            assert [part.text for part in got if isinstance(part, TextDelta)] == ["one t"]
            assert not any(isinstance(part, Stop) for part in got), "a broken answer has no end"


async def closing_ends_the_call(stage: Stage) -> None:
    hold = Hold()
    async with stage([Reply(text="one two three", hold=hold, hold_after=1), Reply(text="again")]) as model:
        stream = model.stream(HELLO)
        parts = aiter(stream)
        while not isinstance(await anext(parts), TextDelta):
            pass
        await asyncio.wait_for(_close(stream), DEADLINE)
        assert (await gather(model.stream(HELLO))).text == "again", "the model is usable after it"


async def waiting_for_the_first_byte_can_be_cancelled(stage: Stage) -> None:
    hold = Hold()
    async with stage([Reply(text="late", hold=hold), Reply(text="again")]) as model:
        waiting = asyncio.ensure_future(gather(model.stream(HELLO)))
        await asyncio.wait_for(hold.reached.wait(), DEADLINE)
        waiting.cancel()
        done, _ = await asyncio.wait({waiting}, timeout=DEADLINE)
        assert waiting in done
        assert waiting.cancelled()
        assert (await gather(model.stream(HELLO))).text == "again"


async def a_slow_first_byte_is_waited_for(stage: Stage) -> None:
    hold = Hold()
    async with stage([Reply(text="late", hold=hold)]) as model:
        waiting = asyncio.ensure_future(gather(model.stream(HELLO)))
        await asyncio.wait_for(hold.reached.wait(), DEADLINE)
        hold.release.set()
        assert (await asyncio.wait_for(waiting, DEADLINE)).text == "late"


async def many_at_once_do_not_mix(stage: Stage) -> None:
    async with stage([Reply(text=f"answer {number}", pieces=4) for number in range(8)]) as model:
        answers = await asyncio.gather(*(gather(model.stream(HELLO)) for _ in range(8)))
        assert {answer.text for answer in answers} == {f"answer {number}" for number in range(8)}


CONFORMANCE: Final[tuple[Check, ...]] = (
    text_comes_as_it_is_written,
    calls_come_whole,
    arguments_that_are_no_json_are_handed_over,
    a_whole_exchange_is_taken,
    thinking_is_told_apart,
    an_answer_at_its_limit_says_so,
    errors_are_sorted,
    a_broken_answer_keeps_what_came,
    closing_ends_the_call,
    waiting_for_the_first_byte_can_be_cancelled,
    a_slow_first_byte_is_waited_for,
    many_at_once_do_not_mix,
)


async def _fails(model: Model, got: list[Part] | None = None) -> ModelError:
    try:
        async for part in model.stream(HELLO):
            if got is not None:
                got.append(part)
    except ModelError as error:
        return error
    raise AssertionError("the call was expected to fail")


async def _close(stream: AsyncIterator[Part]) -> None:
    closing: Any = stream
    await closing.aclose()
