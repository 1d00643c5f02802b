"""What speaks for and against a passage being the answer, and how much each of it counts.

The weights at the end are what `python -m benchmarks.answers --fit --write` wrote there, and nothing else: fitted on
the lists and manuals that are named in it, then made to say how often the answer was right where one was left out.
"""

from __future__ import annotations

import math
from dataclasses import astuple
from typing import Final

from weft.protocol.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSigns:
    """What speaks for and against a passage being the answer; each about between 0 and 1."""

    meaning: float
    """How near the passage is to the question."""
    sentence: float
    """How near its best sentence is."""
    share: float
    """Of what was asked, what the passage has, with its headings."""
    sentence_share: float
    """And what the best sentence has, with the headings."""
    told: float
    """How many rare words of the question the best sentence has. Where meaning is known, for the order alone: a long
    question has more of them."""
    rank: float
    """1 over its place in the search. For the order alone: the best is nearly always first."""
    lacking: float
    """1 where it lacks what the question names, or its best sentence the kind of thing that is asked for."""
    prose: float
    """How much of the passage is sentences: contents, indexes and lists of names hold every word and say nothing."""
    heading: float
    """Of what was asked, what its headings have: it is about that, and does not only mention it."""
    bare: float
    """1 where it stands under no heading: nothing but its own words tells what it is about."""
    matched: float
    """How near the words of the question come, each to the nearest word of the answer or its headings, on the whole, a
    telling word more than others: a text about the same thing has the words of its subject, and what is asked of it
    another has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmongOthers:
    """How a passage stands among the others that were found for the question."""

    lead: float
    """How far it is ahead of the best that says something else, by the order."""
    nearer: float
    """How much nearer in meaning another passage is."""
    apart: float
    """How much nearer in meaning it is than the others on the whole."""
    sentence_apart: float
    """And its best sentence than theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What the signs count: for telling which passage is best, and for telling how likely that one is right."""

    order: AnswerSigns
    sure: AnswerSigns
    among: AmongOthers
    start: float

    def rank(self, signs: AnswerSigns) -> float:
        return _weighed(self.order, signs)

    def likely(self, signs: AnswerSigns, among: AmongOthers) -> float:
        return 1 / (1 + math.exp(-self.start - _weighed(self.sure, signs) - _weighed(self.among, among)))


def _weighed(weights: AnswerSigns | AmongOthers, signs: AnswerSigns | AmongOthers) -> float:
    return math.fsum(weight * sign for weight, sign in zip(astuple(weights), astuple(signs), strict=True))


# -- what was fitted

BY_MEANING: Final = Weights(
    order=AnswerSigns(meaning=9.08, sentence=1.76, share=-0.48, sentence_share=1.20,
        told=0.56, rank=0.87, lacking=-1.30, prose=1.11, heading=0.00, bare=0.00, matched=11.75),
    sure=AnswerSigns(meaning=1.25, sentence=-1.35, share=0.68, sentence_share=-0.79,
        told=0.00, rank=0.00, lacking=-0.30, prose=1.10, heading=1.94, bare=-1.00, matched=6.38),
    among=AmongOthers(lead=0.65, nearer=5.08, apart=5.35, sentence_apart=2.02), start=-6.85,
)  # fmt: skip
BY_WORDS: Final = Weights(
    order=AnswerSigns(meaning=0.00, sentence=0.00, share=0.42, sentence_share=2.06,
        told=5.45, rank=2.29, lacking=-1.35, prose=0.22, heading=0.00, bare=0.00, matched=0.00),
    sure=AnswerSigns(meaning=0.00, sentence=0.00, share=1.46, sentence_share=0.19,
        told=6.03, rank=0.00, lacking=-0.56, prose=-0.19, heading=1.71, bare=-0.14, matched=0.00),
    among=AmongOthers(lead=0.56, nearer=0.00, apart=0.00, sentence_apart=0.00), start=-3.53,
)  # fmt: skip
