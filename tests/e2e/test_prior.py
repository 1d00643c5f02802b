"""Follow-up runs: a step may read what earlier runs of the session, on other inputs, finished with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.made import Weft

PIPELINE = """\
name: answers
description: Answers a question, knowing earlier answers.
inputs:
  source: {kind: text}
steps:
  answer:
    artifact: answer.json
    code: answers.py:answer
    prior: [answer.json]
  report:
    artifact: report.md
    code: answers.py:report
    requires: [answer]
    inputs: []
    final: true
"""
CODE = """\
def answer(step):
    return {"question": step.text.strip(), "before": [one["question"] for one in step.prior.get("answer.json", ())]}

def report(step):
    assert step.prior == {}
    return step.artifacts["answer.json"]["question"] + "\\n"
"""


@pytest.fixture
def weft(tmp_path: Path, workspace: Path) -> Weft:
    for name, text in {"pipelines/answers.yaml": PIPELINE, "code/answers.py": CODE}.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    return Weft(workspace)


def ask(weft: Weft, tmp_path: Path, question: str, *words: str) -> list[str]:
    """The earlier questions that the answer knows of."""
    source = tmp_path / "question.txt"
    source.write_text(question)
    ran = weft("run", source, "--session-id", "asked", *words)
    assert ran.code == 0, ran.err
    found = json.loads((weft.session("asked") / "answer.json").read_text())
    assert found["question"] == question
    before: list[str] = found["before"]
    return before


def made_of(weft: Weft) -> dict[str, str]:
    started = [line for line in weft.log("asked") if line["type"] == "step_started" and line["step"] == "answer"]
    inputs: dict[str, str] = started[-1]["inputs"]
    return inputs


def attempts(weft: Weft) -> int:
    return sum(line["type"] == "step_started" and line["step"] == "answer" for line in weft.log("asked"))


def test_earlier_answers_on_other_questions_are_read_and_recorded(weft: Weft, tmp_path: Path) -> None:
    assert ask(weft, tmp_path, "What is a river?") == []
    assert "prior:answer.json" not in made_of(weft)
    assert ask(weft, tmp_path, "Where does it end?") == ["What is a river?"]
    assert "prior:answer.json" in made_of(weft)
    assert ask(weft, tmp_path, "Who measured it?") == ["What is a river?", "Where does it end?"]
    assert ask(weft, tmp_path, "What is a river?") == ["Where does it end?", "Who measured it?"]


def test_the_same_question_again_is_no_follow_up(weft: Weft, tmp_path: Path) -> None:
    ask(weft, tmp_path, "What is a river?")
    ask(weft, tmp_path, "Where does it end?")
    assert ask(weft, tmp_path, "Where does it end?") == ["What is a river?"]
    assert attempts(weft) == 2
    assert ask(weft, tmp_path, "Where does it end?", "--force", "answer") == ["What is a river?"]


def test_a_run_that_was_not_done_is_no_earlier_answer(weft: Weft, tmp_path: Path) -> None:
    ask(weft, tmp_path, "What is a river?")
    code = weft.workspace / "code/answers.py"
    good = code.read_text()
    code.write_text(good.replace("def report(step):", "def report(step):\n    raise ValueError('no')"))
    (tmp_path / "question.txt").write_text("Never answered?")
    assert weft("run", tmp_path / "question.txt", "--session-id", "asked").code == 1
    code.write_text(good)
    assert ask(weft, tmp_path, "Where does it end?") == ["What is a river?"]


def test_an_unknown_artifact_is_an_error_of_the_file(weft: Weft) -> None:
    file = weft.workspace / "pipelines/answers.yaml"
    file.write_text(file.read_text().replace("prior: [answer.json]", "prior: [answers.json]"))
    ran = weft("run", "--session-id", "asked", file)
    assert ran.code == 1
    assert "no step makes 'answers.json'" in ran.err
    assert "answer.json" in ran.err
