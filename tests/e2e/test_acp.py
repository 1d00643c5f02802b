"""Weft in an editor: the real program behind the real protocol, the editor played by the protocol's own client."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gated import lay_out_gated
from tests.made import Weft
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply, WireServer, openai_chat_wire

acp = pytest.importorskip("acp", reason="needs the extra weft[acp]: pip install agent-client-protocol")

WRITE = Reply(text="I write it.", calls=(Called(tool="Write", arguments='{"path": "made.txt", "content": "six\\n"}'),))


class Editor:
    """What an editor does: shows updates, answers questions in the order of `answers`."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.said = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.said.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        self.asked.append((tool_call.title, [option.option_id for option in options]))
        chosen = self.answers.pop(0)
        if not chosen:
            return acp.schema.RequestPermissionResponse(outcome=acp.schema.DeniedOutcome(outcome="cancelled"))
        outcome = acp.schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return acp.schema.RequestPermissionResponse(outcome=outcome)

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(one.content.text for one in self.updates if one.session_update == kind)

    def calls(self) -> list[tuple[str, str]]:
        return [
            (one.tool_call_id, one.status)
            for one in self.updates
            if one.session_update in ("tool_call", "tool_call_update")
        ]


@asynccontextmanager
async def editing(weft: Weft, editor: Editor, *words: str) -> AsyncIterator[Any]:
    command = weft.command("acp", *words)
    async with acp.spawn_agent_process(editor, command[0], *command[1:], env=weft.env) as (agent, process):
        found = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        assert found.agent_info.name == "weft"
        assert found.agent_capabilities.load_session
        yield agent
    await process.wait()


def played(weft: Weft, replies: list[Reply], story: Callable[[WireServer], Awaitable[None]]) -> None:
    async def go() -> None:
        async with asyncio.timeout(120), WireServer(openai_chat_wire, replies) as server:
            table = f'[models.desk]\nkind = "openai"\nbase_url = "{server.url}"\nkey = "none"\n'
            (weft.workspace / "config.toml").write_text(f'model = "desk/m"\n{table}')
            await story(server)

    asyncio.run(go())


def words(text: str) -> list[Any]:
    return [acp.text_block(text)]


def test_a_conversation_with_an_approval_and_a_denial_and_all_of_it_comes_back(weft: Weft, tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    replies = [WRITE, Reply(text="Done."), WRITE, Reply(text="As you like."), Reply(text="No.", stop="refused")]

    async def story(server: WireServer) -> None:
        editor = Editor("once", "denied")
        async with editing(weft, editor) as agent:
            begun = await agent.new_session(cwd=str(place))
            assert {"plan", "safe", "ask", "edits", "auto"} == {mode.id for mode in begun.modes.available_modes}
            ended = await agent.prompt(session_id=begun.session_id, prompt=words("write it"))
            assert ended.stop_reason == "end_turn"
            assert (place / "made.txt").read_text() == "six\n"
            assert editor.asked == [("Write made.txt", ["once", "session", "denied"])]
            assert editor.text() == "I write it.Done."
            assert editor.calls() == [("call_1", "pending"), ("call_1", "in_progress"), ("call_1", "completed")]
            (place / "made.txt").unlink()
            await agent.prompt(session_id=begun.session_id, prompt=words("again"))
            assert not (place / "made.txt").exists()
            assert editor.calls()[-1] == ("call_1", "failed")
            ended = await agent.prompt(session_id=begun.session_id, prompt=words("and once more"))
            assert ended.stop_reason == "refusal"
            assert "the model refused to answer" in editor.text()
            commands = [one for one in editor.updates if one.session_update == "available_commands_update"]
            names = [one.name for one in commands[0].available_commands]
            assert {"letters", "compact", "undo", "limits"} < {*names}
            assert "exit" not in names
            await agent.prompt(session_id=begun.session_id, prompt=words("/limits turns=9"))
            assert "[may take]\n9 turns" in editor.text(), "what a command did is told"
            await agent.prompt(session_id=begun.session_id, prompt=words("/rewind 1"))
            assert "[went back to before turn" in editor.text()
            for wrong, said in (
                (agent.prompt(session_id="not-open", prompt=words("x")), "the session not-open is not open here"),
                (agent.load_session(cwd=str(place), session_id="!", mcp_servers=[]), "is not a session id"),
                (agent.set_session_mode(session_id=begun.session_id, mode_id="bold"), "there is no mode bold"),
            ):
                with pytest.raises(acp.RequestError, match=said):
                    await wrong
        later = Editor()
        async with editing(weft, later) as agent:
            await agent.load_session(cwd=str(place), session_id=begun.session_id, mcp_servers=[])
            assert later.text("user_message_chunk") == "write itagainand once more"
            assert "I write it.Done." in later.text()
        server.assert_done()

    played(weft, replies, story)


def test_a_cancelled_prompt_stops_what_runs_and_the_session_goes_on(weft: Weft, tmp_path: Path) -> None:
    replies = [Reply(text="one two three", hold=Hold(), hold_after=1), Reply(text="Here.")]

    async def story(server: WireServer) -> None:
        editor = Editor()
        async with editing(weft, editor) as agent:
            begun = await agent.new_session(cwd=str(tmp_path))
            asking = asyncio.create_task(agent.prompt(session_id=begun.session_id, prompt=words("count")))
            await editor.said.wait()
            await agent.cancel(session_id=begun.session_id)
            assert (await asking).stop_reason == "cancelled"
            await asyncio.wait_for(server.gone.wait(), 30)
            assert (await agent.prompt(session_id=begun.session_id, prompt=words("and?"))).stop_reason == "end_turn"
            assert editor.text().endswith("Here.")

    played(weft, replies, story)


def test_told_to_end_it_lets_go_of_its_sessions(weft: Weft, tmp_path: Path) -> None:
    hold = Hold()

    async def story(server: WireServer) -> None:
        command = weft.command("acp")
        async with acp.spawn_agent_process(Editor(), command[0], *command[1:], env=weft.env) as (agent, process):
            await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
            begun = await agent.new_session(cwd=str(tmp_path))
            asking = asyncio.create_task(agent.prompt(session_id=begun.session_id, prompt=words("count")))
            await hold.reached.wait()
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 130
            asking.cancel()
            await asyncio.wait({asking})
        assert [event["type"] for event in weft.log(begun.session_id)][-1] == "conversation_stopped"

    played(weft, [Reply(text="never heard", hold=hold)], story)


def test_a_pipeline_is_a_command_and_its_gates_are_questions(tmp_path: Path) -> None:
    workspace = tmp_path / "desk"
    lay_out_gated(workspace)
    weft = Weft(workspace)
    (tmp_path / "subject.txt").write_text("On rivers. They flow.\n")

    async def go() -> None:
        async with asyncio.timeout(120):
            editor = Editor("", "proceed")
            async with editing(weft, editor) as agent:
                begun = await agent.new_session(cwd=str(tmp_path))
                await agent.prompt(session_id=begun.session_id, prompt=words("/essay subject.txt"))
                assert "Is this the plan?" in editor.text(), editor.text()
                assert editor.asked[0][0] == "plan: how shall it go on?"
                await agent.prompt(session_id=begun.session_id, prompt=words("proceed"))
                assert "Shall it be handed in?" in editor.text()
                assert len(editor.asked) == 2
                assert "[run done]" in editor.text()
                assert ("step report 1", "completed") in editor.calls()

    asyncio.run(go())
