"""Remembers what a program does to a folder as a disk sees it: nodes, entries and bytes instead of handles and paths.

A handle is resolved to its node (inode) when it is used, so a rename is understood as what it is: the same file under
another name. What came before is the `start` and counts as durable; what follows is the list of changes, in order,
with the syncs among them. `weft.testing.power` derives from it what a power cut may leave at every point.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from weft.files import Disk

Node = int
ROOT: Final[Node] = 0


@dataclass(frozen=True, slots=True)
class Created:
    """A new, empty file, or a new folder, got its name."""

    parent: Node
    name: str
    node: Node
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    node: Node
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncated:
    node: Node
    size: int


@dataclass(frozen=True, slots=True)
class Renamed:
    node: Node
    source_parent: Node
    source: str
    target_parent: Node
    target: str


@dataclass(frozen=True, slots=True)
class Synced:
    """A file's bytes and size, or a folder's entries, are durable as they are now."""

    node: Node


Change = Created | Written | Truncated | Renamed | Synced


@dataclass(frozen=True, slots=True)
class Image:
    """A tree of nodes; `ROOT` is the recorded folder."""

    files: Mapping[Node, bytes]
    folders: Mapping[Node, Mapping[str, Node]]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something the program said after `position` changes, such as what it has acknowledged."""

    position: int
    what: object


@dataclass(slots=True)
class Recording:
    start: Image
    changes: list[Change] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def until(self, cut: int) -> Recording:
        """The recording of a program that was killed after `cut` changes: the kernel still has all it wrote."""
        if not 0 <= cut <= len(self.changes):
            raise ValueError(f"there are {len(self.changes)} changes; {cut} is not among them")
        marks = [mark for mark in self.marks if mark.position <= cut]
        return Recording(self.start, self.changes[:cut], marks)

    def marked(self, cut: int) -> list[object]:
        """Everything marked before the change number `cut`."""
        return [mark.what for mark in self.marks if mark.position <= cut]


class RecordingDisk(Disk):
    """Performs every call and records it. Refuses what is outside the recorded folder.

    `before` continues the recording of an earlier process on the same folder, with what that one had not synced.
    """

    def __init__(self, root: Path, *, before: Recording | None = None, sync: bool = True) -> None:
        super().__init__(sync=sync)
        self._root = root
        self._nodes: dict[tuple[int, int], Node] = {}
        self._order = threading.RLock()
        if before is None:
            files: dict[Node, bytes] = {}
            folders: dict[Node, Mapping[str, Node]] = {}
            self._next = ROOT
            self._scan(root, files, folders)
            self.recording = Recording(Image(files, folders))
        else:
            self.recording = replace(before, changes=[*before.changes], marks=[*before.marks])
            entries = {node: dict(names) for node, names in before.start.folders.items()}
            for change in before.changes:
                enter(entries, change)
            self._next = 1 + max([ROOT, *before.start.files, *before.start.folders, *_made(before)])
            self._bind(root, ROOT, entries)

    def mark(self, what: object) -> None:
        with self._order:
            self.recording.marks.append(Mark(len(self.recording.changes), what))

    # -- the calls

    def write(self, fd: int, data: bytes) -> None:
        with self._order:
            appends = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND
            offset = os.fstat(fd).st_size if appends else os.lseek(fd, 0, os.SEEK_CUR)
            super().write(fd, data)
            self._add(Written(self._node(fd), offset, bytes(data)))

    def fsync(self, fd: int) -> None:
        with self._order:
            super().fsync(fd)
            self._add(Synced(self._node(fd)))

    def fdatasync(self, fd: int) -> None:
        with self._order:
            super().fdatasync(fd)
            self._add(Synced(self._node(fd)))

    def syncfs(self, fd: int) -> bool:
        with self._order:
            done = super().syncfs(fd)
            for node in range(self._next if done else 0):
                self._add(Synced(node))
            return done

    def truncate(self, fd: int, size: int) -> None:
        with self._order:
            super().truncate(fd, size)
            self._add(Truncated(self._node(fd), size))

    def create(self, name: str, flags: int, dir_fd: int) -> int:
        with self._order:
            is_new = not _is_there(name, dir_fd)
            fd = super().create(name, flags, dir_fd)
            if is_new:
                self._add(Created(self._node(dir_fd), name, self._new(os.fstat(fd))))
            elif flags & os.O_TRUNC:
                self._add(Truncated(self._node(fd), 0))
            return fd

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        with self._order:
            node = self._known(os.stat(source, dir_fd=dir_fd, follow_symlinks=False), source)
            super().replace(source, target, dir_fd)
            folder = self._node(dir_fd)
            self._add(Renamed(node, folder, source, folder, target))

    def move(self, source: str, source_fd: int, target: str, target_fd: int) -> None:
        with self._order:
            node = self._known(os.stat(source, dir_fd=source_fd, follow_symlinks=False), source)
            super().move(source, source_fd, target, target_fd)
            self._add(Renamed(node, self._node(source_fd), source, self._node(target_fd), target))

    def mkdir(self, name: str, dir_fd: int) -> None:
        with self._order:
            super().mkdir(name, dir_fd)
            made = self._new(os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
            self._add(Created(self._node(dir_fd), name, made, is_folder=True))

    # -- inside

    def _add(self, change: Change) -> None:
        self.recording.changes.append(change)

    def _node(self, fd: int) -> Node:
        return self._known(os.fstat(fd), f"handle {fd}")

    def _known(self, found: os.stat_result, what: str) -> Node:
        node = self._nodes.get((found.st_dev, found.st_ino))
        if node is None:
            raise AssertionError(f"{what} is not below {self._root}, or was not made through this disk")
        return node

    def _new(self, found: os.stat_result) -> Node:
        # A removed file's inode number comes back for the next one; that is another node.
        node = self._nodes[found.st_dev, found.st_ino] = self._next
        self._next += 1
        return node

    def _scan(self, path: Path, files: dict[Node, bytes], folders: dict[Node, Mapping[str, Node]]) -> Node:
        found = path.stat(follow_symlinks=False)
        node = self._new(found)
        if stat.S_ISDIR(found.st_mode):
            folders[node] = {child.name: self._scan(child, files, folders) for child in sorted(path.iterdir())}
        elif stat.S_ISREG(found.st_mode):
            files[node] = path.read_bytes()
        else:
            raise ValueError(f"{path} is neither a file nor a folder")
        return node

    def _bind(self, path: Path, node: Node, entries: Mapping[Node, Mapping[str, Node]]) -> None:
        found = path.stat(follow_symlinks=False)
        self._nodes[found.st_dev, found.st_ino] = node
        for name, child in entries.get(node, {}).items():
            self._bind(path / name, child, entries)


def enter(entries: dict[Node, dict[str, Node]], change: Change) -> None:
    """What a change does to the entries of folders, when nothing is lost."""
    match change:
        case Created():
            entries[change.parent][change.name] = change.node
            if change.is_folder:
                entries[change.node] = {}
        case Renamed():
            entries[change.source_parent].pop(change.source, None)
            entries[change.target_parent][change.target] = change.node


def _made(recording: Recording) -> list[Node]:
    return [change.node for change in recording.changes if isinstance(change, Created)]


def _is_there(name: str, dir_fd: int) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
