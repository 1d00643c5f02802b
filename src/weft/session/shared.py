"""The shared log: the log leads, files follow, one step up.

In a shared workspace a decision is durable when the shared log has committed it, and a session's folder is a *working
copy*: its `log.jsonl` has the same bytes, its files are made from the log and from what is kept by hash. It can be made
anywhere at any time, and thrown away. `SharedLog` is what a store has to offer (`postgres.py` is one), `SharedWriter`
the one writer of a session on it, and `bring_up_to_date` makes the copy.

A writer holds a session by a lease and an epoch. The lease only says when others may take its place; that it can't
write once they have is the epoch's work: every append names it, and one with an old epoch is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Final, Literal, NamedTuple, Protocol

from weft.files import TEMPORARY, Folder, translated
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.events import ArtifactAccepted, DurableEvent, Outcome, RunEnded, RunStarted, SessionCreated
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.session.lock import LOCK, held_by
from weft.session.log import LOG, LogFile, LogHead, LogReader
from weft.session.recovery import aside_name, kept_copy
from weft.session.snapshot import SNAPSHOT

COPY: Final = ".copy"
"""Up to which event the working copy is whole; its handle is the lock of whoever brings it up to date."""
_TAIL: Final = 1 << 16
_OWN: Final = (LOG, COPY, LOCK, SNAPSHOT)
"""What belongs to a folder and not to its session."""


class LogMark(NamedTuple):
    """Of a log, without reading it: whoever has this one knows all it says."""

    size: int
    mtime: int


class SharedLine(NamedTuple):
    seq: int
    end: int
    """The offset behind it in the log."""
    line: bytes


class KeptFile(NamedTuple):
    """A file of a session that is kept by hash: an input, a large result, what was set aside."""

    name: str
    hash: str


class RunMark(NamedTuple):
    """What a decision says of the session's run, for lists and queues that must not read every log."""

    pipeline: str | None = None
    run: Literal["running"] | Outcome | None = None
    """How the last one stands, when the decision says something of it."""


class FencedError(ExternalError):
    """The session went on elsewhere: nothing of this writer's is taken any more."""

    def __init__(self, session: str, epoch: int, by: str) -> None:
        super().__init__(
            f"session {session} went on elsewhere{f' ({by})' if by else ''} while this process was away "
            f"(its epoch {epoch} has ended); it writes no more to it",
            hint="nothing is lost: what this process had not recorded is made where the session goes on",
        )
        self.session = session


class SharedLog(Protocol):
    """What several machines share. Each method waits while the store is away, and raises ExternalError when it stays
    away too long."""

    def marks(self) -> dict[str, LogMark]:
        """Every session that is not in the trash."""

    def mark(self, session: str) -> LogMark | None: ...

    def lines(self, session: str, first: int) -> Iterator[SharedLine]:
        """The lines of the log from an event on."""

    def logs(self, marks: Mapping[str, LogMark]) -> Iterator[tuple[str, Iterable[bytes]]]:
        """All lines of many logs, a session after the other; the lines of one are asked for before the next."""

    def files(self, session: str) -> list[KeptFile]:
        """All that was ever kept, the last of a name last."""

    def take(self, session: str) -> int:
        """Become its one writer; the epoch. SessionLockedError as long as another's lease holds."""

    def let_go(self, session: str, epoch: int) -> None: ...

    def holder(self, session: str) -> str | None:
        """Who writes to it now."""

    def append(
        self,
        session: str,
        before: LogHead,
        after: LogHead,
        lines: Sequence[bytes],
        files: Sequence[KeptFile],
        mark: RunMark,
    ) -> None:
        """One decision in one transaction. FencedError unless the epoch is the last and nothing came since."""

    def take_in(
        self, session: str, head: LogHead, lines: Sequence[bytes], files: Sequence[KeptFile], mark: RunMark
    ) -> None:
        """A whole log that was written elsewhere. UserError when there is one of that name."""

    def put(self, digest: str, data: bytes) -> None:
        """Keep something under its hash."""

    def get(self, digest: str) -> bytes:
        """ExternalError when it is lost."""

    def trash(self, session: str, *, out: bool = False) -> None:
        """Take it out of every list, or back `out` of the trash."""


class SharedWriter:
    """A `LogPlace`: durable in the shared log first, then in the working copy."""

    def __init__(self, shared: SharedLog, session: str, epoch: int) -> None:
        self._shared = shared
        self._session = session
        self._epoch = epoch
        self._file: LogFile | None = None
        self._files: dict[str, str] = {}
        """What the next decision brings along."""

    @classmethod
    def take(cls, shared: SharedLog, folder: Folder) -> SharedWriter:
        """Become the writer of a session, with its copy up to date. Only behind the lock of its folder."""
        session = folder.path.name
        writer = cls(shared, session, shared.take(session))
        try:
            with folder.locked(COPY) as copy:
                _follow(shared, session, folder, copy)
        except BaseException:
            writer.close()
            raise
        return writer

    def at(self, folder: Folder, head: LogHead) -> SharedWriter:
        self._file = LogFile(folder, head, sync=False)
        return self

    @property
    def epoch(self) -> int:
        return self._epoch

    def keep(self, name: str, data: bytes) -> None:
        digest = hash_bytes(data)
        self._shared.put(digest, data)
        self._files[name] = digest

    def append(self, before: LogHead, after: LogHead, lines: Sequence[bytes], events: Sequence[DurableEvent]) -> None:
        assert self._file is not None
        files = [KeptFile(name, digest) for name, digest in self._files.items()]
        self._shared.append(self._session, before, after, lines, files, run_mark(events))
        self._files.clear()
        self._file.append(before, after, lines, events)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._epoch:
            self._shared.let_go(self._session, self._epoch)
            self._epoch = 0


def run_mark(events: Sequence[DurableEvent]) -> RunMark:
    found = RunMark()
    for event in events:
        match event:
            case SessionCreated():
                found = found._replace(pipeline=event.pipeline)
            case RunStarted():
                found = RunMark(event.pipeline, "running")
            case RunEnded():
                found = found._replace(run=event.outcome)
    return found


# -- a log that came into being elsewhere


def push_session(shared: SharedLog, session: str, folder: Folder) -> int:
    """Everything of a session that is files, into the shared log, which has none of that name; the number of its
    events. UserError when its log is not whole: then nothing is taken."""
    reader = LogReader(folder)
    events = [record.event for record in reader.read()]
    if reader.damage or reader.torn:
        raise UserError(f"the log of session {session} is not whole", hint=f"weft sessions verify {session}")
    if not events:
        return 0
    files = []
    for name in files_below(folder):
        if name not in _OWN:
            data = folder.read(name)
            files.append(KeptFile(name, hash_bytes(data)))
            shared.put(files[-1].hash, data)
    lines = folder.read(LOG, limit=1 << 40).splitlines(keepends=True)
    shared.take_in(session, reader.head, lines, files, run_mark(events))
    return len(events)


def files_below(folder: Folder, inner: str = "") -> Iterator[str]:
    """Every regular file, by its name from here; what is being written is passed over."""
    with folder.folder(inner) if inner else nullcontext(folder) as here:
        names = [(name, here.is_folder(name), here.is_file(name)) for name in here.names()]
    for name, is_folder, is_file in names:
        whole = f"{inner}/{name}" if inner else name
        if is_folder:
            yield from files_below(folder, whole)
        elif is_file and not TEMPORARY.fullmatch(name):
            yield whole


# -- the working copy


def bring_up_to_date(shared: SharedLog, session: str, folder: Folder) -> None:
    """The folder follows the log, unless a process of this machine writes to it: then it does."""
    if held_by(folder) is None:
        with folder.locked(COPY) as copy:
            if held_by(folder) is None:
                _follow(shared, session, folder, copy)


def _follow(shared: SharedLog, session: str, folder: Folder, copy: int) -> None:
    mark = shared.mark(session)
    if mark is None or not mark.size:
        return
    size = _size(folder)
    if size == mark.size and os.pread(copy, 32, 0) == f"{size}\n".encode():
        return
    last, whole = _last_line(folder, size)
    rows = shared.lines(session, last[0] if last else 1)
    if last is not None:
        first = next(rows, None)
        if first is None or (first.line, first.end) != (last[1], whole):
            # Not a piece of the log: of another of this name, or of a store that was set back. Nothing is thrown away.
            own = folder.read(LOG)
            folder.put(aside_name(LOG, own), own)
            whole, rows = 0, shared.lines(session, 1)
    _write_lines(folder, whole, rows)
    _make_files(shared, session, folder)
    try:
        os.ftruncate(copy, 0)
        os.pwrite(copy, f"{_size(folder)}\n".encode(), 0)
    except OSError as error:
        raise translated(error, f"can't write {folder.path / COPY}") from error


def _size(folder: Folder) -> int:
    try:
        return os.stat(LOG, dir_fd=folder.fd, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _last_line(folder: Folder, size: int) -> tuple[tuple[int, bytes] | None, int]:
    """The last whole line of the copy with its number, and where it ends."""
    if not size:
        return None, 0
    fd = folder.open_fd(LOG, os.O_RDONLY)
    try:
        reach = _TAIL
        while True:
            start = max(0, size - reach)
            data = os.pread(fd, size - start, start)
            end = data.rfind(b"\n")
            begin = data.rfind(b"\n", 0, max(end, 0))
            if (end >= 0 and begin >= 0) or not start:
                break
            reach *= 8
    finally:
        os.close(fd)
    if end < 0:
        return None, 0
    line = data[begin + 1 : end + 1]
    try:
        seq = json_value(line)["seq"]
    except (ValueError, KeyError, TypeError):
        seq = 0
    return (max(int(seq), 1), line), start + end + 1


def _write_lines(folder: Folder, end: int, rows: Iterator[SharedLine]) -> None:
    fd = folder.open_fd(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        folder.disk.truncate(fd, end)
        for row in rows:
            folder.disk.write(fd, row.line)
    except OSError as error:
        raise translated(error, f"can't write {folder.path / LOG}") from error
    finally:
        os.close(fd)


def _make_files(shared: SharedLog, session: str, folder: Folder) -> None:
    """What is missing or of an earlier version; whatever else lies there a person has changed."""
    kept: dict[str, list[str]] = {}
    for file in shared.files(session):
        kept.setdefault(file.name, []).append(file.hash)
    for name, hashes in kept.items():
        if _is_due(folder, name, hashes):
            folder.put(name, shared.get(hashes[-1]), sync=False)
    versions: dict[str, list[ArtifactAccepted]] = {}
    for record in LogReader(folder).read():
        if isinstance(record.event, ArtifactAccepted):
            versions.setdefault(record.event.artifact, []).append(record.event)
    for name, accepted in versions.items():
        if _is_due(folder, name, [event.hash for event in accepted]):
            data = kept_copy(folder, accepted[-1])
            if data is not None:
                folder.put(name, data, sync=False)


def _is_due(folder: Folder, name: str, hashes: Sequence[str]) -> bool:
    current = folder.read_or_none(name)
    return current is None or ((own := hash_bytes(current)) != hashes[-1] and own in hashes)
