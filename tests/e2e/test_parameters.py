"""Parameters that are lists, objects and files, through the door a person has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.app import App, SessionRequest
from weft.protocol.commands import ReplyToGate, SessionCommand, StartRun
from weft.protocol.errors import UsageError, UserError, WorkspaceError

PIPELINE = """\
name: plan
description: A plan.
inputs: {}
parameters:
  topics: {type: list, default: [tea], choices: [tea, rivers, wool], description: What it is about}
  style: {type: object, default: {tone: plain}}
  brief: {type: file, description: What is wanted}
steps:
  plan: {artifact: plan.json, code: "plan.py:plan", final: true}
"""
CODE = """\
def plan(step):
    return {"topics": step.parameters["topics"], "style": step.parameters["style"], "brief": step.inputs["brief"]}
"""


@pytest.fixture
def desk(workspace: Path) -> Path:
    for folder in ("pipelines", "code"):
        (workspace / folder).mkdir()
    (workspace / "pipelines/plan.yaml").write_text(PIPELINE)
    (workspace / "code/plan.py").write_text(CODE)
    (workspace / "brief.md").write_text("Make it short.\n")
    return workspace


def run(desk: Path, **given: Any) -> str:
    async def go() -> str:
        with App.open(desk) as app:
            wish = StartRun(parameters=given)
            async with app.session(SessionRequest(session="one"), wish) as opened:
                await opened.run(wish)
            plan = app.plan(SessionRequest(session="one"))
            return f"{plan.lines[0].action}: {plan.lines[0].reason}"

    return asyncio.run(go())


def test_a_list_an_object_and_a_file_reach_the_step(desk: Path) -> None:
    brief = str(desk / "brief.md")
    assert run(desk, topics="tea, wool", style='{"tone": "warm", "deep": [1]}', brief=brief) == "skip: up to date"
    made = (desk / "sessions/one/plan.json").read_text()
    assert '"wool"' in made
    assert '"deep"' in made
    assert "Make it short." in made
    (desk / "brief.md").write_text("Make it long.\n")
    with App.open(desk) as app:
        (line,) = app.plan(SessionRequest(session="one")).lines
    assert (line.action, line.reason) == ("run", "the input brief was changed")
    assert run(desk, brief=brief, topics=["rivers"]) == "skip: up to date"
    assert "Make it long." in (desk / "sessions/one/plan.json").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topics": "tea, coal"}, "a list of some of"),
        ({"topics": "[1"}, "a list of some of"),
        ({"style": "warm"}, "an object such as"),
        ({"style": "[1]"}, "an object such as"),
        ({"brief": "nosuch.md"}, "is not there"),
    ],
)
def test_what_is_no_good_value_is_said(desk: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as caught:
        run(desk, **{"brief": str(desk / "brief.md"), **given})
    assert said in str(caught.value)


def test_a_file_is_named_by_the_person(desk: Path) -> None:
    with pytest.raises(UsageError, match="name the file 'brief': --set brief=PATH"):
        run(desk)
    (desk / "pipelines/plan.yaml").write_text(PIPELINE.replace("type: file,", "type: file, default: a.md,"))
    with pytest.raises(WorkspaceError, match="'default' has no meaning for a file"):
        run(desk, brief=str(desk / "brief.md"))


def test_a_file_is_asked_for_at_a_gate(desk: Path) -> None:
    asks = PIPELINE.replace("steps:\n", 'steps:\n  ask: {artifact: ask.md, code: "plan.py:ask", GATE}\n').replace(
        "GATE", "parameters: [], gate: {message: What is wanted?, form: [brief]}"
    )
    (desk / "pipelines/plan.yaml").write_text(asks.replace('"plan.py:plan"', '"plan.py:plan", requires: [ask]'))
    (desk / "code/plan.py").write_text(CODE + "\n\ndef ask(step):\n    return 'asks'\n")

    async def go(command: SessionCommand) -> str:
        with App.open(desk) as app:
            async with app.session(SessionRequest(pipeline="plan", session="asked"), reachable=False) as session:
                return await session.run(command)

    assert asyncio.run(go(StartRun())) == "waiting", "nobody has named it yet"
    with pytest.raises(UserError, match="is not there"):
        asyncio.run(go(ReplyToGate(gate="ask", choice="proceed", values={"brief": str(desk / "none.md")})))
    named = {"brief": str(desk / "brief.md")}
    assert asyncio.run(go(ReplyToGate(gate="ask", choice="proceed", values=named))) == "done"
    assert "Make it short." in (desk / "sessions/asked/plan.json").read_text()
