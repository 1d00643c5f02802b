"""What a kit and its source say is data: shown as it was written, never mark-up, a link or an order."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.render.kit.making import from_schema
from tests.render.kit.reading import Node, read_page
from weft.render.kit import Source, kit_markdown, kit_page
from weft.render.kit.characters import direction, language_tag, one_line, visible
from weft.render.kit.markdown import escaped

HOSTILE = (
    '{n} <script>alert(1)</script> <img src=x onerror=alert(1)> " onmouseover="x \' </style></title></textarea>'
    " <!-- --> ]]> &lt;b&gt; &#106;avascript:x [a](javascript:alert(1)) ![i](http://example.org/i.png) `code` *a* _b_"
    " <https://example.org> http://example.org | cell | ~~x~~ $x$ [^1] {{x}} and more than fifty characters"
)
OURS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "nav",
        "main",
        "footer",
        "section",
        "div",
        "p",
        "span",
    ),
    *("h1", "h2", "h3", "h4", "a", "ol", "ul", "li", "dl", "dt", "dd", "figure", "figcaption", "blockquote", "cite"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "em", "b", "bdi", "code", "pre", "mark"),
    *("svg", "rect"),
}
ATTRIBUTES = {
    *("lang", "dir", "id", "class", "href", "rel", "title", "scope", "tabindex", "role", "charset", "name", "content"),
    *("http-equiv", "aria-label", "aria-labelledby", "aria-hidden", "data-number"),
    *("viewbox", "preserveaspectratio", "width", "height", "x", "rx"),
}


def hostile() -> tuple[dict[str, Any], Source]:
    kit: dict[str, Any] = from_schema(HOSTILE)
    kit['"><script>x</script>'] = {"<b>": "<i>"}
    text = "\n\n".join([HOSTILE.replace("{n}", "1"), "# <script>alert(2)</script>", "```\n<script>\n```"] * 6)
    words = HOSTILE.replace("{n}", "7")
    source = Source(
        text=text, title=words, author=words, published=words, language='"><script>', kind="markdown", url=words
    )
    return kit, source


def hostile_page() -> Node:
    kit, source = hostile()
    return read_page(kit_page(kit, source=source))


def test_nothing_that_a_kit_says_becomes_mark_up() -> None:
    root = hostile_page()
    assert {node.tag for node in root.walk()} - {"#root"} <= OURS
    assert {name for node in root.walk() for name in node.attributes} <= ATTRIBUTES
    assert not [node for node in root.walk() if node.attributes.get("href", "#")[0] != "#"]
    assert root.by_id("point-1").text.count("<script>alert(1)</script>") == 1
    assert "<" not in root.first("style").text


def test_nothing_is_fetched_and_nothing_runs() -> None:
    root = hostile_page()
    (policy,) = [node.attributes["content"] for node in root.all("meta") if "http-equiv" in node.attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"].startswith("'sha256-")
    assert "unsafe" not in policy
    style = root.first("style").text
    assert not re.search(r"url\(|@import|@font-face|expression\(", style)
    assert not [node for node in root.walk() if "style" in node.attributes or "src" in node.attributes]


def test_the_policy_names_the_style_that_is_there() -> None:
    root = hostile_page()
    digest = base64.b64encode(hashlib.sha256(root.first("style").text.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in root.all("meta")[1].attributes["content"]


@pytest.mark.parametrize(
    ("address", "linked"),
    [
        ("https://example.org/a?b=1&c=2", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,<b>", False),
        ("file:///etc/passwd", False),
        ("//example.org", False),
        ("jav\tascript:alert(1)", False),
        ("HTTPS://example.org", True),
    ],
)
def test_only_addresses_of_the_web_are_links(address: str, linked: bool) -> None:
    page = read_page(kit_page({"source": {"url": address}}, source=Source(text="x", url=address)))
    links = [node.attributes for node in page.all("a") if not node.attributes["href"].startswith("#")]
    assert [one["href"] for one in links] == ([address] if linked else [])
    assert all("noreferrer" in one["rel"] for one in links)
    assert " ".join(address.split()) in page.by_id("details").line
    markdown = kit_markdown({"source": {"url": address}}, source=Source(text="x", url=address))
    assert "<a" not in MarkdownIt("commonmark").render(markdown)


# -- characters


CONTROL = "a\x00b\x1b[31mc\x7fd\x85e\ud800f\ufffeg\u202eh\u2066i"


def test_control_characters_and_overrides_are_made_visible() -> None:
    kit = {"summary": {"headline": CONTROL, "bullets": [CONTROL], "importantQuotes": [{"text": CONTROL}]}}
    for text in (kit_page(kit, source=Source(text=CONTROL)), kit_markdown(kit, source=Source(text=CONTROL))):
        text.encode()  # no lone surrogate
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\u202a-\u202e\u2066-\u2069]", text)
        assert "a␀b␛" in text
        assert "g�h�i" in text


@pytest.mark.parametrize(
    "kept",
    [
        "می\u200cخواهم",
        "👩\u200d👩\u200d👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️",
        "שלום\u200f (x)",
        "\u2067שלום\u2069 and \u202bשלום\u202c",
        "a\tb\nc",
    ],
)
def test_what_a_script_needs_is_kept(kept: str) -> None:
    assert visible(kept) == kept


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202db\u202c", "a�b�"),
        ("\u2067a", "�a"),
        ("a\u2069", "a�"),
        ("\u202ba\nb\u202c", "�a\nb�"),
        ("\u202a\u2067a\u202c\u2069", "�\u2067a�\u2069"),
    ],
)
def test_what_reaches_beyond_its_place_is_not(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text())
def test_a_visible_text_is_as_long_as_it_was(text: str) -> None:
    assert len(visible(text)) == len(text)
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (("de",), "de"),
        (("und", "fr_CA"), "fr-CA"),
        (('"><b>', ""), ""),
        (("English",), ""),
        (("zh-Hant-TW",), "zh-Hant-TW"),
    ],
)
def test_a_language_tag_is_one(tags: tuple[str, ...], found: str) -> None:
    assert language_tag(*tags) == found


def test_the_way_a_text_runs() -> None:
    assert direction("NASA قالت إن المركبة وصلت") == "rtl"
    assert direction("The word سلام means peace") == "ltr"
    assert direction("12 + 3") is None


# -- Markdown


def rendered(markdown: str) -> str:
    """The words, when there is no element in them but the one paragraph."""
    found = re.fullmatch(
        r"<p>([^<]*)</p>\n", MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    )
    assert found, markdown
    return html.unescape(found[1])


@given(st.text(min_size=1))
@example("1. x")
@example("12) x")
@example("- x")
@example("+")
@example("---")
@example("=== x")
@example("# x")
@example("> x")
@example("    x")
@example("~~~ x")
@example("``` x")
@example("[a]: javascript:x")
@example("[a](javascript:x) ![b](c) <http://a.b> <b>")
@example("&amp; &#106; &copy; AT&T")
@example("a\\")
@example("\\*a\\*")
@example("*a* __b__ ~~c~~ `d` |e|")
@example("a  \nb\n===\n---")
@example("<!-- x -->")
@example("1\u00a0. x")
def test_any_text_is_the_same_text_in_markdown(text: str) -> None:
    line = one_line(text)
    if line:
        assert rendered(escaped(text)) == line


def test_plain_prose_is_hardly_touched() -> None:
    said = "In 1998, Anna (then 30) paid 2.50 - twice! She said: “No; 1:01:12 isn't enough?” A+B & C/D = 100 %."
    assert escaped(said) == said


@pytest.mark.parametrize(
    "text", [":smile: x", "==marked==", "%%hidden%%", "#tag", "$x^2$", "@someone", "www.example.org"]
)
def test_dialects_are_thought_of(text: str) -> None:
    assert escaped(text) != text
    assert rendered(escaped(text)) == text


def test_nothing_that_a_kit_says_becomes_markdown() -> None:
    kit, source = hostile()
    markdown = kit_markdown(kit, source=source)
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "em",
        "strong",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert html.unescape(page).count("<script>alert(1)</script>") >= 30
