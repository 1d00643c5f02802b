"""`weft mcp serve`: a collection, or the sessions, offered to other programs by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

import click

from weft.app import Collections
from weft.cli.place import open_app, workspace_option, workspace_path
from weft.cli.stopping import until_told
from weft.protocol.errors import EXIT_DONE, UsageError


@click.group("mcp")
def command() -> None:
    """Offer what is here to other programs by the Model Context Protocol."""


@command.command("serve")
@click.option("--kb", "name", metavar="NAME", help="Offer the tools of this collection.")
@click.option(
    "--sessions", is_flag=True, help="Offer the sessions: start runs, follow them, answer gates, read artifacts."
)
@click.option("--http", is_flag=True, help="Over HTTP instead of standard input and output; asks for a token.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --http.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port to listen on, with --http; 0 for any.",
)
@click.option("--certificate", type=click.Path(path_type=Path), help="A TLS certificate, with --http.")
@click.option("--key", type=click.Path(path_type=Path), help="Its key.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of it does the encryption, with --http.")
@click.option("--name", "names", multiple=True, metavar="HOST", help="What else this server is called, with --http.")
@workspace_option
def serve(
    name: str | None,
    sessions: bool,
    http: bool,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    names: tuple[str, ...],
) -> int:
    """Serve the tools of a collection, or of the sessions. Standard output belongs to the protocol; the rest goes to
    standard error.

    Over HTTP a program needs a token (`weft tokens add NAME --scope mcp`), sent as `Authorization: Bearer TOKEN`.
    """
    if bool(name) == sessions:
        raise UsageError("what is to be served?", hint="--kb NAME, or --sessions")
    from weft.app.sessions.session_serving import answering_sessions, serve_sessions

    with ExitStack() as stack:
        if name:
            collections = stack.enter_context(Collections.of(workspace_path()))
            one = stack.enter_context(collections.opened(name))
            on_streams, answering = one.serve, one.answering_http
        else:
            app = stack.enter_context(open_app())
            on_streams, answering = (lambda: serve_sessions(app)), (lambda path: answering_sessions(app, path))
        if not http:
            return asyncio.run(until_told(on_streams()))
        from weft.app import person_access
        from weft.web.serve import ServeOptions, bound, check_encrypted, check_files, serve_mcp

        options = ServeOptions(
            host=host, port=port, names=names, certificate=certificate, key=key, behind_proxy=behind_proxy
        )
        check_encrypted(options)
        check_files(options)
        listening = stack.enter_context(bound(options))
        asyncio.run(serve_mcp(answering, person_access(), options, listening, _ready))
        return EXIT_DONE


def _ready(address: str) -> None:
    print(address, file=sys.stderr, flush=True)
    print("a program needs a token: weft tokens add NAME --scope mcp", file=sys.stderr, flush=True)
