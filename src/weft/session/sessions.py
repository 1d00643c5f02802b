"""All sessions of a workspace: find, list, read without locking, move to the trash.

Sessions live in `sessions/<id>`; folders that an older system kept in `contentItem/<id>` are found too and stay there.
In a shared workspace (`shared.py`) the shared log says which there are, and each folder is a working copy that is made
and brought up to date when it is asked for.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from weft.files import Folder
from weft.protocol import events as e
from weft.protocol.envelope import Actor, Parent
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.ids import SESSION_ID, check_session_id
from weft.protocol.values import dataclass
from weft.session.cuts import find_cuts
from weft.session.fork import fork
from weft.session.lock import SessionLockedError, WriterLock, held_by
from weft.session.log import LOG, Damage, LogReader, Now
from weft.session.log_tail import LogEnd, last_number, read_earlier, read_newest
from weft.session.manifest import MANIFEST, manifest_bytes, read_known
from weft.session.recovery import unfinished_writes
from weft.session.session import Session, begin_reading, no_session
from weft.session.shared import LogMark, SharedLog, bring_up_to_date, push_session
from weft.session.snapshot import read_snapshot
from weft.session.state import SessionState, fold
from weft.session.timestamps import timestamp

HOMES: Final = ("sessions", "contentItem")
TRASH: Final = "trash"
FOLLOW_PAUSE: Final = 0.05
_AT_REST: Final = (
    e.GateResolved, e.ConfirmationAsked, e.ConfirmationResolved, e.WordsSaid, e.WordsUnderstood, e.ReplyClassified,
)  # fmt: skip
"""What is said to a run at rest does not set it going."""


@dataclass(frozen=True, slots=True)
class TrashedSession:
    name: str
    """Of its folder in the trash."""
    session: str
    pipeline: str
    updated: str


@dataclass(frozen=True, slots=True)
class SessionReading:
    """A session as a reader finds it."""

    state: SessionState
    damage: tuple[Damage, ...]
    torn: int
    """Bytes at the log's end that belong to no whole decision."""
    holder: str | None
    """Who writes to it right now."""
    unfinished_writes: dict[str, bytes]
    """Artifact files that the next writer will put in place from the log."""
    cuts: tuple[str, ...] = ()
    """What the log has lost and nobody has accepted, in words: nothing is run on it."""

    @property
    def faults(self) -> list[str]:
        """What is wrong with the log, in words."""
        return list(dict.fromkeys([*(str(damage) for damage in self.damage), *self.cuts]))

    @property
    def status(self) -> str:
        found = self.state.status
        return "interrupted" if found == "running" and not self.holder else found


class Sessions:
    def __init__(self, workspace: Folder, now: Now, shared: SharedLog | None = None) -> None:
        self._workspace = workspace
        self._now = now
        self._shared = shared
        self._has_homes = False
        """The folders that sessions are in are as durable as they will be."""

    def ids(self) -> list[str]:
        if self._shared is not None:
            return sorted(self._shared.marks())
        found: set[str] = set()
        for home in HOMES:
            with self._home(home) as folder:
                if folder is not None:
                    found.update(name for name in folder.names() if SESSION_ID.match(name) and folder.is_folder(name))
        return sorted(found)

    def log_marks(self) -> dict[str, LogMark]:
        """Every session with the mark of its log: a look at each file and no more, since there may be many."""
        if self._shared is not None:
            return self._shared.marks()
        found: dict[str, LogMark] = {}
        for home in reversed(HOMES):  # the first one counts
            with self._home(home) as folder:
                for name in folder.names() if folder is not None else ():
                    if folder is not None and SESSION_ID.match(name) and folder.is_folder(name):
                        mark = _log_mark(folder, name)
                        if mark.size or folder.is_folder(name):
                            found[name] = mark
        return found

    def log_mark(self, session: str) -> LogMark:
        if self._shared is not None:
            return self._shared.mark(check_session_id(session)) or LogMark(0, 0)
        home = self._find(check_session_id(session))
        if home is None:
            raise no_session(session, self.ids())
        with self._workspace.folder(home) as folder:
            return _log_mark(folder, session)

    def exists(self, session: str) -> bool:
        return self._find(check_session_id(session)) is not None

    @contextmanager
    def folder(self, session: str) -> Iterator[Folder]:
        """The session's folder for reading."""
        home = self._find(check_session_id(session))
        if home is None:
            raise no_session(session, self.ids())
        with self._workspace.folder(f"{home}/{session}") as folder:
            if self._shared is not None:
                bring_up_to_date(self._shared, session, folder)
            yield folder

    def holder(self, session: str, folder: Folder) -> str | None:
        """Who writes to it right now, on this machine or another."""
        return held_by(folder) or (self._shared.holder(session) if self._shared is not None else None)

    def unlike_shared(self, session: str, folder: Folder) -> list[str]:
        """What the working copy and the shared log do not agree in, every byte compared; nothing without one."""
        if self._shared is None:
            return []
        lines, copy = hashlib.sha256(), hashlib.sha256(folder.read_or_none(LOG, limit=1 << 40) or b"")
        for line in self._shared.lines(session, 1):
            lines.update(line.line)
        return [] if lines.digest() == copy.digest() else [f"{LOG} here is not what the shared log has"]

    def read(self, session: str) -> SessionReading:
        """The state of a session, without a lock. Puts its manifest right when nobody is writing."""
        with self.folder(session) as folder:
            holder = self.holder(session, folder)
            known, (reader, state, _) = read_known(folder), begin_reading(folder, read_snapshot(folder))
            for record in reader.read():
                state.apply(record)
            cuts = tuple(find_cuts(known, reader.head, reader.damage, state))
            unfinished = unfinished_writes(folder, state) if not holder else {}
            if holder is None and state.seq and not cuts and folder.read_or_none(MANIFEST) != manifest_bytes(state):
                self._mend_manifest(folder, session)
            return SessionReading(state, tuple(reader.damage), len(reader.torn), holder, unfinished, cuts)

    def pipeline_of(self, session: str) -> str | None:
        """That of its last run, or the one it was begun with; None for a conversation that has none."""
        return self.read(session).state.pipeline or None

    def open(self, session: str, *, create: bool = False, accepting: Actor | None = None) -> Session:
        """The one writer of a session. `create`: it is not there yet. CutLogError when its log has lost something,
        unless somebody is `accepting` that."""
        check_session_id(session)
        home = (None if create else self._find(session)) or HOMES[0]
        parent = self._workspace.folder(home, create=True)
        try:
            if not self._has_homes:  # whoever made them may have been killed before a sync
                self._workspace.sync()
                self._has_homes = True
        except BaseException:
            parent.close()
            raise
        return Session.open(parent, session, self._now, create=create, accepting=accepting, shared=self._shared)

    def accept_cut(self, session: str, by: Actor) -> tuple[str, ...]:
        """Go on without what the log has lost; says what that was. Nothing is done when it has lost nothing."""
        cuts = self.read(session).cuts
        if cuts:
            self.open(session, accepting=by).close()
        return cuts

    def is_unborn(self, session: str) -> bool:
        """A folder without a log: one of an older system, or one whose creation was cut off."""
        with self.folder(session) as folder:
            return not folder.exists(LOG) and read_known(folder) is None

    def records(self, session: str, after: int = 0) -> Generator[e.Record, None, None]:
        with self.folder(session) as folder:
            for record in LogReader(folder).read():
                if record.seq > after:
                    yield record

    def read_each(self, take: Callable[[str, Iterator[e.Record]], None], sessions: Sequence[str] = ()) -> list[str]:
        """Every log, or only these, from its first record on. What was wrong with which, in words: one that can't be
        read is passed over. UserError for one that is not there. A shared log is read where it is: no copy is made."""
        troubles: list[str] = []
        for session, reader, records in self._readers(sessions):
            try:
                take(session, records)
            except (WeftError, OSError) as error:
                troubles.append(f"{session}: its log can't be read and is not counted: {error}")
                continue
            troubles += (f"{session}: {damage}" for damage in reader.damage)
        return troubles

    def _readers(self, sessions: Sequence[str]) -> Iterator[tuple[str, LogReader, Iterator[e.Record]]]:
        if self._shared is not None:
            marks = self._shared.marks()
            if missing := [name for name in sessions if check_session_id(name) not in marks]:
                raise no_session(missing[0], marks)
            for session, lines in self._shared.logs({name: marks[name] for name in sessions or sorted(marks)}):
                reader = LogReader(None)
                yield session, reader, reader.take(lines)
            return
        for session in sessions or self.ids():
            with self.folder(session) as folder:
                reader = LogReader(folder)
                yield session, reader, reader.read()

    def newest(self, session: str, turns: int, since: int = 0) -> LogEnd | None:
        """The end of a long log, with so many turns of its conversation; None when it has to be read whole."""
        with self.folder(session) as folder:
            return read_newest(folder, turns, since)

    def earlier(self, session: str, turns: int, before: int) -> LogEnd | None:
        with self.folder(session) as folder:
            return read_earlier(folder, turns, before)

    def last_number(self, session: str) -> int:
        """Of the last event that is durable."""
        with self.folder(session) as folder:
            found = last_number(folder)
        return self.read(session).state.seq if found is None else found

    async def follow(self, session: str, after: int = 0) -> AsyncIterator[e.Record]:
        """Every record after `after`, now and as it comes, until the last run has ended and nobody writes."""
        import asyncio  # a listing does without

        with self.folder(session) as folder:
            reader, ended = LogReader(folder), False
            while True:
                idle = self.holder(session, folder) is None  # asked first: what was written until then is not missed
                if self._shared is not None:
                    await asyncio.to_thread(bring_up_to_date, self._shared, session, folder)
                for record in reader.read():
                    if not isinstance(record.event, _AT_REST):
                        ended = isinstance(record.event, e.RunEnded)
                    if record.seq > after:
                        yield record
                if ended and idle:
                    return
                await asyncio.sleep(FOLLOW_PAUSE)

    def fork(self, session: str, name: str, at: int | None = None) -> Parent:
        """A new session that has all of another up to an event; both go their own way. Reads without a lock."""
        if self.exists(check_session_id(name)):
            raise UserError(f"there is a session {name} already", hint="choose another name")
        with self.folder(session) as source, self._workspace.folder(HOMES[0], create=True) as home:
            parent = fork(home, source, name, at)
        if self._shared is not None:
            with self._workspace.folder(f"{HOMES[0]}/{name}") as made:
                push_session(self._shared, name, made)
        return parent

    def trash(self, session: str) -> str:
        """Move a session to the trash folder and say where it is. Nothing is deleted."""
        home = self._find(check_session_id(session))
        if home is None:
            raise no_session(session, self.ids())
        with self._workspace.folder(home) as folder, self._workspace.folder(TRASH, create=True) as trash:
            with folder.folder(session) as inside:
                lock = WriterLock.acquire(inside, session, timestamp(self._now()))
            try:
                taken = set(trash.names())
                name = next(name for name in _numbered(session) if name not in taken)
                if self._shared is not None:
                    self._shared.trash(session)
                folder.move(session, trash, name)
            finally:
                lock.release()
        return f"{TRASH}/{name}"

    def trashed(self) -> list[TrashedSession]:
        """What is in the trash, the newest first."""
        with self._home(TRASH) as trash:
            if trash is None:
                return []
            found = []
            for name in trash.names():
                if SESSION_ID.match(name) and trash.is_folder(name):
                    with trash.folder(name) as inside:
                        state = fold(LogReader(inside).read())
                    found.append(TrashedSession(name, state.session or name, state.pipeline, state.updated_at))
        return sorted(found, key=lambda one: one.updated, reverse=True)

    def restore(self, name: str) -> str:
        """Move a session back out of the trash and say what it is called. UserError when its name is taken by now."""
        known = next((one for one in self.trashed() if one.name == name), None)
        if known is None:
            raise UserError(f"there is no {name[:80]} in the trash", hint="weft sessions trash shows what there is")
        session = check_session_id(known.session)
        if self.exists(session):
            raise UserError(f"there is a session {session} again", hint="move that one to the trash first")
        with self._workspace.folder(TRASH) as trash, self._workspace.folder(HOMES[0], create=True) as home:
            trash.move(name, home, session)
        if self._shared is not None:
            self._shared.trash(session, out=True)
        return session

    # -- inside

    def _find(self, session: str) -> str | None:
        found: str | None = None
        for home in reversed(HOMES):
            with self._home(home) as folder:
                found = home if folder is not None and folder.is_folder(session) else found
        if self._shared is None:
            return found
        if self._shared.mark(session) is None:
            return None  # a folder that the log does not know is no session yet, or not any more
        if found is None:  # it was made on another machine
            self._workspace.folder(f"{HOMES[0]}/{session}", create=True).close()
        return found or HOMES[0]

    @contextmanager
    def _home(self, home: str) -> Iterator[Folder | None]:
        try:
            folder = self._workspace.folder(home)
        except FileNotFoundError:
            yield None
            return
        with folder:
            yield folder

    def _mend_manifest(self, folder: Folder, session: str) -> None:
        """A reader's courtesy: left undone when somebody writes or the folder can't be written."""
        try:
            lock = WriterLock.acquire(folder, session, timestamp(self._now()))
        except (SessionLockedError, ExternalError):
            return
        try:
            folder.replace(MANIFEST, manifest_bytes(fold(LogReader(folder).read())), sync=False)
        except ExternalError:
            return
        finally:
            lock.release()


def _log_mark(home: Folder, session: str) -> LogMark:
    try:
        found = os.stat(f"{session}/{LOG}", dir_fd=home.fd, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return LogMark(0, 0)
    return LogMark(found.st_size, found.st_mtime_ns)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
