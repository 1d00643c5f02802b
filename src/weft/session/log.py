"""The log: `log.jsonl`, append-only, the truth of a session.

Writing: one decision is one write and one fdatasync; nothing is shown as done before that returns. A write that fails
half-way is taken back. Reading: decisions come out whole and in order. Bytes after the last whole decision are a
*torn tail*: a write that was never acknowledged. A line that can't be read *before* a whole decision is *damage*: it
is reported with its line number, kept where it is, and reading goes on.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from typing import Final

from weft.files import Folder, translated
from weft.protocol.errors import ExternalError
from weft.protocol.events import DurableEvent, Record
from weft.session.codec import DamagedLineError, Line, decode_many, encode

LOG: Final = "log.jsonl"
CHUNK: Final = 1 << 20
TOGETHER: Final = 256
"""Lines that are decoded together."""

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Damage:
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{LOG} line {self.line}: {self.reason}; the line is kept and passed over"


@dataclass(slots=True)
class LogReader:
    """Reads a log from the start, and again for what came since. Never blocks a writer, never sees half a decision."""

    folder: Folder
    seq: int = 0
    """The last sequence number read."""
    end: int = 0
    """The offset after the last whole decision."""
    damage: list[Damage] = field(default_factory=list)
    torn: bytes = b""
    """What stood after the last whole decision when the end was reached."""
    _line: int = 0
    _pending: list[Line] = field(default_factory=list)
    _suspects: list[Damage] = field(default_factory=list)

    def read(self) -> Iterator[Record]:
        """Every record after the last one read."""
        try:
            fd = self.folder.open_fd(LOG, os.O_RDONLY)
        except FileNotFoundError:
            return
        line_at_end = self._line
        self._pending, self._suspects, offset = [], [], self.end
        try:
            for raw, found in chain.from_iterable(_decoded(fd, self.end)):
                offset += len(raw)
                self._line += 1
                # Most lines are a whole decision and simply the next one.
                if (
                    type(found) is Line
                    and found[2] == 1
                    and found[0][0] == self.seq + 1
                    and not self._pending
                    and not self._suspects
                    and raw[-1] == 10
                ):
                    self.seq += 1
                    self.end, line_at_end = offset, self._line
                    yield found[0]
                    continue
                whole = self._take(raw, found)
                if whole:
                    # With a decision open behind the whole one, only what precedes its first line counts as read.
                    opened = bool(self._pending)
                    self.end, line_at_end = offset - len(raw) * opened, self._line - opened
                    self.damage += self._suspects
                    self._suspects = []
                    for line in whole:
                        if self._is_next(line.record):
                            yield line.record
            self.torn = os.pread(fd, os.fstat(fd).st_size - self.end, self.end)
        except OSError as error:
            raise translated(error, f"can't read {self.folder.path / LOG}") from error
        finally:
            os.close(fd)
            self._line = line_at_end

    def _take(self, raw: bytes, line: Line | DamagedLineError) -> list[Line]:
        """Add one line; the lines of a decision once it is whole."""
        if not raw.endswith(b"\n"):
            self._suspects.append(Damage(self._line, "the line has no end"))
            return []
        if isinstance(line, DamagedLineError):
            self._suspects.append(Damage(self._line, str(line)))
            return []
        if line.parts == 1 and not self._pending:
            return [line]
        if line.part == 1 and self._pending:
            # A new decision begins while one is open: the open one lost its end. Its facts still stand.
            self._suspects.append(Damage(self._line - 1, "the end of this decision is missing"))
            lost, self._pending = self._pending, []
            if line.parts == 1:
                return [*lost, line]
            self._pending = [line]
            return lost
        self._pending.append(line)
        if line.part < line.parts or len(self._pending) < line.parts:
            return []
        whole, self._pending = self._pending, []
        return whole

    def _is_next(self, record: Record) -> bool:
        """Whether a record counts; one out of order is reported, and one that was read before does not."""
        if record.seq != self.seq + 1:
            self.damage.append(Damage(self._line, f"expected seq {self.seq + 1}, found {record.seq}"))
        if record.seq <= self.seq:
            return False
        self.seq = record.seq
        return True


def _decoded(fd: int, start: int) -> Iterator[Iterable[tuple[bytes, Line | DamagedLineError]]]:
    """Raw lines with what they say, some at a time: whoever reads only the first pays for a few."""
    lines = _lines(fd, start)
    size = 1
    while batch := list(islice(lines, size)):
        yield zip(batch, decode_many(batch), strict=True)
        size = min(TOGETHER, size * 4)


def _lines(fd: int, start: int) -> Iterator[bytes]:
    os.lseek(fd, start, os.SEEK_SET)
    rest = b""
    while chunk := os.read(fd, CHUNK):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest


class LogWriter:
    """Appends decisions. There is one per session, behind its lock."""

    def __init__(self, folder: Folder, now: Now, *, seq: int, end: int) -> None:
        self.folder = folder
        self.seq = seq
        self._now = now
        self._end = end
        self._broken = False
        self._fd = folder.open_fd(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            if os.fstat(self._fd).st_size > end:
                folder.disk.truncate(self._fd, end)
            if end:
                # Whoever wrote the last decision may have died before its sync. What is read from here on is acted
                # upon, so it must not be taken back by a power cut.
                folder.disk.fdatasync(self._fd)
        except OSError as error:
            self.close()
            raise translated(error, f"can't make the end of {folder.path / LOG} durable") from error

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def append(self, events: Sequence[DurableEvent]) -> list[Record]:
        """One decision: all of it durable when this returns, none of it in the log when it raises."""
        if self._broken:
            raise ExternalError(
                f"{self.folder.path / LOG} could not be written before; this process writes no more to it",
                hint="put the disk right and run the same command again",
            )
        at = timestamp(self._now())
        records = [Record(self.seq + i, at, event) for i, event in enumerate(events, 1)]
        parts = len(records)
        data = b"".join(encode(record, i, parts) for i, record in enumerate(records, 1))
        try:
            self.folder.disk.write(self._fd, data)
            self.folder.disk.fdatasync(self._fd)
        except OSError as error:
            self._take_back()
            raise translated(error, f"can't write {self.folder.path / LOG}") from error
        self._end += len(data)
        self.seq += parts
        return records

    def _take_back(self) -> None:
        # After a failed sync the kernel may have dropped the pages: what is on the disk is known again only after
        # the log is read from the start, so this writer stops for good.
        self._broken = True
        try:
            self.folder.disk.truncate(self._fd, self._end)
        except OSError:
            return  # the torn tail is dropped on the next open instead


@contextmanager
def collector_paused() -> Iterator[None]:
    """For reading a long log: it makes millions of values and no cycles, and the collector would look at them all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
