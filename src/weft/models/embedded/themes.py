"""Themes: the subjects a document comes back to, each with the phrases that go with it and the sentences about it.

The first theme is the phrase that reaches most of the document's weight; each further one is the phrase that reaches
most of what is not yet reached. Phrases that mostly stand in the same sentences as a theme belong to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weft.models.embedded.names import Name
from weft.models.embedded.phrases import Phrase
from weft.models.embedded.sentence import Sentence

MOST: Final = 7
_CANDIDATES: Final = 40
_FEW: Final = 3
_WORN: Final = 0.35
"""What a sentence still counts for a second theme."""


@dataclass(frozen=True, slots=True)
class Theme:
    label: str
    phrase: Phrase
    related: tuple[Phrase, ...]
    sentences: tuple[int, ...]
    """Best first."""


def find_themes(
    sentences: Sequence[Sentence], phrases: Sequence[Phrase], names: Sequence[Name] = ()
) -> list[Theme]:  # fmt: skip
    """At most seven, the widest first. Who and where is no subject, unless much of the document is about it."""
    named = {part.lower() for name in names for part in name.text.split() if name.kind in ("person", "place")}
    much = max(3, len(sentences) // 6)
    subjects = [
        phrase
        for phrase in phrases[:_CANDIDATES]
        if phrase.count > much or not all(part.lower() in named for part in phrase.text.split())
    ]
    # A single word that comes once names no subject while there are better ones.
    pool = [phrase for phrase in subjects if phrase.count > 1 or len(phrase.key) > 1]
    most = MOST if len(pool) >= _FEW else _FEW
    if len(pool) < _FEW:
        pool = list(subjects)
    if not pool:
        return []
    worth = [0.2 + sentence.rank for sentence in sentences]
    top = pool[0].score
    chosen: list[Phrase] = []
    while pool and len(chosen) < most:
        best = max(pool, key=lambda phrase: (_reach(phrase, worth, top), -phrase.sentences[0], phrase.text))
        pool.remove(best)
        pool = [phrase for phrase in pool if not _is_part(phrase, best)]
        chosen.append(best)
        for at in best.sentences:
            worth[at] *= _WORN
    rest = [phrase for phrase in subjects if phrase not in chosen]
    return [_theme(phrase, rest, sentences) for phrase in chosen]


def _reach(phrase: Phrase, worth: Sequence[float], top: float) -> float:
    return math.pow(sum(worth[at] for at in phrase.sentences), 0.6) * (phrase.score / top)


def _is_part(phrase: Phrase, of: Phrase) -> bool:
    return set(phrase.key) <= set(of.key) or set(of.key) <= set(phrase.key)


def _theme(phrase: Phrase, others: Sequence[Phrase], sentences: Sequence[Sentence]) -> Theme:
    mine = set(phrase.sentences)
    related = []
    for other in others:
        shared = len(mine.intersection(other.sentences))
        if shared and 2 * shared >= len(other.sentences):
            related.append(other)
    places = sorted(mine, key=lambda at: (-sentences[at].rank, at))
    return Theme(phrase.label[0], phrase, tuple(related[:6]), tuple(places))
