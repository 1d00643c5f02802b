"""`weft approve`: a call that waits for a person is answered from another terminal, while its session is held by a
process that lives, and after that process was killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.wired import wired
from tests.made import Weft
from tests.terminal import Terminal
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply

HOLDER = """
import asyncio, sys
from pathlib import Path
from weft.app import App, SessionRequest
from weft.protocol.commands import Say

async def main():
    with App.open(Path(sys.argv[1])) as app:
        async with app.session(SessionRequest(session="desk", talk=True, working=Path(sys.argv[2]))) as session:
            await session.submit(Say(text="write it down"))
            await session.rest()

asyncio.run(main())
"""
WRITES = json.dumps({"path": "note.md", "content": "kept\n"})
CALLS = Reply(calls=(Called(tool="Write", arguments=WRITES, call="call_7"),))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def kinds(weft: Weft) -> list[str]:
    log = weft.session("desk") / "log.jsonl"
    return [event["type"] for event in weft.log("desk")] if log.exists() else []


def until(weft: Weft, kind: str, holder: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if kind in kinds(weft):
            return
        assert holder.poll() is None
        time.sleep(0.1)
    raise AssertionError(f"no {kind}: {kinds(weft)}")


@pytest.mark.parametrize(("killed", "deny"), [(False, True), (True, False)])
def test_a_call_is_answered_wherever_its_session_is_held(weft: Weft, desk: Path, killed: bool, deny: bool) -> None:
    with wired(weft, [CALLS, Reply(text="It is done.")]):
        words = [sys.executable, "-c", HOLDER, str(weft.workspace), str(desk)]
        holder = subprocess.Popen(words, env=weft.env, cwd=desk)
        try:
            until(weft, "approval_requested", holder)
            if killed:
                holder.send_signal(signal.SIGKILL)
                holder.wait(30)
            listed = weft("approve", "desk")
            assert (listed.code, listed.out.split()[:3]) == (0, ["call_7", "main", "Write:"])
            assert not (desk / "note.md").exists()
            more = ["--deny", "--reason", "not now"] if deny else []
            answered = subprocess.run(
                weft.command("approve", "desk", "call_7", *more), env=weft.env, cwd=desk, timeout=60, check=False
            )
            assert answered.returncode == 0
            if not killed:
                assert holder.wait(60) == 0
        finally:
            holder.kill()
            holder.wait(30)
    assert (desk / "note.md").exists() is not deny
    log = weft.log("desk")
    decided = [event for event in log if event["type"] == "approval_decided"]
    assert [(one["decision"], one["envelope"]["by"]["kind"]) for one in decided] == [
        ("denied" if deny else "once", "person")
    ]
    assert [event["type"] for event in log].count("tool_settled") == 1
    assert [event["text"] for event in log if event["type"] == "model_settled"][-1] == "It is done."
    again = weft("approve", "desk", "call_7")
    assert again.code == 1
    assert "no call call_7 waits" in again.err
    nothing = weft("approve", "desk")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no call waits for you in desk\n")


def test_an_answer_that_was_taken_is_not_asked_for_again_although_its_holder_dies(weft: Weft, desk: Path) -> None:
    with wired(weft, [CALLS, Reply(text="never heard", hold=Hold())]):
        words = [sys.executable, "-c", HOLDER, str(weft.workspace), str(desk)]
        with subprocess.Popen(words, env=weft.env, cwd=desk) as holder:
            until(weft, "approval_requested", holder)
            command = weft.command("approve", "desk", "call_7")
            with subprocess.Popen(command, env=weft.env, cwd=desk, stderr=subprocess.PIPE) as answered:
                until(weft, "tool_settled", holder)
                holder.kill()
                _, told = answered.communicate(timeout=60)
    assert (answered.returncode, told.decode().splitlines()) == (0, ["allowed"])
    assert kinds(weft).count("tool_settled") == 1
    assert kinds(weft).count("model_settled") == 2, "the call that was cut off has an end"


DIES = """
import asyncio, os, sys
from pathlib import Path
from weft.app import App, LiveSession, SessionRequest
from weft.protocol.commands import StartRun

decide = LiveSession._decide_approval
async def dies(self, *given):
    if "told" in sys.argv:
        await decide(self, *given)
    os._exit(9)
LiveSession._decide_approval = dies

async def main():
    with App.open(Path(sys.argv[1])) as app:
        wish = StartRun(parameters={"project": sys.argv[2]})
        async with app.session(SessionRequest(pipeline="permitted", session="desk"), wish) as session:
            await session.submit(wish)
            await session.rest()

asyncio.run(main())
"""
PERMITTED = """\
name: permitted
description: a step whose tool no rule allows
inputs: {}
parameters:
  project: {type: folder}
steps:
  make: {artifact: made.json, tool: Shell, folder: project, with: {command: touch a-file}, attempts: 1, final: true}
"""


@pytest.mark.parametrize("told", ["told", "lost"])
def test_an_answer_to_one_that_dies_over_it_is_given_to_whoever_is_next_and_counts_once(
    weft: Weft, desk: Path, told: str
) -> None:
    (weft.workspace / "pipelines/permitted.yaml").write_text(PERMITTED)
    words = [sys.executable, "-c", DIES, str(weft.workspace), str(desk), told]
    with subprocess.Popen(words, env=weft.env, cwd=desk) as holder:
        until(weft, "approval_requested", holder)
        call = weft("approve", "desk").out.split()[0]
        answered = weft("approve", "desk", call)
        assert holder.wait(60) == 9
    assert answered.code == 0, answered.err
    assert answered.err.splitlines().count("allowed") == 1
    assert kinds(weft).count("approval_decided") == 1
    assert (desk / "a-file").exists()


def test_a_name_that_a_model_gives_twice_allows_nothing_by_accident(weft: Weft, desk: Path) -> None:
    """What a person has read and what waits by now are told apart, also where a model calls both the same."""
    again = Reply(calls=(Called(tool="Write", arguments=WRITES.replace("note.md", "other.md"), call="call_7"),))
    with wired(weft, [CALLS, again, Reply(text="It is done.")]):
        words = [sys.executable, "-c", HOLDER, str(weft.workspace), str(desk)]
        with subprocess.Popen(words, env=weft.env, cwd=desk) as holder:
            until(weft, "approval_requested", holder)
            holder.kill()

        def approve(*more: str) -> tuple[int, str, str]:
            command = weft.command("approve", "desk", *more)
            done = subprocess.run(command, env=weft.env, cwd=desk, timeout=60, check=False, capture_output=True)
            return done.returncode, done.stdout.decode(), done.stderr.decode()

        assert approve("call_7")[0] == 3, "the other call waits"
        code, _, why = approve("call_7", "--always")
        assert (code, "call_7 is what more than one call of desk is called" in why) == (1, True)
        assert not (weft.workspace / "permissions.yaml").exists()
        _, listed, _ = approve()
        name, _, tool, path, *_ = listed.split()
        assert (name, tool, path) == ("main/2/call_7", "Write:", "other.md")
        assert not (desk / "other.md").exists()
        assert approve(name)[0] == 0
    assert (desk / "note.md").exists()
    assert (desk / "other.md").exists()


@pytest.mark.parametrize("anew", ["fresh", "force"])
def test_what_a_run_asked_that_is_over_or_made_anew_waits_for_nobody(weft: Weft, desk: Path, anew: str) -> None:
    """Killed while a person was asked; then the run is begun afresh, or its step is made anew."""
    (weft.workspace / "pipelines/permitted.yaml").write_text(PERMITTED.replace("touch", "sleep 0 && touch"))
    words = ("run", "permitted", "--session-id", "desk", "--set", f"project={desk}")
    terminal = Terminal(weft, *words, width=100, height=30)
    terminal.wait_for("allow it, this once?")
    terminal.child.kill(signal.SIGKILL)
    terminal.end()
    assert "sleep 0" in weft("approve", "desk").out
    assert states(weft) == ["waiting"]
    if anew == "fresh":
        assert weft("reply", "desk", "fresh").code == 1, "nobody is there to approve it now"
    else:
        assert weft(*words, "--force", "make").code == 1
    nothing = weft("approve", "desk")
    assert (nothing.out, nothing.err) == ("", "no call waits for you in desk\n")
    assert states(weft) == ["failed"]


def states(weft: Weft) -> list[str]:
    return [event["status"] for event in weft("sessions", "list", "--json").events]
