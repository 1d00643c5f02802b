"""A shared workspace with workers, as real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.gated import lay_out_gated
from tests.made import Weft
from weft.session.postgres import PostgresLog

SILENCE = 2


class Fleet:
    """A person's workspace on a store, and workers beside it."""

    def __init__(self, path: Path, store: str) -> None:
        self.path = path
        self.store = store
        self.workspace = path / "workspace"
        lay_out_gated(self.workspace)
        self.config = f'store = "{store}"\nobjects = "{path / "objects"}"\n'
        (self.workspace / "config.toml").write_text(self.config)
        self.weft = Weft(self.workspace)
        self._workers: dict[str, subprocess.Popen[bytes]] = {}

    def worker(self, name: str, *words: object, store: str = "", inside: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """On a machine of its own: an empty workspace that knows the store. `inside`: the words before its command."""
        machine = self.path / f"machine-{name}"
        machine.mkdir(exist_ok=True)
        (machine / "config.toml").write_text(self.config.replace(self.store, store or self.store))
        weft = Weft(machine)
        command = [*inside, *weft.command("worker", "--name", name, "--silence", SILENCE, *words)]
        with (self.path / f"{name}.log").open("ab") as log:
            started = subprocess.Popen(command, env=weft.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._workers[name] = started
        return started

    @contextmanager
    def serving(self) -> Iterator[str]:
        """A server on the person's workspace; its address."""
        command = self.weft.command("serve", "--port", 0, "--no-open")
        with (self.path / "server.log").open("ab") as log:
            server = subprocess.Popen(command, env=self.weft.env, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert server.stdout is not None
            with server.stdout:
                yield server.stdout.readline().split("/sign-in")[0]
        finally:
            server.terminate()
            server.wait(60)

    def said(self, name: str) -> str:
        return (self.path / f"{name}.log").read_text()

    def traces(self, name: str) -> Path | None:
        """Where the code of steps leaves its marks at a worker."""
        return next((self.path / f"machine-{name}" / ".workers").glob("*/*/traces"), None)

    def documents(self, number: int, name: str = "subject") -> list[Path]:
        files = [self.path / f"{name}-{n}.txt" for n in range(number)]
        for n, file in enumerate(files):
            file.write_text(f"On river {n}. It flows.\n")
        return files

    def queue(self, *words: object, pipeline: str = "essay") -> list[dict[str, Any]]:
        """The documents of a batch with their sessions."""
        ran = self.weft("run", pipeline, "--queue", "--json", *words, timeout=300)
        assert ran.code in (0, 1, 3), ran.err
        return ran.events

    def batch(self) -> str:
        return self.weft("batches", "list").out.split()[0]

    def close(self) -> None:
        for worker in self._workers.values():
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.kill()
            worker.wait(30)


@contextmanager
def log_of(store: str) -> Iterator[PostgresLog]:
    log = PostgresLog(store)
    try:
        yield log
    finally:
        log.close()


def until(what: Callable[[], object], seconds: float = 90, told: Callable[[], str] = str) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, told()
        time.sleep(0.05)
    return found


def events_of(log: PostgresLog, session: str) -> list[dict[str, Any]]:
    """With the epoch of the writer that each came from."""
    rows = log.rows("SELECT line, epoch FROM weft.events WHERE session = %s ORDER BY seq", (session,))
    return [{**json.loads(line), "by_epoch": epoch} for line, epoch in rows]


def is_alive(worker: subprocess.Popen[bytes]) -> bool:
    return worker.poll() is None and os.path.exists(f"/proc/{worker.pid}")
