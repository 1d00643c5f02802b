"""Which tests run when, and how much of each: `make quick`, `make test`, `make slow`.

    quick   what needs no process, no terminal and no model: for every edit. A test that starts a process all the same
            fails there and says so, so the lane can't become slow without anybody noticing
    test    everything, with a sample of the random lives
    slow    the whole campaigns: tests marked `campaign`, and those marked `lives` with all of their lives

A test is kept out of `quick` by where it lies (`e2e`, `crash`), by what its file imports (what starts processes, the
embedded engine, servers of models), or by a mark: `process`, `model`, `slow`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from glob import glob
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

import pytest

T = TypeVar("T")
LANE: Final = os.environ.get("WEFT_LANE", "test")
WHOLE: Final = 100_000
OUTSIDE: Final = ("e2e", "crash")
STARTERS: Final = (
    *("subprocess", "pexpect", "multiprocessing", "tests.made", "tests.terminal", "tests.gated"),
    *("weft.testing.handles", "weft.testing.scenario", "tests.crash", "tests.e2e", "tests.web.served"),
)
"""Whoever imports one of these starts processes."""
ENGINE: Final = ("weft.models.embedded", "tests.models.kits", "tests.models.stages", "tests.models.documents")
"""Whoever imports one of these computes with the embedded engine, or speaks to a server of models."""
NOT_QUICK: Final = ("process", "model", "slow", "campaign")
ROOM: Final = 2_000_000_000
STARTS: Final = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system"})


def lives(sample: int, whole: int = WHOLE) -> int:
    """How many random lives a test takes, or how much of something else. `WEFT_WALKS` overrules the lane."""
    if told := os.environ.get("WEFT_WALKS"):
        return int(told)
    return {"quick": max(1, sample // 8), "slow": whole}.get(LANE, sample)


def sample(found: Iterable[T], one_in: int, begin: int = 0) -> Sequence[T]:
    """One in so many, others whenever their number changes; all of them in the slow lane, for tests marked `lives`."""
    every = list(found)
    return every if LANE == "slow" else every[(len(every) + begin) % one_in :: one_in]


def sort_in(items: Iterable[pytest.Item]) -> None:
    """Mark what lies where processes are started, and what works with a model."""
    for item in items:
        used = _marks_by_imports(item.module) if isinstance(item, pytest.Function) else ()
        for mark in used:
            item.add_marker(mark)
        if item.path.parent.name in OUTSIDE and "process" not in used:
            item.add_marker("process")


@cache
def _marks_by_imports(module: ModuleType) -> tuple[str, ...]:
    """What the names of a file say by where they come from."""
    found = (getattr(value, "__module__", None) or getattr(value, "__name__", None) for value in vars(module).values())
    names = [name for name in found if isinstance(name, str)]
    marks = {"process": STARTERS, "model": ENGINE}
    return tuple(mark for mark, told in marks.items() if any(name.startswith(told) for name in names))


def is_left_out(file: Path) -> bool:
    """Whether a file says in its own imports and marks that nothing of it is quick: then it is not even loaded, nor
    what it would load. What is not seen here is sorted in like everything else."""
    text = file.read_text()
    used = {
        name
        for plain, module, names in _IMPORT.findall(text)
        for name in (plain, *(f"{module}.{each.strip()}" for each in names.split(",") if module))
    }
    return any(name.startswith((*STARTERS, *ENGINE)) for name in used) or bool(_MARKED.search(text))


_IMPORT: Final = re.compile(r"^(?:import ([\w.]+)|from ([\w.]+) import \(?([\w, ]*))", re.MULTILINE)
_MARKED: Final = re.compile(rf"^pytestmark = .*pytest\.mark\.(?:{'|'.join(NOT_QUICK)})\b", re.MULTILINE)


def is_in_lane(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    if LANE == "quick":
        return marks.isdisjoint(NOT_QUICK)
    if LANE == "slow":
        return not marks.isdisjoint(("campaign", "lives"))
    return "campaign" not in marks


def memory() -> Path | None:
    """Where files are kept in memory, if there is room for those of a whole run."""
    place = Path("/dev/shm")
    return place if os.access(place, os.W_OK) and shutil.disk_usage(place).free > ROOM else None


class Guard:
    """In the quick lane nothing starts a process."""

    def __init__(self) -> None:
        self.test = ""
        if LANE == "quick":
            sys.addaudithook(self._look)

    def _look(self, event: str, args: Any) -> None:
        if self.test and event in STARTS:
            raise AssertionError(
                f"{self.test} starts a process ({event}: {str(args)[:120]}): mark it with pytest.mark.process, so that "
                "`make quick` leaves it to `make test`"
            )

    def watch(self, item: pytest.Item) -> Iterator[None]:
        self.test = item.nodeid
        try:
            yield
        finally:
            self.test = ""


# -- programs that a test needs


@dataclass(frozen=True)
class Program:
    """Where a program may be, and the Debian packages that bring it."""

    places: tuple[str, ...]
    packages: tuple[str, ...] = ()


PROGRAMS: Final = {
    "bash": Program(("bash",), ("bash",)),
    "git": Program(("git",), ("git",)),
    "bubblewrap": Program(("bwrap",), ("bubblewrap",)),
    "compiler": Program(("cc", "gcc"), ("gcc", "libc6-dev")),
    "node": Program(("node", "nodejs"), ("nodejs",)),
    "postgres": Program(("postgres", "/usr/lib/postgresql/*/bin/postgres"), ("postgresql",)),
    "browser": Program(("chromium", "chromium-browser", "google-chrome"), ("chromium",)),
}


def find_program(name: str) -> str | None:
    for place in PROGRAMS[name].places:
        if found := shutil.which(place) or next(iter(sorted(glob(place), reverse=True)), None):
            return found
    return None


@cache
def program(name: str) -> str | None:
    """Its path. Where it may be installed (`WEFT_INSTALL=1`, or CI as root on Debian) it is."""
    found = find_program(name)
    if found or not PROGRAMS[name].packages or not _may_install():
        return found
    if not _apt("install", "-y", "--no-install-recommends", *PROGRAMS[name].packages):
        _apt("update")  # the lists may be old, or were never fetched
        _apt("install", "-y", "--no-install-recommends", *PROGRAMS[name].packages)
    return find_program(name)


def _apt(*words: str) -> bool:
    """Another test process may be at it: then it is waited for."""
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", *words]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def is_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("1", "true")


def _may_install() -> bool:
    wanted = bool(os.environ.get("WEFT_INSTALL")) or is_ci()
    return wanted and shutil.which("apt-get") is not None and os.geteuid() == 0


def need(names: Iterable[str]) -> None:
    """Skip a test with one clear line where a program is missing; fail it where nothing may be missing."""
    for name in names:
        if program(name) is None:
            how = f"apt-get install {' '.join(PROGRAMS[name].packages)}" if PROGRAMS[name].packages else "install it"
            told = f"needs {name}, which is not here: {how}"
            pytest.fail(told, pytrace=False) if is_ci() else pytest.skip(told)
