"""An attempt of a step that is made item by item: `mapping` decides what is made next, this makes it and records it.

Each item is made as a step of its own would be: its own input, tries, findings, calls and cost, its own file, judged
by the step's schema and checks. Its file and its settlement become durable in one decision, before anything follows
from it. So what a kill leaves is whole items: the next attempt takes over every good one whose inputs are the same,
whatever attempt and run made it, and goes on with the rest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.models.budget import CallEstimate, Ledger, Price, short_of
from weft.orchestrator.attempt_calls import AttemptCalls, since, through
from weft.orchestrator.items import MapItem, gathered
from weft.orchestrator.mapping import ItemSettlement, ItemStart, MapSpec, begin, settle
from weft.orchestrator.progress import OverAllowanceError, PersonNeededError, StartAttempt
from weft.orchestrator.reuse import ReusedStep
from weft.protocol.call_events import Used
from weft.protocol.commands import Artifact
from weft.protocol.errors import Finding, WeftError
from weft.protocol.events import ArtifactRejected, DurableEvent, FailureKind, ItemSettled
from weft.protocol.hashes import hash_bytes
from weft.protocol.steps import StepInput
from weft.protocol.values import dataclass, field
from weft.workspace.mapping import Map
from weft.workspace.pipeline import Step

NO_RESULT: Final = "null"


class ItemsFailedError(WeftError):
    """More items failed for good than may."""


class ItemsLeftError(WeftError):
    """What was asked for is made; the other items are not."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try has no result."""

    kind: FailureKind
    message: str
    findings: Sequence[Finding] = ()
    retryable: bool = True
    cut_off: bool = False
    trace: str = ""

    @classmethod
    def rejected(cls, findings: Sequence[Finding]) -> Failure:
        """What was made has these faults."""
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        return cls("rejected", f"{findings[0]}{more}", findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTry:
    """One try of one item, for whoever makes it."""

    step: Step
    given: StepInput
    calls: AttemptCalls
    patience: float
    tried: int
    """Counted over the whole attempt, also before it was taken up again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapWork:
    step: Step
    over: Map
    start: StartAttempt
    given: StepInput
    """Without the item."""
    calls: AttemptCalls
    items: Sequence[MapItem]
    """All of them, in order."""
    wanted: Sequence[MapItem]
    """Those that are asked for."""
    hashes: Mapping[str, str]
    """By key, of everything the item's result depends on."""
    kept: Mapping[str, Any]
    """By key, what is taken over."""
    before: Mapping[str, int]
    """By key, the tries that this attempt has made of it before it was cut off."""
    make: Callable[[ItemTry], Awaitable[tuple[list[Artifact], list[Finding]]]]
    failure: Callable[[Exception, float], Failure]
    """What an exception means; raises it again when it is a bug."""
    read: Callable[[MapItem], Awaitable[tuple[Any, Mapping[str, Any] | None]]]
    keep: Callable[[Sequence[DurableEvent], Sequence[Artifact]], Awaitable[None]]
    value: Callable[[Artifact], Any]
    price: Price
    model: str = ""
    elsewhere: Callable[[str, str], Awaitable[ReusedStep | None]] | None = None
    """Finds the result that another session has of an item, by its file and its hash; None when none is taken over."""
    offer: Callable[[str, Artifact], Awaitable[None]] | None = None
    """Tells other sessions of a result, by the item's hash."""
    reads: int = 0
    """About how many tokens its model is given, without the item."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One try that has ended, and is not recorded yet."""

    item: MapItem
    start: ItemStart
    number: int
    """Counted over the whole attempt."""
    made: Sequence[Artifact]
    failure: Failure | None
    used: Used
    reused: str = ""
    """The session that has it already."""

    @property
    def settlement(self) -> ItemSettlement:
        if self.failure is None:
            return ItemSettlement(self.item.key, self.start.tried, ok=True)
        return ItemSettlement(self.item.key, self.start.tried, False, self.failure.retryable, self.failure.message)


Settled = tuple[Tried, bool]
"""A try, and whether the item is tried again."""


@dataclass(slots=True)
class MapStep:
    work: MapWork
    _values: dict[str, Any] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)
    _feedback: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _ledger: Ledger = field(default_factory=Ledger)
    _begun: float = field(default_factory=time.monotonic)

    async def run(self) -> Any:
        """The gathered value. ItemsFailedError, ItemsLeftError, OverAllowanceError, PersonNeededError."""
        work = self.work
        self._values = dict(work.kept)
        todo = {item.key: item for item in work.wanted if item.key not in work.kept}
        spec = MapSpec(tuple(todo), work.over.at_once, work.step.attempts, work.over.allowed(len(work.items)))
        if work.kept:
            work.calls.say(f"{len(todo)} of {len(work.items)} items to make, the others are as they were")
        decision = begin(spec, self._short(todo, ()))
        starts = decision.starts
        running: dict[asyncio.Task[Tried], ItemStart] = {}
        try:
            while not decision.over:
                for one in starts:
                    running[asyncio.create_task(self._try(todo[one.key], one), name=one.key)] = one
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                starts, together = (), list[Settled]()
                waits: PersonNeededError | None = None
                for task in done:
                    del running[task]
                    if isinstance(error := task.exception(), PersonNeededError):
                        waits = error
                        continue
                    tried = task.result()
                    decision = settle(
                        spec, decision.progress, tried.settlement, self._short(todo, decision.progress.running)
                    )
                    starts += decision.starts
                    together.append((tried, decision.retrying))
                if together:
                    await self._record(together)
                if waits is not None:
                    raise waits
        finally:
            await _leave(running)
        if decision.progress.stop == "over_budget":
            raise OverAllowanceError(decision.progress.why)
        if decision.progress.stop or (work.items and len(self._failed) == len(work.items)):
            why = decision.progress.why or f"all {len(self._failed)} items failed"
            made = len(self._values)
            raise ItemsFailedError(f"{why} ({made} of {len(work.items)} items are made and stay)")
        missing = len(work.items) - len(self._values) - len(self._failed)
        if missing:
            raise ItemsLeftError(f"{missing} of {len(work.items)} items of {work.step.name} are not made yet")
        keys = [item.key for item in work.items]
        return gathered(keys, self._values, self._failed, keep=work.over.failed == "keep")

    async def _record(self, together: Sequence[Settled]) -> None:
        """What has ended at the same time is one decision; durable before anything follows from it."""
        events: list[DurableEvent] = []
        files: list[Artifact] = []
        for tried, retrying in together:
            events += self._events(tried, retrying=retrying)
            files += tried.made
        await through(asyncio.ensure_future(self.work.keep(events, files)))
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError
        for tried, retrying in together:
            key, failure = tried.item.key, tried.failure
            if failure is None:
                self._values[key] = self.work.value(tried.made[0])
                if self.work.offer is not None and not tried.reused:
                    await self.work.offer(self.work.hashes[key], tried.made[0])
            elif retrying:
                self._feedback[key] = tuple(one.with_hint for one in failure.findings) or (failure.message,)
            else:
                self._failed[key] = failure.message
        ended = len(self._values) + len(self._failed)
        self.work.calls.say(f"{ended} of {len(self.work.items)} items")

    async def _try(self, item: MapItem, start: ItemStart) -> Tried:
        work, begun = self.work, time.monotonic()
        step = work.step.for_item(item.key)
        made: list[Artifact] = []
        failure: Failure | None = None
        patience = work.step.timeout
        if (left := work.start.allowance.seconds) is not None:
            patience = max(0.001, min(patience, left - (begun - self._begun)))
        tried = work.before.get(item.key, 0) + start.tried
        if start.tried > 1:
            await asyncio.sleep(
                work.step.retry.wait(start.tried - 1, f"{work.given.session} {step.name} {item.key} {tried}")
            )
        if start.tried == 1 and work.elsewhere is not None:
            found = await work.elsewhere(step.artifacts[0], work.hashes[item.key])
            if found is not None:
                return Tried(item, start, tried, found.artifacts, None, Used(ms=since(begun)), found.session)
        with work.calls.for_item(item.key) as calls:
            try:
                given = await self._given(item, tried)
                one = ItemTry(step=step, given=given, calls=calls, patience=patience, tried=tried)
                made, findings = await work.make(one)
                if findings:
                    made, failure = [], Failure.rejected(findings)
            except PersonNeededError:
                raise
            except Exception as error:  # noqa: BLE001  sorted by whoever knows; what is a bug comes out of there again
                failure = work.failure(error, patience)
            if failure is not None and not work.step.retry.takes(failure.kind):
                failure = replace(failure, retryable=False)
            used = calls.took
        self._ledger = self._ledger.with_attempt(step.name, used.model, used.usage, 0, used.by_model)
        return Tried(item, start, tried, made, failure, used)

    async def _given(self, item: MapItem, tried: int) -> StepInput:
        work, value, about = self.work, item.value, None
        if item.file:
            value, about = await work.read(item)
        documents = {**work.given.documents, **({work.over.name: about} if about is not None else {})}
        return replace(
            work.given,
            item=value,
            item_key=item.key,
            item_name=work.over.name,
            documents=documents,
            feedback=self._feedback.get(item.key, work.given.feedback),
            idempotency_key=f"{work.step.name}-{work.hashes[item.key]}",
            attempt=tried,
            makes=work.step.own.for_item(item.key).artifacts,
        )

    def _events(self, tried: Tried, *, retrying: bool) -> list[DurableEvent]:
        run, name, attempt = self.work.calls.place
        item, failure = tried.item, tried.failure
        events: list[DurableEvent] = []
        digest, size, file = hash_bytes(NO_RESULT.encode()), len(NO_RESULT), ""
        if failure is None:
            (made,) = tried.made
            digest, size, file = made.hash, len(made.data), made.name
            events.append(made.accepted(run, name, attempt, item.key))
        elif failure.findings:
            events.append(
                ArtifactRejected(
                    run=run,
                    step=name,
                    attempt=attempt,
                    artifact=failure.findings[0].artifact,
                    findings=tuple(failure.findings),
                    item=item.key,
                )
            )
        settled = ItemSettled(
            run=run,
            step=name,
            attempt=attempt,
            item=item.key,
            input_hash=self.work.hashes[item.key],
            ok=failure is None,
            hash=digest,
            size=size,
            content=None if file else NO_RESULT,
            message="" if failure is None else failure.message,
            artifact=file,
            tries=tried.number,
            retrying=retrying,
            reused=tried.reused,
            **tried.used.told,
        )
        return [*events, settled]

    def _short(self, todo: Mapping[str, MapItem], running: Iterable[str]) -> str:
        """Why what the attempt may spend does not suffice for another item; "" when it does."""
        work, left = self.work, self.work.start.allowance
        if left.seconds is not None and time.monotonic() - self._begun >= left.seconds:
            return f"the time of {work.step.name} is used up"
        if not work.model or not todo or (left.usd is None and left.tokens is None):
            return ""
        beside = [todo[key] for key in running]
        ahead = [
            CallEstimate(work.model, work.reads + _size(item) // 4) for item in (*beside, next(iter(todo.values())))
        ]
        spent = self._ledger.spent([work.step.name], work.price)
        return short_of(left, spent, ahead, work.price, f"this attempt of {work.step.name}")


async def _leave(running: Mapping[asyncio.Task[Tried], ItemStart]) -> None:
    """Nothing is made behind an attempt that is over."""
    for task in running:
        task.cancel()
    if running:
        await through(asyncio.ensure_future(asyncio.wait(running)))


def _size(item: MapItem) -> int:
    return len(item.value) if isinstance(item.value, str) else len(str(item.value)) if item.value is not None else 0
