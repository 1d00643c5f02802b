"""A model is believed where its words stand in the passage, the rules do not object and the numbers come out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from weft.checks.arithmetic import NEAR, change, derivation, parts_in, ratio
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
            "do not name Karl",
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
    assert derivation(Fraction(77), known) == derivation(Fraction(1, 3), known) == ""
    assert derivation(Fraction(-7), [Fraction(5), Fraction(-12)]) == ""
    assert derivation(Fraction(17), [Fraction(5), Fraction(-12)]) == "17 is 5 − -12"
    assert ratio(Fraction(1, 3), [(Fraction(40), Fraction(120))]) == "0.3333 is 40 / 120"
    pairs = [(Fraction(40), Fraction(50))]
    assert change(Fraction(1, 4), pairs, up=True, share=True, near=NEAR) == "0.25 is the rise from 40 to 50"
    assert change(Fraction(1, 5), pairs, up=True, share=True, near=NEAR) == ""
    assert change(Fraction(10), pairs, up=False, share=False, near=NEAR) == ""
    assert list(parts_in("two thirds of it, and twice")) == [("two thirds", Fraction(2, 3)), ("twice", Fraction(2))]


def yes(said: str, passage: str, words: str = "") -> tuple[str, str]:
    """What is left of a judge that says yes."""
    found = held(said, [claim(said, words=words or passage)], {"1": passage}, "m")
    return found.state, found.reason


@pytest.mark.parametrize(
    ("said", "passage", "state"),
    [
        ("Temperatures fell by 17 degrees.", "Temperatures fell from 5 to -12 degrees.", "judged"),
        ("Temperatures fell by 7 degrees.", "Temperatures fell from 5 to -12 degrees.", "not_checked"),
        ("It warmed by 8 degrees.", "It warmed from -3 to 5 degrees.", "judged"),
        ("It warmed by 2 degrees.", "It warmed from -3 to 5 degrees.", "not_checked"),
        ("The coast measured minus 12 degrees.", "The thermometer showed -12 degrees at dawn.", "judged"),
        ("A warm 12 degrees was measured.", "The thermometer showed -12 degrees at dawn.", "not_checked"),
        ("Prices went down by 3 euros.", "Prices fell from 15 euros to 12 euros.", "judged"),
        ("Prices rose by 3 euros.", "Prices went from 15 euros to 12 euros.", "not_checked"),
        ("Prices fell by 20 per cent.", "Prices went from 15 euros to 12 euros.", "judged"),
        ("Prices fell by 25 per cent.", "Prices went from 15 euros to 12 euros.", "not_checked"),
        ("Sales grew by a quarter.", "Sales went from 40 to 50.", "judged"),
        ("Sales grew by 20 per cent.", "Sales went from 40 to 50.", "not_checked"),
        ("Sales grew by 40 per cent.", "Sales went from 40 to 50.", "not_checked"),
        ("Turnover dropped by a third.", "Turnover was 60 in 2020 and 90 in 2019.", "judged"),
        ("Turnover dropped by 50 per cent.", "Turnover was 60 in 2020 and 90 in 2019.", "not_checked"),
        ("Turnover grew by half.", "Turnover was 60 in 2020 and 90 in 2019.", "not_checked"),
        ("Wages doubled.", "Wages went up from 20 to 40 crowns.", "judged"),
        ("Wages halved.", "Wages went from 20 to 40 crowns.", "not_checked"),
        (
            "The east wing has 12 more rooms than the west wing.",
            "The east wing has 30 rooms, the west wing 18.",
            "judged",
        ),
        (
            "The west wing has 12 more rooms than the east wing.",
            "The east wing has 30 rooms, the west wing 18.",
            "not_checked",
        ),
        ("The tower is twice as high as the church.", "The tower is 60 m high, the church 30 m.", "judged"),
        ("The church is twice as high as the tower.", "The tower is 60 m high, the church 30 m.", "not_checked"),
        (
            "Costs were about four fifths of revenue.",
            "Revenue was 12.5 million euros, costs 9.8 million euros.",
            "judged",
        ),
        ("A quarter of the ships were lost.", "Of the 80 ships, 20 sank.", "judged"),
        ("75 per cent of the seats are taken.", "30 of the 40 seats are taken.", "judged"),
        ("133 per cent of the seats are taken.", "30 of the 40 seats are taken.", "not_checked"),
        ("He lived in it for 17 years.", "It was his from 1863 to 1880.", "judged"),
        ("Each litre costs 2 euros.", "The 30 litres cost 60 euros.", "judged"),
        ("Papers are kept for five years or more.", "The retention period is at least five years.", "judged"),
        ("Papers are kept for five years or more.", "The retention period is five years.", "not_checked"),
        ("Papers are kept for no less than 5 years.", "The retention period is at least five years.", "judged"),
        ("Papers are kept for less than 5 years.", "The retention period is at least five years.", "not_checked"),
        ("The trip is one of 1.5 hours.", "The trip takes 90 minutes in all.", "judged"),
    ],
)
def test_a_computed_number_comes_out_with_its_sign_its_direction_and_its_base(
    said: str, passage: str, state: str
) -> None:
    found, reason = yes(said, passage)
    assert found == state, reason


@pytest.mark.parametrize(
    ("said", "passage", "words", "why"),
    [
        ("The pump came to rest at 6 sharp.", "The pump stopped at 6:40.", "The pump stopped", "6 is not in the words"),
        ("The pump came to rest at 6 sharp.", "The pump stopped at 6:40.", "", "6 is not in the words"),
        ("It yielded 5 tonnes.", "The harvest weighed 5 kilograms in all.", "", "5 is not in the words"),
        ("It is an hour away.", "The ferry takes 90 minutes.", "", "an hour is not in the words"),
        ("The blaze was on 3 May 1890.", "It burned down in May 1890.", "", "3 May 1890 is not in the words"),
        ("Anna Berg has it.", "Anna Berg, a baker, is the owner of it.", "a baker, is the owner of it", "name Anna"),
        ("More than 50 turned up.", "About 50 people came in the end.", "", "50 is not in the words"),
        ("Costs came to 12 euros.", "Revenue was 12 euros, costs 9 euros.", "", "12 is said of something else there"),
        (
            "Costs were higher than revenue.",
            "Revenue was 12 euros, costs 9 euros.",
            "Revenue was 12 euros",
            "9 for the one",
        ),
        ("The house is wider than it is high.", "The house is 30 m high and 12 m wide.", "", "12 for the one"),
        ("The bill was rejected by two votes.", "The bill passed by 51 votes to 49.", "", "“rejected” where"),
        ("Imports shrank.", "Exports from the region have shrunk.", "", "“Imports” where"),
        ("Bruun has accused Dahl.", "Dahl accused Bruun of lying.", "", "have changed places"),
        ("The city sued a bank.", "In May a bank sued the city over it.", "", "have changed places"),
        ("The master is allowed to close it.", "Only the ministry may close the port.", "", "only of “ministry”"),
        ("According to the mayor, it was weak.", "The mayor denied that the dam was weak.", "", "denies nothing"),
        (
            "The crane had cover.",
            "The rumour that the crane was insured is false.",
            "the crane was insured",
            "“rumour”",
        ),
        (
            "The crane had cover.",
            "Critics said the crane was insured.",
            "the crane was insured",
            "leaves out the “said”",
        ),
        ("The yard is then wet.", "If the gate fails, the yard floods.", "the yard floods.", "leaves out the “if”"),
        ("The crane was insured.", "It is said that the crane was insured.", "the crane was insured", "only a part of"),
    ],
)
def test_a_yes_is_not_believed_where_code_sees_what_speaks_against_it(
    said: str, passage: str, words: str, why: str
) -> None:
    found, reason = yes(said, passage, words)
    assert found == "not_checked"
    assert why in reason


@pytest.mark.parametrize(
    ("said", "passage", "words"),
    [
        ("Ib owes his post to Ole.", "Ole hired Ib in spring.", ""),
        ("Ib was given work, hired by Ole.", "Ole hired Ib in spring.", ""),
        ("If the gate breaks, the yard is wet.", "If the gate fails, the yard floods.", "the yard floods."),
        ("The owner says the mill is lost.", "The mill has burned down, the owner said.", "The mill has burned down"),
        ("The blaze was in 1890.", "It burned down on 3 May 1890.", ""),
        ("The mill opens no more.", "The mill has closed for good. If asked, the owner shrugs.", "The mill has closed"),
    ],
)
def test_a_yes_that_nothing_speaks_against_is_believed(said: str, passage: str, words: str) -> None:
    found, reason = yes(said, passage, words)
    assert found == "judged", reason
