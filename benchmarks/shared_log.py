"""What does an append to the shared log cost, next to a bare INSERT on the same server and to the log's own file? And
how many sessions a second do 1, 2, 4 and 8 workers make, next to procrastinate's bare jobs and to one machine alone?

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
from tests.shared.campaign_work import lay_out, model_consent, model_server

from weft.app.fleet.queue import open_queue
from weft.files import Folder
from weft.protocol.events import SessionCreated, SettingChanged
from weft.session.postgres import PostgresLog
from weft.session.session import Session
from weft.session.sessions import Sessions

APPENDS = 300
SESSIONS = 32
PLACES = 2
"""Of each worker."""
THINKS = 5.0
"""Seconds of the model before each answer; a session asks it twice."""


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
    """Agents whose model thinks, as real ones do: what is measured is the fleet, and not the cores of one machine."""
    with server.database() as store:
        print(f"procrastinate, bare     {bare_jobs(store, 400):8.1f} jobs a second, with nothing in them")
    environment = {**os.environ, "HOME": str(place)}
    notes = [place / f"note-{n}.md" for n in range(SESSIONS)]
    for file in notes:
        file.write_text(f"{file.name} is about rivers. They flow.\n")

    def weft(path: Path, *words: object) -> str:
        ran = subprocess.run(Weft(path).command(*words), env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    with model_server("127.0.0.1", THINKS) as (address, _):
        agreed = model_consent(address)
        weft(_workspace(place / "alone", address), "trust", "folder", place, "--below")
        least = 2 * THINKS
        began = time.perf_counter()
        weft(place / "alone", "run", "noting", "--plain", "--trust", agreed, "--set", f"place={place}", notes[0])
        print(f"one session on files    {time.perf_counter() - began:8.1f} s, {least:.0f} of them the model's")
        first = 0.0
        for number in (1, 2, 4, 8):
            with server.database() as store:
                mine = _workspace(place / f"mine-{number}", address, f'store = "{store}"\n')
                words = Weft(mine).command("worker", "--concurrency", PLACES, "--trust", agreed)
                workers = [subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) for _ in range(number)]
                try:
                    _until(store, "SELECT count(*) = %s FROM weft.workers", number)
                    weft(mine, "run", "noting", "--queue", "--json", "--set", f"place={place}", *notes)
                    _until(store, "SELECT count(*) = %s FROM weft.sessions WHERE run = 'done'", SESSIONS)
                finally:
                    for worker in workers:
                        worker.send_signal(signal.SIGTERM)
                    for worker in workers:
                        worker.wait(120)
                with psycopg.connect(store) as connection:
                    row = connection.execute(
                        "SELECT extract(epoch FROM max(changed) - (SELECT min(at) FROM procrastinate_events))::float8 "
                        "FROM weft.sessions"
                    ).fetchone()
                assert row
                rate = SESSIONS / row[0]
                first = first or rate
                bound = number * PLACES / least
                print(
                    f"{number} workers               {rate:8.2f} sessions a second, {2 * rate:.2f} model calls; "
                    f"{rate / first:.2f}x of one, {rate / bound:.0%} of what {number * PLACES} places could do at most"
                )


def _workspace(path: Path, address: str, config: str = "") -> Path:
    path.mkdir()
    (path / "config.toml").write_text(config + lay_out(path, address))
    return path


def _until(store: str, wanted: str, *values: object) -> None:
    began = time.monotonic()
    with psycopg.connect(store, autocommit=True) as connection:
        while True:
            try:
                row = connection.execute(wanted.encode(), values).fetchone()
            except psycopg.errors.UndefinedTable:
                row = None
            if row and row[0]:
                return
            assert time.monotonic() - began < 1800
            time.sleep(0.2)


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
