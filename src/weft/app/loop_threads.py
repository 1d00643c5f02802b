"""Threads that a loop hands blocking work to: opening, reading, writing to a log.

What the standard library has for this makes two futures, a semaphore and four callbacks of each call, and wakes the
loop for each: a session of a few small steps would spend a fifth of its time there. Here a call is one future, and what
threads have finished or have to tell wakes the loop once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class LoopPosts:
    """What other threads have for a loop, in the order in which it was posted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._posted: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._woken = False

    def post(self, call: Callable[..., None], *given: Any) -> None:
        """From any thread. When the loop is closed, nobody is there to hear it."""
        self._posted.append((call, given))
        if self._woken:  # it has not begun to take them, so it will find this one too
            return
        self._woken = True
        try:
            self.loop.call_soon_threadsafe(self._take)
        except RuntimeError:
            self._posted.clear()

    def _take(self) -> None:
        self._woken = False
        while self._posted:
            call, given = self._posted.popleft()
            call(*given)


class LoopThreads:
    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._work: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any], LoopPosts] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._counting = threading.Lock()
        self._busy = 0
        """Calls that were given and have not ended."""
        self._closed = False
        self._posts: LoopPosts | None = None

    def posts(self) -> LoopPosts:
        """Those of the loop that runs here."""
        loop = asyncio.get_running_loop()
        if self._posts is None or self._posts.loop is not loop:
            self._posts = LoopPosts(loop)
        return self._posts

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, or its error. Cancelling the wait leaves the work to end by itself."""
        posts = self.posts()
        future: asyncio.Future[T] = posts.loop.create_future()
        with self._counting:
            if self._closed:
                raise RuntimeError(f"the threads {self._name} are closed")
            self._busy += 1
            if self._busy > len(self._threads) < self._most:
                name = f"{self._name}-{len(self._threads) + 1}"
                self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
                self._threads[-1].start()
        self._work.put((work, future, posts))
        return await future

    def close(self) -> None:
        """What was given is done first."""
        with self._counting:
            self._closed = True
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while (given := self._work.get()) is not None:
            work, future, posts = given
            result: Any = None
            failure: BaseException | None = None
            try:
                result = work()
            except StopIteration as error:  # a future can't hold it
                failure = RuntimeError(f"{error!r} left a call in a thread")
            except BaseException as error:  # noqa: BLE001  handed over whole to whoever waits
                failure = error
            with self._counting:
                self._busy -= 1
            posts.post(_settle, future, result, failure)
            del given, work, future, result, failure


def _settle(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():
        return  # nobody waits any more
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(result)
