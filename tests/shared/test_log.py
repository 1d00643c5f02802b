"""The shared log: a decision is durable in PostgreSQL, the folder is a copy, and there is one writer."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.postgres import Server
from weft.app.sessions.session_pages import verified
from weft.files import Disk, Folder
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.events import SessionCreated, SessionDescribed, SettingChanged
from weft.protocol.hashes import hash_bytes
from weft.session.cuts import CutLogError
from weft.session.lock import SessionLockedError
from weft.session.log import LOG, LogReader
from weft.session.objects import open_objects
from weft.session.postgres import PostgresLog
from weft.session.session import Session
from weft.session.sessions import Sessions
from weft.session.shared import FencedError
from weft.session.verify import verify

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]


def now() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Machine:
    """A machine with working copies of its own."""

    def __init__(self, path: Path, store: str, *, lease: float = 30.0, objects: str = "") -> None:
        path.mkdir()
        self.shared = PostgresLog(store, objects, lease=lease)
        self.folder = Folder.open(path)
        self.sessions = Sessions(self.folder, now, self.shared)

    def begin(self, name: str) -> Session:
        session = self.sessions.open(name, create=True)
        session.record([SessionCreated(session=name, pipeline="p", weft="1")])
        return session

    def close(self) -> None:
        self.shared.close()
        self.folder.close()


@pytest.fixture
def machines(tmp_path: Path, store: str) -> Iterator[tuple[Machine, Machine]]:
    both = tuple(Machine(tmp_path / name, store, objects=str(tmp_path / "objects")) for name in "ab")
    yield both[0], both[1]
    for one in both:
        one.close()


def said(number: int) -> SettingChanged:
    return SettingChanged(setting="model", value=f"m{number}")


def test_a_session_goes_on_where_another_machine_left_it(machines: tuple[Machine, Machine]) -> None:
    here, there = machines
    large = b"x" * 200_000
    with here.begin("first") as session:
        session.take_input("content.md", b"an input\n", None)
        session.record([said(1)], blobs=[large])
        ours = session.folder.read(LOG)
    assert there.sessions.ids() == ["first"]
    with there.sessions.open("first") as session:
        assert session.folder.read(LOG) == ours
        assert session.folder.read("content.md") == b"an input\n"
        assert [session.folder.read(f"blobs/{name}") for name in _names(session.folder, "blobs")] == [large]
        assert session.epoch == 2
        session.record([said(2)])
    with here.sessions.folder("first") as folder:
        assert len(folder.read(LOG)) > len(ours)
        assert [record.seq for record in LogReader(folder).read()] == [1, 2, 3]
        assert verify(folder).faults == []
    assert here.sessions.log_mark("first") == there.sessions.log_marks()["first"]


def _names(folder: Folder, name: str) -> list[str]:
    with folder.folder(name) as inner:
        return inner.names()


def test_one_writer_at_a_time_over_machines(machines: tuple[Machine, Machine]) -> None:
    here, there = machines
    with here.begin("held"):
        with pytest.raises(SessionLockedError, match=r"written by process \d+ on"):
            there.sessions.open("held")
        assert there.sessions.read("held").holder
    there.sessions.open("held").close()
    assert there.sessions.read("held").holder is None


def test_a_writer_that_was_thought_dead_is_refused(tmp_path: Path, store: str) -> None:
    slow, quick = Machine(tmp_path / "slow", store, lease=0.2), Machine(tmp_path / "quick", store)
    session = slow.begin("s-1")
    slow.shared._closed.set()  # its leases are not renewed any more, as when the process is stopped
    deadline = time.monotonic() + 60
    while quick.sessions.read("s-1").holder and time.monotonic() < deadline:
        time.sleep(0.02)
    with quick.sessions.open("s-1") as other:
        assert other.epoch == 2
        other.record([said(1)])
        with pytest.raises(FencedError, match="went on elsewhere"):
            session.record([said(2)])
        with pytest.raises(ExternalError, match="writes no more"):
            session.record([said(3)])
        other.record([said(4)])
    session.close()
    with quick.sessions.folder("s-1") as folder:
        found = [(r.event, r.envelope.epoch if r.envelope else 0) for r in LogReader(folder).read()]
    assert found[1:] == [(said(1), 2), (said(4), 2)]
    slow.close()
    quick.close()


def test_a_database_that_is_away_is_waited_for(tmp_path: Path, server: Server, store: str) -> None:
    one = Machine(tmp_path / "one", store)
    told: list[str] = []
    one.shared.on_trouble = told.append
    session = one.begin("waits")
    server.stop("immediate")
    done = threading.Thread(target=lambda: session.record([said(1)]))
    done.start()
    time.sleep(0.3)
    assert done.is_alive()
    server.start()
    done.join(60)
    assert not done.is_alive()
    session.record([said(2)])
    session.close()
    assert told[0].startswith("the database is away")
    assert told[-1] == "the database is back"
    fresh = Machine(tmp_path / "fresh", store)
    with fresh.sessions.folder("waits") as folder:
        assert [record.event for record in LogReader(folder).read()][1:] == [said(1), said(2)]
    fresh.close()
    one.close()


def test_a_commit_whose_answer_was_lost_is_not_made_twice(machines: tuple[Machine, Machine]) -> None:
    here, _ = machines
    with here.begin("lost") as session:
        tried = here.shared._tried

        def answered_late(work, what, **more):  # type: ignore[no-untyped-def]
            found = tried(work, what, **more)
            return tried(work, what, **more) if what.startswith("recording") else found

        here.shared._tried = answered_late  # type: ignore[method-assign]
        session.record([said(1)])
        session.record([said(2)])
        del here.shared._tried
    assert [record.seq for record in here.sessions.records("lost")] == [1, 2, 3]


def test_a_copy_that_is_torn_or_of_another_log_is_made_anew(machines: tuple[Machine, Machine]) -> None:
    here, there = machines
    with here.begin("torn") as session:
        session.record([said(1)])
    with there.sessions.folder("torn") as folder:
        whole = folder.read(LOG)
        folder.replace(LOG, whole[:-20])
    with there.sessions.folder("torn") as folder:
        assert folder.read(LOG) == whole
        folder.replace(LOG, whole + whole.splitlines(keepends=True)[-1].replace(b"m1", b"m9"))
    with there.sessions.folder("torn") as folder:
        assert folder.read(LOG) == whole
        (kept,) = _names(folder, "aside")
        assert kept.startswith(LOG)


def test_a_persons_edit_of_a_copy_is_left_alone(machines: tuple[Machine, Machine]) -> None:
    here, there = machines
    with here.begin("edits") as session:
        session.take_input("content.md", b"one", None)
        session.record([said(1)])
    with there.sessions.folder("edits") as folder:
        folder.replace("content.md", b"mine")
    with here.sessions.open("edits") as session:
        session.take_input("content.md", b"two", None)
        session.record([said(2)])
    with there.sessions.folder("edits") as folder:
        assert folder.read("content.md") == b"mine"


def test_a_database_that_never_answered_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ExternalError, match="can't be reached"):
        PostgresLog(f"postgresql:///nobody?host={tmp_path}")


def test_a_newer_form_of_the_tables_is_left_alone(store: str) -> None:
    log = PostgresLog(store)
    log.rows("UPDATE weft.workspace SET version = 99")
    log.close()
    with pytest.raises(UserError, match="newer Weft"):
        PostgresLog(store)


class FullDisk(Disk):
    """Full once it is told so."""

    is_full = False

    def write(self, fd: int, data: bytes) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "no space")
        super().write(fd, data)


def test_a_full_disk_costs_the_worker_and_not_the_session(machines: tuple[Machine, Machine]) -> None:
    here, there = machines
    here.folder.disk = FullDisk()
    session = here.begin("full")
    here.folder.disk.is_full = True
    with pytest.raises(ExternalError, match="No space left"):
        session.record([said(1)])
    with pytest.raises(ExternalError, match="writes no more"):
        session.record([said(2)])
    session.close()
    with there.sessions.open("full") as other:
        other.record([said(3)])
    assert [record.event for record in there.sessions.records("full")][1:] == [said(1), said(3)]
    here.folder.disk.is_full = False
    assert [record.seq for record in here.sessions.records("full")] == [1, 2, 3]


def test_a_store_that_was_set_back_is_noticed(machines: tuple[Machine, Machine]) -> None:
    here, _ = machines
    with here.begin("back") as session:
        first = session._log.head
        session.record([said(1)])
        session.record([SessionDescribed(title="so that the manifest has it")])
    here.shared.rows("DELETE FROM weft.events WHERE session = 'back' AND seq > 1")
    here.shared.rows("UPDATE weft.sessions SET seq = 1, ends = %s, hash = %s", (first.end, first.hash))
    with pytest.raises(CutLogError, match="2 to 3 are missing"):
        here.sessions.open("back")
    with here.sessions.folder("back") as folder:
        assert any(name.startswith(LOG) for name in _names(folder, "aside")), "what the copy had is kept"


def test_a_changed_line_of_the_store_is_found_beside_a_sound_copy(machines: tuple[Machine, Machine]) -> None:
    here, _ = machines
    with here.begin("changed") as session:
        session.record([said(1)])
        session.record([said(2)])
    assert verified(here.sessions, "changed").faults == []
    here.shared.rows("UPDATE weft.events SET line = line || ' '::bytea WHERE seq = 2")
    assert verified(here.sessions, "changed").faults == [f"{LOG} here is not what the shared log has"]


def test_large_contents_go_to_a_bucket_and_are_checked_when_they_come_back() -> None:
    bucket = open_objects("memory:///")
    assert bucket is not None
    digest = hash_bytes(b"large")
    bucket.put(digest, b"large")
    assert bucket.get(digest) == b"large"
    bucket.put(hash_bytes(b"other"), b"not it")
    with pytest.raises(ExternalError, match="is not what it was"):
        bucket.get(hash_bytes(b"other"))
    with pytest.raises(ExternalError, match="is not in"):
        bucket.get(hash_bytes(b"nothing"))
