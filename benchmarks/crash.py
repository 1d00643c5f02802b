"""kill -9 inside step 3 of 5; a new process then continues the session.

    python -m benchmarks.crash [--trials 10]

A trial is exact when the new process begins at step 3, does not repeat steps 1 and 2, and finishes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from benchmarks import measure
from benchmarks.work import Result, WeftEngine, body, check

KILLED_IN: Final = 3
SESSION: Final = "crash-1"
DONE_BEFORE, DONE_AFTER = "123", "345"


async def run_session(folder: Path, journal: Path, *, kill: bool) -> None:
    async def step(session: str, number: int) -> Result:
        with journal.open("a") as file:
            file.write(str(number))
        if kill and number == KILLED_IN:
            os.kill(os.getpid(), signal.SIGKILL)
        return await body(session, number)

    engine = WeftEngine(folder, step)
    await engine.open()
    check(SESSION, await engine.run(SESSION))
    await engine.close()


def trial(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    journal = folder.with_suffix(".steps")
    command = [sys.executable, "-m", "benchmarks.crash", "--folder", str(folder), "--journal", str(journal)]
    killed = subprocess.run([*command, "--kill"], cwd=measure.ROOT, check=False, timeout=60)
    before = journal.read_text()
    begun = time.perf_counter()
    resumed = subprocess.run(command, cwd=measure.ROOT, check=False, timeout=60)
    seconds = time.perf_counter() - begun
    after = journal.read_text()[len(before) :]
    exact = (killed.returncode, before, after, resumed.returncode) == (-signal.SIGKILL, DONE_BEFORE, DONE_AFTER, 0)
    return {"before": before, "after": after, "exact": exact, "seconds": seconds}


def report(trials: int) -> str:
    with measure.scratch() as folder:
        rows = [trial(folder / f"trial-{number}") for number in range(trials)]
    exact = sum(row["exact"] for row in rows)
    repeated = sum("1" in row["after"] or "2" in row["after"] for row in rows)
    patterns = ", ".join(sorted({f"{row['before']} then {row['after']}" for row in rows}))
    seconds = statistics.median(row["seconds"] for row in rows)
    return (
        f"## kill -9 inside step {KILLED_IN}\n\n"
        f"Resumed exactly at step {KILLED_IN} in {exact} of {trials} trials (steps run: {patterns}); "
        f"steps 1-2 repeated in {repeated}; the whole new process took {seconds:.2f} s: "
        f"{measure.verdict(exact == trials)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kill", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder:
        asyncio.run(run_session(given.folder, given.journal, kill=given.kill))
    else:
        print(report(given.trials))


if __name__ == "__main__":
    main()
