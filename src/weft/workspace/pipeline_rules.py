"""The rules of a pipeline as a whole: names, parameters, artifacts, the graph, the final step, what nobody reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weft.protocol.ids import NAME, artifact_name_problem
from weft.workspace import graph
from weft.workspace.document import Path, describe
from weft.workspace.draft import PipelineDraft
from weft.workspace.maker_rules import read_names
from weft.workspace.parameters import NAMED, ParameterSpec, is_of_kind
from weft.workspace.pipeline_file import ParameterEntry, StepEntry
from weft.workspace.spelling import listed, nearest
from weft.workspace.step_rules import artifacts_of, texts_in

RESERVED_DOCUMENTS: Final = ("session", "profile")
_NAME_HINT = "a name is small letters, digits, _ and -, at most 64, beginning with a letter or digit"


def names(draft: PipelineDraft, stem: str) -> None:
    if not draft.lost("name") and draft.file.name != stem:
        message = f"the name is '{draft.file.name}', but the file is {stem}.yaml"
        other = f", or rename the file to {draft.file.name}.yaml" if NAME.match(draft.file.name) else ""
        draft.report(("name",), message, f"write 'name: {stem}'{other}")
    elif not NAME.match(stem):
        draft.report(("name",), f"'{stem}' is not a pipeline's name", _NAME_HINT)
    for section in ("inputs", "parameters", "steps"):
        for name in draft.names(section):
            if not NAME.match(name):
                draft.report_key((section, name), f"'{name}' is not a good name", _NAME_HINT)
    for name in draft.names("inputs"):
        if name in RESERVED_DOCUMENTS:
            draft.report_key(("inputs", name), f"'{name}' is what checks call the {name} itself", "use another name")


def parameters(draft: PipelineDraft) -> dict[str, ParameterSpec]:
    return {name: _parameter(draft, ("parameters", name), entry) for name, entry in draft.file.parameters.items()}


def _parameter(draft: PipelineDraft, at: Path, entry: ParameterEntry) -> ParameterSpec:
    spec = ParameterSpec(
        type=entry.type,
        default=entry.default,
        description=entry.description,
        minimum=entry.minimum,
        maximum=entry.maximum,
        choices=tuple(entry.choices or ()),
    )
    has_default = "default" in entry.model_fields_set
    if entry.type in NAMED:
        return _named(draft, at, entry, spec)
    if not has_default:
        draft.report_key((*at, "default"), "'default' is missing", "add 'default': the value when a person gives none")
        return spec
    if entry.type not in ("integer", "number"):
        for key in ("minimum", "maximum"):
            if getattr(entry, key) is not None:
                draft.report_key((*at, key), f"'{key}' has no meaning for a {entry.type}", "remove it")
                return spec
    if entry.minimum is not None and entry.maximum is not None and entry.minimum > entry.maximum:
        message = f"the minimum {entry.minimum} is more than the maximum {entry.maximum}"
        draft.report((*at, "minimum"), message, "swap them")
        return spec
    for index, choice in enumerate(entry.choices or ()):
        if entry.type != "list" and not is_of_kind(entry.type, choice):
            hint = f'put it in quotes: "{choice}"' if entry.type == "string" else "change it, or the type"
            draft.report((*at, "choices", index), f"{describe(choice)} is not of the type {entry.type}", hint)
            return spec
    if problem := spec.problem(entry.default):
        draft.report((*at, "default"), f"the default {problem}", "change it, or what it must be")
        return spec
    settled = tuple(spec.settle(choice) for choice in spec.choices)
    return replace(spec, default=spec.settle(spec.default), choices=settled)


def _named(draft: PipelineDraft, at: Path, entry: ParameterEntry, spec: ParameterSpec) -> ParameterSpec:
    """A folder that tools may change, or a secret, is named by the person: a pipeline can't choose it for them."""
    for key in ("default", "minimum", "maximum", "choices"):
        if key in entry.model_fields_set:
            hint = f"remove it: the person names the {entry.type}" if key == "default" else "remove it"
            draft.report_key((*at, key), f"'{key}' has no meaning for a {entry.type}", hint)
    forms = {name for step in draft.steps.values() if step.gate is not None for name in step.gate.form}
    return replace(spec, asked=entry.type == "file" and at[-1] in forms)


def makers(draft: PipelineDraft) -> dict[str, str]:
    """Which step makes each artifact. Two that differ only in case would be one file on some disks."""
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for step, entry in draft.steps.items():
        if entry.pipeline is not None:
            found |= dict.fromkeys(artifacts_of(entry), step)
            continue
        for path, artifact in _named_artifacts(draft, step, entry):
            if problem := artifact_name_problem(artifact):
                draft.report(path, f"'{artifact}' can't be an artifact's name", problem)
            elif (other := taken.get(artifact.casefold())) is None:
                taken[artifact.casefold()] = found[artifact] = step
            elif other == step:
                draft.report(path, f"'{artifact}' is named twice", "remove one of them")
            else:
                draft.report(path, f"the step '{other}' makes '{artifact}' already", "give one of them another name")
    return found


def _named_artifacts(draft: PipelineDraft, step: str, entry: StepEntry) -> list[tuple[Path, str]]:
    at = ("steps", step)
    if entry.artifact is not None and entry.artifacts is not None:
        draft.report_key((*at, "artifacts"), "a step has 'artifact' or 'artifacts', not both", "remove one of them")
    elif entry.artifact is None and entry.artifacts is None:
        if not draft.lost(*at, "artifact") and not draft.lost(*at, "artifacts"):
            draft.report_key(at, "this step makes nothing: 'artifact' is missing", f"add 'artifact: {step}.json'")
    elif entry.artifacts == []:
        draft.report((*at, "artifacts"), "may not be empty", "name what the step makes")
    elif entry.artifact is None:
        return [((*at, "artifacts", index), name) for index, name in enumerate(artifacts_of(entry))]
    return [((*at, "artifact"), entry.artifact)] if entry.artifact is not None else []


def running_order(draft: PipelineDraft) -> tuple[str, ...]:
    order, circles = graph.in_running_order({name: entry.requires for name, entry in draft.steps.items()})
    for circle in circles:
        first, second = circle[0], circle[1 % len(circle)]
        path = ("steps", first, "requires", list(draft.steps[first].requires).index(second))
        what = "these steps require each other in a circle" if len(circle) > 1 else "this step requires itself"
        shown = " -> ".join((*circle, first))
        draft.report(
            path, f"{what}: {shown}", f"take '{second}' out of the 'requires' of '{first}', or break it elsewhere"
        )
    return order


def final_step(draft: PipelineDraft) -> str:
    """The one final step; "" when it can't be told."""
    steps = draft.names("steps")
    if draft.lost_in_steps("final"):
        return ""
    finals = [name for name, entry in draft.steps.items() if entry.final]
    if not steps:
        draft.report(("steps",), "may not be empty", "a pipeline has at least one step")
    if not finals and len(steps) == 1:
        return steps[0]
    if not finals and steps:
        required = {name for entry in draft.steps.values() for name in entry.requires}
        ends = [name for name in steps if name not in required] or steps
        hint = f"add 'final: true' to one of: {listed(ends)}"
        if len(ends) == 1:
            hint = f"add 'final: true' to '{ends[0]}', which no other step requires"
        draft.report_key(("steps",), "no step is final", hint)
    for name in finals[1:]:
        line = draft.document.value_mark(("steps", finals[0], "final")).line
        message = f"'{name}' is final, but so is '{finals[0]}' on line {line}"
        draft.report(("steps", name, "final"), message, "a pipeline has one final step: remove one 'final: true'")
    return finals[0] if len(finals) == 1 else ""


def unused(draft: PipelineDraft) -> None:
    """A key that nothing reads is a mistake: a run would ask a person for it in vain."""
    unread = any(entry.pipeline is not None and name not in draft.inner for name, entry in draft.steps.items())
    if draft.lost_in_steps() or not draft.steps or unread:
        return
    for section in ("inputs", "parameters"):
        read = {name for entry in draft.steps.values() for name in _read(entry, section, draft.names(section))}
        read |= {text for _, text in texts_in(_flowing(draft), ())}
        for name in draft.names(section):
            if name in read or draft.lost(section):
                continue
            if section in draft.document.value:
                hint = f"name it under '{section}' of a step, or remove it"
                draft.report_key((section, name), f"no step reads the {section.removesuffix('s')} '{name}'", hint)
            else:
                message = f"no step reads the input '{name}', which a pipeline has that declares none"
                draft.report_key((section,), message, "write 'inputs: {}'")


def _flowing(draft: PipelineDraft) -> list[Any]:
    """What the flow of a run depends on: conditions and the number of rounds may name parameters."""
    steps = [
        [entry.when, entry.gate and entry.gate.when, entry.loop and entry.loop.when] for entry in draft.steps.values()
    ]
    rounds = [entry.loop.at_most for entry in draft.steps.values() if entry.loop]
    return [*steps, *rounds, *(entry.rounds for entry in draft.file.repair)]


def _read(entry: StepEntry, section: str, known: list[str]) -> set[str]:
    named = read_names(entry, section)
    if named is None:
        return {*known}
    meant = {close for name in named if name not in known and (close := nearest(name, known))}
    return {*named, *meant, *(text for _, text in texts_in(entry.checks, ()))}


def warn_of_dead_ends(draft: PipelineDraft, final: str) -> None:
    requires: Mapping[str, list[str]] = {name: entry.requires for name, entry in draft.steps.items()}
    useful = {final, *graph.upstream(requires, final)}
    for name in draft.steps:
        if name not in useful and not draft.steps[name].on_failure and not draft.steps[name].finally_:
            message = f"the final step '{final}' does not need '{name}'"
            hint = f"let '{final}' or a step before it require it, or remove it"
            draft.warnings.append(draft.document.at_key(("steps", name), message, hint))
