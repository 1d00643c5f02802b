"""`weft stats`: what came of the steps of each pipeline over many runs. Reads the logs, calls nobody."""

from __future__ import annotations

import json
import sys
from typing import cast

import click

from weft.app import Spent
from weft.app.sessions.stats import PERIODS, Over, StatsAsk, StepStats, stats
from weft.cli.cost import day_of
from weft.cli.place import is_terminal, json_option, open_app, workspace_option
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED
from weft.render.stats import StatsRow, stats_table, stats_text


@click.command("stats")
@click.argument("pipelines", nargs=-1, metavar="[PIPELINE]...")
@click.option("--over", type=click.Choice(PERIODS), default="all", show_default=True, help="A row for each period.")
@click.option("--by-model", is_flag=True, help="A row for each model that made a step.")
@click.option("--since", metavar="DAY", help="The first day that counts: 2026-11-15, today, yesterday, or 7d.")
@click.option("--until", metavar="DAY", help="The last day that counts.")
@json_option
@workspace_option
def command(
    pipelines: tuple[str, ...], over: str, by_model: bool, since: str | None, until: str | None, as_json: bool
) -> int:
    """What came of every step: made at the first try, repairs, findings by check, time, cost, verdicts on claims."""
    ask = StatsAsk(
        pipelines=pipelines,
        over=cast(Over, over),
        by_model=by_model,
        since=day_of(since, "--since"),
        until=day_of(until, "--until"),
    )
    with open_app() as app:
        found = stats(app.sessions, app.models().price, ask)
    if as_json:
        for row in found.rows:
            print(json.dumps(row.told(), ensure_ascii=False))
    elif not found.rows:
        print("nothing ran" + (" in these days" if ask.since or ask.until else ""), file=sys.stderr)
    else:
        rows = [_shown(row) for row in found.rows]
        print(stats_table(rows) if is_terminal(sys.stdout) else stats_text(rows))
    for trouble in found.troubles:
        print(f"weft: {trouble}", file=sys.stderr)
    return EXIT_FAILED if found.troubles else EXIT_DONE


def _shown(row: StepStats) -> StatsRow:
    told = {name: getattr(row, name) for name in StatsRow.__slots__ if name != "cost"}
    return StatsRow(**told, cost=Spent(calls=row.calls, usd=row.usd, unpriced=row.unpriced).short)
