"""Whether a document speaks well or badly of what it is about: by small lists of words, and neutral when in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from weft.language.stems import stem
from weft.models.embedded.languages import Language
from weft.models.embedded.sentence import Sentence

Sentiment = Literal["positive", "neutral", "negative"]
_LEAST: Final = 3
"""The fewest words with a colour that prove anything."""
_DENSITY: Final = 0.012
"""Their least share of all words, so that a manual with three nice words stays neutral."""
_LEAD: Final = 0.28
_BACK: Final = 3
"""How many words a `not` reaches forward."""


@lru_cache(maxsize=32)
def _colours(language: Language) -> tuple[frozenset[str], frozenset[str]]:
    return (
        frozenset(stem(word, language.code) for word in language.positive),
        frozenset(stem(word, language.code) for word in language.negative),
    )


def colour(sentence: Sentence, language: Language, names: frozenset[str] = frozenset()) -> tuple[int, int]:
    """How many of its words are bright and how many dark."""
    if not language.spaced:
        bright = sum(sentence.text.count(word) for word in language.positive)
        dark = sum(sentence.text.count(word) for word in language.negative)
        return bright, dark
    positive, negative = _colours(language)
    bright = dark = 0
    for at, word in enumerate(sentence.words):
        root = stem(word, language.code)
        if (root not in positive and root not in negative) or word in names:
            continue
        turned = not language.negations.isdisjoint(sentence.words[max(0, at - _BACK) : at])
        if (root in positive) != turned:
            bright += 1
        else:
            dark += 1
    return bright, dark


def sentiment(sentences: Sequence[Sentence], language: Language, names: frozenset[str] = frozenset()) -> Sentiment:
    """`names`: words in small letters that are part of a name, as in Rainer Stolz; they say nothing good or bad."""
    bright = dark = size = 0
    for sentence in sentences:
        up, down = colour(sentence, language, names)
        bright, dark, size = bright + up, dark + down, size + max(1, sentence.size)
    total = bright + dark
    if total < _LEAST or total < _DENSITY * size:
        return "neutral"
    lead = (bright - dark) / total
    return "positive" if lead > _LEAD else "negative" if lead < -_LEAD else "neutral"
