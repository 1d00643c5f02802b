"""What a call of a source's tool costs over the bare client of the protocol, to the same server.

    python -m benchmarks.source_calls [--calls 200]

Both speak to one small server each, over standard input and output, and take turns in blocks. `bare` is the official
client with its own way to a process; `weft` is a tool of a toolbox: the boundary around the process, the supervisor of
the connection, limits of time and size, the outcome. `quarter` is what a quarter of the calls stay below:
on a machine that does other things too it says more than the median.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mcp import Client, StdioServerParameters

from benchmarks import measure
from weft.files import Folder
from weft.protocol.messages import ToolCall
from weft.sources.connected_sources import Sources
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox

BLOCK: Final = 10
SERVER: Final = """\
import json, sys
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [TOOL]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": answer}), flush=True)
"""
TEXT: Final = "x" * 200


class _NoStore:
    """No secret is needed here."""

    def get(self, name: str) -> str | None:
        return None

    def put(self, name: str, key: str) -> None:
        raise AssertionError(name)

    def remove(self, name: str) -> bool:
        return False


async def timed(call: Callable[[], Awaitable[object]], count: int) -> list[float]:
    took = []
    for _ in range(count):
        begun = time.perf_counter()
        await call()
        took.append(time.perf_counter() - begun)
    return took


async def measured(calls: int, top: Path) -> dict[str, list[float]]:
    script = top / "server.py"
    script.write_text(SERVER)
    place = top / "workspace" / "sources" / "echo"
    place.mkdir(parents=True)
    words = ["-I", "-S", str(script)]
    (place / "config.json").write_text(
        json.dumps({"kind": "mcp", "command": sys.executable, "args": words, "read": [str(top)]})
    )
    took: dict[str, list[float]] = {"bare": [], "weft": []}
    with Folder.open(top / "workspace") as workspace:
        sources = Sources(
            workspace=workspace,
            own=top / "own",
            surroundings={"PATH": os.environ["PATH"], "HOME": str(top)},
            store=_NoStore,
            now=lambda: datetime.now(UTC),
        )
        reached = await sources.reach(sources.one("echo"), "benchmark")
        assert reached.state == "ready", reached.why
        box = Toolbox(sources.offer("benchmark")[0])
        context = Context(call="1", working=workspace)

        async def ours() -> None:
            handle = await box.start(ToolCall(call="1", tool="echo__echo", input={"text": TEXT}), context)
            outcome = await handle.result()
            assert outcome.text == TEXT
            await handle.closed()

        async with Client(StdioServerParameters(command=sys.executable, args=words)) as client:

            async def bare() -> None:
                await client.call_tool("echo", {"text": TEXT})

            for turn in range(calls // BLOCK + 1):
                for name, call in (("bare", bare), ("weft", ours)):
                    spent = await timed(call, BLOCK)
                    if turn:  # the first block of each warms up
                        took[name] += spent
        await sources.release("benchmark")
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    given = parser.parse_args()
    with measure.scratch() as folder:
        took = asyncio.run(measured(given.calls, folder))
    quarters = {name: statistics.quantiles(spent, n=20) for name, spent in took.items()}
    low, middle, high = 4, 9, 18
    print("## A call of a source's tool\n\n| | quarter | to bare | median | to bare | p95 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, parts in quarters.items():
        told = [f"{parts[at] * 1000:.2f} ms | {parts[at] / quarters['bare'][at]:.2f}" for at in (low, middle)]
        print(f"| {name} | {' | '.join(told)} | {parts[high] * 1000:.2f} ms |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
