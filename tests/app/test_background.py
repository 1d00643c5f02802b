"""Commands that go on in the background, what one leaves for the next, and what one changed taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.conversing import give, say, talk
from tests.made import lay_out
from weft.app import OpenedSession
from weft.protocol.commands import Accepted, Refused, StopProcess, Undo
from weft.protocol.conversation_events import FilesRestored, ProcessEnded, ProcessStarted, ToolSettled
from weft.protocol.events import Record
from weft.testing.scripted import Turn, calls, says
from weft.tools.boundary import boundary_here

pytestmark = pytest.mark.process
DONE = Turn(says("Done."))


@pytest.fixture
def desk(tmp_path: Path, workspace: Path) -> Path:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    (desk / "src").mkdir(parents=True)
    (desk / "notes.md").write_text("one\n")
    (desk / "gone.txt").write_text("gone\n")
    return desk


def bash(command: str, **more: object) -> Turn:
    return Turn(calls("Bash", {"command": command, **more}))


def results(records: list[Record]) -> list[str]:
    return [record.event.text for record in records if isinstance(record.event, ToolSettled)]


def test_a_server_goes_on_over_turns_and_ends_with_the_session(workspace: Path, desk: Path) -> None:
    serve = "echo ready; while [ ! -e stop ]; do sleep 0.05; done; echo bye"
    turns = [bash(serve, run_in_background=True), DONE]
    turns += [bash("for i in $(seq 100); do sleep 0.02; done; echo waited"), DONE]
    turns += [Turn(calls("BashOutput", {"bash_id": "process-1"})), DONE]
    turns += [bash("sleep 600", run_in_background=True), DONE]

    async def play(session: OpenedSession) -> None:
        for words in ("serve", "wait", "read"):
            await say(session, words)
        assert "`process-1` is running" in await session.look("processes")
        await say(session, "and another")
        assert isinstance(await give(session, StopProcess(process="process-2")), Accepted)
        refused = await give(session, StopProcess(process="process-9"))
        assert isinstance(refused, Refused)

    records = talk(workspace, desk, turns, play, mode="auto")
    assert results(records)[2] == "ready\n[it is running]"
    started = [r.event.process for r in records if isinstance(r.event, ProcessStarted)]
    ended = {r.event.process: r.event.reason for r in records if isinstance(r.event, ProcessEnded)}
    assert started == ["process-1", "process-2"]
    assert ended == {"process-1": "stopped", "process-2": "stopped"}

    async def look(session: OpenedSession) -> None:
        assert "`process-1` stopped" in await session.look("processes")

    talk(workspace, desk, [], look)


@pytest.mark.skipif(boundary_here().strength != "strong", reason="what holds is kept only inside a strong boundary")
def test_the_folder_and_what_is_exported_hold_for_the_next_command(workspace: Path, desk: Path) -> None:
    turns = [bash("cd src && export COLOUR=red"), bash("pwd; echo $COLOUR; exit 3"), bash("cd /; export LD_PRELOAD=x")]
    turns += [bash("basename $PWD; echo $COLOUR ${LD_PRELOAD-none}"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "go")

    first, second, _, last = results(talk(workspace, desk, turns, play, mode="auto"))
    assert first == "[no output]"
    assert second == f"{desk.resolve()}/src\nred\n[exit code 3]"
    assert last == "src\nred none"


def test_what_a_command_changed_is_taken_back(workspace: Path, desk: Path) -> None:
    (desk / ".gitignore").write_text("made/\n")
    command = "echo two > notes.md; rm gone.txt; echo new > src/new.txt; mkdir made; echo x > made/x"
    turns = [bash(command), bash("echo three >> notes.md"), DONE]

    async def play(session: OpenedSession) -> None:
        await say(session, "go")
        assert (desk / "notes.md").read_text() == "two\nthree\n"
        assert isinstance(await give(session, Undo()), Accepted)
        assert (desk / "notes.md").read_text() == "one\n"
        assert (desk / "gone.txt").read_text() == "gone\n"
        assert not (desk / "src/new.txt").exists()
        assert (desk / "made/x").exists()  # what ignore files leave out is not looked at

    records = talk(workspace, desk, turns, play, mode="auto")
    (event,) = [record.event for record in records if isinstance(record.event, FilesRestored)]
    assert sorted(event.files) == ["gone.txt", "notes.md", "src/new.txt"]
