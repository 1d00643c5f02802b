"""Numbers that were computed from others: a sum, a difference, a change, a share, a multiple; shown as worked out.

Each comes out of its own two numbers only: a change of the earlier and the later one, a share of a part and its whole.
Which is which, `figures` reads from the words; what can't be read there is not computed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

NEAR: Final = Fraction(1, 100)
"""How far off a rounded result may be, of itself."""
ABOUT: Final = Fraction(1, 20)
"""The same where the claim says `about`."""
_MOST: Final = 12
"""Numbers of a passage that are combined; more would make anything come out by chance."""
_PARTS: Final = {
    "half": Fraction(1, 2),
    "third": Fraction(1, 3),
    "quarter": Fraction(1, 4),
    "fifth": Fraction(1, 5),
    "tenth": Fraction(1, 10),
}
_PLURALS: Final = {"halves": "half"}
_TIMES: Final = {"twice": Fraction(2), "double": Fraction(2), "triple": Fraction(3)}
_BECAME: Final = {"doubled": Fraction(2), "tripled": Fraction(3), "halved": Fraction(1, 2)}
_PART: Final = re.compile(
    rf"\b(?:(one|two|three|four|a|an)[\s-])?({'|'.join(_PARTS)}|halves)s?\b|\b({'|'.join({**_TIMES, **_BECAME})})\b",
    re.IGNORECASE,
)
_COUNTS: Final = {"one": 1, "a": 1, "an": 1, "two": 2, "three": 3, "four": 4}


def parts_in(text: str) -> Iterator[tuple[str, Fraction]]:
    """Parts and multiples in words: `a third`, `two thirds`, `twice`."""
    for start, end, value in part_spans(text):
        yield text[start:end], value


def part_spans(text: str) -> Iterator[tuple[int, int, Fraction]]:
    """The same by their places."""
    for match in _PART.finditer(text):
        if match[3]:
            yield *match.span(), {**_TIMES, **_BECAME}[match[3].lower()]
        else:
            part = match[2].lower()
            yield *match.span(), _COUNTS.get((match[1] or "one").lower(), 1) * _PARTS[_PLURALS.get(part, part)]


def became(word: str) -> bool:
    """Whether a multiple is one of what was before: `doubled`."""
    return word.lower() in _BECAME


def derivation(value: Fraction, known: Sequence[Fraction], *, sums: bool = True) -> str:
    """How `value` is the sum of two of the numbers or of all of them, or how much one is above the other; "" when it is
    neither. What is below nothing is added to nothing: a change over zero would come out as another."""
    numbers = list(dict.fromkeys(known))[:_MOST]
    sums = sums and min(known, default=0) >= 0
    if sums and len(known) > 2 and _same(value, sum(known, Fraction(0))):
        return f"{shown(value)} is the sum of {', '.join(map(shown, known))}"
    for one, other in combinations(numbers, 2):
        low, high = sorted((one, other))
        if sums and _same(value, low + high):
            return f"{shown(value)} is {shown(low)} + {shown(high)}"
        if _same(value, high - low):
            return f"{shown(value)} is {shown(high)} − {shown(low)}"
    return ""


def change(
    value: Fraction, pairs: Iterable[tuple[Fraction, Fraction]], *, up: bool, share: bool, near: Fraction
) -> str:
    """How far it went up or down from the first of a pair to the second; a share is one of the first."""
    for first, second in pairs:
        result = second - first if up else first - second
        if share and first <= 0:
            continue
        if result > 0 and _same(value, result / first if share else result, near):
            way = "rise" if up else "fall"
            return f"{shown(value)} is the {way} from {shown(first)} to {shown(second)}"
    return ""


def ratio(value: Fraction, pairs: Iterable[tuple[Fraction, Fraction]], near: Fraction = NEAR) -> str:
    """How `value` is the first of a pair by the second."""
    for part, whole in pairs:
        if part > 0 and whole > 0 and _same(value, part / whole, near):
            return f"{shown(value)} is {shown(part)} / {shown(whole)}"
    return ""


def _same(value: Fraction, result: Fraction, near: Fraction = NEAR) -> bool:
    return abs(value - result) <= abs(result) * near


def shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.4g}"
