"""A passage that is too long, cut where it hurts least: between paragraphs, lines, sentences, words; then anywhere.

Not inside code, nor behind a few words that only name or announce what comes next (an option before what is said of it,
`For example:`), where there is another place.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

LIMIT: Final = 3000
_CUTS: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;。！？])[\"'”’)\]]*\s+"),
    re.compile(r"\s+"),
)
_FENCE: Final = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_ITEM: Final = re.compile(r"(?:[-*+•|>#]|\(?\w{1,3}[.)])\s")
_TERM: Final = re.compile(r"\S{1,80}(?:\s+\S{1,80}){0,11}(?<![.!?;|。])(?<![.!?][”\"’'])")


def spans(text: str, limit: int = LIMIT) -> Iterator[tuple[int, int]]:
    """The parts of `text`, none longer than `limit`, without the white space between them. All words are in one."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    fenced = _fenced(text) if end - start > limit else []
    while end - start > limit:
        cut, after = _best_cut(text, start, start + limit, fenced)
        yield start, cut
        start = after
    if end > start:
        yield start, end


def _best_cut(text: str, start: int, end: int, fenced: Sequence[tuple[int, int]]) -> tuple[int, int]:
    for pattern in _CUTS:
        best: tuple[int, int] | None = None
        torn: tuple[int, int] | None = None
        for match in pattern.finditer(text, start + (end - start) // 3, end + 1):
            if not text[start : match.start()].strip():
                continue
            if _tears(text, start, match, fenced):
                torn = (match.start(), match.end())
            else:
                best = (match.start(), match.end())
        if place := best or torn:
            return start + len(text[start : place[0]].rstrip()), place[1]
    return end, end


def _tears(text: str, start: int, cut: re.Match[str], fenced: Sequence[tuple[int, int]]) -> bool:
    """Whether it parts what belongs together."""
    last = bisect_left(fenced, (cut.start(),)) - 1
    if last >= 0 and cut.start() < fenced[last][1]:
        return True
    if "\n" not in cut[0].replace("\n", "", 1):
        return False
    before = text[max(start, text.rfind("\n\n", start, cut.start())) : cut.start()].strip()
    return not _ITEM.match(before) and (before.endswith(":") or _TERM.fullmatch(before) is not None)


def _fenced(text: str) -> list[tuple[int, int]]:
    """Where code begins and ends."""
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark["fence"].startswith(opened["fence"]) and not mark["info"].strip():
            found.append((opened.start(), mark.end()))
            opened = None
    return found
