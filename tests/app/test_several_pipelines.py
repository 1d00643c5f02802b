"""One conversation, one pipeline after the other: what is refused changes nothing, and what runs took is counted."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.app.conversing import give, say, talk
from weft.app import App, OpenedSession, Overview, replay
from weft.protocol.commands import Accepted, GivenFile, Refused, ReplyToGate, StartRun
from weft.protocol.events import InputRecorded, RunEnded, RunStarted
from weft.testing.scripted import Turn, says

ONE = """\
name: {name}
description: a step
version: 1
inputs:
  {entry}: {{kind: text, description: what}}
steps:
  {name}:
    artifact: {name}.md
    agent: writer
    final: true
"""
ASKS = "    gate: {message: is it good?}\n    final: true\n"
AGENT = "---\nname: writer\ndescription: writes\n---\nWrite.\n"


def lay(workspace: Path) -> None:
    texts = {
        "pipelines/first.yaml": ONE.format(name="first", entry="source"),
        "pipelines/second.yaml": ONE.format(name="second", entry="question"),
        "pipelines/asking.yaml": ONE.format(name="asking", entry="source").replace("    final: true\n", ASKS),
        ".claude/agents/writer.md": AGENT,
        "config.toml": 'model = "scripted"\n',
    }
    for name, text in texts.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)


def wish(name: str, text: str = "") -> StartRun:
    return StartRun(pipeline=name, inputs={"": (GivenFile(text.encode()),)} if text else {})


def test_a_conversation_has_one_pipeline_after_the_other(workspace: Path, tmp_path: Path) -> None:
    lay(workspace)
    said: list[str] = []

    async def play(session: OpenedSession) -> None:
        await say(session, "hello")
        assert isinstance(await give(session, wish("first", "a text")), Accepted)
        assert isinstance(await give(session, wish("second", "a question?")), Accepted)
        said.append(await session.answered(Overview("cost")))
        # Back to the first, on what it had: nothing is made again.
        assert isinstance(await give(session, wish("first")), Accepted)

    turns = [Turn(says(text)) for text in ("hi", "one", "two")]
    records = talk(workspace, tmp_path, turns, play)
    events = [record.event for record in records]
    assert [event.pipeline for event in events if isinstance(event, RunStarted)] == ["first", "second", "first"]
    assert [event.outcome for event in events if isinstance(event, RunEnded)] == ["done", "done", "done"]
    files = {event.input: event.file for event in events if isinstance(event, InputRecorded)}
    assert files == {"source": "content.md", "question": "attachments/question.txt"}
    folder = workspace / "sessions/talk"
    assert [(folder / name).read_text().strip() for name in ("first.md", "second.md")] == ["one", "two"]
    assert "3 model calls" in said[0]
    with App.open(workspace) as app:
        assert app.sessions.pipeline_of("talk") == "first"
        lived = asyncio.run(asyncio.wait_for(replay(app, "talk"), 60))
    assert not lived.differences


def test_what_waits_is_answered_or_left_before_another_begins(workspace: Path, tmp_path: Path) -> None:
    lay(workspace)

    async def play(session: OpenedSession) -> None:
        await give(session, wish("asking", "a text"))
        refused = await give(session, wish("second", "a question?"))
        assert isinstance(refused, Refused)
        assert "the run of asking waits for your answer" in refused.reason
        (gate,) = session.state.gates.values()  # and it can still be answered
        assert isinstance(await give(session, ReplyToGate(gate=gate.gate, choice="proceed")), Accepted)
        assert isinstance(await give(session, wish("second", "a question?")), Accepted)

    records = talk(workspace, tmp_path, [Turn(says("one")), Turn(says("two"))], play)
    ends = [record.event.outcome for record in records if isinstance(record.event, RunEnded)]
    assert ends == ["waiting", "done", "done"]


def test_a_run_that_failed_makes_way(workspace: Path, tmp_path: Path) -> None:
    lay(workspace)
    text = (workspace / "pipelines/first.yaml").read_text().replace("first.md", "first.json")
    (workspace / "pipelines/first.yaml").write_text(text.replace("    agent", "    attempts: 1\n    agent"))

    async def play(session: OpenedSession) -> None:
        await give(session, wish("first", "a text"))
        assert isinstance(await give(session, wish("second", "a question?")), Accepted)

    turns = [Turn(says("no JSON")), Turn(says("none again")), Turn(says("two"))]
    records = talk(workspace, tmp_path, turns, play)
    ends = [record.event for record in records if isinstance(record.event, RunEnded)]
    assert [end.outcome for end in ends] == ["failed", "cancelled", "done"]
    assert ends[1].message == "cancelled: second is begun instead of first"
