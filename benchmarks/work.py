"""The work that is measured: a session is five steps in a line, each an async function that does nothing but return
about 120 bytes of JSON. What is left is the engine. And Weft doing it, as a program that embeds it would."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from weft.app import App, RegisteredFunction, SessionRequest
from weft.files import Disk
from weft.protocol.commands import StartRun
from weft.protocol.events import ArtifactAccepted, Event, Record
from weft.protocol.steps import StepInput
from weft.workspace.pipeline import Pipeline, Step

STEPS: Final = 5
Result = dict[str, Any]
Body = Callable[[str, int], Awaitable[Result]]
"""The body of a step, by session and number of the step."""


async def body(session: str, number: int) -> Result:
    text = f"result of step {number}: the quick brown fox jumps over the lazy dog"
    return {"step": number, "session": session, "status": "ok", "text": text}


def check(session: str, results: list[Result]) -> None:
    """A session counts only when all its results came back, in order."""
    found = [result["step"] for result in results]
    if found != list(range(1, STEPS + 1)):
        raise AssertionError(f"{session}: expected steps 1 to {STEPS}, got {found}")


def line_of_steps(name: str, count: int) -> Pipeline:
    steps: dict[str, Step] = {}
    for number in range(1, count + 1):
        steps[f"s{number}"] = Step(
            name=f"s{number}",
            artifacts=(f"s{number}.json",),
            code="step",
            agent=None,
            requires=(f"s{number - 1}",) if number > 1 else (),
            inputs=(),
            parameters=(),
            profile=(),
            skills=(),
            model=None,
            schemas={},
            checks=(),
            attempts=1,
            timeout=60,
            final=number == count,
        )
    return Pipeline(
        name=name,
        description="",
        version="1",
        file=f"pipelines/{name}.yaml",
        hash="",
        inputs={},
        parameters={},
        steps=steps,
        final=f"s{count}",
    )


def as_function(body: Body) -> Mapping[str, RegisteredFunction]:
    """A body as the function that `line_of_steps` names."""

    async def step(given: StepInput) -> Result:
        return await body(given.session, int(given.step[1:]))

    return {"step": RegisteredFunction(step)}


class WeftEngine:
    """Sessions of five steps through the doors of `weft.app`."""

    def __init__(self, folder: Path, body: Body, disk: Disk | None = None) -> None:
        self._folder = folder
        self._disk = disk
        self._functions = as_function(body)
        self._pipeline = line_of_steps("bench", STEPS)

    async def open(self) -> None:
        self._app = App.open(self._folder, disk=self._disk, functions=self._functions)

    async def close(self) -> None:
        self._app.close()

    async def run(self, session: str) -> list[Result]:
        """The five results; of a session that was cut off, what was finished comes from its files."""
        made: dict[str, str] = {}

        def take(event: Record | Event) -> None:
            if isinstance(event, Record) and isinstance(event.event, ArtifactAccepted) and event.event.content:
                made[event.event.artifact] = event.event.content

        request = SessionRequest(pipeline=self._pipeline, session=session)
        async with (
            self._app.session(request, reachable=False) as open_session,
            open_session.shown(take, 0) as showing,
        ):
            outcome = await open_session.run(StartRun())
            await showing.caught_up()
            if outcome != "done":
                raise AssertionError(f"{session}: {outcome}")
            names = [name for step in self._pipeline.steps.values() for name in step.artifacts]
            texts = [made.get(name) or (open_session.folder / name).read_text() for name in names]
        return [json.loads(text) for text in texts]
