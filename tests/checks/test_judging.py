"""A model is believed where its words stand in the passage, the rules do not object and the numbers come out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from weft.checks.arithmetic import derivation, parts_in
from weft.checks.judging import agreed, held

PASSAGES = {
    "1": "The mill burned down in 1871 and was rebuilt two years later. Of its 120 workers, 40 came back."
    " It may reopen.",
    "2": "Sales were 200 units in May and 250 units in June. The owner, Anna Berg, left in 1880.",
}


def claim(text: str, verdict: str = "supported", label: str = "1", words: str = "") -> dict[str, Any]:
    return {"claim": text, "verdict": verdict, "label": label, "words": words}


def state(sentence: str, *claims: dict[str, Any]) -> tuple[str, str]:
    found = held(sentence, claims, PASSAGES, "judge-model")
    return found.state, found.reason


def test_what_is_shown_in_the_passages_words_is_judged_and_names_the_model() -> None:
    words = "burned down in 1871 and was rebuilt two years later"
    found = held(
        "The mill was lost to fire in 1871.", [claim("The mill was lost to fire in 1871.", words=words)], PASSAGES, "m"
    )
    assert (found.state, found.label, found.words, found.model) == ("judged", "1", words, "m")
    assert words in found.reason


@pytest.mark.parametrize(
    ("sentence", "given", "why"),
    [
        ("The mill was lost.", claim("The mill was lost.", words="the mill was lost to fire"), "does not stand in [1]"),
        ("The mill was lost.", claim("The mill was lost.", words="The mill"), "too few words"),
        ("The mill was lost.", claim("The mill was lost.", label="9", words="The mill burned down"), "no passage [9]"),
        ("The mill was lost.", claim("The mill was lost.", "not_said"), "finds in no passage"),
        ("It was lost in 1872.", claim("It was lost in 1872.", words="The mill burned down in 1871"), "1872"),
        ("It was lost in 1871.", claim("It was lost.", words="The mill burned down in 1871"), "no claim about “1871”"),
        (
            "The mill stands by a river.",
            claim("It burned down.", words="The mill burned down in"),
            "no claim about “mill",
        ),
        ("It was never lost.", claim("It was lost.", words="The mill burned down in 1871"), "no claim about “never”"),
        (
            "Karl Berg left.",
            claim("Karl Berg left.", label="2", words="The owner, Anna Berg, left"),
            "does not name Karl",
        ),
        (
            "It must reopen.",
            claim("It must reopen.", words="came back. It may reopen."),
            "the claim has “must” where the passage has “may”",
        ),
        (
            "Half of them came back.",
            claim("Half of them came back.", words="Of its 120 workers, 40 came back"),
            "“Half”",
        ),
    ],
)
def test_what_does_not_hold_is_not_checked_with_the_reason(sentence: str, given: dict[str, Any], why: str) -> None:
    found, reason = state(sentence, given)
    assert found == "not_checked"
    assert why in reason


@pytest.mark.parametrize(
    ("sentence", "label", "words"),
    [
        ("A third of the workers came back.", "1", "Of its 120 workers, 40 came back"),
        ("80 workers stayed away.", "1", "Of its 120 workers, 40 came back"),
        ("Sales rose by 25 %.", "2", "Sales were 200 units in May and 250 units in June"),
        ("450 units were sold in both.", "2", "Sales were 200 units in May and 250 units in June"),
    ],
)
def test_computed_numbers_are_checked_as_arithmetic(sentence: str, label: str, words: str) -> None:
    assert state(sentence, claim(sentence, label=label, words=words))[0] == "judged"


def test_one_claim_of_a_sentence_that_is_contradicted_contradicts_it() -> None:
    good = claim("The mill burned down in 1871.", words="The mill burned down in 1871")
    bad = claim("It was never rebuilt.", "contradicted", words="was rebuilt two years later")
    found, reason = state("The mill burned down in 1871 and was never rebuilt.", good, bad)
    assert found == "contradicted"
    assert "was rebuilt two years later" in reason


def test_a_contradiction_that_the_passage_has_in_these_words_is_not_believed() -> None:
    said = "The mill burned down in 1871 and was rebuilt two years later."
    assert state(said, claim(said, "contradicted", words="The mill burned down in 1871"))[0] == "not_checked"


@pytest.mark.parametrize(
    ("passage", "words", "why"),
    [
        ("The crew is unable to run the mill.", "able to run the mill", "in whole words"),
        ("The crew is un**able** to run the mill.", "able to run the mill", "in whole words"),
        ("The crew can't run the mill.", "The crew can", "in whole words"),
        ("It holds non-flammable goods all year.", "flammable goods all year", "in whole words"),
        ("It grinds 3.5 tonnes of rye.", "5 tonnes of rye", "in whole words"),
        ("It was -5 degrees at night.", "5 degrees at night", "in whole words"),
        ("The price rose by 5%.", "price rose by 5", "in whole words"),
        ("The crew is not able to run the mill.", "able to run the mill", "leaves out the “not” of [1]"),
        ("Sie kann die Mühle nachts nicht betreiben.", "Sie kann die Mühle nachts", "leaves out the “nicht” of [1]"),
        ("船员不能在夜间运行磨坊。", "能在夜间运行磨坊", "leaves out the “不” of [1]"),
    ],
)
def test_words_that_the_passage_has_only_in_part_are_not_its_words(passage: str, words: str, why: str) -> None:
    found = held("It does so.", [claim("It does so.", words=words)], {"1": passage}, "m")
    assert found.state == "not_checked"
    assert why in found.reason


@pytest.mark.parametrize(
    ("passage", "words"),
    [
        ("The “crew” is able to run it: by night, too.", '"the "crew" is able to run it"'),
        ("The **crew** is `able` to run it.", "crew is able to run it …"),
        ("It did not burn and was rebuilt in 1880.", "was rebuilt in 1880"),
        ("They are unable to stop it. Others are able to stop it.", "able to stop it"),
        ("船员可以在夜间运行磨坊。", "在夜间运行磨坊"),
    ],
)
def test_quotation_marks_emphasis_and_scripts_without_spaces_keep_no_words_from_standing(
    passage: str, words: str
) -> None:
    assert held("It does so.", [claim("It does so.", words=words)], {"1": passage}, "m").state == "judged"


@pytest.mark.parametrize(
    ("said", "passage", "state"),
    [
        ("The crew can operate the mill after dark.", "The crew is unable to run the mill at night.", "not_checked"),
        ("Grinding by night is possible.", "It is impossible to grind at night.", "not_checked"),
        ("The owners disagreed about it.", "All of the owners agree on it.", "not_checked"),
        ("The crew can't operate the mill after dark.", "The crew is unable to run the mill at night.", "judged"),
        ("The forms are sent in spring.", "They inform everybody by letter in spring.", "judged"),
    ],
)
def test_a_prefix_that_negates_is_a_negation(said: str, passage: str, state: str) -> None:
    found = held(said, [claim(said, words=passage)], {"1": passage}, "m")
    assert found.state == state, found.reason


def test_two_questions_must_agree() -> None:
    yes = held("It burned.", [claim("It burned.", words="The mill burned down")], PASSAGES, "m")
    no = held("It burned.", [claim("It burned.", "not_said")], PASSAGES, "m")
    assert agreed(yes, yes).state == "judged"
    assert agreed(yes, no).state == agreed(no, yes).state == "not_checked"
    assert "asked again" in agreed(yes, no).reason


def test_arithmetic_says_how() -> None:
    known = [Fraction(120), Fraction(40)]
    assert derivation(Fraction(80), known) == "80 is 120 − 40"
    assert derivation(Fraction(1, 3), known) == "0.3333 is 40 / 120"
    assert derivation(Fraction(77), known) == ""
    assert list(parts_in("two thirds of it, and twice")) == [("two thirds", Fraction(2, 3)), ("twice", Fraction(2))]
