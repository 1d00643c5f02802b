"""Hands out what happens to everybody who watches, in order. A slow watcher never holds the conversation up.

Pieces of one stream that nobody has read yet become one piece, so a flood costs a watcher memory for its text and
nothing more. A watcher that says how much it can hold is told when that was not enough (`FellBehind`): what it has not
read is let go of, and it reads the log again from where it was.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace

from weft.protocol import conversation_events as t
from weft.protocol.events import FeedItem

"""An event without its record is live, or of a run beside the conversation."""


class FellBehind(Exception):  # noqa: N818  a signal to whoever follows, nothing that went wrong
    """The watcher has missed something. What comes next is what happened since."""


class Subscription:
    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._missed = False
        self._items: deque[FeedItem] = deque()
        self._texts: list[str] = []
        """Further pieces of the last item."""
        self._ready = asyncio.Event()
        self._over = False
        self._error: BaseException | None = None

    def put(self, item: FeedItem) -> None:
        if isinstance(item, t.TextStreamed | t.ThinkingStreamed):
            last = self._items[-1] if self._items else None
            if type(item) is type(last) and (item.conversation, item.execution) == (last.conversation, last.execution):
                self._texts.append(item.text)
                return
        if self._texts:
            self._flush()
        if self._most is not None and len(self._items) >= self._most:
            self._items.clear()
            self._missed = True
        self._items.append(item)
        self._ready.set()

    def close(self, error: BaseException | None) -> None:
        self._over, self._error = True, error
        self._ready.set()

    def _flush(self) -> None:
        """Pieces of the last item become one with it."""
        last = self._items[-1]
        if isinstance(last, t.TextStreamed | t.ThinkingStreamed):
            self._items[-1] = replace(last, text="".join([last.text, *self._texts]))
        self._texts = []

    def __aiter__(self) -> AsyncIterator[FeedItem]:
        return self

    async def __anext__(self) -> FeedItem:
        """FellBehind once when something was let go of, before what came after it."""
        if self._missed:
            self._missed = False
            raise FellBehind
        while not self._items:
            if self._over:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        if self._texts:
            self._flush()
        return self._items.popleft()


class Feed:
    def __init__(self) -> None:
        self._watchers: list[Subscription] = []
        self._over = False
        self._error: BaseException | None = None

    @contextmanager
    def subscribe(self, most: int | None = None) -> Iterator[Subscription]:
        """`most`: how many items may wait for this watcher."""
        watcher = Subscription(most)
        if self._over:
            watcher.close(self._error)
        self._watchers.append(watcher)
        try:
            yield watcher
        finally:
            self._watchers.remove(watcher)

    def put(self, item: FeedItem) -> None:
        for watcher in self._watchers:
            watcher.put(item)

    def close(self, error: BaseException | None = None) -> None:
        if not self._over:
            self._over, self._error = True, error
            for watcher in self._watchers:
                watcher.close(error)
