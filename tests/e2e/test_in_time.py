"""Waits, deadlines, gates before steps, what is made on failure and at the end: what a run does when time passes."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_maps import SESSION, Space
from weft.app import App, RegisteredFunction, SessionRequest, open_questions
from weft.protocol.commands import GivenFile, ReplyToGate, Say, SessionCommand, StartRun
from weft.protocol.errors import WorkspaceError
from weft.protocol.events import StepProgressed
from weft.protocol.steps import StepInput

HEAD = "name: mapped\ndescription: d\n"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 9, tzinfo=UTC).timestamp()

    def passes(self, **spans: float) -> None:
        self.now += timedelta(**spans).total_seconds()


@pytest.fixture
def clock() -> Clock:
    return Clock()


class TimedSpace(Space):
    """The same, at the time that the test says."""

    clock: Clock | None = None

    def run(self, wish: SessionCommand | None = None, file: Path | None = None, **models: Any) -> str:
        async def go() -> str:
            with self.opened() as app:
                request = SessionRequest(pipeline="mapped", session=SESSION, file=file, attended=False)
                async with app.session(request, reachable=False) as session:
                    return await session.run(wish or StartRun())

        return asyncio.run(asyncio.wait_for(go(), 60))

    def opened(self) -> App:
        functions = {name: RegisteredFunction(one) for name, one in self.functions.items()}
        clock = self.clock
        now = (lambda: datetime.fromtimestamp(clock.now, UTC)) if clock else None
        return App.open(self.path, functions=functions, now=now)

    def notes(self, file: Path) -> list[str]:
        with self.opened() as app:
            given = GivenFile(file.read_bytes(), str(file))
            found = app.plan(SessionRequest(pipeline="mapped", session=SESSION, file=given), StartRun())
            return list(found.notes)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "text.md"
    file.write_text("words\n")
    return file


def space(root: Path, steps: str, more: str = "", clock: Clock | None = None) -> TimedSpace:
    town = TimedSpace(root, f"{HEAD}{more}steps:\n{steps}")
    town.clock = clock
    names = sorted(set(re.findall(r"c\.py:(\w+)", steps)))
    (town.path / "code/c.py").write_text("".join(f"def {name}(step): ...\n" for name in names))
    for name in names:
        town.does(name, lambda step: {"made": step.step, "failed": dict(step.failed)})
    return town


def outcomes(town: TimedSpace) -> list[str]:
    return [one["outcome"] for one in town.events("run_ended")]


WAITING = """\
  a: {artifact: a.json, code: "c.py:a"}
  b: {artifact: b.json, code: "c.py:b", requires: [a], inputs: [], wait: 2h}
  c: {artifact: c.json, code: "c.py:c", requires: [b], inputs: [], until: 2026-12-01T09:00Z, final: true}
"""


def test_a_step_waits_for_its_time_and_the_process_is_free_meanwhile(
    tmp_path: Path, source: Path, clock: Clock
) -> None:
    town = space(tmp_path, WAITING, clock=clock)
    assert town.run(file=source) == "asleep"
    assert [(one["step"], one["until"]) for one in town.events("wait_started")] == [("b", "2026-11-30T11:00:00.000Z")]
    assert town.events("run_ended")[-1]["due"] == "2026-11-30T11:00:00.000Z"
    clock.passes(hours=1)
    assert town.run() == "asleep"
    assert len(town.events("wait_started")) == 1, "it counts from when it began"
    assert town.run(StartRun(if_due=True)) == "asleep"
    assert len(town.events("run_started")) == 2, "nothing is due, so nothing is begun"
    clock.passes(hours=1)
    assert town.run(StartRun(if_due=True)) == "asleep"
    assert town.events("wait_started")[-1]["until"] == "2026-12-01T09:00:00.000Z"
    clock.passes(days=1)
    assert town.run(StartRun(if_due=True)) == "done"
    assert [one["step"] for one in town.events("step_started")] == ["a", "b", "c"]
    assert town.run() == "done"
    assert len(town.events("wait_started")) == 2, "what is up to date waits for nothing"


def test_a_short_wait_is_waited_out(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, WAITING.replace("2h", "0.2").replace(", until: 2026-12-01T09:00Z", ""))
    assert town.run(file=source) == "done"
    assert len(town.events("wait_started")) == 1
    assert outcomes(town) == ["done"]


def test_a_run_that_takes_too_long_has_failed_and_begins_its_time_anew(
    tmp_path: Path, source: Path, clock: Clock
) -> None:
    town = space(tmp_path, WAITING, "timeout: 1h\n", clock)
    assert town.run(file=source) == "asleep"
    assert town.events("run_ended")[-1]["due"] == "2026-11-30T10:00:00.000Z", "the end of its time comes first"
    clock.passes(hours=1)
    assert town.run(StartRun(if_due=True)) == "failed"
    assert town.events("run_ended")[-1]["message"] == "the run has taken longer than it may"
    assert town.run() == "asleep"


def test_running_code_is_stopped_when_the_run_has_taken_too_long(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, '  a: {artifact: a.json, code: "c.py:a", final: true}\n', "timeout: 0.3\n")

    async def forever(_: StepInput) -> Any:
        await asyncio.sleep(60)

    town.functions["c.py:a"] = forever
    assert town.run(file=source) == "failed"
    assert [one["why"] for one in town.events("step_interrupted")] == ["the run has taken longer than it may"]


GATED = """\
  a: {artifact: a.json, code: "c.py:a", gate: {within: 2d, then: THEN, assignee: anna}}
  b: {artifact: b.json, code: "c.py:b", requires: [a], inputs: [], final: true}
"""


@pytest.mark.parametrize(("then", "outcome"), [("proceed", "done"), ("cancel", "cancelled")])
def test_a_gate_that_nobody_answers_chooses(
    then: str, outcome: str, tmp_path: Path, source: Path, clock: Clock
) -> None:
    town = space(tmp_path, GATED.replace("THEN", then), clock=clock)
    assert town.run(file=source) == "waiting"
    (opened,) = town.events("gate_opened")
    assert (opened["due"], opened["then"], opened["assignee"]) == ("2026-12-02T09:00:00.000Z", then, "anna")
    clock.passes(days=1)
    assert town.run(StartRun(if_due=True)) == "waiting"
    assert town.events("gate_resolved") == []
    clock.passes(days=1)
    assert town.run(StartRun(if_due=True)) == outcome
    assert [(one["by"], one["choice"]) for one in town.events("gate_resolved")] == [("deadline", then)]


def test_a_gate_that_nobody_answers_reminds_and_goes_on_waiting(tmp_path: Path, source: Path, clock: Clock) -> None:
    town = space(tmp_path, GATED.replace("THEN", "remind"), clock=clock)
    assert town.run(file=source) == "waiting"
    clock.passes(days=2)
    assert town.run(StartRun(if_due=True)) == "waiting"
    assert town.run(StartRun(if_due=True)) == "waiting"
    assert [one["due"] for one in town.events("gate_reminded")] == ["2026-12-04T09:00:00.000Z"], "once for each time"
    with town.opened() as app:
        assert [gate.due for gate in open_questions(app, SESSION).gates] == ["2026-12-04T09:00:00.000Z"]
    assert len(town.events("run_started")) == 1
    assert town.run(StartRun(answers={"a": "proceed"})) == "done"


BEFORE = """\
  a: {artifact: a.json, code: "c.py:a", parameters: []}
  b:
    artifact: b.json
    code: c.py:b
    requires: [a]
    inputs: []
    gate: {before: true, message: Send it?, show: [made], form: [copies]}
    final: true
"""


def test_a_gate_before_a_step_is_asked_before_it_is_made(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, BEFORE, "parameters: {copies: {type: integer, default: 1}}\n")
    assert town.notes(source) == ["the run will wait for your reply before b"]
    assert town.run(file=source) == "waiting"
    (opened,) = town.events("gate_opened")
    assert (opened["before"], opened["step"], opened["shown"]) == (True, "b", [{"label": "made", "value": "a"}])
    assert [one["id"] for one in opened["choices"]] == ["proceed", "cancel"]
    assert [one["step"] for one in town.events("step_started")] == ["a"]
    assert town.run() == "waiting"
    assert len(town.events("gate_opened")) == 1, "it is asked once"
    assert town.run(ReplyToGate(gate="b", choice="proceed", values={"copies": 3})) == "done"
    assert town.events("step_started")[-1]["inputs"]["parameter:copies"] == "3"
    assert town.run() == "done"
    source.write_text("other words\n")
    town.does("a", lambda _: {"made": "other"})
    assert town.run(StartRun(force=frozenset({"a"})), source) == "waiting", "for something else it is asked again"


ENDS = """\
  a: {artifact: a.json, code: "c.py:a", attempts: 1}
  b: {artifact: b.json, code: "c.py:b", requires: [a], inputs: [], final: true}
  tell: {artifact: tell.json, code: "c.py:tell", requires: [a], inputs: [], on_failure: true}
  tidy: {artifact: tidy.json, code: "c.py:tidy", inputs: [], finally: true}
"""


def test_what_is_made_on_failure_and_at_the_end(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, ENDS)
    assert town.run(file=source) == "done"
    assert [one["step"] for one in town.events("step_started")] == ["a", "b", "tidy"]
    assert [one["step"] for one in town.events("step_skipped")] == ["tell"]

    def broken(_: StepInput) -> Any:
        raise ValueError("no ink")

    town.does("b", broken)
    assert town.run(StartRun(force=frozenset({"b"}))) == "failed"
    assert [one["step"] for one in town.events("step_started")][3:] == ["b", "b", "b", "tell", "tidy"]
    for name in ("tell", "tidy"):
        assert "no ink" in json.loads((town.session / f"{name}.json").read_text())["failed"]["b"]
    assert town.run(StartRun(force=frozenset({"b"}))) == "failed"
    assert [one["step"] for one in town.events("step_started")][-2:] == ["tell", "tidy"], "it failed anew"
    town.does("b", lambda _: {"made": "b"})
    assert town.run() == "done"
    assert [one["step"] for one in town.events("step_started")][-2:] == ["b", "tidy"]


def test_what_is_made_at_the_end_is_made_when_the_run_has_taken_too_long(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, ENDS, "timeout: 0.3\n")

    async def forever(_: StepInput) -> Any:
        await asyncio.sleep(600)

    town.functions["c.py:a"] = forever
    for times in (1, 2):
        assert town.run(file=source) == "failed"
        made = [one["step"] for one in town.events("step_completed")]
        assert (made.count("tell"), made.count("tidy"), len(made)) == (times, times, 2 * times), "each time anew"
        told = json.loads((town.session / "tell.json").read_text())["failed"]
        assert told == {"a": "the run has taken longer than it may"}
        assert town.events("run_ended")[-1]["message"] == "the run has taken longer than it may"


INNER = """\
name: inner
description: d
inputs: {}
steps:
  x: {artifact: x.json, code: "c.py:x"}
  y: {artifact: y.json, code: "c.py:y", requires: [x], final: true}
"""
AROUND = """\
  a: {artifact: a.json, code: "c.py:a"}
  late: {pipeline: inner, requires: [a], wait: 2h, gate: {before: true, message: Now?}}
  b: {artifact: b.json, code: "c.py:b", requires: [late], inputs: [], final: true}
  tell: {pipeline: inner, on_failure: true}
  tidy: {pipeline: inner, finally: true}
"""


def inner_space(root: Path, clock: Clock) -> TimedSpace:
    town = space(root, AROUND, clock=clock)
    (town.path / "pipelines/inner.yaml").write_text(INNER)
    with (town.path / "code/c.py").open("a") as file:
        file.write("def x(step): ...\ndef y(step): ...\n")
    for name in ("x", "y"):
        town.does(name, lambda step: {"made": step.step, "failed": dict(step.failed)})
    return town


def test_a_pipeline_that_is_a_step_waits_is_asked_for_and_comes_last(
    tmp_path: Path, source: Path, clock: Clock
) -> None:
    town = inner_space(tmp_path, clock)
    assert town.run(file=source) == "waiting"
    assert [(one["step"], one["before"]) for one in town.events("gate_opened")] == [("late.x", True)]
    assert town.run(ReplyToGate(gate="late.x", choice="proceed")) == "asleep"
    assert [one["step"] for one in town.events("wait_started")] == ["late.x"]
    clock.passes(hours=2)
    assert town.run(StartRun(if_due=True)) == "done"
    made = [one["step"] for one in town.events("step_completed")]
    assert made == ["a", "late.x", "late.y", "b", "tidy.x", "tidy.y"]
    passed = {one["step"] for one in town.events("step_skipped") if one["reason"].startswith("passed over")}
    assert passed == {"tell.x", "tell.y"}


def test_a_pipeline_on_failure_is_told_what_failed_and_stops_where_it_fails(
    tmp_path: Path, source: Path, clock: Clock
) -> None:
    town = inner_space(tmp_path, clock)

    def broken(_: StepInput) -> Any:
        raise ValueError("no ink")

    town.does("a", broken)
    assert town.run(file=source) == "failed"
    assert {one["step"] for one in town.events("step_completed")} == {"tell.x", "tidy.x", "tell.y", "tidy.y"}
    assert "no ink" in json.loads((town.session / "tell/x.json").read_text())["failed"]["a"]
    town.does("x", broken)
    before = len(town.events("step_started"))
    assert town.run() == "failed"
    assert {one["step"] for one in town.events("step_started")[before:]} == {"a", "tell.x", "tidy.x"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("  y: {", "  y: {gate: {}, "), "has gates, a repair or a loop"),
        (("  x: {", "  x: {finally: true, "), "has steps of its own for its end"),
        (("steps:", 'steps:\n  w: {artifact: w.json, code: "c.py:x"}'), "begins with several steps: w, x"),
    ],
)
def test_what_a_pipeline_at_the_end_or_behind_a_gate_may_not_have(
    change: tuple[str, str], told: str, tmp_path: Path, clock: Clock
) -> None:
    town = inner_space(tmp_path, clock)
    text = INNER.replace(*change).replace("requires: [x]", "requires: [x, w]" if "w:" in change[1] else "requires: [x]")
    if "finally" in change[1]:
        text = text.replace("requires: [x], ", "")
    (town.path / "pipelines/inner.yaml").write_text(text)
    with town.opened() as app, pytest.raises(WorkspaceError, match=told):
        app.workspace.pipeline("mapped")


ELSE = """\
  a: {artifact: a.json, code: "c.py:a", inputs: []}
  long: {artifact: long.json, code: "c.py:long", requires: [a], when: {artifact: a.json, at: made, is: LONG}}
  short: {artifact: short.json, code: "c.py:short", else: long}
  b: {artifact: b.json, code: "c.py:b", requires: [long, short], inputs: [], final: true}
"""


@pytest.mark.parametrize(("made", "step"), [("a", "long"), ("b", "short")])
def test_one_of_two_is_made(made: str, step: str, tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, ELSE.replace("LONG", made))
    assert town.run(file=source) == "done"
    assert [one["step"] for one in town.events("step_started")] == ["a", step, "b"]


TURNS = """\
  a: {artifact: a.json, code: "c.py:a", resources: [press]}
  b: {artifact: b.json, code: "c.py:b", resources: [press]}
  c: {artifact: c.json, code: "c.py:c", requires: [a, b], inputs: [], final: true}
"""


def test_steps_that_use_the_same_thing_wait_for_their_turn_and_say_so(tmp_path: Path, source: Path) -> None:
    town = space(tmp_path, TURNS)
    (town.path / "config.toml").write_text('[limits]\npress = "1 at once"\n')
    inside: list[str] = []
    told: list[str] = []

    async def press(step: StepInput) -> Any:
        assert inside == []
        inside.append(step.step)
        while not told:  # until the other has said that it waits
            await asyncio.sleep(0.01)
        inside.clear()
        return {}

    town.functions |= {"c.py:a": press, "c.py:b": press}

    def publish(item: Any) -> None:
        if isinstance(item, StepProgressed) and "turn" in item.text:
            told.append(item.text)

    async def go() -> str:
        with town.opened() as app:
            request = SessionRequest(pipeline="mapped", session=SESSION, file=source, attended=False)
            async with app.session(request, reachable=False) as session, session.shown(publish):
                return await session.run(StartRun())

    assert asyncio.run(asyncio.wait_for(go(), 60)) == "done"
    assert told == ["waits for its turn with press (1 at once)"]


def test_a_resource_that_has_no_limit_is_a_mistake(tmp_path: Path) -> None:
    town = space(tmp_path, TURNS)
    with town.opened() as app, pytest.raises(WorkspaceError, match=r"config\.toml has no limit 'press'"):
        app.workspace.pipeline("mapped")


def test_a_session_whose_run_sleeps_can_be_talked_in(tmp_path: Path, source: Path, clock: Clock) -> None:
    town = space(tmp_path, WAITING, clock=clock)
    assert town.run(file=source) == "asleep"

    async def talk() -> None:
        with town.opened() as app:
            async with app.session(SessionRequest(session=SESSION, talk=True), reachable=False) as session:
                await session.submit(Say(text="What is it about?"))
                await session.rest()

    asyncio.run(asyncio.wait_for(talk(), 60))
    assert [one["outcome"] for one in town.events("model_settled")] == ["completed"]
