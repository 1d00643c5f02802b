"""`weft send` and `weft interrupt`: say something in a session that is open elsewhere, or stop what runs in it."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

import click

from weft.cli.place import open_app, workspace_option
from weft.cli.run_options import program_words
from weft.cli.stopping import TERMINAL
from weft.protocol.commands import Accepted, Interrupt, Say, SessionCommand
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError, UserError
from weft.protocol.ids import check_session_id

MEANINGS: Final = {
    "accepted": "interrupted",
    "interrupt_in_progress": "it is being interrupted already",
    "unsupported": "what runs can't be interrupted",
    "nothing_to_interrupt": "nothing is running",
    "withdrawn": "no worker had begun it; it is taken out of the queue",
}


@click.command("send")
@click.argument("session")
@click.argument("text", nargs=-1)
@workspace_option
def command(session: str, text: tuple[str, ...]) -> None:
    """Say TEXT in a session that is open elsewhere; - reads it from standard input.

    A message that comes while a turn runs is kept, shown as queued, and taken up when the turn lets it.
    """
    said = sys.stdin.read() if text == ("-",) else " ".join(text)
    if not said.strip():
        raise UsageError("there is nothing to send", hint='weft send SESSION "text"')
    accepted = reach(session, Say(text=said))
    if accepted.note:
        print(accepted.note)
    else:
        print("heard by the run that waits in the session", file=sys.stderr)


@click.command("interrupt")
@click.argument("session")
@click.option("--target", metavar="NAME", help="One sub-conversation, such as main/a1; left out, everything.")
@workspace_option
def interrupt(session: str, target: str | None) -> int:
    """Stop the model call, the tools and the sub-agents that run in a session, and keep the session."""
    stop = Interrupt(target=target or "", why="interrupted from another terminal")
    met = reach(session, stop).note
    print(MEANINGS.get(met, met))
    return EXIT_FAILED if met == "unsupported" else EXIT_DONE


def reach(session: str, command: SessionCommand) -> Accepted:
    """What the process that holds the session says to a command."""
    with open_app() as app:
        name = check_session_id(session)

        async def submitted() -> Accepted:
            attached = await app.attached(name)
            if attached is None:
                if isinstance(command, Interrupt) and app.shared is not None:
                    from weft.app import Queue

                    queue = Queue(app.shared)
                    if await app.off_loop(lambda: queue.withdraw(name)):
                        return Accepted(seq=0, note="withdrawn")
                raise UserError(
                    f"session {name} is not open anywhere", hint=f"{program_words(app)} chat --session {name} opens it"
                )
            key = app.new_name()
            reply = await attached.submit(command, key=key, by=TERMINAL)
            if isinstance(reply, Accepted):
                return reply
            for record in await attached.records() if attached.is_lost else ():
                if record.envelope is not None and record.envelope.key == key:
                    told = f"the process that held the session has ended; what was said is in it (event {record.seq})"
                    return Accepted(seq=record.seq, note=told)
            raise reply.error()

        return asyncio.run(submitted())
