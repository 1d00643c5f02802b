"""English numbers in words: `two hundred and fifty thousand` is 250000. No ordinals: `second` is a time too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_BELOW_TEN: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
_MORE_TEENS: Final = ("seventeen", "eighteen", "nineteen")
_ROUND: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS: Final = {word: 10 * number for number, word in enumerate(_ROUND, start=2)}
_UNITS: Final = {word: number for number, word in enumerate(_BELOW_TEN + _TEENS + _MORE_TEENS)} | _TENS
_ZEROS: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_WORD: Final = "|".join([*_UNITS, "hundred", *_ZEROS])
_PHRASE: Final = re.compile(rf"\b(?:{_WORD})(?:(?:\s+and\s+|\s*-\s*|\s+)(?:{_WORD}))*\b")
_SCALE: Final = re.compile(r"[\s-]?(hundred|thousand|million|billion|trillion)\b")


def zeros_after(text: str, position: int) -> int:
    """How many zeros the word after a number adds to it: 6 for the `million` of `1.2 million`; 0 for no such word."""
    match = _SCALE.match(text[position : position + 12].lower())
    return 0 if match is None else _ZEROS.get(match[1], 2)


def spelled_out(text: str) -> Iterator[str]:
    for match in _PHRASE.finditer(text.lower()):
        yield from (str(number) for number in _numbers(re.findall("[a-z]+", match.group())))


def _numbers(words: list[str]) -> Iterator[int]:
    """One number, or several when the words can't be one: `nineteen ninety` is 19 and 90."""
    total = part = room = ceiling = 0
    started = False
    for word in words:
        if word == "and":
            # "two hundred and five" is one number, "twenty and five" are two.
            room = room if room >= 100 else 0
            continue
        if not (started and _fits(word, part, room, ceiling)):
            if started:
                yield total + part
            total, part, room, ceiling, started = 0, 0, 1000, 10**15, True
        if word in _ZEROS:
            ceiling = 10 ** _ZEROS[word]
            total, part, room = total + (part or 1) * ceiling, 0, 1000
        elif word == "hundred":
            part, room = (part or 1) * 100, 100
        else:
            part, room = part + _UNITS[word], 10 if word in _TENS else 0
    yield total + part


def _fits(word: str, part: int, room: int, ceiling: int) -> bool:
    if word in _ZEROS:
        return part > 0 and 10 ** _ZEROS[word] < ceiling
    if word == "hundred":
        return 0 < part < 100
    return 0 < _UNITS[word] < room
