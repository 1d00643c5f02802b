"""`weft run --queue` and `weft batches`: documents that were queued together, as one table that fills. It can be left
and looked at again."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

import click

from weft.app import App, BatchRow, Queue, SessionRequest, person_name, push_tree
from weft.cli.batch import STATES, exit_code
from weft.cli.place import is_ascii, is_terminal, json_option, open_app, screen_width, workspace_option
from weft.cli.stopping import TERMINAL
from weft.cli.workers import open_queue
from weft.protocol.commands import StartRun
from weft.protocol.errors import EXIT_INTERRUPTED
from weft.render.batch import DocumentState, DocumentView, batch_lines, batch_table, batch_text

PAUSE: Final = 0.5


@click.group("batches")
def command() -> None:
    """Documents that were queued together (`weft run --queue FILE…`)."""


@command.command("list")
@workspace_option
def list_batches() -> None:
    """The last ones."""
    with open_app() as app:
        for batch, at, number in open_queue(app).batches():
            print(f"{batch}  {at:%Y-%m-%d %H:%M}  {number} documents")


@command.command("show")
@click.argument("batch")
@click.option("--wait", is_flag=True, help="Stay until nothing of it is queued or at work.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@workspace_option
def show(batch: str, wait: bool, plain: bool, as_json: bool) -> int:
    """How every document of a batch stands."""
    with open_app() as app:
        return _follow(open_queue(app), batch, wait=wait, as_json=as_json, plain=plain)


@command.command("retry")
@click.argument("batch")
@workspace_option
def retry(batch: str) -> None:
    """Queue again what failed or was interrupted; what is done stays."""
    with open_app(runs=True) as app:
        queue = open_queue(app)
        rows = [row for row in queue.batch(batch) if state_of(row) in ("failed", "interrupted")]
        again = [SessionRequest(session=row.session) for row in rows if row.begun]
        works = app.works_for(again, StartRun(), f"{batch}-{app.new_name()[:6]}", TERMINAL)
        # What was refused before it began has no session to go on with: it is asked for once more, as it was.
        works += queue.last_of([row.session for row in rows if not row.begun])
        queue.put(works, _pushed(app))
        print(f"{len(works)} queued again")


def queue_all(app: App, found: Sequence[SessionRequest], wish: StartRun, *, as_json: bool, plain: bool) -> int:
    """All documents into the queue, and a look at how they get on as long as somebody stays."""
    queue = open_queue(app)
    batch = f"b-{app.moment():%Y%m%d}-{app.new_name()[:6]}"
    works = app.works_for(found, wish, batch, TERMINAL)
    names = [one.file.name if one.file else work.session for one, work in zip(found, works, strict=True)]
    pipeline = works[0].pipeline or ""
    queue.begin_batch(batch, person_name(), pipeline, [(n, w.session) for n, w in zip(names, works, strict=True)])
    queue.put(works, _pushed(app))
    print(f"batch {batch}: {len(works)} queued; look again: weft batches show {batch}", file=sys.stderr)
    return _follow(queue, batch, wait=is_terminal(sys.stderr), as_json=as_json, plain=plain)


def _pushed(app: App) -> str:
    assert app.shared is not None
    return push_tree(app.shared, app.workspace.folder, person_name())[0]


def state_of(row: BatchRow) -> DocumentState:
    if row.refused and not row.open:
        return "failed"
    if row.open:
        return "running" if row.holds else "waiting"
    return STATES.get(row.run, "waiting")


def _follow(queue: Queue, batch: str, *, wait: bool, as_json: bool, plain: bool) -> int:
    began = time.monotonic()
    views: list[DocumentView] = []

    def look() -> bool:
        """Whether something is still to come."""
        rows = queue.batch(batch)
        if not views:
            views.extend(DocumentView(row.document, started=began) for row in rows)
        for view, row in zip(views, rows, strict=True):
            before, view.state = view.state, state_of(row)
            view.message = row.refused or (row.session if view.state not in ("waiting", "running") else "")
            if view.state not in ("waiting", "running") and before != view.state:
                view.ended = time.monotonic()
        return any(row.open or row.run == "running" for row in rows)

    try:
        going = look()
        if wait and is_terminal(sys.stderr) and not plain and not as_json:
            _live(views, look)
        else:
            while wait and going:
                time.sleep(PAUSE)
                going = look()
            if as_json:
                for row in queue.batch(batch):
                    told = {"document": row.document, "session": row.session, "state": state_of(row)}
                    print(json.dumps(told | ({"problem": row.refused} if row.refused else {})))
            else:
                print(batch_text(views, time.monotonic()), file=sys.stderr)
    except KeyboardInterrupt:
        print(f"\nleft; it goes on: weft batches show {batch}", file=sys.stderr)
        return EXIT_INTERRUPTED
    return exit_code(views)


def _live(views: list[DocumentView], look: Callable[[], bool]) -> None:
    from rich.console import Console
    from rich.live import Live

    console, ascii = Console(file=sys.stderr, highlight=False), is_ascii(sys.stderr)
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        going = True
        while going:
            going = look()
            width, height = screen_width(sys.stderr), console.size.height - 1
            live.update(batch_lines(views, time.monotonic(), width, height, ascii=ascii), refresh=True)
            time.sleep(PAUSE if going else 0)
        live.update(batch_table(views, time.monotonic(), screen_width(sys.stderr), ascii=ascii), refresh=True)
