"""A step that is a pipeline: that is read, and what it is given is judged, before `inner` puts it in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from weft.checks.paths import parse_path
from weft.protocol.errors import Problem
from weft.workspace.document import Path, describe
from weft.workspace.draft import PipelineDraft
from weft.workspace.flow import ArtifactPlace
from weft.workspace.flow_rules import Flow, look
from weft.workspace.inner import inner_file
from weft.workspace.map_rules import KEPT_FOLDERS
from weft.workspace.mapping import ItemPart
from weft.workspace.pack_file import find_packs
from weft.workspace.pipeline import Given, MappedPipeline, Pipeline, Step
from weft.workspace.pipeline_file import StepEntry
from weft.workspace.scope import Taken, reference
from weft.workspace.spelling import suggest

ReadPipeline = Callable[[str], tuple[Pipeline | None, list[Problem]]]


def with_pipelines(draft: PipelineDraft, within: tuple[str, ...], read: ReadPipeline) -> PipelineDraft:
    """The draft with what its inner pipelines make and read written into their steps. `within`: the pipelines that
    this one is read for, itself last."""
    found: dict[str, Pipeline] = {}
    steps: dict[str, StepEntry] = {}
    told: set[str] = set()
    for name, entry in draft.steps.items():
        steps[name] = entry
        if entry.pipeline is None:
            continue
        child = _child(draft, name, entry.pipeline, within, read, told)
        made: list[str] = []
        if child is not None:
            found[name] = child
            made = [inner_file(name, artifact) for artifact in child.steps[child.final].artifacts]
        if entry.map_ is not None:
            made = [entry.artifact or f"{name}.json"]
        steps[name] = entry.model_copy(update={"artifact": None, "artifacts": made, **_reads(draft, entry, child)})
    if not any(entry.pipeline is not None for entry in draft.steps.values()):
        return draft
    return replace(draft, file=draft.file.model_copy(update={"steps": steps}), inner=found)


def _child(
    draft: PipelineDraft, step: str, name: str, within: tuple[str, ...], read: ReadPipeline, told: set[str]
) -> Pipeline | None:
    at: Path = ("steps", step, "pipeline")
    names = draft.library.names("pipelines", ".yaml")
    if name in within:
        circle = [*within[within.index(name) :], name]
        what = "this pipeline would be a step of itself" if len(circle) == 2 else "these pipelines hold each other"
        draft.report(at, f"{what}: {' -> '.join(circle)}", "take one of these steps out")
        return None
    if name not in names:
        packs = [pack.name for pack in find_packs().values() if f"pipelines/{name}.yaml" in pack.files]
        hint = f"the pack '{packs[0]}' has it: weft init --pack {packs[0]}" if packs else ""
        draft.report(at, f"unknown pipeline '{name}'", hint or suggest(name, names, "pipelines"))
        return None
    child, problems = read(name)
    if child is None and name not in told:
        draft.problems.extend(problems)
        told.add(name)
    return child


def _reads(draft: PipelineDraft, entry: StepEntry, child: Pipeline | None) -> dict[str, list[str]]:
    """The inputs and parameters of this pipeline that the inner one is given: so that they count as read."""
    found: dict[str, list[str]] = {}
    for section, kind in (("inputs", "input"), ("parameters", "parameter")):
        known = draft.names(section)
        named = [value[kind] for value in (entry.with_ or {}).values() if reference(value) == kind]
        if (over := entry.map_) is not None:
            named += filter(None, (over.rows, over.pages) if kind == "input" else (over.folder,))
        same = [one for one in child.inputs if one in known] if child and kind == "input" else []
        found[section] = [one for one in dict.fromkeys([*named, *same]) if one in known]
    return found


# -- what it is given


def given(flow: Flow, step: str) -> Given | None:
    """What the pipeline that a step is gets: each name under `with` is an input or a parameter of it."""
    draft, entry = flow.draft, flow.draft.steps[step]
    child = draft.inner.get(step)
    if child is None:
        return None
    at: Path = ("steps", step)
    if step in KEPT_FOLDERS:
        message = f"its artifacts would be in {step}/, which the session keeps for itself"
        draft.report_key(at, message, "give the step another name")
    _in_time(flow, step, child)
    inputs: dict[str, str | ArtifactPlace | ItemPart] = {
        name: name for name in child.inputs if name in draft.names("inputs")
    }
    item = entry.map_.as_ if entry.map_ is not None else None
    if item is not None and item in child.inputs:
        inputs[item] = ItemPart()
    parameters: dict[str, Taken] = {}
    for name, value in (entry.with_ or {}).items():
        place: Path = (*at, "with", name)
        if name in child.inputs:
            inputs.pop(name, None)
            part = _item_part(flow, place, value) if item is not None and _names(value, item) else None
            if (found := part or _input(flow, place, name, value, step)) is not None:
                inputs[name] = found
        elif name in child.parameters:
            if (taken := _parameter(flow, place, child, name, value)) is not None:
                parameters[name] = taken
        else:
            known = [*child.inputs, *child.parameters]
            hint = suggest(name, known, f"inputs and parameters of {child.name}")
            draft.report_key(place, f"the pipeline '{child.name}' has no input or parameter '{name}'", hint)
    for name, spec in child.inputs.items():
        if spec.required and name not in inputs and name not in (entry.with_ or {}):
            hint = f"write with: {{{name}: {{input: …}}}} or {{{name}: {{artifact: …}}}}"
            draft.report_key((*at, "with"), f"the pipeline '{child.name}' needs the input '{name}'", hint)
    if item is not None:
        _over_items(flow, step, child, item, inputs)
    return Given(child, inputs, parameters)


def mapped_of(flow: Flow, step: Step, given: Given) -> MappedPipeline | None:
    """Of a step with a map: what its pipeline is made for."""
    over, draft = step.map, flow.draft
    if over is None:
        return None
    maker = flow.makers.get(over.look.artifact, "") if over.look is not None else ""
    entry = draft.steps.get(maker)
    if entry is not None and (entry.when or entry.else_) and step.when is None:
        message = f"'{maker}' may be passed over, and then there are no items"
        draft.report_key(("steps", step.name, "map"), message, "put its condition on this step too")
    places = [one.artifact for one in given.inputs.values() if isinstance(one, ArtifactPlace)]
    return MappedPipeline(over=over, given=given, makers={one: flow.makers[one] for one in places})


def _names(value: Any, item: str) -> bool:
    return isinstance(value, Mapping) and value.get("input") == item and value.keys() <= {"input", "at"}


def _item_part(flow: Flow, at: Path, value: Mapping[str, Any]) -> ItemPart:
    place = value.get("at", "")
    try:
        if parse_path(str(place)).many:
            flow.draft.report((*at, "at"), "this place has several values, not one", "take one of them")
    except ValueError as error:
        flow.draft.report((*at, "at"), str(error))
    return ItemPart(str(place))


def _over_items(
    flow: Flow, step: str, child: Pipeline, item: str, inputs: Mapping[str, str | ArtifactPlace | ItemPart]
) -> None:
    """What holds for a pipeline that is made for each item, besides."""
    draft, entry = flow.draft, flow.draft.steps[step]
    at: Path = ("steps", step)
    parts = {name: part for name, part in inputs.items() if isinstance(part, ItemPart)}
    if not parts and (child.inputs or not entry.with_):
        first = next(iter(child.inputs), "…")
        message = f"nothing in '{child.name}' is given the item '{item}', so all of them would be the same"
        draft.report_key((*at, "map"), message, f"write with: {{{first}: {{input: {item}}}}}")
    over = entry.map_
    if over is not None and (over.folder or over.pages):
        for name in [name for name, part in parts.items() if part.at]:
            draft.report((*at, "with", name, "at"), "a file or a page is given as a whole", "remove it")
    if entry.gate is not None and entry.gate.before:
        message = "the step is an item's each time, and one gate can't stand before all of them"
        draft.report_key((*at, "gate", "before"), message, "put a gate behind the step that makes the items")
    for key in ("on_failure", "finally"):
        if getattr(entry, key if key == "on_failure" else "finally_"):
            draft.report_key((*at, key), f"nothing reads '{key}' in a pipeline for each item", "put it in the pipeline")


def _in_time(flow: Flow, step: str, child: Pipeline) -> None:
    """What is said of the step holds for where its pipeline begins or ends, and may be said there once."""
    draft, entry = flow.draft, flow.draft.steps[step]
    at: Path = ("steps", step)
    first = [one for one in child.steps.values() if not one.requires and one.runs == "in_order"]
    ends = first if entry.gate and entry.gate.before else [child.steps[child.final]]
    if entry.map_ is not None:
        ends = []  # its gate is behind what is gathered
    if entry.gate is not None and any(one.gate is not None for one in ends):
        message = f"the step '{ends[0].name}' of '{child.name}' has a gate already"
        draft.report_key((*at, "gate"), message, "remove one of the two")
    elif entry.gate is not None and len(ends) > 1:
        message = f"'{child.name}' begins with several steps: {', '.join(one.name for one in ends)}"
        draft.report_key((*at, "gate", "before"), message, "put a gate behind a step that this one requires")
    if entry.until is not None and any(one.until for one in first):
        draft.report_key((*at, "until"), f"'{child.name}' begins with an 'until' already", "remove one of the two")
    if not (entry.on_failure or entry.finally_):
        return
    key = "on_failure" if entry.on_failure else "finally"
    if any(one.gate is not None and not one.gate.auto for one in child.steps.values()) or child.units:
        message = f"'{child.name}' has gates, a repair or a loop, and nothing waits or goes back at the end of a run"
        draft.report_key((*at, key), message, "let a pipeline without them be made there")
    if any(one.runs != "in_order" for one in child.steps.values()):
        message = f"'{child.name}' has steps of its own for its end"
        draft.report_key((*at, key), message, "let a pipeline without them be made there")


def _input(flow: Flow, at: Path, name: str, value: Any, step: str) -> str | ArtifactPlace | None:
    draft, kind = flow.draft, reference(value)
    if kind == "artifact":
        return look(flow, at, value["artifact"], value.get("at", ""), step, own=False, whole=True)
    known = draft.names("inputs")
    if kind != "input":
        hint = f"write {{input: …}} or {{artifact: …}}; the inputs are {', '.join(known) or 'none'}"
        draft.report(at, f"'{name}' is an input: it comes from an input or an artifact", hint)
    elif value["input"] in known:
        return str(value["input"])
    else:
        draft.report((*at, "input"), f"unknown input '{value['input']}'", suggest(str(value["input"]), known, "inputs"))
    return None


def _parameter(flow: Flow, at: Path, child: Pipeline, name: str, value: Any) -> Taken | None:
    draft, kind, spec = flow.draft, reference(value), child.parameters[name]
    if kind == "parameter":
        outer = flow.parameters.get(str(value["parameter"]))
        if outer is None:
            hint = suggest(str(value["parameter"]), flow.parameters, "parameters")
            draft.report((*at, "parameter"), f"unknown parameter '{value['parameter']}'", hint)
        elif outer.type != spec.type and (spec.type, outer.type) != ("number", "integer"):
            message = f"'{name}' is a {spec.type}, and the parameter '{value['parameter']}' a {outer.type}"
            draft.report((*at, "parameter"), message, "change one of the two types")
        else:
            return Taken(parameter=str(value["parameter"]))
    elif kind is not None:
        message = f"'{name}' is a parameter: it is known before the run, and {describe(value)} is not"
        draft.report(at, message, "write a value, or {parameter: …}")
    elif problem := spec.problem(value):
        draft.report(at, problem, "change it")
    else:
        return Taken(spec.settle(value))
    return None
