"""`weft cost` on real logs: by session, step, model and day; unknown prices said; damaged logs named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.made import Ran, Weft
from weft.app import App, SessionRequest
from weft.models.model import Model
from weft.models.spending import spent as sum_of
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import Interrupt, StartRun
from weft.protocol.events import DurableEvent
from weft.protocol.messages import Usage
from weft.testing.scripted import Hold, ScriptedModel, Turn, says

SONNET = "anthropic/claude-sonnet-4-5"
CONFIG = """\
[models.desk]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
price = {input = 2, output = 10, cache_read = 0.2}

[models.gate]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
"""


RUN = e.RunStarted(run=1, pipeline="letters", steps=("list", "more"), desired="more", parameters={})


def session(weft: Weft, name: str, day: int, events: Sequence[DurableEvent]) -> None:
    with (
        App.open(weft.workspace, now=lambda: datetime(2026, 11, day, 12, tzinfo=UTC)) as app,
        app.sessions.open(name, create=True) as opened,
    ):
        opened.record([e.SessionCreated(session=name, pipeline="letters", weft="0"), *events])


def step(name: str, model: str, **usage: int) -> list[DurableEvent]:
    return [
        e.StepStarted(
            run=1, step=name, attempt=1, cause="first", reason="", input_hash="h", inputs={"model": model}
        ),
        e.StepCompleted(
            run=1, step=name, attempt=1, hash="h", schema_version="", ms=1, model=model, usage=usage
        ),
    ]  # fmt: skip


def said(model: str, **usage: int) -> DurableEvent:
    return t.ModelSettled(
        conversation="main", turn=1, execution="t1/model", outcome="completed", text="x", model=model, usage=usage
    )


@pytest.fixture
def spent(weft: Weft) -> Weft:
    (weft.workspace / "config.toml").write_text(CONFIG)
    session(weft, "poem", 10, [
        RUN,
        *step("list", SONNET, input=100_000, output=10_000, cache_read=50_000),
        *step("more", "desk/big", input=100_000, output=10_000, cache_read=50_000, reasoning=7),
        e.RunEnded(run=1, outcome="done"),
    ])  # fmt: skip
    session(weft, "talk", 12, [said("gate/huge", input=5_000, output=50), said("embedded", input=0, output=0)])
    return weft


def rows(ran: Ran) -> dict[str, list[str]]:
    return {line.split("\t")[0]: line.split("\t")[1:] for line in ran.out.splitlines()}


def test_by_session_with_what_is_unknown_apart(spent: Weft) -> None:
    ran = spent("cost")
    assert ran.code == 0
    found = rows(ran)
    # Sonnet: 50,000 at $3 a million, 50,000 cached at $0.30, 10,000 written at $15. The desk's own price: $0.21.
    assert found["poem"] == ["2", "200000", "20000", "100000", "0", "7", "0.525000", "0"]
    assert found["talk"] == ["2", "5000", "50", "0", "0", "0", "unknown", "1"]
    assert found["total"][-2:] == ["0.525000", "1"]
    assert list(found) == ["poem", "talk", "total"]


def test_by_step_model_and_day(spent: Weft) -> None:
    assert list(rows(spent("cost", "--by", "step"))) == [
        "letters/list", "letters/more", "conversation main", "total",
    ]  # fmt: skip
    models = rows(spent("cost", "--by", "model"))
    assert models[SONNET][-2:] == ["0.315000", "0"]
    assert models["desk/big"][-2:] == ["0.210000", "0"]
    assert models["gate/huge"][-2:] == ["unknown", "1"]
    assert models["embedded"][-2:] == ["0.000000", "0"]
    assert list(rows(spent("cost", "--by", "day"))) == ["2026-11-10", "2026-11-12", "total"]


def test_one_session_and_some_days(spent: Weft) -> None:
    assert list(rows(spent("cost", "poem"))) == ["letters/list", "letters/more", "total"]
    assert list(rows(spent("cost", "--since", "2026-11-11"))) == ["talk", "total"]
    assert list(rows(spent("cost", "--until", "2026-11-11"))) == ["poem", "total"]
    ran = spent("cost", "--since", "2026-11-13")
    assert (ran.code, ran.out, ran.err) == (0, "", "no model was called in these days\n")
    ran = spent("cost", "--since", "soon")
    assert (ran.code, "is no day" in ran.err) == (2, True)
    ran = spent("cost", "nobody")
    assert (ran.code, "nobody" in ran.err) == (1, True)


def test_as_json(spent: Weft) -> None:
    told = [json.loads(line) for line in spent("cost", "--by", "model", "--json").out.splitlines()]
    gate = next(one for one in told if one.get("model") == "gate/huge")
    assert (gate["usd"], gate["unpriced"], gate["input"]) == (None, 1, 5000)
    assert told[-1] == {
        "total": True, "calls": 4, "input": 205_000, "output": 20_050, "cache_read": 100_000, "cache_write": 0,
        "reasoning": 7, "unpriced": 1, "uncounted": 0, "saved": 0.225, "usd": 0.525,
    }  # fmt: skip


def test_a_damaged_log_is_named_and_the_rest_is_counted(spent: Weft) -> None:
    log = spent.session("talk") / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + b"{broken\n" + b"".join(lines[1:]))
    ran = spent("cost")
    assert ran.code == 1
    assert "weft: talk: log.jsonl line 2" in ran.err
    assert rows(ran)["poem"][-2] == "0.525000"
    newer = spent.session("newer")
    newer.mkdir()
    (newer / "log.jsonl").write_text(
        '{"seq":1,"at":"2026-11-10T12:00:00Z","type":"session_created","session":"newer","pipeline":"","weft":"9",'
        '"version":99}\n'
    )
    ran = spent("cost")
    assert ran.code == 1
    assert "newer: its log can't be read and is not counted" in ran.err
    assert rows(ran)["poem"][-2] == "0.525000"


def test_with_nothing_spent_it_says_so(weft: Weft) -> None:
    ran = weft("cost")
    assert (ran.code, ran.out, ran.err) == (0, "", "no model was called\n")


def test_an_attempt_that_is_interrupted_or_never_fits_is_in_the_sum(weft: Weft, source: Path) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    hold = Hold()
    model = ScriptedModel(
        [
            Turn(Usage(input=100, output=1), says("{"), hold, says("}")),
            *(Turn(Usage(input=50, output=5), says("I would rather not.")) for _ in range(6)),
        ]
    )

    async def go(model: Model) -> list[str]:
        outcomes: list[str] = []
        with App.open(weft.workspace, models={"scripted": model}) as app:
            for stop in (True, False):
                async with app.session(SessionRequest(file=source, session="poem")) as opened:
                    run = asyncio.create_task(opened.run(StartRun()))
                    if stop:
                        await hold.reached.wait()
                        opened.submit(Interrupt())
                    outcomes.append(await run)
        return outcomes

    assert asyncio.run(asyncio.wait_for(go(model), 60)) == ["interrupted", "failed"]
    (stopped,) = [event for event in weft.log("poem") if event["type"] == "step_interrupted"]
    assert (stopped["model"], stopped["usage"]) == ("scripted", {"input": 100, "output": 1})
    told: dict[str, Any] = json.loads(weft("cost", "poem", "--json").out.splitlines()[-1])
    assert (told["calls"], told["input"], told["output"], told["unpriced"]) == (7, 100 + 6 * 50, 1 + 6 * 5, 7)


def test_a_run_can_be_held_to_its_budget_with_the_same_sum(spent: Weft) -> None:
    with App.open(spent.workspace) as app:
        found = sum_of(app.sessions.records("poem"), app.models().price)
    assert (found.calls, found.tokens, str(found)) == (2, 220_000, "$0.5250")
