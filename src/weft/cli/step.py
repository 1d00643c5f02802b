"""`weft sessions show SESSION STEP [ITEM]`: one step's page, or that of one of its items."""

from __future__ import annotations

import sys

from weft.app import App, item_page, item_steps, step_page
from weft.cli.place import is_ascii, is_terminal, print_json, print_page, screen_width
from weft.protocol.errors import UserError
from weft.render.step_page import prompts_text, rows_screen, rows_text, step_json, step_screen, step_text


def show_step(app: App, session: str, step: str, *, prompt: bool, as_json: bool) -> None:
    content = step_page(app, session, step)
    if as_json:
        print_json(step_json(content, app.price, whole_prompts=prompt))
    elif prompt:
        if not content.prompts:
            raise UserError(f"no model was asked for {step}")
        print(prompts_text(content.prompts))
    elif is_terminal(sys.stdout):
        print_page(step_screen(content, app.price, screen_width(), ascii=is_ascii(sys.stdout)))
    else:
        print(step_text(content, app.price))


def show_item(app: App, session: str, step: str, item: str, *, as_json: bool) -> None:
    from weft.render.item_page import item_json, item_rows

    theirs = item_steps(app, session, step, item)
    for one in theirs:
        show_step(app, session, one, prompt=False, as_json=as_json)
    if theirs:
        return
    page = item_page(app, session, step, item)
    if as_json:
        print_json(item_json(page, app.price))
    elif is_terminal(sys.stdout):
        print_page(rows_screen(item_rows(page, app.price), screen_width(), ascii=is_ascii(sys.stdout)))
    else:
        print(rows_text(item_rows(page, app.price)))
