"""A pipeline that is known to be good: its steps in running order, and what they need. Values, no I/O.

`pipeline_reader.read_pipeline` makes it from a file; nobody else has to check anything again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.checks import CheckCall
from weft.protocol.errors import Problem
from weft.workspace import graph
from weft.workspace.parameters import ParameterSpec, parameter_values
from weft.workspace.pipeline_file import InputKind, pipeline_json_schema
from weft.workspace.schema_file import SchemaFile

__all__ = ["InputKind", "InputSpec", "ParameterSpec", "Pipeline", "SchemaFile", "Step", "pipeline_json_schema"]


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
    """`file.py:function` in code/; None for a step of an agent."""
    agent: str | None
    requires: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    profile: tuple[str, ...]
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
        return parameter_values(self.parameters, given)

    def _requires(self) -> dict[str, tuple[str, ...]]:
        return {name: step.requires for name, step in self.steps.items()}
