"""From what a person asks for to a session that can run or be planned.

`prepare_run` computes everything that must be recorded before a run begins: that the session exists, its inputs as they
are now, the artifacts of an older system that count, the edits a person keeps. It writes nothing: a plan folds the
events in memory and shows what would happen; a run writes the inputs and records the events first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.files import Folder, named_file, named_folder
from weft.orchestrator.accepted_edits import Kept, adopt, keep_edits
from weft.orchestrator.facts import Facts, Versions, gather
from weft.orchestrator.inputs import (
    GivenInput,
    InputText,
    ReadFile,
    SessionInput,
    as_input,
    given_text,
    take_inputs,
)
from weft.orchestrator.map_expansion import unfold
from weft.orchestrator.plan import wanted_items
from weft.orchestrator.rest_commands import at_rest
from weft.protocol import events as e
from weft.protocol.commands import Artifact, CancelRun, StartRun
from weft.protocol.errors import UsageError, UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.session.legacy import Legacy
from weft.session.state import SessionState
from weft.workspace.inner import written_steps
from weft.workspace.pipeline import Pipeline
from weft.workspace.spelling import listed, suggest
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.tools.toolbox import Toolbox

FILES_SAY: Final = "default"
"""What a person says in place of a model to go back to what steps, agents and the workspace say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A session ready to be planned or run."""

    pipeline: Pipeline
    state: SessionState
    """The session's state with `events` folded in."""
    facts: Facts
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any]
    """The parameters that a person set, now or earlier in this session."""
    chosen_model: str = ""
    """The model that a person chose for every step, now or earlier in this session."""
    events: tuple[e.DurableEvent, ...] = ()
    """What must be recorded before a run."""
    inputs: Mapping[str, SessionInput] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    """Files in place that count from now on."""
    notes: tuple[str, ...] = ()
    restored: Mapping[str, bytes] = field(default_factory=dict)
    """Artifacts whose files are gone, as the log has them: an acknowledged step is not made again for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareRun:
    """What `prepare_run` starts from."""

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
    roles: Mapping[str, str] = field(default_factory=dict)
    registered: Mapping[str, str] = field(default_factory=dict)
    toolbox: Callable[[], Toolbox] | None = None
    versions: Versions | None = None
    going_on: bool = False
    """A run is, and asks for the items that it has found."""


def prepare_run(ask: PrepareRun) -> PreparedRun:
    if not ask.pipeline.mapped:
        check_wish(ask.pipeline, ask.wish)
    _check_same_pipeline(ask)
    state = copy.deepcopy(ask.state) if ask.state.seq else SessionState()
    events: list[e.DurableEvent] = []
    if state.seq == 0:
        _add(state, events, _birth(ask))
    for event in _ended_for_another(ask):
        _add(state, events, event)
    adopting = ask.legacy is not None
    restored = _gone(ask)
    for name, data in restored.items():
        _add(state, events, e.ArtifactRestored(artifact=name, hash=hash_bytes(data)))
    if restored:
        on_disk = ask.read
        ask = replace(ask, read=lambda name: restored[name] if name in restored else on_disk(name))
    inputs = take_inputs(ask.pipeline, ask.session, state, ask.given, ask.read, adopting=adopting)
    for name, taken in inputs.items():
        if taken.new:
            _add(state, events, _recorded(name, taken))
    before = state.run if state.run and state.run.pipeline == ask.pipeline.name else None
    remembered = before.chosen if before else {}
    texts = {name: given.text for name, given in inputs.items()}
    if ask.pipeline.mapped:
        ask, texts = _unfolded(ask, remembered, texts)
    known = {name: value for name, value in remembered.items() if name in ask.pipeline.parameters}
    parameters = _with_folders(ask.pipeline, _parameters(ask, known))
    chosen = {name: parameters[name] for name in {**known, **ask.wish.parameters}}
    kept_model = before.chosen_model if before else ""
    chosen_model = "" if ask.wish.model == FILES_SAY else ask.wish.model or kept_model
    facts = gather(
        ask.workspace,
        ask.pipeline,
        state,
        parameters=parameters,
        model=ask.model,
        chosen_model=chosen_model,
        roles=ask.roles,
        registered=ask.registered,
        overrides=ask.wish.profile,
        toolbox=ask.toolbox,
        inputs={**_files_read(ask.pipeline, parameters), **texts},
        read=ask.read,
        versions=ask.versions,
    )
    kept = _kept(ask, facts, state, inputs)
    if ask.legacy and events:
        events[0] = _birth(ask, tuple(kept.notes))
    for event in kept.events:
        _add(state, events, event)
    return PreparedRun(
        pipeline=ask.pipeline,
        state=state,
        facts=facts,
        parameters=parameters,
        chosen=chosen,
        chosen_model=chosen_model,
        events=tuple(events),
        inputs=inputs,
        artifacts=tuple(kept.artifacts),
        restored=restored,
        notes=(*(note for taken in inputs.values() for note in taken.notes), *kept.notes),
    )


def _unfolded(
    ask: PrepareRun, remembered: Mapping[str, Any], texts: Mapping[str, InputText]
) -> tuple[PrepareRun, dict[str, InputText]]:
    """The same with the steps of every item that is known, and the inputs with the items."""
    written = ask.pipeline.parameters
    given = {name: value for name, value in {**remembered, **ask.wish.parameters}.items() if name in written}
    parameters = _with_folders(ask.pipeline, ask.pipeline.parameter_values(given))
    pipeline, items = unfold(ask.pipeline, ask.read, texts, parameters)
    if not ask.going_on:
        check_wish(pipeline, ask.wish)
    return replace(ask, pipeline=pipeline), {**texts, **items}


def _gone(ask: PrepareRun) -> dict[str, bytes]:
    """The artifacts of completed steps, and of items, whose files are gone and whose bytes the log has."""
    wanted = {
        name: digest
        for step, record in ask.state.steps.items()
        if record.completion and _is_of(ask.pipeline, step)
        for name, digest in record.completion.artifacts.items()
    }
    known = ask.state.artifacts
    steps = [step for step in ask.state.items if _is_of(ask.pipeline, step)]
    items = (one.artifact for step in steps for one in ask.state.items[step].values() if one.ok)
    wanted |= {name: known[name].hash for name in items if name in known}
    gone = [name for name in wanted if name in known and known[name].hash == wanted[name] and ask.read(name) is None]
    if not gone or ask.versions is None:
        return {}
    texts = ask.versions({known[name].seq for name in gone})
    return {name: texts[known[name].seq] for name in gone if known[name].seq in texts}


def _is_of(pipeline: Pipeline, step: str) -> bool:
    return step in pipeline.steps or bool(pipeline.items_around(step))


def _recorded(name: str, taken: SessionInput) -> e.InputRecorded:
    originals = {file: hash_bytes(data) for file, data in taken.originals.items()} or taken.known
    return e.InputRecorded(
        input=name,
        file=taken.file,
        hash=taken.text.hash,
        size=len(taken.data),
        origin=taken.origin,
        originals=originals,
        edited=taken.edited,
    )


def _parameters(ask: PrepareRun, known: Mapping[str, Any]) -> dict[str, Any]:
    try:
        ask.pipeline.parameter_values(known)
    except UsageError as error:
        if not known.keys() <= ask.wish.parameters.keys():
            hint = "it was set earlier in this session: set it anew with --set"
            raise UsageError(error.message, hint=f"{error.hint}; {hint}" if error.hint else hint) from error
    return ask.pipeline.parameter_values({**known, **ask.wish.parameters})


def _with_folders(pipeline: Pipeline, parameters: dict[str, Any]) -> dict[str, Any]:
    """Every folder as it is from anywhere: the session may be continued from another place."""
    folders = [name for name, spec in pipeline.parameters.items() if spec.type == "folder"]
    files = [name for name, spec in pipeline.parameters.items() if spec.type == "file" and parameters[name]]
    return {
        **parameters,
        **{name: str(named_folder(parameters[name], name)) for name in folders},
        **{name: str(named_file(parameters[name], name)) for name in files},
    }


def _files_read(pipeline: Pipeline, parameters: Mapping[str, Any]) -> dict[str, InputText]:
    """What stands in the files that a person named: steps read their text, and are made again when it changes."""
    named = [name for name, spec in pipeline.parameters.items() if spec.type == "file" and parameters[name]]
    return {name: given_text(_bytes_of(Path(parameters[name])), Path(parameters[name]).name) for name in named}


def _bytes_of(path: Path) -> bytes:
    with Folder.open(path.parent) as folder:
        return folder.read(path.name)


def check_wish(pipeline: Pipeline, wish: StartRun) -> None:
    """Every step that a flag names must exist, what is set must be no input, and what stands in for the profile must
    be read."""
    for name in wish.parameters:
        if name in pipeline.inputs and name not in pipeline.parameters:
            raise UsageError(
                f"{name} is an input of the pipeline {pipeline.name}, no parameter", hint=f"give it: {as_input(name)}"
            )
    named = {"--force": wish.force, "--accept": wish.accept}
    named |= {"--from": frozenset(filter(None, [wish.start_from])), "--until": frozenset(filter(None, [wish.until]))}
    for flag, steps in named.items():
        for step in sorted(steps - pipeline.steps.keys()):
            raise UsageError(
                f"{flag} {step}: the pipeline {pipeline.name} has no such step",
                hint=suggest(step, pipeline.steps, "steps"),
            )
    read = {part for step in pipeline.steps.values() for part in step.profile}
    for key in wish.profile:
        if not any(f"{key}.".startswith(f"{part}.") for part in read):
            raise UsageError(
                f"no step of the pipeline {pipeline.name} reads {key} of the profile, so it would change nothing",
                hint=f"it reads {listed(sorted(read))}" if read else "leave it out",
            )
    for name, answer in wish.answers.items():
        _check_answer(pipeline, name, answer)
    if wish.only and pipeline.mapped:
        _check_items(pipeline, wish)
    elif wish.only and not any(step.map for step in pipeline.steps.values()):
        what = f"--only {sorted(wish.only)[0]}: no step of the pipeline {pipeline.name} is made item by item"
        raise UsageError(what, hint="steps with a 'map' are; --until STEP stops after a step")
    both = sorted(wish.accept & (wish.force | {wish.start_from or ""}))
    if both:
        raise UsageError(f"--accept and --force can't both name {both[0]}", hint="keep the edit, or make it again")


def _check_items(pipeline: Pipeline, wish: StartRun) -> None:
    """At least one of the items that are asked for must be there, unless some are not known yet."""
    unknown = any(one.source and one.known is None for one in pipeline.mapped.values())
    if unknown or any(step.map for step in pipeline.steps.values()):
        return
    known = [f"{pipeline.written(place)}/{key}" for place, one in pipeline.mapped.items() for key in one.items]
    if not any(wanted_items(wish, place) & {*one.items} for place, one in pipeline.mapped.items()):
        named = sorted(wish.only)[0]
        hint = suggest(named, [one.partition("/")[2] for one in known], "items")
        raise UsageError(f"--only {named}: no step of the pipeline {pipeline.name} has such an item", hint=hint)


def _check_answer(pipeline: Pipeline, name: str, answer: str) -> None:
    steps = {**pipeline.steps, **(written_steps(pipeline) if pipeline.mapped else {})}
    gates = {step: one.gate for step, one in steps.items() if one.gate and not one.gate.auto}
    gate = gates.get(name)
    if gate is None:
        hint = suggest(name, gates, "gates") if gates else "this pipeline waits nowhere"
        raise UsageError(f"--answer {name}: the pipeline {pipeline.name} has no such gate", hint=hint)
    word, _, text = answer.partition(":")
    ids = [choice.id for choice in gate.choices]
    choice = next((one for number, one in enumerate(gate.choices, 1) if word.strip() in (one.id, str(number))), None)
    if choice is None:
        hint = suggest(word.strip(), ids, "choices")
        raise UsageError(f"--answer {name}={answer}: the gate offers no such choice", hint=hint)
    if choice.does == "amend" and not text.strip():
        raise UsageError(f"--answer {name}={word}: what should be changed?", hint=f"{name}={word}:TEXT")


def _birth(ask: PrepareRun, notes: tuple[str, ...] = ()) -> e.SessionCreated | e.SessionAdopted:
    if ask.legacy is None:
        return e.SessionCreated(session=ask.session, pipeline=ask.pipeline.name, weft=ask.weft)
    return e.SessionAdopted(
        session=ask.session, pipeline=ask.pipeline.name, weft=ask.weft, shape=ask.legacy.shape, notes=notes
    )


def another_pipeline(session: str, before: str, now: str) -> UserError:
    """It is begun in a session only by who names it there."""
    return UserError(
        f"session {session} belongs to the pipeline {before}, not {now}",
        hint="leave the pipeline out to continue it, or choose another --session-id",
    )


def _check_same_pipeline(ask: PrepareRun) -> None:
    """Another pipeline is begun in a session only by who names it there: a conversation has one run after the other."""
    before, now = ask.state.pipeline, ask.pipeline.name
    if not ask.state.seq or before in ("", now):  # a conversation has none yet
        return
    if ask.wish.pipeline != now:
        raise another_pipeline(ask.session, before, now)
    if ask.state.status in ("waiting", "confirming"):
        raise UserError(f"the run of {before} waits for your answer", hint=f"answer it, or say leave; then begin {now}")


def _ended_for_another(ask: PrepareRun) -> tuple[e.DurableEvent, ...]:
    """The run of another pipeline that was not finished. Its own pipeline goes on from what it made."""
    run = ask.state.run
    if run is None or run.over or run.pipeline == ask.pipeline.name:
        return ()
    *settled, ended = at_rest(ask.state, CancelRun())
    assert isinstance(ended, e.RunEnded)
    return (*settled, replace(ended, message=f"cancelled: {ask.pipeline.name} is begun instead of {run.pipeline}"))


def _kept(ask: PrepareRun, facts: Facts, state: SessionState, inputs: Mapping[str, SessionInput]) -> Kept:
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


def _add(state: SessionState, events: list[e.DurableEvent], event: e.DurableEvent) -> None:
    events.append(event)
    state.apply(e.Record(state.seq + 1, state.updated_at, event))
