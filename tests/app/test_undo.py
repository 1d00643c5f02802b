"""What tools changed in files can be taken back: message by message, only while nobody changed it since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app import App, OpenedSession, SessionRequest
from weft.protocol.commands import Accepted, Refused, Reply, Say, Undo
from weft.protocol.conversation_events import FilesRestored, ToolSettled
from weft.protocol.events import Record
from weft.testing.scripted import ScriptedModel, Turn, calls, says

pytestmark = pytest.mark.process
Play = Callable[[OpenedSession], Awaitable[None]]


@pytest.fixture
def desk(tmp_path: Path, workspace: Path) -> Path:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    (desk / "in").mkdir(parents=True)
    (desk / "notes.md").write_text("one\n")
    return desk


def talk(workspace: Path, desk: Path, turns: list[Turn], play: Play) -> list[Record]:
    async def go() -> None:
        with App.open(workspace, models={"scripted": ScriptedModel(turns)}) as app:
            request = SessionRequest(talk=True, session="talk", mode="edits", working=desk)
            async with app.session(request, reachable=False) as session:
                await play(session)

    asyncio.run(asyncio.wait_for(go(), 60))
    with App.open(workspace) as app:
        return list(app.sessions.records("talk"))


def edit(old: str, new: str) -> Turn:
    return Turn(calls("Edit", {"path": "notes.md", "old": old, "new": new}))


def write(path: str, text: str) -> Turn:
    return Turn(calls("Write", {"path": path, "content": text}))


READ = Turn(calls("Read", {"path": "notes.md"}))
DONE = Turn(says("Done."))


async def say(session: OpenedSession, text: str) -> None:
    assert isinstance(await session.submit(Say(text=text)), Accepted)
    await session.rest()


async def undo(session: OpenedSession) -> Reply:
    reply = await session.submit(Undo())
    await session.rest()
    return reply


def test_message_by_message_to_the_beginning(workspace: Path, desk: Path) -> None:
    turns = [READ, edit("one", "two"), edit("two", "three"), write("in/new.txt", "new\n"), DONE]
    turns += [edit("three", "four"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "first")
        await say(session, "second")
        (desk / "notes.md").chmod(0o600)
        assert (desk / "notes.md").read_text() == "four\n"
        told = await undo(session)
        assert isinstance(told, Accepted)
        assert told.note == "notes.md"
        assert (desk / "notes.md").read_text() == "three\n"
        assert (desk / "notes.md").stat().st_mode & 0o777 == 0o600
        assert isinstance(await undo(session), Accepted)
        assert (desk / "notes.md").read_text() == "one\n"
        assert not (desk / "in/new.txt").exists()
        refused = await undo(session)
        assert isinstance(refused, Refused)
        assert "no change" in refused.reason

    records = talk(workspace, desk, turns, play)
    restored = [record.event for record in records if isinstance(record.event, FilesRestored)]
    assert [sorted(event.files) for event in restored] == [["notes.md"], ["in/new.txt", "notes.md"]]
    blobs = {path.read_text() for path in (workspace / "sessions/talk/blobs").iterdir()}
    assert {"one\n", "three\n", "four\n", "new\n"} <= blobs  # what was taken back is not lost either


def test_what_somebody_changed_since_is_left_and_nothing_else_is_touched(workspace: Path, desk: Path) -> None:
    turns = [READ, edit("one", "two"), write("in/new.txt", "new\n"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "first")
        (desk / "notes.md").write_text("mine\n")
        refused = await undo(session)
        assert isinstance(refused, Refused)
        assert "notes.md changed since" in refused.reason
        assert (desk / "notes.md").read_text() == "mine\n"
        assert (desk / "in/new.txt").read_text() == "new\n"
        (desk / "notes.md").write_text("one\n")  # somebody has put it back by hand: that is as good
        assert isinstance(await undo(session), Accepted)
        assert not (desk / "in/new.txt").exists()

    talk(workspace, desk, turns, play)


def test_a_model_does_not_write_over_what_was_taken_back(workspace: Path, desk: Path) -> None:
    turns = [READ, edit("one", "two"), DONE, write("notes.md", "again\n"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "first")
        assert isinstance(await undo(session), Accepted)
        await say(session, "second")

    records = talk(workspace, desk, turns, play)
    last = [record.event for record in records if isinstance(record.event, ToolSettled)][-1]
    assert last.outcome == "failed"
    assert "was not read" in last.text
    assert (desk / "notes.md").read_text() == "one\n"
