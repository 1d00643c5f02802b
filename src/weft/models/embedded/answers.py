"""Answers a question with sentences that documents have: found by their rarest shared words, quoted as they stand.

Every sentence is weighed by BM25 over the stems of its content words.
Nothing is said that no sentence says; when none fits, there is no answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Final

from weft.models.embedded.reading import Reading, Sentence, read
from weft.models.embedded.words import terms, tokens
from weft.protocol.values import dataclass

MOST: Final = 3
_K, _B = 1.2, 0.6
_FLOOR: Final = 0.35
"""Of the best score: what is further below it is about something else."""


@dataclass(frozen=True, slots=True)
class AnsweringSentence:
    """A sentence that answers, and where it stands."""

    document: str
    text: str
    start: int
    end: int
    speaker: str = ""
    time: str = ""
    score: float = 0.0


def find_answers(question: str, documents: Mapping[str, str], most: int = MOST) -> list[AnsweringSentence]:
    """The sentences nearest to a question, best first; [] when no document says anything about it."""
    readings = {name: read(text) for name, text in documents.items() if any(letter.isalnum() for letter in text)}
    places = [(name, sentence) for name, reading in readings.items() for sentence in reading.sentences]
    if not places:
        return []
    seen = Counter(term for _, sentence in places for term in set(sentence.terms))
    length = sum(len(sentence.terms) for _, sentence in places) / len(places) or 1.0
    asked = {name: _terms(question, reading) for name, reading in readings.items()}
    found = []
    for name, sentence in places:
        score = _score(sentence, asked[name], seen, len(places), length)
        if score > 0:
            asks = 0.5 if sentence.asks else 1.0  # a question is seldom an answer
            found.append(_answer(name, readings[name], sentence, asks * score))
    found.sort(key=lambda answer: (-answer.score, answer.document, answer.start))
    return [answer for answer in found[:most] if answer.score >= _FLOOR * found[0].score]


def _terms(question: str, reading: Reading) -> frozenset[str]:
    return frozenset(terms(tokens(question), reading.known))


def _score(sentence: Sentence, asked: frozenset[str], seen: Counter[str], total: int, length: float) -> float:
    score = 0.0
    for term in asked.intersection(sentence.terms):
        rarity = math.log(1 + (total - seen[term] + 0.5) / (seen[term] + 0.5))
        score += rarity * (_K + 1) / (1 + _K * (1 - _B + _B * len(sentence.terms) / length))
    return score


def _answer(name: str, reading: Reading, sentence: Sentence, score: float) -> AnsweringSentence:
    text = reading.text[sentence.start : sentence.end]
    time = reading.time_at(sentence.start)
    return AnsweringSentence(name, text, sentence.start, sentence.end, sentence.speaker, time, score)
