"""A pipeline that is known to be good: its steps in running order, and what they need. Values, no I/O.

`pipeline_reader.read_pipeline` makes it from a file; nobody else has to check anything again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal

from weft.checks import CheckCall
from weft.protocol.errors import Problem
from weft.protocol.values import dataclass
from weft.workspace import graph
from weft.workspace.flow import ArtifactPlace, Budget, Condition, Gate, Retry, Unit
from weft.workspace.mapping import ItemPart, Map, item_file
from weft.workspace.parameters import ParameterSpec, check_names, parameter_values
from weft.workspace.schema_file import SchemaFile
from weft.workspace.scope import Executor, Scope, Taken, ToolCalls

FOLDER: Final = "pipelines"
ENDING: Final = ".yaml"
DEPTH: Final = "depth"
InputKind = Literal["document", "text", "image"]
Runs = Literal["in_order", "on_failure", "finally"]
"""When a step has its turn: as soon as what it requires is there; when one has failed for good; at the end in any case.
"""

__all__ = [
    "Given",
    "InnerPipeline",
    "InputKind",
    "InputSpec",
    "Inside",
    "MappedPipeline",
    "ParameterSpec",
    "Pipeline",
    "SchemaFile",
    "Step",
    "secrets_of",
]

EARLIER: Final = "earlier"
"""The input that a pipeline reads an earlier answer from."""


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
    resources: tuple[str, ...] = ()
    """What a try of it, or of an item, waits for its turn with."""
    cache: bool | None = None
    """Whether a result of another session may be taken over; None for what is so without a word."""
    hears_rounds: bool = True
    """Whether it is told the round it is in. One that is not judges each thing for itself: a round makes it again only
    where what it reads has changed."""
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
    wait: float = 0.0
    """Seconds that it waits, once all it requires is there."""
    until: str = ""
    """The date and time before which it is not made."""
    runs: Runs = "in_order"
    at_end: str = ""
    """Of one that has its turn then: the step that says so, itself or the pipeline that it stands in."""
    after: tuple[str, ...] = ()
    """The steps that must be settled before it, and of which it reads nothing."""
    inside: Inside | None = None
    """Of a step of a pipeline that is itself a step: where it stands."""

    @property
    def before(self) -> tuple[str, ...]:
        """All that must be settled before it."""
        return (*self.requires, *self.after) if self.after else self.requires

    @property
    def own(self) -> Step:
        """As its own pipeline has it: what makes it knows no other names."""
        return self.inside.step if self.inside else self

    def local(self, name: str) -> str:
        """What its own pipeline calls a step, an artifact or a parameter; the name itself for what is not of it."""
        place = self.inside.place if self.inside else ""
        return name[len(place) + 1 :] if place and name[: len(place) + 1] in (f"{place}.", f"{place}/") else name

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
            inside=replace(self.inside, step=self.inside.step.for_item(key)) if self.inside else None,
        )

    @property
    def gathering(self) -> Step:
        """What its own artifacts are held to: in one that gathers items those are, each by itself."""
        return self if self.map is None else replace(self, schemas={}, checks=())


@dataclass(frozen=True)
class Inside:
    """Where a step stands whose pipeline is a step of another."""

    step: Step
    """As its own pipeline has it."""
    place: str
    """The step that its pipeline is."""
    inputs: Mapping[str, str | ArtifactPlace]
    """By the names of its pipeline, what each input is: an input of the outermost one, or a place in an artifact."""
    file: str
    """Of its own pipeline."""

    @property
    def given(self) -> dict[str, str]:
        """The inputs that are inputs of the outermost pipeline."""
        return {name: outer for name, outer in self.inputs.items() if isinstance(outer, str)}

    @property
    def taken(self) -> dict[str, ArtifactPlace]:
        """The inputs that come out of artifacts."""
        return {name: look for name, look in self.inputs.items() if not isinstance(look, str)}


@dataclass(frozen=True, kw_only=True)
class InnerPipeline:
    """A pipeline that is a step of another; its steps and parameters stand in that one, under longer names."""

    place: str
    """The step that it is."""
    pipeline: str
    steps: tuple[str, ...]
    final: str
    parameters: tuple[str, ...]
    given: Mapping[str, Taken]
    """By parameter, what it is unless a person says otherwise: a value, or a parameter of the pipeline around it."""
    budgets: tuple[Budget, ...] = ()
    """Its own, and that of the step."""
    depth: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Its file with the hash."""


@dataclass(frozen=True)
class Given:
    """What a pipeline that is a step is given."""

    child: Pipeline
    inputs: Mapping[str, str | ArtifactPlace | ItemPart]
    parameters: Mapping[str, Taken]


@dataclass(frozen=True, kw_only=True)
class MappedPipeline:
    """A pipeline that is a step of another for each of several items. The step gathers what they come to; the steps of
    each item stand before it when the items are known: until then, and when they are others, it is *unfolded*."""

    over: Map
    """By the names of the step's own pipeline."""
    given: Given
    makers: Mapping[str, str]
    """The steps that make what it is given, by artifact."""
    outer: Step | None = None
    """What holds for the steps of every item: what they wait for, and when they are made."""
    source: tuple[str, str] | None = None
    """The step and its artifact that the items are in; None when they are in inputs."""
    known: str | None = None
    """The hash of that artifact as it was unfolded; None before."""
    items: tuple[str, ...] = ()
    """The keys, in order."""
    problem: str = ""
    """Why the items can't be told."""


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
    timeout: float | None = None
    """Seconds that a run may take, from its start."""
    depth: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters that each mode sets. The parameter `depth` says which it is."""
    warnings: tuple[Problem, ...] = ()
    inner: tuple[InnerPipeline, ...] = ()
    """The pipelines that are steps of it, those around others first."""
    mapped: Mapping[str, MappedPipeline] = field(default_factory=dict)
    """By step, those that are made for each of several items; those around others first."""

    @property
    def files(self) -> dict[str, str]:
        """Every file that it is written in, with the hash."""
        return {self.file: self.hash} | {file: digest for one in self.inner for file, digest in one.files.items()}

    @property
    def goes_on(self) -> bool:
        """A run of it begins where earlier ones of its session came to: one question after the other."""
        return EARLIER in self.inputs or any(step.prior for step in self.steps.values())

    @property
    def offered(self) -> dict[str, ParameterSpec]:
        """The parameters that a person is shown: without those that a pipeline around theirs decides."""
        decided = {name for one in self.inner for name, said in one.given.items() if said.parameter is not None}
        return {name: spec for name, spec in self.parameters.items() if name not in decided}

    def items_around(self, step: str) -> list[tuple[str, str]]:
        """The mapped pipelines that a step stands in, the innermost first, each with the place of the item."""
        found = []
        for place in self.mapped:
            if step.startswith(f"{place}."):
                item = step[len(place) + 1 :].partition(".")[0]
                found.append((place, f"{place}.{item}"))
        return found[::-1]

    def written(self, step: str) -> str:
        """The name of a step without the items that it stands in: as the files have it."""
        places, words, of_item = self._written_places(), list[str](), False
        for word in step.split("."):
            if not of_item:
                words.append(word)
            of_item = not of_item and ".".join(words) in places
        return ".".join(words)

    def _written_places(self) -> set[str]:
        own = {place: one for place, one in self.mapped.items() if not self.items_around(place)}
        within = {f"{place}.{name}" for place, one in own.items() for name in one.given.child._written_places()}
        return {*own, *within}

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
        check_names(self.parameters, given)
        within = {name for one in self.inner for name in one.parameters}
        specs = {name: spec for name, spec in self.parameters.items() if name not in within}
        chosen = _with_depth("", specs, self.depth, {name: given[name] for name in given if name in specs})
        for one in self.inner:
            taken = {
                name: chosen[said.parameter] if said.parameter is not None else said.value
                for name, said in one.given.items()
            }
            here = {**taken, **{name: given[name] for name in one.parameters if name in given}}
            specs = {name: self.parameters[name] for name in one.parameters}
            chosen |= _with_depth(f"{one.place}.", specs, one.depth, here)
        return chosen

    def units_of(self, step: str) -> tuple[Unit, ...]:
        return tuple(unit for unit in self.units if step in unit.steps) if self.units else ()

    def _requires(self) -> dict[str, tuple[str, ...]]:
        return {name: step.before for name, step in self.steps.items()}


def _with_depth(
    prefix: str,
    specs: Mapping[str, ParameterSpec],
    depth: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """The parameters of one pipeline: as given, else as its depth sets them, else as they are by default."""
    chosen = parameter_values(specs, given)
    mode = depth.get(str(chosen.get(prefix + DEPTH)), {})
    return {**chosen, **{prefix + name: value for name, value in mode.items() if prefix + name not in given}}
