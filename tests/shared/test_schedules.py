"""The schedules of a shared workspace: what one machine decided, began or paused holds for all; workers do the work."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.gated import lay_out_gated
from weft.app import App
from weft.app.fleet.queue import QueuedSession
from weft.app.schedules.schedules import Schedules

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]

SCHEDULE = """\
description: An essay every night
cron: "0 3 * * *"
start: {pipeline: essay, input: subject.txt}
"""


def machine(path: Path, store: str) -> Path:
    lay_out_gated(path)
    (path / "schedules").mkdir()
    (path / "schedules" / "nightly.yaml").write_text(SCHEDULE)
    (path / "subject.txt").write_text("On rivers. They flow.\n")
    (path / "config.toml").write_text(f'store = "{store}"\n')
    return path


def test_what_is_due_is_decided_once_for_all_machines_and_goes_to_the_queue(tmp_path: Path, store: str) -> None:
    moment = [datetime(2026, 5, 1, 2, 59, tzinfo=UTC)]

    def now() -> datetime:
        return moment[0]

    async def go() -> None:
        with (
            App.open(machine(tmp_path / "a", store), now=now) as here,
            App.open(machine(tmp_path / "b", store), now=now) as there,
        ):
            one, two = Schedules(here), Schedules(there)
            assert one.look() == [] == two.look()  # it is seen for the first time
            moment[0] += timedelta(minutes=1)
            ((schedule, entry),) = one.look()
            ((_, seen),) = two.look()
            assert seen == entry, "the other machine finds the decision, and makes none of its own"
            here.queues_runs = True
            async with one.begin(schedule, entry, here.session) as session:
                assert isinstance(session, QueuedSession)
            assert here.shared is not None
            ((status, session_name),) = here.shared.rows("SELECT status::text, lock FROM procrastinate_jobs")
            assert (status, session_name) == ("todo", entry.session)
            assert two.look() == [], "it is begun"
            assert one.pause("nightly")
            assert not two.pause("nightly"), "it is paused everywhere"
            moment[0] += timedelta(days=1)
            assert two.look() == []

    asyncio.run(asyncio.wait_for(go(), 120))


def test_one_machine_watches_and_the_next_when_it_ends(tmp_path: Path, store: str) -> None:
    with (
        App.open(machine(tmp_path / "a", store)) as here,
        App.open(machine(tmp_path / "b", store)) as there,
        Schedules(there)._kept.watching() as other,
    ):
        with Schedules(here)._kept.watching() as mine:
            assert mine()
            assert mine()
            assert not other()
        assert other()
