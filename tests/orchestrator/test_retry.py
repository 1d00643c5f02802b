"""Another try: how long it waits, and after which failures there is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.orchestrator.model import World, pipeline
from weft.orchestrator import machine
from weft.protocol import events as e
from weft.protocol.call_events import Used
from weft.protocol.commands import AttemptFailed
from weft.workspace.flow import Retry


def test_the_wait_grows_to_its_bound_and_varies_by_a_half_at_most() -> None:
    policy = Retry(delay=2, factor=3, most=30)
    waits = [policy.wait(tries, f"seed {number}") for number in range(200) for tries in (1, 2, 3, 9)]
    for tries, whole in ((1, 2), (2, 6), (3, 18), (9, 30), (10_000, 30)):
        found = [policy.wait(tries, f"seed {number}") for number in range(200)]
        assert all(whole / 2 <= one <= whole for one in found)
        assert max(found) - min(found) > whole / 4, "they do not come at once"
    assert waits == [policy.wait(tries, f"seed {number}") for number in range(200) for tries in (1, 2, 3, 9)]
    assert Retry().wait(5, "x") == 0


def patient(on: tuple[str, ...] = ()) -> World:
    shape = pipeline({"a": ()}, attempts=3)
    step = replace(shape.steps["a"], retry=Retry(delay=4, factor=2, most=60, on=on))
    return World(replace(shape, steps={"a": step}))


def fail(world: World, kind: e.FailureKind) -> None:
    ((step, attempt),) = world.running
    world.take(AttemptFailed(step=step, attempt=attempt, kind=kind, message="bad", used=Used(ms=1)))


def test_the_wait_is_in_the_log_and_in_what_is_started() -> None:
    world = patient()
    world.start()
    assert [start.wait for start in world.running.values()] == [0]
    for least, most in ((2, 4), (4, 8)):
        fail(world, "timeout")
        (start,) = world.running.values()
        assert least <= start.wait <= most
        begun = [record.event for record in world.records if isinstance(record.event, e.StepStarted)][-1]
        assert begun.wait_ms == round(start.wait * 1000)
    fail(world, "timeout")
    assert world.ended
    assert world.ended.outcome == "failed"


@pytest.mark.parametrize("kind", ["error", "rejected", "timeout", "crashed"])
@pytest.mark.parametrize("on", [(), ("timeout",), ("error", "crashed")])
def test_only_after_the_failures_that_are_named(kind: e.FailureKind, on: tuple[str, ...]) -> None:
    world = patient(on)
    world.start()
    fail(world, kind)
    assert bool(world.running) == (not on or kind in on)
    assert (world.ended is None) == bool(world.running)


def test_a_machine_that_does_not_look_at_the_policy_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = machine._failed

    def blind(spec: Any, *rest: Any) -> Any:
        steps = {name: replace(step, retry=Retry()) for name, step in spec.pipeline.steps.items()}
        return original(replace(spec, pipeline=replace(spec.pipeline, steps=steps)), *rest)

    monkeypatch.setattr(machine, "_failed", blind)
    with pytest.raises(AssertionError):
        test_the_wait_is_in_the_log_and_in_what_is_started()
    with pytest.raises(AssertionError):
        test_only_after_the_failures_that_are_named("rejected", ("timeout",))
