"""What a question's structure says has to be looked up, and how clear it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.knowledge.made import isa
from tests.lanes import lives
from weft.knowledge.research.depth import DEPTHS
from weft.knowledge.research.question import CLEAR, plan_question, terms_of

GRAMMAR = isa().grammar


def plan(question: str, depth: str = "standard") -> list[tuple[str, str]]:
    found = plan_question(question, DEPTHS[depth], GRAMMAR)["sub_queries"]
    return [(one["role"], one["text"]) for one in found]


def test_two_questions_in_one_sentence_are_two() -> None:
    found = plan("What must the auditor document and when must the file be assembled?")
    assert found[:2] == [
        ("primary", "What must the auditor document"),
        ("primary", "When must the file be assembled"),
    ]


def test_what_is_told_before_a_question_is_what_it_is_about() -> None:
    found = plan("My log is full of lines that only say MARK. Was I hacked?", "quick")
    assert found[0] == ("primary", "Was I hacked (My log is full of lines that only say MARK)")


def test_a_comparison_has_two_sides() -> None:
    found = plan("What is the difference between external confirmations and internal evidence?")
    assert found[0] == ("primary", "What is the difference between external confirmations and internal evidence")
    assert [one for role, one in found if role == "supporting"] == ["External confirmations", "Internal evidence"]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("How does an audit differ from a review?", ["Audit", "Review"]),
        ("Compare sampling with full inspection", ["Sampling", "Full inspection"]),
        ("Sampling versus full inspection", ["Sampling", "Full inspection"]),
    ],
)
def test_comparisons_are_told_in_many_ways(question: str, sides: list[str]) -> None:
    assert [one for role, one in plan(question) if role == "supporting"] == sides


def test_what_is_enumerated_is_asked_one_by_one() -> None:
    found = plan("What are the requirements for sampling, confirmations and inquiries?")
    supporting = [one for role, one in found if role == "supporting"]
    assert supporting == ["Requirements for sampling", "Requirements for confirmations", "Requirements for inquiries"]


def test_a_list_is_a_list_however_it_is_written() -> None:
    lines = plan("What must be kept for:\n- working papers\n- the audit file")
    inline = plan("What must be kept for (a) working papers (b) the audit file?")
    for found in (lines, inline):
        assert any("working papers" in text for role, text in found if role == "primary")
        assert any("audit file" in text for role, text in found if role == "primary")


def test_a_reference_in_the_question_is_looked_up() -> None:
    assert ("supporting", "ISA 315.12(a)") in plan("What does ISA 315.12(a) require of small firms?")


def test_what_is_said_before_a_question_is_its_context_and_what_it_points_at() -> None:
    found = plan("I audit a bank. How must I document it?")
    assert found[0] == ("primary", "How must I document it (I audit a bank)")
    assert ("context", "I audit a bank.") in found


def test_what_a_person_says_when_asked_back_is_looked_up_first() -> None:
    found = plan_question("stuff?", DEPTHS["standard"], GRAMMAR, meant=["The retention period of documentation."])
    assert next((one["text"], one["why"]) for one in found["sub_queries"]) == (
        "The retention period of documentation",
        "you said so",
    )
    assert found["clarity_score"] > plan_question("stuff?", DEPTHS["standard"], GRAMMAR)["clarity_score"]


def test_the_same_thing_is_not_asked_twice() -> None:
    texts = [text for _, text in plan("When must the file be assembled? When must the file be assembled?")]
    assert len([text for text in texts if text.startswith("When must")]) == 1


def test_another_language_is_asked_as_it_stands() -> None:
    assert plan("Welche Unterlagen müssen aufbewahrt werden?")[0] == (
        "primary",
        "Welche Unterlagen müssen aufbewahrt werden",
    )


@pytest.mark.parametrize(("depth", "most"), [("quick", 3), ("standard", 8), ("deep", 15)])
def test_the_depth_bounds_the_sub_queries_and_what_was_asked_comes_first(depth: str, most: int) -> None:
    items = ", ".join(f"subject{number}" for number in range(6))
    asked = " ".join(f"What must be said about topic{number}?" for number in range(12))
    found = plan(f"{asked} What are the rules for {items} and others?", depth)
    assert len(found) == most
    assert all(role == "primary" for role, _ in found[:3])


@pytest.mark.parametrize(
    ("question", "clear"),
    [
        ("How long must audit documentation be retained after the report?", True),
        ("What does ISA 315 require?", True),
        ("stuff?", False),
        ("?", False),
        ("Is it good?", False),
    ],
)
def test_an_unclear_question_is_said_to_be_one(question: str, clear: bool) -> None:
    found = plan_question(question, DEPTHS["quick"], GRAMMAR)
    assert (found["clarity_score"] >= CLEAR) is clear
    assert found["recommended_action"] == ("proceed" if clear else "clarify")
    assert bool(found["clarifying_questions"]) is bool(found["clarity_reasons"])
    if not clear:
        assert found["clarifying_questions"]


@pytest.mark.lives
@settings(deadline=None, max_examples=lives(150, 1500))
@given(st.text(max_size=300), st.sampled_from(["quick", "standard", "deep"]))
def test_any_text_makes_a_plan_within_its_bounds(text: str, depth: str) -> None:
    found = plan_question(text, DEPTHS[depth], GRAMMAR)
    assert len(found["sub_queries"]) <= DEPTHS[depth].sub_queries
    assert [one["id"] for one in found["sub_queries"]] == [f"q{n + 1}" for n in range(len(found["sub_queries"]))]
    assert all(one["text"].strip() for one in found["sub_queries"])
    assert 0 <= found["clarity_score"] <= 1


def test_a_choice_at_the_end_of_a_question_makes_no_half_sentences() -> None:
    asked = [text for _, text in plan("Which kind of record should I enter, release or release group?")]
    assert not [one for one in asked if one.startswith("Kind of")]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between the spring and neap tides?", ["Spring tides", "Neap tides"]),
        ("What is the difference between the lamp and harbour lights?", ["Lamp lights", "Harbour lights"]),
        ("What is the difference between the lamp and the harbour lights?", ["Lamp", "Harbour lights"]),
        ("What is the difference between the cats and wild dogs?", ["Cats", "Wild dogs"]),
        ("What is the difference between a lamp and wild dogs?", ["Lamp", "Wild dogs"]),
    ],
)
def test_two_adjectives_under_one_article_share_their_noun(question: str, sides: list[str]) -> None:
    assert [one for role, one in plan(question) if role == "supporting"] == sides


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is R?", ("R",)),
        ("What does -N do?", ("-N",)),
        ("May I take A as it is, or is a well-known one better?", ("take", "well-known", "better")),
        ("Was Ann O'Hara there?", ("ann", "o'hara")),
    ],
)
def test_a_capital_by_itself_and_an_option_count(question: str, terms: tuple[str, ...]) -> None:
    assert terms_of(question) == terms


def test_a_letter_is_no_side_of_a_comparison_that_is_asked_by_itself() -> None:
    assert [text for role, text in plan("What is the difference between R and S?") if role != "context"] == [
        "What is the difference between R and S"
    ]
