"""A conversation in a session whose run waits: who hears a message, what the model is told, and who answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.doors import OpenConversation, talk_in
from tests.gated import lay_out_gated, started, wait_for_file
from tests.made import Weft
from weft.app import App
from weft.models.model import Request
from weft.protocol.events import GateOpened, Record, WordsUnderstood
from weft.protocol.messages import Text
from weft.testing.scripted import Hold, ScriptedModel, Turn, says


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def weft(tmp_path: Path, workspace: Path) -> Weft:
    return started(tmp_path, workspace)


def talking(
    weft: Weft, turns: list[Turn], play: Callable[[OpenConversation], Awaitable[None]], **more: Any
) -> ScriptedModel:
    model = ScriptedModel(turns, **more)

    async def go() -> None:
        with App.open(weft.workspace, models={model.name: model}) as app:
            async with talk_in(app, session="essay", model=model.name, working=weft.ledger.parent) as talk:
                await play(talk)
                await talk.shutdown()

    asyncio.run(asyncio.wait_for(go(), 120))
    model.assert_done()
    return model


def test_a_gate_before_a_step_does_not_say_that_the_step_is_done(tmp_path: Path, workspace: Path) -> None:
    lay_out_gated(workspace)
    pipeline = workspace / "pipelines/essay.yaml"
    pipeline.write_text(
        pipeline.read_text().replace(
            'gate: {message: Is this the plan?, show: [title, {at: "parts[*]", label: Parts}]}',
            "gate: {before: true, message: Is this the time?}",
        )
    )
    weft = Weft(workspace)
    source = tmp_path / "subject.txt"
    source.write_text("On rivers. They flow.\n")
    assert weft("run", "essay", source, "--session-id", "essay").code == 3
    told = weft("chat", "--session", "essay", "hm").err
    assert "before plan; the run waits for you" in told
    assert "plan is done" not in told


async def said(talk: OpenConversation, *texts: str) -> None:
    for text in texts:
        talk.say(text)
        await talk.idle()


def log(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [line for line in weft.log("essay") if line["type"] == kind]


def outcomes(weft: Weft) -> list[str]:
    return [line["outcome"] for line in log(weft, "run_ended")]


def prompt(request: Request) -> str:
    return "".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))


def judged(meaning: str, choice: str, confidence: float) -> Turn:
    return Turn(says(json.dumps({"meaning": meaning, "choice": choice, "confidence": confidence})))


def test_replies_go_on_with_the_run_and_never_reach_the_model(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "add the middle", "proceed", "looks good")

    talking(weft, [], play)
    assert (weft.session("essay") / "report.md").read_text() == "beginning, add the middle, end\n"
    assert outcomes(weft)[-1] == "done"
    assert log(weft, "message_accepted") == []


def test_on_leaving_the_message_that_led_out_is_answered_and_the_model_knows_the_run(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "never mind, who wrote about rivers?", "yes")

    model = talking(weft, [Turn(says("Many did."))], play)
    assert [line["text"] for line in log(weft, "message_accepted")] == ["never mind, who wrote about rivers?"]
    assert "never mind, who wrote about rivers?" in prompt(model.requests[0])
    system = model.requests[0].system
    assert "pipeline: essay" in system
    assert "status: left by the person" in system
    assert "found, plan, title: On rivers" in system
    assert outcomes(weft)[-1] == "left"


def test_a_denied_breakout_returns_to_the_gate(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "never mind, who wrote about rivers?", "no, stay", "proceed")

    talking(weft, [], play)
    assert [line["choice"] for line in log(weft, "confirmation_resolved")] == ["stay"]
    assert [line["gate"] for line in log(weft, "gate_opened")] == ["plan-1", "review-2"]


@asynccontextmanager
async def watched(talk: OpenConversation) -> AsyncIterator[Callable[[type], Coroutine[Any, Any, Any]]]:
    """Gives a wait for the next event of a kind that everybody who watches sees."""
    found = talk.events()

    async def next_of(kind: type) -> Any:
        async for item in found:
            event = item.event if isinstance(item, Record) else item
            if isinstance(event, kind):
                return event
        raise AssertionError(f"no {kind.__name__}")

    yield next_of
    assert isinstance(found, AsyncGenerator)
    await found.aclose()


def test_unclear_words_ask_again_and_change_nothing(weft: Weft) -> None:
    before = (weft.session("essay") / "log.jsonl").read_bytes()

    async def play(talk: OpenConversation) -> None:
        async with watched(talk) as next_of:
            assert (await next_of(GateOpened)).gate == "plan-1"
            hearing = asyncio.create_task(next_of(WordsUnderstood))
            await asyncio.sleep(0)
            await said(talk, "hmm")
            assert (await hearing).meaning == "unclear"
            assert [event.gate for event in talk.session.asks if isinstance(event, GateOpened)] == ["plan-1"]

    talking(weft, [judged("unclear", "", 1)], play)
    after = (weft.session("essay") / "log.jsonl").read_bytes()
    assert after.startswith(before)
    new = [json.loads(line)["type"] for line in after[len(before) :].splitlines()]
    assert not {"gate_resolved", "confirmation_asked", "run_started", "message_accepted"} & {*new}


def test_a_model_is_asked_about_unclear_words_outside_of_the_conversation(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "the Danube and its shores", "yes, leave")

    turns = [judged("breakout", "", 0.9), Turn(says("It flows."))]
    model = talking(weft, turns, play)
    asked, answered = model.requests
    assert '"meaning"' in asked.system
    assert asked.tools == ()
    assert "meaning" not in answered.system
    assert [line["usage"]["input"] for line in log(weft, "reply_classified")] == [10]
    assert [line["text"] for line in log(weft, "model_settled")] == ["It flows."]


def test_an_interrupt_stops_a_model_that_is_asked_and_the_words_stay_unclear(weft: Weft) -> None:
    before = (weft.session("essay") / "log.jsonl").read_bytes()
    hold = Hold()

    async def play(talk: OpenConversation) -> None:
        talk.say("the Danube and its shores")
        await hold.reached.wait()
        assert talk.interrupt() == "accepted"
        await talk.idle()

    talking(weft, [Turn(hold, says("never"))], play)
    after = (weft.session("essay") / "log.jsonl").read_bytes()
    assert b"reply_classified" not in after[len(before) :]
    assert outcomes(weft) == ["waiting"]


def test_a_run_that_was_left_is_resumed_when_it_is_named_and_not_otherwise(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "leave", "yes", "continue", "resume the run", "proceed", "proceed")

    talking(weft, [Turn(says("With what?"))], play)
    assert [line["text"] for line in log(weft, "message_accepted")] == ["continue"]
    assert outcomes(weft) == ["waiting", "left", "waiting", "waiting", "done"]


def test_afresh_is_asked_for_and_then_done(weft: Weft) -> None:
    async def play(talk: OpenConversation) -> None:
        await said(talk, "leave", "yes", "restart the run", "fresh")

    talking(weft, [], play)
    assert outcomes(weft) == ["waiting", "left", "cancelled", "waiting"]
    assert [line["choice"] for line in log(weft, "confirmation_resolved")] == ["leave", "yes"]
    assert [line["run"] for line in log(weft, "run_started")] == [1, 2]


def test_the_summary_survives_restart_and_compaction(weft: Weft) -> None:
    async def first(talk: OpenConversation) -> None:
        await said(talk, "add the middle", "proceed", "proceed")

    talking(weft, [], first)
    long = "river " * 1500

    async def second(talk: OpenConversation) -> None:
        for number in range(4):
            await said(talk, f"{number} {long}")

    noted, spoke = Turn(says("Noted.")), Turn(says("They spoke of rivers."))
    model = talking(weft, [noted, noted, spoke, noted, spoke, noted], second, window=16_000)
    assert [bool(request.tools) for request in model.requests] == [True, True, False, True, False, True]
    assert log(weft, "transcript_compacted")
    assert "They spoke of rivers." in prompt(model.requests[-1])
    told = [request for request in model.requests if request.tools]
    assert len(told) == 4
    for request in told:
        assert "status: done" in request.system
        assert "reply at plan-1: amend, add the middle" in request.system
        assert "passed: 1 of 1" in request.system


def test_an_interrupt_stops_the_run_and_keeps_it(weft: Weft) -> None:
    hold = weft.ledger.parent / "hold-draft-0"
    hold.touch()

    async def play(talk: OpenConversation) -> None:
        talk.say("proceed")
        await asyncio.to_thread(wait_for_file, weft.ledger.parent / "held-draft-0")
        assert talk.interrupt() == "accepted"
        await talk.idle()
        hold.unlink()
        await said(talk, "resume the run", "proceed")

    talking(weft, [], play)
    assert outcomes(weft) == ["waiting", "interrupted", "waiting", "done"]


def test_a_message_while_the_run_is_at_work_is_for_the_conversation(weft: Weft) -> None:
    hold = weft.ledger.parent / "hold-draft-0"
    hold.touch()

    async def play(talk: OpenConversation) -> None:
        talk.say("proceed")
        await asyncio.to_thread(wait_for_file, weft.ledger.parent / "held-draft-0")
        talk.say("proceed")
        while not talk.session.conversation or not talk.session.conversation.spent.calls:
            await asyncio.sleep(0.01)
        hold.unlink()
        await talk.idle()

    model = talking(weft, [Turn(says("With pleasure."))], play)
    assert "status: running" in model.requests[0].system
    assert outcomes(weft) == ["waiting", "waiting"]


def test_a_pipeline_that_can_not_be_read_leaves_the_conversation_alone(weft: Weft) -> None:
    (weft.workspace / "pipelines/essay.yaml").write_text("name: essay\nsteps: 3\n")

    async def play(talk: OpenConversation) -> None:
        async with watched(talk) as next_of:
            await next_of(GateOpened)
            telling = asyncio.create_task(next_of(WordsUnderstood))
            await asyncio.sleep(0)
            await said(talk, "proceed")
            heard = await telling
            assert heard.meaning == "refused"
            assert "pipelines/essay.yaml" in heard.reason

    talking(weft, [], play)
    assert outcomes(weft) == ["waiting"]
