"""The index of one collection: documents, passages and edges in SQLite. A change is one transaction, or none.

Putting a document in takes out what was there of it, files its passages, and resolves anew every mention in it and
every mention of it elsewhere. So whenever a process ends, the index is that of before or after, with all its edges.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from weft.knowledge.keyword import folded, indexed_text
from weft.knowledge.passage import CutDocument, indexed, text_hash
from weft.knowledge.place import CitedPlace, same_key
from weft.knowledge.schema import connect, explained
from weft.protocol.values import dataclass

_PASSAGES: Final = """
    SELECT p.*, d.key, d.title, d.file, d.tier, d.id AS document_id, d.version, d.effective_date
    FROM passages AS p JOIN documents AS d ON d.number = p.document
"""
LINK_WEIGHT: Final = 0.8
"""What a link to a place in a page is worth when it is followed."""
PAGE_WEIGHT: Final = 0.5
_CHUNK: Final = 500
"""How many values one statement is given: SQLite's limit is 999 in old versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A passage as the index has it, with what its document is."""

    number: int
    id: str
    ref: str
    place: CitedPlace
    content: str
    heading: str
    lead: str
    start: int
    end: int
    page: int
    hash: str
    file: str
    title: str
    tier: str
    document_id: str

    @property
    def indexed(self) -> str:
        return indexed(self.heading, self.lead, self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    number: int
    id: str
    file: str
    hash: str
    key: str
    title: str
    tier: str
    version: str
    effective_date: str
    kind: str
    pages: int
    notes: tuple[str, ...]
    passages: int


@dataclass(frozen=True, slots=True)
class Edge:
    source: int
    target: int
    weight: float
    kind: str
    text: str


class Store:
    """Close it, or use it in a `with`. Threads may share it: one at a time is inside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = connect(path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """For reading: everything that looks into the index goes through here."""
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise explained(error, self.path) from error

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """All that is done inside is kept together, or not at all."""
        try:
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                except BaseException:
                    if self._connection.in_transaction:  # sqlite may have gone back by itself, of a full disk
                        self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise explained(error, self.path) from error

    def version(self) -> str:
        """Another text whenever something changed the index, this process or another."""
        other = self.rows("PRAGMA data_version")[0][0]
        return f"{other}.{self._connection.total_changes}"

    def stamp(self) -> int:
        """Another number whenever passages came or went: what is kept beside the index is of one of them."""
        return int(self.rows("SELECT stamp FROM state")[0][0])

    def beside(self, ending: str) -> Path | None:
        """Where something made from this index is kept; None for one in memory."""
        return None if str(self.path) == ":memory:" else self.path.with_name(f"{self.path.name}.{ending}")

    # -- documents

    def documents(self) -> list[StoredDocument]:
        found = self.rows(
            "SELECT d.*, (SELECT count(*) FROM passages AS p WHERE p.document = d.number) AS passages"
            " FROM documents AS d ORDER BY d.tier DESC, d.key, d.file"
        )
        return [_document(row) for row in found]

    def hashes(self) -> dict[str, str]:
        """What every document's entry was made of, by file."""
        return {row["file"]: row["hash"] for row in self.rows("SELECT file, hash FROM documents")}

    def altered(self) -> list[tuple[str, str]]:
        """The passages whose text is not the one that was filed, each with its document's file: something else wrote
        into the index, or the disk lost something."""
        return [
            (file, row["ref"])
            for number, file in self.rows("SELECT number, file FROM documents ORDER BY file")
            for row in self.rows("SELECT * FROM passages WHERE document = ? ORDER BY number", (number,))
            if text_hash(indexed(row["heading"], row["lead"], row["content"])) != row["hash"]
        ]

    def put(self, *documents: CutDocument) -> None:
        """All of them or none: one change waits for the disk once, however many documents it brings."""
        with self.change() as connection:
            for document in documents:
                self._put(connection, document)

    def _put(self, connection: sqlite3.Connection, document: CutDocument) -> None:
        keys = {same_key(document.key), *self._take_out(connection, document.file)}
        number = connection.execute(
            "INSERT INTO documents (id, file, hash, key, same_key, title, tier, version, effective_date, kind,"
            " pages, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(document.id, document.file, document.hash, document.key, same_key(document.key), document.title),
                *(document.tier, document.version, document.effective_date, document.kind, document.pages),
                json.dumps(document.notes, ensure_ascii=False),
            ),
        ).lastrowid
        assert number is not None
        self._put_passages(connection, number, document)
        self._resolve(connection, keys, number)
        self._follow_links(connection, number, document.file)

    def remove(self, files: Iterable[str]) -> int:
        """How many of these files were in the index. Nothing of them is left: no passage, edge, vector or word."""
        removed = 0
        with self.change() as connection:
            keys: set[str] = set()
            for file in files:
                taken = self._take_out(connection, file)
                keys |= taken
                removed += bool(taken)
            if not removed:
                return 0
            self._resolve(connection, keys, None)
            self.drop_orphans(connection)
        self.compact()
        return removed

    def drop_orphans(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)")

    def compact(self) -> None:
        """The words of removed passages leave the keyword index, the removed pages leave the log of changes, and what
        was made of all passages goes."""
        if kept := self.beside("*"):
            for file in (*kept.parent.glob(kept.name), *kept.parent.glob(f".{kept.name}.tmp")):
                file.unlink(missing_ok=True)
        with self.change() as connection:
            connection.execute("INSERT INTO passages_fts (passages_fts) VALUES ('optimize')")
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _take_out(self, connection: sqlite3.Connection, file: str) -> set[str]:
        connection.execute("UPDATE state SET stamp = random()")
        keys = {row[0] for row in connection.execute("SELECT same_key FROM documents WHERE file = ?", (file,))}
        inside = "document IN (SELECT number FROM documents WHERE file = ?)"
        found = connection.execute(f"SELECT number, heading, lead, content FROM passages WHERE {inside}", (file,))
        connection.executemany(
            "INSERT INTO passages_fts (passages_fts, rowid, heading, lead, content) VALUES ('delete', ?, ?, ?, ?)",
            [(row["number"], *map(indexed_text, (row["heading"], row["lead"], row["content"]))) for row in found],
        )
        connection.execute(f"DELETE FROM passages WHERE {inside}", (file,))
        connection.execute("DELETE FROM documents WHERE file = ?", (file,))
        return keys

    def _put_passages(self, connection: sqlite3.Connection, document: int, cut: CutDocument) -> None:
        """All of a kind at once, which is quicker than passage by passage."""
        first = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM passages").fetchone()[0]
        rows, words, links, anchors, mentions = [], [], [], [], []
        for number, passage in enumerate(cut.passages, start=first):
            place = passage.place.stored()
            rows.append(
                (
                    *(number, document, passage.id, passage.ref, place.paragraph, place.item, place.subitem),
                    *(place.application, passage.heading, passage.lead, passage.content),
                    *(passage.start, passage.end, passage.page, passage.hash),
                )
            )
            words.append((number, *map(indexed_text, (passage.heading, passage.lead, passage.content))))
            links += [(number, *link) for link in passage.links]
            anchors += [(number, cut.file, name) for name in passage.anchors]
            mentions += [
                (
                    *(number, text, same_key(at.document), at.document),
                    *(at.paragraph, at.item, at.subitem, at.application),
                )
                for text, at in passage.mentions
            ]
        connection.executemany(
            "INSERT INTO passages (number, document, id, ref, paragraph, item, subitem, application, heading, lead,"
            ' content, start, "end", page, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            rows,
        )
        connection.executemany("INSERT INTO passages_fts (rowid, heading, lead, content) VALUES (?, ?, ?, ?)", words)
        connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?)", links)
        connection.executemany("INSERT INTO anchors VALUES (?, ?, ?)", anchors)
        connection.executemany("INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", mentions)

    # -- edges

    def _resolve(self, connection: sqlite3.Connection, keys: set[str], document: int | None) -> None:
        """The edges of every mention that stands in `document`, or that names a document with one of `keys`."""
        names = sorted(keys)
        marks = ",".join("?" * len(names))
        inside = "m.source IN (SELECT number FROM passages WHERE document = ?)"
        found = connection.execute(
            f"SELECT m.* FROM mentions AS m WHERE m.same_key IN ({marks}) OR {inside}", (*names, document)
        ).fetchall()
        connection.executemany(
            "DELETE FROM edges WHERE kind <> 'link' AND source = ? AND target IN"
            " (SELECT p.number FROM passages AS p JOIN documents AS d ON d.number = p.document WHERE d.same_key = ?)",
            {(row["source"], row["same_key"]) for row in found},
        )
        best: dict[tuple[int, int], Edge] = {}
        for row in found:
            for edge in self._edges_of(row):
                known = best.get((edge.source, edge.target))
                if known is None or edge.weight > known.weight:
                    best[edge.source, edge.target] = edge
        connection.executemany(
            "INSERT OR REPLACE INTO edges VALUES (?, ?, ?, ?, ?)",
            [(edge.source, edge.target, edge.weight, edge.kind, edge.text) for edge in best.values()],
        )

    def _follow_links(self, connection: sqlite3.Connection, document: int, file: str) -> None:
        """The edges of every link in this document, and of those elsewhere that lead into its file."""
        here = "file = :file OR source IN (SELECT number FROM passages WHERE document = :document)"
        links = f"SELECT source, text, file, anchor FROM links WHERE {here}"
        self._put_links(connection, links, {"document": document, "file": file})

    def follow_twins(self, twins: Mapping[str, str]) -> None:
        """Links to a file that is not in the index lead to the one that has the same bytes, and no longer to one that
        had."""
        with self.change() as connection:
            connection.execute(
                "DELETE FROM edges WHERE kind = 'link' AND NOT EXISTS (SELECT 1 FROM passages AS p"
                " JOIN documents AS d ON d.number = p.document JOIN links AS l ON l.file = d.file"
                " WHERE p.number = edges.target AND l.source = edges.source)"
            )
            for file, twin in twins.items():
                links = "SELECT source, text, :twin AS file, anchor FROM links WHERE file = :file"
                self._put_links(connection, links, {"file": file, "twin": twin})

    def _put_links(self, connection: sqlite3.Connection, links: str, values: Mapping[str, int | str]) -> None:
        """A link without an anchor, or with one that is not there, leads to the file's first passage, and is worth
        less. What a reference already joins stays as it is."""
        connection.execute(
            f"WITH followed AS ({links})"
            " INSERT OR IGNORE INTO edges"
            " SELECT source, target, max(weight), 'link', text FROM ("
            "   SELECT l.source, a.passage AS target, :link AS weight, l.text FROM followed AS l"
            "   JOIN anchors AS a ON a.file = l.file AND a.name = l.anchor WHERE l.anchor <> ''"
            "   UNION ALL"
            "   SELECT l.source, (SELECT min(p.number) FROM passages AS p WHERE p.document = d.number), :page, l.text"
            "   FROM followed AS l JOIN documents AS d ON d.file = l.file WHERE NOT EXISTS"
            "   (SELECT 1 FROM anchors AS a WHERE a.file = l.file AND a.name = l.anchor)"
            " ) WHERE target IS NOT NULL AND source <> target GROUP BY source, target",
            {**values, "link": LINK_WEIGHT, "page": PAGE_WEIGHT},
        )

    def _edges_of(self, mention: sqlite3.Row) -> Iterator[Edge]:
        """A mention leads to the passages at its place; where that is not numbered apart, to the one around it."""
        place: CitedPlace | None = _place(mention, mention["document"])
        while place is not None:
            targets = self.numbers_at(place)
            if targets:
                for target in targets:
                    if target != mention["source"]:
                        yield Edge(mention["source"], target, place.weight, place.kind, mention["text"])
                return
            place = place.parent()

    def edges_from(self, numbers: Iterable[int]) -> dict[int, list[Edge]]:
        return self._edges("source", numbers)

    def edges_to(self, numbers: Iterable[int]) -> dict[int, list[Edge]]:
        return self._edges("target", numbers)

    def _edges(self, end: str, numbers: Iterable[int]) -> dict[int, list[Edge]]:
        result: dict[int, list[Edge]] = {}
        for chunk in _chunks(list(numbers)):
            marks = ",".join("?" * len(chunk))
            for row in self.rows(f"SELECT * FROM edges WHERE {end} IN ({marks}) ORDER BY weight DESC, target", chunk):
                result.setdefault(row[end], []).append(Edge(*row))
        return result

    # -- passages

    def numbers_at(self, place: CitedPlace) -> list[int]:
        """The passages at a place, in the order of the document; for a whole document, its first."""
        stored = place.stored()
        if not (stored.paragraph or stored.application):
            found = self.rows(
                "SELECT min(p.number) AS number FROM passages AS p JOIN documents AS d ON d.number = p.document"
                " WHERE d.same_key = ? GROUP BY d.number ORDER BY d.tier DESC, d.number LIMIT 1",
                (same_key(place.document),),
            )
        else:
            found = self.rows(
                "SELECT p.number FROM passages AS p JOIN documents AS d ON d.number = p.document WHERE d.same_key = ?"
                " AND p.paragraph = ? AND p.item = ? AND p.subitem = ? AND p.application = ? ORDER BY p.number",
                (same_key(place.document), stored.paragraph, stored.item, stored.subitem, stored.application),
            )
        return [row["number"] for row in found]

    def passages(self, numbers: Sequence[int]) -> list[StoredPassage]:
        """In the order asked for; a number that is not there is passed over."""
        found: dict[int, StoredPassage] = {}
        for chunk in _chunks(numbers):
            marks = ",".join("?" * len(chunk))
            for row in self.rows(f"{_PASSAGES} WHERE p.number IN ({marks})", chunk):
                found[row["number"]] = _passage(row)
        return [found[number] for number in numbers if number in found]

    def passage(self, identifier: str) -> StoredPassage | None:
        """By id."""
        found = self.rows(f"{_PASSAGES} WHERE p.id = ?", (identifier,))
        return _passage(found[0]) if found else None

    def by_ref(self, ref: str) -> list[StoredPassage]:
        return [_passage(row) for row in self.rows(f"{_PASSAGES} WHERE p.ref = ? ORDER BY p.number", (ref,))]

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many passages each of these stems stands; one that stands in none is left out."""
        found: dict[str, int] = {}
        for term in set(terms):
            for row in self.rows("SELECT doc FROM passages_terms WHERE term = ?", (folded(term),)):
                found[term] = row["doc"]
        return found

    def counts(self) -> Mapping[str, int]:
        """Of documents, passages, mentions, edges and vectors; each is counted when it is asked for."""
        return _Counts(self)


class _Counts(Mapping[str, int]):
    _TABLES: Final = ("documents", "passages", "mentions", "edges", "vectors")

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, table: str) -> int:
        if table not in self._TABLES:
            raise KeyError(table)
        return int(self._store.rows(f"SELECT count(*) FROM {table}")[0][0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._TABLES)

    def __len__(self) -> int:
        return len(self._TABLES)


def _place(row: sqlite3.Row, document: str) -> CitedPlace:
    names = ("paragraph", "item", "subitem", "application")
    return CitedPlace(document=document, **{name: row[name] for name in names})


def _passage(row: sqlite3.Row) -> StoredPassage:
    names = (
        "number",
        "id",
        "ref",
        "content",
        "heading",
        "lead",
        "start",
        "end",
        "page",
        "hash",
        "file",
        "title",
        "tier",
    )
    values = {name: row[name] for name in names}
    return StoredPassage(**values, place=_place(row, row["key"]), document_id=row["document_id"])


def _document(row: sqlite3.Row) -> StoredDocument:
    names = ("number", "id", "file", "hash", "key", "title", "tier", "version", "effective_date", "kind", "pages")
    values = {name: row[name] for name in names}
    return StoredDocument(**values, notes=tuple(json.loads(row["notes"])), passages=row["passages"])


def _chunks(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
