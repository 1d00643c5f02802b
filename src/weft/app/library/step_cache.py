"""Which session of a workspace has a result: one small SQLite file, `cache.db`, thrown away without a loss.

It holds names and hashes alone; the bytes are where the log of that session keeps them, and are taken over only when
they still have that hash. So it stays small, and a session that was removed takes its results along.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from weft.files import Folder
from weft.orchestrator.reuse import ReusedStep
from weft.protocol.commands import Artifact
from weft.protocol.errors import WeftError
from weft.protocol.events import ArtifactAccepted
from weft.protocol.hashes import hash_bytes
from weft.session.log import LogReader
from weft.session.recovery import kept_copy
from weft.session.sessions import Sessions

FILE: Final = "cache.db"
MOST: Final = 20_000
"""Results that are remembered; beyond it the ones that were not asked for longest are forgotten."""
BUSY_SECONDS: Final = 2.0
_SCHEMA: Final = """
create table if not exists result (
  key text primary key, session text not null, artifacts text not null, used integer not null
) without rowid;
create index if not exists result_used on result (used);
"""


class WorkspaceCache:
    """A cache that can't be read is as good as an empty one."""

    def __init__(self, workspace: Path, sessions: Sessions, most: int = MOST) -> None:
        self._file = workspace / FILE
        self._sessions = sessions
        self._most = most

    def find(self, key: str, session: str, *, only_look: bool = False) -> ReusedStep | None:
        if only_look and not self._file.exists():
            return None
        with suppress(sqlite3.Error, WeftError, OSError), self._opened() as db:
            row = db.execute("select session, artifacts from result where key = ?", (key,)).fetchone()
            if row is None or row[0] == session or not self._sessions.exists(row[0]):
                return None
            with self._sessions.folder(row[0]) as folder:
                found = [_artifact(folder, name, digest) for name, digest in json.loads(row[1]).items()]
            if None in found:
                return None
            if not only_look:
                db.execute("update result set used = (select max(used) + 1 from result) where key = ?", (key,))
            return ReusedStep(row[0], tuple(one for one in found if one is not None))
        return None

    def keep(self, key: str, session: str, artifacts: Mapping[str, str]) -> None:
        with suppress(sqlite3.Error, OSError), self._opened() as db:
            (last,) = db.execute("select coalesce(max(used), 0) from result").fetchone()
            db.execute(
                "insert or replace into result values (?, ?, ?, ?)",
                (key, session, json.dumps(dict(artifacts)), last + 1),
            )
            db.execute(
                "delete from result where key in (select key from result order by used desc limit -1 offset ?)",
                (self._most,),
            )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            db.executescript(_SCHEMA)
            db.execute("begin immediate")
            yield db
            db.execute("commit")


def _artifact(folder: Folder, name: str, digest: str) -> Artifact | None:
    """From its file when that is still it, else from the log."""
    data = folder.read_or_none(name)
    if data is None or hash_bytes(data) != digest:
        data = next(
            (
                kept_copy(folder, record.event)
                for record in LogReader(folder).read()
                if isinstance(record.event, ArtifactAccepted)
                and (record.event.artifact, record.event.hash) == (name, digest)
            ),
            None,
        )
    return Artifact(name, data, digest) if data is not None and hash_bytes(data) == digest else None
