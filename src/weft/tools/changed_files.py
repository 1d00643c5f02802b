"""What a command changes in its folder, so that it can be taken back: the files are held before, and compared after.

A command may change anything, and nobody knows beforehand what. So before it runs the files of its folder are read,
as far as they are few and small; those that are otherwise afterwards are kept as they were. Ignore files say what is
passed over, and what the machine writes is too where the folder is a workspace: a log that went on meanwhile is not
the command's work, and would lose what it was told. What is larger than the limits is not known, and it is said where
somebody asks for it. Between two commands only what has changed is read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.tools.ignore import listed

MOST_FILES: Final = 2_000
MOST_BYTES: Final = 16 * 2**20
FILE_BYTES: Final = 2**20
Stamp = tuple[int, int, int]
_LOG: Final = re.compile(r"((?:.*/)?)sessions/[^/]+/log\.jsonl")
_MACHINES: Final = re.compile(r"sessions/.*|schedules/history/.*|(?:knowledge/[^/]+/)?index\.db.*", re.DOTALL)
"""In a workspace."""


@dataclass(frozen=True, slots=True)
class HeldFile:
    stamp: Stamp
    data: bytes | None
    """None: it is too large to be held."""


@dataclass(slots=True)
class FolderWatch:
    """Of one working folder. `too_large`: the last look found more than it holds, so that nothing is known."""

    too_large: bool = False
    _held: dict[str, HeldFile] = field(default_factory=dict)

    def hold(self, folder: Folder) -> Mapping[str, HeldFile] | None:
        """The files as they are now; None when they are too many. For a thread: it reads."""
        names = _of_people([name for name in listed(folder, MOST_FILES + 1) if not name.endswith("/")])
        self.too_large = len(names) > MOST_FILES
        if self.too_large:
            self._held = {}
            return None
        found: dict[str, HeldFile] = {}
        size = 0
        for name in names:
            if (stamp := _stamp(folder, name)) is None:
                continue
            known = self._held.get(name)
            held = known if known is not None and known.stamp == stamp else HeldFile(stamp, _data(folder, name, stamp))
            size += len(held.data or b"")
            if size > MOST_BYTES:
                self.too_large, self._held = True, {}
                return None
            found[name] = held
        self._held = found
        return dict(found)

    def changes(
        self, folder: Folder, before: Mapping[str, HeldFile], keep: Callable[[bytes], str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """What is otherwise than it was held: by name the blob of what was there ("" for nothing), and the hash of what
        is there now ("" for nothing)."""
        now = self.hold(folder)
        if now is None:
            return {}, {}
        was: dict[str, str] = {}
        left: dict[str, str] = {}
        for name in sorted({*before, *now}):
            old, new = before.get(name), now.get(name)
            if old is new or (old and new and (old.data == new.data or None in (old.data, new.data))):
                continue
            if (old and old.data is None) or (new and new.data is None):
                continue  # too large to be taken back
            was[name] = keep(old.data) if old and old.data is not None else ""
            left[name] = hash_bytes(new.data) if new and new.data is not None else ""
        return was, left


def _of_people(names: Sequence[str]) -> list[str]:
    """Without what the machine writes in workspaces: folders in which there is a session with its log."""
    workspaces = {found[1] for name in names if (found := _LOG.fullmatch(name))}
    return [name for name in names if not any(_is_machines(name, place) for place in workspaces)]


def _is_machines(name: str, workspace: str) -> bool:
    return name.startswith(workspace) and _MACHINES.fullmatch(name, len(workspace)) is not None


def _stamp(folder: Folder, name: str) -> Stamp | None:
    try:
        found = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _data(folder: Folder, name: str, stamp: Stamp) -> bytes | None:
    if stamp[1] > FILE_BYTES:
        return None
    try:
        return folder.read(name, FILE_BYTES)
    except (OSError, WeftError):
        return None  # a link, a pipe, or it has just gone
