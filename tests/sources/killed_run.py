"""A run whose agent uses two sources, in a process that a test kills.

python -m tests.sources.killed_run WORKSPACE PART
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from weft.app import App, SessionRequest
from weft.protocol.commands import StartRun
from weft.protocol.messages import ToolResult
from weft.testing.scripted import ScriptedModel, Turn, calls

PARTS = {
    "first": [
        Turn(calls("notes__read", {"path": "a.md"}, call="one")),
        Turn(calls("odd__echo", {"text": "hello"}, call="two")),
        Turn(calls("odd__hang", {}, call="three")),
    ],
    "second": [Turn(calls("hand_in", {"said": "done"}, call="four"))],
}


async def main(workspace: Path, part: str) -> str:
    model = ScriptedModel(PARTS[part])
    with App.open(workspace, models={"scripted": model}) as app:
        request = SessionRequest(pipeline="look", session="look", attended=False)
        async with app.session(request, StartRun()) as session:
            outcome = await session.run(StartRun())
    cut = [
        part.text
        for message in model.requests[-1].messages
        for part in message.content
        if isinstance(part, ToolResult) and part.call == "three"
    ]
    return f"{outcome}\n{cut}\n"


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(main(Path(sys.argv[1]), sys.argv[2])))
