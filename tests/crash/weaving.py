"""The work that is disturbed: a diamond of five steps whose code runs in the process that dies.

`gather` reads both inputs; `left` is rejected once and then passes; `right` is too large for the log and becomes a
blob (it waits for `left` while both are under way, so that every run makes the same calls in the same order); `join`
makes two artifacts; `report` is the end. Every execution of a step's code leaves a line in a ledger outside the
workspace, and every published record one in a second file: that is what the outside world has seen.
"""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weft.app import App, RegisteredFunction, SessionRequest
from weft.files import Disk
from weft.protocol.commands import INLINE_LIMIT, StartRun
from weft.protocol.errors import WeftError
from weft.protocol.events import Event, NoticeGiven, Record, StepCompleted, StepSkipped
from weft.protocol.hashes import hash_value
from weft.protocol.steps import StepInput
from weft.workspace.pipeline import InputSpec, Pipeline, SchemaFile, Step

SESSION: Final = "tapestry"
SOURCE: Final = "The shuttle flies through the shed.\nThe reed beats the weft home.\n"
OTHER_SOURCE: Final = "A knot is tied where the old thread ends.\n"
GLOSSARY: Final = "reed: a comb\nshed: a gap\nshuttle: a boat\n"
CALLS: Final = {"gather": 1, "left": 2, "right": 1, "join": 1, "report": 1}
"""How often the code of each step runs when nothing disturbs it."""
_COUNTED = {"type": "object", "required": ["words"], "properties": {"words": {"type": "integer"}}}


@dataclass(frozen=True)
class Place:
    """A folder with a workspace, the person's files, and what the outside world has seen."""

    root: Path

    @classmethod
    def lay_out(cls, root: Path) -> Place:
        place = cls(root)
        place.workspace.mkdir(parents=True)
        place.lay_inputs()
        return place

    def lay_inputs(self) -> None:
        self.source.write_text(SOURCE)
        self.glossary.write_text(GLOSSARY)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def session(self) -> Path:
        return self.workspace / "sessions" / SESSION

    @property
    def source(self) -> Path:
        return self.root / "source.md"

    @property
    def glossary(self) -> Path:
        return self.root / "glossary.txt"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger"

    @property
    def published(self) -> Path:
        return self.root / "published"


def run(
    place: Place,
    disk: Disk,
    acknowledged: Callable[[int], None] | None = None,
    wish: StartRun | None = None,
    insist: bool = False,
) -> dict[str, Any]:
    """Bring the session up to date in this process; what came of it in plain values. `insist`: when that fails, ask
    the same open session once more."""
    notices: list[str] = []
    left_is_settled = asyncio.Event()

    def publish(item: Record | Event) -> None:
        if isinstance(item, Record):
            append(place.published, str(item.seq))
            if acknowledged:
                acknowledged(item.seq)
            if isinstance(item.event, StepCompleted | StepSkipped) and item.event.step == "left":
                left_is_settled.set()
        elif isinstance(item, NoticeGiven):
            notices.append(item.text)

    async def submit() -> str:
        with App.open(place.workspace, disk=disk, functions=_functions(place, left_is_settled)) as app:
            ask = SessionRequest(
                pipeline=PIPELINE, session=SESSION, file=place.source, inputs={"glossary": place.glossary}
            )
            async with app.session(ask, reachable=False) as session, session.shown(publish) as showing:
                try:
                    outcome = await session.run(wish or StartRun())
                except WeftError:
                    if not insist:
                        raise
                    outcome = await session.run(wish or StartRun())
                await showing.caught_up()
                return outcome

    try:
        return {"outcome": asyncio.run(submit()), "notices": notices}
    except WeftError as error:
        told = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
        return {"error": told, "notices": notices}
    except Exception:  # noqa: BLE001  told to the test, which fails for it
        return {"bug": traceback.format_exc(), "notices": notices}


def _functions(place: Place, left_is_settled: asyncio.Event) -> dict[str, RegisteredFunction]:
    def entered(function: Callable[[StepInput], Any]) -> RegisteredFunction:
        async def on_the_loop(step: StepInput) -> Any:
            append(place.ledger, step.step)
            if step.step == "right":
                await left_is_settled.wait()
            return function(step)

        return RegisteredFunction(on_the_loop)

    def in_a_thread(step: StepInput) -> Any:
        append(place.ledger, step.step)
        return _join(step)

    functions = {"gather": _gather, "left": _left, "right": _right, "report": _report}
    return {name: entered(function) for name, function in functions.items()} | {"join": RegisteredFunction(in_a_thread)}


def _gather(step: StepInput) -> Any:
    return {"lines": step.inputs["source"].splitlines(), "terms": step.inputs["glossary"].count(":")}


def _left(step: StepInput) -> Any:
    words = sum(len(line.split()) for line in step.artifacts["gather.json"]["lines"])
    return {"words": words} if step.feedback else {"words": "many"}


def _right(step: StepInput) -> Any:
    line = " ".join(step.artifacts["gather.json"]["lines"]) + "\n"
    return line * (INLINE_LIMIT // len(line) + 1)


def _join(step: StepInput) -> Any:
    words, size = step.artifacts["left.json"]["words"], len(step.artifacts["right.md"])
    return {"join.json": {"words": words, "size": size}, "join.md": f"{words} words, {size} letters\n" * 40}


def _report(step: StepInput) -> Any:
    return "# Report\n\n" + step.artifacts["join.md"]


def _step(name: str, *artifacts: str, requires: tuple[str, ...] = (), **more: Any) -> Step:
    defaults: Mapping[str, Any] = {"inputs": (), "schemas": {}, "attempts": 3, "final": False}
    return Step(
        name=name,
        artifacts=artifacts,
        code=name,
        agent=None,
        requires=requires,
        parameters=(),
        profile=(),
        skills=(),
        model=None,
        checks=(),
        timeout=20.0,
        **{**defaults, **more},
    )


_STEPS = (
    _step("gather", "gather.json", inputs=("source", "glossary")),
    _step(
        "left",
        "left.json",
        requires=("gather",),
        schemas={"left.json": SchemaFile("schemas/left.schema.json", _COUNTED, "1", hash_value(_COUNTED))},
    ),
    _step("right", "right.md", requires=("gather",)),
    _step("join", "join.json", "join.md", requires=("left", "right")),
    _step("report", "report.md", requires=("join",), final=True),
)
PIPELINE: Final = Pipeline(
    name="weaving",
    description="A diamond that can be killed anywhere.",
    version="1",
    file="pipelines/weaving.yaml",
    hash=hash_value("weaving"),
    inputs={"source": InputSpec(), "glossary": InputSpec()},
    parameters={},
    steps={step.name: step for step in _STEPS},
    final="report",
)


def append(path: Path, line: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)
