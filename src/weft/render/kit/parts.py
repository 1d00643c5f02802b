"""The parts of the page that show items: each item is an anchor, is in its own language, and links to its passages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from weft.protocol.values import dataclass
from weft.render.kit.characters import Direction, direction, one_line, paragraphs
from weft.render.kit.contents import Contents, KitItem
from weft.render.kit.elements import Child, Html, element, join
from weft.render.kit.figures import number
from weft.render.kit.labels import WORDS, Labels
from weft.render.kit.passages import KitPassage, Passages

_GLIMPSE: Final = 220
"""Characters of a passage that are shown when one points at its number."""
_MAPPED: Final = 5000
"""Characters of a source that need a map: in a shorter one every mark is in sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitParts:
    language: str
    """The tag of the kit's language; empty when unknown."""
    way: Direction
    passages: Passages
    source: str
    label: Labels

    # -- words

    def said(self, name: str, text: str, *more: Child, class_: str | None = None, id: str | None = None) -> Html:
        """An element of the kit's own words: in its language, and in its direction where that is not the page's."""
        own = direction(text)
        turned = own if own is not None and own != self.way else None
        return element(name, text, *more, class_=class_, id=id, lang=self.language, dir=turned)

    def own(self, text: str) -> Html:
        """Our words inside a line that may run the other way."""
        return element("span", text, dir="ltr") if self.way == "rtl" else join(text)

    def refs(self, item: KitItem) -> Html | None:
        found = self.passages.of[item.id]
        if not found:
            return None
        if not item.quoted:  # a quote's own passage stands before that of its context
            found = tuple(sorted(found, key=lambda passage: passage.number))
        links = [part for passage in found for part in (" ", self._ref(passage))]
        return element("span", *links, class_="refs", lang=self.label.language)

    def _ref(self, passage: KitPassage) -> Html:
        glimpse = one_line(self.source[passage.start : passage.end])
        short = glimpse if len(glimpse) <= _GLIMPSE else glimpse[:_GLIMPSE].rstrip() + " …"
        called = self.label("Passage {} of the source").format(passage.number)
        return element(
            "a",
            str(passage.number),
            href=f"#{passage.id}",
            aria_label=", ".join(one for one in (called, passage.time) if one),
            title=f"{passage.time}  {short}".strip(),
        )

    # -- parts

    def prose(self, title: str, item: KitItem) -> Html | None:
        if not item.text:
            return None
        *before, last = paragraphs(item.text) or [""]
        lines = [self.said("p", one) for one in before]
        return element(
            "section",
            element("h3", title),
            *lines,
            self.said("p", last, self.refs(item)),
            id=item.id,
            class_="prose",
        )

    def listed(self, title: str, name: str, lines: Iterable[Html], class_: str) -> Html | None:
        found = list(lines)
        return element("section", element("h3", title), element(name, *found, class_=class_)) if found else None

    def point(self, item: KitItem) -> Html:
        return element("li", self.said("span", item.text, self.refs(item)), id=item.id)

    def entry(self, item: KitItem) -> Html:
        """What one kind of document has: under its question or heading, with who does it and by when."""
        who = ", ".join(one for one in (item.owner, f"{self.label('by')} {item.due}" if item.due else "") if one)
        return element(
            "li",
            self.said("h4", item.under) if item.under else None,
            self.said("p", item.text, self.refs(item)),
            self.said("p", who, class_="label") if who else None,
            id=item.id,
        )

    def tension(self, item: KitItem) -> Html:
        return element(
            "li",
            self.said("p", item.text),
            element("p", self.own(self.label("against")), class_="label") if item.against else None,
            self.said("p", item.against, self.refs(item)) if item.against else None,
            id=item.id,
        )

    def figure(self, item: KitItem) -> Html:
        return element(
            "li",
            self.said("h4", item.title) if item.title else None,
            self.said("p", item.text, self.refs(item)),
            id=item.id,
        )

    def idea(self, item: KitItem) -> Html:
        examples = [self.said("li", example) for example in item.examples]
        return element(
            "li",
            self.said("h4", item.title) if item.title else None,
            self.said("p", item.text, self.refs(item)) if item.text or self.passages.of[item.id] else None,
            element("p", self.own(self.label("Examples")), class_="label") if examples else None,
            element("ul", *examples, class_="examples") if examples else None,
            id=item.id,
        )

    def quote(self, item: KitItem) -> Html:
        found = self.passages.of[item.id]
        after: list[Child] = []
        if item.speaker:
            after.append(self.said("cite", item.speaker))
        if item.time:
            time = element("a", item.time, href=f"#{found[0].id}") if found else item.time
            after.append(element("span", time, class_="time"))
        if item.id in self.passages.missing:
            after.append(
                element("strong", self.own(self.label("not found word for word in the source")), class_="missing")
            )
        elif found:
            label = "in the source" if len(found) == 1 else "in the source, with its context"
            after.append(element("span", self.own(self.label(label)), self.refs(item), class_="where"))
        said = [self.said("p", one) for one in paragraphs(item.text)]
        return element(
            "figure",
            element("blockquote", *said),
            element("figcaption", *(part for one in after for part in (" ", one))) if after else None,
            self.said("p", item.context, class_="around") if item.context else None,
            id=item.id,
            class_="quote",
        )

    def hook(self, item: KitItem) -> Html:
        return element("li", self._kind(item), self.said("p", item.text, self.refs(item)), id=item.id)

    def angle(self, item: KitItem) -> Html:
        score = None
        if item.score is not None:
            share = self.label("{} relevant to you").format(self.label.percent(item.score))
            score = element("p", bar(item.score), self.own(share), class_="score")
        support = [self.said("li", one) for one in item.support]
        return element(
            "li",
            self.said("h4", item.title),
            self.said("p", item.thesis, class_="thesis") if item.thesis else None,
            self.said("p", item.text, self.refs(item)),
            element("ul", *support, class_="examples") if support else None,
            element("p", self.own(self.label("Against it")), class_="label") if item.against else None,
            self.said("p", item.against) if item.against else None,
            score,
            id=item.id,
        )

    def outline(self, contents: Contents) -> Html:
        sections = contents.outline
        amounts = [item.words for item in sections]
        total = math.fsum(amount for amount in amounts if amount is not None)
        lead = self.label.counted(total, *WORDS) if total else None
        lines = [self._section(item, total) for item in sections]
        return join(element("p", self.own(lead), class_="lead") if lead else None, element("ol", *lines, class_="plan"))

    def _section(self, item: KitItem, total: float) -> Html:
        words = None
        if item.words is not None:
            words = element(
                "p", self.own(self.label.counted(item.words, *WORDS)), bar(item.words / total), class_="score"
            )
        notes = paragraphs(item.text)
        last = notes.pop() if notes else ""
        lines = [self.said("p", one) for one in notes]
        return element(
            "li",
            self.said("h3", item.title),
            words,
            *lines,
            self.said("p", last, self.refs(item)) if last or self.passages.of[item.id] else None,
            self._rests_on(item) if item.rests_on else None,
            id=item.id,
        )

    def _rests_on(self, item: KitItem) -> Html:
        """The items of the kit that a section is made from."""
        links = []
        for id in item.rests_on:
            name = self.label.item(id)
            known = id in self.passages.of
            links += [" ", element("a", name, href=f"#{id}") if known else element("span", name)]
        return element("p", *links, class_="label", lang=self.label.language)

    def words(self, title: str, texts: Sequence[str]) -> Html | None:
        return self.listed(title, "ul", [self.said("li", one) for one in texts], "words")

    def _kind(self, item: KitItem) -> Html | None:
        return element("p", self.own(self.label(item.kind)), class_="label") if item.kind else None


def bar(share: float) -> Html:
    """A drawing, as a style of an element's own would need a laxer policy for the whole page."""
    width = number(round(min(max(share, 0), 1) * 100, 1))
    track = element("rect", class_="track", width="100", height="4", rx="2")
    filled = element("rect", class_="filled", width=width, height="4", rx="2")
    return element(
        "svg", track, filled, class_="bar", viewBox="0 0 100 4", preserveAspectRatio="none", aria_hidden="true"
    )


def ribbon(passages: Sequence[KitPassage], length: int, label: Labels) -> Html | None:
    """Where in the source the passages stand, from its beginning to its end."""
    if len(passages) < 2 or length < _MAPPED:
        return None
    ticks = [
        element(
            "rect",
            x=f"{1000 * one.start / length:.1f}",
            width=f"{max(1000 * (one.end - one.start) / length, 2.5):.1f}",
            height="10",
        )
        for one in passages
    ]
    track = element("rect", class_="track", width="1000", height="10")
    return element(
        "svg",
        track,
        *ticks,
        class_="ribbon",
        viewBox="0 0 1000 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=label("Where in the source the {} passages stand").format(len(passages)),
    )
