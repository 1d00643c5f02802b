"""`weft reply`: answer the gate a run waits at, and go on with the run."""

from __future__ import annotations

import asyncio

import click

from weft.app import App, Ask
from weft.cli.asking import program_words
from weft.cli.place import json_option, open_app, workspace_option
from weft.cli.run import OUTCOMES, follow
from weft.orchestrator.resting import chosen_id, open_gate
from weft.protocol.commands import ReplyToGate
from weft.protocol.errors import EXIT_DONE, UserError
from weft.protocol.ids import check_session_id


@click.command("reply")
@click.argument("session")
@click.argument("words", nargs=-1, required=True)
@click.option("--gate", metavar="GATE", help="Which gate, when several are open.")
@click.option(
    "--output", "-o", metavar="PATH", help="Copy the wanted artifact there when the run is done; - prints it."
)
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@workspace_option
def command(
    session: str,
    words: tuple[str, ...],
    gate: str | None,
    output: str | None,
    plain: bool,
    as_json: bool,
    workspace: str | None,
) -> int:
    """Reply to a waiting run, and go on with it.

    \b
    weft reply ID proceed           go on
    weft reply ID amend TEXT        make the step again, with what you want changed
    weft reply ID cancel            end the run; what it made stays
    weft reply ID 2                 the second of the choices offered
    """
    with open_app(workspace) as app:
        return asyncio.run(_reply(app, check_session_id(session), words, gate, output, as_json=as_json, plain=plain))


async def _reply(
    app: App, name: str, words: tuple[str, ...], gate: str | None, output: str | None, *, as_json: bool, plain: bool
) -> int:
    async with follow(app, Ask(session=name), None, as_json=as_json, plain=plain) as followed:
        session = followed.session
        gates = session.state.gates
        if gate is None and len(gates) > 1:
            names = ", ".join(one.gate for one in gates.values())
            raise UserError(f"several gates are open: {names}", hint=f"{program_words(app)} reply {name} --gate GATE …")
        held = open_gate(session.state, gate or next(iter(gates), ""))
        choice = chosen_id(held, words[0])
        await session.reply(ReplyToGate(gate=held.gate, choice=choice, text=" ".join(words[1:])))
        if session.state.run and session.state.run.outcome == "cancelled":
            return EXIT_DONE
        return OUTCOMES[await followed.run(session.to_continue(), output)]
