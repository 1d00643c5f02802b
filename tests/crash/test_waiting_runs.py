"""A run that waits, asks or repairs, and its process is killed: the next one goes on to the same result."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.gated import started, wait_for_file
from tests.made import Weft
from tests.terminal import Terminal

ARTIFACTS = ("plan.json", "draft.json", "verify.json", "review.json", "report.md")
UNDISTURBED = {
    "plan.json": '{\n  "title": "On rivers",\n  "parts": [\n    "beginning",\n    "end"\n  ]\n}\n',
    "draft.json": '{\n  "parts": [\n    "beginning",\n    "end"\n  ],\n  "polish": 2,\n'
    '  "told": "polish it, 1 is not enough"\n}\n',
    "verify.json": '{\n  "verdict": "passed",\n  "feedback": "polish it, 2 is not enough"\n}\n',
    "review.json": '{\n  "verdict": "passed"\n}\n',
    "report.md": "beginning, end\n",
}


@pytest.fixture
def weft(tmp_path: Path, workspace: Path) -> Weft:
    return started(tmp_path, workspace)


def made(weft: Weft) -> dict[str, str]:
    return {name: (weft.session("essay") / name).read_text() for name in ARTIFACTS}


def kill(pid: int | None) -> None:
    assert pid
    os.kill(pid, signal.SIGKILL)


def finish(weft: Weft, *gates: str) -> None:
    """A new process takes the run up and answers what it still waits for."""
    answers = [word for gate in gates for word in ("--answer", f"{gate}=proceed")]
    ran = weft("run", "--session-id", "essay", "--plain", *answers)
    assert ran.code == 0, ran.err
    assert made(weft) == UNDISTURBED
    assert [line["run"] for line in weft.log("essay") if line["type"] == "run_started"].count(2) == 0


def killed_at(weft: Weft, gate: str) -> None:
    screen = Terminal(weft, "reply", "essay", width=100, height=40)
    screen.wait_for(f"{gate} is done", "leaves it waiting >", seconds=60)
    before = (weft.session("essay") / "log.jsonl").read_bytes()
    kill(screen.child.pid)
    screen.child.wait()
    assert (weft.session("essay") / "log.jsonl").read_bytes() == before


def test_killed_at_each_gate(weft: Weft) -> None:
    killed_at(weft, "plan")
    assert weft("reply", "essay", "proceed").code == 3
    killed_at(weft, "review")
    weft.ran()
    finish(weft, "review")
    assert weft.ran() == ["report"]


def test_killed_while_confirming_a_breakout(weft: Weft) -> None:
    screen = Terminal(weft, "reply", "essay", width=100, height=40)
    screen.wait_for("leaves it waiting >", seconds=60)
    screen.child.send("never mind, another question\r")
    screen.wait_for("Leave the run for this?", "question open >", seconds=60)
    kill(screen.child.pid)
    screen.child.wait()
    ran = weft("reply", "essay", "no")
    assert ran.code == 3
    assert "stay with the run" in ran.err
    finish(weft, "plan", "review")


@pytest.mark.parametrize(("step", "number"), [("draft", 0), ("verify", 0), ("draft", 1), ("verify", 1), ("draft", 2)])
def test_killed_in_each_repair_round(weft: Weft, step: str, number: int) -> None:
    hold = weft.ledger.parent / f"hold-{step}-{number}"
    hold.touch()
    with subprocess.Popen(
        weft.command("reply", "essay", "proceed", "--plain"),
        env=weft.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        wait_for_file(weft.ledger.parent / f"held-{step}-{number}")
        kill(child.pid)
    hold.unlink()
    rounds = [line["round"] for line in weft.log("essay") if line["type"] == "round_started"]
    assert rounds == list(range(1, number + 1))
    finish(weft, "review")
    rounds = [line["round"] for line in weft.log("essay") if line["type"] == "round_started"]
    assert rounds == [1, 2]


def test_left_then_killed_then_taken_up(weft: Weft) -> None:
    assert weft("reply", "essay", "leave").code == 3
    assert weft("reply", "essay", "yes").code == 3
    screen = Terminal(weft, "chat", "--session", "essay", width=100, height=40)
    screen.wait_for("weft chat", "embedded", seconds=60)
    kill(screen.child.pid)
    screen.child.wait()
    assert weft("reply", "essay", "resume").code == 3
    finish(weft, "plan", "review")
