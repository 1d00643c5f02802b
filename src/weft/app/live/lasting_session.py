"""`LastingSession`: a session that is talked in, for as long as somebody talks, whoever holds it.

Where another process holds it and goes away, it is followed where it is held by then, or taken up here. Events go on
after the last one that was seen; what was said when the holder went is said again under its key, so that it counts
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, TypeVar

from weft.app.live.opened_session import HOLDER_GONE, OpenedSession
from weft.app.live.slash_commands import OverviewName
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest
from weft.protocol.commands import Refused, Reply, SessionCommand, refusal
from weft.protocol.envelope import PERSON, Actor
from weft.protocol.errors import ExternalError, WeftError
from weft.protocol.events import Event, NoticeGiven, Outcome, QuestionAsked, Record, StatusChanged
from weft.protocol.values import replace
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline

T = TypeVar("T")
Opener = Callable[[SessionRequest], AbstractAsyncContextManager[OpenedSession]]
MOST_HOLDERS: Final = 10
"""That go away one after the other while nothing is recorded: then something is wrong with the session itself."""
HERE: Final = f"{HOLDER_GONE}: it goes on here, in {{folder}} and the mode {{mode}}"
THERE: Final = f"{HOLDER_GONE}: another has it now, and is followed"


class LastingSession(OpenedSession):
    def __init__(self, parts: Parts, request: SessionRequest, opener: Opener) -> None:
        super().__init__(parts, request)
        self._opener = opener
        self._opened = AsyncExitStack()
        self._now: OpenedSession
        self._turning = asyncio.Lock()
        self._order = asyncio.Lock()
        self._tasks: set[asyncio.Task[Reply]] = set()
        self._closed = False

    async def open(self) -> None:
        await self._turn()
        self.id, self.folder = self._now.id, self._now.folder
        self._request = replace(self._request, session=self.id)

    async def _turn(self) -> None:
        self._now = await self._opened.enter_async_context(self._opener(self._request))
        self.held_here = self._now.held_here

    async def _go_on(self, lost: OpenedSession) -> None:
        """Open it again, once for all who noticed that its holder has gone."""
        async with self._turning:
            if self._now is not lost or self._closed:
                return
            await self._opened.aclose()
            self._opened = AsyncExitStack()
            await self._turn()

    async def _asked(self, ask: Callable[[OpenedSession], Awaitable[T]]) -> T:
        while True:
            now = self._now
            try:
                return await ask(now)
            except WeftError:
                if not now.is_lost or self._closed:
                    raise
            await self._go_on(now)

    # -- the door

    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = PERSON) -> asyncio.Future[Reply]:
        if self.held_here:
            return self._now.submit(command, key=key, by=by)
        task = asyncio.get_running_loop().create_task(self._submit(command, key or self._parts.new_name(), by))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _submit(self, command: SessionCommand, key: str, by: Actor) -> Reply:
        async with self._order:
            while True:
                now = self._now
                reply = await now.submit(command, key=key, by=by)
                if not (isinstance(reply, Refused) and now.is_lost) or self._closed:
                    return reply
                try:
                    await self._go_on(now)
                except WeftError as error:
                    return refusal(error)

    async def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        seen, quiet = after, 0
        while True:
            now = self._now
            async for item in now.events(seen):
                if isinstance(item, Record):
                    seen, quiet = item.seq, 0
                yield item
            if not now.is_lost or self._closed:
                return
            if quiet == MOST_HOLDERS:
                raise ExternalError(f"{HOLDER_GONE}, again and again", hint="weft doctor looks at the session")
            quiet += 1
            await self._go_on(now)
            told = HERE.format(folder=self.working, mode=self._request.mode) if self.held_here else THERE
            yield NoticeGiven(text=told)

    @property
    def state(self) -> SessionState:
        return self._now.state

    @property
    def status(self) -> StatusChanged | None:
        return self._now.status

    @property
    def pipeline(self) -> Pipeline:
        return self._now.pipeline

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        return self._now.questions

    async def run_at_rest(self) -> Outcome | None:
        return await self._asked(lambda now: now.run_at_rest())

    async def rest(self) -> Outcome | None:
        async with self._order:  # behind what was submitted
            pass
        return await self._asked(lambda now: now.rest())

    async def look_inside(self, what: OverviewName) -> str:
        return await self._asked(lambda now: now.look_inside(what))

    async def close(self, *, keep_open: bool | None = None) -> bool:
        self._closed = True
        for task in [*self._tasks]:
            task.cancel()
        async with self._turning:
            clean = await self._now.close(keep_open=keep_open)
            await self._opened.aclose()
        return clean
