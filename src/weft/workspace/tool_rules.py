"""The rules of a step that a tool makes: its calls, and where the values of their input come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.workspace.document import Path, describe
from weft.workspace.flow_rules import Flow, look
from weft.workspace.maker_rules import executor_of
from weft.workspace.scope import REFERENCES, Taken, ToolCalls, reference
from weft.workspace.step_rules import artifacts_of


def calls(flow: Flow, step: str) -> ToolCalls | None:
    draft, entry = flow.draft, flow.draft.steps[step]
    if executor_of(entry) != "tool" or entry.tool is None:
        return None
    at: Path = ("steps", step)
    made = artifacts_of(entry)
    if len(made) > 1 or any(not name.endswith(".json") for name in made):
        key = "artifact" if entry.artifact is not None else "artifacts"
        message = "a tool's step makes one .json file: the list of its calls"
        draft.report((*at, key), message, f"write 'artifact: {step}.json'")
    given = {key: _taken(flow, (*at, "with", key), value, step) for key, value in (entry.with_ or {}).items()}
    each = None
    if entry.map_ is not None:
        if entry.map_.as_ in given:
            message = f"'{entry.map_.as_}' is under 'with' already"
            draft.report((*at, "map", "as"), message, "each call would overwrite it: remove one of them")
        return ToolCalls(entry.tool, given, None, entry.map_.as_)
    if entry.each is not None:
        each = look(flow, (*at, "each"), entry.each.artifact, entry.each.at, step, own=False)
        if entry.each.as_ in given:
            message = f"'{entry.each.as_}' is under 'with' already"
            draft.report((*at, "each", "as"), message, "each call would overwrite it: remove one of them")
    return ToolCalls(entry.tool, given, each, entry.each.as_ if entry.each else "")


def _taken(flow: Flow, at: Path, value: Any, step: str) -> Taken:
    draft, kind = flow.draft, reference(value)
    if kind is None:
        _almost(flow, at, value)
        return Taken(value)
    name = value[kind]
    if kind == "artifact":
        return Taken(look=look(flow, at, name, value.get("at", ""), step, own=False, whole=True))
    if not isinstance(name, str):
        draft.report(
            (*at, kind), f"must be the name of {'an' if kind == 'input' else 'a'} {kind}, not {describe(name)}"
        )
        return Taken()
    return Taken(parameter=name) if kind == "parameter" else Taken(input=name)


def _almost(flow: Flow, at: Path, value: Any) -> None:
    """A mapping that begins like a reference and has more in it is neither."""
    if isinstance(value, Mapping) and (kind := next((word for word in REFERENCES if word in value), None)):
        other = next(str(key) for key in value if key != kind)
        good = "artifact and at" if kind == "artifact" else kind
        flow.draft.report_key((*at, other), f"a value from '{kind}' has no '{other}'", f"its keys are: {good}")
