"""What people write, in the shared store: pipelines, agents, skills, code, settings and collections as one *tree* that
is named by the hash of all it holds. A run is queued with its tree, so every worker runs the very files it began with.
"""

from __future__ import annotations

import fnmatch
import json
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from weft.files import Folder
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes, hash_value
from weft.protocol.values import dataclass
from weft.session.postgres import PostgresLog
from weft.session.sessions import HOMES, TRASH, Sessions
from weft.session.shared import files_below, push_session

LEFT_OUT: Final = (*HOMES, TRASH, ".workers", ".git", ".venv", "node_modules", "__pycache__")
"""Folders that are no part of a tree: sessions have a log of their own, and the rest is made again."""
_FILES_LEFT_OUT: Final = ("index.db*", "*.sock", "*.pyc")
MOST_FILES: Final = 20_000


@dataclass(frozen=True, slots=True)
class PushedWorkspace:
    tree: str
    files: int
    sent: int
    """Of them, what the store did not have."""
    sessions: int
    events: int


def read_tree(folder: Folder) -> dict[str, tuple[str, bool]]:
    """Every file with its hash, and whether it can be executed."""
    found: dict[str, tuple[str, bool]] = {}
    for name in _names(folder):
        if len(found) == MOST_FILES:
            raise UserError(
                f"{folder.path} has more than {MOST_FILES:,} files besides its sessions",
                hint="a workspace holds pipelines, agents, code and collections; move the rest out of it",
            )
        mode = os.stat(name, dir_fd=folder.fd, follow_symlinks=False).st_mode
        found[name] = (hash_bytes(folder.read(name)), bool(mode & stat.S_IXUSR))
    return found


def _names(folder: Folder) -> list[str]:
    found: list[str] = []
    for name in folder.names():
        if name in LEFT_OUT:
            continue
        if folder.is_folder(name):
            inside = (f"{name}/{inner}" for inner in _below(folder, name))
            found += [one for one in inside if not set(one.split("/")) & {"__pycache__", "node_modules"}]
        elif folder.is_file(name):
            found.append(name)
    return [name for name in found if not any(fnmatch.fnmatch(name, pattern) for pattern in _FILES_LEFT_OUT)]


def _below(folder: Folder, name: str) -> list[str]:
    with folder.folder(name) as inner:
        return list(files_below(inner))


def push_tree(shared: PostgresLog, folder: Folder, by: str) -> tuple[str, int, int]:
    """The tree as it is now, kept; its name, how many files it has, and how many of them were new."""
    files = read_tree(folder)
    tree = hash_value({name: [digest, runs] for name, (digest, runs) in files.items()})
    if shared.rows("SELECT 1 FROM weft.trees WHERE tree = %s", (tree,)):
        shared.rows("UPDATE weft.workspace SET tree = %s", (tree,))
        return tree, len(files), 0
    digests = sorted({digest for digest, _ in files.values()})
    known = {row[0] for row in shared.rows("SELECT hash FROM weft.objects WHERE hash = ANY(%s)", (digests,))}
    sent = 0
    for name, (digest, _) in files.items():
        if digest not in known:
            data = folder.read(name)
            shared.put(hash_bytes(data), data)
            known.add(digest)
            sent += 1
    told = json.dumps({name: [digest, runs] for name, (digest, runs) in files.items()})
    shared.rows("INSERT INTO weft.trees (tree, files, by) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", (tree, told, by))
    shared.rows("UPDATE weft.workspace SET tree = %s", (tree,))
    return tree, len(files), sent


def tree_files(shared: PostgresLog, tree: str) -> Mapping[str, Sequence[Any]]:
    rows = shared.rows("SELECT files FROM weft.trees WHERE tree = %s", (tree,))
    if not rows:
        raise UserError(f"the shared workspace has no tree {tree[:12]}", hint="weft workspace push makes one")
    files: Mapping[str, Sequence[Any]] = rows[0][0]
    return files


def lay_tree(shared: PostgresLog, tree: str, path: Path) -> int:
    """The files of a tree into a folder. UserError when something else lies there: nothing is changed then."""
    files = tree_files(shared, tree)
    path.mkdir(parents=True, exist_ok=True)
    with Folder.open(path) as folder:
        missing = []
        for name, (digest, _) in files.items():
            current = folder.read_or_none(name)
            if current is not None and hash_bytes(current) != digest:
                raise UserError(
                    f"{path / name} is not what the shared workspace has",
                    hint="weft workspace push sends yours, which becomes the newest; or move it away and pull again",
                )
            if current is None:
                missing.append(name)
        for name in missing:
            inner, _, _ = name.rpartition("/")
            if inner:
                folder.folder(inner, create=True).close()
            digest, runs = files[name]
            folder.replace(name, shared.get(digest), mode=0o755 if runs else 0o644)
    return len(missing)


def push_workspace(shared: PostgresLog, folder: Folder, sessions: Sessions, by: str) -> PushedWorkspace:
    """Everything of a workspace of files into a shared store. It may be done again: what is there is not sent twice."""
    tree, files, sent = push_tree(shared, folder, by)
    there = shared.marks()
    number = events = 0
    for session in sessions.ids():
        with sessions.folder(session) as inside:
            if session in there and there[session].size == sessions.log_mark(session).size:
                continue
            made = push_session(shared, session, inside)
            number, events = number + bool(made), events + made
    return PushedWorkspace(tree, files, sent, number, events)


def pull_workspace(shared: PostgresLog, path: Path) -> tuple[str, int, list[str]]:
    """The newest tree and every session of a shared workspace as files in a folder; what was laid there."""
    rows = shared.rows("SELECT tree FROM weft.workspace")
    tree = rows[0][0] if rows else None
    laid = lay_tree(shared, tree, path) if tree else 0
    path.mkdir(parents=True, exist_ok=True)
    names = sorted(shared.marks())
    with Folder.open(path) as folder:
        copies = Sessions(folder, lambda: datetime.now(UTC), shared)
        for name in names:
            with copies.folder(name) as inside:
                inside.names()
    return tree or "", laid, names
