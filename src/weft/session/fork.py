"""A fork: a new session that has everything another had up to an event, and goes its own way from there.

The decisions are written again with the times and persons they had, so the numbers of events are the same in both; the
first one names its parent. Files are as the log knew them then: artifacts from the log, inputs as they are if they are
still those. It is made under a name that no listing shows and gets its own when it is whole; a fork that a crash cut
off is never seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from weft.files import Folder
from weft.protocol.envelope import MACHINE, Parent
from weft.protocol.errors import UserError
from weft.protocol.events import DurableEvent, Record
from weft.protocol.hashes import hash_bytes
from weft.session.cuts import cut_error, find_cuts
from weft.session.log import LogReader, LogWriter
from weft.session.manifest import read_known
from weft.session.recovery import accepted_contents
from weft.session.state import SessionState, fold

_COPIED: Final = ("blobs", "attachments", "aside")


def fork(home: Folder, source: Folder, name: str, at: int | None) -> Parent:
    """Makes the session `name` beside others in `home`. UserError when there is no such event, or the log has damage
    or has lost something.
    `home` has no session of that name."""
    decisions, state = _until(source, at)
    first = Parent(source.path.name, state.seq, state.hash)
    files, missing = _files(source, state)
    if missing:
        raise UserError(
            f"{', '.join(missing)} of session {source.path.name} is not what it was at event {state.seq}",
            hint="fork at a later event, or put the file back",
        )
    with home.laying(name, "fork") as folder:
        for inner in _COPIED:
            _copy(source, folder, inner)
        for file, data in files.items():
            folder.replace(file, data)
        _write(folder, decisions, name, first)
    return first


def _until(source: Folder, at: int | None) -> tuple[list[list[Record]], SessionState]:
    """The decisions up to an event, the last one whole, and what they add up to."""
    known, reader, state = read_known(source), LogReader(source), SessionState()
    records = list(reader.read())
    session = source.path.name
    if cuts := find_cuts(known, reader.head, reader.damage, fold(records)):
        raise cut_error(session, reader.seq, cuts)
    if reader.damage:
        raise UserError(f"the log of session {session} has damage", hint=f"weft sessions verify {session}")
    decisions = [
        list(group)
        for _, group in itertools.groupby(records, lambda r: r.envelope.hash if r.envelope else f"event {r.seq}")
    ]
    wanted = [decision for decision in decisions if at is None or decision[0].seq <= at]
    if not wanted or (at is not None and at > records[-1].seq):
        last = records[-1].seq if records else 0
        raise UserError(f"session {session} has no event {at}", hint=f"its events are 1 to {last}")
    for decision in wanted:
        for record in decision:
            state.apply(record)
    return wanted, state


def _files(source: Folder, state: SessionState) -> tuple[dict[str, bytes], list[str]]:
    """The files as the log knew them, and the inputs that are not there any more."""
    contents = accepted_contents(source, {artifact.seq for artifact in state.artifacts.values()})
    files = {name: contents[one.seq] for name, one in state.artifacts.items() if one.seq in contents}
    missing = []
    for given in state.inputs.values():
        for name, digest in {given.file: given.hash, **given.originals}.items():
            data = source.read_or_none(name)
            if data is None or hash_bytes(data) != digest:
                missing.append(name)
            else:
                files[name] = data
    return files, missing


def _copy(source: Folder, target: Folder, name: str) -> None:
    """A folder of files that are named by what they hold: nothing in it is ever changed."""
    try:
        inside = source.folder(name)
    except FileNotFoundError:
        return
    with inside, target.folder(name, create=True) as copy:
        for file in inside.names():
            if not inside.is_folder(file):
                copy.replace(file, inside.read(file))
        copy.sync()


def _write(folder: Folder, decisions: Iterable[list[Record]], name: str, parent: Parent) -> None:
    moments: list[datetime] = []
    kept = folder.disk.sync
    folder.disk.sync = False  # one sync at the end is enough: until then nobody sees it
    try:
        writer = LogWriter(folder, lambda: moments[-1], LogReader(folder).head)
        try:
            for number, decision in enumerate(decisions):
                moments.append(_moment(decision[0].at))
                envelope = decision[0].envelope
                writer.append(
                    [_renamed(record.event, parent.session, name) for record in decision],
                    by=envelope.by if envelope else MACHINE,
                    key=envelope.key if envelope else "",
                    parent=parent if number == 0 else None,
                )
        finally:
            writer.close()
    finally:
        folder.disk.sync = kept
    folder.sync_files(file for file in folder.names() if not folder.is_folder(file))


def _renamed(event: DurableEvent, old: str, new: str) -> DurableEvent:
    said: Any = event
    return replace(said, session=new) if getattr(event, "session", None) == old else event


def _moment(at: str) -> datetime:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)  # a clock said nothing; order is by number
