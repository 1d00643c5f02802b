"""A conversation in this process, with a model that follows a script: what several tests of it need."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from weft.app import App, OpenedSession, SessionRequest
from weft.protocol.commands import Accepted, GivenFile, Mode, Reply, Say, SessionCommand
from weft.protocol.events import Record
from weft.testing.scripted import ScriptedModel, Turn
from weft.workspace.model_table import MediaKind

Play = Callable[[OpenedSession], Awaitable[None]]
SECONDS = 60


def talk(
    workspace: Path,
    desk: Path,
    turns: Sequence[Turn],
    play: Play,
    *,
    mode: Mode = "edits",
    session: str = "talk",
    media: frozenset[MediaKind] = frozenset(),
) -> list[Record]:
    """Every record of the session after `play`; the model must have said all that it has."""
    model = ScriptedModel(turns, media=media)

    async def go() -> None:
        with App.open(workspace, models={"scripted": model}) as app:
            request = SessionRequest(talk=True, session=session, mode=mode, working=desk)
            async with app.session(request, reachable=False) as opened:
                await play(opened)

    asyncio.run(asyncio.wait_for(go(), SECONDS))
    model.assert_done()
    with App.open(workspace) as app:
        return list(app.sessions.records(session))


async def say(session: OpenedSession, text: str, *files: GivenFile) -> None:
    reply = await session.submit(Say(text=text, attachments=files))
    assert isinstance(reply, Accepted), reply
    await session.rest()


async def give(session: OpenedSession, command: SessionCommand) -> Reply:
    reply = await session.submit(command)
    await session.rest()
    return reply
