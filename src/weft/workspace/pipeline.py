"""A pipeline that is known to be good: its steps in running order, and what they need. Values, no I/O.

`pipeline_reader.read_pipeline` makes it from a file; nobody else has to check anything again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from weft.checks import CheckCall
from weft.protocol.errors import Problem
from weft.protocol.values import dataclass
from weft.workspace import graph
from weft.workspace.flow import ArtifactPlace, Budget, Condition, Gate, Retry, Unit
from weft.workspace.mapping import Map, item_file
from weft.workspace.parameters import ParameterSpec, parameter_values
from weft.workspace.pipeline_file import InputKind, pipeline_json_schema
from weft.workspace.schema_file import SchemaFile
from weft.workspace.scope import Executor, Scope, ToolCalls

DEPTH: Final = "depth"

__all__ = [
    "InputKind",
    "InputSpec",
    "ParameterSpec",
    "Pipeline",
    "SchemaFile",
    "Step",
    "pipeline_json_schema",
    "secrets_of",
]


@dataclass(frozen=True)
class InputSpec:
    description: str = ""
    required: bool = True
    kind: InputKind = "document"


@dataclass(frozen=True, kw_only=True)
class Step:
    name: str
    artifacts: tuple[str, ...]
    code: str | None
    """`file.py:function` in code/; None for a step of an agent or a tool."""
    agent: str | None
    executor: Executor = "code"
    scope: Scope = field(default_factory=Scope)
    calls: ToolCalls | None = None
    """Of a step that a tool makes."""
    map: Map | None = None
    """What it is made for item by item."""
    requires: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    profile: tuple[str, ...]
    secrets: tuple[str, ...] = ()
    """Of the person's, by name; given to code alone."""
    network: tuple[str, ...] = ()
    """The hosts that its code may reach."""
    skills: tuple[str, ...]
    """The step's own; those of its agent come with the agent."""
    model: str | None
    schemas: Mapping[str, SchemaFile]
    """By artifact; an artifact without a schema is not in it."""
    checks: tuple[tuple[str, CheckCall], ...]
    """Each with the artifact it judges."""
    attempts: int
    timeout: float
    final: bool
    when: Condition | None = None
    gate: Gate | None = None
    retry: Retry = field(default_factory=Retry)
    budget: Budget = field(default_factory=Budget)
    replies: tuple[str, ...] = ()
    """The steps at whose gates a person's replies are given to this one; its own first."""
    looks: tuple[ArtifactPlace, ...] = ()
    """What conditions, gates and units look at in the artifacts it makes."""
    verdicts: ArtifactPlace | None = None
    """Where its verdicts on claims stand; a person may overrule each, and the step is given that."""
    prior: tuple[str, ...] = ()
    """Artifacts that it reads as earlier runs of the session, on other inputs, finished with them."""

    def for_item(self, key: str) -> Step:
        """What makes one item of it: its schema and checks are of the item's file."""
        file = item_file(self.name, key)
        return replace(
            self,
            artifacts=(file,),
            schemas=dict(zip((file,), self.schemas.values(), strict=False)),
            checks=tuple((file, call) for _, call in self.checks),
            looks=(),
            map=None,
        )

    @property
    def gathering(self) -> Step:
        """What its own artifacts are held to: in one that gathers items those are, each by itself."""
        return self if self.map is None else replace(self, schemas={}, checks=())


def secrets_of(pipeline: Pipeline, step: Step, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the secrets that a step is given: those it declares, and those its parameters name."""
    named = [str(parameters[one]) for one in step.parameters if pipeline.parameters[one].type == "secret"]
    return tuple(dict.fromkeys([*step.secrets, *named])) if step.code else ()


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    name: str
    description: str
    version: str
    file: str
    hash: str
    """Of the file's bytes."""
    inputs: Mapping[str, InputSpec]
    parameters: Mapping[str, ParameterSpec]
    steps: Mapping[str, Step]
    """In running order: each after what it requires, else as in the file."""
    final: str
    units: tuple[Unit, ...] = ()
    """Inner ones before those around them."""
    budget: Budget = field(default_factory=Budget)
    depth: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters that each mode sets. The parameter `depth` says which it is."""
    warnings: tuple[Problem, ...] = ()

    def order(self) -> tuple[str, ...]:
        return tuple(self.steps)

    def upstream(self, step: str) -> set[str]:
        """All that `step` requires, directly or not."""
        return graph.upstream(self._requires(), step)

    def dependents(self, step: str) -> set[str]:
        """All that requires `step`, directly or not."""
        return graph.dependents(self._requires(), step)

    def parameter_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter with its value; text, as from a command line, is converted. UsageError when it can't be."""
        chosen = parameter_values(self.parameters, given)
        mode = self.depth.get(str(chosen.get(DEPTH)), {})
        return {**chosen, **{name: value for name, value in mode.items() if name not in given}}

    def units_of(self, step: str) -> tuple[Unit, ...]:
        return tuple(unit for unit in self.units if step in unit.steps)

    def _requires(self) -> dict[str, tuple[str, ...]]:
        return {name: step.requires for name, step in self.steps.items()}
