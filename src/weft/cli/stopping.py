"""Stopping what runs here: by Ctrl+C or a polite kill (a second one leaves at once). The log is safe either way."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from weft.protocol.envelope import Actor
from weft.protocol.errors import EXIT_DONE, EXIT_INTERRUPTED

TERMINAL: Final = Actor("person", face="terminal")
"""Who gives a command at this terminal."""


@contextmanager
def interruptible(interrupt: Callable[[], object], end: Callable[[], object] | None = None) -> Iterator[None]:
    """One that gives False has stopped something and goes on: the next is a first one again. `end` is for the polite
    kill, where that is more than an interrupt."""
    loop = asyncio.get_running_loop()
    pressed = False

    def press(does: Callable[[], object]) -> None:
        nonlocal pressed
        if pressed:
            os._exit(EXIT_INTERRUPTED)
        pressed = does() is not False

    for number, does in ((signal.SIGINT, interrupt), (signal.SIGTERM, end or interrupt)):
        loop.add_signal_handler(number, press, does)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def until_told(work: Coroutine[Any, Any, None]) -> int:
    """A protocol on standard input and output: until whoever speaks it goes, or this process is told to end. Then its
    sessions are let go of all the same, and how a library comes apart over that is no fault; the exit code."""
    serving = asyncio.ensure_future(work)
    told = asyncio.Event()

    def end() -> bool:
        told.set()
        return serving.cancel()

    with interruptible(end):
        await asyncio.wait({serving})
    if not told.is_set():
        serving.result()
        return EXIT_DONE
    if not serving.cancelled():
        serving.exception()
    return EXIT_INTERRUPTED
