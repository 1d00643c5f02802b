"""The work that is disturbed in time: a schedule begins a run with a pipeline in it, which waits two hours, one for
each of two items, which has a step with items itself, and one that is made at the end. The clock is the place's own: a
process that follows one that died finds it where it was."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.crash.weaving import SESSION, Place, append
from weft.app import TAKEN_UP, App, RegisteredFunction, SessionRequest
from weft.app.schedules.schedule_histories import HISTORY
from weft.app.schedules.schedules import Schedules
from weft.files import Disk
from weft.protocol.commands import StartRun
from weft.protocol.errors import WeftError
from weft.protocol.steps import StepInput

TIMES: Final = [datetime(2026, 11, 16, hour, tzinfo=UTC) for hour in (6, 7, 9)]
"""It is seen, it begins, its wait is over."""
_FILES: Final = {
    "pipelines/outer.yaml": """\
name: outer
description: d
inputs: {}
steps:
  a: {artifact: a.json, code: "w.py:make"}
  late: {pipeline: inner, requires: [a], wait: 2h}
  each: {pipeline: person, requires: [a], map: {artifact: a.json, at: "people[*]", as: who}}
  end: {artifact: end.json, code: "w.py:make", requires: [late, each], final: true}
  tidy: {pipeline: inner, finally: true}
""",
    "pipelines/inner.yaml": """\
name: inner
description: d
inputs: {}
steps:
  x: {artifact: x.json, code: "w.py:make"}
  y: {artifact: y.json, code: "w.py:make", requires: [x], final: true}
""",
    "pipelines/person.yaml": """\
name: person
description: d
inputs: {who: {kind: text}}
steps:
  m: {artifact: m.json, code: "w.py:make"}
  n: {map: {artifact: m.json, at: "people[*]"}, artifact: n.json, code: "w.py:make", requires: [m], inputs: []}
  o: {artifact: o.json, code: "w.py:make", requires: [n], final: true}
""",
    "code/w.py": "def make(step):\n    return {}\n",
    "schedules/daily.yaml": f'cron: "0 7 * * *"\nstart: {{pipeline: outer, session: {SESSION}}}\n',
    "config.toml": "",
}
STEPS: Final = {
    *("a", "late.x", "late.y", "end", "tidy.x", "tidy.y"),
    *(f"each.{who}.{step}" for who in ("p", "q") for step in "mno"),
}


def lay_out(root: Path) -> Place:
    place = Place(root)
    for name, text in _FILES.items():
        (place.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (place.workspace / name).write_text(text)
    return place


def history(place: Place) -> list[str]:
    """What the schedule has written down, kind by kind."""
    lines = (place.workspace / HISTORY / "daily.jsonl").read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def run(
    place: Place,
    disk: Disk,
    acknowledged: Callable[[int], None] | None = None,
    wish: StartRun | None = None,
    insist: bool = False,
) -> dict[str, Any]:
    """What a watcher does from now until the run is done; what came of it in plain values."""

    def make(step: StepInput) -> Any:
        append(place.ledger, step.idempotency_key.rpartition("-")[0])
        return {"made": step.step, "from": step.artifacts, "people": ["p", "q"], "of": step.item_key or step.inputs}

    async def life() -> str:
        clock = place.root / "clock"
        first, outcome = int(clock.read_text()) if clock.exists() else 0, ""
        phase = first
        functions = {"w.py:make": RegisteredFunction(make)}
        with App.open(place.workspace, disk=disk, functions=functions, now=lambda: TIMES[phase]) as app:
            schedules, opener = Schedules(app), partial(app.session, reachable=False)
            for now in range(first, len(TIMES)):
                phase = now
                clock.write_text(str(phase))
                for one, entry in schedules.look():
                    await schedules.carry_out(one, entry, opener, lambda _: None)
                if app.sessions.exists(SESSION):
                    going = app.left_going(SESSION) or StartRun(if_due=True)
                    async with opener(SessionRequest(session=SESSION, attended=False)) as session:
                        await session.submit(going, by=TAKEN_UP)
                        outcome = await session.rest() or ""
        return outcome

    try:
        return {"outcome": asyncio.run(life())}
    except WeftError as error:
        return {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}
    except Exception:  # noqa: BLE001  told to the test, which fails for it
        return {"bug": traceback.format_exc()}
