"""Open and plan a session with a very long log.

    python -m benchmarks.big_session [--events 100000] [--rounds 5]

The log is written by the real writer and codec: run after run of eight steps, with rejected and repeated attempts,
and at the end one real run, so that the plan has a right answer (everything is up to date). Opening and planning it
happens in a process of its own and is compared with `json.loads` of each line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks import measure
from benchmarks.work import Result, as_function, line_of_steps
from weft import __version__
from weft.app import App, SessionRequest
from weft.files import Disk, Folder
from weft.protocol.commands import StartRun
from weft.protocol.errors import Finding
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactRejected,
    DurableEvent,
    RunEnded,
    RunStarted,
    SessionCreated,
    StepCompleted,
    StepFailed,
    StepSkipped,
    StepStarted,
)
from weft.protocol.hashes import combine, hash_bytes
from weft.session.log import LOG, LogHead, LogWriter

SESSION: Final = "long-history"
STEPS: Final = 8
PIPELINE: Final = line_of_steps("history", STEPS)
AIM_SECONDS: Final = 1.0
AIM_MB: Final = 200.0
TEXT: Final = "the tide turns twice a day and every harbour keeps its own table of when"


async def body(_: str, number: int) -> Result:
    return {"step": number, "text": TEXT}


class History:
    """Decisions as a long life of a session leaves them in its log."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._attempts = dict.fromkeys(PIPELINE.steps, 0)
        self._hashes: dict[str, str] = {}

    def birth(self) -> list[DurableEvent]:
        return [SessionCreated(session=SESSION, pipeline=PIPELINE.name, weft=__version__)]

    def run(self, run: int) -> Iterator[list[DurableEvent]]:
        """One run: what is up to date is skipped, what is not is made, now and then at the second attempt."""
        events: list[DurableEvent] = [
            RunStarted(
                run=run,
                pipeline=PIPELINE.name,
                steps=PIPELINE.order(),
                desired=PIPELINE.final,
                parameters={"tone": "plain", "words": 400 + run % 7},
            )
        ]
        first = self._random.randrange(STEPS // 2)
        for index, step in enumerate(PIPELINE.steps):
            if index < first and step in self._hashes:
                events.append(StepSkipped(run=run, step=step, reason="up to date"))
                continue
            events.append(self._started(run, step))
            if self._random.random() < 0.1:
                yield events
                events = [*self._rejected(run, step), self._started(run, step)]
            yield events
            events = self._completed(run, step)
        yield events
        yield [RunEnded(run=run, outcome="done")]

    def _started(self, run: int, step: str) -> StepStarted:
        self._attempts[step] += 1
        upstream = {f"artifact:{name}.json": self._hashes.get(name, "") for name in PIPELINE.steps[step].requires}
        own = {"input:source", "skill:close-reading", "agent:reader", "schema:facts"}
        inputs = {"code:step": "1", **{name: self._hash() for name in sorted(own)}, **upstream}
        return StepStarted(
            run=run,
            step=step,
            attempt=self._attempts[step],
            cause="rerun",
            reason="the parameter words was changed (400 -> 401)",
            input_hash=combine(inputs),
            inputs=inputs,
        )

    def _rejected(self, run: int, step: str) -> list[DurableEvent]:
        findings = (Finding(f"{step}.json", "/quotes/2", "does not occur in the source", "quote it word for word"),)
        attempt = self._attempts[step]
        return [
            ArtifactRejected(run=run, step=step, attempt=attempt, artifact=f"{step}.json", findings=findings),
            StepFailed(
                run=run,
                step=step,
                attempt=attempt,
                kind="rejected",
                message=str(findings[0]),
                retrying=True,
                ms=self._random.randrange(9000),
            ),
        ]

    def _completed(self, run: int, step: str) -> list[DurableEvent]:
        value = {"title": f"run {run}", "text": " ".join(self._random.choices(TEXT.split(), k=60))}
        content = json.dumps(value, indent=2) + "\n"
        digest = self._hashes[step] = hash_bytes(content.encode())
        return [
            ArtifactAccepted(
                run=run,
                step=step,
                attempt=self._attempts[step],
                artifact=f"{step}.json",
                hash=digest,
                size=len(content),
                content=content,
            ),
            StepCompleted(
                run=run,
                step=step,
                attempt=self._attempts[step],
                hash=digest,
                schema_version="1",
                ms=self._random.randrange(9000),
            ),
        ]

    def _hash(self) -> str:
        return f"{self._random.getrandbits(128):032x}"


def build(workspace: Path, events: int) -> dict[str, float]:
    """A session with that many events, the last of them of a real run."""
    history, disk = History(seed=1), Disk(sync=False)
    with Folder.open(workspace, disk) as root, root.folder(f"sessions/{SESSION}", create=True) as folder:
        writer = LogWriter(folder, lambda: datetime.now(UTC), LogHead())
        writer.append(history.birth())
        run = 0
        while writer.head.seq < events - 3 * STEPS:
            run += 1
            for decision in history.run(run):
                writer.append(decision)
        writer.close()
    begun = time.perf_counter()
    with App.open(workspace, disk=disk, functions=as_function(body)) as app:
        seq = asyncio.run(_real_run(app))
    log = workspace / "sessions" / SESSION / LOG
    return {"events": seq, "bytes": log.stat().st_size, "real_run_s": time.perf_counter() - begun}


async def _real_run(app: App) -> int:
    wish = StartRun(force=frozenset(PIPELINE.steps))
    async with app.session(SessionRequest(pipeline=PIPELINE, session=SESSION)) as session:
        if await session.run(wish) != "done":
            raise AssertionError("the real run at the end of the history did not end well")
    return app.sessions.read(SESSION).state.seq


def plan(workspace: Path) -> dict[str, float]:
    begun = time.perf_counter()
    with App.open(workspace, functions=as_function(body)) as app:
        found = app.plan(SessionRequest(pipeline=PIPELINE, session=SESSION))
    seconds = time.perf_counter() - begun
    if [line.action for line in found.lines] != ["skip"] * STEPS:
        raise AssertionError(f"the plan is wrong: {found}")
    return {"seconds": seconds, "mb": measure.peak_mb()}


def parse(workspace: Path) -> dict[str, float]:
    begun = time.perf_counter()
    with (workspace / "sessions" / SESSION / LOG).open("rb") as file:
        for line in file:
            json.loads(line)
    return {"seconds": time.perf_counter() - begun, "mb": measure.peak_mb()}


def report(events: int, rounds: int) -> str:
    runs: dict[str, list[dict[str, float]]] = {"plan": [], "parse": []}
    with measure.scratch() as folder:
        built = measure.ask("big_session", "--child", "build", "--events", events, "--folder", folder)
        for _ in range(rounds):
            for name, found in runs.items():
                found.append(measure.ask("big_session", "--child", name, "--folder", folder))
    planned, parsed = measure.medians(runs["plan"]), measure.medians(runs["parse"])
    rows = [
        [
            words,
            f"{run['seconds']:.2f}",
            measure.times(run["seconds"] / parsed["seconds"]),
            f"{run['mb']:.0f}",
        ]
        for words, run in (("open and plan", planned), ("`json.loads` of each line", parsed))
    ]
    met = planned["seconds"] < AIM_SECONDS and planned["mb"] < AIM_MB
    return "\n".join(
        [
            f"## A session with {built['events']:,} events",
            "",
            f"A log of {built['bytes'] / 2**20:.0f} MB; medians of {rounds} fresh processes in turns.",
            "",
            measure.table(["", "s", "ratio", "peak MB"], rows),
            "",
            f"Aim: under {AIM_SECONDS:g} s and {AIM_MB:g} MB: {measure.verdict(met)}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", choices=["build", "plan", "parse"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child == "build":
        measure.answer(build(given.folder, given.events))
    elif given.child:
        measure.answer({"plan": plan, "parse": parse}[given.child](given.folder))
    else:
        print(report(given.events, given.rounds))


if __name__ == "__main__":
    main()
