"""A step over many items: time and memory of a whole run, and of one in which a single item has changed.

    python -m benchmarks.items [--items 1000 10000]

Each size runs in a process of its own, with the function of the items in that process, so that what is measured is what
an item costs: its decision, its line in the log, its file. The disk syncs as it does for a person.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from weft.app import App, RegisteredFunction, SessionRequest
from weft.protocol.commands import StartRun
from weft.protocol.steps import StepInput

PIPELINE = """\
name: many
description: Many items
inputs: {list: {kind: text}}
steps:
  values: {artifact: values.json, code: "many.py:values"}
  cards:
    map: {artifact: values.json, at: "values[*]", at_once: 16}
    artifact: cards.json
    code: many.py:card
    requires: [values]
    inputs: []
    final: true
"""


def values(step: StepInput) -> Any:
    return {"values": step.text.split()}


def card(step: StepInput) -> Any:
    return {"hello": step.item, "length": len(step.item)}


def measured(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in {
            "pipelines/many.yaml": PIPELINE,
            "code/many.py": "def values(step): ...\ndef card(step): ...\n",
        }.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        source = place / "list.txt"
        words = [f"item{number:06}" for number in range(count)]
        source.write_text(" ".join(words))
        whole = _run(place, source)
        words[count // 2] = "changed"
        source.write_text(" ".join(words))
        one = _run(place, source)
        log = (place / "sessions/many/log.jsonl").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "items": count,
        "seconds": whole,
        "ms_per_item": whole * 1000 / count,
        "one_changed": one,
        "mib": peak,
        "log_mib": log / 2**20,
    }


def _run(place: Path, source: Path) -> float:
    functions = {"many.py:values": RegisteredFunction(values), "many.py:card": RegisteredFunction(card)}

    async def go() -> None:
        with App.open(place, functions=functions) as app:
            request = SessionRequest(pipeline="many", session="many", file=source, attended=False)
            async with app.session(request, reachable=False) as session:
                if await session.run(StartRun()) != "done":
                    raise RuntimeError("the run did not come to its end")

    began = time.perf_counter()
    asyncio.run(go())
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measured(given.one)))
        return
    for count in given.items:
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.items", "--one", str(count)], check=True, capture_output=True, text=True
        )
        told = json.loads(ran.stdout)
        print("  ".join(f"{name} {value:.2f}" for name, value in told.items()))


if __name__ == "__main__":
    main()
