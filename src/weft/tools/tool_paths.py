"""Where a path of a tool leads: into the working folder, or with `@session/` into the session's. Nowhere else.

The confined opener does the rest: it goes one name at a time, follows no link, and opens regular files only.
"""

from __future__ import annotations

import os
from typing import Final

from weft.files import Folder
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.tools.tool import Context

SESSION: Final = "@session"
MACHINE: Final = ("log.jsonl", "session.json", "blobs", "aside", ".lock", ".claude-agent", ".acp-agent", ".codex-agent")
"""What only the session itself writes in its folder."""
_TOLD: Final = "blobs"
"""Where the whole of a long result is kept; its beginning was told, with where it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    folder: Folder
    name: str
    """Below the folder; "" is the folder itself."""
    in_session: bool
    sessions: str = ""
    """Where other sessions are kept, below the folder; "" when they are elsewhere."""

    @property
    def shown(self) -> str:
        if not self.in_session:
            return self.name or "."
        return f"{SESSION}/{self.name}" if self.name else SESSION

    @property
    def from_outside(self) -> bool:
        return self.keeps(self.name)

    def keeps(self, name: str) -> bool:
        """Whether a session keeps this file of the folder: that are documents, and what was made of them."""
        if self.in_session:
            return not self.name.startswith(f"{_TOLD}/")
        return bool(self.sessions) and name.startswith(f"{self.sessions}/")

    @property
    def machine_made(self) -> bool:
        return self.in_session and self.name.split("/")[0] in MACHINE


def place(path: str, context: Context) -> FilePlace:
    """UserError, in words a model can act on, when the path leads elsewhere."""
    if "\0" in path:
        raise UserError("a path has no NUL in it")
    if path == SESSION or path.startswith(f"{SESSION}/"):
        if context.session is None:
            raise UserError("there is no session folder here")
        return FilePlace(folder=context.session, name=_name(path[len(SESSION) + 1 :]), in_session=True)
    if path.startswith("/"):
        return _absolute(path, context)
    name = _name(path)
    if context.session is not None:
        # the session may lie inside the working folder, and is the session under either name
        return _absolute(f"{os.path.realpath(context.working.path)}/{name}".rstrip("/"), context)
    return FilePlace(folder=context.working, name=name, in_session=False)


def _absolute(path: str, context: Context) -> FilePlace:
    """An absolute path counts when it begins with one of the two folders; the session may lie inside the other."""
    for folder, in_session in ((context.session, True), (context.working, False)):
        if folder is None:
            continue
        for root in dict.fromkeys((str(folder.path), os.path.realpath(folder.path))):
            if path == root or path.startswith(root.rstrip("/") + "/"):
                sessions = "" if in_session else _sessions(context, root)
                name = _name(path[len(root) :])
                return FilePlace(folder=folder, name=name, in_session=in_session, sessions=sessions)
    raise UserError(
        f"{path[:200]} is outside the working folder",
        hint=f"use a path inside {context.working.path}, or {SESSION}/… for the session's files",
    )


def _sessions(context: Context, root: str) -> str:
    if context.session is None:
        return ""
    kept, top = os.path.realpath(context.session.path.parent), os.path.realpath(root)
    return os.path.relpath(kept, top) if kept.startswith(top.rstrip("/") + "/") else ""


def _name(path: str) -> str:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UserError(f"{path[:200]!r} may not contain '..'", hint="use a path inside the working folder")
    return "/".join(parts)
