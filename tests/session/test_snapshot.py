"""Snapshots: a long log opens at once, and whatever happens to a snapshot, the log is what counts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.session.forging import resealed
from weft.files import Folder
from weft.protocol.events import Record, RunEnded, RunStarted, SessionCreated, StepSkipped
from weft.session import session as session_module
from weft.session import snapshot as snapshot_module
from weft.session.cuts import CutLogError
from weft.session.log import LOG, LogReader
from weft.session.sessions import Sessions
from weft.session.snapshot import SNAPSHOT, plain, read_snapshot, restored
from weft.session.state import SessionState, fold
from weft.session.transitions import Standing, apply

CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.fixture
def sessions(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sessions]:
    monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 1)
    with Folder.open(workspace) as folder:
        yield Sessions(folder, lambda: datetime(2026, 1, 2, tzinfo=UTC))


def begun(sessions: Sessions) -> Path:
    with sessions.open("abc", create=True) as session:
        session.record([SessionCreated(session="abc", pipeline="p", weft="0")], key="k-1")
        session.record([RunStarted(run=1, pipeline="p", steps=("a", "b"), desired="b", parameters={"n": [1, None]})])
        session.record([StepSkipped(run=1, step=step, reason="up to date") for step in ("a", "b")])
        session.record([RunEnded(run=1, outcome="done")])
        return session.folder.path


def lines_read(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many events the next opening reads; it must find what the log says."""
    seen: list[int] = []
    take = SessionState.apply

    def counting(self: SessionState, record: Record) -> None:
        seen.append(record.seq)
        take(self, record)

    monkeypatch.setattr(SessionState, "apply", counting)
    with sessions.open("abc") as session:
        number = len(seen)
        monkeypatch.setattr(SessionState, "apply", take)
        assert session.state == fold(LogReader(session.folder).read())
        standing = Standing()
        for record in LogReader(session.folder).read():
            apply(standing, record.event)
        assert session._standing == standing
    return number


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))
def test_what_is_saved_comes_back_at_every_event_of_the_corpus(name: str) -> None:
    state, standing = SessionState(), Standing()
    with Folder.open(CORPUS / name) as folder:
        for record in LogReader(folder).read():
            state.apply(record)
            apply(standing, record.event)
            for value in (state, standing):
                text = json.dumps(plain(value))
                assert restored(type(value), json.loads(text)) == value


def test_only_what_came_since_is_read(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(sessions)
    assert lines_read(sessions, monkeypatch) == 0
    with sessions.open("abc") as session:
        session.record([RunStarted(run=2, pipeline="p", steps=(), desired="b", parameters={})])
        session.record([RunEnded(run=2, outcome="done")])
        monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 1_000)
    with Folder.open(session.folder.path) as folder:
        snapshot = read_snapshot(folder)
        assert snapshot is not None
        assert snapshot.head.seq == 5
        whole = LogReader(folder)
        list(whole.read())
        rest = LogReader(folder, snapshot.head)
        assert [record.seq for record in rest.read()] == [6, 7]
        assert rest.head == whole.head
    assert lines_read(sessions, monkeypatch) == 2
    with sessions.open("abc") as session:
        assert session.accepted("k-1") == 1


def _other_code(path: Path) -> None:
    content = json.loads((path / SNAPSHOT).read_text())
    content["saved"]["session"]["code"] = "0" * 32
    (path / SNAPSHOT).write_text(json.dumps(content))


def _lies(path: Path) -> None:
    content = json.loads((path / SNAPSHOT).read_text())
    content["saved"]["session"]["value"] = {"seq": "five"}
    (path / SNAPSHOT).write_text(json.dumps(content))


def _foreign(path: Path) -> None:
    other = json.loads((path / SNAPSHOT).read_text())
    other["sha256"] = "0" * 64
    (path / SNAPSHOT).write_text(json.dumps(other))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: (path / SNAPSHOT).unlink(),
        lambda path: (path / SNAPSHOT).write_bytes(b""),
        lambda path: (path / SNAPSHOT).write_bytes(b"\0" * 100),
        lambda path: (path / SNAPSHOT).write_bytes((path / SNAPSHOT).read_bytes()[:-20]),
        lambda path: (path / SNAPSHOT).write_text("[]"),
        lambda path: (path / SNAPSHOT).write_text('{"weft": "0"}'),
        _other_code,
        _lies,
        _foreign,
    ],
)
def test_a_spoilt_snapshot_is_passed_over(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], Any]
) -> None:
    spoil(begun(sessions))
    assert lines_read(sessions, monkeypatch) == 5


def test_every_change_of_the_log_is_noticed_as_without_it(sessions: Sessions) -> None:
    path = begun(sessions)
    lines = (path / LOG).read_bytes().splitlines(keepends=True)
    spoilt = [[*lines[:number], *lines[number + 1 :]] for number in range(len(lines))]
    spoilt += [[*lines[:n], resealed(lines[n], at="1999"), *lines[n + 1 :]] for n in range(len(lines))]
    for left in spoilt:
        (path / LOG).write_bytes(b"".join(left))
        with pytest.raises(CutLogError):
            sessions.open("abc")
    (path / LOG).write_bytes(b"".join(lines))
    sessions.open("abc").close()


def test_a_log_with_damage_or_without_a_chain_has_none(workspace: Path, sessions: Sessions) -> None:
    shutil.copytree(CORPUS / "v1-poem", workspace / "sessions" / "poem")
    with sessions.open("poem") as session:
        assert session.take_notices() == []
    assert not (workspace / "sessions/poem" / SNAPSHOT).exists()


def test_a_snapshot_that_can_t_be_written_harms_nobody(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot_module, "_prefix_hash", full)
    begun(sessions)
    with sessions.open("abc") as session:
        assert session.state.seq == 5


def test_one_that_lacks_something_is_made_anew(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(sessions)
    monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 5)
    for found in (None, (5, Standing(run=7))):
        with sessions.open("abc") as session:
            assert session.saved("other", Standing) == found
            session.keep("other", lambda: Standing(run=7))


def test_what_others_fold_is_saved_with_it(sessions: Sessions) -> None:
    begun(sessions)
    with sessions.open("abc") as session:
        assert session.saved("other", Standing) is None
        session.keep("other", lambda: Standing(run=7))
        session.keep("not now", lambda: None)
        session.record([RunStarted(run=2, pipeline="p", steps=(), desired="b", parameters={})])
    with sessions.open("abc") as session:
        assert session.saved("other", Standing) == (6, Standing(run=7))
        assert session.saved("other", SessionState) is None
        assert session.saved("not now", Standing) is None
