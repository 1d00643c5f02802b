"""Reading a pack: where each file goes, and every fault of pack.yaml and of the folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.workspace.pack import Pack, find_packs, load_pack

WriteFiles = Callable[[Path, Mapping[str, str | bytes]], None]

GOOD = 'name: kit\nversion: 1.2.0\ndescription: A kit\nweft: ">=0.1,<1"\n'


def test_every_file_has_its_place_in_a_workspace(tmp_path: Path, write_files: WriteFiles) -> None:
    names = [
        "AGENTS.md",
        "profile.json",
        "config.toml",
        "pipelines/kit.yaml",
        "schemas/a.json",
        "code/make.py",
        "code/parts/__init__.py",
        "agents/writer.md",
        "skills/tone/SKILL.md",
        "skills/tone/more/notes.md",
    ]
    staying = ["README.md", "LICENSE", "code/__pycache__/make.pyc", "code/old.pyc", ".git/config", "code/.hidden"]
    write_files(tmp_path / "kit", {"pack.yaml": GOOD, **dict.fromkeys([*names, *staying], "x")})
    pack = load_pack(tmp_path / "kit")
    assert pack == Pack(
        name="kit",
        version="1.2.0",
        description="A kit",
        weft=">=0.1,<1",
        path=tmp_path / "kit",
        files={
            "AGENTS.md": "AGENTS.md",
            "profile.json": "profile.json",
            "config.toml": "config.toml",
            "pipelines/kit.yaml": "pipelines/kit.yaml",
            "schemas/a.json": "schemas/a.json",
            "code/make.py": "code/make.py",
            "code/parts/__init__.py": "code/parts/__init__.py",
            ".claude/agents/writer.md": "agents/writer.md",
            ".claude/skills/tone/SKILL.md": "skills/tone/SKILL.md",
            ".claude/skills/tone/more/notes.md": "skills/tone/more/notes.md",
        },
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GOOD.replace("name: kit", "name: A Kit"),
            Problem(
                "kit/pack.yaml",
                "'A Kit' is not a good name",
                1,
                7,
                "name",
                "a name is small letters, digits, _ and -, at most 64, beginning with a letter or digit",
            ),
        ),
        (
            GOOD.replace("1.2.0", "1.2"),
            Problem("kit/pack.yaml", "1.2 could also be read as a number", 2, 10, "version", 'put it in quotes: "1.2"'),
        ),
        (
            GOOD.replace("1.2.0", "new"),
            Problem(
                "kit/pack.yaml",
                "must be a version, not the text 'new'",
                2,
                10,
                "version",
                "write numbers with dots between them, such as 1.2.0",
            ),
        ),
        (
            GOOD.replace(">=0.1,<1", "~0.1"),
            Problem(
                "kit/pack.yaml",
                "must say which versions of weft fit, not the text '~0.1'",
                4,
                7,
                "weft",
                'write conditions with commas between them, such as ">=0.1,<1"',
            ),
        ),
        (
            GOOD.replace("weft:", "wefts:"),
            Problem("kit/pack.yaml", "unknown key 'wefts'", 4, 1, "wefts", "did you mean 'weft'?"),
        ),
        (
            GOOD.replace("description: A kit\n", ""),
            Problem(
                "kit/pack.yaml",
                "'description' is missing",
                1,
                1,
                "description",
                "add 'description': what the pack is for, in one sentence",
            ),
        ),
        ("", Problem("kit/pack.yaml", "nothing is written here", 1, 1)),
    ],
)
def test_a_fault_of_pack_yaml_is_told_with_its_line(
    text: str, expected: Problem, tmp_path: Path, write_files: WriteFiles
) -> None:
    write_files(tmp_path / "kit", {"pack.yaml": text})
    with pytest.raises(WorkspaceError) as caught:
        load_pack(tmp_path / "kit")
    assert caught.value.problems == (expected,)


def test_a_file_that_would_not_be_laid_is_a_fault(tmp_path: Path, write_files: WriteFiles) -> None:
    write_files(tmp_path / "kit", {"pack.yaml": GOOD, "pipeline/kit.yaml": "x", "code": "a file"})
    with pytest.raises(WorkspaceError) as caught:
        load_pack(tmp_path / "kit")
    assert caught.value.problems == (
        Problem("kit/code", "this must be a folder"),
        Problem("kit/pipeline", "this is no part of a pack", hint="did you mean 'pipelines'?"),
    )


def test_a_folder_without_pack_yaml_and_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no pack at"):
        load_pack(tmp_path / "none")
    (tmp_path / "kit").mkdir()
    with pytest.raises(WorkspaceError) as caught:
        load_pack(tmp_path / "kit")
    assert caught.value.problems == (Problem("kit/pack.yaml", "this file is not there", hint="every pack has one"),)


def test_shipped_packs_are_found_by_name(
    tmp_path: Path, write_files: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.workspace.pack_folder.INSTALLED", str(tmp_path))
    assert find_packs() == {}
    write_files(tmp_path / "packs", {"one/pack.yaml": GOOD, "two/pack.yaml": GOOD.replace("kit", "other")})
    write_files(tmp_path / "packs", {"__init__.py": "", "three/notes.md": "no pack"})
    found = find_packs()
    assert list(found) == ["kit", "other"]
    assert found["other"].path == tmp_path / "packs" / "two"
