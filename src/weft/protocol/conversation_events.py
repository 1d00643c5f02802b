"""The events of a conversation: what was said, what was meant to run, how each of it ended.

They stand in the one log of a session beside the events of runs; `conversation` says which conversation an event is
of: "main", "main/a1" for a sub-conversation of it, "run-1/summary#2" for the one in
which an agent makes a step. An execution is named after its turn: "t3/model" is the model call of turn 3 and
"t3/<call>" a tool call in it. `protocol/events.py` joins them to the one union.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote, unquote

from weft.protocol.messages import StopReason
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

ModelOutcome = Literal["completed", "failed", "interrupted"]
ToolOutcome = Literal["succeeded", "failed", "denied", "interrupted", "interrupted_before_execution"]
ToolEffect = Literal["none", "unknown", "completed"]
"""What an ended tool call may have done: nothing, nobody knows, all of it."""
Disposition = Literal["final", "continue", "interrupted", "failed"]
Decision = Literal["once", "session", "denied"]
Origin = Literal["person", "parent", "run"]
"""Whose words a message has: a person's, those of the conversation that opened it, of the run whose step it makes."""
RulingWord = Literal["allow", "ask", "deny", "fault"]
ExecutionKind = Literal["model", "tool", "child"]
PlanDecision = Literal["accepted", "compacted", "amended", "dropped"]
"""What a person says to a plan: do it; do it and forget the way to it; otherwise, in words; not at all."""
MAIN: Final = "main"
"""The conversation that a person has in a session."""
PROCESS_LOST: Final = "process_lost"
"""Why something ended that ran in a process which is gone, or was cut off with its step."""
Limit = Literal["turns", "tokens", "usd", "minutes", "failures"]
"""What bounds a conversation: model calls, tokens, money, minutes of work, and one call that fails again and again."""
Refusal = Literal[
    "undeclared_turn",
    "undeclared_call",
    "repeated_declaration",
    "repeated_request",
    "request_after_interrupt",
    "stale_approval",
    "approval_after_interrupt",
    "stale_interrupt",
    "stale_settlement",
    "repeated_continuation",
    "cancelled_continuation",
    "unknown_continuation",
    "stale_compaction",
    "shutting_down",
    "unknown_conversation",
    "child_takes_no_messages",
    "odd_limits",
    "stale_plan",
    "stale_rewind",
]


_OF_STEP: Final = pattern(r"run-(\d+)/([^/#]+)#(\d+)(?:/@(\d+):([^/]*))?(/.*)?\Z")


class StepPlace(NamedTuple):
    """The attempt that a conversation belongs to, and the item and its try in a step made item by item."""

    run: int
    step: str
    attempt: int
    item: str = ""
    tried: int = 0


def step_conversation(run: int, step: str, attempt: int, item: str = "", tried: int = 0) -> str:
    """What the conversation is called in which an agent makes a step, however often it is taken up again."""
    return f"run-{run}/{step}#{attempt}" + (f"/@{tried}:{quote(item, safe='')}" if tried else "")


def step_place(conversation: str) -> StepPlace | None:
    """Of a step's conversation and its sub-conversations; None for one that belongs to no step."""
    found = _OF_STEP.match(conversation) if conversation.startswith("run-") else None
    if found is None:
        return None
    return StepPlace(int(found[1]), found[2], int(found[3]), unquote(found[5] or ""), int(found[4] or 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOpened:
    """A conversation began, or began again after it was stopped. A sub-conversation names the tool call it answers."""

    conversation: str
    parent: str | None = None
    execution: str | None = None
    prompt: str | None = None
    """Of a step's: the hash of what its model is told before anything is said, kept as `blobs/<hash>`."""
    nonce: str | None = None
    """Of a step's: marks data in its prompts, in every process that goes on with it."""
    tainted: bool = False
    """What it begins with came from outside."""
    dropped: tuple[str, ...] = ()
    """What it was to be told and did not fit, in words."""
    type: Literal["conversation_opened"] = "conversation_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAccepted:
    """A message is kept: it starts a turn now, or waits in the log for the next one. `attached`: what it names with @
    and what was given with it, each with what a model is told of it, and where a file of it is kept. `folder`: where
    the tools of the conversation worked when it was said. `tainted`: the model is told with it of a run of the session,
    which is made of content from outside."""

    conversation: str
    message: str
    text: str
    delivery: Literal["started", "queued"]
    origin: Origin = "person"
    attached: tuple[Mapping[str, Any], ...] = ()
    folder: str = ""
    tainted: bool = False
    type: Literal["message_accepted"] = "message_accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationTaken:
    """The results of a turn go back to the model: its continuation is used, once."""

    conversation: str
    key: str
    type: Literal["continuation_taken"] = "continuation_taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationCancelled:
    """An interrupt came between a turn and its continuation, which will not happen."""

    conversation: str
    key: str
    reason: str
    type: Literal["continuation_cancelled"] = "continuation_cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    conversation: str
    turn: int
    messages: tuple[str, ...]
    continues: str | None = None
    type: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentRecorded:
    """The intent: an execution may start from here on, and will have exactly one settlement."""

    conversation: str
    turn: int
    execution: str
    kind: ExecutionKind
    call: str | None = None
    interruptible: bool = True
    type: Literal["intent_recorded"] = "intent_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettled:
    """The settlement of a model call. Text that was streamed before an interrupt is kept."""

    conversation: str
    turn: int
    execution: str
    outcome: ModelOutcome
    text: str
    thinking: tuple[Mapping[str, Any], ...] = ()
    reason: str | None = None
    model: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    ms: int = 0
    stop: StopReason | None = None
    """Why the model ended its answer; None when it did not, or the log is older than this field."""
    type: Literal["model_settled"] = "model_settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRetried:
    """A model call failed in a way that passes and is made again after a wait; its execution goes on."""

    conversation: str
    turn: int
    execution: str
    tries: int
    wait_ms: int
    reason: str
    model: str
    instead: str = ""
    """Another model that is asked from now on, in its place."""
    type: Literal["model_retried"] = "model_retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsDeclared:
    """All tool calls of a turn, in the order in which their results will be told."""

    conversation: str
    turn: int
    calls: tuple[str, ...]
    type: Literal["calls_declared"] = "calls_declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequested:
    """One declared call with what it asks for and what the permission rules say to it."""

    conversation: str
    turn: int
    call: str
    tool: str
    input: Mapping[str, Any]
    verdict: RulingWord
    """The ruling on it."""
    reason: str | None = None
    key: str | None = None
    always: str | None = None
    prompt: str | None = None
    interruptible: bool = True
    safe_to_retry: bool = False
    in_order: bool = False
    malformed: str | None = None
    type: Literal["tool_requested"] = "tool_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested:
    """A person is asked. The question survives the process and can be answered after a restart."""

    conversation: str
    turn: int
    call: str
    tool: str
    reason: str
    tainted: bool = False
    type: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecided:
    conversation: str
    turn: int
    call: str
    decision: Decision
    reason: str | None = None
    type: Literal["approval_decided"] = "approval_decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRemembered:
    """Calls with this key need no further approval in this session."""

    conversation: str
    key: str
    tool: str
    type: Literal["approval_remembered"] = "approval_remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettled:
    """The settlement of a tool call: the one result the model is told. `seen`: files as it showed or left them;
    `before`: those it changed, each with the name of its blob as it was, "" for one that was not there; `after`: the
    hashes of those that it changed without showing them, "" for one that is gone."""

    conversation: str
    turn: int
    call: str
    execution: str
    outcome: ToolOutcome
    effect: ToolEffect
    text: str
    tainting: bool = False
    seen: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    ms: int = 0
    ends: bool = False
    """Its result goes back to nobody: with it the conversation has what it was for, or can't have it."""
    type: Literal["tool_settled"] = "tool_settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInterrupted:
    """An accepted interrupt is recorded. What could not be stopped is named and still settles by itself."""

    conversation: str
    turn: int
    reason: str
    unsupported: tuple[str, ...] = ()
    type: Literal["turn_interrupted"] = "turn_interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCompleted:
    """Everything in the turn has its settlement. With the disposition `continue` the model is called again."""

    conversation: str
    turn: int
    disposition: Disposition
    key: str | None = None
    results: Mapping[str, str] = field(default_factory=dict)
    type: Literal["turn_completed"] = "turn_completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptCompacted:
    """From here on a model is told `text` in place of everything up to this turn. The log keeps it all."""

    conversation: str
    turn: int
    text: str
    model: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["transcript_compacted"] = "transcript_compacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSet:
    """From here on the conversation, with all that is under it, may take so much: turns, tokens, usd, minutes."""

    conversation: str
    limits: Mapping[str, float]
    type: Literal["limits_set"] = "limits_set"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintCleared:
    """The person said that what came from outside until here is fine. What comes later taints again."""

    conversation: str
    type: Literal["taint_cleared"] = "taint_cleared"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRestored:
    """The person took back what was changed for a message: these files are as they were, each with its hash ("" for one
    that was not there)."""

    conversation: str
    message: str
    files: Mapping[str, str]
    type: Literal["files_restored"] = "files_restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRewound:
    """The person went back to before a message: a model is told nothing from its turn on, and files are as they were
    then. The log keeps it all."""

    conversation: str
    turn: int
    message: str
    files: Mapping[str, str]
    type: Literal["conversation_rewound"] = "conversation_rewound"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSubmitted:
    """The model says what it would do, and waits for the person's word."""

    conversation: str
    plan: str
    text: str
    steps: tuple[str, ...] = ()
    type: Literal["plan_submitted"] = "plan_submitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDecided:
    """What the person says to the open plan; what they want otherwise is the message that follows."""

    conversation: str
    plan: str
    decision: PlanDecision
    type: Literal["plan_decided"] = "plan_decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStarted:
    """A command goes on in the background. It ends with the session at the latest."""

    conversation: str
    process: str
    command: str
    type: Literal["process_started"] = "process_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded:
    """How a command in the background came to its end, in words."""

    conversation: str
    process: str
    reason: str
    type: Literal["process_ended"] = "process_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """The model is not called again. What is due waits for a wider limit, or for what the person says next."""

    conversation: str
    limit: Limit
    reason: str
    key: str | None = None
    type: Literal["limit_reached"] = "limit_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRefused:
    """A command changed nothing. What it carried is kept, so that no result is lost without a trace."""

    conversation: str
    refusal: Refusal
    turn: int | None = None
    execution: str | None = None
    call: str | None = None
    message: str | None = None
    key: str | None = None
    outcome: str | None = None
    text: str | None = None
    type: Literal["command_refused"] = "command_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorFailed:
    """A processor of results raised; the result went on without it."""

    conversation: str
    turn: int
    call: str
    error: str
    type: Literal["processor_failed"] = "processor_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleReached:
    """Nothing runs, waits or is left to do. Written once after each stretch of activity."""

    conversation: str
    type: Literal["idle_reached"] = "idle_reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutdownRequested:
    conversation: str
    type: Literal["shutdown_requested"] = "shutdown_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStopped:
    """The process lets go of the conversation; everything in it has a settlement."""

    conversation: str
    clean: bool
    type: Literal["conversation_stopped"] = "conversation_stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEnded:
    """A sub-conversation is over; its end is the result of one tool call of its parent."""

    conversation: str
    disposition: Disposition
    type: Literal["conversation_ended"] = "conversation_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStreamed:
    """Live: a piece of what the model writes."""

    conversation: str
    execution: str
    text: str
    type: Literal["text_streamed"] = "text_streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingStreamed:
    """Live: a piece of what the model thinks."""

    conversation: str
    execution: str
    text: str
    type: Literal["thinking_streamed"] = "thinking_streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgressed:
    """Live: what a running tool says of itself."""

    conversation: str
    execution: str
    text: str
    type: Literal["tool_progressed"] = "tool_progressed"


ConversationEvent = (
    ConversationOpened
    | MessageAccepted
    | ContinuationTaken
    | ContinuationCancelled
    | TurnStarted
    | IntentRecorded
    | ModelRetried
    | ModelSettled
    | CallsDeclared
    | ToolRequested
    | ApprovalRequested
    | ApprovalDecided
    | ApprovalRemembered
    | ToolSettled
    | TurnInterrupted
    | TurnCompleted
    | TranscriptCompacted
    | LimitsSet
    | TaintCleared
    | FilesRestored
    | ConversationRewound
    | PlanSubmitted
    | PlanDecided
    | ProcessStarted
    | ProcessEnded
    | LimitReached
    | CommandRefused
    | ProcessorFailed
    | IdleReached
    | ShutdownRequested
    | ConversationStopped
    | ConversationEnded
)
LiveConversationEvent = TextStreamed | ThinkingStreamed | ToolProgressed

Question = tuple[str, int, str]


def question_of(event: ToolRequested | ApprovalRequested | ApprovalDecided | ToolSettled) -> Question:
    """What tells the calls apart that a person may be asked about: a model may call all its calls the same."""
    return event.conversation, event.turn, event.call
