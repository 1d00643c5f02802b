"""The disk is full, read-only or broken at every changing call of a run.

The run ends with an error that names the file and says what to do; what was acknowledged is kept; with a healthy disk
the next run completes and repeats nothing. Only the manifest may fail quietly: it is made again from the log.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pytest

from tests import lanes
from tests.crash.conftest import Scene, Undisturbed
from tests.crash.deaths import telling_deaths, the_call
from tests.crash.harness import UNSYNCED, Ended, Harness
from tests.crash.invariants import faults_after, look
from tests.crash.weaving import Place
from weft.files import Folder
from weft.session.log import LogReader
from weft.testing import Call, CountingDisk, FailingDisk, KillingDisk


@dataclass(frozen=True)
class Trouble:
    errno: int
    lasting: bool
    half_written: bool = False

    def disk(self, number: int) -> partial[FailingDisk]:
        return partial(FailingDisk, number, self.errno, lasting=self.lasting, partial=self.half_written, sync=False)


TROUBLES = {
    "full": Trouble(errno.ENOSPC, lasting=True, half_written=True),
    "full for a moment": Trouble(errno.ENOSPC, lasting=False, half_written=True),
    "broken once": Trouble(errno.EIO, lasting=False),
    "broken": Trouble(errno.EIO, lasting=True),
    "read-only": Trouble(errno.EROFS, lasting=True),
}


def faults_of_the_error(place: Place, ended: Ended, trouble: Trouble) -> list[str]:
    """What a person could not act upon."""
    if "bug" in ended.result:
        return [ended.result["bug"]]
    if ended.outcome == "done":
        made_again = ("session.json", ".snapshot.json")
        important = [str(call) for call in ended.failed if not any(name in call.subject for name in made_again)]
        return [f"done in spite of {', '.join(important)}"] if important else []
    error = ended.result["error"]
    faults = [] if error["type"] == "ExternalError" else [f"it is a {error['type']}"]
    if str(place.workspace) not in error["message"]:
        faults.append(f"no file is named: {error['message']}")
    if os.strerror(trouble.errno) not in error["message"]:
        faults.append(f"the reason is missing: {error['message']}")
    if not error["hint"]:
        faults.append(f"it does not say what to do: {error['message']}")
    return faults


def disturb(harness: Harness, place: Place, call: Call, trouble: Trouble, undisturbed: Undisturbed) -> list[str]:
    known = look(place)
    ended = harness(place, trouble.disk(call.number))
    assert ended.signal is None
    assert ended.failed, f"{call} was not reached"
    before = look(place)
    faults = faults_of_the_error(place, ended, trouble)
    # What a repair records is not published, so only in a new session is everything in the log also published.
    if not known.log and not trouble.lasting and call.subject == "log.jsonl" and call.kind in ("write", "fdatasync"):
        faults += _not_taken_back(place, len(before.published))
    return faults + faults_after(place, before, harness(place, UNSYNCED), undisturbed.artifacts)


def _not_taken_back(place: Place, lines: int) -> list[str]:
    """A decision that could not be made durable leaves nothing of itself in the log. What was made durable just before
    may not have been told yet, so the log may have more than was published, but only in whole decisions."""
    with Folder.open(place.session) as folder:
        reader = LogReader(folder)
        found = len(list(reader.read()))
    if found >= lines and not reader.torn and not reader.damage:
        return []
    return [f"{found} events and {len(reader.torn)} bytes are in the log, {lines} were published"]


@pytest.mark.lives
@pytest.mark.parametrize("name", TROUBLES)
def test_a_disk_that_fails_at_any_call_ends_the_run_clearly(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, name: str
) -> None:
    """Each trouble at calls of its own, together at every call; in the slow lane each at every call."""
    wrong = {}
    for call in lanes.sample(undisturbed.calls, len(TROUBLES), begin=list(TROUBLES).index(name)):
        if faults := disturb(harness, scene.place(), call, TROUBLES[name], undisturbed):
            wrong[str(call)] = faults
    assert wrong == {}


@pytest.mark.lives
@pytest.mark.parametrize("name", ["full", "broken once"])
@pytest.mark.parametrize("first", ["file not yet written", "torn log"])
def test_a_disk_that_fails_during_a_repair_ends_it_clearly(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, first: str, name: str
) -> None:
    death = telling_deaths(undisturbed.calls)[first]
    wrong = {}
    for call in lanes.sample(_repair(harness, scene.place(), death.disk), 3):
        place = scene.place()
        assert harness(place, death.disk).killed
        if faults := disturb(harness, place, call, TROUBLES[name], undisturbed):
            wrong[str(call)] = faults
    assert wrong == {}


def _repair(harness: Harness, place: Place, killing: partial[KillingDisk]) -> Sequence[Call]:
    """The calls of a run up to its first own decision, after a process was killed."""
    harness(place, killing)
    calls = harness(place, partial(CountingDisk, sync=False)).calls
    return calls[: the_call(calls, "fdatasync", "log.jsonl", 2).number]


@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_manifest_that_could_not_be_written_is_told(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, which: int
) -> None:
    place = scene.place()
    call = the_call(undisturbed.calls, "write", ".session.json", which)
    ended = harness(place, TROUBLES["full for a moment"].disk(call.number))
    assert ended.outcome == "done"
    assert any("session.json could not be written" in text for text in ended.result["notices"])
