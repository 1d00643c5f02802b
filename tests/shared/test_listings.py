"""Lists and searches on a machine that has no folder of any session: nothing is read that another machine has read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from weft.app import App, Filter, SessionRequest
from weft.protocol.commands import Accepted, Say
from weft.testing.scripted import ScriptedModel, Turn, says

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]


def machine(path: Path, store: str) -> Path:
    path.mkdir()
    (path / "config.toml").write_text(f'store = "{store}"\nmodel = "scripted"\n')
    return path


def test_a_session_is_listed_and_found_where_it_never_was(tmp_path: Path, store: str) -> None:
    model = ScriptedModel([Turn(*says("Herons wade.")), Turn(*says("Salmon leap."))])

    async def talk(text: str) -> None:
        with App.open(here, models={"scripted": model}) as app:
            async with app.session(SessionRequest(session="talk-1", talk=True), reachable=False) as session:
                assert isinstance(await session.submit(Say(text=text)), Accepted)
                await session.rest()

    here, there = machine(tmp_path / "a", store), machine(tmp_path / "b", store)
    asyncio.run(asyncio.wait_for(talk("What do herons do?"), 60))
    with App.open(there) as app:
        (entry,) = app.catalogue.page()
        assert (entry.id, entry.state) == ("talk-1", "idle")
        (found,) = app.catalogue.search("wade")
        assert "Herons" in found.hits[0].snippet
        assert not (there / "sessions").exists(), "no log was fetched for it"
        asyncio.run(asyncio.wait_for(talk("And salmon?"), 60))
        assert [one.entry.id for one in app.catalogue.search("leap")] == ["talk-1"]
        assert not (there / "sessions").exists()
        # what nobody left there is made from the log
        assert app.shared is not None
        app.shared.rows("DELETE FROM weft.listings")
        app.catalogue.forget("talk-1")
        assert [one.entry.id for one in app.catalogue.search("leap", Filter())] == ["talk-1"]
        assert (there / "sessions" / "talk-1" / "log.jsonl").exists()
