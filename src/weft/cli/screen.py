"""Shows a run while it happens: a live view on a terminal, plain lines without one, JSON lines when asked for.

Everything goes to standard error except `--json`: standard output carries data only.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from weft.cli.place import is_ascii, is_terminal, screen_width
from weft.protocol.events import Event, Record
from weft.session.codec import event_fields, record_json, to_json

if TYPE_CHECKING:
    from rich.live import Live

FRAME = 0.1
"""Seconds between two frames of the live view."""


class Screen(Protocol):
    def show(self, event: Record | Event) -> None: ...

    def going(self) -> AbstractAsyncContextManager[None]:
        """While this is open the screen is kept up to date."""


@asynccontextmanager
async def _still() -> AsyncIterator[None]:
    yield


class JsonScreen:
    """One event a line on standard output: durable ones as the log has them, live ones without `seq`."""

    def show(self, event: Record | Event) -> None:
        line = record_json(event) if isinstance(event, Record) else to_json(event_fields(event)) + b"\n"
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def going(self) -> AbstractAsyncContextManager[None]:
        return _still()


class PlainScreen:
    def __init__(self, session: str, program: str) -> None:
        from weft.render.plain import PlainLog

        self._log = PlainLog(session, program)

    def show(self, event: Record | Event) -> None:
        for line in self._log.lines(event.event if isinstance(event, Record) else event):
            print(line, file=sys.stderr, flush=True)

    def going(self) -> AbstractAsyncContextManager[None]:
        return _still()


class LiveScreen:
    def __init__(
        self, session: str, folder: str, artifacts: Mapping[str, Sequence[str]], program: str, *, asks: bool = False
    ) -> None:
        from rich.console import Console

        from weft.render.view import RunView

        self._view = RunView(session, folder, artifacts, asks_here=asks)
        self._program = program
        self._ascii = is_ascii(sys.stderr)
        self._console = Console(file=sys.stderr, highlight=False)
        self._live: Live | None = None

    def show(self, event: Record | Event) -> None:
        self._view.apply(event.event if isinstance(event, Record) else event, time.monotonic())

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        from rich.live import Live

        # A new one each time: a run that is taken up again is drawn below what was said meanwhile.
        live = Live(console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        with live:
            self._live = live
            ticking = asyncio.create_task(self._tick())
            try:
                yield
            finally:
                ticking.cancel()
                await asyncio.wait([ticking])
                self._draw(last=True)

    async def _tick(self) -> None:
        while True:
            self._draw(last=False)
            await asyncio.sleep(FRAME)

    def _draw(self, *, last: bool) -> None:
        from weft.render.terminal import live

        width = screen_width(sys.stderr)
        height = None if last else max(3, self._console.size.height - 1)
        frame = live(self._view, time.monotonic(), width, ascii=self._ascii, height=height, program=self._program)
        if self._live is not None:
            self._live.update(frame, refresh=True)


def screen_for(
    session: str,
    folder: str,
    artifacts: Mapping[str, Sequence[str]],
    program: str,
    *,
    as_json: bool,
    plain: bool,
    asks: bool = False,
) -> Screen:
    if as_json:
        return JsonScreen()
    if plain or not is_terminal(sys.stderr):
        return PlainScreen(session, program)
    return LiveScreen(session, folder, artifacts, program, asks=asks)
