"""Every command there is: what may be asked of a session, by a person through a face or by what has settled.

`SessionCommand` is what the door of a session takes (`app/live/live_session.py`): each leads to durable events that say
who gave it, or is refused with the reason. The others are of the machines inside: a run's own (`Command`), and those of
its conversation (`conversation_commands.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, NoReturn
from urllib.parse import urlsplit

from weft.protocol.call_events import Used
from weft.protocol.conversation_commands import ClearTaint, DecideApproval, DecidePlan, SetLimits
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import EXIT_FAILED, ExternalError, Finding, UserError, WeftError
from weft.protocol.events import ArtifactAccepted, ClaimVerdict, ConfirmationChoice, FailureKind, SessionWords
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass

INLINE_LIMIT: Final = 256 * 1024
"""Bytes; a larger artifact is kept as a blob beside the log."""
STANDARD_INPUT: Final = "standard input"
Mode = Literal["plan", "safe", "ask", "edits", "auto"]
"""How calls of tools are judged: only what reads (in `plan` until a plan is accepted), asking for the rest, allowing
changes of files, or allowing it."""


def is_address(text: str) -> bool:
    """Whether a person means a page of the web and not a file."""
    return text.lower().startswith(("https://", "http://"))


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file the person named: its bytes, and where they keep it: a path or an address ("" for standard input)."""

    data: bytes
    origin: str = ""

    @property
    def name(self) -> str:
        path = urlsplit(self.origin).path if self.is_address else self.origin
        return path.rstrip("/").rpartition("/")[2] or STANDARD_INPUT

    @property
    def is_address(self) -> bool:
        return is_address(self.origin)

    @property
    def identity(self) -> str:
        """What makes it the same input next time: its place, or for what has none, what it says."""
        return self.origin or f"stdin:{hash_bytes(self.data)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Bring the session up to date. `until` limits it; `force`, `start_from` and `accept` overrule the planner.
    `profile` stands in place of parts of the person's profile for this run, by dotted name."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    force: frozenset[str] = frozenset()
    start_from: str | None = None
    until: str | None = None
    accept: frozenset[str] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)
    """Replies given in advance: the id of a choice by the step whose gate it is for. Each is used once."""
    budget: Mapping[str, float] = field(default_factory=dict)
    """In place of the pipeline's limits: usd, tokens, minutes."""
    model: str = ""
    """The model of every step, kept for the session, whatever files say; `default` goes back to what they say."""
    only: frozenset[str] = frozenset()
    """Of steps that are made item by item, these items alone, each by its key, or as step/key."""
    pipeline: str = ""
    """Which one; "" for the session's own."""
    inputs: Mapping[str, tuple[GivenFile, ...]] = field(default_factory=dict)
    """Files for the pipeline's inputs, by name; several are read as one document. "" names its first input."""
    if_due: bool = False
    """Only as far as something's time has come: gates whose time is over are settled as they say, and the run goes on
    when that lets it, or when a wait is over."""
    type: Literal["start_run"] = "start_run"

    def __post_init__(self) -> None:
        """A program of a person's own names steps as it likes: one, a list, a set."""
        for name in ("force", "accept", "only"):
            given = getattr(self, name)
            if not isinstance(given, frozenset):
                object.__setattr__(self, name, frozenset((given,) if isinstance(given, str) else given))


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptRun:
    why: str = "interrupted by the person"
    used: Mapping[str, Used] = field(default_factory=dict)
    """What the attempt of each running step took until then; whoever runs them tells it."""
    by: Actor = MACHINE
    outcome: Literal["interrupted", "failed"] = "interrupted"
    """How the run ends: it has failed when it took too long."""
    type: Literal["interrupt_run"] = "interrupt_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCame:
    """A moment has come that something waited for."""

    type: Literal["time_came"] = "time_came"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsFound:
    """The items of steps that wait for them are known, and their steps are in the pipeline."""

    steps: tuple[str, ...]
    """Those that have waited."""
    type: Literal["items_found"] = "items_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyToGate:
    """A person's choice at an open gate; `text` is what they want changed, `values` what they fill in at its form."""

    gate: str
    choice: str
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["reply_to_gate"] = "reply_to_gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveConfirmation:
    """The answer to what a person was asked back, given by its name: final, unlike words."""

    confirmation: str
    choice: ConfirmationChoice
    type: Literal["resolve_confirmation"] = "resolve_confirmation"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRun:
    """End a run that is at rest, for good. What it made stays."""

    type: Literal["cancel_run"] = "cancel_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A person's words. `to` says whom they are for: the session, where a run that waits hears them first and the
    conversation answers what is not for it; or the run alone. They are kept before anything is made of them."""

    text: str
    gate: str = ""
    """The gate that is meant, when several are open."""
    to: Literal["session", "run"] = "session"
    attachments: tuple[GivenFile, ...] = ()
    """Files that are given with them, beside those that they name with @."""
    asked: tuple[str, ...] = ()
    """What was seen open when they were said: openings of gates, or what was asked back, by name. They are refused when
    something else is open by now, unless it is clear which of these they are for. () says nothing of it."""
    type: Literal["say"] = "say"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptEdit:
    """Keep the edit of a step's artifact as its result, without running anything."""

    step: str
    type: Literal["accept_edit"] = "accept_edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverruleVerdict:
    """Say otherwise than the verdict on a claim, and why; what was made with it is made again."""

    claim: str
    """Its id, or as many of its first letters as no other has."""
    verdict: ClaimVerdict
    why: str
    step: str = ""
    """The step that gave it, when several do."""
    type: Literal["overrule_verdict"] = "overrule_verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestion:
    """What a tool asked the person: the answers by the questions' text, or why there are none."""

    question: str
    answers: Mapping[str, str] = field(default_factory=dict)
    declined: str = ""
    type: Literal["answer_question"] = "answer_question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """Stop what runs now and keep the session. `target` is one conversation; "" is everything, the run too."""

    target: str = ""
    why: str = "interrupted by the person"
    type: Literal["interrupt"] = "interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMode:
    """How calls of tools are judged in the conversation from now on, as long as the session is held open."""

    mode: Mode
    type: Literal["set_mode"] = "set_mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModel:
    """Which model answers in the conversation from now on, as long as the session is held open."""

    model: str
    type: Literal["set_model"] = "set_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Have the conversation's older turns told in short from now on, though the window is not full yet."""

    type: Literal["compact"] = "compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeSession(SessionWords):
    """Say how a session is called and where it stands. It disturbs nothing that runs."""

    type: Literal["describe_session"] = "describe_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSource:
    """Whether the conversation of this session gets the tools of a source; None as the source's own file says."""

    source: str
    on: bool | None = None
    type: Literal["switch_source"] = "switch_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Take back what tools changed in files for the last message, or the last one whose changes still stand."""

    type: Literal["undo"] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """Go back to before one of the person's last messages: the conversation, and the files that were changed since."""

    messages: int = 1
    """How many of them are taken back."""
    type: Literal["rewind"] = "rewind"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopProcess:
    """End a command that goes on in the background, with everything it started."""

    process: str
    type: Literal["stop_process"] = "stop_process"


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact's bytes on their way to the disk, with the hash that names them."""

    name: str
    data: bytes
    hash: str

    @property
    def inline(self) -> str | None:
        """The text that goes into the log itself, or None for what is kept as a blob."""
        if len(self.data) > INLINE_LIMIT:
            return None
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    def accepted(self, run: int, step: str, attempt: int, item: str = "") -> ArtifactAccepted:
        """That it passed its schema and checks, as the log has it."""
        return ArtifactAccepted(
            run=run,
            step=step,
            attempt=attempt,
            artifact=self.name,
            hash=self.hash,
            size=len(self.data),
            content=self.inline,
            item=item,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSucceeded:
    step: str
    attempt: int
    artifacts: tuple[Artifact, ...]
    used: Used = Used()
    seen: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What the pipeline's conditions look at in these artifacts, by `artifact#path`."""
    reused: str = ""
    """The session that had the result already."""
    type: Literal["attempt_succeeded"] = "attempt_succeeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    step: str
    attempt: int
    kind: FailureKind
    message: str
    used: Used = Used()
    findings: tuple[Finding, ...] = ()
    retryable: bool = True
    resumable: bool = False
    """It was cut off, and what it did so far is kept."""
    trace: str = ""
    type: Literal["attempt_failed"] = "attempt_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRested:
    """What was asked for of a step that is made item by item is made, and not the whole of it; or something is to be
    done by a person before it can go on."""

    step: str
    attempt: int
    message: str
    used: Used = Used()
    asks: str = ""
    """What the person has to do, such as to sign in: a gate waits for it."""
    type: Literal["attempt_rested"] = "attempt_rested"


Settlement = AttemptSucceeded | AttemptFailed | AttemptRested
Command = StartRun | InterruptRun | Settlement | TimeCame | ItemsFound
"""What the machine of a run takes."""
RestCommand = ReplyToGate | ResolveConfirmation | CancelRun
"""What can be asked of a run that is at rest."""
SessionCommand = (
    StartRun
    | Say
    | RestCommand
    | AcceptEdit
    | OverruleVerdict
    | DecideApproval
    | AnswerQuestion
    | Interrupt
    | SetMode
    | SetModel
    | SetLimits
    | ClearTaint
    | Compact
    | DescribeSession
    | SwitchSource
    | Undo
    | Rewind
    | DecidePlan
    | StopProcess
)
"""What the door of a session takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A command was taken. `seq`: the log's number of what it was recorded as; what it leads to comes after."""

    seq: int
    note: str = ""
    """What an interrupt met (one of `InterruptStatus`), or the name of a message that the conversation answers."""
    type: Literal["accepted"] = "accepted"

    def check(self) -> None:
        """As of `Refused`, which raises its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A command changed nothing, and why."""

    reason: str
    hint: str = ""
    exit_code: int = EXIT_FAILED
    external: bool = False
    """It is the world that did not cooperate, and not the person who could put it right."""
    type: Literal["refused"] = "refused"

    def check(self) -> NoReturn:
        raise self.error()

    def error(self) -> WeftError:
        if self.external:
            return ExternalError(self.reason, hint=self.hint)
        return UserError(self.reason, hint=self.hint, exit_code=self.exit_code)


def refusal(error: WeftError) -> Refused:
    return Refused(
        reason=error.message,
        hint=error.hint,
        exit_code=error.exit_code,
        external=isinstance(error, ExternalError),
    )


Reply = Accepted | Refused
