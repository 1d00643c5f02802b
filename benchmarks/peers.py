"""Weft beside other engines, in the shared harness, in one go.

    BENCH_HARNESS=folder/of/the/harness python -m benchmarks.peers [--n 200] [--rounds 3]

Each peer gets a virtual environment under the scratch folder (BENCH_VENVS names another place, which is then kept and
used again). All of them and Weft take turns, round after round; the table has the medians. A peer that can't be
installed or fails is said and left out.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import measure

AIM: Final = 2.0
MODES: Final = ("seq", "conc")
OWN_SCRIPT: Final = Path(__file__).with_name("bench_weft.py")


@dataclass(frozen=True)
class Entry:
    script: str
    variant: str
    packages: tuple[str, ...] = ()
    """What its virtual environment needs; none: this interpreter runs it."""
    limit: bool = False
    """Plain code: a limit of the machine, not an engine to compare with."""
    syncs: bool = True
    """False: it survives a killed process, but not a power cut."""

    @property
    def name(self) -> str:
        return f"{self.script.removeprefix('bench_').removesuffix('.py')} {self.variant}"


ENTRIES: Final = (
    Entry("bench_weft.py", "durable"),
    Entry("bench_msagent.py", "file", ("agent-framework-core",), syncs=False),
    Entry("bench_burr.py", "sqlite", ("burr[tracking-client]", "aiosqlite")),
    Entry("bench_langgraph.py", "sqlite_sync", ("langgraph", "langgraph-checkpoint-sqlite")),
    Entry("bench_dbos.py", "sqlite", ("dbos",)),
    Entry("bench_plain.py", "append_fsync", limit=True),
    Entry("bench_plain.py", "file_fsync", limit=True),
)
WEFT: Final = ENTRIES[0]


def interpreter(entry: Entry, venvs: Path) -> str | None:
    """The Python that can run an entry; None when it can't be made."""
    if not entry.packages:
        return sys.executable
    place = venvs / entry.script.removeprefix("bench_").removesuffix(".py")
    python = place / "bin" / "python"
    ready = place / ".ready"
    if not ready.exists():
        measure.say(f"installing {', '.join(entry.packages)}")
        venv.create(place, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "psutil", *entry.packages]
        done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            measure.say(f"{entry.name} can't be installed: {done.stderr.strip()[-400:]}")
            return None
        ready.touch()
    return str(python)


def phase(python: str, entry: Entry, mode: str, n: int, harness: Path, place: Path) -> dict[str, Any] | None:
    """One timed run of one engine, in a process group that is ended with whatever it left behind."""
    place.mkdir()
    script = OWN_SCRIPT if entry is WEFT else harness / entry.script
    words = ["_phase", "--mode", mode, "--variant", entry.variant, "--n", str(n), "--dir", str(place)]
    process = subprocess.Popen(
        [python, str(script), *words],
        env={**os.environ, "BENCH_HARNESS": str(harness), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        measure.say(f"{entry.name} {mode}: took longer than 300 s")
        return None
    finally:
        _end_group(process)
    found = measure.last_answer(output)
    if found is None:
        measure.say(f"{entry.name} {mode}: no answer\n{errors[-1000:]}")
    return found


def _end_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def run_all(harness: Path, venvs: Path, n: int, rounds: int, patience: float) -> dict[tuple[str, str], list[Any]]:
    pythons = {entry: interpreter(entry, venvs) for entry in ENTRIES}
    found: dict[tuple[str, str], list[Any]] = {}
    with measure.scratch() as folder:
        for turn in range(rounds):
            for mode in MODES:
                for number, entry in enumerate(ENTRIES):
                    python = pythons[entry]
                    if python is None:
                        continue
                    measure.wait_for_calm(patience)
                    run = phase(python, entry, mode, n, harness, folder / f"{turn}-{mode}-{number}")
                    if run is None:
                        pythons[entry] = None
                        continue
                    other = run["other_load_cores"]
                    measure.say(f"{entry.name} {mode}: {run['steps_per_s']:.0f} steps/s, others {other:.2f} cores")
                    found.setdefault((mode, entry.name), []).append(run)
    return found


def medians(runs: list[Any]) -> dict[str, float]:
    figures = [{key: value for key, value in run.items() if isinstance(value, int | float)} for run in runs]
    return measure.medians([{**run, "other_cores": run["other_load_cores"]} for run in figures])


def report(harness: Path, venvs: Path, n: int, rounds: int, patience: float) -> str:
    found = run_all(harness, venvs, n, rounds, patience)
    figures = {key: medians(runs) for key, runs in found.items()}
    rows = []
    for entry in ENTRIES:
        name = entry.name + ("" if entry.syncs else " (never syncs)")
        cells: list[object] = [f"**{name}**" if entry is WEFT else name]
        for mode in MODES:
            run, weft = figures.get((mode, entry.name)), figures.get((mode, WEFT.name))
            if run is None or weft is None:
                cells += ["no result", "", ""]
                continue
            cells.append(f"{run['steps_per_s']:.0f}")
            cells.append(measure.times(weft["steps_per_s"] / run["steps_per_s"]))
            cells.append(f"{run['p50_ms']:.1f} / {run['p99_ms']:.1f}")
        both = [figures[mode, entry.name] for mode in MODES if (mode, entry.name) in figures]
        cells.append(f"{statistics.median(run['cpu_ms_per_step'] for run in both):.2f}" if both else "")
        cells.append(f"{both[0]['disk_bytes_per_session']:.0f}" if both else "")
        rows.append(cells)
    head = ["engine", "seq steps/s", "Weft is", "p50 / p99 ms", "conc steps/s", "Weft is", "p50 / p99 ms"]
    lines = [
        "## Beside other engines",
        "",
        f"The shared harness, {n} sessions of five steps; medians of {rounds} rounds in turns. "
        "`plain` is code without an engine.",
        "",
        measure.table([*head, "CPU ms/step", "B/session"], rows),
        "",
    ]
    return "\n".join([*lines, *(line for mode in MODES for line in judged(mode, figures))])


def judged(mode: str, figures: dict[tuple[str, str], dict[str, float]]) -> Iterator[str]:
    """Weft against the best peer, and against the best of those that sync what they write."""
    speeds = {entry: figures[mode, entry.name]["steps_per_s"] for entry in ENTRIES if (mode, entry.name) in figures}
    for words, syncing in (("the best peer", False), ("the best peer that syncs", True)):
        peers = {e: speed for e, speed in speeds.items() if e != WEFT and not e.limit and (e.syncs or not syncing)}
        if peers and WEFT in speeds:
            best = max(peers, key=lambda entry: peers[entry])
            ratio = speeds[WEFT] / peers[best]
            aim = f"aim {AIM:g}x, {measure.verdict(ratio >= AIM)}"
            yield f"- {mode}: {measure.times(ratio)} {words} ({best.name}); {aim}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200, help="sessions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=30, help="seconds to wait for a calm machine before each run")
    given = parser.parse_args()
    harness = os.environ.get("BENCH_HARNESS")
    if not harness:
        sys.exit("BENCH_HARNESS must name the folder of the shared harness (the one with common.py)")
    place = Path(harness).resolve()
    if kept := os.environ.get("BENCH_VENVS"):
        print(report(place, Path(kept).resolve(), given.n, given.rounds, given.patience))
    else:
        with measure.scratch() as folder:
            print(report(place, folder, given.n, given.rounds, given.patience))


if __name__ == "__main__":
    main()
