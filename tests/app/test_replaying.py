"""A recorded conversation lived again: the same where nothing changed, and what would be otherwise where it did."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.app.talking import say, talk
from tests.made import lay_out
from weft.app import App, OpenedSession, Replayed, replay
from weft.protocol.commands import Mode
from weft.testing.scripted import Turn, calls, says

pytestmark = pytest.mark.process


@pytest.fixture
def desk(tmp_path: Path, workspace: Path) -> Path:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "notes.md").write_text("one\n")
    return desk


def lived_again(workspace: Path, mode: Mode = "edits") -> Replayed:
    with App.open(workspace) as app:
        return asyncio.run(asyncio.wait_for(replay(app, "talk", mode=mode), 60))


def test_what_would_be_otherwise_is_said_and_nothing_is_done_again(workspace: Path, desk: Path) -> None:
    edit = {"file_path": "notes.md", "old_string": "one", "new_string": "two"}
    turns = [
        Turn(calls("Read", {"file_path": "notes.md"})),
        Turn(calls("Edit", edit)),
        Turn(says("Done.")),
        Turn(says("Yes.")),
    ]

    async def play(session: OpenedSession) -> None:
        await say(session, "make it two")
        await say(session, "is it?")

    talk(workspace, desk, turns, play)
    (desk / "notes.md").write_text("mine\n")
    before = (workspace / "sessions/talk/log.jsonl").read_bytes()
    same = lived_again(workspace)
    assert (same.turns, same.calls, same.differences, len(same.prompts)) == (4, 2, (), 4)
    assert (desk / "notes.md").read_text() == "mine\n"
    assert (workspace / "sessions/talk/log.jsonl").read_bytes() == before
    assert lived_again(workspace).prompts == same.prompts

    (workspace / "permissions.yaml").write_text("deny:\n  - {tool: Edit, why: nobody edits here}\n")
    (workspace / "AGENTS.md").write_text("Answer in rhymes.\n")
    other = lived_again(workspace)
    (difference,) = other.differences
    assert difference.turn == 2
    assert "was: allow, is now: deny" in difference.text
    assert other.prompts[0] != same.prompts[0]  # they are told otherwise now
