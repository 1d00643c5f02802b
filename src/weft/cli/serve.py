"""`weft serve`: every session of a workspace for browsers and scripts."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

import click

from weft.app import App
from weft.cli.place import ensure_workspace, prepare_app, trust_option, workspace_path
from weft.protocol.errors import WeftError


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8700,
    show_default=True,
    help="The port to listen on; 0 for any free one.",
)
@click.option("--name", "names", multiple=True, metavar="HOST", help="What else this server is called.")
@click.option("--open/--no-open", "opens", default=None, help="Open the page in a browser (default: on a desktop).")
@click.option(
    "--workspace", "workspaces", multiple=True, metavar="FOLDER", help="A workspace to serve; several may be."
)
@click.option("--certificate", type=click.Path(path_type=Path), help="A TLS certificate, to be reached from elsewhere.")
@click.option("--key", type=click.Path(path_type=Path), help="Its key.")
@click.option(
    "--resume/--no-resume",
    default=True,
    help="Go on by itself with runs that were going when the server ended (default), or wait for a person.",
)
@click.option("--schedules/--no-schedules", default=True, help="Begin what is due by schedules/ (default), or not.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of it does the encryption.")
@trust_option
def command(
    host: str,
    port: int,
    names: tuple[str, ...],
    opens: bool | None,
    workspaces: tuple[str, ...],
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    resume: bool,
    schedules: bool,
) -> None:
    """Serve the sessions of a workspace to browsers and scripts, until Ctrl+C.

    Prints a link that signs one browser in. Runs go on when the browser is closed, and after a restart.
    """
    from weft.app import person_access
    from weft.web.serve import ServeOptions, bound, check, serve

    options = ServeOptions(
        host=host,
        port=port,
        names=names,
        certificate=certificate,
        key=key,
        behind_proxy=behind_proxy,
        resume=resume,
        schedules=schedules,
    )
    access = person_access()
    check(options, access)
    listening = bound(options)
    with ExitStack() as stack:
        stack.callback(listening.close)
        apps: dict[str, App] = {}
        for folder in [workspace_path(one) for one in workspaces] or [workspace_path(None)]:
            ensure_workspace(folder)
            app = stack.enter_context(App.open(folder))
            prepare_app(app, runs=True)
            app.queues_runs = app.shared is not None  # workers do it; the server shows it
            apps[_name(folder, apps)] = app

        def ready(address: str) -> None:
            link = f"{address}/sign-in?link={access.sign_in_secret()}" if options.is_local else f"{address}/sign-in"
            print(link, flush=True)
            print(f"serving {', '.join(apps)}; Ctrl+C stops the server, and its runs can go on later", file=sys.stderr)
            if opens or (opens is None and sys.stdout.isatty()):
                import webbrowser

                webbrowser.open(link)

        def trouble(session: str, error: Exception) -> None:
            said = str(error) if isinstance(error, WeftError) else f"{type(error).__name__}: {error}"
            print(f"session {session}: {said}" if session else said, file=sys.stderr, flush=True)

        asyncio.run(serve([*apps.items()], access, options, listening, ready, trouble))


def _name(folder: Path, taken: dict[str, App]) -> str:
    """A short name for a workspace, as it stands in addresses."""
    plain = (
        "".join(one if one.isalnum() or one in "-_" else "-" for one in folder.name.lower()).strip("-") or "workspace"
    )
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name
