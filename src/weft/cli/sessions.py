"""`weft sessions`: look into what was done. Reading never disturbs a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import click

from weft.app import (
    Filter,
    open_catalogue,
    open_sessions,
    record_json,
    session_json,
    session_page,
    session_row,
    this_moment,
    verified,
)
from weft.cli.place import (
    ListingGroup,
    is_ascii,
    is_terminal,
    json_option,
    open_app,
    print_json,
    print_page,
    print_rows,
    screen_width,
    workspace_option,
    workspace_path,
)
from weft.protocol.commands import DescribeSession, Mode, SwitchSource
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError
from weft.render.cells import clean

if TYPE_CHECKING:
    from weft.app import App, ExportKind

MOST_LISTED: Final = 100_000


@click.group("sessions", cls=ListingGroup)
def command() -> None:
    """List, search, show, follow, describe, verify and remove sessions."""


@command.command("replay")
@click.argument("session")
@click.option("--mode", type=click.Choice(get_args(Mode)), default="ask", show_default=True, help="The mode of calls.")
@click.option("--as-test", type=click.Path(dir_okay=False), metavar="FILE", help="Keep what it does as a test of it.")
@click.option(
    "--against", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Compare with such a test."
)
@workspace_option
def replay_session(session: str, mode: Mode, as_test: str | None, against: str | None) -> int:
    """Live a conversation again with today's code, instructions and rules, and the answers that its log has, and judge
    what its run made by today's schemas and checks: no model is called, no tool is run. Says what would be otherwise
    now; exit code 1 when something would."""
    import asyncio  # a listing does without

    from weft.app import replay

    with open_app() as app:
        lived = asyncio.run(replay(app, session, mode=mode))
    differences = [str(one) for one in lived.differences]
    if against is not None:
        kept = json.loads(Path(against).read_text())
        for number, (before, now) in enumerate(zip(kept["prompts"], lived.prompts, strict=False), 1):
            if before != now:
                differences.append(f"model call {number}: the prompt is otherwise than in {against}")
        if len(kept["prompts"]) != len(lived.prompts):
            differences.append(f"{len(lived.prompts)} model calls instead of {len(kept['prompts'])}")
    for line in (line for one in differences for line in one.split("\n")):
        print(clean(line))
    if as_test is not None:
        kept = {"session": session, "mode": mode, "prompts": lived.prompts, "differences": differences}
        Path(as_test).write_text(json.dumps(kept, indent=1) + "\n")
    until = f"; {lived.ended}" if lived.ended else ""
    told = f"{len(differences)} differences" if differences else "nothing would be otherwise"
    steps = f", {lived.steps} steps judged again" if lived.steps else ""
    print(f"{lived.turns} turns and {lived.calls} calls lived again{steps}: {told}{until}", file=sys.stderr)
    return EXIT_FAILED if differences else EXIT_DONE


@command.command("list")
@click.option("--status", "statuses", multiple=True, metavar="STATUS", help="Only with this status; may be repeated.")
@click.option("--label", "labels", multiple=True, metavar="NAME[=VALUE]", help="Only with this label.")
@click.option("--flag", is_flag=True, help="Only flagged ones.")
@click.option("--archived", is_flag=True, help="Those in the archive.")
@json_option
@workspace_option
def list_sessions(
    statuses: tuple[str, ...], labels: tuple[str, ...], flag: bool, archived: bool, as_json: bool
) -> None:
    """All sessions, the one changed last first; those in the archive only with --archived."""
    wanted = Filter(statuses=statuses, labels=labels, flag=True if flag else None, archived=archived, limit=MOST_LISTED)
    with open_catalogue(workspace_path()) as catalogue:
        rows = [session_row(entry) for entry in catalogue.page(wanted)]
        others = bool(rows) or bool(catalogue.count(Filter(archived=None)))
    if not rows and not as_json:
        nothing = (
            "none of them: see --archived and --help"
            if others
            else "there are no sessions yet: weft run FILE begins one"
        )
        print(nothing, file=sys.stderr)
        return
    if as_json:
        for row in rows:
            print_json({name: getattr(row, name) for name in row.__slots__})
    elif is_terminal(sys.stdout):
        from weft.render.sessions import sessions_table

        print_page(sessions_table(rows, screen_width(), this_moment(), ascii=is_ascii(sys.stdout)))
    else:
        from weft.render.sessions import sessions_text

        print(sessions_text(rows))


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="How many at most.")
@json_option
@workspace_option
def search(words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Sessions that have all the words in their messages, documents, results, titles or notes.

    What stands "in quotation marks" must stand together.
    """
    with open_catalogue(workspace_path()) as catalogue:
        found = catalogue.search(" ".join(words), Filter(archived=None, limit=limit))
    for one in found:
        if as_json:
            hits = [
                {"kind": hit.kind, "name": hit.name, "seq": hit.seq, "text": _plain(hit.snippet)} for hit in one.hits
            ]
            print_json({"session": one.entry.id, "title": one.entry.title, "hits": hits})
            continue
        print(f"{clean(one.entry.id)}\t{clean(one.entry.title)}")
        for hit in one.hits:
            print("  " + clean(f"{hit.kind} {hit.name}".strip() + f": {_plain(hit.snippet)}"))
    return EXIT_DONE if found else EXIT_FAILED


def _plain(snippet: str) -> str:
    return " ".join(snippet.replace("\x02", "").replace("\x03", "").split())


@command.command("show")
@click.argument("session")
@click.argument("step", required=False)
@click.argument("item", required=False)
@click.option("--prompt", is_flag=True, help="With a STEP: the whole text of what its models were last asked.")
@json_option
@workspace_option
def show(session: str, step: str | None, item: str | None, prompt: bool, as_json: bool) -> None:
    """A session's steps: state, attempts, artifacts, and what went wrong.

    With a STEP, all about that one: its inputs and what changed, its prompt, every attempt with its calls, tokens and
    cost, its artifacts, checks and gates. With an ITEM of a step that is made item by item, every try of that one.
    """
    if step is None and prompt:
        raise UsageError("--prompt needs a step", hint=f"weft sessions show {session} STEP --prompt")
    with open_app() as app:
        if step is not None:
            from weft.cli.step import show_item, show_step

            if item is not None:
                show_item(app, session, step, item, as_json=as_json)
                return
            show_step(app, session, step, prompt=prompt, as_json=as_json)
            return
        if as_json:
            print_json(session_json(app.sessions, session))
            return
        content = session_page(app.sessions, session)
    if is_terminal(sys.stdout):
        from weft.cli.run_options import program_words
        from weft.render.sessions import session_screen

        program = program_words(app)
        print_page(session_screen(content, screen_width(), this_moment(), program, ascii=is_ascii(sys.stdout)))
        if content.said:
            from weft.render.conversation_blocks import conversation_lines
            from weft.render.page import group, page

            print_page(group(conversation_lines(content.said, page(screen_width(), is_ascii(sys.stdout)))))
    else:
        from weft.render.sessions import session_text

        print(session_text(content))


@command.command("log")
@click.argument("session")
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only what came after this sequence number.")
@json_option
@workspace_option
def log(session: str, after: int, as_json: bool) -> None:
    """The log in words, or with --json as it is."""
    from weft.cli.run_options import program_words
    from weft.render.plain import PlainLog

    with open_app() as app:
        told = PlainLog(session, program_words(app), price=app.price)
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
def follow(session: str, after: int, as_json: bool) -> None:
    """The log as it grows, until the run ends or you press Ctrl+C."""
    with open_app() as app:
        import asyncio  # a listing does without

        asyncio.run(_follow(app, session, after, as_json=as_json))


async def _follow(app: App, session: str, after: int, *, as_json: bool) -> None:
    from weft.cli.run_options import program_words
    from weft.render.plain import PlainLog

    told = PlainLog(session, program_words(app), price=app.price)
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
def verify_sessions(sessions: tuple[str, ...]) -> int:
    """Check every line of the log, every artifact against its recorded hash, and the manifest against the log."""
    faults = 0
    with open_app() as app:
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
def accept_cut(session: str) -> None:
    """Go on with a session whose log has lost something, without what is lost.

    A run stops when it finds that. Put the log back from a copy if you have one: what is lost is otherwise made again.
    """
    from weft.cli.stopping import TERMINAL  # a listing does without

    with open_app() as app:
        lost = app.sessions.accept_cut(session, TERMINAL)
    for line in lost:
        print(line)
    print(f"{session} goes on without it" if lost else f"the log of {session} has lost nothing", file=sys.stderr)


@command.command("fork")
@click.argument("session")
@click.option("--at", type=int, metavar="SEQ", help="The event to fork after (`weft sessions log` numbers them).")
@click.option("--as", "name", metavar="ID", help="What the new session is called.")
@workspace_option
def fork(session: str, at: int | None, name: str | None) -> None:
    """Begin a session that shares what came before, and goes its own way from there.

    Whatever was going on at that point is interrupted in the new one, and an open gate can be answered otherwise. The
    first session is left as it is.
    """
    with open_app() as app:
        print(app.fork(session, at=at, name=name))


@command.command("rename")
@click.argument("session")
@click.argument("title", nargs=-1)
@workspace_option
def rename(session: str, title: tuple[str, ...]) -> None:
    """Give a session a title; without one it has its own again."""
    _describe([session], DescribeSession(title=" ".join(title)))


@command.command("status")
@click.argument("session")
@click.argument("status", required=False, default="")
@workspace_option
def set_status(session: str, status: str) -> None:
    """Say where a session stands for you: todo, doing, done, cancelled, or what statuses.yaml has; none without one."""
    _describe([session], DescribeSession(status=status))


@command.command("label")
@click.argument("session")
@click.argument("labels", nargs=-1, metavar="[NAME[=VALUE]]...")
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Take a label off; may be repeated.")
@workspace_option
def label(session: str, labels: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Put labels on a session, or take them off."""
    parts = [one.partition("=") for one in labels]
    put_on = {name: value for name, _, value in parts}
    _describe([session], DescribeSession(labels=put_on, unlabelled=removed))


@command.command("note")
@click.argument("session")
@click.argument("text", nargs=-1)
@workspace_option
def note(session: str, text: tuple[str, ...]) -> None:
    """Keep a note on a session; without a text it is taken away."""
    _describe([session], DescribeSession(note=" ".join(text)))


@command.command("flag")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--off", is_flag=True, help="Take the flag away.")
@workspace_option
def flag(sessions: tuple[str, ...], off: bool) -> None:
    """Flag sessions, so that they are found at once."""
    _describe(sessions, DescribeSession(flag=not off))


@command.command("archive")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--off", is_flag=True, help="Take them out of the archive.")
@workspace_option
def archive(sessions: tuple[str, ...], off: bool) -> None:
    """Put sessions into the archive: they stay, and lists leave them out."""
    _describe(sessions, DescribeSession(archived=not off))


@command.command("read")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--off", is_flag=True, help="Make them unread again.")
@workspace_option
def read(sessions: tuple[str, ...], off: bool) -> None:
    """Say that you have seen what came in sessions."""
    with open_app() as app:
        for session in sessions:
            seen = 0 if off else app.sessions.read(session).state.seq
            describe(app, session, DescribeSession(seen=seen))


def _describe(sessions: Sequence[str], said: DescribeSession) -> None:
    with open_app() as app:
        for session in sessions:
            describe(app, session, said)


def describe(app: App, session: str, said: DescribeSession | SwitchSource) -> None:
    import asyncio

    from weft.cli.stopping import TERMINAL

    asyncio.run(app.describe(session, said, by=TERMINAL)).check()


@command.command("trash")
@workspace_option
def list_trash() -> None:
    """What is in the trash folder."""
    with open_sessions(workspace_path()) as sessions:
        rows = [(one.name, one.session, one.pipeline, one.updated) for one in sessions.trashed()]
    print_rows(rows, "the trash is empty")


@command.command("restore")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@workspace_option
def restore(names: tuple[str, ...]) -> None:
    """Take sessions back out of the trash folder, by the name that `weft sessions trash` shows."""
    with open_sessions(workspace_path()) as sessions:
        for name in names:
            print(sessions.restore(name))


@command.command("export")
@click.argument("session")
@click.option("--as", "kind", type=click.Choice(["html", "markdown", "bundle"]), default="html", show_default=True)
@click.option("--output", "-o", type=click.Path(), help="Where to (default: a file here, named for the session).")
@click.option("--preview", is_flag=True, help="Say what would leave, and write nothing.")
@workspace_option
def export(session: str, kind: ExportKind, output: str | None, preview: bool) -> None:
    """Write a session as one page, as markdown, or as a bundle that another Weft takes in."""
    from weft.app import exported, would_leave

    with open_app() as app:
        if preview:
            print_json(asdict(would_leave(app, session, kind)))
            return
        name, data = exported(app, session, kind)
    path = Path(output or name)
    path.write_bytes(data)
    print(path)


@command.command("import")
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@workspace_option
def take_in(bundle: Path) -> None:
    """Take in a session from a bundle."""
    from weft.app import taken_in

    with open_app() as app:
        print(taken_in(app, bundle.read_bytes()))


@command.command("rm")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@workspace_option
def remove(sessions: tuple[str, ...]) -> None:
    """Move sessions to the workspace's trash folder. Nothing is deleted."""
    with open_app() as app:
        for session in sessions:
            print(app.workspace.path / app.sessions.trash(session))
