"""`weft init`: make a workspace and lay a pack into it. Never deletes, never overwrites what a person changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from weft.app import DEFAULT_PACK, LaidFile, lay
from weft.cli.place import asking_consents, trust_option, workspace_option, workspace_path


@click.command("init")
@click.option(
    "--pack", "packs", multiple=True, metavar="NAME", help=f"A pack's name or folder (default: {DEFAULT_PACK})."
)
@trust_option
@workspace_option
def command(packs: tuple[str, ...], workspace: str | None) -> None:
    """Make the workspace and lay a pack into it; run it again after an upgrade to see what differs."""
    path = workspace_path(workspace)
    for name in packs or (DEFAULT_PACK,):
        pack, laid = lay(name, path, asking_consents())
        print(f"pack {pack.name} {pack.version} in {path}", file=sys.stderr)
        for line in _told(laid):
            print(f"  {line}", file=sys.stderr)
    print(path)


def _told(laid: Iterable[LaidFile]) -> list[str]:
    return [f"{file.action:8} {file.path}" + (f" ({file.note})" if file.note else "") for file in laid]
