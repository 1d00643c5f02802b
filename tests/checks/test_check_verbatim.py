"""`verbatim`: what is forgiven and what is not."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

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
    "quote",
    [
        "“It’s only the beginning.”",
        '"It\'s only the beginning."',
        "«It‘s only the beginning.»",
        "„It‚s only the beginning.“",
        "  It's\tonly\n\n the \u2003beginning ",
        "The 5' wall",
        "The 5’ wall",
        "the 5“ one — fell down.",
        "fell down. Er sagte:",
        'Das ist "wirklich" gut.',
        "a dit 'oui'",
        "他说：「我们今天去北京看长城",
        "今天",
        'قال: "العلم نور"',
        "Cafe\u0301 is open",
        "o",
    ],
)
def test_white_space_and_quote_style_are_forgiven(quote: str) -> None:
    assert findings([quote]) == ()


@pytest.mark.parametrize(
    "quote",
    [
        "it's only the beginning",
        "It's only the beginning!",
        "Its only the beginning",
        "It's only thebeginning",
        "It's the beginning",
        'The 5" wall',
        "The 5' wall - not",
        "Das ist 'wirklich' gut",
        "the quick … dog slept",
        "我们今天去上海",
        "Cafe is open",
        "CAFÉ",
        "slept. Café is open. And",
        "quick\u200b brown",
    ],
)
def test_nothing_else_is_forgiven(quote: str) -> None:
    (finding,) = findings([quote])
    assert (finding.artifact, finding.at) == ("summary.json", "/quotes/0/text")
    assert finding.message.startswith("“")
    assert "not in source" in finding.message


@pytest.mark.parametrize("quote", ["", " ", "\n\t\u00a0"])
def test_an_empty_quote_is_a_finding(quote: str) -> None:
    (finding,) = findings([quote])
    assert "empty quote" in finding.message


@pytest.mark.parametrize(
    ("value", "what"), [(5, "a number"), (["It's"], "a list"), ({"a": "b"}, "a mapping"), (True, "true")]
)
def test_what_is_not_text_is_a_finding(value: Any, what: str) -> None:
    (finding,) = findings([value])
    assert what in finding.message


def test_only_the_faulty_places_are_named() -> None:
    assert [finding.at for finding in findings(["the lazy dog", "the crazy dog", "all night", "no such thing"])] == [
        "/quotes/1/text",
        "/quotes/3/text",
    ]


@pytest.mark.parametrize(
    ("value", "required", "pointers"),
    [
        ({}, False, []),
        ({"quotes": []}, False, []),
        ({"quotes": None}, False, []),
        ({"quotes": [{"text": None}, {}]}, False, []),
        ({}, True, ["/quotes"]),
        ({"quotes": []}, True, ["/quotes"]),
        ({"quotes": [{"text": None}, {}]}, True, ["/quotes/0/text", "/quotes/1/text"]),
        ({"quotes": ["all night"]}, False, ["/quotes/0"]),
        ({"quotes": "all night"}, False, ["/quotes"]),
    ],
)
def test_absent_quotes_are_fine_unless_required_and_misshapen_ones_never(
    value: Any, required: bool, pointers: list[str]
) -> None:
    call = parse_check("verbatim", {"at": "quotes[*].text", "in": "source", "required": required})
    found = run_check(call, CheckInput("a.json", value, {"source": SOURCE}, {}))
    assert [finding.at for finding in found] == pointers


def test_several_paths_and_any_one_of_several_documents() -> None:
    call = parse_check("verbatim", {"at": ["lead", "quotes[*]", "lead"], "in": ["first", "second.json"]})
    documents = {"first": "alpha beta", "second.json": {"deep": [{"text": "gamma\ndelta", "n": 7}], "also": "epsilon"}}
    value = {"lead": "beta", "quotes": ["gamma delta", "alpha gamma", "epsilon", "7"]}
    found = run_check(call, CheckInput("a.json", value, documents, {}))
    assert [finding.at for finding in found] == ["/quotes/1", "/quotes/3"]
    assert "not in first or second.json" in found[0].message


def test_a_text_artifact_is_one_quote() -> None:
    call = parse_check("verbatim", {"in": "source"})
    assert run_check(call, CheckInput("motto.txt", "all night;\n", {"source": SOURCE}, {})) == ()
    (finding,) = run_check(call, CheckInput("motto.txt", "all day", {"source": SOURCE}, {}))
    assert finding.at == ""


def test_a_path_into_a_text_artifact_never_passes() -> None:
    call = parse_check("verbatim", {"at": "quotes[*]", "in": "source"})
    (finding,) = run_check(call, CheckInput("motto.txt", "all night", {"source": SOURCE}, {}))
    assert "leaves `at` out" in finding.hint


def test_an_ellipsis_that_the_document_has_is_text_like_any_other() -> None:
    assert findings(["wait… what"], document="Well, wait… what now?") == ()
    assert len(findings(["wait... what"], document="Well, wait… what now?")) == 1


def test_messages_are_cut_and_safe_to_show() -> None:
    (finding,) = findings(["\x1b[31m" + "very long \ud800 " * 500])
    assert len(finding.message) < 130
    assert "\x1b" not in finding.message + finding.hint
    (finding.message + finding.hint).encode()


def test_at_most_twenty_findings_and_the_last_says_how_many_more() -> None:
    assert len(findings([f"absent {number}" for number in range(20)])) == 20
    assert "more" not in findings([f"absent {number}" for number in range(20)])[-1].message
    found = findings([f"absent {number}" for number in range(33)])
    assert [finding.at for finding in found] == [f"/quotes/{number}/text" for number in range(20)]
    assert "13 more like this are not listed" in found[-1].message
    assert "1 more like this is not listed" in findings(["absent"] * 21)[-1].message


DOUBLE = '"“”„‟«»＂'
SINGLE = "'‘’‚‛‹›"
SPACES = " \t\n\r\u00a0\u2009\u202f\u3000\u2028"
PIECES = st.sampled_from([*"abcXYZäßé.,;!…-0123", *"世界天", *"سلام", "e\u0301", "👩‍🚀", *DOUBLE, *SINGLE, *SPACES])


def is_inside_a_letter(text: str, at: int) -> bool:
    return unicodedata.normalize("NFC", text[:at]) + unicodedata.normalize("NFC", text[at:]) != unicodedata.normalize(
        "NFC", text
    )


@settings(deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=60).map("".join), st.data())
def test_any_part_of_a_document_passes_rewrapped_and_requoted(document: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(document) - 1))
    end = data.draw(st.integers(start + 1, len(document)))
    assume(not is_inside_a_letter(document, start) and not is_inside_a_letter(document, end))
    assume(document[start:end].strip())

    def restyle(sign: str) -> str:
        for style in (DOUBLE, SINGLE):
            if sign in style:
                return data.draw(st.sampled_from(style))
        return data.draw(st.text(SPACES, min_size=1, max_size=3)) if sign.isspace() else sign

    assert findings(["".join(map(restyle, document[start:end]))], document=document) == ()


@settings(deadline=None)
@given(st.text("abcdeéж世 ,.", min_size=1, max_size=60), st.data())
def test_any_changed_letter_fails_unless_the_changed_text_is_there_too(document: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(document) - 1))
    end = data.draw(st.integers(start + 1, len(document)))
    part = document[start:end]
    letters = [at for at, sign in enumerate(part) if sign.isalpha()]
    assume(letters)
    at = data.draw(st.sampled_from(letters))
    changed = (
        part[:at]
        + data.draw(st.sampled_from([letter for letter in "abcdéeжЖ世界AB" if letter != part[at]]))
        + part[at + 1 :]
    )
    is_there = " ".join(changed.split()) in " ".join(document.split())
    assert (findings([changed], document=document) == ()) is is_there
