"""The run machine with everything a person can do to it: every interleaving of small pipelines, random lives of random
ones, and mutants of the machine that must be caught."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.lanes import lives
from tests.orchestrator import flow_model
from tests.orchestrator.flow_lives import walk
from tests.orchestrator.flow_model import FlowWorld, explore
from tests.orchestrator.flow_shapes import shape, worlds
from tests.orchestrator.model import BrokenPromiseError
from weft.models.budget import Ledger
from weft.orchestrator import after_step, machine, plan_preview, rest_commands, run_history
from weft.orchestrator.progress import Decision, Progress, RunSpec, StartAttempt, StepProgress
from weft.orchestrator.run_history import RunHistory
from weft.protocol import events as e
from weft.session import state as session_state
from weft.session.recovery import closing
from weft.session.state import SessionState
from weft.session.transitions import IllegalEventError
from weft.workspace.flow import ArtifactPlace, Condition, Unit

WALKS = lives(120)
SEED = int(os.environ.get("WEFT_SEED", "0"))
CAUGHT = (BrokenPromiseError, IllegalEventError, KeyError, AssertionError)


@pytest.mark.slow
@pytest.mark.parametrize("name", worlds())
def test_every_life_with_a_disturbance_keeps_every_promise(name: str) -> None:
    world = worlds()[name]
    world.start()
    assert explore(world, disturbances=1).ends > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gate", "repair", "self loop", "passed over", "budget"])
def test_every_life_with_two_disturbances_keeps_every_promise(name: str) -> None:
    world = worlds()[name]
    world.start()
    assert explore(world, disturbances=2).ends > 50


@pytest.mark.lives
@pytest.mark.timeout(7200 if WALKS > 400 else 400)
@pytest.mark.parametrize("chunk", range(4))
def test_random_lives_of_random_pipelines(chunk: int) -> None:
    for seed in range(SEED + chunk, SEED + WALKS, 4):
        try:
            walk(seed)
        except (BrokenPromiseError, IllegalEventError) as broken:
            raise AssertionError(f"WEFT_SEED={seed}: {broken}") from broken


# -- mutants: each is a plausible mistake, and what must not survive it

Patch = tuple[Any, str, Any]


def _no_gate(spec: RunSpec, progress: Progress, name: str, gate: Any, *, fresh: bool) -> Decision:
    return Decision(progress)


def _asks_and_goes_on(spec: RunSpec, progress: Progress, name: str, gate: Any, *, fresh: bool) -> Decision:
    after = ORIGINAL_GATE(spec, progress, name, gate, fresh=fresh)
    return replace(after, progress=after.progress.with_step(name, progress.steps[name]))


def _once_is_for_ever(spec: RunSpec, progress: Progress, name: str, gate: Any, *, fresh: bool) -> Decision:
    return Decision(progress) if name in progress.approved else ORIGINAL_GATE(spec, progress, name, gate, fresh=fresh)


def _never_withdrawn(progress: Progress, name: str) -> Decision:
    return Decision(progress)


def _only_the_first(pipeline: Any, now: RunHistory, step: str) -> Any:
    replies, rounds = ORIGINAL_SAID(pipeline, now, step)
    first = {unit.name for unit in pipeline.units_of(step) if unit.steps[0] == step}
    return replies, {name: one for name, one in rounds.items() if name in first}


def _no_replies(pipeline: Any, now: RunHistory, step: str) -> Any:
    return {}, ORIGINAL_SAID(pipeline, now, step)[1]


def _base_without_the_rest(pipeline: Any, facts: Any, now: RunHistory, step: str, hashes: Any) -> RunHistory:
    return ORIGINAL_BASE(pipeline, facts, now, step, {})


def _inner_goes_on_counting(self: RunHistory, pipeline: Any, unit: Unit, begun: Any) -> RunHistory:
    return replace(self, rounds={**self.rounds, unit.name: begun})


def _reads_what_is_passed_over(spec: RunSpec, progress: Progress, step: Any) -> Any:
    found, edited = ORIGINAL_YIELDED(spec, progress, step)
    for before in step.requires:
        for name in spec.pipeline.steps[before].artifacts:
            found.setdefault(name, "")
    return found, edited


def _stays_passed_over(spec: RunSpec, progress: Progress, unit: Unit, *, fresh: bool) -> Decision:
    after = ORIGINAL_CLOSE(spec, progress, unit, fresh=fresh)
    passed = {name: step for name, step in progress.steps.items() if step.phase == "passed"}
    return replace(after, progress=replace(after.progress, steps={**after.progress.steps, **passed}))


def _passed_by_in_silence(spec: RunSpec, progress: Progress, name: str) -> Decision:
    return Decision(progress.with_step(name, StepProgress("passed")))


def _doubtful_is_good(self: Unit, seen: Any) -> Any:
    said = ORIGINAL_VERDICT(self, seen)
    return "passed" if said == "not_checked" else said


def _always_a_verdict(self: Unit, seen: Any) -> Any:
    return "passed"


def _no_inputs(now: RunHistory, unit: Unit) -> dict[str, str]:
    return {}


def _ready_early(spec: RunSpec, progress: Progress, step: Any) -> bool:
    return all(progress.steps[name].phase in ("done", "passed") for name in step.requires)


def _ready_at_the_gate(spec: RunSpec, progress: Progress, step: Any) -> bool:
    return all(progress.steps[name].phase in ("done", "passed", "held") for name in step.requires)


def _any_gate(state: SessionState, name: str) -> Any:
    return next(iter(state.gates.values()))


def _leaves_anyway(state: SessionState, run: Any, command: Any, by: Any, words: str) -> Any:
    stay, *_ = ORIGINAL_BREAKOUT(state, run, command, by, words)
    return stay, e.RunEnded(run=run.run, outcome="left", message="left")


def _forgets_what_was_let_pass(state: SessionState, event: Any, record: Any) -> None:
    before = {name: step.approved for name, step in state.steps.items()}
    ORIGINAL_RESOLVED(state, event, record)
    if event.does == "amend":
        for name, approved in before.items():
            state.step(name).approved = approved


def _spends_anew(cls: Any, spent: Any) -> Ledger:
    return Ledger()


def _free_when_failed(self: Ledger, step: str, model: Any, usage: Any, ms: int, *_: Any) -> Ledger:
    return self


def _never_closed(progress: Any, command: Any) -> bool:
    return False


def _gates_forgotten(spec: RunSpec, state: SessionState, now: float) -> Any:
    return ORIGINAL_START(spec, replace(state, gates={}), now)


def _says_it_is_done(spec: RunSpec, progress: Progress) -> Any:
    return "done", ""


def _nobody_beside(progress: Progress, name: str, steps: Any) -> list[Any]:
    return []


def _sees_all(self: Any, name: str) -> Any:
    step = self.pipeline.steps[name]
    pipeline = replace(self.pipeline, steps={**self.pipeline.steps, name: replace(step, when=None)})
    return ORIGINAL_AT(replace_pipeline(self, pipeline), name)


def replace_pipeline(one: Any, pipeline: Any) -> Any:
    one.pipeline = pipeline
    return one


def _nothing_to_settle(state: SessionState) -> list[Any]:
    return [event for event in ORIGINAL_CLOSING(state) if isinstance(event, e.RunEnded)]


ORIGINAL_GATE = after_step._gate
ORIGINAL_CLOSE = after_step._close
ORIGINAL_SAID = run_history.said
ORIGINAL_BASE = run_history.on_base
ORIGINAL_YIELDED = machine._yielded
ORIGINAL_START = machine._start
ORIGINAL_VERDICT = Unit.verdict
ORIGINAL_BREAKOUT = rest_commands._resolve
ORIGINAL_RESOLVED = session_state._gate_resolved
ORIGINAL_AT = plan_preview.Outlook.at
ORIGINAL_CLOSING = closing

MUTANTS: Mapping[str, tuple[str, Patch]] = {
    "a gate that does not ask": ("gate", (after_step, "_gate", _no_gate)),
    "a gate that asks and goes on": ("gate", (after_step, "_gate", _asks_and_goes_on)),
    "what was let pass once passes for ever": ("walks", (after_step, "_gate", _once_is_for_ever)),
    "a gate that outlives its result": ("walks", (machine, "withdrawn", _never_withdrawn)),
    "a step that does not wait for the gate before it": ("gate", (machine, "_ready", _ready_at_the_gate)),
    "a reply that resolves another gate": ("two gates", (rest_commands, "open_gate", _any_gate)),
    "a run taken up again that forgets its gates": ("two gates", (machine, "_start", _gates_forgotten)),
    "a run that says it is done at a gate": ("gate", (machine, "_outcome", _says_it_is_done)),
    "a breakout that is denied and leaves": ("gate", (rest_commands, "_resolve", _leaves_anyway)),
    "items that are never looked for": ("gate and loop for each item", (machine, "_waits_for_items", lambda *_: {})),
    "more items at once than the map says": ("pipeline for each item", (machine, "_has_room", lambda *_: True)),
    "a person's words that reach nobody": ("gate", (machine, "said", _no_replies)),
    "what is amended is let pass as before": ("again", (session_state, "_gate_resolved", _forgets_what_was_let_pass)),
    "rounds that are not counted": ("repair in vain", (RunHistory, "round_of", lambda self, unit: None)),
    "a round too many": ("repair in vain", (Unit, "bound", lambda self, parameters: 3)),
    "feedback for the first step alone": ("repair", (machine, "said", _only_the_first)),
    "rounds that are no inputs": ("walks", (run_history, "_round", _no_inputs)),
    "a base without what is outside": ("walks", (machine, "on_base", _base_without_the_rest)),
    "an inner unit that goes on counting": ("nested", (RunHistory, "with_round", _inner_goes_on_counting)),
    "a unit that begins before it has one base": ("unit with two sides", (machine, "_ready", _ready_early)),
    "no verdict is a good one": ("not to be told", (Unit, "verdict", _doubtful_is_good)),
    "every verdict is a good one": ("repair in vain", (Unit, "verdict", _always_a_verdict)),
    "a verifier passed over in silence": ("verifier passed over", (machine, "passed_by", _passed_by_in_silence)),
    "a verdict that outlives what it was about": ("stale verdict", (session_state, "_doubt", lambda *_: None)),
    "a step that reads what was passed over": ("passed over", (machine, "_yielded", _reads_what_is_passed_over)),
    "what was passed over once stays so": ("condition in a round", (after_step, "_close", _stays_passed_over)),
    "a budget that begins anew": ("budget", (Ledger, "of", classmethod(_spends_anew))),
    "a budget that sees nothing spent": ("budget", (Ledger, "with_attempt", _free_when_failed)),
    "a budget that sees nothing beside": ("budget", (machine, "_beside", _nobody_beside)),
    "a late result that is taken": ("repair", (machine, "_is_closed", _never_closed)),
    "a plan that sees no conditions": ("passed over", (plan_preview.Outlook, "at", _sees_all)),
    "a crash that settles nothing": ("gate", (flow_model, "closing", _nothing_to_settle)),
}


def _special(name: str) -> FlowWorld | None:
    chain: dict[str, tuple[str, ...]] = {"plan": (), "draft": ("plan",), "verify": ("draft",), "end": ("verify",)}
    if name == "condition in a round":
        requires: dict[str, tuple[str, ...]] = {"a": (), "web": ("a",), "b": ("a", "web")}
        later = Condition(look=ArtifactPlace("a.json", "turn"), operator="at_least", value=1)
        return FlowWorld(shape(requires, loop={("a", "web", "b"): 1}, when={"web": later}), {"b": 1})
    if name == "stale verdict":
        return FlowWorld(shape(chain, repair={("draft", "verify"): 2}), {"verify": 0})
    return None


WALKS_FROM: Final = {
    "what was let pass once passes for ever": 94,
    "a gate that outlives its result": 94,
    "rounds that are no inputs": 55,
    "a base without what is outside": 69,
}
"""The life that shows a mutant is lived first: the others are only needed when it does not."""


def _lived(name: str, first: int = 0) -> None:
    """Enough of a life for the mutant to show."""
    if name == "walks":
        for seed in (*range(first, 120), *range(first)):
            walk(seed)
        return
    if name == "again":
        _approved_before_it_was_amended()
        return
    world = _special(name) or worlds()[name]
    world.start()
    explore(world, disturbances=1)
    if name == "stale verdict":
        _verdict_on_what_is_gone(world)


def _approved_before_it_was_amended() -> None:
    """Let pass; made anew otherwise, and amended; then it comes out as it was before: the person sees it again."""
    world = _Fickle(shape({"a": (), "end": ("a",)}, gates=("a",)))
    world.start()
    flow_model.finish(world)
    world.version["a"] = "2"
    world.start()
    flow_model.play(world, ("succeed", f"a {world.state.step('a').attempt}"))
    (gate,) = world.state.gates.values()
    flow_model.play(world, ("amend", gate.gate))
    flow_model.finish(world)


class _Fickle(FlowWorld):
    def made(self, step: str, start: StartAttempt) -> bytes:
        return b'{"said": 1}' if self.version.get(step, "1") == "1" or start.replies else b'{"said": 2}'


def _verdict_on_what_is_gone(world: FlowWorld) -> None:
    flow_model.finish(world)
    world.version["draft"] = "2"
    world.start()
    flow_model.play(world, ("succeed", f"draft {world.state.step('draft').attempt}"))
    world.crash()
    if world.state.verdicts["verify"] == "passed":
        raise BrokenPromiseError("a verdict is about what the verifier read")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, (owner, attribute, mutant) = MUTANTS[name]
    if attribute == "_gate_resolved":
        monkeypatch.setitem(session_state._FOLDS, e.GateResolved, mutant)
    else:
        monkeypatch.setattr(owner, attribute, mutant)
    with pytest.raises(CAUGHT):
        _lived(where, WALKS_FROM.get(name, 0))


@pytest.mark.parametrize("where", ["again", "stale verdict", "condition in a round"])
def test_the_lives_of_mutants_are_good_ones(where: str) -> None:
    _lived(where)


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= 15
