"""The calls of one attempt that is made by a model's answer or by tools: told while they happen and kept for good.
Those of an agent are its conversation.

    async with calls.model("work/large", "write the summary", prompt) as call:
        async for part in model.stream(request):
            call.part(part)                       # or call.text("…"), call.used({"input": 12})
    async with calls.tool("Read", "notes.md", {"path": "notes.md"}) as call:
        …
        call.settle(message="120 lines")

- Entering publishes `call_started`; leaving records `call_settled` durably, off the loop, and publishes it. A call that
  is left by an exception did not go well, and its message says why; `settle` says anything else about the end.
- `used` is the total so far of that call. The sum over the attempt's calls is what the step's settlement has, also when
  it is interrupted or its process is killed.
- `calls.watched(model, reference, title)` is the model itself, except that each of its streams is a call.
- The runner makes one `AttemptCalls` for each attempt and closes it before the attempt is settled. After that no call
  can begin, and what a late one used is not known to anybody.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

from weft.models.model import Model, Part, Request, Retried, Stop, TextDelta, ThinkingDelta
from weft.models.wrapping import WrappedModel
from weft.orchestrator.prompt_text import prompt_text
from weft.protocol.call_events import (
    CallSettled,
    CallStarted,
    LiveCallEvent,
    StepTextStreamed,
    Used,
    in_a_line,
    used_by,
)
from weft.protocol.errors import WeftError
from weft.protocol.events import ItemSettled, StepProgressed
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import StopReason, Usage, told_stop
from weft.protocol.values import replace

T = TypeVar("T")
Kept = tuple[CallSettled, bytes | None]
"""A settlement and the request that is kept with it."""
Keep = Callable[[Sequence[tuple[CallSettled | ItemSettled, bytes | None]]], Awaitable[None]]
"""Makes a settlement durable, with what settles together with it and what is kept of each; then publishes them. It
runs on when whoever waits for it is cancelled."""
Sent = str | Mapping[str, Any]
"""A prompt as text, or a tool's input."""


class AttemptOverError(WeftError):
    """The attempt was settled; nothing more can be called for it."""


class Call:
    """One call: open it with `async with`."""

    def __init__(
        self,
        attempt: AttemptCalls,
        kind: Literal["model", "tool"],
        name: str,
        title: str,
        request: Sent,
        dropped: tuple[str, ...] = (),
    ) -> None:
        self.id = ""
        self.kind = kind
        self.name = name
        self.title = in_a_line(title)
        self._request = _bytes(request)
        self._dropped = dropped
        self._usage: dict[str, int] = {}
        self._model = name if kind == "model" else None
        self._ok: bool | None = None
        self._message = ""
        self._stop: StopReason | None = None
        self._spoke = False
        self._begun = 0.0
        self.item: tuple[ItemSettled, bytes | None] | None = None
        """The item that settles with this call: both are in the log, or neither is."""
        self._attempt = attempt

    def text(self, piece: str, *, thinking: bool = False) -> None:
        """Something the model wrote."""
        if piece:
            self._spoke = self._spoke or not thinking
            self._attempt.stream(self.id, piece, thinking=thinking)

    def used(self, usage: Usage | Mapping[str, int], model: str | None = None) -> None:
        """The total so far, of this call. `model` for a tool that calls one."""
        self._usage = usage.told() if isinstance(usage, Usage) else dict(usage)
        self._model = model or self._model

    def part(self, part: Part) -> None:
        """A part of a model's stream."""
        match part:
            case TextDelta():
                self.text(part.text)
            case ThinkingDelta():
                self.text(part.text, thinking=True)
            case Usage():
                self.used(part)
            case Retried():
                self._attempt.retried(self._model or self.name, part)
                if part.instead:
                    self._model, self._usage = part.instead, {}
            case Stop():
                self._stop = part.reason
                self.settle(ok=part.reason != "refused", message=told_stop(part.reason, "…" if self._spoke else ""))
            case _:
                pass

    def settle(self, *, ok: bool = True, message: str = "", usage: Usage | Mapping[str, int] | None = None) -> None:
        """How it went; recorded when the call is left."""
        self._ok, self._message = ok, message
        if usage is not None:
            self.used(usage)

    async def __aenter__(self) -> Self:
        self._begun = self._attempt.clock()
        self.id = self._attempt.begin(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        closed = isinstance(error, GeneratorExit) and self._ok is not None  # read to its end, then closed
        if error is not None and not closed:
            self._ok, self._message = False, _why(error)
        await self._attempt.end(self)

    def settlement(self) -> Kept:
        """As it would be recorded now."""
        data = self._request
        run, step, attempt = self._attempt.place
        settled = CallSettled(
            run=run,
            step=step,
            attempt=attempt,
            call=self.id,
            kind=self.kind,
            name=self.name,
            ms=round((self._attempt.clock() - self._begun) * 1000),
            ok=self._ok is not False,
            title=self.title,
            message=in_a_line(self._message),
            stop=self._stop,
            model=self._model,
            usage=self._usage,
            request=hash_bytes(data) if data else "",
            dropped=self._dropped,
            item=self._attempt.item,
        )
        return settled, data


class AttemptCalls:
    """All calls of one attempt, and what they used."""

    def __init__(
        self,
        run: int,
        step: str,
        attempt: int,
        keep: Keep,
        publish: Callable[[LiveCallEvent | StepProgressed], None],
        retried: Callable[[str, Retried], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        item: str = "",
        above: AttemptCalls | None = None,
    ) -> None:
        """`item` is what these calls are for in a step that is made item by item, `above` all calls of its attempt."""
        self.place = (run, step, attempt)
        self.item = item
        self._above = above
        self._items: dict[str, AttemptCalls] = {}
        self.clock = clock
        self._keep = keep
        self._publish = publish
        self.retried = retried
        """Hears that a model which was busy is asked again."""
        self._since = clock()
        self._begun = 0
        self._open: dict[str, Call] = {}
        self._settled: list[CallSettled] = []
        self._pending: set[asyncio.Future[None]] = set()
        self._fault: BaseException | None = None
        self._over = False

    def model(self, name: str, title: str = "", request: Sent = "", *, dropped: tuple[str, ...] = ()) -> Call:
        """`name` is the model's reference, by which it is priced. `dropped`: what did not fit into the prompt."""
        return Call(self, "model", name, title, request, dropped)

    def tool(self, name: str, title: str = "", request: Sent = "") -> Call:
        return Call(self, "tool", name, title, request)

    def watched(self, model: Model, reference: str, title: str, *, dropped: tuple[str, ...] = ()) -> Model:
        """The model, with each stream reported as a call; from the second one on the title says that it is again."""
        return _Watched(self, model, reference, title, dropped)

    @contextmanager
    def for_item(self, item: str) -> Iterator[AttemptCalls]:
        """The calls of one item: they are calls of the attempt too, and known by themselves while it is made."""
        run, step, attempt = self.place
        own = AttemptCalls(
            run, step, attempt, self._keep, self._publish, self.retried, self.clock, item=item, above=self
        )
        self._items[item] = own
        try:
            yield own
        finally:
            del self._items[item]

    @property
    def used(self) -> Used:
        """What the whole attempt has used so far, with what calls that are going on have told."""
        return used_by([*self._settled, *(call.settlement()[0] for call in self._open.values())])

    @property
    def took(self) -> Used:
        """The same with the time that has passed."""
        return replace(self.used, ms=round((self.clock() - self._since) * 1000))

    async def begin_after(self, seconds: float) -> None:
        """Its time counts from then."""
        self.say(f"waits {seconds:.1f} s before it begins")
        await asyncio.sleep(seconds)
        self._since = self.clock()

    def say(self, text: str) -> None:
        """For whoever watches."""
        _, step, attempt = self.place
        self._publish(StepProgressed(step=step, attempt=attempt, text=text))

    def note(self, settled: CallSettled) -> None:
        """A call that the log has in another form: as a turn of the conversation that makes the step."""
        self._settled.append(settled)
        if settled.item in self._items:
            self._items[settled.item].note(settled)

    def add(self, model: str, usage: Mapping[str, int]) -> None:
        """What a call has used that the attempt is let go of in the middle of."""
        if self._above is not None:
            self._above.add(model, usage)
        run, step, attempt = self.place
        self._settled.append(
            CallSettled(
                run=run,
                step=step,
                attempt=attempt,
                call="",
                kind="model",
                name=model,
                ms=0,
                ok=False,
                model=model,
                usage=usage,
            )
        )

    def begin(self, call: Call) -> str:
        if self._above is not None:
            name = self._above.begin(call)
            self._open[name] = call
            return name
        if self._over:
            raise AttemptOverError(f"attempt {self.place[2]} of {self.place[1]} is over; {call.name} can't be called")
        self._begun += 1
        name = str(self._begun)
        self._open[name] = call
        _, step, attempt = self.place
        self._publish(
            CallStarted(
                step=step,
                attempt=attempt,
                call=name,
                kind=call.kind,
                name=call.name,
                title=call.title,
            )
        )
        return name

    def stream(self, call: str, piece: str, *, thinking: bool) -> None:
        if self._above is not None:
            self._above.stream(call, piece, thinking=thinking)
        elif call in self._open:
            _, step, attempt = self.place
            self._publish(StepTextStreamed(step=step, attempt=attempt, call=call, text=piece, thinking=thinking))

    async def end(self, call: Call) -> None:
        """Durable when this returns; it becomes durable also when whoever waits here is cancelled."""
        if self._above is not None:
            if self._open.pop(call.id, None) is not None:
                self._settled.append(call.settlement()[0])
            return await self._above.end(call)
        if self._open.pop(call.id, None) is None:
            return None  # the attempt was closed meanwhile, and the call settled with it
        settled, data = call.settlement()
        self._settled.append(settled)
        together: list[tuple[CallSettled | ItemSettled, bytes | None]] = [(settled, data)]
        kept = asyncio.ensure_future(self._keep([*together, call.item] if call.item else together))
        self._pending.add(kept)
        kept.add_done_callback(self._was_kept)
        await asyncio.shield(kept)
        return None

    def _was_kept(self, kept: asyncio.Future[None]) -> None:
        self._pending.discard(kept)
        if not kept.cancelled() and kept.exception() is not None:
            self._fault = kept.exception()

    async def close(self, why: str) -> list[Kept]:
        """Nothing begins any more, and all that ended is durable. Returns the settlements of what was still going on,
        the last first, for whoever settles the attempt to record."""
        self._over = True
        left: list[Kept] = []
        for call in reversed(self._open.values()):
            call.settle(ok=False, message=why)
            left.append(call.settlement())
        self._open.clear()
        self._settled += [settled for settled, _ in left]
        await self.quiet()
        if self._fault is not None:
            raise self._fault
        return left

    async def quiet(self) -> None:
        """Until nothing is being written any more, however that ends."""
        while self._pending:
            await asyncio.wait(self._pending)


class _Watched(WrappedModel):
    """A model whose streams are calls."""

    def __init__(self, calls: AttemptCalls, model: Model, reference: str, title: str, dropped: tuple[str, ...]) -> None:
        super().__init__(model)
        self._calls = calls
        self._reference = reference
        self._title = title
        self._dropped = dropped
        self._times = 0

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        self._times += 1
        title = self._title if self._times == 1 else f"{self._title}, asked again ({self._times})"
        opened = self._calls.model(self._reference, title, prompt_text(request), dropped=self._dropped)
        async with opened as call, aclosing(cast(Any, self._model.stream(request))) as parts:
            async for part in parts:
                call.part(part)
                yield part


def _bytes(request: Sent) -> bytes | None:
    if not request:
        return None
    text = request if isinstance(request, str) else json.dumps(dict(request), ensure_ascii=False, indent=2, default=str)
    return text.encode("utf-8", "replace")


def _why(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return "interrupted"
    if isinstance(error, WeftError):
        return error.message
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def since(begun: float) -> int:
    """Milliseconds."""
    return round((time.monotonic() - begun) * 1000)


async def through(work: asyncio.Future[T]) -> T:
    """Its end, however often whoever waits is cancelled meanwhile: that does not make it come any faster."""
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            continue
    return work.result()
