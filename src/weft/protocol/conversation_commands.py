"""What may be asked of a conversation: by a person through a face, by a settled execution, by the engine itself.

Every command leads to at least one event, if only to the record that it was refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from weft.protocol.conversation_events import (
    ApprovalRequested,
    Decision,
    ModelOutcome,
    Origin,
    PlanDecision,
    RulingWord,
)
from weft.protocol.messages import StopReason
from weft.protocol.values import dataclass

InterruptStatus = Literal["accepted", "interrupt_in_progress", "unsupported", "nothing_to_interrupt"]
How = Literal["cancelled_before_start", "pending_bind", "signalled", "unsupported"]
"""What an interrupt did to one target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAsk:
    """A tool call of the model together with what the toolbox says to it.

    `key` is what "allow for this session" would remember, `always` the rule that would spare the question from now on
    ("" when that must not be offered); `prompt` makes the call a sub-conversation that begins with it.
    """

    call: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    ruling: RulingWord = "allow"
    reason: str = ""
    key: str = ""
    always: str = ""
    tainted: bool = False
    prompt: str | None = None
    interruptible: bool = True
    safe_to_retry: bool = False
    in_order: bool = False
    """It changes something: it waits for the calls before it, and those after it wait for it."""
    malformed: str = ""

    def question(self, conversation: str, turn: int) -> ApprovalRequested:
        """What a person is asked about it."""
        why, tainted = self.reason, self.tainted
        return ApprovalRequested(
            conversation=conversation, turn=turn, call=self.call, tool=self.tool, reason=why, tainted=tainted
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """What a tool says at its end. `tainting`: its text comes from outside and may carry somebody else's wishes.

    `seen` has the files that it showed or changed, each with the hash of what the model knows of it now.
    `ends`: the conversation is over with it.
    """

    text: str
    failed: bool = False
    tainting: bool = False
    seen: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False
    before: Mapping[str, str] = field(default_factory=dict)
    """The files that it changed, each with the name of its blob as it was."""
    after: Mapping[str, str] = field(default_factory=dict)
    """The hashes of those that it changed without showing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage:
    conversation: str
    message: str
    text: str
    origin: Origin = "person"
    attached: tuple[Mapping[str, Any], ...] = ()
    folder: str = ""
    tainted: bool = False
    type: Literal["send_message"] = "send_message"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclareCalls:
    """For models that tell all their calls before the answer has ended."""

    conversation: str
    turn: int
    calls: tuple[str, ...]
    type: Literal["declare_calls"] = "declare_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCall:
    conversation: str
    turn: int
    ask: ToolAsk
    type: Literal["request_call"] = "request_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApproval:
    """`turn` may be left out: then the call of the open turn is meant. `always`: what was offered with the question is
    allowed from now on, by a rule in the workspace's permission file."""

    conversation: str
    call: str
    decision: Decision
    reason: str = ""
    turn: int | None = None
    always: bool = False
    type: Literal["decide_approval"] = "decide_approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptApproval:
    """Interrupt one call that waits for its approval; the rest of the turn goes on."""

    conversation: str
    call: str
    reason: str = "user"
    type: Literal["interrupt_approval"] = "interrupt_approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleModel:
    conversation: str
    execution: str
    outcome: ModelOutcome
    text: str = ""
    asks: tuple[ToolAsk, ...] = ()
    thinking: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    ms: int = 0
    stop: StopReason | None = None
    type: Literal["settle_model"] = "settle_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRetry:
    """A model call failed and will be made again after a wait."""

    conversation: str
    execution: str
    tries: int
    wait_ms: int
    reason: str
    model: str
    instead: str = ""
    type: Literal["note_retry"] = "note_retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleTool:
    conversation: str
    execution: str
    end: ToolEnd
    ms: int = 0
    type: Literal["settle_tool"] = "settle_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactTranscript:
    """Tell the model `text` in place of the turns up to `turn`, from now on."""

    conversation: str
    turn: int
    text: str
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["compact_transcript"] = "compact_transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLimits:
    """Bound a conversation and all under it: turns, tokens, usd, minutes; what is left out is not bounded.

    What a narrower limit held back goes on.
    """

    conversation: str
    limits: Mapping[str, float]
    type: Literal["set_limits"] = "set_limits"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearTaint:
    """The person has looked at what came from outside, and it is fine. Nothing happens where nothing had come."""

    conversation: str
    type: Literal["clear_taint"] = "clear_taint"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRestored:
    """What was changed for a message was taken back; the files, each with its hash now."""

    conversation: str
    message: str
    files: Mapping[str, str]
    type: Literal["note_restored"] = "note_restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRewound:
    """Go back to before a message, whose turn this is; the files, each with its hash now."""

    conversation: str
    turn: int
    message: str
    files: Mapping[str, str]
    type: Literal["note_rewound"] = "note_rewound"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitPlan:
    """What would be done, for the person to say yes to. It takes the place of one that is open."""

    conversation: str
    plan: str
    text: str
    steps: tuple[str, ...] = ()
    type: Literal["submit_plan"] = "submit_plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidePlan:
    """The person's word to the open plan (`plan` may be left out). What they say besides goes to the model; `summary`
    is told in place of everything before, where they want that."""

    decision: PlanDecision
    conversation: str = "main"
    plan: str = ""
    text: str = ""
    message: str = ""
    summary: str = ""
    type: Literal["decide_plan"] = "decide_plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteProcess:
    """A command went into the background, or (`reason`) has ended there."""

    conversation: str
    process: str
    command: str = ""
    reason: str = ""
    type: Literal["note_process"] = "note_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    conversation: str
    key: str
    type: Literal["continue"] = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """What an accepted interrupt did in one conversation: to its open turn, or to the continuation `key`."""

    conversation: str
    turn: int | None
    key: str | None
    targets: Mapping[str, How]
    texts: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    """Which model each stopped call was of, and what it had used until then."""
    usages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    took: Mapping[str, int] = field(default_factory=dict)
    """The milliseconds that each had run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInterrupt:
    """The visible half of an interrupt that the fast lane has accepted. `parts`: a parent before its children."""

    conversation: str
    reason: str
    parts: tuple[Interrupted, ...]
    type: Literal["record_interrupt"] = "record_interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the opening of a conversation that is made for a purpose says of it; see `ConversationOpened`."""

    prompt: str = ""
    nonce: str = ""
    tainted: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recover:
    """The first command after opening: settle what an ended process left, start what waits."""

    conversation: str
    brief: Brief = Brief()
    type: Literal["recover"] = "recover"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteIdle:
    conversation: str
    type: Literal["note_idle"] = "note_idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown:
    conversation: str
    type: Literal["shutdown"] = "shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    conversation: str
    clean: bool
    type: Literal["stop"] = "stop"


ConversationCommand = (
    SendMessage
    | DeclareCalls
    | RequestCall
    | DecideApproval
    | InterruptApproval
    | SettleModel
    | NoteRetry
    | SettleTool
    | CompactTranscript
    | SetLimits
    | ClearTaint
    | NoteRestored
    | NoteRewound
    | SubmitPlan
    | DecidePlan
    | NoteProcess
    | Continue
    | RecordInterrupt
    | Recover
    | NoteIdle
    | Shutdown
    | Stop
)
