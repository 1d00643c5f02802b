"""A passage that is too long, cut where it hurts least: between paragraphs, lines, sentences, words; then anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LIMIT: Final = 3000
_CUTS: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;。！？])[\"'”’)\]]*\s+"),
    re.compile(r"\s+"),
)


def spans(text: str, limit: int = LIMIT) -> Iterator[tuple[int, int]]:
    """The parts of `text`, none longer than `limit`, without the white space between them. All words are in one."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    while end - start > limit:
        cut, after = _best_cut(text, start, start + limit)
        yield start, cut
        start = after
    if end > start:
        yield start, end


def _best_cut(text: str, start: int, end: int) -> tuple[int, int]:
    for pattern in _CUTS:
        best: tuple[int, int] | None = None
        for match in pattern.finditer(text, start + (end - start) // 3, end + 1):
            if text[start : match.start()].strip():
                best = (match.start(), match.end())
        if best:
            return start + len(text[start : best[0]].rstrip()), best[1]
    return end, end
