"""Which event may follow which: the legal lives of a run, enforced where the log is written.

`Standing` is the little that legality depends on. `after(standing, events)` gives the standing behind the events, or
raises for the first that may not stand there, so that an illegal decision never reaches the log. A log that is read
is not judged by this: what was written before these rules were, stays readable.

    (none) --run_started--> running --run_ended--> at rest --run_started(resumed)--> running
    at rest (waiting, left, …): gate_resolved, confirmation_asked -> confirming -> confirmation_resolved
    over (done, cancelled): only a new run
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import assert_never

from weft.protocol import events as e
from weft.protocol.call_events import CallSettled
from weft.protocol.conversation_events import ConversationEvent
from weft.protocol.events import DurableEvent, Outcome
from weft.protocol.values import dataclass, replace

_Elsewhere = (
    e.SessionCreated
    | e.SessionAdopted
    | e.CutAccepted
    | e.InputRecorded
    | e.ArtifactRejected
    | e.ArtifactAccepted
    | e.ArtifactSetAside
    | e.ArtifactRestored
    | e.SettingChanged
    | e.SessionDescribed
    | e.SourceSwitched
    | e.StepModelRetried
    | ConversationEvent
)
"""What may stand anywhere and moves no run. A new event does not type-check until it is here or has its rule."""
_Placed = (
    e.RunStarted
    | e.RunEnded
    | e.StepSkipped
    | e.StepStarted
    | e.StepCompleted
    | e.StepFailed
    | e.StepInterrupted
    | e.EditAccepted
    | e.StepAdopted
    | e.FlowEvent
    | CallSettled
    | e.ItemSettled
)


class IllegalEventError(AssertionError):
    """A decision that the rules of a run forbid: a bug of whoever decided it, and never written."""


@dataclass(slots=True)
class Standing:
    run: int = 0
    outcome: Outcome | None = "done"
    """None while it is running."""
    attempts: dict[str, int] = field(default_factory=dict)
    """The last attempt of each step."""
    open: set[str] = field(default_factory=set)
    """The steps that have an attempt running."""
    gates: dict[str, str] = field(default_factory=dict)
    """Open gates by step."""
    confirming: str = ""
    gate_names: set[str] = field(default_factory=set)
    """Of all gates there ever were."""
    rounds: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """By unit: the kind and the base of its last round, and its number."""

    def copied(self) -> Standing:
        return replace(
            self,
            attempts={**self.attempts},
            open={*self.open},
            gates={**self.gates},
            gate_names={*self.gate_names},
            rounds={**self.rounds},
        )

    @property
    def over(self) -> bool:
        return self.outcome in ("done", "cancelled")


def after(standing: Standing, events: Sequence[DurableEvent]) -> Standing:
    """Raises IllegalEventError, and changes nothing, when one of them may not stand there."""
    moved = standing.copied()
    for event in events:
        if isinstance(event, _Elsewhere):
            continue
        fault = _fault(moved, event)
        if fault:
            raise IllegalEventError(f"{event.type} is not legal here: {fault}")
        _move(moved, event)
    return moved


def apply(standing: Standing, event: DurableEvent) -> None:
    if not isinstance(event, _Elsewhere):
        _move(standing, event)


def _move(standing: Standing, event: _Placed) -> None:
    match event:
        case e.RunStarted():
            standing.run, standing.outcome, standing.confirming = event.run, None, ""
            standing.open.clear()
        case e.RunEnded():
            _end(standing, event)
        case e.StepStarted():
            standing.attempts[event.step] = event.attempt
            standing.open.add(event.step)
        case e.StepCompleted() | e.StepFailed() | e.StepInterrupted() | e.EditAccepted() | e.StepAdopted():
            standing.open.discard(event.step)
        case e.GateOpened():
            standing.gates[event.step] = event.gate
            standing.gate_names.add(event.gate)
        case e.RoundStarted():
            standing.rounds[event.unit] = (event.kind, event.base, event.round)
        case e.GateResolved():
            standing.gates = {step: gate for step, gate in standing.gates.items() if gate != event.gate}
        case e.ConfirmationAsked():
            standing.confirming = event.confirmation
        case e.ConfirmationResolved():
            standing.confirming = ""
        case (
            e.StepSkipped()
            | e.VerdictGiven()
            | e.BudgetReached()
            | e.ReplyClassified()
            | CallSettled()
            | e.ItemSettled()
            | e.StepsUnfolded()
        ):
            pass  # they have their place, and move nothing
        case e.WordsSaid() | e.WordsUnderstood() | e.VerdictOverruled() | e.GateReminded() | e.WaitStarted():
            pass  # so have these
        case _:
            assert_never(event)


def _end(standing: Standing, event: e.RunEnded) -> None:
    if event.run == standing.run:
        standing.outcome = event.outcome
        if standing.over:
            standing.gates, standing.confirming = {}, ""


def _fault(standing: Standing, event: _Placed) -> str:
    match event:
        case e.RunStarted():
            return _start_fault(standing, event)
        case e.StepStarted():
            last = standing.attempts.get(event.step, 0)
            if event.step in standing.open:
                return f"attempt {last} of {event.step} is still open"
            if event.step in standing.gates:
                return f"the gate {standing.gates[event.step]} asks about its result"
            follows = event.attempt == last if event.cause == "resume" else event.attempt > last
            return _running(standing, event.run) or ("" if follows else f"attempt {last} was the last")
        case e.StepCompleted() | e.StepFailed() | e.StepInterrupted() | CallSettled() | e.ItemSettled():
            if event.step not in standing.open or standing.attempts[event.step] != event.attempt:
                return f"attempt {event.attempt} of {event.step} is not open"
            return _running(standing, event.run)
        case (
            e.StepSkipped()
            | e.VerdictGiven()
            | e.GateOpened()
            | e.RoundStarted()
            | e.BudgetReached()
            | e.WaitStarted()
            | e.StepsUnfolded()
        ):
            return _running(standing, event.run) or _course_fault(standing, event)
        case e.RunEnded():
            return _end_fault(standing, event)
        case e.GateResolved() | e.ConfirmationAsked() | e.ConfirmationResolved() | e.GateReminded():
            return _reply_fault(standing, event)
        case (
            e.EditAccepted()
            | e.StepAdopted()
            | e.WordsSaid()
            | e.WordsUnderstood()
            | e.ReplyClassified()
            | e.VerdictOverruled()
        ):
            going_on = isinstance(event, e.VerdictOverruled) and standing.outcome is None
            return "a run is going on" if going_on else ""
        case _:
            assert_never(event)


def _reply_fault(
    standing: Standing, event: e.GateResolved | e.ConfirmationAsked | e.ConfirmationResolved | e.GateReminded
) -> str:
    match event:
        case e.GateReminded():
            waits = event.gate in standing.gates.values() and standing.outcome is not None
            return "" if waits else f"the gate {event.gate} is not waiting"
        case e.GateResolved():
            if event.gate not in standing.gates.values():
                return f"the gate {event.gate} is not open"
            if event.run != standing.run:
                return f"the run is {standing.run}"
            if standing.outcome is None:
                alone = event.by == "auto" and event.does in ("proceed", "withdrawn")
                return "" if alone else "a person replies to a run at rest"
            return "only a person replies to a run at rest" if event.by == "auto" or event.does == "withdrawn" else ""
        case e.ConfirmationAsked():
            if standing.outcome is None or standing.over or not (standing.gates or event.kind == "fresh"):
                return "no run is waiting"
            return f"{standing.confirming} is not answered yet" if standing.confirming else ""
        case e.ConfirmationResolved():
            return "" if event.confirmation == standing.confirming else f"{event.confirmation} was not asked"


def _start_fault(standing: Standing, event: e.RunStarted) -> str:
    if standing.outcome is None:
        return f"run {standing.run} has not ended"
    if event.resumed:
        fits = event.run == standing.run and not standing.over
        return "" if fits else f"run {event.run} is not at rest"
    if not standing.over:
        return f"run {standing.run} is {standing.outcome}: it is taken up again, or cancelled"
    return "" if event.run == standing.run + 1 else f"the next run is {standing.run + 1}"


def _end_fault(standing: Standing, event: e.RunEnded) -> str:
    if event.run != standing.run:
        return f"the run is {standing.run}"
    if standing.open:
        return f"an attempt of {sorted(standing.open)[0]} is still open"
    if event.outcome == "waiting" and not standing.gates:
        return "no gate is open, so it waits for nothing"
    if standing.outcome is None:
        return ""
    leaving = event.outcome in ("cancelled", "left") and not standing.over
    return "" if leaving else f"it has ended already ({standing.outcome})"


def _course_fault(
    standing: Standing,
    event: (
        e.StepSkipped
        | e.VerdictGiven
        | e.GateOpened
        | e.RoundStarted
        | e.BudgetReached
        | e.WaitStarted
        | e.StepsUnfolded
    ),
) -> str:
    if isinstance(event, e.RoundStarted):
        return _round_fault(standing, event)
    if isinstance(event, e.BudgetReached):
        return ""
    if isinstance(event, e.StepsUnfolded):
        gone = [one for one in standing.open if one.startswith(f"{event.step}.") and one not in event.steps]
        return f"an attempt of {gone[0]} is still open" if gone else ""
    if event.step in standing.open:
        return f"an attempt of {event.step} is still open"
    return _gate_fault(standing, event) if isinstance(event, e.GateOpened) else ""


def _gate_fault(standing: Standing, event: e.GateOpened) -> str:
    if event.gate in standing.gate_names:
        return f"there was a gate {event.gate} before"
    other = standing.gates.get(event.step)
    return f"the gate {other} of {event.step} is still open" if other else ""


def _round_fault(standing: Standing, event: e.RoundStarted) -> str:
    kind, base, last = standing.rounds.get(event.unit, ("", "", 0))
    expected = last + 1 if (kind, base) == (event.kind, event.base) else 1
    if event.round != expected:
        return f"the next round of {event.unit} is {expected}"
    return "" if event.round <= event.most else f"{event.most} rounds are the most"


def _running(standing: Standing, run: int) -> str:
    if standing.outcome is not None:
        return "no run is going on"
    return "" if run == standing.run else f"the run is {standing.run}"
