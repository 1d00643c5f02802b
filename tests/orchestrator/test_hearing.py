"""Which question of a run words answer, and how: pure, on states made of events."""

from __future__ import annotations

import pytest

from weft.orchestrator.hearing import Asked, Meaning, is_heard, left_for, understand
from weft.protocol import events as e
from weft.protocol.commands import AskBreakout, ReplyToGate, ResolveBreakout
from weft.protocol.events import DurableEvent, Outcome, Record
from weft.session.state import SessionState, fold

CHOICES = (
    {"id": "proceed", "label": "Go on", "does": "proceed"},
    {"id": "amend", "label": "Change it", "does": "amend"},
    {"id": "cancel", "label": "Stop here", "does": "cancel"},
)


def session(outcome: Outcome | None = "waiting", *, gates: int = 1, confirming: str = "") -> SessionState:
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
        events.append(e.ConfirmationAsked(run=1, confirmation="c1", kind="breakout", text=confirming))
    return fold(Record(seq, "2026-01-01T00:00:00.000Z", event) for seq, event in enumerate(events, 1))


def meant(state: SessionState, text: str, *, asked: Asked = "", talking: bool = False) -> Meaning:
    return understand(state, text, asked=asked, talking=talking).meaning


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
def test_at_a_gate(text: str, meaning: Meaning, choice: str) -> None:
    found = understand(session(), text)
    assert (found.meaning, found.choice) == (meaning, choice)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("yes", "leave"), ("1", "leave"), ("no", "stay"), ("2", "stay"), ("hmm", "unclear"), ("3", "unclear")],
)
def test_while_confirming_a_breakout(text: str, meaning: Meaning) -> None:
    assert meant(session(confirming="who wrote it?"), text) == meaning


def test_while_confirming_a_clear_change_stays_and_is_made() -> None:
    found = understand(session(confirming="who wrote it?"), "amend make it shorter")
    assert (found.meaning, found.choice, found.text) == ("reply", "amend", "make it shorter")


def test_what_a_run_is_left_for() -> None:
    assert left_for(session(confirming="something else: who wrote it?")) == "something else: who wrote it?"
    assert left_for(session(confirming="leave")) == ""
    assert left_for(session()) == ""


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
    assert meant(state, "fresh", asked="fresh?", talking=True) == "fresh"
    assert meant(state, "who wrote it?", asked="fresh?", talking=True) == "not for it"


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


def test_what_was_asked_for_a_change_is_the_change_unless_it_is_clearly_something_else() -> None:
    found = understand(session(), "what about the costs?", asked="change?")
    assert (found.meaning, found.choice, found.text) == ("reply", "amend", "what about the costs?")
    assert understand(session(), "cancel", asked="change?").choice == "cancel"
    assert meant(session(), "never mind", asked="change?") == "breakout"


@pytest.mark.parametrize("outcome", ["done", "cancelled", None])
def test_a_run_that_is_over_or_at_work_hears_nothing(outcome: Outcome | None) -> None:
    state = session(outcome)
    assert not is_heard(state)
    assert meant(state, "proceed") == "not for it"


def test_what_each_meaning_leads_to() -> None:
    state = session(confirming="who?")
    assert understand(session(), "proceed").command(session(), "n") == ReplyToGate(gate="a-1", choice="proceed")
    asked = understand(session(), "never mind, who?").command(session(), "n")
    assert asked == AskBreakout(confirmation="n", text="never mind, who?")
    assert understand(state, "yes").command(state, "n") == ResolveBreakout(confirmation="c1", choice="leave")
    assert understand(session(), "hmm").command(session(), "n") is None
