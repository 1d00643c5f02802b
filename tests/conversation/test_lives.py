"""Every order of everything in small conversations, thousands of random lives, and mutants that must be caught.

`make slow` takes many more lives; a life that breaks a promise says its seed, and
`WEFT_SEED` sets the first one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.conversation.lives import Scope, explore, walk
from tests.conversation.mutants import MUTANTS
from tests.conversation.test_scenarios import SCENARIOS
from tests.lanes import lives
from weft.testing.scenarios import faults_of
from weft.testing.simulation import BrokenPromiseError

WALKS = lives(200)
SEED = int(os.environ.get("WEFT_SEED", "0"))
CHUNKS = 8
CHILD = (None, "main/a1")

SCOPES = {
    "a tool and an approval": (Scope(("auto", "approval"), interrupts=2, chunks=1), 600),
    "two tools and an approval": (Scope(("auto", "auto", "approval"), interrupts=2), 1700),
    "one that can't be stopped": (Scope(("auto", "solid", "approval"), interrupts=2), 1900),
    "three tools": (Scope(("auto", "auto", "auto"), interrupts=2), 1100),
    "a model that can't be stopped": (Scope(("solid", "approval"), interrupts=2, model_interruptible=False), 350),
    "two changes behind a look": (Scope(("auto", "changing", "changing"), interrupts=2), 100),
    "a change, a look and an asked change": (Scope(("changing", "auto", "asked change"), interrupts=2), 100),
    "changes and a crash": (Scope(("changing", "asked change", "changing"), interrupts=1, crashes=1), 100),
    "a crash at any moment": (Scope(("auto", "approval"), interrupts=1, crashes=1), 500),
    "two crashes": (Scope(("auto", "approval"), interrupts=1, crashes=2), 750),
    "a sub-conversation and a tool": (Scope(("child", "auto"), interrupts=2, targets=CHILD), 550),
    "a sub-conversation that asks": (Scope(("asked child", "auto"), interrupts=2, targets=CHILD), 600),
    "a sub-conversation and a crash": (Scope(("child",), interrupts=1, crashes=1, targets=CHILD), 200),
    "it goes on by itself": (Scope(("auto", "approval"), interrupts=1, crashes=2, goes_on=True), 750),
    "a sub-conversation goes on": (Scope(("child",), crashes=2, targets=CHILD, goes_on=True), 200),
    "a result ends it": (Scope(("auto", "approval"), interrupts=1, crashes=1, goes_on=True, ends="a"), 400),
}


@pytest.mark.parametrize("name", SCOPES)
def test_every_order_of_everything_keeps_every_promise(name: str) -> None:
    scope, least = SCOPES[name]
    assert explore(scope) > least


@pytest.mark.lives
@pytest.mark.timeout(3600 if WALKS > 2000 else 400)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_lives(chunk: int) -> None:
    for seed in range(SEED + chunk, SEED + WALKS, CHUNKS):
        try:
            walk(seed)
        except Exception as broken:
            raise AssertionError(f"seed {seed}: {broken!r}") from broken


def test_random_lives_reach_the_deep_places() -> None:
    """A walk that never meets what it should judge proves nothing."""
    seen: set[str] = set()
    for seed in range(120):
        for event in walk(seed).events:
            seen.add(event.type)
            seen.update(
                str(getattr(event, name)) for name in ("refusal", "effect", "disposition") if hasattr(event, name)
            )
    assert seen >= {
        "conversation_ended",
        "limit_reached",
        "limits_set",
        "odd_limits",
        "continuation_cancelled",
        "approval_remembered",
        "turn_interrupted",
        "idle_reached",
        "stale_settlement",
        "stale_approval",
        "approval_after_interrupt",
        "repeated_continuation",
        "none",
        "unknown",
        "completed",
        "final",
        "continue",
        "interrupted",
        "failed",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert caught_by() is not None


def test_without_a_mutant_nothing_is_caught() -> None:
    assert caught_by(walks=50) is None


TELLING: Final = (14, 15, 30, 54, 98, 99, 114, 133, 143, 168, 172, 174, 274)
"""Random lives that show most mutants: the rest is looked at for what they do not show."""


def _scenarios_hold() -> None:
    assert not any(one["kind"] == "sim" and faults_of(one) for one in SCENARIOS.values())


def caught_by(walks: int = 600) -> str | None:
    """What notices: a life that shows much, a scenario, a small scope or a random life."""
    layers: list[tuple[str, Callable[[], Any]]] = [
        ("telling life", lambda: [walk(seed) for seed in TELLING]),
        ("scenario", _scenarios_hold),
        ("scope", lambda: explore(Scope(("auto", "approval"), interrupts=2, chunks=1))),
        ("child", lambda: explore(Scope(("child",), interrupts=1, crashes=1, targets=CHILD))),
        ("walk", lambda: [walk(seed) for seed in range(walks)]),
    ]
    for layer, look in layers:
        try:
            look()
        except (BrokenPromiseError, KeyError, AssertionError, ValueError, TypeError):
            return layer
    return None
