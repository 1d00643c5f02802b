"""Conversations on the Claude agent runtime that go on: after a restart, and after the death of the child."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.doors import OpenConversation, talk_in
from tests.e2e.claude_stub import (
    called,
    connect,
    needs_runtime,
    of,
    processes_of,
    talking,
    transcripts,
    until,
)
from tests.made import Weft
from weft.app import App
from weft.protocol import conversation_events as t
from weft.testing.scripted import Hold
from weft.testing.wire import Reply, WireServer, anthropic_wire

pytestmark = needs_runtime


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("state", ["there", "missing", "empty", "without an answer", "of no use"])
def test_it_resumes_only_when_its_transcript_is_really_there(weft: Weft, desk: Path, state: str) -> None:
    async def first(talk: OpenConversation, server: WireServer) -> None:
        talk.say("My name is Ada.")
        await talk.idle()

    async def second(talk: OpenConversation, server: WireServer) -> None:
        talk.say("What is my name?")
        await talk.idle()
        messages = server.seen[0].body["messages"]
        assert "My name is Ada." in json.dumps(messages)
        assert ("in short]" in json.dumps(messages)) == (state != "there")
        answers = [one for one in messages if one["role"] == "assistant"]
        assert bool(answers) == (state == "there")

    talking(weft, [Reply(text="Hello Ada.")], desk, first)
    (transcript,) = transcripts(weft)
    if state == "missing":
        transcript.unlink()
    elif state == "empty":
        transcript.write_text("")
    elif state == "without an answer":
        transcript.write_text(json.dumps({"type": "user", "message": {"content": "x" * 1000}}) + "\n")
    elif state == "of no use":
        transcript.write_text(json.dumps({"type": "assistant", "text": "x" * 1000}) + "\n")
    events = talking(weft, [Reply(text="Ada.")], desk, second)
    assert of(t.ModelSettled, events)[-1].text == "Ada."
    assert len(transcripts(weft)) == (1 if state in ("there", "missing") else 2)


def test_a_child_that_is_killed_is_a_clear_error_and_the_next_message_goes_on(weft: Weft, desk: Path) -> None:
    hold = Hold()

    async def play(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Hello?")
        await hold.reached.wait()
        for pid in processes_of(weft.workspace):
            if "_bundled" in " ".join(psutil.Process(pid).cmdline()[:1]):
                os.kill(pid, signal.SIGKILL)
        await talk.idle()
        talk.say("Are you there?")
        await talk.idle()
        assert processes_of(weft.workspace)

    replies = [Reply(text="Hello", hold=hold, hold_after=1), Reply(text="Here I am.")]
    events = talking(weft, replies, desk, play)
    failed, answered = of(t.ModelSettled, events)
    assert failed.outcome == "failed"
    assert "the Claude runtime ended (signal 9)" in failed.reason
    assert "send your message again" in failed.reason
    assert answered.text == "Here I am."
    assert processes_of(weft.workspace) == []


def test_an_approval_given_after_a_restart_is_not_run_behind_anybodys_back(weft: Weft, desk: Path) -> None:
    async def first(talk: OpenConversation, server: WireServer) -> None:
        talk.say("Write it.")
        await until(talk, t.ApprovalRequested)
        await talk.suspend()

    async def second(talk: OpenConversation, server: WireServer) -> None:
        talk.approve("toolu_1", "once")
        await talk.idle()

    write = Reply(calls=(called("Write", file_path=str(desk / "a.md"), content="x"),))

    async def go() -> None:
        async with WireServer(anthropic_wire, [write]) as server:
            connect(weft, server.url)
            with App.open(weft.workspace) as app:
                async with talk_in(app, model="claude", working=desk, session="the-talk") as talk:
                    await first(talk, server)

    asyncio.run(asyncio.wait_for(go(), 100))
    events = talking(weft, [Reply(text="Shall I again?")], desk, second)
    (ended,) = of(t.ToolSettled, events)
    assert ended.outcome == "failed"
    assert "has ended since" in ended.text
    assert not (desk / "a.md").exists()
    assert of(t.ModelSettled, events)[-1].text == "Shall I again?"
