"""How models know our tools, and how else they spell them: names and arguments, both ways. Pure.

    told_spec(SHELL)                                      Bash: command, timeout, …        what a model is offered
    corrected("Bash", {"command": "ls", "timeout": 5000}) Shell: command, seconds 5        what rules and logs say
    told("Shell", {"command": "ls", "seconds": 5})        back again: its own calls as it made them

A model that says it otherwise again (`read_file`, `run_command`) is understood as well. What it adds that means nothing
here, such as a heading for a question, is left out. Inputs that mean the same in our own spelling are untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from weft.protocol.messages import ToolSpec
from weft.protocol.values import dataclass
from weft.tools.tool import Tool

Input = Mapping[str, Any]
_AGENT: Final = ("agent", "subagent_type")
_EVERY_AGENT: Final = ("general-purpose", "general", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    name: str = ""
    """What models call it; "" for its own name."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Our keys by what models call them."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Further spellings of our keys."""
    drops: frozenset[str] = frozenset()
    """What models add that means nothing here."""
    inner: Mapping[str, Spelling] = field(default_factory=dict)
    """Of lists of objects, how those are spelt."""
    values: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    """By our key: our values by what models call them."""
    read: Callable[[Input], Input] = lambda given: given
    """The last word on what comes from a model, in our keys."""
    write: Callable[[Input], Input] = lambda given: given
    """The first on what goes to one, in our keys."""


_PATH: Final = {"file_path": "path"}
_FILES: Final = {"filename": "path", "file": "path", "filepath": "path", "target_file": "path"}
_EDIT: Final = {"old_string": "old", "new_string": "new", "replace_all": "all"}
_OTHER_EDITS: Final = {"old_str": "old", "new_str": "new", "old_text": "old", "new_text": "new", "search": "old"}


def _shell_in(given: Input) -> Input:
    """Milliseconds are what models say; what can only be seconds is taken as such."""
    if "timeout" not in given:
        return given
    rest = {key: value for key, value in given.items() if key != "timeout"}
    said = given["timeout"]
    if not isinstance(said, int | float) or isinstance(said, bool) or said <= 0:
        return rest
    return {"seconds": max(1, min(1800, round(said / 1000) if said >= 1000 else round(said))), **rest}


def _shell_out(given: Input) -> Input:
    rest = {key: value for key, value in given.items() if key != "seconds"}
    return {**rest, "timeout": given["seconds"] * 1000} if "seconds" in given else rest


def _grep_in(given: Input) -> Input:
    found = dict(given)
    if (mode := found.pop("output_mode", None)) in ("files_with_matches", "count"):
        found["names_only"] = True
    if isinstance(kind := found.pop("type", None), str) and "glob" not in found:
        found["glob"] = f"*.{kind}"
    return found if mode or kind else given


def _question_in(given: Input) -> Input:
    options = given.get("options")
    if not isinstance(options, list) or not any(isinstance(one, Mapping) for one in options):
        return given
    return {**given, "options": [_option(one) if isinstance(one, Mapping) else one for one in options]}


def _task_in(given: Input) -> Input:
    """Others have one agent for everything, by this name: here that is a sub-agent without a file."""
    return {key: value for key, value in given.items() if key not in _AGENT or value not in _EVERY_AGENT}


def _option(one: Mapping[str, Any]) -> str:
    label, about = str(one.get("label", one.get("value", one))), str(one.get("description") or "")
    return f"{label}: {about}"[:200] if about else label


SPELLINGS: Final[Mapping[str, Spelling]] = {
    "Read": Spelling(keys=_PATH, others=_FILES),
    "Write": Spelling(keys=_PATH, others={**_FILES, "text": "content", "contents": "content"}),
    "Edit": Spelling(keys={**_PATH, **_EDIT}, others={**_FILES, **_OTHER_EDITS}, drops=frozenset({"instructions"})),
    "MultiEdit": Spelling(keys=_PATH, others=_FILES, inner={"edits": Spelling(keys=_EDIT, others=_OTHER_EDITS)}),
    "Glob": Spelling(others={"glob": "pattern", "query": "pattern", "directory": "path", "dir": "path"}),
    "Grep": Spelling(
        others={"-i": "ignore_case", "head_limit": "limit", "query": "pattern", "regex": "pattern", "include": "glob"},
        drops=frozenset({"-n", "-A", "-B", "-C", "multiline", "offset"}),
        read=_grep_in,
    ),
    "Shell": Spelling(
        name="Bash",
        keys={"run_in_background": "background"},
        others={"cmd": "command", "script": "command"},
        drops=frozenset({"dangerouslyDisableSandbox"}),
        read=_shell_in,
        write=_shell_out,
    ),
    "ShellOutput": Spelling(
        name="BashOutput",
        keys={"bash_id": "process"},
        others={"shell_id": "process", "id": "process"},
        drops=frozenset({"filter"}),
    ),
    "ShellStop": Spelling(
        name="KillShell", keys={"shell_id": "process"}, others={"bash_id": "process", "id": "process"}
    ),
    "TodoWrite": Spelling(
        inner={
            "todos": Spelling(
                keys={"content": "text"},
                others={"task": "text", "title": "text", "step": "text"},
                drops=frozenset({"activeForm", "id", "priority"}),
                values={"status": {"completed": "done"}},
            )
        }
    ),
    "Task": Spelling(read=_task_in, keys={"subagent_type": "agent"}, drops=frozenset({"model", "run_in_background"})),
    "AskUser": Spelling(
        inner={
            "questions": Spelling(
                keys={"multiSelect": "several"},
                others={"text": "question"},
                drops=frozenset({"header"}),
                read=_question_in,
            )
        }
    ),
    "WebFetch": Spelling(drops=frozenset({"prompt"})),
    "Skill": Spelling(keys={"skill": "name"}, others={"command": "name"}, drops=frozenset({"args"})),
}
_NAMES: Final[Mapping[str, str]] = {
    "bash": "Shell",
    "shell": "Shell",
    "run_command": "Shell",
    "run_shell_command": "Shell",
    "execute_command": "Shell",
    "terminal": "Shell",
    "bashoutput": "ShellOutput",
    "bash_output": "ShellOutput",
    "killshell": "ShellStop",
    "killbash": "ShellStop",
    "kill_shell": "ShellStop",
    "read_file": "Read",
    "view": "Read",
    "write_file": "Write",
    "create_file": "Write",
    "edit_file": "Edit",
    "str_replace": "Edit",
    "replace": "Edit",
    "multi_edit": "MultiEdit",
    "find_files": "Glob",
    "list_files": "Glob",
    "search_files": "Grep",
    "ripgrep": "Grep",
    "grep_search": "Grep",
    "todo_write": "TodoWrite",
    "agent": "Task",
    "askuserquestion": "AskUser",
    "ask_user": "AskUser",
    "web_fetch": "WebFetch",
    "fetch": "WebFetch",
    "exitplanmode": "SubmitPlan",
    "exit_plan_mode": "SubmitPlan",
    "submit_plan": "SubmitPlan",
    **{name.lower(): name for name in ("Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "TodoWrite", "Task")},
    **{name.lower(): name for name in ("AskUser", "WebFetch", "WebSearch", "Skill", "SubmitPlan")},
    "web_search": "WebSearch",
}


def own_name(name: str) -> str:
    """What a tool is called here that others may call otherwise."""
    return _NAMES.get(name.lower(), name)


def told_name(name: str) -> str:
    spelling = SPELLINGS.get(name)
    return spelling.name if spelling and spelling.name else name


def corrected(name: str, given: Input, known: Mapping[str, Any]) -> Input:
    """An input in our own spelling. Only what `known`, the properties of the tool's schema, has is touched, and only
    for what it does not have."""
    spelling = SPELLINGS.get(name)
    return _in(spelling, given, known) if spelling else given


def _in(spelling: Spelling, given: Input, known: Mapping[str, Any]) -> Input:
    keys = {**spelling.others, **spelling.keys}
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key in known:
            found[key] = value
        elif key in keys and keys[key] in known and keys[key] not in given:
            found[keys[key]] = value
        elif key not in spelling.drops:
            found[key] = value
    found = dict(spelling.read(found))
    for key, inner in spelling.inner.items():
        if isinstance(items := found.get(key), list) and key in known:
            shape = known[key].get("items", {}).get("properties", {})
            found[key] = [_in(inner, item, shape) if isinstance(item, Mapping) else item for item in items]
    for key, values in spelling.values.items():
        if isinstance(value := found.get(key), str):
            found[key] = values.get(value, value)
    return found


def told(name: str, given: Input) -> Input:
    """An input in our spelling as models know it."""
    spelling = SPELLINGS.get(name)
    return _out(spelling, given) if spelling else given


def _out(spelling: Spelling, given: Input) -> Input:
    keys = {own: theirs for theirs, own in spelling.keys.items()}
    found: dict[str, Any] = {}
    for key, value in spelling.write(given).items():
        values = {own: theirs for theirs, own in spelling.values.get(key, {}).items()}
        if key in spelling.inner and isinstance(value, list):
            value = [_out(spelling.inner[key], one) if isinstance(one, Mapping) else one for one in value]
        found[keys.get(key, key)] = values.get(value, value) if values and isinstance(value, str) else value
    return found


def told_spec(tool: Tool) -> ToolSpec:
    """A tool as a model is offered it."""
    spelling = SPELLINGS.get(tool.name) if tool.source is None else None
    if spelling is None:
        return tool.spec()
    schema = _schema(spelling, tool.input_schema)
    return ToolSpec(name=spelling.name or tool.name, description=tool.description, input_schema=schema)


def _schema(spelling: Spelling, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    keys = {own: theirs for theirs, own in spelling.keys.items()}
    properties: dict[str, Any] = {}
    for key, value in schema.get("properties", {}).items():
        if key == "seconds" and spelling.name == "Bash":
            most = value.get("maximum", 1800) * 1000
            about = "The time limit in milliseconds, 120000 unless told"
            properties["timeout"] = {"type": "integer", "description": about, "minimum": 1000, "maximum": most}
            continue
        if key in spelling.inner:
            value = {**value, "items": _schema(spelling.inner[key], value["items"])}
        if values := {own: theirs for theirs, own in spelling.values.get(key, {}).items()}:
            value = {**value, "enum": [values.get(one, one) for one in value["enum"]]}
        properties[keys.get(key, key)] = value
    return {**schema, "properties": properties, "required": [keys.get(key, key) for key in schema.get("required", ())]}
