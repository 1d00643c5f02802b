"""What a run would do, step by step, each with its reason in words."""

from __future__ import annotations

from typing import Final, Literal

from weft.protocol.values import dataclass

Action = Literal["run", "skip", "leave"]
"""`leave`: the step is not asked for (`--until`)."""
NOT_YET_MADE: Final = "not yet made"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    step: str
    action: Action
    reason: str
    artifacts: tuple[str, ...] = ()
    conditional: bool = False
    """It runs only because a step before it does, and is skipped after all if that one yields the same bytes."""
    reused: str = ""
    """The session whose result of the same inputs is taken over, as far as that can be told now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    session: str
    pipeline: str
    lines: tuple[PlanLine, ...]
    notes: tuple[str, ...] = ()
    """What the person should know besides: repairs to come, damaged lines, edits that would be set aside."""
