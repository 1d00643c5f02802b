"""The source cut into what is set as one block, the marks inside a block, and the excerpts of a very long text.

Nothing here changes a character: blocks, marks and excerpts are ranges of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from weft.render.kit.contents import Span
from weft.render.kit.passages import Passage

BlockKind = Literal["heading", "prose", "lines", "code"]
MarkKind = Literal["syntax", "strong", "em", "code"]
Mark = tuple[int, int, MarkKind]

AROUND: Final = 500
"""So many characters before and after a passage are kept in an excerpt, a little more where a block ends near by."""
_NEAR: Final = 300
_CLOSE: Final = 200
"""Two excerpts with less than this between them are one."""
_BEGINNING: Final = 4000
"""Characters of a text that no item refers to."""
_UNMARKED: Final = frozenset({"", "text", "pdf"})
"""Kinds of source whose text is no Markdown."""
_FENCE: Final = re.compile(r"\s{0,3}(```+|~~~+)")
_HEADING: Final = re.compile(r"#{1,6}[ \t]+")
_LISTED: Final = re.compile(r"\s*(?:[-*+•>]|\d{1,3}[.)])\s|\s*\|")
_SET: Final = re.compile(r"\S {3,}\S|\t\S|^ {4,}\S", re.M)
_SPACE: Final = re.compile(r"\s")
_WRAPPED: Final = 45
"""A line of at least so many characters was broken because it was full, a shorter one because it was meant to end."""
_INLINE: Final = re.compile(
    r"(?P<strong>(?P<s>\*\*|__)(?=[^\s*_])[^\n]{1,300}?(?<=[^\s])(?P=s))"
    r"|(?P<em>(?<![\w*_])(?P<e>[*_])(?=[^\s*_])[^*_\n]{1,300}?(?<=[^\s*_])(?P=e)(?![\w*_]))"
    r"|(?P<code>`[^`\n]{1,300}`)"
    r"|(?P<link>!?\[(?P<label>[^\]\[\n]{0,300})\]\([^()\n]{0,1000}\))"
)


@dataclass(frozen=True, slots=True)
class Block:
    start: int
    end: int
    kind: BlockKind


def blocks(text: str, kind: str) -> list[Block]:
    """In order. Empty lines are between them, except inside fences."""
    found: list[Block] = []
    start: int | None = None
    fence = ""
    at = 0
    for line in text.splitlines(keepends=True):
        begin, at = at, at + len(line)
        opened = _FENCE.match(line) if kind not in _UNMARKED else None
        if fence:
            if opened and opened[1].startswith(fence) and line.strip() == opened[1]:
                found.append(Block(start or 0, at, "code"))
                fence, start = "", None
            continue
        alone = bool(opened) or not line.strip() or (kind not in _UNMARKED and _HEADING.match(line) is not None)
        if alone and start is not None:
            found.append(_block(text, start, begin))
            start = None
        if opened:
            fence, start = opened[1], begin
        elif line.strip() and alone:
            found.append(Block(begin, at, "heading"))
        elif line.strip() and start is None:
            start = begin
    if start is not None:
        found.append(Block(start, len(text), "code") if fence else _block(text, start, len(text)))
    return [
        Block(block.start, block.start + len(text[block.start : block.end].rstrip()), block.kind) for block in found
    ]


def _block(text: str, start: int, end: int) -> Block:
    lines = text[start:end].rstrip().split("\n")
    if len(lines) == 1:
        return Block(start, end, "code" if lines[0].startswith(("    ", "\t")) else "prose")
    if sum(1 for line in lines if _SET.search(line)) > 1 or all(line.lstrip().startswith("|") for line in lines):
        return Block(start, end, "code")
    listed = any(_LISTED.match(line) for line in lines[1:])
    full = all(len(line.strip()) >= _WRAPPED for line in lines[:-1])
    return Block(start, end, "lines" if listed or not full else "prose")


def marks(text: str, block: Block, kind: str) -> Iterator[Mark]:
    """What is emphasis, code or syntax in a block of Markdown: in order, none inside another."""
    if kind in _UNMARKED:
        return
    if block.kind == "code":
        yield from _fences(text, block)
        return
    start = block.start
    if block.kind == "heading" and (found := _HEADING.match(text, start)):
        yield found.start(), found.end(), "syntax"
        start = found.end()
    for match in _INLINE.finditer(text, start, block.end):
        low, high = match.span()
        if match["link"]:
            yield low, match.start("label"), "syntax"
            yield match.end("label"), high, "syntax"
            continue
        size = 2 if match["strong"] else 1
        inner: MarkKind = "strong" if match["strong"] else "em" if match["em"] else "code"
        yield low, low + size, "syntax"
        yield low + size, high - size, inner
        yield high - size, high, "syntax"


def _fences(text: str, block: Block) -> Iterator[Mark]:
    """The first and the last line of fenced code; what is indented or a table has none."""
    inside = text[block.start : block.end]
    first, last = inside.find("\n") + 1, inside.rfind("\n")
    if first and (opened := _FENCE.match(inside)):
        yield block.start, block.start + first, "syntax"
        if first <= last and inside[last + 1 :].strip().startswith(opened[1]):
            yield block.start + last, block.end, "syntax"


def excerpts(text: str, every: Sequence[Block], passages: Sequence[Passage]) -> list[Span]:
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


def _back(text: str, every: Sequence[Block], starts: Sequence[int], at: int) -> int:
    block = every[max(bisect_right(starts, at) - 1, 0)]
    if at - block.start <= _NEAR or at >= block.end:
        return min(block.start, at) if at < block.end else at
    space = next((place for place in range(at, max(at - 60, block.start), -1) if _SPACE.match(text[place])), at - 1)
    return space + 1


def _forth(text: str, every: Sequence[Block], starts: Sequence[int], at: int) -> int:
    block = every[max(bisect_right(starts, at) - 1, 0)]
    if block.end - at <= _NEAR:
        return max(block.end, at)
    return next((place for place in range(at, min(at + 60, block.end)) if _SPACE.match(text[place])), at)
