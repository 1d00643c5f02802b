"""What came of steps over many runs, as logs tell it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from weft.app import App
from weft.app.sessions.stats import StatsAsk, StepStats, stats
from weft.models.prices import Cost
from weft.models.spending import ModelCall, model_calls, spent
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled
from weft.protocol.errors import Finding
from weft.protocol.events import DurableEvent
from weft.render.stats import StatsRow, stats_table

BIG = "desk/big"


def started(step: str, attempt: int, cause: Any, run: int = 1) -> DurableEvent:
    return e.StepStarted(
        run=run, step=step, attempt=attempt, cause=cause, reason="", input_hash="h", inputs={"model": BIG}
    )


def called(step: str, attempt: int, number: int) -> DurableEvent:
    return CallSettled(
        run=1,
        step=step,
        attempt=attempt,
        call=str(number),
        kind="model",
        name=BIG,
        ms=5,
        ok=True,
        model=BIG,
        usage={"input": 5, "output": 1},
    )


def rejected(step: str, *kinds: str) -> DurableEvent:
    findings = tuple(Finding("a.json", "/x", "wrong", kind=kind) for kind in kinds)
    return e.ArtifactRejected(run=1, step=step, attempt=1, artifact="a.json", findings=findings)


def completed(step: str, attempt: int, ms: int, **usage: int) -> DurableEvent:
    return e.StepCompleted(
        run=1, step=step, attempt=attempt, hash="h", schema_version="", ms=ms, model=BIG, usage=usage
    )


RUN = e.RunStarted(run=1, pipeline="letters", steps=("list", "check"), desired="check", parameters={})
FIRST = [
    RUN,
    started("list", 1, "first"),
    called("list", 1, 1),
    called("list", 1, 2),
    rejected("list", "schema", "verbatim", "verbatim"),
    e.StepFailed(
        run=1, step="list", attempt=1, kind="rejected", message="", retrying=True, ms=9,
        model=BIG, usage={"input": 10, "output": 2},
    ),
    started("list", 2, "retry"),
    called("list", 2, 3),
    completed("list", 2, 40, input=20, output=4),
    started("check", 1, "first"),
    completed("check", 1, 10),
    e.VerdictGiven(
        run=1, step="check", attempt=1, verdict="failed", round=0, most=2, claims={"quoted": 3, "contradicted": 1}
    ),
    e.RoundStarted(run=1, kind="repair", unit="check", round=1, most=2, steps=("list", "check"), base="b"),
    started("list", 3, "repair"),
    completed("list", 3, 60, input=1, output=1),
    e.RunEnded(run=1, outcome="done"),
]  # fmt: skip
SECOND = [
    RUN,
    started("list", 1, "first"),
    e.StepFailed(run=1, step="list", attempt=1, kind="error", message="", retrying=False, ms=9),
    e.RunEnded(run=1, outcome="failed"),
]


@pytest.fixture
def app(workspace: Path) -> Iterator[App]:
    for name, day, events in (("one", 10, FIRST), ("two", 17, SECOND)):
        with (
            App.open(workspace, now=lambda day=day: datetime(2026, 11, day, 12, tzinfo=UTC)) as app,  # type: ignore[misc]
            app.sessions.open(name, create=True) as opened,
        ):
            opened.record([e.SessionCreated(session=name, pipeline="letters", weft="0"), *events])
    with App.open(workspace) as app:
        yield app


def price(call: ModelCall) -> Cost:
    return Cost(amount=Decimal(call.usage.input or 0), why="")


def rows(app: App, **asked: Any) -> dict[str, StepStats]:
    found = stats(app.sessions, price, StatsAsk(zone=UTC, **asked))
    assert found.troubles == ()
    return {" ".join(filter(None, (row.period, row.step or "all"))): row for row in found.rows}


def test_a_step_is_counted_by_what_came_of_it(app: App) -> None:
    found = rows(app)
    whole, made = found["all"], found["list"]
    assert (whole.runs, whole.outcomes) == (2, {"done": 1, "failed": 1})
    assert (made.runs, made.attempts, made.made, made.first, made.failed) == (2, 4, 2, 1, 1)
    assert made.first_share == pytest.approx(1 / 3)
    assert made.findings == {"schema": 1, "verbatim": 2}
    assert (made.ms, made.calls, made.tokens, made.usd) == (50, 4, 38, Decimal(31))
    check = found["check"]
    assert (check.repairs, check.claims) == (1, {"quoted": 3, "contradicted": 1})


def test_periods_days_pipelines_and_models(app: App) -> None:
    assert set(rows(app, over="week")) == {
        "2026-W46 all",
        "2026-W46 list",
        "2026-W46 check",
        "2026-W47 all",
        "2026-W47 list",
    }
    assert rows(app, over="month")["2026-11 all"].runs == 2
    assert rows(app, since=date(2026, 11, 11))["all"].runs == 1
    assert rows(app, pipelines=("other",)) == {}
    by_model = stats(app.sessions, price, StatsAsk(by_model=True)).rows
    assert {row.model for row in by_model if row.step == "list"} == {BIG}


def test_every_call_counts(app: App) -> None:
    calls = list(model_calls(app.sessions.records("one")))
    assert [call.calls for call in calls] == [2, 1, 1, 1]
    assert spent(app.sessions.records("one"), price).calls == 5


def test_the_table_has_what_there_is(app: App) -> None:
    found = stats(app.sessions, price, StatsAsk()).rows
    shown = [StatsRow(**{n: getattr(row, n) for n in StatsRow.__slots__ if n != "cost"}, cost="$1") for row in found]
    table = stats_table(shown)
    assert "2: 1 done, 1 failed" in table
    assert "2 verbatim, 1 schema" in table
    assert "75% quoted, 25% contradicted" in table


def test_the_log_keeps_which_check_it_was(app: App) -> None:
    (found,) = [r.event for r in app.sessions.records("one") if isinstance(r.event, e.ArtifactRejected)]
    assert [one.kind for one in found.findings] == ["schema", "verbatim", "verbatim"]
