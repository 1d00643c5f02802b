"""A person's words outlive the process that they were said to: the next one hears what was not heard yet."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gated import started
from tests.made import Weft
from weft.app import App, SessionRequest
from weft.testing.scripted import ScriptedModel, Turn, says

ASKS_A_MODEL = """
import asyncio, sys
from pathlib import Path
from weft.app import App, SessionRequest
from weft.testing.scripted import ScriptedModel, Turn, says
from weft.protocol.commands import Say
from weft.testing.scripted import Hold, ScriptedModel, Turn, says

async def main():
    hold = Hold()
    model = ScriptedModel([Turn(hold, says("never"))])
    with App.open(Path(sys.argv[1]), models={"scripted": model}) as app:
        async with app.session(SessionRequest(session="essay")) as session:
            await session.submit(Say(text=sys.argv[2], to="run"))
            await hold.reached.wait()
            print("asked", flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def weft(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Weft:
    found = started(tmp_path, workspace)
    monkeypatch.setenv("LEDGER", str(found.ledger))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))
    return found


def of(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [line for line in weft.log("essay") if line["type"] == kind]


def test_words_are_there_after_a_kill_while_a_model_is_asked_and_are_heard_then(weft: Weft) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    command = [sys.executable, "-c", ASKS_A_MODEL, str(weft.workspace), "the Danube and its shores"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as process:
        assert process.stdout
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert [line["text"] for line in of(weft, "words_said")] == ["the Danube and its shores"]
    assert of(weft, "words_understood") == []
    (weft.workspace / "config.toml").write_text("")

    async def heard() -> None:
        with App.open(weft.workspace) as app:
            async with app.session(SessionRequest(session="essay")) as session:
                await session.rest()

    asyncio.run(asyncio.wait_for(heard(), 60))
    (understood,) = of(weft, "words_understood")
    assert (understood["meaning"], understood["words"]) == ("unclear", of(weft, "words_said")[0]["words"])


def test_a_reply_that_was_said_and_not_heard_lets_the_run_go_on_when_it_is_opened(weft: Weft) -> None:
    """As after a kill between the two decisions: the words are in the log, and nothing was made of them."""
    from weft.protocol.events import WordsSaid

    with App.open(weft.workspace) as app:
        session = app.sessions.open("essay")
        session.record([WordsSaid(run=1, words="w1", text="looks good", to="run")])
        session.close()

    async def heard() -> None:
        with App.open(weft.workspace) as app:
            async with app.session(SessionRequest(session="essay")) as session:
                assert await session.rest() == "waiting"

    asyncio.run(asyncio.wait_for(heard(), 60))
    assert [(line["words"], line["does"]) for line in of(weft, "gate_resolved")] == [("w1", "proceed")]


TALKS = """
import asyncio, sys
from pathlib import Path
from weft.app import App, SessionRequest
from weft.testing.scripted import ScriptedModel, Turn, says
from weft.protocol.commands import Say
from weft.testing.scripted import Hold, ScriptedModel, Turn, says

async def main():
    hold = Hold()
    model = ScriptedModel([Turn(hold, says("never"))])
    with App.open(Path(sys.argv[1]), models={"scripted": model}) as app:
        async with app.session(SessionRequest(session="talk", talk=True)) as session:
            await session.submit(Say(text="one"))
            await hold.reached.wait()
            await session.submit(Say(text="kept words"))
            print("asked", flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_conversation_that_was_killed_with_words_waiting_answers_them_when_it_is_opened(weft: Weft) -> None:
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    command = [sys.executable, "-c", TALKS, str(weft.workspace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as process:
        assert process.stdout
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    model = ScriptedModel([Turn(says("heard"))])

    async def heard() -> None:
        with App.open(weft.workspace, models={"scripted": model}) as app:
            async with app.session(SessionRequest(session="talk", talk=True)) as session:
                await session.rest()

    asyncio.run(asyncio.wait_for(heard(), 60))
    log = weft.log("talk")
    assert [line["outcome"] for line in log if line["type"] == "model_settled"][-1] == "completed", log
    assert "kept words" in str(model.requests[-1])
