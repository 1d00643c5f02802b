"""Is everything of a session as its log says? Looks, changes nothing."""

from __future__ import annotations

from dataclasses import field

from weft.files import Folder
from weft.protocol.call_events import CallSettled
from weft.protocol.errors import WeftError
from weft.protocol.events import ArtifactAccepted, ItemSettled
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.session.cuts import LostLogError, find_cuts
from weft.session.lock import held_by
from weft.session.log import LOG, LogReader
from weft.session.manifest import MANIFEST, manifest_bytes, read_known
from weft.session.recovery import blob, kept_copy, unfinished_writes
from weft.session.state import SessionState


@dataclass(slots=True)
class Verification:
    events: int = 0
    faults: list[str] = field(default_factory=list)
    """What should not be."""
    remarks: list[str] = field(default_factory=list)
    """What is worth knowing but in order: an edit, an unfinished run, a live writer."""


def verify(folder: Folder) -> Verification:
    found = Verification()
    known, reader, state = read_known(folder), LogReader(folder), SessionState()
    for record in reader.read():
        found.events += 1
        state.apply(record)
        event = record.event
        if isinstance(event, ArtifactAccepted) and kept_copy(folder, event) is None:
            found.faults.append(f"the kept copy of {event.artifact} (seq {record.seq}) is lost or not what it was")
        if isinstance(event, ItemSettled) and not event.artifact and kept_copy(folder, event) is None:
            found.faults.append(f"the result of {event.item} of {event.step} (seq {record.seq}) is lost")
        if isinstance(event, CallSettled) and event.request and blob(folder, event.request) is None:
            found.faults.append(f"what {event.name} was asked (seq {record.seq}) is lost or not what it was")
    cuts = find_cuts(known, reader.head, reader.damage, state)
    found.faults += cuts
    for damage in reader.damage:
        if not damage.cut:
            found.faults.append(str(damage))
        elif damage.seq <= state.cut_accepted:
            found.remarks.append(f"{damage}; accepted by event {state.cut_accepted}")
    if holder := held_by(folder):
        found.remarks.append(f"it is being written by {holder}")
    elif cuts and not found.events:
        found.remarks.append(LostLogError(folder.path.name, cuts).hint)
    elif cuts:
        found.remarks.append(f"nothing is run on it before {LOG} is put back, or: weft sessions accept-cut")
    elif not found.events:
        found.remarks.append("it has no log: made by an older system, or its creation was cut off")
    else:
        _rest(folder, reader, state, found)
    return found


def _rest(folder: Folder, reader: LogReader, state: SessionState, found: Verification) -> None:
    """What nobody is at work on."""
    if reader.torn:
        found.remarks.append(f"{LOG} ends in an unfinished write of {len(reader.torn)} bytes; the next run drops it")
    if state.unfinished:
        found.remarks.append("the last run did not end; the next one continues it")
    try:
        _files(folder, state, found)
    except WeftError as error:
        found.faults.append(error.message)


def _files(folder: Folder, state: SessionState, found: Verification) -> None:
    unfinished = unfinished_writes(folder, state)
    for name, artifact in state.artifacts.items():
        data = folder.read_or_none(name)
        if name in unfinished:
            found.remarks.append(f"{name} will be written again from the log by the next run")
        elif data is None:
            found.remarks.append(f"{name} is missing; the next run makes it again")
        elif hash_bytes(data) != artifact.hash:
            found.remarks.append(f"{name} was edited by hand")
    for name, given in state.inputs.items():
        data = folder.read_or_none(given.file)
        if data is None:
            found.faults.append(f"the copy of the input {name} is gone ({given.file})")
        elif hash_bytes(data) != given.hash:
            found.remarks.append(f"{given.file} was edited by hand")
    current = folder.read_or_none(MANIFEST)
    if current != manifest_bytes(state):
        what = "is missing" if current is None else "differs from the log"
        found.remarks.append(f"{MANIFEST} {what}; it is written again when the session is next opened")
