"""`weft packs`: what packs there are, how a workspace differs from them; brought from elsewhere, updated, taken out."""

from __future__ import annotations

import sys

import click

from weft.app import pack_differences, shipped_packs, suggest
from weft.app.library.installation import bring_pack, origins, pack_changes, remove_pack
from weft.cli.place import (
    ListingGroup,
    asking_consents,
    fetched,
    for_terminal,
    json_option,
    print_list,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.protocol.errors import UsageError
from weft.render.cells import clean_lines, clean_row


@click.group("packs", cls=ListingGroup)
def command() -> None:
    """List packs, and what differs from what you have."""


@command.command("list")
@json_option
def list_packs(as_json: bool) -> None:
    """The packs that come with Weft."""
    found = []
    for pack in shipped_packs():
        fields = {"name": pack.name, "version": pack.version, "description": pack.description}
        found.append((fields, (pack.name, str(pack.version), pack.description)))
    print_list(found, as_json=as_json)


@command.command("diff")
@click.argument("name")
@workspace_option
def diff(name: str) -> None:
    """How the workspace's files differ from the pack's, as a patch from yours to the pack's."""
    for file in pack_differences(name, workspace_path()):
        print(clean_row((file.state, file.path)))
        if file.diff:
            print(for_terminal(file.diff.rstrip("\n")))


@command.command("add")
@click.argument("address")
@click.option("--preview", is_flag=True, help="Only say what it would change.")
@trust_option
@workspace_option
def add(address: str, preview: bool) -> None:
    """Lay a pack from a folder, an archive or a git address into the workspace, after you agreed to it.

    A git address is git+https://…, ssh://… or one that ends in .git; `#NAME` behind it is a branch or a tag. It is
    kept by its hash; `update` brings what is new.
    """
    _bring(address, preview)


@command.command("update")
@click.argument("names", nargs=-1)
@click.option("--preview", is_flag=True, help="Only say what it would change.")
@trust_option
@workspace_option
def update(names: tuple[str, ...], preview: bool) -> None:
    """Bring packs again from where they came from; without NAMES, all of them."""
    known = {one.name: one for one in origins(workspace_path()) if one.kind == "pack"}
    for name in names or tuple(known):
        if name not in known:
            hint = suggest(name, known, "packs") if known else "weft packs add ADDRESS brings one"
            raise UsageError(f"it is not known where the pack {name!r} came from", hint=hint)
        _bring(known[name].origin, preview)


@command.command("rm")
@click.argument("name")
@workspace_option
def rm(name: str) -> None:
    """Take a pack's files out again: moved aside, and what you changed stays."""
    for file in remove_pack(name, workspace_path()):
        print(clean_row((file.action, file.path, *([file.note] if file.note else []))))


def _bring(address: str, preview: bool) -> None:
    path = workspace_path()
    pack, changes = pack_changes(address, path, fetched)
    print(clean_lines(f"pack {pack.name} {pack.version}: {pack.description}"), file=sys.stderr)
    for file in changes:
        if file.state != "same":
            print(clean_row((file.state, file.path)), file=sys.stderr)
            if file.diff:
                print(clean_lines(file.diff.rstrip("\n")), file=sys.stderr)
    if preview:
        return
    brought = bring_pack(address, path, asking_consents(), fetched)
    for laid in brought.laid:
        print(clean_row((laid.action, laid.path, *([laid.note] if laid.note else []))))
    print(clean_lines(f"{brought.origin.name} as {brought.origin.hash} from {brought.origin.origin}"), file=sys.stderr)
