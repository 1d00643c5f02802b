"""Scenarios of the kind `static`: rules about the source, each translated to the files that have the part in question.

A scenario speaks of a layout that is not ours. `PARTS` says where each of its modules went, so that the rule is checked
on the code it means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.testing.scenario_words import ScenarioError
from weft.version import INSTALLED

SOURCE: Final = Path(INSTALLED)
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "core": ("conversation/decide.py", "conversation/turns.py", "conversation/state.py"),
    "state": ("conversation/state.py",),
    "orchestrator": ("conversation/decide.py", "conversation/turns.py", "conversation/engine.py"),
    "events": ("protocol/conversation_events.py", "protocol/conversation_commands.py", "protocol/events.py"),
    "control": ("conversation/control.py",),
    "executor": ("conversation/executor.py", "tools/processes.py"),
    "projections": ("conversation/projections.py",),
    "log": ("session/log.py", "session/codec.py"),
    "session": ("conversation/conversation.py", "conversation/engine.py"),
    "app": ("conversation/conversation.py", "app"),
    "ports": ("conversation/ports.py",),
    "tools": ("tools",),
}
FUNCTIONS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "queue": (("conversation/engine.py", "submit"), ("conversation/conversation.py", "submit")),
    "scheduler": (("conversation/conversation.py", "_go_on"), ("conversation/conversation.py", "_wake")),
}
"""Modules of the scenario that are single functions here."""
CLASSES: Final[Mapping[str, str]] = {"Runtime": "Conversation|Engine|Executor|Ports", "App": "App|Conversation"}


def run(scenario: Mapping[str, Any]) -> list[str]:
    try:
        faults = [fault for step in scenario.get("steps") or () for fault in _check(step)]
        expected = dict(scenario.get("expect") or {})
    except ScenarioError as error:
        return [f"the scenario can't be understood: {error}"]
    for key in expected:
        if key not in ("violations", "matches"):
            return [f"the scenario can't be understood: expect has an unknown key {key!r}"]
        if len(faults) != expected[key]:
            return [f"{key}: expected {expected[key]}, found {len(faults)}", *faults]
    return []


def _check(step: Mapping[str, Any]) -> list[str]:
    if step.get("op") != "static":
        raise ScenarioError(f"unknown operation {step.get('op')!r}")
    check = step["check"]
    kinds = {"references": _references, "imports": _imports, "fields": _fields, "grep": _grep}
    kind = kinds.get(check.get("kind"))
    if kind is None:
        raise ScenarioError(f"unknown check {check.get('kind')!r}")
    return list(kind({key: value for key, value in check.items() if key != "kind"}))


def _files() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), path.read_text()


def _places(names: Sequence[str]) -> set[str]:
    """Our files for a scenario's modules; a file of the same name counts as well."""
    found: set[str] = set()
    for name in names:
        stem = name.removesuffix(".py")
        found.update(PARTS.get(stem, ()))
        found.update(path for path, _ in _files() if Path(path).stem == stem)
    return found


def _references(check: Mapping[str, Any]) -> Iterator[str]:
    """A name is used only where it may be. With a bracket behind it, only calls count."""
    name, calls = check["name"].removesuffix("("), check["name"].endswith("(")
    allowed = _places(check["allowed_in"])
    for path, text in _files():
        if path in allowed or name not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            used = node.func if calls and isinstance(node, ast.Call) else None if calls else node
            word = used.attr if isinstance(used, ast.Attribute) else used.id if isinstance(used, ast.Name) else ""
            if word == name or (not calls and isinstance(node, ast.arg | ast.keyword) and node.arg == name):
                yield f"{path}:{getattr(node, 'lineno', 0)} uses {name}"


def _imports(check: Mapping[str, Any]) -> Iterator[str]:
    forbidden = {place for name in check["forbidden"] for place in (*PARTS.get(name, ()), name)}
    words = {Path(place).stem for place in forbidden}
    for module in check["module"].split("|"):
        if module in FUNCTIONS:
            for path, function in FUNCTIONS[module]:
                yield from _function_uses(path, function, words - {"engine", "conversation"})
            continue
        for path in sorted(_places([module])):
            if not (SOURCE / path).is_file():
                continue
            for node in ast.walk(ast.parse((SOURCE / path).read_text())):
                names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                home = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                if home in ("weft.protocol", "weft.protocol.events", "weft.protocol.conversation_events"):
                    continue
                whole = {part for name in (*names, home) for part in name.split(".")}
                for bad in sorted(words & whole):
                    yield f"{path}:{node.lineno if isinstance(node, ast.stmt) else 0} imports {bad}"


def _function_uses(path: str, function: str, words: set[str]) -> Iterator[str]:
    found = [
        node
        for node in ast.walk(ast.parse((SOURCE / path).read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    if not found:
        yield f"{path} has no {function}"
    for node in found:
        for inner in ast.walk(node):
            word = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
            if word in words:
                yield f"{path}:{getattr(inner, 'lineno', 0)} {function} looks at {word}"


def _fields(check: Mapping[str, Any]) -> Iterator[str]:
    wanted = "|".join(CLASSES.get(name, name) for name in check["class"].split("|"))
    forbidden = set(check["forbidden"])
    for path, text in _files():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ClassDef) or not re.fullmatch(wanted, node.name):
                continue
            for inner in ast.walk(node):
                name = inner.attr if isinstance(inner, ast.Attribute) else ""
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    name = inner.target.id
                if name.lstrip("_") in forbidden:
                    yield f"{path}:{getattr(inner, 'lineno', 0)} {node.name} has {name}"


def _grep(check: Mapping[str, Any]) -> Iterator[str]:
    for path, text in _files():
        for number, line in enumerate(text.splitlines(), 1):
            for pattern in check["patterns"]:
                if re.search(pattern, line):
                    yield f"{path}:{number} has {pattern}"
