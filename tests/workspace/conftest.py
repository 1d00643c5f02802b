"""A workspace in a temporary folder, made of the files a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from weft.protocol.errors import Problem
from weft.workspace.workspace import Workspace

MakeWorkspace = Callable[[Mapping[str, str | bytes]], Workspace]


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def make_workspace(tmp_path: Path) -> Iterator[MakeWorkspace]:
    with ExitStack() as stack:

        def make(files: Mapping[str, str | bytes]) -> Workspace:
            folder = tmp_path / "workspace"
            folder.mkdir(exist_ok=True)
            write(folder, files)
            return stack.enter_context(Workspace.open(folder))

        yield make


@pytest.fixture
def write_files() -> Callable[[Path, Mapping[str, str | bytes]], None]:
    return write


AROUND: Mapping[str, str] = {
    "code/make.py": "def a(step): ...\n\n\nasync def b(step): ...\n\n\nclass C:\n    def method(self): ...\n",
    "code/torn.py": "def a(step):\n    return (\n",
    ".claude/agents/writer.md": "---\nname: writer\ndescription: Writes\n---\nWrite.\n",
    ".claude/agents/odd.md": "---\nname: odd\ndescription: Odd\ntolls: Read\n---\nWrite.\n",
    ".claude/skills/tone/SKILL.md": "---\nname: tone\ndescription: Tone\n---\nBe kind.\n",
    ".claude/skills/torn/SKILL.md": "---\nname: torn\n",
    "schemas/good.json": '{"type": "object"}\n',
    "schemas/torn.json": '{\n  "type": "object",\n}\n',
    "schemas/list.json": "[]\n",
    "schemas/odd.json": '{\n  "properties": {\n    "title": {"type": "strin"},\n    "n": {"minimum": "x"}\n  }\n}\n',
    "schemas/outside.json": '{\n  "items": {"$ref": "http://example.com/other.json"}\n}\n',
    "schemas/draft.json": '{\n  "$schema": "http://example.com/draft"\n}\n',
}
"""What the pipelines of the fault tests refer to, good and bad."""


@pytest.fixture
def problems_of(make_workspace: MakeWorkspace) -> Callable[[str], list[Problem]]:
    """What is wrong with the text of pipelines/p.yaml, in a workspace that has what AROUND says."""

    def problems(text: str) -> list[Problem]:
        return make_workspace({**AROUND, "pipelines/p.yaml": text}).check_pipeline("p")

    return problems
