"""Ctrl+C, or a polite kill: what runs is interrupted; a second one leaves at once. The log is safe either way."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.protocol.errors import EXIT_INTERRUPTED


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    pressed = False

    def press() -> None:
        nonlocal pressed
        if pressed:
            os._exit(EXIT_INTERRUPTED)
        pressed = True
        interrupt()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, press)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
