"""`weft mcp serve`: a collection, or the sessions, offered to other programs by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import sys

import click

from weft.app import Collections
from weft.cli.place import open_app, workspace_option, workspace_path
from weft.protocol.errors import UsageError


@click.group("mcp")
def command() -> None:
    """Offer what is here to other programs by the Model Context Protocol."""


@command.command("serve")
@click.option("--kb", "name", metavar="NAME", help="Offer the tools of this collection.")
@click.option(
    "--sessions", is_flag=True, help="Offer the sessions: start runs, follow them, answer gates, read artifacts."
)
@click.option("--http", is_flag=True, help="Over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --http.")
@click.option("--port", default=8765, show_default=True, help="The port to listen on, with --http; 0 for any.")
@workspace_option
def serve(name: str | None, sessions: bool, http: bool, host: str, port: int, workspace: str | None) -> None:
    """Serve the tools of a collection, or of the sessions. Standard output belongs to the protocol; the rest goes to
    standard error. The sessions over HTTP want a token: `weft tokens add NAME --scope mcp`."""
    if bool(name) == sessions:
        raise UsageError("what is to be served?", hint="--kb NAME, or --sessions")
    if sessions:
        from weft.app import person_access
        from weft.app.session_serving import serve_sessions

        with open_app(workspace) as app:
            place = (host, port) if http else None
            asyncio.run(
                serve_sessions(app, place, person_access(), lambda line: print(line, file=sys.stderr, flush=True))
            )
        return
    assert name is not None
    with Collections.of(workspace_path(workspace)) as collections, collections.opened(name) as one:
        at = (host, port) if http else None
        asyncio.run(one.serve(at, lambda address: print(address, file=sys.stderr, flush=True)))
