"""`weft packs`: what packs there are and how a workspace differs from them."""

from __future__ import annotations

import json

import click

from weft.app import pack_differences, shipped_packs
from weft.cli.place import json_option, workspace_option, workspace_path


@click.group("packs", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List packs, and what differs from what you have."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_packs)


@command.command("list")
@json_option
def list_packs(as_json: bool = False) -> None:
    """The packs that come with Weft."""
    for pack in shipped_packs():
        if as_json:
            print(json.dumps({"name": pack.name, "version": pack.version, "description": pack.description}))
        else:
            print(f"{pack.name}\t{pack.version}\t{pack.description}")


@command.command("diff")
@click.argument("name")
@workspace_option
def diff(name: str, workspace: str | None) -> None:
    """How the workspace's files differ from the pack's, as a patch from yours to the pack's."""
    for file in pack_differences(name, workspace_path(workspace)):
        print(f"{file.state}\t{file.path}")
        if file.diff:
            print(file.diff.rstrip("\n"))
