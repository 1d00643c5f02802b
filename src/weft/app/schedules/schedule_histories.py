"""Where the history of schedules is kept: a file each beside them, or in the store of a shared workspace, where all
machines see what was decided, begun and paused, and one of them watches."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from weft.files import Folder
from weft.workspace.schedule import FOLDER

if TYPE_CHECKING:
    from weft.session.postgres import PostgresLog

HISTORY: Final = f"{FOLDER}/history"
LONGEST_HISTORY: Final = 512 * 1024
"""Bytes of a history, above which only what still matters and the last lines are kept."""

More = Callable[[bytes], bytes]
"""From a history as it is: the lines that are to follow."""
Shorten = Callable[[bytes], bytes]


class Histories(Protocol):
    def marks(self) -> dict[str, object]:
        """Of every history: another one when it was changed."""

    def mark(self, name: str) -> object:
        """Of one; None when there is none."""

    def read(self, name: str) -> bytes:
        """Its lines; nothing when there is none."""

    def append(self, name: str, more: More, shorten: Shorten) -> None:
        """Durable when this returns; nobody else writes in between."""

    def watching(self) -> Any:
        """A block with a function that says whether this process has the right to watch; it lasts until the end."""


class FileHistories:
    def __init__(self, workspace: Folder) -> None:
        self._workspace = workspace

    def marks(self) -> dict[str, object]:
        found: dict[str, object] = {}
        try:
            with self._workspace.folder(HISTORY) as folder:
                for name in folder.names():
                    if name.endswith(".jsonl"):
                        status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
                        found[name.removesuffix(".jsonl")] = (status.st_ino, status.st_size, status.st_mtime_ns)
        except FileNotFoundError:
            pass
        return found

    def mark(self, name: str) -> object:
        try:
            status = os.stat(self._workspace.path / HISTORY / f"{name}.jsonl", follow_symlinks=False)
        except FileNotFoundError:
            return None
        return (status.st_ino, status.st_size, status.st_mtime_ns)

    def read(self, name: str) -> bytes:
        try:
            with self._workspace.folder(HISTORY) as folder:
                return folder.read_or_none(f"{name}.jsonl") or b""
        except FileNotFoundError:
            return b""

    def append(self, name: str, more: More, shorten: Shorten) -> None:
        file = f"{name}.jsonl"
        with self._workspace.folder(HISTORY, create=True) as folder, folder.locked(".lock"):
            fd = folder.open_fd(file, os.O_RDWR | os.O_CREAT)
            try:
                size = os.fstat(fd).st_size
                before = os.pread(fd, size, 0)
                whole = before.rfind(b"\n") + 1
                data = more(before[:whole])
                if whole != size:  # a line that was cut off: it was never acted on
                    folder.disk.truncate(fd, whole)
                if whole + len(data) <= LONGEST_HISTORY:
                    os.lseek(fd, 0, os.SEEK_END)
                    folder.disk.write(fd, data)
                    folder.disk.fsync(fd)
                    if not size:
                        folder.sync()
                    return
            finally:
                os.close(fd)
            folder.replace(file, shorten(before[:whole]) + data)

    @contextmanager
    def watching(self) -> Iterator[Callable[[], bool]]:
        with self._workspace.folder(HISTORY, create=True) as folder:
            fd = folder.open_fd(".watch", os.O_RDWR | os.O_CREAT)

        def hold() -> bool:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        try:
            yield hold
        finally:
            os.close(fd)


_TABLES: Final = """
CREATE TABLE IF NOT EXISTS weft.schedule_lines (
    number bigserial PRIMARY KEY, schedule text NOT NULL, lines bytea NOT NULL);
CREATE INDEX IF NOT EXISTS schedule_lines_schedule ON weft.schedule_lines (schedule, number);
"""


class SharedHistories:
    def __init__(self, shared: PostgresLog) -> None:
        self._shared = shared

    def marks(self) -> dict[str, object]:
        return dict(self._rows("SELECT schedule, max(number) FROM weft.schedule_lines GROUP BY schedule"))

    def mark(self, name: str) -> object:
        return self._rows("SELECT max(number) FROM weft.schedule_lines WHERE schedule = %s", (name,))[0][0]

    def read(self, name: str) -> bytes:
        rows = self._rows("SELECT lines FROM weft.schedule_lines WHERE schedule = %s ORDER BY number", (name,))
        return b"".join(bytes(lines) for (lines,) in rows)

    def append(self, name: str, more: More, shorten: Shorten) -> None:
        self._shared.have("weft.schedule_lines", lambda: _TABLES)

        def made(connection: Any) -> None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('weft schedules'))")
                rows = connection.execute(
                    "SELECT lines FROM weft.schedule_lines WHERE schedule = %s ORDER BY number", (name,)
                ).fetchall()
                before = b"".join(bytes(lines) for (lines,) in rows)
                data = more(before)
                if len(before) + len(data) > LONGEST_HISTORY:
                    connection.execute("DELETE FROM weft.schedule_lines WHERE schedule = %s", (name,))
                    data = shorten(before) + data
                if data:
                    connection.execute(
                        "INSERT INTO weft.schedule_lines (schedule, lines) VALUES (%s, %s)", (name, data)
                    )

        self._shared.work(made, f"writing the history of the schedule {name}")

    @contextmanager
    def watching(self) -> Iterator[Callable[[], bool]]:
        """One that was stopped for longer than its lease may watch beside its successor for a while: what both decide
        has the same key, and is begun once."""
        from weft.session.postgres_uses import PostgresUses

        uses, slot = PostgresUses(self._shared), ""

        def hold() -> bool:
            nonlocal slot
            slot = slot or uses.take_slot("schedules: who watches", 1)
            return bool(slot)

        try:
            yield hold
        finally:
            if slot:
                uses.let_slot_go(slot)

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        self._shared.have("weft.schedule_lines", lambda: _TABLES)
        return self._shared.rows(query, values)
