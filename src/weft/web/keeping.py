"""The sessions that this server holds open, each as its one writer: from when something is asked of one until it has
been at rest and unused for a while.

Each is held by a task of its own, which enters the session and leaves it, so that whatever a session opened is closed
where it was opened. A session that another process holds is not kept: each use attaches to it anew, since it ends when
that process does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import field, replace
from typing import Final

from weft.app import App, OpenedSession, SessionRequest
from weft.protocol.commands import StartRun
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass

IDLE_SECONDS: Final = 120.0
"""How long a session at rest that nobody uses is held."""


class EndingError(UserError):
    """Nothing is opened any more."""


@dataclass(slots=True, eq=False)
class _Held:
    request: SessionRequest
    wish: StartRun | None
    session: asyncio.Future[OpenedSession]
    users: int = 0
    touched: asyncio.Event = field(default_factory=asyncio.Event)
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class SessionKeeper:
    def __init__(
        self,
        app: App,
        tasks: asyncio.TaskGroup,
        *,
        idle: float = IDLE_SECONDS,
        opened: Callable[[str], None] = lambda _: None,
        troubled: Callable[[str, Exception], None] = lambda _, __: None,
    ) -> None:
        self._app = app
        self._tasks = tasks
        self._idle = idle
        self._held: dict[str, _Held] = {}
        self._all: set[_Held] = set()
        """With those that have no name yet, and those that another process holds."""
        self._closing = False
        self._opened = opened
        """Is told whenever a session begins to be held."""
        self._troubled = troubled
        """Is told when something goes wrong in a session that nobody waits for: the others go on."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._held)

    def holding(self, session: str) -> OpenedSession | None:
        """A session that is held here now."""
        held = self._held.get(session)
        if held is None or not held.session.done() or held.session.cancelled() or held.session.exception():
            return None
        return held.session.result()

    @asynccontextmanager
    async def new(self, request: SessionRequest, wish: StartRun | None = None) -> AsyncIterator[OpenedSession]:
        """A session that may not be there yet: held from now on, under the name that it turns out to have."""
        if request.session is not None:
            async with self.using(request.session, request, wish) as session:
                yield session
            return
        held = self._hold(request, wish, name=None)
        held.users += 1
        try:
            session = await asyncio.shield(held.session)
            yield session
        finally:
            self._let_be(held)

    @asynccontextmanager
    async def using(
        self, name: str, request: SessionRequest | None = None, wish: StartRun | None = None
    ) -> AsyncIterator[OpenedSession]:
        """A session that is not let go of meanwhile; opened when it is not held. UserError when it can't be."""
        while True:
            held = self._held.get(name)
            if held is None:
                asked = request or SessionRequest(session=name, working=self._app.workspace.path)
                held = self._hold(asked, wish, name=name)
            elif held.leaving.is_set():
                assert held.task is not None
                await asyncio.wait({held.task})
                continue
            break
        held.users += 1
        try:
            yield await asyncio.shield(held.session)
        finally:
            self._let_be(held)

    async def let_go(self, name: str) -> None:
        """Of one session, if it is held: what runs in it is stopped."""
        held = self._held.get(name)
        if held is not None and held.task is not None:
            held.leaving.set()
            await asyncio.wait({held.task})

    async def close(self) -> None:
        """Let go of everything: what runs is stopped, and can be taken up again. Nothing is opened any more: who then
        goes on with what was stopped, or has a next file of a batch, would keep the server from ending."""
        self._closing = True
        for held in self._all:
            held.leaving.set()
            held.touched.set()
        tasks = {held.task for held in self._all if held.task}
        if tasks:
            await asyncio.wait(tasks)

    # -- inside

    def _let_be(self, held: _Held) -> None:
        held.users -= 1
        held.touched.set()

    def _hold(self, request: SessionRequest, wish: StartRun | None, name: str | None) -> _Held:
        if self._closing:
            raise EndingError("the server was ended before this could begin", hint="ask for it again")
        held = _Held(request, wish, asyncio.get_running_loop().create_future())
        self._all.add(held)
        held.session.add_done_callback(lambda done: done.cancelled() or done.exception())  # who waits gets it
        if name is not None:
            self._held[name] = held
        held.task = self._tasks.create_task(self._held_open(held, name), name=f"holds {name or 'a new session'}")
        return held

    async def _held_open(self, held: _Held, name: str | None) -> None:
        try:
            request = await self._app.off_loop(lambda: self._as_it_is(held.request))
            async with self._app.session(request, held.wish) as session:
                known = name or session.id
                held.session.set_result(session)
                self._opened(known)
                if not session.held_here:
                    if self._held.get(known) is held:
                        del self._held[known]  # whoever uses it now keeps it; the next one attaches anew
                    while held.users and not held.leaving.is_set():
                        held.touched.clear()
                        await held.touched.wait()
                    return
                name = known
                self._held[name] = held
                await self._until_idle(held, session)
        except Exception as error:  # noqa: BLE001  one session's trouble is not the others'
            if held.session.done():
                self._troubled(name or "", error)
            else:
                held.session.set_exception(error)
        finally:
            self._all.discard(held)
            if name is not None and self._held.get(name) is held:
                del self._held[name]
            if not held.session.done():
                held.session.cancel()

    def _as_it_is(self, request: SessionRequest) -> SessionRequest:
        """A session that was begun to talk in has no pipeline, and needs none to go on."""
        name = request.session
        if request.talk or request.pipeline or name is None or not self._app.sessions.exists(name):
            return request
        state = self._app.sessions.read(name).state
        return replace(request, talk=True) if state.seq and not state.pipeline else request

    async def _until_idle(self, held: _Held, session: OpenedSession) -> None:
        """Until it has been at rest and unused for a while, or everything is let go of."""
        leaving = asyncio.ensure_future(held.leaving.wait())
        try:
            while not held.leaving.is_set():
                resting = asyncio.ensure_future(session.rest())
                await asyncio.wait({resting, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not resting.done():
                    resting.cancel()
                    return
                resting.result()
                held.touched.clear()
                touched = asyncio.ensure_future(held.touched.wait())
                await asyncio.wait({touched, leaving}, timeout=self._idle, return_when=asyncio.FIRST_COMPLETED)
                quiet = not touched.done()
                touched.cancel()
                if quiet and not held.users:
                    held.leaving.set()
        finally:
            leaving.cancel()
