"""Every event there is: past-tense facts in one flat union.

A *durable* event is a line of the session's log and survives anything; a *live* event (progress, output of running
code) is shown and forgotten. `is_durable` decides it for each type, exhaustively. Fields are flat JSON values, so a
log line reads like a sentence: `{"seq": 7, "at": "…", "type": "step_started", "step": "summary", "attempt": 1, …}`.

`docs/reference/log.md` is the contract of these names; a change that an older reader can't take needs a new
`LOG_VERSION` and an upcaster in `session/upcast.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, assert_never

from weft.protocol import talk
from weft.protocol.errors import Finding

LOG_VERSION: Final = 1

Cause = Literal["first", "retry", "amend", "repair", "rerun"]
"""Why an attempt was made."""
FailureKind = Literal["error", "rejected", "timeout", "crashed", "vanished"]
Outcome = Literal["done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated:
    session: str
    pipeline: str
    weft: str
    version: int = LOG_VERSION
    type: Literal["session_created"] = "session_created"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAdopted:
    """A folder made by something older than this log was taken in; `notes` say what was wrong with it."""

    session: str
    pipeline: str
    weft: str
    shape: str
    notes: tuple[str, ...] = ()
    version: int = LOG_VERSION
    type: Literal["session_adopted"] = "session_adopted"


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
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """The parameters that a person set in this session; the others follow the pipeline's defaults."""
    model: str = "embedded"
    profile: Mapping[str, Any] = field(default_factory=dict)
    """What stands in place of parts of the person's profile, for this run alone, by dotted name."""
    version: int = LOG_VERSION
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
    type: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRejected:
    run: int
    step: str
    attempt: int
    artifact: str
    findings: tuple[Finding, ...]
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
    """A file that an ended process had not finished writing was written again from the log."""

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
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
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
    type: Literal["step_model_retried"] = "step_model_retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInterrupted:
    run: int
    step: str
    attempt: int
    why: str
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """What a model had used until then, as far as it was told."""
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
    type: Literal["run_ended"] = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgressed:
    """Live: what running code says of itself, a line at a time."""

    step: str
    attempt: int
    text: str
    type: Literal["step_progressed"] = "step_progressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven:
    """Live: something the person should know that changes nothing, such as a damaged line in the log."""

    text: str
    type: Literal["notice_given"] = "notice_given"


DurableEvent = (
    SessionCreated
    | SessionAdopted
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
    | talk.TalkEvent
)
LiveEvent = StepProgressed | NoticeGiven | talk.LiveTalkEvent
Event = DurableEvent | LiveEvent


def is_durable(event: Event) -> bool:
    """The one place that decides what enters the log. A new event type does not type-check until it is here."""
    match event:
        case SessionCreated() | SessionAdopted() | InputRecorded() | RunStarted() | RunEnded():
            return True
        case StepSkipped() | StepStarted() | StepCompleted() | StepFailed() | StepInterrupted():
            return True
        case ArtifactRejected() | ArtifactAccepted() | ArtifactSetAside() | ArtifactRestored():
            return True
        case EditAccepted() | StepAdopted() | StepModelRetried():
            return True
        case StepProgressed() | NoticeGiven():
            return False
        case _:
            return _is_durable_talk(event)


def _is_durable_talk(event: talk.TalkEvent | talk.LiveTalkEvent) -> bool:
    match event:
        case talk.ConversationOpened() | talk.ConversationStopped() | talk.ConversationEnded():
            return True
        case talk.MessageAccepted() | talk.ContinuationTaken() | talk.ContinuationCancelled() | talk.TurnStarted():
            return True
        case talk.IntentRecorded() | talk.ModelSettled() | talk.ToolSettled() | talk.ProcessorFailed():
            return True
        case talk.CallsDeclared() | talk.ToolRequested() | talk.ModelRetried():
            return True
        case talk.ApprovalRequested() | talk.ApprovalDecided() | talk.ApprovalRemembered():
            return True
        case talk.TurnInterrupted() | talk.TurnCompleted() | talk.TranscriptCompacted() | talk.CommandRefused():
            return True
        case talk.IdleReached() | talk.ShutdownRequested():
            return True
        case talk.TextStreamed() | talk.ThinkingStreamed() | talk.ToolProgressed():
            return False
        case _:
            assert_never(event)


class Record(NamedTuple):
    """An event with its place in the log. `seq` orders; `at` only informs: clocks jump."""

    seq: int
    at: str
    event: DurableEvent
