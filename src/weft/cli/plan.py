"""`weft plan`: what a run would do and why, without doing it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from weft.cli.place import (
    is_ascii,
    is_terminal,
    json_option,
    open_app,
    print_json,
    print_page,
    screen_width,
    workspace_option,
)
from weft.cli.run_options import ask_options, asks, start_run


@click.command("plan")
@ask_options
@json_option
@workspace_option
def command(words: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Show each step with run or skip, and the reason in words. Takes the same words as `weft run`."""
    with open_app() as app:
        wish = start_run(given)
        for ask in asks(app, words, given):
            plan = app.plan(ask, wish)
            if as_json:
                print_json(asdict(plan))
            elif is_terminal(sys.stdout):
                from weft.render.plan import plan_table

                print_page(plan_table(plan, screen_width(), ascii=is_ascii(sys.stdout)))
            else:
                from weft.render.plan import plan_text

                print(plan_text(plan))
