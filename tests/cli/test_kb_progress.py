"""Where no bar can be drawn, `weft kb` says now and then how far it is, and nothing where it is quick."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.cli import kb
from weft.cli.commands import run_command_line


def test_a_log_is_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / f"in/{number}.txt").write_text(f"Lamp number {number} is lit at dusk.")
    words = ["--workspace", str(tmp_path / "desk"), "kb", "create", "lamps", str(tmp_path / "in"), "--no-vectors"]
    assert run_command_line([*words]) == 0
    told = capsys.readouterr()
    assert "documents" not in told.err
    assert told.out.splitlines()[-1] == "3 added; 3 passages"

    monkeypatch.setattr(kb, "_BETWEEN_LINES", 0.0)
    words[4] = "again"
    assert run_command_line([*words]) == 0
    told = capsys.readouterr()
    assert told.err.splitlines()[-1] == "weft: documents: 3 of 3"
    assert told.out.splitlines()[-1] == "3 added; 3 passages", "what is data stays data"
