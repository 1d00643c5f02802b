"""How long an attempt of a step may take: its time stands still while nothing but a person is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from weft.protocol.values import dataclass


@dataclass(slots=True)
class AttemptTimeout:
    limit: asyncio.Timeout
    left: float | None = None
    """Seconds that are left of it, while it stands still."""

    def stand_still(self, still: bool) -> None:
        if still == (self.left is not None) or self.limit.expired():
            return
        now = asyncio.get_running_loop().time()
        if still:
            when = self.limit.when()
            if when is not None:
                self.left = when - now
                self.limit.reschedule(None)
        elif self.left is not None:
            self.limit.reschedule(now + self.left)
            self.left = None


patience: ContextVar[AttemptTimeout] = ContextVar("patience")
"""Of the attempt, or of the item, that is being made."""


@asynccontextmanager
async def patient(seconds: float) -> AsyncIterator[None]:
    """What is made in here may take so long. TimeoutError when it takes longer."""
    async with asyncio.timeout(seconds) as limit:
        before = patience.set(AttemptTimeout(limit))
        try:
            yield
        finally:
            patience.reset(before)  # the task would hold itself


@contextmanager
def only_waiting() -> Iterator[None]:
    """While this is open, nothing but a person is waited for."""
    mine = patience.get(None)
    if mine is not None:
        mine.stand_still(True)
    try:
        yield
    finally:
        if mine is not None:
            mine.stand_still(False)
