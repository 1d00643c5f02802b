"""`weft schedules`: what is begun by itself: list, show, begin now, pause, resume, and watch without a server."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import sys
from contextlib import suppress
from dataclasses import asdict

import click

from weft.app.schedules.schedules import ScheduleRow, Schedules
from weft.cli.place import ListingGroup, json_option, open_app, print_list, trust_option, workspace_option
from weft.cli.run import OUTCOMES
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED
from weft.render.cells import clean_lines, clean_row

MOST_SHOWN = 20


@click.group("schedules", cls=ListingGroup)
def command() -> None:
    """What is begun by itself: at a time, when files change, or when it is called."""


@command.command("list")
@json_option
@workspace_option
def list_schedules(as_json: bool) -> int:
    """Every schedule with when it comes next and what became of it last."""
    with open_app() as app:
        rows = Schedules(app).rows()
    nothing = "there are no schedules; one is a file schedules/NAME.yaml"
    print_list([(asdict(row), _cells(row)) for row in rows], nothing, as_json=as_json)
    return EXIT_FAILED if any(row.problem for row in rows) else EXIT_DONE


@command.command("show")
@click.argument("name")
@json_option
@workspace_option
def show(name: str, as_json: bool) -> int:
    """Its history: what was decided, begun, skipped and why, the newest last."""
    with open_app() as app:
        schedules = Schedules(app)
        schedule = schedules.one(name)
        problem = next(row.problem for row in schedules.rows() if row.name == name)
        entries = schedules.history(name).entries[-MOST_SHOWN:]
    if not as_json:
        print(clean_lines(f"{name}: {schedule.when}"), file=sys.stderr)
    for one in entries:
        told = {key: value for key, value in asdict(one).items() if value not in ("", 0, {})}
        if as_json:
            print(json.dumps(told, ensure_ascii=False))
        else:
            words = [one.due or one.key, one.session, f"{one.times} times" if one.times else "", one.why]
            print(clean_row((one.at, one.kind, *filter(None, words))))
    if problem:
        print(clean_lines(f"weft: it can't begin: {problem}"), file=sys.stderr)
    return EXIT_FAILED if problem else EXIT_DONE


@command.command("run")
@click.argument("name")
@click.option("--key", default="", help="Names this one beginning: with the same key it is begun once.")
@workspace_option
@trust_option
def run(name: str, key: str) -> int:
    """Begin it now, whatever its time is, and wait until it is at rest."""
    with open_app(runs=True) as app:
        app.queues_runs = app.shared is not None
        schedules = Schedules(app)
        schedule = schedules.one(name)
        entry = schedules.decide(name, key or secrets.token_hex(8), "person", {})
        asyncio.run(schedules.carry_out(schedule, entry, app.session, _tell))
        history = schedules.history(name)
        failed = any(one.kind == "failed" and one.key == entry.key for one in history.entries)
        state = app.sessions.read(entry.session).state if app.sessions.exists(entry.session) else None
        if state is not None:
            print(entry.session)
    outcome = state.run.outcome if state and state.run else None
    return EXIT_FAILED if failed else OUTCOMES[outcome] if outcome else EXIT_DONE


@command.command("pause")
@click.argument("name")
@workspace_option
def pause(name: str) -> None:
    """Begin it no more until it is resumed; calls and `run` still do."""
    with open_app() as app:
        changed = Schedules(app).pause(name)
    print(f"{name} is paused" if changed else f"{name} was paused already", file=sys.stderr)


@command.command("resume")
@click.argument("name")
@workspace_option
def resume(name: str) -> None:
    """Begin it again from now on; what would have been begun meanwhile is not made up for."""
    with open_app() as app:
        changed = Schedules(app).resume(name)
    print(f"{name} goes on" if changed else f"{name} was not paused", file=sys.stderr)


@command.command("watch")
@workspace_option
@trust_option
def watch() -> None:
    """Begin what is due, until Ctrl+C; `weft serve` does the same. One process at a time does it."""
    with open_app(runs=True) as app:
        app.queues_runs = app.shared is not None  # workers do it
        schedules = Schedules(app)
        print(f"watching {len(schedules.names())} schedules (Ctrl+C ends)", file=sys.stderr, flush=True)

        async def until_stopped() -> None:
            watching = asyncio.ensure_future(schedules.watch(app.session, _tell))
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, watching.cancel)
            with suppress(asyncio.CancelledError):
                await watching

        asyncio.run(until_stopped())


def _tell(text: str) -> None:
    print(clean_lines(text), file=sys.stderr, flush=True)


def _cells(row: ScheduleRow) -> list[str]:
    if row.problem:
        return [row.name, row.problem]
    coming = "paused" if row.paused else f"next {row.next}" if row.next else row.when
    last = f"{row.last.kind} {row.last.at}" if row.last else "never begun"
    return [row.name, coming, last, row.description or row.when]
