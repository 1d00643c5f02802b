"""What a conversation costs, and how long a stop takes, next to what the machine itself can do.

    python -m benchmarks.conversation [--rounds 100] [--commands 100000] [--events 200000] [--conversations 5000]

A stop is measured from the request to the moment at which the end of the turn is shown to a watcher, over a session on
the disk, with and without waiting for the disk. One process each, so that nothing of one figure is in another.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks import measure
from weft.conversation.conversation import Conversation
from weft.conversation.ports import SessionJournal
from weft.files import Disk, Folder
from weft.session.session import Session
from weft.testing import scenario_real as real
from weft.testing.measuring import commands_per_second, events_per_second, folds_per_second, resident_bytes
from weft.testing.stand_ins import MemoryJournal, ScriptedModel, ScriptedTools, ports

COOPERATIVE: Final = "await sleep(60)"
BUSY: Final = "thread: while True: pass"
PROCESS: Final = "sh -c 'trap \"\" TERM; sleep 600 & wait'"


# -- the machine


def machine_sync(rounds: int) -> list[float]:
    """Seconds for 200 bytes and an fdatasync."""
    took = []
    with tempfile.TemporaryFile(dir=os.environ.get("BENCH_TMP")) as file:
        for _ in range(rounds):
            begun = time.perf_counter()
            os.write(file.fileno(), b"x" * 200)
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - begun)
    return took


async def machine_loop(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds for a turn of the loop, and for a hop into a thread and back."""
    loop = asyncio.get_running_loop()
    turns, hops = [], []
    for _ in range(rounds):
        begun = time.perf_counter()
        await asyncio.sleep(0)
        turns.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        await loop.run_in_executor(None, int)
        hops.append(time.perf_counter() - begun)
    return turns, hops


# -- children: one figure each


def latencies(described: str, rounds: int, sync: bool) -> dict[str, Any]:
    tool = real.Tool(described)

    async def measured() -> tuple[list[float], int]:
        took, _ = await real.interrupt_latencies(tool, rounds, sync=sync)
        deadline = time.monotonic() + 2
        while tool.living and time.monotonic() < deadline:  # noqa: ASYNC110  processes don't tell when they end
            await asyncio.sleep(0.01)
        return took, tool.living

    took, left = asyncio.run(measured())
    return {"took": took, "left": left}


def flood(rounds: int, sync: bool) -> dict[str, Any]:
    took, after = asyncio.run(real.flood_latencies(20_000, rounds, 1000, sync=sync))
    return {"took": took, "left": after}


def on_disk(number: int) -> float:
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_TMP")) as place,
        Folder.open(Path(place), Disk(sync=False)) as above,
    ):
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            return commands_per_second(number, SessionJournal(session))


async def idle_bytes(number: int) -> float:
    given = ports(ScriptedModel(), ScriptedTools())
    kept = [await Conversation.open(MemoryJournal(), given) for _ in range(50)]
    before = resident_bytes()
    kept += [await Conversation.open(MemoryJournal(), given) for _ in range(number)]
    return (resident_bytes() - before) / number


CHILDREN: Final[dict[str, Callable[[int, bool], dict[str, Any]]]] = {
    "cooperative": lambda n, sync: latencies(COOPERATIVE, n, sync),
    "busy": lambda n, sync: latencies(BUSY, n, sync),
    "process": lambda n, sync: latencies(PROCESS, n, sync),
    "flood": flood,
    "memory": lambda n, _: {"value": commands_per_second(n, MemoryJournal(keep=False))},
    "disk": lambda n, _: {"value": on_disk(n)},
    "fold": lambda n, _: {"value": folds_per_second(n)},
    "read": lambda n, _: {"value": events_per_second(n)},
    "idle": lambda n, _: {"value": asyncio.run(idle_bytes(n))},
}


def ask(name: str, number: int, *, sync: bool = False) -> dict[str, Any]:
    words = ["--sync"] if sync else []
    return measure.ask("conversation", "--child", name, "--n", number, *words)


# -- the table


def milliseconds(values: list[float]) -> str:
    return f"{measure.percentile(values, 0.5) * 1e3:.2f} / {measure.percentile(values, 0.99) * 1e3:.2f}"


def stops(rounds: int) -> list[list[str]]:
    bars = {
        "cooperative": ("a tool that cooperates", 5, rounds),
        "busy": ("a busy thread that ignores it, asked from another thread", 50, max(1, rounds // 4)),
        "process": ("a process group that ignores TERM", 20, max(1, rounds // 5)),
        "flood": ("a stream that floods, 1,000 pieces at a time", 20, max(1, rounds // 5)),
    }
    rows = []
    for name, (words, bar, number) in bars.items():
        plain, synced = ask(name, number), ask(name, number, sync=True)
        p99 = measure.percentile(plain["took"], 0.99) * 1e3
        left = {"process": f"; {plain['left']} processes left", "flood": f"; {plain['left']} pieces after it"}
        met = measure.verdict(p99 <= bar and not plain["left"])
        rows.append(
            [
                f"stop: {words}",
                f"{milliseconds(plain['took'])} ms{left.get(name, '')}",
                f"{milliseconds(synced['took'])} ms",
                f"p99 ≤ {bar} ms",
                met,
            ]
        )
    return rows


def rates(given: argparse.Namespace) -> list[list[str]]:
    bars: list[tuple[str, str, int, float, str]] = [
        ("memory", "commands a second, log in memory", given.commands, 20_000, ""),
        ("disk", "commands a second, log on disk, no fsync", given.commands, 10_000, ""),
        ("fold", "events a second, folded from memory", given.events, 1_000_000, ""),
        ("read", "events a second, read from disk and folded", given.events, 100_000, ""),
    ]
    rows = []
    for name, words, number, bar, _ in bars:
        value = ask(name, number)["value"]
        rows.append([words, f"{value:,.0f}", "", f"≥ {bar:,.0f}", measure.verdict(value >= bar)])
    value = ask("idle", given.conversations)["value"]
    rows.append(["bytes of an idle conversation", f"{value:,.0f}", "", "≤ 10,000", measure.verdict(value <= 10_000)])
    return rows


def report(given: argparse.Namespace) -> str:
    syncs = machine_sync(300)
    turns, hops = asyncio.run(machine_loop(2000))
    limits = [
        ["the machine: 200 bytes and fdatasync", f"{milliseconds(syncs)} ms", "", "", ""],
        ["the machine: one turn of the loop", f"{milliseconds(turns)} ms", "", "", ""],
        ["the machine: a hop into a thread and back", f"{milliseconds(hops)} ms", "", "", ""],
    ]
    head = ["", "p50 / p99, or value", "with fsync", "bar", ""]
    body = measure.table(head, [*limits, *stops(given.rounds), *rates(given)])
    return f"## Conversations\n\nBars are for the column without fsync, which is the machine's own figure.\n\n{body}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="stops of each kind")
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--conversations", type=int, default=5_000)
    parser.add_argument("--child", choices=CHILDREN, help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--sync", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measure.answer(CHILDREN[given.child](given.n, given.sync))
    else:
        print(report(given))


if __name__ == "__main__":
    main()
