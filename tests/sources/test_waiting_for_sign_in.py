"""A call of a source that needs sign-in waits for the person like any question; it goes on when they signed in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.doors import talk_in
from tests.sources.http_server import World, served
from weft.app import App, SessionRequest, SourceSettings, wake_waiting
from weft.models.model import Request
from weft.protocol.commands import ReplyToGate, SessionCommand, StartRun
from weft.protocol.conversation_events import ApprovalDecided, ApprovalRequested
from weft.protocol.envelope import PERSON
from weft.protocol.gates import needs_sign_in
from weft.protocol.messages import ToolCall
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
    shelf = SourceSettings(app)
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
            await SourceSettings(app).test()
            assert {decided(mode) for mode in ("ask", "edits", "auto")} == {"ask"}
            assert decided("safe") == "deny"

    with served(World()) as world:
        world.tokens = {"good"}
        asyncio.run(life(lay(tmp_path, world), world))


RUN = """\
name: asks
description: d
inputs: {}
steps:
  talk:
    artifact: talk.json
    agent: asker
    executor: agent
    sources: [far]
    allow: [{tool: far__echo, when_tainted: true}]
  call:
    artifact: call.json
    tool: far__echo
    requires: [talk]
    with: {text: {artifact: talk.json, at: text}}
    attempts: 1
    allow: [{tool: far__echo, when_tainted: true}]
    final: true
"""


def test_a_run_that_nobody_attends_rests_until_somebody_has_signed_in(tmp_path: Path) -> None:
    """Once in the middle of an agent's step, once in a step that a tool makes."""

    async def ran(workspace: Path, command: SessionCommand, *turns: Turn) -> str:
        model = ScriptedModel([*turns])
        with App.open(workspace, models={"scripted": model}) as app:
            request = SessionRequest(pipeline="asks", session="night", attended=False)
            async with app.session(request, reachable=False) as session:
                outcome = await session.run(command)
        model.assert_done()
        return outcome

    def gates(workspace: Path) -> list[str]:
        with App.open(workspace) as app:
            return [one.gate for one in app.sessions.read("night").state.gates.values()]

    async def life(workspace: Path, world: World) -> None:
        with App.open(workspace) as other:
            assert await sign_in(other, "good") == "ready"
        world.tokens = {"better"}
        one, two = calls("far__echo", {"text": "one"}, call="one"), calls("far__echo", {"text": "two"}, call="two")
        assert await ran(workspace, StartRun(), Turn(one), Turn(two)) == "waiting"
        assert gates(workspace) == ["talk-1"]
        with App.open(workspace) as other:
            assert other.has_come(other.awaited("night")) is None
            assert await sign_in(other, "better") == "ready"
            assert await wake_waiting(other, "far", PERSON) == ([], [("night", "reply night proceed")])
            reply = other.has_come(other.awaited("night"))
        assert reply == ReplyToGate(gate="talk-1", choice="proceed")
        before = world.seen.count("call")

        def taken_away(_: Request) -> bool:
            world.tokens = {"best"}
            return True

        handed = Turn(calls("hand_in", {"text": "three"}, call="in"), expect=taken_away)
        assert await ran(workspace, reply, handed) == "waiting"
        assert world.seen.count("call") == before + 1, "the call that waited is made, once"
        assert gates(workspace) == ["call-2"]
        with App.open(workspace) as other:
            assert await sign_in(other, "best") == "ready"
            reply = other.has_come(other.awaited("night"))
        assert reply is not None
        assert await ran(workspace, reply) == "done"
        made = json.loads((workspace / "sessions/night/call.json").read_text())
        assert "three" in str(made["calls"][0]["result"])

    with served(World()) as world:
        world.tokens = {"good"}
        workspace = lay(tmp_path, world)
        (workspace / "pipelines").mkdir()
        (workspace / "pipelines/asks.yaml").write_text(RUN)
        (workspace / ".claude/agents").mkdir(parents=True)
        (workspace / ".claude/agents/asker.md").write_text(
            "---\nname: asker\ndescription: Asks.\nmodel: scripted\n---\nAsk.\n"
        )
        asyncio.run(life(workspace, world))
