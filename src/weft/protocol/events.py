"""Every event there is: past-tense facts in one flat union.

A *durable* event is a line of the session's log and survives anything; a *live* event (progress, output of running
code) is shown and forgotten. Fields are flat JSON values, so a
log line reads like a sentence: `{"seq": 7, "at": "…", "type": "step_started", "step": "summary", "attempt": 1, …}`.

`docs/reference/log.md` is the contract of these names; a change that an older reader can't take needs a new
`LOG_VERSION` and, for events, an upcaster in `session/upcast.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple

from weft.protocol import conversation_events as t
from weft.protocol.call_events import CallSettled, LiveCallEvent
from weft.protocol.envelope import Envelope
from weft.protocol.errors import Finding
from weft.protocol.gates import Choice
from weft.protocol.values import dataclass

LOG_VERSION: Final = 3

Cause = Literal["first", "retry", "amend", "repair", "rerun", "resume"]
"""Why an attempt was made; `resume`: one that was cut off goes on under its number, with what it has done so far."""
FailureKind = Literal["error", "rejected", "timeout", "crashed", "vanished", "over_budget"]
Outcome = Literal["done", "failed", "interrupted", "waiting", "asleep", "cancelled", "over_budget", "left"]
"""How a run came to rest. Only `done` and `cancelled` are for good: from every other one it can be taken up again.
`asleep`: it goes on at a time, which `due` says."""
ReplyKind = Literal["proceed", "amend", "cancel", "withdrawn"]
"""What a choice at a gate does. `withdrawn`: there is nothing to choose any more, as the result it was about is made
anew, or its condition does not hold."""
Decider = Literal["person", "answer", "auto", "deadline"]
"""Who replied: a person, their answer given in advance, a gate that shows and goes on, or the end of its time."""
ConfirmationKind = Literal["breakout", "reply", "change", "fresh"]
"""What a person is asked back: whether to leave the run, whether a reply was meant, what to change, whether to begin
afresh."""
ConfirmationChoice = Literal["stay", "leave", "yes", "no"]
WordsMeaning = Literal[
    "reply", "confirm", "breakout", "stay", "leave", "yes", "no", "resume", "fresh", "change?", "fresh?", "gate?",
    "unclear", "refused", "not for it",
]  # fmt: skip
"""What words mean to a run at rest. `confirm`: a reply, if the person says so again. `refused`: clear, but it can't be
done. The ones with a question mark are
questions to the person: what to change, whether really afresh, which gate."""
UnitKind = Literal["repair", "loop"]
Verdict = Literal["passed", "failed", "not_checked"]
"""What a verifier says of a unit's result. What it could not check is not checked, never passed."""
ClaimVerdict = Literal["quoted", "judged", "contradicted", "not_checked"]
"""What is known of one claim: a passage has it (code knows), a model or a person says that one supports it, a passage
has it turned round, or none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated:
    session: str
    pipeline: str
    weft: str
    type: Literal["session_created"] = "session_created"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAdopted:
    """A folder made by something older than this log was taken in; `notes` say what was wrong with it."""

    session: str
    pipeline: str
    weft: str
    shape: str
    notes: tuple[str, ...] = ()
    type: Literal["session_adopted"] = "session_adopted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAccepted:
    """A log that had lost something goes on without it, because a person said so."""

    lost: tuple[str, ...]
    """What was found, in words."""
    known: int = 0
    """The last event that the manifest knew of, and the hash of its decision."""
    hash: str = ""
    type: Literal["cut_accepted"] = "cut_accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRecorded:
    """An input was read into the session as `file`; `origin` is where the person keeps it."""

    input: str
    file: str
    hash: str
    size: int
    origin: str = ""
    edited: bool = False
    """`file` is as a person changed it in the session, and nowhere else."""
    originals: Mapping[str, str] = field(default_factory=dict)
    """The files as they were given, kept beside `file`, each with its hash; {} when `file` is the given one itself."""
    type: Literal["input_recorded"] = "input_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    run: int
    pipeline: str
    steps: tuple[str, ...]
    """All steps of the pipeline in running order."""
    desired: str
    """The step whose artifact is wanted."""
    parameters: Mapping[str, Any]
    """Every parameter with its value for this run."""
    session: str = ""
    requires: Mapping[str, list[str]] = field(default_factory=dict)
    """The pipeline's edges: by step, the steps whose artifacts it is made from."""
    executors: Mapping[str, str] = field(default_factory=dict)
    """By step, how it is made: model, agent, tool or code."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """The parameters that a person set in this session; the others follow the pipeline's defaults."""
    model: str = "embedded"
    chosen_model: str = ""
    """The model that a person chose for every step of this session; "" for what the steps, agents and workspace say."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """What stands in place of parts of the person's profile, for this run alone, by dotted name."""
    resumed: bool = False
    """The run was at rest and is taken up again: what it has spent, its rounds and its gates still count."""
    budget: Mapping[str, float] = field(default_factory=dict)
    """Limits that a person set for this run in place of the pipeline's: usd, tokens, minutes."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Replies given in advance that are not used yet, by the step whose gate each is for."""
    type: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSkipped:
    run: int
    step: str
    reason: str
    type: Literal["step_skipped"] = "step_skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """The intent: an attempt of a step begins. `inputs` names everything the result depends on, with its hash."""

    run: int
    step: str
    attempt: int
    cause: Cause
    reason: str
    input_hash: str
    inputs: Mapping[str, str]
    anew: bool = False
    """A person wants it made whatever is there: nothing that an earlier attempt made is taken over."""
    wait_ms: int = 0
    """How long it waits before it begins, as the step's `retry` says."""
    only: tuple[str, ...] = ()
    """The items that are asked for, in a step that is made item by item; () for all."""
    type: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettled:
    """One item of a step that is made item by item has its end. A later attempt that comes to an item with the same
    `input_hash` takes over its result, unless it is made anew."""

    run: int
    step: str
    attempt: int
    item: str
    """Names it in its step."""
    input_hash: str
    """Of everything its result depends on."""
    ok: bool
    hash: str
    """Of the result, as JSON."""
    size: int
    content: str | None = None
    """The result; a large one is kept as `blobs/<hash>`, and one that is a file of its own as that `artifact`."""
    message: str = ""
    ms: int = 0
    artifact: str = ""
    """Its file, whose acceptance stands in the same decision."""
    tries: int = 1
    """Which try of the item it was in its attempt."""
    retrying: bool = False
    """It failed, and is tried again."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reused: str = ""
    """The session whose result was taken over: nothing was called."""
    type: Literal["item_settled"] = "item_settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRejected:
    run: int
    step: str
    attempt: int
    artifact: str
    findings: tuple[Finding, ...]
    item: str = ""
    """The item whose file it is."""
    type: Literal["artifact_rejected"] = "artifact_rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactAccepted:
    """An artifact passed its schema and checks. Its text is here (`content`), or in `blobs/<hash>` when it is large
    or not text, so that the decision and the result become durable together."""

    run: int
    step: str
    attempt: int
    artifact: str
    hash: str
    size: int
    content: str | None = None
    item: str = ""
    """The item whose file it is; the step's own artifacts gather them."""
    type: Literal["artifact_accepted"] = "artifact_accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactSetAside:
    """Something a person changed stood where a new artifact goes; it is kept as `kept`."""

    artifact: str
    hash: str
    kept: str
    type: Literal["artifact_set_aside"] = "artifact_set_aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRestored:
    """A file that an ended process had not finished writing, or that was gone, was written again from the log."""

    artifact: str
    hash: str
    type: Literal["artifact_restored"] = "artifact_restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCompleted:
    run: int
    step: str
    attempt: int
    hash: str
    """Of the step's artifact, or of all of them together when there are several."""
    schema_version: str
    ms: int
    model: str | None = None
    """The model that made it; None for code."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Over all calls of the attempt."""
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same by model, when more than one was called; then `model` is the first."""
    reused: str = ""
    """The session that had this result of the same inputs already: nothing was called."""
    type: Literal["step_completed"] = "step_completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed:
    run: int
    step: str
    attempt: int
    kind: FailureKind
    message: str
    retrying: bool
    ms: int
    resumable: bool = False
    """What it did so far is kept: it goes on from there when it is tried again with the same inputs."""
    trace: str = ""
    """Of code: the calls that led to the error, the last ones."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    type: Literal["step_failed"] = "step_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepModelRetried:
    """The model of an attempt failed in a way that passes and is asked again after a wait; the attempt goes on."""

    run: int
    step: str
    attempt: int
    tries: int
    wait_ms: int
    reason: str
    model: str
    instead: str = ""
    """Another model that is asked from now on, in its place."""
    type: Literal["step_model_retried"] = "step_model_retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInterrupted:
    run: int
    step: str
    attempt: int
    why: str
    ms: int = 0
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """What it took until then, as far as it was told."""
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    type: Literal["step_interrupted"] = "step_interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditAccepted:
    """A person keeps their edit as the step's result, made from the inputs as they are now."""

    step: str
    hash: str
    schema_version: str
    input_hash: str
    inputs: Mapping[str, str]
    type: Literal["edit_accepted"] = "edit_accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAdopted:
    """A valid artifact of an older session counts as completed, with today's inputs as what it was made from."""

    step: str
    hash: str
    schema_version: str
    input_hash: str
    inputs: Mapping[str, str]
    type: Literal["step_adopted"] = "step_adopted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    run: int
    outcome: Outcome
    message: str = ""
    due: str = ""
    """When it goes on by itself: the end of the first wait."""
    type: Literal["run_ended"] = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOpened:
    """A step is done and what comes after it waits for a person's reply; or the step itself does, `before` it."""

    run: int
    gate: str
    """Names this gate and no other in the session."""
    step: str
    hash: str
    """Of the step's result that is to be judged; `before` it, of what it would be made from."""
    message: str = ""
    shown: tuple[Mapping[str, Any], ...] = ()
    """What a person should see of the artifact: `label` and `value` each."""
    choices: tuple[Choice, ...] = ()
    """In the order offered; in JSON `id`, `label` and `does` each, and `set` where it sets parameters."""
    form: tuple[Mapping[str, Any], ...] = ()
    """What the person is asked for besides: `name`, `type`, `label`, `value` (as it is now) and what is good each."""
    before: bool = False
    """It stands before the step, which is made when it is let pass."""
    assignee: str = ""
    """Who should reply."""
    due: str = ""
    """Until when a reply is awaited; "" for as long as it takes."""
    then: str = ""
    """What happens then: `remind`, or the id of the choice that is made."""
    within: float = 0.0
    """The seconds that a reply is awaited for, counted anew after a reminder."""
    type: Literal["gate_opened"] = "gate_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReminded:
    """The time of a gate passed without a reply; it goes on waiting."""

    run: int
    gate: str
    due: str
    """When it is said again."""
    type: Literal["gate_reminded"] = "gate_reminded"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitStarted:
    """A step is to begin, and waits for its time."""

    run: int
    step: str
    until: str
    input_hash: str
    """Of what it would be made from: with something else it waits anew."""
    type: Literal["wait_started"] = "wait_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsUnfolded:
    """The items of a step that is a pipeline for each of them are known: the run has their steps from now on."""

    run: int
    step: str
    items: tuple[str, ...]
    """Their keys, in order."""
    steps: tuple[str, ...]
    """The steps of all items, in running order: they stand before the step, in place of those it had."""
    requires: Mapping[str, list[str]] = field(default_factory=dict)
    """By step, with the step itself, those that it is made from."""
    executors: Mapping[str, str] = field(default_factory=dict)
    type: Literal["steps_unfolded"] = "steps_unfolded"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResolved:
    """The one reply that a gate gets, or the word that it needs none any more."""

    run: int
    gate: str
    choice: str
    does: ReplyKind
    hash: str
    """Of the result that was judged: the one the gate opened for, or a person's edit of it."""
    text: str = ""
    """The person's words, for an amendment."""
    by: Decider = "person"
    words: str = ""
    """The name of the words it was decided on (`words_said`); "" for a choice that was made by its id."""
    confirmation: str = ""
    """The confirmation that the person said yes to."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What the choice sets, and what was filled in."""
    type: Literal["gate_resolved"] = "gate_resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyClassified:
    """A model was asked what unclear words to a waiting run mean. What it said changes nothing by itself."""

    run: int
    step: str
    """The step at whose gate the run waits; what the call took counts on it."""
    meaning: Literal["reply", "breakout", "unclear"]
    choice: str
    reason: str
    model: str
    ms: int
    usage: Mapping[str, int] = field(default_factory=dict)
    type: Literal["reply_classified"] = "reply_classified"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsSaid:
    """What a person said to a run, kept before anything is made of it. It is heard when the run is at rest."""

    run: int
    words: str
    """Names these words and no others in the session."""
    text: str
    gate: str = ""
    """The gate that was named beside them."""
    to: Literal["session", "run"] = "session"
    asked: tuple[str, ...] = ()
    """What was seen open when they were said; they answer nothing else."""
    type: Literal["words_said"] = "words_said"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsUnderstood:
    """What was made of a person's words: by a rule, or by a model, which can only propose a meaning."""

    run: int
    words: str
    meaning: WordsMeaning
    reason: str = ""
    """Which words decided, or what is not clear about them."""
    gate: str = ""
    choice: str = ""
    text: str = ""
    """What is to be changed."""
    model: str = ""
    """The model whose opinion it is; "" for a rule."""
    type: Literal["words_understood"] = "words_understood"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAsked:
    """A person is asked whether they mean what their words were understood as; nothing happens until they say so."""

    run: int
    confirmation: str
    kind: ConfirmationKind
    text: str
    """Their words."""
    gate: str = ""
    choice: str = ""
    """What was understood, for a reply: the choice, and what it does."""
    does: str = ""
    change: str = ""
    """What would be changed, for a reply that amends."""
    type: Literal["confirmation_asked"] = "confirmation_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationResolved:
    """The person said what they mean."""

    run: int
    confirmation: str
    choice: ConfirmationChoice
    words: str = ""
    """The name of the words it was decided on; "" when it was answered by its name, or by replying otherwise."""
    type: Literal["confirmation_resolved"] = "confirmation_resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictGiven:
    """A verifier has judged the result of its unit."""

    run: int
    step: str
    attempt: int
    verdict: Verdict
    round: int
    """How many repairs came before."""
    most: int
    claims: Mapping[str, int] = field(default_factory=dict)
    """How many claims are quoted, judged, contradicted and not checked; {} of a verifier that looks at none."""
    type: Literal["verdict_given"] = "verdict_given"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictOverruled:
    """A person says otherwise than the verdict on a claim. It counts for as long as the verdict is what it `was`; the
    step that gave it is made again with it. Whoever says what it `was` takes an earlier word back."""

    step: str
    """The one that gave the verdict."""
    claim: str
    """Its id in what that step made."""
    text: str
    was: ClaimVerdict
    verdict: ClaimVerdict
    why: str
    type: Literal["verdict_overruled"] = "verdict_overruled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted:
    """The steps of a unit are made again: its verifier said so (repair), or the step that closes a loop did."""

    run: int
    kind: UnitKind
    unit: str
    """The step that closes it: the verifier, or the one with the `loop`."""
    round: int
    most: int
    steps: tuple[str, ...]
    base: str
    """What the unit is made from, apart from its own rounds; when that changes, they count from 0 again."""
    feedback: Any = None
    found_in: str = ""
    """Of a repair: the hash of what its verifier had looked at. A round that leaves it as it was is the last."""
    type: Literal["round_started"] = "round_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached:
    """The next call would not fit into the budget, or the last one did not."""

    run: int
    step: str
    """The step that was to begin."""
    message: str
    type: Literal["budget_reached"] = "budget_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgressed:
    """Live: what running code says of itself, a line at a time."""

    step: str
    attempt: int
    text: str
    type: Literal["step_progressed"] = "step_progressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChanged:
    """A person chose how the conversation goes on: the mode its tools are judged in, or the model that answers."""

    setting: Literal["mode", "model"]
    value: str
    type: Literal["setting_changed"] = "setting_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWords:
    """What a person says of a session: how they call it and where it stands for them. Only what is set is changed."""

    title: str | None = None
    """"" for the one it has by itself again."""
    status: str | None = None
    """One of the workspace's; "" for none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Put on, each with its value; "" for one that has none."""
    unlabelled: tuple[str, ...] = ()
    """Taken off."""
    flag: bool | None = None
    archived: bool | None = None
    note: str | None = None
    seen: int | None = None
    """The last event that was looked at; what comes after it is unread. 0 makes it unread again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDescribed(SessionWords):
    """A person said how they call a session and where it stands for them."""

    type: Literal["session_described"] = "session_described"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSwitched:
    """A person said whether this session's conversation gets the tools of a source."""

    source: str
    on: bool | None = None
    """None: as the source's own file says, again."""
    type: Literal["source_switched"] = "source_switched"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """Live: a tool asks the person something and waits. `questions`: `text`, `options` and `several` each."""

    question: str
    questions: tuple[Mapping[str, Any], ...]
    type: Literal["question_asked"] = "question_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionClosed:
    """Live: a question was answered, or what asked it was stopped."""

    question: str
    type: Literal["question_closed"] = "question_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChanged:
    """Live: what the status line of a conversation says."""

    mode: str
    model: str
    tokens: int | None = None
    cost: str = ""
    context_used: float | None = None
    """The filled part of the model's window, from 0 to 1."""
    limits: str = ""
    """How much of each limit is used, in words; "" without limits."""
    type: Literal["status_changed"] = "status_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven:
    """Live: something the person should know that changes nothing, such as a damaged line in the log."""

    text: str
    type: Literal["notice_given"] = "notice_given"


FlowEvent = (
    GateOpened
    | GateResolved
    | WordsSaid
    | WordsUnderstood
    | ReplyClassified
    | ConfirmationAsked
    | ConfirmationResolved
    | VerdictGiven
    | VerdictOverruled
    | RoundStarted
    | BudgetReached
    | GateReminded
    | WaitStarted
    | StepsUnfolded
)
"""What moves a run besides its steps."""
DurableEvent = (
    SessionCreated
    | SessionAdopted
    | CutAccepted
    | InputRecorded
    | RunStarted
    | StepSkipped
    | StepStarted
    | ArtifactRejected
    | ArtifactAccepted
    | ArtifactSetAside
    | ArtifactRestored
    | StepCompleted
    | StepFailed
    | StepModelRetried
    | StepInterrupted
    | EditAccepted
    | StepAdopted
    | RunEnded
    | FlowEvent
    | CallSettled
    | ItemSettled
    | SettingChanged
    | SessionDescribed
    | SourceSwitched
    | t.ConversationEvent
)
LiveEvent = (
    StepProgressed
    | NoticeGiven
    | QuestionAsked
    | QuestionClosed
    | StatusChanged
    | LiveCallEvent
    | t.LiveConversationEvent
)
Event = DurableEvent | LiveEvent


def is_durable(event: Event) -> bool:
    """Whether it enters the log: every event is of one of the two kinds."""
    return isinstance(event, DurableEvent)


class Record(NamedTuple):
    """An event with its place in the log. `seq` orders; `at` only informs: clocks jump."""

    seq: int
    at: str
    event: DurableEvent
    envelope: Envelope | None = None  # of its decision; None in logs of version 1


FeedItem = Record | Event
"""What whoever follows a session gets: a durable event with its place in the log, or a live one."""
