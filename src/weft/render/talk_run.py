"""A run as a conversation shows it: what came of each step as a line, the steps at work live, and what it asks.

The words are those of the plain log; what only fills it (a step that is up to date, an artifact's size) is left out.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from weft.protocol.events import (
    ArtifactAccepted,
    ConfirmationAsked,
    ConfirmationResolved,
    Event,
    GateOpened,
    GateResolved,
    InputRecorded,
    QuestionAsked,
    RunEnded,
    RunStarted,
    StatusChanged,
    StepCompleted,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepSkipped,
    StepStarted,
    WordsSaid,
    WordsUnderstood,
)
from weft.protocol.talk import LiveTalkEvent, TalkEvent
from weft.protocol.values import dataclass
from weft.render.cells import clean, paragraphs
from weft.render.flow import confirmation_lines, gate_lines, understood
from weft.render.plain import PlainLog

_UNSAID: Final = (
    StepStarted,
    ArtifactAccepted,
    StepSkipped,
    GateResolved,
    ConfirmationResolved,
    InputRecorded,
    RunStarted,
    WordsSaid,
    StatusChanged,
    QuestionAsked,
    StepProgressed,
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


@dataclass(slots=True)
class RunPart:
    """`lines` gives what became of an event, and keeps `working` up to date."""

    working: dict[str, StepWork] = field(default_factory=dict)
    gates: dict[str, GateOpened] = field(default_factory=dict)
    """Those that are open, by name."""
    shown: set[str] = field(default_factory=set)
    """The gates that were opened since the run was last set going."""
    confirming: ConfirmationAsked | None = None
    _log: PlainLog = field(default_factory=lambda: PlainLog("", ""))

    def lines(self, event: Event, now: float) -> list[str]:
        """The first line says what happened, the others belong to it; none for what is not worth a line."""
        assert not isinstance(event, TalkEvent | LiveTalkEvent)
        self._follow(event, now)
        said = self._log.lines(event)
        match event:
            case WordsUnderstood():
                told = [f"understood: {understood(event)}"]
                return [*told, *self.question()] if event.meaning in _ASKED_AGAIN else told
            case GateOpened():
                return _gate(event)
            case RunEnded() if event.outcome == "waiting":
                return [line for gate in self.gates.values() if gate.gate not in self.shown for line in _gate(gate)]
            case RunEnded() if event.outcome in ("left", "interrupted", "failed", "over_budget", "asleep"):
                return [*said, '  say "resume the run" to take it up again']
            case _:
                return [] if isinstance(event, _UNSAID) else said

    def _follow(self, event: Event, now: float) -> None:
        match event:
            case StepProgressed():
                if work := self.working.get(event.step):
                    work.progress = (paragraphs(event.text) or [""])[-1]
            case StepStarted():
                self.working[event.step] = StepWork(event.step, event.attempt, now)
            case StepCompleted() | StepFailed() | StepInterrupted():
                self.working.pop(event.step, None)
            case RunStarted():
                self.shown.clear()
            case RunEnded():
                self.working.clear()
            case _:
                self._follow_flow(event)

    def _follow_flow(self, event: Event) -> None:
        match event:
            case GateOpened():
                self.gates[event.gate] = event
                self.shown.add(event.gate)
            case GateResolved():
                self.gates.pop(event.gate, None)
            case ConfirmationAsked():
                self.confirming = event
            case ConfirmationResolved():
                self.confirming = None
            case WordsUnderstood() if event.meaning in ("stay", "no"):
                self.confirming = None  # what was asked back is answered; the gate is asked again

    def question(self) -> list[str]:
        """What the run asks now, once more."""
        if self.confirming is not None:
            return confirmation_lines(self.confirming)
        return [line for gate in self.gates.values() for line in _gate(gate)]


def _gate(gate: GateOpened) -> list[str]:
    title = f"{clean(gate.step)} is done; the run waits for you ({clean(gate.gate)})"
    return [title, *gate_lines(gate), "  leave: talk about something else; the run is kept, and can be taken up again"]
