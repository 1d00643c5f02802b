"""Which items of a step are made next, and when it is enough. Pure, and every decision costs the same whatever their
number: an attempt of a step with a map is driven by this machine as a run is by `machine`.

    begin -> start a, start b          at most `at_once` side by side, in their order
    settle(a, good) -> start c
    settle(b, bad) -> start b again    as often as the step has attempts, when another try can help
    settle(b, bad) -> …                failed for good: it stops all, or is counted against what may fail

- Once it is over (too many failed, or what may be spent is spent) nothing new starts, not even another try of what is
  running; what runs may finish, and counts.
- A settlement of a try that is not open changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from weft.protocol.values import dataclass, replace

Stop = Literal["", "failed", "over_budget"]


@dataclass(frozen=True, slots=True)
class MapSpec:
    """What does not change: the items that are to be made, in their order."""

    keys: tuple[str, ...]
    at_once: int
    attempts: int
    allowed: int
    """How many may fail for good."""


@dataclass(frozen=True, slots=True)
class ItemStart:
    key: str
    tried: int
    """Which try it is, from 1."""


@dataclass(frozen=True, slots=True)
class ItemSettlement:
    key: str
    tried: int
    ok: bool
    retryable: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True)
class MapProgress:
    next: int = 0
    """The first item that was never started."""
    running: Mapping[str, int] = field(default_factory=dict)
    """Each with its try."""
    done: int = 0
    failed: int = 0
    """For good."""
    stop: Stop = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MapDecision:
    progress: MapProgress
    starts: tuple[ItemStart, ...] = ()
    retrying: bool = False
    """What was settled is tried again."""
    over: bool = False
    """Nothing runs and nothing is left to start."""


def begin(spec: MapSpec, short: str = "") -> MapDecision:
    """`short`: why what may be spent does not suffice for another item."""
    return _advance(spec, MapProgress(), short)


def settle(spec: MapSpec, progress: MapProgress, settled: ItemSettlement, short: str = "") -> MapDecision:
    if progress.running.get(settled.key) != settled.tried:
        return MapDecision(progress)
    running = {key: tried for key, tried in progress.running.items() if key != settled.key}
    if settled.ok:
        return _advance(spec, replace(progress, running=running, done=progress.done + 1), short)
    if settled.retryable and settled.tried < spec.attempts:
        if progress.stop:  # what would be tried again is left, as what never began
            return MapDecision(replace(progress, running=running), over=not running)
        if short:
            stopped = replace(progress, running=running, stop="over_budget", why=short)
            return MapDecision(stopped, over=not running)
        again = ItemStart(settled.key, settled.tried + 1)
        going_on = replace(progress, running={**running, again.key: again.tried})
        return MapDecision(going_on, (again,), retrying=True)
    after = replace(progress, running=running, failed=progress.failed + 1)
    if after.failed > spec.allowed and not progress.stop:
        why = f"item {settled.key}: {settled.message}"
        if spec.allowed:
            why = f"{after.failed} items failed, and {spec.allowed} may; the last: {why}"
        after = replace(after, stop="failed", why=why)
    return _advance(spec, after, short)


def _advance(spec: MapSpec, progress: MapProgress, short: str) -> MapDecision:
    starts: list[ItemStart] = []
    if not progress.stop and progress.next < len(spec.keys) and len(progress.running) < spec.at_once:
        if short:
            progress = replace(progress, stop="over_budget", why=short)
        else:
            room = spec.at_once - len(progress.running)
            starts = [ItemStart(key, 1) for key in spec.keys[progress.next : progress.next + room]]
            running = {**progress.running, **{one.key: one.tried for one in starts}}
            progress = replace(progress, next=progress.next + len(starts), running=running)
    return MapDecision(progress, tuple(starts), over=not progress.running)
