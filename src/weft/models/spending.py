"""What model calls took, read off a session's log: tokens, and money as far as prices are known. A pure fold.

    for call in model_calls(records): …     # each call: its model, its tokens, the step or conversation it was of
    spent(records, price)                   # all of it together; a budget compares with this

What is not known is counted apart and never taken for
nothing: `Spent.usd` is what the calls with a known price cost, `Spent.unpriced` how many others there were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from weft.models.prices import Cost
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled
from weft.protocol.messages import Usage
from weft.protocol.values import dataclass
from weft.session.recovery import PROCESS_ENDED

UNKNOWN_MODEL: Final = "unknown"
_EMBEDDED: Final = "embedded"
_COUNTS: Final = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call as the log tells it: of a step of a run, or of a conversation."""

    at: str
    model: str
    usage: Usage
    run: int = 0
    pipeline: str = ""
    step: str = ""
    attempt: int = 0
    conversation: str = ""
    calls: int = 1
    """How often the model was asked: what an attempt of a step took is told together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A sum of calls. The counts of tokens hold what was reported; `uncounted` calls reported nothing."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    usd: Decimal = Decimal(0)
    """What the calls with a known price cost."""
    saved: Decimal = Decimal(0)
    """What the providers' caches saved."""
    unpriced: int = 0
    """Calls whose price is not known."""
    uncounted: int = 0
    """Calls whose tokens are not known; their price is not known either."""

    @property
    def tokens(self) -> int:
        """All that was read and written; cached and reasoning tokens are part of these."""
        return self.input + self.output

    @property
    def is_complete(self) -> bool:
        return not self.unpriced

    def plus(self, call: ModelCall, cost: Cost) -> Spent:
        used = call.usage
        return Spent(
            calls=self.calls + call.calls,
            input=self.input + (used.input or 0),
            output=self.output + (used.output or 0),
            cache_read=self.cache_read + (used.cache_read or 0),
            cache_write=self.cache_write + (used.cache_write or 0),
            reasoning=self.reasoning + (used.reasoning or 0),
            usd=self.usd + (cost.amount or 0),
            saved=self.saved + cost.saved,
            unpriced=self.unpriced + (call.calls if cost.amount is None else 0),
            uncounted=self.uncounted + (call.calls if used.input is None or used.output is None else 0),
        )

    @property
    def short(self) -> str:
        """For a line that has little room."""
        if not self.unpriced:
            return dollars(self.usd)
        return f"{dollars(self.usd)} + unknown" if self.usd else "unknown"

    def __str__(self) -> str:
        if not self.unpriced:
            return dollars(self.usd)
        unknown = f"{self.unpriced} call{'' if self.unpriced == 1 else 's'} of unknown price"
        return f"at least {dollars(self.usd)}, {unknown}" if self.usd else f"unknown, {unknown}"


Price = Callable[[ModelCall], Cost]
NOTHING: Final = Spent()


def spent(records: Iterable[e.Record], price: Price) -> Spent:
    """What all calls in these records took together."""
    sum_so_far = NOTHING
    for call in model_calls(records):
        sum_so_far = sum_so_far.plus(call, price(call))
    return sum_so_far


def model_calls(records: Iterable[e.Record]) -> Iterator[ModelCall]:
    """Every call of a model, when its end is recorded. Code that stands in for an agent is none."""
    reader = CallReader()
    for record in records:
        yield from reader.take(record)


@dataclass(slots=True)
class CallReader:
    """Takes one record after the other of one log; `take` gives the calls that ended with it."""

    _pipeline: str = ""
    _begun: dict[str, str] = field(default_factory=dict)
    """The model of each open attempt."""
    _told: dict[str, dict[str, int]] = field(default_factory=dict)
    """How often each open attempt asked each model and was told what that took."""
    _untold: dict[str, dict[str, int]] = field(default_factory=dict)
    """How often it asked each model and was not told."""
    _intents: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """Of each open attempt that an agent makes: the model calls that are in the log without an end."""
    _talked: dict[str, str] = field(default_factory=dict)
    """The last model of each conversation."""
    _inherited: int = 0
    """Of a fork: the last event that it has from its parent, which has paid for what came until then."""

    def take(self, record: e.Record) -> list[ModelCall]:
        if record.envelope is not None and record.envelope.parent is not None:
            self._inherited = record.envelope.parent.seq
        found = self._ended(record)
        return found if record.seq > self._inherited else []

    def _ended(self, record: e.Record) -> list[ModelCall]:
        event = record.event
        match event:
            case e.SessionCreated() | e.SessionAdopted() | e.RunStarted():
                self._pipeline = event.pipeline
            case e.StepStarted():
                self._begun[f"{event.step} {event.attempt}"] = _asked_model(event.inputs)
            case CallSettled() if event.kind == "model" and event.model:
                self._count(f"{event.step} {event.attempt}", event.model, event.usage)
            case t.IntentRecorded() if event.kind == "model" and (place := t.step_place(event.conversation)):
                opened = self._intents.setdefault(f"{place.step} {place.attempt}", set())
                opened.add((event.conversation, event.execution))
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                return self._of_step(record.at, event)
            case e.ReplyClassified():
                return [
                    ModelCall(
                        at=record.at,
                        model=event.model,
                        usage=usage_of(event.usage),
                        run=event.run,
                        pipeline=self._pipeline,
                        step=event.step,
                    )
                ]
            case t.ModelSettled() | t.TranscriptCompacted():
                place = t.step_place(event.conversation)
                if place is None:
                    return self._of_conversation(record.at, event)
                # What a step's conversation took is in the settlement of the step.
                attempt = f"{place.step} {place.attempt}"
                if isinstance(event, t.ModelSettled):
                    self._intents.get(attempt, set()).discard((event.conversation, event.execution))
                if event.model:
                    self._count(attempt, event.model, event.usage)
            case _:
                pass
        return []

    def _of_step(self, at: str, event: e.StepCompleted | e.StepFailed | e.StepInterrupted) -> list[ModelCall]:
        """What an attempt was told that its calls took, and apart from it the calls of which nothing was told."""
        attempt = f"{event.step} {event.attempt}"
        begun = self._begun.pop(attempt, "")
        told, untold = self._told.pop(attempt, {}), self._untold.pop(attempt, {})
        lost = self._lost(event, self._intents.pop(attempt, None), any(untold.values()))
        model = event.model or (begun if lost else "")
        if lost and (name := begun or model):
            untold = {**untold, name: untold.get(name, 0) + lost}
        if not model:
            return []
        used = event.by_model or ({model: event.usage} if event.usage or not untold else {})

        def call(name: str, usage: Usage, calls: int) -> ModelCall:
            return ModelCall(
                at=at,
                model=name,
                usage=usage,
                run=event.run,
                pipeline=self._pipeline,
                step=event.step,
                attempt=event.attempt,
                calls=calls,
            )

        found = [call(name, usage_of(usage), max(1, told.get(name, 0))) for name, usage in used.items()]
        for name, calls in untold.items():
            # What one of them had used when it ended in the middle is in the sum without any call that was told.
            left = calls - (name in used and not told.get(name, 0))
            found += [call(name, Usage(), left)] if left > 0 else []
        return found

    def _lost(
        self,
        event: e.StepCompleted | e.StepFailed | e.StepInterrupted,
        intents: set[tuple[str, str]] | None,
        told_so: bool,
    ) -> int:
        """Calls of an attempt whose end nobody saw: each may have been answered in full. `told_so`: the log has the
        calls that were stopped."""
        if isinstance(event, e.StepCompleted):
            return 0
        if intents is not None:
            refused = isinstance(event, e.StepFailed) and event.kind == "over_budget"  # one of them was not made
            return max(0, len(intents) - refused)
        # Only an agent's calls are in the log from their beginning: of others it is known that one may have been made.
        killed = isinstance(event, e.StepInterrupted) and (event.why == PROCESS_ENDED or not event.model)
        return int(killed and not told_so)

    def _count(self, attempt: str, model: str, usage: Mapping[str, Any]) -> None:
        counted = (self._told if usage else self._untold).setdefault(attempt, {})
        counted[model] = counted.get(model, 0) + 1

    def _of_conversation(self, at: str, event: t.ModelSettled | t.TranscriptCompacted) -> list[ModelCall]:
        last = self._talked.get(event.conversation, UNKNOWN_MODEL)
        model = event.model or (last if _was_cut_off(event) else "")
        if not model:
            return []
        self._talked[event.conversation] = model
        return [ModelCall(at=at, model=model, usage=usage_of(event.usage), conversation=event.conversation)]


@dataclass(slots=True)
class Tally:
    """What the calls of a log took up to an event of it, each at the price it had when it was counted."""

    seq: int = 0
    spent: Spent = NOTHING
    calls: CallReader = field(default_factory=CallReader)

    def take(self, record: e.Record, price: Price) -> None:
        if record.seq > self.seq:
            self.seq = record.seq
            for call in self.calls.take(record):
                self.spent = self.spent.plus(call, price(call))


def usage_of(counts: Mapping[str, Any]) -> Usage:
    """The tokens of a log's line; what is no number was not reported."""
    return Usage(**{name: n for name in _COUNTS if type(n := counts.get(name)) is int})


def moment(at: str) -> datetime | None:
    """When a record was made; None for what no clock says."""
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def dollars(amount: Decimal) -> str:
    """Two digits where they say something, four where the sum is small."""
    return f"${amount:,.2f}" if not amount or amount >= 1 else f"${amount:.4f}"


def _asked_model(inputs: Mapping[str, str]) -> str:
    """The connected model that an attempt asks, from what its result depends on; "" for code."""
    model = inputs.get("model", "")
    return "" if model.split(" ")[0] == _EMBEDDED else model


def _was_cut_off(event: t.ModelSettled | t.TranscriptCompacted) -> bool:
    """A call that may have begun when it was stopped, though its end does not name a model."""
    if not isinstance(event, t.ModelSettled) or event.outcome != "interrupted":
        return False
    return bool(event.text) or event.reason == t.PROCESS_LOST
