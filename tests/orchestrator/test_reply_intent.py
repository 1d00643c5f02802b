"""Which question of a run words answer, and how: pure, on states made of events."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.orchestrator.replies import Judgement
from weft.orchestrator.reply_intent import hear, left_for, proposed, understand
from weft.orchestrator.rest_commands import is_heard, still_asked
from weft.protocol import events as e
from weft.protocol.errors import UserError
from weft.protocol.events import ConfirmationKind, DurableEvent, Outcome, Record, WordsMeaning
from weft.protocol.gates import Choice
from weft.session.state import SessionState, UnheardWords, fold

CHOICES = (
    Choice("proceed", "Go on", "proceed"),
    Choice("amend", "Change it", "amend"),
    Choice("cancel", "Stop here", "cancel"),
)


UNCLEAR = (
    "ok for now",
    "sure, because that worked so well last time",
    "LGTM :-(",
    "I guess it is fine",
    "whatever you think",
    "I reject this",
    "I'm good",
    "I am fine, thanks",
    "ja ja",
    "sure, sure",
    "thank you, next",
)


def session(
    outcome: Outcome | None = "waiting",
    *,
    gates: int = 1,
    confirming: str = "",
    kind: ConfirmationKind = "breakout",
    choice: str = "cancel",
) -> SessionState:
    steps = tuple("abc"[:gates])
    events: list[DurableEvent] = [
        e.SessionCreated(session="s", pipeline="essay", weft="0"),
        e.RunStarted(run=1, pipeline="essay", steps=steps or ("a",), desired="a", parameters={}),
    ]
    events += [
        e.GateOpened(run=1, gate=f"{step}-{number}", step=step, hash="h", choices=CHOICES)
        for number, step in enumerate(steps, 1)
    ]
    if outcome:
        events.append(e.RunEnded(run=1, outcome=outcome))
    if confirming:
        of_gate = kind in ("reply", "change")
        asked = e.ConfirmationAsked(
            run=1,
            confirmation="c1",
            kind=kind,
            text=confirming,
            gate="a-1" if of_gate else "",
            choice={"reply": choice, "change": "amend"}.get(kind, ""),
        )
        events.append(asked)
    return fold(Record(seq, "2026-01-01T00:00:00.000Z", event) for seq, event in enumerate(events, 1))


def meant(state: SessionState, text: str, *, talking: bool = False) -> WordsMeaning:
    return understand(state, text, talking=talking).meaning


@pytest.mark.parametrize(
    ("text", "meaning", "choice"),
    [
        ("proceed", "reply", "proceed"),
        ("3", "reply", "cancel"),
        ("amend make it shorter", "reply", "amend"),
        ("make it shorter", "reply", "amend"),
        ("2", "change?", "amend"),
        ("never mind, something else", "breakout", ""),
        ("I know", "unclear", ""),
        ("proceed only if it rains", "unclear", ""),
        ("", "unclear", ""),
    ],
)
def test_at_a_gate(text: str, meaning: WordsMeaning, choice: str) -> None:
    found = understand(session(), text)
    assert (found.meaning, found.choice) == (meaning, choice)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("yes", "leave"), ("1", "leave"), ("no", "stay"), ("2", "stay"), ("hmm", "unclear"), ("3", "unclear")],
)
def test_while_confirming_a_breakout(text: str, meaning: WordsMeaning) -> None:
    assert meant(session(confirming="who wrote it?"), text) == meaning


def test_while_confirming_a_clear_change_stays_and_is_made() -> None:
    found = understand(session(confirming="who wrote it?"), "amend make it shorter")
    assert (found.meaning, found.choice, found.text) == ("reply", "amend", "make it shorter")


def test_what_a_run_is_left_for() -> None:
    assert left_for("something else: who wrote it?") == "something else: who wrote it?"
    assert left_for("leave") == ""


@pytest.mark.parametrize("outcome", ["left", "interrupted", "failed", "over_budget"])
def test_a_run_that_does_not_wait_is_resumed_or_begun_afresh(outcome: Outcome) -> None:
    state = session(outcome, gates=1 if outcome == "left" else 0)
    assert meant(state, "resume") == "resume"
    assert meant(state, "carry on") == "resume"
    assert meant(state, "start over") == "fresh?"
    assert meant(state, "fresh") == "fresh"
    assert meant(state, "hmm") == "unclear"


def test_in_a_conversation_it_listens_only_when_it_is_named() -> None:
    state = session("left")
    for words in ("continue", "yes", "no", "proceed", "1", "who wrote it?", "what does the run do?"):
        assert meant(state, words, talking=True) == "not for it", words
    for words in ("resume", "resume the run", "continue the essay"):
        assert meant(state, words, talking=True) == "resume", words
    assert meant(state, "fresh", talking=True) == "not for it"
    assert meant(state, "restart the run", talking=True) == "fresh?"
    asked = session("left", confirming="restart the run", kind="fresh")
    assert meant(asked, "fresh", talking=True) == "fresh"
    assert meant(asked, "who wrote it?", talking=True) == "not for it"
    assert meant(asked, "no", talking=True) == "no"


def test_a_run_that_was_left_can_still_be_answered_by_the_id_of_a_choice() -> None:
    assert meant(session("left"), "proceed") == "reply"
    assert meant(session("left"), "amend make it shorter") == "reply"


def test_with_several_gates_the_words_say_which() -> None:
    state = session(gates=2)
    assert meant(state, "proceed") == "gate?"
    assert meant(state, "never mind, something else") == "breakout"
    for words in ("b: proceed", "b-2, looks good", "B proceed"):
        found = understand(state, words)
        assert (found.meaning, found.gate, found.choice) == ("reply", "b-2", "proceed"), words
    assert understand(state, "proceed", gate="a").gate == "a-1"
    assert meant(state, "because proceed") == "gate?"
    assert meant(session(), "a: proceed") == "reply", "the last one that is open has its name too"


def test_words_are_for_the_gate_that_was_seen_whatever_else_has_been_opened_or_answered_since() -> None:
    state = session(gates=2)
    assert still_asked(state, (), "proceed") == ""
    assert still_asked(state, ("a-1", "b-2"), "proceed") == ""
    assert still_asked(state, ("a-1",), "proceed") == "a-1", "the other one was opened later"
    assert still_asked(session(), ("a-1", "b-2"), "a: proceed") == "a-1", "the other one was answered elsewhere"
    for asked in (("a-1", "b-2"), ("a-0",), ("a-0", "a-3")):
        with pytest.raises(UserError, match="no longer what the run asks"):
            still_asked(session(), asked, "proceed")
    with pytest.raises(UserError, match="no longer what the run asks"):
        still_asked(session(confirming="leave"), ("a-1",), "a: proceed")


def test_what_was_asked_for_a_change_is_the_change_unless_it_is_clearly_something_else() -> None:
    asked = session(confirming="2", kind="change")
    found = understand(asked, "what about the costs?")
    assert (found.meaning, found.choice, found.text) == ("reply", "amend", "what about the costs?")
    assert understand(asked, "cancel").choice == "cancel"
    assert meant(asked, "never mind") == "breakout"


@pytest.mark.parametrize("outcome", ["done", "cancelled", None])
def test_a_run_that_is_over_or_at_work_hears_nothing(outcome: Outcome | None) -> None:
    state = session(outcome)
    assert not is_heard(state)
    assert meant(state, "proceed") == "not for it"


VECTORS = Path(__file__).parent.parent / "vectors"


def lines(name: str) -> list[str]:
    return (VECTORS / name).read_text(encoding="utf-8").splitlines()[1:]


def test_no_text_that_is_not_clear_lets_a_run_go_on_or_ends_it() -> None:
    texts = lines("unclear_replies.txt")
    assert len(texts) > 400
    for text in texts:
        heard = hear(session(), UnheardWords("w1", text), understand(session(), text), "n")
        done = [event for event in heard.events if isinstance(event, e.GateResolved | e.RunEnded)]
        assert [event for event in done if not isinstance(event, e.GateResolved) or event.does != "amend"] == [], text


def test_plain_consent_is_not_asked_back() -> None:
    for text in lines("clear_consent.txt"):
        found = understand(session(), text)
        assert (found.meaning, found.choice) == ("reply", "proceed"), text


WORDS = UnheardWords("w1", "the words")


def led_to(state: SessionState, text: str) -> list[str]:
    heard = hear(state, UnheardWords("w1", text), understand(state, text), "n")
    return [*(event.type for event in heard.events), heard.then]


def test_what_each_meaning_leads_to() -> None:
    asked = session(confirming="who?")
    assert led_to(session(), "proceed") == ["words_understood", "gate_resolved", "go on"]
    assert led_to(session(), "never mind, who?") == ["words_understood", "confirmation_asked", ""]
    assert led_to(session(), "2") == ["words_understood", "confirmation_asked", ""]
    assert led_to(session(), "hmm") == ["words_understood", ""]
    assert led_to(asked, "yes") == ["words_understood", "confirmation_resolved", "run_ended", "answer"]
    assert led_to(asked, "stay") == ["words_understood", "confirmation_resolved", ""]
    assert led_to(session("interrupted", gates=0), "resume") == ["words_understood", "go on"]
    assert led_to(session("interrupted", gates=0), "start over") == ["words_understood", "confirmation_asked", ""]
    afresh = session("interrupted", gates=0, confirming="start over", kind="fresh")
    assert led_to(afresh, "yes") == ["words_understood", "confirmation_resolved", "run_ended", "afresh"]


@pytest.mark.parametrize("text", ["quit", "yes, stop", "stop it", "please cancel the run", "abort"])
def test_words_that_would_end_a_run_are_asked_back(text: str) -> None:
    assert understand(session(), text).meaning == "confirm"
    assert led_to(session(), text) == ["words_understood", "confirmation_asked", ""]


@pytest.mark.parametrize("text", ["cancel", "3", "Cancel", "Stop here"])
def test_a_choice_that_is_named_is_final(text: str) -> None:
    assert led_to(session(), text) == ["words_understood", "gate_resolved", "run_ended", ""]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("yes", "yes"),
        ("Yes!", "yes"),
        ("1", "yes"),
        ("no", "no"),
        ("2", "no"),
        ("sí", "yes"),
        ("não", "no"),
        ("sure, why not", "unclear"),
        ("ok", "unclear"),
        ("yes?", "unclear"),
        ("yes, but later", "unclear"),
        ("proceed", "reply"),
        ("make it shorter", "reply"),
        ("never mind, something else", "breakout"),
    ],
)
def test_what_was_understood_is_confirmed_by_a_plain_yes_and_nothing_less(text: str, meaning: WordsMeaning) -> None:
    assert meant(session(confirming="quit", kind="reply"), text) == meaning


@pytest.mark.parametrize("again", UNCLEAR)
def test_two_unclear_answers_are_no_consent(again: str) -> None:
    for first in UNCLEAR:
        assert meant(session(), first) in ("confirm", "unclear")
        assert meant(session(confirming=first, kind="reply", choice="proceed"), again) == "unclear"


@pytest.mark.parametrize(
    ("choice", "text", "meaning"),
    [
        ("cancel", "please stop", "yes"),
        ("cancel", "quit", "yes"),
        ("proceed", "looks good", "yes"),
        ("proceed", "quit", "unclear"),
        ("cancel", "looks good", "unclear"),
    ],
)
def test_sure_words_say_the_same_again_and_never_the_other(choice: str, text: str, meaning: WordsMeaning) -> None:
    assert meant(session(confirming="something", kind="reply", choice=choice), text) == meaning


def test_a_yes_names_the_words_and_the_confirmation_it_was_given_on() -> None:
    state = session(confirming="quit", kind="reply")
    heard = hear(state, UnheardWords("w9", "yes"), understand(state, "yes"), "n")
    (resolved,) = [event for event in heard.events if isinstance(event, e.GateResolved)]
    assert (resolved.words, resolved.confirmation, resolved.does) == ("w9", "c1", "cancel")


@pytest.mark.parametrize("choice", ["proceed", "amend", "cancel"])
def test_a_model_only_proposes(choice: str) -> None:
    """Whatever it says, nothing is resolved before the person has said yes."""
    state = session()
    gate = state.gates["a"]
    judged = Judgement(kind="amend" if choice == "amend" else "choice", choice=choice, text="x", reason="0.95")
    found = proposed(gate, "I reject this", judged, "a-model")
    heard = hear(state, WORDS, found, "n")
    assert [event.type for event in heard.events] == ["words_understood", "confirmation_asked"]
    assert (heard.then, found.model) == ("", "a-model")
