"""The log: `log.jsonl`, append-only, the truth of a session.

Writing: a decision is durable before anything is shown as done. Where that happens is a `LogPlace`: the file itself
(`LogFile`: one write and one fdatasync, and a write that fails half-way is taken back), or a log that several machines
share, of which the file is a copy (`shared.py`). Each decision names the hash of the one before it: the chain. Reading:
decisions come out whole and in order. Bytes after the last whole decision are a *torn tail*: a write that was never
acknowledged. A line that can't be read *before* a whole decision is *damage*: it is reported with its line number, kept
where it is, and reading goes on. Where a decision is not what the next one names, the log has a *cut*: what is lost
there, and what to do about it, is `cuts.py`.
"""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain, islice
from typing import Final, NamedTuple, Protocol

from weft.files import Folder, translated
from weft.protocol.envelope import MACHINE, Actor, Envelope, Parent
from weft.protocol.errors import ExternalError
from weft.protocol.events import LOG_VERSION, DurableEvent, Record, is_durable
from weft.protocol.hashes import HASH_SIZE, hash_bytes
from weft.protocol.values import dataclass
from weft.session.codec import DamagedLineError, LogLine, decode_many, encode
from weft.session.timestamps import timestamp

LOG: Final = "log.jsonl"
CHUNK: Final = 1 << 20
TOGETHER: Final = 256
"""Lines that are decoded together."""

Now = Callable[[], datetime]


_UNKNOWN: Final = "-"
"""No hash of anything."""
PASSED_OVER: Final = "; the line is kept and passed over"


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in the log that is not as it was written."""

    line: int
    reason: str
    seq: int = 0
    """The first event behind it."""
    cut: bool = False
    """The chain does not hold here, so that something is lost. Without a chain nobody can tell."""

    def __str__(self) -> str:
        return f"{LOG} line {self.line}: {self.reason}"


class LogHead(NamedTuple):
    """Where a log ends, and all that its next decision has to know."""

    seq: int = 0
    """Of the last event."""
    end: int = 0
    """The offset after the last whole decision."""
    hash: str = ""
    """What the next decision names as the one before: the hash of all bytes from the start of the last decision that
    is part of the chain. As a rule these are that decision's own."""
    epoch: int = 0
    """Of the last writer; 0 before there was a chain."""
    line: int = 0
    """The number of the last line."""
    last: int = 0
    """The bytes of the last decision; 0 when it is not part of a chain."""


class LogReader:
    """Reads a log from the start, and again for what came since. Never blocks a writer, never sees half a decision."""

    def __init__(self, folder: Folder | None, head: LogHead | None = None) -> None:
        """`head`: where to begin, with a decision of the chain before it. `folder`: None for whoever only gives
        lines to `take`."""
        head = head or LogHead()
        self.folder = folder
        self.seq = head.seq
        """The last sequence number read."""
        self.end = head.end
        """The offset after the last whole decision."""
        self.epoch = head.epoch
        self.damage: list[Damage] = []
        self.torn = b""
        """What stood after the last whole decision when the end was reached."""
        self._hash = head.hash
        self._chained = b""
        """The last decision that is part of the chain; when it was not read here, it is fetched if it is needed."""
        self._last = head.last
        self._since: hashlib._Hash | None = None
        """Of it and what follows it, when that is not part of the chain."""
        self._mangled = False
        """Whether the last decision has lost a part."""
        self._line = head.line
        self._tail: list[tuple[bytes, LogLine | DamagedLineError]] = []
        """The lines after the last whole decision."""

    @property
    def head(self) -> LogHead:
        return LogHead(self.seq, self.end, self._before, self.epoch, self._line, 0 if self._since else self._last)

    def read(self) -> Iterator[Record]:
        """Every record after the last one read."""
        if self.folder is None:
            return
        try:
            fd = self.folder.open_fd(LOG, os.O_RDONLY)
        except FileNotFoundError:
            return
        self._tail = []
        try:
            if self._last and not self._chained:
                self._chained = os.pread(fd, self._last, self.end - self._last)
            yield from self.take(_lines(fd, self.end))
            self.torn = os.pread(fd, os.fstat(fd).st_size - self.end, self.end)
        except OSError as error:
            raise translated(error, f"can't read {self.folder.path / LOG}") from error
        finally:
            os.close(fd)

    def take(self, lines: Iterable[bytes]) -> Iterator[Record]:
        """The records in the next lines of a log, wherever it is kept."""
        for raw, found in chain.from_iterable(_decoded(iter(lines))):
            # Most lines are a whole decision, and simply the next one of the chain.
            if type(found) is LogLine and found[2] == 1 and not self._tail and raw[-1] == 10:
                record, envelope = found[0], found[0][3]
                if record[0] == self.seq + 1 and (
                    not self.epoch if envelope is None else envelope[1] == self._hash and envelope[2] == self.epoch
                ):
                    self._link(envelope, raw)
                    self.seq += 1
                    self.end += len(raw)
                    self._line += 1
                    yield record
                    continue
            self._tail.append((raw, found))
            if raw[-1] == 10 and type(found) is LogLine:
                yield from self._whole_decisions(found)

    def _whole_decisions(self, last: LogLine) -> Iterator[Record]:
        """What the line at the end of the tail makes whole."""
        open_lines = [number for number, (_, line) in enumerate(self._tail) if isinstance(line, LogLine)]
        if last.part == 1 and len(open_lines) > 1:
            # A new decision begins while one is open: the open one lost its end. Its facts still stand.
            reason = "the end of this decision is missing"
            yield from self._taken(open_lines[0], len(self._tail) - 1, Damage(self._line + len(self._tail) - 1, reason))
            open_lines = [len(self._tail) - 1]
        if last.part == last.parts and len(open_lines) == last.parts:
            yield from self._taken(open_lines[0], len(self._tail))

    def _taken(self, start: int, stop: int, fault: Damage | None = None) -> Iterator[Record]:
        """The decision in these lines of the tail, which are read from here on with all before them."""
        suspects = [fault] if fault else []
        for number, (_, line) in enumerate(self._tail[:stop], self._line + 1):
            if isinstance(line, DamagedLineError):
                suspects.append(Damage(number, f"{line}{PASSED_OVER}"))
        before, own = (b"".join(raw for raw, _ in part) for part in (self._tail[:start], self._tail[start:stop]))
        records = [line.record for _, line in self._tail[start:stop] if isinstance(line, LogLine)]
        number, self._tail = self._line + start + 1, self._tail[stop:]
        self._line += stop
        self.end += len(before) + len(own)
        if before:
            self._link(None, before)
        self._judge(records[0], number, suspects, whole=not fault and len(records) == stop - start)
        envelope = records[0].envelope
        if envelope is not None:
            envelope = envelope._replace(hash=hash_bytes(own))
        self._link(envelope, own)
        for record in records:
            if record.seq > self.seq:  # what was read before does not count again
                self.seq = record.seq
                yield record._replace(envelope=envelope)

    def _link(self, envelope: Envelope | None, raw: bytes) -> None:
        """These bytes are read: a decision of the chain, or what is no part of it."""
        if envelope is not None:
            self._hash, self._chained, self._since, self._last = envelope[0], raw, None, len(raw)
            self.epoch = max(self.epoch, envelope[2])
            return
        if self._since is None:
            self._since = hashlib.sha256(self._chained)
            self._hash = _UNKNOWN
        self._since.update(raw)

    @property
    def _before(self) -> str:
        return self._since.hexdigest()[:HASH_SIZE] if self._since else self._hash

    def _judge(self, first: Record, number: int, suspects: list[Damage], *, whole: bool) -> None:
        """Say what is wrong before a decision, in it, or with its place."""
        why, envelope = "", first.envelope
        mangled, self._mangled = self._mangled, not whole and envelope is not None
        if envelope is None:
            why = "it names no decision before it, as all others do" if self.epoch else ""
        elif not whole:
            why = "a part of it is missing"
        elif mangled:
            pass  # it can't follow from what is not what it was; that was said
        elif envelope.prev != self._before:
            why = "it does not follow from what stands before it: something was changed, moved or removed there"
        elif envelope.epoch < self.epoch:
            why = f"its writer had been followed by another (epoch {envelope.epoch} after {self.epoch})"
        if first.seq != self.seq + 1:
            suspects.append(Damage(number, f"expected seq {self.seq + 1}, found {first.seq}"))
        elif why and not suspects:
            suspects.append(Damage(number, why))
        self.damage += [Damage(one.line, one.reason, first.seq, bool(why)) for one in suspects]


def _decoded(lines: Iterator[bytes]) -> Iterator[Iterable[tuple[bytes, LogLine | DamagedLineError]]]:
    """Raw lines with what they say, some at a time: whoever reads only the first pays for a few."""
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


_ENTERS: set[type] = set()
"""The classes that `is_durable` has let in."""


def _admit(event: DurableEvent) -> None:
    if not is_durable(event):
        raise TypeError(f"{event.type} is a live event: it is shown, and never in the log")
    _ENTERS.add(type(event))


class LogPlace(Protocol):
    """Where the decisions of one session become durable, for its one writer."""

    @property
    def epoch(self) -> int:
        """Of this writer, where others can take its place; 0: the next one after the log's."""

    def append(self, before: LogHead, after: LogHead, lines: Sequence[bytes], events: Sequence[DurableEvent]) -> None:
        """One decision, durable when this returns. When it raises, nothing more is written through it."""

    def keep(self, name: str, data: bytes) -> None:
        """A file that the next decision names is as durable as that will be."""

    def close(self) -> None: ...


class LogFile:
    """The file is the log."""

    epoch: Final = 0

    def __init__(self, folder: Folder, head: LogHead, *, sync: bool = True) -> None:
        """`sync`: else it is only a copy, which can be made again."""
        self.folder = folder
        self._sync = sync
        self._fd = folder.open_fd(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            if os.fstat(self._fd).st_size > head.end:
                folder.disk.truncate(self._fd, head.end)
            if head.end and sync:
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

    def append(self, before: LogHead, after: LogHead, lines: Sequence[bytes], events: Sequence[DurableEvent]) -> None:
        try:
            self.folder.disk.write(self._fd, b"".join(lines))
            if self._sync:
                self.folder.disk.fdatasync(self._fd)
        except OSError as error:
            # After a failed sync the kernel may have dropped the pages: what is on the disk is known again only after
            # the log is read from the start, so this writer stops for good.
            try:
                self.folder.disk.truncate(self._fd, before.end)
            except OSError:
                pass  # the torn tail is dropped on the next open instead
            raise translated(error, f"can't write {self.folder.path / LOG}") from error

    def keep(self, name: str, data: bytes) -> None:
        """It lies in the session's folder, where it was made durable."""


class LogWriter:
    """Appends decisions. There is one per session, behind its lock."""

    def __init__(self, folder: Folder, now: Now, head: LogHead, place: LogPlace | None = None) -> None:
        self.folder = folder
        self._place = place or LogFile(folder, head)
        self.head = head._replace(epoch=self._place.epoch or head.epoch + 1)
        self._now = now
        self._announced = False
        self._broken = False

    def close(self) -> None:
        self._place.close()

    def keep(self, name: str, data: bytes) -> None:
        self._place.keep(name, data)

    def append(
        self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "", parent: Parent | None = None
    ) -> list[Record]:
        """One decision: all of it durable when this returns. When it raises, this process writes no more. Nothing
        leaves the log as it is: the next decision could not name the hash of a line that is not there."""
        if not events:
            return []
        if self._broken:
            raise ExternalError(
                f"{self.folder.path / LOG} could not be written before; this process writes no more to it",
                hint="put the disk right and run the same command again",
            )
        for event in events:
            if type(event) not in _ENTERS:
                _admit(event)
        seq, end, prev, epoch, line, _ = self.head
        at, parts = timestamp(self._now()), len(events)
        envelope = Envelope("", prev, epoch, by, key, parent)
        lines = [
            encode(Record(seq + i, at, event, envelope), i, parts, None if self._announced or i > 1 else LOG_VERSION)
            for i, event in enumerate(events, 1)
        ]
        data = b"".join(lines)
        envelope = Envelope(hash_bytes(data), prev, epoch, by, key, parent)
        head = LogHead(seq + parts, end + len(data), envelope.hash, epoch, line + parts, len(data))
        self._broken = True  # until it is known to be written
        self._place.append(self.head, head, lines, events)
        self._broken, self._announced, self.head = False, True, head
        return [Record(seq + i, at, event, envelope) for i, event in enumerate(events, 1)]


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
