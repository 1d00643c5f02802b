"""Real agents of others on a model of the tests.

    npm install -g opencode-ai @openai/codex && WEFT_LANE=slow pytest tests/e2e/test_agent_programs.py

They are large, start slowly and are not ours: a machine without them says so in one line.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.doors import talk_in
from tests.e2e.test_other_agents import asked, of
from tests.made import Weft
from weft.app import App
from weft.protocol import conversation_events as t
from weft.testing.wire import Called, Reply, WireServer, openai_chat_wire, openai_responses_wire

PLACES = os.environ.get("WEFT_AGENTS_PATH", os.environ.get("PATH"))
OPENCODE, CODEX = (shutil.which(name, path=PLACES) for name in ("opencode", "codex"))


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


PATCH = """apply_patch <<'EOF'
*** Begin Patch
*** Add File: one.txt
+one
*** Add File: two.txt
+two
*** End Patch
EOF
"""


@pytest.mark.campaign
@pytest.mark.timeout(300)
@pytest.mark.skipif(CODEX is None, reason="needs Codex, which is not here: npm install -g @openai/codex")
def test_codex_asks_is_denied_is_killed_and_goes_on_with_its_own_record(weft: Weft, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()

    def command(text: str) -> Reply:
        return Reply(calls=(Called(tool="exec_command", arguments=json.dumps({"cmd": text})),))

    replies = [
        *(command("touch ran.txt"), Reply(text="It ran.")),
        *(command("touch other.txt"), Reply(text="Then not.")),
        *(command(PATCH), Reply(text="Patched.")),
        Reply(text="As I said: patched."),
    ]

    async def turn(url: str, words: str, decisions: dict[int, t.Decision]) -> list[object]:
        table = (
            f"[models.other]\nkind = 'codex'\nmodel = 'm'\nbase_url = '{url}'\nkey = 'none'\ncommand = ['{CODEX}']\n"
        )
        (weft.workspace / "config.toml").write_text(f'model = "other"\n{table}')
        with App.open(weft.workspace) as app:
            app.consents.ask = lambda request: True
            async with talk_in(app, session="the-talk", working=desk) as talk:
                talk.say(words)
                for number, decision in decisions.items():
                    talk.approve((await asked(talk, number)).call, decision)
                await talk.idle()
                events: list[object] = [record.event for record in await talk.session.records()]
                await talk.shutdown()
                return events

    async def go() -> tuple[list[object], list[str]]:
        async with asyncio.timeout(240), WireServer(openai_responses_wire, replies) as server:
            await turn(server.url, "touch the file", {0: "once"})
            await turn(server.url, "touch another", {1: "denied"})
            await turn(server.url, "patch it", {2: "once", 3: "once"})
            events = await turn(server.url, "what did you do?", {})
            server.assert_done()
            return events, [json.dumps(one.body) for one in server.seen]

    events, prompts = asyncio.run(go())
    assert sorted(one.name for one in desk.iterdir()) == ["one.txt", "ran.txt", "two.txt"]
    requested = [(one.tool, one.input.get("command") or one.input.get("path")) for one in of(t.ToolRequested, events)]
    assert requested == [
        ("Shell", "touch ran.txt"),
        ("Shell", "touch other.txt"),
        ("Edit", "one.txt"),
        ("Edit", "two.txt"),
    ]
    assert [one.outcome for one in of(t.ToolSettled, events)] == ["succeeded", "denied", "succeeded", "succeeded"]
    assert [one.text for one in of(t.ModelSettled, events)][-1] == "As I said: patched."
    assert "touch the file" in prompts[-1], "it goes on with its own record"
    assert prompts[-1].count("touch the file") == 1, "and is not told again what it remembers"


@pytest.mark.campaign
@pytest.mark.timeout(300)
@pytest.mark.skipif(CODEX is None, reason="needs Codex, which is not here: npm install -g @openai/codex")
@pytest.mark.parametrize("way", ["key", "subscription"])
def test_codex_uses_the_sign_in_that_a_person_has_and_never_renews_it(
    weft: Weft, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, desk, secret = tmp_path / "person", tmp_path / "desk", "sk-of-a-person-0123456789abcdef"
    (home / ".codex").mkdir(parents=True)
    desk.mkdir()
    monkeypatch.setenv("HOME", str(home))
    kept = home / ".codex/auth.json"
    told: dict[str, Any] = {"OPENAI_API_KEY": secret}
    if way == "subscription":
        claims = {"email": "a@b.example", "https://api.openai.com/auth": {"chatgpt_account_id": "a1"}}
        tokens = {"id_token": jwt(claims), "access_token": jwt({"exp": 4_000_000_000}), "account_id": "a1"}
        secret = tokens["access_token"]
        told = {
            "tokens": {**tokens, "refresh_token": "refresh-0123456789abcdef"},
            "last_refresh": "2099-01-01T00:00:00Z",
        }
    kept.write_text(json.dumps(told))

    async def go() -> tuple[str, list[str]]:
        async with asyncio.timeout(200), WireServer(openai_responses_wire, forever=Reply(text="Six.")) as server:
            table = f"kind = 'codex'\nbase_url = '{server.url}'\nhome = ['.codex/auth.json']\ncommand = ['{CODEX}']\n"
            (weft.workspace / "config.toml").write_text(f'model = "other"\n[models.other]\n{table}')
            with App.open(weft.workspace) as app:
                app.consents.ask = lambda request: True
                async with talk_in(app, session="the-talk", working=desk) as talk:
                    talk.say("when?")
                    await talk.idle()
                    (settled,) = of(t.ModelSettled, [record.event for record in await talk.session.records()])
                    await talk.shutdown()
            return settled.text or settled.reason, [one.headers.get("authorization", "") for one in server.seen]

    text, carried = asyncio.run(go())
    assert (text, carried[-1]) == ("Six.", f"Bearer {secret}")
    assert json.loads(kept.read_text()) == told
    handed = next(weft.session("the-talk").glob(".codex-agent/home/.codex/auth.json")).read_text()
    assert "refresh-0123456789abcdef" not in handed


def jwt(claims: Mapping[str, Any]) -> str:
    parts: tuple[Mapping[str, Any], ...] = ({"alg": "none"}, claims, {})
    return ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)
