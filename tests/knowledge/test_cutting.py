"""Passages follow a document's own structure; every one has an id of its own, and no word is lost."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.knowledge.made import isa, vector
from weft.documents import Document, read_document
from weft.knowledge.collection import Collection, parse_collection
from weft.knowledge.cutting import cut_document
from weft.knowledge.numerals import item_levels, roman
from weft.knowledge.passage import Passage
from weft.knowledge.splitting import LIMIT, spans


def cut(text: str, file: str = "isa-315.txt", collection: Collection | None = None, **more: Any) -> tuple[Passage, ...]:
    document = Document(kind="text", title="A title", text=text, words=1, **more)
    return cut_document(document, file, "hash", collection or isa()).passages


def test_paragraphs_as_in_the_reference_but_for_its_faults() -> None:
    (case,) = vector("kb_isa_paragraph_parse")["cases"]
    passages = {passage.ref: passage for passage in cut(case["text"])}
    expected = {row["ref"]: row["content"] for row in case["paragraphs"] if row["ref"] != "315.1"}
    expected["315.2(b)(i)"] = expected.pop("315.2(i)")  # a roman item keeps its parent
    # A number that goes backwards begins a row of a table: it stays with the text it stands in.
    expected["315.2(b)(i)"] += "\n1. Table row that looks like a paragraph but goes backwards in number."
    expected["315.1"] = case["paragraphs"][0]["content"]
    for ref in ("315..A1", "315..A2", "315..A3"):  # one dot: both spellings are understood
        expected[ref.replace("..", ".")] = expected.pop(ref)
    expected["315.Appendix 1"] = "5. This is inside the appendix so it is not a main paragraph of the standard."
    expected["315#front"] = "INTERNATIONAL STANDARD ON AUDITING 315\nCONTENTS\nIntroduction 1"
    assert {ref: passage.content for ref, passage in passages.items()} == expected
    mentions = [place.ref for _, place in passages["315.A2"].mentions]
    assert mentions == [row["dst"] for row in case["cross_references"]]


def test_an_item_knows_the_sentence_it_completes() -> None:
    passages = {
        passage.ref: passage for passage in cut("1. The auditor shall obtain:\n(a) Evidence.\n2. Next.\n3. Last.")
    }
    assert passages["315.1(a)"].lead == "1. The auditor shall obtain:"
    assert "The auditor shall obtain" in passages["315.1(a)"].indexed


@pytest.mark.parametrize(
    ("labels", "levels"),
    [
        ("a b i ii c", ["a", "b", "b.i", "b.ii", "c"]),
        ("a b c d e f g h i j", list("abcdefghij")),
        ("g h i ii", ["g", "h", "h.i", "h.ii"]),
        ("i ii iii iv v", ["i", "ii", "iii", "iv", "v"]),
        ("a i ii iii iv v vi b", ["a", "a.i", "a.ii", "a.iii", "a.iv", "a.v", "a.vi", "b"]),
        ("t u v w x y z aa", ["t", "u", "v", "w", "x", "y", "z", "aa"]),
        ("1 a b 2", ["1", "1.a", "1.b", "2"]),
    ],
)
def test_roman_numbers_and_letters(labels: str, levels: list[str]) -> None:
    found = [f"{item}.{sub}" if sub else item for item, sub in item_levels(labels.split())]
    assert found == levels


def test_roman_values() -> None:
    assert [roman(label) for label in ("i", "iv", "ix", "xiv", "xl", "a", "", "iix", "vv")] == [
        1,
        4,
        9,
        14,
        40,
        0,
        0,
        0,
        0,
    ]


def test_numbers_that_begin_again_under_a_heading_have_ids_of_their_own() -> None:
    text = "# One\n1. First rule.\n2. Second rule.\n# Two\n1. First again.\n2. Second again.\n3. Third."
    passages = cut(text)
    assert [passage.ref for passage in passages] == ["315.1", "315.2", "315.1~2", "315.2~2", "315.3"]
    assert passages[2].heading == "Two"
    assert len({passage.id for passage in passages}) == 5


def test_years_at_the_beginning_of_a_line_are_no_paragraphs() -> None:
    passages = cut("1. It began in\n2019. The auditor\n2. Next one.\n3. Last one.")
    assert [passage.ref for passage in passages] == ["315.1", "315.2", "315.3"]


def test_articles() -> None:
    collection = parse_collection(
        "title: Law\ntiers: {standards: {structure: articles}}\naliases: {x: y}\n"
        "references: [{form: 'Art. {paragraph}[({item})][({subitem})]'}]\n"
    )
    text = (
        "# Article 6\n\nLawfulness\n\n1. Processing is lawful if:\n\n(a) there is consent;\n\n(b) see Art. 7(1)(a).\n\n"
        "2. States may say more.\n\n# Article 7\n\n1. It must be shown that:\n\n(a) consent was given.\n"
    )
    passages = {passage.ref: passage for passage in cut(text, "gdpr.md", collection)}
    assert list(passages) == [
        "gdpr.6", "gdpr.6(1)", "gdpr.6(1)(a)", "gdpr.6(1)(b)", "gdpr.6(2)", "gdpr.7", "gdpr.7(1)", "gdpr.7(1)(a)"
    ]  # fmt: skip
    assert [place.ref for _, place in passages["gdpr.6(1)(b)"].mentions] == ["gdpr.7(1)(a)"]
    assert passages["gdpr.6"].heading == "Article 6"
    assert passages["gdpr.7"].content == "Article 7", "what is referred to has a passage, be it only its heading"


def test_numbered_sections_of_a_manual() -> None:
    text = "# Manual\n\n## 7.1 Syntax\n\nFields are lines.\n\n## 7.2 Depends\n\nSee 7.1.\n\n## 7.3 More\n\nAll.\n\n"
    text += "## Notes\n\nEnd."
    passages = cut(text, "policy.md")
    assert [(passage.ref, passage.heading) for passage in passages] == [
        ("policy.7.1", "Manual › 7.1 Syntax"),
        ("policy.7.2", "Manual › 7.2 Depends"),
        ("policy.7.3", "Manual › 7.3 More"),
        ("policy#notes", "Manual › Notes"),
    ]


def test_underlined_headings_of_a_manual() -> None:
    text = (
        "7. Relations\n************\n\nIntro.\n\n7.1. Syntax\n===========\n\nFields:\n\n1. Sean Whitton\n\n"
        "2. Russ Allbery\n\n"
        "7.1.1. More\n~~~~~~~~~~~\n\nDeep.\n\n7.2. Depends\n============\n\nSee 7.1.\n"
    )
    passages = cut(text, "policy.txt")
    assert [(passage.ref, passage.heading) for passage in passages] == [
        ("policy.7", "7. Relations"),
        ("policy.7.1", "7. Relations › 7.1. Syntax"),
        ("policy.7.1.1", "7. Relations › 7.1. Syntax › 7.1.1. More"),
        ("policy.7.2", "7. Relations › 7.2. Depends"),
    ]
    assert "Russ Allbery" in passages[1].content


def test_a_heading_with_nothing_under_it_is_a_passage() -> None:
    passages = cut("# Tides\n\n## Spring tides\n\n## Neap tides\n\nAt half moon.\n\n# Currents\n", "guide.md")
    assert [(passage.heading, passage.content) for passage in passages] == [
        ("Tides", "Spring tides"),
        ("Tides › Neap tides", "At half moon."),
        ("", "Currents"),
    ]


DIFFERENT_SECTIONS = {
    "short-body-dropped": "a short section is a section: nothing is dropped",
    "close-headings-deduped": "a heading right under another is the nearer one of the two",
    "long-single-paragraph-not-split": "an unbroken run is cut at the limit",
    "long-split": "cut as late as possible instead of into even parts",
    "no-heading-long": "cut as late as possible instead of into even parts",
}


@pytest.mark.parametrize("case", vector("kb_guide_sections")["cases"], ids=lambda case: case["name"])
def test_sections_as_in_the_reference(case: dict[str, Any]) -> None:
    if not case["text"].strip():
        assert cut(case["text"], "guide.md") == ()
        return
    passages = cut(case["text"], "guide.md")
    assert all(len(passage.content) <= LIMIT for passage in passages)
    if case["name"] in DIFFERENT_SECTIONS:
        kept = re.sub(r"\s", "", "".join(passage.content for passage in passages))
        bare = re.sub(r"^# A$", "A", case["text"], flags=re.MULTILINE)  # nothing stands under it: its words stay
        assert kept == re.sub(r"^#.*$|\s", "", bare, flags=re.MULTILINE)
        return
    assert [len(passage.content) for passage in passages] == [row["length"] for row in case["sections"]]
    for passage, row in zip(passages, case["sections"], strict=True):
        if row["heading"] not in ("Introduction", "Document Content"):
            assert passage.heading == row["heading"].lstrip("# ")
        # The reference misses those of an introduction.
        refs = sorted(f"ISA {place.ref}" for _, place in passage.mentions)
        assert refs == (row["isa_references"] or ["ISA 200", "ISA 315.12(a)"])


def long_text(name: str) -> str:
    sentence = "The auditor shall consider whether the evidence is sufficient. "
    return {
        "under": "x" * 3000,
        "double-newline": "\n\n".join(letter * 2000 for letter in "abc") + "\n\n",
        "single-newlines": "\n".join(letter * 1000 for letter in "abcde"),
        "one-line-sentences": (("y" * 998 + ". ") * 6).strip()[:5999] if sentence else "",
        "one-line-no-sentence": "x" * 7000,
    }[name]


@pytest.mark.parametrize("case", vector("kb_isa_long_paragraph_split")["cases"], ids=lambda case: case["name"])
def test_long_paragraphs_as_in_the_reference(case: dict[str, Any]) -> None:
    lengths = [end - start for start, end in spans(long_text(case["name"]))]
    if case["name"] == "one-line-no-sentence":
        assert lengths == [3000, 3000, 1000]  # the reference leaves a passage longer than its own limit
    else:
        assert lengths == [part["length"] for part in case["parts"]]


def test_parts_of_a_long_paragraph_have_refs_of_their_own() -> None:
    text = f"1. {'One sentence here. ' * 400}\n2. Two.\n3. Three."
    passages = cut(text)
    assert [passage.ref for passage in passages][:3] == ["315.1", "315.1_part2", "315.1_part3"]
    assert len({passage.id for passage in passages}) == len(passages)


@pytest.mark.parametrize(
    ("before", "together"),
    [
        ("", "--wick NUMBER\n\nHow many millimetres of the wick are cut off at once."),
        ("", "For example:\n\nlamp trim north"),
        ("", "'-n'\n'--no-wick'\n\nBurn without a wick."),
        ("It is shown here.\n\n", "```\nlamp trim north\n\nlamp light north\n```"),
    ],
)
def test_a_long_section_is_not_cut_between_an_option_and_its_text_nor_inside_code(before: str, together: str) -> None:
    """Wherever the limit falls."""
    filling = "The keeper lights the lantern in the evening. " * 6
    text = f"{filling.strip()}\n\n{before}{together}\n\n{filling.strip()}\n\n{filling.strip()}"
    inside = range(text.index(together), text.index(together) + len(together))
    for limit in range(300, 420):
        cuts = [start for start, _ in spans(text, limit)][1:]
        assert not [at for at in cuts if at in inside[1:]], (limit, [text[at : at + 20] for at in cuts])


def test_code_in_a_long_quotation_is_not_cut() -> None:
    lines = "\n".join(f"> The keeper lights lantern {at}." for at in range(12))
    code = "> ```\n> lamp trim north\n> lamp light north\n> lamp trim south\n> ```"
    text = f"{lines}\n>\n{code}\n>\n{lines}"
    inside = range(text.index(code) + 1, text.index(code) + len(code))
    for limit in range(200, 500):
        assert not [start for start, _ in spans(text, limit) if start in inside], limit


@pytest.mark.timeout(60)
def test_a_section_of_many_examples_is_cut_all_the_same() -> None:
    """Minutes, where each place is held against all of them."""
    text = "```\na\n```\n\n" * 60_000
    assert sum(text[start:end].count("a") for start, end in spans(text)) == 60_000


@settings(deadline=None)
@given(st.text(alphabet="ab .\n\t", max_size=400), st.integers(min_value=1, max_value=40))
def test_splitting_loses_no_word_and_keeps_the_limit(text: str, limit: int) -> None:
    parts = list(spans(text, limit))
    assert all(0 < end - start <= limit for start, end in parts)
    assert "".join("".join(text[start:end].split()) for start, end in parts) == "".join(text.split())


LINES = st.sampled_from(
    ["1. One.", "2. Two", "3. The third:", "7. Skip.", "(a) item", "(b) item", "(i) sub", "(v) sub", "A1. App",
     "A2. App", "Appendix 1", "# Head", "Article 4", "text of ISA 200.5", "", "1.1 Title here", "12. Capital"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(LINES, max_size=30), st.sampled_from(["auto", "paragraphs", "articles", "sections", "headings"]))
def test_any_document_has_unique_refs_and_keeps_its_text(lines: list[str], structure: str) -> None:
    text = "\n".join(lines)
    collection = parse_collection(f"title: t\ntiers: {{standards: {{structure: {structure}}}}}\n")
    passages = cut(text, "a.txt", collection) if text.strip() else ()
    assert len({passage.ref for passage in passages}) == len(passages) == len({passage.id for passage in passages})
    kept = "\n".join(f"{passage.heading}\n{passage.content}" for passage in passages)
    assert [line for line in lines if line.strip("# ") not in kept] == []
    assert all(text[passage.start : passage.end].strip() == passage.content for passage in passages)


SHAPES = st.sampled_from(
    ["# {}", "## {}", "###### {}", "{}\n======", "{}\n------", "1. {} {}.", "2. {}", "3. {}:", "- {}", "(a) {}",
     "(i) {}", "A1. {}", "Appendix {}", "Article 4 {}", "Article 5", "{}:", "Option: `{}`", "{} {} {}.", "| {} | {} |",
     "```\n# {}\n```", "1.2 {}", "1.3 {}", "Chapter 2: {}", "> {}", "    {}", "**{}**", "* {} #", "{} ... 12"]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    st.lists(st.tuples(SHAPES, st.sampled_from(["\n", "\n\n"])), min_size=1, max_size=25),
    st.sampled_from(["auto", "paragraphs", "articles", "sections", "headings"]),
    st.sampled_from(["a.md", "a.txt"]),
)
def test_every_word_of_a_document_is_in_the_index(lines: list[tuple[str, str]], structure: str, file: str) -> None:
    numbers = count(1)
    text = "".join(re.sub(r"\{\}", lambda _: f"Word{next(numbers)}x", shape) + gap for shape, gap in lines)
    collection = parse_collection(f"title: t\ntiers: {{standards: {{structure: {structure}}}}}\n")
    document = read_document(text.encode(), file)
    passages = cut_document(document, file, "hash", collection).passages
    indexed = {word for passage in passages for word in re.findall(r"\w+", passage.indexed)}
    assert set(re.findall(r"\w+", document.text)) - indexed == set()


LISTED = """\
# Manual

Sources are read in this order:

1. Command line options, which win over all others.
2. The file of the user, in the home directory.
3. The file of the system.

## Available options

Option: `Tool::Allow-Null`

Default: `false`

Description: Normally, if you try to start, it will print a warning.

Option: `Tool::Colour`

Default: `true`
"""


def test_a_numbered_list_in_a_section_is_a_list() -> None:
    passages = cut(LISTED)
    assert [passage.heading for passage in passages] == ["Manual", "Manual › Available options"]
    assert passages[0].content.startswith("Sources are read in this order:\n\n1. Command line")
    assert "Tool::Allow-Null" in passages[1].content
    alone = LISTED.partition("## ")[0]
    assert len(cut(alone)) == 1, "be it all there is: a line leads to it"


def test_an_appendix_without_numbers_does_not_unmake_a_standard() -> None:
    rules = "".join(f"{number}. The auditor shall look.\n\n" for number in range(1, 5))
    text = f"{rules}Appendix 1\n\n{'Examples are told at length here. ' * 50}"
    assert [passage.ref for passage in cut(text)][:4] == ["315.1", "315.2", "315.3", "315.4"]


def test_in_a_text_that_marks_its_headings_a_short_line_is_text() -> None:
    rules = "".join(f"{number}. The auditor shall look at the {number}th account.\n\n" for number in range(1, 9))
    text = f"# Rules\n\n## Purpose\n\n## Scope\n\n{rules}Option: `Allow-Null`\n\nDefault: `false`\n"
    passages = cut(text)
    assert passages[0].content == "Purpose"
    assert passages[-1].content.endswith("8th account.\n\nOption: `Allow-Null`\n\nDefault: `false`")


def test_pages() -> None:
    text = "1. One.\n2. Two.\n3. Three."
    passages = cut(text, pages=(0, 8))
    assert [passage.page for passage in passages] == [1, 2, 2]


@pytest.mark.parametrize("structure", ["paragraphs", "articles", "sections", "headings"])
@pytest.mark.parametrize(
    "text",
    ["1. A" + " " * 200_000 + "x", "# A" + " " * 200_000 + "x", "\n" * 100_000 + "x", "(a) x\n" * 20_000,
     "1. x\n" + "(a) x\n" * 20_000],
    ids=["spaces", "heading", "lines", "items", "items of one"],
)  # fmt: skip
def test_no_document_takes_long(text: str, structure: str) -> None:
    """It is the test's time limit that fails: these would take hours if a rule looked back."""
    collection = parse_collection(f"title: t\ntiers: {{standards: {{structure: {structure}}}}}\n")
    assert cut(text, "a.txt", collection)
