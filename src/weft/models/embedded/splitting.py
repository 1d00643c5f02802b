"""The sentences of a block, none longer than a person would read in one breath.

Where they end says `weft.language`. What is far too long for a sentence (captions without any stop) is cut where a
breath would be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from weft.language.sentences import sentence_spans, trim
from weft.models.embedded.languages import Language
from weft.models.embedded.words import UNSPACED

_WORD_LIMIT: Final = 70
_PIECE: Final = 28
_LETTER_LIMIT: Final = 160
"""The same for scripts without spaces, in characters."""
_BREATH: Final = re.compile(r"[;；—]\s*|\n\s*|[:：]\s+|[,，、،](?!\d)\s*")
_SPACE: Final = re.compile(r"\s+")


def split_sentences(plain: str, start: int, end: int, language: Language) -> list[tuple[int, int]]:
    """The places of the sentences in `plain[start:end]`, without the white space around them."""
    spans = sentence_spans(plain, start, end, language)
    return [piece for low, high in spans for piece in _short_enough(plain, low, high, language)]


def _short_enough(plain: str, low: int, high: int, language: Language) -> Iterator[tuple[int, int]]:
    text = plain[low:high]
    unspaced = bool(UNSPACED.search(text)) and text.count(" ") < len(text) / 20
    if (len(text) <= _LETTER_LIMIT) if unspaced else (text.count(" ") + text.count("\n") < _WORD_LIMIT):
        yield low, high
        return
    wanted = 60 if unspaced else _PIECE * 6
    while high - low > wanted * 2:
        cut = _cut(plain, low, high, wanted, language)
        piece = trim(plain, low, cut)
        if piece[0] < piece[1]:
            yield piece
        low = cut
    rest = trim(plain, low, high)
    if rest[0] < rest[1]:
        yield rest


def _cut(plain: str, low: int, high: int, wanted: int, language: Language) -> int:
    """The best place to cut near the wanted length: a breath, else a new thought, else a space, else anywhere."""
    window = (low + wanted // 2, min(high, low + 2 * wanted))
    places = [match.end() for match in _BREATH.finditer(plain, *window)]
    places = places or [match.start() for match in _fresh_thought(language).finditer(plain, *window)]
    places = places or [match.end() for match in _SPACE.finditer(plain, *window)]
    aim = low + wanted
    if places:
        return min(places, key=lambda place: (abs(place - aim), place))
    while aim > low + wanted // 2 and (plain[aim - 1].isdigit() or plain[aim].isdigit()):
        aim -= 1
    return aim


@lru_cache(maxsize=32)
def _fresh_thought(language: Language) -> re.Pattern[str]:
    """The small words with which people who do not stop begin their next thought."""
    single = sorted(opener for opener in language.openers if " " not in opener)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, single))})\s", re.I) if single else re.compile(r"(?!)")
