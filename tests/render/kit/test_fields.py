"""Every field of a kit is on the page, and what it says in the Markdown: walked, not listed, so none is forgotten."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.render.kit.making import from_schema, kit_and_source, shown
from tests.render.kit.reading import read_page
from weft.render.kit import Source, kit_markdown, kit_page
from weft.render.kit.labels import Labels
from weft.render.kit.leftovers import leaves

KITS = shown()
ENUMS = {"flesch": "Flesch reading ease", "lix": "LIX", "length": "length of sentences"}


def forms(path: str, value: Any, label: Labels) -> str:
    """How a leaf is written for a reader."""
    name = path.rsplit(".", 1)[-1]
    if name in ("relevanceToUser", "relevanceScore"):
        return label.percent(value)
    if isinstance(value, int | float):
        return label.number(value)
    if name in ("measure", "level", "type", "sentiment", "category", "detectedSource"):
        return label(ENUMS.get(value, value))
    return str(value)


def told(kit: Any) -> list[tuple[str, str]]:
    """Every leaf but the offsets, as it must be found."""
    values: list[tuple[str, str]] = []
    label = Labels(kit["summary"].get("language", ""))

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, child in value.items():
                walk(child, f"{path}.{key}")
        elif isinstance(value, list):
            for at, child in enumerate(value):
                walk(child, f"{path}[{at}]")
        elif ".evidence" not in path and value != "":
            values.append((path, " ".join(forms(path, value, label).split()).casefold()))

    walk(kit, "")
    return values


MEASURES = re.compile(
    r"contentId|^\.source|^\.meta|language|readability|wordCount|readingTime|sentiment|category|detectedSource|tags|score"
    r"|estimatedWords|suggestedOutline"
)
"""What is about the kit and the source, not in them: on the page, and not in the Markdown."""


def said(kit: Any) -> list[tuple[str, str]]:
    return [(path, text) for path, text in told(kit) if not MEASURES.search(path)]


def page_text(kit: Any, source: Source) -> str:
    """All words on the page above the source."""
    root = read_page(kit_page(kit, source=source))
    body = root.first("body")
    main = body.first("main")
    main.children = [child for child in main.children if isinstance(child, str) or child.attributes["id"] != "source"]
    return " ".join(" ".join(node for node in each_text(body)).split()).casefold()


def each_text(node: Any) -> list[str]:
    found: list[str] = []
    for child in node.children:
        found += [child] if isinstance(child, str) else each_text(child)
    return found


def markdown_text(kit: Any, source: Source) -> str:
    """All words of the Markdown, as they are rendered."""
    above = kit_markdown(kit, source=source)
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(above)
    return " ".join(
        re.sub(r"<[^>]+>", " ", re.sub(r"</?(?:strong|em)>", "", html))
        .replace("&quot;", '"')
        .replace("&amp;", "&")
        .split()
    ).casefold()


@pytest.mark.parametrize("name", sorted(KITS))
def test_every_leaf_of_a_kit_is_shown(name: str) -> None:
    kit, source = KITS[name]
    page, markdown = page_text(kit, source), markdown_text(kit, source)
    alone = len(kit["suggestedOutline"]) == 1
    assert [path for path, text in told(kit) if text not in page and not (alone and "Outline" in path)] == []
    room = len(source.text.split()) > 100
    assert [path for path, text in said(kit) if text not in markdown and (room or "Themes" not in path)] == []


def test_every_field_of_the_schema_is_shown() -> None:
    kit = from_schema()
    source = Source(text="x " * 3000)
    page, markdown = page_text(kit, source), markdown_text(kit, source)
    assert [path for path, text in told(kit) if text not in page and "restsOn" not in path] == []
    assert [path for path, text in told(kit) if text not in markdown and not MEASURES.search(path)] == []
    outline = [text for path, text in told(kit) if "suggestedOutline" in path and "estimated" not in path]
    assert [text for text in outline if text not in markdown] == []


def test_a_schema_has_no_field_that_goes_to_the_leftovers() -> None:
    """They are for what nobody knows; a field of ours has a place of its own."""
    page = kit_page(from_schema(), source=Source(text="x" * 1000))
    assert "<code>" not in page


def test_a_field_that_nobody_knows_is_shown_all_the_same() -> None:
    kit, source = kit_and_source("The mill turns. The river was lower this year than in any year before it.")
    kit = {**kit, "review": {"by": "Ines", "marks": [7, None]}, "summary": {**kit["summary"], "mood": "dry & <b>"}}
    assert {"review.by", "review.marks[0]", "summary.mood"} <= {path for path, _ in leaves(kit)}
    for text in (page_text(kit, source), kit_markdown(kit, source=source).casefold()):
        assert "review.by" in text
        assert "ines" in text
        assert "review.marks" in text
    assert "dry & <b>" in page_text(kit, source)


def test_what_the_source_says_of_itself_is_shown() -> None:
    kit, _ = KITS["one"]
    source = Source(
        text="Nothing.",
        title="A Title of Its Own",
        author="Ada Bee",
        published="2020-02-03",
        language="fr",
        kind="epub",
        url="https://example.org/a",
    )
    said = [source.title, source.author, source.published, source.kind, source.url, "French (fr)"]
    assert [value for value in said if value.casefold() not in page_text(kit, source)] == []


def test_two_values_that_should_be_one_are_both_shown() -> None:
    kit, source = KITS["one"]
    kit = {**kit, "meta": {"relevanceToUser": 0.91, "estimatedReadingTimeMinutes": 77}, "contentId": "another"}
    kit["summary"] = {**kit["summary"], "score": {"relevanceToUser": 0.5}}
    text = page_text(kit, source)
    assert "91 %" in text
    assert "50 %" in text
    assert "77 minutes" in text
    assert "1 minute" in text
    assert "content-1" in text


def test_a_kit_may_have_only_what_is_required() -> None:
    kit, source = KITS["night-trains"]
    summary = {
        key: value
        for key, value in kit["summary"].items()
        if key not in ("detectedSource", "language", "readability", "wordCount", "readingTimeMinutes", "evidence")
    }
    ideas = {key: value for key, value in kit["ideas"].items() if key != "evidence"}
    outline = [{"heading": one["heading"], "notes": ""} for one in kit["suggestedOutline"]]
    bare = {**kit, "summary": summary, "ideas": ideas, "suggestedOutline": outline}
    page = page_text(bare, source)
    assert [path for path, text in told(bare) if text not in page and "Outline" not in path] == []
    assert [path for path, text in said(bare) if text not in markdown_text(bare, source)] == []


@pytest.mark.parametrize(
    "kit", [{}, {"summary": None, "ideas": [], "suggestedOutline": {"a": 1}}, {"summary": {"bullets": "x"}}]
)
def test_anything_at_all_is_a_page(kit: dict[str, Any]) -> None:
    read_page(kit_page(kit, source=Source(text="")))
    assert kit_markdown(kit, source=Source(text="")).startswith("# ")


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every field and list entry as (what holds it, its key)."""
    if not isinstance(value, dict | list):
        return []
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [place for key in keys for place in [(value, key), *places_in(value[key])]]


@pytest.mark.slow
@pytest.mark.parametrize("instead", ["", None, [], {}, 7, "<b>", [[3, 9]]])
def test_any_field_may_be_empty_or_of_another_type(instead: Any) -> None:
    """One after the other: no link leads nowhere, nothing is left open, and whatever stands there is shown."""
    kit, source = kit_and_source("# The mill\n\nThe mill turns. The river was lower this year than in any year before.")
    shown = 0
    alone = [id(holder) for holder, _ in places_in(kit["suggestedOutline"][0])]  # the one section that is not shown
    for holder, key in places_in(kit):
        before = holder[key]
        holder[key] = instead
        page = read_page(kit_page(kit, source=source))
        markdown = kit_markdown(kit, source=source)
        if instead == "<b>":
            assert id(holder) in alone or "<b>" in page.first("body").text
            shown += "\\<b\\>" in markdown
        holder[key] = before
    assert shown > 5 or instead != "<b>"


def test_the_same_kit_gives_the_same_bytes() -> None:
    for kit, source in KITS.values():
        assert kit_page(kit, source=source) == kit_page(kit, source=source)
        assert kit_markdown(kit, source=source) == kit_markdown(kit, source=source)
