"""Commands of a session that go on while it does other things: started, read on, stopped; none outlives the session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.tools.processes import Finished, Process

MOST: Final = 8
"""At a time."""
KEPT: Final = 256 * 1024
"""Bytes of output that wait to be read; of more, the last."""
OUTPUT_LIMIT: Final = 16 * 2**20
"""Bytes of output after which one is ended."""
NoteProcess = Callable[[str, str, str], None]
"""Takes its name, the command when it begins, and how it ended."""


@dataclass(slots=True)
class BackgroundProcess:
    name: str
    command: str
    outside: bool
    """What it says may come from outside."""
    process: Process | None = None
    output: bytes = b""
    """What nobody has read yet."""
    lost: int = 0
    """Bytes before it that nobody will."""
    ended: str = ""
    """How it came to its end, in words; "" while it runs."""
    made: Callable[[], str] = str
    """Puts away what it has made and may not, and tells what that was."""

    def said(self, piece: bytes) -> None:
        self.output += piece
        if len(self.output) > KEPT:
            self.lost += len(self.output) - KEPT
            self.output = self.output[-KEPT:]

    def read(self) -> str:
        """What it said since this was last asked."""
        told, lost, self.output, self.lost = self.output, self.lost, b"", 0
        head = f"[{lost:,} bytes before this were not read]\n" if lost else ""
        return head + told.decode("utf-8", "replace")


class Processes:
    def __init__(self, note: NoteProcess) -> None:
        self._note = note
        self.count = 0
        """How many the session has had: their names go on from there."""
        self._each: dict[str, BackgroundProcess] = {}
        self._following: set[asyncio.Task[None]] = set()
        self._allowed: dict[str, str] = {}

    def allow(self, files: Mapping[str, str]) -> None:
        """What a person allowed was put there while these go on, by hash: none of them made it, as long as it is so."""
        if self.running():
            self._allowed |= files

    def is_allowed(self, files: Mapping[str, str]) -> bool:
        return bool(files) and all(digest and self._allowed.get(name) == digest for name, digest in files.items())

    def allowed(self, working: str, names: Iterable[str]) -> list[str]:
        """Those of these names that are as a person allowed them."""
        some = [name for name in names if any(f"{file}/".startswith(f"{name}/") for file in self._allowed)]
        return [name for name in some if self.is_allowed(files_of(working, name))]

    def reserve(self, command: str, *, outside: bool) -> BackgroundProcess:
        """A name for one that is about to begin. UserError when there are too many."""
        if sum(not one.ended for one in self._each.values()) >= MOST:
            raise UserError(f"{MOST} processes go on already, which is the most", hint="stop one of them first")
        self.count += 1
        return BackgroundProcess(f"process-{self.count}", command, outside)

    def put_away(self) -> str:
        """What those that go on have made and may not; for before a command that is not held to the boundary, which
        would obey it."""
        return "; ".join(filter(None, [one.made() for one in self.running()]))

    def begun(self, one: BackgroundProcess, process: Process, ended: Callable[[], str]) -> None:
        """`ended` is called when nothing of it is left, and may have something to say."""
        one.process = process
        self._each[one.name] = one
        self._note(one.name, one.command, "")
        task = asyncio.get_running_loop().create_task(self._follow(one, process, ended), name=one.name)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _follow(self, one: BackgroundProcess, process: Process, ended: Callable[[], str]) -> None:
        try:
            one.ended = _words(await process.finished())
        except Exception as error:  # noqa: BLE001  it has an end, whatever its process did
            one.ended = f"it could not be followed: {error}"
        if told := ended():
            one.ended += f"; {told}"
        self._note(one.name, "", one.ended)

    def get(self, name: str) -> BackgroundProcess:
        if name not in self._each:
            known = ", ".join(self._each) or "none was started"
            raise UserError(f"there is no process {name[:80]!r}", hint=f"there are: {known}")
        return self._each[name]

    def stop(self, name: str) -> BackgroundProcess:
        one = self.get(name)
        if one.process is not None and not one.ended:
            one.process.stop()
        return one

    async def stopped(self, name: str) -> BackgroundProcess:
        one = self.stop(name)
        if one.process is not None:
            await one.process.finished()
        return one

    def running(self) -> list[BackgroundProcess]:
        return [one for one in self._each.values() if not one.ended]

    async def close(self) -> None:
        """All are ended."""
        for one in self.running():
            self.stop(one.name)
        if self._following:
            await asyncio.wait({*self._following})


def files_of(working: str, name: str) -> dict[str, str]:
    """The hash of every file of that name, or below it; "" for what is no file."""
    top = Path(working, name)
    found = [top] if top.is_symlink() or not top.is_dir() else []
    for folder, folders, files in os.walk(top) if not found else ():
        places = (Path(folder, one) for one in (*files, *folders))
        found += [place for place in places if place.is_symlink() or not place.is_dir()]
    return {os.path.relpath(place, working): _hash(place) for place in found if os.path.lexists(place)}


def _hash(place: Path) -> str:
    try:
        return hash_bytes(place.read_bytes()) if place.is_file() and not place.is_symlink() else ""
    except OSError:
        return ""


def _words(finished: Finished) -> str:
    if finished.ended == "flooded":
        return f"ended after {OUTPUT_LIMIT:,} bytes of output"
    if finished.over:
        return f"ended: it took more {finished.over} than a command may"
    if finished.ended == "stopped":
        return "stopped"
    if finished.code is None or finished.code < 0:
        return "ended by a signal"
    return f"exit code {finished.code}"
