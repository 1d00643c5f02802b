"""The devloop on a small real project: what each of its agents says, and the way to run it, also as a program.

python -m tests.e2e.devloop WORKSPACE PROJECT      runs it up to the middle of implement, for a test to kill it
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.e2e.agents import TESTS, Kept
from weft.app import App, SessionRequest
from weft.protocol.commands import ReplyToGate, StartRun
from weft.protocol.events import Outcome
from weft.testing.scripted import Item, ScriptedModel, Turn, calls, says
from weft.workspace.pack import lay_pack
from weft.workspace.pack_file import find_packs

ANALYSIS = {
    "goal": "add adds",
    "relevant": [{"path": "sums.py", "why": "add"}],
    "facts": [],
    "unknowns": [],
    "tests": "1",
}
STEP = {"what": "add a and b", "files": ["sums.py"], "why": "it subtracts"}
PLAN = {"goal": "add adds", "steps": [STEP], "tests": ["test_add"], "risks": [], "leaves_out": []}
FINDING = {"id": "f1", "severity": "critical", "about": "sums.py", "problem": "negative?", "suggestion": "try one"}
REVIEW = {"verdict": "fail", "findings": [FINDING]}
REFINED = {
    "goal": "add adds",
    "steps": [STEP],
    "tests": ["test_add"],
    "answers": [{"id": "f1", "how": "fine"}],
    "changed": [],
}
CHANGES = {
    "summary": "add adds",
    "files": [{"path": "sums.py", "what": "+"}],
    "deviations": [],
    "not_done": [],
    "tests": "ran",
}
FAILURE = {"test": "test_add", "message": "assert 6 == 5", "kind": "code_bug", "cause": "sums.py:2", "fix": "add"}
FAILED = {
    "verdict": "failed",
    "command": TESTS,
    "exit_code": 1,
    "failures": [FAILURE],
    "feedback": "sums.py:2 multiplies: add instead",
    "summary": "one fails",
}
PASSED = {"verdict": "passed", "command": TESTS, "exit_code": 0, "failures": [], "feedback": "", "summary": "all pass"}
DONE = {"decision": "done", "reason": "the tests pass", "summary": "add adds", "open": []}
AGAIN = {"decision": "again", "reason": "multiplying was wrong: add", "summary": "nothing", "open": ["all"]}
STOP = {"decision": "stop", "reason": "it does not work", "summary": "nothing", "open": ["all"]}


def said(value: Any) -> list[Item]:
    """The answer of a step that one call of a model makes."""
    return says(json.dumps(value))


def handed_in(value: dict[str, Any]) -> list[Item]:
    return calls("hand_in", value)


def edited(old: str, new: str) -> list[Item]:
    return calls("Edit", {"path": "sums.py", "old": old, "new": new})


RUNS_TESTS = calls("Shell", {"command": TESTS})
UP_TO_PLAN = [calls("Read", {"path": "sums.py"}), handed_in(ANALYSIS), said(PLAN)]
UP_TO_IMPLEMENT = [said(REVIEW), said(REFINED)]


def lay(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    lay_pack(find_packs()["devloop"], folder)
    (folder / "config.toml").write_text('model = "scripted"\n')
    (folder / "request.txt").write_text("add subtracts. It must add.\n")
    return folder


def scripted(*turns: list[Item] | Turn) -> ScriptedModel:
    return ScriptedModel([turn if isinstance(turn, Turn) else Turn(turn) for turn in turns])


def run(space: Path, project: Path, model: ScriptedModel, kept: Kept | None = None, **wish: Any) -> Outcome:
    """To where it comes to rest."""

    async def go() -> Outcome:
        with App.open(space, models={"scripted": model}) as app:
            parameters = {"folder": str(project), "tests": TESTS, **wish.pop("parameters", {})}
            start = StartRun(parameters=parameters, **wish)
            ask = SessionRequest(pipeline="devloop", file=space / "request.txt", session="change", attended=False)
            async with app.session(ask, start) as session, session.shown(kept or Kept(), 0) as showing:
                outcome = await session.run(start)
                await showing.caught_up()
                return outcome

    return asyncio.run(asyncio.wait_for(go(), 120))


def reply(space: Path, model: ScriptedModel, gate: str, choice: str, text: str = "") -> Outcome:
    """In a process of its own as far as the session can tell: say something, and go on."""

    async def go() -> Outcome:
        with App.open(space, models={"scripted": model}) as app:
            async with app.session(SessionRequest(session="change", attended=False)) as session:
                return await session.run(ReplyToGate(gate=gate, choice=choice, text=text))

    return asyncio.run(asyncio.wait_for(go(), 120))


if __name__ == "__main__":
    model = scripted(*UP_TO_PLAN, *UP_TO_IMPLEMENT, edited("a - b", "a * b * 1"), RUNS_TESTS)
    run(Path(sys.argv[1]), Path(sys.argv[2]), model, answers={"plan": "proceed"})
