"""`weft reply`: say something to the run that waits in a session, and go on with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Final

import click

from weft.app import App, OpenedSession, SessionRequest
from weft.cli.place import from_here, json_option, open_app, pairs, trust_option, workspace_option
from weft.cli.run import OUTCOMES, FollowedSession, follow
from weft.cli.run_options import program_words
from weft.protocol.commands import ReplyToGate, Say, StartRun
from weft.protocol.errors import EXIT_DONE, EXIT_WAITING, UserError
from weft.protocol.events import ConfirmationAsked, ConfirmationKind, Outcome
from weft.protocol.ids import check_session_id
from weft.render.cells import clean

BACK: Final[Mapping[ConfirmationKind, str]] = {
    "breakout": "reply: {how} leave, or: {how} stay",
    "reply": "reply: {how} yes, or: {how} no",
    "change": "reply: {how} TEXT, with what you want changed",
    "fresh": "reply: {how} yes, or: {how} no",
}
"""How to answer what a person is asked back."""


@click.command("reply")
@click.argument("session")
@click.argument("words", nargs=-1)
@click.option("--gate", metavar="GATE", help="Which gate, when several are open.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="What the gate's form asks for.")
@click.option(
    "--output", "-o", metavar="PATH", help="Copy the wanted artifact there when the run is done; - prints it."
)
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@trust_option
@workspace_option
def command(
    session: str,
    words: tuple[str, ...],
    gate: str | None,
    settings: tuple[str, ...],
    output: str | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Reply to a waiting run, and go on with it; on a terminal you are asked when there are no words.

    \b
    weft reply ID proceed           go on
    weft reply ID amend TEXT        make the step again, with what you want changed
    weft reply ID cancel            end the run; what it made stays
    weft reply ID 2                 the second of the choices offered
    weft reply ID proceed --set tone=dry    go on, with what the gate's form asks for
    weft reply ID looks good        your own words, as far as they are clear
    weft reply ID resume            take up a run that was left

    Words that are not clear change nothing: you are told why, and the exit code is 3. So it is when your words seem to
    lead away from the run: then say leave (the run is kept) or stay.
    """
    with open_app(runs=True) as app:
        app.queues_runs = app.shared is not None  # a worker hears it, and goes on
        values = pairs(settings, "--set", "VALUE")
        return asyncio.run(
            _reply(app, check_session_id(session), words, gate, values, output, as_json=as_json, plain=plain)
        )


async def _reply(
    app: App,
    name: str,
    words: tuple[str, ...],
    gate: str | None,
    values: Mapping[str, str],
    output: str | None,
    *,
    as_json: bool,
    plain: bool,
) -> int:
    seen: tuple[str, ...] = ()
    if app.sessions.exists(name):
        state = app.sessions.read(name).state
        back = state.confirming
        if not gate:  # what is asked now is meant, and not what somebody else's reply leads to in the meantime
            seen = (back.confirmation,) if back is not None else tuple(one.gate for one in state.gates.values())
        if state.seq and state.run is None:
            raise UserError("no run is waiting in this session", hint=f"{program_words(app)} run starts one")
    async with follow(app, SessionRequest(session=name), None, as_json=as_json, plain=plain) as followed:
        session = followed.session
        if followed.before is not None:
            return _after_words_before(followed, followed.before, output, as_json=as_json)
        session.check_heard()
        if values:
            filled = _filled(session, words, gate, values)
            return OUTCOMES[await followed.give(filled, output)]
        if not words:
            if not followed.asks or not session.state.gates:
                raise UserError("what is your reply?", hint=f"{program_words(app)} reply {name} proceed")
            return OUTCOMES[await followed.to_the_end(None, output)]
        said = Say(text=_text(session, words, gate), gate=gate or "", to="run", asked=seen)
        outcome = await followed.give(said, output)
        if followed.went_on:
            if outcome == "waiting" and followed.asks:
                return OUTCOMES[await followed.to_the_end(None, output)]
            resumed = followed.understood is not None and followed.understood.meaning == "resume"
            if outcome == "waiting" and resumed and not as_json:
                _say_on(followed)  # the gate is not a new one: nothing has said it yet
            return OUTCOMES[outcome]
        return await _stayed(followed, outcome, output, as_json=as_json)


async def _stayed(followed: FollowedSession, outcome: Outcome, output: str | None, *, as_json: bool) -> int:
    """The words have not set the run going."""
    meant = followed.understood
    if meant is not None and meant.meaning == "refused" and not followed.asks:
        raise UserError(meant.reason, hint=meant.text)
    if outcome == "cancelled":
        return EXIT_DONE  # as was wanted
    if followed.asks and outcome != "left":
        return OUTCOMES[await followed.to_the_end(None, output)]
    if not as_json:
        _say_on(followed)
    return EXIT_WAITING


def _after_words_before(followed: FollowedSession, outcome: Outcome, output: str | None, *, as_json: bool) -> int:
    """What the run has come to by them nobody has seen yet, so nothing is said to it."""
    print("your new words were not used: say them again if they are still meant", file=sys.stderr)
    if outcome == "done":
        followed.deliver(StartRun(), output)
    elif outcome == "waiting" and not as_json:
        _say_on(followed)
    return OUTCOMES[outcome]


def _filled(session: OpenedSession, words: tuple[str, ...], gate: str | None, values: Mapping[str, str]) -> ReplyToGate:
    """With a form the first word is the choice for certain; none is the one that goes on."""
    open_ = [one.gate for one in session.state.gates.values()]
    if not gate and len(open_) > 1:
        raise UserError("several gates are open", hint=f"say which: --gate {open_[0]}")
    name = gate or (open_[0] if open_ else "")
    choice = session.choice_of(name, words[0] if words else "proceed")
    form = next((one.form for one in session.state.gates.values() if name in (one.gate, one.step)), ())
    files = [str(one["name"]) for one in form if one.get("type") == "file" and one.get("name") in values]
    values = {**values, **{one: from_here(values[one]) for one in files}}
    return ReplyToGate(gate=name, choice=choice, text=" ".join(words[1:]), values=values)


def _text(session: OpenedSession, words: tuple[str, ...], gate: str | None) -> str:
    """ "2 make it shorter": with words as separate as a shell gives them, a number is a choice for certain."""
    if len(words) > 1 and words[0].isdecimal() and (gate or len(session.state.gates) == 1):
        return f"{session.choice_of(gate or '', words[0])} {' '.join(words[1:])}"
    return " ".join(words)


def _say_on(followed: FollowedSession) -> None:
    """What the run waits for now, and how to go on, for whoever does not sit in front of it."""
    from weft.cli.gates import chat_command, question_page
    from weft.render.page import page

    session, program = followed.session, followed.program
    how, asked, state = f"{program} reply {session.id}", session.asks, session.state
    back = next((event.kind for event in asked if isinstance(event, ConfirmationAsked)), None)
    lines: list[str] = []
    if back is None or followed.understood is None or followed.understood.meaning in ("unclear", "gate?"):
        sheet = page(100, False)  # a question that was just asked back is an event, and was shown
        lines = [line.plain.rstrip() for line in question_page(session, sheet)]
    if state.run is not None and state.run.outcome == "left" and back is None:
        lines = [f"the run is kept; take it up again: {how} resume"]
        lines += [f"to talk: {chat_command(program, session.id, session.left_for)}"]
    elif back is not None:
        lines += [BACK[back].format(how=how)]
    elif asked:
        which = f"{asked[0].gate}: " if len(asked) > 1 else ""
        lines += [f"reply: {how} {which}proceed (or one of the other choices)"]
    else:
        lines += [f"reply: {how} resume, or: {how} fresh"]
    for line in lines:
        print(clean(line), file=sys.stderr)
