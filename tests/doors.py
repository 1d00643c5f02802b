"""The door of a session in the words of tests that talk: each call is a command, each wait a wait for rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from weft.app import App, LiveSession, SessionRequest
from weft.conversation.conversation import Conversation
from weft.protocol.commands import Accepted, Interrupt, Reply, Say
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import Decision
from weft.protocol.events import Event, Record, StatusChanged


class OpenConversation:
    """A session that is talked in."""

    def __init__(self, session: LiveSession) -> None:
        self.session = session

    def say(self, text: str) -> asyncio.Future[Reply]:
        return self.session.submit(Say(text=text))

    def approve(
        self, call: str, decision: Decision, *, conversation: str = "main", reason: str = ""
    ) -> asyncio.Future[Reply]:
        return self.session.submit(
            DecideApproval(conversation=conversation, call=call, decision=decision, reason=reason)
        )

    def interrupt(self, target: str = "") -> str:
        """What it met."""
        reply = self.session.submit(Interrupt(target=target)).result()
        assert isinstance(reply, Accepted)
        return reply.note

    async def idle(self) -> None:
        await self.session.rest()

    def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        return self.session.events(after)

    async def shutdown(self) -> bool:
        return await self.session.close(keep_open=False)

    async def suspend(self) -> bool:
        return await self.session.close(keep_open=True)

    @property
    def status(self) -> StatusChanged:
        status = self.session.status
        assert status is not None
        return status

    @property
    def engine(self) -> Conversation:
        opened = self.session.conversation
        assert opened is not None
        return opened.conversation


@asynccontextmanager
async def talk_in(app: App, **request: Any) -> AsyncIterator[OpenConversation]:
    async with app.session(SessionRequest(talk=True, **request)) as session:
        assert isinstance(session, LiveSession)
        yield OpenConversation(session)
