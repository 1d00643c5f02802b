"""What the benchmarks share: processes of their own, medians, tables, and an eye on what else the machine does."""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
ANSWER: Final = "@@"
"""Stands before the one line of JSON with which a child process answers."""
DISTURBED: Final = 0.5
"""Cores that other processes may use before a run counts as disturbed; the kernel's own writing is among them."""


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each figure over the runs that nothing disturbed, or over all when every one was."""
    used = [run for run in runs if run.get("other_cores", 0.0) <= DISTURBED] or runs
    return {key: statistics.median(run[key] for run in used) for key in used[0]}


def undisturbed(runs: Sequence[Mapping[str, float]]) -> str:
    calm = sum(1 for run in runs if run.get("other_cores", 0.0) <= DISTURBED)
    return f"{calm}/{len(runs)}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def times(ratio: float) -> str:
    return f"{ratio:.2f}x"


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on a real disk (BENCH_TMP names another place), removed at the very end: on some file systems the
    removal of thousands of files slows down what is measured after it. Where the file system can, what is made in it
    lies apart from where others removed theirs."""
    base = os.environ.get("BENCH_TMP")
    if base:
        Path(base).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="weft-bench-", dir=base))
    with suppress(OSError):
        subprocess.run(["chattr", "+T", str(folder)], check=False, capture_output=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ask(module: str, *words: object) -> dict[str, Any]:
    """Run a module of this package in a fresh process; its answer."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    found = last_answer(done.stdout)
    if found is None:
        raise RuntimeError(f"{' '.join(command[2:])} gave no answer (exit {done.returncode})\n{done.stderr[-2000:]}")
    return found


def answer(value: Mapping[str, Any]) -> None:
    print(ANSWER + json.dumps(value), flush=True)


def last_answer(output: str) -> dict[str, Any] | None:
    for line in reversed(output.splitlines()):
        if line.startswith(ANSWER):
            found = json.loads(line.removeprefix(ANSWER))
            return found if isinstance(found, dict) else None
    return None


def say(text: str) -> None:
    """Progress, beside the tables."""
    print(text, file=sys.stderr, flush=True)


# -- what a process and the machine use


def own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """The most memory this process ever had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def machine_cpu() -> float:
    """Seconds of CPU that all processes used since the machine started; 0.0 where it can't be known."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def wait_for_calm(patience: float) -> None:
    """Wait, at most `patience` seconds, until other processes use little."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        before, own, begun = machine_cpu(), own_cpu(), time.monotonic()
        time.sleep(0.5)
        other = machine_cpu() - before - (own_cpu() - own)
        if other / (time.monotonic() - begun) < DISTURBED / 2:
            return
