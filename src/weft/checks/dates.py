"""Dates as people write them: year, month, day, 0 for what is not said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Day = tuple[int, int, int]
_MONTHS: Final = {
    name[:3]: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), start=1  # noqa: SIM905
    )
}  # fmt: skip
_MONTH: Final = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES: Final = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH},?(?: (?P<year>\d{{4}})\b)?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? (?P<year>\d{{4}})\b)?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}(?:,| of)? (?P<year>\d{{4}})\b", re.IGNORECASE),
)


def dates_in(text: str) -> Iterator[tuple[int, int, Day]]:
    """Every date with its place."""
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(low < end and start < high for low, high in taken):
                continue
            parts = match.groupdict()
            name = (parts.get("name") or "")[:3].lower()
            month = _MONTHS[name] if name else int(parts["month"])
            taken.append((start, end))
            yield (
                start,
                len(match[0].rstrip(", ")) + start,
                (int(parts.get("year") or 0), month, int(parts.get("day") or 0)),
            )


def same_day(one: Day, other: Day) -> bool:
    """Whether they can be one day: what one leaves out, the other may say."""
    return all(a == b or 0 in (a, b) for a, b in zip(one, other, strict=True))
