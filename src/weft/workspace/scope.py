"""What a step may use besides a model: the tools in its scope, its folder, its own permission rules, or the calls that
make it. Values, no I/O; which tools there are is known to whoever opens the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from weft.protocol.values import dataclass
from weft.workspace.flow import ArtifactPlace

if TYPE_CHECKING:
    from weft.workspace.rule_entry import StepRuleEntry

Executor = Literal["code", "model", "agent", "tool", "pipeline"]
"""`pipeline`: the steps of that pipeline stand in the place of the step; with a map, before it, and it gathers."""
DEFAULT_TURNS: Final = 40
REFERENCES: Final = ("parameter", "input", "artifact")


@dataclass(frozen=True)
class Scope:
    """Of a step whose executor is an agent or a tool."""

    tools: tuple[str, ...] = ()
    """The step's own choice; () for all that its agent names."""
    folder: str | None = None
    """The parameter that names the folder its tools work in."""
    allow: tuple[tuple[StepRuleEntry, int], ...] = ()
    """Each with its line in the pipeline's file."""
    turns: int = DEFAULT_TURNS
    sources: tuple[str, ...] | None = None
    """The step's own choice; None for all that its agent names."""


@dataclass(frozen=True)
class Taken:
    """Where a value of a call comes from: as it stands in the file, or from what the step reads."""

    value: Any = None
    parameter: str | None = None
    input: str | None = None
    look: ArtifactPlace | None = None


@dataclass(frozen=True)
class ToolCalls:
    """The calls of one tool that make a step: one, or one for each value at a place of an artifact."""

    tool: str
    given: Mapping[str, Taken] = field(default_factory=dict)
    each: ArtifactPlace | None = None
    key: str = ""
    """The key of the input that each value is given as."""


def reference(value: Any) -> str | None:
    """What kind of thing a value under `with` refers to; None for a value that stands for itself."""
    if not isinstance(value, Mapping):
        return None
    kind = next((word for word in REFERENCES if word in value), None)
    return kind if kind and value.keys() <= {kind, *(("at",) if kind == "artifact" else ())} else None
