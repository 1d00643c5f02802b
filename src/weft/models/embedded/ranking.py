"""Which sentences carry a document, and how to pick several that do not say the same.

Sentences are nodes of a graph; an edge is what two have in common, rare words weighing more. Weight flows along the
edges until it settles. Two limits keep the work in proportion to the length: a sentence looks only at the nearest
sentences with the same rare words, and keeps only its closest neighbours. What the graph can't know (that the opening
says what a text is about, that `it` at the beginning leans on the sentence before) comes in as a prior.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import endings, words
from weft.models.embedded.sentence import Sentence

_TERMS: Final = 10
"""How many of its rarest words a sentence is compared by."""
_REACH: Final = 20
"""How many sentences before and behind it that have a word in common are looked at."""
_NEIGHBOURS: Final = 8
_ROUNDS: Final = 20
_DAMPING: Final = 0.85
_LABELS: Final = {
    **dict.fromkeys(("results", "findings", "ergebnisse", "résultats", "resultados"), 1.25),
    **dict.fromkeys(("conclusion", "conclusions", "interpretation", "fazit", "conclusión"), 1.35),
    **dict.fromkeys(("method", "methods", "materials and methods", "design", "setting", "methoden", "méthodes"), 0.7),
}
"""What was found counts for more than how it was looked for."""
_SIGNS: Final = re.compile(r"[`$<>{}=\\|~]|--\w|/\w|::|\(\)")
_FILLER: Final = words("copyright reserved subscribe newsletter cookies click isbn e-mail fax")


def rank_sentences(sentences: Sequence[Sentence], language: Language, title: Iterable[str]) -> None:
    """Give every sentence its neighbours and a rank from 0 to 1."""
    if not sentences:
        return
    _connect(sentences)
    flow = _settle(sentences)
    top = max(flow)
    title_terms = frozenset(title)
    for sentence in sentences:
        prior = _prior(sentence, len(sentences), language, title_terms)
        sentence.rank = (0.35 + 0.65 * math.sqrt(flow[sentence.index] / top)) * prior
    best = max(sentence.rank for sentence in sentences) or 1.0
    for sentence in sentences:
        sentence.rank = round(sentence.rank / best, 6)


def _connect(sentences: Sequence[Sentence]) -> None:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for sentence in sentences:
        for term in sentence.terms:
            places[term].append(sentence.index)
    total = len(sentences)
    weight = {term: math.log(1 + total / len(found)) for term, found in places.items()}
    norms = [math.sqrt(sum(weight[term] ** 2 for term in sentence.terms)) or 1.0 for sentence in sentences]
    for sentence in sentences:
        shared = [term for term in sentence.terms if len(places[term]) > 1]
        shared.sort(key=lambda term: (-weight[term], term))
        common: defaultdict[int, float] = defaultdict(float)
        for term in shared[:_TERMS]:
            found = places[term]
            at = bisect_left(found, sentence.index)
            gain = weight[term] ** 2
            for other in found[max(0, at - _REACH) : at + _REACH + 1]:
                common[other] += gain
        common.pop(sentence.index, None)
        norm = norms[sentence.index]
        scored = [(score / (norm * norms[other]), other) for other, score in common.items()]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        sentence.near = tuple((other, round(score, 6)) for score, other in scored[:_NEIGHBOURS])


def _settle(sentences: Sequence[Sentence]) -> list[float]:
    total = len(sentences)
    edges: list[list[tuple[int, float]]] = [[] for _ in sentences]
    for sentence in sentences:
        for other, score in sentence.near:
            edges[sentence.index].append((other, score))
            edges[other].append((sentence.index, score))
    sums = [sum(score for _, score in row) or 1.0 for row in edges]
    flow = [1.0 / total] * total
    for _ in range(_ROUNDS):
        fresh = [(1 - _DAMPING) / total] * total
        for at, row in enumerate(edges):
            given = _DAMPING * flow[at] / sums[at]
            for other, score in row:
                fresh[other] += given * score
        moved = sum(abs(new - old) for new, old in zip(fresh, flow, strict=True))
        flow = fresh
        if moved < 1e-5:
            break
    return flow


def _prior(sentence: Sentence, total: int, language: Language, title: frozenset[str]) -> float:
    prior = {"prose": 1.0, "item": 0.75, "table": 0.4, "heading": 0.35, "code": 0.2, "meta": 0.1}[sentence.kind]
    if not sentence.sound:
        prior *= 0.3
    prior *= _length_prior(sentence.size)
    place = sentence.index / total
    prior *= 1.25 if sentence.index < 3 and sentence.kind == "prose" else 1.1 if place < 0.1 or place > 0.9 else 1.0
    prior *= 1.08 if sentence.first else 1.0
    if title and not title.isdisjoint(sentence.terms):
        prior *= 1 + min(0.3, 0.1 * len(title.intersection(sentence.terms)))
    if leans(sentence, language):
        prior *= 0.6
    if sentence.roles & {"claim", "close", "cause", "contrast"}:
        prior *= 1.1
    if sentence.roles & {"example"} or sentence.asks:
        prior *= 0.85
    if not sentence.ended and sentence.kind == "prose":
        prior *= 0.6
    prior *= _LABELS.get(sentence.label, 1.0)
    if points_elsewhere(sentence, language):
        prior *= 0.4
    signs = len(_SIGNS.findall(sentence.text))
    prior *= 0.6 if signs > 2 else 0.85 if signs else 1.0
    if not _FILLER.isdisjoint(sentence.words):
        prior *= 0.3
    return prior


def _length_prior(size: int) -> float:
    if size < 6:
        return 0.45
    return 1.0 if 9 <= size <= 28 else 0.85 if size <= 36 else 0.65


def leans(sentence: Sentence, language: Language) -> bool:
    """Whether it begins with something only the sentence before explains."""
    if sentence.free and sentence.words and not sentence.fragment:
        return False
    if sentence.words[:1] and sentence.words[0] in _THIS and sentence.words[1:2] and sentence.words[1] in _ITSELF:
        # `This guide sets up ...`: it speaks of itself, not of what stands before.
        return sentence.tied
    if not sentence.words or sentence.fragment:
        return True
    if sentence.words[0] in _THERE and len(sentence.words) > 2 and sentence.words[1] in _THERE[sentence.words[0]]:
        # `There is a view ...`, `Es war einmal ...`: it begins something.
        return sentence.tied
    if language.spaced:
        first = sentence.words[0]
        # `By the time it reached the border`: what `it` is, only the sentence before says.
        led = first in language.function and not language.pronouns.isdisjoint(sentence.words[1:6])
        return first in language.leaning or sentence.tied or (led and first not in _ARTICLES)
    return sentence.text.startswith(_UNSPACED_LEANING) or sentence.text.endswith(_UNSPACED_ENDING)


def is_untied(sentence: Sentence, language: Language) -> bool:
    """Whether only an opening conjunction ties it to the sentence before: `But the arithmetic is brutal.`"""
    openers = {opener for opener in language.openers if " " not in opener}
    first, second = (*sentence.words[:2], "", "")[:2]
    free = second not in language.leaning and second not in language.pronouns and not sentence.tied
    return first in openers and free


_THERE: Final = {
    "there": words("is are was were has have"),
    "there's": words("a an no nothing something"),
    "es": words("war gibt gab ist waren sind wird"),
    "il": words("y était est"),
}
_THIS: Final = words("this dieser diese dieses cet cette ce este esta questo questa")
_ITSELF: Final = words("""
guide article paper report book manual study essay agreement licence license package module library tool project
tutorial post page story survey policy handbook anleitung artikel studie bericht buch aufsatz vertrag paket programm
leitfaden étude article guide livre rapport contrat artículo estudio informe libro contrato guía articolo studio
guida libro rapporto constitution letter speech column review
""")
_ARTICLES: Final = words("""
the a an der die das ein eine le la les l un une el los las una il lo gli o os as um uma de het een
""")
_UNSPACED_LEANING: Final = endings("""
这 那 它 他 她 但 而 所以 因此 后来 于是 然而 不过 此外 另外 同时 其中 否则 可是 これ それ その この しかし だが ただ、
また、 そして つまり さらに そこ しかも だから 一方で
""")
_UNSPACED_ENDING: Final = ("ためだ。", "からだ。", "のである。", "のだ。", "からである。", "ためである。")
"""With these a Japanese sentence explains the one before."""


_ELSEWHERE: Final = (
    "can be found", "may be found", "is available on", "is available at", "are available on", "are available at",
    "for more information", "place to look for", "for further details", "for details see", "see also", "read the file",
    "for a complete list", "is documented in", "are described in", "finden sie", "est disponible sur",
    "se encuentra en", "for complete documentation", "in the latter case", "in the list above", "listed above",
    "described above", "thank you for coming", "thank you for joining", "thanks for coming", "thanks for joining",
    "thank you for having me", "thanks for having me", "danke für die einladung", "merci de nous",
    "gracias por venir", "mentioned above", "as above", "in this case",
)  # fmt: skip


def points_elsewhere(sentence: Sentence, language: Language) -> bool:
    """Whether it only greets, or sends the reader somewhere else."""
    if sentence.elsewhere is None:
        said = " ".join(sentence.words)
        sentence.elsewhere = any(mark in said for mark in _ELSEWHERE) or any(
            sentence.words[: len(mark)] == mark for mark in _pointers(language)
        )
    return sentence.elsewhere


@lru_cache(maxsize=32)
def _pointers(language: Language) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(mark.split()) for mark in language.pointers)


def likeness(one: Sentence, other: Sentence) -> float:
    """The share of content words two sentences have in common."""
    if not one.terms or not other.terms:
        return 1.0 if one.words == other.words else 0.0
    shared = len(frozenset(one.terms).intersection(other.terms))
    return shared / min(len(one.terms), len(other.terms))


def pick(
    sentences: Iterable[Sentence],
    count: int,
    *,
    besides: Sequence[Sentence] = (),
    score: Callable[[Sentence], float] = lambda sentence: sentence.rank,
    limit: float = 0.6,
) -> list[Sentence]:
    """The best few, each weighed against what is already said; in the order of choice."""
    pool = sorted(sentences, key=lambda sentence: (-score(sentence), sentence.index))[: max(60, 6 * count)]
    chosen: list[Sentence] = []
    said: list[Sentence] = list(besides)
    worst = dict.fromkeys((sentence.index for sentence in pool), 0.0)
    for sentence in pool:
        worst[sentence.index] = max((likeness(sentence, other) for other in said), default=0.0)
    while pool and len(chosen) < count:
        best = max(pool, key=lambda sentence: (score(sentence) * (1 - 0.7 * worst[sentence.index]), -sentence.index))
        pool.remove(best)
        if worst[best.index] > limit:
            continue
        chosen.append(best)
        for sentence in pool:
            worst[sentence.index] = max(worst[sentence.index], likeness(sentence, best))
    return chosen
