"""The index of sessions: what a list shows of each, and every text that can be searched. Never the truth.

One SQLite file in the workspace, `index.db`, made from the logs and thrown away without a loss. Whoever writes to a
session puts its entry here after the decision is durable, never inside it: a lost update costs freshness only. An entry
carries the mark of the log it was made from (size and time of its file), so that one that is behind is found without
reading a log. Several processes may write it; an entry never goes back behind a newer one.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, fields
from pathlib import Path
from typing import Final, Literal

from weft.protocol.errors import ExternalError
from weft.protocol.values import dataclass
from weft.session.shared import LogMark

FILE: Final = "index.db"
VERSION: Final = 4
BUSY_SECONDS: Final = 5.0
PAGE: Final = 100
HITS_EACH: Final = 3
"""Places that a search shows of one session."""
MOST_PLACES: Final = 2000
"""Places that a search looks at, the best first."""
MOST_TEXT: Final = 400_000
"""Characters of one text that are searched; the rest of a larger one is not."""

TextKind = Literal["title", "message", "answer", "input", "artifact", "note"]
SessionKind = Literal["run", "conversation", "older", "empty", "unreadable"]
Order = Literal["updated", "created", "title", "cost"]

_SCHEMA: Final = """
create table session (
  id text primary key, seq integer not null, size integer not null, mtime integer not null, title text not null,
  kind text not null, pipeline text not null, state text not null, waits text not null, done integer not null,
  steps integer not null, status text not null, labels text not null, flag integer not null, archived integer not null,
  unread integer not null, note text not null, model text not null, tokens integer not null, usd real,
  created text not null, updated text not null, problem text not null, folder text not null,
  last_words text not null, revision integer not null
) without rowid;
create index session_revision on session (revision);
create table counter (revision integer not null, taken_out integer not null);
insert into counter values (0, 0);
create index session_updated on session (archived, updated desc);
create index session_state on session (state, updated desc);
create table place (
  id integer primary key, session text not null, kind text not null, name text not null, seq integer not null,
  unique (session, kind, name)
);
create virtual table text using fts5 (body, tokenize = "porter unicode61 remove_diacritics 2");
create table label (
  session text not null, name text not null, value text not null, primary key (session, name)
) without rowid;
create index label_name on label (name, value);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session as a list shows it."""

    id: str
    seq: int
    title: str
    kind: SessionKind
    pipeline: str = ""
    state: str = "new"
    """working, waiting, asleep, failed, done, interrupted, over_budget, left, cancelled, new, idle, older, empty."""
    waits: tuple[str, ...] = ()
    """What it waits for, in words."""
    done: int = 0
    steps: int = 0
    status: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    flag: bool = False
    archived: bool = False
    unread: bool = False
    note: str = ""
    model: str = ""
    tokens: int = 0
    usd: float | None = 0.0
    """None when something was spent whose price is not known."""
    created: str = ""
    updated: str = ""
    problem: str = ""
    folder: str = ""
    """Where the tools of its conversation worked last."""
    last_words: str = ""
    """The beginning of what was said last in its conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """Something that can be found; a later one of the same kind and name takes its place."""

    kind: TextKind
    name: str
    body: str
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    states: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    """Sessions in which a tool asks something now: they wait, though their log does not say so."""
    statuses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """`name` or `name=value`; all of them."""
    pipeline: str = ""
    flag: bool | None = None
    unread: bool | None = None
    archived: bool | None = False
    order: Order = "updated"
    limit: int = PAGE
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TextHit:
    kind: TextKind
    name: str
    seq: int
    snippet: str
    """With \\x02 and \\x03 around what was found."""


@dataclass(frozen=True, slots=True)
class FoundListing:
    entry: ListedSession
    hits: tuple[TextHit, ...]


class SessionIndex:
    """Not for use by two threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = self._opened()

    def close(self) -> None:
        self._db.close()

    # -- writing

    def put(self, entry: ListedSession, mark: LogMark, texts: Iterable[IndexedText], *, whole: bool = False) -> None:
        """Take in an entry, and texts that are new or changed; `whole`: these are all there are."""
        with self._changing() as db:
            row = _row(entry, mark) | {"revision": 0}
            names = ", ".join(row)
            places = ", ".join(f":{name}" for name in row)
            sets = ", ".join(f"{name} = excluded.{name}" for name in row if name != "id")
            row["revision"] = _next_revision(db)
            newer = db.execute(
                f"insert into session ({names}) values ({places}) "
                f"on conflict (id) do update set {sets} "
                "where excluded.seq >= session.seq or excluded.mtime > session.mtime",
                row,
            ).rowcount
            if not newer:
                return
            db.execute("delete from label where session = ?", (entry.id,))
            db.executemany(
                "insert into label values (?, ?, ?)", [(entry.id, name, value) for name, value in entry.labels.items()]
            )
            if whole:
                self._forget_texts(db, entry.id)
            own = (
                IndexedText(kind="title", name="", body=entry.title),
                IndexedText(kind="note", name="", body=entry.note),
            )
            for text in (*own, *texts):
                self._put_text(db, entry.id, text)

    def _put_text(self, db: sqlite3.Connection, session: str, text: IndexedText) -> None:
        place = (session, text.kind, text.name)
        found = db.execute("select id from place where session = ? and kind = ? and name = ?", place).fetchone()
        if found:
            db.execute("delete from text where rowid = ?", found[:])
            db.execute("delete from place where id = ?", found[:])
        if text.body:
            made = db.execute("insert into place (session, kind, name, seq) values (?, ?, ?, ?)", (*place, text.seq))
            db.execute("insert into text (rowid, body) values (?, ?)", (made.lastrowid, text.body[:MOST_TEXT]))

    def forget(self, session: str) -> None:
        with self._changing() as db:
            db.execute("update counter set taken_out = ?", (_next_revision(db),))
            db.execute("delete from session where id = ?", (session,))
            db.execute("delete from label where session = ?", (session,))
            self._forget_texts(db, session)

    # -- reading

    def marks(self) -> dict[str, LogMark]:
        return {
            name: LogMark(size, mtime) for name, size, mtime in self._db.execute("select id, size, mtime from session")
        }

    def working(self) -> list[str]:
        """Those that somebody was at work on."""
        return [name for (name,) in self._db.execute("select id from session where state = 'working'")]

    def mark(self, session: str) -> LogMark | None:
        found = self._db.execute("select size, mtime from session where id = ?", (session,)).fetchone()
        return LogMark(*found) if found else None

    def changed_since(self, revision: int) -> tuple[int, list[ListedSession], list[str] | None]:
        """The revision now, the entries that were put since another one, and, when some were taken out since, the
        names of all that are left."""
        now, taken_out = self._db.execute("select revision, taken_out from counter").fetchone()
        if now == revision:
            return now, [], None
        rows = self._db.execute("select * from session where revision > ? order by revision", (revision,))
        changed = [_entry(row) for row in rows]
        left = [name for (name,) in self._db.execute("select id from session")] if taken_out > revision else None
        return now, changed, left

    def entry(self, session: str) -> ListedSession | None:
        found = self._db.execute("select * from session where id = ?", (session,)).fetchone()
        return _entry(found) if found else None

    def texts(self, session: str) -> list[IndexedText]:
        """All of it that can be found."""
        rows = self._db.execute(
            "select kind, name, seq, body from place join text on text.rowid = place.id "
            "where session = ? and kind not in ('title', 'note')",
            (session,),
        )
        return [IndexedText(kind=kind, name=name, body=body, seq=seq) for kind, name, seq, body in rows]

    def page(self, wanted: Filter = Filter()) -> list[ListedSession]:  # noqa: B008  it is frozen
        where, values = _where(wanted)
        order = {
            "updated": "updated desc",
            "created": "created desc",
            "title": "title collate nocase",
            "cost": "usd desc",
        }
        rows = self._db.execute(
            f"select * from session where {where} order by {order[wanted.order]}, id limit ? offset ?",
            (*values, wanted.limit, wanted.offset),
        )
        return [_entry(row) for row in rows]

    def count(self, wanted: Filter = Filter()) -> dict[str, int]:  # noqa: B008
        """How many there are in each state."""
        state, asking = _state(wanted)
        where, values = _where(wanted)
        question = f"select {state}, count(*) from session where {where} group by 1"
        return dict(self._db.execute(question, (*asking, *values)))

    def search(self, words: str, wanted: Filter = Filter()) -> list[FoundListing]:  # noqa: B008
        """Sessions that have all the words, the best first, each with a few of the places."""
        query = _query(words)
        if not query:
            return [FoundListing(entry, ()) for entry in self.page(wanted)]
        where, values = _where(wanted)
        rows = self._db.execute(
            "select session.*, found.place from "
            "(select rowid as place, rank from text where text match ? order by rank limit ?) as found "
            "join place on place.id = found.place join session on session.id = place.session "
            f"where {where} order by found.rank, updated desc",
            (query, MOST_PLACES, *values),
        )
        places: dict[str, list[sqlite3.Row]] = {}
        for row in rows:
            places.setdefault(row["id"], []).append(row)
        chosen = [*places.values()][wanted.offset : wanted.offset + wanted.limit]
        hits = self._hits(query, [row["place"] for rows in chosen for row in rows[:HITS_EACH]])
        return [FoundListing(_entry(rows[0]), tuple(hits[row["place"]] for row in rows[:HITS_EACH])) for rows in chosen]

    def _hits(self, query: str, places: Sequence[int]) -> dict[int, TextHit]:
        """All in one question, with the places as a filter: asked one by one each would look the words up again."""
        rows = self._db.execute(
            "select place.id, kind, name, seq, snippet(text, 0, char(2), char(3), '…', 16) "
            "from text join place on place.id = +text.rowid "
            "where text match ? and +text.rowid in (select value from json_each(?))",
            (query, json.dumps(places)),
        )
        return {place: TextHit(*hit) for place, *hit in rows}

    # -- inside

    def _forget_texts(self, db: sqlite3.Connection, session: str) -> None:
        db.execute("delete from text where rowid in (select id from place where session = ?)", (session,))
        db.execute("delete from place where session = ?", (session,))

    def _opened(self) -> sqlite3.Connection:
        """The file as it is, or a new one: one that can't be read, or is of another version, is made anew. Where
        nothing can be written it is made in memory: whoever only looks is shown all the same."""
        try:
            return self._connected(self._path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise _unusable(self._path, error) from error
            try:
                for name in ("", "-wal", "-shm"):
                    Path(f"{self._path}{name}").unlink(missing_ok=True)
                return self._connected(self._path)
            except (OSError, sqlite3.OperationalError):
                return self._connected(":memory:")

    def _connected(self, place: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            db.row_factory = sqlite3.Row
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = off")
            (version,) = db.execute("pragma user_version").fetchone()
            if version != VERSION:
                db.execute("begin immediate")
                if db.execute("pragma user_version").fetchone()[0] != VERSION:
                    for kind, name in db.execute(
                        "select type, name from sqlite_master where name not like 'sqlite_%'"
                    ).fetchall():
                        if kind == "table" and not name.startswith("text_"):
                            db.execute(f'drop table "{name}"')
                    for statement in _SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(f"pragma user_version = {VERSION}")
                db.execute("commit")
            db.execute("select count(*) from session").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. A disk that refuses leaves no change open behind which the next would wait."""
        try:
            self._db.execute("begin immediate")
            yield self._db
            self._db.execute("commit")
        except BaseException as error:
            if self._db.in_transaction:
                with suppress(sqlite3.Error):
                    self._db.execute("rollback")
            if isinstance(error, sqlite3.DatabaseError):
                raise _unusable(self._path, error) from error
            raise


def _unusable(path: Path, error: sqlite3.DatabaseError) -> ExternalError:
    hint = "another process is at it: try again" if "locked" in str(error) else "check the disk, and try again"
    return ExternalError(f"can't use {path}: {error}", hint=hint, retryable=True)


def _next_revision(db: sqlite3.Connection) -> int:
    db.execute("update counter set revision = revision + 1")
    found: int = db.execute("select revision from counter").fetchone()[0]
    return found


def _query(words: str) -> str:
    """Every word must be there; what stands in quotation marks must stand together; the last word may be unfinished."""
    parts = re.findall(r'"([^"]+)"|(\S+)', words.replace("\0", " "))
    quoted = [
        '"' + (phrase or word).replace('"', "") + '"' for phrase, word in parts if re.search(r"\w", phrase or word)
    ]
    if quoted and parts[-1][1]:
        quoted[-1] += "*"
    return " ".join(quoted)


def _state(wanted: Filter) -> tuple[str, list[object]]:
    if not wanted.asking:
        return "state", []
    asks = "session.id in (select value from json_each(?))"
    return f"case when {asks} then 'waiting' else state end", [json.dumps(wanted.asking)]


def _where(wanted: Filter) -> tuple[str, list[object]]:
    tests, values = ["1"], list[object]()

    def among(column: str, names: Sequence[str]) -> None:
        if names:
            tests.append(f"{column} in ({', '.join('?' * len(names))})")
            values.extend(names)

    if wanted.states:
        state, asking = _state(wanted)
        values.extend(asking)
        among(state, wanted.states)
    among("status", wanted.statuses)
    among("pipeline", (wanted.pipeline,) if wanted.pipeline else ())
    for column, is_so in (("flag", wanted.flag), ("unread", wanted.unread), ("archived", wanted.archived)):
        if is_so is not None:
            tests.append(f"{column} = ?")
            values.append(int(is_so))
    for label in wanted.labels:
        name, sign, value = label.partition("=")
        tests.append("session.id in (select session from label where name = ?" + (" and value = ?)" if sign else ")"))
        values.extend([name, value] if sign else [name])
    return " and ".join(tests), values


_COLUMNS: Final = tuple(column.name for column in fields(ListedSession))
_YES_NO: Final = ("flag", "archived", "unread")


def _row(entry: ListedSession, mark: LogMark) -> dict[str, object]:
    told = {name: getattr(entry, name) for name in _COLUMNS}
    listed = {"waits": json.dumps(entry.waits), "labels": json.dumps(dict(entry.labels))}
    return {**told, **listed, "size": mark.size, "mtime": mark.mtime}


def _entry(row: sqlite3.Row) -> ListedSession:
    told = {name: row[name] for name in _COLUMNS}
    told |= {name: bool(told[name]) for name in _YES_NO}
    told |= {"waits": tuple(json.loads(told["waits"])), "labels": json.loads(told["labels"])}
    return ListedSession(**told)
