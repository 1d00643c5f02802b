"""From what a person asks for to a session that can run or be planned.

`open_up` computes everything that must be recorded before a run begins: that the session exists, its inputs as they
are now, the artifacts of an older system that count, the edits a person keeps. It writes nothing: a plan folds the
events in memory and shows what would happen; a run writes the inputs and records the events first.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from weft.orchestrator.facts import Facts, InputText, ReadFile, gather, input_text
from weft.orchestrator.keep import Kept, adopt, keep_edits
from weft.protocol.commands import Artifact, StartRun
from weft.protocol.errors import UsageError, UserError
from weft.protocol.events import DurableEvent, InputRecorded, Record, SessionAdopted, SessionCreated
from weft.protocol.hashes import hash_bytes
from weft.session.legacy import Legacy
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline
from weft.workspace.spelling import suggest
from weft.workspace.workspace import Workspace

CONTENT: Final = "content.md"
"""The first input's copy in the session; further inputs are attachments."""


@dataclass(frozen=True, slots=True)
class GivenInput:
    """An input the person named: its bytes and where they keep it."""

    data: bytes
    origin: str


@dataclass(frozen=True, slots=True)
class SessionInput:
    file: str
    data: bytes
    origin: str
    text: InputText
    new: bool
    """It differs from what the log has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A session ready to be planned or run."""

    pipeline: Pipeline
    state: SessionState
    """The session's state with `events` folded in."""
    facts: Facts
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any]
    """The parameters that a person set, now or earlier in this session."""
    events: tuple[DurableEvent, ...] = ()
    """What must be recorded before a run."""
    inputs: Mapping[str, SessionInput] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    """Files in place that count from now on."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningAsk:
    """What `open_up` starts from."""

    workspace: Workspace
    pipeline: Pipeline
    session: str
    state: SessionState
    read: ReadFile
    given: Mapping[str, GivenInput]
    wish: StartRun
    legacy: Legacy | None
    """What an older system left in the folder, when there is no log."""
    weft: str
    model: str
    registered: Mapping[str, str] = field(default_factory=dict)


def open_up(ask: OpeningAsk) -> Opening:
    check_wish(ask.pipeline, ask.wish)
    _check_same_pipeline(ask)
    state = copy.deepcopy(ask.state)
    events: list[DurableEvent] = []
    if state.seq == 0:
        _add(state, events, _birth(ask))
    inputs = _inputs(ask, state)
    for name, given in inputs.items():
        if given.new:
            size, digest = len(given.data), given.text.hash
            recorded = InputRecorded(input=name, file=given.file, hash=digest, size=size, origin=given.origin)
            _add(state, events, recorded)
    remembered = state.run.chosen if state.run else {}
    known = {name: value for name, value in remembered.items() if name in ask.pipeline.parameters}
    parameters = _parameters(ask, known)
    chosen = {name: parameters[name] for name in {**known, **ask.wish.parameters}}
    facts = gather(
        ask.workspace,
        ask.pipeline,
        state,
        parameters=parameters,
        model=ask.model,
        registered=ask.registered,
        inputs={name: given.text for name, given in inputs.items()},
        read=ask.read,
    )
    kept = _kept(ask, facts, state, inputs)
    if ask.legacy and events:
        events[0] = _birth(ask, tuple(kept.notes))
    for event in kept.events:
        _add(state, events, event)
    return Opening(
        pipeline=ask.pipeline,
        state=state,
        facts=facts,
        parameters=parameters,
        chosen=chosen,
        events=tuple(events),
        inputs=inputs,
        artifacts=tuple(kept.artifacts),
        notes=tuple(kept.notes),
    )


def _parameters(ask: OpeningAsk, known: Mapping[str, Any]) -> dict[str, Any]:
    try:
        ask.pipeline.parameter_values(known)
    except UsageError as error:
        if not known.keys() <= ask.wish.parameters.keys():
            hint = "it was set earlier in this session: set it anew with --set"
            raise UsageError(error.message, hint=f"{error.hint}; {hint}" if error.hint else hint) from error
    return ask.pipeline.parameter_values({**known, **ask.wish.parameters})


def check_wish(pipeline: Pipeline, wish: StartRun) -> None:
    """Every step a flag names must exist."""
    named = {"--force": wish.force, "--accept": wish.accept}
    named |= {"--from": frozenset(filter(None, [wish.start_from])), "--until": frozenset(filter(None, [wish.until]))}
    for flag, steps in named.items():
        for step in sorted(steps - pipeline.steps.keys()):
            raise UsageError(
                f"{flag} {step}: the pipeline {pipeline.name} has no such step",
                hint=suggest(step, pipeline.steps, "steps"),
            )
    both = sorted(wish.accept & (wish.force | {wish.start_from or ""}))
    if both:
        raise UsageError(f"--accept and --force can't both name {both[0]}", hint="keep the edit, or make it again")


def _birth(ask: OpeningAsk, notes: tuple[str, ...] = ()) -> SessionCreated | SessionAdopted:
    if ask.legacy is None:
        return SessionCreated(session=ask.session, pipeline=ask.pipeline.name, weft=ask.weft)
    return SessionAdopted(
        session=ask.session, pipeline=ask.pipeline.name, weft=ask.weft, shape=ask.legacy.shape, notes=notes
    )


def _check_same_pipeline(ask: OpeningAsk) -> None:
    if ask.state.seq and ask.state.pipeline != ask.pipeline.name:
        raise UserError(
            f"session {ask.session} belongs to the pipeline {ask.state.pipeline}, not {ask.pipeline.name}",
            hint="leave the pipeline out to continue it, or choose another --session-id",
        )


def _inputs(ask: OpeningAsk, state: SessionState) -> dict[str, SessionInput]:
    """Each input as this run takes it: a file that changed since it was recorded wins over the session's copy."""
    for name in ask.given.keys() - ask.pipeline.inputs.keys():
        raise UsageError(
            f"the pipeline {ask.pipeline.name} has no input {name!r}", hint=suggest(name, ask.pipeline.inputs, "inputs")
        )
    found: dict[str, SessionInput] = {}
    for index, (name, spec) in enumerate(ask.pipeline.inputs.items()):
        taken = _one_input(ask, state, name, first=index == 0)
        if taken:
            found[name] = taken
        elif spec.required:
            raise UsageError(
                f"the pipeline {ask.pipeline.name} needs the input {name!r}",
                hint=f"weft run {ask.pipeline.name} FILE" if index == 0 else f"add --input {name}=FILE",
            )
    return found


def _one_input(ask: OpeningAsk, state: SessionState, name: str, *, first: bool) -> SessionInput | None:
    given, known = ask.given.get(name), state.inputs.get(name)
    file = known.file if known else CONTENT if first else f"attachments/{name}{_ending(given)}"
    copied = ask.read(file) if known or ask.legacy else None
    digest = hash_bytes(given.data) if given else None
    if given and (copied is None or not known or digest != known.hash):
        text = input_text(given.data, given.origin)
        return SessionInput(file, given.data, given.origin, text, new=known is None or digest != known.hash)
    if copied is None:
        if known is None:
            return None
        raise UserError(
            f"the session's copy of the input {name} is gone ({file})",
            hint=f"put it back, or give the file again: weft run --session-id {ask.session} {known.origin or 'FILE'}",
        )
    text = input_text(copied, f"{ask.session}/{file}")
    origin = given.origin if given else known.origin if known else ""
    return SessionInput(file, copied, origin, text, new=known is None or text.hash != known.hash)


def _ending(given: GivenInput | None) -> str:
    stem, dot, ending = (given.origin if given else "").rpartition(".")
    return f".{ending}" if stem and dot and ending.isalnum() and len(ending) <= 8 else ".txt"


def _kept(ask: OpeningAsk, facts: Facts, state: SessionState, inputs: Mapping[str, SessionInput]) -> Kept:
    kept = Kept()
    if ask.legacy:
        source = next(iter(inputs.values()), None)
        kept = adopt(ask.pipeline, facts, ask.read, ask.legacy, source.data if source else None)
    if ask.wish.accept:
        edits = keep_edits(ask.pipeline, facts, state, ask.read, ask.wish.accept)
        kept.events += edits.events
        kept.artifacts += edits.artifacts
        kept.notes += edits.notes
    return kept


def _add(state: SessionState, events: list[DurableEvent], event: DurableEvent) -> None:
    events.append(event)
    state.apply(Record(state.seq + 1, state.updated_at, event))
