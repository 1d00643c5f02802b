"""`OpenedSession`: a session as faces use it, held by this process (`live_session.py`) or by another (`door.py`)."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.app.live.overviews import INSIDE, known_words, look_around, run_result
from weft.app.live.slash_commands import Export, Fork, KnownWords, Overview, OverviewName
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest
from weft.orchestrator.rest_commands import asked_of, chosen_id, is_heard, open_gate, resting_run
from weft.protocol.commands import Refused, Reply, SessionCommand, StartRun
from weft.protocol.envelope import PERSON, Actor
from weft.protocol.errors import ExternalError
from weft.protocol.events import ConfirmationAsked, Event, GateOpened, Outcome, QuestionAsked, Record, StatusChanged
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline

if TYPE_CHECKING:
    from weft.app.library.scaffolding import LibraryDraft
    from weft.app.live.mentions import Mentionable

RUN_GOES_ON: Final = "a run is going on in this session"
HOLDER_GONE: Final = "the process that held the session has ended"
Show = Callable[[Record | Event], None]


class OpenedSession(ABC):
    id: str
    folder: Path
    held_here = True
    """This process is its one writer."""
    is_lost = False
    """Whoever held it has gone: nothing more comes from there, and nothing is answered."""

    def __init__(self, parts: Parts, request: SessionRequest) -> None:
        self._parts = parts
        self._request = request

    # -- the door

    @abstractmethod
    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = PERSON) -> asyncio.Future[Reply]:
        """Into the session's inbox, in the order of the calls; awaiting it gives the reply: accepted with its number in
        the log, or refused with the reason. With a `key` it is carried out once, however often it is given."""

    @abstractmethod
    def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        """Every record after `after`, each once and in order, and what is live from now on. Ends with the session."""

    @property
    @abstractmethod
    def state(self) -> SessionState:
        """What the log adds up to."""

    @property
    @abstractmethod
    def pipeline(self) -> Pipeline:
        """The session's own. WorkspaceError when it can't be read."""

    @property
    @abstractmethod
    def status(self) -> StatusChanged | None:
        """What a status line says of its conversation; None as long as there is none."""

    @abstractmethod
    async def run_at_rest(self) -> Outcome | None:
        """Until no run is at work and every word to it was heard; how the last one came to rest. Raises what went
        wrong in it."""

    @abstractmethod
    async def rest(self) -> Outcome | None:
        """As `run_at_rest`, and the conversation has nothing left to do either."""

    @abstractmethod
    async def look_inside(self, what: OverviewName) -> str:
        """What is known only where its conversation is held, as Markdown."""

    @abstractmethod
    async def close(self, *, keep_open: bool | None = None) -> bool:
        """Let go of it. A conversation in which something waits for a person is left as it stands (`keep_open` says so
        or otherwise), so that it can still be answered. Whether nothing was left running."""

    # -- what follows from it

    async def run(self, command: SessionCommand, *, key: str = "", by: Actor = PERSON) -> Outcome:
        """Give a command and wait until the run has come to rest. UserError when it is refused."""
        (await self.submit(command, key=key, by=by)).check()
        return await self.run_at_rest() or "waiting"

    def goes_on_elsewhere(self, command: SessionCommand, reply: Reply) -> bool:
        """Whether the very thing that was asked for is being done where the session is held: then it can be followed to
        its rest, and asked for again. With wishes of its own a run is refused beside another."""
        is_plain = command == StartRun()
        return is_plain and not self.held_here and isinstance(reply, Refused) and reply.reason == RUN_GOES_ON

    async def known_words(self) -> KnownWords:
        """What can follow a slash here now: `read_slash` takes it."""
        return await self._parts.off_loop(lambda: known_words(self._parts, self._request.working))

    async def mentionable(self) -> list[Mentionable]:
        """What can be named with an at sign here now: `ranked` takes it."""
        from weft.app.live.mentions import mentionable  # a run names nothing

        return await self._parts.off_loop(lambda: mentionable(self._parts, self.working, self.id))

    @property
    def working(self) -> Path:
        """The folder that the conversation's tools work in."""
        return self._request.working

    async def look(self, what: OverviewName) -> str:
        """Something to be shown, as Markdown. Nobody is asked for it, and nothing is recorded."""
        if what in INSIDE:
            return await self.look_inside(what)
        if what == "result":
            return await self._parts.off_loop(lambda: run_result(self.state, self.folder))
        return await self._parts.off_loop(lambda: look_around(what, self._parts, self._request.working))

    async def build(self, words: str) -> LibraryDraft:
        """A draft of a pipeline, an agent or a skill, by the workspace's model. UserError when none can."""
        from weft.app.library.scaffolding import build_here

        return await build_here(self._parts, self._request.model, words)

    async def lay(self, draft: LibraryDraft) -> None:
        """A draft that the person said yes to, into the workspace."""
        from weft.app.library.scaffolding import lay_draft

        await self._parts.off_loop(lambda: lay_draft(self._parts, draft))

    async def said_before(self) -> list[str]:
        """What the person said in the last conversations of the workspace, the last first, each once."""
        from weft.app.live.overviews import said_before

        return await self._parts.off_loop(lambda: said_before(self._parts))

    async def fork(self) -> str:
        """The name of a new session that shares everything up to now."""
        return await self._parts.off_loop(lambda: self._parts.fork(self.id))

    async def export(self, wanted: Export) -> Path:
        """The session as a file of the working folder, or where it is told to; nothing is written over. UserError for
        a bundle that would hold a secret."""
        from weft.app.sessions.session_export import export_to

        return await self._parts.off_loop(lambda: export_to(self._parts, self.id, wanted, self.working))

    async def answered(self, wanted: Overview | Fork | Export) -> str:
        """What a look, a fork or an export comes to: Markdown, the name of a session, the path of a file."""
        match wanted:
            case Overview():
                return await self.look(wanted.what)
            case Fork():
                return await self.fork()
            case Export():
                return str(await self.export(wanted))

    async def records(self, after: int = 0) -> list[Record]:
        """What the log has after `after`; `events` with the number of the last one goes on from there."""
        return await self._parts.off_loop(lambda: list(self._parts.sessions.records(self.id, after)))

    @asynccontextmanager
    async def shown(self, show: Show, after: int | None = None) -> AsyncIterator[Showing]:
        """While this is open, `show` gets everything that happens: from now on, or from a number of the log."""
        showing = Showing(self, show, self.state.seq if after is None else after)
        following = asyncio.get_running_loop().create_task(showing.follow(), name=f"{self.id} is shown")
        try:
            yield showing
        finally:
            following.cancel()
            await asyncio.wait({following})

    @property
    def asks(self) -> tuple[GateOpened | ConfirmationAsked, ...]:
        """What its run asks a person now."""
        return asked_of(self.state)

    @property
    def questions(self) -> tuple[QuestionAsked, ...]:
        """What tools of its conversation ask a person now; known only where it is held."""
        return ()

    @property
    def is_heard(self) -> bool:
        """Whether it has a run at rest that words could be for."""
        return is_heard(self.state)

    def check_heard(self) -> None:
        """UserError that says why words are for no run: there is none, it is over, or it is at work. What is said to a
        gate that is open while other steps are made is heard once they are."""
        if not self.state.gates:
            resting_run(self.state)

    @property
    def unfinished(self) -> str:
        """In words, that its run could be taken up again; "" when it asks something itself, or there is none."""
        run = self.state.run
        if run is None or not self.is_heard or (run.outcome != "left" and self.state.gates):
            return ""
        return f'the run of {run.pipeline} is not finished ({run.outcome}); say "resume the run" to go on'

    @property
    def left_for(self) -> str:
        """The message for which its run was left; "" when it was left for none."""
        from weft.orchestrator.reply_intent import left_for  # what words mean is a lot to load, and most runs hear none

        return left_for(self.state.left_for)

    def choice_of(self, gate: str, word: str) -> str:
        """The id of the choice that a word or number means at a gate. UserError when there is none."""
        state = self.state
        return chosen_id(open_gate(state, gate or next(iter(state.gates), "")), word)


class HeldElsewhere(OpenedSession):
    """One that another process holds, or will: what is submitted goes there in the order of the calls."""

    held_here = False

    def __init__(self, parts: Parts, request: SessionRequest, name: str, folder: Path) -> None:
        super().__init__(parts, request)
        self.id = name
        self.folder = folder
        self._order = asyncio.Lock()
        self._tasks: set[asyncio.Task[Reply]] = set()

    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = PERSON) -> asyncio.Future[Reply]:
        task = asyncio.get_running_loop().create_task(self._submit(command, key, by), name="submits")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @abstractmethod
    async def _submit(self, command: SessionCommand, key: str, by: Actor) -> Reply: ...

    async def close(self, *, keep_open: bool | None = None) -> bool:
        """Go away from it; whoever holds it goes on."""
        for task in [*self._tasks]:
            task.cancel()
        return True


class Showing:
    """Events on their way to whoever looks."""

    def __init__(self, session: OpenedSession, show: Show, after: int) -> None:
        self._session = session
        self._show = show
        self._seq = after
        self._moved = asyncio.Event()
        self._over: BaseException | None = None
        self.ended = asyncio.Event()
        """Nothing more comes: the session was let go of, or whoever held it has gone."""

    @property
    def seq(self) -> int:
        """The number of the last record that was shown."""
        return self._seq

    async def follow(self) -> None:
        try:
            async for item in self._session.events(self._seq):
                self._show(item)
                if isinstance(item, Record):
                    self._seq = item.seq
                    self._moved.set()
            self._over = ExternalError(HOLDER_GONE, retryable=True)
        except asyncio.CancelledError:
            self._over = asyncio.CancelledError()  # the one that came here holds this very frame
            raise
        except BaseException as error:
            self._over = error
            raise
        finally:
            self._moved.set()
            self.ended.set()

    async def caught_up(self) -> None:
        """Until everything was shown that the log has now. Raises what keeps it from that."""
        seq = self._session.state.seq
        while self._seq < seq and self._over is None:
            self._moved.clear()
            await self._moved.wait()
        if self._over is not None and (self._seq < seq or not isinstance(self._over, ExternalError)):
            raise self._over
