"""Guides and manuals: a passage is what stands under a heading. A heading's own number, if it has one, is its place.

Headings are markdown's, `Chapter 2: Scope`, and numbered lines such as `7.2 Dependencies` that stand by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.knowledge.numbered import Headings, Piece, lines_of
from weft.knowledge.place import CitedPlace

_MARKDOWN: Final = re.compile(r"[ \t]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\Z")
_CHAPTER: Final = re.compile(
    r"(?:Chapter|Section|Part)[ \t]+(?P<number>\d{1,3}|[IVX]{1,5}|[A-Z])[ \t]*[:.–—-][ \t]*\S.{0,120}\Z"
)
_NUMBERED: Final = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3}){1,5})\.?[ \t]+(?=[^\W\d_])(?P<title>\S.{3,78})\Z")
_TOP_NUMBERED: Final = re.compile(r"(?P<number>\d{1,2})\.?[ \t]{1,4}(?P<title>[A-Z].{2,78})\Z")
_UNDERLINE: Final = re.compile(r"(?:=+|-{3,}|~{3,}|\*{3,})[ \t]*\Z")
_NUMBER: Final = re.compile(
    r"(?:(?:Chapter|Section|Part|§)[ \t]*)?(?P<number>(?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,5})"
    r"(?:[.:)]?[ \t]+|\.?\Z|[:.])"
)
_ENOUGH: Final = 3
_LONGEST: Final = 160
_FENCE: Final = re.compile(r"[ \t]*(```|~~~)")
_TELLING: Final = re.compile(rf"\s*(?:#|\d|```|~~~|(?:Chapter|Section|Part)[ \t])|{_UNDERLINE.pattern}")
"""A line that may be a heading, or that makes one of the line above it; all others are passed over at a glance."""


Heading = tuple[int, int, int, str]
"""Where it begins, where the text under it begins, its level, its title."""


def heading_lines(text: str, ignored: Sequence[re.Pattern[str]] = ()) -> list[Heading]:
    """Every heading. In a document that marks its headings, a plain line with a number is an item of a list."""
    marked: list[Heading] = []
    plain: list[Heading] = []
    lines = lines_of(text, ignored)
    telling = [index for index, (_, line) in enumerate(lines) if _TELLING.match(line)]
    fenced = ""
    for index in sorted({*telling, *(index - 1 for index in telling if index)}):
        start, line = lines[index]
        before = lines[index - 1][1].strip() if index else ""
        after = lines[index + 1][1] if index + 1 < len(lines) else ""
        fence = _FENCE.match(line)
        if fence and (fenced or not before):  # under a line of text it is an underline
            fenced = "" if fenced == fence[1] else fenced or fence[1]
            continue
        if fenced or not line.strip() or len(line) > 2 * _LONGEST:
            continue
        if match := _MARKDOWN.match(line):
            marked.append((start, start + len(line) + 1, len(match["marks"]), match["title"].strip("* ")))
        elif _is_underlined(line, before, after):
            title = line.strip()
            level = _depth(title) or (1 if after.lstrip().startswith(("=", "*")) else 2)
            marked.append((start, lines[index + 1][0] + len(after) + 1, level, title))
        elif title := _plain_heading(line.strip(), alone=not before and not after.strip()):
            plain.append((start, start + len(line) + 1, _depth(title) or 1, title))
    return marked if len(marked) >= _ENOUGH else sorted([*marked, *plain])


def _is_underlined(line: str, before: str, after: str) -> bool:
    if not _UNDERLINE.match(after) or (before and not _UNDERLINE.match(before)):
        return False
    return 0 < len(line.strip()) <= _LONGEST and len(after.strip()) >= min(3, len(line.strip()))


def _depth(title: str) -> int:
    """How deep a numbered heading stands; 0 without a number."""
    number = numbered_title(title)
    return 1 + number.count(".") if number else 0


def _plain_heading(line: str, *, alone: bool) -> str:
    if _CHAPTER.match(line):
        return line
    ended = line.endswith((".", ";", ","))
    if (match := _NUMBERED.match(line)) and not ended and match["title"][0].isupper():
        return line
    return line if alone and not ended and _TOP_NUMBERED.match(line) else ""


def numbered_title(title: str) -> str:
    """The number a heading begins with: `7.2` of `7.2 Dependencies`, `A.1` of `A.1 Scope`; "" when there is none."""
    match = _NUMBER.match(title)
    return match["number"] if match else ""


def section_pieces(text: str, document: str, found: Sequence[Heading], *, numbered: bool = True) -> list[Piece]:
    if not found:
        return [Piece(CitedPlace(document=document), 0, len(text), "", title="text")] if text.strip() else []
    pieces = [Piece(CitedPlace(document=document), 0, found[0][0], "", title="introduction")]
    headings = Headings()
    ends = [*(start for start, _, _, _ in found[1:]), len(text)]
    levels = [*(level for _, _, level, _ in found[1:]), 0]
    for (start, body, level, title), end, following in zip(found, ends, levels, strict=True):
        headings.enter(level, title)
        number = numbered_title(title) if numbered else ""
        place = CitedPlace(document=document, paragraph=number)
        if text[min(body, end) : end].strip() or following > level:
            pieces.append(Piece(place, min(body, end), end, headings.path, title=title))
        else:  # nothing stands under it, and nothing below it carries its words
            at = text.find(title, start)
            pieces.append(Piece(place, at, at + len(title), headings.above, title=title))
    return [piece for piece in pieces if text[piece.start : piece.end].strip()]
