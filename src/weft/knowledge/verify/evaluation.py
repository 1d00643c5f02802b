"""What verdicts are worth, measured on claims with labels that somebody else gave. Pure.

A row has a `claim`, its `evidence` and a `label`: supported, contradicted or not_enough. Of each verdict: how often it
was given and how often it was right (precision), and how many of those it should have found it did (recall). *Not
checked* is neither right nor wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from weft.checks.claims import State
from weft.protocol.values import dataclass

LABELS: Final = {
    "supported": "supported", "supports": "supported", "support": "supported", "true": "supported",
    "entailment": "supported", "contradicted": "contradicted", "refutes": "contradicted", "refuted": "contradicted",
    "contradict": "contradicted", "contradiction": "contradicted", "false": "contradicted",
    "not_enough": "not_enough", "not enough info": "not_enough", "nei": "not_enough", "neutral": "not_enough",
    "unsupported": "not_enough",
}  # fmt: skip
MEANS: Final[dict[State, str]] = {"quoted": "supported", "judged": "supported", "contradicted": "contradicted"}
ROW: Final = '{"claim": …, "evidence": …, "label": "supported" | "contradicted" | "not_enough"}'
BINS: Final = (0.0, 0.5, 0.7, 0.9, 1.01)


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    claim: str
    evidence: str
    label: str


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    label: str
    state: State
    by: str = "code"
    sure: float | None = None
    """How sure the model said it is."""


def read_rows(lines: Iterable[str]) -> list[LabelledClaim]:
    """JSON lines. ValueError names the line."""
    rows: list[LabelledClaim] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            evidence = value.get("evidence", value.get("passage"))
            label = LABELS[str(value["label"]).strip().lower()]
            passages = evidence if isinstance(evidence, str) else "\n".join(evidence)
            rows.append(LabelledClaim(str(value["claim"]), passages, label))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"line {number} is not {ROW} ({type(error).__name__}: {error})") from error
    return rows


def key_of(row: LabelledClaim, model: str) -> str:
    """The same for the same claim, passage and model: what was asked once need not be asked again."""
    return hashlib.sha256(json.dumps([model, row.claim, row.evidence]).encode()).hexdigest()[:32]


def scored(outcomes: Sequence[ClaimOutcome]) -> dict[str, Any]:
    labels = Counter(one.label for one in outcomes)
    told: dict[str, Any] = {"claims": len(outcomes), "labels": dict(labels), "verdicts": {}}
    for state, meant in MEANS.items():
        called = [one for one in outcomes if one.state == state]
        right = sum(one.label == meant for one in called)
        told["verdicts"][state] = {
            "called": len(called),
            "right": right,
            "precision": round(right / len(called), 4) if called else None,
            "recall": round(right / labels[meant], 4) if labels[meant] else None,
        }
    told["not_checked"] = sum(one.state == "not_checked" for one in outcomes)
    told["calibration"] = _calibration(outcomes)
    return told


def _calibration(outcomes: Sequence[ClaimOutcome]) -> list[dict[str, Any]]:
    """By how sure the model said it is: how often a verdict of its own was right."""
    own = [one for one in outcomes if one.sure is not None and one.by != "code" and one.state in MEANS]
    bins: list[dict[str, Any]] = []
    for low, high in pairwise(BINS):
        there = [one for one in own if low <= (one.sure or 0.0) < high]
        if there:
            right = sum(one.label == MEANS[one.state] for one in there)
            said = sum(one.sure or 0.0 for one in there) / len(there)
            bins.append({"said": round(said, 3), "was": round(right / len(there), 3), "claims": len(there)})
    return bins
