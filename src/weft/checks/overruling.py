"""A person's word in the place of a verdict: for as long as the verdict is the one that they spoke against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def overruled(verdict: Mapping[str, Any], said: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """A verdict (`id`, `state`, `reason`) as it is with what a person says of it."""
    word = said.get(str(verdict["id"]))
    if word is None:
        return dict(verdict)
    was, by, why = word["was"], word["by"], word["why"]
    if was != verdict["state"]:
        told = f"{by} overruled {was.replace('_', ' ')}, which it is not any more: {why}"
        return {**verdict, "reason": "; ".join(filter(None, [verdict.get("reason", ""), told]))}
    rest = {name: value for name, value in verdict.items() if name != "judged_by"}
    judged = {"judged_by": by} if word["verdict"] == "judged" else {}
    return {
        **rest,
        "state": word["verdict"],
        "reason": f"{by}: {why}",
        **judged,
        "overruled": {"was": was, "by": by, "why": why},
    }
