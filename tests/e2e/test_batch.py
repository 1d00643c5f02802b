"""Many files in one command: a line for each, a table at the end, and one failure does not stop the rest."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.made import Weft
from tests.terminal import Terminal

BAD = "def count(step):\n    ledger(step)\n    if 'bad' in step.text:\n        return {'words': 0, 'first': ''}\n"


@pytest.fixture
def files(weft: Weft, tmp_path: Path) -> list[Path]:
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text().replace("def count(step):\n    ledger(step)\n", BAD))
    found = []
    for name, text in {"a.md": "so much depends", "b.txt": "bad words", "c.md": "upon a red", "d.md": ""}.items():
        path = tmp_path / name
        path.write_text(text)
        found.append(path)
    return found


def test_the_rest_goes_on_and_the_exit_code_says_so(weft: Weft, files: list[Path]) -> None:
    ran = weft("run", *files)
    assert ran.code == 1
    made = [Path(line) for line in ran.out.splitlines()]
    assert sorted(path.read_text() for path in made) == ["3 words: a, red, upon\n", "3 words: depends, much, so\n"]
    assert "b.txt: failed: count: count.json at /words: 0 is less than the minimum of 1" in ran.err
    assert "d.md: failed: d.md is empty" in ran.err
    assert "[4/4]" in ran.err
    assert "4 documents: 2 done, 2 failed" in ran.err
    again = weft("run", files[0], files[2])
    assert again.code == 0
    assert "2 documents: 2 up to date" in again.err


def test_runs_that_are_all_asleep_are_no_end(weft: Weft, files: list[Path]) -> None:
    (weft.workspace / "pipelines/nap.yaml").write_text(
        'name: nap\ndescription: d\nsteps:\n  a: {artifact: a.json, code: "letters.py:count", wait: 90m}\n'
    )
    ran = weft("run", "nap", files[0], files[2])
    assert (ran.code, "c.md: asleep" in ran.err) == (3, True), ran.err


def test_json_lines_say_which_session_they_are_of(weft: Weft, files: list[Path]) -> None:
    ran = weft("run", *files, "--json")
    assert ran.code == 1
    sessions: dict[str, list[int]] = {}
    for line in ran.out.splitlines():
        event = json.loads(line)
        if "seq" in event:
            sessions.setdefault(event["session"], []).append(event["seq"])
    assert len(sessions) == 3
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in sessions.values())


def test_the_same_file_named_twice_is_one(weft: Weft, files: list[Path]) -> None:
    ran = weft("run", files[0], files[0].parent / "." / files[0].name)
    assert ran.code == 0
    assert weft.ran() == ["count", "list", "report"]


@pytest.mark.parametrize("width", [60, 110])
def test_on_a_terminal(weft: Weft, files: list[Path], width: int) -> None:
    terminal = Terminal(weft, "run", *map(str, files), width=width)
    terminal.wait_for("4 documents: 2 done, 2 failed")
    assert terminal.end() == 1
    shown = terminal.text()
    assert "✓ a.md" in shown
    assert "✗ b.txt  failed" in shown
    assert "count.json at /words: 0 is less than the minimum" in terminal.words()
    assert "d.md is empty" in terminal.words()
    assert all(len(line) <= width for line in shown.splitlines())


def held(weft: Weft) -> Path:
    """A step waits as long as this file is there, with the word that its text begins with."""
    code = weft.workspace / "code/letters.py"
    wait = "    while (Path(__file__).parent.parent / 'traces' / f'hold-{step.text.split()[0]}').exists():\n"
    code.write_text(
        code.read_text().replace("def listing(step):\n", f"def listing(step):\n{wait}        time.sleep(0.01)\n")
    )
    return weft.ledger.parent


def begun(weft: Weft, *words: object) -> tuple[subprocess.Popen[bytes], Path]:
    err = weft.workspace / f"err-{len(list(weft.workspace.glob('err-*')))}"
    with err.open("wb") as file:
        command = weft.command("run", *words, "--plain")
        return subprocess.Popen(command, env=weft.env, stdout=subprocess.DEVNULL, stderr=file), err


def until(seen: Callable[[], bool]) -> None:
    for _ in range(6000):
        if seen():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to that")


@pytest.mark.parametrize("killed", [False, True])
def test_a_document_that_is_worked_on_elsewhere_is_followed(weft: Weft, files: list[Path], killed: bool) -> None:
    hold = held(weft) / "hold-so"
    hold.touch()
    first, shown = begun(weft, files[0])
    until(lambda: b"step list started" in shown.read_bytes())
    batch, told = begun(weft, files[0], files[2])
    until(lambda: b"c.md: done" in told.read_bytes())
    if killed:
        first.kill()
        first.wait(60)
    hold.unlink()
    assert batch.wait(60) == 0, told.read_text()
    assert first.wait(60) == (-signal.SIGKILL if killed else 0)
    assert b"2 documents: " in told.read_bytes()
    assert sorted(weft.ran()) == sorted(["count", "list", "report"] * 2)


def test_of_many_that_want_the_same_none_is_refused(weft: Weft, files: list[Path]) -> None:
    traces = held(weft)
    (traces / "hold-so").touch()
    (traces / "hold-now").touch()
    first, shown = begun(weft, files[0])
    until(lambda: b"step list started" in shown.read_bytes())
    others = [begun(weft, files[0]) for _ in range(2)]
    until(lambda: all(b"is followed" in err.read_bytes() for _, err in others))
    files[0].write_text("now it is another")
    (traces / "hold-so").unlink()
    assert first.wait(60) == 0
    # one of them makes what has changed; the other one finds it at work
    until(lambda: any(err.read_bytes().count(b"is followed") == 2 or run.poll() is not None for run, err in others))
    (traces / "hold-now").unlink()
    assert [run.wait(60) for run, _ in others] == [0, 0], [err.read_text() for _, err in others]
    assert sorted(weft.ran()) == sorted(["count", "list", "report"] * 2)
