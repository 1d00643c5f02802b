"""Judging what a person says to a waiting run: the reference's cases, a table of phrasings, properties, mutants."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.orchestrator.said import PHRASINGS
from weft.orchestrator import replies, reply_clauses, reply_phrases
from weft.orchestrator.replies import (
    DEFAULT_CHOICES,
    Judgement,
    judge_confirmation,
    judge_reply,
    judge_resume,
)
from weft.protocol.gates import Choice, ChoiceKind

VECTORS: Final = Path(__file__).parents[1] / "vectors"
D24: Final = "D24: what is not understood goes on, or leaves; here it asks again"
D25: Final = "D25: 3 leaves, though it is the number of another choice; here it is the third choice"
DIFFERENT: Final = {
    ("isBreakoutIntent", "3"): D25,
    ("isBreakoutIntent", "3."): D25,
    ("nothing offered", "cancel everything"): D24 + ": a cancel goes on where none is offered",
    ("nothing offered", "amend this"): D24 + ": an amendment is lost where none is offered",
    ("nothing offered", "amend"): D24 + ": an amendment is lost where none is offered",
    ("parseGenericResumeAction", "the weather is nice today"): D24,
    ("parseGenericResumeAction", ""): D24,
    **{
        ("classifyBreakoutResponse", text): D24
        for text in (
            "What is the weather in Zurich?",
            "Tell me about cats",
            "How do I audit goodwill?",
            "random unrelated text",
            "42",
            "What is the meaning of life?",
            "Explain quantum physics",
            "hello world",
            "",
            "   ",
            "Stage 1 looks good",
            "Check citation 2",
        )
    },
}
"""Cases of the reference that encode one of its documented defects."""

WEB: Final = (
    Choice(id="a", label="Yes — search authoritative ISA sources", does="proceed"),
    Choice(
        id="b",
        label="No — proceed directly",
        does="goto",
        step="retrieve",
        says=("skip web search", "skip web", "no web search", "proceed directly", "no proceed"),
    ),
)
"""The one hard-wired skip of the reference, as a pipeline would offer it here."""


def _cases(file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((VECTORS / file).read_text(encoding="utf-8"))["cases"]
    return found


def _meaning(judged: Judgement, choices: tuple[Choice, ...] = DEFAULT_CHOICES) -> str:
    """One word for a judgement: the kind of the choice, or its own."""
    if judged.kind != "choice":
        return judged.kind
    return next(choice.does for choice in choices if choice.id == judged.choice)


def _offered(labels: list[str]) -> tuple[Choice, ...]:
    kinds: tuple[ChoiceKind, ...] = ("proceed", "amend", "cancel")
    return tuple(Choice(id=kind, label=label, does=kind) for kind, label in zip(kinds, labels, strict=False))


def _reference_says(case: dict[str, Any]) -> tuple[object, object]:
    """What the reference made of a case, and what we make of it, in the reference's words."""
    text, others = case["args"][0], case["args"][1:]
    match case["fn"]:
        case "isBreakoutIntent":
            return case["result"], judge_reply(text).kind == "breakout"
        case "classifyBreakoutResponse":
            return case["result"], {"leave": "confirm", "stay": "deny"}.get(judge_confirmation(text).kind, "unclear")
        case "classifyBreakoutResumeResponse" | "classifyResumeIntent":
            kind = judge_resume(text).kind
            return case["result"], "fresh_start" if kind == "fresh" else kind
        case "parseGenericResumeAction":
            choices = _offered(others[0] if others else [])
            return case["result"], _meaning(judge_reply(text, choices=choices), choices)
        case _:
            offers = len(others) == 2 and others[0] == 0 and others[1] == "websearch_calibration"
            judged = judge_reply(text, choices=WEB if offers else DEFAULT_CHOICES)
            return case["result"]["skipNextStage"], judged.choice == "b"


@pytest.mark.parametrize(
    "file", ["orch_breakout_intent.json", "orch_breakout_resume_intent.json", "orch_resume_actions.json"]
)
def test_cases_of_the_reference(file: str) -> None:
    wrong = []
    for case in _cases(file):
        theirs, ours = _reference_says(case)
        nothing = case["fn"] == "parseGenericResumeAction" and not any(case["args"][1:])
        function = "nothing offered" if nothing else case["fn"]
        if (theirs == ours) is ((function, case["args"][0]) in DIFFERENT):
            wrong.append((case["fn"], case["args"][0], theirs, ours))
    assert not wrong


def test_what_differs_from_the_reference_is_never_consent_or_leaving() -> None:
    for function, text in DIFFERENT:
        if function == "classifyBreakoutResponse":
            assert judge_confirmation(text).kind == "unclear"
        elif text not in ("3", "3."):
            assert _meaning(judge_reply(text, choices=())) in ("unclear", "breakout")


GATE: Final = {
    "proceed": "proceed",
    "cancel": "cancel",
    "amend": "amend",
    "ask what": "amend",
    "breakout": "breakout",
    "unclear": "unclear",
}
LEAVING: Final = {"leave": "leave", "stay": "stay", "unsure leaving": "unclear"}
RESUMING: Final = {"resume": "resume", "fresh": "fresh", "unsure resuming": "unclear"}


def _wrong_phrasings(first: str = "") -> Iterator[tuple[str, str, str]]:
    """One that shows a mutant is looked at first: the rest is only needed when it does not."""
    said = [(section, text) for section in (*GATE, *LEAVING, *RESUMING, "never") for text in PHRASINGS[section]]
    for section, text in sorted(said, key=lambda one: one[1] != first):
        if section == "never":
            judged = {_meaning(judge_reply(text)), judge_confirmation(text).kind, judge_resume(text).kind}
            if not judged <= {"unclear", "amend", "stay"}:
                yield section, text, str(judged)
            continue
        if section in GATE:
            got = _meaning(judge_reply(text))
        else:
            got = judge_confirmation(text).kind if section in LEAVING else judge_resume(text).kind
        if got != (GATE | LEAVING | RESUMING)[section]:
            yield section, text, got


def test_every_phrasing_is_taken_for_what_it_says() -> None:
    assert sum(map(len, PHRASINGS.values())) > 1_000
    assert not list(_wrong_phrasings())


def test_an_amendment_keeps_the_words_of_the_person() -> None:
    assert judge_reply("  Looks good, but change the title to “Costs”. ") == Judgement(
        kind="amend",
        choice="amend",
        text="Looks good, but change the title to “Costs”.",
        reason='"change the title to quotation"',
    )
    assert judge_reply("2. Make it SHORTER").text == "Make it SHORTER"
    assert judge_reply("amend: drop question 2").text == "drop question 2"


def test_a_choice_of_kind_amend_without_a_text_has_none() -> None:
    for text in PHRASINGS["ask what"]:
        assert judge_reply(text).kind == "choice"
        assert judge_reply(text).text == ""


def test_every_judgement_says_why() -> None:
    for texts in PHRASINGS.values():
        for text in texts:
            assert judge_reply(text).reason
            assert judge_confirmation(text).reason
            assert judge_resume(text).reason


CUSTOM: Final = (
    Choice(id="ship-it_now", label="Publish — to everybody", does="proceed"),
    Choice(id="more_tests", label="Write more tests", does="goto", step="test-and-diagnose"),
    Choice(id="plan", label="Back to the plan", does="goto", step="make_plan"),
    Choice(id="reword", label="Reword it", does="amend"),
    Choice(id="never", label="Throw it away", does="cancel"),
)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("ship-it_now", "ship-it_now"),
        ("SHIP IT NOW", "ship-it_now"),
        ("Publish — to everybody", "ship-it_now"),
        ("publish", "ship-it_now"),
        ("“Publish”", "ship-it_now"),
        ("looks good", "ship-it_now"),
        ("2", "more_tests"),
        ("2.", "more_tests"),
        ("2)", "more_tests"),
        ("(2)", "more_tests"),
        ("#2", "more_tests"),
        ("２", "more_tests"),
        ("option 2", "more_tests"),
        ("Option 2, please", "more_tests"),
        ("I'll take the second one", "more_tests"),
        ("the second option", "more_tests"),
        ("number two", "more_tests"),
        ("let's go with 2", "more_tests"),
        ("2. Write more tests", "more_tests"),
        ("2 - write more tests", "more_tests"),
        ("write more tests", "more_tests"),
        ("go back to test-and-diagnose", "more_tests"),
        ("back to make_plan", "plan"),
        ("please go back to the plan", "plan"),
        ("plan", "plan"),
        ("5", "never"),
        ("never", "never"),
        ("throw it away", "never"),
        ("cancel", "never"),
        ("4", "reword"),
    ],
)
def test_an_offered_choice_by_any_of_its_names(text: str, choice: str) -> None:
    judged = judge_reply(text, choices=CUSTOM)
    assert (judged.kind, judged.choice) == ("choice", choice)


@pytest.mark.parametrize(
    "text",
    [
        "6",
        "2?",
        "2 or 3",
        "not 2",
        "don't take option 2",
        "0",
        "-1",
        "2.5",
        "option 9",
        "is 2 the plan?",
        "2, or maybe 3",
    ],
)
def test_a_number_that_is_not_a_choice_chooses_nothing(text: str) -> None:
    assert judge_reply(text, choices=CUSTOM).kind == "unclear"


def test_what_a_gate_does_not_offer_is_not_done() -> None:
    only = (Choice(id="go", label="Go on", does="proceed"), Choice(id="all", label="Go on with all", does="proceed"))
    assert judge_reply("yes", choices=only).kind == "unclear"
    assert judge_reply("add a table", choices=only).kind == "unclear"
    assert judge_reply("cancel", choices=only).kind == "breakout"
    assert judge_reply("go", choices=only).choice == "go"
    assert judge_reply("yes", choices=only[:1]).choice == "go"
    assert judge_reply("proceed", choices=()).kind == "unclear"


def test_two_choices_with_one_name_are_not_told_apart() -> None:
    twins = (Choice(id="a", label="Same", does="proceed"), Choice(id="b", label="same", does="cancel"))
    assert judge_reply("same", choices=twins).kind == "unclear"
    assert judge_reply("b", choices=twins).choice == "b"


def test_a_very_long_message_is_judged_quickly_and_is_no_reply() -> None:
    long = "the more it should be that this is not " * 5_000
    assert judge_reply(long).kind in ("unclear", "amend")
    assert len(judge_reply(long).reason) < 2_000
    assert judge_reply("yes " * 5_000).kind == "choice"


def test_every_clause_of_a_message_is_looked_at_a_few_times_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[reply_clauses.Clause] = []

    def say(clause: reply_clauses.Clause) -> tuple[reply_phrases.SaidClause, ...]:
        looked.append(clause)
        return reply_phrases.say(clause)

    monkeypatch.setattr(replies, "say", say)
    assert judge_reply("notes: " * 300).kind == "unclear"
    assert len(looked) < 300 * 4


@pytest.mark.parametrize("judge", [judge_reply, judge_confirmation, judge_resume])
def test_a_message_of_a_megabyte_is_asked_about_and_not_judged(judge: Callable[[str], Any]) -> None:
    assert judge("yes, " * 200_000).kind == "unclear"


# Properties


SINGLE: Final = tuple(
    text for name in ("proceed", "cancel", "breakout") for text in PHRASINGS[name] if re.fullmatch(r"[A-Za-z ]+", text)
)
KEYWORDS: Final = [
    "proceed",
    "continue",
    "yes",
    "sure",
    "okay",
    "go",
    "approve",
    "confirm",
    "cancel",
    "abort",
    "stop",
    "quit",
    "leave",
    "exit",
    "stay",
    "resume",
    "no",
    "never",
    "terminate",
]


@given(
    st.sampled_from(KEYWORDS),
    st.text(string.ascii_lowercase, max_size=3),
    st.text(string.ascii_lowercase, max_size=3),
)
@example("no", "k", "w")
@example("sure", "mea", "")
@example("yes", "", "terday")
def test_a_keyword_inside_a_longer_word_says_nothing(word: str, before: str, after: str) -> None:
    longer = before + word + after
    # Letters held down and known slips are the word itself; and what is made up may be a word with its own meaning.
    meant = reply_clauses.words_of(longer)
    assume(meant == longer and reply_phrases._core(longer).label is None and not reply_phrases._amends(longer))
    for text in (longer, f"I wrote {longer} there", f"{longer}, {longer}"):
        assert judge_reply(text).kind == "unclear"
        assert judge_confirmation(text).kind == "unclear"
        assert judge_resume(text).kind == "unclear"


@given(
    st.sampled_from(SINGLE),
    st.sampled_from(["do not", "don't", "Don’t", "never", "not", "please do not", "you must not"]),
)
@example("go ahead", "I said do not")
def test_a_negation_in_front_never_leaves_the_meaning(text: str, negation: str) -> None:
    assume(not reply_clauses.words_of(text).startswith("never"))  # said twice, it is said once
    negated = f"{negation} {text[:1].lower()}{text[1:]}"
    assert _meaning(judge_reply(negated)) in ("unclear", "amend")
    assert judge_confirmation(negated).kind != "leave"
    assert judge_resume(negated).kind != "fresh"


@given(st.sampled_from([text for name in ("cancel", "leave", "fresh") for text in PHRASINGS[name]]))
def test_what_asks_or_depends_is_never_destructive(text: str) -> None:
    bare = text.rstrip(".!?… ")
    for turned in (f"what happens if {bare}?", f"if it fails, {bare}", f"{bare} unless it works", f"should I {bare}?"):
        assert _meaning(judge_reply(turned)) != "cancel"
        assert judge_confirmation(turned).kind != "leave"
        assert judge_resume(turned).kind != "fresh"


@given(
    st.sampled_from([(name, text) for name in GATE for text in PHRASINGS[name] if re.fullmatch(r"[\w ,']+", text)]),
    st.sampled_from([str.upper, str.lower, str.title]),
    st.sampled_from(["{}", "  {}\n", "\t{} ", "{}.", "{}!", "{} !!", '"{}"', "“{}”", "**{}**"]),
)
def test_case_spaces_and_punctuation_change_nothing(
    case: tuple[str, str], cased: Callable[[str], str], around: str
) -> None:
    section, text = case
    assume(not (around[0] in '"“' and "'" in text and cased is str.title))
    curly = cased(text).replace("'S", "'s").replace("'T", "'t").replace("'", "’")
    assert _meaning(judge_reply(around.format(curly))) == GATE[section]


@given(
    st.lists(
        st.text(string.ascii_lowercase + "-_ ", min_size=1, max_size=12).filter(
            lambda name: bool(reply_clauses.words_of(name))
        ),
        min_size=1,
        max_size=5,
        unique_by=reply_clauses.words_of,
    ),
    st.data(),
)
def test_a_choice_id_always_wins(ids: list[str], data: st.DataObject) -> None:
    kinds: tuple[ChoiceKind, ...] = ("proceed", "amend", "cancel", "goto")
    choices = tuple(
        Choice(id=name, label=data.draw(st.sampled_from(["yes", "stop", "1", "never mind", "x"])), does=kinds[at % 4])
        for at, name in enumerate(ids)
    )
    chosen = data.draw(st.sampled_from(ids))
    assert judge_reply(f" {chosen.upper()} ", choices=choices).choice == chosen


@given(st.text(max_size=200))
def test_any_text_is_judged_and_nothing_is_made_up(text: str) -> None:
    judged = judge_reply(text)
    assert judged.reason
    assert judged.kind == "amend" or not judged.text
    assert not judged.text or judged.text in text
    assert judge_confirmation(text).reason
    assert judge_resume(text).reason


# Mutants: each breaks one rule, and the table must notice


def _anywhere(original: Callable[[str], Any]) -> Callable[[str], Any]:
    """Words are looked for anywhere in a clause, as the reference did."""

    def matching(words: str) -> Any:
        found = original(words)
        return found or next(
            (label for word in words.split() if (label := original(word)) in ("stop", "go", "no")), None
        )

    return matching


def _never_turned(_: Any) -> Callable[[str], None]:
    return lambda words: None


def _opposite(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda found: "go" if original(found) == "not stop" else "stop"


def _without(field: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    def breaking(original: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda text: tuple(replace(clause, **{field: False}) for clause in original(text))

    return breaking


def _unsplit(original: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: tuple(replace(clause, joint="") for clause in original(text))


def _default(kind: str) -> Callable[[Callable[[str], Judgement]], Callable[[str], Judgement]]:
    def breaking(original: Callable[[str], Judgement]) -> Callable[[str], Judgement]:
        choices = {"proceed": "proceed", "cancel": "cancel"}
        return lambda reason: Judgement(kind="choice", choice=choices[kind], reason=reason)

    return breaking


def _patched(name: str, value: Any) -> tuple[Any, str, Callable[[Any], Any]]:
    return replies, name, lambda _: value


_EVERY: Final = frozenset(reply_phrases.Label.__args__)  # type: ignore[attr-defined]
MUTANTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "a word counts wherever it stands": (reply_phrases, "_matching", _anywhere),
    "a negation is not seen": (reply_phrases, "_turned", _never_turned),
    "a negation makes the opposite": (reply_phrases, "_negated", _opposite),
    "questions are replies": (replies, "clauses_of", _without("question")),
    "conditions are not seen": (replies, "clauses_of", _without("conditional")),
    "a condition before a breakout is not seen": (replies, "clauses_of", _without("conditional_before")),
    "a negation ends at an and": (replies, "clauses_of", _without("reached")),
    "but and or join nothing": (replies, "clauses_of", _unsplit),
    "what is unclear goes on": (replies, "unclear", _default("proceed")),
    "what is unclear cancels": (replies, "unclear", _default("cancel")),
    "a cancel may have anything beside it": _patched("_BESIDE_STOP", _EVERY),
    "consent may have anything beside it": _patched("_BESIDE_GO", _EVERY),
    "an okay is enough to leave": _patched("_WEAK", frozenset()),
    "to stay is not told from leaving": _patched("_STAYS", frozenset()),
    "a fresh start is taken with a resuming": _patched("_takes_up", lambda said: False),
    "numbers are not choices": _patched("_numbered", lambda text, offered: None),
    "orders to change are not seen": (reply_phrases, "_amends", lambda _: lambda words: False),
}


SHOWN_BY: Final = {
    "a word counts wherever it stands": "don't stop, continue",
    "a negation is not seen": "don't stop, continue",
    "a negation makes the opposite": "I don't have a new question, please continue",
    "questions are replies": "proceed?",
    "conditions are not seen": "yes, but only if it is cheap",
    "a condition before a breakout is not seen": "if it fails, break out",
    "a negation ends at an and": "I don't want to stop and leave",
    "but and or join nothing": "yes but with fewer questions",
    "what is unclear goes on": "no",
    "what is unclear cancels": "no",
    "a cancel may have anything beside it": "proceed, then cancel",
    "consent may have anything beside it": "Cancel? Yes.",
    "an okay is enough to leave": "ok",
    "to stay is not told from leaving": "no thanks, stay",
    "a fresh start is taken with a resuming": "resume and start fresh",
    "numbers are not choices": "1",
}
"""The phrasing that shows a mutant, where it stands far down the table."""


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, breaking = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, breaking(getattr(owner, attribute)))
    assert next(_wrong_phrasings(SHOWN_BY.get(name, "")), None), name
