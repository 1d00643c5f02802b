"""A run that a server left is taken up as it was meant."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.gated import lay_out_gated
from weft.app import TAKEN_UP, App, SessionRequest
from weft.app.live.live_session import LiveSession
from weft.protocol.commands import Accepted, DescribeSession, StartRun
from weft.protocol.envelope import Actor
from weft.protocol.events import RunStarted, SessionCreated

pytestmark = pytest.mark.process

PAGE = Actor("person", "ada", "web")


def test_an_answer_given_in_advance_outlives_the_server_that_had_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server died at the gate, before it used the answer: the next one uses it, once."""
    workspace = tmp_path / "workspace"
    lay_out_gated(workspace)
    (tmp_path / "subject.txt").write_text("On rivers. They flow.\n")

    async def dies(*_: object) -> None:
        return None

    async def go() -> None:
        with App.open(workspace) as app:
            with monkeypatch.context() as killed:
                killed.setattr(LiveSession, "_rested", dies)
                async with app.session(SessionRequest(session="essay", file=tmp_path / "subject.txt")) as session:
                    await session.submit(StartRun(answers={"plan": "proceed"}), by=PAGE)
                    assert await session.rest() == "waiting"
                    assert list(session.state.gates) == ["plan"]
            wish = app.left_going("essay")
            assert wish is not None
            async with app.session(SessionRequest(session="essay")) as session:
                await session.submit(wish, by=TAKEN_UP)
                assert await session.rest() == "waiting"
                assert list(session.state.gates) == ["review"]
                assert session.state.run is not None
                assert not session.state.run.answers
            assert app.left_going("essay") is None, "it waits for a person now"

    asyncio.run(asyncio.wait_for(go(), 120))


def test_a_run_that_was_killed_is_taken_up_although_its_session_was_labelled_since(tmp_path: Path) -> None:
    """Whoever only opens it puts the end of the run into the log; that is no wish to let it lie."""
    workspace = tmp_path / "workspace"
    lay_out_gated(workspace)
    begun = RunStarted(run=1, pipeline="essay", steps=("plan",), desired="report", parameters={})
    with App.open(workspace) as app:
        with app.sessions.open("essay", create=True) as session:
            session.record([SessionCreated(session="essay", pipeline="essay", weft="0"), begun], by=PAGE)
        assert app.left_going("essay") == StartRun()
        assert isinstance(asyncio.run(app.describe("essay", DescribeSession(flag=True))), Accepted)
        run = app.sessions.read("essay").state.run
        assert run is not None
        assert run.outcome == "interrupted"
        assert app.left_going("essay") == StartRun()
