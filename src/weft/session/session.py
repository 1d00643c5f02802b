"""A session open for writing: the lock, the log, the artifacts and the manifest behind one door, `record`.

`record(events, artifacts)` is the middle of *decide, record, then act*: first the decision is durable in the log, with
the artifacts' own text; then the artifact files are put in place; then the manifest follows. Files are synced at a
`checkpoint`, before a run is said to have ended. Blocking: call it off the loop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from difflib import get_close_matches
from typing import Any, Final

from weft.files import Folder
from weft.protocol import events as e
from weft.protocol.commands import Artifact
from weft.protocol.conversation_events import ConversationStopped, IdleReached
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.redaction import REDACTOR
from weft.session.cuts import cut_error, find_cuts
from weft.session.lock import LOCK, WriterLock
from weft.session.log import LOG, LogReader, LogWriter, Now, collector_paused
from weft.session.manifest import MANIFEST, Known, manifest_bytes, read_known
from weft.session.recovery import PROCESS_ENDED, aside_name, closing, unfinished_writes
from weft.session.shared import SharedLog, SharedWriter
from weft.session.snapshot import SNAPSHOT, Snapshot, read_snapshot, write_snapshot
from weft.session.state import SessionState
from weft.session.timestamps import timestamp
from weft.session.transitions import Standing, after, apply

SYNC_AT_ONCE: Final = 200
"""Files that are held open at the same time to be made durable."""
OWN_FOLDERS: Final = ("aside", "attachments", "blobs")
"""The folders a session may have besides its files."""
SNAPSHOT_EVERY: Final = 2_000
"""Events between two snapshots: fewer are read again in less time than it takes to look for one."""
MOST_MEANT: Final = 3
"""Sessions that are offered for one that is not there."""
MANIFEST_PAUSE: Final = 5.0
"""Seconds between two writes of the manifest while a run goes on. One that is written over waits for the disk: most
file systems write out what is renamed onto another file, and let nobody go on while the old one is on its way."""


_RESTS: Final = (e.RunEnded, IdleReached, ConversationStopped, e.SessionDescribed, e.SourceSwitched)
"""After these nothing may follow for long, so the manifest has to be right."""


class RepeatedCommandError(UserError):
    """A command came again. Nothing was done a second time."""

    def __init__(self, key: str, seq: int) -> None:
        super().__init__(f"the command {key} was accepted before (event {seq}); it was not carried out again")
        self.seq = seq
        """The last event of the decision that it led to."""


class Session:
    def __init__(
        self,
        folder: Folder,
        parent: Folder,
        lock: WriterLock,
        now: Now,
        accepting: Actor | None = None,
        shared: SharedWriter | None = None,
        *,
        bare: bool = False,
    ) -> None:
        self.folder = folder
        self.is_bare = bare
        """Nothing was in its folder when it was opened."""
        self._notices: list[str] = []
        self._parent = parent
        self._lock = lock
        self._shared = shared
        self._one_writer = threading.Lock()
        self.on_record: Callable[[Sequence[e.Record]], None] | None = None
        """Told of every decision once it is durable, in the log's order, from the thread that wrote it."""
        self._dirty: set[str] = set()
        self._behind = False
        self._placed = False
        self._manifest_due = time.monotonic() + MANIFEST_PAUSE
        known = None if bare else read_known(folder)
        self._folds: dict[str, Callable[[], Any]] = {}
        with collector_paused():
            self._snapshot = None if bare else read_snapshot(folder)
            reader, self.state, self._standing = begin_reading(None if bare else folder, self._snapshot)
            self._saved_at = reader.seq
            for record in reader.read():
                self.state.apply(record)
                apply(self._standing, record.event)
        self._sound = not reader.damage
        cuts = find_cuts(known, reader.head, reader.damage, self.state)
        if cuts and (accepting is None or not reader.seq):
            raise cut_error(folder.path.name, reader.seq, cuts)
        self._notices += [str(damage) for damage in reader.damage]
        if reader.torn:
            self.folder.put(aside_name(LOG, reader.torn), reader.torn)
            self.folder.sync()
            self._notices.append(f"{LOG}: dropped an unfinished write of {len(reader.torn)} bytes at its end")
        self._log = LogWriter(folder, now, reader.head, shared and shared.at(folder, reader.head))
        if cuts and accepting is not None:
            self._accept_cut(cuts, known, accepting)

    @classmethod
    def open(
        cls,
        parent: Folder,
        name: str,
        now: Now,
        *,
        create: bool = False,
        accepting: Actor | None = None,
        shared: SharedLog | None = None,
    ) -> Session:
        """Take the writer's lock and bring the folder into order. `create` makes the folder when it is not there.
        CutLogError when the log has lost something, unless somebody is `accepting` that. `shared`: the log that the
        folder is a working copy of.

        The session owns `parent` from here on. It needs it to make its own entry durable with the first record: a
        process that was killed may have made the folder without a sync. That `parent` is there is durable.
        """
        with ExitStack() as stack:
            stack.callback(parent.close)
            if create:
                parent.make(name)
            try:
                folder = parent.folder(name)
            except FileNotFoundError:
                raise no_session(name) from None
            stack.callback(folder.close)
            lock = WriterLock.acquire(folder, name, timestamp(now()))
            stack.callback(lock.release)
            writer = SharedWriter.take(shared, folder) if shared is not None else None
            if writer is not None:
                stack.callback(writer.close)
            bare = folder.names() == [LOCK]
            session = cls(folder, parent, lock, now, accepting, writer, bare=bare)
            stack.callback(session._log.close)
            if not bare:
                session._remove_temporaries()
                session._recover()
            stack.pop_all()
        return session

    @property
    def closes_at_once(self) -> bool:
        """To let go of it takes no time: nothing is being written or to be written, and nobody to be told."""
        is_saved = self._log.head.seq - self._saved_at < SNAPSHOT_EVERY
        return is_saved and self._shared is None and not self._one_writer.locked()

    def close(self) -> None:
        self.save()
        self._folds.clear()
        with self._one_writer:  # a decision that is being written is written: its file is not taken from under it
            self._log.close()
        self._lock.release()
        self.folder.close()
        self._parent.close()

    # -- the snapshot

    def saved(self, name: str, kind: type[Any]) -> tuple[int, Any] | None:
        """What somebody else's fold of this log was at an event of it, by the name it was kept under; None when it has
        to be made from the start."""
        if self._snapshot is None:
            return None
        found = self._snapshot.of(name, kind)
        if found is None:
            self._saved_at = 0  # it lacks something, so the next one is due
            return None
        return self._snapshot.head.seq, found

    def records(self, after: int = 0) -> list[e.Record]:
        """What the log says after an event, read from the disk."""
        head = self._snapshot.head if self._snapshot and self._snapshot.head.seq <= after else None
        return [record for record in LogReader(self.folder, head).read() if record.seq > after]

    def keep(self, name: str, fold: Callable[[], Any]) -> None:
        """From here on `fold` tells, for each snapshot, what the log adds up to; None when it can't be told now."""
        self._folds[name] = fold
        if self._snapshot is not None and name not in self._snapshot.saved:
            self._saved_at = 0  # it lacks this, so the next one is due

    def save(self) -> None:
        """Write a snapshot when much has come since the last one. That it can't be written harms nobody."""
        with self._one_writer:
            head = self._log.head
            if head.seq - self._saved_at < SNAPSHOT_EVERY or not self._sound or not head.last or self._behind:
                return
            folds: dict[str, Any] = {"session": self.state, "standing": self._standing}
            folds |= {name: made for name, fold in self._folds.items() if (made := fold()) is not None}
            try:
                write_snapshot(self.folder, head, folds)
            except (WeftError, OSError, TypeError) as error:
                self._notices.append(f"{SNAPSHOT} could not be written: {error}")
            self._saved_at = head.seq

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take_notices(self) -> list[str]:
        """What was found, put right or could not be written since this was last asked, in words."""
        notices, self._notices = self._notices, []
        return notices

    # -- writing

    @property
    def epoch(self) -> int:
        """The number of this writer."""
        return self._log.head.epoch

    def accepted(self, key: str) -> int | None:
        """The last event of the decision that the command with this key has led to; None when it is a new one."""
        return self.state.keys.get(key)

    def record(
        self,
        events: Sequence[e.DurableEvent],
        artifacts: Sequence[Artifact] = (),
        blobs: Sequence[bytes] = (),
        *,
        by: Actor = MACHINE,
        key: str = "",
    ) -> list[e.Record]:
        """One decision, durable when this returns; then its artifacts' files are in place. `blobs` are what its events
        name by hash. `by` is who gave the command, `key` the command's own name: RepeatedCommandError when the log
        has a decision with it.

        A run and a conversation may both be at work in a session, each in a thread: their decisions come one by one.
        """
        with self._one_writer:
            if key and (seq := self.state.keys.get(key)):
                raise RepeatedCommandError(key, seq)
            records = self._record(REDACTOR.value(events), artifacts, blobs, by, key)
            if self.on_record is not None:
                self.on_record(records)
            return records

    def _record(
        self,
        events: Sequence[e.DurableEvent],
        artifacts: Sequence[Artifact],
        blobs: Sequence[bytes],
        by: Actor,
        key: str,
    ) -> list[e.Record]:
        if self._behind:
            raise ExternalError(
                f"the files of session {self.folder.path.name} are behind its log; this process writes no more to it",
                hint="put the disk right and run the same command again: the log has everything",
            )
        standing = after(self._standing, events)
        aside = self._set_aside_edits(artifacts)
        for artifact in artifacts:
            if artifact.inline is None:
                self._keep_blob(artifact.hash, artifact.data)
        for data in blobs:
            self._keep_blob(hash_bytes(data), data)
        records = self._log.append([*aside, *events], by=by, key=key)
        self._standing = standing
        self._behind = True
        if not self._placed:
            for folder in (self.folder, self._parent):
                folder.sync()
            self._placed = True
        for record in records:
            self.state.apply(record)
        for artifact in artifacts:
            self._place(artifact.name, artifact.data)
            self._dirty.add(artifact.name)
        self._behind = False
        self._write_manifest(at_once=any(isinstance(event, _RESTS) for event in events))
        return records

    def vouch(self, artifacts: Sequence[Artifact]) -> None:
        """Make files that are already in place durable, before the log says that they count."""
        for artifact in artifacts:
            if artifact.inline is None:
                self._keep_blob(artifact.hash, artifact.data)
            self._dirty.add(artifact.name)
        self.checkpoint()

    @property
    def unsynced(self) -> int:
        """Files that the next checkpoint makes durable."""
        return len(self._dirty)

    def checkpoint(self) -> None:
        """Make every artifact file durable. After this a missing file was removed by a person, not by a crash."""
        if len(self._dirty) > SYNC_AT_ONCE and self.folder.sync_all():
            self._dirty.clear()
            return
        below: dict[str, list[str]] = {}
        for name in sorted(self._dirty):  # one that a person removed meanwhile is passed over: the planner will see it
            inner, _, own = name.rpartition("/")
            below.setdefault(inner, []).append(own)
        for inner, names in below.items():
            if inner and not self.folder.is_folder(inner):
                continue
            with self.folder.folder(inner) if inner else nullcontext(self.folder) as folder:
                for first in range(0, len(names), SYNC_AT_ONCE):
                    folder.sync_files(names[first : first + SYNC_AT_ONCE])
        self._dirty.clear()

    def take_input(self, name: str, data: bytes, known: str | None) -> list[e.DurableEvent]:
        """Put an input's copy in place, durable. An edit of the old copy is kept aside; returns the fact, if any."""
        current, digest = self.folder.read_or_none(name), hash_bytes(data)
        facts: list[e.DurableEvent] = []
        if current == data:
            if digest != known:  # it is about to be recorded, and who put it there may have died before a sync
                self._sync_deep(name)
                self._log.keep(name, data)
            return facts
        if current is not None and hash_bytes(current) != known:
            facts.append(self._aside_event(name, current))
        self._put(name, data)
        return facts

    # -- inside

    def _accept_cut(self, cuts: Sequence[str], known: Known | None, by: Actor) -> None:
        """The manifest is what is left of the lost end: it is kept before it follows the log again."""
        manifest = self.folder.read_or_none(MANIFEST)
        if manifest is not None:
            self._keep_aside(MANIFEST, manifest)
        end = (known.seq, known.hash) if known else (0, "")
        self.record([e.CutAccepted(lost=tuple(cuts), known=end[0], hash=end[1])], by=by)
        self._write_manifest(at_once=True)

    def _recover(self) -> None:
        if not self.state.unfinished or self.state.run is None:
            self._write_manifest(at_once=True)
            return
        restored: list[e.DurableEvent] = []
        unfinished = unfinished_writes(self.folder, self.state)
        for name, data in unfinished.items():
            self._place(name, data)
            restored.append(e.ArtifactRestored(artifact=name, hash=hash_bytes(data)))
            self._notices.append(f"{name} was written again from the log: {PROCESS_ENDED} before its file was in place")
        self._dirty.update(name for name, artifact in self.state.artifacts.items() if not artifact.settled)
        self.checkpoint()
        self.record([*restored, *closing(self.state)])

    def _keep_blob(self, digest: str, data: bytes) -> None:
        name = f"blobs/{digest}"
        if self.folder.read_or_none(name) == data:
            self._sync_deep(name)
            self._log.keep(name, data)
        else:
            self._put(name, data)

    def _place(self, name: str, data: bytes) -> None:
        """An artifact's file, which the next checkpoint makes durable; that of an item is in a folder of its step."""
        self.folder.put(name, data, sync=False)

    def _put(self, name: str, data: bytes) -> None:
        """A file in one of our own folders or at the top, durable with its folder's entry."""
        self.folder.put(name, data)
        if "/" in name:
            self.folder.sync()
        self._log.keep(name, data)

    def _sync_deep(self, name: str) -> None:
        self.folder.sync_file(name)
        if "/" in name:
            with self.folder.folder(name.rsplit("/", 1)[0]) as inner:
                inner.sync()
        self.folder.sync()

    def _remove_temporaries(self) -> None:
        self.folder.remove_temporaries()
        steps = {step for name in self.state.artifacts if (step := name.rpartition("/")[0])}
        for name in (*OWN_FOLDERS, *sorted(steps)):
            if self.folder.is_folder(name):
                with self.folder.folder(name) as inner:
                    inner.remove_temporaries()

    def _set_aside_edits(self, artifacts: Sequence[Artifact]) -> list[e.DurableEvent]:
        events: list[e.DurableEvent] = []
        for artifact in artifacts:
            current = self.folder.read_or_none(artifact.name)
            known = self.state.artifacts.get(artifact.name)
            if current is not None and hash_bytes(current) not in (artifact.hash, known.hash if known else None):
                events.append(self._aside_event(artifact.name, current))
        return events

    def _aside_event(self, name: str, data: bytes) -> e.ArtifactSetAside:
        return e.ArtifactSetAside(artifact=name, hash=hash_bytes(data), kept=self._keep_aside(name, data))

    def _keep_aside(self, name: str, data: bytes) -> str:
        kept = aside_name(name, data)
        self._put(kept, data)
        return kept

    def _write_manifest(self, *, at_once: bool) -> None:
        if not self.state.seq or (not at_once and time.monotonic() < self._manifest_due):
            return
        self._manifest_due = time.monotonic() + MANIFEST_PAUSE
        data = manifest_bytes(self.state)
        try:
            current = self.folder.read_or_none(MANIFEST)
            if current == data:
                return
            if current is not None and not _is_ours(current):
                self._keep_aside(MANIFEST, current)
            self.folder.replace(MANIFEST, data, sync=False)
        except (ExternalError, UserError) as error:
            # The manifest can always be made again from the log; a run must not fail for it, but must say it.
            self._notices.append(f"{MANIFEST} could not be written: {error.message}")


def begin_reading(folder: Folder | None, snapshot: Snapshot | None) -> tuple[LogReader, SessionState, Standing]:
    """Where to begin reading, and what is known there."""
    if snapshot is not None:
        state, standing = snapshot.of("session", SessionState), snapshot.of("standing", Standing)
        if state is not None and standing is not None and state.seq == snapshot.head.seq:
            return LogReader(folder, snapshot.head), state, standing
    return LogReader(folder), SessionState(), Standing()


def no_session(name: str, others: Iterable[str] = ()) -> UserError:
    """`others`: the sessions there are; those whose names begin as this one, or are nearest to it, may be meant."""
    names = list(others) if name else []
    meant = [one for one in names if one.startswith(name)] or get_close_matches(name, names, n=1)
    said = " or ".join(f"'{one}'" for one in meant[:MOST_MEANT])
    hint = f"did you mean {said}?" if said else "weft sessions list shows the ones there are"
    return UserError(f"there is no session {name}", hint=hint)


def _is_ours(data: bytes) -> bool:
    """A manifest this program wrote, whole or damaged, can be replaced; one of an older system is kept aside."""
    try:
        found = json_value(data)
    except ValueError:
        return True
    return not isinstance(found, dict) or found.get("version") != 1
