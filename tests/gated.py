"""A workspace whose pipeline waits for a person twice and repairs its draft twice in between.

    plan (gate) -> draft, verify (repair, two rounds) -> review (gate) -> report

Each step tells the ledger that it ran. A step waits as long as the file `hold-STEP-ROUND` stands beside the ledger, and
says so by making `held-STEP-ROUND`: a test can kill the program there.
"""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from tests.made import Weft
from weft.app import App, SessionRequest
from weft.protocol.commands import StartRun

PIPELINE = """\
name: essay
description: Plans, drafts until the verifier is content, and reports.
repair:
  - {steps: [draft, verify], rounds: 2}
steps:
  plan:
    artifact: plan.json
    code: essay.py:plan
    schema: plan.schema.json
    gate: {message: Is this the plan?, show: [title, {at: "parts[*]", label: Parts}]}
  draft:
    artifact: draft.json
    code: essay.py:draft
    requires: [plan]
  verify:
    artifact: verify.json
    code: essay.py:verify
    requires: [draft]
  review:
    artifact: review.json
    code: essay.py:review
    requires: [draft, verify]
    gate: {message: Shall it be handed in?, show: [verdict]}
  report:
    artifact: report.md
    code: essay.py:report
    requires: [plan, draft, review]
    final: true
"""
CODE = """\
import os, time
from pathlib import Path

def note(step):
    ledger = Path(__file__).parent.parent / "traces" / "ledger"
    ledger.parent.mkdir(exist_ok=True)
    with ledger.open("a") as file:
        file.write(f"{step.step}\\n")
    number = step.rounds.get("verify", {}).get("round", 0)
    hold = ledger.parent / f"hold-{step.step}-{number}"
    if hold.exists():
        (ledger.parent / f"held-{step.step}-{number}").touch()
        while hold.exists():
            time.sleep(0.01)

def plan(step):
    note(step)
    wishes = [text for texts in step.replies.values() for text in texts]
    return {"title": step.text.split(".")[0].strip(), "parts": ["beginning", *wishes, "end"]}

def draft(step):
    note(step)
    made = step.rounds.get("verify", {})
    return {"parts": step.artifacts["plan.json"]["parts"], "polish": made.get("round", 0), "told": made.get("feedback")}

def verify(step):
    note(step)
    polish = step.artifacts["draft.json"]["polish"]
    return {"verdict": "passed" if polish >= 2 else "failed", "feedback": f"polish it, {polish} is not enough"}

def review(step):
    note(step)
    return {"verdict": step.artifacts["verify.json"]["verdict"]}

def report(step):
    note(step)
    return ", ".join(step.artifacts["draft.json"]["parts"]) + "\\n"
"""
SCHEMA = {
    "version": "1",
    "type": "object",
    "required": ["title", "parts"],
    "additionalProperties": False,
    "properties": {"title": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
}


def lay_out_gated(workspace: Path) -> None:
    files = {
        "pipelines/essay.yaml": PIPELINE,
        "code/essay.py": CODE,
        "schemas/plan.schema.json": json.dumps(SCHEMA),
    }
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def started(tmp_path: Path, workspace: Path, name: str = "essay") -> Weft:
    """A run of it that waits at its first gate."""
    lay_out_gated(workspace)
    weft = Weft(workspace)
    source = tmp_path / "subject.txt"
    source.write_text("On rivers. They flow.\n")

    async def go() -> None:
        with App.open(workspace) as app:
            async with app.session(SessionRequest(session=name, file=source), StartRun()) as session:
                assert await session.run(StartRun()) == "waiting"

    asyncio.run(asyncio.wait_for(go(), 60))
    return weft


def wait_for_file(path: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.01)
