"""What may be said to a run at rest, and what that leads to. Pure: state and command in, events out, or a refusal.

A reply names the gate it resolves; a confirmation is resolved by its own name. Nothing that is unclear arrives here:
whoever turns words into commands asks again instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weft.protocol.commands import AskBreakout, CancelRun, ReplyToGate, ResolveBreakout, RestCommand, StartRun
from weft.protocol.errors import UserError
from weft.protocol.events import (
    ConfirmationAsked,
    ConfirmationResolved,
    Decider,
    DurableEvent,
    GateResolved,
    RunEnded,
)
from weft.session.state import GateState, RunState, SessionState
from weft.workspace.spelling import listed, suggest

TEXT_LIMIT = 20_000
"""Characters of one reply."""


def at_rest(state: SessionState, command: RestCommand, by: Decider = "person") -> tuple[DurableEvent, ...]:
    run = state.run
    if run is None or run.over:
        raise UserError("no run is waiting in this session", hint="weft run starts one")
    if run.outcome is None:
        raise UserError("the run is going on", hint="wait until it needs a reply, or stop it: weft interrupt")
    match command:
        case ReplyToGate():
            return _reply(state, run, command, by)
        case AskBreakout():
            if not state.gates:
                raise UserError("the run waits for nothing that could be left", hint="weft run continues it")
            asked = ConfirmationAsked(
                run=run.run, confirmation=command.confirmation, kind="breakout", text=command.text[:TEXT_LIMIT]
            )
            return (*_stay(state, run), asked)
        case ResolveBreakout():
            return _breakout(state, run, command)
        case CancelRun():
            ended = RunEnded(run=run.run, outcome="cancelled", message="cancelled by the person")
            return (*_stay(state, run), ended)


def open_gate(state: SessionState, name: str) -> GateState:
    """The open gate of that name, or of the step of that name. UserError when there is none."""
    for gate in state.gates.values():
        if name in (gate.gate, gate.step):
            return gate
    names = [gate.gate for gate in state.gates.values()]
    if not names:
        raise UserError("no gate is open in this session", hint="weft run continues it")
    raise UserError(f"there is no open gate {name}", hint=suggest(name, names, "open gates"))


def chosen_id(gate: GateState, word: str) -> str:
    """The id that a word means: an id itself, or the number of an offered choice. UserError for anything else."""
    for number, choice in enumerate(gate.choices, 1):
        if word.lower() in (choice["id"], str(number)):
            return str(choice["id"])
    hint = f"choose one of {listed(str(one['id']) for one in gate.choices)}"
    raise UserError(f"the gate {gate.gate} offers no choice {word}", hint=hint)


def continued(wish: StartRun) -> StartRun:
    """The same wish for the same run, without what was asked for once."""
    return replace(wish, force=frozenset(), start_from=None, accept=frozenset(), parameters={})


def _reply(state: SessionState, run: RunState, command: ReplyToGate, by: Decider) -> tuple[DurableEvent, ...]:
    gate = open_gate(state, command.gate)
    choice = next((one for one in gate.choices if one["id"] == command.choice), None)
    if choice is None:
        hint = f"choose one of {listed(str(one['id']) for one in gate.choices)}"
        raise UserError(f"the gate {gate.gate} offers no choice {command.choice}", hint=hint)
    text = command.text.strip()
    if choice["does"] == "amend" and not text:
        raise UserError("what should be changed?", hint=f"say it after the choice: {command.choice} make it shorter")
    if len(text) > TEXT_LIMIT:
        raise UserError(f"the reply has {len(text):,} characters; {TEXT_LIMIT:,} are the most")
    resolved = GateResolved(
        run=run.run,
        gate=gate.gate,
        choice=str(choice["id"]),
        does=choice["does"],
        hash=_judged(state, gate),
        text=text,
        by=by,
        parameters=_sets(choice),
    )
    events: tuple[DurableEvent, ...] = (*_stay(state, run), resolved)
    if choice["does"] == "cancel":
        message = f"cancelled at the gate {gate.gate}"
        events = (*events, RunEnded(run=run.run, outcome="cancelled", message=message))
    return events


def _judged(state: SessionState, gate: GateState) -> str:
    """The result as it is now: a person may have edited it and kept the edit."""
    done = state.steps[gate.step].completion
    return done.hash if done else gate.hash


def _sets(choice: Any) -> dict[str, Any]:
    return dict(choice.get("set", {}))


def _breakout(state: SessionState, run: RunState, command: ResolveBreakout) -> tuple[DurableEvent, ...]:
    if state.confirming is None or state.confirming.confirmation != command.confirmation:
        raise UserError("nothing is to be confirmed", hint="weft sessions show says what the run waits for")
    resolved = ConfirmationResolved(run=run.run, confirmation=command.confirmation, choice=command.choice)
    if command.choice == "stay":
        return (resolved,)
    message = "left for the conversation; it can be taken up again"
    return resolved, RunEnded(run=run.run, outcome="left", message=message)


def _stay(state: SessionState, run: RunState) -> tuple[DurableEvent, ...]:
    """A clear reply to the run answers an open question whether to leave it."""
    if state.confirming is None:
        return ()
    return (ConfirmationResolved(run=run.run, confirmation=state.confirming.confirmation, choice="stay"),)
