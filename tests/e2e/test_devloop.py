"""The devloop pack on a small real project with a failing test: the tests are really run until they really pass."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import BROKEN, FIXED, Kept, at_work_in, lay_project, log, results, search_path, until
from tests.e2e.devloop import (
    AGAIN,
    CHANGES,
    DONE,
    FAILED,
    PASSED,
    PLAN,
    REFINED,
    RUNS_TESTS,
    STOP,
    UP_TO_IMPLEMENT,
    UP_TO_PLAN,
    edited,
    handed_in,
    lay,
    reply,
    run,
    said,
    scripted,
)
from weft.protocol.errors import ExternalError
from weft.workspace.workspace import Workspace

REPOSITORY = Path(__file__).parent.parent.parent
FIX = [edited("a - b", "a + b"), handed_in(CHANGES)]
PASS = [RUNS_TESTS, handed_in(PASSED)]
FAIL = [RUNS_TESTS, handed_in(FAILED)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", search_path())
    return lay_project(tmp_path / "project")


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return lay(tmp_path / "space")


def made(space: Path, artifact: str) -> dict[str, object]:
    value: dict[str, object] = json.loads((space / "sessions/change" / artifact).read_text())
    return value


def test_the_pipeline_of_the_pack_is_good(space: Path) -> None:
    with Workspace.open(space) as workspace:
        assert workspace.check_pipeline("devloop") == []
        assert workspace.pipeline("devloop").warnings == ()


def test_it_repairs_until_the_test_passes_with_answers_given_in_advance(space: Path, project: Path) -> None:
    model = scripted(
        *UP_TO_PLAN,
        *UP_TO_IMPLEMENT,
        *(edited("a - b", "a * b * 1"), handed_in(CHANGES)),
        *FAIL,
        *(edited("a * b * 1", "a + b"), handed_in(CHANGES)),
        *PASS,
        said(DONE),
    )
    kept = Kept()
    assert run(space, project, model, kept, answers={"plan": "proceed", "decide": "proceed"}) == "done"
    model.assert_done()
    assert (project / "sums.py").read_text() == FIXED
    verdicts = [(event.verdict, event.round) for event in kept.durable("verdict_given")]
    assert verdicts == [("failed", 0), ("passed", 1)]
    repair = next(one for one in model.requests[9:10])
    assert "sums.py:2 multiplies: add instead" in str(repair.messages), "the feedback reaches the builder"
    assert "1 failed" in results(model.requests[8])[0]
    proof: Any = made(space, "proof.json")["calls"]
    assert "1 passed" in proof[0]["result"]
    assert [gate["gate"] for gate in log(space, "gate_resolved", "change")] == ["plan-1", "decide-2"]


def test_a_person_replies_from_process_to_process(space: Path, project: Path) -> None:
    assert run(space, project, scripted(*UP_TO_PLAN)) == "waiting"
    amended = scripted(said({**PLAN, "goal": "add adds, also below zero"}))
    assert reply(space, amended, "plan", "amend", "think of numbers below zero") == "waiting"
    assert "think of numbers below zero" in str(amended.requests[0].messages)
    model = scripted(*UP_TO_IMPLEMENT, *FIX, *PASS, said(DONE))
    (gate,) = [gate["gate"] for gate in log(space, "gate_opened", "change")[-1:]]
    assert reply(space, model, gate, "proceed") == "waiting"
    model.assert_done()
    assert "think of numbers below zero" in str(model.requests[1].messages), "whoever refines the plan hears it too"
    assert reply(space, scripted(), "decide", "proceed") == "done"
    assert (project / "sums.py").read_text() == FIXED


def test_it_is_not_done_while_tests_fail(space: Path, project: Path) -> None:
    wrong = [edited("a - b", "a * b * 1"), handed_in(CHANGES)]
    model = scripted(*UP_TO_PLAN, *UP_TO_IMPLEMENT, *wrong, *FAIL, said(DONE), said(STOP))
    answers = {"plan": "proceed"}
    assert run(space, project, model, answers=answers, parameters={"depth": "quick", "repairs": 0}) == "waiting"
    model.assert_done()
    (rejected,) = log(space, "artifact_rejected", "change")
    assert "done is not possible: the tests are failed" in rejected["findings"][0]["message"]
    assert made(space, "decision.json")["decision"] == "stop"
    assert not (space / "sessions/change/proof.json").exists()


def test_a_report_that_claims_what_is_not_so_is_found_out(space: Path, project: Path) -> None:
    idle = [handed_in(CHANGES)]
    model = scripted(*UP_TO_PLAN, *UP_TO_IMPLEMENT, *idle, handed_in({**PASSED, "exit_code": 1}), handed_in(PASSED))
    assert run(space, project, model, answers={"plan": "proceed"}) == "failed"
    model.assert_done()
    failed = log(space, "step_failed", "change")[-1]
    assert failed["step"] == "proof"
    assert "1 failed" in failed["message"]
    assert (project / "sums.py").read_text() == BROKEN


def test_it_goes_back_to_the_plan_with_the_reason(space: Path, project: Path) -> None:
    wrong = [edited("a - b", "a * b * 1"), handed_in(CHANGES)]
    right = [edited("a * b * 1", "a + b"), handed_in(CHANGES)]
    model = scripted(
        *(*UP_TO_PLAN, *UP_TO_IMPLEMENT, *wrong, *FAIL, said(AGAIN)),
        *(said(REFINED), *right, *PASS, said(DONE)),
    )
    answers = {"plan": "proceed", "decide": "proceed"}
    assert run(space, project, model, answers=answers, parameters={"repairs": 0}) == "done"
    model.assert_done()
    assert "multiplying was wrong: add" in str(model.requests[10].messages)
    assert (project / "sums.py").read_text() == FIXED
    rounds = [(event["kind"], event["unit"], event["round"]) for event in log(space, "round_started", "change")]
    assert rounds == [("loop", "decide", 1)]


def test_grave_findings_must_be_answered(space: Path, project: Path) -> None:
    review, _ = UP_TO_IMPLEMENT
    model = scripted(*UP_TO_PLAN, review, said({**REFINED, "answers": []}), said(REFINED), *FIX, *PASS, said(DONE))
    assert run(space, project, model, answers={"plan": "proceed", "decide": "proceed"}) == "done"
    (rejected,) = log(space, "artifact_rejected", "change")
    assert "the critical finding f1 of the review is not answered" in rejected["findings"][0]["message"]


def test_whoever_tests_can_not_write(space: Path, project: Path) -> None:
    tries = [edited("a - b", "a + b"), RUNS_TESTS, handed_in(FAILED)]
    model = scripted(*UP_TO_PLAN, *UP_TO_IMPLEMENT, handed_in(CHANGES), *tries, said(STOP))
    assert run(space, project, model, answers={"plan": "proceed"}, parameters={"repairs": 0}) == "waiting"
    assert "there is no tool 'Edit'" in results(model.requests[7])[0]
    assert (project / "sums.py").read_text() == BROKEN


def test_without_a_model_it_says_what_is_needed(space: Path, project: Path) -> None:
    (space / "config.toml").write_text("")
    with pytest.raises(ExternalError, match="needs a model for its agent dev-analyst, and none is connected"):
        run(space, project, scripted())


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_killed_while_it_implements_it_is_continued_and_leaves_no_process(space: Path, project: Path) -> None:
    pid_file = project / "pid"
    (project / "conftest.py").write_text(
        f"import os, pathlib, time\npathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-m", "tests.e2e.devloop", str(space), str(project)]
    with subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL) as process:
        until(lambda: pid_file.exists() and pid_file.read_text() != "")
        process.send_signal(signal.SIGKILL)
    until(lambda: not at_work_in(project))
    assert (project / "sums.py").read_text() == BROKEN.replace("a - b", "a * b * 1"), "the folder is as it was left"
    (project / "conftest.py").unlink()
    model = scripted(edited("a * b * 1", "a + b"), handed_in(CHANGES), *PASS, said(DONE))
    assert run(space, project, model, answers={"decide": "proceed"}) == "done"
    model.assert_done()
    starts = [(event["step"], event["attempt"]) for event in log(space, "step_started", "change")]
    assert starts.count(("implement", 1)) == 2, "the same attempt goes on where it was cut off"
    assert starts[-4:] == [("implement", 1), ("test", 1), ("proof", 1), ("decide", 1)]
    assert (project / "sums.py").read_text() == FIXED
