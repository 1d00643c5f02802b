"""A result that another session of the workspace has of the same inputs is taken over, and when it is not."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weft.app import App, SessionRequest
from weft.app.library.step_cache import WorkspaceCache
from weft.models.file_making import FilesMade, FilesRequest
from weft.protocol.commands import GivenFile, ReplyToGate, StartRun
from weft.protocol.errors import WorkspaceError
from weft.protocol.events import StepCompleted
from weft.protocol.messages import Usage
from weft.testing.scripted import ScriptedModel, Turn, says

PIPELINE = """\
name: letter
description: A letter.
steps:
  draft:
    artifact: draft.md
    agent: writer
    gate: {message: Good?}
  count: {artifact: count.json, code: "letter.py:count", requires: [draft]}
  sign: {artifact: sign.md, code: "letter.py:sign", requires: [draft], cache: true, final: true}
"""
CODE = """\
from pathlib import Path
LEDGER = Path(__file__).parent.parent / "traces"


def _told(step):
    LEDGER.mkdir(exist_ok=True)
    with (LEDGER / "ledger").open("a") as out:
        out.write(step.step + "\\n")


def count(step):
    _told(step)
    return {"words": len(step.artifacts["draft.md"].split())}


def sign(step):
    _told(step)
    return step.artifacts["draft.md"] + "\\nYours"
"""


class Desk:
    def __init__(self, path: Path) -> None:
        self.path = path
        for folder in ("pipelines", "code", ".claude/agents", "traces"):
            (path / folder).mkdir(parents=True)
        (path / "pipelines/letter.yaml").write_text(PIPELINE)
        (path / "code/letter.py").write_text(CODE)
        front = "---\nname: writer\ndescription: Writes.\nmodel: scripted\n---\nWrite a letter.\n"
        (path / ".claude/agents/writer.md").write_text(front)
        self.asked = 0

    def run(
        self, session: str, text: str = "To Ada", wish: StartRun | None = None, reply: str = "proceed"
    ) -> list[str]:
        """What each completed step was: the session it was reused from, or "made"."""
        model = ScriptedModel([Turn(says(f"Dear Ada, letter {self.asked + number}")) for number in range(5)])

        async def go() -> None:
            with App.open(self.path, models={"scripted": model}) as app:
                request = SessionRequest(session=session, file=GivenFile(text.encode(), "/letter.md"))
                async with app.session(request) as opened:
                    await opened.run(wish or StartRun())
                    while opened.state.gates:
                        (gate,) = opened.state.gates.values()
                        nonlocal reply
                        await opened.submit(ReplyToGate(gate=gate.gate, choice=reply, text="shorter"))
                        await opened.rest()
                        reply = "proceed"

        before = self.completed(session)
        asyncio.run(go())
        self.asked += len(model.requests)
        return self.completed(session)[len(before) :]

    def completed(self, session: str) -> list[str]:
        if not (self.path / "sessions" / session).exists():
            return []
        with App.open(self.path) as app:
            events = [record.event for record in app.sessions.records(session)]
        return [f"{one.step}: {one.reused or 'made'}" for one in events if isinstance(one, StepCompleted)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "desk")


MADE = ["draft: made", "count: made", "sign: made"]


def test_the_same_inputs_are_asked_for_once_in_a_workspace(desk: Desk) -> None:
    assert sorted(desk.run("one")) == sorted(MADE)
    assert desk.asked == 1
    second = desk.run("two")
    assert sorted(second) == ["count: made", "draft: one", "sign: one"], "code is made unless it says otherwise"
    assert desk.asked == 1
    assert (desk.path / "sessions/two/draft.md").read_text() == (desk.path / "sessions/one/draft.md").read_text()
    assert sorted(desk.run("three", "To Ben")) == sorted(MADE)


def test_the_plan_says_what_would_be_reused_and_leaves_no_trace(desk: Desk) -> None:
    def planned(session: str, text: str = "To Ada", wish: StartRun | None = None) -> dict[str, str]:
        with App.open(desk.path, models={"scripted": ScriptedModel([])}) as app:
            request = SessionRequest(session=session, file=GivenFile(text.encode(), "/letter.md"))
            plan, cost = app.forecast(request, wish)
        assert cost.steps == tuple(one.step for one in plan.lines if one.step == "draft" and not one.reused)
        return {one.step: one.reason for one in plan.lines}

    plain = dict.fromkeys(("draft", "count", "sign"), "not yet made")
    assert planned("two") == plain
    assert not (desk.path / "cache.db").exists()
    desk.run("one")
    reused = "not yet made, reused from session one"
    assert planned("two") == {**plain, "draft": reused, "sign": reused}, "what follows from it too"
    assert planned("two", "To Ben") == plain
    forced = planned("two", wish=StartRun(force=frozenset({"draft"})))
    assert "reused" not in forced["draft"] + forced["sign"]


def test_what_is_asked_for_anew_is_made(desk: Desk) -> None:
    desk.run("one")
    assert "draft: made" in desk.run("two", wish=StartRun(force=frozenset({"draft"})))
    assert "draft: made" in desk.run("three", wish=StartRun(start_from="draft"))
    amended = desk.run("four", reply="amend")
    assert "draft: made" in amended, "what a person asks to be changed is made"
    asked = desk.asked
    desk.run("five")
    assert desk.asked == asked


def removed(path: Path) -> None:
    shutil.rmtree(path / "sessions/one")


def edited(path: Path) -> None:
    """The file is not what was accepted, and its text is in the log."""
    (path / "sessions/one/draft.md").write_text("other")


def damaged(path: Path) -> None:
    (path / "cache.db").write_bytes(b"nonsense")


@pytest.mark.parametrize(("change", "found"), [(removed, "made"), (edited, "one"), (damaged, "made")])
def test_only_what_is_still_there_is_taken_over(desk: Desk, change: Callable[[Path], Any], found: str) -> None:
    desk.run("one")
    change(desk.path)
    assert f"draft: {found}" in desk.run("two")
    assert "Dear Ada" in (desk.path / "sessions/two/draft.md").read_text()


def test_a_workspace_and_a_step_can_want_none_of_it(desk: Desk) -> None:
    desk.run("one")
    (desk.path / "config.toml").write_text("cache = false\n")
    assert sorted(desk.run("two")) == sorted(MADE)
    (desk.path / "config.toml").unlink()
    pipeline = desk.path / "pipelines/letter.yaml"
    pipeline.write_text(PIPELINE.replace("agent: writer", "agent: writer\n    cache: false"))
    assert "draft: made" in desk.run("three")


def test_what_names_its_session_stays_in_it(desk: Desk) -> None:
    code = desk.path / "code/letter.py"
    code.write_text(CODE.replace('"\\nYours"', 'f"\\n{step.session}"'))
    desk.run("first-letter")
    assert "sign: made" in desk.run("second-letter")


def test_what_reaches_outside_cannot_be_cached(desk: Desk) -> None:
    pipeline = desk.path / "pipelines/letter.yaml"
    pipeline.write_text(PIPELINE.replace("cache: true", "cache: true, network: [api.example.com]"))
    with App.open(desk.path) as app, pytest.raises(WorkspaceError, match="is not taken over from another session"):
        app.workspace.pipeline("letter")


class Working(ScriptedModel):
    """A model with a loop of its own."""

    async def make(self, ask: FilesRequest) -> FilesMade:
        made = self.requests
        made.append(ask.request)
        return FilesMade(files={name: b"Dear Ada" for name in ask.files}, usage=Usage(input=1, output=1))


def test_what_a_model_with_tools_of_its_own_makes_is_made_each_time(desk: Desk) -> None:
    working = Working([])

    async def go(session: str) -> None:
        with App.open(desk.path, models={"scripted": working}) as app:
            request = SessionRequest(session=session, file=GivenFile(b"To Ada", "/letter.md"))
            async with app.session(request) as opened:
                await opened.run(StartRun(until="draft"))

    for session in ("one", "two"):
        asyncio.run(go(session))
    assert [*desk.completed("one"), *desk.completed("two")] == ["draft: made", "draft: made"]


def test_it_is_bounded(desk: Desk) -> None:
    desk.run("one")
    with App.open(desk.path) as app:
        cache = WorkspaceCache(desk.path, app.sessions, most=3)
        digest = {"draft.md": app.sessions.read("one").state.artifacts["draft.md"].hash}
        for name in "abc":
            cache.keep(name, "one", digest)
        assert cache.find("a", "other") is not None, "asked for, it is kept longer"
        cache.keep("d", "one", digest)
        assert [name for name in "abcd" if cache.find(name, "other")] == ["a", "c", "d"]
