"""Goes on with what waited for its time, or for a sign-in that is there now, in one workspace.

The index says which sessions wait. What one of them waits for is read once, and again when its log has grown: there may
be hundreds, and long ones. A session that can't be read or go on is told of once and tried again; it is in no other's
way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from weft.app import TAKEN_UP, App, Awaited, ListedSession
from weft.protocol.commands import ReplyToGate, StartRun
from weft.protocol.envelope import Actor
from weft.web.keeping import SessionKeeper

CLOCK_SECONDS: Final = 5.0
"""Between two looks at what waits."""
ON_TIME: Final = Actor("machine", "clock", TAKEN_UP.face)


class SessionClock:
    def __init__(
        self,
        app: App,
        keeper: SessionKeeper,
        waiting: Callable[[], Sequence[ListedSession]],
        trouble: Callable[[str, Exception], None],
    ) -> None:
        self._app = app
        self._keeper = keeper
        self._waiting = waiting
        self._trouble = trouble
        self._awaited: dict[tuple[str, int], Awaited] = {}
        """By the session and the last number of its log."""
        self._failed: dict[str, str] = {}

    async def watch(self) -> None:
        """For as long as this is not cancelled."""
        while True:
            try:
                for session, wish in await self._app.off_loop(self._come):
                    await self._go_on(session, wish)
            except Exception as error:  # noqa: BLE001  the next look may find it well
                self._trouble("", error)
            await asyncio.sleep(CLOCK_SECONDS)

    def _come(self) -> list[tuple[str, StartRun | ReplyToGate]]:
        waiting = [(one.id, one.seq) for one in self._waiting()]
        read = [(one, self._awaited.get(one) or self._read(one[0])) for one in waiting]
        self._awaited = {one: awaited for one, awaited in read if awaited is not None}
        come = ((session, self._app.has_come(awaited)) for (session, _), awaited in self._awaited.items())
        return [(session, wish) for session, wish in come if wish is not None]

    def _read(self, session: str) -> Awaited | None:
        try:
            return self._app.awaited(session)
        except Exception as error:  # noqa: BLE001  it may be there again at the next look: a disk, a database
            self._tell(session, error)
            return None

    async def _go_on(self, session: str, wish: StartRun | ReplyToGate) -> None:
        try:
            async with self._keeper.using(session) as held:
                await held.submit(wish, by=ON_TIME)
            self._failed.pop(session, None)
        except Exception as error:  # noqa: BLE001  one session's trouble is not the others'
            self._tell(session, error)

    def _tell(self, session: str, error: Exception) -> None:
        if self._failed.get(session) != str(error):
            self._failed[session] = str(error)
            self._trouble(session, error)
