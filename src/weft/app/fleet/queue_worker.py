"""A worker: takes work from the queue of a shared workspace, one session at a time for each place it has, and does it
exactly as a terminal would. What it writes is in the shared log; its own folder is scratch.

It holds nothing between two commands: a run that waits at a gate is let go of, and the reply is work again. A worker
that dies is noticed by the others: its heartbeat stops, and its work is given out anew. One that was only thought dead
finds its epoch ended, says so, and lets go.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.app.fleet.queue import BEGUN, DEFAULT, TASK, Queue, Work, open_queue
from weft.app.fleet.shared_files import lay_tree
from weft.app.live.door_messages import to_wire
from weft.app.live.live_session import LiveSession
from weft.app.live.remote_door import Knocks
from weft.app.root import TAKEN_UP, App
from weft.files import Disk
from weft.orchestrator.rest_commands import continued
from weft.protocol.call_events import in_a_line
from weft.protocol.commands import Accepted, Refused, Reply, StartRun, refusal
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.events import LOG_VERSION
from weft.session.lock import SessionLockedError
from weft.session.log import LOG
from weft.session.postgres import PostgresLog
from weft.session.shared import FencedError
from weft.version import __version__

if TYPE_CHECKING:
    import procrastinate
    from procrastinate.job_context import JobContext
    from procrastinate.jobs import Job
    from procrastinate.retry import RetryDecision

SILENCE: Final = 8.0
"""Seconds without a sign of life after which a worker's work is given to others."""
FORGOTTEN: Final = 3600.0
GRACE: Final = 30.0
MOST_TRIES: Final = 200
AGAIN_SECONDS: Final = 5.0
"""Until work is given out again that this machine can't do now."""


class TooNewError(ExternalError):
    """Work of a newer program: left to workers that can read it."""


class QueueWorker:
    """`tell` gets a line for whoever watches."""

    def __init__(
        self,
        shared: PostgresLog,
        home: Path,
        *,
        name: str = "",
        concurrency: int = 2,
        queues: Iterable[str] = (DEFAULT,),
        grace: float = GRACE,
        silence: float = SILENCE,
        prepare: Callable[[App], None] = lambda _: None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._shared = shared
        self._queue = Queue(shared)
        self._knocks = Knocks(shared)
        self._slot, self.home = _own_slot(home)
        self.name = name or f"{socket.gethostname()}-{self.home.name}"
        self._concurrency = concurrency
        self._queues = list(queues)
        self._grace = grace
        self._silence = silence
        shared.lease = silence
        self._prepare = prepare
        self._tell = tell
        self._apps: dict[str, App] = {}
        self._laying = asyncio.Lock()
        self._open: dict[str, LiveSession] = {}
        self._done = 0
        self._draining = False
        self._worker: Any = None

    async def run(self) -> None:
        """Until it is drained or told to stop."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._unheard)
        try:
            self._sign_in()
            queue = open_queue(self._shared.address)
            self._offer(queue)
            async with queue.open_async(), self._knocks.listening():
                tidying = asyncio.create_task(self._tidy(queue), name="tidies")
                try:
                    await self._serve(queue)
                finally:
                    tidying.cancel()
                    await asyncio.wait({tidying})
        finally:
            self._loop.set_exception_handler(None)
            if self._shared.is_away:
                self._shared.stop_waiting()
            with suppress(ExternalError):
                await asyncio.to_thread(self._shared.rows, "DELETE FROM weft.workers WHERE worker = %s", (self.name,))
            self.close()

    def _unheard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What went wrong where nobody waits: that the end of a job can't be noted costs nothing, since whoever was
        given it meanwhile has noted it, or it is given out anew."""
        from procrastinate.exceptions import ConnectorException

        error = context.get("exception")
        if isinstance(error, ConnectorException):
            self._tell_once(f"the queue took no note of the end of a job: {_cause(error)}")
        else:
            loop.default_exception_handler(context)

    def stop(self) -> None:
        """Take nothing new, and end when what is at work has come to rest."""
        self._draining = True
        self._loop.call_later(self._grace, self._give_up)
        if self._worker is not None:
            self._worker.stop()

    def _give_up(self) -> None:
        """Who is told to end does not wait for a database that is away: what was not recorded is made elsewhere."""
        if self._shared.is_away:
            self._shared.stop_waiting()

    def close(self) -> None:
        for app in self._apps.values():
            app.close()
        self._apps.clear()
        if self._slot >= 0:
            os.close(self._slot)
            self._slot = -1

    async def _serve(self, queue: procrastinate.App) -> None:
        import psycopg
        from procrastinate.exceptions import ConnectorException
        from procrastinate.worker import Worker

        while not self._draining:
            self._worker = Worker(
                app=queue,
                queues=self._queues,
                name=self.name,
                concurrency=self._concurrency,
                wait=True,
                fetch_job_polling_interval=1.0,
                shutdown_graceful_timeout=self._grace,
                update_heartbeat_interval=self._silence / 4,
                stalled_worker_timeout=self._silence,
                install_signal_handlers=False,
            )
            try:
                await self._worker.run()
            except ConnectorException as error:
                match error.__cause__:
                    case psycopg.OperationalError() | psycopg.InterfaceError():
                        self._tell_once(f"the queue can't be reached: {error.__cause__}")
                    case psycopg.errors.ForeignKeyViolation():
                        self._tell("it was silent for so long that others took it for dead; it signs in anew")
                    case _:
                        raise
            if not self._draining:
                await asyncio.sleep(1.0)  # the database was away; what is at work waits for it too

    def _offer(self, queue: procrastinate.App) -> None:
        from procrastinate.retry import BaseRetryStrategy, RetryDecision

        class Again(BaseRetryStrategy):
            def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
                seconds = _again_in(exception)
                if seconds is None or job.attempts >= MOST_TRIES:
                    return None
                return RetryDecision(retry_at=datetime.now(UTC) + timedelta(seconds=seconds))

        @queue.task(name=TASK, pass_context=True, retry=Again())
        async def work(context: JobContext, session: str, work: str, tree: str, log: int, weft: str) -> None:
            await self._work(session, work, tree, log)

    # -- one command to one session

    async def _work(self, name: str, digest: str, tree: str, log: int) -> None:
        if log > LOG_VERSION:
            self._tell(f"{name}: queued by a newer Weft; left to workers that can read it")
            raise TooNewError("this worker is too old for it")
        key = ""
        try:
            work = Work.from_bytes(await asyncio.to_thread(self._shared.get, digest))
            key = work.key
            app = await self._app(tree)
            wish = work.command if isinstance(work.command, StartRun) else None
            async with app.session(work.request, wish) as session:
                if not isinstance(session, LiveSession):  # whoever had it is not gone for good yet
                    raise SessionLockedError(name, "another worker")
                self._open[name] = session
                await self._give(session, work)
                outcome = await session.rest()
            self._tell(f"{name}: {outcome or 'at rest'}")
            self._done += 1
        except FencedError as error:
            self._tell(f"{name}: {error.message}")
            raise
        except (SessionLockedError, TooNewError):
            raise
        except ExternalError as error:
            self._tell(f"{name}: {error}")
            raise
        except WeftError as error:
            self._tell(f"{name}: {error}")
            await asyncio.to_thread(self._answer, key, refusal(error))
        finally:
            self._open.pop(name, None)
            await asyncio.to_thread(self._forget, name, tree)

    async def _give(self, session: LiveSession, work: Work) -> None:
        reply: Reply
        if session.state.keys.get(work.key) is None:
            again = work.by == TAKEN_UP and session.state.run is not None
            reply = await session.submit(session.continuation if again else work.command, key=work.key, by=work.by)
        else:  # another worker had it, and did not come to its end
            wish = self._left_of(work, session)
            reply = await session.submit(wish, by=TAKEN_UP) if wish else Accepted(seq=session.state.seq)
        if isinstance(reply, Refused) and reply.external:
            raise reply.error()  # a full disk here: nobody could put the command right, another worker may take it
        await asyncio.to_thread(self._answer, work.key, reply)

    def _left_of(self, work: Work, session: LiveSession) -> StartRun | None:
        """What is still to be done of a command that is in the log: the run was cut off, it was answered and not taken
        up again, or it waits where an answer was given in advance that nobody used yet."""
        state = session.state
        wish = continued(work.command) if isinstance(work.command, StartRun) else session.continuation
        return wish if state.status == "interrupted" or session.is_answered else None

    def _answer(self, key: str, reply: Reply) -> None:
        self._shared.rows(
            "INSERT INTO weft.replies (key, reply) VALUES (%s, %s) "
            "ON CONFLICT (key) DO UPDATE SET reply = excluded.reply",
            (key, json.dumps(to_wire(reply))),
        )

    async def _app(self, tree: str) -> App:
        """The workspace as it was when the work was queued."""
        async with self._laying:
            if tree not in self._apps:
                path = self.home / tree[:16]
                await asyncio.to_thread(lay_tree, self._shared, tree, path)
                app = App.open(path, disk=Disk(sync=False), shared=self._shared, knocks=self._knocks)
                self._prepare(app)
                self._apps[tree] = app
            return self._apps[tree]

    def _forget(self, name: str, tree: str) -> None:
        """The working copy is made again when it is needed; one with something set aside is kept."""
        folder = self.home / tree[:16] / "sessions" / name
        if not any((folder / "aside").glob(f"{LOG}.*")):
            shutil.rmtree(folder, ignore_errors=True)

    # -- what goes on beside it

    async def _tidy(self, queue: procrastinate.App) -> None:
        while True:
            try:
                await asyncio.to_thread(self._heartbeat)
                await self._give_out_anew(queue)
            except Exception as error:  # noqa: BLE001  the database is away, or another did it first: the next look tells
                self._tell_once(f"looking after the queue: {_cause(error)}")
            await asyncio.sleep(self._silence / 4)

    _told = ""

    def _tell_once(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._tell(text)

    def _sign_in(self) -> None:
        self._shared.rows(
            "INSERT INTO weft.workers (worker, host, pid, weft, concurrency, queues) VALUES (%s, %s, %s, %s, %s, %s) "
            "ON CONFLICT (worker) DO UPDATE SET pid = excluded.pid, weft = excluded.weft, began = now(), seen = now(), "
            "concurrency = excluded.concurrency, queues = excluded.queues, draining = false, done = 0, working = 0",
            (self.name, socket.gethostname(), os.getpid(), __version__, self._concurrency, ",".join(self._queues)),
        )

    def _heartbeat(self) -> None:
        rows = self._shared.rows(
            "UPDATE weft.workers SET seen = now(), working = %s, done = %s WHERE worker = %s RETURNING draining",
            (len(self._open), self._done, self.name),
        )
        self._shared.rows("DELETE FROM weft.workers WHERE seen < now() - %s * interval '1 second'", (FORGOTTEN,))
        if not rows:
            self._sign_in()
        elif rows[0][0] and not self._draining:
            self._tell("drained: finishing what is at work, and taking nothing new")
            self._loop.call_soon_threadsafe(self.stop)

    async def _give_out_anew(self, queue: procrastinate.App) -> None:
        """The work of dead workers becomes new work."""
        for job in await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=self._silence):
            assert job.id is not None
            if await asyncio.to_thread(self._queue.give_anew, job.id):
                self._tell(f"{job.lock}: its worker says nothing any more; given out anew")
        await asyncio.to_thread(self._take_up_lost)

    def _take_up_lost(self) -> None:
        """Runs that were queued once, are going by the log, and nobody holds or has been given."""
        rows = self._shared.rows(
            "SELECT session, tree, seq, pipeline, (SELECT j.args ->> 'work' FROM procrastinate_jobs j "
            "WHERE j.lock = s.session AND j.task_name = %s ORDER BY j.id DESC LIMIT 1) "
            "FROM weft.sessions s WHERE run = 'running' AND trashed IS NULL "
            "AND tree IS NOT NULL AND (holder IS NULL OR lease_until < now()) AND changed < now() - %s * interval "
            "'1 second' AND NOT EXISTS (SELECT FROM procrastinate_jobs j WHERE j.lock = s.session "
            "AND j.status IN ('todo', 'doing'))",
            (TASK, self._silence),
        )
        for session, tree, seq, pipeline, digest in rows:
            if digest:  # with the answers that were given in advance
                work = Work.from_bytes(self._shared.get(digest))
            else:
                key = f"taken up/{session}/{seq}"
                work = Work(session=session, command=StartRun(), key=key, by=TAKEN_UP, pipeline=pipeline)
            self._queue.put([work], tree, priority=BEGUN)


def _cause(error: BaseException) -> str:
    """In a line, without what the queue's own errors add."""
    return in_a_line(str(error.__cause__ or error).strip().partition("\n")[0])


def _again_in(error: BaseException) -> float | None:
    """Seconds until work is given out again that came to nothing for a reason that passes."""
    match error:
        case FencedError():
            return None
        case SessionLockedError():
            return 2.0
        case TooNewError() | ExternalError() | OSError():
            return AGAIN_SECONDS
        case asyncio.CancelledError():
            return 0.0
    return None


def _own_slot(home: Path) -> tuple[int, Path]:
    """A folder that no other worker of this machine uses: the first free one."""
    for number in range(1, 1000):
        folder = home / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder / ".worker", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            continue
        return fd, folder
    raise UserError(f"a thousand workers use {home}", hint="name another folder with --home")
