"""`weft new`: a pipeline, an agent or a skill from a template."""

from __future__ import annotations

import click

from weft.app import TemplateKind, drafted, lay_draft, new_files, problems_of
from weft.cli.place import ensure_workspace, open_app, workspace_option, workspace_path
from weft.protocol.errors import EXIT_DONE, UserError


@click.command("new")
@click.argument("kind", type=click.Choice(["pipeline", "agent", "skill"]))
@click.argument("name")
@workspace_option
def command(kind: TemplateKind, name: str, workspace: str | None) -> int:
    """A pipeline, an agent or a skill from a template with comments: good as it is, to be changed. Nothing that is
    there is overwritten."""
    ensure_workspace(workspace_path(workspace))
    with open_app(workspace) as app:
        files = new_files(kind, name)
        there = [path for path in files if app.workspace.folder.exists(path)]
        if there:
            raise UserError(f"{', '.join(there)} is there already", hint="choose another name")
        if problems := problems_of(app, kind, name, files):
            raise UserError(problems[0])
        lay_draft(app, drafted(app, kind, name, files))
        for path in files:
            print(app.workspace.path / path)
    return EXIT_DONE
