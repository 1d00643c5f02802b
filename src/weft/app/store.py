"""The shared store that a workspace names in its config.toml, opened; nothing of it is loaded where none is named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.protocol.errors import UsageError
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.session.postgres import PostgresLog
    from weft.workspace.config import Config


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
    settings = workspace.folder.read_or_none("config.toml")
    return open_store(workspace.path, workspace.config()) if settings and b"store" in settings else None
