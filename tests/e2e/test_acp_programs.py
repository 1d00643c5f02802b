"""Real agents of others on a model of the tests.

    npm install -g opencode-ai && pytest -m campaign tests/e2e/test_acp_programs.py

They are large, start slowly and are not ours: a machine without them says so in one line.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.doors import talk_in
from tests.e2e.test_acp_agent import asked, of
from tests.made import Weft
from weft.app import App
from weft.protocol import talk as t
from weft.testing.wire import Called, Reply, WireServer, openai_chat_wire

OPENCODE = shutil.which("opencode", path=os.environ.get("WEFT_AGENTS_PATH", os.environ.get("PATH")))


@pytest.mark.campaign
@pytest.mark.timeout(300)
@pytest.mark.skipif(OPENCODE is None, reason="needs opencode, which is not here: npm install -g opencode-ai")
def test_opencode_asks_before_it_runs_a_command_and_the_log_has_it(weft: Weft, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    call = Called(tool="bash", arguments='{"command": "touch ran.txt", "description": "makes a file"}')

    async def go() -> list[object]:
        replies = [Reply(calls=(call,)), Reply(text="It ran.")]
        async with asyncio.timeout(240), WireServer(openai_chat_wire, replies) as server:
            stub = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": server.url, "apiKey": "x"},
                "models": {"m": {"name": "m"}},
            }
            settings = {"provider": {"stub": stub}, "model": "stub/m", "permission": {"edit": "ask", "bash": "ask"}}
            more = {"autoupdate": False, "share": "disabled", "agent": {"title": {"disable": True}}}
            (desk / "opencode.json").write_text(json.dumps({**settings, **more}))
            table = f'[models.other]\nkind = "acp"\ncommand = ["{OPENCODE}", "acp"]\n'
            (weft.workspace / "config.toml").write_text(f'model = "other"\n{table}')
            with App.open(weft.workspace) as app:
                app.consents.ask = lambda request: True
                async with talk_in(app, session="the-talk", working=desk) as talk:
                    talk.say("touch the file")
                    found = await asked(talk)
                    assert not (desk / "ran.txt").exists()
                    talk.approve(found.call, "once")
                    await talk.idle()
                    events: list[object] = [record.event for record in await talk.session.records()]
                    await talk.shutdown()
            server.assert_done()
            return events

    events = asyncio.run(go())
    (requested,) = of(t.ToolRequested, events)
    assert (requested.tool, requested.input) == ("Shell", {"command": "touch ran.txt"})
    assert (desk / "ran.txt").exists()
    assert of(t.ToolSettled, events)[0].outcome == "succeeded"
    assert of(t.ModelSettled, events)[-1].text == "It ran."
