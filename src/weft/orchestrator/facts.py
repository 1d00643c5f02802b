"""Gathers, at the start of a run or a plan, everything the planner judges by and the steps read: once, from the disk.

A run works on this snapshot: a file edited while it runs counts from the next run on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.checks.paths import ValuePlace, find, parse_path
from weft.files import Folder
from weft.models.embedded_version import VERSION
from weft.orchestrator.inputs import InputText, ReadFile, given_text
from weft.orchestrator.items import map_items
from weft.orchestrator.step_facts import OnDisk, StepFacts
from weft.orchestrator.step_tools import brings_in, sources_of, tools_of
from weft.orchestrator.validate import Documents, fault_of, parse
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.hashes import canonical, combine, hash_bytes, hash_value
from weft.protocol.values import dataclass, replace
from weft.session.state import SessionState
from weft.session.timestamps import moment_seconds
from weft.workspace.agent import Agent
from weft.workspace.flow import look
from weft.workspace.mapping import Map, item_file
from weft.workspace.pipeline import Pipeline, Step
from weft.workspace.profile import part, with_part
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.tools.toolbox import Toolbox

SHORT_VALUE = 60
EMBEDDED: Final = "embedded"
Versions = Callable[[set[int]], Mapping[int, bytes]]
"""The bytes of accepted artifacts by the numbers of their events."""


@dataclass(frozen=True, slots=True)
class Material:
    """What one step reads besides upstream artifacts."""

    code: str
    """"file.py:function", the name of a function registered by an embedding program, or "" for what `model` makes."""
    model: str
    instructions: str = ""
    skills: Mapping[str, str] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Those that it reads."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """All of its pipeline, for its checks."""
    tools: tuple[str, ...] = ()
    """The tools that it uses, for a step of an agent with tools or of a tool."""
    outside: bool = False
    """Whether what it reads may have come from outside: documents, or what a step before it fetched."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the inputs that are documents say of themselves."""
    whole: Mapping[str, InputText] = field(default_factory=dict)
    """Every input of its pipeline, for its checks."""
    prior: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Artifacts as earlier runs on other inputs finished with them, the oldest first."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of a step with a map over a folder: its files, each with its hash."""


@dataclass(frozen=True, slots=True)
class Facts:
    session: str
    steps: Mapping[str, StepFacts]
    materials: Mapping[str, Material]
    inputs: Mapping[str, InputText]
    values: Mapping[str, Any]
    """Each artifact that is on the disk, parsed."""
    parameters: Mapping[str, Any]

    def documents(
        self, step: str, artifacts: Mapping[str, Any], taken: Mapping[str, InputText] | None = None
    ) -> Documents:
        """What the checks of a step may compare with, by the names of its own pipeline. `taken`: the inputs that come
        out of artifacts, as they are now."""
        return _documents(self.session, self.materials[step], artifacts, taken or {})


def gather(
    workspace: Workspace,
    pipeline: Pipeline,
    state: SessionState,
    *,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, InputText],
    read: ReadFile,
    model: str = "embedded",
    chosen_model: str = "",
    roles: Mapping[str, str] | None = None,
    registered: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    toolbox: Callable[[], Toolbox] | None = None,
    versions: Versions | None = None,
) -> Facts:
    """`chosen_model` stands above what steps and agents say.

    `registered` gives the version of each function that an embedding program brings along, `overrides` what stands
    in place of parts of the profile, `versions` what was accepted earlier; `toolbox` is asked for when a step uses
    tools."""
    prior = _prior(pipeline, state, versions)
    files = {name: read(name) for step in pipeline.steps.values() for name in step.artifacts}
    profile = workspace.profile() if any(step.profile for step in pipeline.steps.values()) else {}
    for key, value in (overrides or {}).items():
        profile = with_part(profile, key, value)
    values = _values(files)
    steps: dict[str, StepFacts] = {}
    materials: dict[str, Material] = {}
    for name, step in pipeline.steps.items():
        agent = workspace.agent(step.agent) if step.agent else None
        box = toolbox() if toolbox and step.executor in ("agent", "tool") else None
        used = tools_of(step, agent, box) if box is not None else ()
        tools = tuple(tool.name for tool in used)
        own, there = step.own, local_values(step, values)
        within, chosen = inputs_within(step, inputs, values), _chosen(step, parameters)
        material = _material(workspace, own, agent, within, chosen, profile, model, chosen_model, roles or {})
        if box is not None:
            guides = {slug: box.sources[slug].guide for slug in sources_of(step, agent) if slug in box.sources}
            read_first = {f"source {slug}": guide for slug, guide in guides.items() if guide}
            material = replace(material, skills={**material.skills, **read_first})
        outside = bool(material.documents) or any(materials[before].outside for before in step.requires)
        material = replace(material, tools=tools, outside=outside or any(map(brings_in, used)))
        if step.prior:
            material = replace(material, prior={step.local(one): prior[one] for one in step.prior if one in prior})
        if own.map is not None and own.map.look is None:
            material = replace(material, outside=True, files=folder_files(own.map, chosen))
        materials[name] = material
        hashes = {one: given.hash for one, given in within.items() if not step.inside or one in step.inside.given}
        made_from = _made_from(workspace, own, agent, material, hashes, registered or {})
        if (mapped := pipeline.mapped.get(name)) is not None:
            made_from = {"map": hash_value([mapped.items, mapped.over.failed])}
        done = state.steps[name].completion if name in state.steps else None
        recorded = done.artifacts if done else {}
        documents = _documents(state.session, material, there, {})
        on_disk = {
            artifact: _on_disk(step, artifact, files[artifact], recorded.get(artifact), documents)
            for artifact in step.artifacts
        }
        items = _items(own, material, there)
        made = {artifact: values[artifact] for artifact in step.artifacts if artifact in values}
        steps[name] = StepFacts(
            made_from,
            on_disk,
            _schema_version(step),
            look(step.looks, made),
            "" if material.code else material.model,
            0 if material.code else _reads(material),
            items,
            tuple(_edited(name, items, state, read)),
            moment_seconds(step.until) if step.until else 0.0,
        )
    return Facts(state.session, steps, materials, inputs, values, parameters)


def local_values(step: Step, values: Mapping[str, Any]) -> dict[str, Any]:
    """The artifacts of the step's own pipeline, by its names for them."""
    if step.inside is None:
        return dict(values)
    return {local: value for name, value in values.items() if (local := step.local(name)) != name}


def taken_inputs(step: Step, values: Mapping[str, Any]) -> dict[str, InputText]:
    """The inputs of a step that come out of artifacts, as far as those are there. A text is a document as it stands;
    anything else is given as JSON."""
    found: dict[str, InputText] = {}
    for name, place in (step.inside.taken if step.inside else {}).items():
        if place.artifact in values and (text := value_text(name, values[place.artifact], place.at)) is not None:
            found[name] = text
    return found


def value_text(name: str, value: Any, at: str) -> InputText | None:
    """What is at a place of a value, as an input; None when nothing is."""
    places = [one.value for one in find(parse_path(at), value) if isinstance(one, ValuePlace)] if at else [value]
    if not places:
        return None
    whole = places[0] if len(places) == 1 and not (at and parse_path(at).many) else places
    if isinstance(whole, str):
        return given_text(whole.encode("utf-8", "replace"), f"{name}.md")
    text = json.dumps(whole, ensure_ascii=False, indent=2)
    return InputText(text, hash_bytes(text.encode("utf-8", "replace")))


def inputs_within(step: Step, inputs: Mapping[str, InputText], values: Mapping[str, Any]) -> dict[str, InputText]:
    """Every input that there is, by the names of the step's own pipeline."""
    if step.inside is None:
        return dict(inputs)
    given = {name: inputs[outer] for name, outer in step.inside.given.items() if outer in inputs}
    return {**given, **taken_inputs(step, values)}


def _chosen(step: Step, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    if step.inside is None:
        return parameters
    return {local: value for name, value in parameters.items() if (local := step.local(name)) != name}


def _documents(
    session: str, material: Material, artifacts: Mapping[str, Any], taken: Mapping[str, InputText]
) -> Documents:
    """Of the profile only the parts that the step reads: of any other a change would go unnoticed."""
    profile: dict[str, Any] = {}
    for key, value in material.profile.items():
        profile = with_part(profile, key, value)
    others = {"session": {"id": session}, "profile": profile, **artifacts}
    inputs = {**material.whole, **taken}
    return Documents(
        {**{name: given.whole for name, given in inputs.items()}, **others},
        material.chosen,
        {name: given.text for name, given in inputs.items()},
    )


def _values(files: Mapping[str, bytes | None]) -> dict[str, Any]:
    return {name: parse(name, data)[0] for name, data in files.items() if data is not None}


def _on_disk(step: Step, name: str, data: bytes | None, recorded: str | None, documents: Documents) -> OnDisk:
    if data is None:
        return OnDisk(None)
    digest = hash_bytes(data)
    if digest == recorded:
        return OnDisk(digest, size=len(data))
    return OnDisk(digest, fault_of(step.gathering, name, data, documents), len(data))


def _items(step: Step, material: Material, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...] | None:
    """The items of a step as what they come from is now; None when it is not there, or can't be taken apart."""
    if step.map is None or (step.map.look is not None and step.map.look.artifact not in values):
        return None
    try:
        found = map_items(step.map, values, material.inputs, material.documents, material.files)
    except UserError:
        return None  # said when the step is made
    return tuple((item.key, item.digest) for item in found)


def _edited(step: str, items: tuple[tuple[str, str], ...] | None, state: SessionState, read: ReadFile) -> Iterable[str]:
    for key, _ in items or ():
        known = state.artifacts.get(file := item_file(step, key))
        if known is not None and (data := read(file)) is not None and hash_bytes(data) != known.hash:
            yield file


def folder_files(over: Map, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The files of a folder that are meant, in order; what is hidden, or leads elsewhere, is not."""
    if over.folder is None:
        return {}
    place = Path(parameters[over.folder])
    names = [found.relative_to(place) for found in place.glob(over.files) if found.is_file() and not found.is_symlink()]
    shown = sorted(name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts))
    with Folder.open(place) as folder:
        return {name: hash_bytes(folder.read(name)) for name in shown}


def _reads(material: Material) -> int:
    """About how many tokens the model of a step is given, without artifacts."""
    texts = [material.instructions, *material.skills.values(), *material.inputs.values()]
    return sum(map(len, texts)) // 4


def _material(
    workspace: Workspace,
    step: Step,
    agent: Agent | None,
    inputs: Mapping[str, InputText],
    parameters: Mapping[str, Any],
    profile: Mapping[str, Any],
    default_model: str,
    chosen_model: str,
    roles: Mapping[str, str],
) -> Material:
    said = chosen_model or step.model or (agent.model if agent else None)
    none = step.calls is not None or step.executor == "pipeline"
    model = "" if none else roles.get(said or "", said or default_model)
    names = dict.fromkeys([*step.skills, *(agent.skills if agent else ())])
    read = {name: inputs[name] for name in (*step.inputs, *step.parameters) if name in inputs}
    return Material(
        code=step.code or ("" if none else _embedded(workspace, step, agent, model)),
        model=model,
        instructions=agent.text if agent else "",
        skills={name: workspace.skill(name).text for name in names},
        profile={key: part(profile, key) for key in step.profile},
        parameters={name: parameters[name] for name in step.parameters},
        chosen=parameters,
        inputs={name: given.text for name, given in read.items()},
        documents={name: given.about for name, given in read.items() if given.about is not None},
        whole=inputs,
    )


def _embedded(workspace: Workspace, step: Step, agent: Agent | None, model: str) -> str:
    """The function that stands in for the agent while no model is chosen; "" when one is."""
    if model != EMBEDDED:
        return ""
    if agent and agent.embedded:
        return agent.embedded
    who = agent.name if agent else step.name
    needs = f"the step {step.name} needs a model for its agent {who}"
    if connected := min(workspace.config().models, default=""):
        raise ExternalError(
            f"{needs}, and the default, {EMBEDDED}, is none",
            hint=f"choose one (weft models default {connected}), or name it for this session (--model {connected})",
        )
    raise ExternalError(
        f"{needs}, and none is connected",
        hint=f"connect one (weft models add), or give .claude/agents/{who}.md an `embedded: file.py:function`",
    )


def _made_from(
    workspace: Workspace,
    step: Step,
    agent: Agent | None,
    material: Material,
    hashes: Mapping[str, str],
    registered: Mapping[str, str],
) -> dict[str, str]:
    """Each thing the step's result depends on, named and hashed; short values stand for themselves."""
    found = {f"input:{name}": hashes[name] for name in _inputs_read(step) if name in hashes}
    found |= {f"parameter:{name}": _short(value) for name, value in material.parameters.items()}
    found |= {f"profile:{key}": _short(value) for key, value in material.profile.items()}
    found |= {f"skill:{name}": hash_value(text) for name, text in material.skills.items()}
    found |= {f"schema:{artifact}": schema.hash for artifact, schema in step.schemas.items()}
    found |= {f"prior:{artifact}": hash_value(list(values)) for artifact, values in material.prior.items()}
    if agent:
        found[f"agent:{agent.name}"] = agent.hash
        found["model"] = f"{material.model} {VERSION}" if material.model == EMBEDDED else material.model
    if material.tools:
        found["tools"] = _short(sorted(material.tools))
    if step.scope.allow:
        found["allow"] = hash_value([entry.model_dump(exclude_defaults=True) for entry, _ in step.scope.allow])
    if step.map is not None:
        found["map"] = hash_value([step.map.sources, step.map.look and step.map.look.at, step.map.files, step.map.key])
        if step.map.folder is not None:
            found[f"files:{step.map.folder}"] = combine(material.files)
    if step.calls:
        found["calls"] = hash_value(asdict(step.calls))
    if step.checks:
        found["checks"] = hash_value([[artifact, call.name, dict(call.options)] for artifact, call in step.checks])
    codes = [*filter(None, [material.code]), *(call.name for _, call in step.checks if ":" in call.name)]
    for code in codes:
        file = code.partition(":")[0]
        found[f"code:{file}"] = registered[code] if code in registered else workspace.code_version(file)
    return found


def _prior(pipeline: Pipeline, state: SessionState, versions: Versions | None) -> dict[str, tuple[Any, ...]]:
    """What earlier runs on other inputs made, by artifact, the oldest first; without what is lost."""
    wanted = {name for step in pipeline.steps.values() for name in step.prior}
    runs = [run for request, run in state.finished.items() if request != state.request]
    seqs = {run.artifacts[name] for run in runs for name in wanted if name in run.artifacts}
    if not seqs or versions is None:
        return {}
    texts = versions(seqs)
    found: dict[str, tuple[Any, ...]] = {}
    for name in wanted:
        kept = [texts[run.artifacts[name]] for run in runs if run.artifacts.get(name) in texts]
        if kept:
            found[name] = tuple(parse(name, data)[0] for data in kept)
    return found


def _inputs_read(step: Step) -> Iterable[str]:
    checked = (document for _, call in step.checks for document in call.reads)
    return dict.fromkeys([*step.inputs, *step.parameters, *checked])


def _short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= SHORT_VALUE else hash_value(value)


def _schema_version(step: Step) -> str:
    versions = [schema.version for schema in step.schemas.values()]
    return ",".join(versions)
