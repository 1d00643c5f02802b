"""The tools that a step uses, found by their names; what is wrong with its wish is said before a run begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.protocol.errors import UserError
from weft.workspace.agent import Agent
from weft.workspace.pipeline import Step
from weft.workspace.spelling import suggest

if TYPE_CHECKING:
    from weft.tools.tool import Tool
    from weft.tools.toolbox import Toolbox

_FILES: Final = ("path", "command")
"""Kinds of subjects that a tool needs a folder for."""


def tools_of(step: Step, agent: Agent | None, box: Toolbox) -> tuple[Tool, ...]:
    """The tools that a step uses. UserError when one is not there, or can't be used in this step."""
    if step.calls is not None:
        names: tuple[str, ...] = (step.calls.tool,)
    else:
        names = step.scope.tools or (agent.tools if agent else ())
    found = [_known(step, name, box) for name in names]
    if step.calls is None and agent and agent.tools:
        own = [box.own_name(name) for name in agent.tools]
        own += [name for slug in agent.sources for name in box.of_source(slug)]
        for tool in found:
            if tool.name not in own:
                raise _wrong(step, f"the tool '{tool.name}' is none of its agent's", suggest(tool.name, own, "tools"))
    for slug in sources_of(step, agent):
        found += [_known(step, name, box) for name in _offered(step, slug, box)]
    for source in dict.fromkeys(tool.source for tool in found if tool.source):
        _offered(step, source, box)
    if step.scope.folder is None:
        for tool in found:
            if tool.subject and tool.subject[0] in _FILES:
                hint = "add 'folder: NAME', with a parameter NAME of the type folder"
                raise _wrong(step, f"the tool '{tool.name}' needs a folder to work in", hint)
    if step.calls is not None:
        _keys(step, found[0], {*step.calls.given, *filter(None, [step.calls.key])})
    return tuple({tool.name: tool for tool in found}.values())


def sources_of(step: Step, agent: Agent | None) -> tuple[str, ...]:
    """The sources whose tools a step has as a whole."""
    if step.calls is not None:
        return ()
    return step.scope.sources if step.scope.sources is not None else agent.sources if agent else ()


def _offered(step: Step, slug: str, box: Toolbox) -> tuple[str, ...]:
    """The tools of a source. UserError when there is none, or something is to be done before it can be used."""
    note = box.sources.get(slug)
    if note is None:
        raise _wrong(step, f"there is no source '{slug}'", suggest(slug, box.sources, "sources"))
    if note.trouble:
        raise _wrong(step, f"the source '{slug}' can't be used: {note.trouble}", "then run it again")
    return box.of_source(slug)


def brings_in(tool: Tool) -> bool:
    """Whether what it returns may come from outside."""
    return tool.kind == "network" or tool.source is not None


def _known(step: Step, name: str, box: Toolbox) -> Tool:
    tool = box.get(box.own_name(name))
    if tool is None:
        raise _wrong(step, f"there is no tool '{name}'", suggest(name, [tool.name for tool in box], "tools"))
    return tool


def _keys(step: Step, tool: Tool, given: set[str]) -> None:
    known = list(tool.input_schema.get("properties", {}))
    for key in sorted(given - {*known}) if known else ():
        raise _wrong(step, f"the input of '{tool.name}' has no '{key}'", suggest(key, known, "keys"))
    for key in tool.input_schema.get("required", ()):
        if key not in given:
            raise _wrong(step, f"the input of '{tool.name}' needs '{key}'", f"add it under 'with': {key}: …")


def _wrong(step: Step, message: str, hint: str) -> UserError:
    return UserError(f"the step {step.name}: {message}", hint=hint)
