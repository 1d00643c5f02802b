"""A model that is busy is asked again: everybody sees it, the log has it, and an interrupt ends the wait at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.doors import talk_in
from tests.e2e.test_model_steps import events
from tests.e2e.test_model_steps import scripted as scripted  # a fixture
from tests.e2e.test_models_command import serving
from tests.made import Weft
from weft.app import App, SessionRequest
from weft.models.model import ModelError
from weft.models.retrying import Retrying
from weft.protocol import conversation_events as t
from weft.protocol.commands import Interrupt, StartRun
from weft.protocol.events import Event, Record, StepModelRetried
from weft.testing.scripted import ScriptedModel, Turn, says
from weft.testing.wire import Reply

BUSY = ModelError("overloaded", "work/m: busy (HTTP 529)", retryable=True)
SOON = {"retry-after": "0"}


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


async def forever(seconds: float) -> None:
    await asyncio.Event().wait()


def test_a_run_through_a_busy_server(scripted: Weft, source: Path) -> None:
    replies = [
        Reply(status=429, error="slow down", headers=SOON),
        Reply(status=503, error="busy", headers=SOON),
        Reply(text='["red"]'),
    ]
    with serving(replies) as server:
        (scripted.workspace / "config.toml").write_text(
            f'model = "desk/m"\n[models.desk]\nkind = "openai"\nbase_url = "{server.url}"\nkey = "none"\n'
        )
        ran = scripted("run", source, "--session-id", "poem", "--plain")
    assert ran.code == 0, ran.err
    told = [line for line in ran.err.splitlines() if "asking again in" in line]
    assert len(told) == 2
    assert told[0].startswith("step list waits (attempt 1): desk/m: slow down (HTTP 429); asking again in ")
    retried = events(scripted, "step_model_retried")
    assert [(one["attempt"], one["tries"], one["model"]) for one in retried] == [(1, 1, "desk/m"), (1, 2, "desk/m")]
    assert all(0 <= one["wait_ms"] <= 500 for one in retried)
    order = [event["type"] for event in scripted.log("poem") if event.get("step") == "list"]
    assert order == [
        "step_started", "step_model_retried", "step_model_retried", "call_settled", "artifact_accepted",
        "step_completed",
    ]  # fmt: skip
    (done,) = events(scripted, "step_completed")
    assert done["usage"]["input"] == 12, "what was turned away has used nothing"
    told_cost = json.loads(scripted("cost", "poem", "--json").out.splitlines()[-1])
    assert (told_cost["calls"], told_cost["unpriced"]) == (1, 1)


def test_an_interrupt_ends_the_wait_of_a_run(scripted: Weft, source: Path) -> None:
    model = ScriptedModel([Turn(BUSY)])

    async def go() -> str:
        waiting = asyncio.Event()

        def publish(item: Record | Event) -> None:
            if isinstance(item, Record) and isinstance(item.event, StepModelRetried):
                waiting.set()

        with App.open(scripted.workspace, models={"scripted": Retrying(model, sleep=forever)}) as app:
            request = SessionRequest(file=source, session="poem")
            async with app.session(request) as session, session.shown(publish):
                run = asyncio.create_task(session.run(StartRun()))
                await waiting.wait()
                session.submit(Interrupt())
                return await run

    assert asyncio.run(asyncio.wait_for(go(), 60)) == "interrupted"
    assert len(model.requests) == 1


def test_a_conversation_says_it_and_goes_on_and_an_interrupt_ends_the_wait(weft: Weft, tmp_path: Path) -> None:
    model = ScriptedModel([Turn(BUSY), Turn(says("there")), Turn(BUSY), Turn(says("again"))])
    sleeps = [at_once, forever, at_once]

    async def sleep(seconds: float) -> None:
        await sleeps.pop(0)(seconds)

    async def go() -> None:
        with App.open(weft.workspace, models={"scripted": Retrying(model, sleep=sleep)}) as app:
            async with talk_in(app, model="scripted", session="the-talk", working=tmp_path) as talk:
                talk.say("hello")
                await talk.idle()
                talk.say("once more")
                async for item in talk.events():
                    if isinstance(item, Record) and isinstance(item.event, t.ModelRetried) and item.event.turn == 2:
                        break
                assert talk.interrupt() == "accepted"
                await talk.idle()
                talk.say("and now")
                await talk.idle()
                await talk.shutdown()

    asyncio.run(asyncio.wait_for(go(), 60))
    log = [event for event in weft.log("the-talk") if event["type"] in ("model_retried", "model_settled")]
    assert [(event["turn"], event["type"], event.get("outcome")) for event in log] == [
        (1, "model_retried", None),
        (1, "model_settled", "completed"),
        (2, "model_retried", None),
        (2, "model_settled", "interrupted"),
        (3, "model_settled", "completed"),
    ]
    assert (log[0]["tries"], log[0]["reason"], log[0]["execution"]) == (1, BUSY.message, "t1/model")
    assert "main t1/model waits: work/m: busy (HTTP 529); asking again in" in weft("sessions", "log", "the-talk").out
