"""`supported`: what a document contradicts is found; what is not checked passes unless more is asked for."""

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


def test_what_is_quoted_or_not_checked_passes() -> None:
    claims = [
        "The holder of a licence must inform the Agency within thirty days of any change of address",
        "Somebody with a licence has a month to say that they moved",
        "Yes.",
    ]
    assert findings({"claims": claims}) == []


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "The holder of a licence must inform the Agency within 40 days of any change of address",
            "source contradicts “The holder of a licence must inform the Agency within 40 days of any change of…”: "
            "the claim has “40” where the passage has “30”",
        ),
        ("Fees paid before 1 March 2020 are refunded", "the passage has a negation (“not”) that the claim has not"),
    ],
)
def test_what_is_turned_round_is_found(claim: str, said: str) -> None:
    (found,) = findings({"claims": [claim]})
    assert found.startswith("/claims/0: ")
    assert said in found


@pytest.mark.parametrize("claim", ["Penguins live in the southern hemisphere and eat fish", "Yes."])
def test_a_step_can_ask_for_quotations(claim: str) -> None:
    (found,) = findings({"claims": [claim, "Fees paid before 1 March 2020 are not refunded"]}, at_least="quoted")
    assert "is not quoted from source" in found


def test_only_texts_can_be_claims() -> None:
    assert "is a number, not text" in findings({"claims": [7]})[0]


def test_an_empty_document_has_nothing_to_quote() -> None:
    call = parse_check("supported", {"at": "claims[*]", "in": "source", "at_least": "quoted"})
    given = CheckInput("a.json", {"claims": ["The holder must inform the Agency"]}, {"source": ""}, {})
    assert len(run_check(call, given)) == 1
