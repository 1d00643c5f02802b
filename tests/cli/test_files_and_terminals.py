"""What stands in a stranger's files does not speak to the terminal, whichever command shows it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from weft.cli.commands import run_command_line

TOLD = json.dumps("\x1b[31mred\x1b]0;title\x07\x9b2J")
FILES = {
    ".claude/agents/x.md": f"---\nname: x\ndescription: {TOLD}\n---\nhi \x1b[2J there\n",
    ".claude/agents/broken.md": f"---\nname: {TOLD}\n",
    ".claude/skills/sk/SKILL.md": f"---\nname: sk\ndescription: {TOLD}\n---\nhi \x1b[2J there\n",
    "config.toml": '[models.x]\nkind = "openai"\nmodel = "m\\u001b[31m"\nbase_url = "http://127.0.0.1:1/\\u001b[31m"\n'
    'key = "none"\n',
    "schedules/s.yaml": f"every: {TOLD}\npipeline: {TOLD}\n",
    "permissions.yaml": f'allow:\n  - tool: Shell\n    command: "make *"\n    why: {TOLD}\n',
}


@pytest.mark.parametrize(
    "words",
    [
        "agents list",
        "agents show x",
        "skills list",
        "skills show sk",
        "models list",
        "schedules list",
        "tools judge make",
    ],
)
def test_nothing_of_a_file_is_obeyed_by_a_terminal(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run_command_line(["--workspace", str(tmp_path), *words.split()])
    told = capsys.readouterr()
    assert told.out + told.err, "it says something"
    assert not {"\x1b", "\x07", "\x9b"} & {*told.out, *told.err}
