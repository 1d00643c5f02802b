"""A conversation without a clock, a disk or tasks: the inbox, the writer's step, the fast lane, idleness.

    submit(command)   into the inbox, from anywhere
    take(limit)       decide the next commands; the events go into the log in one write
    publish(records)  they are durable: projections see them, and the intents in them may start
    interrupt(…)      the fast lane: synchronous, touches the control alone

Between `take` and `publish` nothing is shown and nothing starts. The control takes the events in before they are
durable, so that an interrupt that comes during the write meets the decision that was made; if the write fails, the
conversation is broken for good and nothing of it was seen. Everything that runs here is driven by `conversation.py` in
earnest and by simulations in the tests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from weft.conversation.control import Control, Reply
from weft.conversation.decide import decide
from weft.conversation.projections import Projection, deliver
from weft.conversation.state import State, evolve
from weft.conversation.turns import OPEN, RULES, InterruptGate, TurnRules
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.events import Record


class Engine:
    def __init__(
        self,
        state: State,
        *,
        now: Callable[[], float],
        seq: int = 0,
        grace: float = 0.25,
        rules: TurnRules = RULES,
        projections: Sequence[Projection] = (),
        follow: bool = True,
    ) -> None:
        self.state = state
        self.control = Control(now, grace)
        self.control.restore(state)
        self.inbox: deque[c.ConversationCommand] = deque()
        self.projections = projections
        self.rules = rules
        self._follow = follow
        """Simulations let projections lag."""
        self.activity = seq
        """The number of the last record that is not only the note of rest."""

    # -- the writer's side

    def submit(self, command: c.ConversationCommand) -> None:
        self.inbox.append(command)

    def take(self, limit: int = 1) -> list[t.ConversationEvent]:
        """Decide up to `limit` commands in the order in which they came."""
        events: list[t.ConversationEvent] = []
        while self.inbox and limit > 0:
            limit -= 1
            events += self._handle(self.inbox.popleft())
        return events

    def _handle(self, command: c.ConversationCommand) -> list[t.ConversationEvent]:
        if isinstance(command, c.SettleModel | c.SettleTool):
            self.control.returned(command.conversation, command.execution)
        if isinstance(command, c.RecordInterrupt):
            self.control.recorded(part.conversation for part in command.parts)
        events = decide(self.state, command, self.gate, self.rules)
        for event in events:
            evolve(self.state, event)
            self.control.apply(event)
        return events

    @property
    def gate(self) -> InterruptGate:
        return InterruptGate(self.control.closing) if self.control.closing else OPEN

    def publish(self, records: Iterable[Record]) -> list[t.IntentRecorded]:
        """What was decided is durable. Returns the intents whose executions may start now."""
        starts: list[t.IntentRecorded] = []
        for record in records:
            if not isinstance(record.event, t.IdleReached):
                self.activity = record.seq
            if isinstance(record.event, t.IntentRecorded) and record.event.kind != "child":
                starts.append(record.event)
            for projection in self.projections if self._follow else ():
                deliver(projection, record)
        return starts

    # -- the fast lane

    def interrupt(self, target: str | None = None, reason: str = "user") -> Reply:
        """Stop a conversation and all under it, or everything. The record of it comes through the inbox."""
        top = self.state.root if target is None else target
        names = sorted(name for name in self.state.talks if name == top or name.startswith(f"{top}/"))
        reply = self.control.interrupt(names, reason)
        if reply.status == "accepted":
            self.submit(c.RecordInterrupt(conversation=self.state.root, reason=reason, parts=reply.parts))
        return reply

    def shut(self) -> Reply:
        """Close the intake and stop everything; `Stop` follows when it is at rest or the time is up."""
        root = self.state.root
        names = sorted(self.state.talks)
        reply = self.control.interrupt(names, "shutdown")
        self.submit(c.Shutdown(conversation=root))
        if reply.status == "accepted":
            self.submit(c.RecordInterrupt(conversation=root, reason="shutdown", parts=reply.parts))
        return reply

    # -- rest

    @property
    def quiescent(self) -> bool:
        """Nothing is open, due, queued, running or draining, and every projection that matters has seen it all."""
        return (
            not self.inbox
            and self.state.resting
            and not self.control.intents
            and all(p.checkpoint >= self.activity for p in self.projections if p.blocking)
        )

    @property
    def settled(self) -> bool:
        """Nothing runs or is open, though messages may wait for the next time."""
        open_talks = any(talk.turn is not None or talk.pending for talk in self.state.talks.values())
        return not self.inbox and not self.control.intents and not open_talks

    def note_idle(self) -> bool:
        """Whether it is at rest; the first time after any activity, the log says so."""
        if not self.quiescent or self.state.stopping:
            return False
        if not self.state.rested and not self.state.stopped:
            self.submit(c.NoteIdle(conversation=self.state.root))
        return True
