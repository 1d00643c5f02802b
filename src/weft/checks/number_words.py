"""English numbers in words: `two hundred and fifty thousand` is 250000. No ordinals: `second` is a time too.

A grammar as one regular expression over a run of number words. It takes the longest number each time, so `nineteen
ninety` is 19 and 90, and `one hundred and two hundred` is 100 and 200, not 102 and 100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from weft.checks.folding import lower_each
from weft.protocol.patterns import pattern

_ONES: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
_MORE_TEENS: Final = ("seventeen", "eighteen", "nineteen")
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS: Final = {word: number for number, word in enumerate(("zero", *_ONES, *_TEENS, *_MORE_TEENS))} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_ZEROS: Final = {"trillion": 12, "billion": 9, "million": 6, "thousand": 3}

_WORD: Final = "|".join([*_UNITS, "hundred", *_ZEROS])
_RUN: Final = pattern(rf"\b(?:{_WORD})(?:(?:\s+and\s+|\s*-\s*|\s+)(?:{_WORD}))*\b")
_SCALE: Final = pattern(r"[\s-]?(hundred|thousand|million|billion|trillion)\b")

# Atomic groups: what is followed by the wrong word is given up as a whole, not shortened until it fits.
_ONE: Final = "|".join(_ONES)
_SMALL: Final = rf"(?>(?:{'|'.join(_TENS)})\b(?: (?:{_ONE})\b)?|(?:{'|'.join((*_TEENS, *_MORE_TEENS))}|{_ONE})\b)"
_BELOW: Final = rf"(?>(?:{_SMALL} )?hundred\b(?: (?:and )?{_SMALL}(?! hundred\b))?|{_SMALL})"
_SCALED: Final = "".join(rf"(?:(?P<{scale}>{_BELOW}) {scale}\b ?(?:and )?)?" for scale in _ZEROS)
_NUMBER: Final = pattern(rf"\b{_SCALED}(?P<rest>{_BELOW}(?! (?:{'|'.join(_ZEROS)})\b)|zero\b)?")


def zeros_after(text: str, position: int) -> int:
    """How many zeros the word after a number adds to it: 6 for the `million` of `1.2 million`; 0 for no such word."""
    match = _SCALE.match(text[position : position + 12].lower())
    return 0 if match is None else _ZEROS.get(match[1], 2)


def spelled_out(text: str) -> Iterator[str]:
    for run in _RUN.finditer(text.lower()):
        yield from _values(run.group())


def spelled_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """The runs of number words that are one number, with their places."""
    for run in _RUN.finditer(lower_each(text)):
        values = list(_values(run.group()))
        if len(values) == 1:
            yield run.start(), run.end(), values[0]


def _values(run: str) -> Iterator[str]:
    words = " ".join(re.findall("[a-z]+", run))
    if words.startswith(tuple(_ZEROS)):
        words = f"one {words}"
    for match in _NUMBER.finditer(words):
        if match.group():
            yield str(sum(_value(part) * 10 ** _ZEROS.get(name, 0) for name, part in match.groupdict("").items()))


def _value(words: str) -> int:
    value = 0
    for word in words.split():
        value = (value or 1) * 100 if word == "hundred" else value + _UNITS.get(word, 0)
    return value
