"""The work that is disturbed inside a step: an agent with two tools and a question to a person, in three turns.

    turn 1   Look    reads, and may be made again
    turn 2   Note    writes outside the session, so the person is asked; it may not be made again
    turn 3   hand_in

The model answers by what it is told, so that it says the same wherever it is taken up again. Every model call, every
call of a tool and every question leaves a line in a ledger outside the workspace: that is what was paid and done.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.crash.weaving import SESSION, Place, append
from weft.app import App, SessionRequest
from weft.files import Disk
from weft.models.model import Part, Request, Stop
from weft.protocol.commands import StartRun
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalRequested
from weft.protocol.errors import WeftError
from weft.protocol.events import Event, Record
from weft.protocol.messages import ToolCall, ToolResult, Usage
from weft.tools.tool import Context, Handle, Outcome, Tool, begin
from weft.tools.toolbox import Toolbox

MODEL_CALLS: Final = 3
PRICE: Final = 0.01
"""What a model call costs, in dollars."""
PIPELINE: Final = """\
name: noting
description: An agent that looks and notes
steps:
  note:
    artifact: note.json
    agent: noter
    executor: agent
    tools: [Look, Note]
    schema: note.schema.json
"""
AGENT: Final = "---\nname: noter\ndescription: Notes\ntools: Look, Note\n---\nLook, note, hand in.\n"
SCHEMA: Final = {"type": "object", "required": ["told"], "properties": {"told": {"type": "string"}}}
_NOTHING: Final = {"type": "object", "properties": {}}


def lay_out(root: Path) -> Place:
    place = Place(root)
    files = {
        "pipelines/noting.yaml": PIPELINE,
        ".claude/agents/noter.md": AGENT,
        "schemas/note.schema.json": json.dumps(SCHEMA),
        "config.toml": 'model = "counting"\n',
    }
    for name, text in files.items():
        (place.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (place.workspace / name).write_text(text)
    place.lay_inputs()
    return place


class CountingModel:
    """Looks, notes, hands in: the next of these that it has no result of."""

    name = "counting"
    window = 100_000
    output_ways = ("tool",)

    def __init__(self, place: Place) -> None:
        self._place = place

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        results = [part for message in request.messages for part in message.content if isinstance(part, ToolResult)]
        done = {part.tool for part in results}
        tool = next((name for name in ("Look", "Note") if name not in done), "hand_in")
        append(self._place.ledger, f"model:{tool}")
        given = {"told": "seen and noted"} if tool == "hand_in" else {}
        yield ToolCall(call=f"call-{tool}", tool=tool, input=given)
        yield Usage(input=100, output=10)
        yield Stop(reason="tool_calls")


def _tools(place: Place) -> Toolbox:
    def tool(name: str, effect: Any, *, retryable: bool) -> Tool:
        async def start(given: Mapping[str, Any], context: Context) -> Handle:
            async def work() -> Outcome:
                append(place.ledger, f"tool:{name}")
                return Outcome(text=f"{name} was done")

            return await begin(work())

        return Tool(name=name, description=name, input_schema=_NOTHING, kind=effect, start=start, retryable=retryable)

    return Toolbox([tool("Look", "read", retryable=True), tool("Note", "write", retryable=False)])


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
        return _tools(self.place)


def run(
    place: Place,
    disk: Disk,
    acknowledged: Callable[[int], None] | None = None,
    wish: StartRun | None = None,
    insist: bool = False,
) -> dict[str, Any]:
    """Bring the session up to date in this process; what came of it in plain values."""

    asked: set[tuple[str, str]] = set()

    async def submit() -> str:
        with _App.open(place.workspace, disk=disk, models={"counting": CountingModel(place)}) as app:
            assert isinstance(app, _App)
            app.place = place
            request = SessionRequest(pipeline="noting", session=SESSION, file=place.source)
            async with app.session(request, reachable=False) as session:

                def publish(item: Record | Event) -> None:
                    if isinstance(item, Record):
                        append(place.published, str(item.seq))
                    event = item.event if isinstance(item, Record) else item
                    if isinstance(event, ApprovalRequested) and (event.conversation, event.call) not in asked:
                        asked.add((event.conversation, event.call))
                        append(place.ledger, f"asked:{event.tool}")
                        session.submit(
                            DecideApproval(conversation=event.conversation, call=event.call, decision="once")
                        )

                async with session.shown(publish) as showing:
                    outcome = await session.run(wish or StartRun())
                    await showing.caught_up()
                    return outcome

    try:
        return {"outcome": asyncio.run(submit())}
    except WeftError as error:
        return {"error": {"type": type(error).__name__, "message": error.message, "hint": error.hint}}
    except Exception:  # noqa: BLE001  told to the test, which fails for it
        return {"bug": traceback.format_exc()}
