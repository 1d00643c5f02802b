"""`weft import`: what people have in other systems, taken into the workspace."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from weft.app.library.importing import import_from
from weft.cli.place import json_option, open_app, workspace_option
from weft.render.cells import clean_row


@click.command("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@json_option
@workspace_option
def command(folder: Path, as_json: bool) -> None:
    """Take in FOLDER: a Looplia workspace, an agent (AGENT.md and config.json), or a Craft workspace.

    Nothing is changed there, nothing is overwritten here, and what has no counterpart is named.
    """
    with open_app() as app:
        report = import_from(folder.absolute(), app)
    if as_json:
        print(json.dumps(asdict(report), ensure_ascii=False))
        return
    for kind, names in (("made", report.made), ("kept", report.kept), ("left", report.left)):
        for name in names:
            print(clean_row((kind, name)))
    told = f"{len(report.made)} made, {len(report.kept)} here already, {len(report.left)} without a counterpart"
    print(f"{report.system}: {told}", file=sys.stderr)
