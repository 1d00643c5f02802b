"""What follows from the log of a conversation: its status, its transcript, its notifications, its continuations.

A projection takes every record once, in order: `checkpoint` is the number of the last one it took, and what comes
again is passed over. The first two only fold. The other two have a side effect, and give it a key that stays the same
however often the effect is repeated, so that a lost checkpoint can't do harm. None of them reads the state or the
control: the log is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal, Protocol

from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.protocol.messages import Content, Message, Text, Thinking, ToolCall, ToolResult
from weft.protocol.values import dataclass
from weft.tools.tool_spellings import told, told_name

TODO_LIST: Final = "TodoWrite"
Status = Literal[
    "idle",
    "thinking",
    "executing_tools",
    "awaiting_approval",
    "settling",
    "interrupting",
    "interrupted",
    "failed",
    "stopping",
    "stopped",
]


class Projection(Protocol):
    name: str
    blocking: bool
    """Whether a conversation is not idle until this has seen everything."""
    checkpoint: int

    def take(self, event: object) -> None: ...


def deliver(projection: Projection, record: Record) -> None:
    if record.seq > projection.checkpoint:
        projection.take(record.event)
        projection.checkpoint = record.seq


@dataclass(slots=True)
class StatusProjection:
    """What a face shows of one conversation, in a word."""

    conversation: str
    status: Status = "idle"
    trail: list[Status] | None = None
    """Every status so far, when somebody wants them."""
    checkpoint: int = 0
    name: str = "status"
    blocking: bool = True
    _model: bool = False
    _tools: set[str] = field(default_factory=set)
    _asked: set[str] = field(default_factory=set)
    _interrupting: bool = False

    def take(self, event: object) -> None:
        if getattr(event, "conversation", None) != self.conversation:
            return
        status = self._after(event)
        if status is not None and status != self.status:
            self.status = status
            if self.trail is not None:
                self.trail.append(status)

    def _after(self, event: object) -> Status | None:
        match event:
            case t.TurnStarted():
                self._model, self._interrupting = False, False
                self._tools.clear()
                self._asked.clear()
            case t.IntentRecorded():
                if event.kind == "model":
                    self._model = True
                else:
                    self._tools.add(event.call or "")
                    self._asked.discard(event.call or "")
                return self._busy()
            case t.ApprovalRequested():
                self._asked.add(event.call)
                return self._busy()
            case t.ModelSettled():
                self._model = False
                return self._busy()
            case t.ToolSettled():
                self._tools.discard(event.call)
                self._asked.discard(event.call)
                return self._busy()
            case _:
                return self._turning(event)
        return None

    def _busy(self) -> Status | None:
        if self._interrupting or self.status == "stopping":
            return None
        if self._tools:
            return "executing_tools"
        if self._asked:
            return "awaiting_approval"
        return "thinking" if self._model else None

    def _turning(self, event: object) -> Status | None:
        match event:
            case t.TurnInterrupted():
                self._interrupting = True
                return None if self.status == "stopping" else "interrupting"
            case t.TurnCompleted():
                if self.status == "stopping":
                    return None
                ends: dict[str, Status] = {"interrupted": "interrupted", "failed": "failed"}
                return ends.get(event.disposition, "settling")
            case t.ContinuationCancelled():
                return None if self.status == "stopping" else "interrupted"
            case t.IdleReached():
                return None if self.status == "stopping" else "idle"
            case t.ConversationOpened():
                return "idle"
            case t.ShutdownRequested():
                return "stopping"
            case t.ConversationStopped():
                return "stopped"
        return None


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of a transcript. `kind` says which of the other fields have a meaning."""

    kind: Literal["message", "answer", "call", "result", "summary"]
    turn: int
    text: str = ""
    messages: tuple[str, ...] = ()
    call: str = ""
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    outcome: str = ""
    effect: str = ""
    thinking: tuple[Mapping[str, Any], ...] = ()
    malformed: str = ""
    outside: bool = False
    """A result that came from outside: data, whatever it says."""
    given: bool = False
    """A message that says what the conversation is for: it is always told whole."""
    attached: tuple[Mapping[str, Any], ...] = ()
    """What a message names with @, and what was given with it."""


@dataclass(slots=True)
class Transcript:
    """What was said in one conversation. Every call has exactly one result before the next message."""

    conversation: str
    entries: list[Said] = field(default_factory=list)
    checkpoint: int = 0
    name: str = "transcript"
    blocking: bool = False
    _texts: dict[str, str] = field(default_factory=dict)
    """Messages that are not yet part of a turn."""
    _attached: dict[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    _given: bool = False
    _calls: dict[str, Said] = field(default_factory=dict)
    """Calls of the open turn, in declared order, and their results: told when the turn is complete."""
    _results: dict[str, Said] = field(default_factory=dict)

    def take(self, event: object) -> None:
        if getattr(event, "conversation", None) != self.conversation:
            return
        match event:
            case t.MessageAccepted() | t.TurnStarted():
                self._said(event)
            case t.ModelSettled():
                if event.text or event.thinking:
                    self.entries.append(Said("answer", event.turn, event.text, thinking=event.thinking))
            case t.CallsDeclared():
                self._calls = {call: Said("call", event.turn, call=call) for call in event.calls}
            case t.ToolRequested():
                self._calls[event.call] = Said(
                    "call",
                    event.turn,
                    call=event.call,
                    tool=event.tool,
                    input=event.input,
                    malformed=event.malformed or "",
                )
            case t.ToolSettled():
                self._results[event.call] = Said(
                    "result",
                    event.turn,
                    event.text,
                    call=event.call,
                    tool=self._calls[event.call].tool if event.call in self._calls else "",
                    outcome=event.outcome,
                    effect=event.effect,
                    outside=event.tainting,
                )
            case t.TranscriptCompacted():
                self.entries = compacted(self.entries, event.turn, event.text)
            case t.ConversationRewound():
                self.entries = [said for said in self.entries if said.turn < event.turn]
                self._texts, self._attached = {}, {}
            case t.TurnCompleted():
                self.entries += self._calls.values()
                self.entries += (self._results[call] for call in self._calls if call in self._results)
                self._calls, self._results = {}, {}

    def _said(self, event: t.MessageAccepted | t.TurnStarted) -> None:
        """A message counts from the turn that it becomes part of."""
        if isinstance(event, t.MessageAccepted):
            self._texts[event.message] = event.text
            if event.attached:
                self._attached[event.message] = event.attached
            self._given = event.origin != "person" and not self.entries
            return
        self._calls, self._results = {}, {}
        if event.messages:
            text = "\n\n".join(self._texts.pop(message, "") for message in event.messages)
            with_it = tuple(one for message in event.messages for one in self._attached.pop(message, ()))
            said = Said("message", event.turn, text, event.messages, given=self._given, attached=with_it)
            self.entries.append(said)
            self._given = False

    @property
    def outside(self) -> frozenset[str]:
        """The calls whose results came from outside."""
        return frozenset(said.call for said in self.entries if said.outside)

    def messages(self) -> tuple[Message, ...]:
        return messages_of(self.entries)


def compacted(entries: Sequence[Said], turn: int, text: str) -> list[Said]:
    """The entries with a summary in place of everything up to a turn, save what the conversation is for."""
    given = [said for said in entries if said.given]
    return [*given, Said("summary", turn, text), *(said for said in entries if said.turn > turn and not said.given)]


def last_messages(entries: Sequence[Said], count: int | None) -> list[Said]:
    """The entries from the last so many messages on, found from the end; all of them for None."""
    if count is None:
        return list(entries)
    found: list[Said] = []
    for said in reversed(entries):
        found.append(said)
        count -= said.kind == "message"
        if not count:
            break
    return found[::-1]


def _named(one: Mapping[str, Any]) -> Content:
    return Text(text=f"[attached: {one['name']}]")


def messages_of(
    entries: Iterable[Said], attached: Callable[[Mapping[str, Any]], Content] = _named
) -> tuple[Message, ...]:
    """What a model is told: roles in turns, and a call that was never asked for left out. `attached` makes content of
    what a message brings; without it that is only named."""
    found: list[Message] = []
    for said in entries:
        content = (*_content(said), *map(attached, said.attached))
        if not content:
            continue
        role: Literal["user", "assistant"] = "assistant" if said.kind in ("answer", "call") else "user"
        if found and found[-1].role == role:
            found[-1] = Message(role=role, content=(*found[-1].content, *content))
        else:
            found.append(Message(role=role, content=content))
    return tuple(found)


@dataclass(slots=True)
class Transcripts:
    """The transcripts of a conversation and of the sub-conversations that are open in it."""

    root: str
    checkpoint: int = 0
    name: str = "transcript"
    blocking: bool = False
    _each: dict[str, Transcript] = field(default_factory=dict)

    def take(self, event: object) -> None:
        name = getattr(event, "conversation", "")
        if name != self.root and not name.startswith(f"{self.root}/"):
            return
        if isinstance(event, t.ConversationEnded):
            self._each.pop(name, None)
        else:
            self.of(name).take(event)

    def of(self, conversation: str) -> Transcript:
        found = self._each.get(conversation)
        if found is None:
            found = self._each[conversation] = Transcript(conversation)
        return found


def _content(said: Said) -> tuple[Content, ...]:
    if said.kind == "summary":
        return (Text(text=f"[What was said before, in short]\n{said.text}"),)
    if said.kind == "message":
        return (Text(text=said.text),)
    if said.kind == "answer":
        thought = (Thinking(text=str(x.get("text", "")), signature=str(x.get("signature", ""))) for x in said.thinking)
        return (*thought, *((Text(text=said.text),) if said.text else ()))
    if not said.tool:
        return ()
    if said.kind == "call":
        given = told(said.tool, said.input)
        return (ToolCall(call=said.call, tool=told_name(said.tool), input=given, malformed=said.malformed),)
    text = told_to_model(said.outcome, said.effect, said.text)
    return (ToolResult(call=said.call, tool=told_name(said.tool), text=text, is_error=said.outcome != "succeeded"),)


def told_to_model(outcome: str, effect: str, text: str) -> str:
    """What the model hears of a tool call. It must never be told that something did not happen when it may have."""
    if outcome == "denied":
        return f"This call was not allowed{': ' + text if text else ' by the person.'}"
    if outcome not in ("interrupted", "interrupted_before_execution"):
        return text
    why = {
        "process_lost": "The program ended",
        "shutdown_timeout": "The program was being ended",
        "shutdown": "The program was being ended",
    }.get(text, "The person interrupted")
    if effect == "none":
        return f"{why} before this call began. It was not run and changed nothing."
    if effect == "completed":
        return f"{why}, but the call had already run to its end by then. What it did is done; its result is not shown."
    return f"{why} while this call was running. It may have done some, all or none of its work: look before going on."


@dataclass(slots=True)
class Continuations:
    """The only place from which a conversation goes on by itself: asks once for a turn's continuation, by its key."""

    enqueue_continuation: Callable[[str, str], None]
    """Takes the conversation and the key. May be called again for a key after a lost checkpoint: the log decides."""
    checkpoint: int = 0
    name: str = "continuation"
    blocking: bool = True

    def take(self, event: object) -> None:
        if isinstance(event, t.TurnCompleted) and event.key:
            self.enqueue_continuation(event.conversation, event.key)


ANSWERED: Final = "The answer is there"
Notify = Callable[[str, str], None]
"""Takes a key, the same for the same cause, and a text for the person."""


@dataclass(slots=True)
class Notifications:
    """Tells a person who may not be looking that they are needed, or that what they wait for is done."""

    notify: Notify
    checkpoint: int = 0
    name: str = "notification"
    blocking: bool = False

    def take(self, event: object) -> None:
        match event:
            case t.ApprovalRequested():
                key = f"{event.conversation}:t{event.turn}:{event.call}"
                self.notify(key, f"{event.tool} needs your approval: {event.reason}")
            case t.TurnCompleted():
                words = {"final": ANSWERED, "failed": "The model call failed"}
                if "/" not in event.conversation and event.disposition in words:
                    self.notify(f"{event.conversation}:t{event.turn}", words[event.disposition])


def replay(projections: Iterable[Projection], records: Iterable[Record]) -> None:
    kept = list(projections)
    for record in records:
        for projection in kept:
            deliver(projection, record)


# -- what can be taken back


@dataclass(frozen=True, slots=True)
class FileChange:
    """Hashes; "" is a file that is not there."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What tools changed in files for one message of the person."""

    message: str
    files: Mapping[str, FileChange]


def last_changes(records: Iterable[Record]) -> Changes | None:
    """Of the last message whose changes still stand; None when there are none."""
    return next((Changes(message, files) for message, files in reversed(_changes(records)) if files), None)


def changes_since(records: Iterable[Record], message: str) -> Changes:
    """Of a message and all after it, as one: from what was there before the first to what the last one left."""
    stack = _changes(records)
    first = next((number for number, (name, _) in enumerate(stack) if name == message), len(stack))
    files: dict[str, FileChange] = {}
    for _, changed in stack[first:]:
        for name, change in changed.items():
            files[name] = FileChange(files[name].before if name in files else change.before, change.after)
    return Changes(message, files)


def _changes(records: Iterable[Record]) -> list[tuple[str, dict[str, FileChange]]]:
    """By message, in order, what stands of the changes that were made for it."""
    stack: list[tuple[str, dict[str, FileChange]]] = [("", {})]
    for record in records:
        event = record.event
        match event:
            case t.MessageAccepted() if event.origin == "person":
                stack.append((event.message, {}))
            case t.ToolSettled() if event.before and t.step_place(event.conversation) is None:
                files = stack[-1][1]
                for name, before in event.before.items():
                    first = files[name].before if name in files else before
                    files[name] = FileChange(first, event.after.get(name, event.seen.get(name, "")))
            case t.FilesRestored():
                stack = [(message, {} if message == event.message else files) for message, files in stack]
            case t.ConversationRewound():
                messages = [message for message, _ in stack]
                stack = stack[: messages.index(event.message)] if event.message in messages else stack
            case _:
                pass
    return stack


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A turn that began with words of the person: one can go back to before it."""

    turn: int
    message: str
    text: str


def rewind_points(conversation: str, records: Iterable[Record]) -> list[RewindPoint]:
    """Those that stand, the first one first."""
    said: dict[str, str] = {}
    points: list[RewindPoint] = []
    for record in records:
        event = record.event
        if getattr(event, "conversation", None) != conversation:
            continue
        match event:
            case t.MessageAccepted() if event.origin == "person":
                said[event.message] = event.text
            case t.TurnStarted():
                names = [name for name in event.messages if name in said]
                if names:
                    points.append(RewindPoint(event.turn, names[0], "\n\n".join(said[name] for name in names)))
            case t.ConversationRewound():
                points = [point for point in points if point.turn < event.turn]
            case _:
                pass
    return points


# -- what goes on beside


@dataclass(frozen=True, slots=True)
class BackgroundEntry:
    """A command in the background; `reason` is how it ended, "" while nobody has said so."""

    process: str
    command: str
    reason: str = ""


def background_processes(records: Iterable[Record]) -> dict[str, BackgroundEntry]:
    found: dict[str, BackgroundEntry] = {}
    for record in records:
        event = record.event
        if isinstance(event, t.ProcessStarted):
            found[event.process] = BackgroundEntry(event.process, event.command)
        elif isinstance(event, t.ProcessEnded) and event.process in found:
            found[event.process] = replace(found[event.process], reason=event.reason)
    return found


# -- plans


@dataclass(frozen=True, slots=True)
class PlanState:
    """The last plan that the model submitted, and how far it is done."""

    plan: str
    text: str
    steps: tuple[str, ...]
    decision: t.PlanDecision | None = None
    done: frozenset[str] = frozenset()
    """The steps that the list of what is to be done has as done."""


def plan_of(records: Iterable[Record]) -> PlanState | None:
    found: PlanState | None = None
    for record in records:
        event = record.event
        match event:
            case t.PlanSubmitted():
                found = PlanState(event.plan, event.text, event.steps)
            case t.PlanDecided() if found is not None and event.plan == found.plan:
                found = replace(found, decision=event.decision)
            case t.ToolRequested() if found is not None and event.tool == TODO_LIST and event.verdict == "allow":
                done = {str(todo.get("content", todo.get("text", ""))).strip() for todo in _todos(event, done=True)}
                found = replace(found, done=frozenset(step for step in found.steps if step.strip() in done))
            case _:
                pass
    return found


def _todos(event: t.ToolRequested, *, done: bool) -> list[Mapping[str, Any]]:
    listed = event.input.get("todos", ())
    todos = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list | tuple) else []
    return [one for one in todos if (one.get("status") in ("done", "completed")) == done]
