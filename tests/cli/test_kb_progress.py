"""What `weft kb` says of its work: how far it is where no bar can be drawn, and what was left out."""

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


def test_what_was_left_out_of_pages_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    for name in ("oil", "wick"):
        page = f"<body><nav>All the lamps</nav><main><h1>Lamps</h1><p>The {name} is looked at every evening.</p></main>"
        (tmp_path / f"in/{name}.html").write_text(page)
    (tmp_path / "in/log.txt").write_text("The lamp is lit at dusk.")
    place = ["--workspace", str(tmp_path / "desk")]
    assert run_command_line([*place, "kb", "create", "lamps", str(tmp_path / "in"), "--no-vectors"]) == 0
    assert "weft: left out of 2 documents: navigation (6 words)" in capsys.readouterr().err.splitlines()
    assert run_command_line([*place, "kb", "update", "lamps", "--no-vectors"]) == 0
    assert "left out" not in capsys.readouterr().err, "nothing was read anew"
    assert run_command_line([*place, "kb", "show", "lamps"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("  ")] == [
        "  left out around the text: 3 words: navigation (3)"
    ] * 2
