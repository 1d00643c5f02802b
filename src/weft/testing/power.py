"""What a power cut may leave on the disk, at every point of a recording.

Only what was synced is sure: a file's bytes and size by its last sync, a folder's entries by the folder's last sync.
A new file's name and a rename are entries: they are sure only after the folder was synced, whatever happened to the
file itself. Everything younger may be there, be missing, or be there in part, and one item says nothing of another:
a name may have arrived without its bytes, the last page of a write without the first.

`power_cuts` yields, for each point, the extremes that break programs most often and any number of seeded mixtures.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from weft.testing.recording import ROOT, Change, Created, Node, Recording, Renamed, Synced, Truncated, Written

Variant = Literal["all", "synced", "names", "zeros", "torn", "bytes", "mixed"]
VARIANTS: Final[Mapping[Variant, str]] = {
    "all": "everything up to the cut",
    "synced": "only what was synced",
    "names": "every name, but no unsynced bytes",
    "zeros": "every name and length, but zeros for unsynced bytes",
    "torn": "every name, but only the first half of the unsynced bytes",
    "bytes": "all bytes, but no unsynced name or rename",
    "mixed": "each unsynced name, length and page by itself there or not",
}
PAGES: Final = (512, 4096)
"""Sizes a disk may write at once: a mixture is made of pieces of one of them."""


@dataclass(frozen=True, slots=True)
class DiskState:
    """The folder as the machine finds it after the power is back."""

    cut: int
    """How many changes had been made."""
    variant: Variant
    seed: int | None
    files: Mapping[str, bytes]
    folders: tuple[str, ...]

    def __str__(self) -> str:
        return f"cut {self.cut}, {self.variant}" + (f" (seed {self.seed})" if self.seed is not None else "")

    @property
    def fingerprint(self) -> str:
        """The same for states that can't be told apart."""
        digest = hashlib.sha256(repr(sorted(self.folders)).encode())
        for name, data in sorted(self.files.items()):
            digest.update(repr((name, len(data))).encode() + data)
        return digest.hexdigest()


def power_cuts(
    recording: Recording, *, cuts: Container[int] | None = None, mixtures: int = 0, seed: int = 0
) -> Iterator[DiskState]:
    """Every state for every cut: cut 0 comes before the first change, cut n after the n-th. `cuts` limits them."""
    disk = _Disk.at_start(recording)
    for cut in range(len(recording.changes) + 1):
        if cut:
            disk.apply(recording.changes[cut - 1])
        if cuts is not None and cut not in cuts:
            continue
        for variant in VARIANTS:
            if variant != "mixed":
                yield disk.state(cut, variant)
        for number in range(mixtures):
            yield disk.state(cut, "mixed", seed * 1_000_003 + cut * 1_009 + number)


def kernel_view(recording: Recording) -> DiskState:
    """The folder as other processes see it after the last change, with nothing lost."""
    disk = _Disk.at_start(recording)
    for change in recording.changes:
        disk.apply(change)
    return disk.state(len(recording.changes), "all")


def materialise(state: DiskState, folder: Path) -> None:
    """Lay the state down in a new real folder."""
    folder.mkdir(parents=True)
    for name in state.folders:
        (folder / name).mkdir(mode=0o700)
    for name, data in state.files.items():
        (folder / name).write_bytes(data)


@dataclass(slots=True)
class _File:
    synced: bytes = b""
    pending: list[Written | Truncated] = field(default_factory=list)

    def versions(self) -> list[bytes]:
        """The synced bytes, then the bytes after each younger change."""
        found = [self.synced]
        for change in self.pending:
            found.append(_changed(found[-1], change))
        return found

    def sync(self) -> None:
        self.synced = self.versions()[-1]
        self.pending.clear()

    def zeroed(self) -> bytes:
        data = self.synced
        for change in self.pending:
            blank = (
                Written(change.node, change.offset, bytes(len(change.data))) if isinstance(change, Written) else None
            )
            data = _changed(data, blank or change)
        return data

    def torn(self) -> bytes:
        left = sum(len(change.data) for change in self.pending if isinstance(change, Written)) // 2
        data = self.synced
        for change in self.pending:
            if isinstance(change, Written):
                piece = change.data[:left]
                left -= len(piece)
                data = _changed(data, Written(change.node, change.offset, piece)) if piece else data
            else:
                data = _changed(data, change)
        return data

    def mixed(self, chance: random.Random) -> bytes:
        """A length that was once true, or one on the way to it, and every page from any moment since the sync."""
        versions = self.versions()
        lengths = [len(version) for version in versions]
        size = chance.choice([*lengths, chance.randint(min(lengths), max(lengths))])
        page = chance.choice(PAGES)
        pieces = [chance.choice(versions)[at : at + page].ljust(page, b"\0") for at in range(0, size, page)]
        return b"".join(pieces)[:size]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One change of a folder: a name appears, and in a rename the old one goes at the same instant."""

    gone: str | None
    name: str | None
    node: Node


@dataclass(slots=True)
class _Folder:
    synced: dict[str, Node] = field(default_factory=dict)
    pending: list[_Entry] = field(default_factory=list)

    def entries(self, keep: Callable[[], bool]) -> dict[str, Node]:
        found = dict(self.synced)
        for entry in self.pending:
            if keep():
                if entry.gone is not None:
                    found.pop(entry.gone, None)
                if entry.name is not None:
                    found[entry.name] = entry.node
        return found

    def sync(self) -> None:
        self.synced = self.entries(_always)
        self.pending.clear()


@dataclass(slots=True)
class _Disk:
    files: dict[Node, _File]
    folders: dict[Node, _Folder]

    @classmethod
    def at_start(cls, recording: Recording) -> _Disk:
        files = {node: _File(data) for node, data in recording.start.files.items()}
        folders = {node: _Folder(dict(names)) for node, names in recording.start.folders.items()}
        return cls(files, folders)

    def apply(self, change: Change) -> None:
        match change:
            case Created():
                if change.is_folder:
                    self.folders[change.node] = _Folder()
                else:
                    self.files[change.node] = _File()
                self.folders[change.parent].pending.append(_Entry(None, change.name, change.node))
            case Written() | Truncated():
                self.files[change.node].pending.append(change)
            case Renamed() if change.source_parent == change.target_parent:
                entry = _Entry(change.source, change.target, change.node)
                self.folders[change.source_parent].pending.append(entry)
            case Renamed():
                self.folders[change.target_parent].pending.append(_Entry(None, change.target, change.node))
                self.folders[change.source_parent].pending.append(_Entry(change.source, None, change.node))
            case Synced():
                synced = self.folders.get(change.node) or self.files[change.node]
                synced.sync()

    def state(self, cut: int, variant: Variant, seed: int | None = None) -> DiskState:
        chance = random.Random(seed)

        def toss() -> bool:
            return chance.random() < 0.5

        chosen: dict[Variant, Callable[[], bool]] = {"synced": _never, "bytes": _never, "mixed": toss}
        keep = chosen.get(variant, _always)
        files: dict[str, bytes] = {}
        folders: list[str] = []

        def walk(node: Node, path: str) -> None:
            for name, child in self.folders[node].entries(keep).items():
                inside = f"{path}{name}"
                if child in self.folders:
                    folders.append(inside)
                    walk(child, f"{inside}/")
                else:
                    files[inside] = _found(self.files[child], variant, chance)

        walk(ROOT, "")
        return DiskState(cut, variant, seed, files, tuple(folders))


def _found(file: _File, variant: Variant, chance: random.Random) -> bytes:
    match variant:
        case "all" | "bytes":
            return file.versions()[-1]
        case "synced" | "names":
            return file.synced
        case "zeros":
            return file.zeroed()
        case "torn":
            return file.torn()
        case "mixed":
            return file.mixed(chance)


def _changed(data: bytes, change: Written | Truncated) -> bytes:
    if isinstance(change, Truncated):
        return data[: change.size].ljust(change.size, b"\0")
    end = change.offset + len(change.data)
    return data[: change.offset].ljust(change.offset, b"\0") + change.data + data[end:]


def _always() -> bool:
    return True


def _never() -> bool:
    return False
