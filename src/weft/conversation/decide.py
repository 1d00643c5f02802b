"""The heart of a conversation: a command and what the log says so far, in; the events that follow from it, out.

    events = decide(state, command, gate)

Pure and total: no clock, no disk, no randomness, and every command is answered, if only by the record that it was
refused. A decision is built on a draft of the state that evolves with each event, so what is decided last sees what was
decided first, and `fold(log) == state` holds by construction. The rules, in the order of the functions below:

- a message starts a turn, or waits in the log for the next; nothing is dropped
- all calls of a turn are declared before any of them is acted on; each is allowed, asked for, denied, or at fault
- calls that change something run in the order declared, the others side by side between them
- an intent is recorded before anything runs, and a settlement of an open intent is the only way in for a result
- the turn is completed in the same decision as its last settlement, with the results in declared order
- the gate speaks first: once an interrupt is accepted, what it hit ends interrupted, whatever else is in the inbox
- a limit that is reached is said, and the model is not called again until it is wider or the person speaks
- after a crash nothing is run twice; what was open is settled as lost, approvals stay open. A conversation that nobody
  sits in front of goes on by itself: what was lost and is safe to repeat, a model call first of all, is made again
- a result that ends the conversation is its last: nothing goes back to the model
- a sub-conversation is one tool call of its parent, and its end is that call's settlement, in the same decision
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from weft.conversation.limits import TIME_IS_OVER, faults, minutes_over, reached
from weft.conversation.state import State, TurnState, turn_of
from weft.conversation.turns import (
    MODEL,
    OPEN,
    RULES,
    SHUTDOWN_TIMEOUT,
    DecisionDraft,
    InterruptGate,
    TurnRules,
    asked_call,
    calling_turn,
    complete,
    go_on,
    intend,
    model_interrupted,
    open_turn,
    running_call,
    settle_call,
    start_turn,
    stop_turn,
    take_request,
)
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t

NO_NAMES: Final = frozenset({"", MODEL})
"""What no call may be called."""


def decide(
    state: State, command: c.ConversationCommand, gate: InterruptGate = OPEN, rules: TurnRules = RULES
) -> list[t.ConversationEvent]:
    draft = DecisionDraft(state, gate, rules)
    _DECIDE[type(command)](draft, command)
    return draft.events


# -- messages and turns


def _message(draft: DecisionDraft, command: c.SendMessage) -> None:
    name, state = command.conversation, draft.state
    talk = draft.talk(name)
    if state.stopping:
        return draft.refuse(name, "shutting_down", message=command.message, text=command.text)
    if name != state.root:
        refusal: t.Refusal = "child_takes_no_messages" if talk else "unknown_conversation"
        return draft.refuse(name, refusal, message=command.message, text=command.text)
    if talk is not None and talk.plan and command.origin == "person":  # whoever speaks wants it otherwise
        draft.emit(t.PlanDecided(conversation=name, plan=talk.plan, decision="amended"))
        talk = draft.talk(name)
    starts = talk is None or talk.resting
    held = starts and reached(state, name, draft.rules.price, failures=0) is not None  # what is said sets those free
    draft.emit(
        t.MessageAccepted(
            conversation=name,
            message=command.message,
            text=command.text,
            delivery="started" if starts and not held else "queued",
            origin=command.origin,
            attached=command.attached,
            folder=command.folder,
            tainted=command.tainted,
        )
    )
    if starts:  # with the results that a limit may have held back
        start_turn(draft, name, continues=(talk.held if talk else None) or None)
    return None


def _continue(draft: DecisionDraft, command: c.Continue) -> None:
    name, key = command.conversation, command.key
    talk = draft.talk(name)
    if talk is None:
        draft.refuse(name, "unknown_continuation", key=key)
    elif key == talk.pending:
        if draft.gate.closes(name, key):
            draft.refuse(name, "cancelled_continuation", key=key)
        elif draft.state.stopping:
            draft.refuse(name, "shutting_down", key=key)
        else:
            start_turn(draft, name, continues=key)
    elif key in talk.cancelled:
        draft.refuse(name, "cancelled_continuation", key=key)
    elif key.startswith(f"{name}:") and 0 < turn_of(key.removeprefix(f"{name}:")) <= talk.continued:
        draft.refuse(name, "repeated_continuation", key=key)
    else:
        draft.refuse(name, "unknown_continuation", key=key)


# -- tool calls


def _declare(draft: DecisionDraft, command: c.DeclareCalls) -> None:
    name = command.conversation
    turn = open_turn(draft, name, command.turn)
    if turn is None:
        draft.refuse(name, "undeclared_turn", turn=command.turn)
    elif turn.declared:
        draft.refuse(name, "repeated_declaration", turn=command.turn)
    elif name in draft.gate.closing or turn.interrupted:
        draft.refuse(name, "request_after_interrupt", turn=command.turn)
    else:
        calls = tuple(call for call in dict.fromkeys(command.calls) if call not in NO_NAMES)
        draft.emit(t.CallsDeclared(conversation=name, turn=turn.number, calls=calls))


def _request(draft: DecisionDraft, command: c.RequestCall) -> None:
    name, ask = command.conversation, command.ask
    turn = open_turn(draft, name, command.turn)
    what: dict[str, Any] = {"turn": command.turn, "call": ask.call}
    if turn is None or not turn.declared:
        draft.refuse(name, "undeclared_turn", **what)
    elif ask.call not in turn.calls:
        draft.refuse(name, "undeclared_call", **what)
    elif turn.calls[ask.call].phase != "declared":
        draft.refuse(name, "repeated_request", **what)
    elif name in draft.gate.closing or turn.interrupted:
        draft.refuse(name, "request_after_interrupt", **what)
    else:
        take_request(draft, name, ask)
        complete(draft, name)


def _approval(draft: DecisionDraft, command: c.DecideApproval) -> None:
    name, call_id = command.conversation, command.call
    call = asked_call(draft, name, call_id)
    turn = draft.open_turn(name)
    if call is None or not turn or command.turn not in (None, turn.number):
        return draft.refuse(name, "stale_approval", call=call_id, outcome=command.decision)
    if name in draft.gate.closing:
        return draft.refuse(name, "approval_after_interrupt", call=call_id, outcome=command.decision)
    draft.emit(
        t.ApprovalDecided(
            conversation=name,
            turn=turn.number,
            call=call_id,
            decision=command.decision,
            reason=command.reason or None,
        )
    )
    if command.decision == "denied":
        settle_call(draft, name, call_id, "denied", "none", command.reason)
    else:
        if command.decision == "session" and call.key and call.key not in draft.state.allowed:
            draft.emit(t.ApprovalRemembered(conversation=name, key=call.key, tool=call.tool))
    return complete(draft, name)


def _interrupt_approval(draft: DecisionDraft, command: c.InterruptApproval) -> None:
    name, call_id = command.conversation, command.call
    if asked_call(draft, name, call_id) is None or name in draft.gate.closing:
        draft.refuse(name, "stale_interrupt", call=call_id)
    else:
        settle_call(draft, name, call_id, "interrupted_before_execution", "none", command.reason)
        complete(draft, name)


# -- settlements


def _settle_model(draft: DecisionDraft, command: c.SettleModel) -> None:
    name, execution = command.conversation, command.execution
    turn = calling_turn(draft, name, execution)
    if turn is None:
        return draft.refuse(
            name, "stale_settlement", execution=execution, outcome=command.outcome, text=command.text or command.reason
        )
    asks = _named(command.asks) if command.outcome == "completed" else []
    if turn.declared:
        for spare in [ask for ask in asks if ask.call not in turn.calls]:
            draft.refuse(name, "undeclared_call", turn=turn.number, call=spare.call)
    draft.emit(
        t.ModelSettled(
            conversation=name,
            turn=turn.number,
            execution=execution,
            outcome=command.outcome,
            text=command.text,
            thinking=command.thinking,
            reason=command.reason or None,
            model=command.model or None,
            usage=command.usage,
            ms=command.ms,
            stop=command.stop,
        )
    )
    if asks:
        _take_calls(draft, name, asks)
    turn = draft.turn(name)
    if name not in draft.gate.closing and (turn.interrupted or command.outcome != "completed"):
        # Nobody will ask for what is declared and not requested any more.
        for call_id in [call_id for call_id, call in turn.calls.items() if call.phase == "declared"]:
            settle_call(draft, name, call_id, "interrupted_before_execution", "none", command.reason)
    return complete(draft, name)


def _note_retry(draft: DecisionDraft, command: c.NoteRetry) -> None:
    name, execution = command.conversation, command.execution
    turn = calling_turn(draft, name, execution)
    if turn is None:
        return draft.refuse(name, "stale_settlement", execution=execution, text=command.reason)
    return draft.emit(
        t.ModelRetried(
            conversation=name,
            turn=turn.number,
            execution=execution,
            tries=command.tries,
            wait_ms=command.wait_ms,
            reason=command.reason,
            model=command.model,
            instead=command.instead,
        )
    )


def _take_calls(draft: DecisionDraft, name: str, asks: Sequence[c.ToolAsk]) -> None:
    turn = draft.turn(name)
    if not turn.declared:
        draft.emit(
            t.CallsDeclared(conversation=name, turn=turn.number, calls=tuple(ask.call for ask in asks)),
        )
    if name in draft.gate.closing or draft.turn(name).interrupted:
        return  # they are declared, so that the interrupt gives each its settlement
    for ask in asks:
        call = draft.turn(name).calls.get(ask.call)
        if call is not None and call.phase == "declared":
            take_request(draft, name, ask)


def _named(asks: Iterable[c.ToolAsk]) -> list[c.ToolAsk]:
    """Every call with a name of its own: some models repeat them or leave them out."""
    taken, named = set(NO_NAMES), []
    for ask in asks:
        name, number = ask.call, 1
        while name in taken:
            number += 1
            name = f"{ask.call or 'call'}-{number}"
        taken.add(name)
        named.append(ask if name == ask.call else replace(ask, call=name))
    return named


def _settle_tool(draft: DecisionDraft, command: c.SettleTool) -> None:
    name, execution, end = command.conversation, command.execution, command.end
    outcome: t.ToolOutcome = "failed" if end.failed else "succeeded"
    call_id = running_call(draft, name, execution)
    if call_id is None or draft.gate.closes(name, execution):
        return draft.refuse(name, "stale_settlement", execution=execution, outcome=outcome, text=end.text)
    effect: t.ToolEffect = "completed"
    if end.failed:  # what need not wait for its place changes nothing
        effect = "unknown" if draft.turn(name).calls[call_id].in_order else "none"
    settle_call(draft, name, call_id, outcome, effect, end.text, end=end, ms=command.ms)
    return complete(draft, name)


# -- interrupts, crashes, the end


def _record_interrupt(draft: DecisionDraft, command: c.RecordInterrupt) -> None:
    for part in command.parts:
        name = part.conversation
        talk = draft.talk(name)
        turn = draft.open_turn(name)
        if turn is not None and turn.number == part.turn:
            left = tuple(x for x, how in part.targets.items() if how == "unsupported")
            draft.emit(t.TurnInterrupted(conversation=name, turn=turn.number, reason=command.reason, unsupported=left))
            stop_turn(draft, name, command.reason, part.targets, part)
            complete(draft, name)
            if command.reason == TIME_IS_OVER:
                _say_time_is_over(draft, name)
        elif talk is not None and part.key and talk.pending == part.key:
            draft.emit(t.ContinuationCancelled(conversation=name, key=part.key, reason=command.reason))
            go_on(draft, name, "interrupted")
        else:
            draft.refuse(name, "stale_interrupt", turn=part.turn, key=part.key)


def _say_time_is_over(draft: DecisionDraft, name: str) -> None:
    """A sub-conversation has ended with its turn, and what is due above it comes upon the limit itself."""
    talk = draft.state.talks[name]
    is_said = talk.turn is not None or talk.held is not None
    if not talk.parent and not is_said and (reason := minutes_over(draft.state, name)):
        draft.emit(t.LimitReached(conversation=name, limit="minutes", reason=reason))


def _recover(draft: DecisionDraft, command: c.Recover) -> None:
    state, draft.recovering = draft.state, True
    if not state.opened or state.stopping:
        brief = command.brief
        draft.emit(
            t.ConversationOpened(
                conversation=state.root,
                prompt=brief.prompt or None,
                nonce=brief.nonce or None,
                tainted=brief.tainted,
                dropped=brief.dropped,
            )
        )
    for name in sorted(draft.state.talks, key=lambda name: -name.count("/")):
        talk = draft.talk(name)
        if talk is None:
            continue
        if talk.turn is not None:
            _recover_turn(draft, name, talk.turn)
        elif talk.waiting and not talk.pending and talk.held is None:
            start_turn(draft, name)


def _recover_turn(draft: DecisionDraft, name: str, turn: TurnState) -> None:
    goes_on = draft.rules.goes_on
    if turn.model:
        model_interrupted(draft, name, turn, t.PROCESS_LOST)
    lost, waits = any(call.outcome == "interrupted" for call in turn.calls.values()), goes_on
    for call_id, call in list(turn.calls.items()):
        if call.phase == "asked" or call.child:
            waits = True
        elif call.phase == "declared" or (call.phase == "ready" and (lost or not waits)):
            # It had not begun. It still may when what it waits for is still open, and nothing before it was lost.
            settle_call(draft, name, call_id, "interrupted_before_execution", "none", t.PROCESS_LOST)
        elif call.phase == "running" and not call.child:
            if goes_on and call.safe_to_retry and not turn.interrupted and not call.observed:
                intend(draft, name, call_id)
            else:
                lost = True
                effect: t.ToolEffect = "completed" if call.observed else "unknown"
                settle_call(draft, name, call_id, "interrupted", effect, t.PROCESS_LOST)
    turn = draft.turn(name)
    if turn.complete and not turn.interrupted and not goes_on:
        draft.emit(t.TurnInterrupted(conversation=name, turn=turn.number, reason=t.PROCESS_LOST))
    complete(draft, name)


def _compact(draft: DecisionDraft, command: c.CompactTranscript) -> None:
    """Only turns that are over, and only further than before: an older summary must not bring back what it replaced."""
    talk = draft.talk(command.conversation)
    over = 0 if talk is None else talk.turns - (talk.turn is not None)
    if talk is None or not talk.compacted < command.turn <= over:
        return draft.refuse(command.conversation, "stale_compaction", turn=command.turn, text=command.text)
    return draft.emit(
        t.TranscriptCompacted(
            conversation=command.conversation,
            turn=command.turn,
            text=command.text,
            model=command.model or None,
            usage=command.usage,
        )
    )


def _set_limits(draft: DecisionDraft, command: c.SetLimits) -> None:
    name = command.conversation
    if name != draft.state.root and draft.talk(name) is None:
        return draft.refuse(name, "unknown_conversation")
    if found := "; ".join(faults(command.limits)):
        return draft.refuse(name, "odd_limits", text=found)
    draft.emit(t.LimitsSet(conversation=name, limits=command.limits))
    talk = draft.state.talks[name]
    due = talk.held or (talk.held is not None and talk.waiting)  # of a turn that was stopped nothing is
    if not due or draft.state.stopping or reached(draft.state, name, draft.rules.price, draft.rules.failures):
        return None
    return start_turn(draft, name, continues=talk.held or None)


def _clear_taint(draft: DecisionDraft, command: c.ClearTaint) -> None:
    name = command.conversation
    if name != draft.state.root and draft.talk(name) is None:
        return draft.refuse(name, "unknown_conversation")
    if draft.state.tainted:
        draft.emit(t.TaintCleared(conversation=name))
    return None


def _restored(draft: DecisionDraft, command: c.NoteRestored) -> None:
    name = command.conversation
    if draft.talk(name) is None:
        return draft.refuse(name, "unknown_conversation")
    return draft.emit(t.FilesRestored(conversation=name, message=command.message, files=command.files))


def _rewound(draft: DecisionDraft, command: c.NoteRewound) -> None:
    """Only what is at rest, and only turns that are still told whole: a summary can't be taken apart."""
    name, talk = command.conversation, draft.talk(command.conversation)
    if talk is None or talk.turn is not None or talk.pending or not talk.compacted < command.turn <= talk.turns:
        return draft.refuse(name, "stale_rewind", turn=command.turn)
    return draft.emit(
        t.ConversationRewound(conversation=name, turn=command.turn, message=command.message, files=command.files)
    )


# -- plans, and what goes on beside


def _submit_plan(draft: DecisionDraft, command: c.SubmitPlan) -> None:
    name = command.conversation
    if draft.talk(name) is None:
        return draft.refuse(name, "unknown_conversation", text=command.text)
    return draft.emit(
        t.PlanSubmitted(conversation=name, plan=command.plan, text=command.text, steps=command.steps),
    )


def _decide_plan(draft: DecisionDraft, command: c.DecidePlan) -> None:
    name, talk = command.conversation, draft.talk(command.conversation)
    if talk is None or not talk.plan or command.plan not in ("", talk.plan):
        return draft.refuse(name, "stale_plan", text=command.text)
    draft.emit(t.PlanDecided(conversation=name, plan=talk.plan, decision=command.decision))
    if command.summary and talk.resting and talk.compacted < talk.turns:
        draft.emit(t.TranscriptCompacted(conversation=name, turn=talk.turns, text=command.summary))
    if command.text:
        _message(draft, c.SendMessage(conversation=name, message=command.message, text=command.text))
    return None


def _process(draft: DecisionDraft, command: c.NoteProcess) -> None:
    name = command.conversation
    if draft.talk(name) is None:
        return draft.refuse(name, "unknown_conversation", text=command.command or command.reason)
    if command.reason:
        return draft.emit(t.ProcessEnded(conversation=name, process=command.process, reason=command.reason))
    return draft.emit(t.ProcessStarted(conversation=name, process=command.process, command=command.command))


def _idle(draft: DecisionDraft, command: c.NoteIdle) -> None:
    if draft.state.resting and not draft.state.rested and not draft.state.stopped:
        draft.emit(t.IdleReached(conversation=draft.state.root))


def _shutdown(draft: DecisionDraft, command: c.Shutdown) -> None:
    if draft.state.stopping:
        draft.refuse(command.conversation, "shutting_down")
    else:
        draft.emit(t.ShutdownRequested(conversation=draft.state.root))


def _stop(draft: DecisionDraft, command: c.Stop) -> None:
    """Let go: what is still open after the time a shutdown gives is settled as it is."""
    if draft.state.stopped:
        return draft.refuse(command.conversation, "shutting_down")
    if not draft.state.stopping:
        draft.emit(t.ShutdownRequested(conversation=draft.state.root))
    for name in sorted(draft.state.talks, key=lambda name: name.count("/")):
        talk = draft.talk(name)
        if talk is not None and talk.turn is not None:
            turn = talk.turn
            if not turn.interrupted:
                draft.emit(t.TurnInterrupted(conversation=name, turn=turn.number, reason=SHUTDOWN_TIMEOUT))
            running = {call.execution for call in turn.calls.values() if call.phase == "running"}
            stop_turn(draft, name, SHUTDOWN_TIMEOUT, dict.fromkeys(running, "signalled"))
            complete(draft, name)
        elif talk is not None and talk.pending:
            draft.emit(t.ContinuationCancelled(conversation=name, key=talk.pending, reason=SHUTDOWN_TIMEOUT))
            go_on(draft, name, "interrupted")
    draft.emit(t.ConversationStopped(conversation=draft.state.root, clean=command.clean))
    return None


_DECIDE: Mapping[type, Callable[[DecisionDraft, Any], None]] = {
    c.SendMessage: _message,
    c.Continue: _continue,
    c.DeclareCalls: _declare,
    c.RequestCall: _request,
    c.DecideApproval: _approval,
    c.InterruptApproval: _interrupt_approval,
    c.SettleModel: _settle_model,
    c.NoteRetry: _note_retry,
    c.SettleTool: _settle_tool,
    c.RecordInterrupt: _record_interrupt,
    c.CompactTranscript: _compact,
    c.SetLimits: _set_limits,
    c.ClearTaint: _clear_taint,
    c.NoteRestored: _restored,
    c.NoteRewound: _rewound,
    c.SubmitPlan: _submit_plan,
    c.DecidePlan: _decide_plan,
    c.NoteProcess: _process,
    c.Recover: _recover,
    c.NoteIdle: _idle,
    c.Shutdown: _shutdown,
    c.Stop: _stop,
}
