"""A workspace of files goes into a shared store and comes back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.made import lay_out
from weft.cli.commands import run_command_line
from weft.files import Folder
from weft.session.log import LOG
from weft.session.postgres import PostgresLog
from weft.session.shared import files_below

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]

NOT_MOVED = (".lock", ".copy", ".snapshot.json")


def contents(path: Path) -> dict[str, bytes]:
    with Folder.open(path) as folder:
        return {
            name: folder.read(name)
            for name in files_below(folder)
            if not name.startswith(("index.db", "traces/"))
            and not name.endswith(NOT_MOVED)
            and "__pycache__" not in name
        }


def test_there_and_back_again(tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    lay_out(here)
    (here / "knowledge" / "notes").mkdir(parents=True)
    (here / "knowledge" / "notes" / "large.txt").write_text("word " * 40_000)
    (here / "code" / "run.sh").write_text("#!/bin/sh\n")
    (here / "code" / "run.sh").chmod(0o755)
    source, other = tmp_path / "poem-1.txt", tmp_path / "poem-2.txt"
    for file in (other, source):
        file.write_text(f"so much depends upon {file.name}\n")
        assert run_command_line(["--workspace", str(here), "run", "--plain", str(file)]) == 0
    before = contents(here)
    objects = str(tmp_path / "objects")
    assert run_command_line(["--workspace", str(here), "workspace", "push", "--to", store, "--objects", objects]) == 0
    assert run_command_line(["--workspace", str(there), "workspace", "pull", "--from", store]) == 0
    assert contents(there) == before
    assert (there / "code" / "run.sh").stat().st_mode & 0o100
    assert len(list((tmp_path / "objects").rglob("*/*"))) == 1, "only what is large leaves the database"

    # both forms are verified by the same command, and the shared one goes on
    (there / "config.toml").write_text(f'store = "{store}"\n')
    for workspace in (here, there):
        assert run_command_line(["--workspace", str(workspace), "sessions", "verify"]) == 0
    assert run_command_line(["--workspace", str(there), "run", "--plain", "--set", "shout=true", str(source)]) == 0
    assert "events sent" in (out := capsys.readouterr().out), out

    # sending again sends nothing; a file that differs is not written over
    assert run_command_line(["--workspace", str(here), "workspace", "push", "--to", store]) == 1, "one went on there"
    (there / "profile.json").write_text("{}")
    assert run_command_line(["--workspace", str(there), "workspace", "pull"]) == 1
    assert (there / "profile.json").read_text() == "{}"


def test_a_line_that_was_changed_in_the_store_is_found(
    tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    lay_out(here)
    source = tmp_path / "poem.txt"
    source.write_text("so much depends\n")
    assert run_command_line(["--workspace", str(here), "run", "--plain", str(source)]) == 0
    assert run_command_line(["--workspace", str(here), "workspace", "push", "--to", store]) == 0
    log = PostgresLog(store)
    log.rows("UPDATE weft.events SET line = replace(line::text, '69', '68')::bytea WHERE seq = 3")
    log.close()
    there.mkdir()
    capsys.readouterr()
    (there / "config.toml").write_text(f'store = "{store}"\n')
    assert run_command_line(["--workspace", str(there), "sessions", "list", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1, "a list asks the store, not the folder"
    assert run_command_line(["--workspace", str(there), "sessions", "verify"]) == 1
    assert (next((there / "sessions").iterdir()) / LOG).is_file()
