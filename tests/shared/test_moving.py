"""A workspace of files goes into a shared store and comes back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.made import lay_out
from weft.app.fleet.shared_files import newest_tree, push_tree
from weft.cli.commands import run_command_line
from weft.files import Folder
from weft.session.log import LOG
from weft.session.postgres import PostgresLog
from weft.session.shared import files_below

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]

NOT_MOVED = (".lock", ".copy", ".snapshot.json", ".tree")


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

    # sending again sends nothing
    assert run_command_line(["--workspace", str(here), "workspace", "push", "--to", store]) == 1, "one went on there"


def test_what_one_changes_follows_at_the_others(tmp_path: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    def weft(place: Path, *words: str) -> int:
        return run_command_line(["--workspace", str(place), *words])

    here, there, settings = tmp_path / "here", tmp_path / "there", f'store = "{store}"\n'
    lay_out(here)
    (here / "config.toml").write_text('default_pipeline = "letters"\n\n[limits]\nprinter = "1 at once"\n')
    assert weft(here, "workspace", "push", "--to", store) == 0
    (here / "config.toml").write_text(settings + (here / "config.toml").read_text())

    # a machine that knows where the store is, and nothing else, has all that people wrote
    there.mkdir()
    (there / "config.toml").write_text(settings)
    assert weft(there, "plan", str(_document(tmp_path))) == 0
    assert "took over the" in capsys.readouterr().err
    assert (there / "pipelines/letters.yaml").read_bytes() == (here / "pipelines/letters.yaml").read_bytes()
    assert (there / "config.toml").read_text() == (here / "config.toml").read_text(), "with its own way to the store"

    # one changes, removes and sends; the other has changed something else
    (here / "profile.json").write_text('{"name": "Ada"}')
    (here / "code" / "old.py").write_text("old = True\n")
    assert weft(here, "workspace", "push") == 0
    assert weft(there, "workspace", "pull", "--files") == 0
    (here / "code" / "old.py").unlink()
    (there / "AGENTS.md").write_text("Be brief.\n")
    assert weft(here, "workspace", "push") == 0
    assert weft(there, "workspace", "push") == 1, "it would take back what the other has sent"
    assert "weft workspace pull" in capsys.readouterr().err
    assert weft(there, "workspace", "pull", "--files") == 0
    assert (there / "profile.json").read_text() == '{"name": "Ada"}'
    assert not (there / "code" / "old.py").exists()
    assert (there / "AGENTS.md").read_text() == "Be brief.\n"
    assert weft(there, "workspace", "push") == 0
    assert weft(here, "workspace", "pull", "--files") == 0
    assert (here / "AGENTS.md").read_text() == "Be brief.\n"

    # both change the same: said, and nothing is written over
    (here / "AGENTS.md").write_text("Be kind.\n")
    (there / "AGENTS.md").write_text("Be exact.\n")
    assert weft(here, "workspace", "push") == 0
    capsys.readouterr()
    assert weft(there, "workspace", "pull", "--files") == 1
    assert f"{there / 'AGENTS.md'} was changed here" in capsys.readouterr().err
    assert (there / "AGENTS.md").read_text() == "Be exact.\n"

    # what is queued from somewhere is run with its own files, and is not the newest for others
    log = PostgresLog(store)
    newest = newest_tree(log)
    with Folder.open(there) as folder:
        tree, _, _ = push_tree(log, folder, "somebody")
    assert newest_tree(log) == newest != tree
    log.close()


def _document(path: Path) -> Path:
    source = path / "poem.txt"
    source.write_text("so much depends\n")
    return source


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
