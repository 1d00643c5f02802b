"""The rules of what makes a step: code, an agent (one call of a model, or a conversation with tools) or a tool.

Each key has a meaning for some of them only; where it has none it is an error, because nothing would read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.protocol.errors import WorkspaceError
from weft.workspace.agent import Agent
from weft.workspace.document import Path
from weft.workspace.draft import PipelineDraft
from weft.workspace.explain import key_names
from weft.workspace.pack_file import find_packs
from weft.workspace.pipeline_file import StepEntry
from weft.workspace.rule_entry import rule_faults
from weft.workspace.scope import DEFAULT_TURNS, Executor, Scope, reference
from weft.workspace.spelling import suggest

MAKERS: Final = ("code", "agent", "tool", "pipeline")
_OF_PIPELINE: Final = frozenset(
    {"pipeline", "with", "requires", "when", "else", "gate", "final", "budget", "map"}
    | {"wait", "until", "on_failure", "finally"}
)
"""The keys of a step that is a pipeline; all others are said in that one."""
_KEYS: Final[Mapping[str, frozenset[Executor]]] = {
    "executor": frozenset({"model", "agent"}),
    "model": frozenset({"model", "agent"}),
    "skills": frozenset({"code", "model", "agent"}),
    "profile": frozenset({"code", "model", "agent"}),
    "tools": frozenset({"agent"}),
    "sources": frozenset({"agent"}),
    "secrets": frozenset({"code"}),
    "network": frozenset({"code"}),
    "cache": frozenset({"code", "model"}),
    "turns": frozenset({"agent"}),
    "folder": frozenset({"agent", "tool"}),
    "allow": frozenset({"agent", "tool"}),
    "with": frozenset({"tool", "pipeline"}),
    "each": frozenset({"tool"}),
}
"""Keys that not every executor reads."""
_WORDS: Final[Mapping[Executor, str]] = {
    "code": "a step with 'code'",
    "model": "a step whose executor is model, which makes one call and uses no tools",
    "agent": "a step of an agent",
    "tool": "a step with 'tool', which no model makes",
    "pipeline": "a step that is a pipeline",
}

_PIPELINE_HINTS: Final[Mapping[str, str]] = {
    "artifact": "remove it: its artifacts are those of the pipeline, in a folder named for the step",
    "artifacts": "remove it: its artifacts are those of the pipeline, in a folder named for the step",
    "inputs": "say under 'with' what the pipeline is given",
    "parameters": "say under 'with' what the pipeline is given",
    "loop": "put the loop on a step behind it",
}


def executor_of(entry: StepEntry) -> Executor:
    if entry.code is not None:
        return "code"
    if entry.pipeline is not None and entry.agent is None and entry.tool is None:
        return "pipeline"
    if entry.agent is None and entry.tool is not None:
        return "tool"
    return entry.executor or "model"


def maker(draft: PipelineDraft, at: Path, entry: StepEntry) -> Executor:
    executor = executor_of(entry)
    given = [key for key in MAKERS if getattr(entry, key) is not None]
    if len(given) > 1:
        message = f"a step has '{given[0]}' or '{given[1]}', not both"
        draft.report_key((*at, given[1]), message, "remove one of them")
    elif not given:
        if not any(draft.lost(*map(str, at), key) for key in MAKERS):
            hint = "add 'code: file.py:function', 'agent: name', 'tool: Name' or 'pipeline: name'"
            what = "nothing makes this step's artifact: it has neither 'code' nor 'agent' nor 'tool' nor 'pipeline'"
            draft.report_key(at, what, hint)
        return executor
    elif entry.code is not None:
        function(draft, (*at, "code"), entry.code)
    if len(given) == 1:
        _meaningless(draft, at, executor)
    if entry.agent is not None:
        _known_agent(draft, at, entry, executor)
    return executor


def _meaningless(draft: PipelineDraft, at: Path, executor: Executor) -> None:
    written = draft.document.value["steps"].get(at[1])
    for key in written if isinstance(written, dict) else ():
        if executor == "pipeline":
            if key == "artifact" and "map" in written:
                continue
            if key not in _OF_PIPELINE and key in key_names(StepEntry):
                hint = _PIPELINE_HINTS.get(key, "say it in the pipeline's own file")
                draft.report_key((*at, key), f"nothing reads '{key}' in {_WORDS[executor]}", hint)
            continue
        if executor in _KEYS.get(key, {executor}):
            continue
        hint = "remove it, or give the step an agent" if executor in ("code", "tool") else "remove it"
        if _KEYS[key] == {"code"}:
            hint = "remove it: only code is given it"
        if key == "each":
            hint = "write 'map' in its place: every step may be made item by item"
        elif executor == "model":
            hint = "remove it, or write 'executor: agent'" if "agent" in _KEYS[key] else "remove it"
        draft.report_key((*at, key), f"nothing reads '{key}' in {_WORDS[executor]}", hint)


def _known_agent(draft: PipelineDraft, at: Path, entry: StepEntry, executor: Executor) -> None:
    name = entry.agent or ""
    if name not in (names := draft.library.agent_names()):
        packs = [pack.name for pack in find_packs().values() if f".claude/agents/{name}.md" in pack.files]
        hint = f"the pack '{packs[0]}' has it: weft init --pack {packs[0]}" if packs else suggest(name, names, "agents")
        draft.report((*at, "agent"), f"unknown agent '{name}'", hint)
        return
    agent = _agent(draft, name)
    for skill in agent.skills if agent else ():
        include_skill(draft, skill)
    if agent and agent.sources and executor == "model" and not draft.lost(*map(str, at), "executor"):
        what = f"the agent '{name}' uses {' and '.join(agent.sources)}, and nothing does in {_WORDS[executor]}"
        hint = f"write 'executor: agent' in the step, or take 'sources' out of {agent.file}"
        draft.report((*at, "agent"), what, hint)
    uses = agent and (agent.tools or agent.sources or entry.tools or entry.sources)
    if agent and executor == "agent" and not uses and not draft.lost(*map(str, at), "tools"):
        hint = "name some under 'tools' of the step or of the agent, or remove 'executor: agent'"
        draft.report((*at, "executor"), f"the agent '{name}' has no tools, so it can't use any", hint)


def function(draft: PipelineDraft, path: Path, reference: str, *, is_key: bool = False) -> None:
    try:
        fault = draft.library.function_fault(reference)
    except WorkspaceError as error:
        draft.problems.extend(error.problems)
        return
    if fault:
        (draft.report_key if is_key else draft.report)(path, *fault)


def _agent(draft: PipelineDraft, name: str) -> Agent | None:
    """What is wrong in a file that a pipeline needs is a problem of the pipeline, told with that file's name."""
    try:
        return draft.library.agent(name)
    except WorkspaceError as error:
        draft.problems.extend(error.problems)
        return None


def include_skill(draft: PipelineDraft, name: str) -> None:
    try:
        draft.library.skill(name)
    except WorkspaceError as error:
        draft.problems.extend(error.problems)


# -- what a step with tools may use


def scope(draft: PipelineDraft, at: Path, entry: StepEntry, executor: Executor) -> Scope:
    if executor not in ("agent", "tool"):
        return Scope()
    if entry.folder is not None:
        named_folder(draft, (*at, "folder"), entry.folder)
    if entry.tools == []:
        draft.report((*at, "tools"), "may not be empty", "name the tools that the agent may use in this step")
    rules = []
    for index, rule in enumerate(entry.allow):
        path: Path = (*at, "allow", index)
        for key, is_key, message, hint in rule_faults("allow", rule, own_tools=False):
            hint = "name the command" if key == "tool" else hint
            (draft.report_key if is_key else draft.report)((*path, key), message, hint)
        named = [entry.tool] if entry.tool is not None else entry.tools
        if named and "*" not in rule.tool and "__" not in rule.tool and rule.tool not in named:
            draft.report((*path, "tool"), f"this step does not use '{rule.tool}'", suggest(rule.tool, named, "tools"))
        if rule.parameter is not None:
            _command(draft, (*path, "parameter"), rule.parameter)
        rules.append((rule, draft.document.value_mark(path).line))
    sources = None if entry.sources is None else tuple(dict.fromkeys(entry.sources))
    return Scope(tuple(entry.tools or ()), entry.folder, tuple(rules), entry.turns or DEFAULT_TURNS, sources)


def _command(draft: PipelineDraft, path: Path, name: str) -> None:
    known = [one for one, entry in draft.file.parameters.items() if entry.type == "string"]
    if name not in known and not draft.lost("parameters"):
        hint = suggest(name, known, "parameters of the type string") if known else "add it to the parameters"
        draft.report(path, f"there is no parameter '{name}' of the type string", hint)


def named_folder(draft: PipelineDraft, path: Path, name: str) -> None:
    known = [one for one, entry in draft.file.parameters.items() if entry.type == "folder"]
    if name in known or draft.lost("parameters"):
        return
    if name in draft.names("parameters"):
        draft.report(path, f"the parameter '{name}' is not a folder", f"write 'type: folder' under parameters: {name}")
    else:
        hint = suggest(name, known, "folders") if known else f"add it: parameters: {{{name}: {{type: folder}}}}"
        draft.report(path, f"there is no parameter '{name}' of the type folder", hint)


def read_names(entry: StepEntry, section: str) -> list[str] | None:
    """The inputs or parameters that a step reads: named, or referred to by its calls; None for all."""
    named: list[str] | None = getattr(entry, section)
    extra: list[str] = []
    if section == "parameters":
        extra = [name for name in (entry.folder, *(rule.parameter for rule in entry.allow)) if name is not None]
        extra += [entry.map_.folder] if entry.map_ and entry.map_.folder else []
    elif entry.map_:
        extra = [name for name in (entry.map_.rows, entry.map_.pages) if name is not None]
    if executor_of(entry) != "tool":
        return named if named is None else list(dict.fromkeys([*named, *extra]))
    kind = section.removesuffix("s")
    values = (entry.with_ or {}).values()
    referred = [value[kind] for value in values if reference(value) == kind and isinstance(value[kind], str)]
    return list(dict.fromkeys([*(named or ()), *referred, *extra]))
