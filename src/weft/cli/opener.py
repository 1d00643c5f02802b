"""`weft open`: show a session's result in the browser, or whatever opens such a file."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from weft.app import App, suggest
from weft.cli.place import open_app, workspace_option
from weft.cli.run_options import program_words
from weft.protocol.errors import UsageError, UserError
from weft.protocol.ids import check_session_id

PREFERRED: Final = (".html", ".htm", ".pdf", ".md", ".txt")


@click.command("open")
@click.argument("session")
@click.option("--artifact", metavar="NAME", help="Another file of the session than its page.")
@click.option("--path", "only_path", is_flag=True, help="Print where it is, and open nothing.")
@workspace_option
def command(session: str, artifact: str | None, only_path: bool) -> None:
    """Open what a session made: the page of its last step, or the artifact that is named."""
    with open_app() as app:
        path = _file(app, check_session_id(session), artifact)
    if only_path:
        print(path)
        return
    print(f"opening {path}", file=sys.stderr)
    if not webbrowser.open(path.as_uri()):
        raise UserError(f"no browser could be started for {path}", hint="open it yourself; BROWSER names the program")


def _file(app: App, session: str, artifact: str | None) -> Path:
    state = app.sessions.read(session).state
    with app.sessions.folder(session) as folder:
        made = [name for name in state.artifacts if folder.exists(name)]
        place = folder.path
    if artifact is not None:
        if artifact not in made:
            raise UsageError(f"session {session} has no {artifact}", hint=suggest(artifact, made, "artifacts"))
        return place / artifact
    wanted = app.workspace.pipeline(state.pipeline)
    found = _best([name for name in wanted.steps[wanted.final].artifacts if name in made])
    if found is None:
        raise UserError(
            f"session {session} has not come to its result yet",
            hint=f"{program_words(app)} run --session-id {session}",
        )
    return place / found


def _best(names: Sequence[str]) -> str | None:
    """The file made for reading, if there is one."""
    return next((name for ending in PREFERRED for name in names if name.endswith(ending)), next(iter(names), None))
