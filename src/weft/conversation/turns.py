"""The parts a decision is made of: how a turn starts, a call is taken in, a result ends it, and what comes next.

Everything here works on a `Draft`: the events decided so far and the state as they leave it. `decide.py` has the rule
for each command; only this module completes a turn and only `settle_call` ends a tool call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from weft.conversation.limits import reached, unpriced
from weft.conversation.state import CallState, ConversationState, State, TurnState, evolve, failing, key_of
from weft.models.budget import Price
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.values import dataclass

SHUTDOWN_TIMEOUT: Final = "shutdown_timeout"
MODEL: Final = "model"
NO_END: Final = c.ToolEnd(text="")


@dataclass(frozen=True, slots=True)
class InterruptGate:
    """The interrupts that are accepted and not yet recorded: by conversation, the executions they hit."""

    closing: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def closes(self, conversation: str, execution: str) -> bool:
        return execution in self.closing.get(conversation, ())


OPEN: Final = InterruptGate()


@dataclass(frozen=True, slots=True)
class Result:
    """A tool call's end on its way into the log."""

    conversation: str
    call: str
    tool: str
    outcome: t.ToolOutcome
    effect: t.ToolEffect
    text: str


Processor = Callable[[Result], str]
"""Gives the text that is recorded for a result. Pure and quick: it runs inside the decision."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """What a decision depends on besides the log."""

    processors: tuple[Processor, ...] = ()
    model_interruptible: bool = True
    depth: int = 2
    """How deep sub-conversations may nest."""
    children: int = 8
    """How many sub-conversations may be open at once."""
    failures: int = 5
    """How many turns in a row the same call may fail before the model is not called again; 0 for no limit."""
    price: Price = unpriced
    """What a limit in money is reckoned with."""
    goes_on: bool = False
    """Nobody sits in front of it. After a crash a model call that was lost is made again, in a turn of its own, and a
    lost tool call too when its tool is safe to retry; of any other the model is told that nobody knows what it did.
    Without it nothing is ever run twice, and a person says how to go on."""


RULES: Final = TurnRules()


class DecisionDraft:
    """A decision in the making: its events, and the state as they leave it. The given state is never touched."""

    def __init__(self, state: State, gate: InterruptGate, rules: TurnRules) -> None:
        self.events: list[t.ConversationEvent] = []
        self.gate = gate
        self.rules = rules
        self.recovering = False
        """The parent of a lost sub-conversation is looked at in its turn, not completed at once."""
        self._state = state
        self._own: State | None = None

    @property
    def state(self) -> State:
        return self._own or self._state

    def emit(self, *events: t.ConversationEvent) -> None:
        if self._own is None:
            self._own = self._state.copied()
        for event in events:
            evolve(self._own, event)
            self.events.append(event)

    def talk(self, conversation: str) -> ConversationState | None:
        return self.state.talks.get(conversation)

    def turn(self, conversation: str) -> TurnState:
        turn = self.open_turn(conversation)
        assert turn is not None
        return turn

    def open_turn(self, conversation: str) -> TurnState | None:
        talk = self.talk(conversation)
        return talk.turn if talk else None

    def refuse(self, conversation: str, refusal: t.Refusal, **what: Any) -> None:
        self.emit(t.CommandRefused(conversation=conversation, refusal=refusal, **what))


# -- turns


def start_turn(draft: DecisionDraft, name: str, continues: str | None = None) -> None:
    """Call the model, unless a limit is reached: then a sub-conversation ends, and any other waits."""
    talk = draft.state.talks[name]
    number = talk.turns + 1
    if over := reached(draft.state, name, draft.rules.price, draft.rules.failures):
        limit, reason = over
        draft.emit(t.LimitReached(conversation=name, limit=limit, reason=reason, key=continues))
        if talk.parent:
            _end_child(draft, draft.state.talks[name], "failed", reason)
        return
    if continues:
        draft.emit(t.ContinuationTaken(conversation=name, key=continues))
    draft.emit(
        t.TurnStarted(conversation=name, turn=number, messages=talk.waiting, continues=continues),
        t.IntentRecorded(
            conversation=name,
            turn=number,
            execution=f"t{number}/{MODEL}",
            kind="model",
            interruptible=draft.rules.model_interruptible,
        ),
    )


def complete(draft: DecisionDraft, name: str) -> None:
    """Let the calls run whose place has come; complete the turn if nothing in it is open, and start what comes next.

    While an accepted interrupt waits for its record, that record completes the turn: as interrupted.
    """
    release(draft, name)
    turn = draft.open_turn(name)
    if turn is None or not turn.complete or name in draft.gate.closing:
        return
    disposition = _disposition(turn, goes_on=draft.rules.goes_on)
    draft.emit(
        t.TurnCompleted(
            conversation=name,
            turn=turn.number,
            disposition=disposition,
            key=key_of(name, turn.number) if disposition == "continue" else None,
            results={call_id: str(call.outcome) for call_id, call in turn.calls.items()},
        )
    )
    go_on(draft, name, disposition)


def _disposition(turn: TurnState, *, goes_on: bool) -> t.Disposition:
    if turn.interrupted or (turn.model_outcome == "interrupted" and not (turn.lost and goes_on)):
        return "interrupted"
    if turn.model_outcome == "failed":
        return "failed"
    over = any(call.ends for call in turn.calls.values()) if turn.calls else turn.model_outcome == "completed"
    return "final" if over else "continue"


def go_on(draft: DecisionDraft, name: str, disposition: t.Disposition) -> None:
    """After a turn or a cancelled continuation: end a sub-conversation, or start a turn with what waits."""
    talk = draft.state.talks[name]
    if disposition == "continue":
        return
    if talk.parent:
        _end_child(draft, talk, disposition)
    elif talk.waiting and not draft.state.stopping:
        start_turn(draft, name)


def _end_child(draft: DecisionDraft, talk: ConversationState, disposition: t.Disposition, why: str = "") -> None:
    draft.emit(t.ConversationEnded(conversation=talk.conversation, disposition=disposition))
    call_id = running_call(draft, talk.parent, talk.parent_execution)
    if call_id is None or draft.gate.closes(talk.parent, talk.parent_execution):
        return  # its parent was stopped with it
    if disposition == "final":
        settle_call(draft, talk.parent, call_id, "succeeded", "completed", talk.last_text)
    elif disposition == "failed":
        text = "\n".join(part for part in (talk.last_text, f"[stopped: {why}]" if why else "") if part)
        settle_call(draft, talk.parent, call_id, "failed", "unknown", text)
    else:
        settle_call(draft, talk.parent, call_id, "interrupted", "unknown", talk.last_text)
    if not draft.recovering:
        complete(draft, talk.parent)


# -- tool calls


def take_request(draft: DecisionDraft, name: str, ask: c.ToolAsk) -> None:
    """A declared call becomes a request: ready to run in its place, a question, or a result at once."""
    number = draft.turn(name).number
    ruling = "allow" if ask.ruling == "ask" and ask.key and ask.key in draft.state.allowed else ask.ruling
    draft.emit(
        t.ToolRequested(
            conversation=name,
            turn=number,
            call=ask.call,
            tool=ask.tool,
            input=ask.input,
            verdict=ruling,
            reason=ask.reason or None,
            key=ask.key or None,
            always=ask.always or None,
            prompt=ask.prompt,
            interruptible=ask.interruptible,
            safe_to_retry=ask.safe_to_retry,
            in_order=ask.in_order,
            malformed=ask.malformed or None,
        )
    )
    match ruling:
        case "allow":
            release(draft, name)
        case "ask":
            draft.emit(ask.question(name, number))
        case "deny":
            settle_call(draft, name, ask.call, "denied", "none", ask.reason)
        case "fault":
            settle_call(draft, name, ask.call, "failed", "none", ask.reason)


def release(draft: DecisionDraft, name: str) -> None:
    """Record the intents of the calls whose place has come.

    The outcome of a turn is that of its calls one after the other: what changes something waits for all calls before
    it, and everything behind it waits for it. Between two such calls all the others run side by side.
    """
    while name not in draft.gate.closing and (call_id := _next_call(draft.open_turn(name))):
        intend(draft, name, call_id)


def _next_call(turn: TurnState | None) -> str:
    if turn is None or turn.interrupted:
        return ""
    anything, changing = False, False
    for call_id, call in turn.calls.items():
        if call.phase == "ready" and not (anything if call.in_order else changing):
            return call_id
        if call.phase in ("asked", "ready", "running"):
            anything, changing = True, changing or call.in_order
    return ""


def intend(draft: DecisionDraft, name: str, call_id: str) -> None:
    """Record the intent of a tool call. One that opens a sub-conversation is running from here on."""
    turn = draft.turn(name)
    call = turn.calls[call_id]
    again = f"#{call.attempts + 1}" if call.attempts else ""
    execution = f"t{turn.number}/{call_id}{again}"
    if call.prompt is not None and (refusal := _no_room(draft, name)):
        return settle_call(draft, name, call_id, "failed", "none", refusal)
    draft.emit(
        t.IntentRecorded(
            conversation=name,
            turn=turn.number,
            execution=execution,
            kind="tool" if call.prompt is None else "child",
            call=call_id,
            interruptible=call.interruptible,
        )
    )
    if call.prompt is not None:
        child = f"{name}/a{draft.state.talks[name].children + 1}"
        message = f"{child}:prompt"
        draft.emit(
            t.ConversationOpened(conversation=child, parent=name, execution=execution),
            t.MessageAccepted(
                conversation=child, message=message, text=call.prompt, delivery="started", origin="parent"
            ),
        )
        start_turn(draft, child)
    return None


def _no_room(draft: DecisionDraft, name: str) -> str:
    rules, state = draft.rules, draft.state
    if over := reached(state, name, rules.price, failures=0):
        return f"a sub-conversation would go past a limit: {over[1]}"
    if state.talks[name].depth - state.root.count("/") >= rules.depth:
        return f"sub-conversations may nest {rules.depth} deep; do this yourself"
    if len(state.talks) - 1 >= rules.children:
        return f"{rules.children} sub-conversations are open, which is the most there may be; wait for one to end"
    return ""


def settle_call(
    draft: DecisionDraft,
    name: str,
    call_id: str,
    outcome: t.ToolOutcome,
    effect: t.ToolEffect,
    text: str,
    *,
    end: c.ToolEnd = NO_END,
    ms: int = 0,
) -> None:
    """The one place where a tool call ends. Every result passes the processors once; none of them can stop it. `end`:
    what the tool itself said, where it came to its end."""
    turn = draft.turn(name)
    tool, execution = turn.calls[call_id].tool, turn.calls[call_id].execution
    if outcome in ("failed", "denied"):
        text += _last_warning(draft, name, turn.calls[call_id])
    for processor in draft.rules.processors:
        try:
            text = processor(Result(name, call_id, tool, outcome, effect, text))
        except Exception as error:  # noqa: BLE001  somebody else's code: its fault is recorded, the result goes on
            told = f"{type(error).__name__}: {error}"
            draft.emit(t.ProcessorFailed(conversation=name, turn=turn.number, call=call_id, error=told))
    draft.emit(
        t.ToolSettled(
            conversation=name,
            turn=turn.number,
            call=call_id,
            execution=execution or f"t{turn.number}/{call_id}",
            outcome=outcome,
            effect=effect,
            text=text,
            tainting=end.tainting,
            seen=end.seen,
            before=end.before,
            after=end.after,
            ms=ms,
            ends=end.ends,
        )
    )


def _last_warning(draft: DecisionDraft, name: str, call: CallState) -> str:
    _, count, last = draft.state.talks[name].failures.get(failing(call), ("", 0, 0))
    if not draft.rules.failures or last == draft.turn(name).number or count + 2 != draft.rules.failures:
        return ""
    return f"\n[the same call has failed {count + 1} times; if it does so once more, the work is stopped here]"


def stop_turn(
    draft: DecisionDraft, name: str, reason: str, targets: Mapping[str, c.How], part: c.Interrupted | None = None
) -> None:
    """Settle all that is open in a turn, except what can't be stopped. `part` has what a model had said and used."""
    turn = draft.turn(name)
    if turn.model and targets.get(turn.model) != "unsupported":
        model_interrupted(draft, name, turn, reason, part)
    for call_id, call in list(turn.calls.items()):
        how = targets.get(call.execution, "cancelled_before_start") if call.phase == "running" else None
        if call.phase == "settled" or how == "unsupported":
            continue
        if how in ("signalled", "pending_bind"):
            effect: t.ToolEffect = "completed" if draft.turn(name).calls[call_id].observed else "unknown"
            ms = part.took.get(call.execution, 0) if part else 0
            settle_call(draft, name, call_id, "interrupted", effect, reason, ms=ms)
        else:
            settle_call(draft, name, call_id, "interrupted_before_execution", "none", reason)


def model_interrupted(
    draft: DecisionDraft, name: str, turn: TurnState, reason: str, part: c.Interrupted | None = None
) -> None:
    draft.emit(
        t.ModelSettled(
            conversation=name,
            turn=turn.number,
            execution=turn.model,
            outcome="interrupted",
            text=part.texts.get(turn.model, "") if part else "",
            reason=reason,
            model=part.models.get(turn.model) if part else None,
            usage=part.usages.get(turn.model, {}) if part else {},
            ms=part.took.get(turn.model, 0) if part else 0,
        )
    )


# -- looking


def open_turn(draft: DecisionDraft, name: str, number: int) -> TurnState | None:
    turn = draft.open_turn(name)
    return turn if turn is not None and turn.number == number else None


def calling_turn(draft: DecisionDraft, name: str, execution: str) -> TurnState | None:
    """The turn whose open model call this is; None when it is over, or an interrupt has hit it."""
    turn = draft.open_turn(name)
    return turn if turn is not None and turn.model == execution and not draft.gate.closes(name, execution) else None


def asked_call(draft: DecisionDraft, name: str, call_id: str) -> CallState | None:
    turn = draft.open_turn(name)
    call = turn.calls.get(call_id) if turn else None
    return call if call is not None and call.phase == "asked" else None


def running_call(draft: DecisionDraft, name: str, execution: str) -> str | None:
    """The call whose open intent this is."""
    turn = draft.open_turn(name)
    for call_id, call in turn.calls.items() if turn else ():
        if call.phase == "running" and call.execution == execution:
            return call_id
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHadElsewhere:
    """A call of a tool that another program made."""

    call: str
    tool: str
    input: Mapping[str, Any]
    result: str
    ok: bool = True


def turn_had_elsewhere(
    conversation: str, turn: int, message: str, asked: str, answer: str, calls: Sequence[CallHadElsewhere] = ()
) -> list[t.ConversationEvent]:
    """What another program was asked, what tools it called and what it answered, as if that had been held here: nothing
    of it is open. With calls it takes two turns. Nobody knows where a result came from, so it is from outside."""
    events: list[t.ConversationEvent] = [
        t.MessageAccepted(conversation=conversation, message=message, text=asked, delivery="started", origin="person")
    ]
    started = t.TurnStarted(conversation=conversation, turn=turn, messages=(message,))
    if calls:
        model, key = f"t{turn}/model", f"{conversation}:t{turn}"
        events += [
            started,
            t.IntentRecorded(conversation=conversation, turn=turn, execution=model, kind="model"),
            t.ModelSettled(
                conversation=conversation, turn=turn, execution=model, outcome="completed", text="", stop="tool_calls"
            ),
            t.CallsDeclared(conversation=conversation, turn=turn, calls=tuple(one.call for one in calls)),
        ]
        for one in calls:
            execution = f"t{turn}/{one.call}"
            events += [
                t.ToolRequested(
                    conversation=conversation,
                    turn=turn,
                    call=one.call,
                    tool=one.tool,
                    input=one.input,
                    verdict="allow",
                    reason="another program made it",
                ),
                t.IntentRecorded(conversation=conversation, turn=turn, execution=execution, kind="tool", call=one.call),
                t.ToolSettled(
                    conversation=conversation,
                    turn=turn,
                    call=one.call,
                    execution=execution,
                    outcome="succeeded" if one.ok else "failed",
                    effect="completed" if one.ok else "unknown",
                    text=one.result,
                    tainting=True,
                ),
            ]
        ends: dict[str, Any] = {one.call: "succeeded" if one.ok else "failed" for one in calls}
        events += [
            t.TurnCompleted(conversation=conversation, turn=turn, disposition="continue", key=key, results=ends),
            t.ContinuationTaken(conversation=conversation, key=key),
        ]
        turn += 1
        started = t.TurnStarted(conversation=conversation, turn=turn, messages=(), continues=key)
    model = f"t{turn}/model"
    return [
        *events,
        started,
        t.IntentRecorded(conversation=conversation, turn=turn, execution=model, kind="model"),
        t.ModelSettled(
            conversation=conversation, turn=turn, execution=model, outcome="completed", text=answer, stop="end"
        ),
        t.TurnCompleted(conversation=conversation, turn=turn, disposition="final"),
    ]
