"""Lifts lines of older log versions to today's words, at the reader's edge, before anything else sees them.

Version 1 had no envelopes, which the decoder knows. Until version 2 a verifier that could not check said
`not_verified`. When `LOG_VERSION` grows, add for each event type that changed a function from its old fields to its new
ones; `tests/corpus/` holds a log of every version and each must open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


def _verdict_given(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "verdict": "not_checked"} if fields.get("verdict") == "not_verified" else fields


UPCASTERS: Final[dict[str, Upcaster]] = {"verdict_given": _verdict_given}
"""By event type as the old version spelt it."""


def upcast(fields: dict[str, Any]) -> dict[str, Any]:
    lift = UPCASTERS.get(fields.get("type", ""))
    return lift(fields) if lift else fields
