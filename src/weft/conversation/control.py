"""What may still act, and the fast lane that stops it.

Everything that could do something later is an `Intent` here: a call that is declared, one that waits for its approval,
a reserved, starting or running execution, a continuation that is due, one that was told to stop and has not returned.
So one synchronous function over one table stops all of it. `interrupt` touches only this table: it closes gates and
signals handles, and what it did comes back to the log through the inbox as `RecordInterrupt`.

The gate decides how an execution ends; cancelling only frees what it holds. A handle that is bound after its gate was
closed is told to stop at once, and one that is bound after it was given up as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, Protocol

from weft.conversation.state import State
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import How, Interrupted, InterruptStatus
from weft.protocol.values import dataclass

Phase = Literal["declared", "awaiting", "reserved", "starting", "bound", "continuing", "draining"]
Bound = Literal["bound", "interrupted", "late"]
BEFORE_START: Final = frozenset({"declared", "awaiting", "reserved", "continuing"})


class InterruptHandle(Protocol):
    """Something that runs. `interrupt` asks it to stop, at once and without waiting; it may be told only once."""

    def interrupt(self, reason: str) -> None: ...


@dataclass(slots=True)
class Intent:
    conversation: str
    execution: str
    phase: Phase
    kind: Literal["model", "tool", "child", "continuation"]
    interruptible: bool = True
    interrupted: bool = False
    returned: bool = False
    """Its task has ended although its settlement is not recorded yet."""
    handle: InterruptHandle | None = None
    texts: list[str] = field(default_factory=list)
    """What a model has streamed so far."""
    model: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    began: float | None = None
    deadline: float = 0.0


@dataclass(frozen=True, slots=True)
class Target:
    conversation: str
    execution: str
    how: How


@dataclass(frozen=True, slots=True)
class Reply:
    """What an interrupt met: its status, and what it did to each target."""

    status: InterruptStatus
    targets: tuple[Target, ...] = ()
    parts: tuple[Interrupted, ...] = ()
    """For the record: a parent before its children."""


class Control:
    def __init__(self, now: Callable[[], float], grace: float = 0.25) -> None:
        self.intents: dict[tuple[str, str], Intent] = {}
        self.turns: dict[str, int] = {}
        """The open turn of each conversation."""
        self.closing: dict[str, frozenset[str]] = {}
        """Accepted interrupts whose record is still in the inbox: by conversation, the executions they hit."""
        self.stopping: set[str] = set()
        """Conversations whose open turn is interrupted and waits for what can't be stopped."""
        self.abandoned: set[tuple[str, str]] = set()
        """What ignored its end until the grace ran out and has not returned since."""
        self.dropped = 0
        """Pieces of text that met a closed gate."""
        self.faults: list[str] = []
        """Handles that raised when they were told to stop."""
        self._answers: dict[str, tuple[str, str]] = {}
        """The call that each sub-conversation is."""
        self._now = now
        self._grace = grace

    # -- following the log

    def apply(self, event: t.ConversationEvent) -> None:
        """Take in what was decided. An intent that is born into a closing conversation is born interrupted."""
        step = _APPLY.get(type(event))
        if step is not None:
            step(self, event)

    def _turn_started(self, event: t.TurnStarted) -> None:
        self.turns[event.conversation] = event.turn

    def _calls_declared(self, event: t.CallsDeclared) -> None:
        for call in event.calls:
            self._add(event.conversation, f"t{event.turn}/{call}", "declared", "tool")

    def _approval_requested(self, event: t.ApprovalRequested) -> None:
        self._add(event.conversation, f"t{event.turn}/{event.call}", "awaiting", "tool")

    def _approval_decided(self, event: t.ApprovalDecided) -> None:
        """It may run, and waits for its place like any other."""
        intent = self.intents.get((event.conversation, f"t{event.turn}/{event.call}"))
        if intent is not None:
            intent.phase = "declared"

    def _intent_recorded(self, event: t.IntentRecorded) -> None:
        self.intents.pop((event.conversation, f"t{event.turn}/{event.call}"), None)
        phase: Phase = "bound" if event.kind == "child" else "reserved"
        self._add(event.conversation, event.execution, phase, event.kind, event.interruptible)

    def _settled(self, event: t.ModelSettled | t.ToolSettled) -> None:
        """What runs and was told to stop is waited for; everything else is over."""
        intent = self.intents.get((event.conversation, event.execution))
        if intent is None:
            return
        runs = intent.phase in ("starting", "bound") and intent.kind != "child"
        if runs and event.outcome == "interrupted" and not intent.returned:
            intent.phase, intent.interrupted = "draining", True
            intent.deadline = self._now() + self._grace
        else:
            del self.intents[event.conversation, event.execution]

    def _turn_completed(self, event: t.TurnCompleted) -> None:
        self.turns.pop(event.conversation, None)
        self.stopping.discard(event.conversation)
        if event.key:
            self._add(event.conversation, event.key, "continuing", "continuation")

    def _interrupted(self, event: t.TurnInterrupted) -> None:
        self.stopping.add(event.conversation)

    def _continued(self, event: t.ContinuationTaken | t.ContinuationCancelled | t.LimitReached) -> None:
        self.intents.pop((event.conversation, event.key or ""), None)

    def _opened(self, event: t.ConversationOpened) -> None:
        if event.parent and event.execution:
            self._answers[event.conversation] = (event.parent, event.execution)

    def _ended(self, event: t.ConversationEnded) -> None:
        self._answers.pop(event.conversation, None)

    def restore(self, state: State) -> None:
        """After a restart: what the log says may still act. What ran is lost, so it is not here."""
        for name, talk in state.talks.items():
            if talk.parent:
                self._answers[name] = (talk.parent, talk.parent_execution)
            if talk.pending:
                self._add(name, talk.pending, "continuing", "continuation")
            if talk.turn is None:
                continue
            self.turns[name] = talk.turn.number
            if talk.turn.interrupted:
                self.stopping.add(name)
            for call_id, call in talk.turn.calls.items():
                if call.phase == "asked":
                    self._add(name, f"t{talk.turn.number}/{call_id}", "awaiting", "tool")
                elif call.phase == "ready":
                    self._add(name, f"t{talk.turn.number}/{call_id}", "declared", "tool")
                elif call.phase == "running" and call.child:
                    self._add(name, call.execution, "bound", "child")

    def recorded(self, conversations: Iterable[str]) -> None:
        """The record of an accepted interrupt was decided: the log itself closes the gates from here on."""
        for conversation in conversations:
            self.closing.pop(conversation, None)

    def _add(
        self,
        conversation: str,
        execution: str,
        phase: Phase,
        kind: Literal["model", "tool", "child", "continuation"],
        interruptible: bool = True,
    ) -> None:
        born_closed = conversation in self.closing
        self.intents[conversation, execution] = Intent(
            conversation, execution, phase, kind, interruptible, interrupted=born_closed
        )
        if born_closed:
            self.closing[conversation] |= {execution}

    # -- the executor's side

    def begin_start(self, conversation: str, execution: str) -> bool:
        """Whether an execution may start now. It is asked once, right before anything is opened."""
        intent = self.intents.get((conversation, execution))
        if intent is None or intent.phase != "reserved" or intent.interrupted:
            return False
        intent.phase, intent.began = "starting", self._now()
        return True

    def bind(self, conversation: str, execution: str, handle: InterruptHandle) -> Bound:
        """What was started can be stopped from here on. An interrupt that came meanwhile is applied now."""
        intent = self.intents.get((conversation, execution))
        if intent is None:
            self._signal(conversation, execution, handle, "late")
            return "late"
        intent.handle = handle
        if intent.interrupted:
            self._signal(conversation, execution, handle, "interrupted")
            return "interrupted"
        intent.phase = "bound"
        return "bound"

    def deliver(self, conversation: str, execution: str, text: str) -> bool:
        """Whether a piece of text may be shown; what is shown is kept for the settlement of an interrupted call."""
        intent = self.intents.get((conversation, execution))
        if intent is None or intent.phase != "bound" or intent.interrupted:
            self.dropped += 1
            return False
        intent.texts.append(text)
        return True

    def note_usage(self, conversation: str, execution: str, model: str, usage: Mapping[str, Any]) -> None:
        """What a model call has used so far: an interrupted one must be paid too."""
        intent = self.intents.get((conversation, execution))
        if intent is not None:
            intent.model, intent.usage = model, usage

    def lets_through(self, conversation: str, execution: str) -> bool:
        """Whether other signs of life (thinking, progress) may be shown."""
        intent = self.intents.get((conversation, execution))
        return intent is not None and intent.phase == "bound" and not intent.interrupted

    def returned(self, conversation: str, execution: str) -> None:
        """The task of an execution has ended: there is nothing left of it."""
        key = (conversation, execution)
        self.abandoned.discard(key)
        intent = self.intents.get(key)
        if intent is not None:
            intent.returned = True
            if intent.phase == "draining":
                del self.intents[key]

    def expire(self) -> list[tuple[str, str]]:
        """Give up what was told to stop and did not return within the grace. Its handle is told again if it comes."""
        now = self._now()
        late = [key for key, i in self.intents.items() if i.phase == "draining" and i.deadline <= now]
        for key in late:
            del self.intents[key]
            self.abandoned.add(key)
        return late

    def next_deadline(self) -> float | None:
        return min((i.deadline for i in self.intents.values() if i.phase == "draining"), default=None)

    # -- the fast lane

    def interrupt(self, conversations: Iterable[str], reason: str) -> Reply:
        """Stop what runs in these conversations; the caller names a parent before its children."""
        names = list(conversations)
        met: dict[str, dict[str, How]] = {}
        for name in reversed(names):  # children first: a call whose sub-conversation can't be stopped can't either
            if name not in self.closing and (targets := self._classify(name, met)):
                met[name] = targets
        if not met:
            busy = any(name in self.closing for name in names)
            return Reply("interrupt_in_progress" if busy else "nothing_to_interrupt")
        told = tuple(Target(name, x, how) for name in names for x, how in met.get(name, {}).items())
        if all(target.how == "unsupported" for target in told):
            return Reply("unsupported", told)
        # Also where nothing can be stopped: nothing new may start there. But a turn is interrupted only once.
        hit = [name for name in names if name in met and name not in self.stopping]
        parts = tuple(self._part(name, met[name]) for name in hit)
        for name in hit:
            self._close(name, met[name], reason)
        return Reply("accepted", told, parts)

    def _classify(self, name: str, met: Mapping[str, Mapping[str, How]]) -> dict[str, How]:
        found: dict[str, How] = {}
        for intent in self.intents.values():
            if intent.conversation != name or intent.phase == "draining":
                continue
            if intent.phase in BEFORE_START:
                found[intent.execution] = "cancelled_before_start"
            elif not intent.interruptible or (intent.kind == "child" and self._stuck(intent, met)):
                found[intent.execution] = "unsupported"
            else:
                found[intent.execution] = "pending_bind" if intent.phase == "starting" else "signalled"
        return found

    def _stuck(self, intent: Intent, met: Mapping[str, Mapping[str, How]]) -> bool:
        """Whether the sub-conversation of this call has something that runs and nothing that can be stopped."""
        mine = (intent.conversation, intent.execution)
        child = next((name for name, call in self._answers.items() if call == mine), "")
        return child in met and all(how == "unsupported" for how in met[child].values())

    def _part(self, name: str, targets: Mapping[str, How]) -> Interrupted:
        mine = {x: self.intents[name, x] for x in targets}
        return Interrupted(
            conversation=name,
            turn=self.turns.get(name),
            key=next((x for x, intent in mine.items() if intent.kind == "continuation"), None),
            targets={x: how for x, how in targets.items() if mine[x].kind != "continuation"},
            texts={x: "".join(intent.texts) for x, intent in mine.items() if intent.texts},
            models={x: intent.model for x, intent in mine.items() if intent.model},
            usages={x: intent.usage for x, intent in mine.items() if intent.usage},
            took={x: round((self._now() - i.began) * 1000) for x, i in mine.items() if i.began is not None},
        )

    def _close(self, name: str, targets: Mapping[str, How], reason: str) -> None:
        self.closing[name] = frozenset(x for x, how in targets.items() if how != "unsupported")
        for x in self.closing[name]:
            intent = self.intents[name, x]
            intent.interrupted = True
            if intent.handle is not None:
                self._signal(name, x, intent.handle, reason)

    def _signal(self, conversation: str, execution: str, handle: InterruptHandle, reason: str) -> None:
        try:
            handle.interrupt(reason)
        except Exception as error:  # noqa: BLE001  one handle that fails must not keep the others running
            self.faults.append(f"{conversation} {execution} could not be told to stop: {error}")


_APPLY: Mapping[type, Callable[..., None]] = {
    t.TurnStarted: Control._turn_started,
    t.CallsDeclared: Control._calls_declared,
    t.ApprovalRequested: Control._approval_requested,
    t.ApprovalDecided: Control._approval_decided,
    t.IntentRecorded: Control._intent_recorded,
    t.ModelSettled: Control._settled,
    t.ToolSettled: Control._settled,
    t.TurnInterrupted: Control._interrupted,
    t.TurnCompleted: Control._turn_completed,
    t.ContinuationTaken: Control._continued,
    t.ContinuationCancelled: Control._continued,
    t.LimitReached: Control._continued,
    t.ConversationOpened: Control._opened,
    t.ConversationEnded: Control._ended,
}
