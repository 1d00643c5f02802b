"""Standards: numbered paragraphs with their items, application paragraphs, appendices.

    paragraphs    12.  The auditor shall …       articles    Article 6
                  (a)  Inquiries …                           1.   Processing shall …
                  (i)  of management …                       (a)  the data subject …
                  A2.  Application text …

Lines are sorted into marks and text; a mark opens a passage that lasts until the next. A number that does not go up is
no mark but a row of a list or a table, unless a heading came before it and the count begins again with 1. Nothing is
dropped: what stands before the first number, what stands in an appendix, and a heading that nothing stands under, are
passages too. A short line by itself is a heading only in a text that does not mark its headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import accumulate, takewhile
from typing import Final, Literal

from weft.knowledge.numerals import item_levels
from weft.knowledge.place import CitedPlace
from weft.protocol.values import dataclass

MarkKind = Literal["main", "application", "item", "heading", "appendix"]
_BULLET: Final = r"[ \t]*(?:[-*•][ \t]+)?"
_NUMBER: Final = re.compile(_BULLET + r"(?:\*\*)?(?P<label>\d{1,4})\.(?:\*\*)?[ \t]+(?=\S)")
_APPLICATION: Final = re.compile(_BULLET + r"(?:\*\*)?(?P<label>A\d{1,4})\.?(?:\*\*)?[ \t]+(?=\S)")
_ITEM: Final = re.compile(_BULLET + r"\((?P<label>[a-z]{1,5}|\d{1,3})\)[ \t]*(?=\S)")
_ARTICLE: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*)?(?:Article|Art\.|Artikel|§)[ \t]*(?P<label>\d{1,4}[a-z]?)\b", re.IGNORECASE
)
_NUMBERS: Final = re.compile(f"\n{_NUMBER.pattern}")
_ARTICLES: Final = re.compile(f"\n{_ARTICLE.pattern}", _ARTICLE.flags)
_HEADING: Final = re.compile(r"[ \t]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\Z")
_APPENDIX: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+)?(?P<title>(?:Appendix|Annex)(?:[ \t]+\w{1,4})?)\b(?P<rest>.{0,120})\Z"
)
_CONTENTS_LINE: Final = re.compile(r".{0,100}[^.\d\s][ .…]*\s\d{1,4}\Z")
ENOUGH: Final = 3
"""So many numbers in order, and a document may be a numbered one; so many headings, and it marks those it has."""
_LONGEST_HEADING: Final = 300
"""Longer lines are text; and no line, whatever is in it, takes long to look at."""
_ARTICLE_LEVEL: Final = 5
_AHEAD: Final = 30
"""How far a number may skip ahead: beyond, it is a year or a quantity at the beginning of a line."""


@dataclass(frozen=True, slots=True)
class NumberMark:
    kind: MarkKind
    label: str
    start: int
    level: int = 0


@dataclass(slots=True)
class Piece:
    """A passage in the making: its place, the span of its text, the headings above."""

    place: CitedPlace
    start: int
    end: int
    heading: str
    lead: tuple[int, int] | None = None
    title: str = ""
    """For a passage with no number: what its ref is made of."""


def lines_of(text: str, ignored: Sequence[re.Pattern[str]] = ()) -> list[tuple[int, str]]:
    lines = text.split("\n")
    placed = list(zip(accumulate((len(line) + 1 for line in lines), initial=0), lines, strict=False))
    if not ignored:
        return placed
    return [(start, line) for start, line in placed if not any(pattern.search(line) for pattern in ignored)]


class Headings:
    """The headings above the current line, as one text."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, title))

    @property
    def path(self) -> str:
        return " › ".join(title for _, title in self._stack)

    @property
    def above(self) -> str:
        """Without the last."""
        return " › ".join(title for _, title in self._stack[:-1])


def marks_of(text: str, ignored: Sequence[re.Pattern[str]], *, articles: bool) -> list[NumberMark]:
    """Every line that may open something; which of them do is decided in their order."""
    marks: list[NumberMark] = []
    lines = lines_of(text, ignored)
    unmarked = not articles and sum(_marked_heading(line) is not None for _, line in lines) < ENOUGH
    for index, (start, line) in enumerate(lines):
        if not line.strip():
            continue
        around = [lines[at][1] for at in (index - 1, index + 1) if 0 <= at < len(lines)] if unmarked else []
        mark = _article_mark(start, line) if articles else _paragraph_mark(start, line)
        mark = mark or _heading_mark(start, line, alone=unmarked and not any(map(str.strip, around)))
        if mark:
            marks.append(mark)
    return _in_order(marks, articles=articles)


def has_articles(text: str, ignored: Sequence[re.Pattern[str]]) -> bool:
    if len(_ARTICLES.findall(f"\n{text}")) < ENOUGH:
        return False
    return sum(mark.kind == "main" for mark in marks_of(text, ignored, articles=True)) >= ENOUGH


def has_numbered_paragraphs(text: str, ignored: Sequence[re.Pattern[str]]) -> bool:
    """Whether a text is one of numbered paragraphs: before its appendices most of it stands behind numbers that go up.
    A list that a line leads to, with a colon, belongs to that line; steps among other paragraphs are a list too."""
    if len(_NUMBERS.findall(f"\n{text}")) < ENOUGH:
        return False
    marks = marks_of(text, ignored, articles=False)
    numbers = {mark.start for mark in marks if mark.kind == "main"} - set(_listed(text, marks))
    if len(numbers) < ENOUGH:
        return False
    opening = numbers | {mark.start for mark in marks if mark.kind in ("application", "item")}
    headings = {mark.start for mark in marks if mark.kind == "heading"}
    appendix = next((mark.start for mark in marks if mark.kind == "appendix"), len(text))
    behind = without = 0
    numbered = False
    blank = True
    for start, line in takewhile(lambda placed: placed[0] < appendix, lines_of(text, ignored)):
        # a paragraph, be it of several lines, has a number or has none
        numbered = start in opening or (numbered and not blank)
        blank = not line.strip()
        if numbered:
            behind += len(line)
        elif start not in headings:
            without += len(line)
    return behind >= without


def _listed(text: str, marks: Sequence[NumberMark]) -> Iterator[int]:
    """Where the numbers of lists stand: of each that begins with 1 behind a colon, as far as it counts on."""
    last = 0
    for mark in marks:
        if mark.kind != "main":
            last = last if mark.kind == "item" else 0
            continue
        number = int(mark.label)
        if number == 1 and text[max(0, mark.start - _LONGEST_HEADING) : mark.start].rstrip().endswith(":"):
            last = 1
        elif last and number == last + 1:
            last = number
        else:
            last = 0
            continue
        yield mark.start


def _paragraph_mark(start: int, line: str) -> NumberMark | None:
    if match := _APPLICATION.match(line):
        return NumberMark("application", match["label"], start)
    if match := _NUMBER.match(line):
        first = line[match.end() :].lstrip("\"'“‘([*_«")[:1]
        contents = len(line) <= _LONGEST_HEADING and _CONTENTS_LINE.match(line)
        if (first.isupper() or not first.isalpha()) and not contents:
            return NumberMark("main", match["label"], start)
    if match := _ITEM.match(line):
        return NumberMark("item", match["label"], start)
    return None


def _article_mark(start: int, line: str) -> NumberMark | None:
    if (match := _ARTICLE.match(line)) and len(line) <= 120 and not line.rstrip().endswith((".", ";", ",")):
        return NumberMark("main", match["label"], start, _ARTICLE_LEVEL)
    if (match := _NUMBER.match(line) or _ITEM.match(line)) is not None:
        return NumberMark("item", match["label"], start)
    return None


def _marked_heading(line: str) -> re.Match[str] | None:
    return _HEADING.match(line) if len(line) <= _LONGEST_HEADING else None


def _heading_mark(start: int, line: str, *, alone: bool) -> NumberMark | None:
    if len(line) > _LONGEST_HEADING:
        return None
    if (match := _APPENDIX.match(line)) and not match["rest"].rstrip().endswith((".", ";", ",")):
        return NumberMark("appendix", match["title"], start, 1)
    if match := _marked_heading(line):
        return NumberMark("heading", match["title"].strip("* "), start, len(match["marks"]))
    short = line.strip()
    if alone and 3 < len(short) <= 80 and short[0].isupper() and not short.endswith((".", ";", ",", ":", "!", "?")):
        return NumberMark("heading", short, start, 6)
    return None


def _in_order(marks: Sequence[NumberMark], *, articles: bool) -> list[NumberMark]:
    """Without the numbers that do not go up: those begin rows of lists and tables."""
    kept: list[NumberMark] = []
    highest = {"main": 0, "application": 0}
    heading_since = False
    in_appendix = False
    for mark in marks:
        if mark.kind in ("heading", "appendix"):
            heading_since = True
            in_appendix = in_appendix or mark.kind == "appendix"
        elif mark.kind in highest:
            number = int(re.sub(r"\D", "", mark.label))
            restarts = mark.kind == "main" and heading_since and number == 1
            if mark.kind == "main" and in_appendix and not articles:
                continue
            lettered = articles and number == highest["main"] and mark.label[-1:].isalpha()
            if not (restarts or lettered or 0 < number - highest[mark.kind] <= _AHEAD):
                continue
            highest[mark.kind] = number
            heading_since = False
        kept.append(mark)
    return kept


@dataclass(slots=True)
class _State:
    document: str
    articles: bool
    pieces: list[Piece] = field(default_factory=list)
    headings: Headings = field(default_factory=Headings)
    owner: Piece | None = None
    """The paragraph that items belong to."""


def numbered_pieces(
    text: str, document: str, ignored: Sequence[re.Pattern[str]] = (), *, articles: bool = False
) -> list[Piece]:
    marks = marks_of(text, ignored, articles=articles)
    levels = _levels(marks)
    state = _State(document, articles)
    starts = [*(mark.start for mark in marks), len(text)]
    ends = starts[1:]
    state.pieces.append(Piece(CitedPlace(document=document), 0, starts[0], "", title="front"))
    for index, (mark, level, end) in enumerate(zip(marks, levels, ends, strict=True)):
        after = marks[index + 1] if index + 1 < len(marks) else None
        _open(state, text, mark, level, end, lonely=_is_lonely(mark, after))
    return [piece for piece in state.pieces if text[piece.start : piece.end].strip()]


def _levels(marks: Sequence[NumberMark]) -> list[tuple[str, str]]:
    """For every mark that is an item, its levels inside the paragraph it belongs to; ("", "") for the others."""
    levels: list[tuple[str, str]] = []
    run: list[str] = []
    for mark in marks:
        if mark.kind == "item":
            run.append(mark.label)
            continue
        levels += [*item_levels(run), ("", "")]
        run = []
    return [*levels, *item_levels(run)]


def _is_lonely(heading: NumberMark, after: NumberMark | None) -> bool:
    """Whether what comes next does not stand below a heading, and so does not carry its words."""
    return after is None or (after.level > 0 and after.level <= heading.level)


def _open(state: _State, text: str, mark: NumberMark, level: tuple[str, str], end: int, *, lonely: bool) -> None:
    document, path = state.document, state.headings.path
    after = min(text.find("\n", mark.start) + 1 or len(text), end)
    last = state.pieces[-1] if state.pieces else None
    match mark.kind:
        case "heading" | "appendix":
            state.headings.enter(mark.level, _title(text, mark))
            place = CitedPlace(document=document, paragraph=mark.label if mark.kind == "appendix" else "")
            state.owner = Piece(place, after, end, state.headings.path, title=_title(text, mark))
            if lonely and not text[after:end].strip():
                state.owner.start, state.owner.heading = _past_signs(text, mark.start), state.headings.above
            state.pieces.append(state.owner)
        case "main":
            start = after if state.articles and text[after:end].strip() else _past_signs(text, mark.start)
            if state.articles:
                state.headings.enter(mark.level, _title(text, mark))
            place = CitedPlace(document=document, paragraph=mark.label)
            state.owner = Piece(place, start, end, state.headings.path if state.articles else path)
            state.pieces.append(state.owner)
        case "application":
            state.pieces.append(Piece(CitedPlace(document=document, application=mark.label), mark.start, end, path))
        case "item" if last is not None and (last.place.paragraph and not last.place.application):
            owner = last.place.paragraph
            base = state.owner or last
            place = CitedPlace(document=document, paragraph=owner, item=level[0], subitem=level[1])
            state.pieces.append(Piece(place, mark.start, end, base.heading, lead=(base.start, base.end)))
        case _ if last is not None:
            last.end = end


_SIGNS: Final = re.compile(r"[# \t]*")


def _past_signs(text: str, start: int) -> int:
    """Behind the signs that make a line a heading."""
    found = _SIGNS.match(text, start)
    return found.end() if found else start


def _title(text: str, mark: NumberMark) -> str:
    end = text.find("\n", mark.start)
    return text[mark.start : end if end >= 0 else len(text)].strip().strip(" #*")
