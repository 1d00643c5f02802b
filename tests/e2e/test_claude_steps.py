"""A step of a pipeline, and small calls, on the Claude agent runtime."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.e2e.claude_stub import called, connect, needs_runtime, processes_of
from tests.made import Weft
from weft.app import App, SessionRequest
from weft.protocol.commands import Interrupt, StartRun
from weft.protocol.events import Event, Outcome, Record, StepProgressed
from weft.testing.scripted import Hold
from weft.testing.wire import Called, Reply, WireServer, anthropic_wire

pytestmark = needs_runtime

SCHEMA = {"type": "array", "items": {"type": "string"}, "minItems": 1}


@pytest.fixture
def listing(weft: Weft) -> Weft:
    """The letters pipeline whose lister is on the runtime, held to a schema, with one attempt."""
    pipeline = weft.workspace / "pipelines/letters.yaml"
    agent = "    agent: lister\n"
    pipeline.write_text(pipeline.read_text().replace(agent, f"{agent}    schema: list.schema.json\n    attempts: 1\n"))
    (weft.workspace / "schemas/list.schema.json").write_text(json.dumps(SCHEMA))
    (weft.workspace / "config.toml").write_text('model = "claude"\n')
    return weft


def run(weft: Weft, source: Path, replies: Sequence[Reply]) -> tuple[Outcome, list[Any], list[Any]]:
    """How it ended, what it said of the step meanwhile, and what the provider was asked."""
    said: list[Record | Event] = []

    async def go() -> tuple[Outcome, list[Any]]:
        async with WireServer(anthropic_wire, replies) as server:
            connect(weft, server.url)
            with App.open(weft.workspace) as app:
                request = SessionRequest(file=source, session="poem")
                async with app.session(request) as session, session.shown(said.append):
                    outcome = await session.run(StartRun())
            server.assert_done()
            return outcome, [seen.body for seen in server.seen]

    outcome, asked = asyncio.run(asyncio.wait_for(go(), 100))
    return outcome, [one.text for one in said if isinstance(one, StepProgressed)], asked


def wrote(text: str, call: str) -> Reply:
    return Reply(calls=(called("Write", call, file_path="list.json", content=text),))


def test_an_invalid_artifact_is_told_of_as_it_is_written_and_put_right(listing: Weft, source: Path) -> None:
    replies = [wrote('{"words": 1}', "toolu_1"), wrote('["red", "barrow"]', "toolu_2"), Reply(text="Done.")]
    outcome, said, asked = run(listing, source, replies)
    assert outcome == "done"
    assert json.loads((listing.session("poem") / "list.json").read_text()) == ["red", "barrow"]
    assert "so much depends upon" in json.dumps(asked[0]["messages"])
    assert "List every word once." in json.dumps(asked[0]["system"]) + json.dumps(asked[0]["messages"])
    assert 'is not of type \\"array\\"' in json.dumps(asked[1]["messages"][-1]).replace("\\\\", "\\")
    assert "Write list.json" in said
    (completed,) = [e for e in listing.log("poem") if e["type"] == "step_completed" and e["step"] == "list"]
    assert completed["model"] == "claude"
    assert completed["usage"]["output"] == 21


def test_finishing_without_the_artifact_is_not_finishing(listing: Weft, source: Path) -> None:
    replies = [Reply(text="All done!"), wrote('["red"]', "toolu_1"), Reply(text="Now it is.")]
    outcome, _, asked = run(listing, source, replies)
    assert outcome == "done"
    assert "You are not done" in json.dumps(asked[1]["messages"][-1])
    assert "was not written" in json.dumps(asked[1]["messages"][-1])


def test_an_artifact_that_is_never_right_is_a_clear_failure(listing: Weft, source: Path) -> None:
    replies = [wrote("{}", "toolu_1"), *[Reply(text="Done.") for _ in range(3)]]
    outcome, _, _ = run(listing, source, replies)
    assert outcome == "failed"
    assert not (listing.session("poem") / "list.json").exists()
    ended = [e for e in listing.log("poem") if e.get("step") == "list"][-1]
    assert "list.json" in json.dumps(ended)
    assert "array" in json.dumps(ended)


def test_a_step_that_is_interrupted_leaves_nothing_running(
    listing: Weft, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    hold = Hold()

    async def go() -> Outcome:
        async with WireServer(anthropic_wire, [Reply(text="Slowly now", hold=hold, hold_after=1)]) as server:
            connect(listing, server.url)
            with App.open(listing.workspace) as app:
                async with app.session(SessionRequest(file=source, session="poem")) as session:
                    running = asyncio.create_task(session.run(StartRun()))
                    await hold.reached.wait()
                    assert processes_of(scratch)
                    session.submit(Interrupt())
                    outcome = await running
            return outcome

    assert asyncio.run(asyncio.wait_for(go(), 100)) == "interrupted"
    assert processes_of(scratch) == []
    doors = scratch / f"weft-{os.getuid()}"  # the folder of the sessions' sockets stays, with nothing in it
    assert [left for left in scratch.rglob("*") if left != doors] == []


def test_small_calls_and_the_test_of_a_model_have_a_folder_of_their_own(weft: Weft) -> None:
    """`weft models test` makes four of them; none leaves anything in the workspace."""
    value = json.dumps({"city": "Rome", "letters": 4})

    async def go() -> dict[str, Any]:
        replies = [
            Reply(text="one two three"),
            Reply(calls=(called("mcp__weft__note_number", number=7),)),
            Reply(calls=(Called(tool="mcp__weft__answer", call="toolu_2", arguments=value),)),
        ]
        async with WireServer(anthropic_wire, replies, Reply(text=value)) as server:
            connect(weft, server.url)
            before = {path for path in weft.workspace.rglob("*")}
            done = await asyncio.to_thread(weft, "models", "test", "claude", "--json")
            assert done.code == 0, done.err
            assert {path for path in weft.workspace.rglob("*")} == before
            assert "Count from one to ten" in json.dumps(server.seen[0].body["messages"])
            return cast(dict[str, Any], json.loads(done.out))

    found = asyncio.run(asyncio.wait_for(go(), 100))
    assert found["model"] == "claude/claude-sonnet-4-5"
    assert [found[name]["works"] for name in ("answers", "streaming", "tools", "schema")] == [True] * 4


def test_it_is_chosen_and_explained_like_any_model(weft: Weft) -> None:
    connect(weft, "http://127.0.0.1:9")
    said = weft("models", "explain", "--session", "claude")
    assert "claude/claude-sonnet-4-5: the session says so" in said.out
    assert "claude (claude-agent) from config.toml" in said.out
