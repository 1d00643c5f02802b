"""`weft chat` with a model that follows a script, for tests: the app, its tools and its rules are the real ones.

python -m tests.e2e.chat_scripted WORKSPACE FOLDER
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.doors import talk_in
from weft.app import App
from weft.cli.chat.face import run_chat
from weft.cli.commands import let_go
from weft.testing.scripted import ScriptedModel, Turn, calls, says

STUCK = "echo $$ >> pids; sleep 1000 & echo $! >> pids; (sleep 1000 & echo $! >> pids; wait) & wait"


def last(text: str) -> dict[str, str]:
    """The request ends with this message of the person."""
    return {"messages/-1/content/-1/text": text}


def script() -> ScriptedModel:
    change = {"path": "notes.md", "old": "two", "new": "three"}
    return ScriptedModel(
        [
            Turn(calls("Edit", change), expect=last("say three")),
            Turn(says("It says three now."), expect={"messages/-1/content/0/tool": "Edit"}),
            Turn(calls("AskUser", {"questions": [{"question": "Which colour?", "options": ["red", "green"]}]})),
            Turn(says("Green it is.")),
            Turn(calls("Shell", {"command": STUCK}), expect=last("hang")),
            Turn(says("I have stopped."), expect=last("are you there?")),
        ]
    )


async def main(workspace: Path, folder: Path) -> int:
    model = script()
    with App.open(workspace, models={model.name: model}) as app:
        async with talk_in(app, session="the-talk", model=model.name, working=folder) as talk:
            code = await run_chat(talk.session)
    model.assert_done()
    return code


if __name__ == "__main__":
    code = asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
    let_go()
    sys.exit(code)
