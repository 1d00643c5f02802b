"""Numbers as people write them, in any script, with any customary separators.

Every number becomes one canonical text: digits without separators, sign and superfluous zeros (`1.234,50` and
`1234.5` are both `1234.5`). Where a text can be read in two ways each is a *reading*: `1.234` is 1234 or 1.234,
and `12 345` is 12345 or the two numbers 12 and 345. A reading is a tuple: all of its numbers are meant.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from weft.checks.number_words import spelled_out, zeros_after
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_DECIMAL: Final = "٫"
_HARD: Final = "\u00a0"
# Other signs that do the same as `'` (groups only) or as a no-break space (groups, and never between two numbers).
_ALIKE: Final = {ord("’"): "'", ord("٬"): "'", 0x202F: _HARD, 0x2009: _HARD, 0x2007: _HARD}
# A full-width comma parts clauses in Chinese; it belongs to a number only between full-width digits.
_WIDE: Final = pattern("(?<=[０-９])([，．])(?=[０-９])")
# A leading point makes a decimal (p < .05) only where no word or number ends before it.
_NUMBER: Final = pattern(
    rf"(?:(?<![^\s(\[<>=≤≥~≈±$€£¥+−–-])\.)?[0-9]+(?:[.,'{_DECIMAL}][0-9]+|[ {_HARD}][0-9]{{3}}(?![0-9]))*"
)
_SPACES: Final = pattern(f"[ {_HARD}]")
_DIGITS: Final = pattern("[0-9]+")
_SIGNS: Final = pattern("[^0-9]")
_RUN_LIMIT: Final = 4
"""The most groups that are taken for one number inside a longer row of a table: hundreds of billions."""

Reading = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    start: int
    text: str
    readings: tuple[Reading, ...]


def numbers_in(text: str, *, words: bool = False) -> Iterator[Written]:
    """The numbers of a text with their readings. `words`: a scale after one (`1.2 million`) gives readings more."""
    plain = _plain_digits(text)
    for match in _NUMBER.finditer(plain):
        token = match.group()
        chunks = _SPACES.split(token)
        if len(chunks) > 1 and not _is_run(chunks):
            yield from _apart(chunks, match.start())
            continue
        readings = _chunk_readings(token) if len(chunks) == 1 else _run_readings(token, chunks)
        scaled = tuple(_scaled(readings, plain, match.end())) if words else ()
        # Only the digits may have been replaced, one for one, so the place in the text as written is the same.
        yield Written(match.start(), text[match.start() : match.end()], readings + scaled)


def _apart(chunks: list[str], start: int) -> Iterator[Written]:
    for chunk in chunks:
        yield Written(start, chunk, _chunk_readings(chunk))
        start += len(chunk) + 1


def offered(text: str, *, words: bool = False) -> set[str]:
    """Every number that a document can be said to contain, in every reading."""
    plain = _plain_digits(text)
    found: set[str] = set(spelled_out(plain)) if words else set()
    for match in _NUMBER.finditer(plain):
        token = match.group()
        chunks = _SPACES.split(token)
        readings = tuple(_row_readings(token, chunks)) if len(chunks) > 1 else _chunk_readings(token)
        found.update(number for reading in readings for number in reading)
        if words:
            found.update(number for reading in _scaled(readings, plain, match.end()) for number in reading)
    return found


def canonical_number(value: int | float | Decimal) -> str:
    exact = value if isinstance(value, Decimal) else Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    whole, _, fraction = format(abs(exact), "f").partition(".")
    return _canonical(whole, fraction)


def _plain_digits(text: str) -> str:
    if text.isascii():
        return text
    text = _WIDE.sub(lambda match: "," if match[1] == "，" else ".", text)
    digits = {ord(sign): str(unicodedata.decimal(sign)) for sign in set(text) if sign.isdecimal()}
    return text.translate(digits | _ALIKE)


def _canonical(whole: str, fraction: str = "") -> str:
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _chunk_readings(chunk: str) -> tuple[Reading, ...]:
    """The readings of digits and signs without a space."""
    signs, groups = _SIGNS.findall(chunk), _SIGNS.split(chunk)
    if not signs:
        return ((_canonical(chunk),),)
    kinds, last = set(signs), signs[-1]
    readings: list[Reading] = []
    if len(signs) == 1 and last != "'":
        readings.append((_canonical(groups[0], groups[1]),))
    if len(kinds) == 1 and _is_grouped(groups, last):
        readings.append((_canonical("".join(groups)),))
    if len(kinds) == 2 and signs.count(last) == 1 and last != "'" and _is_grouped(groups[:-1], signs[0]):
        readings.append((_canonical("".join(groups[:-1]), groups[-1]),))
    return tuple(readings) or (_listed(chunk),)


def _is_grouped(groups: list[str], sign: str) -> bool:
    if sign == _DECIMAL or groups[0][:1] in ("", "0"):
        return False
    sizes = [len(group) for group in groups]
    thousands = sizes[0] <= 3 and all(size == 3 for size in sizes[1:])
    lakhs = sign == "," and sizes[0] <= 2 and sizes[-1] == 3 and set(sizes[1:-1]) == {2}
    return thousands or lakhs


def _listed(chunk: str) -> Reading:
    """Several numbers without spaces between them: a date, a version, `1,2,3`, `3.5,4`."""
    numbers: list[str] = []
    for piece in chunk.split(","):
        digits = _DIGITS.findall(piece)
        if len(digits) == 2 and ("." in piece or _DECIMAL in piece):
            numbers.append(_canonical(digits[0], digits[1]))
        else:
            numbers.extend(_canonical(part) for part in digits)
    return tuple(numbers)


def _is_run(chunks: list[str]) -> bool:
    """Whether groups parted by spaces can be one number: 12 345 678,90."""
    first, *_, last = chunks
    return (
        first.isdigit()
        and len(first) <= 3
        and first[0] != "0"
        and all(chunk.isdigit() for chunk in chunks[1:-1])
        and len(_SIGNS.findall(last)) <= 1
        and "'" not in last
    )


def _whole_run(chunks: list[str]) -> Reading:
    end, *fraction = _SIGNS.split(chunks[-1])
    return (_canonical("".join(chunks[:-1]) + end, "".join(fraction)),)


def _run_readings(token: str, chunks: list[str]) -> tuple[Reading, ...]:
    whole = _whole_run(chunks)
    if " " not in token:
        return (whole,)
    apart = tuple(_canonical(chunk) for chunk in chunks[:-1])
    return (whole, *((*apart, *reading) for reading in _chunk_readings(chunks[-1])))


def _row_readings(token: str, chunks: list[str]) -> Iterator[Reading]:
    """For a document: a row of a table may hold several numbers, of one or more groups each."""
    if _is_run(chunks):
        yield _whole_run(chunks)
        if " " not in token:
            return
    for start, first in enumerate(chunks):
        yield from _chunk_readings(first)
        if not first.isdigit():
            continue
        for end in range(start + 2, min(start + _RUN_LIMIT, len(chunks)) + 1):
            if not _is_run(chunks[start:end]):
                break
            yield _whole_run(chunks[start:end])


def _scaled(readings: tuple[Reading, ...], text: str, end: int) -> Iterator[Reading]:
    """The readings with the scale that stands after the number worked into the last one."""
    zeros = zeros_after(text, end)
    if zeros:
        for reading in readings:
            whole, _, fraction = reading[-1].partition(".")
            digits = fraction.ljust(zeros, "0")
            yield (*reading[:-1], _canonical(whole + digits[:zeros], digits[zeros:]))
