"""Wishes that make something, each carried out once: who asks again with the same key gets the same answer.

For what has no log of its own to know the key by: tokens, links, collections, sources, imports, forks. The log of a
session knows the key that it was begun with, and not all that was given with it: that is compared here. Answers are
kept in memory while the server runs, the last thousand, each for who asked: one may hold a secret that is told once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from weft.app import another
from weft.protocol.errors import UserError

MOST_ANSWERS: Final = 1000
_Made = TypeVar("_Made")


class OtherWishError(UserError):
    """The key was given with another wish before."""


class Once:
    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, ...], tuple[object, asyncio.Future[Any]]] = OrderedDict()

    async def __call__(
        self, wish: tuple[str, ...], key: str, make: Callable[[], Awaitable[_Made]], said: object
    ) -> _Made:
        """What `make` gives. `wish` says who wants what, `said` in which words: OtherWishError for others under the
        same key. One that failed, or was given up, can be asked for again. Without a key each is a wish of its own."""
        if not key:
            return await make()
        name = (*wish, key)
        while (found := self._answers.get(name)) is not None:
            before, known = found
            if before != said:
                refused = another(key)
                raise OtherWishError(refused.reason, hint=refused.hint)
            await asyncio.wait([known])
            if not known.cancelled() and known.exception() is None:
                answer: _Made = known.result()
                return answer
            if self._answers.get(name) is found:
                del self._answers[name]
        answering: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[name] = (said, answering)
        while len(self._answers) > MOST_ANSWERS:
            self._answers.popitem(last=False)
        try:
            made = await make()
        except BaseException:
            answering.cancel()
            raise
        answering.set_result(made)
        return made
