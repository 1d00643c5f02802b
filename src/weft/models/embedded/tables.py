"""Tables in plain text: rows with bars or tabs, columns that stand below each other, values parted by commas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_GAPS: Final = re.compile(r"(?<=\S)(?: {2,}|\t+)(?=\S)")
_WIDE: Final = re.compile(r"(?<=\S)(?: {3,}|\t+)(?=\S)")
_ENDED: Final = re.compile(r"[.!?。！？؟।]['\"”’»)\]]*$")
_CELL: Final = 32
"""Cells of a list parted by commas are short; clauses are not."""


def table_runs(lines: Sequence[str]) -> dict[int, int]:
    """Where a table begins: the line behind its last row."""
    found: dict[int, int] = {}
    at = 0
    while at < len(lines):
        end = max(_barred(lines, at), _aligned(lines, at), _parted(lines, at))
        if end > at:
            found[at] = end
            at = end
        else:
            at += 1
    return found


def cells(row: str) -> list[str]:
    """The cells of a row, however they are parted."""
    if row.count("|") >= 2 or " | " in row:
        parts = row.strip().strip("|").split("|")
    elif _GAPS.search(row.strip()):
        parts = _GAPS.split(row.strip())
    else:
        parts = re.split(r"[,;]", row)
    return [part.strip() for part in parts]


def _barred(lines: Sequence[str], at: int) -> int:
    after = at
    while after < len(lines) and (lines[after].count("|") >= 2 or (lines[after].count(" | ") >= 1 and after > at)):
        after += 1
    return after if after - at >= 2 else at


def _columns(line: str) -> frozenset[int]:
    return frozenset(gap.end() for gap in _GAPS.finditer(line.expandtabs()))


def _aligned(lines: Sequence[str], at: int) -> int:
    """Three or more lines with at least two columns in the same place. Justified prose has narrow gaps only."""
    shared = _columns(lines[at])
    after = at + 1
    while len(shared) >= 2 and after < len(lines) and _WIDE.search(lines[after]):
        both = shared & _columns(lines[after])
        if len(both) < 2:
            break
        shared = both
        after += 1
    return after if after - at >= 3 else at


def _parted(lines: Sequence[str], at: int) -> int:
    for sign in ("\t", ";", ","):
        count = lines[at].count(sign)
        if count < (1 if sign == "\t" else 2):
            continue
        limit = _CELL * (3 if sign == "\t" else 1)
        after = at
        while after < len(lines) and lines[after].count(sign) == count and _is_row(lines[after], sign, limit):
            after += 1
        if after - at >= 3:
            return after
    return at


def _is_row(line: str, sign: str, limit: int) -> bool:
    return not _ENDED.search(line) and all(len(cell) <= limit for cell in line.split(sign))
