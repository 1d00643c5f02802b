"""Judges the log of a conversation, and the ledger of what was promised beside it, by rules of its own.

It shares no code with the engine: it reads the events in order and keeps books. `judge(world)` is called after every
scenario, every explored state and every random walk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.conversation.state import fold
from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.testing.simulation import Accepted, World, promise

STOPPED = ("interrupted", "interrupted_before_execution")


@dataclass
class TurnBook:
    number: int
    declared: tuple[str, ...] | None = None
    intents: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    requested: set[str] = field(default_factory=set)
    changing: set[str] = field(default_factory=set)
    results: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    lost: bool = False
    """Its model call was lost with a process."""
    over: bool = False
    """A result ended the conversation."""
    interrupted: bool = False


@dataclass
class ConversationBook:
    turn: TurnBook | None = None
    turns: int = 0
    waiting: list[str] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)
    due: str = ""
    keys: set[str] = field(default_factory=set)
    ended: bool = False
    held: bool = False
    limits: dict[str, float] = field(default_factory=dict)
    made: int = 0
    """Model calls of it and of all under it that were begun."""


class Books:
    """The log, read as an auditor would."""

    def __init__(self, log: Sequence[Record], *, goes_on: bool = False) -> None:
        self.talks: dict[str, ConversationBook] = {}
        self.goes_on = goes_on
        self.before: t.ConversationEvent | None = None
        for number, record in enumerate(log, 1):
            promise(record.seq == number, f"seq {record.seq} at place {number}")
            event = record.event
            if isinstance(event, t.ConversationEvent):
                self._take(event)
                self.before = event

    def _take(self, event: t.ConversationEvent) -> None:
        book = self.talks.setdefault(event.conversation, ConversationBook())
        turn = book.turn
        match event:
            case t.MessageAccepted():
                promise(event.message not in book.messages, f"message {event.message} accepted twice")
                book.messages.add(event.message)
                book.waiting.append(event.message)
            case t.TurnStarted():
                self._started(book, event)
            case t.ContinuationTaken():
                promise(event.key == book.due, f"continuation {event.key} taken, but {book.due or 'none'} was due")
                promise(event.key not in book.keys, f"continuation {event.key} taken twice")
                book.keys.add(event.key)
                book.due = ""
            case t.ContinuationCancelled():
                promise(event.key == book.due, f"continuation {event.key} cancelled, but {book.due or 'none'} was due")
                book.due = ""
            case t.LimitReached() | t.LimitsSet():
                self._limited(book, event)
            case t.ConversationEnded():
                promise(turn is None and not book.ended, f"{event.conversation} ended with an open turn, or twice")
                book.ended = True
            case t.TranscriptCompacted() | t.ConversationRewound():
                promise(
                    event.turn <= book.turns - (turn is not None),
                    "a turn was told in short, or no more, before it was over",
                )
            case t.ModelRetried():
                promise(turn is not None and turn.number == event.turn, "a model was asked again outside its turn")
            case t.IdleReached():
                self._rested()
            case t.ConversationStopped():
                promise(not any(b.turn for b in self.talks.values()), "stopped with an open turn")
            case (
                t.CommandRefused()
                | t.ConversationOpened()
                | t.ApprovalRemembered()
                | t.TaintCleared()
                | t.FilesRestored()
                | t.PlanSubmitted()
                | t.PlanDecided()
                | t.ProcessStarted()
                | t.ProcessEnded()
                | t.ShutdownRequested()
                | t.ProcessorFailed()
            ):
                pass
            case _:
                promise(turn is not None, f"{event.type} outside a turn")
                assert turn is not None
                promise(turn.number == event.turn, f"{event.type} of turn {event.turn} in turn {turn.number}")
                self._in_turn(book, turn, event)

    def _limited(self, book: ConversationBook, event: t.LimitReached | t.LimitsSet) -> None:
        if isinstance(event, t.LimitsSet):
            book.limits = dict(event.limits)
            return
        promise(book.turn is None, "a limit stopped a turn in its middle")
        promise(event.key is None or event.key == book.due, f"{event.key} held back, but it was not due")
        book.held = True

    def _started(self, book: ConversationBook, event: t.TurnStarted) -> None:
        promise(book.turn is None and not book.ended, "a turn started while another was open")
        promise(event.turn == book.turns + 1, f"turn {event.turn} after turn {book.turns}")
        promise(not book.due, f"turn {event.turn} overtook the continuation {book.due}")
        promise(list(event.messages) == book.waiting, "a turn takes all messages that wait, in order")
        promise(bool(event.messages) or bool(event.continues), "a turn without a cause")
        book.waiting, book.turns, book.turn = [], event.turn, TurnBook(event.turn)
        book.held = False
        name = event.conversation
        while name:
            above = self.talks.setdefault(name, ConversationBook())
            promise(above.made < above.limits.get("turns", math.inf), f"{name} went past its limit of turns")
            above.made += 1
            name = name.rpartition("/")[0]

    def _in_turn(
        self,
        book: ConversationBook,
        turn: TurnBook,
        event: t.IntentRecorded
        | t.ModelSettled
        | t.CallsDeclared
        | t.ToolRequested
        | t.ApprovalRequested
        | t.ApprovalDecided
        | t.ToolSettled
        | t.TurnInterrupted
        | t.TurnCompleted,
    ) -> None:
        match event:
            case t.IntentRecorded():
                promise(not turn.interrupted, f"{event.execution} reserved after the interrupt was recorded")
                promise(event.execution not in turn.intents, f"{event.execution} reserved twice")
                if event.kind != "model":
                    promise(event.call in turn.requested, f"{event.execution} reserved without a request")
                    self._in_its_place(turn, event.call or "")
                    promise(event.call not in turn.results, f"{event.execution} reserved after its result")
                turn.intents.add(event.execution)
            case t.ModelSettled():
                promise(turn.model is None, f"two outcomes of the model in turn {turn.number}")
                turn.model, turn.lost = event.outcome, event.reason == "process_lost"
            case t.CallsDeclared():
                promise(turn.declared is None, f"turn {turn.number} declared twice")
                turn.declared = event.calls
            case t.ToolRequested() | t.ApprovalRequested() | t.ApprovalDecided():
                self._asked(turn, event)
            case t.ToolSettled():
                self._settled(turn, event)
            case t.TurnInterrupted():
                promise(not turn.interrupted, "an interrupt was recorded twice")
                turn.interrupted = True
            case t.TurnCompleted():
                self._completed(book, turn, event)

    def _in_its_place(self, turn: TurnBook, call: str) -> None:
        """What changes something runs after all that was asked for before it; everything behind it waits for it."""
        for before in turn.declared or ():
            if before == call:
                return
            if before in turn.requested and before not in turn.results:
                promise(call not in turn.changing, f"{call} was begun before {before} had ended")
                promise(before not in turn.changing, f"{call} was begun before {before}, which changes something")

    def _asked(self, turn: TurnBook, event: t.ToolRequested | t.ApprovalRequested | t.ApprovalDecided) -> None:
        promise(event.call in (turn.declared or ()), f"{event.call} acted on without a declaration")
        promise(event.call not in turn.results, f"{event.call} acted on after its result")
        if isinstance(event, t.ToolRequested):
            promise(event.call not in turn.requested, f"{event.call} requested twice")
            if event.in_order:
                turn.changing.add(event.call)
            turn.requested.add(event.call)
        elif isinstance(event, t.ApprovalRequested):
            turn.asked.add(event.call)
        else:
            promise(event.call in turn.asked, f"{event.call} decided without a question")
            turn.asked.discard(event.call)

    def _settled(self, turn: TurnBook, event: t.ToolSettled) -> None:
        promise(event.call in (turn.declared or ()), f"{event.call} has a result without a declaration")
        promise(event.call not in turn.results, f"{event.call} has two results")
        ran = event.execution in turn.intents
        promise(ran or event.effect == "none", f"{event.call} had an effect without an intent")
        promise(ran or event.outcome not in ("succeeded", "interrupted"), f"{event.call} ended without an intent")
        before = event.outcome in ("denied", "interrupted_before_execution")
        promise(not before or event.effect == "none", f"{event.call} {event.outcome} with an effect")
        turn.results[event.call] = event.outcome
        turn.over = turn.over or event.ends

    def _completed(self, book: ConversationBook, turn: TurnBook, event: t.TurnCompleted) -> None:
        promise(turn.model is not None, f"turn {turn.number} completed before its model")
        promise(list(event.results) == list(turn.declared or ()), "results in declared order, each exactly once")
        promise(dict(event.results) == turn.results, "the results of a turn are its settlements")
        last = isinstance(self.before, t.ToolSettled | t.ModelSettled | t.TurnInterrupted)
        promise(last, f"turn {turn.number} was not completed with its last settlement")
        again = self.goes_on and turn.lost  # nobody sits in front: what was lost is asked again
        if turn.interrupted or (turn.model == "interrupted" and not again):
            wanted = "interrupted"
        elif turn.model == "failed":
            wanted = "failed"
        else:
            wanted = "continue" if again or (turn.declared and not turn.over) else "final"
        promise(event.disposition == wanted, f"turn {turn.number} ended {event.disposition}, not {wanted}")
        promise((event.key is not None) == (wanted == "continue"), "a key for a continuing turn and no other")
        book.turn, book.due = None, event.key or ""

    def _rested(self) -> None:
        for name, book in self.talks.items():
            promise(book.turn is None, f"at rest while {name} had work")
            promise(book.held or (not book.due and not book.waiting), f"at rest while {name} had something due")


def judge(world: World) -> Books:
    books = Books(world.log, goes_on=world.rules.goes_on)
    if world.alive:
        promise(fold(world.root, world.log) == world.engine.state, "the state is the fold of the log")
    for accepted in world.ledger.accepted:
        _judge_interrupt(world, accepted)
    _judge_transcript(world)
    settled = [(e.conversation, e.call, e.outcome) for e in world.events if isinstance(e, t.ToolSettled)]
    promise(settled == world.ledger.processed, "every result passed the processors once")
    _judge_children(world)
    for x, told in world.ledger.signals.items():
        promise(told <= 1, f"{x} was told to stop {told} times")
    return books


def _judge_interrupt(world: World, accepted: Accepted) -> None:
    """After an accepted interrupt: its targets end interrupted, nothing new in its turn, no continuation of it."""
    after = [record.event for record in world.log[accepted.seq :]]
    for part in accepted.parts:
        mine = [e for e in after if isinstance(e, t.ConversationEvent) and e.conversation == part.conversation]
        for event in mine:
            if part.turn is None:
                continue
            if isinstance(event, t.ModelSettled | t.ToolSettled) and accepted.hit((part.conversation, event.execution)):
                promise(event.outcome in STOPPED, f"{event.execution} ended {event.outcome} after its interrupt")
            if isinstance(event, t.IntentRecorded):
                promise(event.turn != part.turn, f"{event.execution} reserved after an accepted interrupt")
            if isinstance(event, t.TurnCompleted) and event.turn == part.turn:
                promise(event.disposition == "interrupted", f"an interrupted turn ended {event.disposition}")
        if part.key is not None:
            taken = [e for e in mine if isinstance(e, t.ContinuationTaken) and e.key == part.key]
            promise(not taken, f"the continuation {part.key} ran after its interrupt")
        if accepted.recorded and part.turn is not None:
            told = [e for e in mine if isinstance(e, t.TurnInterrupted) and e.turn == part.turn]
            promise(len(told) == 1, f"the interrupt of turn {part.turn} was recorded {len(told)} times")


def _judge_children(world: World) -> None:
    """Sub-conversations are bounded in depth and number, and the call of each is open while it is."""
    open_now: set[str] = set()
    for event in world.events:
        if isinstance(event, t.ConversationOpened) and event.parent:
            open_now.add(event.conversation)
            depth = event.conversation.count("/")
            promise(depth <= world.rules.depth, f"{event.conversation} is {depth} deep")
            promise(len(open_now) <= world.rules.children, f"{len(open_now)} sub-conversations are open")
        elif isinstance(event, t.ConversationEnded):
            open_now.discard(event.conversation)


def _judge_transcript(world: World) -> None:
    """Every call has exactly one result before anything else is said."""
    waiting: list[str] = []
    answered: set[tuple[int, str]] = set()
    for said in world.transcript.entries:
        if said.kind == "call":
            waiting.append(said.call)
        elif said.kind == "result":
            promise(said.call in waiting, f"{said.call} answered without a call, or twice")
            promise((said.turn, said.call) not in answered, f"{said.call} answered twice")
            answered.add((said.turn, said.call))
            waiting.remove(said.call)
        else:
            promise(not waiting, f"{waiting} have no result before the next message")
    promise(not waiting, f"{waiting} have no result at the end")
