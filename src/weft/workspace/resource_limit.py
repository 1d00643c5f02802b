"""`[limits]` of config.toml: how often a connection or a source may be used, in words: `4 at once, 60 a minute`."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from weft.protocol.values import dataclass

SPANS: Final = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}

tell_waiting: ContextVar[Callable[[str], None] | None] = ContextVar("tell_waiting", default=None)
"""Whoever shows what is done here: told when it has to wait for its turn, once for each use."""


@dataclass(frozen=True, slots=True)
class ResourceLimit:
    at_once: int = 0
    """0: as often as one likes."""
    uses: int = 0
    """In so many `seconds`; 0: as often as one likes."""
    seconds: float = 0.0

    def __str__(self) -> str:
        span = next((name for name, seconds in SPANS.items() if seconds == self.seconds), "")
        parts = [f"{self.at_once} at once" if self.at_once else "", f"{self.uses} a {span}" if self.uses else ""]
        return ", ".join(filter(None, parts)).replace("a hour", "an hour")
