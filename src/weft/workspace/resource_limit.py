"""`[limits]` of config.toml: how often a connection or a source may be used, in words: `4 at once, 60 a minute`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any, Final

from pydantic import PlainValidator, WithJsonSchema

from weft.protocol.values import dataclass
from weft.workspace.document import describe
from weft.workspace.fields import fault

_AT_ONCE: Final = re.compile(r"([1-9][0-9]{0,5})\s+at\s+once\Z")
_RATE: Final = re.compile(r"([1-9][0-9]{0,5})\s+(?:a|an|per)\s+(second|minute|hour|day)\Z")
_SECONDS: Final = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}

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
        span = next((name for name, seconds in _SECONDS.items() if seconds == self.seconds), "")
        parts = [f"{self.at_once} at once" if self.at_once else "", f"{self.uses} a {span}" if self.uses else ""]
        return ", ".join(filter(None, parts)).replace("a hour", "an hour")


def read_limit(value: Any) -> ResourceLimit:
    if not isinstance(value, str) or not value.strip():
        raise fault(f"must be a limit in words, not {describe(value)}", _HINT)
    at_once = uses = 0
    seconds = 0.0
    for part in value.lower().split(","):
        word = part.strip()
        if (found := _AT_ONCE.match(word)) and not at_once:
            at_once = int(found[1])
        elif (found := _RATE.match(word)) and not uses:
            uses, seconds = int(found[1]), _SECONDS[found[2]]
        else:
            raise fault(f"{word!r} is no limit", _HINT)
    return ResourceLimit(at_once, uses, seconds)


_HINT: Final = 'write "4 at once", "60 a minute", or both: "4 at once, 60 a minute"'
Limit = Annotated[ResourceLimit, PlainValidator(read_limit), WithJsonSchema({"type": "string"})]
