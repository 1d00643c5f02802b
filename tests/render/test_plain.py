"""Plain lines: one fact a line, nothing cut, nothing a log or a terminal would obey."""

from __future__ import annotations

from hypothesis import given, settings
from inline_snapshot import snapshot

from weft.protocol.call_events import StepTextStreamed
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactRestored,
    ArtifactSetAside,
    CutAccepted,
    EditAccepted,
    Event,
    InputRecorded,
    NoticeGiven,
    QuestionAsked,
    QuestionClosed,
    RunEnded,
    SessionAdopted,
    StatusChanged,
    StepAdopted,
    StepProgressed,
    WordsSaid,
    WordsUnderstood,
)
from weft.render.plain import PlainLog, plain_lines

from .screens import SESSION, Moment, completed, run_done, run_failed, run_interrupted, started
from .strategies import events


def logged(run: list[Moment], session: str = SESSION) -> list[str]:
    log = PlainLog(session)
    return [line for _, event in run for line in log.lines(event)]


def test_a_run_that_is_done() -> None:
    assert logged(run_done()) == snapshot(
        [
            "session on-rivers-3fa9c1 created (pipeline writing-kit)",
            "run 1 started (pipeline writing-kit, 5 steps, wanted: kit)",
            "step summary skipped: up to date",
            "step quotes started (attempt 1, first: not yet made)",
            "step ideas started (attempt 1, first: summary.json was edited by hand)",
            "step quotes accepted quotes.json (1.2 kB)",
            "step quotes done in 0.4 s -> quotes.json",
            "step ideas rejected ideas.json (attempt 1, 1 finding)",
            "  ideas.json at /ideas/0/quote: this sentence is not in content.md, where every quote must be found",
            "    hint: copy the quote letter by letter from the source",
            "step ideas failed (attempt 1, rejected, retrying): ideas.json was rejected",
            "step ideas started (attempt 2, retry: attempt 1 failed)",
            "ideas: looking for sentences that carry an argument",
            "step ideas accepted ideas.json (1.2 kB)",
            "step ideas done in 5.0 s -> ideas.json",
            "step outline started (attempt 1, first: not yet made)",
            "step outline accepted outline.json (1.2 kB)",
            "step outline done in 0.4 s -> outline.json",
            "step kit started (attempt 1, first: not yet made)",
            "step kit accepted kit.json (1.2 kB)",
            "step kit done in 1 min 07 s -> kit.json",
            "run done",
        ]
    )


def test_the_end_of_a_failed_run() -> None:
    assert logged(run_failed())[-14:] == snapshot(
        [
            "ideas: looking for sentences that carry an argument",
            "step ideas rejected ideas.json (attempt 2, 8 findings)",
            "  ideas.json at /ideas/0/title: is longer than 80 characters",
            "  ideas.json at /ideas/1/title: is longer than 80 characters",
            "  ideas.json at /ideas/2/title: is longer than 80 characters",
            "  ideas.json at /ideas/3/title: is longer than 80 characters",
            "  ideas.json at /ideas/4/title: is longer than 80 characters",
            "  ideas.json at /ideas/5/title: is longer than 80 characters",
            "  ideas.json at /ideas/6/title: is longer than 80 characters",
            "  ideas.json at /ideas/7/title: is longer than 80 characters",
            "step ideas failed (attempt 2, rejected): ideas.json was rejected: 8 findings",
            "run failed: ideas",
            "  try again: weft run --session-id on-rivers-3fa9c1",
            "  every attempt: weft sessions log on-rivers-3fa9c1",
        ]
    )


def test_the_end_of_an_interrupted_run() -> None:
    assert logged(run_interrupted())[-3:] == snapshot(
        [
            "step ideas interrupted (attempt 2): by the person",
            "run interrupted by the person",
            "  nothing is lost, continue with: weft run --session-id on-rivers-3fa9c1",
        ]
    )


def test_the_other_events() -> None:
    others: list[Event] = [
        SessionAdopted(session="s-1", pipeline="kit", weft="0.1", shape="manifest 2", notes=("no hash",)),
        CutAccepted(lost=("log.jsonl line 4: gone",), known=19),
        InputRecorded(input="source", file="content.md", hash="", size=52_000, origin="/home/maria/talk.md"),
        InputRecorded(input="source", file="content.md", hash="", size=5),
        ArtifactSetAside(artifact="a.md", hash="", kept="a.edited.md"),
        ArtifactRestored(artifact="b.md", hash=""),
        EditAccepted(step="ideas", hash="", schema_version="", input_hash="", inputs={}),
        StepAdopted(step="ideas", hash="", schema_version="", input_hash="", inputs={}),
        StepProgressed(step="ideas", attempt=1, text="one\ntwo\n"),
        NoticeGiven(text="first\nsecond"),
        RunEnded(run=1, outcome="failed", message="the disk is full"),
        RunEnded(run=1, outcome="done"),
    ]
    assert [line for event in others for line in plain_lines(event)] == snapshot(
        [
            "session s-1 adopted (pipeline kit, manifest 2)",
            "  note: no hash",
            "the log goes on without what it has lost:",
            "  log.jsonl line 4: gone",
            "input source recorded as content.md (52 kB) from /home/maria/talk.md",
            "input source recorded as content.md (5 B)",
            "artifact a.md was changed by hand, kept as a.edited.md",
            "artifact b.md written again from the log",
            "step ideas keeps the edit made by hand",
            "step ideas adopted from an older session",
            "ideas: one",
            "ideas: two",
            "note: first",
            "  second",
            "run failed: the disk is full",
            "run done",
        ]
    )


def test_only_a_run_that_is_not_done_needs_a_next_step() -> None:
    assert plain_lines(RunEnded(run=1, outcome="done"), "s-1") == ["run done"]
    assert len(plain_lines(RunEnded(run=1, outcome="failed"), "s-1", program="weft -w x")) == 3
    assert plain_lines(RunEnded(run=1, outcome="failed"), "s-1", program="weft -w x")[1] == (
        "  try again: weft -w x run --session-id s-1"
    )


def test_artifacts_of_an_attempt_that_came_to_nothing_are_forgotten() -> None:
    accepted, done = completed("ideas")
    log = PlainLog()
    for event in (accepted, started("ideas", 2, "rerun")):
        log.lines(event)
    assert log.lines(done) == ["step ideas done in 0.4 s"]


MAY_BE_SILENT = (StepProgressed, StepTextStreamed, WordsSaid, QuestionAsked, QuestionClosed, StatusChanged)


@settings(deadline=None)
@given(events)
def test_every_event_has_safe_lines(event: Event) -> None:
    lines = plain_lines(event, "s-1")
    assert lines or isinstance(event, MAY_BE_SILENT) or (isinstance(event, ArtifactAccepted) and event.item)
    for line in lines:
        assert not set(line) & set("\n\r\x1b\x07\x00\t\u202e\u2028")
        line.encode("utf-8")


def test_what_allows_more_is_said_of_the_budget_that_was_reached() -> None:
    def told(message: str) -> str:
        return "\n".join(PlainLog("tides").lines(RunEnded(run=1, outcome="over_budget", message=message)))

    assert "--budget usd=…" in told("the run has $1.00, and it is spent")
    assert "under its `budget` in the pipeline's file" in told("the step a has 2 minutes, and they are spent")


def test_what_was_understood_is_not_followed_by_the_same_words() -> None:
    change = WordsUnderstood(
        run=1, words="More on lakes", meaning="reply", choice="amend", text="More on lakes", reason='"more on lakes"'
    )
    assert plain_lines(change) == ["understood: amend: More on lakes"]
    decided = WordsUnderstood(run=1, words="looks good", meaning="reply", choice="proceed", reason='"looks good"')
    assert plain_lines(decided) == ['understood: proceed ("looks good")']
