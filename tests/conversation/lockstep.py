"""An event loop on which one seed decides the order of everything: callbacks, threads, timers, and the end.

Time is virtual: it moves when nothing else can. A thread takes one step at a time, from one call of the disk (or one
wait) to the next, and only when the loop lets it, so whatever real threads may do to each other happens here too, and
happens again with the same seed. `kill` ends a life as a kernel would: threads stop where they are, tasks are dropped.
"""

from __future__ import annotations

import asyncio
import heapq
import os
import random
import threading
import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from weft.files import Disk
from weft.tools.threads import THREADS, Threads

Result = TypeVar("Result")


class KilledError(BaseException):
    """The process of this life has ended; nothing may catch it."""


class DeadlockError(AssertionError):
    """Nothing can go on, and somebody still waits."""


class _Worker:
    """A thread that runs only between `step` and its next pause."""

    def __init__(self, run: Callable[[], None], name: str) -> None:
        self._go, self._paused = threading.Lock(), threading.Lock()  # locks are what is handed over fastest
        self._go.acquire()
        self._paused.acquire()
        self._killed = False
        self.done = False
        self.thread = threading.Thread(target=self._whole, args=(run,), name=name, daemon=True)
        self.thread.start()

    def _whole(self, run: Callable[[], None]) -> None:
        self._go.acquire()
        try:
            if not self._killed:
                run()
        except KilledError:
            pass  # it is gone, as it should be
        finally:
            self.done = True
            self._paused.release()

    def step(self) -> None:
        self._go.release()
        self._paused.acquire()

    def pause(self) -> None:
        if self._killed:
            return  # it is being unwound: nothing it still does may wait
        self._paused.release()
        self._go.acquire()
        if self._killed:
            raise KilledError

    def kill(self) -> None:
        self._killed = True
        while not self.done:
            self.step()


class Lockstep(asyncio.BaseEventLoop, Threads):
    def __init__(self, rng: random.Random, *, steps: int | None = None) -> None:
        super().__init__()
        self._rng = rng
        self._left = steps
        """After so many steps the process is killed; None lets it live."""
        self._clock = 0.0
        self._workers: list[_Worker] = []
        self.set_exception_handler(self._note)
        self.faults: list[str] = []

    def _note(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.faults.append(f"{context.get('message')}: {context.get('exception')!r}")

    def live(self, life: Coroutine[Any, Any, Result]) -> Result:
        """To the end of a life, or KilledError."""
        token = THREADS.set(self)
        try:
            return self.run_until_complete(life)
        finally:
            THREADS.reset(token)
            self.kill()

    def kill(self) -> None:
        for worker in self._workers:
            worker.kill()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was never begun is dropped on purpose
            for task in asyncio.all_tasks(self):
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with suppress(KilledError, StopIteration):
                    task.get_coro().throw(KilledError)
        self._ready.clear()  # type: ignore[attr-defined]
        self.close()

    # -- what a loop needs

    def time(self) -> float:
        return self._clock

    def _write_to_self(self) -> None:
        """The worker that calls runs alone, and the loop looks when it has paused."""

    def _process_events(self, event_list: Any) -> None:
        """There are none: nothing here reads or writes a socket."""

    def _run_once(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise KilledError
        ready: Any = self._ready  # type: ignore[attr-defined]
        self._workers = [worker for worker in self._workers if not worker.done]
        if self._workers and (not ready or self._rng.random() < 0.5):
            self._rng.choice(self._workers).step()
        elif ready:
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        else:
            self._next_timer()

    def _next_timer(self) -> None:
        scheduled: Any = self._scheduled  # type: ignore[attr-defined]
        while scheduled:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False
            if not handle._cancelled:
                self._clock = max(self._clock, handle._when)
                self._ready.append(handle)  # type: ignore[attr-defined]
                return
        if not self._stopping:  # type: ignore[attr-defined]
            raise DeadlockError("nothing can go on")

    # -- threads

    def start(self, run: Callable[[], None], name: str) -> None:
        self._workers.append(_Worker(run, name))

    def sleep(self, seconds: float) -> None:
        self.pause()

    def now(self) -> float:
        return self._clock

    def pause(self) -> None:
        """Called in a thread: another may go on from here. On the loop's own thread it does nothing."""
        mine = threading.current_thread()
        for worker in self._workers:
            if worker.thread is mine:
                worker.pause()


class SteppingDisk(Disk):
    """A disk on which every call is a place where another thread may go on, or the process end."""

    def __init__(self) -> None:
        super().__init__(sync=False)

    def pause(self) -> None:
        threads = THREADS.get()
        if isinstance(threads, Lockstep):
            threads.pause()

    def write(self, fd: int, data: bytes) -> None:
        half = len(data) // 2
        self.pause()
        os.write(fd, data[:half])
        self.pause()
        super().write(fd, data[half:])

    def create(self, name: str, flags: int, dir_fd: int) -> int:
        self.pause()
        return super().create(name, flags, dir_fd)

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        self.pause()
        super().replace(source, target, dir_fd)
        self.pause()
