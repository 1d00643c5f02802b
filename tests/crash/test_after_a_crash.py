"""What a person would notice after a crash besides that the work went on: its traces, and the ways out."""

from __future__ import annotations

import errno
from functools import partial

import pytest

from tests import lanes
from tests.crash.conftest import Scene, Undisturbed
from tests.crash.deaths import deaths, telling_deaths, the_call
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import artifacts, faults_after, left_over, look
from weft.testing import FailingDisk


def test_a_session_whose_birth_was_cut_off_is_still_a_new_one(
    harness: Harness, scene: Scene, undisturbed: Undisturbed
) -> None:
    """Nothing of an older system is in the folder, so nothing is adopted."""
    born = the_call(undisturbed.calls, "fdatasync", "log.jsonl").number
    wrong = {}
    for death in deaths(undisturbed.calls[:born]):
        place = scene.place()
        harness(place, death.disk)
        harness(place, UNSYNCED)
        if (birth := look(place).log[0]["type"]) != "session_created":
            wrong[str(death)] = birth
    assert wrong == {}


def test_nothing_half_written_is_left_over(harness: Harness, scene: Scene, undisturbed: Undisturbed) -> None:
    writes = [call for call in undisturbed.calls if call.kind == "write" and call.subject.endswith(".tmp")]
    wrong = {}
    for death in deaths(writes):
        if death.moment == "half":
            place = scene.place()
            harness(place, death.disk)
            harness(place, UNSYNCED)
            if found := left_over(place):
                wrong[str(death)] = found
    assert wrong == {}


def test_the_torn_end_of_the_log_is_kept_aside_and_told(
    harness: Harness, scene: Scene, undisturbed: Undisturbed
) -> None:
    place = scene.place()
    harness(place, telling_deaths(undisturbed.calls)["torn log"].disk)
    torn = (place.session / "log.jsonl").read_bytes()
    ended = harness(place, UNSYNCED)
    (kept,) = (place.session / "aside").iterdir()
    assert torn.endswith(kept.read_bytes())
    assert any(kept.stat().st_size > 0 and "log.jsonl" in text for text in ended.result["notices"])


def test_a_file_that_was_written_again_is_told(harness: Harness, scene: Scene, undisturbed: Undisturbed) -> None:
    place = scene.place()
    harness(place, telling_deaths(undisturbed.calls)["file not yet written"].disk)
    ended = harness(place, UNSYNCED)
    assert any("right.md was written again from the log" in text for text in ended.result["notices"])
    assert "artifact_restored" in [event["type"] for event in look(place).log]


def test_a_large_artifact_whose_kept_copy_is_lost_is_made_again(
    harness: Harness, scene: Scene, undisturbed: Undisturbed
) -> None:
    """Killed before its file was in place; then somebody removed the kept copy. There is no other way, and no dead
    end: that step runs again, and only that one."""
    place = scene.place()
    harness(place, telling_deaths(undisturbed.calls)["file not yet written"].disk)
    (blob,) = (place.session / "blobs").iterdir()
    blob.unlink()
    before = look(place)
    assert before.faults == [
        "verify before the next run: the kept copy of right.md (seq 15) is lost or not what it was"
    ]
    ended = harness(place, UNSYNCED)
    assert ended.outcome == "done"
    assert dict(look(place).executed - before.executed) == {"right": 1, "join": 1, "report": 1}
    assert artifacts(place) == undisturbed.artifacts
    assert look(place).faults == []


@pytest.mark.lives
def test_an_open_session_that_failed_does_not_repeat_when_asked_again(
    harness: Harness, scene: Scene, undisturbed: Undisturbed
) -> None:
    """It may refuse until it is opened anew; it may not do what the log says is done."""
    wrong = {}
    last = the_call(undisturbed.calls, "fsync", "gather.json").number
    for call in lanes.sample(undisturbed.calls[:last], 4):
        place = scene.place()
        harness(place, partial(FailingDisk, call.number, errno.ENOSPC, partial=True, sync=False), insist=True)
        completed = [event["step"] for event in look(place).log if event["type"] == "step_completed"]
        twice = sorted({step for step in completed if completed.count(step) > 1})
        before = look(place)
        faults = [f"{step} was completed twice" for step in twice]
        faults += faults_after(place, before, harness(place, UNSYNCED), undisturbed.artifacts)
        if faults:
            wrong[str(call)] = faults
    assert wrong == {}
