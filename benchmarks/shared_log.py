"""What does an append to the shared log cost, next to a bare INSERT on the same server and to the log's own file? And
how many sessions a second do 1, 2 and 4 workers make, next to procrastinate's bare jobs and to one machine alone?

    python -m benchmarks.shared_log             appends only: seconds
    python -m benchmarks.shared_log --workers   sessions too: minutes

Needs PostgreSQL's programs and weft[postgres]. The server syncs every commit, as it is run for work.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psycopg
from tests.made import Weft
from tests.postgres import Server

from weft.app.queue import open_queue
from weft.files import Folder
from weft.protocol.events import SessionCreated, SettingChanged
from weft.session.postgres import PostgresLog
from weft.session.session import Session
from weft.session.sessions import Sessions

APPENDS = 300
SESSIONS = 40
EXAMPLE = Path(__file__).parent.parent / "examples" / "fleet"


def now() -> datetime:
    return datetime.now(UTC)


def appends(server: Server, place: Path) -> None:
    """In turns, so that what else the machine does falls on all of them alike."""
    line = b"x" * 250
    with server.database() as store, psycopg.connect(store, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (seq bigint PRIMARY KEY, line bytea)")
        shared = PostgresLog(store)
        opened = {name: _session(place / name, log) for name, log in (("shared log", shared), ("own file", None))}
        works: dict[str, Callable[[int], object]] = {
            "bare INSERT": lambda n: connection.execute("INSERT INTO bare VALUES (%s, %s)", (n, line))
        }
        for name, session in opened.items():
            works[name] = partial(_append, session)
        found: dict[str, list[float]] = {name: [] for name in works}
        for number in range(APPENDS):
            for name, work in works.items():
                began = time.perf_counter()
                work(number)
                found[name].append(time.perf_counter() - began)
        for session in opened.values():
            session.close()
        shared.close()
    bare = statistics.median(found["bare INSERT"])
    for name, times in found.items():
        print(f"{name:<22}  {statistics.median(times) * 1e6:8.0f} µs   {statistics.median(times) / bare:.2f}x")


def _session(path: Path, log: PostgresLog | None) -> Session:
    path.mkdir()
    session = Sessions(Folder.open(path), now, log).open("bench", create=True)
    session.record([SessionCreated(session="bench", pipeline="p", weft="1")])
    return session


def _append(session: Session, number: int) -> None:
    session.record([SettingChanged(setting="model", value=f"{number:0150}")])


def bare_jobs(store: str, number: int) -> float:
    """Jobs a second of procrastinate alone, with one worker and nothing in the jobs."""
    queue = open_queue(store)

    async def go() -> float:
        async with queue.open_async():
            await queue.schema_manager.apply_schema_async()

            @queue.task(name="nothing")
            async def nothing(n: int) -> None:
                pass

            for n in range(number):
                await nothing.defer_async(n=n)
            began = time.perf_counter()
            await queue.run_worker_async(wait=False, concurrency=2, install_signal_handlers=False)
            return number / (time.perf_counter() - began)

    return asyncio.run(go())


def sessions(server: Server, place: Path) -> None:
    with server.database() as store:
        print(f"procrastinate, bare     {bare_jobs(store, 400):8.1f} jobs a second")
    environment = {**os.environ, "HOME": str(place)}
    notes = [place / f"note-{n}.md" for n in range(SESSIONS)]
    for file in notes:
        file.write_text(f"{file.name} is about rivers. They flow.\n")
    subprocess.run(
        [sys.executable, "-m", "weft", "trust", "folder", str(place), "--below"], env=environment, check=True
    )
    alone = place / "alone"
    subprocess.run(["cp", "-r", str(EXAMPLE), str(alone)], check=True)
    began = time.perf_counter()
    subprocess.run(
        Weft(alone).command("run", "brief", "--plain", *notes), env=environment, capture_output=True, check=True
    )
    print(f"one machine, files      {SESSIONS / (time.perf_counter() - began):8.2f} sessions a second")
    for number in (1, 2, 4):
        with server.database() as store:
            mine = place / f"mine-{number}"
            subprocess.run(["cp", "-r", str(EXAMPLE), str(mine)], check=True)
            (mine / "config.toml").write_text(f'store = "{store}"\n')
            words = Weft(mine).command("run", "brief", "--queue", "--json", *notes)
            subprocess.run(words, env=environment, capture_output=True, check=True)
            workers = [
                subprocess.Popen(
                    Weft(mine).command("worker", "--concurrency", 2), env=environment, stderr=subprocess.DEVNULL
                )
                for _ in range(number)
            ]
            with psycopg.connect(store, autocommit=True) as connection:
                counted = "SELECT count(*) FILTER (WHERE run = 'done'), min(changed), max(changed) FROM weft.sessions"
                began = time.monotonic()
                while (row := connection.execute(counted.encode()).fetchone()) and row[0] < SESSIONS:
                    assert time.monotonic() - began < 900
                    time.sleep(0.2)
                first = connection.execute("SELECT min(began) FROM weft.workers").fetchone()
            assert row
            assert first
            seconds = (row[2] - first[0]).total_seconds()
            rate = SESSIONS / seconds
            print(f"{number} workers               {rate:8.2f} sessions a second, {3 * rate:.1f} steps")
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            for worker in workers:
                worker.wait(60)


def main() -> None:
    server = Server(durable=True)
    try:
        with tempfile.TemporaryDirectory(dir="/tmp") as place:
            appends(server, Path(place))
            if "--workers" in sys.argv:
                sessions(server, Path(place))
    finally:
        server.close()


if __name__ == "__main__":
    main()
