"""Lists, searches, costs and statistics on a machine that has no folder of any session: none is made for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from weft.app import App, Filter, SessionRequest
from weft.app.sessions.spending import SpendingAsk, spending
from weft.app.sessions.stats import StatsAsk, stats
from weft.protocol.commands import Accepted, Say
from weft.protocol.errors import UserError
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


@pytest.mark.parametrize("together", [8 << 20, 1], ids=["logs together", "each piece by piece"])
def test_costs_and_statistics_are_read_where_the_logs_are(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr("weft.session.postgres.BYTES_AT_ONCE", together)
    model = ScriptedModel([Turn(*says("Herons wade.")) for _ in range(3)])

    async def talk(session: str) -> None:
        with App.open(here, models={"scripted": model}) as app:
            async with app.session(SessionRequest(session=session, talk=True), reachable=False) as opened:
                assert isinstance(await opened.submit(Say(text="What do herons do?")), Accepted)
                await opened.rest()

    here, there = machine(tmp_path / "a", store), machine(tmp_path / "b", store)
    for session in ("talk-1", "talk-2", "talk-3"):
        asyncio.run(asyncio.wait_for(talk(session), 60))
    with App.open(there) as app:
        price = app.models().price
        found = spending(app.sessions, price, SpendingAsk())
        assert {name: group.calls for name, group in found.groups.items()} == {"talk-1": 1, "talk-2": 1, "talk-3": 1}
        one = spending(app.sessions, price, SpendingAsk(sessions=("talk-2",)))
        assert (one.total.calls, one.troubles) == (1, ())
        with pytest.raises(UserError, match="no session talk-9"):
            spending(app.sessions, price, SpendingAsk(sessions=("talk-9",)))
        assert stats(app.sessions, price, StatsAsk()).troubles == ()
        assert not (there / "sessions").exists()
        assert app.shared is not None
        app.shared.rows("UPDATE weft.events SET line = 'spoilt\n' WHERE session = 'talk-1' AND seq = 2")
        (trouble, *_) = spending(app.sessions, price, SpendingAsk()).troubles
        assert trouble.startswith("talk-1: log.jsonl line 2"), "what can't be read is said"
