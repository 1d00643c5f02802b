"""The machine of a map: every order of settlements of small maps, random lives of larger ones, mutants that must be
caught. The oracle looks at what is started and how each try ended, not at the machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.lanes import lives
from weft.orchestrator import mapping
from weft.orchestrator.mapping import ItemSettlement, ItemStart, MapDecision, MapProgress, MapSpec

HOW = ("good", "bad", "hopeless")
"""How a try ends: well; badly; badly, and no other try can help."""


class BrokenPromiseError(AssertionError):
    pass


def promise(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenPromiseError(what)


@dataclass
class World:
    """Plays settlements, in whatever order, and keeps a ledger."""

    spec: MapSpec
    progress: MapProgress = field(default_factory=MapProgress)
    running: dict[str, int] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    tries: dict[str, int] = field(default_factory=dict)
    good: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    spent: bool = False
    over: bool = False

    def begin(self) -> None:
        self._take(mapping.begin(self.spec, "spent" if self.spent else ""), None)

    def settle(self, key: str, how: str) -> None:
        tried = self.running[key]
        told = ItemSettlement(key, tried, how == "good", how != "hopeless", how)
        decision = mapping.settle(self.spec, self.progress, told, "spent" if self.spent else "")
        again = mapping.settle(self.spec, decision.progress, told)
        promise(again.progress == decision.progress and not again.starts, "a settlement counts once")
        del self.running[key]
        stopped_before = self.stopped
        if how == "good":
            self.good.add(key)
        elif how == "hopeless" or tried >= self.spec.attempts:
            self.lost.add(key)
        elif self.spent or stopped_before:
            promise(not decision.retrying, "what is stopped is not tried again")
        else:
            promise(decision.starts == (ItemStart(key, tried + 1),), "what may be tried again is")
        self._take(decision, stopped_before)

    @property
    def stopped(self) -> bool:
        return len(self.lost) > self.spec.allowed

    def _take(self, decision: MapDecision, stopped_before: bool | None) -> None:
        promise(not (stopped_before and decision.starts), "nothing starts once too many have failed")
        promise(not (self.stopped and decision.starts), "nor with the one that is too many")
        promise(not (self.spent and decision.starts), "nor when what may be spent is spent")
        for one in decision.starts:
            promise(one.key not in self.running and one.key not in self.good | self.lost, f"{one.key} is made once")
            promise(one.tried == self.tries.get(one.key, 0) + 1 <= self.spec.attempts, "tries are counted and bounded")
            if one.tried == 1:
                self.started.append(one.key)
            self.running[one.key], self.tries[one.key] = one.tried, one.tried
        promise(self.started == [*self.spec.keys][: len(self.started)], "they begin in their order")
        promise(len(self.running) <= self.spec.at_once, "no more at once than may")
        promise(dict(decision.progress.running) == self.running, "what runs is known")
        promise(decision.over == (not self.running), "it is over when nothing runs, and only then")
        self.progress, self.over = decision.progress, decision.over
        if self.over and not self.stopped and not self.spent:
            promise({*self.spec.keys} == self.good | self.lost, "nothing is left out")
            promise(not decision.progress.stop, "nothing stopped it")
        if self.over:
            promise((decision.progress.done, decision.progress.failed) == (len(self.good), len(self.lost)), "the count")
            stop = decision.progress.stop
            promise(stop != "failed" or self.stopped, "it stops for as many as may not fail")
            promise(not self.stopped or bool(stop), "too many failing is said")


def worlds() -> Iterator[MapSpec]:
    for count in range(4):
        for at_once in (1, 2, 3):
            for attempts in (1, 2):
                for allowed in (0, 1, 3):
                    yield MapSpec(tuple("abc"[:count]), at_once, attempts, allowed)


def copied(world: World) -> World:
    return replace(
        world,
        running={**world.running},
        started=[*world.started],
        tries={**world.tries},
        good={*world.good},
        lost={*world.lost},
    )


def explore(world: World) -> int:
    """Every way it can go on; how many there are."""
    if world.over:
        return 1
    ways = 0
    for key in [*world.running]:
        for how in HOW:
            after = copied(world)
            after.settle(key, how)
            ways += explore(after)
    if not world.spent:
        poor = copied(world)
        poor.spent = True
        ways += explore(poor)
    return ways


def every_way() -> int:
    total = 0
    for spec in worlds():
        if len(spec.keys) * spec.at_once * spec.attempts > 12:
            continue  # walked at random below: hundreds of thousands of ways
        for spent in (False, True):
            world = World(spec, spent=spent)
            world.begin()
            total += explore(world)
    return total


def walk(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(0, 30)
    keys = tuple(f"item{number}" for number in range(count))
    world = World(MapSpec(keys, chance.randrange(1, 9), chance.randrange(1, 4), chance.choice([0, 1, 5, count])))
    world.begin()
    while not world.over:
        world.spent = world.spent or chance.random() < 0.01
        world.settle(chance.choice([*world.running]), chance.choices(HOW, (8, 3, 1))[0])


def test_every_way_keeps_every_promise() -> None:
    assert every_way() > 10_000


def test_random_lives() -> None:
    for seed in range(lives(160)):
        walk(seed)


def _greedy(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda spec, *rest: original(replace(spec, at_once=spec.at_once + 1), *rest)


def _stubborn(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda spec, *rest: original(replace(spec, attempts=spec.attempts + 1), *rest)


def _lenient(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda spec, *rest: original(replace(spec, allowed=spec.allowed + 1), *rest)


def _wasteful(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda spec, progress, *rest: original(spec, progress, *rest[:-1], "")


def _deaf(original: Callable[..., Any]) -> Callable[..., Any]:
    """Takes a settlement for that of whatever try runs."""

    def settle(spec: Any, progress: Any, settled: Any, short: str = "") -> Any:
        return original(spec, progress, replace(settled, tried=progress.running.get(settled.key, 1)), short)

    return settle


def _hasty(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: replace(original(*given), over=True)


@pytest.mark.parametrize(
    ("name", "breaking"),
    [
        ("_advance", _greedy),
        ("settle", _stubborn),
        ("settle", _lenient),
        ("_advance", _wasteful),
        ("settle", _deaf),
        ("_advance", _hasty),
    ],
)
def test_a_broken_machine_is_caught(
    name: str, breaking: Callable[[Callable[..., Any]], Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapping, name, breaking(getattr(mapping, name)))
    with pytest.raises(BrokenPromiseError):
        _all_of_it()


def _all_of_it() -> None:
    for seed in range(100):
        walk(seed)
    every_way()
