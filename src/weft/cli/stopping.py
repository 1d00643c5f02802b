"""Stopping a run: by Ctrl+C or a polite kill (a second one leaves at once), or from another terminal. The log is safe
either way."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from weft.app import OpenSession
from weft.protocol.commands import InterruptRun
from weft.protocol.errors import EXIT_INTERRUPTED, UserError


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


@asynccontextmanager
async def reachable(session: OpenSession) -> AsyncIterator[None]:
    """So that `weft interrupt` in another terminal stops this run."""
    from weft.conversation.door import open_door

    def answer(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        if asked.get("do") != "interrupt":
            raise UserError("a run is going on in this session", hint="wait for its end, or stop it: weft interrupt")
        session.interrupt(InterruptRun(why="interrupted from another terminal"))
        return {"status": "accepted"}

    async with open_door(session.folder, answer) as trouble:
        if trouble:
            print(f"note: {trouble}", file=sys.stderr)
        yield
