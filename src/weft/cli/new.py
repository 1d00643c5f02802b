"""`weft new`: a pipeline, an agent or a skill from a template."""

from __future__ import annotations

import sys

import click

from weft.app import TemplateKind, lay_new
from weft.cli.place import ensure_workspace, open_app, workspace_option, workspace_path
from weft.cli.run_options import program_words
from weft.protocol.errors import EXIT_DONE


@click.command("new")
@click.argument("kind", type=click.Choice(["pipeline", "agent", "skill"]))
@click.argument("name")
@workspace_option
def command(kind: TemplateKind, name: str) -> int:
    """A pipeline, an agent or a skill from a template with comments: good as it is, to be changed. Nothing that is
    there is overwritten."""
    ensure_workspace(workspace_path())
    with open_app() as app:
        for path in lay_new(app, kind, name):
            print(app.workspace.path / path)
        if kind == "pipeline":
            program = program_words(app)
            if app.has_no_model:  # an agent of a template has nothing but its instructions
                print(f"it needs a model: {program} models add", file=sys.stderr)
            print(f"try it: {program} run {name} FILE", file=sys.stderr)
    return EXIT_DONE
