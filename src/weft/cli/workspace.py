"""`weft workspace`: a workspace of files into a shared store, and back, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import click

from weft.app import open_postgres, person_name, pull_workspace, push_workspace
from weft.cli.place import open_app, workspace_option, workspace_path
from weft.protocol.errors import UsageError


@click.group("workspace")
def command() -> None:
    """Move a workspace between files and a shared store."""


@command.command("push")
@click.option("--to", "store", metavar="ADDRESS", help="postgresql://…; without it what config.toml says.")
@click.option("--objects", metavar="PLACE", default="", help="Where large contents go: a folder all see, or s3://…")
@workspace_option
def push(store: str | None, objects: str) -> None:
    """Send the files people write, and every session that the store does not have.

    What is sent stays here too. In a workspace that is shared already this makes its files the newest for all; when
    others have made theirs the newest since yours came from there, you are told, and nothing is sent: pull first.
    """
    with open_app(joins=False) as app:
        place = os.path.abspath(objects) if objects and "://" not in objects else objects
        shared = open_postgres(store, place) if store else app.shared
        if shared is None:
            raise UsageError("where to?", hint="weft workspace push --to postgresql://…")
        try:
            told = push_workspace(shared, app.workspace.folder, app.sessions, person_name())
        finally:
            if shared is not app.shared:
                shared.close()
    print(f"tree {told.tree[:12]}: {told.files} files, {told.sent} of them new")
    print(f"{told.sessions} sessions with {told.events} events sent")
    if store:
        print(f'to work on it from here, in config.toml: store = "{store}"')


@command.command("pull")
@click.option("--from", "store", metavar="ADDRESS", help="postgresql://…; without it what config.toml says.")
@click.option("--files", "files_alone", is_flag=True, help="Only what people write; sessions come when asked for.")
@workspace_option
def pull(store: str | None, files_alone: bool) -> None:
    """Lay the newest files and every session of a shared workspace into a folder.

    What you have changed since you last pulled or pushed stays as it is. When others have changed the same file you
    are told which it is, and nothing is changed.
    """
    path = workspace_path()
    if store is None:
        with open_app(joins=False) as app:
            if app.shared is None:
                raise UsageError("from where?", hint="weft workspace pull --from postgresql://…")
            store = app.shared.address
    shared = open_postgres(store)
    try:
        tree, laid, sessions = pull_workspace(shared, Path(path), files_alone=files_alone)
    finally:
        shared.close()
    told = f"tree {tree[:12]}: {laid} files laid" if tree else "no files were ever sent there"
    print(told if files_alone else f"{told}; {len(sessions)} sessions")
