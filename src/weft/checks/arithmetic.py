"""Numbers that were computed from others: a sum, a difference, a share, a multiple; shown as they are worked out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

NEAR: Final = Fraction(1, 100)
"""How far off a rounded result may be, of itself."""
_MOST: Final = 12
"""Numbers of a passage that are combined; more would make anything come out by chance."""
_PARTS: Final = {
    "half": Fraction(1, 2),
    "third": Fraction(1, 3),
    "quarter": Fraction(1, 4),
    "fifth": Fraction(1, 5),
    "tenth": Fraction(1, 10),
}
_TIMES: Final = {"twice": Fraction(2), "double": Fraction(2), "doubled": Fraction(2), "triple": Fraction(3)}
_PART: Final = re.compile(
    rf"\b(?:(one|two|three|four|a|an)[\s-])?({'|'.join(_PARTS)})s?\b|\b({'|'.join(_TIMES)})\b", re.IGNORECASE
)
_COUNTS: Final = {"one": 1, "a": 1, "an": 1, "two": 2, "three": 3, "four": 4}


def parts_in(text: str) -> Iterator[tuple[str, Fraction]]:
    """Parts and multiples in words: `a third`, `two thirds`, `twice`."""
    for match in _PART.finditer(text):
        if match[3]:
            yield match[0], _TIMES[match[3].lower()]
        else:
            yield match[0], _COUNTS.get((match[1] or "one").lower(), 1) * _PARTS[match[2].lower()]


def derivation(value: Fraction, known: Sequence[Fraction], *, percent: bool = False) -> str:
    """How `value` comes of two of the numbers, or of all of them together; "" when it does not."""
    numbers = list(dict.fromkeys(known))[:_MOST]
    if len(known) > 2 and _same(value, sum(known, Fraction(0))):
        return f"{_shown(value)} is the sum of {', '.join(map(_shown, known))}"
    for one, other in combinations(numbers, 2):
        low, high = sorted((one, other))
        for result, told in (
            (low + high, f"{_shown(low)} + {_shown(high)}"),
            (high - low, f"{_shown(high)} − {_shown(low)}"),
            *(
                ((low / high, f"{_shown(low)} / {_shown(high)}"), (high / low, f"{_shown(high)} / {_shown(low)}"))
                if low
                else ()
            ),
        ):
            if _same(value, 100 * result if percent else result):
                return f"{_shown(value)}{' %' if percent else ''} is {told}"
        if percent and low:
            for change, told in (((high - low) / low, "rise"), ((high - low) / high, "fall")):
                if _same(value, 100 * change):
                    return f"{_shown(value)} % is the {told} between {_shown(low)} and {_shown(high)}"
    return ""


def _same(value: Fraction, result: Fraction) -> bool:
    return abs(value - result) <= abs(result) * NEAR


def _shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.4g}"
