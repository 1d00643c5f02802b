"""The live view on a real pseudo-terminal, read back through a terminal emulator: what a person sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.made import Weft
from tests.terminal import Terminal

PIPELINE = """\
name: slow
description: Slow steps, one of them rejected once.
inputs: {}
steps:
  gather: {artifact: gather.json, code: 'slow.py:gather', schema: g.json}
  weigh: {artifact: weigh.json, code: 'slow.py:weigh'}
  write: {artifact: write.md, code: 'slow.py:write', requires: [gather, weigh], final: true}
"""
CODE = """\
import time
def gather(step):
    if not step.feedback:
        return {"title": "x"}
    print("reading page 1 of 3")
    time.sleep(1.5)
    return {"title": "long enough"}
def weigh(step):
    time.sleep(1.2)
    return {}
def write(step):
    time.sleep(60 if step.parameters.get("hang") else 0.1)
    return "text"
"""
SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "minLength": 5}}}


@pytest.fixture
def slow(tmp_path: Path, workspace: Path) -> Weft:
    for name, text in {
        "pipelines/slow.yaml": PIPELINE,
        "code/slow.py": CODE,
        "schemas/g.json": json.dumps(SCHEMA),
    }.items():
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Weft(workspace)


@pytest.mark.parametrize("width", [60, 120])
def test_a_run_from_start_to_end(slow: Weft, width: int) -> None:
    terminal = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=width)
    terminal.wait_for(
        "slow · slow-one",
        "attempt 2 · reading page 1 of 3",
        'gather.json at /title: "x" is shorter than 5',
        "hint: write more",
        "○ write waiting",
    )
    terminal.wait_for("Done in")
    assert terminal.end() == 0
    done = terminal.text()
    for line in ("✓ gather", "→ gather.json", "✓ weigh", "✓ write", "→ write.md"):
        assert line in done
    assert str(slow.session("slow-one") / "write.md") in terminal.text().replace("\n", "").replace(" ", "")
    again = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=width)
    again.wait_for("Done in")
    assert again.end() == 0
    shown = again.text()
    assert "• gather  skipped: up to date" in shown
    assert "everything was up to date" in shown


def test_ctrl_c_interrupts_and_says_how_to_go_on(slow: Weft) -> None:
    terminal = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=80)
    terminal.wait_for("reading page 1 of 3")
    terminal.child.sendintr()
    terminal.wait_for("Nothing is lost")
    assert terminal.end() == 130
    assert "! gather" in terminal.text()
    assert "run --session-id slow-one" in terminal.words()


def test_ctrl_c_behind_a_full_line_leaves_nothing_of_the_view_behind(slow: Weft) -> None:
    """The terminal writes ^C where the cursor stands: behind the time of a step, which ends at the edge."""
    alone = PIPELINE.partition("  gather")[0] + "  gather: {artifact: gather.json, code: 'slow.py:wait', final: true}\n"
    (slow.workspace / "pipelines/slow.yaml").write_text(alone)
    (slow.workspace / "code/slow.py").write_text(
        "import time\ndef wait(step):\n    print('waits')\n    time.sleep(60)\n"
    )
    terminal = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=80)
    terminal.wait_for("gather waits")
    terminal.child.sendintr()
    terminal.wait_for("Nothing is lost")
    assert terminal.end() == 130
    assert terminal.text().count("slow · slow-one") == 1


def test_a_failed_run_keeps_its_errors_on_screen(slow: Weft) -> None:
    (slow.workspace / "code/slow.py").write_text(CODE.replace("if not step.feedback", "if True"))
    terminal = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=100)
    terminal.wait_for("run --session-id slow-one")
    assert terminal.end() == 1
    shown = terminal.text()
    assert "✗ gather" in shown
    assert '"x" is shorter than 5 characters' in shown


def test_no_color_and_dumb_terminals(slow: Weft) -> None:
    plain = Terminal(slow, "run", "slow", "--session-id", "slow-one", width=80, NO_COLOR="1")
    plain.wait_for("Done in")
    assert plain.end() == 0
    assert b"\x1b[3" not in plain.raw.replace(b"\x1b[?", b"")
    dumb = Terminal(slow, "run", "slow", "--session-id", "slow-two", width=80, TERM="dumb")
    dumb.wait_for("run done")
    assert dumb.end() == 0
    assert b"\x1b" not in dumb.raw


def test_plan_and_sessions_fit_a_narrow_terminal(slow: Weft) -> None:
    plan = Terminal(slow, "plan", "slow", width=60)
    assert plan.end() == 0
    assert "gather" in plan.text()
    assert "not yet made" in plan.text()
    assert slow("run", "slow", "--session-id", "slow-one").code == 0
    listed = Terminal(slow, "sessions", width=60)
    assert listed.end() == 0
    assert "slow-one" in listed.text()
    shown = Terminal(slow, "sessions", "show", "slow-one", width=60)
    assert shown.end() == 0
    assert "write.md" in shown.text()
    drawn = Terminal(slow, "pipelines", "show", "slow", "--graph", width=60)
    assert drawn.end() == 0
    assert "gather" in drawn.text()
