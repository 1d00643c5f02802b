"""A session through its own door: one writer, files that follow the log, inputs, edits, clocks."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.orchestrator.model import pipeline
from tests.session.forging import resealed
from weft.app import App, RegisteredFunction, SessionRequest
from weft.files import Folder
from weft.protocol.commands import Artifact, Interrupt, StartRun
from weft.protocol.errors import UserError
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactSetAside,
    DurableEvent,
    Record,
    RunEnded,
    RunStarted,
    SessionCreated,
)
from weft.protocol.hashes import hash_bytes
from weft.session import state as session_state
from weft.session.lock import SessionLockedError, held_by
from weft.session.log import LogReader
from weft.session.manifest import manifest_bytes
from weft.session.session import Session
from weft.session.sessions import Sessions
from weft.session.state import fold
from weft.session.verify import verify
from weft.testing import RecordingDisk, power_cuts


def now() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def sessions(workspace: Path) -> Iterator[Sessions]:
    with Folder.open(workspace) as folder:
        yield Sessions(folder, now)


def begin(session: Session) -> None:
    session.record([SessionCreated(session="abc", pipeline="p", weft="0")])
    session.record([RunStarted(run=1, pipeline="p", steps=("a",), desired="a", parameters={})])


def accepted(name: str, data: bytes) -> tuple[ArtifactAccepted, Artifact]:
    artifact = Artifact(name, data, hash_bytes(data))
    event = ArtifactAccepted(
        run=1, step="a", attempt=1, artifact=name, hash=artifact.hash, size=len(data), content=artifact.inline
    )
    return event, artifact


def test_one_writer_at_a_time(sessions: Sessions) -> None:
    with (
        sessions.open("abc", create=True),
        pytest.raises(SessionLockedError, match="session abc is being written by process"),
    ):
        sessions.open("abc")
    sessions.open("abc").close()


def test_a_dead_holder_s_lock_is_taken_over(sessions: Sessions, workspace: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from datetime import UTC, datetime\n"
        "from weft.files import Folder; from weft.session.sessions import Sessions\n"
        "s = Sessions(Folder.open(Path(sys.argv[1])), lambda: datetime.now(UTC)).open('abc', create=True)\n"
        "print('held', flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(workspace)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with sessions.folder("abc") as folder:
        assert f"process {holder.pid}" in (held_by(folder) or "")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    with sessions.folder("abc") as folder:
        assert held_by(folder) is None
    sessions.open("abc").close()


@pytest.mark.parametrize("bad", ["../abc", "a/b", "ABC", "ab", "-abc", "a" * 81, "a\0b", "abc\n", "", "..", "äöü"])
def test_ids_are_checked_at_every_door(sessions: Sessions, bad: str) -> None:
    for door in (sessions.exists, sessions.read, sessions.trash, sessions.open):
        with pytest.raises(UserError, match="is not a session id"):
            door(bad)


def test_a_session_that_is_a_link_is_not_followed(sessions: Sessions, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "sessions").mkdir()
    (workspace / "sessions" / "abc").symlink_to(outside)
    assert sessions.ids() == []
    with pytest.raises(UserError):
        sessions.open("abc", create=True)
    assert list(outside.iterdir()) == []


def test_large_and_binary_artifacts_are_kept_as_blobs(sessions: Sessions) -> None:
    large, binary = b"x" * 300_000, b"\xff\xfe\x00"
    with sessions.open("abc", create=True) as session:
        begin(session)
        for name, data in (("large.txt", large), ("binary.bin", binary)):
            event, artifact = accepted(name, data)
            assert event.content is None
            session.record([event], [artifact])
        (session.folder.path / "large.txt").unlink()
    with sessions.open("abc") as session:
        assert session.folder.read("large.txt") == large
        assert verify(session.folder).faults == []
        assert any("large.txt was written again" in notice for notice in session.take_notices())


def test_a_damaged_blob_is_named(sessions: Sessions) -> None:
    event, artifact = accepted("large.txt", b"x" * 300_000)
    with sessions.open("abc", create=True) as session:
        begin(session)
        session.record([event], [artifact])
        (session.folder.path / "blobs" / artifact.hash).write_bytes(b"rubbish")
        path = session.folder.path
    with Folder.open(path) as folder:
        assert verify(folder).faults == ["the kept copy of large.txt (seq 3) is lost or not what it was"]


@pytest.mark.parametrize(
    ("left", "restored"),
    [
        (None, True),
        (b"", True),
        (b"the ri", True),
        (b"the right\0\0\0\0\0\0\0", True),
        (b"\0" * 16, True),
        (b"the version before", True),
        (b"the right version", True),
        (b"an edit by a person", False),
        (b"the right version, edited", False),
    ],
)
def test_an_unfinished_write_is_told_from_an_edit(sessions: Sessions, left: bytes | None, restored: bool) -> None:
    right = b"the right version"
    with sessions.open("abc", create=True) as session:
        begin(session)
        for data in (b"the version before", right):
            event, artifact = accepted("a.txt", data)
            session.record([event], [artifact])
        path = session.folder.path / "a.txt"
        path.unlink()
        if left is not None:
            path.write_bytes(left)
    reading = sessions.read("abc")
    assert ("a.txt" in reading.unfinished_writes) == (restored and left != right)
    sessions.open("abc").close()
    assert path.read_bytes() == (right if restored else left)


def test_after_a_run_has_ended_a_missing_file_stays_missing(sessions: Sessions) -> None:
    with sessions.open("abc", create=True) as session:
        begin(session)
        event, artifact = accepted("a.txt", b"text")
        session.record([event], [artifact])
        session.checkpoint()
        session.record([RunEnded(run=1, outcome="done")])
        path = session.folder.path / "a.txt"
    path.unlink()
    sessions.open("abc").close()
    assert not path.exists()


@pytest.mark.parametrize("offered", [True, False])
def test_many_files_are_durable_after_a_checkpoint_in_one_call_or_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: bool
) -> None:
    monkeypatch.setattr("weft.session.session.SYNC_AT_ONCE", 2)
    if not offered:
        monkeypatch.setattr("weft.files._syncfs", lambda _: False)
    disk = RecordingDisk(tmp_path)
    with Folder.open(tmp_path, disk) as folder, Sessions(folder, now).open("abc", create=True) as session:
        begin(session)
        for number in range(5):
            event, artifact = accepted(f"a{number}.txt", b"text %d" % number)
            session.record([event], [artifact])
        session.checkpoint()
        cut = len(disk.recording.changes)
    for state in power_cuts(disk.recording, cuts={cut}):
        for number in range(5):
            assert state.files[f"sessions/abc/a{number}.txt"] == b"text %d" % number, state.variant


def test_an_input_edited_in_the_session_is_kept_aside_when_the_file_wins(sessions: Sessions) -> None:
    with sessions.open("abc", create=True) as session:
        begin(session)
        session.take_input("content.md", b"first", None)
        (session.folder.path / "content.md").write_bytes(b"edited here")
        (event,) = session.take_input("content.md", b"second", hash_bytes(b"first"))
        assert session.folder.read("content.md") == b"second"
        assert isinstance(event, ArtifactSetAside)
        assert session.folder.read(event.kept) == b"edited here"


def test_a_newer_log_is_refused_untouched(sessions: Sessions) -> None:
    with sessions.open("abc", create=True) as session:
        session.record([SessionCreated(session="abc", pipeline="p", weft="9")])
        path = session.folder.path / "log.jsonl"
    path.write_bytes(resealed(path.read_bytes(), version=99))
    before = path.read_bytes()
    for door in (sessions.open, sessions.read):
        with pytest.raises(UserError, match="written by a newer Weft"):
            door("abc")
    assert path.read_bytes() == before


def run(workspace: Path, function: Callable[..., Any], clock: Callable[[], datetime] = now) -> list[Record]:
    shape = pipeline({"a": (), "b": ("a",), "d": ("b",)})
    seen: list[Any] = []

    async def go(app: App) -> None:
        async with app.session(SessionRequest(pipeline=shape, session="abc")) as session, session.shown(seen.append, 0):
            assert await session.run(StartRun()) == "done"

    with App.open(workspace, functions={"code": RegisteredFunction(function)}, now=clock) as app:
        asyncio.run(go(app))
    return [record for record in seen if isinstance(record, Record)]


def test_a_clock_that_jumps_changes_nothing_but_what_it_says(workspace: Path) -> None:
    moments = iter([now() + timedelta(days=offset) for offset in (0, 400, -4000, 1, -1, 9000, 2, -3, 5, 8, 0, 0, 0)])

    async def make(step: Any) -> dict[str, str]:
        return {"step": step.step}

    records = run(workspace, make, lambda: next(moments))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert len({record.at for record in records}) > 3
    assert run(workspace, make)[-1].event.type == "run_ended"
    with Folder.open(workspace / "sessions/abc") as folder:
        assert verify(folder).faults == []


def test_every_event_says_what_it_does_to_the_state() -> None:
    assert {*session_state._FOLDS} == {*get_args(DurableEvent)}


def test_the_state_in_memory_is_the_fold_of_the_log(workspace: Path, sessions: Sessions) -> None:
    async def make(step: Any) -> dict[str, str]:
        return {"step": step.step}

    run(workspace, make)
    with sessions.open("abc") as session:
        assert fold(LogReader(session.folder).read()) == session.state
        assert json.loads(session.folder.read("session.json")) == json.loads(manifest_bytes(session.state))


def test_a_function_that_ignores_its_end_is_left_behind_and_its_result_is_never_taken(workspace: Path) -> None:
    shape = pipeline({"a": ()})
    seen: list[Any] = []
    gate, begun = asyncio.Event(), asyncio.Event()

    async def stubborn(step: Any) -> dict[str, str]:
        begun.set()
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue
        return {"late": "result"}

    async def go(app: App) -> None:
        async with app.session(SessionRequest(pipeline=shape, session="abc")) as session, session.shown(seen.append, 0):
            running = asyncio.create_task(session.run(StartRun()))
            await begun.wait()
            session.submit(Interrupt())
            assert await asyncio.wait_for(running, 60) == "interrupted"
            gate.set()
            await asyncio.sleep(0.05)

    with App.open(workspace, functions={"code": RegisteredFunction(stubborn)}) as app:
        asyncio.run(go(app))
    assert any("ignores its end" in getattr(event, "text", "") for event in seen)
    assert not (workspace / "sessions/abc/a.json").exists()
    types = [record.event.type for record in seen if isinstance(record, Record)]
    assert types[-2:] == ["step_interrupted", "run_ended"]
