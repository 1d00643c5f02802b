"""`weft mcp serve`: a collection offered to other programs by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import sys

import click

from weft import __version__
from weft.cli.place import workspace_option, workspace_path
from weft.knowledge.knowledge_base import open_collection
from weft.knowledge.serving import make_server, serve_http, serve_stdio
from weft.workspace.workspace import Workspace


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
    with Workspace.open(workspace_path(workspace)) as place, open_collection(place.folder, name) as knowledge:
        server = make_server(knowledge, __version__)
        if http:
            asyncio.run(serve_http(server, host, port, lambda address: print(address, file=sys.stderr, flush=True)))
        else:
            asyncio.run(serve_stdio(server))
