"""Schedules: what is due when, what is begun once whatever dies, and the weekly digest as a person would have it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.app import TAKEN_UP, App, OpenedSession, SessionRequest
from weft.app.schedules.schedule_due import ScheduleEntry, due, folded, held_back, moment, next_open, stamp, times
from weft.app.schedules.schedule_histories import HISTORY
from weft.app.schedules.schedules import Schedules
from weft.files import Folder
from weft.protocol.commands import GivenFile, StartRun
from weft.protocol.envelope import Actor
from weft.protocol.errors import UsageError, UserError, WorkspaceError
from weft.protocol.events import RunStarted, SessionCreated
from weft.workspace.schedule import Schedule, StartEntry, read_schedule

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "tests/vectors/schedules.json").read_text())["vectors"]
SUNDAY = datetime(2026, 11, 15, 12, tzinfo=UTC)


def schedule(**given: Any) -> Schedule:
    return Schedule("digest", StartEntry(pipeline="weekly"), **given)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: one["name"])
def test_due(vector: dict[str, Any]) -> None:
    wanted = schedule(cron=vector["cron"], zone=vector["zone"], missed=vector.get("missed", "once"))
    entries = [ScheduleEntry(at=vector["since"], kind="seen", timing=wanted.timing)]
    if "last" in vector:
        entries.append(ScheduleEntry(at=vector["last"], kind="decided", key="before", due=vector["last"]))
    decided = due(wanted, folded(entries), moment(vector["now"]))
    assert [one.due for one in decided if one.kind == "decided"] == vector["begun"]
    assert sum(one.times for one in decided if one.kind == "skipped") == vector["skipped"]
    assert due(wanted, folded([*entries, *decided]), moment(vector["now"])) == [], "what is decided is not due again"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
@pytest.mark.parametrize("missed", ["skip", "once", "all"])
def test_each_time_is_decided_once_however_often_it_is_looked_at(zone: str, missed: Any) -> None:
    """Through both changes of the clock, at looks that come early, late and after hours of nothing."""
    wanted = schedule(cron="17 * * * *", zone=zone, missed=missed)
    for begin in (datetime(2026, 3, 7, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)):
        history = folded([ScheduleEntry(at=stamp(begin), kind="seen", timing=wanted.timing)])
        now, begun, skipped = begin, [], 0
        for step in [20, 31, 5, 3600, 7201, 61, 59, 90_000, 1] * 20:
            now += timedelta(seconds=step)
            for entry in due(wanted, history, now):
                history.add(entry)
                begun += [entry.due] if entry.kind == "decided" else []
                skipped += entry.times
        assert len(begun) == len(set(begun))
        assert begun == sorted(begun)
        assert len(begun) + skipped == len(times(wanted, after=begin, until=now)), "none is lost"
        assert skipped == 0 or missed != "all"


def test_a_clock_that_ran_ahead_and_is_put_right_holds_up_nothing() -> None:
    """A machine that wakes in the wrong year decides for it; from when it knows the time again, times count again."""
    wanted = schedule(cron="0 * * * *")
    history = folded([ScheduleEntry(at=stamp(SUNDAY), kind="seen", timing=wanted.timing)])
    ahead = SUNDAY + timedelta(days=400, minutes=1)
    for entry in due(wanted, history, ahead):
        history.add(entry)
    looks = [SUNDAY + timedelta(minutes=10 * number) for number in range(13)]
    begun = []
    for now in looks:
        for entry in due(wanted, history, now):
            history.add(entry)
            begun += [entry.due] if entry.kind == "decided" else []
    assert begun == [stamp(SUNDAY + timedelta(hours=hours)) for hours in (1, 2)]
    assert [one.why for one in history.entries if one.kind == "seen"] == ["", "the clock went back"]
    slight = SUNDAY + timedelta(hours=2) - timedelta(seconds=20)
    assert due(wanted, history, slight) == [], "a clock that is put right by seconds is no matter"


def test_a_pause_and_a_new_time_leave_what_was_before() -> None:
    wanted = schedule(cron="0 * * * *")
    history = folded([ScheduleEntry(at=stamp(SUNDAY), kind="seen", timing=wanted.timing)])
    history.add(ScheduleEntry(at=stamp(SUNDAY), kind="paused"))
    assert due(wanted, history, SUNDAY + timedelta(hours=5)) == []
    history.add(ScheduleEntry(at=stamp(SUNDAY + timedelta(hours=5)), kind="resumed", timing=wanted.timing))
    assert due(wanted, history, SUNDAY + timedelta(hours=5, minutes=30)) == []
    assert [one.kind for one in due(wanted, history, SUNDAY + timedelta(hours=6))] == ["decided"]
    other = schedule(cron="5 * * * *")
    assert [one.kind for one in due(other, history, SUNDAY + timedelta(hours=9))] == ["seen"]


@pytest.mark.parametrize(
    ("overlap", "going", "open_", "kinds", "begins"),
    [
        ("start", True, 1, ["decided", "decided"], 3),
        ("skip", True, 0, ["skipped"], 0),
        ("skip", False, 1, ["skipped"], 1),
        ("skip", False, 0, ["skipped", "decided"], 1),
        ("queue", True, 0, ["decided", "decided"], 0),
        ("queue", False, 1, ["decided", "decided"], 1),
        ("queue", False, 99, ["skipped", "decided"], 1),
    ],
)
def test_what_comes_while_the_run_before_goes_on(
    overlap: Any, going: bool, open_: int, kinds: list[str], begins: int
) -> None:
    """Two times are due at once."""
    wanted = schedule(cron="0 * * * *", missed="all", overlap=overlap)
    history = folded([ScheduleEntry(at=stamp(SUNDAY), kind="seen", timing=wanted.timing)])
    for number in range(open_):
        history.add(ScheduleEntry(at=stamp(SUNDAY), kind="decided", key=f"{number}", due=stamp(SUNDAY), session="s"))
    now = SUNDAY + timedelta(hours=2)
    decided = held_back(wanted, history, due(wanted, history, now), going=going)
    assert [one.kind for one in decided] == kinds
    for one in decided:
        history.add(one)
    assert due(wanted, history, now) == [], "each is decided, one way or the other"
    assert len(next_open(wanted, history, going=going)) == begins
    history.add(ScheduleEntry(at=stamp(now), kind="decided", key="asked", cause="person", session="p"))
    assert "asked" in [one.key for one in next_open(wanted, history, going=True)], "whoever asks does not wait"


class Clock:
    def __init__(self) -> None:
        self.now = SUNDAY

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples/weekly-digest", tmp_path / "desk", ignore=shutil.ignore_patterns("sessions"))
    shutil.rmtree(tmp_path / "desk" / HISTORY, ignore_errors=True)
    return tmp_path / "desk"


@pytest.fixture
def app(desk: Path, clock: Clock) -> Iterator[App]:
    with App.open(desk, now=clock) as opened:
        yield opened


def carried_out(schedules: Schedules, app: App) -> list[str]:
    """One look, and everything that is open begun: what was told."""
    said: list[str] = []

    async def all_of_it() -> None:
        for one, entry in schedules.look(said.append):
            await schedules.carry_out(one, entry, app.session, said.append)

    asyncio.run(all_of_it())
    return said


def starts(app: App, session: str) -> int:
    """Runs that were begun; one that was cut off and is taken up again is the same."""
    events = [record.event for record in app.sessions.records(session)]
    return sum(isinstance(event, RunStarted) and not event.resumed for event in events)


def test_the_weekly_digest_comes_on_monday_and_again_when_a_note_changes(app: App, desk: Path, clock: Clock) -> None:
    schedules = Schedules(app)
    carried_out(schedules, app)
    carried_out(schedules, app)
    assert app.sessions.ids() == [], "nothing is begun for what was before"
    clock.now = datetime(2026, 11, 16, 6, 0, 1, tzinfo=UTC)
    assert carried_out(schedules, app)[-1] == "monday: session monday-20261116t0600z is done"
    digest = (desk / "sessions/monday-20261116t0600z/digest.md").read_text()
    assert "2 notes." in digest
    assert "The new ferry was late on four of five days." in digest
    (desk / "notes/mill.md").write_text("# The mill\n\nThe old wheel turns again since Tuesday morning.\n")
    assert carried_out(schedules, app) == [], "it may still be written"
    assert "done" in carried_out(schedules, app)[-1]
    assert "The old wheel" in (desk / "sessions/running-digest/digest.md").read_text()
    row = next(one for one in schedules.rows() if one.name == "monday")
    assert (row.when, row.next, row.paused) == (
        "At 07:00 on Monday (Europe/Berlin)",
        "2026-11-23T07:00+01:00",
        False,
    )
    begun = next(record for record in app.sessions.records("monday-20261116t0600z") if record.envelope)
    assert begun.envelope is not None
    assert (begun.envelope.by.kind, begun.envelope.by.name) == ("rule", "schedule monday")


def test_whatever_dies_in_between_it_is_begun_once(app: App, clock: Clock) -> None:
    Schedules(app).look()
    clock.now = datetime(2026, 11, 16, 6, 0, 1, tzinfo=UTC)
    ((_, decided),) = Schedules(app).look()
    # the process died here: decided, not begun
    again = Schedules(app)
    ((one, entry),) = again.look()
    assert entry == decided
    asyncio.run(again.carry_out(one, entry, app.session, lambda _: None))
    assert again.look() == []
    # and here: begun, and not written down that it was
    lines = (app.workspace.path / HISTORY / "monday.jsonl").read_text().splitlines(keepends=True)
    assert '"begun"' in lines[-1]
    (app.workspace.path / HISTORY / "monday.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])
    third = Schedules(app)
    ((one, entry),) = third.look()
    asyncio.run(third.carry_out(one, entry, app.session, lambda _: None))
    assert third.look() == []
    assert starts(app, decided.session) == 1
    assert app.sessions.ids() == [decided.session]


def lay_slow(desk: Path, start: str) -> None:
    (desk / "schedules").joinpath("hourly.yaml").write_text(f'cron: "0 * * * *"\noverlap: queue\nstart: {start}\n')
    (desk / "pipelines/slow.yaml").write_text(
        "name: slow\ndescription: d\ninputs: {}\nsteps:\n"
        '  a: {artifact: a.json, code: "slow.py:a"}\n'
        '  b: {artifact: b.json, code: "slow.py:a", requires: [a], wait: 90m, final: true}\n'
    )
    (desk / "code/slow.py").write_text("def a(step):\n    return {}\n")
    for name in ("monday", "on-change", "asked"):
        (desk / f"schedules/{name}.yaml").unlink(missing_ok=True)


def test_a_time_that_comes_while_the_run_before_goes_on_waits_for_its_end(app: App, clock: Clock, desk: Path) -> None:
    lay_slow(desk, "{pipeline: slow}")
    schedules = Schedules(app)
    carried_out(schedules, app)
    clock.now = SUNDAY + timedelta(hours=1)
    assert carried_out(schedules, app)[-1] == "hourly: session hourly-20261115t1300z is asleep"
    clock.now = SUNDAY + timedelta(hours=2)
    assert carried_out(schedules, app) == [], "it is decided, and waits"
    assert [one.kind for one in schedules.history("hourly").entries] == ["seen", "decided", "begun", "decided"]
    clock.now = SUNDAY + timedelta(hours=2, minutes=40)

    async def goes_on() -> str:
        async with app.session(SessionRequest(session="hourly-20261115t1300z", attended=False)) as session:
            return await session.run(StartRun(if_due=True))

    assert asyncio.run(goes_on()) == "done"
    assert carried_out(Schedules(app), app)[-1] == "hourly: session hourly-20261115t1400z is asleep"


def test_a_time_that_comes_while_a_person_has_a_run_going_there_is_not_lost(app: App, clock: Clock, desk: Path) -> None:
    lay_slow(desk, "{pipeline: slow, session: daily}")
    schedules = Schedules(app)
    carried_out(schedules, app)

    async def persons_run(wish: StartRun) -> str:
        async with app.session(SessionRequest(pipeline="slow", session="daily"), wish) as session:
            return await session.run(wish)

    assert asyncio.run(persons_run(StartRun())) == "asleep"
    clock.now = SUNDAY + timedelta(hours=1)
    assert carried_out(schedules, app) == [], "it is decided, and waits"
    clock.now = SUNDAY + timedelta(hours=1, minutes=40)
    assert asyncio.run(persons_run(StartRun(if_due=True))) == "done"
    assert carried_out(schedules, app)[-1] == "hourly: session daily is done"
    assert [one.kind for one in schedules.history("hourly").entries] == ["seen", "decided", "begun"]


def test_a_session_of_another_pipeline_that_is_held_is_refused_as_one_that_is_not(
    app: App, clock: Clock, desk: Path
) -> None:
    lay_slow(desk, "{pipeline: slow, session: daily}")
    (desk / "pipelines/other.yaml").write_text(
        'name: other\ndescription: d\ninputs: {}\nsteps:\n  o: {artifact: o.json, code: "slow.py:a", final: true}\n'
    )
    schedules = Schedules(app)
    carried_out(schedules, app)
    told: list[str] = []

    async def held() -> None:
        async with app.session(SessionRequest(pipeline="other", session="daily")) as session:
            assert await session.run(StartRun()) == "done"

            @asynccontextmanager
            async def opener(request: SessionRequest, wish: StartRun | None) -> AsyncIterator[OpenedSession]:
                yield session

            clock.now += timedelta(hours=1)
            for one, entry in schedules.look():
                await schedules.carry_out(one, entry, opener, told.append)

    asyncio.run(held())
    assert "session daily belongs to the pipeline other, not slow" in told[-1]
    assert schedules.history("hourly").entries[-1].kind == "failed"


def test_what_is_begun_in_a_session_that_is_held_is_made_of_the_file_as_it_is_now(
    app: App, clock: Clock, desk: Path
) -> None:
    """A server holds it for a while with the file that it was opened for."""
    lay_slow(desk, "{pipeline: tell, input: notes/one.txt, session: daily}")
    (desk / "pipelines/tell.yaml").write_text(
        'name: tell\ndescription: d\nsteps:\n  told: {artifact: told.json, code: "slow.py:told", final: true}\n'
    )
    (desk / "code/slow.py").write_text(
        "def told(step):\n    return step.text.strip()\n\n\ndef a(step):\n    return {}\n"
    )
    (desk / "notes/one.txt").write_text("before")
    schedules = Schedules(app)
    carried_out(schedules, app)
    told: list[str] = []

    async def held() -> None:
        request = SessionRequest(pipeline="tell", session="daily", file=GivenFile(b"before", "one.txt"))
        async with app.session(request) as session:
            assert await session.run(StartRun()) == "done"

            @asynccontextmanager
            async def opener(request: SessionRequest, wish: StartRun | None) -> AsyncIterator[OpenedSession]:
                yield session

            (desk / "notes/one.txt").write_text("now")
            clock.now += timedelta(hours=1)
            for one, entry in schedules.look():
                await schedules.carry_out(one, entry, opener, told.append)

    asyncio.run(held())
    assert told[-1] == "hourly: session daily is done"
    assert json.loads((desk / "sessions/daily/told.json").read_text()) == "now"


@pytest.mark.parametrize("start", ["{pipeline: slow}", "{pipeline: slow, session: daily}"])
def test_a_run_that_nobody_woke_when_its_time_came_holds_up_nothing(
    app: App, clock: Clock, desk: Path, start: str
) -> None:
    """A server wakes it in a moment; without one the schedule would never begin again."""
    lay_slow(desk, start)
    schedules = Schedules(app)
    carried_out(schedules, app)
    clock.now = SUNDAY + timedelta(hours=1)
    assert carried_out(schedules, app)[-1].endswith(" is asleep")
    clock.now = SUNDAY + timedelta(hours=2, minutes=30, seconds=30)
    assert carried_out(schedules, app) == [], "whoever wakes it has a moment"
    clock.now = SUNDAY + timedelta(hours=2, minutes=40)
    assert carried_out(schedules, app)[-1].endswith(" is done" if "daily" in start else " is asleep")
    assert [one.kind for one in schedules.history("hourly").entries][-1] == "begun"


def test_a_time_that_has_come_when_a_watcher_goes_on_with_its_run_waits_for_that(
    app: App, clock: Clock, desk: Path
) -> None:
    """In the session that is named there is one run at a time: the other was refused and written down as failed."""
    lay_slow(desk, "{pipeline: slow, session: daily}")
    hold = desk / "hold"
    (desk / "pipelines/slow.yaml").write_text(
        'name: slow\ndescription: d\ninputs: {}\nsteps:\n  a: {artifact: a.json, code: "slow.py:a", final: true}\n'
    )
    (desk / "code/slow.py").write_text(
        "import pathlib, time\n\ndef a(step):\n"
        f"    while pathlib.Path({str(hold)!r}).exists():\n        time.sleep(0.01)\n    return {{}}\n"
    )
    hold.touch()
    Schedules(app).look()
    clock.now = SUNDAY + timedelta(hours=1)
    said: list[str] = []

    async def watched(words: str) -> None:
        watching = asyncio.create_task(Schedules(app).watch(app.session, said.append, look=0.02))
        while words not in said:
            await asyncio.sleep(0.02)
        watching.cancel()
        await asyncio.wait({watching})

    async def story() -> None:
        await watched("hourly: began in session daily")
        clock.now = SUNDAY + timedelta(hours=2)
        asyncio.get_running_loop().call_later(0.5, hold.unlink)
        await watched("hourly: session daily is done")

    asyncio.run(asyncio.wait_for(story(), 20))
    kinds = [one.kind for one in Schedules(app).history("hourly").entries]
    assert kinds == ["seen", "decided", "begun", "decided", "begun"]


def test_a_run_that_a_killed_server_left_going_in_a_session_that_is_named_is_gone_on_with(
    app: App, clock: Clock, desk: Path
) -> None:
    """The schedule waits for its end, also where no server is any more."""
    lay_slow(desk, "{pipeline: slow, session: daily}")
    Schedules(app).look()
    begun = RunStarted(run=1, pipeline="slow", steps=("a", "b"), desired="b", parameters={})
    with app.sessions.open("daily", create=True) as session:
        created = SessionCreated(session="daily", pipeline="slow", weft="0")
        session.record([created, begun], by=Actor("person", "ann", "web"))
    clock.now = SUNDAY + timedelta(hours=1)
    assert carried_out(Schedules(app), app) == [], "it is decided, and waits"
    said: list[str] = []

    async def story() -> None:
        watching = asyncio.create_task(Schedules(app).watch(app.session, said.append, look=0.02))
        while (run := app.sessions.read("daily").state.run) is None or run.outcome != "asleep":
            await asyncio.sleep(0.02)
        watching.cancel()
        await asyncio.wait({watching})

    asyncio.run(asyncio.wait_for(story(), 20))
    assert said == ["goes on with session daily"]


def test_a_pipeline_that_is_gone_while_its_run_was_cut_off_is_in_no_other_schedule_s_way(
    app: App, clock: Clock, desk: Path
) -> None:
    lay_slow(desk, "{pipeline: slow, session: daily}")
    (desk / "schedules/other.yaml").write_text('cron: "0 * * * *"\nstart: {pipeline: fine}\n')
    (desk / "pipelines/fine.yaml").write_text(
        'name: fine\ndescription: d\ninputs: {}\nsteps:\n  a: {artifact: a.json, code: "slow.py:a", final: true}\n'
    )
    Schedules(app).look()
    with app.sessions.open("daily", create=True) as session:
        begun = RunStarted(run=1, pipeline="slow", steps=("a", "b"), desired="b", parameters={})
        session.record([SessionCreated(session="daily", pipeline="slow", weft="0"), begun], by=TAKEN_UP)
    (desk / "pipelines/slow.yaml").unlink()
    clock.now = SUNDAY + timedelta(hours=1)
    said: list[str] = []

    async def story() -> None:
        watching = asyncio.create_task(Schedules(app).watch(app.session, said.append, look=0.02))
        history = Schedules(app).history
        while not watching.done() and not (any("is done" in one for one in said) and history("hourly").open == {}):
            await asyncio.sleep(0.02)
        watching.cancel()
        await asyncio.wait({watching})

    asyncio.run(asyncio.wait_for(story(), 20))
    assert said[0].startswith("session daily can't be gone on with: unknown pipeline 'slow'")
    assert "other: session other-20261115t1300z is done" in said
    assert [one.kind for one in Schedules(app).history("hourly").entries] == ["seen", "decided", "failed"]


def test_what_a_killed_watcher_began_in_a_session_that_is_named_is_gone_on_with(
    app: App, clock: Clock, desk: Path
) -> None:
    """Its own run is not one that it waits for, though nobody had written down yet that it was begun."""
    lay_slow(desk, "{pipeline: slow, session: daily}")
    schedules = Schedules(app)
    carried_out(schedules, app)
    clock.now = SUNDAY + timedelta(hours=1)
    ((_, decided),) = schedules.look()

    async def begun_and_killed() -> str | None:
        async with app.session(SessionRequest(pipeline="slow", session="daily")) as session:
            await session.submit(StartRun(), key=f"schedule:hourly:{decided.key}")
            return await session.rest()

    assert asyncio.run(begun_and_killed()) == "asleep"
    assert carried_out(Schedules(app), app)[-1] == "hourly: session daily is asleep"
    assert [one.kind for one in Schedules(app).history("hourly").entries] == ["seen", "decided", "begun"]


def test_a_key_of_a_call_is_begun_once_and_sets_only_what_it_may(app: App) -> None:
    schedules = Schedules(app)
    first = schedules.decide("asked", "2026-47", "call", {"lines": 1})
    assert schedules.decide("asked", "2026-47", "call", {"lines": 9}) == first
    with pytest.raises(UserError, match="may not set folder"):
        schedules.decide("asked", "other", "call", {"folder": "/etc"})
    with pytest.raises(UserError, match="is not begun by calls"):
        schedules.decide("monday", "x", "call", {})
    asyncio.run(schedules.carry_out(schedules.one("asked"), first, app.session, lambda _: None))
    state = app.sessions.read(first.session).state
    assert state.run is not None
    assert state.run.chosen["lines"] == 1
    assert state.run.outcome == "done"


def test_what_cannot_begin_is_written_down_and_not_tried_for_ever(app: App, desk: Path) -> None:
    (desk / "schedules/bad.yaml").write_text("call: true\nstart: {pipeline: nosuch}\n")
    schedules = Schedules(app)
    entry = schedules.decide("bad", "k", "call", {})
    asyncio.run(schedules.carry_out(schedules.one("bad"), entry, app.session, lambda _: None))
    last = schedules.history("bad").entries[-1]
    assert last.kind == "failed"
    assert "unknown pipeline 'nosuch'" in last.why
    assert schedules.look() == []


def test_a_long_history_is_shortened_and_says_the_same(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.app.schedules.schedule_histories.LONGEST_HISTORY", 8_000)
    monkeypatch.setattr("weft.app.schedules.schedules.KEPT_LINES", 10)
    schedules, kept = Schedules(app), folded([])
    entries = [ScheduleEntry(at=stamp(SUNDAY), kind="seen", timing="t")]
    for number in range(60):
        time_ = stamp(SUNDAY + timedelta(minutes=number))
        entries.append(ScheduleEntry(at=time_, kind="decided", key=f"k{number}", due=time_, session="some"))
        if number != 3:  # one was never begun
            entries.append(ScheduleEntry(at=time_, kind="begun", key=f"k{number}", session="some"))
    for entry in entries:
        schedules.record("monday", [entry])
        kept.add(entry)
    read = Schedules(app).history("monday")
    assert len(read.entries) < len(kept.entries)
    for what in ("since", "last", "timing", "decided", "paused", "open"):
        assert getattr(read, what) == getattr(kept, what), what


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start: {pipeline: weekly}\n", "it does not say when"),
        ("cron: '0 7 * * *'\n", "it does not say what is begun"),
        ("cron: '0 7 * * *'\ncall: true\nstart: {}\n", "it says cron and call"),
        ("cron: '0 25 * * *'\nstart: {}\n", "is no cron line: bad hour"),
        ("cron: '0 0 30 2 *'\nstart: {}\n", "is no cron line"),
        ("cron: '*/5 * * * * *'\nstart: {}\n", "it must have five parts"),
        ("cron: '0 7 * * *'\nzone: Mars/Base\nstart: {}\n", "there is no time zone 'Mars/Base' here"),
        ("changed: ../x\nstart: {}\n", "it must lie in the workspace"),
        ("changed: a.md\nmissed: all\nstart: {}\n", "'missed' is for schedules with a cron line"),
        ("cron: '0 7 * * *'\nstrat: {}\n", "strat"),
        ("cron: '0 7 * * *'\noverlap: start\nstart: {session: one}\n", "can't go side by side"),
        ("cron: '0 7 * * *'\noverlap: skip\nsay: {session: one, text: hi}\n", "'overlap' is for runs"),
        ("cron: '0 7 * * *'\nsay: {session: ../one, text: hi}\n", "2:16: say.session: '../one' is not a session id"),
        ("cron: '0 7 * * *'\nstart: {session: A}\n", "'A' is not a session id"),
    ],
)
def test_a_broken_schedule_says_what_is_wrong(app: App, desk: Path, text: str, said: str) -> None:
    (desk / "schedules/broken.yaml").write_text(text)
    with pytest.raises(WorkspaceError) as caught:
        Schedules(app).one("broken")
    assert said in str(caught.value)
    assert any(row.problem for row in Schedules(app).rows() if row.name == "broken")


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("{pipeline: weakly}", "unknown pipeline 'weakly'; the pipelines are: weekly; did you mean 'weekly'?"),
        ("{pipeline: weekly, parameters: {foldr: notes}}", "unknown parameter 'foldr'; did you mean 'folder'?"),
    ],
)
def test_what_could_not_begin_is_said_when_somebody_looks(desk: Path, start: str, said: str) -> None:
    """Not on the night of its time."""
    (desk / "schedules/nightly.yaml").write_text(f"cron: '0 3 * * *'\nstart: {start}\n")
    weft = Weft(desk)
    listed = weft("schedules", "list")
    assert listed.code == 1
    assert f"nightly\t{said}\n" in listed.out
    assert weft("schedules").code == 1
    checked = weft("doctor")
    assert checked.code == 1
    assert f"bad   schedule nightly: {said}" in checked.out
    assert "ok    schedule monday" in checked.out


def test_a_schedule_says_something_in_a_session(app: App, desk: Path) -> None:
    (desk / "schedules/greet.yaml").write_text("call: true\nsay: {session: standup, text: Good morning}\n")
    schedules = Schedules(app)
    for _ in range(2):
        entry = schedules.decide("greet", "today", "call", {})
        asyncio.run(schedules.carry_out(schedules.one("greet"), entry, app.session, lambda _: None))
    said = [record.event for record in app.sessions.records("standup") if record.event.type == "message_accepted"]
    texts = [one for one in said if "Good morning" in str(one)]
    assert len(texts) == 1


@pytest.mark.process
def test_what_a_schedule_begins_ends_the_command_as_a_run_would(desk: Path) -> None:
    weft = Weft(desk)
    pipeline = 'name: asks\ndescription: d\ninputs: {}\nsteps: {a: {artifact: a.md, code: "asks.py:a", gate: {}}}\n'
    (weft.workspace / "pipelines/asks.yaml").write_text(pipeline)
    (weft.workspace / "code/asks.py").write_text("def a(step):\n    return 'a'\n")
    for name in ("asks", "nosuch"):
        (weft.workspace / f"schedules/{name}.yaml").write_text(f"call: true\nstart: {{pipeline: {name}}}\n")
    waits = weft("schedules", "run", "asks")
    assert (waits.code, weft("sessions", "list").out.split()[0]) == (3, waits.out.strip())
    broken = weft("schedules", "run", "nosuch")
    assert (broken.code, broken.out) == (1, ""), "there is no such session"


@pytest.mark.process
@pytest.mark.slow
def test_killed_at_any_moment_it_is_begun_once(desk: Path) -> None:
    """kill -9 at different moments of the same beginning, then once to the end: one run, one session."""
    (desk / "schedules/asked.yaml").write_text("call: true\nstart: {pipeline: weekly, parameters: {folder: notes}}\n")
    command = [sys.executable, "-m", "weft", "--workspace", str(desk), "schedules", "run", "asked", "--key", "one"]
    for delay in (0.25, 0.4, 0.5, 0.6, 0.7):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(delay)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=120)
    with App.open(desk) as app:
        (session,) = app.sessions.ids()
        assert starts(app, session) == 1
        history = Schedules(app).history("asked")
        assert [one.kind for one in history.entries].count("decided") == 1
        assert history.open == {}


def test_a_watcher_goes_on_with_what_another_left_and_one_watches_at_a_time(app: App, clock: Clock, desk: Path) -> None:
    """In process: the first watcher is cancelled in the middle of a run, as a kill would."""
    (desk / "code/weekly.py").write_text(
        (desk / "code/weekly.py").read_text()
        + "\n\ndef slow(step):\n    import time, pathlib\n"
        + "    if not pathlib.Path('traces/go').exists():\n        time.sleep(30)\n    return digest(step)\n"
    )
    (desk / "traces").mkdir()
    pipeline = desk / "pipelines/weekly.yaml"
    pipeline.write_text(pipeline.read_text().replace("weekly.py:digest", "weekly.py:slow"))
    said: list[str] = []

    async def until(words: str, *watchers: asyncio.Task[None]) -> None:
        async with asyncio.timeout(60):
            while not any(words in one for one in said):
                await asyncio.sleep(0.02)
        for watcher in watchers:
            watcher.cancel()
            with pytest.raises(asyncio.CancelledError):
                await watcher

    async def go() -> None:
        Schedules(app).look()
        clock.now = datetime(2026, 11, 16, 6, 0, 1, tzinfo=UTC)
        first = asyncio.create_task(Schedules(app).watch(app.session, said.append, look=0.05))
        await until("began in session monday-20261116t0600z")
        second = asyncio.create_task(Schedules(app).watch(app.session, said.append, look=0.05))
        await until("another process watches", first)
        (desk / "traces/go").touch()
        await until("goes on with session monday-20261116t0600z")
        async with asyncio.timeout(60):
            while (run := app.sessions.read("monday-20261116t0600z").state.run) is None or run.outcome != "done":
                await asyncio.sleep(0.05)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(go())
    assert len([one for one in Schedules(app).history("monday").entries if one.kind == "decided"]) == 1


@pytest.mark.parametrize("name", ["\0", "x" * 5000, "../daily", "a/b", ".daily", ""])
def test_what_can_not_name_a_schedule_is_not_there(workspace: Path, name: str) -> None:
    with Folder.open(workspace) as folder, pytest.raises(UsageError, match="there is no schedule"):
        read_schedule(folder, name)
