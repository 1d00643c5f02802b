"""The command `weft chat`: opens the conversation of a session and hands it to the face."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Final, get_args

import click

from weft.app import App, Filter, SessionRequest, json_line, this_moment
from weft.cli.asking import program_words
from weft.cli.place import ensure_workspace, is_terminal, open_app, trust_option, workspace_option, workspace_path
from weft.protocol.commands import Mode
from weft.protocol.errors import EXIT_DONE, UsageError
from weft.render.cells import clean
from weft.render.units import human_time

MOST: Final = 20
"""Conversations to choose from."""


@click.command("chat")
@click.argument("words", nargs=-1, metavar="[MESSAGE]...")
@click.option("--session", "-s", metavar="ID", help="The session to go on with, or the id for a new one.")
@click.option("--continue", "-c", "goes_on", is_flag=True, help="Go on with the conversation that was changed last.")
@click.option("--pick", is_flag=True, help="Choose one of the last conversations from a list.")
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
    workspace: str | None,
) -> int:
    """Talk in a session: ask about its documents, have things done, approve or refuse each of them.

    Ctrl+C stops what runs and keeps the conversation; twice at an idle prompt leaves. Nothing is lost on leaving, not
    even a question that waits for your approval: `weft chat --session ID` goes on.
    """
    working = Path(folder or ".").absolute()
    if not working.is_dir():
        raise UsageError(f"--folder {working}: there is no such folder")
    ensure_workspace(workspace_path(workspace))
    if (goes_on or pick) and session:
        raise UsageError("--session names one already", hint="leave out --continue and --pick")
    if goes_on or pick:
        session = _chosen(workspace, pick=pick)
    request = SessionRequest(talk=True, session=session, model=model, mode=mode, kb=kb, working=working)
    if show_prompt:
        if not session:
            raise UsageError("--show-prompt needs a session", hint="name one with --session")
        return asyncio.run(_show_prompt(workspace, request))
    with open_app(workspace, runs=True) as app:
        return asyncio.run(_chat(app, request, " ".join(words) or None, whole_input=whole_input, plain=plain))


def _chosen(workspace: str | None, *, pick: bool) -> str:
    """One of the conversations that there are."""
    with open_app(workspace) as app:
        listed = app.catalogue.page(Filter(limit=200))
    found = [one for one in listed if one.kind == "conversation" or one.id.startswith("talk-")][:MOST]
    if not found:
        raise UsageError("there is no conversation yet", hint="weft chat begins one")
    if not pick:
        return found[0].id
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError("--pick needs a terminal", hint="weft chat --session ID; weft sessions list shows them")
    now = this_moment()
    for number, one in enumerate(found, 1):
        click.echo(
            f"{number:>3}  {clean(one.title)[:60]} ({one.state}, {human_time(one.updated, now)})  {one.id}", err=True
        )
    number = click.prompt("which", type=click.IntRange(1, len(found)), default=1, err=True)
    return found[int(number) - 1].id


async def _show_prompt(workspace: str | None, request: SessionRequest) -> int:
    """The prompt as JSON: the system text, every message, the tools, and what was left out for want of room."""
    with open_app(workspace) as app:
        shown = await app.next_prompt(request)
    sys.stdout.buffer.write(json_line(shown))
    return EXIT_DONE


async def _chat(app: App, request: SessionRequest, message: str | None, *, whole_input: bool, plain: bool) -> int:
    from weft.cli.chat.face import run_chat

    async with app.session(request) as session:
        return await run_chat(
            session, message=message, whole_input=whole_input, plain=plain, program=program_words(app)
        )
