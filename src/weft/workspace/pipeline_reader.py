"""From a file in pipelines/ to a `Pipeline`, or to everything that is wrong with it, in the order of its lines."""

from __future__ import annotations

from typing import Final

from weft.protocol.errors import Problem, WorkspaceError
from weft.workspace import pipeline_rules as rules
from weft.workspace.document import in_order, read_source
from weft.workspace.draft import Draft, draft_pipeline
from weft.workspace.library import Library
from weft.workspace.pipeline import InputSpec, Pipeline
from weft.workspace.step_rules import resolve_step

FOLDER: Final = "pipelines"
ENDING: Final = ".yaml"


def read_pipeline(library: Library, name: str) -> tuple[Pipeline | None, list[Problem]]:
    """The pipeline, or None and its problems. FileNotFoundError when there is no such file."""
    file = f"{FOLDER}/{name}{ENDING}"
    try:
        source = read_source(library.folder, file)
        draft, problems = draft_pipeline(library, name, source)
        pipeline = _judged(draft, name) if draft else None
    except WorkspaceError as error:
        return None, in_order(error.problems, file)
    if draft:
        problems = draft.problems
    return (None, in_order(problems, file)) if problems else (pipeline, [])


def _judged(draft: Draft, name: str) -> Pipeline:
    """Every rule, whatever the ones before it found. The result is good only if the draft has no problems."""
    rules.names(draft, name)
    parameters = rules.parameters(draft)
    makers = rules.makers(draft)
    order = rules.running_order(draft)
    final = rules.final_step(draft)
    steps = {step: resolve_step(draft, step, final, makers) for step in order}
    rules.unused(draft)
    if final:
        rules.warn_of_dead_ends(draft, final)
    return Pipeline(
        name=name,
        description=draft.file.description,
        version=draft.file.version,
        file=draft.source.file,
        hash=draft.source.hash,
        inputs={
            input_: InputSpec(entry.description, entry.required, entry.kind)
            for input_, entry in draft.file.inputs.items()
        },
        parameters=parameters,
        steps=steps,
        final=final,
        warnings=tuple(in_order(draft.warnings)),
    )
