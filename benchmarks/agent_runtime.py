"""A turn through the Claude agent runtime against the same turn in our own loop: time, and memory while it is there.

    python -m benchmarks.agent_runtime [--turns 10] [--rounds 3]

The same conversation twice, through the same door of the app and with the same answers from a loopback server in a
process of its own: a first turn, then turns of text, then turns that read a file. Memory is what our process and all it
started hold after the last turn. Needs the extra: `pip install 'weft[claude]'`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import measure

WAYS: Final = {"our loop": "anthropic", "the runtime": "claude-agent"}
KEYS: Final = {"anthropic": "path", "claude-agent": "file_path"}


async def serve(kind: str, desk: str, turns: int) -> None:
    from weft.testing.wire import Called, Reply, WireServer, anthropic_wire

    path = {"anthropic": "a.md", "claude-agent": f"{desk}/a.md"}[kind]
    text = Reply(text="word " * 50, pieces=50)
    reads = [
        Reply(calls=(Called(tool="Read", call=f"toolu_{n}", arguments=json.dumps({KEYS[kind]: path})),))
        for n in range(turns)
    ]
    replies = [text] * (turns + 1) + [reply for read in reads for reply in (read, text)]
    async with WireServer(anthropic_wire, replies) as server:
        measure.answer({"url": server.url})
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def server(kind: str, desk: Path, turns: int) -> Iterator[str]:
    words = ["--serve", kind, "--desk", str(desk), "--turns", str(turns)]
    command = [sys.executable, "-m", "benchmarks.agent_runtime", *words]
    with subprocess.Popen(command, cwd=measure.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = measure.last_answer(child.stdout.readline())
        assert found is not None
        try:
            yield str(found["url"])
        finally:
            child.communicate("")


async def talk(kind: str, url: str, desk: Path, turns: int) -> dict[str, float]:
    import psutil
    from tests.doors import OpenConversation, talk_in

    from weft.app import App
    from weft.protocol.conversation_events import ModelSettled

    workspace = desk.parent / f"workspace-{kind}-{os.getpid()}"
    workspace.mkdir()
    table = f'[models.it]\nkind = "{kind}"\nmodel = "claude-sonnet-4-5"\nbase_url = "{url}"\n'
    (workspace / "config.toml").write_text(table)

    async def turn(one: OpenConversation) -> float:
        begun = time.perf_counter()
        one.say("Go on.")
        await one.idle()
        return time.perf_counter() - begun

    with App.open(workspace) as app:
        async with talk_in(app, model="it", working=desk, session="the-talk") as one:
            first = await turn(one)
            text = [await turn(one) for _ in range(turns)]
            reading = [await turn(one) for _ in range(turns)]
            us = psutil.Process()
            held = [us.memory_info().rss, *(child.memory_info().rss for child in us.children(recursive=True))]
            ends = [r.event for r in await one.session.records() if isinstance(r.event, ModelSettled)]
            assert [end.outcome for end in ends] == ["completed"] * (3 * turns + 1), ends[-1]
            await one.shutdown()
    return {
        "first": first,
        "text": statistics.median(text),
        "reading": statistics.median(reading),
        "memory": sum(held) / 2**20,
    }


def report(turns: int, rounds: int) -> None:
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with measure.scratch() as folder:
        desk = folder / "desk"
        desk.mkdir()
        (desk / "a.md").write_text("one two three\n")
        for _ in range(rounds):
            for way, kind in WAYS.items():
                with server(kind, desk, turns) as url:
                    words = ["--talk", kind, "--url", url, "--desk", desk, "--turns", turns]
                    runs[way].append(measure.ask("agent_runtime", *words))
    ours, theirs = (measure.medians(runs[way]) for way in WAYS)
    names = {"first": "the first turn", "text": "a turn of text", "reading": "a turn with one file read"}
    rows = [
        (name, f"{ours[key] * 1e3:.0f} ms", f"{theirs[key] * 1e3:.0f} ms", measure.times(theirs[key] / ours[key]))
        for key, name in names.items()
    ]
    memory = (
        f"{ours['memory']:.0f} MB",
        f"{theirs['memory']:.0f} MB",
        measure.times(theirs["memory"] / ours["memory"]),
    )
    print(measure.table(("", *WAYS, "ratio"), [*rows, ("memory held", *memory)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", choices=tuple(KEYS), help=argparse.SUPPRESS)
    parser.add_argument("--talk", choices=tuple(KEYS), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--desk", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.serve, given.desk, given.turns))
    elif given.talk:
        measure.answer(asyncio.run(talk(given.talk, given.url, Path(given.desk), given.turns)))
    else:
        report(given.turns, given.rounds)


if __name__ == "__main__":
    main()
