"""Six pages as they are on the web: the article is kept with its structure, everything around it is dropped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.documents import Document, read_document
from weft.documents.markup import parse_html

PAGES = Path(__file__).parent / "pages"

KEPT = {
    "news": [
        "# Harbour bridge reopens after nine months of repairs",
        "The 1931 swing bridge carried its first traffic since last June, two weeks ahead of schedule.",
        "Cyclists cross the reopened bridge on Monday morning.",
        "At 6.30 on Monday morning, with the river still grey, forty cyclists rode across the harbour bridge",
        "cracks in two of the eight trunnions on which the 640-tonne span turns.",
        "## “We found more than we expected”",
        "“We found more than we expected, and we found it late,” said Greta Halloran, the engineer in charge.",
        "> You can't order a casting from 1931. Somebody has to make the pattern by hand.",
        "Three changes were made while the span was off its bearings:\n\n- All eight trunnions were replaced, not only",
        "- The footway is now 2.2 metres wide, up from 1.4.\n- Sensors report movement every second",
        "“Nine months is a long time to sell bread to nobody,” said Piet Arends, who runs a bakery there.",
        "The council expects 19,000 vehicles a day, about the same as before the closure.",
    ],
    "blog": [
        "# Why I stopped batching",
        "If it failed at three in the morning, it failed completely.",
        "because it was not what I had expected.",
        "## What I expected",
        "They took five. Every job opened its own connection, read the same price list and said goodbye again.\n"
        "We had bought parallelism and paid for it in handshakes.",
        "1. Failures became small. One bad address spoils one invoice.\n2. Restarting became boring:",
        "> I used to ask the system what it did. Now I look.",
        "```python\ndef is_done(step, folder):\n    result = folder / step.name\n    if not result.exists():\n"
        "        return False\n    return digest(step.inputs) == stored_digest(result)\n```",
        "with the folder & the eleven lines, and worry about machines later. The x² growth in handshakes",
    ],
    "docs": [
        "# Retry policies\n",
        "A retry policy says how often a failed call is tried again and how long to wait in between.",
        "Policies apply to calls, not to steps. A step that fails is never run twice by itself.",
        "## Example\n\nThree attempts, doubling the wait each time:",
        "from loomkit import Retry\n\npolicy = Retry(attempts=3, wait=0.5, factor=2)\n"
        'if a < b:\n    print("<ok>")\n```',
        "| Option | Default | Meaning |\n| --- | --- | --- |\n"
        "| `attempts` | 1 | How often to try, the first time included. |",
        "| `factor` | 2 | By how much the wait grows; `a\\|b` is not allowed. |",
        "Set `jitter=True` to spread the load when many clients fail at once.",
        "Counts the first call, so that 1 means no retry at all.",
        "### What counts as a failure\n\n- A timeout.\n- A status of 500 or above:\n"
        "  - 502 and 503 are retried at once,\n"
        "  - 500 waits.",
    ],
    "banners": [
        "# How to winter a beehive",
        "Bees do not sleep through the winter. They form a ball around the queen and shiver,",
        "if you can lift the back with one hand, feed.",
        "## Damp kills, not cold",
        "A strip of metal with holes of nine millimetres lets bees through and keeps mice out; wood they simply gnaw.",
        "| October | Weigh, feed, fit the mouse guard |",
        "Every time you open the lid in the cold, you spend a week of their honey.",
    ],
    "german": [
        "# Das Moor kehrt zurück",
        "Wo sechzig Jahre lang Torf gestochen wurde, steht wieder Wasser.",
        "„Am Anfang haben uns alle für verrückt gehalten“, sagt Frieda Öhlmann und stößt den Spaten",
        "Der Wasserstand ist um 40 Zentimeter gestiegen, und auf 120 Hektar wächst wieder Torfmoos.",
        "## Streit um die Wiesen",
        "„Entschädigt hat mich niemand“, sagt er, „und gefragt auch nicht.“",
        "Für jeden vernässten Hektar sollen 900 Euro im Jahr fließen.",
    ],
    "wiki": [
        "# Kettle stitch",
        "links one signature of a sewn book to the one below it. It is made at the head and the tail of the spine",
        "## Name\n\n"
        'The word is thought to come from German Kettelstich or Kettenstich, "little chain stitch". In French',
        "1. Come out of the kettle station.\n2. Pass behind the thread that joins the two sections below.",
        "Binders call such a book hollow-backed, although the term has another meaning as well.",
        "| Thread | Swell per signature |\n| --- | --- |\n| 18/3 | 0.35 mm |",
        "## References\n\n1. ^ Moss, A. (1998). Sewing on cords. Fold Press, p. 41.",
    ],
}
DROPPED = {
    "news": [
        "Subscribe now", "Sport", "Advertisement", "Share on", "Why the tunnel", "Read also", "morning briefing",
        "Most read", "Storm warning", "User4711", "All rights reserved", "dataLayer", "Transport", "Skip to",
    ],
    "blog": ["Archive", "Older:", "Newer:", "3 comments", "Great post", "carrier pigeon"],
    "docs": ["Installation", "View page source", "¶", "Previous", "Copyright", "v: 3.2", "Guide"],
    "banners": [
        "privacy", "842 partners", "Before you go", "Kitchen", "Home", "bestselling", "You may also like",
        "Ten flowers", "five answers", "Pin it", "Imprint", "commission",
    ],
    "german": ["Lokales", "Anzeige", "Lesen Sie auch", "Kraniche zählen", "Endlich mal", "Impressum"],
    "wiki": [
        "[edit]", "[1]", "Jump to", "From Craftopedia", "hiking trail", "Difficulty", "Contents",
        "Coptic binding", "Categories", "Log in", "last edited",
    ],
}  # fmt: skip


def page(name: str) -> Document:
    return read_document((PAGES / f"{name}.html").read_bytes(), f"{name}.html")


@pytest.mark.parametrize(
    ("name", "passage"), [(name, passage) for name, passages in KEPT.items() for passage in passages]
)
def test_the_article_is_kept_with_its_structure(name: str, passage: str) -> None:
    assert passage in page(name).text


@pytest.mark.parametrize(("name", "words"), [(name, words) for name, each in DROPPED.items() for words in each])
def test_what_stands_around_it_is_dropped(name: str, words: str) -> None:
    assert words in re.sub(r"<[^>]*>", "", (PAGES / f"{name}.html").read_text()), "the page has it"
    assert words not in page(name).text


@pytest.mark.parametrize(
    ("name", "title", "author", "published", "language", "url"),
    [
        (
            "news", "Harbour bridge reopens after nine months of repairs", "Imogen Vale, Tariq Osei",
            "2024-03-04T06:30:00+00:00", "en-GB", "https://estuarypost.example/2024/03/harbour-bridge",
        ),
        ("blog", "Why I stopped batching", "Noor Adeyemi", "2023-11-02", "", ""),
        ("docs", "Retry policies", "", "", "en", "https://docs.loomkit.example/en/3.2/retry.html"),
        ("banners", "How to winter a beehive", "Wilma Kostić", "2022-10-19", "en", ""),
        ("german", "Das Moor kehrt zurück", "Jürgen Weißmüller", "2021-08-15", "de", ""),
        ("wiki", "Kettle stitch", "", "", "en", ""),
    ],
)  # fmt: skip
def test_what_the_page_says_of_itself(
    name: str, title: str, author: str, published: str, language: str, url: str
) -> None:
    found = page(name)
    assert (found.title, found.author, found.published, found.language, found.url) == (
        title,
        author,
        published,
        language,
        url,
    )


def test_other_facts_are_kept_too() -> None:
    assert page("news").extra == {
        "description": "Cyclists were first across as the bridge opened at dawn.",
        "site": "The Estuary Post",
        "modified": "2024-03-04T09:10:00+00:00",
    }


def short(head: str, body: str) -> Document:
    words = "<p>Some words, and then, after a while, some more of them, until it is enough.</p>"
    return read_document(f"<html><head>{head}</head><body>{body}{words}</body></html>".encode(), "file-name.html")


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>The ferry | The Post</title>", "<h1>The ferry</h1>", "The ferry"),
        ("<title>The ferry to the island | Library</title>", "<h1>Library</h1>", "The ferry to the island"),
        ("<title>The ferry - Post</title>", "", "The ferry"),
        ("<title>The ferry - a long story</title>", "", "The ferry - a long story"),
        ("<meta property='og:title' content='The ferry: 2'><title>x</title>", "<h1>Other</h1>", "The ferry: 2"),
        ("", "<h1>The <i>ferry</i><a href='#x'>#</a></h1>", "The ferry"),
        ("", "", "file name"),
    ],
)
def test_titles_of_pages(head: str, body: str, title: str) -> None:
    assert short(head, body).title == title


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ("<meta name=author content='By Ida Brandt'>", "", "Ida Brandt"),
        ("<meta property='article:author' content='https://x.example/ida'>", "", ""),
        ("", "<div class=byline>Von Ida Brandt</div>", "Ida Brandt"),
        ("<script type='application/ld+json'>{broken</script>", "<a rel=author href=x>Ida</a>", "Ida"),
        ('<script type="application/ld+json">{"@type": "Article", "author": "Ida"}</script>', "", "Ida"),
    ],
)
def test_authors_of_pages(head: str, body: str, author: str) -> None:
    assert short(head, body).author == author


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        ("<meta name=date content='2024-05-06'>", "", "2024-05-06"),
        ("", "<time datetime='2024-05-06T07:08:09Z'>yesterday</time>", "2024-05-06T07:08:09Z"),
        ("", "<time>yesterday</time>", ""),
        ("<meta property='article:published_time' content='soon'>", "<i class=published>2024-05-06</i>", "2024-05-06"),
    ],
)
def test_dates_of_pages(head: str, body: str, published: str) -> None:
    assert short(head, body).published == published


def test_markup_inside_lines() -> None:
    body = (
        "<p>Press <kbd>Esc</kbd> <q>now</q>, CO<sub>2</sub> and m<sup>2</sup>, <img alt='🎉'> <img alt='a picture'>"
        "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>, soft<wbr>ware</p><pre>a<br>  b</pre>"
        "<ol start=3><li>three</li><li>four<p>more</p></li></ol><ul><ul><li>deep</li></ul></ul>"
        "<dl><dt>word</dt><dd>what it means</dd></dl><table><tr><td>alone</td></tr></table>"
    )
    assert short("", body).text.startswith(
        "Press `Esc` “now”, CO₂ and m², 🎉 漢, software\n\n```\na\n  b\n```\n\n3. three\n\n4. four\n\n   more\n\n"
        "  - deep\n\nword\n\nwhat it means\n\nalone"
    )


def test_only_addresses_of_the_web_are_addresses() -> None:
    assert short("<link rel=canonical href='javascript:alert(1)'>", "").url == ""
    assert short("<meta property='og:url' content='https://x.example/a'>", "").url == "https://x.example/a"


@pytest.mark.parametrize("tag", ["article", "main"])
def test_a_page_with_one_short_article_is_that_article(tag: str) -> None:
    page = f"<html><body><div>Home | News</div><{tag}><h1>Rain</h1><p>It rained for 12 days.</p></{tag}></body></html>"
    document = read_document(page.encode(), "rain.html")
    assert document.text == "# Rain\n\nIt rained for 12 days."
    assert document.notes == ("left out around the text: 3 words: what stands beside the article (3)",)
    two = page.replace("</body>", f"<{tag}>Another, much longer text.</{tag}></body>")
    assert "Home | News" in read_document(two.encode(), "rain.html").text


MANUAL = """<html><body><div class="related" role="navigation">next | previous | index</div>
<div class="body" role="main"><section id="copyright-information"><h2><a class="toc-backref" href="#id1">Copyright
information</a></h2><p>Every package carries its terms.</p></section>
<section id="related-documents" class="related"><h2>Related documents</h2><p>Read the guide first, and then the policy,
which is binding for all that is uploaded to the archive.</p><ul><li><a href="guide.html#first">First steps</a></li>
<li><a href="https://other.example/">Another place</a></li></ul></section>
<div class="sidebar"><p class="title">NOTE Tags</p><p>A tag names a state of the whole, once and for all, and is never
moved afterwards to another.</p></div>
<aside class="footnote" role="note">Only since the second edition.</aside></div>
<div class="footer"><p>Made by a tool, last changed on a Monday, with all rights reserved by whoever made it.</p></div>
</body></html>"""


def test_a_section_of_a_manual_is_not_dropped_for_its_name() -> None:
    document = read_document(MANUAL.encode(), "manual.html")
    for words in (
        "## Copyright information\n\nEvery package carries its terms.",
        "## Related documents\n\nRead the guide first",
        "First steps",
        "Another place",
        "A tag names a state of the whole",
        "Only since the second edition.",
    ):
        assert words in document.text
    assert "previous" not in document.text
    assert "rights reserved" not in document.text


def test_a_place_is_no_link_though_nothing_ends_it() -> None:
    """`<a name="…"/>` is not closed in HTML, so that what follows stands in it."""
    said = "The lamp is lit at dusk and put out when the last boat is in, whatever the weather and whoever keeps it."
    places = ('<a name="here" /><a name="there" />\n<a name="lamp" /> ', "", "", "")
    page = "".join(f"<h3>Part {at}</h3><p>{places[at % 4]}{at}. {said}</p>" for at in range(8))
    text = read_document(f"<body><h1>Lamps</h1>{page}</body>".encode(), "a.html").text
    assert [f"{at}. {said}" in text for at in range(8)] == [True] * 8


@pytest.mark.parametrize("how", ['class="footnote-reference brackets"', 'role="doc-noteref"'])
def test_the_number_of_a_footnote_is_no_word_of_its_sentence(how: str) -> None:
    page = MANUAL.replace("carries its terms.", f'carries its terms <a {how} href="#id4">2</a>.')
    assert "Every package carries its terms." in read_document(page.encode(), "manual.html").text
    other = MANUAL.replace("carries its terms.", 'carries <a href="#id4">2</a> terms.')
    assert "carries 2 terms" in read_document(other.encode(), "manual.html").text


def test_what_is_left_out_of_a_page_is_said() -> None:
    assert read_document(MANUAL.encode(), "manual.html").notes == (
        "left out around the text: 22 words: navigation (5), boxes and links around the text (17)",
    )


def test_a_drawing_ends_where_it_ends() -> None:
    """In a drawing `<path/>` is a whole element, however many there are; what follows it is text."""
    drawing = "<svg>" + '<path d="M0 0"/>' * 300 + "<text>inside</text></svg>"
    after = "<p>What follows the drawing is a paragraph of the page, and it has to be found.</p>"
    page = f"<body><p>A paragraph before the drawing, which is long enough.</p><div>{drawing}</div>{after}</body>"
    text = read_document(page.encode(), "page.html").text
    assert "What follows the drawing" in text
    assert "inside" not in text


def test_what_ends_far_outside_ends_what_is_nested_too_deeply() -> None:
    page = "<body><div>" + "<b>" * 300 + "deep</div><script>let x</script><p>And here the page goes on.</p></body>"
    text = read_document(page.encode(), "page.html").text
    assert "deep" in text
    assert "And here the page goes on." in text
    assert "let x" not in text


def test_boxes_of_a_manual_stay_whatever_their_class_says() -> None:
    page = (
        """<body><div id="page"><h1>Proxies</h1><p>A proxy stands between a client and the servers it asks for.</p>
    <table class="related"><tr><th>Related Modules</th></tr>
    <tr><td><a href="mod_proxy.html">mod_proxy</a></td></tr></table>
    <div class="api_metadata"><details><summary>History</summary>v8.0.0 Errors are ignored now.</details></div>
    <div class="refsect"><h2>Types</h2><p>One of the types that the module has, in a short section.</p></div>
    <div class="refsect"><h2>Details</h2>"""
        + "<p>A long paragraph, with commas, of the details, and more.</p>" * 40
        + """</div>
    <aside class="footnote-list">[1] See <a href="https://example.org/named">https://example.org/named</a></aside></div>
    <div class="navheader"><a href="a.html">Prev</a> Chapter 3, which has a long title of its own
    <a href="b.html">Next</a></div></body>"""
    )
    document = read_document(page.encode(), "page.html")
    for kept in (
        "Related Modules",
        "mod_proxy",
        "Errors are ignored now",
        "One of the types",
        "https://example.org/named",
    ):
        assert kept in document.text
    assert "Chapter 3" not in document.text
    assert any("left out" in note for note in document.notes)


LONG = "A long paragraph, with commas, of what the text says, and more of it, as a text has."


def test_a_sentence_that_names_what_leads_along_stays() -> None:
    page = f"""<body><p>{LONG}</p><p>In other words, the <a href="o.html#Next">Next</a> and
    <a href="o.html#Prev">Prev</a> opcodes do not work after this operation.</p><p>{LONG}</p></body>"""
    assert "opcodes do not work" in read_document(page.encode(), "opcodes.html").text


def test_what_stands_in_a_list_outside_of_its_items_is_kept() -> None:
    """Old editors indent a paragraph with a list that has no items."""
    page = f"""<body><p>{LONG}</p><ol><li>Open the page.</li></ol><ul><img src="a.png" alt="The page."><br>
    Select the <b>link</b> from your nearest site.</ul>
    <ul>What is needed:<li>a saw</li>and, if there is one,<li>a plane</li></ul></body>"""
    text = read_document(page.encode(), "steps.html").text
    assert "1. Open the page." in text
    assert "Select the link from your nearest site." in text
    assert "- Select" not in text
    assert "What is needed:\n\n- a saw\n\nand, if there is one,\n\n- a plane" in text


def test_articles_side_by_side_are_parts_of_one_text() -> None:
    def function(name: str, says: str) -> str:
        return f'<article><h4><a href="#{name}"></a>{name}()</h4><p>{says}</p></article>'

    teaser = '<article><h3><a href="/news/1">Elsewhere on this site</a></h3><p>A teaser, and more of it.</p></article>'
    functions = function("start", f"Starts it. {LONG} {LONG}") + function("quick", f"Does it at once. {LONG}")
    page = f"<body><div><h1>debugger</h1><h3>Summary</h3><p>For debugging.</p>{functions}</div></body>"
    text = read_document(page.encode(), "debugger.html").text
    for kept in ("For debugging", "Starts it", "quick()", "Does it at once"):
        assert kept in text
    page = f"<body><div>{function('news', f'What happened. {LONG} {LONG} {LONG}')}{teaser}</div></body>"
    text = read_document(page.encode(), "news.html").text
    assert ("What happened" in text, "Elsewhere" in text) == (True, False)


def test_a_formula_stays_in_its_sentence() -> None:
    page = r"""<body><p>The distance is <img class="formulaInl" alt="$\sqrt{x^2+y^2}$" src="a.png"/> in the plane,
    and the mass <math alttext="m_0"><mi>m</mi><mn>0</mn></math> stays;
    so does <math><mi>E</mi><mo>=</mo><mi>k</mi></math> there.
    <img alt="A portrait of the author" src="b.png"/></p></body>"""
    text = read_document(page.encode(), "page.html").text
    assert r"$\sqrt{x^2+y^2}$ in the plane" in text
    assert "mass m_0 stays; so does E=k there" in text.replace("E = k", "E=k")
    assert "portrait" not in text


def test_a_short_section_that_begins_with_such_a_line_stays() -> None:
    """As Texinfo makes them on one page: the line stands inside the section."""
    along = (
        '<p>Next: <a href="#b" rel="next">B</a>, Previous: <a href="#a" rel="prev">A</a>, Up: <a href="#t">T</a></p>'
    )
    long = "<p>" + "The tide rises twice a day, and falls twice, on most coasts of the sea. " * 20 + "</p>"
    section = f"<div><div>{along}</div><h4>Any</h4><p>It is a valid type all the same.</p></div>"
    page = f"<html><body><h1>Tides</h1>{long}{section}</body></html>"
    text = read_document(page.encode(), "tides.html").text
    assert "It is a valid type all the same." in text
    assert "Previous" not in text


def test_lines_that_lead_through_a_book_go_also_when_they_are_pictures() -> None:
    def way(name: str) -> str:
        return f'<a href="{name}.html"><img src="{name}.gif" alt="{name}"/></a>'

    head = f"<table><tr><th>Playing the game</th></tr><tr><td>{way('Next')}</td><th>Chapter 2. Guide</th></tr></table>"
    ways = "".join(f"<td>{way(name)}</td>" for name in ("Prev", "Up", "Next"))
    foot = f"<table><tr>{ways}</tr><tr><td>Themes</td></tr></table>"
    keys = f"<table><tr><th>Key</th><th>Does</th></tr><tr><td>u</td><td>undoes, see {way('keys')}</td></tr></table>"
    prose = "<p>The board has ten mines, and whoever uncovers one of them has lost. Go <a href='#'>up</a> for more.</p>"
    page = f"<body><div>{head}</div><h1>Mines</h1>{prose}{prose}{keys}<div><hr/>{foot}</div></body>"
    text = read_document(page.encode(), "page.html").text
    assert "ten mines" in text
    assert "undoes" in text
    for gone in ("Playing the game", "Chapter 2", "Themes"):
        assert gone not in text


CLASSES = (
    *("comments", "feedback", "popular", "menu", "newsletter", "login", "toolbar", "pagination-centered", "consent"),
    *("subscription", "cookies", "sidebar", "popup", "modal", "overlay", "sponsor", "navigation", "footer", "share"),
    *("promo", "breadcrumb", "masthead", "teaser", "trending", "copyright", "references", "related"),
)
PARTS = (
    "<p class={0}>It is {0}1.</p>",
    "<table><tr><th>May be used</th><td class={0}>{0}1</td></tr><tr><th>Else</th><td>no</td></tr></table>",
    "<ul><li class={0}>{0}1</li></ul>",
    "<dl><dt class={0}>Type</dt><dd class={0}>{0}1</dd></dl>",
    "<div class={0}>Set {0}1</div>",
    "<section class={0}><h2>On it</h2><p>It is {0}1.</p></section>",
    "<div class='code {0}'><pre>set {0}1</pre><button>Copy</button></div>",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("main", ["div role=main", "div"])
def test_what_a_manual_says_stays_whatever_class_it_has(part: str, main: str) -> None:
    said = "<p>This is the manual of the widgets, which are many and of all kinds, and more than that.</p>"
    for name in CLASSES:
        page = f"<body><{main}><h1>Widgets</h1>{said}{part.format(name)}{said}</div></body>"
        assert f"{name}1" in read_document(page.encode(), "page.html").text


def test_tables_say_all_their_cells() -> None:
    """Cells over several columns move the others, and a picture by itself is what its cell says."""
    page = """<body><p>This is what each of the keywords may be used in, as far as it is known to us today.</p><table>
    <tr><th colspan=2>Keyword</th><th>Frontend</th></tr><tr><td>bind</td><td><img alt="yes" src="tick.png"></td></tr>
    <tr><td colspan=99>More of them, <img alt="arrow" src="a.png"> below</td></tr></table></body>"""
    text = read_document(page.encode(), "page.html").text
    assert "| Keyword |  | Frontend |\n| --- | --- | --- |\n| bind | yes |  |\n| More of them, below |  |  |" in text


def test_blocks_that_begin_without_end_leave_one_boundary_and_not_one_for_each() -> None:
    """Or each element above them is looked through for all of them: half a minute for a page of 100 KB."""
    page = parse_html("<html>" + "<div>" * 20_000 + "words" + "<table><tr><td>" * 1_000 + "more")
    assert sum(1 for _ in page.elements()) < 200
    assert page.all_text() == "wordsmore"
