"""What was made of a workspace's files, kept, so that a file which nobody changed is parsed and judged once.

    parsed.find("pipeline", "kit")                    # the Pipeline, or None
    noted = NotedFolder.of(folder)                    # notes whatever a reader looks at, with the hash of what it saw
    parsed.keep("pipeline", "kit", noted, pipeline)

Reading what people write loads and does more than a run that has nothing to do. What was kept is taken again only when
every look that its reader took would see the same now, byte for byte, and the code that made it is the same. It lies
with the person's own files and never in the workspace: whoever brings a folder can't bring what is taken for read from
it. All of it can be thrown away at any time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from weft.files import READ_LIMIT, Folder
from weft.protocol.errors import WeftError
from weft.protocol.hashes import hash_bytes, hash_value
from weft.protocol.values import dataclass, fields
from weft.version import INSTALLED, __version__

Look = tuple[str, str]
"""How and at what: "read", "names", "folder", "file", "there"; a name below the workspace, "" for itself."""
MOST: Final = 500
"""Kept for all workspaces of a person; beyond it the oldest half goes."""
_KIND: Final = "~"
_HOMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("Pipeline", "Step", "Inside", "Given", "InnerPipeline", "MappedPipeline", "InputSpec"),
        "weft.workspace.pipeline",
    ),
    **dict.fromkeys(("ArtifactPlace", "Condition", "Shown", "Gate", "Unit", "Retry", "Budget"), "weft.workspace.flow"),
    **dict.fromkeys(("Scope", "Taken", "ToolCalls"), "weft.workspace.scope"),
    **dict.fromkeys(("ModelTable", "PriceTable", "RoleTable"), "weft.workspace.model_table"),
    "Agent": "weft.workspace.agent",
    "CheckCall": "weft.checks.contract",
    "Choice": "weft.protocol.gates",
    "Config": "weft.workspace.config",
    **dict.fromkeys(("Map", "ItemPart"), "weft.workspace.mapping"),
    "ParameterSpec": "weft.workspace.parameters",
    "Problem": "weft.protocol.errors",
    "ResourceLimit": "weft.workspace.resource_limit",
    "SchemaFile": "weft.workspace.schema_file",
    "Skill": "weft.workspace.skill",
}
"""The values that can be kept, each with where it is at home; what holds any other is parsed every time."""


@dataclass(frozen=True)
class _Parsed:
    looks: Mapping[Look, str]
    value: Any


class ParsedFiles:
    def __init__(self, folder: Folder, place: Path | None) -> None:
        """`place`: a folder of the person's own; None for keeping it no longer than this process lives."""
        self._folder = folder
        self._place = place
        self._known: dict[str, _Parsed] = {}

    def find(self, kind: str, name: str) -> Any:
        """None when there is nothing, or a file that it was made from has changed."""
        file = self._file(kind, name)
        known = self._known.get(file) or self._read(file)
        if known is None:
            return None
        with ExitStack() as opened:
            below = _Below(self._folder, opened)
            if any(below.seen(*look) != seen for look, seen in known.looks.items()):
                return None
        self._known[file] = known
        return known.value

    def keep(self, kind: str, name: str, noted: NotedFolder, value: Any) -> None:
        if not noted.notes.complete:
            return
        self._known[self._file(kind, name)] = _Parsed(noted.notes.looks, value)
        if self._place is None:
            return
        looks = [[*look, seen] for look, seen in noted.notes.looks.items()]
        with suppress(TypeError, ValueError, WeftError, OSError):  # what can't be kept is parsed again
            text = json.dumps({"code": _code(), "looks": looks, "value": _plain(value)}, allow_nan=False)
            if _parsed(text) != _Parsed(noted.notes.looks, value):
                return
            with Folder.open(self._place, create=True) as folder:
                folder.replace(self._file(kind, name), text.encode(), sync=False, mode=0o600)
                _forget_oldest(folder)

    def _file(self, kind: str, name: str) -> str:
        return hash_value([str(self._folder.path), kind, name]) + ".json"

    def _read(self, file: str) -> _Parsed | None:
        if self._place is None or not self._place.is_dir():
            return None
        try:
            with Folder.open(self._place) as folder:
                data = folder.read_or_none(file)
            return _parsed(data.decode()) if data is not None else None
        except (WeftError, OSError, ValueError, TypeError, KeyError, AttributeError):
            return None  # damaged, or from other code: as good as nothing


class _Notes:
    def __init__(self) -> None:
        self.looks: dict[Look, str] = {}
        self.complete = True
        """False once something was looked at that can't be looked at in the same way again."""


class NotedFolder(Folder):
    """A folder that notes what is looked at in it and below."""

    notes: _Notes
    _above: str

    @classmethod
    def of(cls, folder: Folder, notes: _Notes | None = None, above: str = "") -> NotedFolder:
        made = cls(folder.path, folder.disk, folder.fd)
        made.notes, made._above = notes or _Notes(), above
        return made

    def names(self) -> list[str]:
        found = super().names()
        self.notes.looks["names", self._above.rstrip("/")] = hash_value(found)
        return found

    def entries(self) -> list[tuple[str, bool]]:
        return [(name, self.is_folder(name)) for name in self.names()]

    def exists(self, name: str) -> bool:
        return self._noted("there", name, super().exists(name))

    def is_folder(self, name: str) -> bool:
        return self._noted("folder", name, super().is_folder(name))

    def is_file(self, name: str) -> bool:
        return self._noted("file", name, super().is_file(name))

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        try:
            data = super().read(name, limit)
        except FileNotFoundError:
            self.notes.looks["read", self._above + name] = ""
            raise
        except WeftError:
            self.notes.complete = False
            raise
        self.notes.looks["read", self._above + name] = hash_bytes(data)
        return data

    def folder(self, name: str, *, create: bool = False) -> Folder:
        try:
            inner = super().folder(name, create=create)
        except FileNotFoundError:
            self.notes.looks["names", self._above + name] = ""
            raise
        return NotedFolder.of(inner, self.notes, f"{self._above}{name}/")

    def _noted(self, how: str, name: str, found: bool) -> bool:
        self.notes.looks[how, self._above + name] = str(found)
        return found


class _Below:
    """A workspace as looks see it now; each folder is opened once."""

    def __init__(self, folder: Folder, opened: ExitStack) -> None:
        self._folders = {"": folder}
        self._opened = opened

    def seen(self, how: str, name: str) -> str:
        """What a look would see."""
        try:
            match how:
                case "read":
                    return hash_bytes(self._folders[""].read(name))
                case "names":
                    return hash_value(self._at(name).names())
                case "there":
                    return str(self._folders[""].exists(name))
                case _:
                    above, _, last = name.rpartition("/")
                    place = self._at(above)
                    return str(place.is_folder(last) if how == "folder" else place.is_file(last))
        except FileNotFoundError:
            return ""
        except WeftError as error:
            return str(error)

    def _at(self, name: str) -> Folder:
        if name not in self._folders:
            self._folders[name] = self._opened.enter_context(self._folders[""].folder(name))
        return self._folders[name]


def _plain(value: Any) -> Any:
    """In JSON, each value with its kind. TypeError for what can't be kept."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [_plain(one) for one in value]
        case tuple():
            return {_KIND: "tuple", "of": [_plain(one) for one in value]}
        case dict() if _KIND not in value and all(isinstance(key, str) for key in value):
            return {key: _plain(one) for key, one in value.items()}
    kind = type(value)
    if _HOMES.get(kind.__name__) != kind.__module__:
        raise TypeError(f"{kind} is not kept")
    return {_KIND: kind.__name__, **{one.name: _plain(getattr(value, one.name)) for one in fields(value)}}


def _value(found: dict[str, Any]) -> Any:
    kind = found.pop(_KIND, None)
    if kind is None:
        return found
    return tuple(found["of"]) if kind == "tuple" else getattr(import_module(_HOMES[kind]), kind)(**found)


def _parsed(text: str) -> _Parsed | None:
    """None when other code made it."""
    if not text.startswith(f'{{"code": "{_code()}"'):
        return None
    found = json.loads(text, object_hook=_value)
    return _Parsed({(how, name): seen for how, name, seen in found["looks"]}, found["value"])


@cache
def _code() -> str:
    """Of the code that reads and judges files, as it stands here."""
    here = Path(INSTALLED)
    files = [one for room in ("workspace", "checks", "protocol") for one in os.scandir(here / room) if one.is_file()]
    marks = sorted((one.path, one.stat().st_mtime_ns, one.stat().st_size) for one in files)
    return hash_value([__version__, sys.version, marks])


def _forget_oldest(folder: Folder) -> None:
    names = folder.names()
    if len(names) <= MOST:
        return
    ages = sorted((os.stat(name, dir_fd=folder.fd).st_mtime_ns, name) for name in names)
    for _, name in ages[: len(ages) // 2]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder.fd)
