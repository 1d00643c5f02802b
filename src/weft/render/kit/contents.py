"""The kit as a reader meets it: items with a name, an anchor and the spans they rest on, in a fixed order.

Reading is forgiving. A model other than ours leaves out evidence, a person edits a kit by hand: what is missing is not
shown, what is of another type is shown as text, and what has no place here goes to `leftovers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.protocol.values import dataclass, replace
from weft.render.kit.figures import measure_name
from weft.render.kit.labels import Labels
from weft.render.kit.leftovers import Leftover, leftovers
from weft.render.kit.source import Source

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KitItem:
    id: str
    """The anchor on the page: `point-3`."""
    text: str = ""
    title: str = ""
    kind: str = ""
    examples: tuple[str, ...] = ()
    score: float | None = None
    words: float | None = None
    speaker: str = ""
    time: str = ""
    context: str = ""
    spans: tuple[Span, ...] = ()
    quoted: bool = False
    """Whether the text is claimed to stand in the source as it is."""
    under: str = ""
    """The question or heading it stands under."""
    thesis: str = ""
    support: tuple[str, ...] = ()
    against: str = ""
    owner: str = ""
    due: str = ""
    rests_on: tuple[str, ...] = ()
    """The ids of other items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Items that only one kind of document has: the decisions of a meeting."""

    title: str
    items: tuple[KitItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    label: str
    value: str
    said: bool = False
    """Whether the value is in the words of the source or the kit, not in ours."""
    address: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    label: Labels
    """The words around it, in the reader's language."""
    headline: KitItem
    tldr: KitItem
    points: tuple[KitItem, ...]
    overview: KitItem
    themes: tuple[str, ...]
    ideas: tuple[KitItem, ...]
    analysis: KitItem
    course: KitItem
    context: KitItem
    quotes: tuple[KitItem, ...]
    hooks: tuple[KitItem, ...]
    angles: tuple[KitItem, ...]
    questions: tuple[KitItem, ...]
    numbers: tuple[KitItem, ...]
    tensions: tuple[KitItem, ...]
    missing: tuple[KitItem, ...]
    note: str
    groups: tuple[Group, ...]
    sections: tuple[KitItem, ...]
    tags: tuple[str, ...]
    related: tuple[str, ...]
    category: str
    form: str
    """What the source was taken for: `transcript`."""
    language: str
    glance: tuple[Fact, ...]
    """What one wants to know before reading."""
    details: tuple[Fact, ...]
    rest: tuple[Leftover, ...]

    def items(self) -> Iterator[KitItem]:
        """In the order of the page."""
        yield from (self.headline, self.tldr, *self.points, *(one for group in self.groups for one in group.items))
        yield from (self.overview, *self.ideas)
        yield from (self.analysis, self.course, self.context, *self.quotes, *self.hooks, *self.angles)
        yield from (*self.questions, *self.tensions, *self.numbers, *self.missing, *self.outline)

    @property
    def outline(self) -> tuple[KitItem, ...]:
        """The sections worth showing: one that only says the headline again is none, nor one that stands over what
        was told already."""
        if self.thought:
            return self.sections
        named = {item.under for group in self.groups for item in group.items}
        rest = tuple(one for one in self.sections if one.title not in named)
        return rest if len(rest) > 1 else ()

    @property
    def thought(self) -> bool:
        """Whether somebody who thinks has had a part in it: angles do not make themselves."""
        return bool(self.angles or self.hooks)


_TEXTS: Final = {
    "headline": "headline",
    "tldr": "in-short",
    "overview": "overview",
    "detailedAnalysis": "analysis",
    "narrativeFlow": "course",
    "context": "setting",
}
_SAYS: Final = {
    "idea": "explanation", "angle": "description", "question": "question", "section": "notes", "tension": "one",
}  # fmt: skip
"""The field of an item that says what it has to say; `text` for the others."""
_TITLES: Final = {"idea": "concept", "angle": "title", "section": "heading", "number": "figure"}


def read_kit(kit: Mapping[str, Any], source: Source) -> Contents:
    summary, ideas = _mapping(kit.get("summary")), _mapping(kit.get("ideas"))
    places, found = _mapping(summary.get("evidence")), _mapping(ideas.get("evidence"))
    texts = {
        field: KitItem(id=id, text=_text(summary.get(field)), spans=_spans(places.get(field)))
        for field, id in _TEXTS.items()
    }
    label = Labels(source.reader, _text(summary.get("language")))
    points, named = _points(_items(summary, places, "bullets", "point"), texts["tldr"])
    sections = _items(kit, {}, "suggestedOutline", "section")
    return Contents(
        label=label,
        headline=texts["headline"],
        tldr=texts["tldr"],
        points=points,
        overview=texts["overview"],
        themes=_texts(summary.get("keyThemes")),
        ideas=_items(summary, places, "coreIdeas", "idea"),
        analysis=texts["detailedAnalysis"],
        course=texts["narrativeFlow"],
        context=texts["context"],
        quotes=_items(summary, places, "importantQuotes", "quote"),
        hooks=_items(ideas, found, "hooks", "hook"),
        angles=_items(ideas, found, "angles", "angle"),
        questions=_items(ideas, found, "questions", "question"),
        numbers=_items(ideas, found, "numbers", "number"),
        tensions=_items(ideas, found, "tensions", "tension"),
        missing=_items(ideas, found, "missing", "missing"),
        note=_text(summary.get("note")),
        groups=tuple(_groups(summary, places)),
        sections=tuple(
            replace(one, rests_on=tuple(dict.fromkeys(named.get(id, id) for id in one.rests_on))) for one in sections
        ),
        tags=_texts(summary.get("tags")),
        related=_texts(summary.get("relatedConcepts")),
        category=_text(summary.get("category")),
        form=_text(summary.get("detectedSource")),
        language=_text(summary.get("language")),
        glance=tuple(_glance(kit, summary, label)),
        details=tuple(_details(kit, summary, ideas, source, label)),
        rest=leftovers(kit),
    )


def _points(points: Sequence[KitItem], tldr: KitItem) -> tuple[tuple[KitItem, ...], dict[str, str]]:
    """Those that the short version above them does not say, counted from one; and what each of all is called here."""
    said = " ".join(tldr.text.split())
    shown: list[KitItem] = []
    named: dict[str, str] = {}
    for point in points:
        if said and " ".join(point.text.split()) in said:
            named[point.id] = tldr.id
            continue
        at = len(shown) + 1
        shown.append(replace(point, id=f"point-{at}"))
        named[point.id] = f"point-{at}"
    return tuple(shown), named


def _groups(summary: Mapping[str, Any], places: Mapping[str, Any]) -> Iterator[Group]:
    every = _list(places.get("parts"))
    number = 0
    for at, part in enumerate(_list(summary.get("parts"))):
        value, spans = _mapping(part), _list(every[at]) if at < len(every) else ()
        items = []
        for place, item in enumerate(_list(value.get("items"))):
            number += 1
            items.append(_item(item, f"part-{number}", spans[place] if place < len(spans) else ()))
        yield Group(title=_text(value.get("title")), items=tuple(items))


def _items(parent: Mapping[str, Any], places: Mapping[str, Any], field: str, name: str) -> tuple[KitItem, ...]:
    every = _list(places.get(field))
    return tuple(
        _item(value, f"{name}-{at}", every[at - 1] if at <= len(every) else ())
        for at, value in enumerate(_list(parent.get(field)), 1)
    )


def _item(value: Any, id: str, places: Any) -> KitItem:
    if not isinstance(value, Mapping):
        return KitItem(id=id, text=_text(value), spans=_spans(places))
    kind = id.partition("-")[0]
    return KitItem(
        id=id,
        text=_text(value.get(_SAYS.get(kind, "text"))),
        title=_text(value.get(_TITLES[kind])) if kind in _TITLES else "",
        kind=_text(value.get("type")),
        examples=_texts(value.get("examples")),
        score=_number(value.get("relevanceScore")),
        words=_number(value.get("estimatedWords")),
        speaker=_text(value.get("speaker")),
        time=_text(value.get("timestamp")),
        context=_text(value.get("context")),
        spans=_spans(value.get("evidence") or places),
        quoted=kind == "quote",
        under=_text(value.get("under")),
        thesis=_text(value.get("thesis")),
        support=_texts(value.get("support")),
        against=_text(value.get("other") if kind == "tension" else value.get("against")),
        owner=_text(value.get("owner")),
        due=_text(value.get("due")),
        rests_on=_texts(value.get("restsOn")),
    )


def _glance(kit: Mapping[str, Any], summary: Mapping[str, Any], label: Labels) -> Iterator[Fact]:
    meta, readability = _mapping(kit.get("meta")), _mapping(summary.get("readability"))
    minutes, words = _number(meta.get("estimatedReadingTimeMinutes")), _number(summary.get("wordCount"))
    if minutes is not None:
        yield Fact(label="Reading time", value=f"{label.number(minutes)}\u00a0min")
    if words is not None:
        yield Fact(label="Words", value=label.number(words))
    if readability.get("level"):
        yield Fact(label="To read", value=label(_text(readability["level"])))
    if summary.get("language"):
        yield Fact(label="Language", value=label.named(_text(summary["language"])))
    relevance = _number(meta.get("relevanceToUser"))
    if relevance is not None:
        yield Fact(label="Relevance", value=label.percent(relevance))


def _details(
    kit: Mapping[str, Any], summary: Mapping[str, Any], ideas: Mapping[str, Any], source: Source, label: Labels
) -> Iterator[Fact]:
    origin, meta = _mapping(kit.get("source")), _mapping(kit.get("meta"))
    yield from _told("Source", _text(origin.get("label")), source.title, "Title")
    yield from _told("Author", source.author)
    yield from _told("Published", source.published)
    for address in dict.fromkeys(one for one in (_text(origin.get("url")), source.url) if one):
        yield Fact(label="Address", value=address, said=True, address=True)
    yield from _told("File kind", source.kind)
    for name, field in (("Taken for", "detectedSource"), ("Category", "category"), ("Sentiment", "sentiment")):
        yield from _told(name, label(_text(summary.get(field))))
    code, stated = _text(summary.get("language")), source.language
    for one in dict.fromkeys(label.named(code) for code in (code, stated) if code):
        yield Fact(label="Language", value=one)
    yield from _readability(_mapping(summary.get("readability")), label)
    yield from _amounts("Words", label.number, {"": summary.get("wordCount")})
    minutes = {"": meta.get("estimatedReadingTimeMinutes"), "in the summary": summary.get("readingTimeMinutes")}
    yield from _amounts("Reading time", lambda value: label.counted(value, "{} minute", "{} minutes"), minutes)
    scores = {"": meta.get("relevanceToUser"), "in the summary": _mapping(summary.get("score")).get("relevanceToUser")}
    yield from _amounts("Relevance to you", label.percent, scores)
    yield from _told("Content id", _text(kit.get("contentId")))
    for part, value in (("summary", summary), ("ideas", ideas)):
        if value.get("contentId") not in (None, kit.get("contentId")):
            yield from _told(f"Content id in the {part}", _text(value["contentId"]))
    yield from _told("Source id", _text(origin.get("id")))


def _told(label: str, value: str, second: str = "", other: str = "") -> Iterator[Fact]:
    if value:
        yield Fact(label=label, value=value, said=True)
    if second and second != value:
        yield Fact(label=other, value=second, said=True)


def _amounts(label: str, shown: Callable[[float], str], values: Mapping[str, Any]) -> Iterator[Fact]:
    """Each value once: the same amount twice is one fact."""
    seen: set[str] = set()
    for place, value in values.items():
        amount = _number(value)
        text = shown(amount) if amount is not None else _text(value)
        if text and text not in seen:
            seen.add(text)
            yield Fact(label=f"{label} {place}".strip(), value=text)


def _readability(found: Mapping[str, Any], label: Labels) -> Iterator[Fact]:
    score, length = _number(found.get("score")), _number(found.get("wordsPerSentence"))
    level, measure = label(_text(found.get("level"))), label(measure_name(_text(found.get("measure"))))
    parts = [level, f"{measure} {label.number(score)}" if score is not None else measure]
    parts += [label.counted(length, "{} word a sentence", "{} words a sentence")] if length is not None else []
    if any(parts):
        yield Fact(label="Readability", value=", ".join(part for part in parts if part))


# -- values of any type, read as what they should be


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(one) for one in _list(value))


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _spans(value: Any) -> tuple[Span, ...]:
    pairs = (one for one in _list(value) if isinstance(one, list | tuple) and len(one) == 2)
    return tuple(dict.fromkeys((low, high) for low, high in pairs if type(low) is int and type(high) is int))
