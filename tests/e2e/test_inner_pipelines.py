"""A pipeline that is a step: its steps, items, gates and files are the run's own, and its code knows only itself."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.e2e.test_maps import Space
from tests.made import Weft
from weft.protocol.commands import StartRun
from weft.protocol.steps import StepInput

ROOT = Path(__file__).parent.parent.parent
INNER = """\
name: inner
description: Made inside.
parameters: {loud: {type: boolean, default: false}}
steps:
  lines: {artifact: lines.json, code: "c.py:lines", parameters: [], checks: [{verbatim: {at: "lines[*]", in: source}}]}
  said:
    map: {artifact: lines.json, at: "lines[*]", as: line}
    artifact: said.json
    code: c.py:said
    requires: [lines]
    inputs: []
  made:
    artifacts: [made.md, count.json]
    code: c.py:made
    requires: [said]
    inputs: []
    parameters: []
    gate: {message: Good?}
    final: true
"""
MIDDLE = """\
name: middle
description: Holds one.
steps:
  deep: {pipeline: inner, with: {loud: true}}
  wrap: {artifact: wrap.md, code: "c.py:wrap", requires: [deep], inputs: [], final: true}
"""
OUTER = """\
name: mapped
description: Holds both.
steps:
  draft: {artifact: draft.json, code: "c.py:draft"}
  plain: {pipeline: inner}
  held: {pipeline: middle, requires: [draft], with: {source: {artifact: draft.json, at: text}}}
  all: {artifact: all.md, code: "c.py:all", requires: [plain, held], inputs: [], final: true}
"""


def space(root: Path) -> tuple[Space, list[StepInput]]:
    town, given = Space(root, OUTER), list[StepInput]()
    (town.path / "pipelines/inner.yaml").write_text(INNER)
    (town.path / "pipelines/middle.yaml").write_text(MIDDLE)
    names = ("draft", "lines", "said", "made", "wrap", "all")
    (town.path / "code/c.py").write_text("".join(f"def {name}(step): ...\n" for name in names))

    def does(name: str, value: object) -> None:
        def function(step: StepInput) -> object:
            given.append(step)
            return value(step) if callable(value) else value

        town.does(name, function)

    does("draft", lambda step: {"text": step.text.upper()})
    does("lines", lambda step: {"lines": step.text.split()})
    does("said", lambda step: {"said": step.item + ("!" if step.parameters["loud"] else ""), "hello": "hello"})
    does("made", lambda step: {"made.md": " ".join(_said(step)), "count.json": len(_said(step))})
    does("wrap", lambda step: f"({step.artifacts['deep/made.md']})")
    does("all", lambda step: f"{step.artifacts['plain/made.md']} {step.artifacts['held/wrap.md']}")
    return town, given


def _said(step: StepInput) -> list[str]:
    return [one["value"]["said"] for one in step.artifacts["said.json"]["items"]]


def test_steps_gates_and_files_of_inner_pipelines_are_the_runs(tmp_path: Path) -> None:
    town, given = space(tmp_path)
    source = tmp_path / "names.md"
    source.write_text("anna ben\n")
    first = StartRun(answers={"plain.made": "proceed"})
    assert town.run(first, source) == "waiting"
    assert sorted(one["step"] for one in town.events("gate_opened")) == ["held.deep.made", "plain.made"]
    assert town.run(StartRun(answers={"held.deep.made": "proceed"})) == "done"
    assert (town.session / "all.md").read_text() == "anna ben (ANNA! BEN!)"
    assert {path.relative_to(town.session).as_posix() for path in town.session.glob("*/*.json")} == {
        *(f"{place}/{name}.json" for place in ("plain", "held.deep") for name in ("lines", "said", "count")),
        *(f"{step}/{item}.json" for step, item in (("plain.said", "anna"), ("plain.said", "ben"))),
        *(path.relative_to(town.session).as_posix() for path in town.session.glob("held.deep.said/*.json")),
    }
    own = {(one.step, one.makes, *one.artifacts) for one in given if one.step in ("made", "lines")}
    assert own == {("made", ("made.md", "count.json"), "said.json"), ("lines", ("lines.json",))}, "its own names alone"
    assert all(action.startswith("skip") for action in town.plan().values())


def test_one_change_is_made_again_through_all_of_them(tmp_path: Path) -> None:
    town, _ = space(tmp_path)
    source = tmp_path / "names.md"
    source.write_text("anna ben\n")
    answers = {"plain.made": "proceed", "held.deep.made": "proceed"}
    assert town.run(StartRun(answers=answers), source) == "done"
    source.write_text("anna carl\n")
    assert town.run(StartRun(answers=answers), source) == "done"
    assert sorted(town.made) == ["CARL", "carl"], "the other items are taken over"
    assert town.run(StartRun(parameters={"plain.loud": True}, answers=answers)) == "done"
    assert sorted(town.made) == ["anna", "carl"]
    assert (town.session / "all.md").read_text() == "anna! carl! (ANNA! CARL!)"
    (town.session / "held.deep/made.md").unlink()
    assert town.run() == "done"
    assert (town.session / "held.deep/made.md").read_text() == "ANNA! CARL!", "restored from the log"
    assert town.made == []


def test_an_artifact_of_an_inner_pipeline_that_fails_its_check_is_told_to_the_next_attempt(tmp_path: Path) -> None:
    town, given = space(tmp_path)
    source = tmp_path / "names.md"
    source.write_text("anna ben\n")
    town.does("lines", lambda step: {"lines": step.text.split() if step.feedback else ["otto"]})
    town.run(StartRun(until="plain.lines"), source)
    (rejected,) = town.events("artifact_rejected")
    assert (rejected["step"], rejected["artifact"]) == ("plain.lines", "plain/lines.json")
    assert [one["outcome"] for one in town.events("run_ended")] == ["done"]
    assert given == []


def test_the_example_compares_two_texts(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/compare", tmp_path / "two", ignore=shutil.ignore_patterns("sessions"))
    weft = Weft(tmp_path / "two")
    other = tmp_path / "other.md"
    other.write_text("# Harbours\n\nThe harbour master reads the tables every morning. Then the boats go out.\n")
    given = ("--input", f"first={ROOT / 'examples/tides.md'}", "--input", f"second={other}")
    ran = weft("run", "compare", *given, "--session-id", "two", "--set", "other.sentences=1")
    assert ran.code == 3, ran.err
    plan = weft("plan", "--session-id", "two").out
    assert [line.partition(":")[0] for line in plan.splitlines()[:5]] == [
        "one.words",
        "one.brief",
        "other.words",
        "other.brief",
        "report",
    ]
    assert weft("reply", "two", "proceed").code == 0
    assert "tables" in (weft.session("two") / "report.md").read_text().split("# The first")[0]
    assert weft("pipelines", "validate").out == "brief: good\ncompare: good\n"
