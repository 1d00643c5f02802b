"""Pauses that providers asked for: kept in a file of the person's, so that the next attempt and the next run keep them.

A provider that says "come back in an hour" is not asked again by anybody before: not by the next attempt of a step, not
by another run, not by another process. A file that can't be read or written only costs a request that is turned away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.json_text import json_value

FILE: Final = "pauses.json"
LONGEST_PAUSE: Final = 7 * 86_400.0


class Pause(Protocol):
    """The pause of one model."""

    def left(self) -> float:
        """Seconds; 0 when there is none."""
        ...

    def begin(self, seconds: float) -> None: ...


class KeptPause:
    def __init__(self, folder: Path, name: str, clock: Callable[[], float] = time.time) -> None:
        """`name` is the model and its address: another model, or another address, has asked for nothing."""
        self._folder = folder
        self._name = name
        self._clock = clock

    def left(self) -> float:
        return max(0.0, min(LONGEST_PAUSE, self._read().get(self._name, 0.0) - self._clock()))

    def begin(self, seconds: float) -> None:
        now = self._clock()
        kept = {name: until for name, until in self._read().items() if until > now}
        kept[self._name] = now + min(seconds, LONGEST_PAUSE)
        try:
            with Folder.open(self._folder, create=True) as folder:
                folder.replace(FILE, json.dumps(kept, indent=2).encode(), sync=False)
        except (WeftError, OSError):
            return

    def _read(self) -> dict[str, float]:
        if not (self._folder / FILE).is_file():
            return {}
        try:
            with Folder.open(self._folder) as folder:
                found = json_value(folder.read(FILE))
        except (WeftError, OSError, ValueError):
            return {}
        items = found.items() if isinstance(found, dict) else ()
        return {name: float(until) for name, until in items if isinstance(until, int | float)}


def told_pause(seconds: float) -> str:
    """`1 h 00 min, until 15:04`."""
    then = datetime.fromtimestamp(time.time() + seconds).astimezone()
    minutes = max(1, round(seconds / 60))
    length = f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{length}, until {then:%H:%M}" if seconds < 12 * 3600 else f"{length}, until {then:%Y-%m-%d %H:%M}"
