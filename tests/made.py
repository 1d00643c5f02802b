"""What tests make: a small workspace with a real pipeline, and the command line as a person has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

PIPELINE = """\
name: letters
description: Counts the words of a text, lists them, and reports.
parameters:
  shout: {type: boolean, default: false}
steps:
  count:
    artifact: count.json
    code: letters.py:count
    schema: count.schema.json
    parameters: []
    checks:
      - verbatim: {at: first, in: source}
  list:
    artifact: list.json
    agent: lister
    requires: [count]
    inputs: [source]
    parameters: []
    profile: [style.tone]
  report:
    artifact: report.md
    code: letters.py:report
    requires: [count, list]
    inputs: []
    final: true
"""
CODE = '''\
import os, time
from pathlib import Path

def ledger(step):
    """Tells the test from outside the session what really ran."""
    path = Path(__file__).parent.parent / "traces" / "ledger"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(f"{step.step}\\n")

def count(step):
    ledger(step)
    words = step.text.split()
    return {"words": len(words), "first": words[0] if words else ""}

def listing(step):
    ledger(step)
    return sorted(set(step.text.lower().split()))

def report(step):
    ledger(step)
    text = f"{step.artifacts['count.json']['words']} words: {', '.join(step.artifacts['list.json'])}"
    return (text.upper() if step.parameters["shout"] else text) + "\\n"
'''
SCHEMA = {
    "version": "1",
    "type": "object",
    "required": ["words", "first"],
    "additionalProperties": False,
    "properties": {"words": {"type": "integer", "minimum": 1}, "first": {"type": "string"}},
}
AGENT = """\
---
name: lister
description: Lists words.
embedded: letters.py:listing
---
List every word once.
"""


def lay_out(workspace: Path) -> None:
    """The `letters` workspace."""
    files = {
        "pipelines/letters.yaml": PIPELINE,
        "code/letters.py": CODE,
        "schemas/count.schema.json": json.dumps(SCHEMA),
        ".claude/agents/lister.md": AGENT,
        "profile.json": json.dumps({"style": {"tone": "plain"}}),
    }
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]


class Weft:
    """The command line in a workspace, as a real process."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.ledger = workspace / "traces" / "ledger"
        """What the code of steps tells of itself: it can write nowhere but in the workspace."""
        if workspace.is_dir():
            self.ledger.parent.mkdir(exist_ok=True)

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "weft", "--workspace", str(self.workspace), *map(str, words)]

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "PYTHONWARNINGS": "error"}

    def __call__(self, *words: object, timeout: float = 120) -> Ran:
        done = subprocess.run(self.command(*words), env=self.env, capture_output=True, timeout=timeout, check=False)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ran(self) -> list[str]:
        """The steps whose code ran since this was last asked."""
        if not self.ledger.exists():
            return []
        steps = self.ledger.read_text().split()
        self.ledger.unlink()
        return steps

    def session(self, name: str) -> Path:
        return self.workspace / "sessions" / name

    def log(self, name: str) -> list[dict[str, Any]]:
        """The log's events, without what only the file needs, each with the envelope of its decision."""
        lines = [json.loads(line) for line in (self.session(name) / "log.jsonl").read_text().splitlines()]
        for before, line in pairwise(lines):
            if line.get("part", [1])[0] > 1 and "envelope" in before:
                line["envelope"] = before["envelope"]
        return [{key: value for key, value in line.items() if key not in ("part", "version", "crc")} for line in lines]
