"""`weft interrupt`: stop what runs in a session that is open in another terminal or at a worker. The session stays."""

from __future__ import annotations

from typing import Final

import click

from weft.cli.place import workspace_option
from weft.cli.send import reach
from weft.protocol.commands import Interrupt
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED

MEANINGS: Final = {
    "accepted": "interrupted",
    "interrupt_in_progress": "it is being interrupted already",
    "unsupported": "what runs can't be interrupted",
    "nothing_to_interrupt": "nothing is running",
    "withdrawn": "no worker had begun it; it is taken out of the queue",
}


@click.command("interrupt")
@click.argument("session")
@click.option("--target", metavar="NAME", help="One sub-conversation, such as main/a1; left out, everything.")
@workspace_option
def command(session: str, target: str | None) -> int:
    """Stop the model call, the tools and the sub-agents that run in a session, and keep the session."""
    stop = Interrupt(target=target or "", why="interrupted from another terminal")
    met = reach(session, stop).note
    print(MEANINGS.get(met, met))
    return EXIT_FAILED if met == "unsupported" else EXIT_DONE
