"""What a session begins and ends with: one decision, no more syncs than its promises need, nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from weft.app import App, RegisteredFunction, SessionRequest
from weft.protocol.commands import GivenFile, StartRun
from weft.protocol.events import Record
from weft.testing import CountingDisk

PIPELINE = """\
name: greeting
description: Two steps of code
inputs: {source: {required: false}}
steps:
  hello: {artifact: hello.json, code: "say.py:say"}
  again: {artifact: again.json, code: "say.py:say", requires: [hello], final: true}
"""


async def say(_: object) -> dict[str, Any]:
    return {"said": "hello"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "greeting.yaml").write_text(PIPELINE)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "say.py").write_text("def say(step): ...\n")
    return tmp_path


def records_of(place: Path, disk: CountingDisk | None = None, **asked: Any) -> list[Record]:
    async def go() -> list[Record]:
        with App.open(place, disk=disk, functions={"say.py:say": RegisteredFunction(say)}) as app:
            request = SessionRequest(pipeline="greeting", session="one", **asked)
            async with app.session(request, reachable=False) as session:
                assert await session.run(StartRun()) == "done"
                return await session.records()

    return asyncio.run(asyncio.wait_for(go(), 60))


def decisions(records: list[Record]) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for record in records:
        assert record.envelope is not None
        found.setdefault(record.envelope.hash, []).append(record.event.type)
    return list(found.values())


def test_what_comes_before_a_run_is_part_of_its_first_decision(place: Path) -> None:
    made = ["artifact_accepted", "step_completed"]
    first, *others = decisions(records_of(place, inputs={"source": GivenFile(b"a text", "a.txt")}))
    assert first == ["session_created", "input_recorded", "run_started", "step_started"]
    assert others == [[*made, "step_started"], made, ["run_ended"]]
    later = decisions(records_of(place, inputs={"source": GivenFile(b"another text", "a.txt")}))[1 + len(others) :]
    assert later[0][:2] == ["input_recorded", "run_started"], "not only in a new one"


def test_a_session_syncs_what_it_has_to_and_no_more(place: Path) -> None:
    (place / "sessions").mkdir()
    disk = CountingDisk()
    records_of(place, disk)
    calls = Counter((call.kind, call.subject) for call in disk.calls if call.kind in ("fsync", "fdatasync"))
    logs = sum(number for (kind, subject), number in calls.items() if subject.startswith("log.jsonl"))
    assert logs == 4, "once for each decision"
    assert {subject for _, subject in calls} >= {"hello.json", "again.json"}
    assert sum(calls.values()) - logs == 6, f"both folders when it is born; two files and their folder: {calls}"


def test_a_session_that_was_let_go_of_is_gone_without_the_collector(place: Path) -> None:
    async def go() -> list[Any]:
        with App.open(place, functions={"say.py:say": RegisteredFunction(say)}) as app:
            request = SessionRequest(pipeline="greeting", session="one")
            async with (
                app.session(request, reachable=False) as session,
                session.shown(lambda _: None, 0) as showing,
            ):
                await session.run(StartRun())
                await showing.caught_up()
                left = [weakref.ref(session), weakref.ref(showing)]
            del session, showing
            await asyncio.sleep(0)
            return left

    gc.collect()
    gc.disable()
    try:
        assert [one() for one in asyncio.run(asyncio.wait_for(go(), 60))] == [None, None]
    finally:
        gc.enable()
