"""The source cut into what is set as one block, the marks inside a block, and the excerpts of a very long text.

Nothing here changes a character: blocks, marks and excerpts are ranges of the text. What is Markdown is read by the one
reader there is; a block here is whole lines, so that nothing between two of them is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from weft.language import markdown
from weft.language.markdown import InlineMark
from weft.protocol.values import dataclass
from weft.render.kit.contents import Span
from weft.render.kit.passages import KitPassage

BlockKind = Literal["heading", "prose", "lines", "code"]

AROUND: Final = 500
"""So many characters before and after a passage are kept in an excerpt, a little more where a block ends near by."""
_NEAR: Final = 300
_CLOSE: Final = 200
"""Two excerpts with less than this between them are one."""
_BEGINNING: Final = 4000
"""Characters of a text that no item refers to."""
_UNMARKED: Final = frozenset({"", "text", "pdf"})
"""Kinds of source whose text is no Markdown."""
_SET: Final = re.compile(r"\S {3,}\S|\t\S|^ {4,}\S", re.M)
_SPACE: Final = re.compile(r"\s")
_WRAPPED: Final = 45
"""A line of at least so many characters was broken because it was full, a shorter one because it was meant to end."""


@dataclass(frozen=True, slots=True)
class KitBlock:
    start: int
    end: int
    kind: BlockKind
    read: tuple[markdown.Block, ...] = ()
    """What of it the reader of Markdown has found."""


def blocks(text: str, kind: str) -> list[KitBlock]:
    """In order. Empty lines are between them, except inside fences."""
    found = markdown.blocks(text) if kind not in _UNMARKED else []
    rows: list[KitBlock] = []
    at = 0
    for one in found:
        start = text.rfind("\n", 0, one.start) + 1
        rows += _plain(text, at, start)
        last = rows[-1] if rows else None
        close = last and last.read and one.kind == last.read[-1].kind == "paragraph" and text[last.end : start] == "\n"
        if last and close:
            rows[-1] = KitBlock(last.start, one.end, "lines", (*last.read, one))
        else:
            rows.append(KitBlock(start, one.end, _kind(text, one), (one,)))
        at = one.end
    return [*rows, *_plain(text, at, len(text))]


def _kind(text: str, one: markdown.Block) -> BlockKind:
    barred = all(text[low:high].startswith("|") for low, high in one.lines)
    if one.kind in ("code", "table") or barred:
        return "code"
    return "heading" if one.kind == "heading" else _set(text[one.start : one.end].split("\n"))


def _set(lines: Sequence[str]) -> BlockKind:
    if len(lines) > 1 and sum(1 for line in lines if _SET.search(line)) > 1:
        return "code"
    return "prose" if all(len(line.strip()) >= _WRAPPED for line in lines[:-1]) else "lines"


def _plain(text: str, low: int, high: int) -> Iterator[KitBlock]:
    """What no reader has found anything in: paragraphs between empty lines."""
    for match in re.finditer(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*", text[low:high]):
        start, end = low + match.start(), low + match.start() + len(match.group().rstrip())
        yield KitBlock(start, end, _set(text[start:end].split("\n")))


def marks(text: str, block: KitBlock, kind: str) -> Iterator[InlineMark]:
    """What is emphasis, code or syntax in a block of Markdown: in order, none inside another."""
    at = block.start
    for one in block.read if kind not in _UNMARKED else ():
        if one.kind == "html":
            continue
        for low, high, what in [(text.rfind("\n", 0, one.start) + 1, one.start, "syntax"), *markdown.marks(text, one)]:
            low, high = max(low, at), min(high, block.end)
            if low < high and text[low:high].strip() and not (what == "syntax" and one.number and high <= one.start):
                yield low, high, what
                at = high


def excerpts(text: str, every: Sequence[KitBlock], passages: Sequence[KitPassage]) -> list[Span]:
    """The passages with what stands around them, in order and apart from each other."""
    starts = [block.start for block in every]
    found: list[Span] = []
    for passage in passages:
        low = _back(text, every, starts, max(passage.start - AROUND, 0))
        high = _forth(text, every, starts, min(passage.end + AROUND, len(text)))
        if found and low - found[-1][1] < _CLOSE:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found or [(0, _forth(text, every, starts, min(_BEGINNING, len(text))))]


def _back(text: str, every: Sequence[KitBlock], starts: Sequence[int], at: int) -> int:
    block = every[max(bisect_right(starts, at) - 1, 0)]
    if at - block.start <= _NEAR or at >= block.end:
        return min(block.start, at) if at < block.end else at
    space = next((place for place in range(at, max(at - 60, block.start), -1) if _SPACE.match(text[place])), at - 1)
    return space + 1


def _forth(text: str, every: Sequence[KitBlock], starts: Sequence[int], at: int) -> int:
    block = every[max(bisect_right(starts, at) - 1, 0)]
    if block.end - at <= _NEAR:
        return max(block.end, at)
    return next((place for place in range(at, min(at + 60, block.end)) if _SPACE.match(text[place])), at)
