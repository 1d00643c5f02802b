"""The run machine: every interleaving of small pipelines, thousands of random lives, mutants that must be caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.lanes import lives
from tests.orchestrator.model import BrokenPromiseError, World, explore, finish, pipeline, walk
from weft.orchestrator import machine, plan
from weft.orchestrator.progress import Progress
from weft.protocol.commands import StartRun

SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "one": {"a": ()},
    "chain": {"a": (), "b": ("a",), "d": ("b",)},
    "fan": {"a": (), "b": (), "d": ("a", "b")},
    "diamond": {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")},
}
WALKS = lives(200)


@pytest.mark.parametrize("limit", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_interleaving_keeps_every_promise(shape: str, limit: int) -> None:
    world = World(pipeline(SHAPES[shape], attempts=2), limit=limit)
    world.start()
    assert explore(world, depth=5) > 5


@pytest.mark.lives
@pytest.mark.timeout(7200 if WALKS > 2000 else 400)
@pytest.mark.parametrize("chunk", range(8))
def test_random_lives_of_a_session(chunk: int) -> None:
    for seed in range(chunk, WALKS, 8):
        try:
            walk(seed)
        except BrokenPromiseError as broken:
            raise AssertionError(f"seed {seed}: {broken}") from broken


def test_identical_bytes_stop_the_wave() -> None:
    world = World(pipeline({"c": (), "b": ("c",)}))
    finish(world)
    world.made_from["c"] = "2"
    world.start()
    assert [key[0] for key in world.running] == ["c"]
    world.succeed(next(iter(world.running)))
    assert world.ended
    assert world.ended.outcome == "done"


def test_a_failure_lets_what_runs_finish_and_starts_nothing_new() -> None:
    world = World(pipeline({"a": (), "b": (), "x": ("a",), "d": ("b", "x")}, attempts=1))
    world.start()
    first, second = world.running
    world.fail(second)
    assert not world.ended
    world.succeed(first)
    assert world.ended
    assert world.ended.outcome == "failed"
    assert world.ended.message == "failed: b"
    assert world.state.step("a").status == "completed"
    assert world.state.step("x").attempt == 0


def test_force_runs_what_is_up_to_date() -> None:
    world = World(pipeline({"a": (), "b": ("a",)}))
    finish(world)
    world.start(StartRun(force=frozenset({"b"})))
    assert [key[0] for key in world.running] == ["b"]


def _never_closed(_: Any, __: Any) -> bool:
    return False


def _always_skip(original: Callable[..., plan.RunOrSkip]) -> Callable[..., plan.RunOrSkip]:
    def judge(step: Any, facts: Any, state: Any, upstream: Any, **words: Any) -> plan.RunOrSkip:
        verdict = original(step, facts, state, upstream, **words)
        return replace(verdict, action="skip") if state.completion else verdict

    return judge


def _blind_to(kind: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def breaking(original: Callable[..., Any]) -> Callable[..., Any]:
        def inputs_of(step: Any, facts: Any, upstream: Any) -> dict[str, str]:
            return {key: value for key, value in original(step, facts, upstream).items() if not key.startswith(kind)}

        return inputs_of

    return breaking


def _endless(original: Callable[..., Any]) -> Callable[..., Any]:
    def failed(spec: Any, state: Any, progress: Any, command: Any) -> Any:
        steps = {name: replace(step, attempts=99) for name, step in spec.pipeline.steps.items()}
        return original(replace(spec, pipeline=replace(spec.pipeline, steps=steps)), state, progress, command)

    return failed


def _unlimited(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda spec, *rest: original(replace(spec, limit=99), *rest)


def _hasty(original: Callable[..., Any]) -> Callable[..., Any]:
    """Takes a step that still runs for done."""

    def advance(spec: Any, state: Any, decided: Any) -> Any:
        progress = decided.progress
        steps = {
            name: replace(step, requires=tuple(b for b in step.requires if progress.steps[b].phase != "running"))
            for name, step in spec.pipeline.steps.items()
        }
        return original(replace(spec, pipeline=replace(spec.pipeline, steps=steps)), state, decided)

    return advance


def _forgets_failures(original: Callable[..., Any]) -> Callable[..., Any]:
    def of(self: Progress, phase: str) -> list[str]:
        return [] if phase == "failed" else original(self, phase)

    return of


def _never_stops(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: replace(original(*given), events=())


MUTANTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "a late result is taken": (machine, "_is_closed", lambda _: _never_closed),
    "skips whatever completed once": (machine, "judge", _always_skip),
    "blind to changed code": (plan, "inputs_of", _blind_to("code:")),
    "blind to changed upstream artifacts": (plan, "inputs_of", _blind_to("artifact:")),
    "blind to missing and edited files": (plan, "_file_reason", lambda _: lambda *__: ""),
    "attempts without end": (machine, "_failed", _endless),
    "more at once than allowed": (machine, "_advance", _unlimited),
    "starts before what it needs is made": (machine, "_advance", _hasty),
    "goes on after a failure": (Progress, "of", _forgets_failures),
    "an interrupt settles nothing": (machine, "_interrupted", _never_stops),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, breaking = MUTANTS[name]
    original = getattr(owner, attribute)
    monkeypatch.setattr(owner, attribute, breaking(original))
    with pytest.raises((BrokenPromiseError, KeyError)):
        _walks(400)


def _walks(number: int) -> None:
    for seed in range(number):
        walk(seed)
