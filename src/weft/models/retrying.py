"""A model that tries again where that is safe: the error says it can help, and nothing was said yet.

Waits grow and are spread out at random, so that many do not come back at once; what the provider asks for is kept. All
of it is bounded by a number of tries and the request's patience, told by a `Retried` part before each wait, and stopped
by cancelling whoever reads the stream. What failed tries used is part of the usage that is reported.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final, cast

from weft.models.answer import add_usage
from weft.models.model import Model, ModelError, Part, Request, Retried
from weft.models.structured import Way, ways_of
from weft.protocol.messages import Usage

TRIES: Final = 4
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0


class Retrying:
    """Any model, tried up to `tries` times."""

    def __init__(
        self,
        model: Model,
        *,
        tries: int = TRIES,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._tries = tries
        self._sleep = sleep
        self._chance = chance

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window(self) -> int:
        return self._model.window

    @property
    def output_ways(self) -> tuple[Way, ...]:
        return ways_of(self._model)

    async def aclose(self) -> None:
        close = getattr(self._model, "aclose", None)
        if close is not None:
            await close()

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        spent, waited = Usage(), 0.0
        for attempt in range(1, self._tries + 1):
            said, used = False, Usage()
            try:
                async with aclosing(cast(Any, self._model.stream(request))) as parts:
                    async for part in parts:
                        if isinstance(part, Usage):
                            used = part
                            yield add_usage(spent, used)
                        else:
                            said = True
                            yield part
                return
            except ModelError as error:
                wait = self._wait(attempt, error)
                if said or wait is None or not _has_patience(request, waited + wait):
                    raise
                spent, waited = add_usage(spent, used), waited + wait
                retried = Retried(tries=attempt, wait=wait, kind=error.kind, reason=error.message)
            yield retried
            await self._sleep(wait)

    def _wait(self, attempt: int, error: ModelError) -> float | None:
        """How long before the next try, or None when there is none: no use, no tries left, or too long a wait."""
        if not error.retryable or attempt >= self._tries:
            return None
        grown = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
        wait = grown * (0.5 + 0.5 * self._chance())
        if error.wait is not None:
            wait = error.wait + wait * 0.25
        return wait if wait <= LONGEST_WAIT * 1.25 else None


def _has_patience(request: Request, waits: float) -> bool:
    return request.patience is None or waits <= request.patience
