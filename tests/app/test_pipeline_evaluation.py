"""A pipeline over a folder of inputs with expectations, two models side by side; cut off, it goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.app import App
from weft.app.library.pipeline_evaluation import Variant, evaluate_pipeline, read_cases
from weft.protocol.commands import StartRun
from weft.protocol.errors import UsageError
from weft.testing.scripted import ScriptedModel, Turn, says

PIPELINE = """\
name: letter
description: A letter.
steps:
  draft: {artifact: draft.json, agent: writer, schema: draft.json, final: true}
"""


@pytest.fixture
def desk(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(
        "weft.app.library.pipeline_evaluation.AT_ONCE", 1
    )  # one script cannot answer several in a known order
    for folder in ("pipelines", "schemas", ".claude/agents", "letters"):
        (workspace / folder).mkdir(parents=True)
    (workspace / "pipelines/letter.yaml").write_text(PIPELINE)
    (workspace / "schemas/draft.json").write_text('{"type": "object", "required": ["text"]}')
    (workspace / ".claude/agents/writer.md").write_text("---\nname: writer\ndescription: Writes.\n---\nWrite.\n")
    (workspace / "letters/ada.md").write_text("To Ada")
    (workspace / "letters/ben.md").write_text("To Ben")
    (workspace / "letters/ada.expect.yaml").write_text(
        "draft.json:\n- count: {at: text, of: words, max: 3}\n- judge: It greets Ada\nmarks: {tone: 4}\n"
    )
    return workspace


def letter(text: str) -> Turn:
    return Turn(says('{"text": "' + text + '"}'))


def evaluated(desk: Path, models: dict[str, ScriptedModel], judge: ScriptedModel | None = None) -> dict[str, Any]:
    variants = [Variant(name, StartRun(model=name)) for name in models]

    async def go() -> dict[str, Any]:
        with App.open(desk, models=models) as app:
            return await evaluate_pipeline(app, "letter", read_cases(desk / "letters"), variants, judge=judge)

    return asyncio.run(go())


def test_two_models_side_by_side(desk: Path) -> None:
    small = ScriptedModel([letter("Dear all"), letter("Dear all")], name="small")
    large = ScriptedModel([letter("Dear Ada I write to you"), letter("Dear all")], name="large")
    judge = ScriptedModel(
        [Turn(says('{"holds": false, "why": "it greets all"}')), Turn(says('{"holds": true, "why": ""}'))]
    )
    told = evaluated(desk, {"small": small, "large": large}, judge)
    assert (told["kind"], told["cases"], told["marks"]) == ("pipeline", 2, {"ada.md": {"tone": 4.0}})
    assert {name: (one["done"], one["failed"], one["first_share"]) for name, one in told["variants"].items()} == {
        "small": (2, 0, 1.0),
        "large": (2, 0, 1.0),
    }
    assert sum(one["passed"] for one in told["variants"].values()) == 2
    assert sum(one["expected"] for one in told["variants"].values()) == 4
    assert told["variants"]["small"]["differs"] == {}
    assert told["variants"]["large"]["differs"] == {"draft.json": 1}
    findings = [found for one in told["results"] for found in one["findings"]]
    assert any("count" in found for found in findings)
    assert any("it greets all" in found for found in findings)


def test_what_was_made_is_not_made_again_and_what_is_missing_is(desk: Path) -> None:
    first = evaluated(desk, {"small": ScriptedModel([letter("Dear"), letter("Dear")], name="small")})
    assert first["variants"]["small"]["not_checked"] == 1
    again = evaluated(desk, {"small": ScriptedModel([], name="small")})
    assert again["results"] == first["results"], "no model is asked"
    (desk / "letters/carl.md").write_text("To Carl")
    more = evaluated(desk, {"small": ScriptedModel([letter("Dear Carl")], name="small")})
    assert more["variants"]["small"]["done"] == 3


def test_one_that_fails_does_not_stop_the_others(desk: Path) -> None:
    with App.open(desk) as app:
        cases = read_cases(desk / "letters")
        told = asyncio.run(evaluate_pipeline(app, "letter", cases, [Variant("as it is", StartRun())]))
    assert told["variants"]["as it is"]["failed"] == 2
    assert "needs a model" in str(told["results"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("draft.json:\n- nosuch: {}\n", "there is no check 'nosuch'"),
        ("draft.json: [{count: {of: words, max: 1}, verbatim: {}}]\n", "one entry holds one check"),
        ("marks: {tone: high}\n", "marks are numbers by name"),
        ("- x\n", "must be a mapping"),
    ],
)
def test_a_broken_expectation_says_what_is_wrong(desk: Path, text: str, said: str) -> None:
    (desk / "letters/ada.expect.yaml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_cases(desk / "letters")
    assert said in str(caught.value)
    (desk / "letters/ada.expect.yaml").rename(desk / "letters/zoe.expect.yaml")
    with pytest.raises(UsageError, match=r"zoe\.expect\.yaml is about no input"):
        read_cases(desk / "letters")


def test_two_prompts_side_by_side_and_one_that_was_changed(desk: Path) -> None:
    terse = "---\nname: terse\ndescription: Writes little.\n---\nWrite little.\n"
    (desk / ".claude/agents/terse.md").write_text(terse)
    (desk / "letters/ben.md").unlink()
    variants = [Variant("as it is", StartRun(model="m")), Variant("terse", StartRun(model="m"), {"writer": "terse"})]

    def go(model: ScriptedModel, *chosen: Variant) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            with App.open(desk, models={"m": model}) as app:
                return await evaluate_pipeline(app, "letter", read_cases(desk / "letters"), chosen)

        return asyncio.run(run())

    model = ScriptedModel([letter("Dear Ada I write to you"), letter("Dear Ada")], name="m")
    told = go(model, *variants)
    assert [(one["passed"], one["done"]) for one in told["variants"].values()] == [(0, 1), (1, 1)]
    assert go(ScriptedModel([], name="m"), *variants)["variants"]["terse"]["done"] == 1, "nothing is made twice"
    (desk / ".claude/agents/terse.md").write_text(terse.replace("little.\n", "less.\n"))
    again = go(ScriptedModel([letter("Hi")], name="m"), *variants)
    assert again["variants"]["terse"]["done"] == 1, "another prompt is measured anew"
    with pytest.raises(UsageError, match="no step of the pipeline letter is made by the agent 'nobody'"):
        go(model, Variant("x", StartRun(), {"nobody": "terse"}))
