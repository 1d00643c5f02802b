"""What was made of files is taken again while they are the same, and never when anything of them is another."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from tests.workspace.conftest import write

from weft.protocol.errors import UsageError, WorkspaceError
from weft.workspace import parsed_files
from weft.workspace.agent import Agent
from weft.workspace.config import Config
from weft.workspace.pack import find_packs, lay_pack
from weft.workspace.pipeline import Pipeline
from weft.workspace.rule_entry import StepRuleEntry
from weft.workspace.skill import Skill
from weft.workspace.workspace import Workspace

FILES: Mapping[str, str] = {
    "config.toml": 'concurrency = 2\n[limits]\nnet = "2 at once"\n[models.here]\nkind = "openai"\nkey = "env:A"\n',
    "pipelines/kit.yaml": (
        "name: kit\ndescription: Kit\nparameters:\n  loud: {type: boolean, default: false}\nsteps:\n"
        "  a: {artifact: a.json, code: 'make.py:a', schema: a.json, checks: [{count: {at: points, max: 9}}]}\n"
        "  c: {artifact: c.md, code: 'make.py:a', when: {parameter: loud, is: true}}\n"
        "  b: {artifact: b.md, agent: writer, requires: [a], resources: [net], final: true, gate: {message: Good?}}\n"
    ),
    "code/make.py": "def a(step): ...\n",
    "schemas/a.json": '{"type": "object"}\n',
    ".claude/agents/writer.md": "---\nname: writer\ndescription: Writes\nskills: [tone]\n---\nWrite.\n",
    ".claude/skills/tone/SKILL.md": "---\nname: tone\ndescription: Tone\n---\nBe kind.\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    write(folder, FILES)
    return folder


@contextmanager
def opened(place: Path) -> Iterator[Workspace]:
    with Workspace.open(place, own=place.parent / "own") as workspace:
        yield workspace


def everything(place: Path) -> dict[str, Any]:
    with opened(place) as workspace:
        return {
            "config": workspace.config(),
            **{f"pipeline {name}": workspace.pipeline(name) for name in workspace.pipeline_names()},
            **{f"agent {name}": workspace.agent(name) for name in workspace.agent_names()},
            **{f"skill {name}": workspace.skill(name) for name in workspace.skill_names()},
        }


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each time something was read and judged, what."""
    found: list[str] = []
    keep = parsed_files.ParsedFiles.keep

    def counted(self: parsed_files.ParsedFiles, kind: str, name: str, *rest: Any) -> None:
        found.append(f"{kind} {name}".strip())
        keep(self, kind, name, *rest)

    monkeypatch.setattr(parsed_files.ParsedFiles, "keep", counted)
    return found


@pytest.mark.parametrize("pack", ["writing", "digest", "research", "devloop"])
def test_what_ships_is_read_once_and_is_the_same_from_then_on(tmp_path: Path, pack: str, readers: list[str]) -> None:
    place = tmp_path / "workspace"
    lay_pack(find_packs()[pack], place)
    first = everything(place)
    assert {*readers} == {*first}
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    readers.clear()
    assert everything(place) == first
    with_rules = [name for name in readers if b"allow" in (place / f"pipelines/{name.split()[-1]}.yaml").read_bytes()]
    assert readers == with_rules, "only what gives its tools rules is read every time"
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before, "nothing of it is in the workspace"


def test_every_value_that_a_file_becomes_can_be_kept() -> None:
    found: set[type] = set()

    def walk(hint: Any) -> None:
        if is_dataclass(hint) and isinstance(hint, type) and hint not in found:
            found.add(hint)
            for one in get_type_hints(hint, localns={"StepRuleEntry": StepRuleEntry}).values():
                walk(one)
        for inner in get_args(hint):
            walk(inner)

    for kind in (Pipeline, Agent, Skill, Config):
        walk(kind)
    assert len(found) > 15
    assert {(one.__name__, one.__module__) for one in found} <= {*parsed_files._HOMES.items()}


def test_a_whole_workspace_comes_back_as_it_was(place: Path, readers: list[str]) -> None:
    first = everything(place)
    readers.clear()
    assert everything(place) == first
    assert readers == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_byte_that_is_another_is_seen_whatever_the_clock_says(place: Path, name: str, readers: list[str]) -> None:
    everything(place)
    times = os.stat(place / name)
    (place / name).write_bytes((place / name).read_bytes()[:-1] + b" ")
    os.utime(place / name, ns=(times.st_atime_ns, times.st_mtime_ns))
    readers.clear()
    everything(place)
    assert readers, "something was read again"
    assert "pipeline kit" in readers, "the pipeline names all of them"


def test_what_was_good_and_is_broken_now_is_said(place: Path) -> None:
    everything(place)
    (place / "schemas/a.json").unlink()
    with opened(place) as workspace, pytest.raises(WorkspaceError, match=r"a\.json"):
        workspace.pipeline("kit")
    (place / ".claude/agents/writer.md").unlink()
    with opened(place) as workspace, pytest.raises(UsageError, match="unknown agent"):
        workspace.agent("writer")


def test_what_comes_and_goes_while_a_workspace_is_open_is_seen(place: Path) -> None:
    with opened(place) as workspace:
        assert workspace.config().concurrency == 2
        (place / "config.toml").unlink()
        assert workspace.config().concurrency == 4
        write(place, {"config.toml": "concurrency = 7\n"})
        assert workspace.config().concurrency == 7


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"code": "x", "looks": [], "value": null}', b"\xff"])
def test_what_is_damaged_is_as_good_as_nothing(place: Path, damage: bytes, readers: list[str]) -> None:
    first = everything(place)
    for file in (place.parent / "own").iterdir():
        file.write_bytes(damage)
    readers.clear()
    assert everything(place) == first
    assert {*readers} == {*first}


def test_only_values_of_a_workspace_are_made_of_it(place: Path, readers: list[str]) -> None:
    first = everything(place)
    for file in (place.parent / "own").iterdir():
        kept = json.loads(file.read_text())
        kept["value"] = {"~": "Popen", "args": ["true"]}
        file.write_text(json.dumps(kept))
    readers.clear()
    assert everything(place) == first
    assert {*readers} == {*first}


def test_other_code_reads_it_again(place: Path, readers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = everything(place)
    monkeypatch.setattr(parsed_files, "_code", lambda: "another")
    readers.clear()
    assert everything(place) == first
    assert {*readers} == {*first}


def test_the_oldest_are_forgotten(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_files, "MOST", 4)
    for number in range(20):
        write(place, {f".claude/agents/a{number}.md": f"---\nname: a{number}\ndescription: A\n---\nWrite.\n"})
        with opened(place) as workspace:
            workspace.agent(f"a{number}")
    assert 1 < len([*(place.parent / "own").iterdir()]) <= 5


def test_where_nothing_can_be_kept_everything_is_read(place: Path, readers: list[str]) -> None:
    (place.parent / "own").write_text("a file where the folder would be")
    assert everything(place) == everything(place)
    assert "pipeline kit" in readers
