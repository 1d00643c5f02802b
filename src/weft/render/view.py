"""`RunView`: events folded into what a screen shows of a run. No clock inside: `now` is handed in with each event.

It takes durable and live events in the order the engine emits them, from the middle of a session as well as from its
beginning, and never refuses one: a step it has not heard of is added. A new `run_started` begins a clean screen, but
the names of artifacts are kept, so that a skipped step still leads to its file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, assert_never

from weft.protocol import events as e
from weft.protocol.call_events import CallEvent
from weft.protocol.conversation_events import ConversationEvent, LiveConversationEvent
from weft.protocol.errors import Finding
from weft.protocol.values import dataclass
from weft.render.calls import Spent, StepCalls, spent_of
from weft.render.cells import paragraphs
from weft.render.flow import flow_lines
from weft.render.units import told_retry

StepState = Literal["waiting", "running", "done", "skipped", "failed", "interrupted"]
StepEvent = (
    e.StepSkipped
    | e.StepStarted
    | e.ArtifactRejected
    | e.ArtifactAccepted
    | e.StepCompleted
    | e.StepFailed
    | e.StepModelRetried
    | e.StepInterrupted
    | e.StepProgressed
    | e.ItemSettled
    | e.EditAccepted
    | e.StepAdopted
)


RunEvent = (
    e.SessionCreated
    | e.SessionAdopted
    | e.CutAccepted
    | e.InputRecorded
    | e.RunStarted
    | e.RunEnded
    | e.ArtifactSetAside
    | e.ArtifactRestored
    | e.NoticeGiven
    | e.QuestionAsked
    | e.QuestionClosed
    | e.StatusChanged
    | e.SettingChanged
    | e.SessionDescribed
    | e.SourceSwitched
    | e.FlowEvent
    | StepEvent
)


@dataclass(slots=True)
class StepView:
    """One step as it stands. `started` is the moment (monotonic) its latest attempt began, `ms` what that one took."""

    name: str
    state: StepState = "waiting"
    attempt: int = 0
    tries_in_run: int = 0
    started: float | None = None
    ms: int | None = None
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    """Of the latest rejected attempt; they stay while the next one works on them."""
    rejected_attempt: int = 0
    artifacts: tuple[str, ...] = ()
    progress: str = ""
    message: str = ""
    """What went wrong last; a retry keeps it until the step is done."""
    spent: list[Spent] = field(default_factory=list)
    """Over all its attempts in this run: the settlements say it."""
    calls: StepCalls = field(default_factory=StepCalls)
    """Of the latest attempt."""
    items: int = 0
    """How many items have settled in it."""

    def apply(self, event: StepEvent, now: float) -> None:
        match event:
            case e.StepStarted():
                # A retry's own reason is the failure, which `message` has: the step still runs for its first reason.
                self.reason = self.reason if event.cause == "retry" and self.tries_in_run else event.reason
                self.state, self.attempt, self.tries_in_run = "running", event.attempt, self.tries_in_run + 1
                self.started, self.ms, self.artifacts, self.progress = now, None, (), ""
                self.calls, self.items = StepCalls(), 0
            case e.StepProgressed() | e.StepModelRetried():
                self._progressed(event)
            case e.ArtifactRejected() | e.ArtifactAccepted():
                self._judged(event)
            case e.StepCompleted():
                self.state, self.ms = "done", event.ms
                self.message = f"reused from session {event.reused}" if event.reused else ""
                self._took(event)
            case e.StepFailed():
                self.state = "waiting" if event.retrying else "failed"
                self.message, self.ms, self.artifacts = event.message, event.ms, ()
                self._took(event)
                self.findings = self.findings if self.rejected_attempt == event.attempt else ()
            case e.StepInterrupted():
                self.state, self.message, self.artifacts = "interrupted", event.why, ()
                self.ms = self._elapsed_ms(now)
                self._took(event)
            case e.ItemSettled():
                self.items += not event.retrying
            case e.StepSkipped() if self.state == "done":
                pass  # made before the run came to rest, and still good
            case e.StepSkipped() | e.EditAccepted() | e.StepAdopted():
                self.state, self.reason = "skipped", _why_skipped(event)
            case _:
                assert_never(event)

    def _judged(self, event: e.ArtifactRejected | e.ArtifactAccepted) -> None:
        if event.item:
            return  # it has tries of its own, and its settlement says what came of it
        if isinstance(event, e.ArtifactRejected):
            earlier = self.findings if self.rejected_attempt == event.attempt else ()
            self.findings, self.rejected_attempt = earlier + event.findings, event.attempt
        elif event.artifact not in self.artifacts:
            self.artifacts = (*self.artifacts, event.artifact)

    def _progressed(self, event: e.StepProgressed | e.StepModelRetried) -> None:
        if self.state != "running" or event.attempt != self.attempt:
            return
        if isinstance(event, e.StepModelRetried):
            self.progress = told_retry(event.reason, event.wait_ms, event.instead)
        else:
            self.progress = (paragraphs(event.text) or [""])[-1]

    def _took(self, event: e.StepCompleted | e.StepFailed | e.StepInterrupted) -> None:
        self.spent += spent_of(event)

    def run_ended(self, now: float) -> None:
        if self.state == "running":
            self.state, self.ms = "interrupted", self._elapsed_ms(now)

    def _elapsed_ms(self, now: float) -> int | None:
        return None if self.started is None else round((now - self.started) * 1000)


def _in_words(event: e.ArtifactSetAside | e.ArtifactRestored | e.NoticeGiven) -> str:
    match event:
        case e.ArtifactSetAside():
            return f"{event.artifact} was changed by hand; that version is kept as {event.kept}"
        case e.ArtifactRestored():
            return f"{event.artifact} was written again from the log"
        case e.NoticeGiven():
            return event.text


def _why_skipped(event: e.StepSkipped | e.EditAccepted | e.StepAdopted) -> str:
    match event:
        case e.StepSkipped():
            return event.reason
        case e.EditAccepted():
            return "your edit is kept as the result"
        case e.StepAdopted():
            return "the artifact of the older session is kept"


@dataclass
class RunView:
    """A run as a screen shows it. `artifacts` may name each step's files, for steps this view only sees skipped."""

    session: str
    folder: str
    artifacts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pipeline: str = ""
    run: int = 0
    desired: str = ""
    steps: dict[str, StepView] = field(default_factory=dict)
    """In running order."""
    notices: list[str] = field(default_factory=list)
    started: float | None = None
    ended: float | None = None
    outcome: e.Outcome | None = None
    message: str = ""
    gates: dict[str, e.GateOpened] = field(default_factory=dict)
    """Those that are open, by name."""
    asks_here: bool = False
    """Whoever looks is asked in the same place, below: what is asked and how to answer need not be said."""

    def apply(self, event: e.Event, now: float) -> None:
        if isinstance(event, ConversationEvent | LiveConversationEvent):
            return  # a conversation beside the run has a screen of its own
        if isinstance(event, CallEvent):
            step = self.steps.setdefault(event.step, StepView(event.step))
            if event.attempt == step.attempt:
                step.calls.apply(event, now)
            return
        self._run_event(event, now)

    def _run_event(self, event: RunEvent, now: float) -> None:
        match event:
            case e.SessionCreated():
                self.pipeline = event.pipeline
            case e.SessionAdopted():
                self.pipeline = event.pipeline
                for note in event.notes:
                    self._notice(note)
            case e.InputRecorded() | e.CutAccepted() | e.SettingChanged() | e.SessionDescribed() | e.SourceSwitched():
                pass
            case e.QuestionAsked() | e.QuestionClosed() | e.StatusChanged():
                pass
            case e.RunStarted():
                self._remember_artifacts()
                self.pipeline, self.run, self.desired = event.pipeline, event.run, event.desired
                going_on = event.resumed and self.started is not None
                if not going_on:
                    self.steps = {name: StepView(name) for name in event.steps}
                self.started, self.ended, self.outcome, self.message = now, None, None, ""
            case e.RunEnded():
                self.outcome, self.message, self.ended = event.outcome, event.message, now
                for step in self.steps.values():
                    step.run_ended(now)
            case e.ArtifactSetAside() | e.ArtifactRestored() | e.NoticeGiven():
                self._notice(_in_words(event))
            case _ if isinstance(event, e.FlowEvent):
                self._flow(event)
            case _:
                self.steps.setdefault(event.step, StepView(event.step)).apply(event, now)

    def _flow(self, event: e.FlowEvent) -> None:
        match event:
            case e.GateOpened():
                self.gates[event.gate] = event
            case e.GateResolved():
                self.gates.pop(event.gate, None)
            case e.StepsUnfolded():
                names = [name for name in self.steps if not name.startswith(f"{event.step}.")]
                at = names.index(event.step) if event.step in names else len(names)
                order = (*names[:at], *event.steps, *names[at:])
                self.steps = {name: self.steps.get(name) or StepView(name) for name in order}
            case e.ConfirmationAsked() | e.ConfirmationResolved() | e.ReplyClassified() if self.asks_here:
                pass  # it was said where they are asked
            case e.WordsSaid() | e.WordsUnderstood():
                pass  # said where they were said
            case _:
                self._notice(flow_lines(event)[0])

    def elapsed(self, now: float) -> float:
        """Seconds since the run started, until it ended."""
        return 0.0 if self.started is None else (now if self.ended is None else self.ended) - self.started

    def files(self, step: str) -> tuple[str, ...]:
        """The step's artifact names, as far as they are known."""
        seen = self.steps[step].artifacts if step in self.steps else ()
        return seen or tuple(self.artifacts.get(step, ()))

    def _remember_artifacts(self) -> None:
        seen = {name: step.artifacts for name, step in self.steps.items() if step.artifacts}
        self.artifacts = {**self.artifacts, **seen}

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)
