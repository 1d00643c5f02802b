"""Engines that break one rule each. The tests must notice every one of them, or they prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from weft.conversation import control, decide, engine, projections, state, turns
from weft.conversation.control import Control
from weft.conversation.engine import Engine
from weft.conversation.turns import OPEN
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.testing import simulation

Patch = pytest.MonkeyPatch
MUTANTS: dict[str, Callable[[Patch], None]] = {}


def mutant(function: Callable[[Patch], None]) -> Callable[[Patch], None]:
    MUTANTS[function.__name__] = function
    return function


def _without_gate(patch: Patch, command: type) -> None:
    original = decide._DECIDE[command]

    def blind(draft: Any, given: Any) -> None:
        draft.gate = OPEN
        original(draft, given)

    patch.setitem(decide._DECIDE, command, blind)


def _decides(patch: Patch, command: type, rule: Callable[[Any, Any, Any], None]) -> None:
    original = decide._DECIDE[command]
    patch.setitem(decide._DECIDE, command, lambda draft, given: rule(draft, given, original))


def _nothing(*_: Any, **__: Any) -> None:
    return None


@mutant
def dup_seq(patch: Patch) -> None:
    patch.setattr(simulation, "Record", lambda seq, at, event: Record(seq - (seq > 5), at, event))


@mutant
def no_declaration_check(patch: Patch) -> None:
    def request(draft: Any, command: Any, original: Any) -> None:
        talk = draft.talk(command.conversation)
        if talk is not None and talk.turn is not None and not talk.turn.declared:
            draft.emit(
                t.IntentRecorded(
                    conversation=command.conversation,
                    turn=talk.turn.number,
                    execution=f"t{talk.turn.number}/{command.ask.call}",
                    kind="tool",
                    call=command.ask.call,
                )
            )
        else:
            original(draft, command)

    _decides(patch, c.RequestCall, request)


@mutant
def no_gate(patch: Patch) -> None:
    patch.setattr(Engine, "gate", OPEN)


@mutant
def gate_left_open(patch: Patch) -> None:
    def close(self: Control, name: str, targets: Any, reason: str) -> None:
        self.closing[name] = frozenset()

    patch.setattr(Control, "_close", close)


@mutant
def approve_ignores_gate(patch: Patch) -> None:
    _without_gate(patch, c.DecideApproval)


@mutant
def no_reserve_gate(patch: Patch) -> None:
    _without_gate(patch, c.RequestCall)


@mutant
def continuation_ignores_gate(patch: Patch) -> None:
    _without_gate(patch, c.Continue)


@mutant
def settlement_ignores_gate(patch: Patch) -> None:
    _without_gate(patch, c.SettleTool)


@mutant
def continues_after_interrupt(patch: Patch) -> None:
    patch.setattr(turns, "_disposition", lambda turn, goes_on: "continue" if turn.calls else "final")


@mutant
def unordered_results(patch: Patch) -> None:
    original = state._EVOLVE[t.CallsDeclared]
    patch.setitem(
        state._EVOLVE,
        t.CallsDeclared,
        lambda s, talk, event: original(s, talk, replace(event, calls=event.calls[::-1])),
    )


@mutant
def loses_an_interrupt_before_bind(patch: Patch) -> None:
    def bind(self: Control, conversation: str, execution: str, handle: Any) -> str:
        intent = self.intents.get((conversation, execution))
        if intent is None:
            handle.interrupt("late")
            return "late"
        intent.handle, intent.phase = handle, "bound"
        return "bound"

    patch.setattr(Control, "bind", bind)


@mutant
def forgets_what_binds_late(patch: Patch) -> None:
    original = Control.bind

    def bind(self: Control, conversation: str, execution: str, handle: Any) -> str:
        known = (conversation, execution) in self.intents
        return original(self, conversation, execution, handle) if known else "late"

    patch.setattr(Control, "bind", bind)


@mutant
def chunks_not_gated(patch: Patch) -> None:
    patch.setattr(Control, "deliver", lambda self, conversation, execution, text: True)


@mutant
def interrupts_twice(patch: Patch) -> None:
    original = Control.interrupt

    def interrupt(self: Control, names: Any, reason: str) -> Any:
        self.closing.clear()
        return original(self, names, reason)

    patch.setattr(Control, "interrupt", interrupt)


@mutant
def no_intent_for_a_continuation(patch: Patch) -> None:
    patch.setitem(control._APPLY, t.TurnCompleted, _nothing)


@mutant
def no_intent_for_an_approval(patch: Patch) -> None:
    original = Control._approval_requested

    def asked(self: Control, event: t.ApprovalRequested) -> None:
        original(self, event)
        del self.intents[event.conversation, f"t{event.turn}/{event.call}"]

    patch.setitem(control._APPLY, t.ApprovalRequested, asked)


@mutant
def no_continuation_dedupe(patch: Patch) -> None:
    def go_on(draft: Any, command: Any, original: Any) -> None:
        talk = draft.talk(command.conversation)
        if talk is not None and talk.turn is None and not draft.state.stopping:
            draft.emit(t.ContinuationTaken(conversation=command.conversation, key=command.key))
            turns.start_turn(draft, command.conversation, continues=command.key)
        else:
            original(draft, command)

    _decides(patch, c.Continue, go_on)


@mutant
def drops_what_is_typed_meanwhile(patch: Patch) -> None:
    def message(draft: Any, command: Any, original: Any) -> None:
        talk = draft.talk(command.conversation)
        if talk is None or talk.resting:
            original(draft, command)

    _decides(patch, c.SendMessage, message)


@mutant
def forgets_waiting_messages(patch: Patch) -> None:
    patch.setattr(turns, "go_on", lambda draft, name, disposition: None)
    patch.setattr(decide, "go_on", lambda draft, name, disposition: None)


@mutant
def a_message_overtakes_the_continuation(patch: Patch) -> None:
    patch.setattr(state.ConversationState, "resting", property(lambda self: self.turn is None and not self.waiting))


@mutant
def stale_approval_is_silent(patch: Patch) -> None:
    def approval(draft: Any, command: Any, original: Any) -> None:
        if turns.asked_call(draft, command.conversation, command.call) is not None:
            original(draft, command)

    _decides(patch, c.DecideApproval, approval)


@mutant
def processors_only_for_settlements(patch: Patch) -> None:
    original = turns.settle_call

    def settle(draft: Any, name: str, call: str, outcome: Any, *rest: Any, **words: Any) -> None:
        rules = draft.rules
        if outcome not in ("succeeded", "failed"):
            draft.rules = replace(rules, processors=())
        original(draft, name, call, outcome, *rest, **words)
        draft.rules = rules

    patch.setattr(turns, "settle_call", settle)
    patch.setattr(decide, "settle_call", settle)


@mutant
def idle_ignores_what_runs(patch: Patch) -> None:
    def quiescent(self: Engine) -> bool:
        lag = all(p.checkpoint >= self.activity for p in self.projections if p.blocking)
        return not self.inbox and self.state.resting and lag

    patch.setattr(Engine, "quiescent", property(quiescent))


@mutant
def idle_ignores_lag(patch: Patch) -> None:
    def quiescent(self: Engine) -> bool:
        return not self.inbox and self.state.resting and not self.control.intents

    patch.setattr(Engine, "quiescent", property(quiescent))


@mutant
def idle_ignores_the_inbox(patch: Patch) -> None:
    def quiescent(self: Engine) -> bool:
        lag = all(p.checkpoint >= self.activity for p in self.projections if p.blocking)
        return self.state.resting and not self.control.intents and lag

    patch.setattr(Engine, "quiescent", property(quiescent))


@mutant
def completes_before_its_last_result(patch: Patch) -> None:
    patch.setattr(state.TurnState, "complete", property(lambda self: self.model_outcome is not None))


@mutant
def a_late_result_is_taken(patch: Patch) -> None:
    def running(draft: Any, name: str, execution: str) -> str | None:
        talk = draft.talk(name)
        calls = talk.turn.calls if talk and talk.turn else {}
        return next((call_id for call_id, call in calls.items() if call.execution == execution), None)

    patch.setattr(decide, "running_call", running)


@mutant
def a_result_without_an_intent_is_taken(patch: Patch) -> None:
    def running(draft: Any, name: str, execution: str) -> str | None:
        talk = draft.talk(name)
        call = execution.partition("/")[2]
        known = talk is not None and talk.turn is not None and call in talk.turn.calls
        return call if known and talk.turn.calls[call].phase != "settled" else None

    patch.setattr(decide, "running_call", running)


@mutant
def a_child_ends_in_silence(patch: Patch) -> None:
    patch.setattr(
        turns,
        "_end_child",
        lambda draft, talk, disposition: draft.emit(
            t.ConversationEnded(conversation=talk.conversation, disposition=disposition)
        ),
    )


@mutant
def an_interrupt_spares_the_children(patch: Patch) -> None:
    original = Control.interrupt
    patch.setattr(Control, "interrupt", lambda self, names, reason: original(self, [*names][:1], reason))


@mutant
def children_without_bounds(patch: Patch) -> None:
    patch.setattr(turns, "_no_room", lambda draft, name: "")


@mutant
def a_restart_forgets_what_waits(patch: Patch) -> None:
    patch.setattr(Control, "restore", _nothing)


@mutant
def a_restart_leaves_lost_work_open(patch: Patch) -> None:
    patch.setattr(decide, "_recover_turn", _nothing)


@mutant
def a_restart_runs_lost_work_again(patch: Patch) -> None:
    original = decide._recover_turn

    def recover(draft: Any, name: str, turn: Any) -> None:
        for call_id, call in list(turn.calls.items()):
            if call.phase == "running" and not call.child:
                call.attempts = 0
                turns.intend(draft, name, call_id)
                return
        original(draft, name, turn)

    patch.setattr(decide, "_recover_turn", recover)


@mutant
def the_fast_lane_writes_state(patch: Patch) -> None:
    original = Engine.interrupt

    def interrupt(self: Engine, target: str | None = None, reason: str = "user") -> Any:
        for talk in self.state.talks.values():
            if talk.turn is not None:
                talk.turn.interrupted = True
        return original(self, target, reason)

    patch.setattr(Engine, "interrupt", interrupt)


@mutant
def the_gate_never_opens_again(patch: Patch) -> None:
    patch.setattr(Control, "recorded", _nothing)


@mutant
def starts_without_asking(patch: Patch) -> None:
    def begin(self: Control, conversation: str, execution: str) -> bool:
        intent = self.intents.get((conversation, execution))
        if intent is not None:
            intent.phase = "starting"
        return intent is not None

    patch.setattr(Control, "begin_start", begin)


@mutant
def waits_for_what_was_interrupted(patch: Patch) -> None:
    """Gives up nothing: what ignores its end keeps the conversation from ever being idle."""
    patch.setattr(Control, "expire", lambda self: [])


@mutant
def forgets_what_was_seen_at_a_tie(patch: Patch) -> None:
    patch.setitem(state._EVOLVE, t.CommandRefused, _nothing)


@mutant
def loses_what_was_streamed(patch: Patch) -> None:
    original = turns.stop_turn
    patch.setattr(
        decide, "stop_turn", lambda draft, name, reason, targets, texts=None: original(draft, name, reason, targets)
    )


@mutant
def redelivery_repeats_effects(patch: Patch) -> None:
    def deliver(projection: Any, record: Any) -> None:
        projection.take(record.event)
        projection.checkpoint = max(projection.checkpoint, record.seq)

    for module in (projections, engine, simulation):
        patch.setattr(module, "deliver", deliver)


@mutant
def an_unstoppable_one_stops_everything(patch: Patch) -> None:
    """Claims to have interrupted what can't be."""
    original = Control._classify

    def classify(self: Control, name: str, met: Any) -> Any:
        return {x: "signalled" if how == "unsupported" else how for x, how in original(self, name, met).items()}

    patch.setattr(Control, "_classify", classify)


@mutant
def changes_run_side_by_side(patch: Patch) -> None:
    def next_call(turn: Any) -> str:
        calls = turn.calls.items() if turn and not turn.interrupted else ()
        return next((call_id for call_id, call in calls if call.phase == "ready"), "")

    patch.setattr(turns, "_next_call", next_call)


@mutant
def looks_overtake_changes(patch: Patch) -> None:
    original = turns._next_call

    def next_call(turn: Any) -> str:
        calls = turn.calls.items() if turn and not turn.interrupted else ()
        looks = (call_id for call_id, call in calls if call.phase == "ready" and not call.in_order)
        return next(looks, "") or original(turn)

    patch.setattr(turns, "_next_call", next_call)


@mutant
def what_waits_for_its_place_is_forgotten(patch: Patch) -> None:
    patch.setattr(turns, "release", _nothing)


@mutant
def an_interrupt_spares_what_waits_for_its_place(patch: Patch) -> None:
    original = turns._next_call

    def next_call(turn: Any) -> str:
        if turn is not None and turn.interrupted:
            turn = turn.copied()
            turn.interrupted = False
        return original(turn)

    patch.setattr(turns, "_next_call", next_call)
    patch.setattr(
        decide,
        "stop_turn",
        lambda draft, name, reason, targets, part=None: (
            None
            if any(call.phase == "ready" for call in draft.turn(name).calls.values())
            else turns.stop_turn(draft, name, reason, targets, part)
        ),
    )


@mutant
def a_limit_is_only_said(patch: Patch) -> None:
    patch.setattr(turns, "reached", _nothing)


@mutant
def a_wider_limit_does_not_free_what_it_held(patch: Patch) -> None:
    def only_set(draft: Any, command: Any, original: Any) -> None:
        draft.emit(t.LimitsSet(conversation=command.conversation, limits=command.limits))

    _decides(patch, c.SetLimits, only_set)
