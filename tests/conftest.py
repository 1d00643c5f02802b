"""For every test: a home of its own, no ambient settings, and no socket beyond loopback."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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

guard = lanes.Guard()
if lanes.LANE != "quick":
    copied.install()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a test waits for its programs as long as it computes."""
    return (os.cpu_count() or 1) + 1


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
    for mark in item.iter_markers("needs"):
        lanes.need(mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from guard.watch(item)


@pytest.fixture(autouse=True)
def started_as_ever(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a test marked `fresh` every program is started from nothing."""
    monkeypatch.setattr(copied, "is_fresh", request.node.get_closest_marker("fresh") is not None)


@pytest.fixture(scope="session")
def new_home(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A home like any other at its beginning; it is written once and copied, since every test has one."""
    homes = tmp_path_factory.mktemp("homes")
    # whoever writes a test writes its workspaces; tests of consent itself begin with none
    Consents(homes / "first" / ".config" / "weft").own_work(tmp_path_factory.getbasetemp(), below=True)
    numbers = itertools.count(1)
    return lambda: shutil.copytree(homes / "first", homes / str(next(numbers)))


@pytest.fixture(autouse=True)
def own_home(new_home: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests never see the machine's home, keys or settings."""
    home = new_home()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(REDACTOR, "_known", {})
    monkeypatch.setattr(REDACTOR, "_pattern", None)
    for name in list(os.environ):
        if name.startswith(("WEFT_", "ANTHROPIC_", "OPENAI_", "CLAUDE_", "AWS_", "GOOGLE_")) or name == "COLUMNS":
            monkeypatch.delenv(name)


def _is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    path = tmp_path / "workspace"
    path.mkdir()
    return path
