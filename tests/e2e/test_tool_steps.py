"""Steps that a tool makes: deterministic calls without a model, their ends in the artifact, their refusals in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import lay_project, lay_workspace, log, run, script
from weft.app import App
from weft.protocol.errors import UserError

HEAD = """\
name: fix
description: What is where
inputs:
  request: {kind: text}
parameters:
  place: {type: folder}
  tests: {type: string, default: x}
steps:
  words: {artifact: words.json, code: words.py:words, parameters: [tests]}
"""
EACH = """\
  fix:
    artifact: fix.json
    requires: [words]
    final: true
    tool: Grep
    folder: place
    with: {glob: "*.py", literal: true}
    each: {artifact: words.json, at: "words[*]", as: pattern}
"""
CODE = "def words(step):\n    return {'words': step.text.split(), 'none': []}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return lay_project(tmp_path / "project")


def space_with(tmp_path: Path, steps: str, request: str = "return nowhere") -> Path:
    more = {"code/words.py": CODE, "request.txt": request}
    return lay_workspace(tmp_path / "space", HEAD + steps, more)


def made(space: Path) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = json.loads((space / "sessions/fix/fix.json").read_text())["calls"]
    return calls


def test_one_call_for_each_value(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, EACH)
    assert run(space, script(), project) == "done"
    found, nothing = made(space)
    assert found["input"] == {"glob": "*.py", "literal": True, "pattern": "return"}
    assert found["ok"] is True
    assert "return a - b" in found["result"]
    assert nothing["ok"] is True
    assert "return" not in nothing["result"]
    assert [call["name"] for call in log(space, "call_settled")] == ["Grep", "Grep"]
    assert run(space, script(), project) == "done"
    assert len(log(space, "step_completed")) == 2, "nothing was made again"


def test_values_come_from_where_the_file_says(tmp_path: Path, project: Path) -> None:
    (project / "sub").mkdir()
    keys = "with: {pattern: {artifact: words.json, at: 'words[0]'}, path: {input: request}, names_only: true}"
    step = EACH.replace('with: {glob: "*.py", literal: true}', keys)
    step = step.replace('    each: {artifact: words.json, at: "words[*]", as: pattern}\n', "")
    space = space_with(tmp_path, step, "sub")
    assert run(space, script(), project) == "done"
    assert made(space)[0]["input"] == {"pattern": "sub", "path": "sub", "names_only": True}


def test_nothing_to_do_is_no_failure(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, EACH.replace("words[*]", "none[*]"))
    assert run(space, script(), project) == "done"
    assert made(space) == []


SHELL = """\
  fix:
    artifact: fix.json
    requires: [words]
    final: true
    attempts: 1
    tool: Shell
    folder: place
    each: {artifact: words.json, at: "words[*]", as: command}
"""


def test_a_refused_call_is_told_in_its_place(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, SHELL, "ls reboot")
    assert run(space, script(), project) == "done"
    listed, refused = made(space)
    assert "sums.py" in listed["result"]
    assert (refused["ok"], refused["result"]) == (False, None)
    assert 'allow: [{tool: Shell, command: "reboot"}]' in refused["message"]


def test_when_no_call_has_a_result_the_step_fails_in_words(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, SHELL, "reboot halt")
    assert run(space, script(), project) == "failed"
    (failed,) = log(space, "step_failed")
    assert failed["message"].startswith("Shell: all 2 calls are without a result; the first: not allowed:")
    assert failed["retrying"] is False


def test_a_rule_of_the_step_allows_it(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, SHELL + "    allow: [{tool: Shell, command: touch}]\n", "touch")
    assert run(space, script(), project) == "failed"
    (failed,) = log(space, "step_failed")
    assert "missing file operand" in failed["message"], "it was run"


DOOR = {
    "tool: Grap\n    with: {pattern: x}": "there is no tool 'Grap'",
    "tool: Grep\n    with: {pattrn: x}": "the input of 'Grep' has no 'pattrn'",
    "tool: Grep\n    with: {names_only: true}": "the input of 'Grep' needs 'pattern'",
    "agent: builder\n    executor: agent\n    tools: [Glob]": "the tool 'Glob' is none of its agent's",
    "agent: builder\n    executor: agent\n    tools: [Raed]": "there is no tool 'Raed'",
}


@pytest.mark.parametrize("keys", DOOR)
def test_what_can_not_be_called_is_refused_before_anything_runs(keys: str, tmp_path: Path, project: Path) -> None:
    step = f"  fix:\n    artifact: fix.json\n    requires: [words]\n    final: true\n    folder: place\n    {keys}\n"
    space = space_with(tmp_path, step)
    with pytest.raises(UserError, match=DOOR[keys]):
        run(space, script(), project)
    assert not (space / "sessions/fix").exists()
    with App.open(space) as app:
        (problem,) = app.check_pipeline("fix")
    assert DOOR[keys] in str(problem)
    assert str(problem).startswith("pipelines/fix.yaml: steps.fix: ")


def test_a_tool_that_works_on_files_needs_a_folder(tmp_path: Path, project: Path) -> None:
    space = space_with(tmp_path, EACH.replace("    folder: place\n", "").replace("[words]", "[words]"))
    text = (space / "pipelines/fix.yaml").read_text().replace("parameters: [tests]", "parameters: [tests, place]")
    (space / "pipelines/fix.yaml").write_text(text)
    with pytest.raises(UserError, match="the tool 'Grep' needs a folder to work in"):
        run(space, script(), project)


def test_a_folder_is_looked_at_at_the_door_and_recorded_whole(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = space_with(tmp_path, EACH)
    for wrong, why in (("nowhere", "is not there"), ("project/sums.py", "is not a folder")):
        with pytest.raises(UserError, match=why):
            run(space, script(), tmp_path / wrong)
    assert not (space / "sessions/fix").exists()
    monkeypatch.chdir(tmp_path)
    assert run(space, script(), "project") == "done"
    (started,) = log(space, "run_started")
    assert started["parameters"]["place"] == str(project)
