"""A file that a person wrote, and where each of its parts stands.

`Source` is the file's bytes and text; `Document` is its parsed value with the line and column of every key and value,
so that any later rule can say precisely what it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Final, NamedTuple

from weft.files import Folder
from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass

SIZE_LIMIT: Final = 2**20
"""A file written by hand is smaller; a larger one is a mistake or an attack on the parser."""

Path = tuple[str | int, ...]


class SourceMark(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class SourceFile:
    file: str
    data: bytes
    text: str

    @property
    def hash(self) -> str:
        return hash_bytes(self.data)


def read_source(folder: Folder, file: str) -> SourceFile:
    """The file as text. FileNotFoundError passes: callers decide what a missing file means."""
    try:
        data = folder.read(file, SIZE_LIMIT)
    except FileNotFoundError:
        raise
    except UserError as error:
        raise WorkspaceError([Problem(file, error.message, hint=error.hint)]) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        mark = mark_of(data[: error.start].decode("utf-8"), error.start)
        hint = "save the file as UTF-8"
        raise WorkspaceError([Problem(file, "this is not UTF-8 text", *mark, hint=hint)]) from error
    return SourceFile(file, data, text.removeprefix("\ufeff"))


def mark_of(text: str, offset: int) -> SourceMark:
    before = text[:offset]
    return SourceMark(before.count("\n") + 1, len(before) - before.rfind("\n"))


def dotted(path: Path) -> str:
    """`steps.facts.requires[0]`"""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass
class MarkedDocument:
    file: str
    value: Any
    keys: Mapping[Path, SourceMark] = field(default_factory=dict)
    values: Mapping[Path, SourceMark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    """Faults found while parsing that left the rest readable, such as a key that stands there twice."""
    unreadable: frozenset[Path] = frozenset()
    """The values those faults are about: nothing more is to be said of them."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """How the file spells a top-level key that has an older word; paths have today's, messages show the file's."""

    def value_mark(self, path: Path) -> SourceMark:
        """Where the value at `path` stands, or the nearest part around it that is in the file."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, SourceMark(1, 1))

    def key_mark(self, path: Path) -> SourceMark:
        """Where the key at `path` stands; for a list's element or a key that is not there, what is around it."""
        while path:
            if path in self.keys:
                return self.keys[path]
            if isinstance(path[-1], int) and path in self.values:
                return self.values[path]
            path = path[:-1]
        return self.value_mark(())

    def at_value(self, path: Path, message: str, hint: str = "") -> Problem:
        return Problem(self.file, message, *self.value_mark(path), key=self._shown(path), hint=hint)

    def at_key(self, path: Path, message: str, hint: str = "") -> Problem:
        return Problem(self.file, message, *self.key_mark(path), key=self._shown(path), hint=hint)

    def _shown(self, path: Path) -> str:
        return dotted((self.spelled.get(str(path[0]), path[0]), *path[1:])) if path else ""


def in_order(problems: Iterable[Problem], first_file: str = "") -> list[Problem]:
    """Each problem once, by line; those of the file that was asked for before those of files it names."""
    return sorted(
        dict.fromkeys(problems),
        key=lambda problem: (problem.file != first_file, problem.file, problem.line, problem.column),
    )


def describe(value: Any) -> str:
    """What kind of value a person wrote, in their words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"{str(value).lower()} (yes or no)"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shortened(value)}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return type(value).__name__


def shortened(text: str, limit: int = 40) -> str:
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}…"
