"""A call of a source that needs sign-in waits for the person like any question; it goes on when they signed in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.doors import talk_in
from tests.sources.http_server import World, served
from weft.app import App, SourceShelf, wake_waiting
from weft.protocol.envelope import PERSON
from weft.protocol.messages import ToolCall
from weft.protocol.talk import ApprovalDecided, ApprovalRequested
from weft.sources.connected import needs_sign_in
from weft.testing.scripted import ScriptedModel, Turn, calls, says
from weft.tools.permission import Mode, judge

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")


def lay(top: Path, world: World) -> Path:
    workspace = top / "workspace"
    folder = workspace / "sources" / "far"
    folder.mkdir(parents=True)
    config = {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "bearer"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "permissions.json").write_text(json.dumps({"allow": [{"tool": "*", "when_tainted": True}]}))
    (workspace / "config.toml").write_text('model = "scripted"\n')
    with App.open(workspace) as app:
        for request in app.not_agreed():
            app.consents.agree(request, "asked")
    return workspace


async def sign_in(app: App, secret: str) -> str:
    shelf = SourceShelf(app)
    return (await shelf.sign_in("far", show=lambda _: None, secret=lambda _: secret)).state


def test_a_conversation_waits_for_a_sign_in_and_goes_on(tmp_path: Path) -> None:
    """The token was taken back in the middle; somebody signs in from another process."""
    model = ScriptedModel(
        [
            Turn(calls("far__echo", {"text": "one"}, call="one")),
            Turn(calls("far__echo", {"text": "two"}, call="two")),
            Turn(says("Done.")),
        ]
    )

    async def life(workspace: Path, world: World) -> None:
        with App.open(workspace) as other:
            assert await sign_in(other, "good") == "ready"
        with App.open(workspace, models={"scripted": model}) as app, App.open(workspace) as other:
            async with talk_in(app, session="talk", working=tmp_path) as talk:
                world.tokens = {"better"}
                await talk.say("look")
                async for item in talk.events():
                    if isinstance(getattr(item, "event", None), ApprovalRequested):
                        break
                assert await sign_in(other, "worse") == "needs sign-in"
                assert await sign_in(other, "better") == "ready"
                assert await wake_waiting(other, "far", PERSON) == (["talk"], [])
                await talk.idle()
                assert world.seen.count("call") == 1, "the one that was refused was never carried out"
            events = [record.event for record in app.sessions.records("talk")]
        asked = [one for one in events if isinstance(one, ApprovalRequested)]
        assert [one.call for one in asked] == ["two"]
        assert asked[0].reason.startswith(needs_sign_in("far"))
        assert [one.decision for one in events if isinstance(one, ApprovalDecided)] == ["once"]

    with served(World()) as world:
        world.tokens = {"good"}
        asyncio.run(life(lay(tmp_path, world), world))
    model.assert_done()
    assert "that call waits until the person has signed in" in str(model.requests[1].messages[-1].content[0])
    assert "two" in str(model.requests[2].messages[-1].content[0])


def test_what_waits_for_a_sign_in_waits_in_every_mode(tmp_path: Path) -> None:
    async def life(workspace: Path, world: World) -> None:
        with App.open(workspace) as app:
            assert await sign_in(app, "good") == "ready"
            world.tokens = {"better"}
            call = ToolCall(call="", tool="far__echo", input={"text": "x"})

            def decided(mode: Mode) -> str:
                return judge(call, app.toolbox().get("far__echo"), mode=mode, rules=app.rules()).decision

            assert {decided(mode) for mode in ("ask", "edits", "auto")} == {"allow"}
            await SourceShelf(app).test()
            assert {decided(mode) for mode in ("ask", "edits", "auto")} == {"ask"}
            assert decided("safe") == "deny"

    with served(World()) as world:
        world.tokens = {"good"}
        asyncio.run(life(lay(tmp_path, world), world))
