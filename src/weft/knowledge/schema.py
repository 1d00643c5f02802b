"""The tables of an index, and how a connection to one is opened.

    documents 1──n passages 1──n mentions        mentions: what a text refers to, also when it is not here (yet)
                     │  └─────n links, anchors   links:    what a page links to, by file and anchor
                     │  └─────1 passages_fts     edges:    the mentions that lead somewhere; passages_fts holds stems
                     └────n edges n────┘         state:    another number whenever passages change
                                                 vectors:  by the hash of what they stand for, so that what comes back
                                                           or moves costs nothing; a long text has one for every part

Everything in it can be made again from the documents, so a file that is no index of ours is never repaired: it is
named, and the person moves it away. `secure_delete` overwrites what is removed.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from weft.protocol.errors import ExternalError, UserError

SCHEMA_VERSION: Final = 3
_WITHOUT_STATE: Final = 2
"""The version that lacks one table and nothing else: it is added."""
APPLICATION_ID: Final = 0x77656674
"""`weft`: SQLite keeps it in the file's header."""
BUSY_SECONDS: Final = 10.0

TABLES: Final = """
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE, file TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, key TEXT NOT NULL, same_key TEXT NOT NULL,
    title TEXT NOT NULL, tier TEXT NOT NULL, version TEXT NOT NULL, effective_date TEXT NOT NULL, kind TEXT NOT NULL,
    pages INTEGER NOT NULL, notes TEXT NOT NULL
) STRICT;
CREATE INDEX documents_by_key ON documents (same_key);
CREATE TABLE passages (
    number INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE, ref TEXT NOT NULL,
    paragraph TEXT NOT NULL, item TEXT NOT NULL, subitem TEXT NOT NULL, application TEXT NOT NULL,
    heading TEXT NOT NULL, lead TEXT NOT NULL, content TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE INDEX passages_by_place ON passages (document, paragraph, item, subitem, application);
CREATE INDEX passages_by_ref ON passages (ref);
CREATE INDEX passages_by_hash ON passages (hash);
CREATE TABLE mentions (
    source INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
    text TEXT NOT NULL, same_key TEXT NOT NULL, document TEXT NOT NULL,
    paragraph TEXT NOT NULL, item TEXT NOT NULL, subitem TEXT NOT NULL, application TEXT NOT NULL
) STRICT;
CREATE INDEX mentions_by_source ON mentions (source);
CREATE INDEX mentions_by_key ON mentions (same_key);
CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
    text TEXT NOT NULL, file TEXT NOT NULL, anchor TEXT NOT NULL
) STRICT;
CREATE INDEX links_by_source ON links (source);
CREATE INDEX links_by_file ON links (file);
CREATE TABLE anchors (
    passage INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
    file TEXT NOT NULL, name TEXT NOT NULL
) STRICT;
CREATE INDEX anchors_by_name ON anchors (file, name);
CREATE INDEX anchors_by_passage ON anchors (passage);
CREATE TABLE edges (
    source INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
    weight REAL NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (source, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target);
CREATE TABLE vectors (
    hash TEXT NOT NULL, model TEXT NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (hash, model, part)
) STRICT;
CREATE VIRTUAL TABLE passages_fts USING fts5 (
    heading, lead, content, content='', tokenize="unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE passages_terms USING fts5vocab (passages_fts, row);
"""
STATE: Final = """
CREATE TABLE IF NOT EXISTS state (stamp INTEGER NOT NULL) STRICT;
INSERT INTO state SELECT random() WHERE NOT EXISTS (SELECT 1 FROM state);
"""


def connect(path: Path) -> sqlite3.Connection:
    """An open index, made if it is not there. `:memory:` is one that lasts as long as the connection."""
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        raise explained(error, path) from error
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if owner == APPLICATION_ID and version == SCHEMA_VERSION:
        return
    if owner == 0 and version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        # One transaction: a process killed here leaves an empty file, which is begun again, or a whole index.
        script = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
        connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {STATE} {script} COMMIT;")
        return
    if owner == APPLICATION_ID and version == _WITHOUT_STATE:
        connection.executescript(f"BEGIN IMMEDIATE; {STATE} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        return
    what = f"was made by version {version} of the index" if owner == APPLICATION_ID else "is no index of Weft"
    raise UserError(f"{path} {what}", hint="move it away and run `weft kb update`: it is made again from the documents")


def explained(error: sqlite3.DatabaseError, path: Path) -> UserError | ExternalError:
    """What went wrong with an index, and what to do about it."""
    if "locked" in str(error) or "busy" in str(error):
        return ExternalError(f"{path} is in use by another process", hint="try again when it is done", retryable=True)
    if "not a database" in str(error) or "malformed" in str(error):
        return UserError(
            f"{path} is damaged: {error}",
            hint="move it away and run `weft kb update`: it is made again from the documents",
        )
    if "full" in str(error):
        hint = "make room on the disk and try again: what the index had is as it was"
        return ExternalError(f"can't write {path}: {error}", hint=hint, retryable=True)
    return ExternalError(f"can't use {path}: {error}", hint="check the disk and the permissions", retryable=True)
