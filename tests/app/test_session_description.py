"""Titles, statuses, labels, flag, note, archive, unread: said of a session, kept in its log, found in the list."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.web.served import CODE, PIPELINE, TEXT
from weft.app import App, Filter, ListedSession, SessionRequest
from weft.app.sessions import catalogue as catalogue_module
from weft.app.sessions.catalogue import Catalogue
from weft.files import Folder
from weft.protocol.commands import Accepted, DescribeSession, GivenFile, Refused, StartRun
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError, WorkspaceError
from weft.session import session as session_module
from weft.session.log import LogReader

pytestmark = pytest.mark.process

ADA = Actor("person", "ada", "web")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    desk = tmp_path / "desk"
    (desk / "pipelines").mkdir(parents=True)
    (desk / "code").mkdir()
    (desk / "pipelines" / "notes.yaml").write_text(PIPELINE)
    (desk / "code" / "notes.py").write_text(CODE)
    with App.open(desk) as opened:
        yield opened


async def ran(app: App, name: str = "tides") -> None:
    request = SessionRequest(session=name, file=GivenFile(TEXT.encode(), f"{name}.md"))
    async with app.session(request) as session:
        await session.run(StartRun())


def listed(app: App, name: str = "tides") -> ListedSession:
    found = next((one for one in app.catalogue.page(Filter(archived=None)) if one.id == name), None)
    assert found is not None
    return found


def test_what_is_said_is_in_the_log_and_in_the_list(app: App) -> None:
    asyncio.run(ran(app))
    assert (listed(app).title, listed(app).unread) == ("Tides", True)
    said = (
        DescribeSession(title="  The tide\nand the moon "),
        DescribeSession(status="doing", flag=True, note="ask Ada"),
        DescribeSession(labels={"topic": "sea", "urgent": ""}),
        DescribeSession(unlabelled=("urgent",), seen=listed(app).seq),
    )
    for one in said:
        reply = asyncio.run(app.describe("tides", one, by=ADA))
        assert isinstance(reply, Accepted)
    entry = listed(app)
    assert (entry.title, entry.status, entry.flag, entry.note) == ("The tide and the moon", "doing", True, "ask Ada")
    assert (dict(entry.labels), entry.unread, entry.state) == ({"topic": "sea"}, False, "waiting")
    with app.sessions.folder("tides") as folder:
        last = list(LogReader(folder).read())[-1]
    assert last.envelope is not None
    assert last.envelope.by == ADA
    asyncio.run(app.describe("tides", DescribeSession(archived=True, title="")))
    assert (listed(app).title, [one.id for one in app.catalogue.page()]) == ("Tides", [])


def test_it_is_said_to_whoever_holds_the_session_and_once_for_each_key(app: App) -> None:
    async def go() -> None:
        await ran(app)
        with App.open(app.workspace.path) as other:
            async with app.session(SessionRequest(session="tides")):
                first = await other.describe("tides", DescribeSession(flag=True), key="once", by=ADA)
                again = await other.describe("tides", DescribeSession(flag=True), key="once", by=ADA)
        assert first == again == Accepted(seq=first.seq if isinstance(first, Accepted) else 0)
        assert await app.describe("tides", DescribeSession(flag=True), key="once") == first
        other_words = await app.describe("tides", DescribeSession(flag=False), key="once")
        assert isinstance(other_words, Refused)
        assert "the key once was given with another command" in other_words.reason

    asyncio.run(go())
    assert listed(app).flag


def test_what_the_workspace_does_not_have_is_refused(app: App) -> None:
    asyncio.run(ran(app))
    seq = listed(app).seq
    (app.workspace.path / "labels.yaml").write_text("labels:\n  - name: topic\n    values: [sea, land]\n")
    wrong = {
        "did you mean 'done'": DescribeSession(status="doen"),
        "did you mean 'topic'": DescribeSession(labels={"topik": "sea"}),
        "it can be sea, land": DescribeSession(labels={"topic": "air"}),
        "give a title": DescribeSession(),
    }
    for hint, said in wrong.items():
        with pytest.raises(UserError) as caught:
            asyncio.run(app.describe("tides", said))
        assert hint in caught.value.hint
    (app.workspace.path / "statuses.yaml").write_text("statuses:\n  - nam: odd\n")
    with pytest.raises(WorkspaceError) as broken:
        asyncio.run(app.describe("tides", DescribeSession(status="done")))
    assert broken.value.problems[0].line == 2
    assert listed(app).seq == seq


def test_own_statuses_take_the_place_of_the_usual_ones(app: App) -> None:
    asyncio.run(ran(app))
    (app.workspace.path / "statuses.yaml").write_text(
        "statuses:\n  - name: reading\n  - name: read\n    closed: true\n"
    )
    asyncio.run(app.describe("tides", DescribeSession(status="reading")))
    assert listed(app).status == "reading"
    with pytest.raises(UserError, match="no status 'todo'"):
        asyncio.run(app.describe("tides", DescribeSession(status="todo")))


def test_out_of_the_trash_it_is_as_it_was(app: App) -> None:
    asyncio.run(ran(app))
    asyncio.run(app.describe("tides", DescribeSession(title="Kept")))
    app.sessions.trash("tides")
    assert app.catalogue.page() == []
    (trashed,) = app.sessions.trashed()
    assert (trashed.name, trashed.session, trashed.pipeline) == ("tides", "tides", "notes")
    asyncio.run(ran(app))
    with pytest.raises(UserError, match="there is a session tides again"):
        app.sessions.restore("tides")
    app.sessions.trash("tides")
    assert app.sessions.restore("tides") == "tides"
    assert listed(app).title == "Kept"
    assert [one.name for one in app.sessions.trashed()] == ["tides-2"]


def test_the_index_is_as_good_after_what_is_new_as_from_the_start(app: App) -> None:
    """What is kept of a log and gone on with comes to the same as a fold of the whole log."""
    asyncio.run(ran(app))
    for number in range(5):
        asyncio.run(app.describe("tides", DescribeSession(note=f"note {number}", labels={f"l{number}": ""})))
    grown = listed(app)
    assert app.catalogue.search('no\0te "\0" \0*') == [], "a query that no index can read finds nothing"
    hits = app.catalogue.search("note moon")
    assert [one.entry.id for one in app.catalogue.search("moon", Filter(labels=("l1",)))] == ["tides"]
    assert app.catalogue.search("moon", Filter(labels=("nosuch",))) == []
    app.catalogue.close()
    (app.workspace.path / "index.db").unlink()
    with App.open(app.workspace.path) as other:
        assert listed(other) == grown
        assert other.catalogue.search("note moon") == hits


def test_who_looks_sees_what_was_told_and_the_end_brings_up_the_rest(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the index; a look that holds nothing against the logs has what this process wrote."""
    monkeypatch.setattr(catalogue_module, "PAUSE", 600.0)
    asyncio.run(ran(app))
    assert not (app.workspace.path / "index.db").exists()
    assert [one.id for one in app.catalogue.page(refresh=False)] == ["tides"]
    asyncio.run(ran(app, "ebb"))
    app.catalogue.close()
    with closing(sqlite3.connect(app.workspace.path / "index.db")) as index:
        assert index.execute("select id from session order by id").fetchall() == [("ebb",), ("tides",)]


def test_a_long_log_is_listed_from_its_snapshot(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log that another process wrote, only what came since its snapshot is read, and it is listed all the same."""
    monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 1)
    asyncio.run(ran(app))
    monkeypatch.setattr(session_module, "SNAPSHOT_EVERY", 1_000)
    asyncio.run(app.describe("tides", DescribeSession(note="ask Ada")))
    grown, hits = listed(app), app.catalogue.search("moon")
    kept: list[bool] = []
    whole = Catalogue._read

    def read(self: Catalogue, folder: Folder, fold: Any) -> Any:
        kept.append(fold is not None)
        return whole(self, folder, fold)

    monkeypatch.setattr(Catalogue, "_read", read)
    with App.open(app.workspace.path) as other:
        asyncio.run(other.describe("tides", DescribeSession(flag=True)))
        assert listed(other) == replace(grown, flag=True, seq=grown.seq + 1, updated=listed(other).updated)
        assert other.catalogue.search("moon")[0].hits == hits[0].hits
    assert kept[0]
    monkeypatch.undo()
    (app.workspace.path / "index.db").unlink()
    with App.open(app.workspace.path) as afresh:
        assert listed(afresh).flag
