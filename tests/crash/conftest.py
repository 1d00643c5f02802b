"""One server of dying processes per test process, and the undisturbed run that every other is compared with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.crash.harness import Ended, Harness
from tests.crash.invariants import artifacts
from tests.crash.weaving import Place
from weft.consent import Consents
from weft.testing import CountingDisk


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """Its processes have a home of their own, in which the workspaces of tests are the person's own work."""
    home = tmp_path_factory.mktemp("home")
    Consents(home / ".config" / "weft").own_work(tmp_path_factory.getbasetemp(), below=True)
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home))
            patch.delenv("XDG_CONFIG_HOME", raising=False)
            found = stack.enter_context(Harness())
        yield found


class Scene:
    """A new place for every run, removed when the next is asked for: thousands of them would fill the disk."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._count = 0

    def place(self, copy_of: Place | None = None) -> Place:
        shutil.rmtree(self._root / str(self._count), ignore_errors=True)
        self._count += 1
        root = self._root / str(self._count)
        if copy_of is None:
            return Place.lay_out(root)
        shutil.copytree(copy_of.root, root)
        return Place(root)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


class Undisturbed:
    """A whole run: the calls it makes, how long it takes, and the place it leaves."""

    def __init__(self, place: Place, ended: Ended) -> None:
        assert ended.outcome == "done"
        self.place = place
        self.calls = ended.calls
        self.seconds = ended.seconds
        self.artifacts = artifacts(place)


@pytest.fixture(scope="session")
def undisturbed(harness: Harness, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    place = Place.lay_out(tmp_path_factory.mktemp("undisturbed") / "place")
    return Undisturbed(place, harness(place, partial(CountingDisk, sync=False)))
