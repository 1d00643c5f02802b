"""What somebody meets who has never seen Weft: guesses at commands, slips of the pen, a document put right after a run
failed. Each is answered with what to do next."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.made import PIPELINE, Weft, lay_out
from tests.terminal import Terminal

GREET = """\
name: greet
description: Who is greeted in a text.
steps:
  names:
    artifact: names.json
    code: greet.py:names
    checks: [count: {min: 1}]
    final: true
"""
CODE = """\
import re

def names(step):
    return re.findall(r"Hello (\\w+)", step.text)
"""


@pytest.fixture
def weft(workspace: Path) -> Weft:
    lay_out(workspace)
    (workspace / "pipelines/greet.yaml").write_text(GREET)
    (workspace / "code/greet.py").write_text(CODE)
    return Weft(workspace)


def test_help_is_a_word_too(weft: Weft) -> None:
    assert "Begin:" in weft("help").out
    assert weft("help", "kb", "create").out == weft("kb", "create", "--help").out


@pytest.mark.parametrize(
    ("guess", "told"),
    [
        ("version", "did you mean 'weft --version'?"),
        ("list", "did you mean 'weft sessions list' or 'weft pipelines list'"),
        ("reply", "weft sessions lists the sessions there are"),
    ],
)
def test_a_guess_leads_to_the_command(weft: Weft, guess: str, told: str) -> None:
    ran = weft(guess)
    assert ran.code == 2
    assert told in ran.err


def test_an_option_without_what_it_takes_says_where_to_look(weft: Weft) -> None:
    ran = weft("run", "letters", "--accept")
    assert ran.code == 2
    assert "weft run -h says what it takes" in ran.err


def test_a_slip_in_a_files_name_is_answered_with_the_file(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "water.md").write_text("Hello Ada")
    ran = weft("run", "greet", tmp_path / "watr.md")
    assert ran.code == 2
    assert ran.err.endswith(f"there is no file {tmp_path}/watr.md\n  did you mean '{tmp_path}/water.md'?\n")
    ran = weft("plan", "greet", tmp_path / "nothing")
    assert f"looked for in {tmp_path}" in ran.err
    ran = weft("run", tmp_path / "gone" / "water.md")
    assert f"there is no folder {tmp_path}/gone" in ran.err


def test_a_german_name_stays_readable_in_its_sessions_id(weft: Weft, tmp_path: Path) -> None:
    letter = tmp_path / "Die Größe der Flüße – Entwurf 2.md"
    letter.write_text("Hello Ada")
    ran = weft("run", "greet", letter, "--json")
    assert ran.code == 0, ran.err
    assert ran.events[0]["session"].startswith("die-grosse-der-flusse-entwurf-2-")


def test_a_large_document_is_not_read_in_silence(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("Hello Ada. ")
    (tmp_path / "large.txt").write_text("Hello Ada. " * 400_000)
    terminal = Terminal(weft, "plan", "greet", "large.txt", width=80, cwd=str(tmp_path))
    terminal.wait_for("reading large.txt (4.4 MB) …", "1 to run")
    assert terminal.end() == 0
    small = Terminal(weft, "plan", "greet", "small.txt", width=80, cwd=str(tmp_path))
    small.wait_for("1 to run")
    assert "reading" not in small.text()
    assert small.end() == 0


def test_a_pipeline_behind_the_file_is_told_its_place(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "water.md").write_text("Hello Ada")
    ran = weft("run", tmp_path / "water.md", "greet")
    assert ran.code == 2
    assert "greet is a pipeline: its name stands before the files" in ran.err
    assert not (weft.workspace / "sessions").exists()


def test_a_document_that_was_put_right_is_not_run_as_it_was_unsaid(weft: Weft, tmp_path: Path) -> None:
    """What a failed run proposes goes on with the session's own copy."""
    letter = tmp_path / "letter.txt"
    letter.write_text("Nobody here.")
    failed = weft("run", "greet", letter, "--session-id", "one")
    assert failed.code == 1
    assert "try again" in failed.err
    unchanged = weft("run", "--session-id", "one")
    assert unchanged.code == 1
    assert "has changed" not in unchanged.err
    letter.write_text("Hello Ada.")
    told = f"{letter} has changed since the session took it in, and is not read again unless it is named: "
    assert told in weft("plan", "--session-id", "one").err
    ran = weft("run", "--session-id", "one")
    assert told in ran.err
    proposed = ran.err.partition(told)[2].splitlines()[0]
    words = proposed.split()[1:]
    done = subprocess.run([*weft.command()[:3], *words], env=weft.env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "has changed" not in weft("run", "--session-id", "one").err
    letter.unlink()
    assert weft("run", "--session-id", "one").code == 0


def test_what_a_log_proposes_names_the_workspace(weft: Weft, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Nobody here.")
    weft("run", "greet", letter, "--session-id", "one")
    log = weft("sessions", "log", "one").out
    assert f"try again: weft --workspace {weft.workspace} run --session-id one" in log


def test_a_pipeline_with_another_ending_is_not_passed_over_in_silence(workspace: Path, tmp_path: Path) -> None:
    (workspace / "pipelines").mkdir(parents=True)
    (workspace / "pipelines/letters.yml").write_text(PIPELINE)
    weft, letter = Weft(workspace), tmp_path / "letter.txt"
    letter.write_text("Hello Ada.")
    for words in (["pipelines"], ["pipelines", "validate"], ["run", letter]):
        assert "rename pipelines/letters.yml to letters.yaml" in weft(*words).err


def test_a_name_that_no_file_may_have_is_not_proposed_as_one(weft: Weft) -> None:
    (weft.workspace / "pipelines/greet.yaml").write_text(GREET.replace("name: greet", "name: My greetings"))
    ran = weft("pipelines", "validate", "greet")
    assert "write 'name: greet'\n" in ran.err


def test_what_needs_a_model_says_so_before_it_is_tried(weft: Weft) -> None:
    ran = weft("new", "pipeline", "first")
    assert ran.code == 0
    assert f"it needs a model: weft --workspace {weft.workspace} models add" in ran.err


def test_a_schedule_that_can_not_begin_says_so_where_it_is_looked_at(weft: Weft) -> None:
    (weft.workspace / "schedules").mkdir()
    (weft.workspace / "schedules/monday.yaml").write_text('cron: "0 7 * * MON"\nstart: {pipeline: weekly}\n')
    ran = weft("schedules", "show", "monday")
    assert ran.code == 1
    assert "it can't begin: unknown pipeline 'weekly'" in ran.err


def test_a_question_that_nobody_answers_is_no_interruption(weft: Weft) -> None:
    assert weft("kb", "create", "notes").code == 0
    done = subprocess.run(
        weft.command("kb", "remove", "notes"), env=weft.env, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"--yes" in done.stderr
    assert weft("kb", "list").out.startswith("notes")


def test_what_was_agreed_to_that_can_not_be_kept_is_told_in_words(weft: Weft, tmp_path: Path) -> None:
    """As after a first run with sudo: the person's own folder is not theirs."""
    (tmp_path / ".config/weft/consents.lock").mkdir(parents=True)
    env = {name: value for name, value in weft.env.items() if not name.startswith("XDG_")} | {"HOME": str(tmp_path)}
    words = weft.command("trust", "folder", weft.workspace)
    done = subprocess.run(words, env=env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert os.fsencode(tmp_path / ".config/weft/consents.lock") in done.stderr


def test_code_that_nobody_agreed_to_says_how_its_writer_goes_on(weft: Weft, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Hello Ada.")
    home = tmp_path / "home"
    home.mkdir()
    env = {name: value for name, value in weft.env.items() if not name.startswith("XDG_")} | {"HOME": str(home)}
    run = weft.command("run", "greet", letter)
    refused = subprocess.run(run, env=env, capture_output=True, timeout=60, check=False)
    assert refused.returncode == 5
    proposed = refused.stderr.decode().rpartition("if you write what is in it yourself: weft ")[2].split()
    agreed = subprocess.run([*weft.command()[:3], *proposed], env=env, capture_output=True, timeout=60, check=False)
    assert agreed.returncode == 0, agreed.stderr
    assert subprocess.run(run, env=env, capture_output=True, timeout=60, check=False).returncode == 0
