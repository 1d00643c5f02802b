"""Shows a run while it happens: a live view on a terminal, plain lines without one, JSON lines when asked for.

Everything goes to standard error except `--json`: standard output carries data only.
"""

from __future__ import annotations

import asyncio
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from weft.app import event_fields, record_fields
from weft.cli.place import is_ascii, is_terminal, print_json, screen_width
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

Price = Callable[[str, Mapping[str, int]], Decimal | None]
"""US dollars for so many tokens of a model; None when its price is not known."""
Priced = CallSettled | e.StepCompleted | e.StepFailed | e.StepInterrupted
FRAME = 0.1
"""Seconds between two frames of the live view."""


class Screen(ABC):
    @abstractmethod
    def show(self, item: e.Record | e.Event) -> None: ...

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """While this is open the screen is kept up to date."""
        yield

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """While a person is asked something, nothing is drawn over the question."""
        yield


def event_of(item: e.Record | e.Event) -> e.Event:
    return item.event if isinstance(item, e.Record) else item


def event_json(event: e.Record | e.Event, price: Price | None) -> dict[str, Any]:
    """An event as a program gets it: durable ones as the log has them, live ones without `seq`. What a model was called
    for also has its `cost` in US dollars as it is priced now; null when that is not known."""
    if not isinstance(event, e.Record):
        return event_fields(event)
    found = record_fields(event)
    fact = event.event
    if price and isinstance(fact, Priced) and fact.model:
        spent = {} if isinstance(fact, CallSettled) else fact.by_model
        costs = [price(*one) for one in spent.items() or [(fact.model, fact.usage)]]
        known = [cost for cost in costs if cost is not None]
        found["cost"] = float(sum(known)) if len(known) == len(costs) else None
    return found


class JsonScreen(Screen):
    """One event a line on standard output."""

    def __init__(self, price: Price | None = None) -> None:
        self._price = price

    def show(self, item: e.Record | e.Event) -> None:
        print_json(event_json(item, self._price))


class PlainScreen(Screen):
    """Lines on standard error. A person's own words are not said to them again."""

    def __init__(self, session: str, program: str, price: Price | None = None) -> None:
        from weft.render.plain import PlainLog

        self._log = PlainLog(session, program, price)

    def show(self, item: e.Record | e.Event) -> None:
        event = event_of(item)
        lines = self._log.lines(event)  # it remembers what it is told, also of what is not said
        if self._says(event):
            for line in lines:
                print(line, file=sys.stderr, flush=True)

    def _says(self, event: e.Event) -> bool:
        return not isinstance(event, e.WordsSaid)


class FaultScreen(PlainScreen):
    """Says only what a person must know of a run that is only waited for: notices, and what went wrong."""

    def _says(self, event: e.Event) -> bool:
        failed = isinstance(event, e.RunEnded) and event.outcome != "done"
        return failed or isinstance(event, e.NoticeGiven | e.StepFailed)


class LiveScreen(Screen):
    def __init__(
        self,
        session: str,
        folder: str,
        artifacts: Mapping[str, Sequence[str]],
        program: str,
        price: Price | None = None,
        *,
        asks: bool = False,
    ) -> None:
        from rich.console import Console

        from weft.render.view import RunView

        self._view = RunView(session, folder, artifacts, asks_here=asks)
        self._program = program
        self._price = price
        self._ascii = is_ascii(sys.stderr)
        self._console = Console(file=sys.stderr, highlight=False)
        self._live: Live | None = None

    def show(self, item: e.Record | e.Event) -> None:
        self._view.apply(event_of(item), time.monotonic())

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        ticking = asyncio.create_task(self._tick())
        self._begin()
        try:
            yield
        finally:
            ticking.cancel()
            await asyncio.wait([ticking])
            self._end(last=True)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        going = self._live is not None
        self._end(last=False)
        try:
            yield
        finally:
            if going:
                self._begin()

    def _begin(self) -> None:
        from rich.live import Live

        # A new one each time: a run that is taken up again is drawn below what was said meanwhile.
        self._live = Live(console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        self._live.start()

    def _end(self, *, last: bool) -> None:
        if self._live is None:
            return
        if not last:
            self._draw()
        else:
            self._live.update("", refresh=True)
            self._live.transient = True
        self._live.stop()
        self._live = None
        if last:  # printed, not drawn: nothing is taken back any more, so that a path may be as long as it is
            self._console.print(self._frame(None), crop=False)

    async def _tick(self) -> None:
        while True:
            self._draw()
            await asyncio.sleep(FRAME)

    def _draw(self) -> None:
        if self._live is None:
            return
        from rich.console import Group

        # The last line is empty: the terminal writes ^C where the cursor stands, and behind a full line that would make
        # one line more than are taken back.
        frame = self._frame(max(3, self._console.size.height - 2))
        self._live.update(Group(frame, ""), refresh=True)

    def _frame(self, height: int | None) -> RenderableType:
        from weft.render.terminal import live

        return live(
            self._view,
            time.monotonic(),
            screen_width(sys.stderr),
            ascii=self._ascii,
            height=height,
            program=self._program,
            price=self._price,
        )


def screen_for(
    session: str,
    folder: str,
    artifacts: Mapping[str, Sequence[str]],
    program: str,
    *,
    as_json: bool,
    plain: bool,
    price: Price | None = None,
    asks: bool = False,
) -> Screen:
    if as_json:
        return JsonScreen(price)
    if plain or not is_terminal(sys.stderr):
        return PlainScreen(session, program, price)
    return LiveScreen(session, folder, artifacts, program, price, asks=asks)
