"""What the machine once got wrong, or nearly: one case each."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from tests.orchestrator import flow_model
from tests.orchestrator.flow_model import FlowWorld, play
from tests.orchestrator.flow_shapes import shape, wants
from tests.orchestrator.test_invariants import CODE, PIPELINE, live, of_type, proceed
from weft.app import App, SessionRequest
from weft.models.budget import Allowance, BudgetSpent, CallEstimate, Ledger, allowance, breach, short_of
from weft.orchestrator.rest_commands import open_gate
from weft.protocol import events as e
from weft.protocol.commands import Accepted, Interrupt, Reply, ReplyToGate, StartRun
from weft.protocol.events import DurableEvent, GateOpened
from weft.session.recovery import closing
from weft.session.state import SessionState
from weft.session.transitions import IllegalEventError, Standing, after
from weft.workspace.flow import Budget

CHAIN: dict[str, tuple[str, ...]] = {"plan": (), "draft": ("plan",), "verify": ("draft",), "end": ("verify",)}


def settle(world: FlowWorld) -> None:
    while not world.ended:
        play(world, ("succeed", "{} {}".format(*next(iter(world.running)))))


def test_until_a_step_inside_a_unit_does_not_wait_for_what_only_its_verifier_needs() -> None:
    requires: dict[str, tuple[str, ...]] = {"draft": (), "facts": (), "verify": ("draft", "facts"), "end": ("verify",)}
    world = FlowWorld(shape(requires, repair={("draft", "verify"): 1}), {"verify": 1})
    world.ledger.judge_end = lambda *_: None  # type: ignore[method-assign]  # not all steps are wanted
    world.start(StartRun(until="draft"))
    assert [step for step, _ in world.running] == ["draft"]
    settle(world)
    assert world.ended
    assert world.ended.message == "not checked: verify was not asked for"


def test_what_only_comes_up_to_date_late_lets_an_earlier_step_begin() -> None:
    requires: dict[str, tuple[str, ...]] = {"draft": (), "facts": (), "verify": ("draft", "facts"), "end": ("verify",)}
    world = FlowWorld(shape(requires, repair={("draft", "verify"): 1}), {"verify": 0}, limit=1)
    flow_model.finish(world)
    world.version["draft"] = "2"
    world.start()
    assert [step for step, _ in world.running] == ["draft"]


def test_a_gate_whose_condition_ceases_to_hold_is_withdrawn() -> None:
    world = FlowWorld(
        shape({"a": (), "end": ("a",)}, gates=("a",), gate_when={"a": wants("ask")}), parameters={"ask": True}
    )
    world.start()
    settle(world)
    assert [gate.gate for gate in world.state.gates.values()] == ["a-1"]
    world.parameters["ask"] = False
    world.start()
    assert world.state.gates == {}
    assert [r.event.does for r in world.records if isinstance(r.event, e.GateResolved)] == ["withdrawn"]


def test_a_run_that_was_answered_and_not_taken_up_waits_for_nobody() -> None:
    world = FlowWorld(shape({"a": (), "end": ("a",)}, gates=("a",)))
    world.start()
    settle(world)
    told = [world.state.status]
    world.say(ReplyToGate(gate="a", choice="proceed"))
    assert [*told, world.state.status] == ["waiting", "interrupted"]


def test_a_gate_beside_a_step_that_failed_is_not_all_that_is_left() -> None:
    world = FlowWorld(shape({"a": (), "b": (), "end": ("a", "b")}, gates=("a",), attempts=1))
    world.start()
    play(world, ("succeed", "a 1"))
    world.dies_at_the_end = True
    play(world, ("fail", "b 1"))
    assert world.ended
    assert world.ended.outcome == "interrupted"
    assert closing(world.state) == []


def test_a_gate_is_found_by_its_own_name_before_that_of_a_step() -> None:
    places = {"plan-1": "plan-1-2", "plan": "plan-1"}
    gates = {step: GateOpened(run=1, gate=gate, step=step, hash="h") for step, gate in places.items()}
    state = SessionState(gates=gates)
    assert open_gate(state, "plan-1").step == "plan"


# -- budgets


def test_money_that_is_spent_does_not_stop_code() -> None:
    world = FlowWorld(shape({"a": (), "end": ("a",)}, budget=Budget(tokens=1_200, minutes=60)), models=frozenset({"a"}))
    flow_model.USED, before = {"input": 5_000, "output": 0}, flow_model.USED
    try:
        world.start()
        settle(world)
    finally:
        flow_model.USED = before
    assert world.ended
    assert world.ended.outcome == "done"
    assert world.ended.message == "the run has 1,200 tokens, and 5,000 are spent"
    assert [r.event.message for r in world.records if isinstance(r.event, e.BudgetReached)] == [world.ended.message]


def test_what_has_no_known_price_is_not_held_to_a_limit_in_money_silently() -> None:
    said = breach(
        Budget(usd=1), Ledger().spent([], flow_model.price), [CallEstimate("other", 10)], flow_model.price, "the run"
    )
    assert said.startswith("the run has a limit of $1, but the price of other is not known")


def test_what_has_no_known_price_is_held_to_a_limit_in_tokens() -> None:
    price, none = flow_model.price, Ledger().spent([], flow_model.price)
    both = Budget(usd=1, tokens=20_000)
    assert breach(both, none, [CallEstimate("other", 10)], price, "the run") == ""
    left = allowance([(both, none, [])], price, ["the run"])
    assert short_of(left, none, [CallEstimate("other", 10)], price, "this attempt of a") == ""
    many = [CallEstimate("other", 100_000)]
    assert breach(both, none, many, price, "the run").startswith("the run has 20,000 tokens")
    assert short_of(left, none, many, price, "this attempt of a").startswith("the run has 20,000 tokens")


def test_an_allowance_leaves_out_what_runs_beside_it() -> None:
    ledger = Ledger().with_attempt("a", flow_model.MODEL, {"input": 500}, 1_000)
    spent = ledger.spent(["a"], flow_model.price)
    beside = [CallEstimate(flow_model.MODEL, 100)]
    left = allowance([(Budget(usd=3, tokens=3_000, minutes=1), spent, beside)], flow_model.price)
    assert (left.tokens, left.usd, left.seconds) == (3_000 - 500 - 1_100, Decimal("1.4"), 59.0)


def test_what_would_be_enough_is_said_by_the_estimate_that_refuses() -> None:
    price, coming = flow_model.price, CallEstimate(flow_model.MODEL, 1_804)
    gone = Ledger().with_attempt("a", flow_model.MODEL, {"input": 500}, 1_000)
    under: list[Any] = [
        (Budget(usd=2, tokens=3_000), gone.spent(["a"], price), []),
        (Budget(tokens=9_000), BudgetSpent(), []),
    ]
    left = allowance(under, price, ["the run", "the step a"])
    used = Ledger().with_attempt("a", flow_model.MODEL, {"input": 100}, 0).spent(["a"], price)
    said = short_of(left, used, [coming], price, "this attempt of a")
    assert said == "the run has $2: $0.6000 is spent, the next call takes about $2.8040; $3.41 would be enough for it"
    for most, enough in (("3.40", False), ("3.41", True)):
        found = allowance([(Budget(usd=float(most)), gone.spent(["a"], price), [])], price, ["the run"])
        assert (short_of(found, used, [coming], price, "") == "") is enough
    fewer = allowance([(Budget(tokens=3_000), gone.spent(["a"], price), [])], price, ["the step a"])
    said = short_of(fewer, used, [coming], price, "this attempt of a")
    assert said.startswith("the step a has 3,000 tokens: 600 are spent, the next call takes about 2,804; 3,404 would")
    assert short_of(Allowance(), used, [coming], price, "") == ""


def test_an_estimate_that_leaves_something_out_promises_nothing() -> None:
    agent = CallEstimate(flow_model.MODEL, 7, least=True)
    said = breach(Budget(tokens=500), BudgetSpent(), [agent], flow_model.price, "the run")
    assert said == "the run has 500 tokens: 0 are spent, the next call takes at least 1,007"


# -- what may not be written

RUNNING: list[DurableEvent] = [
    e.RunStarted(run=1, pipeline="p", steps=("a", "b"), desired="b", parameters={}),
    e.StepStarted(run=1, step="a", attempt=1, cause="first", reason="", input_hash="i", inputs={}),
]
DONE: list[DurableEvent] = [*RUNNING, e.StepCompleted(run=1, step="a", attempt=1, hash="h", schema_version="", ms=1)]
OPEN: list[DurableEvent] = [*DONE, e.GateOpened(run=1, gate="a-1", step="a", hash="h")]
RESTING: list[DurableEvent] = [*OPEN, e.RunEnded(run=1, outcome="waiting")]
ROUND = e.RoundStarted(run=1, kind="repair", unit="a", round=1, most=1, steps=("a",), base="x")


def resolved(gate: str = "a-1", by: Any = "person", does: Any = "proceed", run: int = 1) -> e.GateResolved:
    return e.GateResolved(run=run, gate=gate, choice=does, does=does, hash="h", by=by)


ILLEGAL: dict[str, tuple[list[DurableEvent], DurableEvent]] = {
    "a second run beside one that waits": (
        RESTING,
        e.RunStarted(run=2, pipeline="p", steps=(), desired="b", parameters={}),
    ),
    "a person's reply while it runs": (OPEN, resolved()),
    "the machine's reply at rest": (RESTING, resolved(by="auto")),
    "an amendment by the machine": (OPEN, resolved(by="auto", does="amend")),
    "a gate withdrawn by a person": (RESTING, resolved(does="withdrawn")),
    "a reply to another run": (RESTING, resolved(run=2)),
    "a second reply": ([*RESTING, resolved()], resolved()),
    "a second gate of a step": (OPEN, e.GateOpened(run=1, gate="a-2", step="a", hash="h")),
    "a gate's name used again": (
        [*OPEN, resolved(by="auto")],
        e.GateOpened(run=1, gate="a-1", step="a", hash="h"),
    ),
    "a gate of what is being made": (RUNNING, e.GateOpened(run=1, gate="a-1", step="a", hash="h")),
    "a step made behind its own gate": (
        OPEN,
        e.StepStarted(run=1, step="a", attempt=2, cause="rerun", reason="", input_hash="i", inputs={}),
    ),
    "waiting for nothing": (DONE, e.RunEnded(run=1, outcome="waiting")),
    "an end while something runs": (RUNNING, e.RunEnded(run=1, outcome="done")),
    "a round out of order": (DONE, e.RoundStarted(run=1, kind="repair", unit="a", round=2, most=3, steps=(), base="x")),
    "a round too many": (
        [*DONE, ROUND],
        e.RoundStarted(run=1, kind="repair", unit="a", round=2, most=1, steps=(), base="x"),
    ),
    "a round counted twice": ([*DONE, ROUND], ROUND),
    "a verdict on what is being made": (
        RUNNING,
        e.VerdictGiven(run=1, step="a", attempt=1, verdict="passed", round=0, most=1),
    ),
    "a confirmation nobody asked for": (RESTING, e.ConfirmationResolved(run=1, confirmation="b", choice="leave")),
    "two questions at once": (
        [*RESTING, e.ConfirmationAsked(run=1, confirmation="b", kind="breakout", text="")],
        e.ConfirmationAsked(run=1, confirmation="c", kind="breakout", text=""),
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_event_is_refused(name: str) -> None:
    before, event = ILLEGAL[name]
    standing = after(Standing(), before)
    copy = standing.copied()
    with pytest.raises(IllegalEventError):
        after(standing, [event])
    assert standing == copy


# -- through the app


@pytest.fixture
def review(tmp_path: Path) -> Weft:
    workspace = tmp_path / "workspace"
    text = PIPELINE.replace(
        "  draft:\n",
        "  web:\n    artifact: web.json\n    code: review.py:end\n    when: {parameter: web, is: true}\n  draft:\n",
    )
    text = text.replace("parameters:\n", "parameters:\n  web: {type: boolean, default: false}\n", 1)
    text = text.replace("    requires: [plan]\n", "    requires: [plan, web]\n    gate: {}\n")
    text = text.replace("    code: review.py:draft\n", "    code: review.py:draft\n    profile: [style.tone]\n")
    for name, content in {
        "pipelines/review.yaml": text,
        "code/review.py": CODE,
        "code/verdicts.txt": "passed",
        "profile.json": '{"style": {"tone": "plain"}}',
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(content)
    (tmp_path / "request.txt").write_text("Please.\n")
    return Weft(workspace)


def test_an_edit_kept_at_a_gate_stays_although_a_step_before_it_is_passed_over(review: Weft) -> None:
    """And although the run has another tone than the profile."""
    assert live(review, StartRun(profile={"style.tone": "warm"}, answers={"plan": "proceed"})) == "waiting"
    path = review.session("run-1") / "draft.json"
    edit = '{"rounds": {}, "mine": true}'
    path.write_text(edit)
    assert live(review, proceed("draft")) == "done"
    assert path.read_text() == edit
    assert not (review.session("run-1") / "aside").exists()
    assert [one["step"] for one in of_type(review, "step_started")].count("draft") == 1


def is_met(reply: Reply) -> bool:
    """Whether an interrupt found something to stop."""
    return isinstance(reply, Accepted) and reply.note == "accepted"


def test_what_was_interrupted_is_taken_up_again_through_the_same_door(review: Weft) -> None:
    source = review.workspace.parent / "request.txt"

    async def go() -> tuple[str, str]:
        with App.open(review.workspace) as app:
            async with app.session(SessionRequest(pipeline="review", file=source, session="run-1")) as session:
                started = session.submit(StartRun())
                while not is_met(await session.submit(Interrupt())):
                    await asyncio.sleep(0)
                await started
                first = await session.run_at_rest()
                assert first is not None
                return first, await session.run(StartRun())

    assert asyncio.run(asyncio.wait_for(go(), 90)) == ("interrupted", "waiting")


def test_following_ends_at_a_run_that_was_answered_and_not_taken_up(review: Weft) -> None:
    assert live(review, StartRun()) == "waiting"

    async def go() -> list[str]:
        with App.open(review.workspace) as app:
            with app.sessions.open("run-1") as session:
                session.record([resolved("plan-1")])
            return [record.event.type async for record in app.sessions.follow("run-1")]

    assert asyncio.run(asyncio.wait_for(go(), 90))[-2:] == ["run_ended", "gate_resolved"]
    with App.open(review.workspace) as app:
        assert app.sessions.read("run-1").status == "interrupted"
