"""Two rankings as one: by their scores, each brought to the same measure.

The scores of different searches can't be compared as they are. What can is how far a find is from the first of its
ranking to the last: where a question's own words stand in one passage, that is far ahead of all others by its words,
which counting places would not show. And where a hundred passages have as much of the question as the first one, its
words tell little: a score by words has a zero, so that such finds are near each other; a likeness of meaning has none.
Fusing by places (`fuse`) is told beside it, and is what answers are looked for in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

WORDS: Final = 0.55
"""How much words count beside meaning."""
K: Final = 30
"""Of reciprocal rank fusion: how little the very first places count more than the next."""


def blend(words: Mapping[int, float], meaning: Mapping[int, float], depth: int) -> dict[int, float]:
    """What every find is worth, best first: the mean over both rankings, 0 where it is not in one; of one alone where
    the other is empty. Of equals the one met first is first.

    Between 0 and 1: 1 is the first of both, with nothing near it by words. Comparable between searches and tiers.
    """
    told = [(WORDS, _measured(words, depth, zero=True)), (1 - WORDS, _measured(meaning, depth, zero=False))]
    told = [(weight, ranking) for weight, ranking in told if ranking]
    every = dict.fromkeys(item for _, ranking in told for item in ranking)
    whole = sum(weight for weight, _ in told)
    mean = {item: sum(weight * one.get(item, 0.0) for weight, one in told) / whole for item in every}
    return dict(sorted(mean.items(), key=lambda entry: -entry[1]))


def _measured(scores: Mapping[int, float], depth: int, *, zero: bool) -> dict[int, float]:
    """Scores, best first, as what they are above the one at `depth`, where 1 is how much the first is above it, or
    above zero. Where there are fewer nothing was left out, and 0 stays 0."""
    values = list(scores.values())[:depth]
    if not values:
        return {}
    first, last = values[0], values[-1] if len(values) == depth else 0.0
    span = first if zero else first - last
    if span <= 0:
        return dict.fromkeys(scores, 1.0)
    return {item: max(0.0, (score - last) / span) for item, score in scores.items()}


def fuse(rankings: Iterable[Sequence[int]], k: int = K) -> dict[int, float]:
    """The sum of 1 / (k + rank), rank from 1, best first. What is twice in one ranking counts once, where it is best.

    Of equals the one that was met first comes first.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda entry: -entry[1]))
