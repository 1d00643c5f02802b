"""Four workers, and what may happen to them: killed, stopped and continued, cut off from the network, their disk full,
the database ended at once. Nothing acknowledged is lost, nothing settled is made again, no two write, every session
ends.

A third of the sessions each: gates and repairs, a map, an agent with a tool. `WEFT_FLEET_SESSIONS` says how many (500
in `make slow`). Network namespaces and a disk of its own need root: without, those two faults are left out.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Server
from tests.shared.campaign_work import lay_out, model_consent, model_server
from tests.shared.fleet import Fleet, events_of, log_of
from weft.session.postgres import PostgresLog

pytestmark = [pytest.mark.process, pytest.mark.campaign, pytest.mark.needs("postgres"), pytest.mark.timeout(7200)]

SESSIONS = int(os.environ.get("WEFT_FLEET_SESSIONS", "500"))
MADE = {
    "essay": {"plan": 1, "draft": 3, "verify": 3, "review": 1, "report": 1},
    "marking": {"words": 1, "marks": 1},
    "noting": {"note": 1},
}
"""How often each step comes to a result when nothing is made twice: the essay's draft is repaired twice."""
NETWORK = "10.177.31"
ROOM = 48
"""MB of the small disk."""


@contextmanager
def cable() -> Iterator[tuple[str, str]]:
    """Another network, and our side of the cable to it: the name of the namespace, and that of the cable's end."""
    names = ("weft-far", "weft-near")
    steps = [
        f"ip netns add {names[0]}",
        f"ip link add {names[1]} type veth peer name weft-peer",
        f"ip link set weft-peer netns {names[0]}",
        f"ip addr add {NETWORK}.1/30 dev {names[1]}",
        f"ip link set {names[1]} up",
        f"ip -n {names[0]} addr add {NETWORK}.2/30 dev weft-peer",
        f"ip -n {names[0]} link set weft-peer up",
        f"ip -n {names[0]} link set lo up",
    ]
    try:
        for step in steps:
            subprocess.run(step.split(), check=True)
        yield names
    finally:
        subprocess.run(["ip", "link", "del", names[1]], check=False)
        subprocess.run(["ip", "netns", "del", names[0]], check=False)


@contextmanager
def small_disk(path: Path) -> Iterator[Path]:
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}m", "none", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)


class Faults:
    """What is done to the workers, and what came of it."""

    def __init__(self, fleet: Fleet, server: Server, log: PostgresLog, dice: random.Random) -> None:
        self._fleet = fleet
        self._server = server
        self._log = log
        self._dice = dice
        self._how: dict[str, dict[str, Any]] = {}
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._due: list[tuple[float, Any]] = []
        """What ends a fault, and when."""
        self._under: set[str] = set()
        self._watched: dict[str, tuple[int, float]] = {}
        self.recovered: list[float] = []
        self.said: Counter[str] = Counter()

    def start(self, name: str, *words: object, **how: Any) -> None:
        self._how[name] = {"words": words, **how}
        self._workers[name] = self._fleet.worker(name, *words, **how)

    def one(self, near: str, disk: Path | None) -> None:
        match self._dice.randrange(10):
            case 0 | 1 | 2:
                self._kill(self._dice.choice(sorted(self._workers)))
            case 3 | 4 | 5:
                self._stop(self._dice.choice(sorted(self._workers)))
            case 6:
                self._server.stop("immediate")
                time.sleep(self._dice.uniform(0.1, 3))
                self._server.start()
                self.said["database ended"] += 1
            case 7 | 8 if near:
                self._cut(near)
            case 9 if disk is not None:
                self._fill(disk)

    def end_what_is_due(self, *, all_of_it: bool = False) -> None:
        left = []
        for when, end in self._due:
            if all_of_it or time.monotonic() >= when:
                end()
            else:
                left.append((when, end))
        self._due = left

    def look(self) -> None:
        """Which sessions of a killed worker have another writer by now."""
        if self._watched:
            rows = self._log.rows(
                "SELECT session, epoch FROM weft.sessions WHERE session = ANY(%s)", ([*self._watched],)
            )
            for session, epoch in rows:
                if epoch > self._watched[session][0]:
                    self.recovered.append(time.monotonic() - self._watched.pop(session)[1])

    def _kill(self, name: str) -> None:
        worker, how = self._workers[name], {**self._how[name]}
        held = f"process {worker.pid} on %"
        rows = self._log.rows("SELECT session, epoch FROM weft.sessions WHERE holder LIKE %s", (held,))
        worker.send_signal(signal.SIGCONT)
        worker.kill()
        worker.wait(30)
        self._watched |= {session: (epoch, time.monotonic()) for session, epoch in rows}
        self._workers[name] = self._fleet.worker(name, *how.pop("words"), **how)
        self.said["killed"] += 1

    def _stop(self, name: str) -> None:
        if f"stop {name}" in self._under:
            return
        worker = self._workers[name]
        worker.send_signal(signal.SIGSTOP)
        self.said["stopped"] += 1

        def go_on() -> None:
            worker.send_signal(signal.SIGCONT)

        self._for(f"stop {name}", self._dice.uniform(1, 8), go_on)

    def _cut(self, near: str) -> None:
        def put_in() -> None:
            subprocess.run(["ip", "link", "set", near, "up"], check=True)

        if "cut" not in self._under:
            subprocess.run(["ip", "link", "set", near, "down"], check=True)
            self.said["cut off"] += 1
            self._for("cut", self._dice.uniform(1, 15), put_in)

    def _fill(self, disk: Path) -> None:
        filling = disk / "filling"

        def empty() -> None:
            filling.unlink(missing_ok=True)

        if "disk" not in self._under:
            with filling.open("wb") as file:
                try:
                    for _ in range(ROOM * 2):
                        file.write(bytes(1 << 19))
                except OSError:
                    self.said["disk full"] += 1
            self._for("disk", self._dice.uniform(1, 8), empty)

    def _for(self, what: str, seconds: float, end: Any) -> None:
        self._under.add(what)

        def ended() -> None:
            self._under.discard(what)
            end()

        self._due.append((time.monotonic() + seconds, ended))


def check(events: list[dict[str, Any]], pipeline: str) -> None:
    """From the events alone: nothing is missing, nothing settled was made again, one writer after the other."""
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
    epochs = [one["by_epoch"] for one in events]
    assert epochs == sorted(epochs), "two writers"
    made = Counter(one["step"] for one in events if one["type"] == "step_completed")
    assert made == MADE[pipeline]
    items = Counter(one["item"] for one in events if one["type"] == "item_settled" and one["ok"])
    assert all(number == 1 for number in items.values()), items
    assert (pipeline == "marking") == bool(items)
    calls = Counter(one["call"] for one in events if one["type"] == "tool_settled" and one["outcome"] == "succeeded")
    assert all(number == 1 for number in calls.values()), calls
    answers = [one for one in events if one["type"] == "model_settled" and one["outcome"] == "completed"]
    assert len(answers) == (2 if pipeline == "noting" else 0), "an answer that was there is not asked for again"


def test_faults_from_outside_on_four_workers(tmp_path: Path) -> None:
    dice = random.Random(20)
    with ExitStack() as stack:
        far, near = stack.enter_context(cable()) if os.geteuid() == 0 else ("", "")
        disk = stack.enter_context(small_disk(tmp_path / "disk")) if os.geteuid() == 0 else None
        server = Server(durable=True, listen=f"{NETWORK}.1" if near else "")
        stack.callback(server.close)
        store = stack.enter_context(server.database())
        address, _ = stack.enter_context(model_server(f"{NETWORK}.1" if near else "127.0.0.1"))
        fleet = Fleet(tmp_path, store)
        stack.callback(fleet.close)
        with (fleet.workspace / "config.toml").open("a") as config:
            config.write(lay_out(fleet.workspace, address))
        trust = fleet.weft("trust", "folder", tmp_path, "--below")
        assert trust.code == 0, trust.err
        log = stack.enter_context(log_of(store))
        faults = Faults(fleet, server, log, dice)
        began = time.monotonic()
        answers = ("--answer", "plan=proceed", "--answer", "review=proceed")
        number = SESSIONS // 3
        batches = {
            "essay": fleet.queue(*answers, *fleet.documents(SESSIONS - 2 * number)),
            "marking": fleet.queue(*fleet.documents(number, "words"), pipeline="marking"),
            "noting": fleet.queue(
                "--set", f"place={fleet.workspace}", *fleet.documents(number, "note"), pipeline="noting"
            ),
        }
        assert sum(map(len, batches.values())) == SESSIONS
        agreed = ("--trust", model_consent(address))
        faults.start("one", *agreed)
        faults.start("two", *agreed)
        through = f"postgresql://weft@{NETWORK}.1/{store.partition('///')[2].partition('?')[0]}"
        faults.start("three", *agreed, **({"store": through, "inside": ("ip", "netns", "exec", far)} if near else {}))
        faults.start("four", *agreed, *(("--home", disk / "home") if disk else ()))
        left, due = SESSIONS, time.monotonic() + 3
        while left and time.monotonic() < began + 6600:
            time.sleep(0.2)
            faults.end_what_is_due()
            faults.look()
            if time.monotonic() > due:
                due = time.monotonic() + dice.uniform(1, 4)
                faults.one(near, disk)
            left = int(log.rows("SELECT count(*) FROM weft.sessions WHERE run IS DISTINCT FROM 'done'")[0][0])
        faults.end_what_is_due(all_of_it=True)
        seconds = time.monotonic() - began
        told = {name: fleet.said(name)[-1500:] for name in ("one", "two", "three", "four")}
        stuck = log.rows("SELECT session, run, holder FROM weft.sessions WHERE run IS DISTINCT FROM 'done'")
        assert stuck == [], (faults.said, told)
        for pipeline, rows in batches.items():
            for row in rows:
                try:
                    check(events_of(log, row["session"]), pipeline)
                except AssertionError as error:
                    raise AssertionError(row["session"], dict(faults.said)) from error
        verified = fleet.weft("sessions", "verify", timeout=1200)
        assert verified.code == 0, verified.out[-3000:]
        fenced = sum(fleet.said(name).count("went on elsewhere") for name in told)
        took = sorted(faults.recovered)
        recovery = f"median {statistics.median(took):.1f} s, at most {took[-1]:.1f} s" if took else "none was at work"
        print(  # noqa: T201
            f"\n{SESSIONS} sessions in {seconds:.0f} s; {dict(faults.said)}; {fenced} times a writer was fenced; "
            f"{len(took)} sessions of killed workers had a new writer after {recovery}"
        )
