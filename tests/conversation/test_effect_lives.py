"""Random lives of conversation, executor, log and files under one seed, and executors that must be caught.

`make slow` takes many more; `WEFT_SEED` sets the first one.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.conversation.effect_lives import PERSON, life
from tests.conversation.lockstep import DeadlockError
from tests.lanes import lives
from weft.conversation import decide, turns
from weft.conversation.executor import Executor
from weft.conversation.tool_calls import RunningTool, ToolAccess
from weft.protocol import conversation_commands as c
from weft.testing.simulation import BrokenPromiseError
from weft.tools.builtin import files

WALKS = lives(80)
SEED = int(os.environ.get("WEFT_SEED", "0"))
PARTS = 8
Patch = pytest.MonkeyPatch
pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <coroutine:pytest.PytestUnraisableExceptionWarning"),
]
"""Of what a killed process had not begun. Where the collector meets such a coroutine inside the constructor of a named
tuple, which has no builtins, the interpreter can't even import what would warn of it, and says that instead."""
MUTANTS: dict[str, Callable[[Patch], None]] = {}


@pytest.fixture(autouse=True)
def _nothing_is_left_for_others() -> Iterator[None]:
    yield
    gc.collect()


@pytest.mark.lives
@pytest.mark.timeout(36_000 if WALKS > 160 else 400)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_was_told_as_a_success_is_there(part: int) -> None:
    for seed in range(SEED + part, SEED + WALKS, PARTS):
        try:
            life(seed)
        except Exception as broken:
            raise AssertionError(f"seed {seed}: {broken!r}") from broken


def test_a_seed_decides_everything() -> None:
    for seed in (3, 11, 12):
        one, other = life(seed), life(seed)
        assert one.changes == other.changes
        assert (one.kills, one.logged) == (other.kills, other.logged)


@pytest.mark.slow
def test_the_lives_reach_the_deep_places() -> None:
    """A life in which nothing happens proves nothing."""
    lives = [life(seed) for seed in range(40)]
    assert sum(world.kills for world in lives) > 8
    changes = [change for world in lives for change in world.changes]
    assert sum(change.by == PERSON for change in changes) > 10
    assert sum(change.by[0].count("/") > 0 for change in changes) > 10
    assert len(changes) > 100


def mutant(function: Callable[[Patch], None]) -> Callable[[Patch], None]:
    MUTANTS[function.__name__] = function
    return function


@mutant
def two_write_at_once(patch: Patch) -> None:
    @contextmanager
    def beside(where: Any, *, create: bool = False) -> Iterator[None]:
        if "/" in where.name:
            where.folder.folder(where.name.rpartition("/")[0], create=True).close()
        yield

    patch.setattr(files, "_alone", beside)


@mutant
def what_changed_is_overwritten(patch: Patch) -> None:
    patch.setattr(files, "_check_seen", lambda where, now, context: None)


@mutant
def nobody_remembers_what_was_seen(patch: Patch) -> None:
    original = ToolAccess.start

    async def start(self: ToolAccess, call: Any, *, conversation: str, say: Any, seen: Mapping[str, str]) -> Any:
        return await original(self, call, conversation=conversation, say=say, seen=dict.fromkeys(seen, "") and {})

    patch.setattr(ToolAccess, "start", start)


@mutant
def changes_run_side_by_side(patch: Patch) -> None:
    def next_call(turn: Any) -> str:
        calls = turn.calls.items() if turn and not turn.interrupted else ()
        return next((call_id for call_id, call in calls if call.phase == "ready"), "")

    patch.setattr(turns, "_next_call", next_call)


@mutant
def no_tool_is_in_order(patch: Patch) -> None:
    original = ToolAccess.judge
    patch.setattr(ToolAccess, "judge", lambda self, call, **more: replace(original(self, call, **more), in_order=False))


@mutant
def a_start_is_a_success(patch: Patch) -> None:
    async def wait(self: RunningTool) -> c.ToolEnd:
        return c.ToolEnd(text="done")

    patch.setattr(RunningTool, "wait", wait)


@mutant
def a_failure_is_a_success(patch: Patch) -> None:
    original = RunningTool.wait

    async def wait(self: RunningTool) -> c.ToolEnd | None:
        end = await original(self)
        return end and replace(end, failed=False)

    patch.setattr(RunningTool, "wait", wait)


@mutant
def everything_is_launched_twice(patch: Patch) -> None:
    original = Executor._tool

    async def twice(self: Executor, conversation: str, execution: str, call: str) -> None:
        await original(self, conversation, execution, call)
        again = self._call(conversation, call)
        if again is not None:
            running = await self._ports.toolbox.start(again, conversation=conversation, say=lambda _: None, seen={})
            await running.wait()

    patch.setattr(Executor, "_tool", twice)


@mutant
def a_launch_does_not_wait_for_the_log(patch: Patch) -> None:
    from weft.conversation.engine import Engine
    from weft.protocol.conversation_events import IntentRecorded

    original, publish = Engine._handle, Engine.publish

    def handle(self: Engine, command: Any) -> Any:
        events = original(self, command)
        for event in events:
            if isinstance(event, IntentRecorded) and event.kind == "tool":
                early.append(event)
                executors[-1].launch(event)
        return events

    early: list[Any] = []
    executors: list[Executor] = []
    made = Executor.__init__

    def init(self: Executor, *given: Any, **more: Any) -> None:
        made(self, *given, **more)
        executors.append(self)

    patch.setattr(Executor, "__init__", init)
    patch.setattr(Engine, "_handle", handle)
    patch.setattr(
        Engine, "publish", lambda self, records: [event for event in publish(self, records) if event not in early]
    )


@mutant
def a_restart_runs_lost_calls_again(patch: Patch) -> None:
    original = decide._recover_turn

    def recover(draft: Any, name: str, turn: Any) -> None:
        draft.rules = replace(draft.rules, goes_on=True)
        for call in turn.calls.values():
            call.safe_to_retry = True
        original(draft, name, turn)

    patch.setattr(decide, "_recover_turn", recover)


@mutant
def what_waits_for_its_place_runs_after_a_loss(patch: Patch) -> None:
    original = turns.release

    def release(draft: Any, name: str) -> None:
        turn = draft.turn(name) if draft.talk(name) and draft.talk(name).turn else None
        for call_id, call in list(turn.calls.items()) if turn and draft.recovering else ():
            if call.phase == "settled" and call.outcome == "interrupted_before_execution":
                call.phase = "ready"
                turns.intend(draft, name, call_id)
        original(draft, name)

    patch.setattr(turns, "release", release)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_every_executor_that_breaks_a_rule_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert caught_by() is not None


def caught_by(lives: int = 250) -> int | None:
    for seed in range(lives):
        try:
            life(seed)
        except (BrokenPromiseError, DeadlockError, AssertionError, TimeoutError):
            return seed
    return None
