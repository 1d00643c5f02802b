"""The engine's own cost: Weft against plain code, one session after the other and all at once.

    python -m benchmarks.engine [--n 200] [--rounds 3] [--patience 20]

Every run of a variant has a process and an empty folder of its own; the variants take turns, so that a slow moment of
the machine meets all of them. Only ratios within one call count.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from benchmarks import measure
from benchmarks.plain import SYNCS, PlainAppend, PlainSame, counted, record_tape
from benchmarks.work import STEPS, Result, WeftEngine, body, check
from weft.files import Disk

WARM_UP: Final = 5
MODES: Final = {"seq": "one after the other", "conc": "all at once"}
AIM: Final = 0.5


class Engine(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def run(self, session: str) -> list[Result]: ...


VARIANTS: Final[dict[str, Callable[[Path], Engine]]] = {
    "weft": lambda folder: WeftEngine(folder, body),
    "weft_nosync": lambda folder: WeftEngine(folder, body, Disk(sync=False)),
    "plain_same": lambda folder: PlainSame(folder, body),
    "plain_same_threads": lambda folder: PlainSame(folder, body, threads=True),
    "plain_append_fsync": lambda folder: PlainAppend(folder, body),
}


async def timed(engine: Engine, folder: Path, mode: str, n: int) -> dict[str, float]:
    await engine.open()
    for i in range(WARM_UP):
        check("warm", await engine.run(f"warm-{i}"))
    size = measure.disk_bytes(folder)
    took: list[float] = []

    async def one(number: int, begun: float) -> None:
        session = f"{mode}-{number:05d}"
        check(session, await engine.run(session))
        took.append(time.perf_counter() - begun)

    machine, cpu, begun = measure.machine_cpu(), measure.own_cpu(), time.perf_counter()
    if mode == "seq":
        for number in range(n):
            await one(number, time.perf_counter())
    else:
        await asyncio.gather(*(one(number, begun) for number in range(n)))
    wall, used = time.perf_counter() - begun, measure.own_cpu() - cpu
    other = max(0.0, measure.machine_cpu() - machine - used)
    await engine.close()
    return {
        "steps_per_s": n * STEPS / wall,
        "p50_ms": measure.percentile(took, 0.5) * 1e3,
        "p99_ms": measure.percentile(took, 0.99) * 1e3,
        "cpu_ms": used / (n * STEPS) * 1e3,
        "bytes": (measure.disk_bytes(folder) - size) / n,
        "other_cores": other / wall,
    }


def run_all(folder: Path, n: int, rounds: int, patience: float) -> dict[tuple[str, str], list[dict[str, float]]]:
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for turn in range(rounds):
        for mode in MODES:
            for variant in VARIANTS:
                place = folder / f"{variant}-{mode}-{turn}"
                place.mkdir()
                measure.wait_for_calm(patience)
                run = measure.ask("engine", "--child", variant, "--mode", mode, "--n", n, "--folder", place)
                measure.say(
                    f"{variant} {mode}: {run['steps_per_s']:.0f} steps/s, others {run['other_cores']:.2f} cores"
                )
                found.setdefault((mode, variant), []).append(run)
    return found


def report(n: int, rounds: int, patience: float) -> str:
    with measure.scratch() as folder:
        (folder / "tape").mkdir()
        calls = counted(asyncio.run(record_tape(folder / "tape", body)))
        found = run_all(folder, n, rounds, patience)
    syncs = {variant: str(sum(calls[kind] for kind in SYNCS)) for variant in VARIANTS}
    syncs |= {"weft_nosync": "0", "plain_append_fsync": str(STEPS)}
    made = ", ".join(f"{count} {kind}" for kind, count in sorted(calls.items()))
    lines = [
        "## The engine's own cost",
        "",
        f"Sessions of {STEPS} steps, {n} of them; medians of {rounds} runs in turns. A Weft session makes: {made}.",
    ]
    for mode, words in MODES.items():
        medians = {variant: measure.medians(found[mode, variant]) for variant in VARIANTS}
        same = medians["plain_same"]["steps_per_s"]
        rows = [
            [
                f"`{variant}`",
                f"{run['steps_per_s']:.0f}",
                measure.times(run["steps_per_s"] / same),
                f"{run['p50_ms']:.1f} / {run['p99_ms']:.1f}",
                f"{run['cpu_ms']:.2f}",
                syncs[variant],
                f"{run['bytes']:.0f}",
                measure.undisturbed(found[mode, variant]),
            ]
            for variant, run in medians.items()
        ]
        head = [
            "",
            "steps/s",
            "to plain_same",
            "p50 / p99 ms",
            "CPU ms/step",
            "syncs/session",
            "B/session",
            "calm runs",
        ]
        ratio = medians["weft"]["steps_per_s"] / same
        aim = f"Aim: at least {AIM:.0%} of plain code with the same durable writes: {measure.times(ratio)}, "
        lines += ["", f"**Sessions {words}**", "", measure.table(head, rows), "", aim + measure.verdict(ratio >= AIM)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200, help="sessions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=20, help="seconds to wait for a calm machine before each run")
    parser.add_argument("--child", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--mode", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        engine = VARIANTS[given.child](given.folder)
        measure.answer(asyncio.run(timed(engine, given.folder, given.mode, given.n)))
    else:
        print(report(given.n, given.rounds, given.patience))


if __name__ == "__main__":
    main()
