"""Plain code without an engine: what the disk itself allows.

`plain_same` is played from a tape. One Weft session is recorded through its `Disk`: every folder and file it makes,
every write with its size, every sync and rename, in their order, and where the step bodies run in between. The tape
is then played with bare system calls. So it makes the same durable writes as Weft by construction, whatever Weft does.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from benchmarks.work import STEPS, Body, Result, WeftEngine
from weft.files import Disk

Kind = Literal["mkdir", "create", "write", "fsync", "fdatasync", "rename"]
SYNCS: Final = ("fsync", "fdatasync")
RECORDED: Final = "recorded"
_fdatasync = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Call:
    """One system call that changes the disk. `path` is relative to the engine's folder; `{session}` stands in it."""

    kind: Kind
    path: str
    size: int = 0
    to: str = ""


Tape = tuple[tuple[Call, ...], ...]
"""The calls before the first step body, between the first and the second, and so on: one part more than steps."""


class TapingDisk(Disk):
    """Writes, and keeps in mind what it did. For one session at a time."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.parts: list[list[Call]] = [[]]
        self._root = root
        self._paths: dict[int, str] = {}
        """By inode: a file keeps it when it is renamed."""

    def begin_part(self) -> None:
        self.parts.append([])

    def write(self, fd: int, data: bytes) -> None:
        self._add(Call("write", self._path(fd), len(data)))
        super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._add(Call("fsync", self._path(fd)))
        super().fsync(fd)

    def fdatasync(self, fd: int) -> None:
        self._add(Call("fdatasync", self._path(fd)))
        super().fdatasync(fd)

    def create(self, name: str, flags: int, dir_fd: int) -> int:
        path = f"{self._path(dir_fd)}/{name}"
        self._add(Call("create", path))
        fd = super().create(name, flags, dir_fd)
        self._paths[os.fstat(fd).st_ino] = path
        return fd

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        folder = self._path(dir_fd)
        self._add(Call("rename", f"{folder}/{source}", to=f"{folder}/{target}"))
        super().replace(source, target, dir_fd)
        self._paths[os.stat(target, dir_fd=dir_fd).st_ino] = f"{folder}/{target}"

    def mkdir(self, name: str, dir_fd: int) -> None:
        path = f"{self._path(dir_fd)}/{name}"
        self._add(Call("mkdir", path))
        super().mkdir(name, dir_fd)
        self._paths[os.stat(name, dir_fd=dir_fd).st_ino] = path

    def _add(self, call: Call) -> None:
        self.parts[-1].append(call)

    def _path(self, fd: int) -> str:
        inode = os.fstat(fd).st_ino
        if inode not in self._paths:  # made before the recording: found again by looking
            self._paths |= {path.stat().st_ino: f"./{path.relative_to(self._root)}" for path in self._root.rglob("*")}
            self._paths[self._root.stat().st_ino] = "."
        return self._paths[inode]


async def record_tape(folder: Path, body: Body) -> Tape:
    """What a Weft session of five steps does to the disk. `folder` must be there and empty."""
    disk = TapingDisk(folder)

    async def step(session: str, number: int) -> Result:
        disk.begin_part()
        return await body(session, number)

    engine = WeftEngine(folder, step, disk)
    await engine.open()
    await engine.run("first")  # what is made once for all sessions
    disk.parts = [[]]
    await engine.run(RECORDED)
    await engine.close()
    return tuple(tuple(part) for part in disk.parts)


def counted(tape: Tape) -> Counter[str]:
    return Counter(call.kind for part in tape for call in part)


class PlainSame:
    """The writes of a Weft session without Weft: blocking on the loop, or each part of it in a thread."""

    def __init__(self, folder: Path, body: Body, *, threads: bool = False) -> None:
        self._folder = folder
        self._body = body
        self._threads = threads
        self._tape: Tape = ()
        self._tape_folder = folder / "tape"
        for made in (self._tape_folder, folder / "sessions"):
            made.mkdir()

    async def open(self) -> None:
        self._tape = await record_tape(self._tape_folder, self._body)

    async def close(self) -> None:
        """Nothing stays open."""

    async def run(self, session: str) -> list[Result]:
        results: list[Result] = []
        data = b"{}"
        files: dict[str, int] = {}
        try:
            for number, part in enumerate(self._tape):
                if number:
                    results.append(await self._body(session, number))
                    data = json.dumps(results[-1]).encode()
                if self._threads:
                    await asyncio.to_thread(self._play, part, session, data, files)
                else:
                    self._play(part, session, data, files)
        finally:
            for fd in files.values():
                os.close(fd)
        return results

    def _play(self, calls: Sequence[Call], session: str, data: bytes, files: dict[str, int]) -> None:
        for call in calls:
            path = f"{self._folder}/{call.path.replace(RECORDED, session)}"
            match call.kind:
                case "mkdir":
                    os.mkdir(path)
                case "create":
                    files[path] = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
                case "write":
                    os.write(files[path], (data + b" " * call.size)[: call.size - 1] + b"\n")
                case "fdatasync":
                    _fdatasync(files[path])
                case "fsync":
                    _sync(path)
                case "rename":
                    os.close(files.pop(path))
                    os.replace(path, f"{self._folder}/{call.to.replace(RECORDED, session)}")


def _sync(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class PlainAppend:
    """The least that can be resumed: one line a step, appended and synced."""

    def __init__(self, folder: Path, body: Body) -> None:
        self._folder = folder
        self._body = body

    async def open(self) -> None:
        """Nothing is kept open."""

    async def close(self) -> None:
        """Nothing is kept open."""

    async def run(self, session: str) -> list[Result]:
        results: list[Result] = []
        for number in range(1, STEPS + 1):
            results.append(await self._body(session, number))
            fd = os.open(self._folder / f"{session}.jsonl", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            try:
                os.write(fd, json.dumps(results[-1]).encode() + b"\n")
                _fdatasync(fd)
            finally:
                os.close(fd)
        return results
