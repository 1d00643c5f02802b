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


MOVED = "Whoever holds a licence tells the Agency within 30 days that they moved."


def judged(verdict: str, words: str, label: str = "source") -> list[str]:
    said = {"claim": MOVED, "verdict": verdict, "label": label, "words": words}
    documents = {"source": SOURCE, "judged.json": {"judgements": [{"sentence": MOVED, "claims": [said]}]}}
    options = {"at": "claims[*]", "in": "source", "at_least": "judged", "judgements": "judged.json"}
    quoted = "Fees paid before 1 March 2020 are not refunded."
    given = CheckInput("a.json", {"claims": [MOVED, quoted]}, documents, {})
    return [finding.message for finding in run_check(parse_check("supported", options), given)]


def test_a_step_can_ask_for_what_a_model_has_judged_and_can_show() -> None:
    words = "must inform the Agency within 30 days of any change of address"
    assert judged("supported", words) == []
    (found,) = judged("supported", "has to tell the Agency at once")
    assert "is not checked: the judge was not believed: “has to tell the Agency at once” does not stand in" in found
    assert len(judged("not_said", "", "")) == len(judged("contradicted", words)) == 1


@pytest.mark.parametrize("options", [{"at_least": "judged"}, {"judgements": "judged.json"}])
def test_judged_needs_the_artifact_with_the_judgements(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="go together"):
        parse_check("supported", {"at": "claims[*]", "in": "source", **options})


def test_each_sentence_of_a_text_is_held_against_where_it_stands() -> None:
    """What one is about must not draw the others away from their place; whom a letter speaks to says nothing."""
    about = "Some other matter is dealt with here at length. "
    blocks = [about * 40 for _ in range(6)]
    source = "\n\n".join([*blocks, "Fees paid before 1 March 2020 are not refunded.\n\n" + "It rains. " * 200])
    call = parse_check("supported", {"at": "letter", "in": "source"})
    for letter in (
        f"{about}That matter, dealt with here at length, is some other. Fees paid before 1 March 2020 are refunded.",
        "Dear friends of the Agency, fees paid before 1 March 2020 are refunded. Write to me.",
    ):
        found = run_check(call, CheckInput("a.json", {"letter": letter}, {"source": source}, {}))
        assert ["negation" in one.message for one in found] == [True]
    fine = "Dear friends, fees paid before 1 March 2020 are not refunded."
    assert not run_check(call, CheckInput("a.json", {"letter": fine}, {"source": source}, {}))
