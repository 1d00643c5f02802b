"""For every test: a home of its own, no ambient settings, and no socket beyond loopback."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

from tests import copied, lanes
from weft.consent import Consents
from weft.redaction import REDACTOR

# A busy machine is slow, not wrong. The same examples every time, so that a failure belongs to a change; `make slow`
# goes on looking for new ones.
settings.register_profile(
    "weft", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=lanes.LANE != "slow"
)
settings.register_profile("quick", settings.get_profile("weft"), max_examples=20)
settings.load_profile("quick" if lanes.LANE == "quick" else "weft")


# What is compiled is kept, also where the surroundings say otherwise: thousands of programs of these tests load it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What is loaded and collected lives as long as the tests: Python would look through all of it again and again.
gc.disable()

# On a disk a third of the quick lane's time would go into folders: made, synced, and those of earlier runs removed.
if lanes.LANE == "quick" and (memory := lanes.memory()):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))

guard = lanes.Guard()
if lanes.LANE != "quick":
    copied.install()
if lanes.LANE != "slow":
    copied.spare_syncs()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a test waits for its programs as long as it computes; a quick one has none."""
    return (os.cpu_count() or 1) + (lanes.LANE != "quick")


def pytest_report_header() -> list[str]:
    """What random lives begin with, so that a long hunt can be repeated."""
    told = [f"lane: {lanes.LANE}"]
    if "WEFT_WALKS" in os.environ:
        told.append(f"lives: {os.environ['WEFT_WALKS']}, from WEFT_SEED={os.environ.get('WEFT_SEED', '0')}")
    return told


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """What starts processes or computes with a model is not even loaded for the quick lane."""
    if lanes.LANE != "quick":
        return None
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return collection_path.name in lanes.OUTSIDE or (is_test and lanes.is_left_out(collection_path)) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lanes.sort_in(items)
    if config.option.markexpr:  # whoever names marks has chosen
        return
    chosen = {item: lanes.is_in_lane(item) for item in items}
    if left := [item for item, is_chosen in chosen.items() if not is_chosen]:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item, is_chosen in chosen.items() if is_chosen]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    copied.is_fresh = item.get_closest_marker("fresh") is not None
    for mark in item.iter_markers("needs"):
        lanes.need(mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from guard.watch(item)


class Homes:
    """A home like any other at its beginning, for every test. It is written once and copied; one that a test left as it
    was serves the next, since most never look at theirs."""

    def __init__(self, place: Path, tests: Path) -> None:
        self._place = place
        self._numbers = itertools.count(1)
        self._unused: Path | None = None
        first = place / "first"
        # whoever writes a test writes its workspaces; tests of consent itself begin with none
        Consents(first / ".config" / "weft").own_work(tests, below=True)
        held = [first, *first.rglob("*")]
        for path in held:
            os.utime(path, ns=(0, 0))  # whatever is written, made or removed later has another time
        self._held = {path.relative_to(first): self._look(path) for path in held}

    @contextmanager
    def lend(self, again: bool) -> Iterator[Path]:
        """`again`: whether the next may have it, if it was left as it was."""
        home = (again and self._unused) or shutil.copytree(
            self._place / "first", self._place / str(next(self._numbers))
        )
        self._unused = None
        yield home
        if again and all(self._look(home / path) == seen for path, seen in self._held.items()):
            self._unused = home

    def _look(self, path: Path) -> tuple[int, int] | None:
        try:
            seen = path.lstat()
        except OSError:
            return None
        return seen.st_mode, seen.st_mtime_ns


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    return Homes(tmp_path_factory.mktemp("homes"), tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def own_home(homes: Homes, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests never see the machine's home, keys or settings."""
    with homes.lend(again=request.node.get_closest_marker("process") is None) as home:
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setattr(REDACTOR, "_known", {})
        monkeypatch.setattr(REDACTOR, "_pattern", None)
        for name in list(os.environ):
            if name.startswith(_SETTINGS) or name in ("COLUMNS", "XDG_CONFIG_HOME"):
                monkeypatch.delenv(name)
        yield


_SETTINGS: Final = ("WEFT_", "ANTHROPIC_", "OPENAI_", "CLAUDE_", "AWS_", "GOOGLE_")


def _is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _on_loopback_only() -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    setattr(socket.socket, "connect", guarded)  # noqa: B010  for everything in this process


_on_loopback_only()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    path = tmp_path / "workspace"
    path.mkdir()
    return path
