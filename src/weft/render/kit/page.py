"""The kit as one HTML file that needs nothing else: no request, no script, its own style.

Its security policy allows exactly the style that is in it, by hash. The order is a reader's: what the source says, what
is worth quoting, what one could write, an outline; then the details, and last the source that all of it points into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from weft.render.kit.characters import direction, language_tag, one_line
from weft.render.kit.contents import Contents, Fact, read_kit
from weft.render.kit.elements import Child, Html, Section, element, join, whole_page
from weft.render.kit.labels import LOST, MORE
from weft.render.kit.parts import KitParts, ribbon
from weft.render.kit.passages import find_passages
from weft.render.kit.source import Source
from weft.render.kit.source_text import PRINTED, WHOLE, SourceText

_LEGEND: Final = "A number in a box leads to the passage of the source that a statement rests on."
_MARKED: Final = (
    "{} passage that the kit rests on is marked.",
    "{} passages that the kit rests on are marked.",
)
_EXCERPTED: Final = (
    "The source has {} characters; beyond {} only the passages and what stands around them are shown. The whole is in"
    " content.md, beside this page."
)
_PRINTED: Final = "Only the paragraphs that the kit refers to are printed."


def kit_page(kit: Mapping[str, Any], *, source: Source) -> str:
    """The same bytes for the same kit and source."""
    contents = read_kit(kit, source)
    passages = find_passages(contents.items(), source)
    said = " ".join([contents.headline.text, contents.tldr.text, contents.overview.text])
    parts = KitParts(
        language=language_tag(contents.language, source.language),
        way=direction(said) or "ltr",
        passages=passages,
        source=source.text,
        label=contents.label,
    )
    title = one_line(contents.headline.text or source.title or parts.label("Writing kit"))
    return whole_page(
        f"{title} – {parts.label('writing kit')}",
        _style(),
        _masthead(contents, parts, source),
        _sections(contents, parts, source),
        main="kit",
        skip=parts.label("Skip to the kit"),
        contents=parts.label("Contents"),
        made=parts.own(parts.label("Made with Weft.")),
        language=parts.label.language,
        way=parts.way,
    )


@cache
def _style() -> str:
    return files(__package__).joinpath("style.css").read_text("utf-8")


def _masthead(contents: Contents, parts: KitParts, source: Source) -> Html:
    kinds = (parts.label("Writing kit"), parts.label(contents.category), parts.label(contents.form))
    kicker = list(dict.fromkeys(one for one in kinds if one))
    spread = [part for one in kicker for part in (" ", element("span", parts.own(one)))]
    titled = source.title and one_line(source.title) != one_line(contents.headline.text)
    byline = [
        parts.said("span", source.title, class_="title") if titled else None,
        parts.said("span", source.author) if source.author else None,
        element("span", parts.own(source.published)) if source.published else None,
    ]
    headline, tldr = contents.headline, contents.tldr
    facts = [
        element("div", element("dt", parts.label(fact.label)), element("dd", parts.own(fact.value)))
        for fact in contents.glance
    ]
    told = [part for one in byline if one is not None for part in (" ", one)]
    return element(
        "header",
        element("p", *spread, class_="kicker"),
        parts.said(
            "h1", headline.text or source.title or parts.label("Writing kit"), parts.refs(headline), id=headline.id
        ),
        element(
            "div",
            element("p", *told, class_="byline") if told else None,
            parts.said("p", tldr.text, parts.refs(tldr), class_="standfirst", id=tldr.id) if tldr.text else None,
            parts.said("p", contents.note, class_="lead") if contents.note else None,
            element("p", parts.own(parts.label(_LEGEND)), class_="legend") if parts.passages.every else None,
            class_="opening",
        ),
        element("dl", *facts, class_="glance") if facts else None,
        class_="masthead",
    )


def _sections(contents: Contents, parts: KitParts, source: Source) -> list[Section]:
    label = parts.label
    outline = parts.outline(contents) if contents.outline else None
    carried = _carries(contents, parts)
    more = None if contents.thought else element("p", label(MORE).replace("`", ""), class_="lead")
    return [
        ("says", label("What it says"), _says(contents, parts)),
        ("quotes", label("Worth quoting"), _all(parts.quote(item) for item in contents.quotes)),
        ("carries", label("What it carries"), _all([carried, more]) if carried else None),
        ("ideas", label("Ideas for your own piece"), _ideas(contents, parts) if contents.thought or carried else more),
        ("outline", label("Outline" if contents.thought else "Its own parts"), outline),
        ("source", label("The source"), _source(parts, source)),
        ("terms", label("Words to search with"), _terms(contents, parts)),
        ("details", label("Details"), _details(contents, parts)),
    ]


def _all(found: Iterable[Html | None]) -> Html | None:
    whole = join(*found)
    return whole if whole else None


def _says(contents: Contents, parts: KitParts) -> Html | None:
    label = parts.label
    return _all(
        [
            parts.listed(label("Key points"), "ol", map(parts.point, contents.points), "points"),
            *(parts.listed(group.title, "ul", map(parts.entry, group.items), "cards") for group in contents.groups),
            parts.prose(label("Overview"), contents.overview),
            parts.listed(label("Core ideas"), "ol", map(parts.idea, contents.ideas), "cards"),
            parts.prose(label("Detailed analysis"), contents.analysis),
            parts.prose(label("How it unfolds"), contents.course),
            parts.prose(label("Setting"), contents.context),
        ]
    )


def _carries(contents: Contents, parts: KitParts) -> Html | None:
    label = parts.label
    return _all(
        [
            parts.listed(label("Open questions"), "ol", map(parts.hook, contents.questions), "hooks"),
            parts.listed(label("Tensions"), "ol", map(parts.tension, contents.tensions), "cards"),
            parts.listed(label("Figures"), "ol", map(parts.figure, contents.numbers), "cards"),
            parts.listed(label("What is missing"), "ul", map(parts.point, contents.missing), "points"),
        ]
    )


def _ideas(contents: Contents, parts: KitParts) -> Html | None:
    label = parts.label
    return _all(
        [
            parts.listed(label("Hooks"), "ol", map(parts.hook, contents.hooks), "hooks"),
            parts.listed(label("Angles"), "ol", map(parts.angle, contents.angles), "angles"),
        ]
    )


def _terms(contents: Contents, parts: KitParts) -> Html | None:
    label = parts.label
    # A tag that is one of the themes says nothing new.
    named = {one.lower() for one in contents.themes}
    tags = [tag for tag in contents.tags if tag.lower() not in named]
    return _all(
        [
            parts.words(label("Themes"), contents.themes),
            parts.words(label("Tags"), tags) if tags else None,
            parts.words(label("Related concepts"), contents.related),
        ]
    )


def _details(contents: Contents, parts: KitParts) -> Html:
    rows: list[Child] = [
        element("tr", element("th", parts.label(fact.label), scope="row"), element("td", _value(fact, parts)))
        for fact in contents.details
    ]
    rows += [
        element("tr", element("th", element("code", path), scope="row"), parts.said("td", value))
        for path, value in contents.rest
    ]
    columns = [element("th", parts.label(name), scope="col") for name in ("Field", "Value")]
    return join(
        element(
            "table",
            element("caption", parts.label("Where this kit comes from, and its measures")),
            element("thead", element("tr", *columns)),
            element("tbody", *rows),
        ),
        element("p", parts.own(parts.label.counted(parts.passages.lost, *LOST)), class_="lead")
        if parts.passages.lost
        else None,
    )


def _value(fact: Fact, parts: KitParts) -> Html:
    if not fact.address:
        return parts.said("span", fact.value) if fact.said else parts.own(fact.value)
    shown = element("bdi", fact.value)
    if fact.value.lower().startswith(("https://", "http://")):
        return element("a", shown, href=fact.value, rel="noopener noreferrer", class_="address")
    return shown


def _source(parts: KitParts, source: Source) -> Html | None:
    if not source.text.strip():
        return None
    label = parts.label
    shown = SourceText(source, parts.passages, label)
    lead = (
        label.counted(len(parts.passages.every), *_MARKED)
        if parts.passages.every
        else label("The kit names no passages of it.")
    )
    if shown.excerpted:
        lead += f" {label(_EXCERPTED).format(label.number(shown.length), label.number(WHOLE))}"
    long = shown.length > PRINTED
    tag = language_tag(source.language, parts.language)
    return join(
        element("p", parts.own(lead), class_="lead"),
        element("p", parts.own(label(_PRINTED)), class_="lead printed") if long else None,
        ribbon(parts.passages.every, shown.length, label),
        element(
            "div",
            shown.html(),
            class_="text long" if long else "text",
            lang=tag,
            dir=direction(source.text) or parts.way,
        ),
    )
