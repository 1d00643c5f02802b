"""`import weft` as a person has it in a notebook: names to complete, and values given as they come."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import weft
from tests.made import lay_out


def test_a_notebook_completes_what_there_is_and_loads_nothing_for_it() -> None:
    code = "import sys, weft; before = set(sys.modules); print(dir(weft)); assert set(sys.modules) == before"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(eval(out)) == {*weft.__all__, "__version__"}


def test_steps_are_named_one_in_a_list_or_in_a_set(workspace: Path, tmp_path: Path) -> None:
    lay_out(workspace)
    (tmp_path / "poem.txt").write_text("so much depends upon a red wheel barrow\n")

    async def made(force: Any) -> int:
        request = weft.SessionRequest(pipeline="letters", file=tmp_path / "poem.txt", session="poem")
        with weft.open_workspace(workspace) as app:
            async with app.session(request) as session:
                assert await session.run(weft.StartRun(force=force)) == "done"
                events = [record.event for record in await session.records()]
        return sum(event.type == "step_started" and event.step == "report" for event in events)

    for times, force in enumerate(((), ["report"], "report", {"report"}, ("report",)), 1):
        assert asyncio.run(made(force)) == times
