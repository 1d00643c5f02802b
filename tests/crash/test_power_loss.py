"""The power goes at every point of a run, and the disk keeps only what it must, or any part of the rest.

SIGKILL never loses what the kernel has; a power cut does. A run is recorded once; from every state that the recording
allows (a sample of them; in the slow lane all), a new run must open the session, keep all that was acknowledged, and
end with the same artifacts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tests import lanes
from tests.crash.conftest import Scene, Undisturbed
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import artifacts, faults_after, look, whole_decisions
from tests.crash.weaving import OTHER_SOURCE, SESSION, Place
from weft.testing import DiskState, Recording, RecordingDisk, Variant, kernel_view, materialise, power_cuts
from weft.testing.recording import Created, Renamed, Written

CHUNKS = 2
MIXTURES = 3


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
    harness: Harness, scene: Scene, recorded: Recorded, cuts: Container[int], one_in: int, mixtures: int = MIXTURES
) -> dict[str, list[str]]:
    wrong = {}
    for state in lanes.sample(different(power_cuts(recorded.recording, cuts=cuts, mixtures=mixtures)), one_in):
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


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_cut_off_anywhere_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    recorded = record(harness, scene.place())
    assert recorded.artifacts == undisturbed.artifacts
    assert all_faults(harness, scene, recorded, chunk(recorded.recording, number), 4) == {}


def source_changed(scene: Scene, undisturbed: Undisturbed) -> Place:
    """A finished session, all of it durable, and a source that is another since."""
    place = scene.place(undisturbed.place)
    place.source.write_text(OTHER_SOURCE)
    return place


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_with_a_changed_source_cut_off_anywhere_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    recorded = record(harness, source_changed(scene, undisturbed), since_run=2)
    assert all_faults(harness, scene, recorded, chunk(recorded.recording, number), 5, mixtures=1) == {}


@pytest.mark.lives
@pytest.mark.parametrize("seed", range(4)[: lanes.lives(1, 4)])
def test_a_recovery_cut_off_anywhere_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, seed: int
) -> None:
    """The power goes, comes back, and goes again while the next run puts things right."""
    chance = random.Random(seed)
    first = record(harness, scene.place())
    wrong = {}
    for state in chance.sample(different(power_cuts(first.recording, mixtures=1)), 4):
        second = record(harness, after_the_cut(scene.place(), state))
        for again in chance.sample(different(power_cuts(second.recording, mixtures=1)), 12):
            if faults := faults_of(harness, scene.place(), again, second):
                wrong[f"{state}, then {again}"] = faults
    assert wrong == {}


# -- killed first, and then the power goes: the second process finds in place what the first one never synced

KILLS: dict[str, tuple[type[Created | Renamed], str]] = {
    "the folder of all sessions made": (Created, "sessions"),
    "the session's folder made": (Created, SESSION),
    "the log made": (Created, "log.jsonl"),
    "the source in place": (Renamed, "content.md"),
    "the folder of attachments made": (Created, "attachments"),
    "the second input in place": (Renamed, "glossary.md"),
    "an artifact in place": (Renamed, "gather.json"),
    "the folder of blobs made": (Created, "blobs"),
    "a blob in place": (Renamed, ""),
}


def killed_after(recording: Recording, kind: type[Created | Renamed], name: str) -> Recording:
    """What is known of a process that was killed after the first change of this kind and name ("" for a blob)."""
    for cut, change in enumerate(recording.changes, 1):
        if isinstance(change, kind):
            called = change.target if isinstance(change, Renamed) else change.name
            if called == name or (not name and re.fullmatch(r"[0-9a-f]{32}", called)):
                return recording.until(cut)
    raise LookupError(f"nothing in the recording is called {name!r}")


def cut_after_a_kill(
    harness: Harness,
    scene: Scene,
    killed: Recording,
    since_run: int = 1,
    variants: Container[Variant] = ("synced", "bytes"),
    length: int | None = None,
) -> dict[str, list[str]]:
    """`length`: of how many changes of the second process; None for all."""
    place = after_the_cut(scene.place(), kernel_view(killed))
    if since_run > 1:
        place.source.write_text(OTHER_SOURCE)
    second = record(harness, place, killed, since_run)
    last = len(killed.changes) + length if length is not None else len(second.recording.changes)
    later = range(len(killed.changes), last + 1)
    states = [s for s in power_cuts(second.recording, cuts=later) if s.variant in variants]
    wrong = {}
    for state in lanes.sample(different(iter(states)), 4):
        if faults := faults_of(harness, scene.place(), state, second):
            wrong[str(state)] = faults
    return wrong


@pytest.mark.lives
@pytest.mark.parametrize(("kind", "name"), KILLS.values(), ids=KILLS)
def test_a_power_cut_after_a_kill_loses_nothing(
    harness: Harness, scene: Scene, kind: type[Created | Renamed], name: str
) -> None:
    first = record(harness, scene.place())
    assert cut_after_a_kill(harness, scene, killed_after(first.recording, kind, name)) == {}


def test_a_power_cut_after_a_kill_does_not_bring_the_old_source_back(
    harness: Harness, scene: Scene, undisturbed: Undisturbed
) -> None:
    first = record(harness, source_changed(scene, undisturbed), since_run=2)
    killed = killed_after(first.recording, Renamed, "content.md")
    assert cut_after_a_kill(harness, scene, killed, since_run=2) == {}


def test_what_is_read_from_the_log_is_durable_before_it_is_acted_upon(harness: Harness, scene: Scene) -> None:
    """Killed between the write of a decision and its sync. The next process restores the artifact's file; if the power
    takes the decision but leaves the file, the third must not hold that file for a person's edit."""
    changes = record(harness, scene.place()).recording
    names = [change.name if isinstance(change, Created) else "" for change in changes.changes]
    written = next(index for index, name in enumerate(names) if name.startswith(".gather.json")) - 1
    assert isinstance(changes.changes[written - 1], Written)
    variants: tuple[Variant, ...] = ("names", "zeros", "torn", "bytes")
    assert cut_after_a_kill(harness, scene, changes.until(written), variants=variants, length=12) == {}
