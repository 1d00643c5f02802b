"""Weft as one of the engines of the shared harness.

    BENCH_HARNESS=folder/of/the/harness python benchmarks/bench_weft.py bench|crash|fsyncs [--variant durable]

The harness brings the work, the timing and the crash test (its `common.py`); this file only fits Weft into it.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.work import Result, WeftEngine
from weft import __version__
from weft.files import Disk

Harness = Any


def harness() -> Harness:
    folder = os.environ.get("BENCH_HARNESS")
    if not folder or not (Path(folder) / "common.py").is_file():
        sys.exit("BENCH_HARNESS must name the folder of the shared harness (the one with common.py)")
    sys.path.insert(0, folder)
    return importlib.import_module("common")


class Weft:
    """Weft behind the four coroutines that the harness calls."""

    name = "weft"
    variants: ClassVar[dict[str, dict[str, bool]]] = {"durable": {"sync": True}, "nosync": {"sync": False}}
    notes = "registered functions, a pipeline of values, one session folder each"

    def __init__(self, directory: Path, variant: str) -> None:
        self.dir = directory
        self.variant = variant
        self._engine = WeftEngine(directory, harness().astep, Disk(sync=self.variants[variant]["sync"]))

    async def open(self) -> None:
        await self._engine.open()

    async def close(self) -> None:
        await self._engine.close()

    async def run(self, sid: str) -> list[Result]:
        return await self._engine.run(sid)

    async def resume(self, sid: str) -> list[Result]:
        return await self._engine.run(sid)

    def version(self) -> str:
        return f"weft {__version__}"


if __name__ == "__main__":
    harness().main(Weft)
