"""Which sentences carry a document: by meaning, place and what they are; and how to pick several that differ.

A sentence is worth what it shares with the whole (its words weighed by how rare they are, and, where a sentence model
is given, its meaning against the meaning of the whole, of news against its title), where it stands, whether it names
what the title names, and what it is: a result, a claim, an example, a leaning half. How much its place counts depends
on the kind: news says the most first, a paper at both ends, a manual nowhere in particular.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from weft.models.embedded.lexicon import Lexicon
from weft.models.embedded.reading import Reading, Sentence, opens_with_speech
from weft.models.embedded.words import terms, tokens

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Meaning = Callable[[Sequence[str]], "NDArray[float32] | None"]
"""Vectors of length one for texts; None where there is no model after all. It is asked only where it can matter."""
_FEW: Final = 12
"""Sentences: of so few, words and place are enough to choose."""
MOST_EMBEDDED: Final = 40
"""So many of the best by words are looked at by meaning: each costs some hundredths of a second."""
_WORDS_EMBEDDED: Final = 48
_TELLING: Final = 3
"""Words of a title from which it says what a report is about."""
PLACE: Final[Mapping[str, tuple[float, float, float]]] = {
    # how much the beginning counts, over how many sentences it fades, how much the end counts
    "news": (4.0, 5.0, 0.0),
    "newsletter": (0.4, 4.0, 0.0),
    "paper": (0.7, 12.0, 0.5),
    "essay": (0.8, 6.0, 0.4),
    "manual": (2.5, 8.0, 0.2),
    "article": (2.5, 8.0, 0.2),
    "story": (0.5, 4.0, 0.2),
    "transcript": (0.1, 4.0, 0.0),
    "interview": (0.1, 4.0, 0.0),
}
_USUAL: Final = (0.8, 6.0, 0.2)


Ranks = Sequence[float]
"""Of each sentence of a document, by its index; comparable within the document only."""


def rank(reading: Reading, kind: str, title: str = "", meaning: Meaning | None = None) -> Ranks:
    sentences, known = reading.sentences, reading.known
    weight = _weights(sentences)
    central = _centrality(sentences, weight)
    titles = " ".join(dict.fromkeys([title, *(one.title for one in reading.sections[:1])])).strip()
    named = frozenset(terms(tokens(titles), known))
    begin, fade, finish = PLACE.get(kind, _USUAL)
    order = [one for one in sentences if one.kind in ("prose", "item")]
    place = {one.index: at for at, one in enumerate(order)}
    found: list[float] = []
    for sentence in sentences:
        at = place.get(sentence.index, len(order))
        early = math.exp(-at / fade)
        late = math.exp(-(len(order) - 1 - at) / 3.0) if len(order) > 8 else 0.0
        score = central[sentence.index] + begin * early + finish * late
        if named:
            score += 0.35 * min(1.0, len(named.intersection(sentence.terms)) / min(4, len(named)))
        found.append(round(score * _worth(sentence, known, kind), 6))
    # The shipped model was made from English; of other languages it knows too little to be asked.
    if meaning is None or known.code != "en":
        return found
    if kind != "news":
        return _by_meaning(sentences, found, meaning)
    # What a report comes back to is what was known before: the middle of its meaning leads away from what is new.
    if len(named) < _TELLING:
        return found
    near = _nearness(sentences, found, meaning, titles)
    return [
        round(score + near.get(one.index, 0.0) * _worth(one, known, kind), 6)
        for one, score in zip(sentences, found, strict=True)
    ]


def _weights(sentences: Sequence[Sentence]) -> dict[str, float]:
    seen = Counter(term for sentence in sentences for term in sentence.terms)
    total = len(sentences)
    # A word that comes once says nothing about the whole.
    return {term: math.log(1 + count) * math.log(1 + total / count) for term, count in seen.items() if count > 1}


def _centrality(sentences: Sequence[Sentence], weight: Mapping[str, float]) -> list[float]:
    """How much of what the document comes back to a sentence names, for its length."""
    found = []
    for sentence in sentences:
        gain = math.fsum(sorted(weight.get(term, 0.0) for term in sentence.terms))
        found.append(gain / math.sqrt(4 + len(sentence.terms)))
    top = max(found, default=0.0) or 1.0
    return [value / top for value in found]


def _worth(sentence: Sentence, known: Lexicon, kind: str) -> float:
    """What a sentence is, as a factor."""
    worth = {"prose": 1.0, "item": 0.85, "table": 0.3, "code": 0.1}.get(sentence.kind, 0.2)
    if not sentence.sound:
        worth *= 0.25
    long = 0.9 if kind == "news" else 0.75
    worth *= 0.5 if sentence.size < 6 else 0.8 if sentence.size < 9 else 1.0 if sentence.size <= 34 else long
    if sentence.leans:
        worth *= 0.8 if kind == "news" else 0.6
    if sentence.asks:
        worth *= 0.5
    if kind == "news":
        worth *= 1.12 if any(word[0].isdigit() for word in sentence.words) else 1.0
    elif sentence.mark_of(known.result):
        worth *= 1.25
    if sentence.label in ("results", "findings", "conclusion", "conclusions", "ergebnisse", "fazit"):
        worth *= 1.3
    if sentence.quoted or opens_with_speech(sentence.text, known):
        worth *= 0.7
    return worth


def _by_meaning(sentences: Sequence[Sentence], ranks: Ranks, meaning: Meaning) -> Ranks:
    """The best by words, weighed again by how near their meaning is to that of all of them together."""
    near = _nearness(sentences, ranks, meaning)
    return [
        round(score * (0.4 + 1.2 * near[one.index]), 6) if one.index in near else score
        for one, score in zip(sentences, ranks, strict=True)
    ]


def _nearness(sentences: Sequence[Sentence], ranks: Ranks, meaning: Meaning, to: str = "") -> dict[int, float]:
    """How near in meaning the best by words are to a text, or else to all of them together: the farthest 0, the
    nearest 1. Nothing where they are few, or where there is no model after all."""
    best = sorted((one for one in sentences if one.sound), key=lambda one: (-ranks[one.index], one.index))
    best = best[:MOST_EMBEDDED]
    if len(best) < _FEW:
        return {}
    texts = [" ".join(one.text.split()[:_WORDS_EMBEDDED]) for one in best]
    vectors: Any = meaning([*texts, to] if to else texts)
    if vectors is None:
        return {}
    near = vectors[: len(best)] @ (vectors[-1] if to else vectors.mean(axis=0))
    low, high = float(near.min()), float(near.max())
    return {one.index: (float(value) - low) / ((high - low) or 1.0) for one, value in zip(best, near, strict=True)}


def likeness(one: Sentence, other: Sentence) -> float:
    """The share of content words two sentences have in common."""
    if not one.terms or not other.terms:
        return 1.0 if one.words == other.words else 0.0
    shared = len(frozenset(one.terms).intersection(other.terms))
    return shared / min(len(one.terms), len(other.terms))


_CLOSE: Final = 0.5
"""What a sentence loses that stands beside a chosen one."""


def _closeness(one: Sentence, other: Sentence, apart: float) -> float:
    return max(0.0, 1 - abs(one.index - other.index) / apart) if apart else 0.0


def pick(
    sentences: Iterable[Sentence],
    ranks: Ranks,
    count: int,
    room: int,
    *,
    besides: Sequence[Sentence] = (),
    limit: float = 0.55,
    sameness: float = 0.6,
    apart: float = 0.0,
    runs: int = 0,
) -> list[Sentence]:
    """The best few in so many words, none that says what another says (more than `limit` of it), and less gladly the
    more it does (`sameness`); in the order of the text. Within `apart` sentences of one that is chosen, another counts
    less, so that the whole length is heard. With `runs`, one that leans goes with a chosen one before it, and only so,
    up to so many words of both."""
    pool = sorted(sentences, key=lambda one: (-ranks[one.index], one.index))[: max(40, 6 * count)]
    told = list(besides)
    chosen: list[Sentence] = []
    worst = {one.index: max((likeness(one, other) for other in told), default=0.0) for one in pool}
    close = {one.index: max((_closeness(one, other, apart) for other in told), default=0.0) for one in pool}

    def worth(one: Sentence) -> float:
        return ranks[one.index] * (1 - sameness * worst[one.index]) * (1 - _CLOSE * close[one.index])

    def stands(one: Sentence) -> bool:
        return not (runs and one.leans) or any(
            other.index + 1 == one.index and other.size + one.size <= runs for other in chosen
        )

    while len(chosen) < count and (free := [one for one in pool if stands(one)]):
        best = max(free, key=lambda one: (worth(one), -one.index))
        pool.remove(best)
        if worst[best.index] > limit or best.size > room:
            continue
        chosen.append(best)
        room -= best.size
        for one in pool:
            worst[one.index] = max(worst[one.index], likeness(one, best))
            close[one.index] = max(close[one.index], _closeness(one, best, apart))
    return sorted(chosen, key=lambda one: one.index)
