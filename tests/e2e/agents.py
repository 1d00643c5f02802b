"""A small real project with a failing test, a workspace whose step an agent makes in it, and the way to run it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from weft.app import App, OpenedSession, SessionRequest
from weft.files import Folder
from weft.models.model import Request
from weft.protocol.call_events import CallSettled, ConversationCalls
from weft.protocol.commands import StartRun
from weft.protocol.events import Event, Outcome, Record
from weft.protocol.messages import ToolResult
from weft.session.log import LogReader
from weft.testing.scripted import Item, ScriptedModel, Turn, calls

TESTS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"
"""Really run: with the Python that runs these tests, see `search_path`."""
BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
PIPELINE = """\
name: fix
description: A change in a project
inputs:
  request: {kind: text, description: What to do}
parameters:
  place: {type: folder, description: The project}
  tests: {type: string, default: make test}
steps:
  fix:
    artifact: fix.json
    agent: builder
    executor: agent
    tools: [Read, Write, Edit, Shell]
    folder: place
    turns: 8
    attempts: 1
    schema: fix.schema.json
    checks:
      - matches: {at: summary, pattern: '[A-Z].*'}
    allow:
      - {tool: Shell, parameter: tests}
"""
AGENT = "---\nname: builder\ndescription: Builds\ntools: Read, Write, Edit, Bash, Grep\n---\nBuild what is asked for.\n"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "files": {"type": "array", "items": {"type": "string"}}},
    "required": ["summary", "files"],
    "additionalProperties": False,
}


def search_path() -> str:
    """The PATH on which `python` is the one that runs these tests."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def lay_workspace(folder: Path, pipeline: str = PIPELINE, more: Mapping[str, str] | None = None) -> Path:
    files = {
        "pipelines/fix.yaml": pipeline,
        ".claude/agents/builder.md": AGENT,
        "schemas/fix.schema.json": json.dumps(SCHEMA),
        "config.toml": 'model = "scripted"\n',
        "request.txt": "Make add add.\n",
        **(more or {}),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def lay_project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "sums.py").write_text(BROKEN)
    (folder / "test_sums.py").write_text("from sums import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n")
    return folder


class Kept:
    """What a run published, and its end."""

    def __init__(self) -> None:
        self.seen: list[Record | Event] = []

    def __call__(self, item: Record | Event) -> None:
        self.seen.append(item)

    def durable(self, kind: str) -> list[Any]:
        return [item.event for item in self.seen if isinstance(item, Record) and item.event.type == kind]


def run(
    workspace: Path,
    model: ScriptedModel,
    place: Path | str,
    kept: Kept | None = None,
    *,
    meanwhile: Callable[[OpenedSession], Any] | None = None,
    tests: str = TESTS,
    attended: bool = False,
    **wish: Any,
) -> Outcome:
    """One run of the pipeline `fix`, to where it comes to rest."""

    async def go() -> Outcome:
        with App.open(workspace, models={"scripted": model}) as app:
            parameters = {"place": str(place), "tests": tests}
            start = StartRun(parameters=parameters, **wish)
            ask = SessionRequest(pipeline="fix", file=workspace / "request.txt", session="fix", attended=attended)
            async with app.session(ask, start) as session, session.shown(kept or Kept(), 0) as showing:
                async with asyncio.TaskGroup() as group:
                    if meanwhile is not None:
                        group.create_task(meanwhile(session))
                    outcome = await session.run(start)
                await showing.caught_up()
                return outcome

    return asyncio.run(asyncio.wait_for(go(), 120))


def log(workspace: Path, kind: str, session: str = "fix") -> list[dict[str, Any]]:
    lines = (workspace / "sessions" / session / "log.jsonl").read_text().splitlines()
    return [event for line in lines if (event := json.loads(line))["type"] == kind]


def called(workspace: Path, session: str = "fix") -> list[CallSettled]:
    """What the steps of a session called, as their pages show it: read off their conversations."""
    calling, found = ConversationCalls(), list[CallSettled]()
    with Folder.open(workspace / "sessions" / session) as folder:
        for record in LogReader(folder).read():
            found += [call for call in calling.take(record.event) if isinstance(call, CallSettled)]
    return found


def hands_in(**result: Any) -> list[Item]:
    return calls("hand_in", result)


def results(request: Request) -> list[str]:
    """What the tools answered, the oldest first."""
    return [part.text for message in request.messages for part in message.content if isinstance(part, ToolResult)]


def script(*turns: Sequence[Item] | Turn) -> ScriptedModel:
    return ScriptedModel([turn if isinstance(turn, Turn) else Turn(turn) for turn in turns])


def until(holds: Callable[[], bool]) -> None:
    """Waits for a state; generously, because the machine may be busy."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def at_work_in(folder: Path) -> list[int]:
    """The processes whose folder it is. Their own numbers mean nothing here: they may be of another namespace."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == folder and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found
