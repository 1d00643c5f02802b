"""`numbers_from`: which ways of writing are the same number, and what is found missing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.checks import CheckInput, parse_check, run_check
from weft.checks.numerals import canonical_number
from weft.protocol.errors import Finding


def findings(value: Any, document: Any, **options: Any) -> tuple[Finding, ...]:
    call = parse_check("numbers_from", {"in": "source"} | options)
    return run_check(call, CheckInput("summary.json", value, {"source": document}, {}))


@pytest.mark.parametrize(
    ("artifact", "document"),
    [
        ("1,234,567", "1234567"),
        ("1234567", "1.234.567 Euro"),
        ("1 234 567", "1'234'567"),
        ("1234", "1.234 Menschen"),
        ("1.234", "exactly 1234"),
        ("1.234", "exactly 1.2340"),
        ("3.5 %", "um 3,5 Prozent"),
        ("3.50", "3.5"),
        ("-5", "5"),
        ("5", "minus −5"),
        ("2nd", "number 2"),
        ("$1,000.00", "1000 dollars"),
        ("2024", "٢٠٢٤"),
        ("٣٫٥", "3.5"),
        ("2024年", "２０２４"),
        ("0.05", "p<.05"),
        ("12 345", "12345"),
        ("100 200", "between 100 and 200"),
        ("200", "row: 100 200 300"),
        ("12345 and 678901", "row 12 345 678 901"),
        ("2024-03-12", "12.3.2024"),
        ("nothing at all", "nothing"),
    ],
)
def test_the_same_number_in_another_dress_is_found(artifact: str, document: str) -> None:
    assert findings(artifact, document) == ()


@pytest.mark.parametrize(
    ("artifact", "document", "missing"),
    [
        ("1,234,567", "1234568", "1,234,567"),
        ("35", "3.5", "35"),
        ("3.5", "35 and 3 and 5", "3.5"),
        ("5", "3,5 Prozent", "5"),
        ("234", "1,234,567", "234"),
        ("234", "1\u00a0234\u00a0567", "234"),
        ("2020", "2,021", "2020"),
        ("12", "123", "12"),
        ("0", "10", "0"),
        ("1200000", "1.2 million", "1200000"),
        ("7", "seven", "7"),
        ("٧", "8", "٧"),
        ("1.234", "1,235", "1.234"),
        ("12.03.2024", "12 March 2024", "(3 of it)"),
        ("3.25", "٣٫٢٥٦", "3.25"),
        ("3256", "٣٫٢٥٦", "3256"),
    ],
)
def test_another_number_is_not(artifact: str, document: str, missing: str) -> None:
    (finding,) = findings(f"about {artifact}!", document)
    assert missing in finding.message
    assert "is not in source" in finding.message
    assert finding.hint


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        (5, ["5"]),
        (4.0, []),
        (4, []),
        (-4, []),
        (0.1, []),
        (1e21, []),
        (1.5e-7, ["0.00000015"]),
        (10**30, ["1" + "0" * 30]),
        (float("inf"), ["inf"]),
        (True, []),
        (None, []),
    ],
)
def test_json_numbers_count_and_booleans_do_not(value: Any, missing: list[str]) -> None:
    document = {"a": [4, 0.10, True, {"b": "1000000000000000000000"}], "c": None, "d": float("nan")}
    found = findings({"n": value}, document, at="n")
    assert [finding.at for finding in found] == ["/n"] * len(missing)
    assert all(f"the number {number} " in finding.message for number, finding in zip(missing, found, strict=True))


def test_true_in_a_document_is_not_the_number_one() -> None:
    assert len(findings(1, {"a": True})) == 1


def test_every_place_is_named_once_however_many_paths_lead_there() -> None:
    value = {"tldr": "12 of 13", "bullets": ["12 and 12", {"deep": 14}], "free": "99"}
    found = findings(value, "13", at=["tldr", "bullets[*]", "bullets"])
    assert [(finding.at, finding.message.split()[2]) for finding in found] == [
        ("/tldr", "12"),
        ("/bullets/0", "12"),
        ("/bullets/1/deep", "14"),
    ]


def test_several_documents_together() -> None:
    call = parse_check("numbers_from", {"in": ["source", "extra.json"]})
    documents = {"source": "12", "extra.json": {"n": 13}}
    found = run_check(call, CheckInput("a.md", "12 13 14", documents, {}))
    assert len(found) == 1
    assert "14 is not in source or extra.json" in found[0].message


@pytest.mark.parametrize(("ignore", "count"), [([], 3), ([1], 2), ([1, 2.5, 2024], 0), ([1.0, -2.50], 1)])
def test_ignored_numbers(ignore: list[float], count: int) -> None:
    assert len(findings("1, 2.5, 2024", "none", ignore=ignore)) == count


def test_absent_data_is_fine_unless_required() -> None:
    assert findings({}, "1", at="tldr") == ()
    assert [finding.at for finding in findings({}, "1", at="tldr", required=True)] == ["/tldr"]


def test_the_message_shows_the_number_in_its_sentence() -> None:
    (finding,) = findings("lorem " * 50 + "they sold 4711 cars " + "ipsum " * 50, "nothing")
    sentence = "…“m lorem lorem lorem they sold 4711 cars ipsum ipsum ipsum ipsum”…"
    assert finding.message == f"the number 4711 is not in source: {sentence}"
    (short,) = findings("4711 cars", "nothing")
    assert short.message == "the number 4711 is not in source: “4711 cars”"
    (bare,) = findings("4711", "nothing")
    assert bare.message == "the number 4711 is not in source"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("1,243", "1234"),
        ("2035", "2025"),
        ("35.7", "357"),
        ("357", "35.7"),
        ("120", "120000"),
        ("36.75", "36.57"),
        ("4711", "7411"),
    ],
)
def test_the_hint_offers_what_may_have_been_meant(wrong: str, right: str) -> None:
    (finding,) = findings(wrong, f"it was {right} then")
    assert f"it does have {right}" in finding.hint
    (other,) = findings(wrong, "it was 888888 then")
    assert "it does have" not in other.hint


@pytest.mark.parametrize(
    ("artifact", "document"),
    [
        ("12", "a dozen, that is twelve"),
        ("250,000", "two hundred and fifty thousand"),
        ("1.2 million", "1,200,000"),
        ("1200000", "1.2 million"),
        ("3000000000", "3 billion"),
        ("$2.5 trillion", "2.5 trillion"),
        ("5 million", "five million"),
        ("1 250 thousand", "1 250 000"),
    ],
)
def test_words_count_when_asked_for(artifact: str, document: str) -> None:
    assert findings(artifact, document, words=True) == ()


@pytest.mark.parametrize(
    ("artifact", "document"), [("12", "twelve"), ("1200000", "1.2 million"), ("5000000", "5 million")]
)
def test_words_do_not_count_by_themselves(artifact: str, document: str) -> None:
    assert len(findings(artifact, document)) == 1


def test_words_do_not_excuse_other_numbers() -> None:
    assert len(findings("13 and 2 million", "twelve and three million", words=True)) == 2
    assert len(findings("50", "5 or five", words=True)) == 1


@settings(deadline=None)
@given(st.integers(0, 10**18), st.integers(1, 4), st.data())
def test_every_customary_way_of_writing_is_the_number(whole: int, places: int, data: st.DataObject) -> None:
    fraction = data.draw(st.integers(0, 10**places - 1))
    thousands, point = data.draw(
        st.sampled_from([(",", "."), (".", ","), ("'", "."), ("\u00a0", ","), ("", "."), (" ", ",")])
    )
    written = f"{whole:,}".replace(",", thousands) + f"{point}{fraction:0{places}d}"
    digits = data.draw(st.sampled_from(["0123456789", "٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９"]))
    written = written.translate({ord("0") + value: digit for value, digit in enumerate(digits)})
    plain = f"{whole}.{fraction:0{places}d}"
    assert findings(f"({written}!", f"well {plain} then") == ()
    assert findings(plain, f"well {written}.") == ()


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_json_number_is_found_by_its_canonical_text(value: float) -> None:
    text = canonical_number(value)
    assert float(text) == abs(value) or isinstance(value, int)
    assert findings(value, text) == ()


@settings(deadline=None)
@given(st.text("0123456789.,' \u00a0٫a-", max_size=30))
def test_a_text_has_all_its_own_numbers(text: str) -> None:
    assert findings(text, text) == ()
