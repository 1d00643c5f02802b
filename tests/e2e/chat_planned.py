"""`weft chat` in the mode plan, with a model that follows a script, for tests: all else is as it ships.

python -m tests.e2e.chat_planned WORKSPACE FOLDER
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from weft.app import App, SessionRequest
from weft.cli.chat.face import run_chat
from weft.cli.commands import let_go
from weft.models.model import Request
from weft.testing.scripted import ScriptedModel, Turn, calls, says


def names_the_file(request: Request) -> bool:
    return "notes.md (file)" in str(request.messages[-1].content)


def script() -> ScriptedModel:
    plan = "1. say three in notes.md\n2. look at it"
    change = {"file_path": "notes.md", "old_string": "two", "new_string": "three"}
    turns = [Turn(calls("SubmitPlan", {"plan": plan}), expect=names_the_file), Turn(calls("Edit", change))]
    return ScriptedModel([*turns, Turn(says("It says three now.")), Turn(says("We are back."))])


async def main(workspace: Path, folder: Path) -> int:
    model = script()
    with App.open(workspace, models={model.name: model}) as app:
        request = SessionRequest(talk=True, session="the-talk", model=model.name, mode="plan", working=folder)
        async with app.session(request, reachable=False) as session:
            code = await run_chat(session)
    model.assert_done()
    return code


if __name__ == "__main__":
    code = asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
    let_go()
    sys.exit(code)
