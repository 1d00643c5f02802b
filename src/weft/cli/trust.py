"""`weft trust`: what the person agreed to, and the question about what nobody agreed to yet."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path

import click

from weft.app import person_consents
from weft.cli.consent_question import ask_about, shown
from weft.cli.place import (
    Listed,
    is_attended,
    json_option,
    open_app,
    print_list,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.protocol.errors import EXIT_DONE, EXIT_NOT_AGREED, UsageError
from weft.render.cells import clean


@click.group("trust", invoke_without_command=True)
@workspace_option
@trust_option
@click.pass_context
def command(ctx: click.Context) -> int | None:
    """What you agreed to: code, packs, keys sent to an address.

    Alone it shows what the workspace brings that nobody agreed to yet, and asks. What comes with Weft is never asked
    about. Without a terminal: `--trust HASH` with the command that needs it.
    """
    return _review() if ctx.invoked_subcommand is None else None


def _review() -> int:
    with open_app() as app:
        asks = is_attended()
        for request in app.not_agreed():
            if request.hash in app.consents.in_advance:
                app.consents.check(request)
            elif asks:
                ask_about(app.consents, request)
            else:
                print("\n".join(shown(app.consents, request)))
        left = app.not_agreed()
    if not left:
        print("nothing here waits for your consent", file=sys.stderr)
    return EXIT_NOT_AGREED if left else EXIT_DONE


@command.command("list")
@json_option
def list_consents(as_json: bool) -> None:
    """What was agreed to, by whom and when."""
    book = person_consents({**os.environ}).book()
    found: list[Listed] = []
    for folder in book.folders:
        fields = {"kind": "folder", **vars(folder), "at": _moment(folder.at)}
        below = " and below" if folder.below else ""
        found.append((fields, ("folder", f"{folder.path}{below}", f"{folder.by}, {folder.at:%Y-%m-%d %H:%M}")))
    for one in book.consents:
        fields = {"hash": one.hash, **vars(one), "at": _moment(one.at)}
        found.append((fields, (one.hash, one.words, f"{one.by}, {one.at:%Y-%m-%d %H:%M}, {one.how}")))
    print_list(found, "nothing was agreed to yet", as_json=as_json)


def _moment(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


@command.command("revoke")
@click.argument("names", nargs=-1, required=True, metavar="HASH|NAME|FOLDER…")
def revoke(names: tuple[str, ...]) -> None:
    """Take consent back: by hash, by the name of what it was for, or by folder."""
    consents = person_consents({**os.environ})
    for name in names:
        for words in consents.revoke(name):
            print(clean(f"no longer agreed to: {words}"), file=sys.stderr)


@command.command("folder")
@click.argument("folder", default="", metavar="[FOLDER]")
@click.option("--below", is_flag=True, help="With every folder in it.")
def own_folder(folder: str, below: bool) -> None:
    """Say that you write what a folder holds yourself: its code, hooks and scripts are then not asked about."""
    path = Path(folder).expanduser() if folder else workspace_path(None)
    if not path.is_dir():
        raise UsageError(f"there is no folder {path}")
    kept = person_consents({**os.environ}).own_work(path, below=below)
    print(kept.path)
