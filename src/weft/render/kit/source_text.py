"""The source on the page: every passage is an anchor, and beside its block stands which items rest on it.

A source beyond `WHOLE` is not shown whole: its passages stand with their surroundings, and the page says so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from weft.language.markdown import InlineMark
from weft.render.kit.blocks import KitBlock, blocks, excerpts, marks
from weft.render.kit.characters import direction, visible
from weft.render.kit.contents import Span
from weft.render.kit.elements import Html, element, join, text
from weft.render.kit.labels import Labels
from weft.render.kit.passages import KitPassage, Passages
from weft.render.kit.source import Clock, Source

WHOLE: Final = 300_000
"""Characters, some 50,000 words. A browser is quick with so many, and a writer has the file for more."""
PRINTED: Final = 15_000
"""Characters. On paper, a longer source is only the blocks that the kit refers to."""


class SourceText:
    def __init__(self, source: Source, passages: Passages, label: Labels) -> None:
        self._text = visible(source.text)
        self._kind = source.kind
        self._clock = Clock(source)
        self._passages = passages
        self._label = label
        self._starts = [passage.start for passage in passages.every]
        self._ends = list(accumulate((passage.end for passage in passages.every), max))
        self._blocks = blocks(self._text, source.kind)
        self._direction = direction(source.text)
        self.excerpted = len(self._text) > WHOLE
        self.length = len(self._text)

    def html(self) -> Html:
        shown = [(0, self.length)]
        if self.excerpted and self._blocks:
            shown = excerpts(self._text, self._blocks, self._passages.every)
        return join(*self._pieces(shown))

    def _pieces(self, shown: Sequence[Span]) -> Iterator[Html]:
        at = 0
        window = 0
        for block in self._blocks:
            while window < len(shown) and shown[window][1] <= block.start:
                window += 1
            first = window
            while first < len(shown) and shown[first][0] < block.end:
                low, high = max(shown[first][0], block.start), min(shown[first][1], block.end)
                if low < high:
                    if low > at and self._text[at:low].strip():
                        yield self._gap(at, low)
                    yield self._piece(replace(block, start=low, end=high), cut=(low > block.start, high < block.end))
                    at = high
                first += 1
        if self._text[at:].strip():
            yield self._gap(at, self.length)

    def _gap(self, low: int, high: int) -> Html:
        said = self._label("{} characters are left out here").format(self._label.number(high - low))
        return element("p", said, class_="gap", lang=self._label.language)

    def _piece(self, block: KitBlock, cut: tuple[bool, bool]) -> Html:
        inside = self._within(block.start, block.end)
        found = list(marks(self._text, block, self._kind))
        words = self._marked(block.start, block.end, inside, found)
        shown = join("… " if cut[0] else None, words, " …" if cut[1] else None)
        own = direction(self._text[block.start : block.end])
        turned = own if own != self._direction and own is not None else None
        name = "pre" if block.kind == "code" else "p"
        body = element(name, shown, class_=f"t {block.kind}", dir=turned, tabindex="0" if name == "pre" else None)
        time = self._clock.first_within(block.start, block.end)
        said = element("p", time, class_="when") if time else None
        fresh = [passage for passage in inside if passage.start >= block.start]
        names = ["block", *(["headed"] if block.kind == "heading" else []), *([] if inside else ["bare"])]
        return element("div", said, body, self._uses(fresh) if fresh else None, class_=" ".join(names))

    def _within(self, low: int, high: int) -> list[KitPassage]:
        """The passages that touch a range, also those that began before it."""
        first, last = bisect_right(self._ends, low), bisect_left(self._starts, high)
        return [passage for passage in self._passages.every[first:last] if passage.end > low]

    def _marked(self, low: int, high: int, inside: Sequence[KitPassage], found: Sequence[InlineMark]) -> Html:
        parts: list[Html] = []
        rest = list(inside)
        at = low
        while rest:
            outer, nested = rest[0], [one for one in rest[1:] if one.start < rest[0].end]
            start, end = max(outer.start, low), min(outer.end, high)
            parts.append(self._plain(at, start, found))
            begins = outer.start >= low
            parts.append(
                element(
                    "mark",
                    self._marked(start, end, nested, found),
                    id=outer.id if begins else None,
                    data_number=str(outer.number) if begins else None,
                )
            )
            at = end
            rest = rest[1 + len(nested) :]
        return join(*parts, self._plain(at, high, found))

    def _plain(self, low: int, high: int, found: Sequence[InlineMark]) -> Html:
        parts: list[Html] = []
        at = low
        for start, end, kind in found:
            start, end = max(start, low), min(end, high)
            if start >= end:
                continue
            parts.append(text(self._text[at:start]))
            name = "span" if kind == "syntax" else kind
            parts.append(element(name, self._text[start:end], class_="syntax" if kind == "syntax" else None))
            at = end
        return join(*parts, text(self._text[at:high]))

    def _uses(self, fresh: Sequence[KitPassage]) -> Html:
        """The way back: who rests on each passage of this block."""
        lines = []
        for passage in fresh:
            links = [
                element("a", self._label.item(item.id), href=f"#{item.id}")
                for item in self._passages.uses[passage.number]
            ]
            spread = [part for link in links for part in (" ", link)]
            lines.append(element("li", element("b", str(passage.number)), *spread))
        label = self._label
        return element("ul", *lines, class_="uses", lang=label.language, dir="ltr", aria_label=label("Used in"))
