"""Conversations on the Claude agent runtime: turns, verdicts, sub-agents, interrupts."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doors import OpenConversation
from tests.e2e.claude_stub import (
    called,
    first_words,
    needs_runtime,
    of,
    processes_of,
    talking,
    told,
    until,
)
from tests.made import Weft
from weft.conversation.claude_agent.runtime import Runtime
from weft.protocol import conversation_events as t
from weft.protocol.errors import UserError
from weft.testing.scripted import Hold
from weft.testing.wire import Reply, WireServer

pytestmark = needs_runtime


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


def test_a_turn_with_text_and_thinking(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Hello?")
        await talk.idle()
        assert talk.status.model == "claude/claude-sonnet-4-5"

    events = talking(weft, [Reply(text="Hello there.", thinking="A greeting.", signature="sig")], desk, play)
    (settled,) = of(t.ModelSettled, events)
    assert (settled.outcome, settled.text, settled.model) == ("completed", "Hello there.", "claude/claude-sonnet-4-5")
    assert settled.thinking == ({"text": "A greeting.", "signature": "sig"},)
    assert settled.usage["input"] == 12
    assert settled.usage["output"] == 7
    (completed,) = of(t.TurnCompleted, events)
    assert completed.disposition == "final"


def test_a_tool_call_that_is_allowed(weft: Weft, desk: Path) -> None:
    (desk / "a.md").write_text("one two three\n")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Read it.")
        await talk.idle()

    replies = [
        Reply(text="Let me look.", calls=(called("Read", file_path=str(desk / "a.md")),)),
        Reply(text="Three words."),
    ]
    events = talking(weft, replies, desk, play)
    (asked,) = of(t.ToolRequested, events)
    assert (asked.tool, asked.verdict, asked.input["path"]) == ("Read", "allow", "a.md")
    (ended,) = of(t.ToolSettled, events)
    assert ended.outcome == "succeeded"
    assert "one two three" in ended.text
    assert [one.text for one in of(t.ModelSettled, events)] == ["Let me look.", "Three words."]


def test_a_denied_call_is_not_run_and_the_model_is_told_why(weft: Weft, desk: Path) -> None:
    (weft.workspace / "permissions.yaml").write_text("deny:\n  - {tool: Write, path: 'secret/**', why: keep out}\n")
    target = desk / "secret" / "a.md"

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Write it.")
        await talk.idle()
        assert "keep out" in told(server)

    replies = [Reply(calls=(called("Write", file_path=str(target), content="x"),)), Reply(text="I may not.")]
    events = talking(weft, replies, desk, play, mode="auto")
    (ended,) = of(t.ToolSettled, events)
    assert (ended.outcome, ended.effect) == ("denied", "none")
    assert not target.exists()


def test_a_path_outside_the_working_folder_is_refused(weft: Weft, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("not yours")
    (desk / "link.md").symlink_to(tmp_path / "other.md")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Read them.")
        await talk.idle()
        assert "not yours" not in told(server)

    reading = (
        called("Read", "toolu_1", file_path=str(tmp_path / "other.md")),
        called("Read", "toolu_2", file_path=str(desk / "link.md")),
    )
    events = talking(weft, [Reply(calls=reading), Reply(text="I may not.")], desk, play, mode="auto")
    assert [ended.outcome for ended in of(t.ToolSettled, events)] == ["failed", "failed"]
    assert "outside the working folder" in of(t.ToolSettled, events)[0].text
    assert "through a link" in of(t.ToolSettled, events)[1].text


@pytest.mark.parametrize("decision", ["once", "denied"])
def test_a_call_that_is_asked_about_waits_for_the_person(weft: Weft, desk: Path, decision: t.Decision) -> None:
    target = desk / "a.md"

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Write it.")
        asked = await until(talk, t.ApprovalRequested)
        assert asked.tool == "Write"
        while talk.engine.status != "awaiting_approval":  # what the log has is told a moment before the engine folds it
            await asyncio.sleep(0.01)
        assert not target.exists()
        talk.approve(asked.call, decision, reason="" if decision == "once" else "not today")
        await talk.idle()
        assert ("not today" in told(server)) == (decision == "denied")

    replies = [Reply(calls=(called("Write", file_path=str(target), content="x\n"),)), Reply(text="So be it.")]
    events = talking(weft, replies, desk, play)
    (ended,) = of(t.ToolSettled, events)
    assert ended.outcome == ("succeeded" if decision == "once" else "denied")
    assert target.exists() == (decision == "once")
    assert of(t.ApprovalDecided, events)[0].decision == decision


def test_two_calls_of_one_message_one_denied_one_run(weft: Weft, desk: Path) -> None:
    """The denied one must not hold up the other: the runtime may run them one after the other."""
    (weft.workspace / "permissions.yaml").write_text("deny:\n  - {tool: Shell, command: touch}\n")
    (desk / "a.md").write_text("one\n")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Both.")
        await talk.idle()

    both = (
        called("Bash", "toolu_1", command="touch b.md", description="x"),
        called("Write", "toolu_2", file_path=str(desk / "c.md"), content="c"),
        called("Read", "toolu_3", file_path=str(desk / "a.md")),
    )
    events = talking(weft, [Reply(calls=both), Reply(text="Done.")], desk, play, mode="auto")
    assert {e.call: e.outcome for e in of(t.ToolSettled, events)} == {
        "toolu_1": "denied",
        "toolu_2": "succeeded",
        "toolu_3": "succeeded",
    }
    assert not (desk / "b.md").exists()
    assert (desk / "c.md").read_text() == "c"


def test_a_sub_agent_is_a_sub_conversation(weft: Weft, desk: Path) -> None:
    (weft.workspace / ".claude" / "agents" / "counter.md").write_text(
        "---\nname: counter\ndescription: Counts.\ntools: [Read]\n---\nYou count words and nothing else.\n"
    )
    (desk / "a.md").write_text("one two three\n")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Have it counted.")
        await talk.idle()
        inner = server.seen[1].body
        assert "You count words and nothing else." in json.dumps(inner["system"])
        assert [tool["name"] for tool in inner["tools"]] == ["Read"]

    replies = [
        Reply(calls=(called("Agent", "toolu_1", description="count", prompt="Count a.md", subagent_type="counter"),)),
        Reply(text="I read it.", calls=(called("Read", "toolu_2", file_path=str(desk / "a.md")),)),
        Reply(text="Three words."),
        Reply(text="There are three."),
    ]
    events = talking(weft, replies, desk, play)
    assert [e.conversation for e in of(t.ConversationOpened, events)] == ["main", "main/a1"]
    assert [(e.conversation, e.text) for e in of(t.ModelSettled, events)] == [
        ("main", ""),
        ("main/a1", "I read it."),
        ("main/a1", "Three words."),
        ("main", "There are three."),
    ]
    assert [(e.conversation, e.tool) for e in of(t.ToolRequested, events)] == [("main", "Task"), ("main/a1", "Read")]
    assert [(e.call, e.outcome) for e in of(t.ToolSettled, events)] == [
        ("toolu_2", "succeeded"),
        ("toolu_1", "succeeded"),
    ]
    assert of(t.ToolSettled, events)[-1].text == "Three words."


def test_our_own_tools_are_there_and_run_here(weft: Weft, desk: Path) -> None:
    folder = weft.workspace / ".claude" / "skills" / "weave"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: weave\ndescription: How to weave.\n---\nOver, then under.\n")
    (weft.workspace / "AGENTS.md").write_text("Always speak of looms.\n")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Weave.")
        await talk.idle()
        first = json.dumps(server.seen[0].body["system"]) + json.dumps(server.seen[0].body["messages"])
        assert "Always speak of looms." in first
        assert "weave: How to weave." in first
        assert "Over, then under." in told(server)

    replies = [Reply(calls=(called("mcp__weft__Skill", name="weave"),)), Reply(text="Woven.")]
    events = talking(weft, replies, desk, play)
    (asked,) = of(t.ToolRequested, events)
    assert (asked.tool, asked.verdict) == ("Skill", "allow")
    (ended,) = of(t.ToolSettled, events)
    assert ended.outcome == "succeeded"
    assert "Over, then under." in ended.text


def test_the_childs_environment_is_ours(weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-machine")
    monkeypatch.setenv("SOME_TOKEN", "of-the-machine")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.setenv("TEST_KEY", "sk-ant-of-the-connection")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Show it.")
        await talk.idle()
        assert {seen.headers["x-api-key"] for seen in server.seen} == {"sk-ant-of-the-connection"}

    replies = [Reply(calls=(called("Bash", command="env", description="x"),)), Reply(text="There.")]
    events = talking(weft, replies, desk, play, more='key = "env:TEST_KEY"\n', mode="auto")
    (ended,) = of(t.ToolSettled, events)
    seen = dict(line.split("=", 1) for line in ended.text.splitlines() if "=" in line)
    own = weft.workspace / "sessions" / "the-talk" / ".claude-agent"
    assert (seen["HOME"], seen["CLAUDE_CONFIG_DIR"]) == (str(own / "home"), str(own))
    assert seen["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == seen["DISABLE_TELEMETRY"] == "1"
    assert seen["DISABLE_AUTOUPDATER"] == "1"
    assert seen["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert "SOME_TOKEN" not in seen
    assert "CLAUDE_CODE_USE_BEDROCK" not in seen
    assert "of-the-machine" not in ended.text
    assert "of-the-connection" not in ended.text
    assert "of-the-connection" not in "".join(path.read_text() for path in own.rglob("*.json*"))


def test_an_interrupt_in_the_middle_of_the_text_keeps_what_was_said(weft: Weft, desk: Path) -> None:
    hold = Hold()

    async def play(talk: OpenConversation, server: WireServer) -> None:
        heard = asyncio.create_task(first_words(talk))
        await asyncio.sleep(0)
        talk.say("Tell me a story.")
        await heard
        await hold.reached.wait()
        assert talk.interrupt() == "accepted"
        await talk.idle()
        while processes_of(weft.workspace):
            await asyncio.sleep(0.01)
        talk.say("Go on.")
        await talk.idle()
        assert "Once upo" in json.dumps(server.seen[-1].body["messages"])

    replies = [Reply(text="Once upon a time", pieces=2, hold=hold, hold_after=1), Reply(text="All right.")]
    events = talking(weft, replies, desk, play)
    first, second = of(t.ModelSettled, events)
    assert (first.outcome, first.text) == ("interrupted", "Once upo")
    assert (second.outcome, second.text) == ("completed", "All right.")
    assert [e.disposition for e in of(t.TurnCompleted, events)] == ["interrupted", "final"]


def test_an_interrupt_in_the_middle_of_a_tool_leaves_nothing_running(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Wait.")
        while not (desk / "began").exists():
            await asyncio.sleep(0.01)
        assert processes_of(weft.workspace)
        assert talk.interrupt() == "accepted"
        await talk.idle()
        while processes_of(weft.workspace):
            await asyncio.sleep(0.01)
        talk.say("And now?")
        await talk.idle()
        assert "It may have done some, all or none of its work" in json.dumps(server.seen[-1].body["messages"])

    command = "setsid sleep 1000 & trap '' TERM; touch began; sleep 1000"
    replies = [Reply(calls=(called("Bash", command=command, description="x"),)), Reply(text="I was stopped.")]
    events = talking(weft, replies, desk, play, mode="auto")
    (ended,) = of(t.ToolSettled, events)
    assert (ended.outcome, ended.effect) == ("interrupted", "unknown")
    assert [e.disposition for e in of(t.TurnCompleted, events)] == ["interrupted", "final"]


def test_an_interrupt_while_the_person_is_asked(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Write it.")
        await until(talk, t.ApprovalRequested)
        assert talk.interrupt() == "accepted"
        await talk.idle()
        talk.say("Never mind.")
        await talk.idle()

    replies = [Reply(calls=(called("Write", file_path=str(desk / "a.md"), content="x"),)), Reply(text="Fine.")]
    events = talking(weft, replies, desk, play)
    (ended,) = of(t.ToolSettled, events)
    assert (ended.outcome, ended.effect) == ("interrupted_before_execution", "none")
    assert not (desk / "a.md").exists()
    assert of(t.ModelSettled, events)[-1].text == "Fine."


def test_a_message_sent_while_it_works_reaches_it(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Write it.")
        asked = await until(talk, t.ApprovalRequested)
        talk.say("And be quick about it.")
        talk.approve(asked.call, "once")
        await talk.idle()
        assert "be quick about it" in json.dumps(server.seen[-1].body["messages"])
        talk.say("Thanks.")
        await talk.idle()

    replies = [Reply(calls=(called("Write", file_path=str(desk / "a.md"), content="x"),))]
    events = talking(weft, replies, desk, play, forever=Reply(text="Done. "))
    assert of(t.ModelSettled, events)[-1].text == "Done. "
    assert {e.disposition for e in of(t.TurnCompleted, events)} == {"continue", "final"}


def test_an_interrupted_sub_agent_is_told_of_and_the_rest_goes_on(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Have it done.")
        while not (desk / "began").exists():
            await asyncio.sleep(0.01)
        assert talk.interrupt("main/a1") == "accepted"
        await talk.idle()
        assert "while this call was running" in json.dumps(server.seen[-1].body["messages"])

    work = called("Agent", "toolu_1", description="wait", prompt="Wait.", subagent_type="general-purpose")
    replies = [
        Reply(calls=(work,)),
        Reply(calls=(called("Bash", "toolu_2", command="touch began; sleep 1000", description="x"),)),
        Reply(text="It was stopped."),
    ]
    events = talking(weft, replies, desk, play, mode="auto")
    assert {e.call: e.outcome for e in of(t.ToolSettled, events)} == {
        "toolu_1": "interrupted",
        "toolu_2": "interrupted",
    }
    assert of(t.ModelSettled, events)[-1].text == "It was stopped."


def test_a_gate_that_fails_lets_nothing_through(weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Runtime, given: Any, call_id: str | None, _: Any) -> Any:
        self.release(call_id or "")
        raise RuntimeError("the gate is broken")

    monkeypatch.setattr(Runtime, "_before", broken)
    (desk / "a.md").write_text("one two three\n")

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Read it and write it.")
        await talk.idle()
        assert "one two three" not in told(server)

    both = (
        called("Read", "toolu_1", file_path=str(desk / "a.md")),
        called("Bash", "toolu_2", command="touch b.md", description="x"),
    )
    events = talking(weft, [Reply(calls=both), Reply(text="I can't.")], desk, play, mode="auto")
    assert [e.outcome for e in of(t.ToolSettled, events)] == ["failed", "failed"]
    assert not (desk / "b.md").exists()


def test_a_call_the_runtime_itself_refuses_has_its_end(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Try.")
        await talk.idle()

    both = (called("Read", "toolu_1", nonsense=1), called("NoSuchTool", "toolu_2", x=1))
    events = talking(weft, [Reply(calls=both), Reply(text="I see.")], desk, play, mode="auto")
    assert [e.outcome for e in of(t.ToolSettled, events)] == ["failed", "failed"]
    assert of(t.ModelSettled, events)[-1].text == "I see."


def test_a_provider_that_refuses_the_key_is_a_clear_failure(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Hello?")
        await talk.idle()

    events = talking(weft, [], desk, play, forever=Reply(status=401, error="invalid x-api-key"))
    (settled,) = of(t.ModelSettled, events)
    assert settled.outcome == "failed"
    assert "weft models test" in settled.reason
    assert [e.disposition for e in of(t.TurnCompleted, events)] == ["failed"]


def test_without_the_extra_the_error_says_how_to_get_it(
    weft: Weft, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)

    async def play(talk: OpenConversation, server: WireServer) -> None:
        raise AssertionError("it must be said before anything is opened")

    with pytest.raises(UserError, match="is not installed") as raised:
        talking(weft, [], desk, play)
    assert "pip install 'weft[claude]'" in raised.value.hint


def test_an_interrupt_before_it_has_begun_leaves_nothing_running(weft: Weft, desk: Path) -> None:
    async def play(talk: OpenConversation, server: WireServer) -> None:
        for pause in (0.0, 0.02, 0.2):
            talk.say("Hello?")
            while not talk.engine.running("model"):
                await asyncio.sleep(0)
            await asyncio.sleep(pause)
            talk.interrupt()
            await talk.idle()
        while processes_of(weft.workspace):
            await asyncio.sleep(0.01)
        talk.say("Still there?")
        await talk.idle()

    events = talking(weft, [], desk, play, forever=Reply(text="Yes."))
    assert of(t.ModelSettled, events)[-1].text == "Yes."
    assert of(t.TurnCompleted, events)[-1].disposition == "final"
