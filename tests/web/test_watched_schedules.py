"""The schedules of a server: what fails while they are watched is told, and they are watched again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.app import App
from weft.web import place


def test_schedules_are_watched_again_after_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "AGAIN_SECONDS", 0)
    told: list[str] = []
    watched = 0

    async def watch(*_: Any, **__: Any) -> None:
        nonlocal watched
        watched += 1
        raise ConnectionError("the store can't be reached" if watched < 3 else "it is full")

    async def served() -> None:
        with App.open(tmp_path) as app:
            async with asyncio.TaskGroup() as tasks:
                one = place.ServedWorkspace("desk", app, tasks, lambda _, error: told.append(str(error)))
                monkeypatch.setattr(one.schedules, "watch", watch)
                one.watch_schedules()
                while len(told) < 2:
                    await asyncio.sleep(0)
                await one.close()

    asyncio.run(asyncio.wait_for(served(), 30))
    assert told == ["the store can't be reached", "it is full"], "each is told once"
