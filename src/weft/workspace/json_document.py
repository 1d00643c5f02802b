"""JSON to plain values. A broken file is told with its line; places inside a good one are found only when asked for."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.patterns import pattern
from weft.workspace.document import MarkedDocument, Path, SourceFile, SourceMark

_TOKEN: Final = pattern(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s,\]}]+)', re.DOTALL)


def parse_json(source: SourceFile) -> Any:
    try:
        return json.loads(source.text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        message = f"this is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        problem = Problem(source.file, message, error.lineno, error.colno)
    except RecursionError:
        problem = Problem(source.file, "this is nested too deeply", 1, 1)
    except ValueError as error:
        problem = Problem(source.file, f"this is not valid JSON: {error}", 1, 1)
    raise WorkspaceError([problem])


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def locate_json(source: SourceFile, value: Any) -> MarkedDocument:
    """The document with the place of everything in it. `source` must be what `value` was parsed from."""
    keys: dict[Path, SourceMark] = {}
    values: dict[Path, SourceMark] = {}
    inside: list[str | int | None] = []
    """The index or key that is current in each open list or mapping; None: the next token is a key."""
    line, line_start = 1, 0
    for token in _TOKEN.finditer(source.text):
        text, start = token[1], token.start(1)
        if breaks := source.text.count("\n", token.start(), start):
            line, line_start = line + breaks, source.text.rfind("\n", 0, start) + 1
        mark = SourceMark(line, start - line_start + 1)
        if text == ",":
            last = inside.pop()
            inside.append(last + 1 if isinstance(last, int) else None)
        elif text in ("]", "}"):
            inside.pop()
        elif inside and inside[-1] is None:
            inside[-1] = json.loads(text)
            keys[_path(inside)] = mark
        elif text != ":":
            values[_path(inside)] = mark
            if text in ("[", "{"):
                inside.append(0 if text == "[" else None)
    return MarkedDocument(source.file, value, keys, values)


def _path(inside: list[str | int | None]) -> Path:
    return tuple(part for part in inside if part is not None)
