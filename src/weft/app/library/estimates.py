"""What a run that is not begun yet would cost, as far as anything is known of it: an honest guess with its grounds.

The best grounds are earlier runs of the pipeline: what their steps took. Without any, it is reckoned from the length of
what is given, which says the order of size and no more. A step that asks no model costs nothing, and a price that is
not known is not made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from weft.app.library.pipeline_pages import PipelineRun, pipeline_runs
from weft.app.parts import EMBEDDED, Parts
from weft.orchestrator.prepared_run import PreparedRun
from weft.protocol.plans import Plan
from weft.protocol.values import dataclass
from weft.session.index import Filter

RUNS: Final = 5
"""Earlier runs that are looked at."""
_LETTERS: Final = 4
"""Of a token, as providers count."""
_PROMPT: Final = 1_000
"""Tokens of instructions and schema beside what is given."""
_ANSWERS: Final = (300, 1_500)
"""Tokens of a step's answer: of a short one, and of a long one."""


@dataclass(frozen=True, slots=True)
class Estimate:
    models: tuple[str, ...]
    """That would be asked; none when nothing is asked of a model that costs."""
    steps: tuple[str, ...]
    """Which ask them."""
    low: float | None
    high: float | None
    """US dollars; None when a price is not known."""
    runs: int
    """Earlier runs that it is taken from; 0 when it is reckoned from the length of what is given."""
    words: int
    """Of what is given."""


def estimate(parts: Parts, prepared: PreparedRun, plan: Plan) -> Estimate:
    runs = {line.step for line in plan.lines if line.action == "run" and not line.reused}
    asks = {
        name: material.model
        for name, material in prepared.facts.materials.items()
        if name in runs and not material.code and material.model != EMBEDDED
    }
    text = "\n".join(one.text for one in prepared.facts.inputs.values())
    entries = parts.catalogue.page(Filter(pipeline=prepared.pipeline.name, archived=None, limit=4 * RUNS))
    found = took(pipeline_runs(parts, [(one.id, one.title) for one in entries]), asks) if asks else []
    low, high = (min(found), max(found)) if found else _reckoned(parts, asks, len(text))
    return Estimate(tuple(dict.fromkeys(asks.values())), tuple(asks), low, high, len(found), len(text.split()))


def took(runs: Sequence[PipelineRun], asks: Mapping[str, str]) -> list[float]:
    """What the last runs that went through all these steps cost, where all of it is known."""
    costs = []
    for run in runs:
        spent = [run.steps[name] for name in asks if name in run.steps]
        if run.outcome != "done" or len(spent) < len(asks) or not any(one.tokens for one in spent):
            continue
        known = [one.usd for one in spent if one.usd is not None]
        if len(known) == len(spent):
            costs.append(sum(known))
    return costs[:RUNS]


def _reckoned(parts: Parts, asks: Mapping[str, str], letters: int) -> tuple[float | None, float | None]:
    sums = [0.0, 0.0]
    for model in asks.values():
        for at, answer in enumerate(_ANSWERS):
            price = parts.price(model, {"input": _PROMPT + letters // _LETTERS, "output": answer})
            if price is None:
                return None, None
            sums[at] += float(price)
    return sums[0], sums[1]
