"""The items of pipelines that are made for each of several: found where they are, and put into the pipeline of a run.

Each item is an input of the run that its own steps alone read. So one that was changed makes its own steps again, and
the rest of the graph is as any other: one plan, one machine, one log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.files import Folder
from weft.orchestrator.facts import folder_files, inputs_within, local_values, value_text
from weft.orchestrator.inputs import InputText, ReadFile, given_text
from weft.orchestrator.items import MapItem, map_items
from weft.orchestrator.validate import parse
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes
from weft.workspace.flow import ArtifactPlace
from weft.workspace.inner import inner_file, inner_name, item_input, unfolded
from weft.workspace.mapping import ItemPart, Map, item_name
from weft.workspace.pipeline import Pipeline, Step


def unfold(
    pipeline: Pipeline, read: ReadFile, inputs: Mapping[str, InputText], parameters: Mapping[str, Any]
) -> tuple[Pipeline, dict[str, InputText]]:
    """The pipeline with the steps of every item that is known, and the items as inputs. `read` gives a file of the
    session, `parameters` are those of the pipeline as it is written."""
    brought: dict[str, InputText] = {}
    looked_at: set[str] = set()
    while (place := next((one for one in pipeline.mapped if one not in looked_at), None)) is not None:
        looked_at.add(place)  # what stands in an item has items of its own
        mapped, step = pipeline.mapped[place], pipeline.steps[place]
        source = _source(pipeline, step, mapped.over)
        data = read(source[1]) if source else None
        mapped = replace(mapped, source=source)
        pipeline = replace(pipeline, mapped={**pipeline.mapped, place: mapped})
        if source is not None and data is None:
            continue
        values = {source[1]: parse(source[1], data)[0]} if source and data is not None else {}
        known = hash_bytes(data) if data is not None else None
        within = inputs_within(step, {**inputs, **brought}, values)
        folder = _folder(pipeline, step, mapped.over, parameters)
        parts = {part.at for part in mapped.given.inputs.values() if isinstance(part, ItemPart)}
        try:
            items = _items(step, mapped.over, values, within, folder)
            theirs = {
                item_input(inner_name(place, item_name(item.key)), at): _text(place, mapped.over, item, at, folder)
                for item in items
                for at in parts
            }
        except UserError as error:  # said when the step is made
            broken = replace(mapped, known=known, problem=str(error))
            pipeline = replace(pipeline, mapped={**pipeline.mapped, place: broken})
            continue
        brought |= theirs
        pipeline = unfolded(pipeline, place, [item.key for item in items], known)
    return pipeline, brought


def _source(pipeline: Pipeline, step: Step, over: Map) -> tuple[str, str] | None:
    """The step and the artifact that the items are in."""
    artifact = ""
    if over.look is not None:
        artifact = inner_file(step.inside.place, over.look.artifact) if step.inside else over.look.artifact
    elif step.inside is not None and isinstance(found := step.inside.inputs.get(_input(over)), ArtifactPlace):
        artifact = found.artifact
    if not artifact:
        return None
    return next(one.name for one in pipeline.steps.values() if artifact in one.artifacts), artifact


def _input(over: Map) -> str:
    return over.rows or over.pages or ""


def _folder(pipeline: Pipeline, step: Step, over: Map, parameters: Mapping[str, Any]) -> Path:
    if over.folder is None:
        return Path()
    name = inner_name(step.inside.place, over.folder) if step.inside else over.folder
    return Path(parameters[pipeline.written(name)])


def _items(
    step: Step, over: Map, values: Mapping[str, Any], within: Mapping[str, InputText], folder: Path
) -> Sequence[MapItem]:
    texts = {name: one.text for name, one in within.items()}
    about = {name: one.about for name, one in within.items() if one.about is not None}
    files = folder_files(over, {over.folder: folder}) if over.folder is not None else {}
    return map_items(over, local_values(step, values), texts, about, files)


def _text(place: str, over: Map, item: MapItem, at: str, folder: Path) -> InputText:
    if item.file:
        with Folder.open(folder) as opened:
            return given_text(opened.read(item.file), item.file)
    found = value_text(over.name, item.value, at)
    if found is None:
        raise UserError(f"{place}: the item '{item.key}' has nothing at '{at}'", hint="its pipeline is given that")
    return found
