"""A run as a conversation shows it: its card, which grows line by line, the steps at work live, and what it asks.

    ▸ run 1 of writing
    ✓ summary: summary.json                        1,312 in, 50 out · 3.2 s
    ✓ writing is done                             4 steps · 2,100 tokens · 9.0 s

Calls of a step are seen while it is at work, and counted when it has ended. What else happens is told in the words of
the plain log; what only fills it (a step that is up to date, an artifact's size) is left out.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from weft.protocol import events as e
from weft.protocol.call_events import CallSettled, CallStarted, StepTextStreamed
from weft.protocol.conversation_events import ConversationEvent, LiveConversationEvent
from weft.protocol.values import dataclass
from weft.render.calls import StepCalls, figures
from weft.render.cells import clean, paragraphs
from weft.render.flow import confirmation_lines, gate_lines, gate_waits, understood
from weft.render.plain import PlainLog
from weft.render.units import count, human_ms, human_seconds

_UNSAID: Final = (
    CallStarted,
    StepTextStreamed,
    e.StepStarted,
    e.ArtifactAccepted,
    e.ArtifactRejected,
    e.StepSkipped,
    e.GateResolved,
    e.ConfirmationResolved,
    e.InputRecorded,
    e.RunStarted,
    e.WordsSaid,
    e.StatusChanged,
    e.QuestionAsked,
    e.StepProgressed,
)
"""What is seen live, or was said where it was understood."""

_ASKED_AGAIN: Final = ("unclear", "gate?", "refused", "stay", "no")
"""After these the run still waits for what it asked."""


@dataclass(slots=True)
class StepWork:
    """A step that is being made."""

    step: str
    attempt: int
    started: float
    progress: str = ""
    calls: StepCalls = field(default_factory=StepCalls)


@dataclass(frozen=True, slots=True)
class CardLine:
    """What the card of a run says of an event: with the sign of `state`, and what it took at the right."""

    lines: tuple[str, ...]
    state: str
    right: str = ""


@dataclass(slots=True)
class RunPart:
    """`lines` gives what became of an event, and keeps `working` up to date."""

    working: dict[str, StepWork] = field(default_factory=dict)
    gates: dict[str, e.GateOpened] = field(default_factory=dict)
    """Those that are open, by name."""
    shown: set[str] = field(default_factory=set)
    """The gates that were opened since the run was last set going."""
    confirming: e.ConfirmationAsked | None = None
    _log: PlainLog = field(default_factory=lambda: PlainLog("", ""))
    _pipeline: str = ""
    _began: float = 0.0
    _steps: int = 0
    """Those that were made in this run."""
    _tokens: int = 0
    _made: dict[str, list[str]] = field(default_factory=dict)
    """Artifacts of the steps at work."""
    _rejected: dict[str, list[str]] = field(default_factory=dict)
    """What was wrong with what a step made last."""

    def card(self, event: e.Event, now: float) -> CardLine | None:
        """None for what the card does not tell; then `lines` may."""
        match event:
            case e.RunStarted():
                self._pipeline, self._began, self._steps, self._tokens = event.pipeline, now, 0, 0
                again = ", taken up again" if event.resumed else ""
                told = CardLine((clean(f"run {event.run} of {event.pipeline}{again}"),), "running")
            case e.StepCompleted():
                self._steps += 1
                made = ", ".join(self._made.pop(event.step, ()))
                reused = f", reused from session {event.reused}" if event.reused else ""
                words = clean(f"{event.step}{': ' if made else ''}{made}{reused}")
                told = CardLine((words,), "done", self._took(event))
            case e.StepFailed():
                self._made.pop(event.step, None)
                then = "; it is tried again" if event.retrying else ""
                first, *more = paragraphs(event.message) or [""]
                words = clean(f"{event.step}, attempt {event.attempt}: {first}{then}")
                found = self._rejected.pop(event.step, []) if not event.retrying else []
                told = CardLine((words, *more, *found), "failed", self._took(event))
            case e.RunEnded() if event.outcome == "done":
                parts = [count(self._steps, "step"), f"{self._tokens:,} tokens" if self._tokens else ""]
                took = " · ".join(filter(None, [*parts, human_seconds(now - self._began)]))
                told = CardLine((clean(f"{self._pipeline or 'the run'} is done"),), "done", took)
            case _:
                return None
        self._follow(event, now)
        return told

    def _took(self, event: e.StepCompleted | e.StepFailed) -> str:
        self._tokens += event.usage.get("input", 0) + event.usage.get("output", 0)
        return " · ".join([*figures(event.model, event.usage, None), human_ms(event.ms)])

    def lines(self, event: e.Event, now: float) -> list[str]:
        """The first line says what happened, the others belong to it; none for what is not worth a line."""
        assert not isinstance(event, ConversationEvent | LiveConversationEvent)
        self._follow(event, now)
        said = self._log.lines(event)
        match event:
            case CallSettled():
                return [f"{clean(event.step)}: left out of the prompt: {clean(one)}" for one in event.dropped]
            case e.WordsUnderstood():
                told = [f"understood: {understood(event)}"]
                return [*told, *self.question()] if event.meaning in _ASKED_AGAIN else told
            case e.GateOpened():
                return _gate(event)
            case e.RunEnded() if event.outcome == "waiting":
                return [line for gate in self.gates.values() if gate.gate not in self.shown for line in _gate(gate)]
            case e.RunEnded() if event.outcome in ("left", "interrupted", "failed", "over_budget", "asleep"):
                return [*said, '  say "resume the run" to take it up again']
            case _:
                return [] if isinstance(event, _UNSAID) else said

    def _follow(self, event: e.Event, now: float) -> None:
        match event:
            case e.StepProgressed():
                if work := self.working.get(event.step):
                    work.progress = (paragraphs(event.text) or [""])[-1]
            case e.StepStarted():
                self.working[event.step] = StepWork(event.step, event.attempt, now)
                self._rejected.pop(event.step, None)
            case CallStarted() | CallSettled() | StepTextStreamed():
                if work := self.working.get(event.step):
                    work.calls.apply(event, now)
            case e.ArtifactAccepted() if not event.item:
                self._made.setdefault(event.step, []).append(event.artifact)
            case e.ArtifactRejected():
                self._rejected[event.step] = self._log.lines(event)[1:]
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                self.working.pop(event.step, None)
            case e.RunStarted():
                self.shown.clear()
            case e.RunEnded():
                self.working.clear()
            case _:
                self._follow_flow(event)

    def _follow_flow(self, event: e.Event) -> None:
        match event:
            case e.GateOpened():
                self.gates[event.gate] = event
                self.shown.add(event.gate)
            case e.GateResolved():
                self.gates.pop(event.gate, None)
            case e.ConfirmationAsked():
                self.confirming = event
            case e.ConfirmationResolved():
                self.confirming = None
            case e.WordsUnderstood() if event.meaning in ("stay", "no"):
                self.confirming = None  # what was asked back is answered; the gate is asked again

    def question(self) -> list[str]:
        """What the run asks now, once more."""
        if self.confirming is not None:
            return confirmation_lines(self.confirming)
        return [line for gate in self.gates.values() for line in _gate(gate)]


def _gate(gate: e.GateOpened) -> list[str]:
    title = f"{clean(gate_waits(gate))} ({clean(gate.gate)})"
    return [title, *gate_lines(gate), "  leave: talk about something else; the run is kept, and can be taken up again"]
