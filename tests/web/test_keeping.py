"""What a server that ends does with its sessions: it lets go of all it holds, and opens no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.web.served import PATIENT
from weft.app import App, GivenFile, SessionRequest
from weft.protocol.commands import StartRun
from weft.protocol.events import Record
from weft.web.keeping import EndingError, SessionKeeper
from weft.web.place import ServedWorkspace


def test_closed_it_opens_nothing_and_lets_go_of_what_was_just_being_opened(own_desk: Path) -> None:
    async def lived(app: App) -> None:
        async with asyncio.TaskGroup() as tasks:
            keeper = SessionKeeper(app, tasks)
            request = SessionRequest(talk=True, working=app.workspace.path)
            opening = asyncio.create_task(_opened(keeper, request))
            await asyncio.sleep(0)  # it has no name yet
            async with asyncio.timeout(20):
                await keeper.close()
            await asyncio.wait({opening})
            assert keeper.names == ()
            with pytest.raises(EndingError):
                await _opened(keeper, request)

    with App.open(own_desk) as app:
        asyncio.run(lived(app))


def test_it_does_not_go_on_with_what_it_has_just_stopped(own_desk: Path) -> None:
    """Who goes on with what an earlier server left looks at the list when this one may be ending already."""

    async def lived(app: App) -> list[str]:
        troubles: list[str] = []
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            place = ServedWorkspace("desk", app, tasks, lambda _, error: troubles.append(str(error)))
            text = GivenFile(PATIENT.encode(), "patience.md")
            request = SessionRequest(pipeline="notes", file=text, working=app.workspace.path)
            async with place.keeper.new(request, StartRun()) as session:
                await session.submit(StartRun())
                async for item in session.events(0):
                    if isinstance(item, Record) and item.event.type == "step_started":
                        break
            place.take_up()
            await place.close()
        return troubles

    with App.open(own_desk) as app:
        assert asyncio.run(lived(app)) == []
    (session,) = (own_desk / "sessions").iterdir()
    log = (session / "log.jsonl").read_text().splitlines()
    assert [line.count('"type":"run_started"') for line in log].count(1) == 1
    assert '"outcome":"interrupted"' in log[-1]


async def _opened(keeper: SessionKeeper, request: SessionRequest) -> str:
    async with keeper.new(request) as session:
        return session.id
