"""The hints of `verbatim`: the nearest passage, where the texts part, and bounded time for any document."""

from __future__ import annotations

import random
from typing import Any

import pytest

from weft.checks import CheckInput, parse_check, run_check
from weft.protocol.errors import Finding

SOURCE = (
    "She said: “It’s only the beginning.”\nThe 5' wall — not the 5\" one — fell\u00a0down.\n\n"
    "Er sagte: „Das ist »wirklich« gut.“ Il a dit ‹oui›.\r\n"
    "他说：“我们今天去北京看长城，因为天气很好。”\tقال: «العلم نور» ثم مضى.\n"
    "Nobody knew what the quick brown fox had been doing all night; the lazy dog slept. Café is open."
)


def findings(quotes: Any, document: Any = SOURCE, **options: Any) -> tuple[Finding, ...]:
    call = parse_check("verbatim", {"at": "quotes[*].text", "in": "source"} | options)
    value = {"quotes": [{"text": quote} for quote in quotes]}
    return run_check(call, CheckInput("summary.json", value, {"source": document}, {}))


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("Nobody knew what the quick red fox had been doing", "“Nobody knew what the quick brown fox had been doing”"),
        ("nobody KNEW what the quick brown fox", "“Nobody knew what the quick brown fox”"),
        ("It's just the beginning.", "“It’s only the beginning.”"),
        ("我们今天去上海看长城，因为天气很好", "“我们今天去北京看长城，因为天气很好”"),
        ("the fox had been doing things all night; the lazy dog", "the quick brown fox had been doing all night; the"),
        ("dog slept. Café is closed.", "“dog slept. Café is open.”"),
    ],
)
def test_the_hint_shows_the_nearest_passage_as_the_document_has_it(quote: str, passage: str) -> None:
    (finding,) = findings([quote])
    assert "Nearest in source" in finding.hint
    assert passage in finding.hint


def test_the_hint_names_signs_that_cannot_be_told_apart_by_eye() -> None:
    (dash,) = findings(["wall - not the"])
    assert "U+2014 EM DASH, not U+002D HYPHEN-MINUS" in dash.hint
    (hidden,) = findings(["the quick\u200b brown fox had been"])
    assert "ZERO WIDTH SPACE" in hidden.hint


def test_the_hint_says_where_the_texts_part() -> None:
    (finding,) = findings(["what the quick brown fox had been eating all night"])
    assert "had been doing" in finding.hint
    assert "had been eating" in finding.hint
    (longer,) = findings(["Café is open. Always"])
    assert "The document has “afé is open.” and no more where the artifact has “afé is open. Always”" in longer.hint


def test_the_hint_admits_that_nothing_is_near() -> None:
    (finding,) = findings(["Zebras gallop across purple mountains"])
    assert "Nothing like it is in source" in finding.hint


@pytest.mark.parametrize("ellipsis", ["...", " … ", " [...] ", "[…]", " . . . ", " (...) "])
def test_a_cut_quote_is_told_so_and_shown_whole(ellipsis: str) -> None:
    (finding,) = findings([f"the quick brown fox{ellipsis}the lazy dog slept"])
    assert "cut with an ellipsis is not verbatim" in finding.hint
    assert "“the quick brown fox had been doing all night; the lazy dog slept”" in finding.hint


@pytest.mark.parametrize("before", ["", "and so on " * 300])
def test_a_cut_quote_is_shown_whole_wherever_it_stands(before: str) -> None:
    (finding,) = findings(["alpha … gamma"], document=f"{before}alpha beta gamma")
    assert "“alpha beta gamma”" in finding.hint


def test_a_cut_quote_with_an_invented_end_is_shown_what_its_end_is_nearest_to() -> None:
    (finding,) = findings(["It's only … the quick brown fox had been sleeping"])
    assert "ellipsis" in finding.hint
    assert "the quick brown fox had been doing" in finding.hint


def test_a_cut_quote_whose_parts_are_far_apart_or_out_of_order() -> None:
    (swapped,) = findings(["the lazy dog … the quick brown fox"])
    assert "Its parts are there" in swapped.hint
    (far,) = findings(["alpha … omega"], document="alpha " + "and so on " * 200 + "omega")
    assert "Its parts are there" in far.hint
    (invented,) = findings(["the lazy dog … Zebras gallop"])
    assert "“Zebras gallop” is not there at all" in invented.hint


def large_document() -> tuple[str, list[str]]:
    chance = random.Random(7)
    vocabulary = [
        f"{a}{b}{c}" for a in ("ba", "ko", "mi", "tu") for b in ("ra", "len", "so") for c in ("", "d", "x", "ß")
    ]
    words = [chance.choice(vocabulary) for _ in range(330_000)]
    return "\n".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12)), words


def test_a_document_of_two_megabytes_with_many_wrong_quotes() -> None:
    document, words = large_document()
    assert len(document.encode()) > 2_000_000
    right = [" ".join(words[at : at + 30]) for at in range(0, 300_000, 3_000)]
    wrong = [" ".join([*words[at : at + 15], "wrong", *words[at + 16 : at + 30]]) for at in range(0, 300_000, 10_000)]
    found = findings([*right, *wrong], document=document)
    assert [finding.at for finding in found] == [f"/quotes/{len(right) + at}/text" for at in range(20)]
    for finding, at in zip(found, range(0, 300_000, 10_000), strict=False):
        assert f"“{' '.join(words[at : at + 30])}”" in finding.hint


def test_a_very_long_quote_is_shown_where_it_leaves_the_document() -> None:
    document, words = large_document()
    quote = " ".join([*words[1_000:20_000], "WRONG", *words[20_001:30_000]])
    (finding,) = findings([quote], document=document)
    assert f"{words[19_999]} {words[20_000]} {words[20_001]}" in finding.hint
    assert "WRONG" in finding.hint
    assert len(finding.hint) < 1_000


@pytest.mark.parametrize("unit", ["a ", "a b ", "x", "一二", ". ", "The quick brown fox "])
def test_monotonous_documents_do_not_take_for_ever(unit: str) -> None:
    document = unit * (1_000_000 // len(unit))
    quotes = [f"{unit * (1_000 // len(unit))}wrong{number}" for number in range(20)]
    assert len(findings(quotes, document=document)) == 20


def test_letters_that_grow_when_made_small_keep_the_positions() -> None:
    document = "İ" * 500 + " and then the quick brown fox jumped over the fence"
    (finding,) = findings(["then the quick red fox jumped over"], document=document)
    assert "“then the quick brown fox jumped over”" in finding.hint
