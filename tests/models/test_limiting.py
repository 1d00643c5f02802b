"""So many at once and so many in a time, for all runs and processes of a workspace together."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.app import App
from weft.models.limiting import ResourceLimits, wait_for_rate
from weft.models.model import Part, Request
from weft.protocol.errors import WorkspaceError
from weft.workspace.config_file import read_limit
from weft.workspace.resource_limit import ResourceLimit


@pytest.mark.parametrize(
    ("times", "now", "wait"),
    [
        ([], 100.0, 0),
        ([90.0, 95.0], 100.0, 0),
        ([50.0, 90.0, 95.0], 100.0, 10),
        ([50.0, 60.0, 90.0, 95.0], 100.0, 20),
        ([39.9, 90.0, 95.0], 100.0, 0),
        ([500.0, 600.0, 700.0], 100.0, 0),
    ],
)
def test_how_long_one_waits(times: list[float], now: float, wait: float) -> None:
    """Three in sixty seconds. A clock that was put back does not stop everybody for ever."""
    assert wait_for_rate(times, ResourceLimit(uses=3, seconds=60), now) == pytest.approx(wait)


@given(st.lists(st.floats(0, 50), max_size=40), st.integers(1, 5), st.floats(0.5, 20))
def test_never_more_in_any_stretch_of_time(gaps: list[float], uses: int, seconds: float) -> None:
    limit, now, used = ResourceLimit(uses=uses, seconds=seconds), 1000.0, list[float]()
    for gap in gaps:
        now += gap
        while (wait := wait_for_rate(used, limit, now)) > 0:
            now += wait
        used.append(now)
    for begin in used:
        assert sum(begin <= one < begin + seconds * (1 - 1e-9) for one in used) <= uses


def test_a_limit_says_itself_as_it_is_written() -> None:
    for words in ("4 at once", "60 a minute", "4 at once, 2 an hour", "1 a second"):
        assert str(read_limit(words)) == words


class Busy:
    """Counts how many are in it."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def use(self, limits: ResourceLimits) -> None:
        async with limits.using("desk"):
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1


def test_so_many_at_once_also_over_several_of_them(tmp_path: Path) -> None:
    busy, limit = Busy(), {"desk": ResourceLimit(at_once=2)}

    async def all_of_them() -> None:
        runs = [ResourceLimits(tmp_path, limit) for _ in range(3)]
        await asyncio.gather(*(busy.use(runs[number % 3]) for number in range(12)))

    asyncio.run(all_of_them())
    assert busy.most == 2
    assert len(os.listdir("/proc/self/fd")) < 200


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from weft.models.limiting import ResourceLimits\nfrom weft.workspace.resource_limit import ResourceLimit\n"
        "async def go():\n"
        "    async with ResourceLimits(Path(sys.argv[1]), {'desk': ResourceLimit(at_once=1)}).using('desk'):\n"
        "        print('in', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(go())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        limits = ResourceLimits(tmp_path, {"desk": ResourceLimit(at_once=1)})

        async def wait(seconds: float) -> None:
            async with asyncio.timeout(seconds), limits.using("desk"):
                pass

        with pytest.raises(TimeoutError):
            asyncio.run(wait(0.2))
        other.send_signal(signal.SIGKILL)
    asyncio.run(wait(30))


class Slow:
    """A model that counts who asks it at the same time."""

    name, window = "slow", 1000

    def __init__(self) -> None:
        self.now = self.most = 0

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return
        yield


@pytest.mark.parametrize(("said", "most"), [("", 6), ('[limits]\nslow = "2 at once"\n', 2)])
def test_a_connection_is_held_to_its_limit(workspace: Path, said: str, most: int) -> None:
    (workspace / "config.toml").write_text(said)
    model = Slow()

    async def ask(app: App) -> None:
        async for _ in app.models().open("slow", dict).stream(Request(system="", messages=())):
            pass

    async def several() -> None:
        with App.open(workspace, models={"slow": model}) as app:
            await asyncio.gather(*(ask(app) for _ in range(6)))

    asyncio.run(several())
    assert model.most == most


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("4 at once, 60 a minute", ResourceLimit(4, 60, 60.0)),
        ("1 per second", ResourceLimit(0, 1, 1.0)),
        ("2 At Once", ResourceLimit(2)),
        ("none", None),
        ("4 at once, 5 at once", None),
        ("0 at once", None),
        ("", None),
        (4, None),
    ],
)
def test_limits_in_words(said: Any, limit: ResourceLimit | None, workspace: Path) -> None:
    if limit is not None:
        assert read_limit(said) == limit
        return
    written = f'"{said}"' if isinstance(said, str) else said
    (workspace / "config.toml").write_text(f"[limits]\ndesk = {written}\n")
    with pytest.raises(WorkspaceError, match=r"config\.toml"):
        App.open(workspace)
