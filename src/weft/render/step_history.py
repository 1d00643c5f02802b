"""The life of one step, folded from a session's log: its attempts with what each was made from, called, used and came
to, the gates it opened and what was replied, the rounds it was in, and what is its result now. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, assert_never

from weft.protocol import events as e
from weft.protocol.call_events import CallSettled, ConversationCalls, used_by
from weft.protocol.conversation_events import PROCESS_LOST
from weft.protocol.errors import Finding
from weft.protocol.values import dataclass
from weft.render.calls import Spent, spent_of
from weft.render.flow import in_verdict

Result = Literal["open", "completed", "failed", "interrupted"]
_REPLY = "reply:"
_OVERRULED = "overruled:"


@dataclass(slots=True)
class Change:
    """An input that is not as it was for the attempt before."""

    name: str
    before: str | None
    now: str | None


@dataclass(slots=True)
class GivenWords:
    """Something a person or a verifier said that the attempt was given."""

    source: str
    text: Any


@dataclass(slots=True)
class OpenTry:
    calls: list[CallSettled] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemHistory:
    """One try of an item."""

    run: int
    settled: e.ItemSettled
    findings: tuple[Finding, ...]
    calls: tuple[CallSettled, ...]


@dataclass(slots=True)
class AttemptHistory:
    run: int
    attempt: int
    cause: str
    reason: str
    at: str
    input_hash: str
    inputs: Mapping[str, str]
    changes: list[Change]
    replies: list[GivenWords] = field(default_factory=list)
    rounds: list[GivenWords] = field(default_factory=list)
    calls: list[CallSettled] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    artifacts: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Hash and size of each one that passed."""
    items: dict[str, list[ItemHistory]] = field(default_factory=dict)
    """By key, the tries of each item that were made in it."""
    of_open: dict[str, OpenTry] = field(default_factory=dict)
    """By key, what is known of a try that has not ended."""
    cut_off: str = ""
    """Why it was cut off before it was taken up again, the last time."""
    result: Result = "open"
    kind: str = ""
    """Of a failure."""
    message: str = ""
    trace: str = ""
    """Of code that failed: the calls that led there."""
    ms: int | None = None
    model: str | None = None
    took: list[Spent] = field(default_factory=list)
    """By model, as its settlements say it."""
    verdict: str = ""
    ended: str = ""
    resumed: tuple[str, ...] = ()
    """When it was taken up again after it had been cut off."""

    @property
    def spent(self) -> list[Spent]:
        if self.result == "open":  # its process was killed, or is at work: the calls that ended are known
            return spent_of(used_by(self.calls))
        return self.took or ([(self.model, {})] if self.model else [])

    @property
    def usage(self) -> dict[str, int]:
        """Over all models."""
        total: dict[str, int] = {}
        for _, usage in self.took:
            for kind, number in usage.items():
                total[kind] = total.get(kind, 0) + number
        return total


@dataclass(slots=True)
class GateHistory:
    opened: e.GateOpened
    at: str
    reply: e.GateResolved | None = None
    replied: str = ""


@dataclass(slots=True)
class StepHistory:
    step: str
    attempts: list[AttemptHistory] = field(default_factory=list)
    gates: list[GateHistory] = field(default_factory=list)
    skipped: str = ""
    """Why the last run did not make it."""
    kept: str = ""
    """How the result came to be one without an attempt: edited by hand, or adopted."""
    result: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The artifacts that count now: hash and size."""
    aside: list[tuple[str, str]] = field(default_factory=list)
    """Versions changed by hand that were kept: artifact and where."""

    @property
    def completed(self) -> AttemptHistory | None:
        return next((one for one in reversed(self.attempts) if one.result == "completed"), None)


StepEvent = (
    e.StepStarted
    | e.StepSkipped
    | e.ArtifactRejected
    | e.ArtifactAccepted
    | CallSettled
    | e.ItemSettled
    | e.StepCompleted
    | e.StepFailed
    | e.StepInterrupted
    | e.EditAccepted
    | e.StepAdopted
    | e.VerdictGiven
    | e.GateOpened
)


def step_history(step: str, records: Iterable[e.Record]) -> StepHistory:
    fold = _Fold(StepHistory(step))
    for record in records:
        fold.apply(record)
    return fold.history


class _Fold:
    def __init__(self, history: StepHistory) -> None:
        self.history = history
        self._replies: dict[str, str] = {}
        """What was said at each gate of the session: a step may be given the replies at another's."""
        self._overruled: dict[str, e.VerdictOverruled] = {}
        self._rounds: dict[str, e.RoundStarted] = {}
        self._calling = ConversationCalls()

    def apply(self, record: e.Record) -> None:
        event = record.event
        for call in self._calling.take(event):
            if isinstance(call, CallSettled) and call.step == self.history.step:
                self._own(call, record.at)
        match event:
            case e.GateResolved():
                self._replies[event.gate] = event.text
                for gate in self.history.gates:
                    if gate.opened.gate == event.gate:
                        gate.reply, gate.replied = event, record.at
            case e.RoundStarted():
                self._rounds[f"{event.kind}:{event.unit}"] = event
            case e.VerdictOverruled() if event.step == self.history.step:
                self._overruled[f"{_OVERRULED}{event.claim}"] = event
            case e.ArtifactSetAside():
                if event.artifact in self.history.result:
                    self.history.aside.append((event.artifact, event.kept))
            case _ if isinstance(event, StepEvent) and event.step == self.history.step:
                self._own(event, record.at)
            case _:
                pass

    def _own(self, event: StepEvent, at: str) -> None:
        history = self.history
        match event:
            case e.StepStarted():
                earlier = self._attempt(event.attempt)
                if event.cause == "resume" and earlier is not None:
                    earlier.cut_off = earlier.message
                    earlier.result, earlier.message, earlier.resumed = "open", "", (*earlier.resumed, at)
                else:
                    history.attempts.append(self._begun(event, at))
                history.skipped = history.kept = ""
            case e.GateOpened():
                history.gates.append(GateHistory(event, at))
            case e.StepSkipped():
                history.skipped = event.reason
            case e.EditAccepted() | e.StepAdopted():
                history.kept = (
                    "edited by hand" if isinstance(event, e.EditAccepted) else "adopted from an older session"
                )
            case e.ArtifactAccepted() if event.item:
                pass  # its settlement names the file
            case e.ArtifactAccepted() if not self._open(event.attempt):
                history.result[event.artifact] = (event.hash, event.size)
            case _:
                attempt = self._attempt(event.attempt)
                if attempt is not None:
                    self._in_attempt(attempt, event, at)

    def _in_attempt(
        self,
        attempt: AttemptHistory,
        event: e.ArtifactRejected
        | e.ArtifactAccepted
        | CallSettled
        | e.ItemSettled
        | e.StepCompleted
        | e.StepFailed
        | e.StepInterrupted
        | e.VerdictGiven,
        at: str,
    ) -> None:
        match event:
            case CallSettled():
                if event.message == PROCESS_LOST and attempt.cut_off:
                    event = replace(event, message=attempt.cut_off)
                attempt.calls.append(event)
                if event.item:
                    attempt.of_open.setdefault(event.item, OpenTry()).calls.append(event)
            case e.ItemSettled():
                known = attempt.of_open.pop(event.item, None) or OpenTry()
                tried = ItemHistory(event.run, event, known.findings, tuple(known.calls))
                attempt.items.setdefault(event.item, []).append(tried)
            case e.ArtifactRejected():
                attempt.findings += event.findings
                if event.item:
                    attempt.of_open.setdefault(event.item, OpenTry()).findings = event.findings
            case e.ArtifactAccepted():
                attempt.artifacts[event.artifact] = (event.hash, event.size)
            case e.VerdictGiven():
                attempt.verdict = event.verdict
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                # One that was cut off and taken up again took what it took each time.
                attempt.took += spent_of(event)
                attempt.ms, attempt.model = (attempt.ms or 0) + event.ms, event.model or attempt.model
                attempt.ended = at
                self._settle(attempt, event)
            case _:
                assert_never(event)

    def _settle(self, attempt: AttemptHistory, event: e.StepCompleted | e.StepFailed | e.StepInterrupted) -> None:
        match event:
            case e.StepCompleted():
                attempt.result = "completed"
                attempt.message = f"reused from session {event.reused}" if event.reused else ""
                self.history.result = dict(attempt.artifacts)
            case e.StepFailed():
                attempt.result, attempt.kind, attempt.message = "failed", event.kind, event.message
                attempt.trace = event.trace
            case e.StepInterrupted():
                attempt.result, attempt.message = "interrupted", event.why

    def _begun(self, event: e.StepStarted, at: str) -> AttemptHistory:
        before = self.history.attempts[-1].inputs if self.history.attempts else event.inputs
        names = dict.fromkeys([*event.inputs, *before])
        changes = [
            Change(name, before.get(name), event.inputs.get(name))
            for name in names
            if before.get(name) != event.inputs.get(name)
        ]
        replies = [
            GivenWords(name.removeprefix(_REPLY), self._replies.get(name.removeprefix(_REPLY), value))
            for name, value in event.inputs.items()
            if name.startswith(_REPLY)
        ]
        replies += [
            GivenWords(f"the verdict on “{said.text}”", f"{in_verdict(said.verdict)}: {said.why}")
            for name in event.inputs
            if (said := self._overruled.get(name)) is not None
        ]
        rounds = [
            GivenWords(f"{one.kind} round {one.round} of {one.most}, asked for by {one.unit}", one.feedback)
            for name in event.inputs
            if (one := self._rounds.get(name)) is not None
        ]
        return AttemptHistory(
            event.run,
            event.attempt,
            event.cause,
            event.reason,
            at,
            event.input_hash,
            event.inputs,
            changes,
            replies,
            rounds,
        )

    def _attempt(self, number: int) -> AttemptHistory | None:
        return next((one for one in reversed(self.history.attempts) if one.attempt == number), None)

    def _open(self, number: int) -> bool:
        attempt = self._attempt(number)
        return attempt is not None and attempt.result == "open"
