"""A recorded conversation lived again: the same where nothing changed, and what would be otherwise where it did."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.app.conversing import say, talk
from tests.made import Weft, lay_out
from weft.app import App, OpenedSession, SessionRequest, replay
from weft.app.connections.secrets import person_secrets
from weft.app.sessions.session_replay import Replayed
from weft.cli.commands import run_command_line
from weft.protocol.commands import Mode, StartRun
from weft.testing.scripted import ScriptedModel, Turn, calls, says

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


def test_a_word_that_became_a_secret_since_is_in_no_test_and_no_difference(
    workspace: Path, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
    secret = "thimble-9-meadow"
    turns = [Turn(calls("Write", {"file_path": f"{secret}.md", "content": secret})), Turn(says(f"{secret} is there."))]

    async def play(session: OpenedSession) -> None:
        await say(session, f"write {secret} down")

    talk(workspace, desk, turns, play)
    assert secret in (workspace / "sessions/talk/log.jsonl").read_text(), "nobody had said that it is one"
    with App.open(workspace) as app:
        person_secrets(app.surroundings, None).put("own", secret)
    assert lived_again(workspace).differences == ()
    (workspace / "permissions.yaml").write_text(f"deny:\n  - {{tool: Write, why: no {secret} here}}\n")
    kept = tmp_path / "kept.json"
    words = ["--workspace", str(workspace), "sessions", "replay", "talk", "--mode", "edits", "--as-test", str(kept)]
    assert run_command_line(words) == 1
    told = capsys.readouterr()
    assert "[secret own]" in told.out
    assert secret not in kept.read_text() + told.out + told.err


def test_what_a_run_made_is_judged_by_todays_checks_and_prompts(workspace: Path, desk: Path) -> None:
    weft = Weft(workspace)
    (workspace / "config.toml").unlink()
    (desk / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    assert weft("run", desk / "poem.txt", "--session-id", "talk").code == 0
    same = lived_again(workspace)
    assert (same.turns, same.steps, same.differences) == (0, 3, ())
    schema = workspace / "schemas/count.schema.json"
    schema.write_text(schema.read_text().replace('"minimum": 1', '"minimum": 100'))
    agent = workspace / ".claude/agents/lister.md"
    agent.write_text(agent.read_text().replace("once", "twice"))
    told = [str(one) for one in lived_again(workspace).differences]
    assert any(one.startswith("step count: what it made would be refused: count.json") for one in told), told
    assert any(one.startswith("step list: would be made again: ") for one in told), told


def test_where_the_model_of_a_step_would_be_told_something_else_is_said(workspace: Path, desk: Path) -> None:
    """Also of a try that was told what was wrong with the one before."""
    lay_out(workspace)
    pipeline = workspace / "pipelines/letters.yaml"
    pipeline.write_text(
        pipeline.read_text().replace("    agent: lister\n", "    agent: lister\n    checks: [{unique: {at: '[*]'}}]\n")
    )
    (desk / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    model = ScriptedModel([Turn(says('["red", "red"]')), Turn(says('["red"]'))])

    async def run() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            async with app.session(SessionRequest(file=desk / "poem.txt", session="talk")) as session:
                assert await session.run(StartRun()) == "done"

    asyncio.run(asyncio.wait_for(run(), 60))
    assert "Your last attempt was rejected" in str(model.requests[1].messages)

    def told() -> list[str]:
        with App.open(workspace, models={"scripted": model}) as app:
            return [text for _, text in asyncio.run(asyncio.wait_for(app.judged_again("talk"), 60))]

    assert told() == []
    agent = workspace / ".claude/agents/lister.md"
    agent.write_text(agent.read_text().replace("once", "twice"))
    (otherwise,) = [one for one in told() if "told something else" in one]
    assert "- List every word once." in otherwise
    assert "+ List every word twice." in otherwise
    assert len(otherwise.splitlines()) == 3
