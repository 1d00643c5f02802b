"""A fleet on one machine: PostgreSQL, a folder for large contents, four workers and a server. It queues documents,
kills two workers on the way, and prints what became of everything.

    python examples/fleet/run.py                      200 documents
    python examples/fleet/run.py --documents 20

It needs PostgreSQL's programs (Debian: apt-get install postgresql) and weft[postgres]. Everything it makes lies in a
temporary folder and is gone at the end.
"""

from __future__ import annotations

import argparse
import collections
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

HERE = Path(__file__).parent


def postgres(stack: ExitStack, folder: Path) -> str:
    """A server of its own, reached through a socket in its folder; the address of its database."""
    found = shutil.which("postgres") or max(glob.glob("/usr/lib/postgresql/*/bin/postgres"), default="")
    if not found:
        sys.exit("PostgreSQL is not here: apt-get install postgresql")
    programs = Path(os.path.realpath(found)).parent
    folder.mkdir(mode=0o755)
    user = None
    if os.geteuid() == 0:  # it refuses to run as root
        user = "postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} else "nobody"
        shutil.chown(folder, user)

    def run(*words: str) -> None:
        subprocess.run(
            [str(programs / words[0]), *words[1:]], cwd=folder, user=user, stdout=subprocess.DEVNULL, check=True
        )

    run("initdb", "-D", "data", "-U", "weft", "-A", "trust", "--locale=C", "-E", "UTF8")
    run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", f"-c listen_addresses= -k {folder}", "start")
    stack.callback(run, "pg_ctl", "-D", "data", "-w", "-m", "fast", "stop")
    with psycopg.connect(f"postgresql:///postgres?host={folder}&user=weft", autocommit=True) as connection:
        connection.execute("CREATE DATABASE fleet")
    return f"postgresql:///fleet?host={folder}&user=weft"


class Machine:
    """A workspace that knows the store, with an environment of its own."""

    def __init__(self, path: Path, config: str, environment: dict[str, str]) -> None:
        path.mkdir(exist_ok=True)
        (path / "config.toml").write_text(config)
        self.path = path
        self._environment = environment

    def words(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "weft", "--workspace", str(self.path), *map(str, words)]

    def weft(self, *words: object) -> str:
        done = subprocess.run(self.words(*words), env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"weft {words[0]}: {done.stderr}")
        return done.stdout

    def start(self, stack: ExitStack, log: Path, *words: object) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            started = subprocess.Popen(self.words(*words), env=self._environment, stdout=file, stderr=file)

        def end() -> None:
            started.terminate()
            started.wait()

        stack.callback(end)
        return started


def documents(folder: Path, number: int) -> list[Path]:
    folder.mkdir()
    files = [folder / f"note-{n:03}.md" for n in range(number)]
    for n, file in enumerate(files):
        file.write_text(f"Note {n} is about rivers. They carry {n} boats. {'And stones. ' * (n % 7)}\n")
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=200)
    wanted = parser.parse_args()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-", dir="/tmp")))
        place.chmod(0o755)
        store = postgres(stack, place / "pg")
        environment = {**os.environ, "HOME": str(place)}
        config = f'store = "{store}"\nobjects = "{place / "objects"}"\n'
        shutil.copytree(HERE / "pipelines", place / "mine" / "pipelines")
        shutil.copytree(HERE / "code", place / "mine" / "code")
        mine = Machine(place / "mine", config, environment)
        mine.weft("trust", "folder", place, "--below")  # the code is ours
        workers = [
            Machine(place / f"machine-{n}", config, environment).start(
                stack, place / f"worker-{n}.log", "worker", "--name", f"worker-{n}", "--silence", 4
            )
            for n in range(1, 5)
        ]
        mine.start(stack, place / "server.log", "serve", "--port", 0, "--no-open")
        began = time.monotonic()
        rows = mine.weft(
            "run", "brief", "--queue", "--json", *documents(place / "notes", wanted.documents)
        ).splitlines()
        print(f"{len(rows)} documents queued after {time.monotonic() - began:.1f} s")
        summary = fill(store, workers, wanted.documents, began)
        report(store, place)
        return summary


def fill(store: str, workers: list[subprocess.Popen[bytes]], number: int, began: float) -> int:
    """Look on until everything is done, and kill two workers on the way."""
    marks = {number // 4: workers[0], number // 2: workers[1]}
    with psycopg.connect(store, autocommit=True) as connection:
        done = 0
        while done < number and time.monotonic() - began < 1800:
            rows = connection.execute("SELECT run, count(*) FROM weft.sessions GROUP BY run").fetchall()
            counts: dict[Any, int] = dict(rows)
            done = counts.get("done", 0)
            for mark, worker in [*marks.items()]:
                if done >= mark:
                    worker.send_signal(signal.SIGKILL)
                    del marks[mark]
                    print(f"{time.monotonic() - began:6.1f} s  {done:4} done  worker {worker.pid} killed")
            time.sleep(0.2)
    seconds = time.monotonic() - began
    print(f"{seconds:6.1f} s  {done:4} done, {number - done} not: {done / seconds:.1f} sessions a second")
    return 0 if done == number else 1


def report(store: str, place: Path) -> None:
    """From the events themselves: who wrote what, and whether anything was made twice or by two at once."""
    twice = moved = 0
    steps: collections.Counter[str] = collections.Counter()
    with psycopg.connect(store) as connection:
        sessions = connection.execute("SELECT session FROM weft.sessions ORDER BY session").fetchall()
        for (session,) in sessions:
            rows = connection.execute(
                "SELECT epoch, line FROM weft.events WHERE session = %s ORDER BY seq", (session,)
            ).fetchall()
            epochs = [epoch for epoch, _ in rows]
            assert epochs == sorted(epochs), f"{session} had two writers"
            moved += len(set(epochs)) > 1
            events = [json.loads(bytes(line)) for _, line in rows]
            completed = collections.Counter(one["step"] for one in events if one["type"] == "step_completed")
            steps.update(completed)
            twice += sum(number > 1 for number in completed.values())
        workers = connection.execute("SELECT worker, done, now() - seen FROM weft.workers ORDER BY worker").fetchall()
    print("\nworker        sessions  state")
    for name, number, age in workers:
        print(f"{name:<12}  {number:8}  {'silent' if age.total_seconds() > 10 else 'there'}")
    print(f"\nsettled steps {dict(steps)}, of them made twice: {twice}; sessions that changed hands: {moved}")
    server = (place / "server.log").read_text().splitlines()
    address = server[0].split("/sign-in")[0] if server else ""
    if address:
        with urllib.request.urlopen(f"{address}/sign-in", timeout=30) as page:
            print(f"the server answers at {address}: {page.status}")


if __name__ == "__main__":
    sys.exit(main())
