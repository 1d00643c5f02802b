"""A model that tries again where that is safe: the error says it can help, and nothing was said yet.

Waits grow and are spread out at random, so that many do not come back at once; what the provider asks for is kept. All
of it is bounded by a number of tries and the request's patience, told by a `Retried` part before each wait, and stopped
by cancelling whoever reads the stream. What failed tries used is part of the usage that is reported.

A pause that is longer than the patience ends the call with an error that says until when, and is remembered: until then
nobody asks again, in this process or another. Whoever has the patience, such as a step with a long timeout, rests.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final, cast

from weft.models.answer import add_usage
from weft.models.model import ErrorKind, Model, ModelError, Part, Request, Retried
from weft.models.pauses import LONGEST_PAUSE, Pause, told_pause
from weft.models.wrapping import WrappedModel
from weft.protocol.messages import Usage
from weft.redaction import REDACTOR

TRIES: Final = 4
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0


class Retrying(WrappedModel):
    """Any model, tried up to `tries` times."""

    def __init__(
        self,
        model: Model,
        *,
        tries: int = TRIES,
        pause: Pause | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(model)
        self._tries = tries
        self._pause = pause
        self._sleep = sleep
        self._chance = chance

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        request = REDACTOR.value(request)
        spent, waited = Usage(), 0.0
        if self._pause is not None and (left := self._pause.left()) > 0:
            told = f"{self.name}: the provider asked for a pause that is not over"
            if left > _patience(request):
                yield Usage(input=0, output=0)
                raise _too_long("rate_limited", told, left)
            yield Retried(tries=0, wait=left, kind="rate_limited", reason=told)
            await self._sleep(left)
            waited = left
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
                asked = min(error.wait or 0.0, LONGEST_PAUSE) if error.retryable else 0.0
                if self._pause is not None and asked > LONGEST_WAIT:
                    self._pause.begin(asked)
                wait = self._wait(attempt, error)
                if said:
                    raise
                if wait is None or waited + wait > _patience(request):
                    if asked > LONGEST_WAIT:
                        raise _too_long(error.kind, error.message, asked) from None
                    raise
                spent, waited = add_usage(spent, used), waited + wait
                retried = Retried(tries=attempt, wait=wait, kind=error.kind, reason=error.message)
            yield retried
            await self._sleep(wait)

    def _wait(self, attempt: int, error: ModelError) -> float | None:
        """How long before the next try, or None when there is none: no use, or no tries left."""
        if not error.retryable or attempt >= self._tries:
            return None
        grown: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
        wait = grown * (0.5 + 0.5 * self._chance())
        return wait if error.wait is None else error.wait + wait * 0.25


def _patience(request: Request) -> float:
    """Seconds that waits may take together: what the request has, else so much as a person sits through."""
    return LONGEST_WAIT * 1.25 if request.patience is None else request.patience


def _too_long(kind: ErrorKind, said: str, seconds: float) -> ModelError:
    """Not to be tried again by whoever called: the provider has said when."""
    told = f"{said}; it asks to wait {told_pause(seconds)}"
    hint = "nobody asks it before then: go on afterwards, or use another model for now"
    return ModelError(kind, told, hint=hint, retryable=False, wait=seconds)
