"""`weft init`: make a workspace and lay a pack into it. Never deletes, never overwrites what a person changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource

from weft.app import DEFAULT_PACK, LaidFile, lay, shipped_packs
from weft.cli.place import asking_consents, trust_option, workspace_option, workspace_path
from weft.cli.run_options import program_in
from weft.protocol.errors import UsageError


@click.command("init")
@click.option(
    "--pack", "packs", multiple=True, metavar="NAME", help=f"A pack's name or folder (default: {DEFAULT_PACK})."
)
@click.argument("folder", required=False)
@trust_option
@workspace_option
def command(packs: tuple[str, ...], folder: str | None) -> None:
    """Make the workspace and lay a pack into it; run it again after an upgrade to see what differs.

    FOLDER is the workspace, as --workspace names it.
    """
    if folder and not packs and not Path(folder).exists() and folder in [pack.name for pack in shipped_packs()]:
        raise UsageError(
            f"{folder!r} is the name of a pack",
            hint=f"weft init --pack {folder} lays it; a folder of that name: weft init ./{folder}",
        )
    ctx = click.get_current_context()
    typed = [one.get_parameter_source("workspace") is ParameterSource.COMMANDLINE for one in (ctx, ctx.find_root())]
    if folder and any(typed):
        raise UsageError(f"two workspaces are named: {folder} and {ctx.find_root().obj}", hint=f"weft init {folder}")
    path = workspace_path(folder)
    created = False
    for name in packs or (DEFAULT_PACK,):
        pack, laid = lay(name, path, asking_consents())
        print(f"pack {pack.name} {pack.version} in {path}", file=sys.stderr)
        for line in _told(laid):
            print(f"  {line}", file=sys.stderr)
        created = created or any(file.action == "created" for file in laid)
    if created and (not packs or DEFAULT_PACK in packs):
        print(f"try it: {program_in(path)} run FILE", file=sys.stderr)
    print(path)


def _told(laid: Iterable[LaidFile]) -> list[str]:
    return [f"{file.action:8} {file.path}" + (f" ({file.note})" if file.note else "") for file in laid]
