"""The runtime's tools as tools of ours: the same names, so that the same rules hold and the log reads the same.

A call of one of its own tools is started by letting it pass the gate, and ended by what comes back. Paths are told
relative to the working folder, as rules are written, and one that leads out of it is refused: the runtime's tools don't
go through our confined opener, so this check is all there is, and a link that is put in the way after it is not seen.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from weft.conversation.claude_agent.runtime import OWN, Runtime
from weft.protocol.errors import UserError
from weft.protocol.messages import ToolCall
from weft.tools.results import bounded
from weft.tools.shell.needs import shell_needs
from weft.tools.shell.remember import brings_from_outside
from weft.tools.tool import Context, Handle, Outcome, SettledHandle, SubjectKind, Tool, ToolKind, WorkHandle, failed
from weft.tools.tool_paths import FilePlace, place
from weft.tools.toolbox import Toolbox

NAMES: Final[Mapping[str, str]] = {"Bash": "Shell", "Agent": "Task", "Task": "Task"}
"""What its tools are called here; the others have the same names."""
_PATHS: Final = {"Read": "file_path", "Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}
_EFFECTS: Final[Mapping[str, ToolKind]] = {
    "Shell": "process",
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "Write": "write",
    "Edit": "write",
    "NotebookEdit": "write",
    "Task": "read",
}
_SUBJECTS: Final[Mapping[str, tuple[SubjectKind, str]]] = {
    "Shell": ("command", "command"),
    **{name: ("path", "path") for name in ("Read", "Glob", "Grep", "Write", "Edit", "NotebookEdit")},
}
WRITING: Final = ("Write", "Edit", "NotebookEdit")
ITS_TOOLS: Final = ("Bash", "Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep", "Agent")
"""What it is given of its own. Everything else it has from us."""
_LOST: Final = "the program that asked for this has ended since; it was not run. Ask for it again if it is still wanted"
_ANY_INPUT: Final = {"type": "object"}


def its_name(name: str) -> str:
    """What the runtime calls a tool of ours."""
    back = {"Shell": "Bash", "Task": "Agent"}
    if name in _EFFECTS:
        return back.get(name, name)
    return f"{OWN}{name}"


def in_our_words(context: Context) -> Callable[[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]:
    """Translates a call of the runtime: the tool's name, and the path as rules and people write it."""

    def named(name: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        tool = NAMES.get(name, name.removeprefix(OWN))
        told = dict(given)
        key = _PATHS.get(name, "path")
        if tool in _SUBJECTS and _SUBJECTS[tool][0] == "path" and isinstance(told.get(key), str):
            path = told.pop(key)
            try:
                path = place(path, context).shown
            except UserError:
                pass  # it is judged as it stands, and refused
            told = {"path": path, **told}
        if tool == "Task" and isinstance(told.get("subagent_type"), str):
            told["agent"] = told["subagent_type"]
        return tool, told

    return named


class GateToolbox(Toolbox):
    """The runtime's tools, and ours that it has no counterpart for."""

    def __init__(self, tools: Iterable[Tool], context: Context) -> None:
        super().__init__(tools)
        self._context = context

    def only(self, names: Iterable[str]) -> tuple[GateToolbox, tuple[str, ...]]:
        kept, missing = super().only(names)
        return GateToolbox(kept, self._context), missing

    def fault(self, call: ToolCall) -> str | None:
        if fault := super().fault(call):
            return fault
        path, pattern = call.input.get("path"), call.input.get("pattern")
        if call.tool == "Glob" and isinstance(pattern, str) and _leads_out(pattern):
            return f"the pattern {pattern[:200]!r} leads out of the working folder; name files below it"
        if not isinstance(path, str) or call.tool not in _SUBJECTS:
            return None
        if path.startswith("~"):
            return f"{path[:200]} is not a path here: write it from the working folder"
        try:
            where = place(path, self._context)
            _check_links(where)
        except UserError as error:
            return str(error)
        if call.tool in WRITING and where.machine_made:
            return f"{where.shown} is written by the session itself"
        return None


def _leads_out(pattern: str) -> bool:
    return pattern.startswith(("/", "~")) or ".." in pattern.split("/")


def _check_links(where: FilePlace) -> None:
    """Every link on the way must stay inside."""
    root = os.path.realpath(where.folder.path)
    real = os.path.realpath(f"{root}/{where.name}")
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise UserError(f"{where.shown} leads out of its folder through a link")


class HeldHandle(WorkHandle):
    """A call that the runtime runs. To stop it is to stop the runtime: nothing less is sure."""

    def __init__(self, work: Any, runtime: Runtime) -> None:
        super().__init__(work)
        self._runtime = runtime
        self._stopped = False

    def interrupt(self, reason: str) -> None:
        super().interrupt(reason)
        self._stopped = True
        self._runtime.stop()

    async def closed(self) -> None:
        await super().closed()
        if self._stopped:
            await self._runtime.gone()


def gate_tools(current: Callable[[], Runtime | None]) -> list[Tool]:
    """The runtime's own tools. `current` is the runtime that runs now."""

    async def start(name: str, given: Mapping[str, Any], context: Context) -> Handle:
        runtime = current()
        if runtime is None or context.call not in runtime.calls:
            return SettledHandle(failed(_LOST))
        return HeldHandle(_pass(runtime, name, given, context), runtime)

    def starter(name: str) -> Any:
        async def begin(given: Mapping[str, Any], context: Context) -> Handle:
            return await start(name, given, context)

        return begin

    return [
        Tool(
            name=name,
            description="",
            input_schema=_ANY_INPUT,
            kind=effect,
            start=starter(name),
            subject=_SUBJECTS.get(name),
            keeps_order=True,
        )
        for name, effect in _EFFECTS.items()
    ]


async def _pass(runtime: Runtime, name: str, given: Mapping[str, Any], context: Context) -> Outcome:
    runtime.release(context.call)
    call = runtime.call(context.call)
    text, bad = await asyncio.shield(call.end)
    if call.note:
        text, bad = f"{text}\n\n{call.note}", True
    outcome = Outcome(text=text or "[no output]", is_error=bad, effect="unknown" if bad else "completed")
    return await bounded(replace(outcome, outside=origins(name, given, context)), context)


def origins(name: str, given: Mapping[str, Any], context: Context) -> tuple[str, ...]:
    """Where content from outside came from with this call, as our own tools tell it."""
    command, path = given.get("command"), given.get("path")
    if name == "Shell" and isinstance(command, str) and brings_from_outside(command, shell_needs(command).needs):
        return (f"what {command.splitlines()[0][:60]!r} brought",)
    if name in ("Read", "Grep") and isinstance(path, str) and (where := place(path, context)).from_outside:
        return (f"the document {where.shown}",)
    return ()
