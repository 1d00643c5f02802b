"""`weft ask`: a question to a collection, answered in a few lines with their sources."""

from __future__ import annotations

import asyncio

import click

from weft.cli.place import json_option, open_app, trust_option, workspace_option
from weft.cli.research import DEPTH, answered, kb_option, prepare
from weft.protocol.commands import StartRun


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@kb_option
@click.option("--depth", type=DEPTH, default="quick", show_default=True, help="How far it goes.")
@json_option
@trust_option
@workspace_option
def command(question: tuple[str, ...], name: str | None, depth: str, as_json: bool) -> int:
    """Ask your documents: a short answer with its sources, and what was checked of each sentence.

    The exit code is 1 when nothing was found. `weft research` takes the question apart and goes further.
    """
    from weft.app.knowledge.collection_inputs import which_collection
    from weft.app.knowledge.research_requests import Inquiry, ask_of

    prepare()
    with open_app(runs=True) as app:
        asked = " ".join(question)
        ask = ask_of(app, Inquiry(question=asked, collection=which_collection(app, name), pipeline="ask"))
        wish = StartRun(parameters={"depth": depth})
        return asyncio.run(answered(app, ask, wish, None, as_json=as_json, quietly=True))
