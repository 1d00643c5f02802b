"""What calls took, off the log: each counted once, and what is not known counted apart."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from weft.models.prices import Cost
from weft.models.spending import NOTHING, ModelCall, model_calls, spent
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled
from weft.protocol.events import DurableEvent, Record
from weft.protocol.messages import Usage

AT = "2026-11-15T10:00:00.000Z"
USED = {"input": 100, "output": 10, "cache_read": 40, "reasoning": 5}


def records(*events: DurableEvent) -> list[Record]:
    return [Record(seq, AT, event) for seq, event in enumerate(events, 1)]


def run(pipeline: str = "writing") -> DurableEvent:
    return e.RunStarted(run=1, pipeline=pipeline, steps=("summary",), desired="summary", parameters={})


def started(attempt: int = 1, model: str = "work/m") -> DurableEvent:
    made_from = {"model": model, "code:checks.py": "1"}
    return e.StepStarted(
        run=1, step="summary", attempt=attempt, cause="first", reason="", input_hash="h", inputs=made_from
    )


def completed(attempt: int = 1, model: str | None = "work/m", usage: Mapping[str, int] = USED) -> DurableEvent:
    return e.StepCompleted(
        run=1, step="summary", attempt=attempt, hash="h", schema_version="", ms=1, model=model, usage=usage
    )


def failed(attempt: int = 1, usage: Mapping[str, int] = USED) -> DurableEvent:
    return e.StepFailed(
        run=1, step="summary", attempt=attempt, kind="rejected", message="", retrying=True, ms=1, model="work/m",
        usage=usage,
    )  # fmt: skip


def settled(outcome: t.ModelOutcome = "completed", **more: Any) -> DurableEvent:
    return t.ModelSettled(conversation="main", turn=1, execution="t1/model", outcome=outcome, **{"text": "", **more})


def a_dollar(call: ModelCall) -> Cost:
    known = call.model == "work/m" and call.usage.input is not None
    return Cost(amount=Decimal(1) if known else None, why="")


def test_attempts_that_failed_count_like_those_that_did_not() -> None:
    log = records(run(), started(), failed(), started(2), completed(2))
    calls = list(model_calls(log))
    assert [(call.pipeline, call.step, call.attempt, call.run) for call in calls] == [
        ("writing", "summary", 1, 1),
        ("writing", "summary", 2, 1),
    ]
    found = spent(log, a_dollar)
    assert (found.calls, found.usd, found.unpriced) == (2, Decimal(2), 0)
    assert (found.input, found.output, found.cache_read, found.reasoning) == (200, 20, 80, 10)
    assert found.tokens == 220, "cached and reasoning tokens are part of these and not added again"


def test_code_is_no_call() -> None:
    log = records(run(), started(model="embedded 2"), completed(model=None, usage={}))
    assert spent(log, a_dollar) == NOTHING
    stopped = e.StepInterrupted(run=1, step="summary", attempt=1, why="stopped")
    assert spent(records(run(), started(model="embedded 2"), stopped), a_dollar) == NOTHING


def test_an_attempt_that_was_cut_off_counts_with_what_is_known_of_it() -> None:
    told = e.StepInterrupted(run=1, step="summary", attempt=1, why="stopped", model="work/m", usage=USED)
    assert spent(records(run(), started(), told), a_dollar).usd == 1
    lost = e.StepInterrupted(run=1, step="summary", attempt=1, why="the process ended")
    found = spent(records(run(), started(), lost), a_dollar)
    assert (found.calls, found.usd, found.unpriced, found.uncounted) == (1, Decimal(0), 1, 1)


def test_a_conversation_counts_its_answers_its_summaries_and_what_was_interrupted() -> None:
    summary = t.TranscriptCompacted(conversation="main", turn=1, text="short", model="work/m", usage=USED)
    stopped = settled("interrupted", text="half", reason="user", model="work/m", usage={"input": 9, "output": 1})
    log = records(settled(model="work/m", usage=USED), summary, stopped)
    assert [call.conversation for call in model_calls(log)] == ["main"] * 3
    assert spent(log, a_dollar).input == 209


def test_a_call_that_never_began_is_none_and_one_that_was_lost_is_unknown() -> None:
    assert list(model_calls(records(settled("interrupted", reason="user")))) == []
    (lost,) = model_calls(records(settled("interrupted", reason="process_lost")))
    assert (lost.model, lost.usage) == ("unknown", Usage())
    _, again = model_calls(
        records(settled(model="embedded", usage={"input": 0}), settled("interrupted", reason="process_lost"))
    )
    assert again.model == "embedded", "the model it talked with last"
    rule = t.TranscriptCompacted(conversation="main", turn=1, text="put together by rule")
    assert list(model_calls(records(rule))) == []


def test_what_is_not_known_is_said_and_never_nothing() -> None:
    known, unknown = settled(model="work/m", usage=USED), settled(model="other/m", usage=USED)
    assert str(spent(records(known), a_dollar)) == "$1.00"
    both = spent(records(known, unknown, unknown), a_dollar)
    assert str(both) == "at least $1.00, 2 calls of unknown price"
    assert both.short == "$1.00 + unknown"
    nothing = spent(records(unknown), a_dollar)
    assert str(nothing) == "unknown, 1 call of unknown price"
    assert nothing.short == "unknown"
    assert str(NOTHING) == "$0.00"


def test_counts_that_are_no_numbers_were_not_reported() -> None:
    (call,) = model_calls(records(settled(model="work/m", usage={"input": "many", "output": True, "odd": 3})))
    assert call.usage == Usage()


PLACE = "run-1/summary#1"


def intended(execution: str, conversation: str = PLACE) -> DurableEvent:
    return t.IntentRecorded(conversation=conversation, turn=1, execution=execution, kind="model")


def answered(execution: str) -> DurableEvent:
    return t.ModelSettled(
        conversation=PLACE, turn=1, execution=execution, outcome="completed", text="", model="work/m", usage=USED
    )


def killed(usage: Mapping[str, int] = USED) -> DurableEvent:
    return e.StepInterrupted(
        run=1, step="summary", attempt=1, why="the process ended", model="work/m" if usage else None, usage=usage
    )


def counted(*events: DurableEvent) -> tuple[int, int, int]:
    """Calls, those of unknown price, and dollars, which are whole here."""
    found = spent(records(run(), started(), *events), a_dollar)
    assert found.usd == int(found.usd)
    return found.calls, found.unpriced, int(found.usd)


def test_an_agents_call_that_a_kill_cut_off_counts_apart_and_once() -> None:
    lost = t.ModelSettled(
        conversation=PLACE, turn=2, execution="t2/model", outcome="interrupted", text="", reason="process_lost"
    )
    first = [intended("t1/model"), answered("t1/model"), intended("t2/model"), killed()]
    assert counted(*first) == (2, 1, 1)
    assert counted(*first, started(), lost, intended("t3/model"), answered("t3/model"), completed()) == (3, 1, 2)
    below = intended("t1/model", f"{PLACE}/c1")
    assert counted(intended("t1/model"), answered("t1/model"), intended("t2/model"), below, killed()) == (3, 2, 1)
    assert counted(intended("t1/model"), answered("t1/model"), killed()) == (1, 0, 1), "it was at a tool"
    assert counted(intended("t1/model"), killed({})) == (1, 1, 0)


def test_a_call_that_was_refused_for_its_budget_is_none() -> None:
    over = e.StepFailed(
        run=1, step="summary", attempt=1, kind="over_budget", message="", retrying=False, ms=1, model="work/m",
        usage=USED,
    )  # fmt: skip
    assert counted(intended("t1/model"), answered("t1/model"), intended("t2/model"), over) == (1, 0, 1)


def test_of_calls_that_are_in_the_log_at_their_end_alone_one_may_be_lost() -> None:
    def called(usage: Mapping[str, int] = USED) -> DurableEvent:
        return CallSettled(
            run=1, step="summary", attempt=1, call="1", kind="model", name="work/m", ms=1, ok=bool(usage),
            model="work/m", usage=usage,
        )  # fmt: skip

    assert counted(called(), called(), killed()) == (3, 1, 1), "two items of a map, and what ran beside them"
    stopped = e.StepInterrupted(run=1, step="summary", attempt=1, why="interrupted", model="work/m", usage=USED)
    assert counted(called(), called({}), called({}), stopped) == (3, 2, 1), "each that was stopped is told"
    assert counted(called(), stopped) == (1, 0, 1)
