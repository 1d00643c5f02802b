"""`weft mcp serve`: a collection offered to other programs by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import sys

import click

from weft.app import Collections
from weft.cli.place import workspace_option, workspace_path


@click.group("mcp")
def command() -> None:
    """Offer what is here to other programs by the Model Context Protocol."""


@command.command("serve")
@click.option("--kb", "name", required=True, metavar="NAME", help="The collection whose tools are offered.")
@click.option("--http", is_flag=True, help="Over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --http.")
@click.option("--port", default=8765, show_default=True, help="The port to listen on, with --http; 0 for any.")
@workspace_option
def serve(name: str, http: bool, host: str, port: int, workspace: str | None) -> None:
    """Serve a collection's tools. Standard output belongs to the protocol; the rest goes to standard error."""
    with Collections.of(workspace_path(workspace)) as collections, collections.opened(name) as one:
        at = (host, port) if http else None
        asyncio.run(one.serve(at, lambda address: print(address, file=sys.stderr, flush=True)))
