"""Who talks in a session that another process holds goes on when that one goes away: it is left, or killed."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_chat_face import until
from tests.e2e.wired import wired
from tests.made import Weft
from tests.terminal import Terminal
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply, WireServer

TALK = ("chat", "--plain", "--session", "talk")
WRITES = Called(tool="Write", arguments=json.dumps({"path": "note.md", "content": "kept\n"}), call="call_7")


@contextmanager
def talking(weft: Weft, *more: str) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(weft.command(*TALK, *more), env=weft.env, text=True, bufsize=1, **pipes)  # type: ignore[call-overload]
    with process:
        try:
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str], text: str, answer: str) -> None:
    """Until its output has the answer to what was said; what others were answered stands there too."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{text}\n")
    while (line := process.stdout.readline()) != f"{answer}\n":
        assert line, f"it ended without {answer}"


def left(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.close()
    return process.wait(60), process.stderr.read()


def of(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [event for event in weft.log("talk") if event["type"] == kind]


@pytest.mark.parametrize("killed", [True, False])
def test_a_pipe_goes_on_here_and_each_line_is_said_once(weft: Weft, killed: bool) -> None:
    with wired(weft, [Reply(text=text) for text in ("One.", "Two.", "Three.", "Four.")]), talking(weft) as holder:
        says(holder, "one", "One.")
        with talking(weft) as other:
            says(other, "two", "Two.")
            if killed:
                holder.kill()
                holder.wait(60)
            else:
                assert left(holder)[0] == 0
            says(other, "three", "Three.")
            says(other, "four", "Four.")
            code, told = left(other)
    assert code == 0, told
    assert told.count("the process that held the session has ended: it goes on here, in ") == 1
    assert [event["text"] for event in of(weft, "message_accepted")] == ["one", "two", "three", "four"]
    assert weft("sessions", "verify", "talk").code == 0


def test_what_was_being_answered_when_the_holder_died_is_not_taken_for_answered(weft: Weft) -> None:
    hold = Hold()
    replies = [Reply(text="One."), Reply(text="never heard", hold=hold), Reply(text="Three.")]
    with wired(weft, replies) as wire, talking(weft) as holder:
        says(holder, "one", "One.")
        with talking(weft) as other:
            assert other.stdin is not None
            other.stdin.write("two\nthree\n")
            until(hold.reached.is_set, "the model was not asked")
            holder.kill()
            code, told = left(other)
            assert other.stdout is not None
            assert other.stdout.read() == "Three.\n"
    assert code == 130, told
    assert [event["text"] for event in of(weft, "message_accepted")] == ["one", "two", "three"]
    assert len(wire.server.seen) == 3


def test_what_was_asked_before_the_holder_died_is_answered_where_it_was_seen(weft: Weft, tmp_path: Path) -> None:
    words = ("chat", "--session", "talk")
    with wired(weft, [Reply(calls=(WRITES,)), Reply(text="It is done.")]):
        holder = Terminal(weft, *words, width=100, height=30, cwd=str(tmp_path))
        holder.wait_for("Enter sends")
        terminal = Terminal(weft, *words, width=100, height=30, cwd=str(tmp_path))
        terminal.wait_for("Enter sends")
        terminal.child.send("write it\r")
        terminal.wait_for("May Write do this?")
        holder.child.kill(signal.SIGKILL)
        holder.end()
        terminal.wait_for("it goes on here, in", "and the mode ask", "May Write do this?")
        terminal.child.send("y\r")
        terminal.wait_for("It is done.")
        terminal.child.send("\x04")
        assert terminal.end() == 0
    assert (tmp_path / "note.md").read_text() == "kept\n"
    assert [event["decision"] for event in of(weft, "approval_decided")] == ["once"]


def test_two_that_follow_one_that_dies_have_one_conversation(weft: Weft) -> None:
    replies = [Reply(text=text) for text in ("One.", "Two.", "Three.", "Four.", "Five.")]
    with wired(weft, replies), talking(weft) as holder:
        says(holder, "one", "One.")
        with talking(weft) as first, talking(weft) as second:
            says(first, "two", "Two.")
            says(second, "three", "Three.")
            holder.kill()
            holder.wait(60)
            says(first, "four", "Four.")
            says(second, "five", "Five.")
            told = [left(process) for process in (second, first)]
    assert [code for code, _ in told] == [0, 0], told
    words = [line for _, said in told for line in said.splitlines() if "has ended" in line]
    assert {"another has it now" in line for line in words} == {True, False}, "one has it, the other follows"
    assert [event["text"] for event in of(weft, "message_accepted")] == ["one", "two", "three", "four", "five"]


def test_an_editor_goes_on_too(weft: Weft, tmp_path: Path) -> None:
    pytest.importorskip("acp", reason="needs the extra weft[acp]: pip install agent-client-protocol")
    from tests.e2e.test_acp import Editor, editing, played, words

    async def story(server: WireServer) -> None:
        with talking(weft) as holder:
            await asyncio.to_thread(says, holder, "one", "One.")
            editor = Editor()
            async with editing(weft, editor) as agent:
                await agent.load_session(cwd=str(tmp_path), session_id="talk", mcp_servers=[])
                assert (await agent.prompt(session_id="talk", prompt=words("two"))).stop_reason == "end_turn"
                holder.kill()
                holder.wait(60)
                assert (await agent.prompt(session_id="talk", prompt=words("three"))).stop_reason == "end_turn"
                assert editor.text() == "One.Two.Three."
                assert "it goes on here" in editor.text("agent_thought_chunk")
        server.assert_done()

    played(weft, [Reply(text=text) for text in ("One.", "Two.", "Three.")], story)
    assert [event["text"] for event in of(weft, "message_accepted")] == ["one", "two", "three"]
