"""What a long conversation costs to open and to go on with, next to a short one.

    python -m benchmarks.long_log [--turns 10000]

A session with so many turns is written, then opened by a process of its own, as `weft chat` opens it: the session and
its conversation; then a message is sent and the answer of a model that answers at once is waited for. It is opened
several times: the first finds no snapshot. Seconds are of CPU, so that what else the machine does counts little.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from weft.app import App, SessionRequest
from weft.files import Disk, Folder
from weft.protocol import conversation_events as t
from weft.protocol.commands import Say
from weft.protocol.events import DurableEvent, SessionCreated
from weft.session.log import LOG, LogHead, LogWriter
from weft.testing.measuring import spoken_events

SESSION = "long"
WANTED = {"opened": 0.5}
"""Seconds, for the long one."""


def build(workspace: Path, turns: int) -> int:
    """A session of so many turns; the bytes of its log."""
    workspace.mkdir(parents=True, exist_ok=True)
    with (
        Folder.open(workspace, Disk(sync=False)) as root,
        root.folder(f"sessions/{SESSION}", create=True) as folder,
    ):
        writer = LogWriter(folder, lambda: datetime.now(UTC), LogHead())
        writer.append([SessionCreated(session=SESSION, pipeline="", weft="0")])
        decision: list[DurableEvent] = []
        done = 0
        for record in spoken_events(turns * 9):
            decision.append(record.event)
            if isinstance(record.event, t.TurnCompleted | t.IntentRecorded):
                writer.append(decision)
                decision = []
                done += isinstance(record.event, t.TurnCompleted)
                if (
                    done >= turns
                    and not record.event.conversation.count("/")
                    and getattr(record.event, "key", 1) is None
                ):
                    break
        writer.append([t.IdleReached(conversation="main"), t.ConversationStopped(conversation="main", clean=True)])
        writer.close()
    return (workspace / "sessions" / SESSION / LOG).stat().st_size


async def talked(app: App) -> dict[str, float]:
    begun = time.process_time()
    async with app.session(SessionRequest(talk=True, session=SESSION, model="embedded")) as session:
        opened = time.process_time()
        await session.submit(Say(text="Hello"))
        await session.rest()
        answered = time.process_time()
    return {"opened": opened - begun, "answered": answered - opened, "closed": time.process_time() - answered}


def child(workspace: Path) -> dict[str, float]:
    with App.open(workspace) as app:
        return asyncio.run(talked(app))


def in_a_process(workspace: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.long_log", "--child", str(workspace)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_log")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.child:
        print(json.dumps(child(given.child)))
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for turns in (10, given.turns):
            workspace = Path(place) / str(turns)
            size = build(workspace, turns)
            for number, which in enumerate(("first", "second", "third")):
                took = in_a_process(workspace)
                good = turns == 10 or number == 0 or took["opened"] <= WANTED["opened"]
                rows.append(
                    [
                        f"{turns:,} turns, {size / 1e6:.1f} MB, opened for the {which} time",
                        *(f"{took[what]:.2f} s" for what in ("opened", "answered", "closed")),
                        measure.verdict(good),
                    ]
                )
    print(measure.table(("session", "open", "answer", "close", "open ≤ 0.5 s"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
