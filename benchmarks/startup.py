"""How long the command line takes to answer, and the CPU that takes, against an interpreter that does nothing.

    python -m benchmarks.startup [--runs 20]

The commands take turns; each runs in an environment with nothing of the person's own in it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks import measure

BASE: Final = "python -c pass"
AIMS: Final = {"weft --version": 2.0, "weft --help": 2.5}
LISTING: Final = "weft sessions list (ten)"
NOTHING_TO_DO: Final = "weft run (nothing to do)"
CPU_AIMS: Final = {LISTING: 0.15, NOTHING_TO_DO: 0.25}
"""Seconds."""
SESSIONS: Final = 10
ARTICLE: Final = "# Tides\n\nThe sea rises twice a day, about 50 minutes later each day.\n"


def commands(workspace: Path, article: Path) -> dict[str, list[str]]:
    weft = str(Path(sys.executable).with_name("weft"))
    return {
        BASE: [sys.executable, "-c", "pass"],
        "weft --version": [weft, "--version"],
        "weft --help": [weft, "--help"],
        "weft plan": [weft, "--workspace", str(workspace), "plan", "digest", str(article)],
        LISTING: [weft, "--workspace", str(workspace), "sessions", "list"],
        NOTHING_TO_DO: [weft, "--workspace", str(workspace), "run", "digest", str(article)],
    }


def prepare(folder: Path) -> tuple[Path, Path]:
    """A workspace with the example pack and ten sessions that are up to date."""
    workspace, article = folder / "workspace", folder / "tides.md"
    weft = str(Path(sys.executable).with_name("weft"))
    lay = [weft, "--workspace", str(workspace), "init", "--pack", "digest"]
    subprocess.run(lay, env=surroundings(folder), check=True, capture_output=True, timeout=60)
    for number in range(SESSIONS):
        name = article if not number else folder / f"tides-{number}.md"
        name.write_text(ARTICLE)
        run = [weft, "--workspace", str(workspace), "run", "digest", str(name)]
        subprocess.run(run, env=surroundings(folder), check=True, capture_output=True, timeout=60)
    return workspace, article


def surroundings(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def seconds(command: Sequence[str], home: Path) -> tuple[float, float]:
    """Until it has answered, and of the CPU."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=surroundings(home), cwd=home, check=True, capture_output=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begun, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(runs: int) -> str:
    with measure.scratch() as folder:
        table = commands(*prepare(folder))
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in table}
        for turn in range(runs + 1):
            for name, command in table.items():
                one = seconds(command, folder)
                if turn:  # the first turn only warms the caches
                    took[name].append(one)
    medians = {name: statistics.median(wall for wall, _ in values) for name, values in took.items()}
    least = {name: min(cpu for _, cpu in values) for name, values in took.items()}
    rows = [
        [
            f"`{name}`",
            f"{value * 1e3:.1f}",
            measure.times(value / medians[BASE]),
            f"{least[name] * 1e3:.0f}",
            _aim(name, value / medians[BASE], least[name]),
        ]
        for name, value in medians.items()
    ]
    head = ["command", "median ms", "ratio", "least CPU ms", "aim"]
    return f"## Start-up\n\nMedians of {runs} runs in turns.\n\n{measure.table(head, rows)}"


def _aim(name: str, ratio: float, cpu: float) -> str:
    if name in CPU_AIMS:
        return f"{CPU_AIMS[name]:g} s of CPU, {measure.verdict(cpu <= CPU_AIMS[name])}"
    return f"{AIMS[name]:g}x, {measure.verdict(ratio <= AIMS[name])}" if name in AIMS else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    print(report(parser.parse_args().runs))


if __name__ == "__main__":
    main()
