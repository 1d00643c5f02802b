"""The fold: what each event changes on the screen."""

from __future__ import annotations

import pytest

from weft.protocol.errors import Finding
from weft.protocol.events import (
    ArtifactRestored,
    ArtifactSetAside,
    EditAccepted,
    Event,
    NoticeGiven,
    RunEnded,
    RunStarted,
    SessionAdopted,
    StepAdopted,
    StepInterrupted,
    StepProgressed,
    StepSkipped,
)
from weft.render.view import RunView, StepView

from .screens import (
    QUOTE,
    STEPS,
    at,
    begun,
    completed,
    failed,
    folded,
    rejected,
    run_done,
    run_failed,
    second_attempt,
    started,
)


def test_a_run_begins_with_all_steps_waiting_in_order() -> None:
    view = folded(at(3, *begun()))
    assert list(view.steps) == list(STEPS)
    assert {step.state for step in view.steps.values()} == {"waiting"}
    assert (view.pipeline, view.desired, view.outcome) == ("writing-kit", "kit", None)
    assert view.elapsed(5.5) == 2.5


def test_steps_run_side_by_side_each_with_its_own_clock() -> None:
    view = folded([*at(0, *begun()), *at(1, started("quotes")), *at(2, started("ideas"))])
    assert [(step.state, step.started) for step in view.steps.values()][1:3] == [("running", 1), ("running", 2)]


def test_a_rejected_attempt_keeps_its_findings_while_the_next_one_works() -> None:
    ideas = folded(second_attempt()).steps["ideas"]
    assert (ideas.state, ideas.attempt, ideas.tries_in_run) == ("running", 2, 2)
    assert (ideas.findings, ideas.rejected_attempt) == ((QUOTE,), 1)
    assert ideas.reason == "summary.json was edited by hand"
    assert ideas.message == "ideas.json was rejected"
    assert ideas.progress == "looking for sentences that carry an argument"


def test_findings_of_one_attempt_add_up_and_those_of_the_next_replace_them() -> None:
    one, two, three = (Finding(name, "", "wrong") for name in ("a.json", "b.json", "c.json"))
    view = folded(at(0, *begun(), started("ideas"), rejected("ideas", 1, one), rejected("ideas", 1, two)))
    assert view.steps["ideas"].findings == (one, two)
    again = folded(at(1, rejected("ideas", 2, three)), view)
    assert again.steps["ideas"].findings == (three,)


def test_an_attempt_that_fails_otherwise_does_not_show_old_findings_as_its_own() -> None:
    view = folded([*second_attempt(), *at(4, failed("ideas", 2, "it raised ValueError", retrying=True))])
    assert view.steps["ideas"].findings == ()
    assert view.steps["ideas"].state == "waiting"


def test_a_completed_step_has_its_artifacts_and_its_time() -> None:
    view = folded(run_done())
    assert view.steps["ideas"] == StepView(
        name="ideas",
        state="done",
        attempt=2,
        tries_in_run=2,
        started=2,
        ms=5012,
        reason="summary.json was edited by hand",
        findings=(QUOTE,),
        rejected_attempt=1,
        artifacts=("ideas.json",),
        progress="looking for sentences that carry an argument",
    )
    assert (view.outcome, view.elapsed(500)) == ("done", 75)


def test_a_failed_run_names_what_failed() -> None:
    view = folded(run_failed())
    assert (view.outcome, view.message, view.steps["ideas"].state) == ("failed", "failed: ideas", "failed")
    assert len(view.steps["ideas"].findings) == 8
    assert view.steps["kit"].state == "waiting"


def test_an_interrupted_step_says_why_and_how_long_it_ran() -> None:
    view = folded(
        [*at(1, *begun(), started("quotes")), *at(3.5, StepInterrupted(run=1, step="quotes", attempt=1, why="x"))]
    )
    quotes = view.steps["quotes"]
    assert (quotes.state, quotes.message, quotes.ms) == ("interrupted", "x", 2500)


def test_nothing_spins_after_the_end() -> None:
    view = folded([*at(1, *begun(), started("quotes")), *at(2, RunEnded(run=1, outcome="interrupted"))])
    assert (view.steps["quotes"].state, view.steps["quotes"].ms) == ("interrupted", 1000)


def test_progress_of_an_attempt_that_is_over_is_not_shown() -> None:
    view = folded(second_attempt())
    view.apply(StepProgressed(step="ideas", attempt=1, text="late"), 4)
    assert view.steps["ideas"].progress == "looking for sentences that carry an argument"
    view.apply(StepProgressed(step="quotes", attempt=1, text="late"), 4)
    assert view.steps["quotes"].progress == ""


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (StepSkipped(run=1, step="ideas", reason="up to date"), "up to date"),
        (
            EditAccepted(step="ideas", hash="", schema_version="", input_hash="", inputs={}),
            "your edit is kept as the result",
        ),
        (
            StepAdopted(step="ideas", hash="", schema_version="", input_hash="", inputs={}),
            "the artifact of the older session is kept",
        ),
    ],
)
def test_what_is_not_run_says_why(event: Event, reason: str) -> None:
    ideas = folded(at(0, *begun(), event)).steps["ideas"]
    assert (ideas.state, ideas.reason) == ("skipped", reason)


def test_notices_are_kept_once_each_and_in_order() -> None:
    view = folded(
        at(
            0,
            SessionAdopted(session="s-1", pipeline="kit", weft="0.1", shape="manifest 1", notes=("no manifest",)),
            NoticeGiven(text="line 4 is damaged"),
            NoticeGiven(text="line 4 is damaged"),
            ArtifactSetAside(artifact="a.md", hash="", kept="a.edited.md"),
            ArtifactRestored(artifact="b.md", hash=""),
        )
    )
    assert view.pipeline == "kit"
    assert view.notices == [
        "no manifest",
        "line 4 is damaged",
        "a.md was changed by hand; that version is kept as a.edited.md",
        "b.md was written again from the log",
    ]


def test_a_new_run_starts_clean_and_still_knows_the_files() -> None:
    again = RunStarted(run=2, pipeline="writing-kit", steps=STEPS, desired="kit", parameters={})
    view = folded([*run_done(), *at(80, again, StepSkipped(run=2, step="kit", reason="up to date"))])
    assert (view.run, view.outcome, view.steps["ideas"].findings) == (2, None, ())
    assert view.files("kit") == ("kit.json",)
    assert view.files("unknown") == ()


def test_files_can_be_told_beforehand_and_what_was_made_wins() -> None:
    view = folded(at(0, *begun()), RunView("s-1", "/s", {"kit": ("old.md",)}))
    assert view.files("kit") == ("old.md",)
    for event in [started("kit"), *completed("kit")]:
        view.apply(event, 1)
    assert view.files("kit") == ("kit.json",)


def test_a_view_that_joins_in_the_middle_takes_steps_as_they_come() -> None:
    view = folded(at(5, started("late"), *completed("late")))
    assert view.steps["late"].state == "done"
