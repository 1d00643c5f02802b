"""Numbered passages of the source that the items of a kit rest on.

Spans from many items repeat and overlap. Equal ones become one passage; one inside another nests; two that cross are
joined, as neither a page nor a reader can follow crossing marks. Passages are numbered in the order of the source.

A quote is held to its word: when its span does not hold it (the source was edited) or it names none, it is looked for
in the whole text, and when it is not there the page says so. White space and marks of emphasis do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from weft.protocol.values import dataclass
from weft.render.kit.contents import KitItem, Span
from weft.render.kit.source import Clock, Source

_LEFT_OUT: Final = re.compile(r"[\s*_~`\u00ad\u2060]+")
_DEEPEST: Final = 8
"""So many passages may stand around each other; a reader sees two or three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitPassage:
    number: int
    start: int
    end: int
    time: str = ""

    @property
    def id(self) -> str:
        return f"p{self.number}"


@dataclass(slots=True, eq=False)
class _Open:
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    every: tuple[KitPassage, ...]
    """By number."""
    of: dict[str, tuple[KitPassage, ...]]
    """By the id of an item, in the order the item names them."""
    uses: dict[int, tuple[KitItem, ...]]
    """The items that rest on a passage, by its number."""
    missing: frozenset[str]
    """The ids of quotes that the source does not have."""
    lost: int = field(default=0)
    """How many spans lie outside the source."""


def find_passages(items: Iterable[KitItem], source: Source) -> Passages:
    words, clock = _Words(source.text), Clock(source)
    missing: set[str] = set()
    lost = 0
    spans: dict[str, list[Span]] = {}
    every = list(items)
    for item in every:
        # What says nothing is not shown, so nothing could lead back to it.
        stated = item.spans if item.text or item.title else ()
        inside = [span for span in stated if 0 <= span[0] < span[1] <= len(source.text)]
        lost += len(stated) - len(inside)
        if item.quoted and not any(words.holds(span, item.text) for span in inside):
            place = words.find(item.text)
            inside = [place, *inside] if place else inside
            if place is None:
                missing.add(item.id)
        trimmed = (_trimmed(source.text, span) for span in inside)
        spans[item.id] = [span for span in trimmed if span[0] < span[1]]
    joined = _join(sorted({span for found in spans.values() for span in found}, key=lambda span: (span[0], -span[1])))
    places = sorted(set(joined.values()), key=lambda span: (span[0], -span[1]))
    passages = {
        span: KitPassage(number=at, start=span[0], end=span[1], time=clock.at(span[0]))
        for at, span in enumerate(places, 1)
    }
    of = {id: tuple(dict.fromkeys(passages[joined[span]] for span in found)) for id, found in spans.items()}
    uses: dict[int, list[KitItem]] = {}
    for item in every:
        for passage in of[item.id]:
            uses.setdefault(passage.number, []).append(item)
    return Passages(
        every=tuple(passages.values()),
        of=of,
        uses={at: tuple(found) for at, found in uses.items()},
        missing=frozenset(missing),
        lost=lost,
    )


def _join(spans: Sequence[Span]) -> dict[Span, Span]:
    """Where each span (they come by start, the longer first) ends up: no two of the results cross."""
    around: list[_Open] = []
    found: dict[Span, _Open] = {}
    for start, end in spans:
        while around and around[-1].end <= start:
            around.pop()
        if around and (around[-1].end < end or len(around) == _DEEPEST):
            for outer in around:
                outer.end = max(outer.end, end)
            found[start, end] = around[-1]
            continue
        around.append(_Open(start, end))
        found[start, end] = around[-1]
    return {span: (place.start, place.end) for span, place in found.items()}


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())


class _Words:
    """A text without what does not count when words are compared. It is squeezed when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._squeezed: str | None = None
        self._places: list[int] = []

    def holds(self, span: Span, quote: str) -> bool:
        wanted = squeeze(quote)
        return bool(wanted) and wanted in squeeze(self._text[slice(*span)])

    def find(self, quote: str) -> Span | None:
        wanted = squeeze(quote)
        if self._squeezed is None:
            self._places = [at for at, one in enumerate(self._text) if not _LEFT_OUT.match(one)]
            self._squeezed = "".join([self._text[at] for at in self._places])
        at = self._squeezed.find(wanted) if wanted else -1
        return None if at < 0 else (self._places[at], self._places[at + len(wanted) - 1] + 1)


def squeeze(text: str) -> str:
    return _LEFT_OUT.sub("", unicodedata.normalize("NFC", text))
