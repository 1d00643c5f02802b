"""The shared store that a workspace names in its config.toml, opened; nothing of it is loaded where none is named."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.protocol.errors import UsageError
from weft.session.sessions import HOMES, TRASH
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.session.postgres import PostgresLog
    from weft.workspace.config import Config

CONFIG: Final = "config.toml"
BASE: Final = ".tree"
"""The tree that the files of this machine are from."""
LEFT_OUT: Final = (*HOMES, TRASH, ".workers", ".git", ".venv", "node_modules", "__pycache__")
"""Folders that are no part of a tree: sessions have a log of their own, and the rest is made again."""
_FILES_LEFT_OUT: Final = ("index.db*", "*.sock", "*.pyc", BASE)


def is_left_out(name: str) -> bool:
    """Of files: it is no part of a tree."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in _FILES_LEFT_OUT)


def open_store(path: Path, config: Config) -> PostgresLog | None:
    """None where the sessions are files. Whoever opens it closes it."""
    if config.store is None:
        return None
    from weft.session.postgres import open_postgres  # most workspaces are files

    if not config.store.startswith(("postgresql://", "postgres://")):
        raise UsageError(f"store = {config.store!r}: only postgresql://… is known", hint="see docs/fleet.md")
    objects = config.objects or ""
    if objects and "://" not in objects:
        objects = str(path / Path(objects).expanduser())
    return open_postgres(config.store, objects)


def store_of(workspace: Workspace) -> PostgresLog | None:
    """The same for whoever only lists: settings are read only where one of them could name a store."""
    settings = workspace.folder.read_or_none(CONFIG)
    return open_store(workspace.path, workspace.config()) if settings and b"store" in settings else None
