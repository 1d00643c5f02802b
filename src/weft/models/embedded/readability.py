"""How hard a text is to read: Flesch's formula for English, LIX for other alphabets, sentence length elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from weft.models.embedded.languages import Language
from weft.models.embedded.sentence import Sentence
from weft.models.embedded.words import syllables

Level = Literal["easy", "medium", "hard"]
_LONG: Final = 6


@dataclass(frozen=True, slots=True)
class Readability:
    measure: Literal["flesch", "lix", "length"]
    score: float
    level: Level
    words_per_sentence: float


def readability(sentences: Sequence[Sentence], language: Language) -> Readability:
    prose = [sentence for sentence in sentences if sentence.kind == "prose"] or list(sentences)
    words = [word for sentence in prose for word in sentence.words]
    size = max(1, sum(sentence.size for sentence in prose))
    length = round(size / max(1, len(prose)), 1)
    if language.code == "en" and words:
        score = 206.835 - 1.015 * len(words) / len(prose) - 84.6 * sum(map(syllables, words)) / len(words)
        level: Level = "easy" if score >= 65 else "medium" if score >= 45 else "hard"
        return Readability("flesch", round(max(0.0, min(100.0, score)), 1), level, length)
    if language.spaced and words:
        score = len(words) / max(1, len(prose)) + 100 * sum(1 for word in words if len(word) > _LONG) / len(words)
        level = "easy" if score < 38 else "medium" if score < 52 else "hard"
        return Readability("lix", round(score, 1), level, length)
    level = "easy" if length < 14 else "medium" if length < 24 else "hard"
    return Readability("length", length, level, length)
