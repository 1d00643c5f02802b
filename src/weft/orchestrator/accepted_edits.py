"""Results the engine did not make itself: a person's edit that is to stay, and the artifacts of an older session.

Both must pass schema and checks before they count, and both are recorded with today's inputs as what they came from.
Pure: bytes and facts in, events and words out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from weft.orchestrator.after_step import step_hash
from weft.orchestrator.facts import Facts
from weft.orchestrator.inputs import ReadFile
from weft.orchestrator.plan import inputs_of, passed_over
from weft.orchestrator.plan_preview import Outlook
from weft.orchestrator.validate import is_code
from weft.protocol.commands import Artifact
from weft.protocol.errors import Finding, UserError
from weft.protocol.events import ArtifactRejected, DurableEvent, EditAccepted, StepAdopted
from weft.protocol.hashes import combine, hash_bytes
from weft.protocol.values import dataclass
from weft.session.legacy import Legacy, old_hash
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline, Step

EDIT_HINT: Final = "correct it, or run without --accept to have it made again (your version is kept aside)"


@dataclass(slots=True)
class Kept:
    events: list[DurableEvent] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(
        self,
        kind: type[EditAccepted | StepAdopted],
        step: str,
        attempt: int,
        made: Sequence[Artifact],
        facts: Facts,
        inputs: Mapping[str, str],
    ) -> None:
        """These artifacts are the step's result."""
        self.artifacts += made
        self.events += [artifact.accepted(0, step, attempt) for artifact in made]
        self.events.append(
            kind(
                step=step,
                hash=step_hash({artifact.name: artifact.hash for artifact in made}),
                schema_version=facts.steps[step].schema_version,
                input_hash=combine(inputs),
                inputs=inputs,
            )
        )


def keep_edits(pipeline: Pipeline, facts: Facts, state: SessionState, read: ReadFile, accept: frozenset[str]) -> Kept:
    """`--accept STEP`: what stands in the step's files now is its result."""
    kept = Kept()
    logged = {artifact for step in state.steps.values() if step.completion for artifact in step.completion.artifacts}
    standing = {name: digest for name, digest in _on_disk(pipeline, read).items() if name not in logged}
    for name in [name for name in pipeline.steps if name in accept]:
        step = pipeline.steps[name]
        files = {artifact: read(artifact) for artifact in step.artifacts}
        for artifact, data in files.items():
            fault = facts.steps[name].files[artifact].fault
            if data is None:
                raise UserError(f"can't accept {name}: {artifact} is missing", hint="run without --accept to make it")
            if fault:
                raise UserError(f"can't accept {name}: {artifact} does not pass: {fault}", hint=EDIT_HINT)
        hashes = {artifact: hash_bytes(data) for artifact, data in files.items() if data is not None}
        standing |= hashes
        done = state.steps[name].completion if name in state.steps else None
        if done and all(hash_bytes(data or b"") == done.artifacts.get(artifact) for artifact, data in files.items()):
            kept.notes.append(f"{name} was not edited: there is nothing to accept")
            continue
        attempt = state.steps[name].attempt if name in state.steps else 0
        made = [Artifact(artifact, data, hash_bytes(data)) for artifact, data in files.items() if data is not None]
        inputs = _inputs(pipeline, facts, state, name, standing)
        if inputs is None:
            raise UserError(
                f"can't accept {name}: {passed_over(step)}", hint="what is passed over has no result to be kept"
            )
        kept.take(EditAccepted, name, attempt, made, facts, inputs)
    return kept


def adopt(pipeline: Pipeline, facts: Facts, read: ReadFile, legacy: Legacy, source: bytes | None) -> Kept:
    """Take in an older session: an artifact that passes today counts; what was wrong with the others is said."""
    kept = Kept(notes=list(legacy.notes))
    if legacy.source_hash and source is not None and old_hash(source) != legacy.source_hash:
        kept.notes.append("content.md changed since the old manifest was written, so no step counts as completed")
        return kept
    on_disk = _on_disk(pipeline, read)
    for name, step in pipeline.steps.items():
        found = _adoptable(step, facts, read, legacy, kept)
        if found is None:
            continue
        inputs = _inputs(pipeline, facts, SessionState(), name, on_disk)
        if inputs is None:
            continue
        kept.take(StepAdopted, name, 0, found, facts, inputs)
    return kept


def _adoptable(step: Step, facts: Facts, read: ReadFile, legacy: Legacy, kept: Kept) -> list[Artifact] | None:
    """The step's artifacts when all of them count; otherwise the reason goes into the notes."""
    found: list[Artifact] = []
    if any(is_code(call) for _, call in step.checks) and any(read(name) is not None for name in step.artifacts):
        kept.notes.append(f"{step.name} has checks of its own code, so it will be made again")
        return None
    for name in step.artifacts:
        data, claim = read(name), legacy.claim(step.name, name)
        if data is None:
            if claim and claim.done:
                kept.notes.append(f"the old manifest says {step.name} is done, but {name} is missing")
            return None
        if claim and not claim.done:
            kept.notes.append(f"{name} is there, but the old manifest says {claim.status}: it will be made again")
            return None
        if claim is None and legacy.shape != "none":
            kept.notes.append(f"{name} is there, but the old manifest says nothing of it: it will be made again")
            return None
        if claim and claim.hash and claim.hash != old_hash(data):
            kept.notes.append(f"{name} is not what the old manifest recorded: it will be made again")
            return None
        fault = facts.steps[step.name].files[name].fault
        if fault:
            kept.notes.append(f"{name} does not pass and will be made again: {fault}")
            kept.events.append(
                ArtifactRejected(run=0, step=step.name, attempt=0, artifact=name, findings=(Finding(name, "", fault),))
            )
            return None
        found.append(Artifact(name, data, hash_bytes(data)))
    return found


def _on_disk(pipeline: Pipeline, read: ReadFile) -> dict[str, str]:
    names = (artifact for step in pipeline.steps.values() for artifact in step.artifacts)
    return {name: hash_bytes(data) for name in names if (data := read(name)) is not None}


def _inputs(
    pipeline: Pipeline, facts: Facts, state: SessionState, step: str, standing: Mapping[str, str]
) -> dict[str, str] | None:
    """What a run would make the step from as things are, so that it takes the result as up to date; None when it
    would pass the step over."""
    outlook = Outlook.of(pipeline, facts.steps, state, facts.parameters, standing)
    for name in pipeline.steps:
        ahead = outlook.at(name)
        if name == step:
            return inputs_of(facts.steps[name], ahead.upstream, ahead.extra) if ahead else None
    raise KeyError(step)
