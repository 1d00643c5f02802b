"""Several documents in one command: a few at a time, one line each, and a table at the end.

A document that fails does not stop the others; the exit code says that one did.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from weft.app import App, OpenedSession, SessionRequest
from weft.cli.place import is_ascii, is_terminal, print_json, screen_width
from weft.cli.screen import FRAME, event_json, event_of
from weft.cli.stopping import TERMINAL, interruptible
from weft.protocol.commands import Interrupt, Refused, StartRun
from weft.protocol.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OVER_BUDGET,
    EXIT_WAITING,
    WeftError,
)
from weft.protocol.events import Event, Outcome, Record
from weft.render.batch import DocumentState, DocumentView, batch_lines, batch_table, batch_text
from weft.render.cells import clean
from weft.render.view import RunView

AT_ONCE: Final = 4


STATES: Final[Mapping[str, DocumentState]] = {
    "running": "running",
    "done": "done",
    "failed": "failed",
    "interrupted": "interrupted",
    "waiting": "at a gate",
    "over_budget": "over budget",
    "asleep": "asleep",
    "cancelled": "cancelled",
    "left": "left",
}
"""By the outcome of a run; `running` has none yet."""
_CODES: Final[Mapping[DocumentState, int]] = {
    "interrupted": EXIT_INTERRUPTED,
    "failed": EXIT_FAILED,
    "cancelled": EXIT_FAILED,
    "over budget": EXIT_OVER_BUDGET,
    "at a gate": EXIT_WAITING,
    "asleep": EXIT_WAITING,
    "left": EXIT_WAITING,
}
"""What a person must know of first comes first."""


def exit_code(documents: Sequence[DocumentView]) -> int:
    states = {document.state for document in documents}
    return next((code for state, code in _CODES.items() if state in states), EXIT_DONE)


class Batch:
    def __init__(self, app: App, asks: Sequence[SessionRequest], wish: StartRun, *, as_json: bool, plain: bool) -> None:
        self._app = app
        self._asks = asks
        self._wish = wish
        self._as_json = as_json
        self._live = not as_json and not plain and is_terminal(sys.stderr)
        self._documents = [DocumentView(ask.file.name if ask.file else "") for ask in asks]
        self._open: set[OpenedSession] = set()
        self._interrupted = asyncio.Event()

    async def run(self) -> int:
        free = asyncio.Semaphore(min(AT_ONCE, os.cpu_count() or 1))
        with interruptible(self._interrupt):
            async with self._shown(), asyncio.TaskGroup() as group:
                for ask, document in zip(self._asks, self._documents, strict=True):
                    group.create_task(self._one(ask, document, free))
        return exit_code(self._documents)

    def _interrupt(self) -> None:
        self._interrupted.set()
        for session in self._open:
            session.submit(Interrupt(), by=TERMINAL)

    async def _one(self, ask: SessionRequest, document: DocumentView, free: asyncio.Semaphore) -> None:
        async with free:
            if self._interrupted.is_set():
                document.finished("interrupted", time.monotonic(), "not begun")
            else:
                document.state, document.started = "running", time.monotonic()
                try:
                    seen: int | None = None
                    while (seen := await self._make(ask, document, seen)) is not None:
                        pass
                except WeftError as error:
                    document.finished("failed", time.monotonic(), str(error))
        self._say(document)

    async def _make(self, ask: SessionRequest, document: DocumentView, seen: int | None) -> int | None:
        """None when it has come to its end. Else it is to be asked for again: its run was going on elsewhere, and what
        has changed since is to be made as well; or whoever held it has gone. Then what is shown goes on from there."""
        async with self._app.session(replace(ask, attended=False), self._wish) as session:
            steps = {name: step.artifacts for name, step in session.pipeline.steps.items()}
            run = document.run = document.run or RunView(session.id, str(session.folder), steps)
            async with session.shown(lambda event: self._show(run, event), seen) as showing:
                try:
                    outcome = await self._outcome(session)
                    await showing.caught_up()
                except WeftError:
                    if not session.is_lost:
                        raise
                    outcome = None
            if outcome is None:
                return showing.seq
            problem = _problem(run) if outcome == "failed" else run.message
            if session.state.run is not None and session.state.run.outcome is None:
                problem = "it goes on in the process that holds it"
            document.finished(STATES[outcome], time.monotonic(), problem)
            if outcome == "done" and not self._as_json and not (self._live and is_terminal(sys.stdout)):
                for artifact in session.pipeline.steps[self._wish.until or session.pipeline.final].artifacts:
                    print(session.folder / artifact, flush=True)
        return None

    async def _outcome(self, session: OpenedSession) -> Outcome | None:
        """How it came to rest; None when that was a run which was going on elsewhere, and is done."""
        self._open.add(session)
        try:
            beginning = session.submit(self._wish, by=TERMINAL)
            if self._interrupted.is_set():
                session.submit(Interrupt(), by=TERMINAL)
            reply = await beginning
            if not isinstance(reply, Refused):
                return await session.run_at_rest() or "waiting"
        finally:
            self._open.discard(session)
        if not session.goes_on_elsewhere(self._wish, reply):
            raise reply.error()
        resting, leaving = asyncio.ensure_future(session.run_at_rest()), asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait({resting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not resting.done():
                return "interrupted"  # here; there it goes on
            outcome = resting.result() or "waiting"
        finally:
            resting.cancel()
            leaving.cancel()
        return outcome if outcome != "done" else None

    # -- what is seen

    def _show(self, run: RunView, event: Record | Event) -> None:
        run.apply(event_of(event), time.monotonic())
        if self._as_json:
            fields = event_json(event, self._app.price)
            print_json({"session": run.session, **fields})

    def _say(self, document: DocumentView) -> None:
        if not self._live and not self._as_json:
            done = sum(one.ended is not None for one in self._documents)
            text = clean(f"[{done}/{len(self._documents)}] {document.name}: {document.told()}")
            print(text, file=sys.stderr, flush=True)

    @asynccontextmanager
    async def _shown(self) -> AsyncIterator[None]:
        if not self._live:
            try:
                yield
            finally:
                if not self._as_json:
                    print(f"\n{batch_text(self._documents, time.monotonic())}", file=sys.stderr)
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, highlight=False)
        ascii = is_ascii(sys.stderr)
        with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:

            async def tick() -> None:
                while True:
                    width, height = screen_width(sys.stderr), console.size.height - 1
                    frame = batch_lines(self._documents, time.monotonic(), width, height, ascii=ascii)
                    live.update(frame, refresh=True)
                    await asyncio.sleep(FRAME)

            ticking = asyncio.create_task(tick())
            try:
                yield
            finally:
                ticking.cancel()
                await asyncio.wait([ticking])
                width = screen_width(sys.stderr)
                live.update(batch_table(self._documents, time.monotonic(), width, ascii=ascii), refresh=True)


def _problem(run: RunView) -> str:
    """Which step failed and what was wrong, for a line in a table."""
    for step in run.steps.values():
        if step.state == "failed":
            found = "; ".join(str(finding) for finding in step.findings) or step.message
            return f"{step.name}: {found}"
    return run.message
