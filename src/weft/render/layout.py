"""Where the steps of a pipeline stand in a picture: layers from top to bottom, an order in each, a column for each.

The classic layered drawing (Sugiyama): a step's layer is its longest way from a start; a line that passes over a layer
gets a *lane* through it; the order in a layer is swept by barycenters until lines cross least; columns are the means of
their neighbours, pushed apart as little as needed (isotonic regression). All of a step's lines share its lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import floor
from statistics import fmean

from weft.protocol.values import dataclass

_SWEEPS = 8


@dataclass(slots=True, eq=False)
class GraphBox:
    """A box of a step, or a lane: the line of the step `step` on its way through a layer."""

    step: str
    layer: int
    lane: bool
    width: int = 1
    centre: float = 0
    above: list[GraphBox] = field(default_factory=list)
    below: list[GraphBox] = field(default_factory=list)

    @property
    def column(self) -> int:
        return int(self.centre)


def ranks(steps: Mapping[str, Sequence[str]]) -> dict[str, int] | None:
    """Each step's layer; None when the steps require each other in a circle."""
    rank: dict[str, int] = {}
    waiting = list(steps)
    while waiting:
        ready = [step for step in waiting if all(required in rank for required in steps[step])]
        if not ready:
            return None
        for step in ready:
            rank[step] = max((rank[required] + 1 for required in steps[step]), default=0)
        waiting = [step for step in waiting if step not in rank]
    # A start that is only needed far below stands right above its first use instead of drawing a long line.
    for step in steps:
        users = [rank[user] for user in steps if step in steps[user]]
        if not steps[step] and users:
            rank[step] = min(users) - 1
    return rank


def layers(steps: Mapping[str, Sequence[str]], rank: Mapping[str, int]) -> list[list[GraphBox]]:
    """Boxes and lanes in layers, joined to their neighbours above and below."""
    result: list[list[GraphBox]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    boxes = {step: GraphBox(step, rank[step], lane=False) for step in steps}
    for step, box in boxes.items():
        result[box.layer].append(box)
        users = [boxes[user] for user in steps if step in steps[user]]
        here = box
        for layer in range(box.layer + 1, max((user.layer for user in users), default=0) + 1):
            for user in users:
                if user.layer == layer:
                    _join(here, user)
            if any(user.layer > layer for user in users):
                lane = GraphBox(step, layer, lane=True)
                result[layer].append(lane)
                _join(here, lane)
                here = lane
    return result


def put_in_order(levels: list[list[GraphBox]]) -> None:
    """Order each layer so that few lines cross; ties stay as the pipeline's author wrote them."""
    best = [list(level) for level in levels]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for level in levels[1:] if down else reversed(levels[:-1]):
            places = {item: place for row in levels for place, item in enumerate(row)}
            means = {item: _mean([places[near] for near in _near(item, down)], places[item]) for item in level}
            level.sort(key=means.__getitem__)
        if crossings(levels) < crossings(best):
            best = [list(level) for level in levels]
    levels[:] = best


def crossings(levels: Sequence[Sequence[GraphBox]]) -> int:
    total = 0
    for upper, lower in pairwise(levels):
        places = {item: place for place, item in enumerate(lower)}
        ends = [(a, places[item]) for a, source in enumerate(upper) for item in source.below]
        total += sum(a < c and b > d for a, b in ends for c, d in ends)
    return total


def put_in_columns(levels: list[list[GraphBox]], gap: int) -> int:
    """Give every item its centre, at least `gap` free columns apart; the result is the width of the whole."""
    for level in levels:
        _space(level, [0.0] * len(level), gap)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for level in levels[1:] if down else reversed(levels[:-1]):
            wanted = [_mean([near.centre for near in _near(item, down)], item.centre) for item in level]
            _space(level, wanted, gap)
    items = [item for level in levels for item in level]
    for item in items:
        # Not round(): it sends halves to even numbers, and two neighbours a column too close together.
        item.centre = floor(item.centre + 0.5)
    for level in [*levels, *reversed(levels)]:
        _straighten(level, gap)
    left = min(item.column - item.width // 2 for item in items)
    for item in items:
        item.centre -= left
    return max(item.column + item.width // 2 for item in items) + 1


def _straighten(level: Sequence[GraphBox], gap: int) -> None:
    """Move lanes under or over the rest of their line where their neighbours leave the room."""
    for place, item in enumerate(level):
        for near in [*item.above, *item.below] if item.lane else []:
            before = [near.centre - other.centre - other.width // 2 for other in level[max(place - 1, 0) : place]]
            after = [other.centre - other.width // 2 - near.centre for other in level[place + 1 : place + 2]]
            if near.lane and min([*before, *after], default=gap + 1) > gap:
                item.centre = near.centre


def _space(level: Sequence[GraphBox], wanted: Sequence[float], gap: int) -> None:
    """As near as possible to where each wants to be, in order, no two closer than the gap (pool adjacent violators)."""
    offsets = [0]
    for left, right in pairwise(level):
        offsets.append(offsets[-1] + left.width // 2 + right.width // 2 + 1 + gap)
    pools: list[list[float]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        pools.append([want - offset])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            last = pools.pop()
            pools[-1].extend(last)
    places = [fmean(pool) for pool in pools for _ in pool]
    for item, place, offset in zip(level, places, offsets, strict=True):
        item.centre = place + offset


def _near(item: GraphBox, down: bool) -> list[GraphBox]:
    return item.above if down else item.below


def _mean(values: Sequence[float], otherwise: float) -> float:
    return fmean(values) if values else otherwise


def _join(upper: GraphBox, lower: GraphBox) -> None:
    upper.below.append(lower)
    lower.above.append(upper)
