"""`weft sessions`: look into what was done. Reading never disturbs a run."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from weft.app import open_sessions, record_json, to_json
from weft.cli.place import (
    is_ascii,
    is_terminal,
    json_option,
    open_app,
    screen_width,
    workspace_option,
    workspace_path,
)
from weft.protocol.envelope import Actor
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError, UserError, WeftError
from weft.render.sessions import SessionPage, SessionRow, StepRow
from weft.session.legacy import older_files
from weft.session.log import timestamp
from weft.session.manifest import manifest
from weft.session.sessions import Reading, Sessions
from weft.session.state import SessionState
from weft.session.verify import verify

if TYPE_CHECKING:
    from weft.app import App


@click.group("sessions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, show, follow, verify and remove sessions."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions)


@command.command("list")
@json_option
@workspace_option
def list_sessions(as_json: bool = False, workspace: str | None = None) -> None:
    """All sessions, the one changed last first."""
    with open_sessions(workspace_path(workspace)) as sessions:
        if not sessions.ids() and not as_json:
            print("there are no sessions yet: weft run FILE begins one", file=sys.stderr)
            return
        rows = sorted((_row(sessions, name) for name in sessions.ids()), key=lambda row: row.updated, reverse=True)
    if as_json:
        for row in rows:
            _print_json({name: getattr(row, name) for name in row.__slots__})
    elif is_terminal(sys.stdout):
        from weft.render.sessions import sessions_table

        _print_rich(sessions_table(rows, screen_width(), _now(), ascii=is_ascii(sys.stdout)))
    else:
        from weft.render.sessions import sessions_text

        print(sessions_text(rows))


@command.command("show")
@click.argument("session")
@click.argument("step", required=False)
@click.option("--prompt", is_flag=True, help="With a STEP: the whole text of what its models were last asked.")
@json_option
@workspace_option
def show(session: str, step: str | None, prompt: bool, as_json: bool, workspace: str | None) -> None:
    """A session's steps: state, attempts, artifacts, and what went wrong.

    With a STEP, all about that one: its inputs and what changed, its prompt, every attempt with its calls, tokens and
    cost, its artifacts, checks and gates.
    """
    if step is None and prompt:
        raise UsageError("--prompt needs a step", hint=f"weft sessions show {session} STEP --prompt")
    with open_app(workspace) as app:
        if step is not None:
            from weft.cli.step import show_step

            show_step(app, session, step, prompt=prompt, as_json=as_json)
            return
        reading = app.sessions.read(session)
        if as_json:
            _print_json(manifest(reading.state))
            return
        content = _page(app, session, reading)
    if is_terminal(sys.stdout):
        from weft.render.sessions import session_page

        _print_rich(session_page(content, screen_width(), _now(), ascii=is_ascii(sys.stdout)))
    else:
        from weft.render.sessions import session_text

        print(session_text(content))


@command.command("log")
@click.argument("session")
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only what came after this sequence number.")
@json_option
@workspace_option
def log(session: str, after: int, as_json: bool, workspace: str | None) -> None:
    """The log in words, or with --json as it is."""
    from weft.render.plain import PlainLog

    with open_app(workspace) as app:
        told = PlainLog(session, price=app.price)
        for record in app.sessions.records(session, after):
            if as_json:
                sys.stdout.buffer.write(record_json(record))
            else:
                for line in told.lines(record.event):
                    print(f"{record.seq:>5}  {record.at}  {line}")


@command.command("follow")
@click.argument("session")
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only what came after this sequence number.")
@json_option
@workspace_option
def follow(session: str, after: int, as_json: bool, workspace: str | None) -> None:
    """The log as it grows, until the run ends or you press Ctrl+C."""
    with open_app(workspace) as app:
        import asyncio  # a listing does without

        asyncio.run(_follow(app, session, after, as_json=as_json))


async def _follow(app: App, session: str, after: int, *, as_json: bool) -> None:
    from weft.render.plain import PlainLog

    told = PlainLog(session, price=app.price)
    async for record in app.sessions.follow(session, after):
        if as_json:
            sys.stdout.buffer.write(record_json(record))
            sys.stdout.buffer.flush()
        else:
            for line in told.lines(record.event):
                print(line, flush=True)


@command.command("verify")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@workspace_option
def verify_sessions(sessions: tuple[str, ...], workspace: str | None) -> int:
    """Check every line of the log, every artifact against its recorded hash, and the manifest against the log."""
    faults = 0
    with open_app(workspace) as app:
        for session in sessions or app.sessions.ids():
            with app.sessions.folder(session) as folder:
                found = verify(folder)
            faults += len(found.faults)
            print(f"{session}: {'intact' if not found.faults else 'not intact'} ({found.events} events)")
            for line in (*found.faults, *found.remarks):
                print(f"  {line}")
    return EXIT_FAILED if faults else EXIT_DONE


@command.command("schema")
@click.argument("what", type=click.Choice(["events", "commands"]), default="events")
def schema(what: str) -> None:
    """The JSON Schema of events, as the log has them and --json prints them, or of commands."""
    import json

    from weft.protocol.schema import command_schema, event_schema

    made = event_schema() if what == "events" else command_schema()
    print(json.dumps(made, indent=2, ensure_ascii=False))


@command.command("accept-cut")
@click.argument("session")
@workspace_option
def accept_cut(session: str, workspace: str | None) -> None:
    """Go on with a session whose log has lost something, without what is lost.

    A run stops when it finds that. Put the log back from a copy if you have one: what is lost is otherwise made again.
    """
    with open_app(workspace) as app:
        lost = app.sessions.accept_cut(session, Actor("person", face="terminal"))
    for line in lost:
        print(line)
    print(f"{session} goes on without it" if lost else f"the log of {session} has lost nothing", file=sys.stderr)


@command.command("rm")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@workspace_option
def remove(sessions: tuple[str, ...], workspace: str | None) -> None:
    """Move sessions to the workspace's trash folder. Nothing is deleted."""
    with open_app(workspace) as app:
        for session in sessions:
            print(app.workspace.path / app.sessions.trash(session))


def _row(sessions: Sessions, session: str) -> SessionRow:
    try:
        reading = sessions.read(session)
    except WeftError as error:
        return SessionRow(session, "", "unreadable", 0, 0, "", error.message)
    state = reading.state
    if not state.seq:
        with sessions.folder(session) as folder:
            older = bool(older_files(folder))
        note = "made by an older system; weft run --session-id takes it in" if older else "its creation was cut off"
        return SessionRow(session, "", "older" if older else "empty", 0, 0, "", note)
    done = sum(step.status == "completed" for step in state.steps.values())
    note = f"{len(reading.damage)} damaged lines in the log" if reading.damage else ""
    note = f"its log was cut: weft sessions verify {session}" if reading.cuts else note
    note = note or ", ".join(f"at the gate {gate.gate}" for gate in state.gates.values())
    return SessionRow(session, state.pipeline, reading.status, done, len(state.steps), state.updated_at, note)


def _page(app: App, session: str, reading: Reading) -> SessionPage:
    state = reading.state
    if not state.seq:
        raise UserError(
            f"session {session} was made by an older system", hint=f"weft plan --session-id {session} tells more"
        )
    steps = [
        StepRow(
            name,
            step.status,
            step.attempt,
            ", ".join(step.completion.artifacts) if step.completion else "",
            step.completion.ms if step.completion else None,
            step.problem,
        )
        for name, step in state.steps.items()
    ]
    notes = reading.faults
    notes += [f"{name} will be written again from the log" for name in reading.unfinished_writes]
    notes += _at_rest(session, state)
    with app.sessions.folder(session) as folder:
        path = str(folder.path)
    return SessionPage(session, state.pipeline, reading.status, state.created_at, state.updated_at, steps, path, notes)


def _at_rest(session: str, state: SessionState) -> list[str]:
    """What the last run waits for, or what is to be known of its result."""
    told = state.status in ("done", "over_budget") and state.run is not None and state.run.message
    notes = [told] if told else []
    for gate in state.gates.values():
        choices = ", ".join(str(choice.get("id")) for choice in gate.choices)
        asked = f": {gate.message}" if gate.message else ""
        notes.append(f"waits at the gate {gate.gate}{asked} (weft reply {session}: {choices})")
    return notes


def _now() -> str:
    return timestamp(datetime.now(UTC))


def _print_json(value: Any) -> None:
    sys.stdout.buffer.write(to_json(value) + b"\n")
    sys.stdout.buffer.flush()


def _print_rich(content: Any) -> None:
    from rich.console import Console

    Console(width=screen_width(), highlight=False).print(content)
