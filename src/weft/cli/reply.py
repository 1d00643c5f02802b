"""`weft reply`: say something to the run that waits in a session, and go on with it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from weft.app import App, Ask
from weft.cli.asking import program_words
from weft.cli.place import json_option, open_app, workspace_option
from weft.cli.run import OUTCOMES, Followed, follow
from weft.orchestrator.hearing import FRESH, is_heard
from weft.orchestrator.resting import chosen_id, open_gate
from weft.protocol.errors import EXIT_DONE, EXIT_WAITING, UserError
from weft.protocol.ids import check_session_id
from weft.render.cells import clean
from weft.session.state import SessionState

if TYPE_CHECKING:
    from weft.app.hearing import Heard


@click.command("reply")
@click.argument("session")
@click.argument("words", nargs=-1)
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
    """Reply to a waiting run, and go on with it; on a terminal you are asked when there are no words.

    \b
    weft reply ID proceed           go on
    weft reply ID amend TEXT        make the step again, with what you want changed
    weft reply ID cancel            end the run; what it made stays
    weft reply ID 2                 the second of the choices offered
    weft reply ID looks good        your own words, as far as they are clear
    weft reply ID resume            take up a run that was left

    Words that are not clear change nothing: you are told why, and the exit code is 3. So it is when your words seem to
    lead away from the run: then say leave (the run is kept) or stay.
    """
    with open_app(workspace) as app:
        return asyncio.run(_reply(app, check_session_id(session), words, gate, output, as_json=as_json, plain=plain))


async def _reply(
    app: App, name: str, words: tuple[str, ...], gate: str | None, output: str | None, *, as_json: bool, plain: bool
) -> int:
    async with follow(app, Ask(session=name), None, as_json=as_json, plain=plain) as followed:
        session = followed.session
        if not is_heard(session.state):
            raise UserError("no run is waiting in this session", hint=f"{program_words(app)} run starts one")
        if not words:
            if not followed.asks or not session.state.gates:
                raise UserError("what is your reply?", hint=f"{program_words(app)} reply {name} proceed")
            return OUTCOMES[await followed.to_the_end(None, output)]
        heard = await session.hear(_text(session.state, words, gate), gate=gate or "")
        if not as_json and not plain and followed.live:
            print(clean(f"understood: {heard}"), file=sys.stderr)
        if heard.wish is not None:
            outcome = await followed.to_the_end(heard.wish, output)
            if outcome == "waiting" and heard.meaning == "resume" and not followed.asks and not as_json:
                _say_on(followed, heard)  # the gate is not a new one: nothing has said it yet
            return OUTCOMES[outcome]
        if heard.meaning == "reply":
            return EXIT_DONE  # it is cancelled, as was wanted
        if followed.asks and heard.meaning != "leave":
            return OUTCOMES[await followed.to_the_end(None, output)]
        if not as_json:
            _say_on(followed, heard)
        return EXIT_WAITING


def _text(state: SessionState, words: tuple[str, ...], gate: str | None) -> str:
    """ "2 make it shorter": with words as separate as a shell gives them, a number is a choice for certain."""
    text = " ".join(words)
    if len(words) > 1 and words[0].isdecimal() and (gate or len(state.gates) == 1):
        held = open_gate(state, gate or next(iter(state.gates)))
        return f"{chosen_id(held, words[0])} {' '.join(words[1:])}"
    return text


def _say_on(followed: Followed, heard: Heard) -> None:
    """What the run waits for now, and how to go on, for whoever does not sit in front of it."""
    from weft.cli.gates import chat_command, question_page
    from weft.render.page import page

    session, program = followed.session, followed.program
    lines = [line.plain.rstrip() for line in question_page(session.state, str(session.folder), page(100, False))]
    how = f"{program} reply {session.id}"
    match heard.meaning:
        case "leave":
            lines = [f"the run is kept; take it up again: {how} resume"]
            lines += [f"to talk: {chat_command(program, session.id, heard.answer)}"]
        case "breakout":  # the question itself is an event, and was shown
            lines = [f"reply: {how} leave, or: {how} stay"]
        case "fresh?":
            lines = [FRESH, f"reply: {how} fresh, or: {how} resume"]
        case _ if session.state.confirming:
            lines += [f"reply: {how} leave, or: {how} stay"]
        case _ if session.state.gates:
            lines += [f"reply: {how} proceed (or one of the other choices)"]
        case _:
            lines += [f"reply: {how} resume, or: {how} fresh"]
    for line in lines:
        print(clean(line), file=sys.stderr)
