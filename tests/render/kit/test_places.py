"""Statements lead to their place in the source and back: every span, also of kits and sources that do not fit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.kits import claims, kit_of, make, misplaced
from tests.render.kit.making import At, kit_and_source, shown
from tests.render.kit.reading import Node, read_page
from weft.render.kit import Source, kit_markdown, kit_page
from weft.render.kit.blocks import AROUND, blocks
from weft.render.kit.contents import KitItem
from weft.render.kit.passages import find_passages
from weft.render.kit.source_text import WHOLE

KITS = shown()
ANCHORS = {
    "headline": "headline",
    "tldr": "in-short",
    "overview": "overview",
    "detailedAnalysis": "analysis",
    "narrativeFlow": "course",
    "context": "setting",
    "bullets": "point",
    "coreIdeas": "idea",
    "importantQuotes": "quote",
    "hooks": "hook",
    "angles": "angle",
    "questions": "question",
    "numbers": "number",
    "tensions": "tension",
}


def anchor(name: str, summary: dict[str, Any]) -> str:
    """`quotes[2]` -> `quote-3`; of points, those that the short version says are shown there, and there alone."""
    field, _, at = name.partition("[")
    if not at:
        return ANCHORS[field]
    number = int(at.partition("]")[0])
    if field == "bullets":
        if summary["bullets"][number] in summary["tldr"]:
            return ANCHORS["tldr"]
        number -= sum(1 for text in summary["bullets"][:number] if text in summary["tldr"])
    return f"{ANCHORS[field]}-{number + 1}"


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", ["night-trains.md", "wald.md", "interview-bees.txt", "tea.txt", "water.txt"])
def test_every_span_is_a_link_to_its_words_and_back(name: str) -> None:
    kit = kit_of(name)
    assert misplaced(kit) == []
    root = read_page(kit_page(kit.whole, source=Source(text=kit.text, kind="markdown")))
    source = root.by_id("source")
    seen = 0
    for field, _, spans in claims(kit):
        if field.startswith(("parts", "keyThemes")):  # a theme rests on no passage: the whole comes back to it
            continue
        id = anchor(field, kit.summary)
        item = root.by_id(id)
        targets = [link.attributes["href"][1:] for link in item.all("a")]
        words = {target: squeezed(source.by_id(target).text) for target in targets}
        for start, end in spans:
            (found,) = [target for target, text in words.items() if text == squeezed(kit.text[start:end])][:1]
            (notes,) = [
                line for uses in source.by_class("uses") for line in uses.all("li") if line.first("b").text == found[1:]
            ]
            assert f"#{id}" in [link.attributes["href"] for link in notes.all("a")]
            seen += 1
    assert seen > 4


@pytest.mark.parametrize("name", sorted(KITS))
def test_the_whole_source_is_on_the_page_word_for_word(name: str) -> None:
    kit, source = KITS[name]
    text = read_page(kit_page(kit, source=source)).by_class("text")[0]
    words = "".join(node.text for node in text.by_class("t"))
    assert squeezed(words) == squeezed(source.text)


@pytest.mark.parametrize("name", sorted(KITS))
def test_a_quote_stands_in_the_source_where_its_link_leads(name: str) -> None:
    kit, source = KITS[name]
    root = read_page(kit_page(kit, source=source))
    for at, quote in enumerate(kit["summary"]["importantQuotes"], 1):
        link = root.by_id(f"quote-{at}").all("a")[0].attributes["href"]
        assert squeezed(quote["text"]) in squeezed(root.by_id(link[1:]).text).replace("*", "")


def quoted(text: str, spans: list[list[int]] | None) -> dict[str, Any]:
    evidence = {"bullets": [], "keyThemes": [], "coreIdeas": [], "importantQuotes": [spans]}
    return {"summary": {"importantQuotes": [{"text": text}], **({"evidence": evidence} if spans else {})}}


SAID = "One two three. Four *five*\nsix seven. Eight nine ten."


@pytest.mark.parametrize("spans", [None, [[0, 14]], [[900, 950]], [[-3, 4]]])
def test_a_quote_whose_span_is_wrong_is_looked_for(spans: list[list[int]] | None) -> None:
    root = read_page(kit_page(quoted("Four five six seven.", spans), source=Source(text=SAID)))
    link = root.by_id("quote-1").all("a")[0].attributes["href"]
    assert root.by_id(link[1:]).text == "Four *five*\nsix seven."


def test_a_quote_that_nobody_said_is_called_so() -> None:
    kit, source = quoted("Four hundred.", [[0, 14]]), Source(text=SAID)
    assert "not found word for word" in read_page(kit_page(kit, source=source)).by_id("quote-1").text
    assert "not found word for word" in kit_markdown(kit, source=source)
    true = quoted("Eight nine ten.", [[0, 14]])
    assert "not found" not in kit_page(true, source=source)
    assert "not found" not in kit_markdown(true, source=source)


def test_places_outside_the_source_are_counted_not_linked() -> None:
    kit, source = kit_and_source("The mill turns. The river was lower this year than in any year before it.")
    shorter = Source(text=source.text[:20])
    page = kit_page(kit, source=shorter)
    read_page(page)
    assert re.search(r"\d+ places? that this kit refers to can't", page)
    assert "can't be found in the source as it is now" in kit_markdown(kit, source=shorter)
    assert "as it is now" not in kit_page(kit, source=source)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=25))
def test_passages_never_cross_and_cover_what_they_stand_for(spans: list[tuple[int, int]]) -> None:
    text = "".join("abcdefghi\n"[at % 10] for at in range(60))
    items = [KitItem(id=f"point-{at}", text="x", spans=(span,)) for at, span in enumerate(spans)]
    found = find_passages(items, Source(text=text))
    assert [one.number for one in found.every] == list(range(1, len(found.every) + 1))
    for one in found.every:
        for other in found.every:
            apart = one.end <= other.start or other.end <= one.start
            within = one.start <= other.start and other.end <= one.end
            around = other.start <= one.start and one.end <= other.end
            assert apart or within or around
    for item in items:
        ((low, high),) = item.spans
        words = text[low:high].strip() if low < high else ""
        assert bool(found.of[item.id]) == bool(words)
        for passage in found.of[item.id]:
            assert words in text[passage.start : passage.end]
            assert item in found.uses[passage.number]
    kit = {"summary": {"bullets": ["x"] * len(spans), "evidence": {"bullets": [[list(span)] for span in spans]}}}
    root = read_page(kit_page(kit, source=Source(text=text)))
    shown_text = "".join(node.text for node in root.by_class("t"))
    assert squeezed(shown_text) == squeezed(text)


def test_a_thousand_nested_spans_are_no_trouble() -> None:
    text = "word " * 1000
    kit = {"summary": {"tldr": "x", "evidence": {"tldr": [[at, 5000 - at] for at in range(2400)]}}}
    read_page(kit_page(kit, source=Source(text=text)))


# -- time


def test_times_of_cues_stand_beside_the_text_and_at_the_links() -> None:
    text = "**ANNA:** So we begin with the river.\n\n**BEN:** And nobody wrote that down?\n\nNobody at all."
    cues = (At(1, 10), At(64, 48), At(3729, text.index("Nobody at")))
    kit = quoted("And nobody wrote that down?", [[48, 75]])
    kit["summary"]["importantQuotes"][0]["timestamp"] = "01:04"
    kit["summary"] |= {"headline": "Ben", "keyThemes": ["end"]}
    kit["summary"]["evidence"] |= {"headline": [[41, 44]], "keyThemes": [[[len(text) - 14, len(text)]]]}
    root = read_page(kit_page(kit, source=Source(text=text, kind="srt", cues=cues)))
    assert [node.line for node in root.by_class("when")] == ["0:01", "1:04", "1:02:09"]
    assert "01:04" in root.by_id("quote-1").line
    labels = [link.attributes["aria-label"] for link in root.by_id("headline").all("a")]
    assert labels == ["Passage 1 of the source, 1:04"]  # the name stands before the cue, and belongs to it
    assert "> — 01:04" in kit_markdown(kit, source=Source(text=text, cues=cues))


# -- long sources


def long_source() -> tuple[dict[str, Any], Source]:
    filler = "\n\n".join(
        f"Paragraph {at} is here only to make the text long, as manuals do, and says so." for at in range(6000)
    )
    said = "The valve must be closed before the pump is started, and nobody may stand below it."
    middle = filler.index("Paragraph 3000 ")
    text = f"{filler[:middle]}{said}\n\n{filler[middle:]}\n\n{said} It was said twice."
    kit = quoted(said, [[middle, middle + len(said)]])
    kit["summary"] |= {"headline": "The valve"}
    kit["summary"]["evidence"] |= {"headline": [[len(text) - 19, len(text)]]}
    return kit, Source(text=text, kind="markdown")


def test_a_very_long_source_is_shown_around_its_passages() -> None:
    kit, source = long_source()
    assert len(source.text) > WHOLE
    page = kit_page(kit, source=source)
    root = read_page(page)
    assert len(page) < 80_000
    text = root.by_class("text")[0]
    assert root.by_id("p1").text == kit["summary"]["importantQuotes"][0]["text"]
    assert "Paragraph 2998 " in text.text
    assert "Paragraph 3002 " in text.text
    assert "Paragraph 2000 " not in text.text
    left = [int(re.sub(r"\D", "", node.line)) for node in text.by_class("gap")]
    shown_characters = sum(len(node.text) for node in text.by_class("t"))
    assert abs(sum(left) + shown_characters - len(source.text)) < 100
    assert "content.md" in root.by_id("source").text
    assert f"{WHOLE:,}" in root.by_id("source").text


def test_one_endless_line_is_cut_between_words() -> None:
    text = "tick tock " * 40_000
    kit = {"summary": {"tldr": "x", "evidence": {"tldr": [[200_000, 200_009]]}}}
    (block,) = read_page(kit_page(kit, source=Source(text=text))).by_class("t")
    words = block.text.split()
    assert set(words) == {"…", "tick", "tock"}
    assert 2 * AROUND <= len(block.text) <= 2 * AROUND + 200


def test_a_long_source_that_nothing_refers_to_shows_its_beginning() -> None:
    root = read_page(kit_page({"summary": {"tldr": "x"}}, source=Source(text="tick tock " * 40_000)))
    assert 3000 < len(root.by_class("text")[0].text) < 6000


def test_a_source_within_the_limit_is_shown_whole() -> None:
    text = ("x" * 99 + "\n") * (WHOLE // 100)
    page = kit_page({"summary": {"tldr": "x"}}, source=Source(text=text))
    assert "left out" not in page


# -- how the source is set


def kinds(text: str, kind: str = "markdown") -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text, kind)]


def test_blocks_of_a_source() -> None:
    wrapped = "A line that was broken because it was full of words\nand goes on here."
    assert kinds(f"# Head\n{wrapped}\n\nshort\nlines\n") == [
        ("heading", "# Head"),
        ("prose", wrapped),
        ("lines", "short\nlines"),
    ]
    assert kinds("```\na\n\n# b\n```\nafter") == [("code", "```\na\n\n# b\n```"), ("prose", "after")]
    assert kinds("| a | b |\n|---|---|\n| 1 | 2 |") == [("code", "| a | b |\n|---|---|\n| 1 | 2 |")]
    assert kinds("# no heading\n```", "text") == [("lines", "# no heading\n```")]
    assert kinds("```\nnever closed\n\nx") == [("code", "```\nnever closed\n\nx")]
    assert kinds(" \n\n ") == []


def marked(text: str, kind: str = "markdown") -> Node:
    return read_page(kit_page({}, source=Source(text=text, kind=kind))).by_class("t")[0]


def test_emphasis_of_a_markdown_source_is_set_and_keeps_its_characters() -> None:
    node = marked("Some **bold** and *slanted*, `code_x`, 2 * 3 * 4 and [a link](https://example.org).")
    assert node.text == "Some **bold** and *slanted*, `code_x`, 2 * 3 * 4 and [a link](https://example.org)."
    assert [one.text for tag in ("strong", "em", "code") for one in node.all(tag)] == ["bold", "slanted", "code_x"]
    assert [one.text for one in node.by_class("syntax")][-2:] == ["[", "](https://example.org)"]
    assert marked("no **bold** here", "text").all("strong") == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("```rust\nlet x;\n\nx\n```", ["```rust\n", "\n```"]),
        ("```\nnever closed", ["```\n"]),
        ("```\n```", ["```\n"]),
        ("| a |\n| b |", []),
    ],
)
def test_the_fences_of_code_are_not_shown(text: str, hidden: list[str]) -> None:
    node = marked(text)
    assert node.tag == "pre"
    assert node.text == text
    assert [one.text for one in node.by_class("syntax")] == hidden


def test_a_passage_may_begin_inside_emphasis() -> None:
    text = "Some **bold words** here."
    kit = {"summary": {"tldr": "x", "evidence": {"tldr": [[12, 22]]}}}
    root = read_page(kit_page(kit, source=Source(text=text, kind="markdown")))
    assert root.by_id("p1").text == "words** he"
    assert root.by_class("t")[0].text == text


def test_two_kits_of_one_text_differ_only_where_they_do() -> None:
    first, second = make("The mill turns. It stopped in May."), make("The mill turns. It stopped in June.")
    assert kit_page(first.whole, source=Source(text=first.text)) != kit_page(
        second.whole, source=Source(text=second.text)
    )
