"""Commands of a session that go on while it does other things: started, read on, stopped; none outlives the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from weft.protocol.errors import UserError
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

    def reserve(self, command: str, *, outside: bool) -> BackgroundProcess:
        """A name for one that is about to begin. UserError when there are too many."""
        if sum(not one.ended for one in self._each.values()) >= MOST:
            raise UserError(f"{MOST} processes go on already, which is the most", hint="stop one of them first")
        self.count += 1
        return BackgroundProcess(f"process-{self.count}", command, outside)

    def begun(self, one: BackgroundProcess, process: Process, ended: Callable[[], object]) -> None:
        """`ended` is called when nothing of it is left."""
        one.process = process
        self._each[one.name] = one
        self._note(one.name, one.command, "")
        task = asyncio.get_running_loop().create_task(self._follow(one, process, ended), name=one.name)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _follow(self, one: BackgroundProcess, process: Process, ended: Callable[[], object]) -> None:
        try:
            one.ended = _words(await process.finished())
        except Exception as error:  # noqa: BLE001  it has an end, whatever its process did
            one.ended = f"it could not be followed: {error}"
        finally:
            ended()
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
