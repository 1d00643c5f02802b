"""Following references: from a passage to what it refers to, and on from there, with less trust at every step.

    score of a first hop = the edge's weight;  of a later one = the score so far x decay x the edge's weight

A path never comes back to where it was. Of several ways to a passage the best counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from weft.knowledge.store import Edge
from weft.protocol.values import dataclass

DECAY: Final = 0.7
FLOOR: Final = 0.01
DEPTH_LIMIT: Final = 10


@dataclass(frozen=True, slots=True)
class Hop:
    node: int
    score: float
    depth: int
    path: tuple[int, ...]
    """The passages on the way, the seed first, without the one it leads to."""
    kind: str


def follow(
    seed: int,
    edges_from: Callable[[Iterable[int]], Mapping[int, Sequence[Edge]]],
    *,
    depth: int = 3,
    decay: float = DECAY,
    floor: float = FLOOR,
    limit: int = 30,
) -> list[Hop]:
    """The best hop to every passage in reach, best first. Only a better way to a passage is followed further."""
    best: dict[int, Hop] = {}
    frontier = [Hop(seed, 1.0, 0, (), "")]
    for step in range(1, min(depth, DEPTH_LIMIT) + 1):
        edges = edges_from([hop.node for hop in frontier])
        reached: dict[int, Hop] = {}
        for hop in frontier:
            for edge in edges.get(hop.node, ()):
                score = edge.weight if step == 1 else hop.score * decay * edge.weight
                path = (*hop.path, hop.node)
                if edge.target in path or (step > 1 and score < floor):
                    continue
                known = [found.score for found in (best.get(edge.target), reached.get(edge.target)) if found]
                if score > max(known, default=0.0):
                    reached[edge.target] = Hop(edge.target, score, step, path, edge.kind)
        best |= reached
        frontier = list(reached.values())
        if not frontier:
            break
    return sorted(best.values(), key=lambda hop: (-hop.score, hop.depth))[:limit]
