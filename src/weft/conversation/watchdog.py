"""Names the execution that keeps the event loop to itself.

Code that blocks the loop stops everything, interrupts included, and nothing on the loop can say so. This thread can: it
asks the loop for a sign of life, and when none comes it tells which task is running.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final

LIMIT: Final = 0.1


class Watchdog:
    """`report(name, seconds)` is called from a thread of its own, once for each time the loop is blocked."""

    def __init__(self, report: Callable[[str, float], None], *, busy: Callable[[], bool] = lambda: True) -> None:
        """While nothing is `busy` the loop is left asleep. Both functions are called from the watchdog's thread."""
        self._report = report
        self._busy = busy
        self._ended = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(LIMIT / 4):
            if not self._busy():
                continue
            alive = threading.Event()
            try:
                self._loop.call_soon_threadsafe(alive.set)
            except RuntimeError:
                return  # the loop is closed
            if not alive.wait(LIMIT) and not self._ended.is_set():
                task = asyncio.current_task(self._loop)
                self._report(task.get_name() if task else "a callback", LIMIT)
                while not alive.wait(LIMIT) and not self._ended.is_set():
                    pass
