"""`weft eval`: what verdicts on claims are worth, by code alone or with a connected model, on claims with labels."""

from __future__ import annotations

import asyncio
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from weft.app.connecting import OpenModel, open_model
from weft.checks.claims import compare
from weft.cli.models import chosen_model
from weft.cli.place import json_option, workspace_option
from weft.knowledge.verify.evaluation import ClaimOutcome, LabelledClaim, key_of, read_rows, scored
from weft.knowledge.verify.judging import SCHEMA, held, question
from weft.models.connections import Resolved
from weft.models.model import ModelError, Request
from weft.models.prices import cost
from weft.models.structured import ask
from weft.protocol.errors import EXIT_DONE, ModelFeedback, UsageError, UserError
from weft.protocol.messages import Message, Text


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
    try:
        rows = read_rows(Path(file).read_text("utf-8").splitlines())[:limit]
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from error
    if model is None:
        told = scored([ClaimOutcome(row.label, compare(row.claim, row.evidence).state) for row in rows])
    else:
        resolved, key, variables = chosen_model(model, workspace)
        if resolved.connection is None:
            raise UsageError("the embedded model judges nothing", hint="leave --model out, or name a connected model")
        opened = open_model(resolved, key, variables)
        told = asyncio.run(_judged(rows, opened, resolved, at_most, Path(keep) if keep else None))
    print(json.dumps(told, ensure_ascii=False) if as_json else _table(told))
    return EXIT_DONE


async def _judged(
    rows: list[LabelledClaim], model: OpenModel, resolved: Resolved, at_most: float | None, keep: Path | None
) -> dict[str, Any]:
    kept = _kept(keep)
    spent, asked, unpriced, failed = Decimal(0), 0, 0, 0
    outcomes: list[ClaimOutcome] = []
    try:
        for row in rows:
            exact = compare(row.claim, row.evidence)
            if exact.state != "not_checked":
                outcomes.append(ClaimOutcome(row.label, exact.state))
                continue
            name = key_of(row, resolved.reference)
            if name not in kept:
                if at_most is not None and spent >= Decimal(str(at_most)):
                    print(f"stopped at ${spent:.4f}: {len(outcomes)} of {len(rows)} claims", file=sys.stderr)
                    break
                request = Request(
                    system="You judge claims by passages, and by nothing else.",
                    messages=(Message(role="user", content=(Text(text=question(row.claim, {"1": row.evidence})),)),),
                )
                try:
                    answer = await ask(model, request, SCHEMA, artifact="claims")
                except (ModelFeedback, ModelError) as error:
                    failed += 1
                    print(f"not judged: {error}", file=sys.stderr)
                    outcomes.append(ClaimOutcome(row.label, "not_checked", resolved.reference))
                    continue
                asked += answer.asks
                connection = resolved.connection
                assert connection is not None
                price = cost(
                    resolved.model,
                    answer.usage,
                    kind=connection.kind,
                    base_url=connection.base_url,
                    own=connection.price,
                )
                unpriced += price.amount is None
                spent += price.amount or 0
                kept[name] = answer.value
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({"key": name, "value": answer.value}, ensure_ascii=False) + "\n")
            said = kept[name]["claims"]
            found = held(row.claim, said, {"1": row.evidence}, resolved.reference)
            sure = min((float(one["sure"]) for one in said), default=0.0)
            outcomes.append(ClaimOutcome(row.label, found.state, resolved.reference, sure))
    finally:
        await model.aclose()
    told = scored(outcomes)
    price_told = None if unpriced else float(spent)
    return {**told, "model": resolved.reference, "asks": asked, "failed": failed, "cost": price_told}


def _kept(keep: Path | None) -> dict[str, Any]:
    if keep is None or not keep.exists():
        return {}
    try:
        rows = [json.loads(line) for line in keep.read_text("utf-8").splitlines() if line.strip()]
        return {row["key"]: row["value"] for row in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{keep} is not what an earlier `weft eval claims --keep` wrote: {error}") from error


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
