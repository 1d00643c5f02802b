"""Blocking calls off the loop, each on a daemon thread of its own.

A pool's threads are waited for when the program ends, so one stuck call would keep a stopped program alive for as long
as it lasts. A daemon thread is simply left behind: its result meets a future that nobody waits for any more.

Which threads there are and how they wait comes from outside: a simulation has its own, so that one seed decides the
order of everything.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

Result = TypeVar("Result")


class Threads:
    def start(self, run: Callable[[], None], name: str) -> None:
        threading.Thread(target=run, name=name, daemon=True).start()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def now(self) -> float:
        return time.monotonic()


THREADS: ContextVar[Threads] = ContextVar("threads", default=Threads())  # noqa: B039  it has no state


async def in_thread(work: Callable[[], Result], name: str = "weft-work") -> Result:
    """The result of `work`, or its error. Cancelling the wait leaves the thread to end by itself."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # without an error there is a result

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  handed over whole to whoever waits
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    here = copy_context()
    THREADS.get().start(lambda: here.run(run), name)
    return await future
