"""The way to a session's door when another machine holds it: lines through the shared database.

Who holds a session stands in the shared log. Whoever wants something of it leaves a *knock* there, one line as
`door.py` has them; the holder takes it up and answers line by line, until one of the two goes. So machines need to know
nothing of each other but the store, and a session has one door wherever it is held. Nothing here is durable: the tables
are not logged, and after a crash of the database who knocked is told that nobody answers.

One task listens for all sessions and knocks of this process, and looks by itself now and then besides.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from weft.protocol.errors import ExternalError

if TYPE_CHECKING:
    from weft.session.postgres import PostgresLog

CHANNEL: Final = "weft_knocks"
LOOK: Final = 2.0
"""Seconds between two looks when nothing was heard."""
SILENCE: Final = 15.0
"""Seconds after which whoever knocked and says nothing is gone."""
PATIENCE: Final = 5.0
"""Seconds that a database may be away before a meeting is over."""
MOST_WAITING: Final = 2000
"""Lines that may wait to be sent before who writes them waits too."""

_TABLES: Final = """
CREATE UNLOGGED TABLE IF NOT EXISTS weft.knocks (
    knock text PRIMARY KEY, session text NOT NULL, asked bytea NOT NULL, taken boolean NOT NULL DEFAULT false,
    seen timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS knocks_session ON weft.knocks (session);
CREATE UNLOGGED TABLE IF NOT EXISTS weft.answers (
    knock text NOT NULL, number bigint NOT NULL, line bytea NOT NULL, PRIMARY KEY (knock, number));
"""


class Visit:
    """A knock as the holder has it."""

    def __init__(self, knocks: Knocks, knock: str, asked: bytes) -> None:
        self.asked = asked
        self.gone = asyncio.Event()
        self._knocks = knocks
        self._knock = knock
        self._number = 0
        self._lines: list[bytes] = []
        self._room = asyncio.Condition()
        self._sending: asyncio.Task[None] | None = None

    async def write(self, line: bytes) -> None:
        """Lines that come while others are sent go together."""
        async with self._room:
            await self._room.wait_for(lambda: len(self._lines) < MOST_WAITING)
        self._lines.append(line)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send(), name="answers a knock")

    async def end(self) -> None:
        """Nothing more comes: an empty line, as at the end of a stream."""
        self._knocks.leave(self._knock)
        if not self.gone.is_set():
            await self.write(b"")
        if self._sending is not None:
            await asyncio.wait({self._sending})

    async def _send(self) -> None:
        while self._lines and not self.gone.is_set():
            lines, self._lines = self._lines, []
            numbers = list(range(self._number, self._number + len(lines)))
            self._number += len(lines)
            try:
                await self._knocks.ask(
                    "WITH said AS (INSERT INTO weft.answers (knock, number, line) "
                    "SELECT %s, n, l FROM unnest(%s::bigint[], %s::bytea[]) a(n, l) ON CONFLICT DO NOTHING) "
                    "SELECT pg_notify(%s, %s)",
                    (self._knock, numbers, lines, CHANNEL, self._knock),
                )
            except ExternalError:
                self.gone.set()
            async with self._room:
                self._room.notify_all()
        if self.gone.is_set():
            self._lines.clear()


class Answers:
    """What is answered to a knock, as lines."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._next = 0
        self._ended = False

    def put(self, number: int, line: bytes) -> None:
        """One that is missing was lost with a connection: then this is the end."""
        self._queue.put_nowait(line if number == self._next else b"")
        self._next += 1

    def end(self) -> None:
        self._queue.put_nowait(b"")

    async def readline(self) -> bytes:
        """Empty at the end."""
        if self._ended:
            return b""
        line = await self._queue.get()
        self._ended = not line
        return line


Meet = Callable[[Visit], None]
"""Is told of a knock; whoever takes it `end`s it."""


class Knocks:
    """Of this process, over one shared log. For one loop at a time."""

    def __init__(self, shared: PostgresLog) -> None:
        self._shared = shared
        self._doors: dict[str, Meet] = {}
        self._visits: dict[str, Visit] = {}
        self._answers: dict[str, tuple[str, Answers]] = {}
        self._users = 0
        self._listening: asyncio.Task[None] | None = None
        self._prepared = False

    async def ask(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        return await asyncio.to_thread(self._shared.rows, query, values, patience=PATIENCE)

    def leave(self, knock: str) -> None:
        self._visits.pop(knock, None)

    @asynccontextmanager
    async def answering(self, session: str, meet: Meet) -> AsyncIterator[None]:
        """While this is open, knocks at the session come here."""
        async with self.listening():
            self._doors[session] = meet
            try:
                yield
            finally:
                del self._doors[session]

    @asynccontextmanager
    async def knocking(self, session: str, asked: bytes) -> AsyncIterator[Answers]:
        """Ask something of whoever holds the session, and hear what comes."""
        knock, answers = secrets.token_hex(12), Answers()
        async with self.listening():
            self._answers[knock] = (session, answers)
            try:
                await self.ask(
                    "WITH come AS (INSERT INTO weft.knocks (knock, session, asked) VALUES (%s, %s, %s) "
                    "ON CONFLICT DO NOTHING) SELECT pg_notify(%s, %s)",
                    (knock, session, asked, CHANNEL, session),
                )
                yield answers
            finally:
                del self._answers[knock]
                with suppress(ExternalError):
                    await self.ask(
                        "WITH gone AS (DELETE FROM weft.knocks WHERE knock = %s), "
                        "unheard AS (DELETE FROM weft.answers WHERE knock = %s) SELECT pg_notify(%s, %s)",
                        (knock, knock, CHANNEL, f"gone {knock}"),
                    )

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Whoever is in here shares one connection."""
        self._users += 1
        try:
            await self._prepare()
            if self._listening is None:
                self._listening = asyncio.get_running_loop().create_task(self._listen(), name="listens for knocks")
            yield
        finally:
            self._users -= 1
            if not self._users and self._listening is not None:
                listening, self._listening = self._listening, None
                listening.cancel()
                await asyncio.wait({listening})

    async def _listen(self) -> None:
        import psycopg

        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._shared.address, **self._shared.settings)
                async with connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    while True:
                        await self._look()
                        await self._hear(connection)
            except (psycopg.Error, ExternalError, OSError):
                for visit in self._visits.values():
                    visit.gone.set()
                for _, answers in self._answers.values():
                    answers.end()
                await asyncio.sleep(1.0)

    async def _hear(self, connection: Any) -> None:
        """Until something concerns this process, or a look is due."""
        deadline = asyncio.get_running_loop().time() + LOOK
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            async for note in connection.notifies(timeout=left, stop_after=1):
                told = note.payload
                if told in self._doors or told in self._answers:
                    return
                if told.startswith("gone ") and (visit := self._visits.get(told.removeprefix("gone "))) is not None:
                    visit.gone.set()

    async def _prepare(self) -> None:
        if not self._prepared:
            await asyncio.to_thread(self._shared.have, "weft.answers", lambda: _TABLES)
            self._prepared = True

    async def _look(self) -> None:
        if self._answers:
            await self._hear_answers()
        if self._doors:
            rows = await self.ask(
                "UPDATE weft.knocks SET taken = true WHERE session = ANY(%s) AND NOT taken RETURNING knock, session, "
                "asked",
                ([*self._doors],),
            )
            for knock, session, asked in rows:
                if (meet := self._doors.get(session)) is not None:
                    self._visits[knock] = visit = Visit(self, knock, bytes(asked))
                    meet(visit)
        if self._visits:
            rows = await self.ask(
                "SELECT knock FROM weft.knocks WHERE knock = ANY(%s) AND seen > now() - %s * interval '1 second'",
                ([*self._visits], SILENCE),
            )
            there = {knock for (knock,) in rows}
            for knock, visit in self._visits.items():
                if knock not in there:
                    visit.gone.set()

    async def _hear_answers(self) -> None:
        rows = await self.ask(
            "WITH heard AS (DELETE FROM weft.answers WHERE knock = ANY(%(mine)s) RETURNING knock, number, line), "
            "there AS (UPDATE weft.knocks SET seen = now() WHERE knock = ANY(%(mine)s)) "
            "SELECT knock, number, line FROM heard ORDER BY knock, number",
            {"mine": [*self._answers]},
        )
        for knock, number, line in rows:
            if knock in self._answers:
                self._answers[knock][1].put(number, bytes(line))
        heard = {knock for knock, _, _ in rows}
        for knock, (session, answers) in [*self._answers.items()]:
            if knock not in heard and await asyncio.to_thread(self._shared.holder, session) is None:
                answers.end()  # whoever held it has ended
