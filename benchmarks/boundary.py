"""What the boundary around a command costs: the Shell tool's own way of running `true`, by each means this machine has.

    python -m benchmarks.boundary [--runs 30]

The means take turns. `plain` is the supervisor without a boundary; the ratio is to it. Each command is run as the tool
does it: supervisor, boundary, bash, and the wait until nothing of it is left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from pathlib import Path
from typing import Final

from benchmarks import measure
from weft.files import Folder
from weft.protocol.messages import ToolCall
from weft.tools.boundary import KINDS, _found
from weft.tools.builtin import builtin_tools
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox

COMMAND: Final = "true"
NAMES: Final = {"none": "plain"}


async def seconds(box: Toolbox, context: Context) -> float:
    begun = time.perf_counter()
    handle = await box.start(ToolCall(call="1", tool="Shell", input={"command": COMMAND, "needs": ["write"]}), context)
    outcome = await handle.result()
    await handle.closed()
    assert not outcome.is_error, outcome.text
    return time.perf_counter() - begun


async def measured(runs: int, folder: Path) -> dict[str, list[float]]:
    kinds = ["none", *(kind for kind in KINDS if kind != "none" and _found(kind).kind == kind)]
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    box = Toolbox(builtin_tools())
    with Folder.open(folder) as working:
        context = Context(call="1", working=working, environment={"PATH": os.environ["PATH"], "HOME": str(folder)})
        for turn in range(runs + 1):
            for kind in kinds:
                os.environ["WEFT_BOUNDARY"] = kind
                spent = await seconds(box, context)
                if turn:  # the first of each warms up
                    took[kind].append(spent)
    os.environ.pop("WEFT_BOUNDARY", None)
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    given = parser.parse_args()
    with measure.scratch() as folder:
        took = asyncio.run(measured(given.runs, folder))
    plain = statistics.median(took["none"])
    print("## A command inside the boundary\n\n| means | median | p95 | to plain |\n| --- | ---: | ---: | ---: |")
    for kind, values in took.items():
        middle = statistics.median(values)
        late = measure.percentile(values, 0.95)
        print(
            f"| {NAMES.get(kind, kind)} | {middle * 1000:.0f} ms | {late * 1000:.0f} ms | {middle / plain:.2f} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
