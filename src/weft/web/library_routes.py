"""What pipelines are made of: pipelines with their graph and problems, agents, skills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from weft.app import (
    App,
    Filter,
    LibraryFile,
    PipelineRun,
    TemplateKind,
    lay_new,
    library_files,
    library_text,
    pipeline_runs,
    save_library_text,
)
from weft.protocol.errors import Problem
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks

library_routes = APIRouter(prefix="/api/w/{workspace}")


# -- pipelines


class InputShown(s.Shape):
    name: str
    description: str
    optional: bool
    kind: str


class ParameterShown(s.Shape):
    name: str
    type: str
    default: Any
    description: str
    minimum: float | None
    maximum: float | None
    choices: tuple[Any, ...]
    asked: bool = False
    """Of a file: a person is asked for it at a gate, and there is none before."""
    good: str
    """Its good values, in words."""


class GateShown(s.Shape):
    message: str
    auto: bool
    when: str
    choices: tuple[Mapping[str, Any], ...]


class PipelineStep(s.Shape):
    name: str
    artifacts: tuple[str, ...]
    requires: tuple[str, ...]
    executor: str
    agent: str
    code: str
    tool: str
    model: str
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    schemas: Mapping[str, str]
    """By artifact, the file that has its schema."""
    checks: tuple[str, ...]
    gate: GateShown | None
    when: str
    budget: str
    final: bool
    attempts: int
    seconds: float


class UnitShown(s.Shape):
    """Steps that are made again together: a repair or a loop."""

    kind: str
    steps: tuple[str, ...]
    most: int | str
    when: str


class PipelineShort(s.Shape):
    name: str
    description: str
    version: str
    inputs: tuple[InputShown, ...]
    parameters: tuple[ParameterShown, ...]
    depths: Mapping[str, Mapping[str, Any]]
    steps: tuple[str, ...]
    budget: str
    """The most a run may take, in words; "" when nothing is said."""
    problems: tuple[Problem, ...]
    default: bool


class PipelineDrawn(PipelineShort):
    """A pipeline that is known to be good, or its problems."""

    graph: tuple[PipelineStep, ...]
    units: tuple[UnitShown, ...]
    final: str
    warnings: tuple[Problem, ...]


class PipelineShown(PipelineDrawn):
    file: str
    hash: str
    yaml: str
    runs: tuple[PipelineRun, ...]


class GivenText(s.Shape):
    text: str
    expected: str = Field(default="", alias="if")
    """The hash of what was changed; empty for a new file."""


class NewFiles(s.Shape):
    files: tuple[str, ...]
    """Paths below the workspace."""


class TextSaved(s.Shape):
    hash: str
    problems: tuple[Problem, ...]


@library_routes.get("/pipelines")
async def list_pipelines(place: At, who: Looks) -> tuple[PipelineShort, ...]:
    """Every pipeline with what it takes; what is wrong with it, if anything is."""

    def read() -> tuple[PipelineShort, ...]:
        names = place.app.workspace.pipeline_names()
        return tuple(PipelineShort(**_short(place.app, name, None)) for name in names)

    return await place.app.off_loop(read)


@library_routes.get("/pipelines/{name}")
async def show_pipeline(name: str, place: At, who: Looks) -> PipelineShown:
    """Its graph, its text, its problems with line and key, and what its last runs took."""

    def read() -> PipelineShown:
        file, text, digest = library_text(place.app, "pipelines", name)
        entries = place.app.catalogue.page(Filter(pipeline=name, archived=None, limit=20))
        runs = pipeline_runs(place.app, [(one.id, one.title) for one in entries])
        return PipelineShown(
            **_drawn(place.app, name, None),
            file=file,
            hash=digest,
            yaml=text,
            runs=tuple(runs),
        )

    return await place.app.off_loop(read)


@library_routes.post("/pipelines/{name}/check")
async def check_pipeline(given: GivenText, name: str, place: At, who: Looks) -> PipelineDrawn:
    """A text as if it were this pipeline's file: its graph, or its problems. Nothing is saved."""
    return await place.app.off_loop(lambda: PipelineDrawn(**_drawn(place.app, name, given.text)))


@library_routes.put("/pipelines/{name}")
async def save_pipeline(given: GivenText, name: str, place: At, who: Administers) -> TextSaved:
    """Saved whatever is wrong with it; 409 when the file was changed meanwhile."""

    def saved() -> TextSaved:
        digest = save_library_text(place.app, "pipelines", name, given.text, given.expected)
        return TextSaved(hash=digest, problems=tuple(place.app.check_pipeline(name)))

    return await place.app.off_loop(saved)


def _short(app: App, name: str, text: str | None) -> dict[str, Any]:
    pipeline, found = app.checked_pipeline(name, text)
    is_default = name == app.default_pipeline or app.workspace.pipeline_names() == [name]
    if pipeline is None:
        nothing: dict[str, Any] = {"inputs": (), "parameters": (), "depths": {}, "steps": (), "budget": ""}
        about = {"name": name, "description": "", "version": "", "problems": tuple(found)}
        return {**about, **nothing, "default": is_default}
    return {
        "name": name,
        "description": pipeline.description,
        "version": pipeline.version,
        "inputs": tuple(
            InputShown(name=one, description=given.description, optional=not given.required, kind=given.kind)
            for one, given in pipeline.inputs.items()
        ),
        "parameters": tuple(
            ParameterShown(name=one, **asdict(spec), good=spec.good_values()) for one, spec in pipeline.offered.items()
        ),
        "depths": pipeline.depth,
        "steps": tuple(pipeline.steps),
        "budget": str(pipeline.budget),
        "problems": tuple(found),
        "default": is_default,
    }


def _drawn(app: App, name: str, text: str | None) -> dict[str, Any]:
    shown = _short(app, name, text)
    pipeline, _ = app.read_pipeline(name, text)
    if pipeline is None:
        return {**shown, "graph": (), "units": (), "final": "", "warnings": ()}
    return {
        **shown,
        "graph": tuple(_step(step) for step in pipeline.steps.values()),
        "units": tuple(UnitShown.of(unit, when=str(unit.when or "")) for unit in pipeline.units),
        "final": pipeline.final,
        "warnings": tuple(pipeline.warnings),
    }


def _step(step: Any) -> PipelineStep:
    gate = step.gate
    return PipelineStep.of(
        step,
        agent=step.agent or "",
        code=step.code or "",
        tool=step.calls.tool if step.calls else "",
        model=step.model or "",
        tools=step.scope.tools,
        schemas={artifact: schema.file for artifact, schema in step.schemas.items()},
        checks=tuple(f"{call.name} on {artifact}" for artifact, call in step.checks),
        gate=GateShown.of(
            gate,
            when=str(gate.when or ""),
            choices=tuple({"id": one.id, "label": one.label, "does": one.does} for one in gate.choices),
        )
        if gate
        else None,
        when=str(step.when or ""),
        budget=str(step.budget),
        seconds=step.timeout,
    )


@library_routes.post("/library/{kind}/{name}", status_code=201)
async def new_from_template(kind: TemplateKind, name: str, place: At, who: Administers) -> NewFiles:
    """A pipeline, an agent or a skill from a template with comments: good as it is, to be changed."""
    return NewFiles(files=await place.app.off_loop(lambda: lay_new(place.app, kind, name)))


# -- agents and skills


@library_routes.get("/agents")
async def list_agents(place: At, who: Looks) -> tuple[LibraryFile, ...]:
    return tuple(await place.app.off_loop(lambda: library_files(place.app, "agents")))


@library_routes.get("/skills")
async def list_skills(place: At, who: Looks) -> tuple[LibraryFile, ...]:
    return tuple(await place.app.off_loop(lambda: library_files(place.app, "skills")))


@library_routes.put("/agents/{name}")
async def save_agent(given: GivenText, name: str, place: At, who: Administers) -> TextSaved:
    return await place.app.off_loop(lambda: _saved(place.app, "agents", name, given))


@library_routes.put("/skills/{name}")
async def save_skill(given: GivenText, name: str, place: At, who: Administers) -> TextSaved:
    return await place.app.off_loop(lambda: _saved(place.app, "skills", name, given))


def _saved(app: App, kind: Literal["agents", "skills"], name: str, given: GivenText) -> TextSaved:
    digest = save_library_text(app, kind, name, given.text, given.expected)
    found = next((one for one in library_files(app, kind) if one.name == name), None)
    return TextSaved(hash=digest, problems=found.problems if found else ())
