"""A shared log in PostgreSQL: one transaction a decision, fenced by the writer's epoch.

    weft.sessions   one row each: where its log ends, its last epoch, who holds it and until when
    weft.events     the lines of all logs, as they stand in `log.jsonl`
    weft.files      which file of a session has which content, by hash
    weft.objects    small contents themselves, and of large ones that the object store has them (`objects.py`)

An append is one statement: the row of the session is changed only where epoch and end are the writer's own, and the
lines go in only with it. Whether a commit whose answer was lost happened is read from the same row, so an append that
is tried again is never made twice. While the database is away everything waits and tries again; what waits is said once
through `on_trouble`.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from weft.protocol.errors import ExternalError, UserError
from weft.redaction import REDACTOR
from weft.session.lock import SessionLockedError, own_command
from weft.session.log import LogHead
from weft.session.objects import SMALL, ObjectFolder, Objects, open_objects
from weft.session.shared import FencedError, KeptFile, LogMark, RunMark, SharedLine

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

T = TypeVar("T")

VERSION: Final = 1
LEASE: Final = 10.0
"""Seconds until others may take a session whose writer says nothing. It has no part in what keeps two writers apart."""
PATIENCE: Final = 600.0
"""Seconds that a database may be away before what waits for it gives up."""
PAUSES: Final = (0.05, 0.2, 0.5, 1.0, 2.0)
SEARCH_PATH: Final = "-c search_path=public"
"""Whoever connects: a user with the name of a schema would have the queue's tables elsewhere."""
AT_ONCE: Final = 500
"""Lines, or logs, that are fetched together."""
BYTES_AT_ONCE: Final = 8 << 20
"""Of logs that are fetched together."""

_TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS weft;
CREATE TABLE IF NOT EXISTS weft.sessions (
    session text PRIMARY KEY, epoch bigint NOT NULL DEFAULT 0, seq bigint NOT NULL DEFAULT 0,
    ends bigint NOT NULL DEFAULT 0, hash text NOT NULL DEFAULT '', changed timestamptz NOT NULL DEFAULT now(),
    holder text, lease_until timestamptz, pipeline text, run text, trashed timestamptz, tree text);
CREATE INDEX IF NOT EXISTS sessions_running ON weft.sessions (lease_until) WHERE run = 'running';
CREATE TABLE IF NOT EXISTS weft.events (
    session text NOT NULL, seq bigint NOT NULL, epoch bigint NOT NULL, ends bigint NOT NULL, line bytea NOT NULL,
    PRIMARY KEY (session, seq));
CREATE TABLE IF NOT EXISTS weft.files (
    session text NOT NULL, seq bigint NOT NULL, name text NOT NULL, hash text NOT NULL,
    PRIMARY KEY (session, seq, name));
CREATE TABLE IF NOT EXISTS weft.objects (hash text PRIMARY KEY, size bigint NOT NULL, data bytea);
CREATE TABLE IF NOT EXISTS weft.trees (
    tree text PRIMARY KEY, files jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now(), by text NOT NULL);
CREATE TABLE IF NOT EXISTS weft.batches (
    batch text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), by text NOT NULL, pipeline text NOT NULL);
CREATE TABLE IF NOT EXISTS weft.batch_documents (
    batch text NOT NULL, number int NOT NULL, document text NOT NULL, session text NOT NULL, problem text,
    PRIMARY KEY (batch, number));
CREATE TABLE IF NOT EXISTS weft.workers (
    worker text PRIMARY KEY, host text NOT NULL, pid int NOT NULL, weft text NOT NULL, concurrency int NOT NULL,
    queues text NOT NULL, began timestamptz NOT NULL DEFAULT now(), seen timestamptz NOT NULL DEFAULT now(),
    draining boolean NOT NULL DEFAULT false, working int NOT NULL DEFAULT 0, done bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS weft.workspace (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL, tree text,
    objects text NOT NULL DEFAULT '');
"""

_APPEND: Final = """
WITH held AS (
    UPDATE weft.sessions SET seq = %(seq)s, ends = %(ends)s, hash = %(hash)s, changed = clock_timestamp(),
        pipeline = coalesce(%(pipeline)s, pipeline), run = coalesce(%(run)s, run)
    WHERE session = %(session)s AND epoch = %(epoch)s AND seq = %(before)s RETURNING session),
kept AS (
    INSERT INTO weft.files (session, seq, name, hash)
    SELECT held.session, %(seq)s, f.name, f.hash FROM held, unnest(%(names)s::text[], %(hashes)s::text[]) f(name, hash))
INSERT INTO weft.events (session, seq, epoch, ends, line)
SELECT held.session, e.seq, %(epoch)s, e.ends, e.line
FROM held, unnest(%(seqs)s::bigint[], %(offsets)s::bigint[], %(lines)s::bytea[]) e(seq, ends, line)
"""


class PostgresLog:
    """A `SharedLog`. May be used from any thread. Close it."""

    def __init__(self, address: str, objects: str = "", *, lease: float = LEASE, patience: float = PATIENCE) -> None:
        self.address = address
        self.lease = lease
        """Seconds until others may take a session of which nothing is heard from here."""
        self._patience = patience
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._there: set[str] = set()
        """Tables that only some need, and that are known to be there."""
        self._held: dict[str, int] = {}
        """The sessions that are held here, with their epochs."""
        self._upkeep: list[Callable[[], None]] = []
        self._renewing: threading.Thread | None = None
        self._closed = threading.Event()
        self._reached = False
        self.is_away = False
        """The last try to reach it came to nothing."""
        self.on_trouble: Callable[[str], None] | None = None
        """Told that the database is away, and that it is back."""
        if password := _password(address):
            REDACTOR.learn("the database's password", password)
        try:
            self._objects = self._prepare(objects)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._closed.set()
        if self._renewing is not None:
            self._renewing.join()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def stop_waiting(self) -> None:
        """From here on a database that is away is an error at once."""
        self._closed.set()

    # -- sessions

    def marks(self) -> dict[str, LogMark]:
        rows = self.rows("SELECT session, ends, changed FROM weft.sessions WHERE seq > 0 AND trashed IS NULL")
        return {session: _mark(ends, changed) for session, ends, changed in rows}

    def mark(self, session: str) -> LogMark | None:
        wanted = "SELECT ends, changed FROM weft.sessions WHERE session = %s AND seq > 0 AND trashed IS NULL"
        rows = self.rows(wanted, (session,))
        return _mark(*rows[0]) if rows else None

    def lines(self, session: str, first: int) -> Iterator[SharedLine]:
        wanted = "SELECT seq, ends, line FROM weft.events WHERE session = %s AND seq >= %s ORDER BY seq LIMIT %s"
        while rows := self.rows(wanted, (session, first, AT_ONCE)):
            yield from (SharedLine(*row) for row in rows)
            first = rows[-1][0] + 1
            if len(rows) < AT_ONCE:
                return

    def logs(self, marks: Mapping[str, LogMark]) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Small logs come together, a large one piece by piece."""
        small: list[str] = []
        size = 0
        for session, mark in marks.items():
            if mark.size > BYTES_AT_ONCE:
                yield session, (line.line for line in self.lines(session, 1))
                continue
            if size + mark.size > BYTES_AT_ONCE or len(small) == AT_ONCE:
                yield from self._together(small)
                small, size = [], 0
            small, size = [*small, session], size + mark.size
        yield from self._together(small)

    def _together(self, sessions: Sequence[str]) -> Iterator[tuple[str, list[bytes]]]:
        wanted = "SELECT session, line FROM weft.events WHERE session = ANY(%s) ORDER BY session, seq"
        for session, rows in groupby(self.rows(wanted, (list(sessions),)), key=itemgetter(0)):
            yield session, [line for _, line in rows]

    def files(self, session: str) -> list[KeptFile]:
        rows = self.rows("SELECT name, hash FROM weft.files WHERE session = %s ORDER BY seq", (session,))
        return [KeptFile(*row) for row in rows]

    def trash(self, session: str, *, out: bool = False) -> None:
        self.rows(f"UPDATE weft.sessions SET trashed = {'NULL' if out else 'now()'} WHERE session = %s", (session,))

    # -- the one writer

    def take(self, session: str) -> int:
        me = f"{_me()} [{secrets.token_hex(4)}]"

        def taken(connection: Connection) -> list[tuple[Any, ...]]:
            connection.execute("INSERT INTO weft.sessions (session) VALUES (%s) ON CONFLICT DO NOTHING", (session,))
            return connection.execute(
                "UPDATE weft.sessions SET epoch = epoch + (holder IS DISTINCT FROM %(me)s)::int, holder = %(me)s, "
                "lease_until = now() + %(lease)s * interval '1 second' WHERE session = %(session)s "
                "AND (holder IS NULL OR lease_until < now() OR holder = %(me)s) RETURNING epoch",
                {"me": me, "lease": self.lease, "session": session},
            ).fetchall()

        found = self._tried(taken, f"taking session {session}")
        if not found:
            raise SessionLockedError(session, self.holder(session) or "another process")
        epoch: int = found[0][0]
        with self._lock:
            self._held[session] = epoch
        self.keep_up(self._renew)
        return epoch

    def let_go(self, session: str, epoch: int) -> None:
        with self._lock:
            if self._held.get(session) == epoch:
                del self._held[session]
        try:
            self._tried(
                lambda c: c.execute(
                    "UPDATE weft.sessions SET holder = NULL, lease_until = NULL WHERE session = %s AND epoch = %s",
                    (session, epoch),
                ),
                f"letting go of session {session}",
                patience=0.5,
            )
        except ExternalError:
            return  # its lease runs out by itself

    def holder(self, session: str) -> str | None:
        rows = self.rows(
            "SELECT holder FROM weft.sessions WHERE session = %s AND holder IS NOT NULL AND lease_until >= now()",
            (session,),
        )
        return rows[0][0].rpartition(" [")[0] if rows else None

    def append(
        self,
        session: str,
        before: LogHead,
        after: LogHead,
        lines: Sequence[bytes],
        files: Sequence[KeptFile],
        mark: RunMark,
    ) -> None:
        ends, offset = [], before.end
        for line in lines:
            offset += len(line)
            ends.append(offset)
        values = {
            "session": session,
            "epoch": after.epoch,
            "before": before.seq,
            "seq": after.seq,
            "ends": after.end,
            "hash": after.hash,
            "pipeline": mark.pipeline,
            "run": mark.run,
            "names": [file.name for file in files],
            "hashes": [file.hash for file in files],
            "seqs": list(range(before.seq + 1, after.seq + 1)),
            "offsets": ends,
            "lines": list(lines),
        }
        told = f"recording event {after.seq} of session {session}"
        if self._tried(lambda c: c.execute(_APPEND, values).rowcount, told) == len(lines):
            return
        # Refused, or made before by a try whose answer was lost.
        wanted = "SELECT epoch, seq, hash, coalesce(holder, '') FROM weft.sessions WHERE session = %s"
        rows = self.rows(wanted, (session,))
        if not rows or rows[0][:3] != (after.epoch, after.seq, after.hash):
            raise FencedError(session, after.epoch, rows[0][3].rpartition(" [")[0] if rows else "")

    def take_in(
        self, session: str, head: LogHead, lines: Sequence[bytes], files: Sequence[KeptFile], mark: RunMark
    ) -> None:
        def taken(connection: Connection) -> bool:
            with connection.transaction():
                connection.execute("INSERT INTO weft.sessions (session) VALUES (%s) ON CONFLICT DO NOTHING", (session,))
                found = connection.execute(
                    "UPDATE weft.sessions SET epoch = greatest(epoch, %s), seq = %s, ends = %s, hash = %s, "
                    "changed = clock_timestamp(), pipeline = %s, run = %s WHERE session = %s AND seq = 0 "
                    "RETURNING epoch",
                    (head.epoch, head.seq, head.end, head.hash, mark.pipeline, mark.run, session),
                ).fetchall()
                if not found:
                    return False
                with connection.cursor() as cursor:
                    sql = "COPY weft.events (session, seq, epoch, ends, line) FROM STDIN (FORMAT BINARY)"
                    with cursor.copy(sql) as copy:
                        copy.set_types(["text", "int8", "int8", "int8", "bytea"])
                        offset = 0
                        for seq, line in enumerate(lines, 1):
                            offset += len(line)
                            copy.write_row((session, seq, head.epoch, offset, line))
                    cursor.executemany(
                        "INSERT INTO weft.files (session, seq, name, hash) VALUES (%s, %s, %s, %s)",
                        [(session, head.seq, file.name, file.hash) for file in files],
                    )
            return True

        if self._tried(taken, f"taking in session {session}"):
            return
        rows = self.rows("SELECT seq, hash FROM weft.sessions WHERE session = %s", (session,))
        if rows != [(head.seq, head.hash)]:
            raise UserError(f"the shared log has another session {session}", hint="give one of them another name")

    def keep_up(self, work: Callable[[], None]) -> None:
        """Done again and again from now on, well within a lease: what makes one last."""
        with self._lock:
            if work not in self._upkeep:
                self._upkeep.append(work)
            if self._renewing is None:
                self._renewing = threading.Thread(target=self._keep_up, name="weft-leases", daemon=True)
                self._renewing.start()

    def _keep_up(self) -> None:
        while not self._closed.wait(self.lease / 3):
            with self._lock:
                upkeep = [*self._upkeep]
            for work in upkeep:
                with suppress(ExternalError):  # that it can't be done for a while costs nothing by itself
                    work()

    def _renew(self) -> None:
        """The leases of all sessions held here. The next append says whether somebody took one meanwhile."""
        with self._lock:
            held = dict(self._held)
        if held:
            self._tried(
                lambda c: c.execute(
                    "UPDATE weft.sessions s SET lease_until = now() + %s * interval '1 second' "
                    "FROM unnest(%s::text[], %s::bigint[]) h(session, epoch) "
                    "WHERE s.session = h.session AND s.epoch = h.epoch AND s.holder IS NOT NULL",
                    (self.lease, list(held), list(held.values())),
                ),
                "renewing leases",
                patience=self.lease / 3,
                quiet=True,
            )

    # -- contents by hash

    def put(self, digest: str, data: bytes) -> None:
        if self.rows("SELECT 1 FROM weft.objects WHERE hash = %s", (digest,)):
            return
        if len(data) > SMALL and self._objects is not None:
            self._objects.put(digest, data)
            own = None
        else:
            own = data
        self.rows(
            "INSERT INTO weft.objects (hash, size, data) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (digest, len(data), own),
        )

    def put_all(self, contents: Mapping[str, bytes]) -> None:
        """The same for many, in one transaction."""
        small = {digest: data for digest, data in contents.items() if len(data) <= SMALL or self._objects is None}
        self.rows(
            "INSERT INTO weft.objects (hash, size, data) SELECT h, length(d), d "
            "FROM unnest(%s::text[], %s::bytea[]) o(h, d) ON CONFLICT DO NOTHING",
            (list(small), list(small.values())),
        )
        for digest in contents.keys() - small.keys():
            self.put(digest, contents[digest])

    def get(self, digest: str) -> bytes:
        rows = self.rows("SELECT data FROM weft.objects WHERE hash = %s", (digest,))
        if not rows:
            raise ExternalError(f"{digest} is not kept in the shared store", hint="weft sessions verify")
        if rows[0][0] is not None:
            return bytes(rows[0][0])
        if self._objects is None:
            raise ExternalError(f"{digest} lies in the object store, and none is named", hint="objects in config.toml")
        return self._objects.get(digest)

    # -- the connection

    def rows(
        self, query: str, values: Sequence[Any] | Mapping[str, Any] = (), *, patience: float | None = None
    ) -> list[tuple[Any, ...]]:
        """One statement, in a transaction of its own; it may be tried again, so it has to say the same twice."""

        def made(connection: Connection) -> list[tuple[Any, ...]]:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

        return self._tried(made, "asking the database", patience=patience)

    def have(self, table: str, statements: Callable[[], str]) -> None:
        """Tables that only some need: made where `table`, the last of them, is not there. It is looked for in the
        catalogue, which a statement sees as it is: what a connection remembers of names may be older."""
        there = (
            "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = split_part(%s, '.', 1) AND c.relname = split_part(%s, '.', 2)"
        )
        if table in self._there or self.rows(there, (table, table)):
            self._there.add(table)
            return

        def made(connection: Connection) -> None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('weft tables'))")
                if connection.execute(there.encode(), (table, table)).fetchone() is None:
                    connection.execute(statements().encode())

        self._tried(made, f"making {table}")
        self._there.add(table)

    def work(self, work: Callable[[Connection], T], what: str) -> T:
        """Several statements, which whoever gives them puts into a transaction; tried again while it is away."""
        return self._tried(work, what)

    def _tried(
        self,
        work: Callable[[Connection], T],
        what: str,
        *,
        patience: float | None = None,
        quiet: bool = False,
    ) -> T:
        """The work, again and again while the database is away. One that was never reached is not waited for."""
        import psycopg

        began, tries = time.monotonic(), 0
        while True:
            connection = None
            try:
                with self._lock:
                    connection = self._idle.pop() if self._idle else None
                connection = connection or self._connect()
                found = work(connection)
                with self._lock:
                    self._idle.append(connection)
                if tries and not quiet and self.on_trouble is not None:
                    self.on_trouble("the database is back")
                self._reached, self.is_away = True, False
                return found
            except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.ReadOnlySqlTransaction) as error:
                if connection is not None:
                    connection.close()
                waited, self.is_away = time.monotonic() - began, True
                if not self._reached or waited > (self._patience if patience is None else patience):
                    raise self._away(error, what, waited) from error
                if tries == 1 and not quiet and self.on_trouble is not None:
                    self.on_trouble(f"the database is away ({_first_line(error)}); waiting for it, nothing is lost")
                tries += 1
                if self._closed.wait(PAUSES[min(tries, len(PAUSES)) - 1]):
                    raise self._away(error, what, waited) from error
            except BaseException:
                if connection is not None:
                    connection.close()
                raise

    @property
    def settings(self) -> dict[str, Any]:
        """Of every connection."""
        return {
            "autocommit": True,
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
            "application_name": "weft",
            "options": SEARCH_PATH,
        }

    def _connect(self) -> Connection:
        import psycopg

        return psycopg.connect(self.address, **self.settings)

    def _away(self, error: Exception, what: str, waited: float) -> ExternalError:
        since = f" for {waited:.0f} s" if waited >= 1 else ""
        return ExternalError(
            f"the database can't be reached{since} ({what}): {_first_line(error)}",
            hint="is it running, and is `store` in config.toml right? The same command goes on when it is back",
            retryable=True,
        )

    def _prepare(self, objects: str) -> Objects | ObjectFolder | None:
        """The tables, and the object store that all machines use."""
        import psycopg

        try:
            known = self.rows("SELECT version, objects FROM weft.workspace")
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            known = []
        if not known:

            def made(connection: Connection) -> None:
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(hashtext('weft tables'))")
                    connection.execute(_TABLES)
                    connection.execute(
                        "INSERT INTO weft.workspace (version, objects) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                        (VERSION, objects),
                    )

            self._tried(made, "making the tables")
            known = self.rows("SELECT version, objects FROM weft.workspace")
        version, place = known[0]
        if version > VERSION:
            raise UserError(
                f"the database was set up by a newer Weft (its form is {version}, this one knows {VERSION})",
                hint="upgrade this machine; nothing was changed",
            )
        if objects and not place:
            self.rows("UPDATE weft.workspace SET objects = %s WHERE objects = ''", (objects,))
        return open_objects(objects or place)


def open_postgres(address: str, objects: str = "", **settings: float) -> PostgresLog:
    """UserError when what it needs is not installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise UserError("a shared workspace needs the extra postgres", hint="pip install 'weft[postgres]'") from error
    return PostgresLog(address, objects, **settings)


def _me() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} ({own_command()})"


def _mark(ends: int, changed: Any) -> LogMark:
    return LogMark(ends, int(changed.timestamp() * 1_000_000) * 1000)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _password(address: str) -> str:
    from psycopg.conninfo import conninfo_to_dict

    return str(conninfo_to_dict(address).get("password") or "")
