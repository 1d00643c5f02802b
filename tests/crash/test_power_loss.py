"""The power goes at every point of a run, and the disk keeps only what it must, or any part of the rest.

SIGKILL never loses what the kernel has; a power cut does. A run is recorded once; from every state that the recording
allows, a new run must open the session, keep all that was acknowledged, and end with the same artifacts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tests.crash.conftest import Scene, Undisturbed
from tests.crash.harness import Harness
from tests.crash.invariants import artifacts, faults_after, look, whole_decisions
from tests.crash.weaving import OTHER_SOURCE, Place
from weft.files import Disk
from weft.testing import DiskState, Recording, RecordingDisk, materialise, power_cuts
from weft.testing.recording import Written

UNSYNCED = partial(Disk, sync=False)
CHUNKS = 6
MIXTURES = 2


@dataclass(frozen=True)
class Recorded:
    """A run to its end, as the disk saw it."""

    recording: Recording
    log: list[dict[str, Any]]
    artifacts: Mapping[str, bytes]
    since_run: int = 1


def record(harness: Harness, place: Place, before: Recording | None = None, since_run: int = 1) -> Recorded:
    ended = harness(place, partial(RecordingDisk, place.workspace, before=before, sync=False))
    assert ended.outcome == "done"
    assert ended.recording is not None
    log = whole_decisions((place.session / "log.jsonl").read_bytes())
    return Recorded(ended.recording, log, artifacts(place), since_run)


def acknowledged(recording: Recording, cut: int) -> set[int]:
    return {seq for seq in recording.marked(cut) if isinstance(seq, int)}


def different(states: Iterator[DiskState]) -> list[DiskState]:
    """One of each; of those that look alike the latest, because by then the most was acknowledged."""
    return list({state.fingerprint: state for state in states}.values())


def after_the_cut(place: Place, state: DiskState) -> Place:
    place.workspace.rmdir()
    materialise(state, place.workspace)
    return place


def faults_of(harness: Harness, place: Place, state: DiskState, recorded: Recorded) -> list[str]:
    """What is wrong with the run that follows the power cut."""
    after_the_cut(place, state)
    place.published.write_text("".join(f"{seq}\n" for seq in acknowledged(recorded.recording, state.cut)))
    if recorded.since_run > 1:
        place.source.write_text(OTHER_SOURCE)
    before = look(place)
    faults = [] if before.log == recorded.log[: len(before.log)] else ["the log tells what never happened"]
    ended = harness(place, UNSYNCED)
    return faults + faults_after(place, before, ended, recorded.artifacts, since_run=recorded.since_run)


def all_faults(
    harness: Harness, scene: Scene, recorded: Recorded, cuts: Container[int], mixtures: int = MIXTURES
) -> dict[str, list[str]]:
    wrong = {}
    for state in different(power_cuts(recorded.recording, cuts=cuts, mixtures=mixtures)):
        if faults := faults_of(harness, scene.place(), state, recorded):
            wrong[f"{state}: {_told(recorded.recording, state.cut)}"] = faults
    return wrong


def chunk(recording: Recording, number: int, first: int = 0) -> range:
    """A stretch of cuts: neighbours leave the same states, and each is tried once."""
    length = len(recording.changes) + 1 - first
    return range(first + length * number // CHUNKS, first + length * (number + 1) // CHUNKS)


def _told(recording: Recording, cut: int) -> str:
    change = recording.changes[cut - 1] if cut else None
    match change:
        case Written():
            return f"after Written({change.node}, {len(change.data)} bytes)"
        case _:
            return f"after {change}"


@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_cut_off_anywhere_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    recorded = record(harness, scene.place())
    assert recorded.artifacts == undisturbed.artifacts
    assert all_faults(harness, scene, recorded, chunk(recorded.recording, number)) == {}
