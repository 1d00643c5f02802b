"""`weft workers`: who works for a shared workspace, and letting one come to its end."""

from __future__ import annotations

import json

import click

from weft.app import App, Queue
from weft.cli.place import json_option, open_app, workspace_option
from weft.protocol.errors import UsageError
from weft.render.cells import clean
from weft.render.units import human_seconds

QUIET: float = 10.0
"""Seconds without a sign of life after which a worker is said to be silent."""


@click.group("workers")
def command() -> None:
    """The workers of a shared workspace."""


def open_queue(app: App) -> Queue:
    if app.shared is None:
        raise UsageError(
            "this workspace is files on this machine", hint='a shared one has store = "postgresql://…" in config.toml'
        )
    return Queue(app.shared)


@command.command("list")
@json_option
@workspace_option
def list_workers(as_json: bool) -> None:
    """Every worker, what it does, and how much waits."""
    with open_app() as app:
        queue = open_queue(app)
        workers, depth = queue.workers(), queue.depth()
    if as_json:
        for one in workers:
            print(json.dumps(one))
        return
    for one in workers:
        state = (
            "silent"
            if one["age"] > QUIET
            else "draining"
            if one["draining"]
            else "working"
            if one["working"]
            else "free"
        )
        seen = (
            f"seen {human_seconds(one['age'])} ago"
            if state == "silent"
            else f"{one['working']} of {one['concurrency']}"
        )
        told = f"{one['worker']:<24} {state:<9} {seen:<18} {one['done']} done  {one['queues']}  weft {one['weft']}"
        print(clean(told))
    if not workers:
        print("no worker is there; start one: weft worker")
    print(f"{depth.get('todo', 0)} queued, {depth.get('doing', 0)} at work")


@command.command("drain")
@click.argument("names", nargs=-1, metavar="[WORKER]...")
@click.option("--all", "everyone", is_flag=True, help="Every worker.")
@workspace_option
def drain(names: tuple[str, ...], everyone: bool) -> None:
    """Let workers finish what they do, take nothing new, and end."""
    if bool(names) == everyone:
        raise UsageError("name the workers, or say --all")
    with open_app() as app:
        for name in open_queue(app).drain(names):
            print(clean(name))
