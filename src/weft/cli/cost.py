"""`weft cost`: what models took and cost, by session, step, model or day. Reads the logs, calls nobody."""

from __future__ import annotations

import json
import re
import sys
from datetime import date, datetime, timedelta
from typing import cast

import click

from weft.app import Spent
from weft.app.sessions.spending import GROUPINGS, By, Spending, SpendingAsk, spending
from weft.cli.place import is_ascii, is_terminal, json_option, open_app, print_page, screen_width, workspace_option
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UsageError
from weft.render.cost import CostRow, cost_table, cost_text


@click.command("cost")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--by", type=click.Choice(GROUPINGS), help="How calls are put together: session, or step for one session."
)
@click.option("--since", metavar="DAY", help="The first day that counts: 2026-11-15, today, yesterday, or 7d.")
@click.option("--until", metavar="DAY", help="The last day that counts.")
@json_option
@workspace_option
def command(sessions: tuple[str, ...], by: str | None, since: str | None, until: str | None, as_json: bool) -> int:
    """What models took and cost: all sessions, or those named.

    Prices are those of the day of the call, from a list that is part of Weft, or your own in config.toml. What is not
    known is said and never counted as nothing.
    """
    ask = SpendingAsk(
        sessions=tuple(dict.fromkeys(sessions)),
        by=cast(By, by or ("step" if len(sessions) == 1 else "session")),
        since=day_of(since, "--since"),
        until=day_of(until, "--until"),
    )
    with open_app() as app:
        found = spending(app.sessions, app.models().price, ask)
    if as_json:
        _print_json(found, ask.by)
    elif not found.total.calls:
        print("no model was called" + (" in these days" if ask.since or ask.until else ""), file=sys.stderr)
    else:
        _print_rows(found)
    for trouble in found.troubles:
        print(f"weft: {trouble}", file=sys.stderr)
    return EXIT_FAILED if found.troubles else EXIT_DONE


def _print_rows(found: Spending) -> None:
    rows = [_row(name, one) for name, one in found.groups.items()]
    rows.append(_row("total", found.total))
    if not is_terminal(sys.stdout):
        print(cost_text(rows))
        return
    print_page(cost_table(rows, screen_width(), ascii=is_ascii(sys.stdout)))


def _print_json(found: Spending, by: By) -> None:
    for name, one in found.groups.items():
        print(json.dumps({by: name, **_counts(one)}, ensure_ascii=False))
    print(json.dumps({"total": True, **_counts(found.total)}))


def _counts(one: Spent) -> dict[str, object]:
    """`usd` is what is known, null when nothing is; it is the whole cost only when `unpriced` is 0."""
    shown: dict[str, object] = {name: getattr(one, name) for name in one.__slots__ if name not in ("usd", "saved")}
    return {**shown, "saved": float(one.saved), "usd": float(one.usd) if one.usd or not one.unpriced else None}


def _row(name: str, one: Spent) -> CostRow:
    known = f"{one.usd:.6f}" if one.usd or not one.unpriced else "unknown"
    return CostRow(
        name,
        one.calls,
        one.input,
        one.output,
        one.cache_read,
        one.cache_write,
        one.reasoning,
        known,
        one.unpriced,
        str(one),
        float(one.saved),
    )


def day_of(word: str | None, option: str) -> date | None:
    today = datetime.now().astimezone().date()
    named = {None: None, "today": today, "yesterday": today - timedelta(days=1)}
    if word in named:
        return named[word]
    assert word is not None
    if back := re.fullmatch(r"(\d{1,5})d", word):
        return today - timedelta(days=int(back[1]))
    try:
        return date.fromisoformat(word)
    except ValueError:
        hint = "write it as 2026-11-15, today, yesterday, or 7d for seven days ago"
        raise UsageError(f"{option} {word!r} is no day", hint=hint) from None
