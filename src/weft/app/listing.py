"""The sessions of a workspace to look at, with nothing loaded that could run them: a listing has to be instant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from weft.session.sessions import Sessions
from weft.workspace.workspace import Workspace


@contextmanager
def open_sessions(path: Path) -> Iterator[Sessions]:
    with Workspace.open(path) as workspace:
        yield Sessions(workspace.folder, lambda: datetime.now(UTC))
