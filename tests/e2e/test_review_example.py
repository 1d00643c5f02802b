"""examples/review goes through its gate, its repair and its loop, with answers given in advance and with replies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.made import Weft

ROOT = Path(__file__).parent.parent.parent
TIDES = ROOT / "examples/tides.md"


@pytest.fixture
def review(tmp_path: Path) -> Weft:
    shutil.copytree(ROOT / "examples/review", tmp_path / "review", ignore=shutil.ignore_patterns("sessions"))
    return Weft(tmp_path / "review")


def started(review: Weft, step: str) -> list[str]:
    return [one["cause"] for one in review.log("tides") if one["type"] == "step_started" and one["step"] == step]


def test_answers_in_advance_lead_to_the_end(review: Weft) -> None:
    ran = review("run", TIDES, "--session-id", "tides", "--answer", "outline=proceed", "-o", "-")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("# The patient machine under the tide tables\n")
    assert started(review, "draft") == ["first", "repair"]
    assert [one["verdict"] for one in review.log("tides") if one["type"] == "verdict_given"] == ["failed", "passed"]


def test_a_person_amends_and_goes_on(review: Weft) -> None:
    assert review("run", TIDES, "--session-id", "tides").code == 3
    assert "waits at the gate outline-1: One sentence stands" in review("sessions", "show", "tides").out
    amended = review("reply", "tides", "amend", "about", "the", "Moon")
    assert amended.code == 3, amended.err
    assert "the Moon pulls, the Sun pulls" in amended.err
    done = review("reply", "tides", "proceed")
    assert done.code == 0, done.err
    assert started(review, "outline") == ["first", "amend"]
    assert review("reply", "tides", "proceed").code == 1, "nothing waits any more"


def test_too_little_left_goes_round_the_loop_as_often_as_it_may(review: Weft) -> None:
    short = ("--set", "words=10", "--set", "shorten=4")
    ran = review("run", TIDES, "--session-id", "tides", "--answer", "outline=proceed", *short)
    assert ran.code == 0, ran.err
    rounds = [(one["kind"], one["round"]) for one in review.log("tides") if one["type"] == "round_started"]
    repairs = [("repair", number) for number in (1, 2, 3, 4)]
    assert rounds == [*repairs, ("loop", 1), *repairs]
    assert "compare wanted to go back again, but 1 round is the most" in ran.err


def test_what_never_fits_is_given_as_it_is_and_more_rounds_go_on_from_there(review: Weft) -> None:
    short = ("--set", "words=20", "--set", "shorten=1")
    ran = review("run", TIDES, "--session-id", "tides", "--answer", "outline=proceed", *short)
    assert ran.code == 0, ran.err
    assert "not passed: verify says it failed, and 1 repair did not help; this is the best there is" in ran.err
    assert "*Failed: " in (review.session("tides") / "abstract.md").read_text()
    assert (
        "draft: run, repair round 2 of 3, asked for by verify"
        in review("plan", "--session-id", "tides", "--set", "shorten=3").out
    )
    assert review("run", "--session-id", "tides", "--set", "shorten=3").code == 0
    rounds = [one["round"] for one in review.log("tides") if one["type"] == "round_started"]
    assert rounds == [1, 2, 3]


def test_a_deep_run_lists_terms_and_a_plain_one_does_not(review: Weft) -> None:
    answer = ("--answer", "outline=proceed")
    assert review("run", TIDES, "--session-id", "tides", "--depth", "deep", *answer).code == 0
    assert "Terms: " in (review.session("tides") / "abstract.md").read_text()
    assert review("run", TIDES, "--session-id", "tides", "--depth", "standard").code == 0
    assert "Terms: " not in (review.session("tides") / "abstract.md").read_text()
    assert (review.session("tides") / "terms.json").exists(), "what is passed over stays, and is not read"


def test_its_page_shows_the_gate_the_unit_the_loop_and_the_depths(review: Weft) -> None:
    shown = review("pipelines", "show", "abstract").out
    assert "depth deep: shorten = 12, words = 40, terms = true" in shown
    assert "budget: 5 minutes" in shown
    assert "  gate, when round of outline.json is 0: proceed, amend, cancel" in shown
    assert "repair draft, verify: at most shorten rounds, while verify.json says so at verdict" in shown
    assert "loop outline, draft, verify, compare: at most 1 round, when kept of compare.json below 0.5" in shown
    assert "  only when terms is true" in shown
