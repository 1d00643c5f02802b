"""SIGKILL at every changing call of a run whose step is made by an agent: in the middle of its conversation.

The run that follows must go on there. By a ledger outside the session: no model call is made again whose answer was in
the log, no call of a tool whose result was, one that may not be made again is made at most once whatever happens, and
nobody is asked again who has answered.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.crash import agent_work
from tests.crash.deaths import Death, deaths
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import artifacts, look
from tests.crash.weaving import Place
from weft.testing import Call, CountingDisk, FailingDisk

SETTLED = ("model_settled", "tool_settled")


class Undisturbed:
    def __init__(self, harness: Harness, root: Path) -> None:
        self.place = agent_work.lay_out(root)
        ended = harness(self.place, partial(CountingDisk, sync=False), work=agent_work.run)
        assert ended.outcome == "done", ended.result
        self.calls: Sequence[Call] = ended.calls
        self.artifacts = artifacts(self.place)
        self.ledger = look(self.place).executed


@pytest.fixture(scope="module")
def whole(harness: Harness, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(harness, tmp_path_factory.mktemp("whole") / "place")


def test_what_is_disturbed(whole: Undisturbed) -> None:
    assert whole.ledger == Counter(
        ["model:Look", "tool:Look", "model:Note", "asked:Note", "tool:Note", "model:hand_in"]
    )
    log = look(whole.place).log
    assert [line["turn"] for line in log if line["type"] == "turn_started"] == [1, 2, 3]
    assert [line["decision"] for line in log if line["type"] == "approval_decided"] == ["once"]
    writes = [call for call in whole.calls if call.kind == "write" and call.subject.startswith("log.jsonl")]
    assert len(writes) > 12, "every step of the conversation is a decision of its own"


def test_an_agents_step_killed_at_any_call_goes_on(harness: Harness, whole: Undisturbed, tmp_path: Path) -> None:
    """Every twentieth point, others whenever the number of calls changes; all of them in the slow lane."""
    found = list(deaths(whole.calls))
    _kill_each(harness, whole, tmp_path, found[len(whole.calls) % 20 :: 20])


@pytest.mark.campaign
def test_an_agents_step_killed_at_every_call_goes_on(harness: Harness, whole: Undisturbed, tmp_path: Path) -> None:
    _kill_each(harness, whole, tmp_path, list(deaths(whole.calls)))


@pytest.mark.campaign
def test_an_agents_step_killed_twice_goes_on(harness: Harness, whole: Undisturbed, tmp_path: Path) -> None:
    found = list(deaths(whole.calls))
    wrong: dict[str, list[str]] = {}
    for number, first in enumerate(found[:: len(found) // 12]):
        for second in (5 + number, 20 + number, 40 + number):
            place = agent_work.lay_out(tmp_path / f"{number}-{second}")
            _kill(harness, place, first)
            _kill(harness, place, Death(Call(second, 0, "write", "whatever comes"), "after"))
            if faults := _go_on(harness, whole, place):
                wrong[f"{first}, then after call {second}"] = faults
    assert wrong == {}


def test_a_disk_that_is_full_for_a_moment_fails_no_agents_step(
    harness: Harness, whole: Undisturbed, tmp_path: Path
) -> None:
    """Wherever it comes: what could not be kept is no verdict on the step, so the next process goes on with it."""
    beside = next(number for number, call in enumerate(whole.calls) if call.subject == "blobs")
    writes = [call for call in whole.calls[beside:] if call.kind == "write"]
    _fill_at_each(harness, whole, tmp_path, [writes[0], *whole.calls[len(whole.calls) % 20 :: 20]])


@pytest.mark.campaign
def test_a_disk_that_is_full_at_every_call_fails_no_agents_step(
    harness: Harness, whole: Undisturbed, tmp_path: Path
) -> None:
    _fill_at_each(harness, whole, tmp_path, whole.calls)


def _fill_at_each(harness: Harness, whole: Undisturbed, root: Path, calls: Sequence[Call]) -> None:
    wrong: dict[str, Any] = {}
    for call in calls:
        place = agent_work.lay_out(root / str(call.number))
        disk = partial(FailingDisk, call.number, errno.ENOSPC, lasting=False, partial=True, sync=False)
        ended = harness(place, disk, work=agent_work.run)
        assert ended.failed, f"{call} was not reached"
        in_spite = ended.outcome == "done" and any(name in call.subject for name in ("session.json", ".snapshot.json"))
        if ended.result.get("error", {}).get("type") != "ExternalError" and not in_spite:
            wrong[str(call)] = ended.result
        elif faults := _go_on(harness, whole, place):
            wrong[str(call)] = faults
    assert wrong == {}


def _kill_each(harness: Harness, whole: Undisturbed, root: Path, found: Sequence[Death]) -> None:
    wrong: dict[str, list[str]] = {}
    for number, death in enumerate(found):
        place = agent_work.lay_out(root / str(number))
        assert _kill(harness, place, death), f"{death} did not come"
        if faults := _go_on(harness, whole, place):
            wrong[str(death)] = faults
    assert wrong == {}


def _kill(harness: Harness, place: Place, death: Death) -> bool:
    return harness(place, death.disk, work=agent_work.run).killed


def _go_on(harness: Harness, whole: Undisturbed, place: Place) -> list[str]:
    before = look(place)
    ended = harness(place, UNSYNCED, work=agent_work.run)
    if ended.outcome != "done":
        return [f"it ended {ended.outcome}"]
    after = look(place)
    done = after.executed - before.executed
    faults = [*before.faults, *after.faults]
    faults += [f"{what} was done again, though the log has its end" for what in _ended(before.log) if done[what]]
    for what, most in {"tool:Note": 1, "asked:Note": 2, "tool:Look": 2}.items():
        if after.executed[what] > most:
            faults.append(f"{what} was done {after.executed[what]} times")
    paid = sum(count for what, count in after.executed.items() if what.startswith("model:"))
    if paid > agent_work.MODEL_CALLS + 1:
        faults.append(f"{paid} model calls were paid, ${paid * agent_work.PRICE:.3f}")
    if artifacts(place) != whole.artifacts:
        faults.append("the artifacts differ")
    return faults + _log_faults(after.log)


def _ended(log: Sequence[dict[str, Any]]) -> set[str]:
    """What the log has the end of."""
    tools = {line["call"]: line["tool"] for line in log if line["type"] == "tool_requested"}
    found = {f"tool:{tools[line['call']]}" for line in log if line["type"] == "tool_settled"}
    found |= {f"asked:{tools[line['call']]}" for line in log if line["type"] == "approval_decided"}
    declared = [line["calls"] for line in log if line["type"] == "calls_declared"]
    return found | {f"model:{call.removeprefix('call-')}" for calls in declared for call in calls}


def _log_faults(log: Sequence[dict[str, Any]]) -> list[str]:
    faults = []
    if [line["seq"] for line in log] != list(range(1, len(log) + 1)):
        faults.append("seq has gaps")
    begun = {(line["turn"], line.get("call") or "model") for line in log if line["type"] == "intent_recorded"}
    ends = [(line["turn"], line.get("call") or "model") for line in log if line["type"] in SETTLED]
    if begun != set(ends) or len(ends) != len(set(ends)):
        faults.append(f"what was intended {sorted(begun)} was settled as {sorted(ends)}")
    starts = [(line["attempt"], line["cause"]) for line in log if line["type"] == "step_started"]
    if any(attempt != 1 for attempt, _ in starts):
        faults.append(f"the attempt did not go on: {starts}")
    return faults
