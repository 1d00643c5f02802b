"""What people write, in the shared store: pipelines, agents, skills, code, settings and collections as one *tree* that
is named by the hash of all it holds. A run is queued with its tree, so every worker runs the very files it began with.

Which tree is the newest, a person says (`push_workspace`), and others take it over (`take_newest`). Each machine notes
which tree its files are from: what differs from that, somebody here has changed. So what was changed in one place
follows in the others, and what was changed in two is said, before anything is written. Where the store is, is a
machine's own: these lines of config.toml are in no tree.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from weft.app.fleet.shared_store import BASE, CONFIG, LEFT_OUT, is_left_out
from weft.files import Folder
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes, hash_value
from weft.protocol.values import dataclass
from weft.session.postgres import PostgresLog
from weft.session.sessions import Sessions
from weft.session.shared import files_below, push_session

_OWN_SETTINGS: Final = re.compile(rb"^(?:store|objects)[ \t]*=.*(?:\n|\Z)", re.MULTILINE)
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
        data = _shared_content(folder, name)
        if data or name != CONFIG:
            found[name] = (hash_bytes(data), bool(mode & stat.S_IXUSR))
    return found


def _shared_content(folder: Folder, name: str) -> bytes:
    data = folder.read(name)
    return _settings(data)[1] if name == CONFIG else data


def _settings(config: bytes) -> tuple[bytes, bytes]:
    """The lines of config.toml that are this machine's own, and all others. Both stand before the first table."""
    top = re.search(rb"^[ \t]*\[", config, re.MULTILINE)
    end = top.start() if top else len(config)
    return b"".join(_OWN_SETTINGS.findall(config[:end])), _OWN_SETTINGS.sub(b"", config[:end]) + config[end:]


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
    return [name for name in found if not is_left_out(name)]


def _below(folder: Folder, name: str) -> list[str]:
    with folder.folder(name) as inner:
        return list(files_below(inner))


def push_tree(shared: PostgresLog, folder: Folder, by: str) -> tuple[str, int, int]:
    """The tree as it is now, kept; its name, how many files it has, and how many of them were new. The first one is
    the newest until a person sends another."""
    files = read_tree(folder)
    tree, sent = _name_of(files), 0
    if not shared.rows("SELECT 1 FROM weft.trees WHERE tree = %s", (tree,)):
        digests = sorted({digest for digest, _ in files.values()})
        known = {row[0] for row in shared.rows("SELECT hash FROM weft.objects WHERE hash = ANY(%s)", (digests,))}
        for name, (digest, _) in files.items():
            if digest not in known:
                data = _shared_content(folder, name)
                shared.put(hash_bytes(data), data)
                known.add(digest)
                sent += 1
        shared.rows(
            "INSERT INTO weft.trees (tree, files, by) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (tree, json.dumps(files), by),
        )
    if files:
        shared.rows("UPDATE weft.workspace SET tree = %s WHERE tree IS NULL", (tree,))
    return tree, len(files), sent


def _name_of(files: Mapping[str, tuple[str, bool]]) -> str:
    return hash_value({name: [digest, runs] for name, (digest, runs) in files.items()})


def newest_tree(shared: PostgresLog) -> str | None:
    rows = shared.rows("SELECT tree FROM weft.workspace")
    return rows[0][0] if rows else None


def tree_of(shared: PostgresLog, session: str) -> str | None:
    """The files that a session was last queued with."""
    rows = shared.rows("SELECT tree FROM weft.sessions WHERE session = %s", (session,))
    return rows[0][0] if rows else None


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
            _lay(shared, folder, name, *files[name])
    return len(missing)


def take_newest(shared: PostgresLog, folder: Folder) -> tuple[str, int]:
    """The newest files of all, laid into a folder; which tree they are, and how many files were changed. What somebody
    here has changed stays. UserError, before anything is changed, where others have changed the same."""
    newest = newest_tree(shared)
    if newest is None:
        return "", 0
    own = read_tree(folder)
    new = _entries(shared, newest)
    base = (folder.read_or_none(BASE) or b"").decode("ascii", "replace").strip()
    old = new if base == newest else _entries(shared, base) if base else {}
    differs = [name for name in new if name in own and own[name] != new[name]]
    both = [name for name in differs if old.get(name) not in (own[name], new[name])]
    if both:
        more = f" and {len(both) - 1} more" if len(both) > 1 else ""
        raise UserError(
            f"{folder.path / both[0]}{more} was changed here, and is another in the shared workspace",
            hint="move yours away, pull again, and bring both together; nothing was changed",
        )
    due = [name for name in new if name not in own or (name in differs and own[name] == old.get(name))]
    for name in due:
        _lay(shared, folder, name, *new[name])
    gone = [name for name in old if name not in new and own.get(name) == old[name]]
    for name in gone:  # the store has it, with the tree that it was in
        inner, _, last = name.rpartition("/")
        with folder.folder(inner) if inner else nullcontext(folder) as parent:
            os.unlink(last, dir_fd=parent.fd)
    folder.replace(BASE, f"{newest}\n".encode())
    return newest, len(due) + len(gone)


def _entries(shared: PostgresLog, tree: str) -> dict[str, tuple[str, bool]]:
    return {name: (digest, runs) for name, (digest, runs) in tree_files(shared, tree).items()}


def _lay(shared: PostgresLog, folder: Folder, name: str, digest: str, runs: bool) -> None:
    data = shared.get(digest)
    if name == CONFIG and (own := _settings(folder.read_or_none(name) or b"")[0]):
        data = own + _settings(data)[1]
    folder.put(name, data, mode=0o755 if runs else 0o644)


def push_workspace(shared: PostgresLog, folder: Folder, sessions: Sessions, by: str) -> PushedWorkspace:
    """Everything of a workspace of files into a shared store; its files are the newest from then on. It may be done
    again: what is there is not sent twice. UserError when others made theirs the newest since these were taken over."""
    newest, base = newest_tree(shared), (folder.read_or_none(BASE) or b"").decode("ascii", "replace").strip()
    if newest is not None and newest not in (base, _name_of(read_tree(folder))):
        by_whom = shared.rows("SELECT by FROM weft.trees WHERE tree = %s", (newest,))
        raise UserError(
            f"the shared workspace has other files than these came from (tree {newest[:12]}, by {by_whom[0][0]})",
            hint="weft workspace pull takes them over; what you changed stays. Nothing was sent",
        )
    tree, files, sent = push_tree(shared, folder, by)
    shared.rows("UPDATE weft.workspace SET tree = %s", (tree,))
    folder.replace(BASE, f"{tree}\n".encode())
    there = shared.marks()
    number = events = 0
    for session in sessions.ids():
        with sessions.folder(session) as inside:
            if session in there and there[session].size == sessions.log_mark(session).size:
                continue
            made = push_session(shared, session, inside)
            number, events = number + bool(made), events + made
    return PushedWorkspace(tree, files, sent, number, events)


def pull_workspace(shared: PostgresLog, path: Path, *, files_alone: bool = False) -> tuple[str, int, list[str]]:
    """The newest tree and every session of a shared workspace as files in a folder; what was laid there.
    `files_alone`: no sessions, for a machine that makes its copies of them when they are asked for."""
    path.mkdir(parents=True, exist_ok=True)
    with Folder.open(path) as folder:
        tree, laid = take_newest(shared, folder)
        names = [] if files_alone else sorted(shared.marks())
        copies = Sessions(folder, lambda: datetime.now(UTC), shared)
        for name in names:
            with copies.folder(name) as inside:
                inside.names()
    return tree, laid, names
