"""Versions and what fits them: dotted numbers, and conditions such as `>=0.1,<1`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from weft.protocol.patterns import pattern

VERSION: Final = pattern(r"[0-9]{1,9}(\.[0-9]{1,9})*\Z")
_CONDITION: Final = pattern(r"\s*(>=|<=|==|!=|>|<)\s*([0-9]{1,9}(?:\.[0-9]{1,9})*)\s*\Z")
_NUMBERS: Final = pattern(r"[0-9]+(\.[0-9]+)*")
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def is_condition(text: str) -> bool:
    return all(_CONDITION.match(part) for part in text.split(","))


def fits(condition: str, version: str) -> bool:
    """Whether `version` meets every part of a good condition. What follows the numbers (`.dev1`) does not count."""
    numbers = _NUMBERS.match(version)
    if not numbers:
        raise ValueError(f"{version!r} is not a version")
    for part in condition.split(","):
        found = _CONDITION.match(part)
        if not found:
            raise ValueError(f"{part!r} is not a condition")
        if not _COMPARE[found[1]](_parts(numbers[0]), _parts(found[2])):
            return False
    return True


def _parts(version: str) -> tuple[int, ...]:
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:  # 1.0 is 1
        parts.pop()
    return tuple(parts)
