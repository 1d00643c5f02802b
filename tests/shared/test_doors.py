"""A conversation lives in one process; from any other machine of the workspace one speaks to it all the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.app import App, AttachedSession, LiveSession, SessionRequest
from weft.app.live.remote_door import Knocks
from weft.protocol.commands import Accepted, Interrupt, Refused, ReplyToGate, Say
from weft.protocol.errors import ExternalError
from weft.protocol.events import Record
from weft.session.postgres import PostgresLog
from weft.testing.scripted import Hold, ScriptedModel, Turn, says

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]

TALK = SessionRequest(session="talk-1", talk=True)


def machine(path: Path, store: str) -> Path:
    path.mkdir()
    (path / "config.toml").write_text(f'store = "{store}"\nmodel = "scripted"\n')
    return path


def test_a_conversation_that_another_server_holds_is_spoken_to_from_here(tmp_path: Path, store: str) -> None:
    hold = Hold()
    model = ScriptedModel([Turn(*says("Rivers flow.", pieces=3)), Turn(hold, *says("never"))])

    async def go() -> None:
        with (
            App.open(machine(tmp_path / "a", store), models={"scripted": model}) as one,
            App.open(machine(tmp_path / "b", store), models={"scripted": ScriptedModel([])}) as two,
        ):
            async with one.session(TALK) as held, two.session(TALK) as session:
                assert isinstance(held, LiveSession)
                assert isinstance(session, AttachedSession)
                seen: list[Any] = []
                async with session.shown(seen.append, 0) as showing:
                    assert isinstance(await session.submit(Say(text="What do rivers do?"), key="k"), Accepted)
                    await session.rest()
                    # the same words again under their key are taken once
                    assert isinstance(await session.submit(Say(text="What do rivers do?"), key="k"), Accepted)
                    refused = await session.submit(ReplyToGate(gate="none", choice="proceed"))
                    assert isinstance(refused, Refused)
                    assert isinstance(await session.submit(Say(text="And lakes?")), Accepted)
                    await hold.reached.wait()
                    assert isinstance(await session.submit(Interrupt()), Accepted)
                    await session.rest()
                    await showing.caught_up()
                records = [item.seq for item in seen if isinstance(item, Record)]
                assert records == list(range(1, held.state.seq + 1)), "every event, once and in order"
                live = [item for item in seen if not isinstance(item, Record)]
                assert any("Rivers" in str(item) or "flow" in str(item) for item in live), "as it is said"
                assert session.state.seq == held.state.seq
                assert await session.look_inside("context")
            # let go of there, it is taken here
            async with two.session(TALK) as session:
                assert isinstance(session, LiveSession)

    asyncio.run(asyncio.wait_for(go(), 120))


def test_who_knocks_where_nobody_is_any_more_is_told(tmp_path: Path, store: str) -> None:
    """A holder that was killed: its lease still says that it is there, and then does not."""
    gone = PostgresLog(store, lease=1.0)
    epoch = gone.take("talk-1")
    gone._held.clear()  # nothing is renewed from here on
    assert epoch == 1

    async def go() -> None:
        with App.open(machine(tmp_path / "a", store)) as app:
            assert isinstance(app.knocks, Knocks)
            async with app.knocks.knocking("talk-1", b"{}\n") as answers:
                assert await answers.readline() == b""
            assert app.knocks._listening is None

    try:
        asyncio.run(asyncio.wait_for(go(), 60))
    finally:
        gone.close()


def test_a_database_that_goes_ends_the_meeting(tmp_path: Path, server: Any) -> None:
    with server.database() as store:

        async def go() -> None:
            with (
                App.open(machine(tmp_path / "a", store), models={"scripted": ScriptedModel([])}) as one,
                App.open(machine(tmp_path / "b", store)) as two,
            ):
                async with one.session(TALK), two.session(TALK) as session:
                    assert isinstance(session, AttachedSession)
                    following = asyncio.ensure_future(_last(session))
                    await session.look_inside("context")  # it is there
                    await asyncio.to_thread(server.stop, "immediate")
                    await asyncio.to_thread(server.start)
                    await following
                    assert isinstance(await session.submit(Say(text="")), Accepted | Refused)

        asyncio.run(asyncio.wait_for(go(), 120))


async def _last(session: AttachedSession) -> None:
    try:
        async for _ in session.events(0):
            pass
    except ExternalError:
        pass
