"""What verdicts on claims are worth, measured on claims with labels: by code alone, or with a model that is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from weft.app.connections.model_settings import ChosenModel
from weft.checks.claims import compare
from weft.checks.judging import SCHEMA, held, question
from weft.knowledge.verify.evaluation import ROW, ClaimOutcome, LabelledClaim, key_of, read_rows, scored
from weft.models.model import ModelError, Part, Request, Stop
from weft.models.structured import ask
from weft.protocol.errors import ModelFeedback, UsageError, UserError
from weft.protocol.messages import Message, Text, Usage


def read_labelled(path: Path) -> list[LabelledClaim]:
    """JSON lines of claim, evidence and label."""
    try:
        rows = read_rows(path.read_text("utf-8").splitlines())
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if not rows:
        raise UsageError(f"{path} has no claims", hint=f"put one in each line: {ROW}")
    return rows


def evaluate(rows: Sequence[LabelledClaim]) -> dict[str, Any]:
    """By code alone."""
    return scored([ClaimOutcome(row.label, compare(row.claim, row.evidence).state) for row in rows])


async def evaluate_with(
    chosen: ChosenModel,
    rows: Sequence[LabelledClaim],
    *,
    tell: Callable[[str], None],
    at_most: float | None = None,
    keep: Path | None = None,
) -> dict[str, Any]:
    """A model judges what code does not know. It is asked no more once it has cost `at_most` dollars, and not at all
    under such a limit when its price is not known; answers are kept in a file, and none is asked for twice. `tell`
    gets what went wrong with a claim."""
    if chosen.is_embedded:
        raise UsageError("the embedded model judges nothing", hint="leave --model out, or name a connected model")
    kept, meter, failed = _kept(keep), _Meter(chosen), 0
    outcomes: list[ClaimOutcome] = []
    model = chosen.open()
    try:
        for row in rows:
            exact = compare(row.claim, row.evidence)
            if exact.state != "not_checked":
                outcomes.append(ClaimOutcome(row.label, exact.state))
                continue
            name = key_of(row, chosen.reference)
            if name not in kept:
                if at_most is not None and meter.reached(at_most):
                    tell(f"stopped at ${meter.spent:.4f}: {len(outcomes)} of {len(rows)} claims")
                    break
                try:
                    answer = await ask(model, _request(row), SCHEMA, artifact="claims", on_part=meter.hear)
                except (ModelFeedback, ModelError) as error:
                    failed += 1
                    tell(f"not judged: {error}")
                    outcomes.append(ClaimOutcome(row.label, "not_checked", chosen.reference))
                    continue
                kept[name] = answer.value
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({"key": name, "value": answer.value}, ensure_ascii=False) + "\n")
            said = kept[name]["claims"]
            found = held(row.claim, said, {"1": row.evidence}, chosen.reference)
            sure = min((float(one["sure"]) for one in said), default=0.0)
            outcomes.append(ClaimOutcome(row.label, found.state, chosen.reference, sure))
    finally:
        await model.aclose()
    told = None if meter.unpriced and meter.calls else float(meter.spent)
    return {**scored(outcomes), "model": chosen.reference, "asks": meter.calls, "failed": failed, "cost": told}


class _Meter:
    """What the calls cost, those too whose answer was of no use."""

    def __init__(self, chosen: ChosenModel) -> None:
        self._chosen = chosen
        self._used = Usage()
        self.calls = 0
        self.spent = Decimal(0)
        self.unpriced = chosen.price(Usage(input=1, output=1)).amount is None

    def hear(self, part: Part) -> None:
        if isinstance(part, Usage):
            self._used = part
        elif isinstance(part, Stop):
            price = self._chosen.price(self._used).amount
            self.calls, self._used = self.calls + 1, Usage()
            self.unpriced = self.unpriced or price is None
            self.spent += price or 0

    def reached(self, at_most: float) -> bool:
        if self.unpriced:
            raise UserError(
                f"the evaluation has a limit of ${at_most:g}, but the price of {self._chosen.reference} is not known",
                hint="set a price in config.toml, or give --limit instead of --at-most",
            )
        return self.spent >= Decimal(str(at_most))


def _request(row: LabelledClaim) -> Request:
    asked = Text(text=question(row.claim, {"1": row.evidence}))
    return Request(
        system="You judge claims by passages, and by nothing else.",
        messages=(Message(role="user", content=(asked,)),),
    )


def _kept(keep: Path | None) -> dict[str, Any]:
    if keep is None or not keep.exists():
        return {}
    try:
        rows = [json.loads(line) for line in keep.read_text("utf-8").splitlines() if line.strip()]
        return {row["key"]: row["value"] for row in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{keep} is not what an earlier `weft eval claims --keep` wrote: {error}") from error
