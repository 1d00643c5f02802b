"""So many at once and so many in a time, for all machines of a shared workspace together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared.fleet import until
from weft.models.limiting import ResourceLimits
from weft.session.postgres import PostgresLog
from weft.session.postgres_uses import PostgresUses
from weft.workspace.config_file import read_limit

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]


@pytest.fixture
def logs(store: str) -> Iterator[list[PostgresLog]]:
    found = [PostgresLog(store, lease=0.6) for _ in range(3)]
    yield found
    for one in found:
        one.close()


def test_no_more_at_once_than_the_limit_says_over_all_machines(tmp_path: Path, logs: list[PostgresLog]) -> None:
    limits = {"model": read_limit("2 at once")}
    machines = [ResourceLimits(tmp_path, limits, shared=PostgresUses(log)) for log in logs]
    now = most = done = 0

    async def use(machine: ResourceLimits) -> None:
        nonlocal now, most, done
        async with machine.using("model"):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1
            done += 1

    async def go() -> None:
        await asyncio.gather(*(use(machine) for machine in machines for _ in range(4)))

    asyncio.run(asyncio.wait_for(go(), 60))
    assert done == 12
    assert most == 2
    assert logs[0].rows("SELECT count(*) FROM weft.slots") == [(0,)], "every place was given back"


def test_the_place_of_a_machine_that_died_is_free_when_its_lease_is_over(logs: list[PostgresLog]) -> None:
    dead, kept, other = map(PostgresUses, logs)
    assert dead.take_slot("model", 2)
    held = kept.take_slot("model", 2)
    assert held
    assert not other.take_slot("model", 2)
    dead._owned.clear()  # nothing is renewed from there on
    assert until(lambda: other.take_slot("model", 2))
    assert not dead.take_slot("model", 2), "the one that is renewed stays where it is"
    kept.let_slot_go(held)
    assert dead.take_slot("model", 2)


def test_so_many_in_a_time_over_all_machines(logs: list[PostgresLog]) -> None:
    one, two, _ = map(PostgresUses, logs)
    assert one.note_use("model", 2, 60) == 0
    assert two.note_use("model", 2, 60) == 0
    wait = one.note_use("model", 2, 60)
    assert 0 < wait <= 60
    assert two.note_use("other", 2, 60) == 0
    logs[0].rows("UPDATE weft.uses SET at = at - interval '60 seconds' WHERE resource = 'model'")
    assert two.note_use("model", 2, 60) == 0
