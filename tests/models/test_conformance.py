"""Every model keeps the contract: the same checks for the scripted one, the replay and each client on its wire."""

from __future__ import annotations

import asyncio

import pytest

from tests.models.stages import STAGES
from weft.testing.conformance import CONFORMANCE, Check

NEEDS_HOLD = {
    "waiting_for_the_first_byte_can_be_cancelled",
    "a_slow_first_byte_is_waited_for",
    "closing_ends_the_call",
}
"""A recording never waits."""
ALL = [
    pytest.param(name, check, id=f"{name}-{check.__name__}")
    for name in STAGES
    for check in CONFORMANCE
    if name != "replay" or check.__name__ not in NEEDS_HOLD
]


@pytest.mark.parametrize(("stage", "check"), ALL)
def test_the_contract(stage: str, check: Check) -> None:
    asyncio.run(check(STAGES[stage]))
