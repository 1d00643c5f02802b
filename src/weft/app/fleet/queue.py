"""The queue of a shared workspace: work for sessions, handed to whichever worker is free. The queue itself is
procrastinate's, on the same database: one job a command, one at a time a session (its lock), given to another worker
when the first says nothing any more.

`QueuedSession` is a session as a face sees it whose commands go into the queue and whose events come from the shared
log: who asks need not know which machine answers. A command has a key, and a log takes each key once, so that a job
which is given out twice is done once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from weft.app.fleet.shared_files import push_tree, tree_of
from weft.app.live.door import AttachedSession, attach
from weft.app.live.door_messages import actor_from_wire, command_from_wire, given_from_wire, reply_from_wire, to_wire
from weft.app.live.opened_session import HeldElsewhere
from weft.app.live.slash_commands import OverviewName
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest, given_file
from weft.protocol.commands import Accepted, GivenFile, Interrupt, Reply, SessionCommand, StartRun
from weft.protocol.envelope import PERSON, Actor
from weft.protocol.errors import UsageError, UserError
from weft.protocol.events import LOG_VERSION, Event, Outcome, Record, StatusChanged
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass, field
from weft.session.postgres import SEARCH_PATH, PostgresLog
from weft.session.state import SessionState
from weft.version import __version__
from weft.workspace.pipeline import Pipeline

if TYPE_CHECKING:
    import procrastinate

TASK: Final = "weft.work"
DEFAULT: Final = "runs"
AHEAD: Final = 10
"""The priority of what somebody waits for: it does not stand behind a batch of thousands. Of the work for one session
the highest is done first, so what comes later never has more than what waits."""
BEGUN: Final = 20
"""Of what a worker had begun and did not come to the end of."""
LOOK: Final = 0.15
"""Seconds between two looks at what a worker has written."""
ANSWER_SECONDS: Final = 10.0
"""How long a worker is waited for before a command is only said to be queued."""
REACHED: Final = 5.0
"""Seconds within which the database gives a connection; then it is away, and is looked for again."""
QUEUED: Final = "queued"
WITHDRAWN: Final = "withdrawn"
NOTHING: Final = "nothing_to_interrupt"

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS weft.replies (key text PRIMARY KEY, reply jsonb NOT NULL, at timestamptz DEFAULT now());
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker does for a session: open it as it was asked for, and give it a command."""

    session: str
    command: SessionCommand
    key: str
    by: Actor = PERSON
    pipeline: str | None = None
    file: GivenFile | None = None
    together: tuple[GivenFile, ...] = ()
    inputs: Mapping[str, GivenFile] = field(default_factory=dict)

    @classmethod
    def of(
        cls, request: SessionRequest, session: str, pipeline: str, command: SessionCommand, key: str, by: Actor
    ) -> Work:
        return cls(
            session=session,
            command=command,
            key=key,
            by=by,
            pipeline=pipeline,
            file=given_file(request.file) if request.file is not None else None,
            together=tuple(given_file(file) for file in request.together),
            inputs={name: given_file(file) for name, file in request.inputs.items()},
        )

    @property
    def request(self) -> SessionRequest:
        return SessionRequest(
            session=self.session,
            pipeline=self.pipeline,
            file=self.file,
            together=self.together,
            inputs=self.inputs,
            attended=False,
        )

    def to_bytes(self) -> bytes:
        return json.dumps(to_wire(self), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Work:
        told = json.loads(data)
        return cls(
            session=told["session"],
            command=command_from_wire(told["command"]),
            key=told["key"],
            by=actor_from_wire(told["by"]),
            pipeline=told["pipeline"],
            file=given_from_wire(told["file"]) if told["file"] else None,
            together=tuple(given_from_wire(one) for one in told["together"]),
            inputs={name: given_from_wire(one) for name, one in told["inputs"].items()},
        )


def open_queue(address: str) -> procrastinate.App:
    """UserError when what it needs is not installed."""
    try:
        import procrastinate
    except ImportError as error:
        raise UserError("a queue needs the extra postgres", hint="pip install 'weft[postgres]'") from error
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # what matters is said by whoever runs it
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    return procrastinate.App(
        connector=procrastinate.PsycopgConnector(
            conninfo=address, min_size=1, max_size=4, timeout=REACHED, kwargs={"options": SEARCH_PATH}
        )
    )


class Queue:
    """Puts work in, and says how it stands."""

    def __init__(self, shared: PostgresLog) -> None:
        self._shared = shared
        self.prepare()

    def prepare(self) -> None:
        """The tables, procrastinate's and ours."""

        def statements() -> str:
            from procrastinate.schema import SchemaManager

            return SchemaManager.get_schema()

        self._shared.have("public.procrastinate_jobs", statements)
        self._shared.have("weft.replies", lambda: _TABLES)

    def put(self, works: Sequence[Work], tree: str, *, queue: str = DEFAULT, priority: int = 0) -> None:
        """All of them, or none."""
        jobs = []
        contents = {hash_bytes(data): data for data in (work.to_bytes() for work in works)}
        self._shared.put_all(contents)
        for work, digest in zip(works, contents, strict=True):
            told = {"session": work.session, "work": digest, "tree": tree, "log": LOG_VERSION, "weft": __version__}
            jobs.append((queue, TASK, work.session, json.dumps(told)))

        def made(connection: Any) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                sessions = sorted({work.session for work in works})
                cursor.execute(
                    "INSERT INTO weft.sessions (session, tree) SELECT unnest(%s::text[]), %s "
                    "ON CONFLICT (session) DO UPDATE SET tree = excluded.tree",
                    (sessions, tree),
                )
                cursor.execute(
                    "SELECT procrastinate_defer_jobs_v1(array_agg(ROW(q, t, %s, l, NULL, a::jsonb, NULL)"
                    "::procrastinate_job_to_defer_v1)) "
                    "FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) j(q, t, l, a)",
                    [priority, *(list(column) for column in zip(*jobs, strict=True))],
                )

        if jobs:
            self._shared.work(made, "queueing")

    def give_anew(self, job: int) -> bool:
        """What a dead worker had is work for others, once however many notice it: the old job is over, so that whoever
        comes back can't end the new one. False when another has done it, or the job has ended after all."""

        def given(connection: Any) -> bool:
            with connection.transaction():
                found = connection.execute(
                    "SELECT queue_name, task_name, lock, args FROM procrastinate_jobs "
                    "WHERE id = %s AND status = 'doing' FOR UPDATE SKIP LOCKED",
                    (job,),
                ).fetchone()
                if found is None:
                    return False
                queue, task, lock, args = found
                connection.execute("SELECT procrastinate_finish_job_v1(%s, 'failed', false)", (job,))
                connection.execute(
                    "SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(%s, %s, %s, %s, NULL, %s::jsonb, NULL)"
                    "::procrastinate_job_to_defer_v1])",
                    (queue, task, BEGUN, lock, json.dumps(args)),
                )
            return True

        return self._shared.work(given, "giving work out anew")

    def last_of(self, sessions: Sequence[str]) -> list[Work]:
        """What was queued last for each of these sessions, as far as it is still known."""
        rows = self._shared.rows(
            "SELECT DISTINCT ON (lock) args ->> 'work' FROM procrastinate_jobs "
            "WHERE lock = ANY(%s) AND task_name = %s ORDER BY lock, id DESC",
            (list(sessions), TASK),
        )
        return [Work.from_bytes(self._shared.get(digest)) for (digest,) in rows]

    def reply(self, key: str) -> Reply | None:
        rows = self._shared.rows("SELECT reply FROM weft.replies WHERE key = %s", (key,))
        return reply_from_wire(rows[0][0]) if rows else None

    def withdraw(self, session: str) -> bool:
        """Take out what no worker has begun for a session; whether there was something."""
        return bool(
            self._shared.rows(
                "SELECT procrastinate_cancel_job_v1(id, false, false) FROM procrastinate_jobs "
                "WHERE lock = %s AND status = 'todo' AND task_name = %s",
                (session, TASK),
            )
        )

    def open_jobs(self, session: str) -> int:
        rows = self._shared.rows(
            "SELECT count(*) FROM procrastinate_jobs WHERE lock = %s AND status IN ('todo', 'doing')", (session,)
        )
        return int(rows[0][0])

    def begin_batch(self, batch: str, by: str, pipeline: str, documents: Sequence[tuple[str, str]]) -> None:
        """`documents`: each with its session."""

        def made(connection: Any) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO weft.batches (batch, by, pipeline) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                    (batch, by, pipeline),
                )
                cursor.executemany(
                    "INSERT INTO weft.batch_documents (batch, number, document, session) VALUES (%s, %s, %s, %s) "
                    "ON CONFLICT DO NOTHING",
                    [(batch, number, name, session) for number, (name, session) in enumerate(documents, 1)],
                )

        self._shared.work(made, "noting the batch")

    def batch(self, batch: str) -> list[BatchRow]:
        """How each document of it stands."""
        rows = self._shared.rows(
            "SELECT d.document, d.session, s.run, s.holder, s.lease_until >= now(), s.seq, "
            " EXISTS (SELECT FROM procrastinate_jobs j WHERE j.lock = d.session AND j.status IN ('todo', 'doing')), "
            " (SELECT r.reply ->> 'reason' FROM weft.replies r WHERE r.key = d.batch || '/' || d.number) "
            "FROM weft.batch_documents d LEFT JOIN weft.sessions s USING (session) WHERE batch = %s ORDER BY number",
            (batch,),
        )
        if not rows:
            raise UserError(f"there is no batch {batch}", hint="weft batches list shows the last ones")
        return [
            BatchRow(document, session, run or "", holder or "", bool(holds), bool(seq), bool(open_), refused or "")
            for document, session, run, holder, holds, seq, open_, refused in rows
        ]

    def batches(self) -> list[tuple[str, Any, int]]:
        return [
            (batch, at, number)
            for batch, at, number in self._shared.rows(
                "SELECT batch, at, (SELECT count(*) FROM weft.batch_documents d WHERE d.batch = b.batch) "
                "FROM weft.batches b ORDER BY at DESC LIMIT 5"
            )
        ]

    def workers(self) -> list[dict[str, Any]]:
        names = ("worker", "host", "pid", "weft", "concurrency", "queues", "draining", "working", "done", "age")
        rows = self._shared.rows(
            "SELECT worker, host, pid, weft, concurrency, queues, draining, working, done, "
            "extract(epoch FROM now() - seen)::float8 FROM weft.workers ORDER BY worker"
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def drain(self, names: Sequence[str]) -> list[str]:
        """Those are to finish what they do and end; all when none is named."""
        rows = self._shared.rows(
            "UPDATE weft.workers SET draining = true WHERE worker = ANY(%s) OR %s RETURNING worker",
            (list(names), not names),
        )
        found = sorted(row[0] for row in rows)
        if missing := sorted(set(names) - set(found)):
            raise UsageError(f"there is no worker {missing[0]}", hint="weft workers list shows them")
        return found

    def depth(self) -> dict[str, int]:
        rows = self._shared.rows(
            "SELECT status::text, count(*) FROM procrastinate_jobs WHERE task_name = %s GROUP BY 1", (TASK,)
        )
        return {str(status): int(number) for status, number in rows}


@dataclass(frozen=True, slots=True)
class BatchRow:
    document: str
    session: str
    run: str
    """`running`, the outcome of its last run, or "" before there was one."""
    holder: str
    holds: bool
    begun: bool
    open: bool
    """It is in the queue, or a worker has it."""
    refused: str


def person_name() -> str:
    import getpass

    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (KeyError, OSError):
        return socket.gethostname()


class QueuedSession(HeldElsewhere):
    """A session that workers work on."""

    def __init__(self, parts: Parts, request: SessionRequest, queue: Queue, name: str, pipeline: Pipeline) -> None:
        super().__init__(parts, request, name, parts.workspace.path / "sessions" / name)
        self._queue = queue
        self._pipeline = pipeline
        self._seen = SessionState()
        self._mark: Any = None

    async def _submit(self, command: SessionCommand, key: str, by: Actor) -> Reply:
        if isinstance(command, Interrupt):
            if await self._parts.off_loop(lambda: self._queue.withdraw(self.id)):
                return Accepted(seq=self.state.seq, note=WITHDRAWN)
            held = await self._held()
            return await held.submit(command, key=key, by=by) if held else Accepted(seq=self.state.seq, note=NOTHING)
        async with self._order:
            key = key or self._parts.new_name()
            await self._parts.off_loop(lambda: self._put(command, key, by))
            deadline = asyncio.get_running_loop().time() + ANSWER_SECONDS
            while asyncio.get_running_loop().time() < deadline:
                reply = await self._parts.off_loop(lambda: self._queue.reply(key))
                if reply is not None:
                    return reply
                await asyncio.sleep(LOOK)
            return Accepted(seq=self.state.seq, note=QUEUED)

    def _put(self, command: SessionCommand, key: str, by: Actor) -> None:
        shared = self._parts.shared
        assert shared is not None
        work = Work.of(self._request, self.id, self._pipeline.name, command, key, by)
        # What is said to a run goes on with the files that it was begun with, whatever lies here.
        tree = None if isinstance(command, StartRun) else tree_of(shared, self.id)
        if tree is None:
            tree, _, _ = push_tree(shared, self._parts.workspace.folder, person_name())
        self._queue.put([work], tree, priority=0 if self._queue.open_jobs(self.id) else AHEAD)

    async def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        seen, mark = after, None
        while True:
            now = await self._parts.off_loop(self._look)
            if now is not None and now != mark:
                mark = now
                for record in await self.records(seen):
                    seen = record.seq
                    yield record
            await asyncio.sleep(LOOK)

    def _look(self) -> Any:
        shared = self._parts.shared
        assert shared is not None
        return shared.mark(self.id)

    @property
    def state(self) -> SessionState:
        mark = self._look()
        if mark is not None and mark != self._mark:
            self._seen, self._mark = self._parts.sessions.read(self.id).state, mark
        return self._seen

    @property
    def pipeline(self) -> Pipeline:
        return self._pipeline

    @property
    def status(self) -> StatusChanged | None:
        return None

    async def run_at_rest(self) -> Outcome | None:
        async with self._order:  # behind what was submitted
            pass
        while True:
            open_ = await self._parts.off_loop(lambda: self._queue.open_jobs(self.id))
            state = await self._parts.off_loop(lambda: self.state)
            if not open_ and (state.run is None or state.run.outcome is not None):
                return state.run.outcome if state.run else None
            await asyncio.sleep(LOOK)

    async def rest(self) -> Outcome | None:
        return await self.run_at_rest()

    async def _held(self) -> AttachedSession | None:
        """As the worker that is at work on it has it."""
        if not await self._parts.off_loop(lambda: self._parts.sessions.exists(self.id)):
            return None
        return await attach(self._parts, self.id, self._request)

    async def look_inside(self, what: OverviewName) -> str:
        held = await self._held()
        if held is None:
            raise UserError("nobody is at work on this session", hint="weft chat opens its conversation here")
        return await held.look_inside(what)
