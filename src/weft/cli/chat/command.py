"""The command `weft chat`: opens the conversation of a session and hands it to the face."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

import click

from weft.app import App, Filter, ListedSession, SessionRequest, this_moment
from weft.cli.place import (
    ensure_workspace,
    is_ascii,
    is_attended,
    open_app,
    print_json,
    screen_width,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.cli.run_options import program_words
from weft.protocol.commands import Mode
from weft.protocol.errors import EXIT_DONE, UsageError
from weft.render.units import human_time

MOST: Final = 20
"""Conversations to choose from."""


@click.command("chat")
@click.argument("words", nargs=-1, metavar="[MESSAGE]...")
@click.option("--session", "-s", metavar="ID", help="The session to go on with, or the id for a new one.")
@click.option(
    "--continue",
    "-c",
    "goes_on",
    is_flag=True,
    help="Go on with the last conversation of this folder, or else of all.",
)
@click.option("--pick", is_flag=True, help="Choose a conversation from a list; its tools work where they did.")
@click.option("--model", metavar="NAME", help="The model that answers; else the workspace's.")
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="ask",
    show_default=True,
    help="What tools may do: only read and propose; only read; ask before anything else; change files too; do it all.",
)
@click.option("--kb", metavar="NAME", help="A collection to offer to the model (default: `kb` in config.toml).")
@click.option("--folder", metavar="FOLDER", help="The folder that tools may work in (default: this one).")
@click.option("--whole-input", is_flag=True, help="Without a terminal: all of standard input is one message.")
@click.option("--show-prompt", is_flag=True, help="Print what the model is told, and leave; nothing is sent.")
@click.option("--plain", is_flag=True, help="Plain lines: messages from standard input, answers to standard output.")
@trust_option
@workspace_option
def command(
    words: tuple[str, ...],
    session: str | None,
    goes_on: bool,
    pick: bool,
    model: str | None,
    mode: Mode,
    kb: str | None,
    folder: str | None,
    whole_input: bool,
    show_prompt: bool,
    plain: bool,
) -> int:
    """Talk in a session: ask about its documents, have things done, approve or refuse each of them.

    Ctrl+C stops what runs and keeps the conversation; twice at an idle prompt leaves. Nothing is lost on leaving, not
    even a question that waits for your approval: `weft chat --session ID` goes on.
    """
    working = Path(folder or ".").absolute()
    if not working.is_dir():
        raise UsageError(f"--folder {working}: there is no such folder")
    ensure_workspace(workspace_path())
    if (goes_on or pick) and session:
        raise UsageError("--session names one already", hint="leave out --continue and --pick")
    if goes_on or pick:
        chosen = _chosen(working, pick=pick)
        session = chosen.id
        if pick and not folder and Path(chosen.folder or ".").is_dir():
            working = Path(chosen.folder or ".").absolute()
    request = SessionRequest(talk=True, session=session, model=model, mode=mode, kb=kb, working=working)
    if show_prompt:
        if not session:
            raise UsageError("--show-prompt needs a session", hint="name one with --session")
        return asyncio.run(_show_prompt(request))
    with open_app(runs=True) as app:
        if is_attended():
            from weft.cli.consent_question import ask_about

            for asked in app.hooks_not_agreed(working):
                ask_about(app.consents, asked)
        return asyncio.run(_chat(app, request, " ".join(words) or None, whole_input=whole_input, plain=plain))


def _chosen(working: Path, *, pick: bool) -> ListedSession:
    """One of the conversations that there are; unless somebody picks, the last that worked in this folder, or else the
    last of all."""
    with open_app() as app:
        listed = app.catalogue.page(Filter(limit=200))
    talks = (one for one in listed if one.kind == "conversation" or one.id.startswith("talk-"))
    found = [one for one in talks if one.state != "new"][:MOST]  # opened and left without a word: nothing goes on there
    if not found:
        raise UsageError("there is no conversation yet", hint="weft chat begins one")
    if not pick:
        return next((one for one in found if one.folder == str(working)), found[0])
    if not is_attended():
        raise UsageError("--pick needs a terminal", hint="weft chat --session ID; weft sessions list shows them")
    _list(found)
    number = click.prompt("which", type=click.IntRange(1, len(found)), default=1, err=True)
    return found[int(number) - 1]


def _list(found: Sequence[ListedSession]) -> None:
    """Each in two lines: what it is about and when; the last words, and where."""
    from weft.cli.chat.paint import Paint
    from weft.render.page import page

    sheet, now = page(screen_width(sys.stderr), is_ascii(sys.stderr)), this_moment()
    paint = Paint(colour=not os.environ.get("NO_COLOR"))
    for number, one in enumerate(found, 1):
        when = human_time(one.updated, now) + ("" if one.state == "idle" else f" {sheet.signs.dot} {one.state}")
        lines = [sheet.line((f"{number:>3}  ", "bold cyan"), (one.title, "bold"), right=(when, "dim"))]
        last = one.last_words if one.last_words != one.title else ""
        where = f" {sheet.signs.dot} ".join(words for words in (_at_home(one.folder), last) if words)
        lines.append(sheet.line(("     ", ""), (where or one.id, "dim")))
        for line in lines:
            click.echo(paint.line(line), err=True)


def _at_home(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}/") else folder


async def _show_prompt(request: SessionRequest) -> int:
    """The prompt as JSON: the system text, every message, the tools, and what was left out for want of room."""
    with open_app() as app:
        shown = await app.next_prompt(request)
    print_json(shown)
    return EXIT_DONE


async def _chat(app: App, request: SessionRequest, message: str | None, *, whole_input: bool, plain: bool) -> int:
    from weft.cli.chat.face import run_chat

    async with app.conversation(request) as session:
        return await run_chat(
            session, message=message, whole_input=whole_input, plain=plain, program=program_words(app)
        )
