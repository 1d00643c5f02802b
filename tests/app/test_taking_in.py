"""A bundle that somebody else made: nothing is laid before all of it was looked at, and nothing runs by what they
allowed."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.doors import talk_in
from weft.app import App, exported, taken_in
from weft.conversation.state import fold
from weft.files import Folder
from weft.protocol.conversation_events import (
    ApprovalDecided,
    ApprovalRemembered,
    ApprovalRequested,
    ConversationOpened,
    ToolRequested,
)
from weft.protocol.envelope import PERSON
from weft.protocol.errors import UserError
from weft.protocol.events import DurableEvent, RunEnded, RunStarted, SessionCreated
from weft.session.log import LOG, LogReader, LogWriter
from weft.session.session import begin_reading
from weft.session.snapshot import SNAPSHOT, read_snapshot, write_snapshot
from weft.testing.scripted import ScriptedModel, Turn, says

pytestmark = pytest.mark.process
STEP = "run1/write/1"
CREATED = SessionCreated(session="theirs", pipeline="", weft="1")


def packed(*files: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in files:
            bundle.writestr(name, data)
    return made.getvalue()


def log_of(tmp_path: Path, events: Sequence[DurableEvent]) -> bytes:
    place = tmp_path / "made"
    place.mkdir()
    with Folder.open(place) as folder:
        writer = LogWriter(folder, lambda: datetime(2026, 1, 1, tzinfo=UTC), LogReader(folder).head)
        writer.append(list(events), by=PERSON, key="")
        writer.close()
    return (place / LOG).read_bytes()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "config.toml").write_text('model = "scripted"\n')
    with App.open(workspace, models={"scripted": ScriptedModel([Turn(says("I see."))] * 4)}) as opened:
        yield opened


def laid(app: App) -> list[str]:
    sessions = app.workspace.path / "sessions"
    return sorted(path.name for path in sessions.iterdir()) if sessions.exists() else []


def flipped(data: bytes, *places: tuple[bytes, int, int]) -> bytes:
    """With a bit changed so many bytes behind each mark."""
    made = bytearray(data)
    for mark, behind, bit in places:
        made[data.index(mark) + behind] ^= bit
    return bytes(made)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


@pytest.mark.parametrize(
    "how", ["no zip", "checksum", "encrypted", "method", "spoilt", "empty", "junk", "deep", "twice"]
)
def test_what_is_spoilt_is_said_and_leaves_nothing(how: str, app: App, tmp_path: Path) -> None:
    good = packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED])))
    bundle = {
        "no zip": b"xx",
        "checksum": flipped(good, (LOCAL, 14, 255), (CENTRAL, 16, 255)),
        "encrypted": flipped(good, (LOCAL, 6, 1), (CENTRAL, 8, 1)),
        "method": flipped(good, (LOCAL, 8, 64), (CENTRAL, 10, 64)),
        "spoilt": packed((f"theirs/{LOG}", b"\xff\xfe spoilt\n")),
        "empty": packed((f"theirs/{LOG}", b"")),
        "junk": packed((f"theirs/{LOG}", b'{"a":1}\n[]\n')),
        "deep": packed((f"theirs/{LOG}", b"[" * 100_000)),
        "twice": good if how != "twice" else _twice(),
    }[how]
    with pytest.raises(UserError):
        taken_in(app, bundle)
    assert laid(app) == []


def _twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        return packed((f"theirs/{LOG}", b"{}\n"), (f"theirs/{LOG}", b"{}\n"))


def asked(conversation: str) -> list[DurableEvent]:
    asks = ToolRequested(conversation=conversation, turn=1, call="c1", tool="Shell", input={}, verdict="ask")
    return [
        asks,
        ApprovalRequested(conversation=conversation, turn=1, call="c1", tool="Shell", reason="it changes files"),
    ]


def test_a_call_of_a_step_that_somebody_else_allowed_is_not_taken_in(app: App, tmp_path: Path) -> None:
    allowed = ApprovalDecided(conversation=STEP, turn=1, call="c1", decision="once")
    bundle = packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED, *asked(STEP), allowed])))
    with pytest.raises(UserError, match="a call of Shell that somebody allowed"):
        taken_in(app, bundle)
    assert laid(app) == []


@pytest.mark.parametrize("name", [SNAPSHOT, SNAPSHOT.upper()])
def test_what_a_log_adds_up_to_is_not_told_by_who_made_the_bundle(name: str, app: App, tmp_path: Path) -> None:
    """A snapshot is believed by the log that lies beside it, and both are theirs."""
    log = log_of(tmp_path, [CREATED])
    with Folder.open(tmp_path / "made") as folder:
        reader, state, standing = begin_reading(folder, None)
        for record in reader.read():
            state.apply(record)
        forged = replace(state, pipeline="said-nowhere")
        write_snapshot(folder, reader.head, {"session": forged, "standing": standing})
        found = read_snapshot(folder)
        assert found is not None
        assert begin_reading(folder, found)[1].pipeline == "said-nowhere"
    snapshot = (tmp_path / "made" / SNAPSHOT).read_bytes()
    with pytest.raises(UserError, match="no file of a session"):
        taken_in(app, packed((f"theirs/{LOG}", log), (f"theirs/{name}", snapshot)))
    assert laid(app) == []


def test_a_run_that_goes_on_reads_no_key_that_who_made_the_bundle_named(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    key = tmp_path / "keyrings/login.keyring"
    key.parent.mkdir()
    key.write_text("a key\n")
    begun = RunStarted(run=1, pipeline="brief", steps=("a",), desired="a", parameters={"brief": str(key)})
    with pytest.raises(UserError, match="is where keys are kept"):
        taken_in(app, packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED, begun]))))
    assert laid(app) == []


def test_what_nobody_has_decided_yet_is(app: App, tmp_path: Path) -> None:
    assert taken_in(app, packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED, *asked(STEP)])))) == "theirs"


def test_a_run_that_is_over_is(app: App, tmp_path: Path) -> None:
    allowed = ApprovalDecided(conversation=STEP, turn=1, call="c1", decision="once")
    events = [CREATED, *asked(STEP), allowed, RunEnded(run=1, outcome="done")]
    assert taken_in(app, packed((f"theirs/{LOG}", log_of(tmp_path, events)))) == "theirs"


def test_what_was_allowed_for_a_session_elsewhere_is_asked_about_here(app: App, tmp_path: Path) -> None:
    opened = ConversationOpened(conversation="main")
    remembered = ApprovalRemembered(conversation="main", key="Write", tool="Write")
    name = taken_in(app, packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED, opened, remembered]))))
    state = fold("main", app.sessions.records(name))
    assert not state.allowed
    assert state.tainted, "what is said in it came from outside"


def test_a_conversation_that_was_taken_in_goes_on(app: App, tmp_path: Path) -> None:
    async def said(session: str, word: str) -> None:
        async with talk_in(app, session=session, working=tmp_path) as talk:
            await talk.say(word)
            await talk.idle()

    asyncio.run(said("talk", "hello"))
    name = taken_in(app, exported(app, "talk", "bundle")[1])
    assert name == "talk-2"
    asyncio.run(said(name, "and again"))
    assert not app.sessions.read(name).cuts


def test_one_that_was_cut_off_is_in_nobodys_way(app: App, tmp_path: Path) -> None:
    with app.workspace.folder.folder("sessions", create=True) as sessions:
        sessions.make(".import-theirs-0")
    assert taken_in(app, packed((f"theirs/{LOG}", log_of(tmp_path, [CREATED])))) == "theirs"
