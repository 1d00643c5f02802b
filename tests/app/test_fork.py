"""A fork has what came before, goes its own way, does nothing outside a second time, and costs nothing twice."""

from __future__ import annotations

import asyncio
import errno
import shutil
from pathlib import Path

import pytest

from tests.gated import started
from tests.made import Weft, lay_out
from weft.app import App, SessionRequest, verified
from weft.models.spending import model_calls
from weft.protocol.commands import ReplyToGate, Say, StartRun
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.events import Record
from weft.testing import CountingDisk, FailingDisk
from weft.testing.scripted import ScriptedModel, Turn, calls, says

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


async def answered(app: App, session: str, text: str) -> str:
    async with app.session(SessionRequest(session=session)) as opened:
        amended = ReplyToGate(gate="plan", choice="amend", text=text)
        assert await opened.run(amended) == "waiting"
        await opened.run(ReplyToGate(gate="plan", choice="proceed"))
        return str(await opened.run(ReplyToGate(gate="review", choice="proceed")))


def of(app: App, session: str) -> list[Record]:
    return list(app.sessions.records(session))


def test_both_answer_the_same_gate_otherwise(tmp_path: Path, workspace: Path) -> None:
    weft: Weft = started(tmp_path, workspace)
    with App.open(workspace) as app:
        before = of(app, "essay")
        name = app.fork("essay")
        assert name == "essay-fork"
        shared = of(app, name)[: len(before)]
        assert [(r.seq, r.at, r.event.type) for r in shared] == [(r.seq, r.at, r.event.type) for r in before]
        first = shared[0].envelope
        assert first is not None
        assert first.parent is not None
        assert (first.parent.session, first.parent.seq) == ("essay", before[-1].seq)
        assert app.sessions.read(name).state.session == name
        assert asyncio.run(asyncio.wait_for(answered(app, name, "a delta"), 90)) == "done"
        assert "a delta" in (workspace / "sessions" / name / "report.md").read_text()
        assert of(app, "essay") == before
        assert asyncio.run(asyncio.wait_for(answered(app, "essay", "a spring"), 90)) == "done"
        assert "a delta" not in (workspace / "sessions/essay/report.md").read_text()
        for one in ("essay", name):
            assert verified(app.sessions, one).faults == []
        with pytest.raises(UserError, match="already"):
            app.fork("essay", name=name)
    assert weft("sessions", "fork", "essay", "--at", len(before), "--as", "third").out == "third\n"
    assert weft("sessions", "fork", "essay", "--at", 100000).code == 1


def test_at_every_event_it_opens_in_order_and_says_what_was_there_then(tmp_path: Path, workspace: Path) -> None:
    started(tmp_path, workspace)
    with App.open(workspace) as app:
        assert asyncio.run(asyncio.wait_for(answered(app, "essay", "a spring"), 90)) == "done"
        records = of(app, "essay")
        for record in records:
            name = app.fork("essay", at=record.seq, name=f"at-{record.seq}")
            with app.sessions.folder(name) as folder:
                state = app.sessions.read(name).state
                assert state.seq >= record.seq
                assert verified(app.sessions, name).faults == []
                kept = [artifact for artifact in state.artifacts if not folder.exists(artifact)]
                assert kept == []
        assert not [one for one in (workspace / "sessions").iterdir() if one.name.startswith(".")]
        asyncio.run(asyncio.wait_for(_goes_on(app, "at-6"), 60))


async def _goes_on(app: App, session: str) -> None:
    async with app.session(SessionRequest(session=session)) as opened:
        assert await opened.run(StartRun()) == "waiting"


def test_a_changed_input_is_said_and_nothing_is_made(tmp_path: Path, workspace: Path) -> None:
    started(tmp_path, workspace)
    content = next((workspace / "sessions/essay").glob("content.md"))
    content.write_text("something else\n")
    with App.open(workspace) as app:
        with pytest.raises(UserError, match="is not what it was"):
            app.fork("essay")
        assert app.sessions.ids() == ["essay"]


def test_an_open_question_is_settled_in_the_fork_and_calls_are_paid_once(tmp_path: Path, workspace: Path) -> None:
    lay_out(workspace)
    (workspace / "config.toml").write_text('model = "scripted"\n')
    desk = tmp_path / "desk"
    desk.mkdir()
    model = ScriptedModel([Turn(calls("Write", {"path": "x.txt", "content": "x"})), Turn(says("So be it."))])
    request = SessionRequest(talk=True, session="talk", working=desk)

    async def ask(app: App) -> None:
        async with app.session(request, reachable=False) as session:
            await session.submit(Say(text="write it"))
            async for item in session.events():
                event = item.event if isinstance(item, Record) else item
                if event.type == "approval_requested":
                    break

    async def go_on(app: App) -> None:
        forked = SessionRequest(talk=True, session="talk-fork", working=desk)
        async with app.session(forked, reachable=False) as session:
            await session.rest()

    with App.open(workspace, models={"scripted": model}) as app:
        asyncio.run(asyncio.wait_for(ask(app), 60))
        app.fork("talk")
        (settled,) = [r.event for r in of(app, "talk-fork") if r.event.type == "tool_settled"]
        assert getattr(settled, "outcome", "") == "interrupted_before_execution"
        assert not [r for r in of(app, "talk") if r.event.type == "tool_settled"]
        assert list(model_calls(of(app, "talk-fork"))) == []
        assert len(list(model_calls(of(app, "talk")))) == 1
        asyncio.run(asyncio.wait_for(go_on(app), 60))
        assert not (desk / "x.txt").exists()
        assert len(list(model_calls(of(app, "talk-fork")))) == 1


def test_a_fork_that_was_cut_off_is_in_nobodys_way(tmp_path: Path, workspace: Path) -> None:
    """By the disk at each of its calls, and by a process that is gone and took nothing away."""
    started(tmp_path, workspace)
    counting = CountingDisk()
    with App.open(workspace, disk=counting) as app:
        before = len(counting.calls)
        app.fork("essay", name="whole")
        made = range(before + 1, len(counting.calls) + 1)
    cut_off = 0
    for number in made:
        try:
            with App.open(workspace, disk=FailingDisk(number, errno.ENOSPC)) as app:
                app.fork("essay", name="cut-off")
        except ExternalError:
            cut_off += 1
        with App.open(workspace) as app:
            if not app.sessions.exists("cut-off"):
                app.fork("essay", name="cut-off")
            assert verified(app.sessions, "cut-off").faults == []
        shutil.rmtree(workspace / "sessions" / "cut-off")
        assert [path.name for path in (workspace / "sessions").iterdir() if path.name.startswith(".")] == []
    assert cut_off > 10
    (workspace / "sessions" / ".fork-essay-fork-0").mkdir()
    with App.open(workspace) as app:
        assert app.fork("essay") == "essay-fork"
