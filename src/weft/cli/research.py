"""`weft research`: a question to a collection, answered in a session that can be stopped, followed and gone on from;
`weft ask`: the same in a few lines with their sources."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any, Final

import click

from weft.app import App, OpenedSession, SessionRequest
from weft.cli.place import (
    Decorated,
    ensure_workspace,
    json_option,
    open_app,
    screen_width,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.cli.run import OUTCOMES, deliver
from weft.cli.run_options import program_words
from weft.cli.screen import FaultScreen, Screen, screen_for
from weft.cli.stopping import TERMINAL, interruptible
from weft.protocol.commands import Interrupt, StartRun
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError
from weft.render.cells import clean

PACK: Final = "research"
GATES: Final = ("analyze_query", "calibrate")
DEPTH: Final = click.Choice(["quick", "standard", "deep"])


def kb_option(function: Decorated) -> Decorated:
    words = "The collection to ask (default: `kb` in config.toml, or the only one)."
    return click.option("--kb", "name", metavar="NAME", help=words)(function)


@click.command("research")
@click.argument("question", nargs=-1, required=True)
@kb_option
@click.option("--depth", type=DEPTH, default="standard", show_default=True, help="How far it goes.")
@click.option("--follow", metavar="SESSION", help="Go on from this session's answer: only what is new is looked for.")
@click.option("--page", "pages", multiple=True, metavar="URL", help="A page of the web to use too; may be repeated.")
@click.option("--web", is_flag=True, help="Search the web too, through a search source; the depth says how many pages.")
@click.option("--allow-network", is_flag=True, help="Let --page be fetched.")
@click.option(
    "--review", is_flag=True, help="Wait for you after the plan, and after it was held against what there is."
)
@click.option("--yes", is_flag=True, help="Do not wait, not even when the question is unclear.")
@click.option("--session-id", "session", metavar="ID", help="The id of the session.")
@click.option("--new", is_flag=True, help="Begin another session on a question that has one.")
@click.option("--output", "-o", metavar="PATH", help="Copy the answer there, as its ending says: .md .html .json; -.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@trust_option
@workspace_option
def command(
    question: tuple[str, ...],
    name: str | None,
    depth: str,
    follow: str | None,
    pages: tuple[str, ...],
    web: bool,
    allow_network: bool,
    review: bool,
    yes: bool,
    session: str | None,
    new: bool,
    output: str | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Answer a question from a collection: every sentence with its passage, what was checked of it, and what is open.

    Works offline; with a connected model it gets better. Ctrl+C stops it, and the same command goes on. An unclear
    question waits for you (exit code 3): `weft reply SESSION amend "what you mean"`, or proceed. The exit code is 1
    when nothing was found.
    """
    from weft.app.knowledge.collection_inputs import which_collection
    from weft.app.knowledge.research_requests import Inquiry, ask_of

    if pages and not allow_network:
        raise UsageError(
            f"{pages[0]} is on the network, and Weft stays off it unless you say otherwise", hint="add --allow-network"
        )
    prepare()
    with open_app(runs=True) as app:
        inquiry = Inquiry(
            question=" ".join(question),
            collection=which_collection(app, name),
            session=session,
            follows=follow,
            pages=[asyncio.run(app.fetch_input(page)) for page in pages],
            new=new,
        )
        ask = ask_of(app, inquiry)
        if web and not app.sessions.exists(ask.session or ""):
            from weft.app.connections.web_searches import pages_about

            more, notes = asyncio.run(pages_about(app.sources(), app.fetch_input, inquiry.question, depth))
            for note in notes:
                print(f"not read: {clean(note)}", file=sys.stderr)
            ask = ask_of(app, replace(inquiry, pages=[*inquiry.pages, *more]))
        wish = StartRun(
            parameters={"depth": depth, "review": review}, answers=dict.fromkeys(GATES, "proceed") if yes else {}
        )
        return asyncio.run(answered(app, ask, wish, output, as_json=as_json, plain=plain))


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@kb_option
@click.option("--depth", type=DEPTH, default="quick", show_default=True, help="How far it goes.")
@json_option
@trust_option
@workspace_option
def ask(question: tuple[str, ...], name: str | None, depth: str, as_json: bool) -> int:
    """Ask your documents: a short answer with its sources, and what was checked of each sentence.

    The exit code is 1 when nothing was found. `weft research` takes the question apart and goes further.
    """
    from weft.app.knowledge.collection_inputs import which_collection
    from weft.app.knowledge.research_requests import Inquiry, ask_of

    prepare()
    with open_app(runs=True) as app:
        asked = " ".join(question)
        request = ask_of(app, Inquiry(question=asked, collection=which_collection(app, name), pipeline="ask"))
        wish = StartRun(parameters={"depth": depth})
        return asyncio.run(answered(app, request, wish, None, as_json=as_json, quietly=True))


def prepare() -> None:
    """The pack must be there: a workspace that has only others gets it, and that is said."""
    ensure_workspace(workspace_path(), PACK)


async def answered(
    app: App,
    request: SessionRequest,
    wish: StartRun,
    output: str | None,
    *,
    as_json: bool,
    plain: bool = False,
    quietly: bool = False,
) -> int:
    """Run it, in view or `quietly`, and print the answer."""
    async with app.session(replace(request, attended=False), wish) as session:
        program = program_words(app)
        if quietly:
            screen: Screen = FaultScreen(session.id, program)
        else:
            artifacts = {name: step.artifacts for name, step in session.pipeline.steps.items()}
            screen = screen_for(session.id, str(session.folder), artifacts, program, as_json=False, plain=plain)
        async with session.shown(screen.show) as showing:
            with interruptible(lambda: session.submit(Interrupt(), by=TERMINAL)):
                async with screen.going():
                    outcome = await session.run(wish, by=TERMINAL)
                    await showing.caught_up()
        if outcome != "done":
            return OUTCOMES[outcome]
        return _print(session, output, program, as_json=as_json)


def _print(session: OpenedSession, output: str | None, program: str, *, as_json: bool) -> int:
    value = json.loads((session.folder / "answer.json").read_bytes())
    if output:
        deliver(session, session.pipeline.final, output)
    if as_json:
        print(json.dumps(value, ensure_ascii=False))
    elif not output:
        _print_text(value)
        sys.stdout.flush()
        print(f"session {session.id}: {program} open {session.id}", file=sys.stderr)
    return EXIT_FAILED if value["nothing_found"] else EXIT_DONE


def _print_text(value: dict[str, Any]) -> None:
    from textwrap import fill

    from weft.render.answer import answer_text

    width = min(100, screen_width())
    for line in answer_text(value).splitlines():
        if line.startswith("    "):  # code: each line is one
            print(line)
            continue
        indent = "    " if line.startswith("  - ") else "  " if line.startswith(("- ", "[", "  ")) else ""
        print(fill(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False) or "")
