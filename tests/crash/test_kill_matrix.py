"""SIGKILL at every changing call of a run, before it, after it, and half-way through it if it is a write: at one in two
of them in every run of the tests, at each in the slow lane.

Then a run of its own continues, and nothing that the log had may happen again or be lost. The same over the recovery
itself, over a run after the source was changed, and at random moments.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import lanes
from tests.crash.conftest import Scene, Undisturbed
from tests.crash.deaths import Death, deaths, telling_deaths, the_call
from tests.crash.harness import UNSYNCED, Harness
from tests.crash.invariants import artifacts, faults_after, look
from tests.crash.weaving import CALLS, OTHER_SOURCE, Place
from weft.files import Disk
from weft.testing import Call, CountingDisk, KillingDisk

CHUNKS = 2
RANDOM_MOMENTS = lanes.lives(24, 200)


def chunk(found: Iterable[Death], number: int, one_in: int) -> Sequence[Death]:
    return lanes.sample(found, one_in)[number::CHUNKS]


@dataclass
class Matrix:
    """Kills runs from one starting point and collects what is wrong after the run that follows."""

    harness: Harness
    scene: Scene
    reference: Mapping[str, bytes]
    start: Place | None = None
    since_run: int = 1
    edited: bool = False
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def kill(self, *deaths: Death) -> Place:
        """Each death ends a run of its own that continues the one before; then a run goes to the end."""
        place = self.scene.place(self.start)
        name = ", then ".join(map(str, deaths))
        known: list[dict[str, Any]] = []
        for death in deaths:
            killed = self.harness(place, death.disk)
            assert killed.killed, f"{name}: {killed.outcome}"
            log = look(place).log
            assert log[: len(known)] == known, f"{name}: the log was rewritten"
            known = log
        self.go_on(place, name)
        return place

    def go_on(self, place: Place, name: str) -> None:
        before = look(place)
        ended = self.harness(place, UNSYNCED)
        faults = faults_after(place, before, ended, self.reference, since_run=self.since_run, edited=self.edited)
        if faults:
            self.wrong[name] = faults


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_killed_at_any_call_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    matrix = Matrix(harness, scene, undisturbed.artifacts)
    for death in chunk(deaths(undisturbed.calls), number, 2):
        matrix.kill(death)
    assert matrix.wrong == {}


# -- the recovery


def second_calls(harness: Harness, scene: Scene, first: Death) -> Sequence[Call]:
    """The calls of the run that follows a first death."""
    place = scene.place()
    assert harness(place, first.disk).killed
    return harness(place, partial(CountingDisk, sync=False)).calls


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_recovery_killed_at_any_call_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    first = telling_deaths(undisturbed.calls)["file not yet written"]
    matrix = Matrix(harness, scene, undisturbed.artifacts)
    for second in chunk(deaths(second_calls(harness, scene, first)), number, 9):
        matrix.kill(first, second)
    assert matrix.wrong == {}


@pytest.mark.lives
@pytest.mark.parametrize("first", ["torn log", "half a blob", "files not yet settled"])
def test_any_repair_killed_at_any_call_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, first: str
) -> None:
    """Only the repair, up to the first decision of the new run: the rest is as in any other run."""
    found = telling_deaths(undisturbed.calls)[first]
    calls = second_calls(harness, scene, found)
    begun = the_call(calls, "fdatasync", "log.jsonl", 2).number
    matrix = Matrix(harness, scene, undisturbed.artifacts)
    for second in lanes.sample(deaths(calls[:begun]), 3):
        matrix.kill(found, second)
    assert matrix.wrong == {}


def test_a_process_may_die_again_and_again(harness: Harness, scene: Scene, undisturbed: Undisturbed) -> None:
    matrix = Matrix(harness, scene, undisturbed.artifacts)
    chance = random.Random(1)
    for _ in range(5):
        place = scene.place()
        numbers = [chance.randint(1, 60) for _ in range(6)]
        for number in numbers:
            harness(place, partial(KillingDisk, number, chance.choice(["before", "after"]), sync=False))
        matrix.go_on(place, f"killed at {numbers}")
    assert matrix.wrong == {}


# -- a run after a finished one


@dataclass(frozen=True)
class Again:
    """A finished session whose source was changed, and what a second run makes of it."""

    start: Place
    calls: Sequence[Call]
    artifacts: Mapping[str, bytes]


def changed(harness: Harness, scene: Scene, undisturbed: Undisturbed, folder: Path, edit: bytes = b"") -> Again:
    start = Place(folder / "finished")
    shutil.copytree(undisturbed.place.root, start.root)
    start.source.write_text(OTHER_SOURCE)
    if edit:
        (start.session / "left.json").write_bytes(edit)
    place = scene.place(start)
    ended = harness(place, partial(CountingDisk, sync=False))
    assert ended.outcome == "done"
    assert look(place).executed == Counter({step: 2 * calls for step, calls in CALLS.items()})
    return Again(start, ended.calls, artifacts(place))


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_with_a_changed_source_killed_at_any_call_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, tmp_path: Path, number: int
) -> None:
    again = changed(harness, scene, undisturbed, tmp_path)
    matrix = Matrix(harness, scene, again.artifacts, again.start, since_run=2)
    for death in chunk(deaths(again.calls), number, 9):
        matrix.kill(death)
    assert matrix.wrong == {}


@pytest.mark.lives
def test_a_run_killed_while_it_sets_an_edit_aside_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    edit = b'{"words": 4711}\n'
    again = changed(harness, scene, undisturbed, tmp_path, edit)
    matrix = Matrix(harness, scene, again.artifacts, again.start, since_run=2, edited=True)
    first, last = the_call(again.calls, "mkdir", "aside"), the_call(again.calls, "replace", "left.json", -1)
    for death in lanes.sample(deaths(again.calls[first.number - 1 : last.number]), 3):
        place = matrix.kill(death)
        kept = [path.read_bytes() for path in (place.session / "aside").iterdir()]
        assert edit in kept, f"{death}: the edit is lost"
    assert matrix.wrong == {}


# -- any moment


@pytest.mark.lives
@pytest.mark.parametrize("number", range(CHUNKS))
def test_a_run_killed_at_a_random_moment_is_continued(
    harness: Harness, scene: Scene, undisturbed: Undisturbed, number: int
) -> None:
    """With real syncs, so that the process also dies inside them."""
    chance = random.Random(number)
    length = harness(scene.place(), Disk).seconds
    matrix = Matrix(harness, scene, undisturbed.artifacts)
    for _ in range(RANDOM_MOMENTS // CHUNKS):
        place, moment = scene.place(), chance.uniform(0, length)
        harness(place, Disk, kill_after=moment)
        matrix.go_on(place, f"killed after {moment * 1000:.1f} of {length * 1000:.1f} ms")
    assert matrix.wrong == {}
