"""A conversation in a world of one's own making: virtual time, lagging projections, crashes, handles that only count.

`World` drives the real engine step by step and keeps a *ledger*: what was promised outside the log, such as accepted
interrupts, answers given and chunks shown. Its promises are judged where they are made; `oracle.judge` looks at the
log afterwards. A broken promise raises `BrokenPromiseError`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from weft.conversation.control import Bound, Reply
from weft.conversation.engine import Engine
from weft.conversation.projections import (
    Continuations,
    Notifications,
    Projection,
    Status,
    StatusProjection,
    Transcript,
    deliver,
)
from weft.conversation.state import State, evolve, fold
from weft.conversation.turns import Processor, Result, TurnRules
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.events import Record

Execution = tuple[str, str]
"""A conversation and an execution in it."""
Crash = Literal["before_append", "after_append"]
SILENT = (c.Recover, c.NoteIdle, c.ClearTaint)
"""Commands that may find nothing to do."""


class BrokenPromiseError(AssertionError):
    """The engine did what it must never do."""


def promise(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenPromiseError(what)


@dataclass(slots=True)
class CountingHandle:
    signals: Counter[Execution]
    execution: Execution

    def interrupt(self, reason: str) -> None:
        self.signals[self.execution] += 1


@dataclass(slots=True)
class Accepted:
    """An interrupt that was accepted when the log had `seq` records."""

    seq: int
    parts: tuple[c.Interrupted, ...]
    recorded: bool = False

    def hit(self, execution: Execution) -> bool:
        return any(
            part.conversation == execution[0] and part.targets.get(execution[1], "unsupported") != "unsupported"
            for part in self.parts
        )


@dataclass(slots=True)
class Ledger:
    accepted: list[Accepted] = field(default_factory=list)
    started: Counter[Execution] = field(default_factory=Counter)
    signals: Counter[Execution] = field(default_factory=Counter)
    running: dict[Execution, float] = field(default_factory=dict)
    """What was started and has not returned, with the moment up to which it counts (for ever until interrupted)."""
    continuations: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    shown: list[tuple[Execution, str]] = field(default_factory=list)
    processed: list[tuple[str, str, str]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    dropped: int = 0
    """Chunks dropped by processes that have crashed since."""

    def copied(self) -> Ledger:
        return Ledger(
            [replace(accepted) for accepted in self.accepted],
            Counter(self.started),
            Counter(self.signals),
            dict(self.running),
            list(self.continuations),
            list(self.notices),
            list(self.shown),
            list(self.processed),
            list(self.replies),
            self.dropped,
        )


@dataclass
class World:
    root: str = "main"
    grace: float = 0.25
    model_interruptible: bool = True
    auto_project: bool = True
    auto_continue: bool = False
    processors: tuple[Processor, ...] = ()
    rules: TurnRules = field(default_factory=TurnRules)
    log: list[Record] = field(default_factory=list)
    checkpoints: dict[str, int] = field(default_factory=dict)
    """What survives a crash, besides the log."""
    trail: list[Status] = field(default_factory=lambda: ["idle"])
    ledger: Ledger = field(default_factory=Ledger)
    now: float = 0.0
    alive: bool = False
    _pending: list[tuple[str, str, str]] = field(default_factory=list)
    """Results processed by the decision that is not yet in the log."""

    def __post_init__(self) -> None:
        self.rules = replace(
            self.rules, processors=(*self.processors, self._spy), model_interruptible=self.model_interruptible
        )
        if not self.alive:
            self.start_process()

    # -- the process

    def start_process(self) -> None:
        """Open the conversation from what is durable."""
        state = fold(self.root, self.log)
        self.status = StatusProjection(self.root)
        self.transcript = Transcript(self.root)
        self.projections: list[Projection] = [
            self.status,
            Continuations(self._enqueue),
            Notifications(lambda key, _: self.ledger.notices.append(key)),
            self.transcript,
        ]
        for projection in self.projections:
            seen = self.checkpoints.get(projection.name, 0)
            if projection in (self.status, self.transcript):
                for record in self.log[:seen]:
                    deliver(projection, record)
            projection.checkpoint = seen
        self.status.trail = self.trail
        activity = next((r.seq for r in reversed(self.log) if not isinstance(r.event, t.IdleReached)), 0)
        self.engine = Engine(
            state,
            now=lambda: self.now,
            seq=activity,
            grace=self.grace,
            rules=self.rules,
            projections=self.projections,
            follow=False,
        )
        self.alive = True
        self.engine.submit(c.Recover(conversation=self.root))
        if self.auto_continue:
            for name, talk in state.talks.items():
                if talk.pending:
                    self.engine.submit(c.Continue(conversation=name, key=talk.pending))
        self.drain()
        if self.auto_project:
            self.project()

    def crash(self) -> None:
        """The memory of the process is gone: with it everything that ran, and interrupts that were not recorded."""
        self.ledger.dropped += self.engine.control.dropped
        self.ledger.accepted = [accepted for accepted in self.ledger.accepted if accepted.recorded]
        self.ledger.running.clear()
        self._pending.clear()
        self.alive = False

    def restart(self) -> None:
        if self.alive:
            self.crash()
        self.start_process()

    @property
    def state(self) -> State:
        return self.engine.state

    # -- the writer

    def submit(self, command: c.ConversationCommand, *, hold: bool = False) -> None:
        self.engine.submit(command)
        if not hold:
            self.drain()

    def drain(self) -> None:
        while self.alive and self.engine.inbox:
            self.step()

    def step(self, crash: Crash | None = None) -> None:
        """Handle exactly one command."""
        if not self.engine.inbox:
            return
        command = self.engine.inbox[0]
        before = self.engine.state.copied()
        events = self.engine.take(1)
        promise(bool(events) or isinstance(command, SILENT), f"{command.type} left no trace")
        if crash == "before_append":
            self.crash()
            return
        records = [Record(len(self.log) + number, "", event) for number, event in enumerate(events, 1)]
        self._count_processed(records)
        self.log += records
        if isinstance(command, c.RecordInterrupt):
            for accepted in self.ledger.accepted:
                accepted.recorded = accepted.recorded or accepted.parts == command.parts
        promise(_same(fold_on(before, events), self.engine.state), "the state is the fold of the events")
        if crash == "after_append":
            self.crash()
            return
        self.engine.publish(records)
        if self.auto_project:
            self.project()

    def _spy(self, result: Result) -> str:
        self._pending.append((result.conversation, result.call, result.outcome))
        return result.text

    def _count_processed(self, records: Sequence[Record]) -> None:
        settled = [
            (r.event.conversation, r.event.call, r.event.outcome) for r in records if isinstance(r.event, t.ToolSettled)
        ]
        promise(settled == self._pending, "every result passes the processors exactly once")
        self.ledger.processed += self._pending
        self._pending.clear()

    # -- projections

    def project(self, name: str | None = None) -> None:
        for projection in self.projections:
            if name in (None, projection.name):
                for record in self.log[projection.checkpoint :]:
                    deliver(projection, record)
                self.checkpoints[projection.name] = projection.checkpoint
        if self.auto_continue:
            self.drain()

    def redeliver(self, name: str | None = None, first: int = 1) -> None:
        """Hand records out again, as a queue that delivers at least once may."""
        for projection in self.projections:
            if name in (None, projection.name):
                for record in self.log[first - 1 : projection.checkpoint]:
                    deliver(projection, record)

    def lose_checkpoint(self, name: str) -> None:
        """What only folds begins anew; what has an effect will see everything again when it is next run."""
        self.checkpoints[name] = 0
        for number, projection in enumerate(self.projections):
            if projection.name != name:
                continue
            projection.checkpoint = 0
            if projection is self.status:
                self.trail[:] = ["idle"]
                self.status = self.projections[number] = StatusProjection(self.root, trail=self.trail)
            elif projection is self.transcript:
                self.transcript = self.projections[number] = Transcript(self.root)
            if self.auto_project and self.alive and projection is not self.projections[number]:
                self.project(name)

    def _enqueue(self, conversation: str, key: str) -> None:
        self.ledger.continuations.append(key)
        if self.auto_continue:
            self.engine.submit(c.Continue(conversation=conversation, key=key))

    # -- executions

    def start(self, execution: str, conversation: str | None = None) -> bool:
        x = (conversation or self.root, execution)
        if not self.engine.control.begin_start(*x):
            return False
        self.ledger.started[x] += 1
        self.ledger.running[x] = float("inf")
        promise(self.ledger.started[x] == 1, f"{x} started twice")
        intents = [r.event for r in self.log if isinstance(r.event, t.IntentRecorded)]
        promise(any((i.conversation, i.execution) == x for i in intents), f"{x} started without an intent in the log")
        promise(not self._hit(x), f"{x} started after it was interrupted")
        return True

    def bind(self, execution: str, conversation: str | None = None) -> Bound:
        x = (conversation or self.root, execution)
        told = self.ledger.signals[x]
        bound = self.engine.control.bind(*x, CountingHandle(self.ledger.signals, x))
        if bound != "bound":
            promise(self.ledger.signals[x] == told + 1, f"{x} was interrupted before it was bound and not told so")
        else:
            promise(not self._hit(x), f"{x} was bound although it was interrupted")
        return bound

    def run(self, execution: str, conversation: str | None = None) -> None:
        if self.start(execution, conversation):
            self.bind(execution, conversation)

    def chunk(self, execution: str, text: str, conversation: str | None = None) -> bool:
        x = (conversation or self.root, execution)
        if not self.engine.control.deliver(*x, text):
            return False
        promise(not self._hit(x), f"a chunk of {x} was shown after its interrupt")
        self.ledger.shown.append((x, text))
        return True

    def settle(self, command: c.SettleModel | c.SettleTool, *, hold: bool = False) -> None:
        self.ledger.running.pop((command.conversation, command.execution), None)
        self.submit(command, hold=hold)

    def returned(self, execution: str, conversation: str | None = None) -> None:
        x = (conversation or self.root, execution)
        self.ledger.running.pop(x, None)
        self.engine.control.returned(*x)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for x in self.engine.control.expire():
            self.ledger.running.pop(x, None)

    def _hit(self, x: Execution) -> bool:
        return any(accepted.hit(x) for accepted in self.ledger.accepted)

    # -- interrupts and rest

    def interrupt(self, target: str | None = None, reason: str = "user", *, hold: bool = False) -> Reply:
        reply = self._interrupting(lambda: self.engine.interrupt(target, reason), target)
        self.ledger.replies.append(reply.status)
        if reply.status == "accepted" and not hold:
            self.drain()
        return reply

    def shutdown(self, *, hold: bool = False) -> Reply:
        reply = self._interrupting(self.engine.shut, None)
        if not hold:
            self.drain()
        return reply

    def _interrupting(self, call: Callable[[], Reply], target: str | None) -> Reply:
        control = self.engine.control
        before, table = self.engine.state.copied(), _table(control.intents)
        reply = call()
        promise(_same(before, self.engine.state), "the fast lane touches the control alone")
        if reply.status == "accepted":
            self.ledger.accepted.append(Accepted(len(self.log), reply.parts))
        else:
            promise(_table(control.intents) == table, f"an interrupt that is {reply.status} changes nothing")
        if reply.status == "nothing_to_interrupt" and target is None:
            open_turns = [name for name, talk in self.state.talks.items() if talk.turn or talk.pending]
            promise(not open_turns, f"an interrupt was ignored while {open_turns} had something to do")
        return reply

    def idle(self) -> bool:
        answer = self.engine.note_idle()
        if answer:
            promise(not self.engine.inbox or isinstance(self.engine.inbox[0], c.NoteIdle), "idle with a full inbox")
            promise(all(talk.resting for talk in self.state.talks.values()), "idle with something open")
            promise(not self.ledger.running, f"idle while {list(self.ledger.running)} had not returned")
            behind = [p.name for p in self.projections if p.blocking and p.checkpoint < self._activity()]
            promise(not behind, f"idle while {behind} had not seen everything")
        self.drain()
        return answer

    def stop(self, clean: bool | None = None) -> None:
        at_rest = self.engine.settled and not self.engine.control.abandoned
        self.submit(c.Stop(conversation=self.root, clean=at_rest if clean is None else clean))

    def _activity(self) -> int:
        return next((r.seq for r in reversed(self.log) if not isinstance(r.event, t.IdleReached)), 0)

    def copied(self) -> World:
        """A world that goes its own way from here."""
        twin = World.__new__(World)
        for name in ("root", "grace", "model_interruptible", "auto_project", "auto_continue", "processors", "now"):
            setattr(twin, name, getattr(self, name))
        twin.alive, twin._pending = self.alive, list(self._pending)
        twin.log, twin.checkpoints, twin.trail = list(self.log), dict(self.checkpoints), list(self.trail)
        twin.ledger = self.ledger.copied()
        twin.rules = replace(self.rules, processors=(*self.processors, twin._spy))
        twin.status = replace(
            self.status, trail=twin.trail, _tools=set(self.status._tools), _asked=set(self.status._asked)
        )
        twin.transcript = replace(
            self.transcript,
            entries=list(self.transcript.entries),
            _texts=dict(self.transcript._texts),
            _calls=dict(self.transcript._calls),
            _results=dict(self.transcript._results),
        )
        _, continuations, notifications, _ = self.projections
        twin.projections = [
            twin.status,
            Continuations(twin._enqueue, continuations.checkpoint),
            Notifications(lambda key, _: twin.ledger.notices.append(key), notifications.checkpoint),
            twin.transcript,
        ]
        twin.engine = self._copied_engine(twin)
        return twin

    def _copied_engine(self, twin: World) -> Engine:
        old = self.engine
        engine = Engine(
            State(self.root),
            now=lambda: twin.now,
            seq=old.activity,
            grace=self.grace,
            rules=twin.rules,
            projections=twin.projections,
            follow=False,
        )
        engine.state = old.state.copied()
        engine.inbox.extend(old.inbox)
        mine, control = engine.control, old.control
        mine.turns, mine.closing, mine.stopping = dict(control.turns), dict(control.closing), set(control.stopping)
        mine.abandoned, mine.dropped, mine._answers = set(control.abandoned), control.dropped, dict(control._answers)
        for key, intent in control.intents.items():
            handle = CountingHandle(twin.ledger.signals, key) if intent.handle else None
            mine.intents[key] = replace(intent, handle=handle, texts=list(intent.texts))
        return engine

    # -- what a test reads

    @property
    def dropped(self) -> int:
        return self.ledger.dropped + self.engine.control.dropped

    @property
    def events(self) -> list[t.ConversationEvent]:
        return [record.event for record in self.log if isinstance(record.event, t.ConversationEvent)]


def fold_on(state: State, events: Sequence[t.ConversationEvent]) -> State:
    for event in events:
        evolve(state, event)
    return state


def _same(one: State, other: State) -> bool:
    return one == other


def _table(intents: object) -> str:
    return repr(intents)
