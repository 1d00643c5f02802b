"""The work that is disturbed item by item: a tool that is called for each word of the source, one after the other.

Every call leaves a line in a ledger outside the workspace. `LARGE` is a word whose result does not fit into the log.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.crash.weaving import SESSION, Place, append
from weft.app import App, RegisteredFunction, SessionRequest
from weft.files import Disk
from weft.orchestrator.items import INLINE
from weft.protocol.commands import StartRun
from weft.protocol.errors import WeftError
from weft.protocol.events import Event, Record
from weft.protocol.steps import StepInput
from weft.tools.tool import Context, Handle, Outcome, Tool, begin
from weft.tools.toolbox import Toolbox

LARGE: Final = "large"
PIPELINE: Final = """\
name: marking
description: A tool for each word
steps:
  words: {artifact: words.json, code: "words.py:words"}
  marks:
    artifact: marks.json
    requires: [words]
    tool: Mark
    each: {artifact: words.json, at: "words[*]", as: word}
    final: true
    allow: [{tool: Mark}]
"""
MAPPED: Final = PIPELINE.replace("each: {", "map: {at_once: 2, ")
"""The same as items of a map, two of them side by side: each has a file of its own."""


def lay_out(root: Path, words: str = f"one two {LARGE} four", pipeline: str = PIPELINE) -> Place:
    place = Place(root)
    files = {
        "pipelines/marking.yaml": pipeline,
        "code/words.py": "def words(step):\n    return {'words': step.text.split()}\n",
        "config.toml": "",
    }
    for name, text in files.items():
        (place.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (place.workspace / name).write_text(text)
    place.source.write_text(words)
    return place


def marks(place: Place) -> list[str]:
    found = json.loads((place.session / "marks.json").read_text())
    if "items" in found:
        for one in found["items"]:
            file = place.session / "marks" / f"{one['item']}.json"
            assert json.loads(file.read_text()) == one["value"], "the file of an item is what was gathered"
        return [one["item"] for one in found["items"]]
    made = found["calls"]
    assert all(call["ok"] for call in made)
    return [call["input"]["word"] for call in made]


class _App(App):
    place: Place

    def toolbox(
        self,
        knowledge: Any = None,
        *,
        user: str = "",
        project: Path | None = None,
        switched: Mapping[str, bool] | None = None,
    ) -> Toolbox:
        async def start(given: Mapping[str, Any], context: Context) -> Handle:
            async def work() -> Outcome:
                append(self.place.ledger, str(given["word"]))
                return Outcome(text="x" * (2 * INLINE) if given["word"] == LARGE else f"marked {given['word']}")

            return await begin(work())

        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        return Toolbox([Tool(name="Mark", description="Marks", input_schema=schema, kind="write", start=start)])


def _words(step: StepInput) -> Any:
    return {"words": step.inputs["source"].split()}


def run(
    place: Place,
    disk: Disk,
    acknowledged: Callable[[int], None] | None = None,
    wish: StartRun | None = None,
    insist: bool = False,
) -> dict[str, Any]:
    """Bring the session up to date in this process; what came of it in plain values."""

    def publish(item: Record | Event) -> None:
        if isinstance(item, Record):
            append(place.published, str(item.seq))

    async def submit() -> str:
        functions = {"words.py:words": RegisteredFunction(_words)}
        with _App.open(place.workspace, disk=disk, functions=functions) as app:
            assert isinstance(app, _App)
            app.place = place
            request = SessionRequest(pipeline="marking", session=SESSION, file=place.source, attended=False)
            async with app.session(request, reachable=False) as session, session.shown(publish) as showing:
                outcome = await session.run(wish or StartRun())
                await showing.caught_up()
                return outcome

    try:
        return {"outcome": asyncio.run(submit())}
    except WeftError as error:
        return {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}
    except Exception:  # noqa: BLE001  told to the test, which fails for it
        return {"bug": traceback.format_exc()}
