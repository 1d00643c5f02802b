"""The uses of limited resources by all machines of a shared workspace, counted in PostgreSQL.

A place at a resource is a row with a lease, renewed while it is held: that of a process which died is free when its
lease is over. A process that was stopped longer than that and goes on has lost its place and does not know it; what it
was asking for then is one more than the limit says.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from weft.session.postgres import Connection, PostgresLog

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS weft.slots (
    resource text NOT NULL, number int NOT NULL, owner text NOT NULL, until timestamptz NOT NULL,
    PRIMARY KEY (resource, number));
CREATE TABLE IF NOT EXISTS weft.uses (resource text NOT NULL, at timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS uses_at ON weft.uses (resource, at);
"""


class PostgresUses:
    """May be used from any thread."""

    def __init__(self, shared: PostgresLog) -> None:
        self._shared = shared
        self._owned: set[str] = set()
        self._lock = threading.Lock()
        self._prepared = False

    def take_slot(self, resource: str, at_once: int) -> str:
        self._prepare()
        owner = secrets.token_hex(8)
        values = {"resource": resource, "owner": owner, "most": at_once, "lease": self._shared.lease}
        rows = self._shared.rows(
            "INSERT INTO weft.slots (resource, number, owner, until) "
            "SELECT %(resource)s, n, %(owner)s, now() + %(lease)s * interval '1 second' "
            "FROM generate_series(0, %(most)s - 1) n WHERE NOT EXISTS (SELECT FROM weft.slots s "
            " WHERE s.resource = %(resource)s AND s.number = n AND s.until >= now()) ORDER BY n LIMIT 1 "
            "ON CONFLICT (resource, number) DO UPDATE SET owner = excluded.owner, until = excluded.until "
            "WHERE slots.until < now() RETURNING number",
            values,
        )
        if not rows:
            return ""
        with self._lock:
            self._owned.add(owner)
        return owner

    def let_slot_go(self, slot: str) -> None:
        with self._lock:
            self._owned.discard(slot)
        self._shared.rows("DELETE FROM weft.slots WHERE owner = %s", (slot,))

    def note_use(self, resource: str, uses: int, seconds: float) -> float:
        self._prepare()

        def noted(connection: Connection) -> float:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('weft uses'), hashtext(%s))", (resource,))
                connection.execute(
                    "DELETE FROM weft.uses WHERE resource = %s AND at <= clock_timestamp() - %s * interval '1 second'",
                    (resource, seconds),
                )
                found = connection.execute(
                    "SELECT extract(epoch FROM at - clock_timestamp())::float8 + %s FROM weft.uses "
                    "WHERE resource = %s ORDER BY at DESC OFFSET %s LIMIT 1",
                    (seconds, resource, uses - 1),
                ).fetchone()
                if found is not None:
                    return max(float(found[0]), 0.001)
                connection.execute("INSERT INTO weft.uses VALUES (%s, clock_timestamp())", (resource,))
                return 0.0

        return self._shared.work(noted, f"noting a use of {resource}")

    def _prepare(self) -> None:
        with self._lock:
            if not self._prepared:
                self._shared.have("weft.uses", lambda: _TABLES)
                self._shared.keep_up(self._renew)
                self._prepared = True

    def _renew(self) -> None:
        with self._lock:
            owned = [*self._owned]
        if owned:
            self._shared.rows(
                "UPDATE weft.slots SET until = now() + %s * interval '1 second' WHERE owner = ANY(%s)",
                (self._shared.lease, owned),
                patience=self._shared.lease / 3,
            )
