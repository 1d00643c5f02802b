"""The shipped examples, as a person connects them: one command each, and they run offline."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.doors import talk_in
from weft.app import AddRequest, App, SourceSettings
from weft.testing.scripted import ScriptedModel, Turn, calls, says

pytestmark = pytest.mark.process
EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "sources"


def test_a_database_an_api_and_a_folder_in_one_conversation(tmp_path: Path) -> None:
    workspace, place = tmp_path / "desk", tmp_path / "place"
    shutil.copytree(EXAMPLES, place)
    workspace.mkdir()
    (workspace / "config.toml").write_text('model = "scripted"\n')
    with closing(sqlite3.connect(place / "library.db")) as connection, connection:
        connection.execute("CREATE TABLE books (title TEXT, year INTEGER)")
        connection.execute("INSERT INTO books VALUES ('Tides', 1901), ('Currents', 1920)")
    api = [sys.executable, str(place / "tides_api.py"), "0"]
    with subprocess.Popen(api, stderr=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stderr is not None
            address = serving.stderr.readline().strip()
            spec = json.loads((place / "tides.openapi.json").read_text())
            spec["servers"][0]["url"] = f"{address}/"
            (place / "tides.openapi.json").write_text(json.dumps(spec))
            asyncio.run(asyncio.wait_for(_life(workspace, place), 100))
        finally:
            serving.kill()


async def _life(workspace: Path, place: Path) -> None:
    model = ScriptedModel(
        [
            Turn(calls("library__query", {"sql": "SELECT title FROM books WHERE year < 1910"}, call="a")),
            Turn(calls("tides__tides", {"harbour": "bergen"}, call="b")),
            Turn(calls("place__grep", {"pattern": "weft sources add"}, call="c")),
            Turn(calls("library__query", {"sql": "DELETE FROM books"}, call="d")),
            Turn(says("Read.")),
        ]
    )
    with App.open(workspace, models={"scripted": model}) as app:
        shelf = SourceSettings(app)
        command = [sys.executable, str(place / "sqlite_server.py"), str(place / "library.db")]
        for request in (
            AddRequest(words=command, slug="library", read=[str(place), sys.prefix]),
            AddRequest(words=[str(place / "tides.openapi.json")]),
            AddRequest(words=[str(place)]),
        ):
            (one,) = shelf.to_add(request)
            shelf.add(one, mine=False, files=shelf.files(request))
        tested = await shelf.test()
        assert {slug: one.state for slug, one in tested.items()} == dict.fromkeys(
            ("library", "place", "tides"), "ready"
        ), tested
        listing = tested["library"].listing
        assert listing is not None
        assert listing.protocol >= "2026", "a server of today speaks the protocol of today"
        for slug in tested:
            rules = {"allow": [{"tool": "*", "when_tainted": True}]}
            (workspace / "sources" / slug / "permissions.json").write_text(json.dumps(rules))
        async with talk_in(app, session="talk", working=place) as talk:
            await talk.say("look")
            await talk.idle()
    model.assert_done()
    results = [str(request.messages[-1].content[0]) for request in model.requests[1:]]
    assert "Tides" in results[0]
    assert "Currents" not in results[0]
    assert "05:50" in results[1]
    assert "README.md" in results[2]
    assert "is_error=True" in results[3]
    with closing(sqlite3.connect(place / "library.db")) as connection:
        assert connection.execute("SELECT count(*) FROM books").fetchone() == (2,)
