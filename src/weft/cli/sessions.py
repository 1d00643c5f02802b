"""`weft sessions`: look into what was done. Reading never disturbs a run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from weft.app import (
    open_sessions,
    record_json,
    session_json,
    session_page,
    session_rows,
    this_moment,
    to_json,
    verified,
)
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
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError

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
        rows = session_rows(sessions)
    if as_json:
        for row in rows:
            _print_json({name: getattr(row, name) for name in row.__slots__})
    elif is_terminal(sys.stdout):
        from weft.render.sessions import sessions_table

        _print_rich(sessions_table(rows, screen_width(), this_moment(), ascii=is_ascii(sys.stdout)))
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
        if as_json:
            _print_json(session_json(app.sessions, session))
            return
        content = session_page(app.sessions, session)
    if is_terminal(sys.stdout):
        from weft.render.sessions import session_screen

        _print_rich(session_screen(content, screen_width(), this_moment(), ascii=is_ascii(sys.stdout)))
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
            found = verified(app.sessions, session)
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


@command.command("fork")
@click.argument("session")
@click.option("--at", type=int, metavar="SEQ", help="The event to fork after (`weft sessions log` numbers them).")
@click.option("--as", "name", metavar="ID", help="What the new session is called.")
@workspace_option
def fork(session: str, at: int | None, name: str | None, workspace: str | None) -> None:
    """Begin a session that shares what came before, and goes its own way from there.

    Whatever was going on at that point is interrupted in the new one, and an open gate can be answered otherwise. The
    first session is left as it is.
    """
    with open_app(workspace) as app:
        print(app.fork(session, at=at, name=name))


@command.command("rm")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@workspace_option
def remove(sessions: tuple[str, ...], workspace: str | None) -> None:
    """Move sessions to the workspace's trash folder. Nothing is deleted."""
    with open_app(workspace) as app:
        for session in sessions:
            print(app.workspace.path / app.sessions.trash(session))


def _print_json(value: Any) -> None:
    sys.stdout.buffer.write(to_json(value) + b"\n")
    sys.stdout.buffer.flush()


def _print_rich(content: Any) -> None:
    from rich.console import Console

    Console(width=screen_width(), highlight=False).print(content)
