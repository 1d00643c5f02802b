"""A run as a conversation shows it: what came of each step as a line, the steps at work live, and what it asks.

The words are those of the plain log; what only fills it (a step that is up to date, an artifact's size) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from weft.protocol.events import (
    ArtifactAccepted,
    ConfirmationResolved,
    Event,
    GateOpened,
    GateResolved,
    InputRecorded,
    RunEnded,
    RunStarted,
    StepCompleted,
    StepFailed,
    StepInterrupted,
    StepProgressed,
    StepSkipped,
    StepStarted,
    WordsHeard,
)
from weft.protocol.talk import LiveTalkEvent, TalkEvent
from weft.render.cells import paragraphs
from weft.render.plain import PlainLog

_UNSAID: Final = (
    StepStarted,
    ArtifactAccepted,
    StepSkipped,
    GateResolved,
    ConfirmationResolved,
    InputRecorded,
    RunStarted,
)
"""What is seen live, or was said where it was understood."""


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
    _log: PlainLog = field(default_factory=lambda: PlainLog("", ""))

    def lines(self, event: Event, now: float) -> list[str]:
        """The first line says what happened, the others belong to it; none for what is not worth a line."""
        assert not isinstance(event, TalkEvent | LiveTalkEvent)
        match event:
            case StepProgressed():
                if work := self.working.get(event.step):
                    work.progress = (paragraphs(event.text) or [""])[-1]
                return []
            case StepStarted():
                self.working[event.step] = StepWork(event.step, event.attempt, now)
            case StepCompleted() | StepFailed() | StepInterrupted():
                self.working.pop(event.step, None)
            case RunEnded():
                self.working.clear()
            case WordsHeard():
                return [f"understood: {event.understood}"]
        said = self._log.lines(event)
        if isinstance(event, _UNSAID):
            return []
        if isinstance(event, RunEnded) and event.outcome == "waiting":
            return []
        if isinstance(event, RunEnded) and event.outcome in ("left", "interrupted", "failed", "over_budget"):
            return [*said, '  say "resume the run" to take it up again']
        if isinstance(event, GateOpened):
            return [f"{event.step} is done; the run waits for you ({event.gate})", *said[1:]]
        return said
