"""`weft eval`: what verdicts on claims are worth, by code alone or with a connected model, on claims with labels."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click

from weft.app import evaluate, evaluate_with, read_labelled
from weft.cli.models import model_settings
from weft.cli.place import json_option, workspace_option
from weft.protocol.errors import EXIT_DONE


@click.group("eval")
def command() -> None:
    """Measure what verdicts are worth, on claims with labels."""


@command.command("claims")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--model", default=None, help="Let this model judge what code does not know; it is really called, and paid."
)
@click.option("--limit", type=int, default=None, help="Only the first so many claims.")
@click.option("--at-most", type=float, default=None, metavar="DOLLARS", help="Ask no more once it has cost this much.")
@click.option("--keep", type=click.Path(dir_okay=False), default=None, help="Keep answers here, and ask none twice.")
@json_option
@workspace_option
def claims(
    file: str,
    model: str | None,
    limit: int | None,
    at_most: float | None,
    keep: str | None,
    as_json: bool,
    workspace: str | None,
) -> int:
    """Precision and recall of quoted, judged and contradicted on FILE: JSON lines of claim, evidence and label."""
    rows = read_labelled(Path(file))[:limit]
    if model is None:
        told = evaluate(rows)
    else:
        chosen, kept = model_settings(workspace).chosen(model), Path(keep) if keep else None
        told = asyncio.run(
            evaluate_with(chosen, rows, tell=lambda text: print(text, file=sys.stderr), at_most=at_most, keep=kept)
        )
    print(json.dumps(told, ensure_ascii=False) if as_json else _table(told))
    return EXIT_DONE


def _table(told: dict[str, Any]) -> str:
    by = f", judged by {told['model']}" if "model" in told else ", by code alone"
    lines = [f"{told['claims']} claims{by}", f"{'':<14}{'called':>8}{'right':>8}{'precision':>11}{'recall':>9}"]
    for state, one in told["verdicts"].items():
        shown = [f"{one[name]:.3f}" if one[name] is not None else "–" for name in ("precision", "recall")]
        lines.append(f"{state:<14}{one['called']:>8}{one['right']:>8}{shown[0]:>11}{shown[1]:>9}")
    lines.append(f"{'not checked':<14}{told['not_checked']:>8}")
    lines += [
        f"said {one['said']:.0%} sure, right {one['was']:.0%} ({one['claims']} claims)" for one in told["calibration"]
    ]
    if "model" in told:
        price = "unknown" if told["cost"] is None else f"${told['cost']:.4f}"
        lines.append(f"{told['asks']} calls, cost {price}" + (f", {told['failed']} failed" if told["failed"] else ""))
    return "\n".join(lines)
