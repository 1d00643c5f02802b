"""What a conversation's log adds up to. `evolve` is the one step of the fold and the only code that changes a `State`.

A `State` holds one conversation with its sub-conversations. It knows only what is open: a completed turn leaves its
number behind, its texts are in the transcript (`projections.py`). So it stays small however long the log is. A log with
a damaged line must still fold, so a step takes what it finds and never insists on what should be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal

from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.protocol.hashes import hash_value
from weft.protocol.values import dataclass, replace

CallPhase = Literal["declared", "asked", "ready", "running", "settled"]
"""`ready`: it may run, and does when the calls before it that it has to wait for have ended."""


@dataclass(slots=True)
class CallState:
    """A tool call of the open turn."""

    phase: CallPhase = "declared"
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    prompt: str | None = None
    interruptible: bool = True
    safe_to_retry: bool = False
    in_order: bool = False
    execution: str = ""
    attempts: int = 0
    child: str = ""
    """The open sub-conversation that this call is."""
    observed: bool = False
    """It ended by itself, but an interrupt that was accepted before takes precedence."""
    outcome: t.ToolOutcome | None = None
    ends: bool = False
    """Its result ended the conversation."""


@dataclass(slots=True)
class TurnState:
    number: int
    model: str = ""
    """The open execution of the model."""
    model_outcome: t.ModelOutcome | None = None
    declared: bool = False
    calls: dict[str, CallState] = field(default_factory=dict)
    """In declared order."""
    interrupted: bool = False
    lost: bool = False
    """Its model call was lost with a process."""

    def copied(self) -> TurnState:
        return replace(self, calls={name: replace(call) for name, call in self.calls.items()})

    @property
    def complete(self) -> bool:
        return self.model_outcome is not None and all(call.phase == "settled" for call in self.calls.values())


@dataclass(frozen=True, slots=True)
class ConversationTaken:
    """What a conversation has taken so far, with all that was ever under it."""

    turns: int = 0
    ms: int = 0
    usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Tokens by model and kind."""

    def and_call(self, model: str, usage: Mapping[str, Any], ms: int = 0) -> ConversationTaken:
        before = self.usage.get(model, {})
        counts = {kind: before.get(kind, 0) + n for kind, n in usage.items() if type(n) is int}
        used = {**self.usage, model: {**before, **counts}} if counts else self.usage
        return ConversationTaken(self.turns, self.ms + ms, used)


@dataclass(slots=True)
class ConversationState:
    """One conversation: main or sub."""

    conversation: str
    parent: str = ""
    parent_execution: str = ""
    turn: TurnState | None = None
    turns: int = 0
    """The number of the last turn."""
    waiting: tuple[str, ...] = ()
    """Messages that are kept for the next turn."""
    pending: str = ""
    """The key of the continuation that is due."""
    continued: int = 0
    """The last turn whose continuation was taken."""
    cancelled: tuple[str, ...] = ()
    """Continuations that an interrupt took away."""
    compacted: int = 0
    """The last turn that a model is told of in a summary only."""
    children: int = 0
    """How many sub-conversations it ever opened."""
    last_text: str = ""
    """Of a sub-conversation: what it said last."""
    seen: Mapping[str, str] = field(default_factory=dict)
    """Files as its model last saw them: the hash of each."""
    taken: ConversationTaken = ConversationTaken()
    limits: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)
    """Calls that failed since the person last spoke, by tool and input: the tool, how often, the last turn of it."""
    held: str | None = None
    """A limit holds it back: the key of the continuation that waits for it, "" when messages do."""
    plan: str = ""
    """The plan that waits for the person's word."""

    @property
    def depth(self) -> int:
        return self.conversation.count("/")

    @property
    def resting(self) -> bool:
        return self.turn is None and not self.pending and (not self.waiting or self.held is not None)

    def copied(self) -> ConversationState:
        return replace(self, turn=self.turn and self.turn.copied())


@dataclass(slots=True)
class State:
    root: str
    talks: dict[str, ConversationState] = field(default_factory=dict)
    allowed: frozenset[str] = frozenset()
    """Keys of approvals given for the session."""
    tainted: bool = False
    """Content from outside has come in."""
    opened: bool = False
    stopping: bool = False
    stopped: bool = False
    rested: bool = False
    """The last thing that happened is that it came to rest."""
    background: tuple[str, ...] = ()
    """Commands that went into the background, and have no end yet."""
    started: int = 0
    """How many ever did."""

    @property
    def resting(self) -> bool:
        return all(talk.resting for talk in self.talks.values())

    def copied(self) -> State:
        return replace(self, talks={name: talk.copied() for name, talk in self.talks.items()})

    def holds(self, conversation: str) -> bool:
        return conversation == self.root or conversation.startswith(self.root + "/")


def evolve(state: State, event: object) -> None:
    """One step of the fold. Events of runs, and of conversations that are none of ours, are passed over."""
    step = _EVOLVE.get(type(event))
    if step is None:
        return
    name: str = event.conversation  # type: ignore[attr-defined]
    talk = state.talks.get(name)
    if talk is None:
        if not state.holds(name):
            return
        # A late refusal may name a sub-conversation that has ended: it is no talk any more.
        talk = ConversationState(name)
        if name == state.root or type(event) is t.ConversationOpened:
            state.talks[name] = talk
    state.rested = False
    step(state, talk, event)


def fold(root: str, records: Iterable[Record]) -> State:
    state = State(root)
    for record in records:
        evolve(state, record.event)
    return state


def above(state: State, name: str) -> Iterator[ConversationState]:
    """A conversation and those that it is under, as far as they are open."""
    while state.holds(name):
        if talk := state.talks.get(name):
            yield talk
        name = name.rpartition("/")[0]


def turn_of(execution: str) -> int:
    """The turn an execution belongs to, from its name; 0 for a name that is none."""
    head = execution.partition("/")[0]
    return int(head[1:]) if head[:1] == "t" and head[1:].isdecimal() else 0


def key_of(conversation: str, turn: int) -> str:
    return f"{conversation}:t{turn}"


def _opened(state: State, talk: ConversationState, event: t.ConversationOpened) -> None:
    if event.tainted:
        state.tainted = True
    if event.parent is None:
        state.opened, state.stopping, state.stopped = True, False, False
        if event.tainted:
            state.allowed = frozenset()  # nobody here said so
        return
    talk.parent, talk.parent_execution = event.parent, event.execution or ""
    parent = state.talks.get(event.parent)
    if parent is not None:
        parent.children += 1
        if call := _call_of(parent, talk.parent_execution):
            call.child = event.conversation


def _message(state: State, talk: ConversationState, event: t.MessageAccepted) -> None:
    talk.waiting += (event.message,)
    talk.failures = {}
    if event.tainted or any(one.get("outside") for one in event.attached):
        state.tainted = True


def _taken(state: State, talk: ConversationState, event: t.ContinuationTaken) -> None:
    talk.pending, talk.continued = "", talk.turns


def _cancelled(state: State, talk: ConversationState, event: t.ContinuationCancelled) -> None:
    talk.pending, talk.cancelled = "", (*talk.cancelled, event.key)


def _started(state: State, talk: ConversationState, event: t.TurnStarted) -> None:
    talk.turn, talk.turns, talk.held = TurnState(event.turn), event.turn, None
    for one in above(state, talk.conversation):
        one.taken = replace(one.taken, turns=one.taken.turns + 1)
    if len(event.messages) == len(talk.waiting):
        talk.waiting = ()
    else:
        talk.waiting = tuple(message for message in talk.waiting if message not in event.messages)


def _intent(state: State, talk: ConversationState, event: t.IntentRecorded) -> None:
    turn = talk.turn
    if turn is None:
        return
    if event.kind == "model":
        turn.model = event.execution
        return
    call = turn.calls.get(event.call or "")
    if call is not None:
        call.phase, call.execution, call.attempts = "running", event.execution, call.attempts + 1


def _model(state: State, talk: ConversationState, event: t.ModelSettled) -> None:
    if talk.turn is not None:
        talk.turn.model, talk.turn.model_outcome = "", event.outcome
        talk.turn.lost = event.reason == t.PROCESS_LOST
    if talk.parent:
        talk.last_text = event.text or (event.reason or "" if event.outcome == "failed" else "")
    for one in above(state, talk.conversation):
        one.taken = one.taken.and_call(event.model or "", event.usage, event.ms)


def _declared(state: State, talk: ConversationState, event: t.CallsDeclared) -> None:
    if talk.turn is not None:
        talk.turn.declared = True
        talk.turn.calls = {name: CallState() for name in event.calls}


def _requested(state: State, talk: ConversationState, event: t.ToolRequested) -> None:
    if talk.turn is not None and (call := talk.turn.calls.get(event.call)):
        call.tool, call.input, call.key, call.prompt = event.tool, event.input, event.key or "", event.prompt
        call.interruptible, call.safe_to_retry = event.interruptible, event.safe_to_retry
        call.in_order = event.in_order
        if event.verdict == "allow":
            call.phase = "ready"


def _asked(state: State, talk: ConversationState, event: t.ApprovalRequested) -> None:
    if talk.turn is not None and (call := talk.turn.calls.get(event.call)):
        call.phase = "asked"


def _approved(state: State, talk: ConversationState, event: t.ApprovalDecided) -> None:
    if event.decision != "denied" and talk.turn is not None and (call := talk.turn.calls.get(event.call)):
        call.phase = "ready"


def _remembered(state: State, talk: ConversationState, event: t.ApprovalRemembered) -> None:
    state.allowed |= {event.key}


def _settled(state: State, talk: ConversationState, event: t.ToolSettled) -> None:
    if event.tainting:
        state.tainted = True
    if talk.turn is not None and (call := talk.turn.calls.get(event.call)):
        call.phase, call.outcome, call.child, call.ends = "settled", event.outcome, "", event.ends
        talk.failures = _failures(talk.failures, call, event)
    if event.seen:
        talk.seen = {**talk.seen, **event.seen}
    if event.ms:
        for one in above(state, talk.conversation):
            one.taken = replace(one.taken, ms=one.taken.ms + event.ms)


def _failures(
    before: Mapping[str, tuple[str, int, int]], call: CallState, event: t.ToolSettled
) -> Mapping[str, tuple[str, int, int]]:
    """Once a turn for each call; whatever was changed since may let it succeed, so then it counts anew."""
    if event.outcome in ("failed", "denied"):
        name = failing(call)
        _, count, last = before.get(name, ("", 0, 0))
        return before if last == event.turn else {**before, name: (call.tool, count + 1, event.turn)}
    if event.outcome != "succeeded" or not before:
        return before
    return {} if call.in_order else {name: one for name, one in before.items() if name != failing(call)}


def failing(call: CallState) -> str:
    """What makes two calls the same."""
    return hash_value([call.tool, dict(call.input)])


def _interrupted(state: State, talk: ConversationState, event: t.TurnInterrupted) -> None:
    if talk.turn is not None:
        talk.turn.interrupted = True


def _completed(state: State, talk: ConversationState, event: t.TurnCompleted) -> None:
    talk.turn, talk.pending = None, event.key or ""


def _compacted(state: State, talk: ConversationState, event: t.TranscriptCompacted) -> None:
    talk.compacted = event.turn
    for one in above(state, talk.conversation):
        one.taken = one.taken.and_call(event.model or "", event.usage)


def _limits(state: State, talk: ConversationState, event: t.LimitsSet) -> None:
    talk.limits = dict(event.limits)


def _cleared(state: State, talk: ConversationState, event: t.TaintCleared) -> None:
    state.tainted = False


def _restored(state: State, talk: ConversationState, event: t.FilesRestored) -> None:
    for one in state.talks.values():  # what a model knows of these files is not so any more
        one.seen = {name: seen for name, seen in one.seen.items() if name not in event.files}


def _rewound(state: State, talk: ConversationState, event: t.ConversationRewound) -> None:
    talk.waiting, talk.held, talk.plan, talk.failures = (), None, "", {}
    for one in state.talks.values():
        one.seen = {}  # what a model has seen since is told to it no more, nor what it saw of these files


def _planned(state: State, talk: ConversationState, event: t.PlanSubmitted) -> None:
    talk.plan = event.plan


def _plan_decided(state: State, talk: ConversationState, event: t.PlanDecided) -> None:
    talk.plan = ""


def _process_started(state: State, talk: ConversationState, event: t.ProcessStarted) -> None:
    state.background, state.started = (*state.background, event.process), state.started + 1


def _process_ended(state: State, talk: ConversationState, event: t.ProcessEnded) -> None:
    state.background = tuple(one for one in state.background if one != event.process)


def _limited(state: State, talk: ConversationState, event: t.LimitReached) -> None:
    talk.held = event.key or talk.held or ""
    if event.key:
        talk.pending = ""


def _refused(state: State, talk: ConversationState, event: t.CommandRefused) -> None:
    if event.refusal == "stale_settlement" and event.outcome == "succeeded" and event.execution:
        call = _call_of(talk, event.execution)
        if call is not None and call.phase == "running":
            call.observed = True


def _idle(state: State, talk: ConversationState, event: t.IdleReached) -> None:
    state.rested = True


def _shutdown(state: State, talk: ConversationState, event: t.ShutdownRequested) -> None:
    state.stopping = True


def _stopped(state: State, talk: ConversationState, event: t.ConversationStopped) -> None:
    state.stopping, state.stopped = True, True


def _ended(state: State, talk: ConversationState, event: t.ConversationEnded) -> None:
    state.talks.pop(event.conversation, None)


def _nothing(state: State, talk: ConversationState, event: object) -> None:
    """For the reader of the log; the state does not depend on it."""


def _call_of(talk: ConversationState, execution: str) -> CallState | None:
    for call in talk.turn.calls.values() if talk.turn else ():
        if call.execution == execution:
            return call
    return None


_EVOLVE: Mapping[type, Callable[..., None]] = {
    t.ConversationOpened: _opened,
    t.MessageAccepted: _message,
    t.ContinuationTaken: _taken,
    t.ContinuationCancelled: _cancelled,
    t.TurnStarted: _started,
    t.IntentRecorded: _intent,
    t.ModelRetried: _nothing,
    t.ModelSettled: _model,
    t.CallsDeclared: _declared,
    t.ToolRequested: _requested,
    t.ApprovalRequested: _asked,
    t.ApprovalDecided: _approved,
    t.ApprovalRemembered: _remembered,
    t.ToolSettled: _settled,
    t.TurnInterrupted: _interrupted,
    t.TurnCompleted: _completed,
    t.TranscriptCompacted: _compacted,
    t.LimitsSet: _limits,
    t.TaintCleared: _cleared,
    t.FilesRestored: _restored,
    t.ConversationRewound: _rewound,
    t.PlanSubmitted: _planned,
    t.PlanDecided: _plan_decided,
    t.ProcessStarted: _process_started,
    t.ProcessEnded: _process_ended,
    t.LimitReached: _limited,
    t.CommandRefused: _refused,
    t.ProcessorFailed: _nothing,
    t.IdleReached: _idle,
    t.ShutdownRequested: _shutdown,
    t.ConversationStopped: _stopped,
    t.ConversationEnded: _ended,
}
