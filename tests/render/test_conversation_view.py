"""The fold of a conversation: what becomes a block and when, what is live, and that it agrees with the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.conversation.lives import Walk
from tests.lanes import lives
from weft.conversation.state import State, evolve
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled, CallStarted, StepTextStreamed
from weft.protocol.errors import Finding
from weft.protocol.events import Event, NoticeGiven
from weft.render.conversation_view import Answered, Called, ConversationView, Noted, Ran, SpokenMessage, Thought

MAIN: dict[str, Any] = {"conversation": "main"}
T1: dict[str, Any] = {"conversation": "main", "turn": 1}


def started(*messages: str, turn: int = 1) -> list[Event]:
    accepted = [t.MessageAccepted(**MAIN, message=m, text=f"text of {m}", delivery="started") for m in messages]
    intent = t.IntentRecorded(conversation="main", turn=turn, execution=f"t{turn}/model", kind="model")
    return [*accepted, t.TurnStarted(conversation="main", turn=turn, messages=messages), intent]


def text(piece: str) -> Event:
    return t.TextStreamed(**MAIN, execution="t1/model", text=piece)


def settled(whole: str, outcome: t.ModelOutcome = "completed", **more: Any) -> Event:
    return t.ModelSettled(**T1, execution="t1/model", outcome=outcome, text=whole, **more)


def called(verdict: t.RulingWord = "allow", **more: Any) -> list[Event]:
    given = {"path": "a.md"}
    return [
        t.CallsDeclared(**T1, calls=("c1",)),
        t.ToolRequested(**T1, call="c1", tool="Read", input=given, verdict=verdict, **more),
    ]


def running(call: str = "c1") -> Event:
    return t.IntentRecorded(**T1, execution=f"t1/{call}", kind="tool", call=call)


def ended(outcome: t.ToolOutcome = "succeeded", told: str = "12 lines", **more: Any) -> Event:
    return t.ToolSettled(**T1, call="c1", execution="t1/c1", outcome=outcome, effect="completed", text=told, **more)


def view_of(*events: Event | list[Event]) -> ConversationView:
    view = ConversationView()
    now = 0.0
    for item in events:
        for event in item if isinstance(item, list) else [item]:
            view.apply(event, now)
            now += 1.0
    return view


def test_a_message_is_a_block_when_its_turn_begins_and_queued_until_then() -> None:
    view = view_of(started("m1"))
    assert view.take() == [SpokenMessage("text of m1")]
    view.apply(t.MessageAccepted(**MAIN, message="m2", text="later", delivery="queued"), 9)
    assert view.take() == []
    assert view.queued == {"m2": "later"}
    view.apply(t.TurnStarted(conversation="main", turn=2, messages=("m2",)), 10)
    assert view.take() == [SpokenMessage("later")]
    assert view.queued == {}


def test_lines_become_blocks_when_they_are_complete() -> None:
    view = view_of(started("m1"))
    view.take()
    view.apply(text("\n\none\ntw"), 5)
    assert view.take() == [Answered("one", "", True)]
    assert view.speeches["main"].tail == "tw"
    view.apply(text("o\n```\nco"), 6)
    assert view.take() == [Answered("two\n```", "", False)]
    view.apply(text("de\n"), 7)
    assert view.take() == [Answered("code", "```", False)]
    view.apply(settled("\n\none\ntwo\n```\ncode\n```"), 8)
    assert view.take() == [Answered("```", "```", False)]
    assert view.speeches == {}


def test_an_interrupted_answer_keeps_what_was_written_and_says_so_after_it() -> None:
    view = view_of(started("m1"), text("one\ntw"))
    view.apply(t.TurnInterrupted(**T1, reason="user"), 5)
    view.apply(settled("one\ntw", "interrupted", reason="user"), 5)
    view.apply(t.TurnCompleted(**T1, disposition="interrupted"), 5)
    assert view.take() == [
        SpokenMessage("text of m1"),
        Answered("one", "", True),
        Answered("tw", "", False),
        Noted("interrupted", "warning"),
    ]
    assert not view.busy


def test_thinking_is_folded_when_the_answer_begins() -> None:
    view = view_of(started("m1"))
    view.apply(t.ThinkingStreamed(**MAIN, execution="t1/model", text="hm "), 10)
    view.apply(t.ThinkingStreamed(**MAIN, execution="t1/model", text="well"), 11)
    assert view.speeches["main"].thinking == "hm well"
    view.apply(text("so"), 12)
    view.apply(settled("so", thinking=({"text": "hm well", "signature": "s"},)), 13)
    assert view.take() == [SpokenMessage("text of m1"), Thought("hm well", 2.0), Answered("so", "", True)]


def test_from_the_log_alone_it_reads_the_same_but_for_the_clock() -> None:
    view = view_of(started("m1"), settled("so\nit is", thinking=({"text": "hm"},)))
    assert view.take() == [SpokenMessage("text of m1"), Thought("hm", None), Answered("so\nit is", "", True)]


def test_a_failed_model_call_says_why() -> None:
    view = view_of(started("m1"), settled("", "failed", reason="overloaded"))
    view.apply(t.TurnCompleted(**T1, disposition="failed"), 9)
    assert view.take()[-1] == Noted("overloaded", "error")
    assert view.failed


def test_a_call_runs_and_ends_with_its_time() -> None:
    view = view_of(started("m1"), settled(""), called(), running())
    assert [call.tool for call in view.running] == ["Read"]
    view.apply(t.ToolProgressed(**MAIN, execution="t1/c1", text="page 1\npage 2"), 20)
    assert view.running[0].progress == "page 2"
    started_at = view.running[0].started
    assert started_at is not None
    view.apply(ended(), started_at + 2)
    block = view.take()[-1]
    assert isinstance(block, Called)
    assert (block.call.ms, block.call.outcome, block.call.text) == (2000, "succeeded", "12 lines")
    assert not view.calls


@pytest.mark.parametrize(("decision", "outcome"), [("once", "succeeded"), ("denied", "denied")])
def test_an_approval_waits_until_it_is_decided(decision: t.Decision, outcome: t.ToolOutcome) -> None:
    view = view_of(started("m1"), settled(""), called("ask", reason="it writes", key="Read a.md"))
    view.apply(t.ApprovalRequested(**T1, call="c1", tool="Read", reason="it writes", tainted=True), 9)
    (call,) = view.approvals
    assert (call.reason, call.key, call.tainted, call.input) == ("it writes", "Read a.md", True, {"path": "a.md"})
    assert view.running == []
    view.apply(t.ApprovalDecided(**T1, call="c1", decision=decision), 10)
    assert view.approvals == []
    view.apply(ended(outcome), 11)
    block = view.take()[-1]
    assert isinstance(block, Called)
    assert block.call.outcome == outcome


def test_a_sub_conversation_is_inside_its_call_and_its_words_are_not_the_answer() -> None:
    view = view_of(started("m1"), settled(""), called(), running())
    child: dict[str, Any] = {"conversation": "main/a1"}
    inner: list[Event] = [
        t.ConversationOpened(**child, parent="main", execution="t1/c1"),
        t.MessageAccepted(**child, message="p", text="look", delivery="started", origin="parent"),
        t.TurnStarted(**child, turn=1, messages=("p",)),
        t.IntentRecorded(**child, turn=1, execution="t1/model", kind="model"),
        t.TextStreamed(**child, execution="t1/model", text="let me\nsee"),
        t.ModelSettled(**child, turn=1, execution="t1/model", outcome="completed", text="let me\nsee"),
        t.ToolRequested(**child, turn=1, call="c1", tool="Grep", input={}, verdict="allow"),
        t.IntentRecorded(**child, turn=1, execution="t1/c1", kind="tool", call="c1"),
    ]
    view.take()
    for event in inner:
        view.apply(event, 20)
    assert view.take() == []
    assert [call.tool for call in view.running] == ["Read"]
    assert [(call.tool, call.phase) for call in view.running[0].inner] == [("Grep", "running")]
    view.apply(
        t.ToolSettled(
            **child, turn=1, call="c1", execution="t1/c1", outcome="succeeded", effect="completed", text="found"
        ),
        21,
    )
    assert view.take() == []
    assert [(call.tool, call.phase) for call in view.running[0].inner] == [("Grep", "ended")]


def test_notices_and_refusals_are_told() -> None:
    """That an answer came too late is told to who gave it, by the reply, and to nobody else who watches."""
    view = view_of(
        NoticeGiven(text="a line is damaged"),
        t.CommandRefused(**MAIN, refusal="stale_approval", call="c1"),
        t.CommandRefused(**MAIN, refusal="shutting_down", message="m", text="hello"),
        t.CommandRefused(**MAIN, refusal="repeated_continuation", key="main:t1"),
        t.ApprovalRemembered(**MAIN, key="Edit a.md", tool="Edit"),
        t.TurnInterrupted(**T1, reason="user", unsupported=("t1/c1",)),
        t.TranscriptCompacted(**T1, text="in short"),
    )
    texts = [block.text for block in view.take() if isinstance(block, Noted)]
    assert texts == [
        "a line is damaged",
        "not sent, the conversation is being closed: hello",
        "allowed for this session: Edit a.md",
        "can't be stopped and ends by itself: c1",
        "older turns are told to the model in short from now on",
    ]


def test_another_conversation_is_none_of_its_business() -> None:
    view = view_of(t.MessageAccepted(conversation="mainly", message="m", text="x", delivery="started"))
    assert view.queued == {}


@pytest.mark.lives
@pytest.mark.parametrize("seed", range(0, lives(400, 4000), 8))
def test_in_random_lives_it_shows_what_the_engine_knows(seed: int) -> None:
    """After each record of a life with crashes, interrupts and sub-conversations, the view and the state agree."""
    for life in range(seed, seed + 8):
        view, state = ConversationView(), State("main")
        for record in Walk(life).run().log:
            view.apply(record.event, float(record.seq))
            evolve(state, record.event)
            main = state.talks.get("main")
            phases: dict[str, set[tuple[str, str]]] = {"asked": set(), "running": set()}
            for name, talk in state.talks.items():
                for call_id, call in talk.turn.calls.items() if talk.turn else ():
                    phases.setdefault(call.phase, set()).add((name, call_id))
            assert tuple(view.queued) == (main.waiting if main else ())
            if not isinstance(
                record.event, t.ApprovalDecided | t.ApprovalRemembered
            ):  # the rest of it comes with these
                assert {(call.conversation, call.call) for call in view.approvals} == phases["asked"]
            shown = {(call.conversation, call.call) for call in view.calls.values() if call.phase == "running"}
            assert phases["running"] <= shown
            speaking = {name for name, talk in state.talks.items() if talk.turn and talk.turn.model}
            assert set(view.speeches) == speaking
        assert view.busy == bool(view.approvals)


def test_a_model_that_is_asked_again_is_one_quiet_line() -> None:
    retried = t.ModelRetried(**T1, execution="t1/model", tries=1, wait_ms=2000, reason="m: busy\n(HTTP 529)", model="m")
    view = view_of(started("m1"), retried)
    assert view.take()[-1] == Noted("m: busy (HTTP 529); asking again in 2.0 s")
    assert view.speeches["main"].execution == "t1/model", "the call goes on"


def test_a_run_is_a_card_its_calls_are_seen_while_they_last_and_counted_after() -> None:
    view = ConversationView()
    run: dict[str, Any] = {"run": 1, "step": "summary", "attempt": 1}
    began = e.StepStarted(**run, cause="first", reason="not yet made", input_hash="h", inputs={})
    call: dict[str, Any] = {"step": "summary", "attempt": 1, "call": "1", "kind": "model", "name": "own/m"}
    wrong = Finding("summary.json", "", "no JSON", "give JSON")
    events: list[tuple[float, Event]] = [
        (0.0, e.RunStarted(run=1, pipeline="kit", steps=("summary",), desired="summary", parameters={})),
        (0.0, began),
        (1.0, CallStarted(**call)),
        (1.5, StepTextStreamed(step="summary", attempt=1, call="1", text="The beginning")),
    ]
    for now, event in events:
        view.apply(event, now)
    assert [call.text for call in view.run.working["summary"].calls.calls.values()] == ["The beginning"]
    rest: list[tuple[float, Event]] = [
        (2.0, CallSettled(**call, run=1, ms=900, ok=True, model="own/m", usage={"input": 10, "output": 2})),
        (2.0, e.ArtifactRejected(**run, artifact="summary.json", findings=(wrong,))),
        (2.0, e.StepFailed(**run, kind="rejected", message="no JSON", retrying=True, ms=900, usage={"input": 10})),
        (2.0, replace(began, attempt=2)),
        (3.0, e.ArtifactAccepted(**run, artifact="summary.json", hash="h", size=9)),
        (3.0, e.StepCompleted(**run, hash="h", schema_version="1", ms=800, usage={"input": 10, "output": 2})),
        (4.0, e.RunEnded(run=1, outcome="done", message="")),
    ]
    for now, event in rest:
        view.apply(event, now)
    card = [(block.lines, block.state, block.right) for block in view.take() if isinstance(block, Ran)]
    assert card == [
        (("run 1 of kit",), "running", ""),
        (("summary, attempt 1: no JSON; it is tried again",), "failed", "10 in, 0 out · 0.9 s"),
        (("summary: summary.json",), "done", "10 in, 2 out · 0.8 s"),
        (("kit is done",), "done", "1 step · 22 tokens · 4.0 s"),
    ]
