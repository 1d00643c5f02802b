"""A long conversation from its end: the last turns of a log, and all else one has to know, without reading the rest.

Lines as the encoder writes them say in their first bytes what they are, so that most need not be decoded. A log that
has any other line, or one that can't be read, is left to `LogReader`, which knows what to make of it: then it is None.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.files import Folder
from weft.protocol.events import Record
from weft.protocol.hashes import hash_bytes
from weft.protocol.patterns import pattern
from weft.session.codec import DamagedLineError, decode_many
from weft.session.log import LOG

_HEAD: Final = pattern(
    rb'\{"seq":(\d+),"at":"[^"]*"(?:,"version":\d+)?(?:,"part":\[(\d+),(\d+)\])?'
    rb'(?:,"envelope":\{(?:[^"{}]|"(?:[^"\\]|\\.)*"|\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})*\})?'
    rb',"type":"(\w+)"(?:,"conversation":"(main["/]))?'
)
_STANDING: Final = frozenset(
    {b"conversation_opened", b"plan_submitted", b"plan_decided", b"process_started", b"process_ended", b"limits_set"}
)
"""Events of a conversation that say how it is, however long ago they were."""
_TAIL: Final = 1 << 16


class LogEnd(NamedTuple):
    """Some of a log."""

    begins: int
    """Of the conversation every event from this one on is among the records (up to where was asked for); 0: it begins
    there."""
    records: Sequence[Record]


class _Line(NamedTuple):
    raw: bytes
    seq: int
    part: int
    parts: int
    type: bytes
    talk: bool
    """Of the session's own conversation, or of one inside it."""

    @property
    def begins_turn(self) -> bool:
        return (
            self.type == b"turn_started" and b',"conversation":"main",' in self.raw and b'"continues":"' not in self.raw
        )


def read_newest(folder: Folder, turns: int, since: int = 0) -> LogEnd | None:
    """The last turns, as many more as it takes for the event `since` to be among them, and of all before them what is
    not of the conversation."""
    lines = _lines(folder)
    if lines is None:
        return None
    begins = _begin(lines, turns, since)
    return _decoded(lines, begins, [line.seq >= begins or not _is_left_out(line) for line in lines])


def read_earlier(folder: Folder, turns: int, before: int) -> LogEnd | None:
    """So many turns of the conversation before an event of it, which were left out."""
    lines = _lines(folder)
    if lines is None:
        return None
    lines = [line for line in lines if line.seq < before]
    begins = _begin(lines, turns)
    return _decoded(lines, begins, [line.seq >= begins and _is_left_out(line) for line in lines])


def last_number(folder: Folder) -> int | None:
    """The number of the last event of the last whole decision, from the log's last bytes alone."""
    try:
        fd = folder.open_fd(LOG, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, _TAIL, max(0, size - _TAIL))
    finally:
        os.close(fd)
    for raw in reversed(data.split(b"\n")[1 if size > _TAIL else 0 : -1]):
        head = _HEAD.match(raw)
        if head is None:
            return None
        if head[2] == head[3]:
            return int(head[1])
    return None


def _is_left_out(line: _Line) -> bool:
    return (line.talk and line.type not in _STANDING) or line.type == b"words_said"


def _lines(folder: Folder) -> list[_Line] | None:
    """Every line of every whole decision; None when there is one that is not as the encoder writes it."""
    found: list[_Line] = []
    whole = 0
    for raw in (folder.read_or_none(LOG, limit=1 << 40) or b"").split(b"\n")[:-1]:
        head = _HEAD.match(raw)
        if head is None:
            return None
        line = _Line(raw, int(head[1]), int(head[2] or 1), int(head[3] or 1), head[4], head[5] is not None)
        if line.part != (1 if len(found) == whole else found[-1].part + 1) or (found and line.seq != found[-1].seq + 1):
            return None
        found.append(line)
        if line.part == line.parts:
            whole = len(found)
    return found[:whole]


def _begin(lines: Sequence[_Line], turns: int, since: int = 0) -> int:
    """Where so many turns begin: with the words that the first of them answers. 0 when there are no more."""
    starts = [number for number, line in enumerate(lines) if line.begins_turn]
    if since:
        turns = max(turns, sum(lines[number].seq > since for number in starts) + 1)
    if len(starts) <= turns:
        return 0
    first = starts[-turns]
    begins, missing = lines[first].seq, {json.dumps(name).encode() for name in json.loads(lines[first].raw)["messages"]}
    for line in reversed(lines[:first]):
        if not missing:
            break
        if line.type == b"message_accepted" and (
            said := {name for name in missing if b'"message":' + name in line.raw}
        ):
            begins, missing = line.seq, missing - said
    return begins


def _decoded(lines: Sequence[_Line], begins: int, wanted: Sequence[bool]) -> LogEnd | None:
    """The wanted records, each with the envelope of its whole decision."""
    records: list[Record] = []
    start = 0
    while start < len(lines):
        stop = start + lines[start].parts
        if any(wanted[start:stop]):
            raws = [line.raw + b"\n" for line in lines[start:stop]]
            found = decode_many(raws)
            made = [one.record for one in found if not isinstance(one, DamagedLineError)]
            if len(made) < len(raws):
                return None
            envelope = made[0].envelope
            if envelope is not None:
                envelope = envelope._replace(hash=hash_bytes(b"".join(raws)))
            keeps = wanted[start:stop]
            records += [one._replace(envelope=envelope) for one, keep in zip(made, keeps, strict=True) if keep]
        start = stop
    return LogEnd(begins, records)
