"""`numbers_from`: no number in the artifact that is not in the document. `numerals` says what is the same number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Set
from typing import Any, Final

from pydantic import Field, StrictFloat, StrictInt

from weft.checks.contract import CheckInput
from weft.checks.faults import Fault, cut, shown
from weft.checks.numerals import Reading, Written, canonical_number, numbers_in, offered
from weft.checks.options import CheckDefinition, DocumentNames, OptionalData, look
from weft.checks.paths import ValuePlace, leaves


class NumbersFromOptions(OptionalData):
    sources: DocumentNames = Field(
        alias="in", description="The document the numbers come from, or a list: all of them together."
    )
    ignore: list[StrictInt | StrictFloat] = Field(
        default_factory=list, description="Numbers that may stand anywhere, such as 1 or the current year."
    )
    words: bool = Field(
        default=False,
        description="Whether English numbers in words (`twelve`, `1.2 million`) count as well as digits.",
    )

    def reads(self) -> tuple[str, ...]:
        return self.sources


def check_numbers_from(options: NumbersFromOptions, given: CheckInput) -> Iterator[Fault]:
    known = {canonical_number(number) for number in options.ignore}
    for name in options.sources:
        known |= _known(given.documents[name], options.words)
    names = " or ".join(options.sources)
    seen: set[str] = set()
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        for leaf in leaves(place):
            # Two paths may lead to a part and to the whole around it.
            if leaf.pointer not in seen:
                seen.add(leaf.pointer)
                yield from (_fault(leaf, number, known, names) for number in _strange(leaf.value, options, known))


def _strange(value: Any, options: NumbersFromOptions, known: Set[str]) -> Iterator[Written]:
    """The numbers of a value that no reading finds, each way of writing once."""
    told: set[str] = set()
    for number in _written(value, options.words):
        if number.text not in told and not any(known >= set(reading) for reading in number.readings):
            told.add(number.text)
            yield number


def _written(value: Any, words: bool) -> Iterator[Written]:
    if isinstance(value, str):
        yield from numbers_in(value, words=words)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        # JSON as Python reads it has NaN and Infinity; no document contains those.
        reading: Reading = (canonical_number(value) if math.isfinite(value) else repr(value),)
        yield Written(0, reading[0], (reading,))


def _known(document: Any, words: bool) -> set[str]:
    if isinstance(document, str):
        return offered(document, words=words)
    known: set[str] = set()
    for leaf in leaves(ValuePlace("", document)):
        if isinstance(leaf.value, str):
            known |= offered(leaf.value, words=words)
        elif isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool) and math.isfinite(leaf.value):
            known.add(canonical_number(leaf.value))
    return known


def _fault(leaf: ValuePlace, number: Written, known: Set[str], names: str) -> Fault:
    missing = [part for part in number.readings[-1] if part not in known]
    which = f" ({cut(', '.join(missing), 40)} of it)" if len(number.readings[-1]) > len(missing) else ""
    message = f"the number {cut(number.text, 40)}{which} is not in {names}{_inside(leaf.value, number)}"
    alike = sorted({near for part in missing for near in _slips(part) if near in known})
    hint = f"take numbers from {names} only, as they are there, or leave this one out"
    return Fault(leaf.pointer, message, f"{hint}; it does have {', '.join(alike[:5])}" if alike else hint)


def _inside(value: Any, number: Written) -> str:
    if not isinstance(value, str) or len(number.text) == len(value):
        return ""
    start, end = max(0, number.start - 30), number.start + len(number.text) + 30
    return f": {'…' if start else ''}{shown(value[start:end])}{'…' if end < len(value) else ''}"


def _slips(number: str) -> Iterator[str]:
    """What the number may have been meant to be: one digit other, two swapped, or the decimal point elsewhere."""
    digits = number.replace(".", "")
    if not 3 <= len(digits) <= 20:
        return
    point = number.find(".")
    for at in range(len(digits)):
        variants = [digits[:at] + other + digits[at + 1 :] for other in "0123456789"]
        variants.append(digits[:at] + digits[at + 1 : at + 2] + digits[at] + digits[at + 2 :])
        yield from (variant if point < 0 else f"{variant[:point]}.{variant[point:]}" for variant in variants)
        yield f"{digits[:at]}.{digits[at:]}" if at else digits
    yield from (digits + "0" * zeros for zeros in range(1, 4))


NUMBERS_FROM: Final = CheckDefinition(
    "numbers_from", "Every number occurs in a document.", NumbersFromOptions, check_numbers_from
)
