"""What may be said to a run at rest, and what that leads to. Pure: state and command in, events out, or a refusal.

A reply names the gate it resolves; a confirmation is resolved by its own name. Nothing that is unclear arrives here:
whoever turns words into commands asks again instead.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from typing import Any, Final

from weft.protocol import events as e
from weft.protocol.commands import CancelRun, ReplyToGate, ResolveConfirmation, RestCommand, StartRun
from weft.protocol.errors import UserError
from weft.session.state import RunState, SessionState
from weft.session.timestamps import moment_seconds, moment_text
from weft.workspace.parameters import ParameterSpec
from weft.workspace.pipeline import Pipeline
from weft.workspace.spelling import listed, suggest

TEXT_LIMIT: Final = 20_000
"""Characters of one reply."""
CONFIRMATIONS: Final[Mapping[e.ConfirmationKind, tuple[e.ConfirmationChoice, ...]]] = {
    "breakout": ("leave", "stay"),
    "reply": ("yes", "no"),
    "change": ("no",),
    "fresh": ("yes", "no"),
}
"""What each question that is asked back can be answered with, in the order that a number counts in."""


def at_rest(
    state: SessionState, command: RestCommand, by: e.Decider = "person", *, words: str = "", confirmation: str = ""
) -> tuple[e.DurableEvent, ...]:
    """`words` and `confirmation` name what it was decided on, for a reply that was given in words."""
    run = resting_run(state)
    match command:
        case ReplyToGate():
            return _reply(state, run, command, by, words, confirmation)
        case ResolveConfirmation():
            return _resolve(state, run, command, by, words)
        case CancelRun():
            ended = e.RunEnded(run=run.run, outcome="cancelled", message="cancelled by the person")
            return (*_settled(state, run, words), ended)


def overdue(state: SessionState, now: float) -> tuple[e.DurableEvent, ...]:
    """What follows from the gates of a run at rest whose time is over: a reminder, or the choice that is made then."""
    run = state.run
    if run is None or run.outcome != "waiting" or state.confirming is not None:
        return ()
    events: list[e.DurableEvent] = []
    for gate in state.gates.values():
        if not gate.due or moment_seconds(gate.due) > now:
            continue
        if gate.then == "remind":
            again = moment_text(now + gate.within)
            events.append(e.GateReminded(run=run.run, gate=gate.gate, due=again))
            continue
        events += at_rest(state, ReplyToGate(gate=gate.gate, choice=gate.then), "deadline")
        if isinstance(events[-1], e.RunEnded):
            break
    return tuple(events)


def asked_back(
    state: SessionState, name: str, kind: e.ConfirmationKind, text: str, meant: ReplyToGate | None = None
) -> tuple[e.DurableEvent, ...]:
    """The question whether a person means what their words were understood as, or a reply that they would be; one at a
    time is open."""
    run = resting_run(state)
    if kind == "breakout" and not state.gates:
        raise UserError("the run waits for nothing that could be left", hint="weft run continues it")
    does = ""
    if meant is not None:
        gate = open_gate(state, meant.gate)
        does = next((one.does for one in gate.choices if one.id == meant.choice), "")
    asked = e.ConfirmationAsked(
        run=run.run,
        confirmation=name,
        kind=kind,
        text=text.strip()[:TEXT_LIMIT],
        gate=meant.gate if meant else "",
        choice=meant.choice if meant else "",
        does=does,
        change=meant.text[:TEXT_LIMIT] if meant else "",
    )
    return (*_settled(state, run), asked)


def is_heard(state: SessionState) -> bool:
    """Whether the session has a run that could mean something by words: one that has begun and is not over."""
    return state.run is not None and state.run.outcome is not None and not state.run.over


def asked_of(state: SessionState) -> tuple[e.GateOpened | e.ConfirmationAsked, ...]:
    """What a run at rest asks a person now, as it was asked."""
    run, asked = state.run, state.confirming
    if run is None or not is_heard(state):
        return ()
    return (asked,) if asked is not None else tuple(state.gates.values())


def still_asked(state: SessionState, asked: Collection[str], text: str) -> str:
    """Words count for what was seen open when they were said, by these names. Where other gates are open by now, the
    one that the words are for all the same: the only one that was seen, or that they name; else "". UserError when it
    can't be told, with what is open instead."""
    back = state.confirming
    open_ = {back.confirmation} if back is not None else {gate.gate for gate in state.gates.values()}
    if not asked or {*asked} == open_:
        return ""
    for gate in state.gates.values() if back is None else ():
        if gate.gate in asked and (len(asked) == 1 or said_to(gate, text)):
            return gate.gate
    if back is not None:
        told = f": {back.choice}" if back.choice else ""
        hint = f"it is asked back now what was meant{told}"
    elif open_:
        told = f": {gate.message}" if len(open_) == 1 and (gate := next(iter(state.gates.values()))).message else ""
        hint = f"open now: {listed(sorted(open_))}{told}"
    else:
        hint = "nothing is open now"
    raise UserError("that is no longer what the run asks", hint=hint)


def said_to(gate: e.GateOpened, text: str) -> str:
    """What is said to this gate by words that begin with its name and a colon; "" when they do not."""
    name, _, said = text.partition(":")
    return said.strip() if name.strip().lower() in (gate.gate, gate.step) else ""


def resting_run(state: SessionState) -> RunState:
    """The run that a person can say something to. UserError when there is none, or it is at work."""
    run = state.run
    if run is None or run.over:
        raise UserError("no run is waiting in this session", hint="weft run starts one")
    if run.outcome is None:
        raise UserError("the run is going on", hint="wait until it needs a reply, or stop it: weft interrupt")
    return run


def open_gate(state: SessionState, name: str) -> e.GateOpened:
    """The open gate of that name, or of the step of that name. UserError when there is none."""
    for gate in state.gates.values():
        if name == gate.gate:
            return gate
    if name in state.gates:
        return state.gates[name]
    names = [gate.gate for gate in state.gates.values()]
    if not names:
        raise UserError("no gate is open in this session", hint="weft run continues it")
    raise UserError(f"there is no open gate {name}", hint=suggest(name, names, "open gates"))


def chosen_id(gate: e.GateOpened, word: str) -> str:
    """The id that a word means: an id itself, or the number of an offered choice. UserError for anything else."""
    for number, choice in enumerate(gate.choices, 1):
        if word.lower() in (choice.id, str(number)):
            return choice.id
    hint = f"choose one of {listed(one.id for one in gate.choices)}"
    raise UserError(f"the gate {gate.gate} offers no choice {word}", hint=hint)


def answered(
    state: SessionState, answers: Mapping[str, str], pipeline: Pipeline, tried: Container[str] = ()
) -> tuple[str, str] | None:
    """An open gate that has an answer given in advance, and the name it has that under: its own, or for every item that
    of the step as the files have it."""
    for gate, opened in state.gates.items():
        for name in (gate, pipeline.written(gate)):
            if name in answers and opened.gate not in tried:
                return gate, name
    return None


def continuation(run: RunState, pipeline: Pipeline) -> StartRun:
    """The wish that takes a run up again as it was meant."""
    return StartRun(until=None if run.desired == pipeline.final else run.desired, profile=run.profile)


def continued(wish: StartRun) -> StartRun:
    """The same wish for the same run, without what was asked for once."""
    return replace(wish, force=frozenset(), start_from=None, accept=frozenset(), parameters={}, answers={})


def _reply(
    state: SessionState, run: RunState, command: ReplyToGate, by: e.Decider, words: str, confirmation: str
) -> tuple[e.DurableEvent, ...]:
    gate = open_gate(state, command.gate)
    choice = next((one for one in gate.choices if one.id == command.choice), None)
    if choice is None:
        hint = f"choose one of {listed(one.id for one in gate.choices)}"
        raise UserError(f"the gate {gate.gate} offers no choice {command.choice}", hint=hint)
    assert choice.does != "goto"  # pipelines declare none
    text = command.text.strip()
    if choice.does == "amend" and not text:
        raise UserError("what should be changed?", hint=f"say it after the choice: {command.choice} make it shorter")
    if len(text) > TEXT_LIMIT:
        raise UserError(f"the reply has {len(text):,} characters; {TEXT_LIMIT:,} are the most")
    resolved = e.GateResolved(
        run=run.run,
        gate=gate.gate,
        choice=choice.id,
        does=choice.does,
        hash=_judged(state, gate),
        text=text,
        by=by,
        words=words,
        confirmation=confirmation,
        parameters={**choice.set, **filled_in(gate, command.values)},
    )
    told = state.confirming is not None and state.confirming.kind == "change" and choice.does == "amend"
    said_yes = bool(confirmation) or told
    events: tuple[e.DurableEvent, ...] = (*_settled(state, run, words, said_yes=said_yes), resolved)
    if choice.does == "cancel":
        message = f"cancelled at the gate {gate.gate}"
        events = (*events, e.RunEnded(run=run.run, outcome="cancelled", message=message))
    return events


def filled_in(gate: e.GateOpened, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a person filled in at a gate, as values of their kinds. UserError for what is not asked or not good."""
    asked = {str(one["name"]): one for one in gate.form}
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name not in asked:
            hint = suggest(name, asked, "fields") if asked else "it asks for nothing besides the choice"
            raise UserError(f"the gate {gate.gate} does not ask for {name}", hint=hint)
        spec = field_spec(asked[name])
        settled = spec.convert(value) if isinstance(value, str) else value
        if problem := spec.problem(settled):
            raise UserError(f"{name} {problem}", hint="" if spec.description == name else spec.description)
        found[name] = spec.settle(settled)
    return found


def field_spec(asked: Mapping[str, Any]) -> ParameterSpec:
    """What is good for a field, as the gate says it."""
    return ParameterSpec(
        type=asked["type"],
        default=asked.get("value"),
        description=str(asked.get("label", "")),
        minimum=asked.get("minimum"),
        maximum=asked.get("maximum"),
        choices=tuple(asked.get("choices", ())),
    )


def _judged(state: SessionState, gate: e.GateOpened) -> str:
    """The result as it is now: a person may have edited it and kept the edit."""
    done = state.steps[gate.step].completion if not gate.before else None
    return done.hash if done else gate.hash


def _resolve(
    state: SessionState, run: RunState, command: ResolveConfirmation, by: e.Decider, words: str
) -> tuple[e.DurableEvent, ...]:
    asked = state.confirming
    if asked is None or asked.confirmation != command.confirmation:
        raise UserError("nothing is to be confirmed", hint="weft sessions show says what the run waits for")
    offered = CONFIRMATIONS[asked.kind]
    if command.choice not in offered:
        raise UserError(f"{command.choice} answers nothing here", hint=f"choose one of {listed(offered)}")
    if command.choice == "yes" and asked.kind == "reply":
        reply = ReplyToGate(gate=asked.gate, choice=asked.choice, text=asked.change)
        return _reply(state, run, reply, by, words, asked.confirmation)
    resolved = e.ConfirmationResolved(
        run=run.run, confirmation=command.confirmation, choice=command.choice, words=words
    )
    if command.choice == "yes":
        ended = e.RunEnded(run=run.run, outcome="cancelled", message="ended to begin afresh")
        return resolved, ended
    if command.choice != "leave":
        return (resolved,)
    message = "left for the conversation; it can be taken up again"
    return resolved, e.RunEnded(run=run.run, outcome="left", message=message)


def _settled(
    state: SessionState, run: RunState, words: str = "", *, said_yes: bool = False
) -> tuple[e.DurableEvent, ...]:
    """A clear word to the run answers what was asked back: yes, or what leaves things as they are."""
    asked = state.confirming
    if asked is None:
        return ()
    choice: e.ConfirmationChoice = "yes" if said_yes else "stay" if asked.kind == "breakout" else "no"
    return (e.ConfirmationResolved(run=run.run, confirmation=asked.confirmation, choice=choice, words=words),)
