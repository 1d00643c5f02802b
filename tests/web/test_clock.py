"""The clock of a server: what waits is read until that succeeds, and once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from weft.app import Awaited
from weft.protocol.commands import StartRun
from weft.web import clock


class Workspace:
    """One session sleeps; its log can't be read at first."""

    def __init__(self) -> None:
        self.reads = 0
        self.given: list[str] = []
        self.told: list[str] = []

    async def off_loop(self, work: Any) -> Any:
        return work()

    def awaited(self, session: str) -> Awaited:
        self.reads += 1
        if self.reads < 3:
            raise OSError("too many open files")
        return Awaited(due="2026-11-19T06:00:00Z")

    def has_come(self, awaited: Awaited) -> StartRun:
        return StartRun(if_due=True)

    @asynccontextmanager
    async def using(self, session: str) -> AsyncIterator[Workspace]:
        yield self

    async def submit(self, wish: StartRun, *, by: Any) -> None:
        self.given.append(by.name)


def test_a_log_that_could_not_be_read_is_read_at_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "CLOCK_SECONDS", 0)
    workspace: Any = Workspace()
    sleeping: Any = SimpleNamespace(id="night", seq=7)

    async def looks() -> None:
        watching = asyncio.create_task(
            clock.SessionClock(
                workspace, workspace, lambda: [sleeping], lambda name, error: workspace.told.append(f"{name}: {error}")
            ).watch()
        )
        while len(workspace.given) < 2:
            await asyncio.sleep(0)
        watching.cancel()

    asyncio.run(asyncio.wait_for(looks(), 30))
    assert workspace.told == ["night: too many open files"], "told once"
    assert workspace.reads == 3, "and what is known is not read again"
