"""How a machine joins a shared workspace: where it is, is all that it has to know."""

from __future__ import annotations

import os
from pathlib import Path

from weft.app.fleet.shared_store import CONFIG, LEFT_OUT, is_left_out, store_of
from weft.workspace.workspace import Workspace


def join_shared(path: Path) -> str:
    """A machine that knows where the store is, and has nothing else, takes the newest files of the shared workspace
    over. Says so; "" when there was nothing to do."""
    try:
        names = os.listdir(path)
    except OSError:
        return ""
    if CONFIG not in names or any(name != CONFIG and name not in LEFT_OUT and not is_left_out(name) for name in names):
        return ""
    with Workspace.open(path) as workspace:
        shared = store_of(workspace)
        if shared is None:
            return ""
        from weft.app.fleet.shared_files import take_newest  # few machines are new

        try:
            tree, laid = take_newest(shared, workspace.folder)
        finally:
            shared.close()
    return f"took over the {laid} files of the shared workspace (tree {tree[:12]})" if laid else ""
