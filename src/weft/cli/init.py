"""`weft init`: make a workspace and lay a pack into it. Never deletes, never overwrites what a person changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from weft.app import suggest
from weft.cli.place import workspace_option, workspace_path
from weft.workspace.pack import LaidFile, lay_pack
from weft.workspace.pack_file import Pack, find_packs, load_pack

DEFAULT_PACK: Final = "writing"


@click.command("init")
@click.option(
    "--pack", "packs", multiple=True, metavar="NAME", help=f"A pack's name or folder (default: {DEFAULT_PACK})."
)
@workspace_option
def command(packs: tuple[str, ...], workspace: str | None) -> None:
    """Make the workspace and lay a pack into it; run it again after an upgrade to see what differs."""
    path = workspace_path(workspace)
    for name in packs or (DEFAULT_PACK,):
        pack = find_pack(name)
        laid = lay_pack(pack, path)
        print(f"pack {pack.name} {pack.version} in {path}", file=sys.stderr)
        for line in _told(laid):
            print(f"  {line}", file=sys.stderr)
    print(path)


def find_pack(name: str) -> Pack:
    """A pack shipped with Weft by its name, or a folder with a pack.yaml."""
    if "/" in name or Path(name).is_dir():
        return load_pack(Path(name))
    shipped = find_packs()
    if name not in shipped:
        raise click.BadParameter(f"there is no pack {name!r}; {suggest(name, shipped, 'packs')}", param_hint="--pack")
    return shipped[name]


def ensure_workspace(path: Path) -> None:
    """The first run on a fresh machine works: a workspace that is not there is made, and that is said."""
    if not path.exists():
        lay_pack(find_pack(DEFAULT_PACK), path)
        print(f"made the workspace {path} with the pack {DEFAULT_PACK}", file=sys.stderr)


def _told(laid: Iterable[LaidFile]) -> list[str]:
    return [f"{file.action:8} {file.path}" + (f" ({file.note})" if file.note else "") for file in laid]
