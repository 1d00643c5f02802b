"""What a log adds up to: the fold that the planner, the manifest and every face read.

`fold(records)` is a pure function of the log; `SessionState.apply` is its one step, used live after each append, so
that the state in memory and the state after a restart can't differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, get_args

from weft.protocol import events as e
from weft.protocol.call_events import CallSettled, ConversationCalls
from weft.protocol.conversation_events import ConversationEvent
from weft.protocol.envelope import PERSON, Actor, Parent
from weft.protocol.events import ClaimVerdict, Outcome, Record, UnitKind, Verdict
from weft.protocol.hashes import combine
from weft.protocol.values import dataclass, replace

StepStatus = Literal["pending", "in_progress", "completed", "failed"]
RunStatus = Outcome | Literal["new", "running", "confirming"]


@dataclass(frozen=True, slots=True)
class Completion:
    """The last good result of a step and everything it was made from."""

    attempt: int
    hash: str
    artifacts: Mapping[str, str]
    """Name and hash of each artifact."""
    schema_version: str
    input_hash: str
    inputs: Mapping[str, str]
    at: str
    how: Literal["made", "edited", "adopted"] = "made"
    ms: int | None = None
    """How long the attempt took, for one that was made."""


@dataclass(slots=True)
class StepState:
    status: StepStatus = "pending"
    attempt: int = 0
    """The number of the last attempt."""
    input_hash: str = ""
    """Of the last attempt."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    open: bool = False
    """An attempt began and has no settlement yet."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Artifacts of the last attempt that passed so far."""
    calls: tuple[CallSettled, ...] = ()
    """Those of the open attempt that have ended: what it used is known even if it never settles."""
    resumable: bool = False
    """The last attempt was cut off: it can go on in this run as long as its inputs are the same."""
    problem: str = ""
    """Why the last attempt has no result: its failure or interruption."""
    completion: Completion | None = None
    approved: str = ""
    """The hash of the result that a person, or an answer for them, let pass at the step's gate."""
    replies: tuple[tuple[str, str], ...] = ()
    """What a person wanted changed, each with the gate they said it at."""
    said_on: tuple[str, ...] = ()
    """Of each of them, the request it was said on."""


@dataclass(frozen=True, slots=True)
class ItemState:
    """The last settlement of an item."""

    item: str
    attempt: int
    ok: bool
    seq: int
    tries: int = 1
    artifact: str = ""
    """Its file."""


@dataclass(frozen=True, slots=True)
class InputState:
    file: str
    hash: str
    size: int
    origin: str
    originals: Mapping[str, str] = field(default_factory=dict)
    edited: bool = False
    """A person changed the copy: it is kept aside before anything takes its place."""


@dataclass(slots=True)
class RunState:
    run: int
    pipeline: str
    steps: tuple[str, ...]
    desired: str
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any]
    model: str
    budget: Mapping[str, float] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    """Replies given in advance that are not used yet, by step."""
    outcome: Outcome | None = None
    message: str = ""
    chosen_model: str = ""
    due: str = ""
    """When it goes on by itself."""
    begun: str = ""
    """When it was started, or taken up again after it had failed: its time counts from there."""
    spent: dict[str, StepSpending] = field(default_factory=dict)
    """By step, over all attempts of this run, also those before it was taken up again."""

    @property
    def over(self) -> bool:
        """It has ended for good."""
        return self.outcome in ("done", "cancelled")


@dataclass(slots=True)
class StepSpending:
    ms: int = 0
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    """Tokens by model and kind."""


@dataclass(frozen=True, slots=True)
class WaitState:
    """A step that waits for its time."""

    until: str
    input_hash: str


@dataclass(frozen=True, slots=True)
class RoundState:
    """The last round of a unit."""

    kind: UnitKind
    round: int
    most: int
    base: str
    feedback: Any
    found_in: str = ""

    def left_it(self, found_in: str) -> bool:
        """Whether what the verifier looks at now is what the round began with: another would be paid for nothing."""
        return bool(found_in) and found_in == self.found_in


@dataclass(frozen=True, slots=True)
class Overruling:
    """A person's word against the verdict on a claim."""

    text: str
    was: ClaimVerdict
    verdict: ClaimVerdict
    why: str
    by: Actor
    at: str


@dataclass(frozen=True, slots=True)
class UnheardWords:
    """Words to the run of which nothing was made yet."""

    words: str
    text: str
    gate: str = ""
    to: Literal["session", "run"] = "session"
    by: Actor = PERSON
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactState:
    """The last accepted version of an artifact, and what it took the place of, to tell an unfinished write from an
    edit."""

    hash: str
    before: tuple[str, ...]
    """What may have stood there: the version before, and an edit that was set aside for this one."""
    seq: int
    settled: bool
    """The run that made it has ended, so its file was made durable too."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """What a run that was done left, for later runs on other inputs."""

    run: int
    artifacts: Mapping[str, int]
    """By artifact, the number of the event that has it."""


@dataclass(frozen=True, slots=True)
class Description:
    """How a person calls a session and where it stands for them."""

    title: str = ""
    status: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    flag: bool = False
    archived: bool = False
    note: str = ""
    seen: int = 0
    """The last event that was looked at."""


@dataclass(slots=True)
class SessionState:
    session: str = ""
    pipeline: str = ""
    created_at: str = ""
    updated_at: str = ""
    seq: int = 0
    hash: str = ""
    """Of the last decision; "" before the log had a chain."""
    parent: Parent | None = None
    """What it was forked from."""
    keys: dict[str, int] = field(default_factory=dict)
    """The keys of commands that were accepted, each with the last event of its decision."""
    cut_accepted: int = 0
    """The event by which a person last accepted what the log had lost."""
    lost_end: tuple[int, str] = (0, "")
    """The end that the manifest knew of then: its last event and the hash of its decision."""
    inputs: dict[str, InputState] = field(default_factory=dict)
    steps: dict[str, StepState] = field(default_factory=dict)
    artifacts: dict[str, ArtifactState] = field(default_factory=dict)
    run: RunState | None = None
    """The last run."""
    set_aside: dict[str, str] = field(default_factory=dict)
    """Hashes of edits that were set aside and whose place the next accepted version takes."""
    gates: dict[str, e.GateOpened] = field(default_factory=dict)
    """Those that are open, by the step they hold up."""
    gates_opened: int = 0
    waits: dict[str, WaitState] = field(default_factory=dict)
    """By step, until it is completed."""
    rounds: dict[str, RoundState] = field(default_factory=dict)
    """By unit."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By verifier, as it last judged; "not_checked" as soon as something it read is made anew."""
    overruled: dict[str, dict[str, Overruling]] = field(default_factory=dict)
    """By the step that gave the verdict, and by claim."""
    confirming: e.ConfirmationAsked | None = None
    left_for: str = ""
    """The words for which a run was last left."""
    unheard: dict[str, UnheardWords] = field(default_factory=dict)
    """By name, in the order in which they were said."""
    finished: dict[str, FinishedRun] = field(default_factory=dict)
    """The last run that was done on each set of inputs, the oldest first."""
    spoken: int = 0
    """The number of the last event of a conversation; `conversation/` folds those."""
    items: dict[str, dict[str, ItemState]] = field(default_factory=dict)
    """By step and the hash of what the item is made from."""
    calling: ConversationCalls = field(default_factory=ConversationCalls)
    """What the conversations of steps call."""
    described: Description = field(default_factory=Description)
    sources: dict[str, bool] = field(default_factory=dict)
    """Those that a person switched on or off for this session."""

    def step(self, name: str) -> StepState:
        return self.steps.get(name) or self.steps.setdefault(name, StepState())

    @property
    def request(self) -> str:
        """One hash for all the session's inputs as they are now."""
        return combine({name: given.hash for name, given in self.inputs.items()})

    @property
    def due(self) -> str:
        """When a run at rest goes on, or has a gate whose time is over; "" when it waits for no time."""
        if self.run is None or self.run.outcome not in ("waiting", "asleep"):
            return ""
        return min(filter(None, [self.run.due, *(gate.due for gate in self.gates.values())]), default="")

    @property
    def unfinished(self) -> bool:
        return self.run is not None and self.run.outcome is None

    @property
    def status(self) -> RunStatus:
        """What the last run is doing, as far as the log tells; a run that nobody is at work on was interrupted."""
        run = self.run
        if run is None:
            return "new"
        if run.outcome is None:
            return "running"
        if run.over:
            return run.outcome
        if self.confirming:
            return "confirming"
        # Answered, and not taken up again: it waits for nobody.
        return "interrupted" if run.outcome == "waiting" and not self.gates else run.outcome

    def apply(self, record: Record) -> None:
        self.seq, self.updated_at = record.seq, record.at
        envelope = record.envelope
        if envelope is not None:
            self.hash = envelope.hash
            if envelope.key:
                self.keys[envelope.key] = record.seq
            if envelope.parent is not None:
                self.parent = envelope.parent
        _FOLDS[type(record.event)](self, record.event, record)


def fold(records: Iterable[Record]) -> SessionState:
    state = SessionState()
    for record in records:
        state.apply(record)
    return state


def _created(state: SessionState, event: e.SessionCreated | e.SessionAdopted, record: Record) -> None:
    state.session, state.pipeline = event.session, event.pipeline
    state.created_at = record.at


def _cut_accepted(state: SessionState, event: e.CutAccepted, record: Record) -> None:
    state.cut_accepted, state.lost_end = record.seq, (event.known, event.hash)


def _input(state: SessionState, event: e.InputRecorded, _: Record) -> None:
    state.inputs[event.input] = InputState(
        event.file, event.hash, event.size, event.origin, event.originals, event.edited
    )


def _run_started(state: SessionState, event: e.RunStarted, record: Record) -> None:
    state.pipeline = event.pipeline
    before = state.run if event.resumed else None
    begun = before.begun if before and before.outcome != "failed" else record.at
    state.run = RunState(
        event.run,
        event.pipeline,
        event.steps,
        event.desired,
        event.parameters,
        event.chosen,
        event.model,
        event.budget,
        event.profile,
        event.answers,
        chosen_model=event.chosen_model,
        begun=begun,
        spent=before.spent if before else {},
    )
    state.confirming = None
    for name in event.steps:
        state.step(name).resumable &= event.resumed  # another run begins everything anew


def _unfolded(state: SessionState, event: e.StepsUnfolded, _: Record) -> None:
    if state.run is None:
        return
    names = [name for name in state.run.steps if not name.startswith(f"{event.step}.")]
    at = names.index(event.step) if event.step in names else len(names)
    state.run.steps = (*names[:at], *event.steps, *names[at:])
    for name in event.steps:
        state.step(name)


def _run_ended(state: SessionState, event: e.RunEnded, _: Record) -> None:
    if state.run is not None and state.run.run == event.run:
        state.run.outcome, state.run.message, state.run.due = event.outcome, event.message, event.due
        if event.outcome == "done":
            done = [state.steps[name].completion for name in state.run.steps if name in state.steps]
            names = [name for one in done if one for name in one.artifacts if name in state.artifacts]
            request = state.request
            state.finished.pop(request, None)
            state.finished[request] = FinishedRun(event.run, {name: state.artifacts[name].seq for name in names})
        if state.run.over:
            state.gates = {}
            state.confirming = None
        for name, artifact in state.artifacts.items():
            if not artifact.settled:
                state.artifacts[name] = ArtifactState(artifact.hash, artifact.before, artifact.seq, settled=True)


def _started(state: SessionState, event: e.StepStarted, _: Record) -> None:
    step = state.step(event.step)
    step.status, step.open, step.attempt = "in_progress", True, event.attempt
    step.input_hash, step.inputs = event.input_hash, event.inputs
    step.accepted, step.problem, step.calls, step.resumable = {}, "", (), False
    if event.anew and event.only:
        kept = {digest: one for digest, one in state.items.get(event.step, {}).items() if one.item not in event.only}
        state.items[event.step] = kept
    elif event.anew:
        state.items.pop(event.step, None)


def _accepted(state: SessionState, event: e.ArtifactAccepted, record: Record) -> None:
    _doubt(state, event.artifact, event.hash)
    if not event.item:
        state.step(event.step).accepted[event.artifact] = event.hash
    old, aside = state.artifacts.get(event.artifact), state.set_aside.pop(event.artifact, None)
    before = tuple(filter(None, [old.hash if old else None, aside]))
    # Outside a run (adoption, a kept edit) the file is already in place.
    state.artifacts[event.artifact] = ArtifactState(event.hash, before, record.seq, settled=not state.unfinished)


def _doubt(state: SessionState, artifact: str, digest: str) -> None:
    """A verdict is about what the verifier read: when that is made anew, it says nothing of it."""
    for name in state.verdicts:
        read = done.inputs if (done := state.step(name).completion) else {}
        if read.get(f"artifact:{artifact}", digest) != digest:
            state.verdicts[name] = "not_checked"


def _completed(state: SessionState, event: e.StepCompleted, record: Record) -> None:
    step = state.step(event.step)
    step.status, step.open, step.problem, step.calls = "completed", False, "", ()
    step.completion = Completion(
        event.attempt,
        event.hash,
        step.accepted,
        event.schema_version,
        step.input_hash,
        step.inputs,
        record.at,
        "made",
        event.ms,
    )
    state.waits.pop(event.step, None)
    _spent(state, event, record)


def _spent(
    state: SessionState, event: e.StepCompleted | e.StepFailed | e.StepInterrupted | e.ReplyClassified, _: Record
) -> None:
    if state.run is None or not (event.usage or event.ms):
        return
    spending = state.run.spent.get(event.step) or state.run.spent.setdefault(event.step, StepSpending())
    spending.ms += event.ms
    several = {} if isinstance(event, e.ReplyClassified) else event.by_model
    for model, usage in (several or ({event.model or "": event.usage} if event.usage else {})).items():
        tokens = spending.usage.setdefault(model, {})
        for kind, number in usage.items():
            tokens[kind] = tokens.get(kind, 0) + number


def _kept(state: SessionState, event: e.EditAccepted | e.StepAdopted, record: Record) -> None:
    step = state.step(event.step)
    artifacts = {**(step.completion.artifacts if step.completion else {}), **step.accepted}
    step.status, step.open, step.problem = "completed", False, ""
    step.input_hash, step.inputs = event.input_hash, event.inputs
    step.completion = Completion(
        step.attempt,
        event.hash,
        artifacts,
        event.schema_version,
        event.input_hash,
        event.inputs,
        record.at,
        "edited" if isinstance(event, e.EditAccepted) else "adopted",
    )


def _failed(state: SessionState, event: e.StepFailed, record: Record) -> None:
    step = state.step(event.step)
    step.status, step.open, step.problem, step.calls = "failed", False, event.message, ()
    step.resumable = event.resumable
    _spent(state, event, record)


def _interrupted(state: SessionState, event: e.StepInterrupted, record: Record) -> None:
    step = state.step(event.step)
    step.status, step.open, step.problem, step.calls = "pending", False, event.why, ()
    step.resumable = True
    _spent(state, event, record)


def _call_settled(state: SessionState, event: CallSettled, _: Record) -> None:
    step = state.step(event.step)
    if step.open and step.attempt == event.attempt:
        step.calls = (*step.calls, event)


def _item_settled(state: SessionState, event: e.ItemSettled, record: Record) -> None:
    items = state.items.setdefault(event.step, {})
    items[event.input_hash] = ItemState(event.item, event.attempt, event.ok, record.seq, event.tries, event.artifact)


def _gate_opened(state: SessionState, event: e.GateOpened, _: Record) -> None:
    state.gates_opened += 1
    state.gates[event.step] = event


def _gate_reminded(state: SessionState, event: e.GateReminded, _: Record) -> None:
    for name, gate in state.gates.items():
        if gate.gate == event.gate:
            state.gates[name] = replace(gate, due=event.due)


def _wait_started(state: SessionState, event: e.WaitStarted, _: Record) -> None:
    state.waits[event.step] = WaitState(event.until, event.input_hash)


def _gate_resolved(state: SessionState, event: e.GateResolved, _: Record) -> None:
    name = next((name for name, gate in state.gates.items() if gate.gate == event.gate), None)
    if name is None:
        return
    del state.gates[name]
    step = state.step(name)
    if event.does == "proceed":
        step.approved = event.hash
    elif event.does == "amend":
        step.approved = ""  # who wants it changed sees it again, whatever they let pass before
        step.replies = (*step.replies, (event.gate, event.text))
        step.said_on = (*step.said_on, state.request)
    if state.run is not None and event.parameters:
        state.run.chosen = {**state.run.chosen, **event.parameters}
    if state.run is not None and event.by == "answer":
        state.run.answers = {gate: reply for gate, reply in state.run.answers.items() if gate != name}


def _confirmation_asked(state: SessionState, event: e.ConfirmationAsked, _: Record) -> None:
    state.confirming = event


def _confirmation_resolved(state: SessionState, event: e.ConfirmationResolved, _: Record) -> None:
    if event.choice == "leave" and state.confirming is not None:
        state.left_for = state.confirming.text
    state.confirming = None


def _words_said(state: SessionState, event: e.WordsSaid, record: Record) -> None:
    by = record.envelope.by if record.envelope else PERSON
    state.unheard[event.words] = UnheardWords(event.words, event.text, event.gate, event.to, by, event.asked)


def _words_understood(state: SessionState, event: e.WordsUnderstood, _: Record) -> None:
    state.unheard.pop(event.words, None)


def _round(state: SessionState, event: e.RoundStarted, _: Record) -> None:
    state.rounds[event.unit] = RoundState(
        event.kind, event.round, event.most, event.base, event.feedback, event.found_in
    )


def _verdict(state: SessionState, event: e.VerdictGiven, _: Record) -> None:
    state.verdicts[event.step] = event.verdict


def _overruled(state: SessionState, event: e.VerdictOverruled, record: Record) -> None:
    by = record.envelope.by if record.envelope else PERSON
    said = state.overruled.setdefault(event.step, {})
    if event.verdict == event.was:
        said.pop(event.claim, None)
    else:
        said[event.claim] = Overruling(event.text, event.was, event.verdict, event.why, by, record.at)


def _described(state: SessionState, event: e.SessionDescribed, _: Record) -> None:
    known = state.described
    labels = {name: value for name, value in {**known.labels, **event.labels}.items() if name not in event.unlabelled}
    state.described = Description(
        title=known.title if event.title is None else event.title,
        status=known.status if event.status is None else event.status,
        labels=labels,
        flag=known.flag if event.flag is None else event.flag,
        archived=known.archived if event.archived is None else event.archived,
        note=known.note if event.note is None else event.note,
        seen=known.seen if event.seen is None else event.seen,
    )


def _switched(state: SessionState, event: e.SourceSwitched, _: Record) -> None:
    if event.on is None:
        state.sources.pop(event.source, None)
    else:
        state.sources[event.source] = event.on


def _aside(state: SessionState, event: e.ArtifactSetAside, _: Record) -> None:
    state.set_aside[event.artifact] = event.hash


def _spoken(state: SessionState, event: ConversationEvent, record: Record) -> None:
    state.spoken = record.seq
    for call in state.calling.take(event):
        if isinstance(call, CallSettled):
            _call_settled(state, call, record)


def _nothing(state: SessionState, event: object, record: Record) -> None:
    """For the reader of the log; the state does not depend on it."""


_FOLDS: Final[Mapping[type, Callable[[SessionState, Any, Record], None]]] = {
    e.SessionCreated: _created,
    e.SessionAdopted: _created,
    e.CutAccepted: _cut_accepted,
    e.InputRecorded: _input,
    e.SessionDescribed: _described,
    e.SourceSwitched: _switched,
    e.SettingChanged: _nothing,
    e.RunStarted: _run_started,
    e.RunEnded: _run_ended,
    e.StepsUnfolded: _unfolded,
    e.StepSkipped: _nothing,
    e.StepStarted: _started,
    e.StepCompleted: _completed,
    e.StepFailed: _failed,
    e.StepInterrupted: _interrupted,
    e.StepModelRetried: _nothing,
    e.EditAccepted: _kept,
    e.StepAdopted: _kept,
    e.ArtifactAccepted: _accepted,
    e.ArtifactRejected: _nothing,
    e.ArtifactSetAside: _aside,
    e.ArtifactRestored: _nothing,
    CallSettled: _call_settled,
    e.ItemSettled: _item_settled,
    e.GateOpened: _gate_opened,
    e.GateReminded: _gate_reminded,
    e.GateResolved: _gate_resolved,
    e.WaitStarted: _wait_started,
    e.WordsSaid: _words_said,
    e.WordsUnderstood: _words_understood,
    e.ReplyClassified: _spent,
    e.ConfirmationAsked: _confirmation_asked,
    e.ConfirmationResolved: _confirmation_resolved,
    e.VerdictGiven: _verdict,
    e.VerdictOverruled: _overruled,
    e.RoundStarted: _round,
    e.BudgetReached: _nothing,
    **dict.fromkeys(get_args(ConversationEvent), _spoken),
}
"""What each event does to the state. A test holds this against all that there are."""
