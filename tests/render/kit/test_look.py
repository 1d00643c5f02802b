"""What makes the page readable for everybody: contrast in both schemes, order of headings, landmarks, languages."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from itertools import pairwise

import pytest

from tests.render.kit.making import from_schema, kit_and_source, shown
from tests.render.kit.reading import Node, read_page
from weft.render.kit import Source, kit_page
from weft.render.kit.labels import Labels

KITS = shown()
STYLE = files("weft.render.kit").joinpath("style.css").read_text("utf-8")
TEXT = 4.5


def page(name: str) -> Node:
    kit, source = KITS[name]
    return read_page(kit_page(kit, source=source))


def palettes() -> dict[str, dict[str, str]]:
    light, dark, paper = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    found = {
        name: dict(re.findall(r"--(\w+): (#\w+);", text))
        for name, text in zip("ldp", (light, dark, paper), strict=True)
    }
    return {"light": found["l"], "dark": {**found["l"], **found["d"]}, "print": {**found["l"], **found["p"]}}


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(one * 2 for one in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_guidelines_say() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize(
    ("front", "back"),
    [
        *(("ink", back) for back in ("paper", "card", "mark", "target")),
        *(("soft", back) for back in ("paper", "card", "mark")),
        *(("accent", back) for back in ("paper", "card", "chip", "mark", "target")),
        ("paper", "accent"),
        ("warn", "paper"),
    ],
)
def test_every_pair_of_colours_can_be_read(scheme: str, front: str, back: str) -> None:
    colours = palettes()[scheme]
    assert contrast(colours[front], colours[back]) >= TEXT


def test_both_schemes_set_every_colour_and_no_rule_has_one_of_its_own() -> None:
    light, dark = palettes()["light"], re.findall(r":root \{(.*?)\}", STYLE, re.S)[1]
    assert set(re.findall(r"--(\w+):", dark)) == set(light)
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.S)
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", rules)


def test_the_style_can_stand_in_a_style_element() -> None:
    assert "<" not in STYLE
    assert STYLE.count("{") == STYLE.count("}")


def test_sides_are_those_of_the_text_not_of_the_screen() -> None:
    """Left and right are wrong half of the time; start and end never are."""
    assert not re.search(
        r"(?:margin|padding|border)-(?:left|right)|[{;\s](?:left|right|float):|text-align: (?:left|right)", STYLE
    )


@pytest.mark.parametrize("name", sorted(KITS))
def test_headings_go_down_one_step_at_a_time(name: str) -> None:
    levels = [int(node.tag[1]) for node in page(name).walk() if re.fullmatch(r"h\d", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", sorted(KITS))
def test_landmarks_and_the_way_past_the_head(name: str) -> None:
    root = page(name)
    assert [len(root.all(tag)) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    skip = root.all("a")[0]
    assert root.by_id(skip.attributes["href"][1:]).tag == "main"
    assert root.first("nav").attributes["aria-label"]
    for section in root.first("main").children:
        assert isinstance(section, Node)
        assert root.by_id(section.attributes["aria-labelledby"]).tag == "h2"
    linked = [link.attributes["href"][1:] for link in root.first("nav").all("a")]
    assert linked == [one.attributes["id"] for one in root.first("main").children if isinstance(one, Node)]


def test_tables_have_headers_and_links_have_names() -> None:
    root = page("night-trains")
    for table in root.all("table"):
        assert table.first("caption").text
        assert all(cell.attributes["scope"] in ("row", "col") for cell in table.all("th"))
        assert all(len(row.all("th")) >= 1 for row in table.all("tr"))
    assert all(link.line or link.attributes.get("aria-label") for link in root.all("a"))
    # What is read aloud has what is seen in it, or who speaks to the page can't follow the link.
    assert all(link.line in link.attributes["aria-label"] for link in root.all("a") if "aria-label" in link.attributes)


def test_focus_is_seen_and_motion_is_asked_for() -> None:
    assert re.search(r"a:focus-visible[^{]*\{[^}]*outline: 3px", STYLE)
    assert re.search(r"prefers-reduced-motion: no-preference\) \{ html \{ scroll-behavior", STYLE)


@pytest.mark.parametrize(
    ("name", "tag", "way"), [("wald", "de", "ltr"), ("chinese", "zh", "ltr"), ("arabic", "ar", "rtl")]
)
def test_words_are_in_their_language_and_ours_in_the_readers(name: str, tag: str, way: str) -> None:
    root = page(name)
    assert root.first("html").attributes["lang"] == ("de" if tag == "de" else "en")
    assert root.first("body").attributes["dir"] == way
    for id in ("headline", "in-short"):
        assert root.by_id(id).attributes["lang"] == tag
    assert all(node.attributes.get("lang") == tag for quote in root.all("blockquote") for node in quote.all("p"))
    assert root.by_class("text")[0].attributes == {"class": "text", "lang": tag, "dir": way}
    assert all(
        node.attributes["lang"] == root.first("html").attributes["lang"]
        for node in root.by_class("uses") + root.by_class("refs")
    )


def test_what_stands_around_a_german_kit_is_german() -> None:
    root = page("wald")
    assert [node.text for node in root.by_class("glance")[0].all("dt")] == ["Lesezeit", "Wörter", "Sprache"]
    assert root.by_class("glance")[0].all("dd")[-1].text == "Deutsch (de)"
    assert root.by_class("legend")[0].text.startswith("Eine Zahl im Kästchen")
    assert all(node.text.startswith("in der Quelle") for node in root.by_class("where"))
    assert root.all("a")[0].text == "Zur Mappe"
    assert root.first("nav").attributes["aria-label"] == "Inhalt"
    assert [node.text for node in root.first("thead").all("th")] == ["Feld", "Wert"]
    assert "Art der Datei" in [node.text for node in root.first("tbody").all("th")]
    assert root.by_id("source").by_class("lead")[0].text == "8 Stellen, auf denen die Mappe beruht, sind markiert."
    assert root.by_class("uses")[1].first("a").text == "Kurz gesagt"
    assert root.first("footer").text == "Mit Weft gemacht."


def test_every_language_says_all_that_is_said_around_a_kit() -> None:
    said = tomllib.loads(files("weft.render.kit").joinpath("labels.toml").read_text("utf-8"))
    assert said["de"].keys() == said["fr"].keys() == said["es"].keys()
    for words in said.values():
        assert all(key.count("{}") == word.count("{}") for key, word in words.items())


@pytest.mark.parametrize(
    ("code", "shown"), [("de", "12.400,5"), ("fr", "12\u202f400,5"), ("es", "12.400,5"), ("en", "12,400.5")]
)
def test_a_number_is_written_as_its_reader_writes_numbers(code: str, shown: str) -> None:
    assert Labels(code).number(12_400.5) == shown


def test_a_line_that_runs_the_other_way_says_so() -> None:
    kit, source = kit_and_source("The mill turns. The river was lower this year than in any year before it.")
    kit["summary"]["bullets"] = ["An English line.", "البحر لا يكذب، لكن الميزان قد يكذب"]
    root = read_page(kit_page(kit, source=source))
    assert "dir" not in root.by_id("point-1").first("span").attributes
    assert root.by_id("point-2").first("span").attributes["dir"] == "rtl"


def test_an_unknown_language_is_said_to_be_unknown() -> None:
    kit, source = kit_and_source("The mill turns. The river was lower this year than in any year before it.")
    kit["summary"]["language"] = "und"
    root = read_page(kit_page(kit, source=Source(text=source.text)))
    assert root.by_id("headline").attributes["lang"] == ""


def test_a_long_source_prints_only_what_is_referred_to() -> None:
    assert re.search(r"@media print \{.*\.text\.long \.bare \{ display: none; \}", STYLE, re.S)
    kit, source = kit_and_source("The mill turns. The river was lower this year than in any year before it.")
    assert read_page(kit_page(kit, source=source)).by_class("long") == []
    longer = Source(text=source.text + "\n\nMore of it." * 2000)
    root = read_page(kit_page(kit, source=longer))
    assert len(root.by_class("long")) == 1
    assert len(root.by_class("bare")) == 2000
    assert "bare" not in root.by_class("block")[0].attributes["class"]


def test_every_class_of_the_page_has_a_rule_and_every_rule_a_class() -> None:
    kits = [
        *KITS.values(),
        (from_schema(), Source(text="x " * 600)),
        (from_schema(), Source(text="x " * 9000)),
        ({"summary": {"importantQuotes": [{"text": "n"}]}}, Source(text="y " * 9000)),
        ({}, Source(text="short\nlines\n", kind="text")),
        ({}, Source(text="```\n*a*\n```\n\n*b*\n", kind="markdown")),
        ({"source": {"url": "https://example.org"}}, Source(text="tick tock " * 40_000)),
    ]
    used = {
        name
        for kit, source in kits
        for node in read_page(kit_page(kit, source=source)).walk()
        for name in node.attributes.get("class", "").split()
    }
    styled = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", re.sub(r"/\*.*?\*/", "", STYLE, flags=re.S)))
    assert styled - used == set()
    assert used - styled <= {"block", "text", "t", "bare"}
