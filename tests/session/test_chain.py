"""The chain: nothing can be removed from a log, changed or moved in it without being noticed, and nobody guesses."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.session.forging import resealed
from weft.files import Folder
from weft.protocol.envelope import MACHINE, Actor, Parent
from weft.protocol.events import (
    LOG_VERSION,
    CutAccepted,
    DurableEvent,
    RunEnded,
    RunStarted,
    SessionCreated,
    StepSkipped,
)
from weft.protocol.hashes import hash_bytes
from weft.session.codec import DamagedLineError, decode
from weft.session.cuts import CutLogError, LostLogError
from weft.session.log import LOG, LogHead, LogReader, LogWriter
from weft.session.manifest import MANIFEST
from weft.session.session import RepeatedCommandError
from weft.session.sessions import Sessions
from weft.session.state import fold
from weft.session.verify import verify

CORPUS = Path(__file__).parent.parent / "corpus"
ADA = Actor("person", "ada", "terminal")
DECISIONS = (1, 3, 1, 2, 1)
"""How many events each has."""


def now() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def skipped(*steps: str) -> list[DurableEvent]:
    return [StepSkipped(run=1, step=step, reason="up to date") for step in steps]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with Folder.open(tmp_path) as folder:
        yield folder


@pytest.fixture
def sessions(workspace: Path) -> Iterator[Sessions]:
    with Folder.open(workspace) as folder:
        yield Sessions(folder, now)


def written(folder: Folder) -> list[bytes]:
    """A log of two writers, decision by decision."""
    names, made = iter("abcdefghij"), []
    for sizes in (DECISIONS[:3], DECISIONS[3:]):
        reader = LogReader(folder)
        list(reader.read())
        log = LogWriter(folder, now, reader.head)
        for size in sizes:
            start = log.head.end
            log.append(skipped(*itertools.islice(names, size)))
            made.append(folder.read(LOG)[start:])
        log.close()
    return made


def cuts(folder: Folder, data: bytes) -> list[str]:
    (folder.path / LOG).write_bytes(data)
    reader = LogReader(folder)
    list(reader.read())
    return [str(damage) for damage in reader.damage if damage.cut]


def test_each_decision_names_the_one_before_and_its_writer(folder: Folder) -> None:
    decisions = written(folder)
    reader = LogReader(folder)
    records = list(reader.read())
    assert reader.damage == []
    envelopes = list(dict.fromkeys(record.envelope for record in records))
    assert [one.hash for one in envelopes if one] == [hash_bytes(decision) for decision in decisions]
    assert [one.prev for one in envelopes if one] == ["", *(hash_bytes(decision) for decision in decisions[:-1])]
    assert [one.epoch for one in envelopes if one] == [1, 1, 1, 2, 2]
    assert all(one and one.by is MACHINE and not one.key and one.parent is None for one in envelopes)
    assert reader.head == LogHead(8, sum(map(len, decisions)), hash_bytes(decisions[-1]), 2, 8, len(decisions[-1]))


def test_what_is_told_while_writing_is_what_is_read(folder: Folder) -> None:
    log = LogWriter(folder, now, LogHead())
    told = log.append(skipped("a", "b"), by=ADA, key="k-1", parent=Parent("other", 7, "ab" * 16))
    told += log.append(skipped("c"), by=Actor("model", "large"))
    told += log.append(skipped("d", "e"))
    log.close()
    assert list(LogReader(folder).read()) == told
    assert [record.envelope.by.kind for record in told if record.envelope] == ["person"] * 2 + ["model"] + [
        "machine"
    ] * 2
    first = json.loads(folder.read(LOG).splitlines()[0])
    assert first["envelope"] == {
        "epoch": 1,
        "by": {"kind": "person", "name": "ada", "face": "terminal"},
        "key": "k-1",
        "parent": {"session": "other", "seq": 7, "hash": "ab" * 16},
    }


def test_every_stretch_that_is_taken_out_is_noticed(folder: Folder) -> None:
    """Of lines, so that decisions lose their beginning, their middle or their end too."""
    lines = b"".join(written(folder)).splitlines(keepends=True)
    for start, stop in itertools.combinations(range(len(lines)), 2):
        assert cuts(folder, b"".join(lines[:start] + lines[stop:])), f"lines {start + 1} to {stop} were taken out"


def test_every_change_is_noticed_although_the_checksum_fits(folder: Folder) -> None:
    lines = b"".join(written(folder)).splitlines(keepends=True)
    for number in range(len(lines) - 1):
        changed = [*lines[:number], resealed(lines[number], reason="outdated"), *lines[number + 1 :]]
        found = cuts(folder, b"".join(changed))
        assert found, f"line {number + 1} was changed"
        assert "does not follow from what stands before it" in found[0]


def test_every_swap_is_noticed_although_all_numbers_fit(folder: Folder) -> None:
    decisions = written(folder)
    for one, other in itertools.combinations(range(len(decisions)), 2):
        moved = [*decisions]
        moved[one], moved[other] = moved[other], moved[one]
        lines = b"".join(moved).splitlines(keepends=True)
        assert cuts(folder, b"".join(lines)), f"decisions {one} and {other} were swapped"
        renumbered = [resealed(line, seq=seq) for seq, line in enumerate(lines, 1)]
        assert cuts(folder, b"".join(renumbered)), f"decisions {one} and {other} were swapped and numbered anew"


def test_every_insertion_and_repetition_is_noticed(folder: Folder) -> None:
    lines = b"".join(written(folder)).splitlines(keepends=True)
    added = b'{"seq":%d,"at":"x","type":"step_skipped","run":1,"step":"x","reason":"up to date"}\n'
    for number in range(1, len(lines) + 1):
        rest = [resealed(line, seq=seq) for seq, line in enumerate(lines[number:], number + 2)]
        assert cuts(folder, b"".join([*lines[:number], added % (number + 1), *rest])), f"added after line {number}"
        if number < len(lines):
            assert cuts(folder, b"".join([*lines[:number], lines[number - 1], *lines[number:]]))


def test_a_writer_that_was_followed_by_another_is_noticed(folder: Folder) -> None:
    decisions = written(folder)
    with_old_writer = LogWriter(folder, now, LogHead(8, sum(map(len, decisions)), hash_bytes(decisions[-1]), 0))
    with_old_writer.append(skipped("late"))
    with_old_writer.close()
    assert "its writer had been followed by another (epoch 1 after 2)" in cuts(folder, folder.read(LOG))[0]


@pytest.mark.parametrize(
    "envelope",
    [
        "1",
        "{}",
        '{"epoch":0}',
        '{"epoch":"1"}',
        '{"epoch":1,"prev":7}',
        '{"epoch":1,"more":1}',
        '{"epoch":1,"by":"ada"}',
        '{"epoch":1,"by":{"kind":"ghost"}}',
        '{"epoch":1,"by":{"kind":"person","name":7}}',
        '{"epoch":1,"by":{"name":"ada"}}',
        '{"epoch":1,"parent":{"session":"a"}}',
        '{"epoch":1,"parent":{"session":"a","seq":"2","hash":"b"}}',
    ],
)
def test_an_envelope_is_never_guessed(envelope: str) -> None:
    line = '{"seq":1,"at":"x","envelope":%s,"type":"run_ended","run":1,"outcome":"done"}'
    with pytest.raises(DamagedLineError, match="its envelope is"):
        decode((line % envelope).encode())


# -- a session


def begun(sessions: Sessions) -> Path:
    with sessions.open("abc", create=True) as session:
        session.record([SessionCreated(session="abc", pipeline="p", weft="0")], by=ADA, key="first")
        session.record([RunStarted(run=1, pipeline="p", steps=("a", "b"), desired="b", parameters={})], by=ADA)
        session.record(skipped("a", "b"))
        session.record([RunEnded(run=1, outcome="done")])
        return session.folder.path


def test_a_log_that_ends_before_its_manifest_stops_everybody_and_is_left_alone(sessions: Sessions) -> None:
    path = begun(sessions)
    lines = (path / LOG).read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        (path / LOG).write_bytes(b"".join(lines[:kept]))
        before = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
        with pytest.raises(CutLogError, match=f"{MANIFEST} was made from 5") as refused:
            sessions.open("abc")
        assert "weft sessions accept-cut abc" in refused.value.hint
        assert len(sessions.read("abc").cuts) == 1
        with Folder.open(path) as folder:
            assert len(verify(folder).faults) == 1
        assert {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()} == before
    (path / LOG).write_bytes(b"".join(lines))
    with sessions.open("abc") as session:
        assert session.take_notices() == []


def test_a_last_decision_that_is_another_is_noticed(sessions: Sessions) -> None:
    path = begun(sessions)
    lines = (path / LOG).read_bytes().splitlines(keepends=True)
    (path / LOG).write_bytes(b"".join([*lines[:-1], resealed(lines[-1], outcome="failed")]))
    with pytest.raises(CutLogError, match="its last decision is not the one"):
        sessions.open("abc")


def test_a_flipped_bit_at_the_end_is_not_taken_for_an_unfinished_write(sessions: Sessions) -> None:
    path = begun(sessions)
    data = (path / LOG).read_bytes()
    (path / LOG).write_bytes(data.replace(b'"outcome":"done"', b'"outcome":"dome"'))
    with pytest.raises(CutLogError, match="event 5"):
        sessions.open("abc")


@pytest.mark.parametrize("left", [b"", None])
def test_a_log_that_is_gone_is_not_begun_anew(sessions: Sessions, left: bytes | None) -> None:
    path = begun(sessions)
    (path / LOG).unlink()
    if left is not None:
        (path / LOG).write_bytes(left)
    for door in (sessions.open, lambda name: sessions.accept_cut(name, ADA)):
        with pytest.raises(LostLogError, match="events 1 to 5 are missing") as refused:
            door("abc")
        assert f"take away {MANIFEST}" in refused.value.hint
    (path / MANIFEST).unlink()
    sessions.open("abc").close()


@pytest.mark.parametrize("where", ["end", "middle", "both"])
def test_a_person_can_say_that_it_goes_on(sessions: Sessions, where: str) -> None:
    path = begun(sessions)
    lines = (path / LOG).read_bytes().splitlines(keepends=True)
    kept = {"end": lines[:2], "middle": [lines[0], *lines[2:]], "both": [lines[0], *lines[2:4]]}[where]
    (path / LOG).write_bytes(b"".join(kept))
    manifest = (path / MANIFEST).read_bytes()
    cuts = sessions.read("abc").cuts
    assert len(cuts) == (2 if where == "both" else 1)
    assert sessions.accept_cut("abc", ADA) == cuts
    assert (path / LOG).read_bytes().startswith(b"".join(kept)), "what is there stays"
    assert manifest in [file.read_bytes() for file in (path / "aside").iterdir()]
    accepted = [record for record in sessions.records("abc") if isinstance(record.event, CutAccepted)]
    known = CutAccepted(lost=cuts, known=5, hash=json.loads(manifest)["lastHash"])
    assert [(one.event, one.envelope and one.envelope.by) for one in accepted] == [(known, ADA)]
    assert sessions.accept_cut("abc", ADA) == ()
    with sessions.open("abc") as session:
        assert fold(LogReader(session.folder).read()) == session.state
        assert verify(session.folder).faults == []
    # What is cut off after that is noticed again.
    data = (path / LOG).read_bytes()
    (path / LOG).write_bytes(data[: data.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(CutLogError):
        sessions.open("abc")


def test_dying_before_the_manifest_follows_does_not_ask_again(sessions: Sessions) -> None:
    path = begun(sessions)
    manifest = (path / MANIFEST).read_bytes()
    lines = (path / LOG).read_bytes().splitlines(keepends=True)
    (path / LOG).write_bytes(b"".join(lines[:2]))
    sessions.accept_cut("abc", ADA)
    (path / MANIFEST).write_bytes(manifest)
    sessions.open("abc").close()


@pytest.mark.parametrize(
    "odd", [b"", b"\0\0", b"[]", b'{"version":2}', b'{"version":2,"lastSeq":"9","sessionId":"abc"}']
)
def test_a_manifest_that_can_t_be_read_knows_nothing(sessions: Sessions, odd: bytes) -> None:
    path = begun(sessions)
    (path / MANIFEST).write_bytes(odd)
    sessions.open("abc").close()


def test_a_command_that_comes_again_is_known_by_its_key(sessions: Sessions) -> None:
    begun(sessions)
    with sessions.open("abc") as session:
        assert session.accepted("first") == 1
        assert session.accepted("second") is None
        before = session.folder.read(LOG)
        with pytest.raises(RepeatedCommandError) as repeated:
            session.record(skipped("c"), by=ADA, key="first")
        assert repeated.value.seq == 1
        assert session.folder.read(LOG) == before
        records = session.record([RunStarted(run=2, pipeline="p", steps=(), desired="b", parameters={})], key="second")
        assert session.accepted("second") == records[-1].seq
        assert session.epoch == 2
    with sessions.open("abc") as session:
        assert session.accepted("second") == records[-1].seq


# -- logs of before


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.glob("v1-*")))
def test_an_older_log_gets_a_chain_from_where_it_is_continued(workspace: Path, sessions: Sessions, name: str) -> None:
    shutil.copytree(CORPUS / name, workspace / "sessions" / name)
    path = workspace / "sessions" / name / LOG
    before = path.read_bytes()
    with sessions.open(name) as session:
        session.record([CutAccepted(lost=("nothing",))], by=ADA)
    with sessions.open(name) as session:
        session.record([CutAccepted(lost=("nothing again",))])
        assert [fault for fault in verify(session.folder).faults if LOG in fault] == []
        assert fold(LogReader(session.folder).read()) == session.state
    data = path.read_bytes()
    assert data.startswith(before)
    first = json.loads(data[len(before) :].splitlines()[0])
    assert first["envelope"]["prev"] == hash_bytes(before)
    assert first["version"] == LOG_VERSION, "an older Weft sees at once that it can't read on"
    with Folder.open(path.parent) as folder:
        for number, line in enumerate(before.splitlines(keepends=True)):
            changed = before.splitlines(keepends=True)
            changed[number] = resealed(line, at="1999-01-01T00:00:00.000Z")
            assert cuts(folder, b"".join(changed) + data[len(before) :]), f"line {number + 1} was changed"
