"""`weft worker`: work for a shared workspace until told to stop."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.app import App
from weft.cli.place import given_trust, open_app, trust_option, workspace_option
from weft.protocol.errors import EXIT_DONE, UsageError
from weft.render.cells import clean

if TYPE_CHECKING:
    from weft.app.fleet.queue_worker import QueueWorker


@click.command("worker")
@click.option("--concurrency", type=click.IntRange(1, 64), default=2, show_default=True, help="Runs at the same time.")
@click.option("--queues", metavar="NAME,…", default="runs", show_default=True, help="Which queues to take from.")
@click.option(
    "--name", metavar="NAME", default="", help="What the worker is called (default: the machine and a number)."
)
@click.option("--home", metavar="FOLDER", help="Where it keeps working copies (default: .workers in the workspace).")
@click.option(
    "--grace", type=float, default=30.0, show_default=True, help="Seconds that runs get to come to rest when it ends."
)
@click.option(
    "--silence", type=float, default=8.0, show_default=True, help="Seconds unheard of until others take its work."
)
@trust_option
@workspace_option
def command(concurrency: int, queues: str, name: str, home: str | None, grace: float, silence: float) -> int:
    """Take runs from the queue of a shared workspace, on as many machines as you like.

    The workspace needs nothing but a config.toml with `store`: pipelines, agents and code come from the store, as they
    were when a run was queued. Ctrl+C takes nothing new and lets what is at work come to rest; what does not within the
    grace goes on elsewhere.
    """
    from weft.app.fleet.queue_worker import QueueWorker

    trust = given_trust()

    def prepare(app: App) -> None:
        app.consents.in_advance = trust

    with open_app(joins=False) as app:
        if app.shared is None:
            raise UsageError(
                "this workspace is files on this machine",
                hint='a shared one has store = "postgresql://…" in config.toml',
            )
        worker = QueueWorker(
            app.shared,
            Path(home).expanduser().absolute() if home else app.workspace.path / ".workers",
            name=name,
            concurrency=concurrency,
            queues=[one.strip() for one in queues.split(",") if one.strip()],
            grace=grace,
            silence=silence,
            prepare=prepare,
            tell=lambda text: print(clean(text), file=sys.stderr, flush=True),
        )
        print(f"{worker.name} works, {concurrency} at a time; Ctrl+C ends it", file=sys.stderr, flush=True)
        asyncio.run(_run(worker))
    return EXIT_DONE


async def _run(worker: QueueWorker) -> None:
    """The first signal lets it finish; a second one ends it as it stands."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
        worker.stop()

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop)
    await worker.run()
