"""`ConversationView`: a conversation's events folded into what a face shows of it. No clock: `now` comes with each.

What is over becomes a block in `finished`, in the order in which it should be read; a face prints each once and it
stays in the terminal's history. What goes on is live: the text that is being written, calls at work with the calls of
their sub-conversations, questions, queued messages. It takes records and live events from the beginning of a log or
while they happen, and never refuses one.

An answer becomes blocks line by line: what is complete is finished although the rest is still being written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.messages import told_stop
from weft.protocol.values import dataclass
from weft.render.cells import cut, paragraphs
from weft.render.markdown import fence_after, is_row
from weft.render.run_card import RunPart
from weft.render.units import told_retry
from weft.render.words import INTERRUPTS

MAIN: Final = "main"
PLAN_TOOL: Final = "SubmitPlan"
MOST_HELD: Final = 200
"""Lines of a table that are held back until it is whole."""
SHOWN_OF_A_MESSAGE: Final = 40
"""Cells of a message that is named by its first words."""
CallPhase = Literal["asked", "running", "ended"]
NoteLook = Literal["note", "warning", "error"]


@dataclass(slots=True)
class CallView:
    """A tool call. `started` is the moment its execution began, `ms` how long it took."""

    conversation: str
    call: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    phase: CallPhase = "running"
    reason: str = ""
    """Why the rules ask, or why it was denied."""
    key: str = ""
    """What "for this session" would remember; "" when that is not offered."""
    always: str = ""
    """The rule that would spare the question from now on; "" when there is none."""
    tainted: bool = False
    turn: int | None = None
    """In which it was asked: a model may call its calls the same in each turn."""
    execution: str = ""
    started: float | None = None
    ms: int | None = None
    progress: str = ""
    outcome: t.ToolOutcome | None = None
    effect: t.ToolEffect = "none"
    text: str = ""
    child: str = ""
    """The sub-conversation that it is."""
    inner: list[CallView] = field(default_factory=list)
    """The calls of that sub-conversation."""


@dataclass(slots=True)
class WrittenSpeech:
    """A model call: what is being written and thought. `tail` is what is not in a block yet."""

    execution: str
    started: float
    shown: int = 0
    """Characters that are in blocks."""
    begun: bool = False
    """There was a word among them."""
    tail: str = ""
    fence: str = ""
    thinking: str = ""
    thinking_since: float | None = None
    thought: bool = False


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """A message of the person that began a turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Whole lines of an answer. `fence` is the code fence that was open before them."""

    text: str
    fence: str = ""
    first: bool = True


@dataclass(frozen=True, slots=True)
class Thought:
    text: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Called:
    call: CallView


@dataclass(frozen=True, slots=True)
class Noted:
    text: str
    look: NoteLook = "note"


@dataclass(frozen=True, slots=True)
class Ran:
    """What happened in a run beside the conversation, or what it asks: a line, and those that belong to it."""

    lines: tuple[str, ...]
    asks: bool = False
    state: str = ""
    """How what the first line tells stands, as its sign: running, done, failed; "" for what is only said."""
    right: str = ""
    """What it took."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What the model would do, for the person to say yes to."""

    text: str


ConversationBlock = Planned | SpokenMessage | Answered | Thought | Called | Noted | Ran


@dataclass
class ConversationView:
    finished: list[ConversationBlock] = field(default_factory=list)
    queued: dict[str, str] = field(default_factory=dict)
    """Messages that wait for their turn, by name."""
    calls: dict[tuple[str, str], CallView] = field(default_factory=dict)
    """Calls that are open, by conversation and name."""
    speeches: dict[str, WrittenSpeech] = field(default_factory=dict)
    """Model calls at work, by conversation."""
    turning: bool = False
    """A turn of the main conversation is open, or its continuation is due."""
    begun: dict[str, str] = field(default_factory=dict)
    """The first words of each message that began a turn, or became part of one."""
    messages: int = 0
    """How many messages of the person became part of a turn."""
    failed: bool = False
    """The last turn that ended has no whole answer: its model call failed, was cut off, refused or said nothing."""
    unfinished: bool = False
    """The model's last answer ended otherwise than at its end."""
    why: str = ""
    """Why a turn was last interrupted."""
    run: RunPart = field(default_factory=RunPart)
    """The run beside the conversation, as far as it is at work."""
    questions: dict[str, e.QuestionAsked] = field(default_factory=dict)
    """What tools ask the person, by name."""
    status: e.StatusChanged | None = None
    plan: str = ""
    """The plan that waits for the person's word."""

    def apply(self, event: e.Event, now: float) -> None:
        name = getattr(event, "conversation", "")
        if isinstance(event, e.NoticeGiven):
            self.finished.append(Noted(event.text, "warning"))
        elif name == MAIN or name.startswith(f"{MAIN}/"):
            self._talk(event, now)
        elif isinstance(event, _STEPS_OWN):
            self._talk(event, now)  # a step of the run asks for its approval too
        elif isinstance(event, e.QuestionAsked | e.QuestionClosed | e.StatusChanged):
            self._aside(event)
        elif not isinstance(event, t.ConversationEvent | t.LiveConversationEvent):
            if isinstance(event, e.WordsSaid):
                self.finished.append(SpokenMessage(event.text))
            if told := self.run.card(event, now):
                self.finished.append(Ran(tuple(told.lines), state=told.state, right=told.right))
            elif lines := self.run.lines(event, now):
                self.finished.append(Ran(tuple(lines), isinstance(event, e.GateOpened | e.ConfirmationAsked)))

    def _aside(self, event: e.QuestionAsked | e.QuestionClosed | e.StatusChanged) -> None:
        match event:
            case e.QuestionAsked():
                self.questions[event.question] = event
            case e.QuestionClosed():
                self.questions.pop(event.question, None)
            case e.StatusChanged():
                self.status = event

    def take(self) -> list[ConversationBlock]:
        """The blocks that were finished since this was last asked."""
        finished, self.finished = self.finished, []
        return finished

    def rebase(self, now: float) -> None:
        """The past has been read: what is still open counts from now, for the log's clock is not this one."""
        for call in self.calls.values():
            if call.started is not None:
                call.started = now
        for speech in self.speeches.values():
            speech.started = now

    @property
    def approvals(self) -> list[CallView]:
        return [call for call in self.calls.values() if call.phase == "asked"]

    @property
    def running(self) -> list[CallView]:
        """The calls at work in the main conversation; those of sub-conversations are inside them."""
        return [call for call in self.calls.values() if call.phase == "running" and call.conversation == MAIN]

    @property
    def busy(self) -> bool:
        return self.turning or bool(self.calls or self.speeches or self.run.working)

    # -- the fold

    def _talk(self, event: e.Event, now: float) -> None:
        match event:
            case t.MessageAccepted():
                if event.conversation == MAIN:
                    self.queued[event.message] = event.text
            case t.TurnStarted():
                self._turn_started(event)
            case t.IntentRecorded():
                self._intent(event, now)
            case t.TextStreamed() | t.ThinkingStreamed() | t.ToolProgressed():
                self._streamed(event, now)
            case t.ModelRetried():
                self._model_retried(event)
            case t.ModelSettled():
                self._model_settled(event, now)
            case t.ToolRequested():
                self._requested(event)
            case t.ApprovalRequested() | t.ApprovalDecided() | t.ApprovalRemembered():
                self._approval(event)
            case t.ToolSettled():
                self._tool_settled(event, now)
            case t.ConversationOpened() | t.ConversationEnded():
                self._sub_conversation(event)
            case _:
                self._rest(event)

    def _turn_started(self, event: t.TurnStarted) -> None:
        if event.conversation != MAIN:
            return
        self.turning, self.unfinished = True, False
        for message in event.messages:
            if (text := self.queued.pop(message, None)) is not None:
                self.messages += 1
                self.begun[message] = cut(" ".join(text.split()), SHOWN_OF_A_MESSAGE)
                self.finished.append(SpokenMessage(text))

    def _intent(self, event: t.IntentRecorded, now: float) -> None:
        if event.kind == "model":
            self.speeches[event.conversation] = WrittenSpeech(event.execution, now)
        elif call := self.calls.get((event.conversation, event.call or "")):
            call.phase, call.execution, call.started = "running", event.execution, now

    def _streamed(self, event: t.LiveConversationEvent, now: float) -> None:
        if isinstance(event, t.ToolProgressed):
            for call in self.calls.values():
                if (call.conversation, call.execution) == (event.conversation, event.execution):
                    call.progress = (paragraphs(event.text) or [""])[-1]
            return
        speech = self.speeches.get(event.conversation)
        if speech is None or speech.execution != event.execution:
            return
        if isinstance(event, t.ThinkingStreamed):
            speech.thinking_since = now if speech.thinking_since is None else speech.thinking_since
            speech.thinking += event.text
            return
        self._end_thinking(event.conversation, speech, now)
        speech.tail += event.text
        if event.conversation == MAIN:
            lines, newline, _ = speech.tail.rpartition("\n")
            ready = _without_table(lines, speech.fence) if newline else ""
            if ready:
                self._answer(speech, ready, speech.tail[len(ready) :])

    def _end_thinking(self, conversation: str, speech: WrittenSpeech, now: float) -> None:
        if speech.thinking and conversation == MAIN:
            since = speech.thinking_since
            self.finished.append(Thought(speech.thinking, None if since is None else now - since))
            speech.thought = True
        speech.thinking, speech.thinking_since = "", None

    def _answer(self, speech: WrittenSpeech, text: str, rest: str) -> None:
        """Lines that are complete. Empty ones before the first word are left out."""
        body = text if speech.begun else text.lstrip("\n")
        if body.strip() or (body and speech.begun):
            self.finished.append(Answered(body.removesuffix("\n"), speech.fence, not speech.begun))
            speech.begun = True
        speech.fence = fence_after(text.split("\n"), speech.fence)
        speech.shown, speech.tail = speech.shown + len(text), rest

    def _model_settled(self, event: t.ModelSettled, now: float) -> None:
        speech = self.speeches.pop(event.conversation, None) or WrittenSpeech(event.execution, now)
        if event.conversation != MAIN:
            return
        self._end_thinking(event.conversation, speech, now)
        if event.thinking and not speech.thought:
            self.finished.append(Thought("\n".join(str(part.get("text", "")) for part in event.thinking)))
        if len(event.text) >= speech.shown:  # what was streamed is what the settlement begins with
            speech.tail = event.text[speech.shown :]
        if speech.tail.strip():
            self._answer(speech, speech.tail.rstrip("\n") + "\n", "")
        if event.outcome == "failed":
            self.finished.append(Noted(event.reason or "the model call failed", "error"))
        elif event.outcome == "completed" and (ended := told_stop(event.stop, event.text)):
            more = "; say `go on` to have the rest" if event.stop == "max_tokens" else ""
            self.unfinished = True
            self.finished.append(Noted(ended + more, "warning"))

    def _model_retried(self, event: t.ModelRetried) -> None:
        told = told_retry(event.reason, event.wait_ms, event.instead)
        if event.conversation == MAIN:
            self.finished.append(Noted(told))
        elif (parent := self._parent(event.conversation)) is not None:
            parent.progress = told

    def _requested(self, event: t.ToolRequested) -> None:
        call = CallView(
            event.conversation,
            event.call,
            event.tool,
            event.input or ({"malformed": event.malformed} if event.malformed else {}),
            reason=event.reason or "",
            key=event.key or "",
            always=event.always or "",
            turn=event.turn,
        )
        self.calls[event.conversation, event.call] = call
        if (parent := self._parent(event.conversation)) is not None:
            parent.inner.append(call)

    def _approval(self, event: t.ApprovalRequested | t.ApprovalDecided | t.ApprovalRemembered) -> None:
        match event:
            case t.ApprovalRequested():
                call = self.calls.setdefault(
                    (event.conversation, event.call), CallView(event.conversation, event.call, event.tool)
                )
                call.phase, call.reason, call.tainted = "asked", event.reason, event.tainted
            case t.ApprovalDecided():
                if decided := self.calls.get((event.conversation, event.call)):
                    decided.phase = "running"
            case t.ApprovalRemembered():
                self.finished.append(Noted(f"allowed for this session: {event.key}"))

    def _tool_settled(self, event: t.ToolSettled, now: float) -> None:
        call = self.calls.pop((event.conversation, event.call), None)
        if call is None:
            # Declared and never requested: the interrupt that settled it is noted for the whole turn.
            return
        call.phase, call.outcome, call.effect, call.text = "ended", event.outcome, event.effect, event.text
        call.ms = None if call.started is None else round((now - call.started) * 1000)
        if event.conversation == MAIN and not (call.tool == PLAN_TOOL and call.outcome == "succeeded"):
            self.finished.append(Called(call))  # a plan stands there as a card

    def _sub_conversation(self, event: t.ConversationOpened | t.ConversationEnded) -> None:
        if isinstance(event, t.ConversationEnded):
            self.speeches.pop(event.conversation, None)
            return
        for call in self.calls.values():
            if event.parent == call.conversation and event.execution == call.execution:
                call.child = event.conversation

    def _planned(self, event: t.PlanSubmitted | t.PlanDecided) -> None:
        if isinstance(event, t.PlanSubmitted):
            self.plan = event.plan
            self.finished.append(Planned(event.text))
            return
        self.plan = ""
        told = {
            "accepted": "the plan is accepted",
            "compacted": "the plan is accepted; it stands for what was said before",
        }
        if event.decision != "amended":
            self.finished.append(Noted(told.get(event.decision, "the plan is dropped")))

    def _rest(self, event: e.Event) -> None:
        if getattr(event, "conversation", "") != MAIN:
            return
        match event:
            case t.TurnCompleted():
                self.turning = event.disposition == "continue"
                self.failed = event.disposition == "failed" or self.unfinished
                if event.disposition == "interrupted":  # said here, so that it stands behind what was interrupted
                    self.finished.append(Noted(INTERRUPTS.get(self.why, "interrupted"), "warning"))
            case t.TurnInterrupted():
                self.why = event.reason
                if event.unsupported:
                    self.finished.append(Noted(f"can't be stopped and ends by itself: {_named(event)}", "warning"))
            case t.ContinuationCancelled():
                self.turning = False
                self.finished.append(Noted(INTERRUPTS.get(event.reason, "interrupted"), "warning"))
            case t.CommandRefused():
                if event.refusal == "shutting_down" and event.text:
                    self.finished.append(Noted(f"not sent, the conversation is being closed: {event.text}", "error"))
            case t.IdleReached():
                self.turning = False
            case _:
                self._beside(event)

    def _beside(self, event: e.Event) -> None:
        match event:
            case t.PlanSubmitted() | t.PlanDecided():
                self._planned(event)
            case t.FilesRestored():
                self.finished.append(Noted(f"taken back: {', '.join(event.files)}"))
            case t.ConversationRewound():
                self.plan = ""
                files = f"; put back: {', '.join(event.files)}" if event.files else ""
                place = f"“{self.begun[event.message]}”" if event.message in self.begun else f"turn {event.turn}"
                self.finished.append(Noted(f"back to before {place}: the model knows of nothing from there on{files}"))
            case t.ProcessStarted():
                self.finished.append(Noted(f"{event.process} goes on in the background: {event.command}"))
            case t.ProcessEnded():
                self.finished.append(Noted(f"{event.process} ended: {event.reason}"))
            case t.TaintCleared():
                self.finished.append(Noted("what came from outside until here is fine, you said"))
            case t.ProcessorFailed():
                self.finished.append(Noted(f"a processor of results failed: {event.error}", "warning"))
            case t.LimitReached():
                self.turning = False
                self.finished.append(Noted(f"stopped here: {event.reason}", "warning"))
            case t.TranscriptCompacted():
                self.finished.append(Noted("older turns are told to the model in short from now on"))

    def _parent(self, conversation: str) -> CallView | None:
        return next((call for call in self.calls.values() if call.child == conversation), None)


_STEPS_OWN = (t.ToolRequested, t.ApprovalRequested, t.ApprovalDecided, t.ToolSettled)
"""What is taken in of other conversations: those of the steps of a run."""


def _without_table(lines: str, fence: str) -> str:
    """The lines up to a table that may go on: it is drawn once it is whole. Very long ones are drawn in parts."""
    kept = lines.split("\n")
    held = 0
    while held < len(kept) and held < MOST_HELD and is_row(kept[-1 - held]):
        held += 1
    ready = kept[: len(kept) - held] if held < MOST_HELD else kept
    if len(ready) < len(kept) and fence_after(ready, fence):
        ready = kept  # it is code that looks like one
    return "".join(f"{line}\n" for line in ready)


def _named(event: t.TurnInterrupted) -> str:
    return ", ".join(execution.partition("/")[2] or execution for execution in event.unsupported)
