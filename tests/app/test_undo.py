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


@pytest.mark.parametrize("inside", ["", "kept/"])
def test_what_the_machine_writes_meanwhile_is_no_work_of_a_command(
    workspace: Path, tmp_path: Path, inside: str
) -> None:
    """In a workspace that is the working folder, or lies in it, another session goes on while a command runs."""
    place = tmp_path / "project" / inside
    lay_out(place)
    (place / "config.toml").write_text('model = "scripted"\n')
    (place / "notes.md").write_text("one\n")
    command = "while [ ! -e go ]; do sleep 0.05; done; echo two > notes.md"
    turns = [Turn(says("Hello.")), Turn(calls("Shell", {"command": f"cd ./{inside} && {command}", "needs": ["write"]}))]
    turns += [Turn(says("Yes.")), DONE]

    async def go() -> None:
        with App.open(place, models={"scripted": ScriptedModel(turns)}) as app:
            other = SessionRequest(talk=True, session="other", working=tmp_path)
            async with app.session(other, reachable=False) as session:
                await say(session, "first")
            request = SessionRequest(talk=True, session="talk", mode="auto", working=tmp_path / "project")
            async with app.session(request, reachable=False) as session:
                assert isinstance(await session.submit(Say(text="change it")), Accepted)
                while not any(
                    one.event.type == "intent_recorded" and one.event.call for one in await session.records()
                ):
                    await asyncio.sleep(0.01)
                async with app.session(other, reachable=False) as beside:
                    await say(beside, "second")
                (place / "go").touch()
                await session.rest()
                assert (place / "notes.md").read_text() == "two\n"
                assert isinstance(await undo(session), Accepted)

    asyncio.run(asyncio.wait_for(go(), 60))
    assert (place / "notes.md").read_text() == "one\n"
    with App.open(place) as app:
        said = [one.event.text for one in app.sessions.records("other") if one.event.type == "message_accepted"]
        assert said == ["first", "second"]
