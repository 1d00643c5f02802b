"""`supported`: claims in other words pass, claims that differ in what counts do not, and nothing unchecked passes."""

from __future__ import annotations

from typing import Any

import pytest

from weft.checks import CheckInput, parse_check, run_check

SOURCE = (
    "The holder of a licence must inform the Agency within 30 days of any change of address.\n\n"
    "Fees paid before 1 March 2020 are not refunded.\n\n" + "Some other matter is dealt with here at length. " * 60
)


def findings(value: Any, **options: Any) -> list[str]:
    call = parse_check("supported", {"at": "claims[*]", "in": "source", **options})
    given = CheckInput("a.json", value, {"source": SOURCE}, {})
    return [f"{finding.at}: {finding.message}" for finding in run_check(call, given)]


def test_other_words_pass() -> None:
    claims = [
        "A licence holder must inform the Agency of a change of address within thirty days",
        "Fees that were paid before 1 March 2020 are not refunded",
    ]
    assert findings({"claims": claims}) == []


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "The holder must inform the Agency within 40 days of any change of address",
            "40 days where the passage has 30",
        ),
        ("Fees paid before 1 March 2020 are refunded", "the passage has a negation that the claim has not"),
        ("Penguins live in the southern hemisphere and eat fish", "is not supported by source"),
        ("Yes.", "has too few words to be checked against source"),
    ],
)
def test_what_differs_is_found(claim: str, said: str) -> None:
    (found,) = findings({"claims": [claim]})
    assert found.startswith("/claims/0: ")
    assert said in found


def test_short_texts_may_be_passed_over() -> None:
    assert findings({"claims": ["Yes."]}, ignore_short=True) == []


def test_only_texts_can_be_claims() -> None:
    assert "is a number, not text" in findings({"claims": [7]})[0]


def test_an_empty_document_supports_nothing() -> None:
    call = parse_check("supported", {"at": "claims[*]", "in": "source"})
    given = CheckInput("a.json", {"claims": ["The holder must inform the Agency"]}, {"source": ""}, {})
    assert len(run_check(call, given)) == 1
