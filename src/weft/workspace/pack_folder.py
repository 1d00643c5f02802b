"""What lies in a pack's folder, whatever its pack.yaml says: where each file goes, and what of Weft's own packs
decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.hashes import hash_bytes
from weft.version import INSTALLED
from weft.workspace.code_file import FOLDER as CODE

FILE: Final = "pack.yaml"
PLACES: Final[Mapping[str, str]] = {
    "AGENTS.md": "AGENTS.md",
    "profile.json": "profile.json",
    "config.toml": "config.toml",
    "pipelines": "pipelines",
    "schemas": "schemas",
    "code": "code",
    "agents": ".claude/agents",
    "skills": ".claude/skills",
}
FILES: Final = frozenset({"AGENTS.md", "profile.json", "config.toml"})
_STAYING: Final = frozenset({FILE, "README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "__init__.py", "__pycache__"})


def pack_folders() -> list[Path]:
    """Of the packs that come with weft."""
    shipped = Path(INSTALLED) / "packs"
    return [file.parent for file in sorted(shipped.glob(f"*/{FILE}"))]


def files_of(folder: Folder) -> tuple[dict[str, str], list[str]]:
    """Each file with its place in a workspace; and the names that have no place."""
    files: dict[str, str] = {}
    strays = []
    for name, is_folder in folder.entries():
        is_file = not is_folder
        if name in _STAYING or name.startswith("."):
            continue
        if name not in PLACES or is_file != (name in FILES):
            strays.append(name)
        elif is_file:
            files[PLACES[name]] = name
        else:
            with folder.folder(name) as inner:
                files |= {f"{PLACES[name]}/{below}": f"{name}/{below}" for below in _below(inner)}
    return files, strays


def _below(folder: Folder) -> Iterator[str]:
    for name, is_folder in folder.entries():
        if not _is_laid(name):
            continue
        if not is_folder:
            yield name
            continue
        with folder.folder(name) as inner:
            for below in _below(inner):
                yield f"{name}/{below}"


def may_decide(path: str) -> bool:
    return path.startswith((f"{CODE}/", "pipelines/"))


def decides(path: str, data: bytes) -> bool:
    return may_decide(path) and (path.startswith(f"{CODE}/") or b"allow" in data)


@cache
def shipped_code(path: str) -> frozenset[str]:
    """The hashes of such a file at this place of a workspace, in the packs that come with Weft."""
    if not may_decide(path) or not all(map(_is_laid, path.split("/"))):
        return frozenset()
    found = set()
    for place in pack_folders():
        with Folder.open(place) as folder, suppress(WeftError):  # what is no file there is none of its files
            if (data := folder.read_or_none(path)) is not None and decides(path, data):
                found.add(hash_bytes(data))
    return frozenset(found)


def _is_laid(name: str) -> bool:
    return not name.startswith(".") and name != "__pycache__" and not name.endswith(".pyc")
