"""Several rankings as one: by rank, since the scores of different searches can't be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

K: Final = 30
"""Of reciprocal rank fusion: how little the very first places count more than the next."""


def fuse(rankings: Iterable[Sequence[int]], k: int = K) -> dict[int, float]:
    """The sum of 1 / (k + rank), rank from 1, best first. What is twice in one ranking counts once, where it is best.

    Of equals the one that was met first comes first.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda entry: -entry[1]))


def normalised(scores: Mapping[int, float], lists: int, k: int = K) -> dict[int, float]:
    """Between 0 and 1, where 1 is the first place in every list: comparable between searches and tiers."""
    best = lists / (k + 1)
    return {item: min(1.0, score / best) for item, score in scores.items()}
