"""SIGKILL while a schedule begins a run, in its inner pipelines, as it lies down to wait and when it wakes: what comes
after goes on, begins nothing twice, waits once, and makes nothing again that was made."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.crash import flow_work
from tests.crash.deaths import Death, deaths
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import artifacts, look
from weft.testing import CountingDisk


def all_deaths(harness: Harness, root: Path) -> tuple[list[Death], dict[str, bytes]]:
    whole = flow_work.lay_out(root)
    ended = harness(whole, partial(CountingDisk, sync=False), work=flow_work.run)
    assert ended.outcome == "done", ended.result
    assert set(look(whole).executed) == flow_work.STEPS
    assert flow_work.history(whole) == ["seen", "decided", "begun"]
    return list(deaths(ended.calls)), artifacts(whole)


def fault(harness: Harness, root: Path, death: Death, wanted: dict[str, bytes]) -> tuple[bool, str]:
    """Whether it was killed there, and what is wrong after the process that follows; "" for nothing."""
    place = flow_work.lay_out(root)
    first = harness(place, death.disk, work=flow_work.run)
    if not first.killed and first.outcome != "done":
        return False, f"it is {first.outcome} {first.result}"
    before = look(place)
    done = before.completed() if before.log else set()
    ended = harness(place, UNSYNCED, work=flow_work.run)
    after = look(place)
    again = done & set(after.executed - before.executed)
    kinds = [line["type"] for line in after.log]
    fresh = [line for line in after.log if line["type"] == "run_started" and not line["resumed"]]
    checks = {
        f"it is {ended.outcome} {ended.result}": ended.outcome != "done",
        f"{sorted(again)} were made again": bool(again),
        "other artifacts": artifacts(place) != wanted,
        f"{len(fresh)} runs were begun": len(fresh) != 1,
        f"it waited {kinds.count('wait_started')} times": kinds.count("wait_started") != 1,
        f"the history is {flow_work.history(place)}": flow_work.history(place).count("begun") != 1,
        "; ".join([*before.faults, *after.faults]): bool(before.faults or after.faults),
    }
    return first.killed, "; ".join(told for told, wrong in checks.items() if wrong)


def faults(harness: Harness, root: Path, every: int) -> dict[str, str]:
    found, wanted = all_deaths(harness, root / "whole")
    chosen = found[::every]
    told = {str(death): fault(harness, root / str(n), death, wanted) for n, death in enumerate(chosen)}
    # persons and items at once: one life has fewer calls than another, so the last may not be reached
    assert sum(killed for killed, _ in told.values()) > len(chosen) * 3 / 4
    return {death: wrong for death, (_, wrong) in told.items() if wrong}


def test_a_scheduled_run_that_waits_in_an_inner_pipeline_goes_on_after_a_kill(harness: Harness, tmp_path: Path) -> None:
    assert faults(harness, tmp_path, 29) == {}


@pytest.mark.campaign
@pytest.mark.timeout(7200)
def test_killed_at_every_call(harness: Harness, tmp_path: Path) -> None:
    assert faults(harness, tmp_path, 1) == {}
