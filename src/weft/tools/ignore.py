"""What ignore files leave out: the patterns of `.gitignore` and `.ignore`, each for its own folder and below. Pure.

    rules = ignored_by("/build\n*.log\n!keep.log\n")
    rules.says("build", is_folder=True)     True; None for a name that no line speaks of

A later line wins over an earlier one, a nearer file over one further up. What is in a folder that is left out is too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.values import dataclass

IGNORE_FILES: Final = (".gitignore", ".ignore")
ALWAYS: Final = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
MOST_ENTRIES: Final = 50_000
_FILE_LIMIT: Final = 256 * 1024
_GLOB: Final = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|\[!?[^]]+]|\\.|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Line:
    pattern: re.Pattern[str]
    folders_only: bool
    takes_in: bool
    """It begins with `!`: what an earlier line left out is there again."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    lines: tuple[_Line, ...] = ()

    def says(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path below the file's own folder is left out; None when no line speaks of it."""
        for line in reversed(self.lines):
            if (is_folder or not line.folders_only) and line.pattern.fullmatch(path):
                return not line.takes_in
        return None


def ignored_by(text: str) -> IgnoreRules:
    lines = []
    for raw in text.splitlines():
        words = raw.rstrip() if not raw.endswith("\\ ") else raw
        if not words or words.startswith("#"):
            continue
        takes_in, words = words.startswith("!"), words.removeprefix("!")
        folders_only, words = words.endswith("/"), words.rstrip("/")
        anchored = "/" in words
        try:
            pattern = re.compile(("" if anchored else "(?:.*/)?") + _translated(words.lstrip("/")))
        except re.error:
            continue  # no pattern: git passes it over too
        lines.append(_Line(pattern, folders_only, takes_in))
    return IgnoreRules(tuple(lines))


def _translated(words: str) -> str:
    special = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = []
    for found in _GLOB.findall(words):
        if found in special:
            parts.append(special[found])
        elif found.startswith("[") and len(found) > 1:
            inner = found[1:-1].removeprefix("!").replace("\\", "\\\\")
            parts.append(f"[{'^' if found[1] == '!' else ''}{inner}]")
        else:
            parts.append(re.escape(found[-1]))
    return "".join(parts)


def listed(top: Folder, most: int = MOST_ENTRIES) -> list[str]:
    """Every file and folder below that ignore files do not leave out; a folder ends with a slash. Links are passed
    over. At most so many are looked at."""
    found: list[str] = []
    for path in _below(top, "", []):
        found.append(path)
        if len(found) >= most:
            break
    return found


def _below(folder: Folder, path: str, rules: list[tuple[str, IgnoreRules]]) -> Iterator[str]:
    here = [*rules, *((path, ignored_by(text)) for name in IGNORE_FILES if (text := _text(folder, name)))]
    for name in folder.names():
        is_folder = folder.is_folder(name)
        where = f"{path}{name}"
        if name in ALWAYS or _left_out(where, here, is_folder=is_folder):
            continue
        if not is_folder:
            yield where
            continue
        yield f"{where}/"
        try:
            with folder.folder(name) as inner:
                yield from _below(inner, f"{where}/", here)
        except (OSError, WeftError):
            continue  # it may not be looked into, or has just gone


def _text(folder: Folder, name: str) -> str:
    try:
        data = folder.read_or_none(name, _FILE_LIMIT)
    except (OSError, WeftError):
        return ""  # a link, or one that is far too long
    return data.decode("utf-8", "replace") if data else ""


def _left_out(path: str, rules: list[tuple[str, IgnoreRules]], *, is_folder: bool) -> bool:
    for base, one in reversed(rules):
        said = one.says(path[len(base) :], is_folder=is_folder)
        if said is not None:
            return said
    return False
