"""Four workers, and what may happen to them: killed, stopped and continued, the database ended at once. Nothing
acknowledged is lost, no settled step is made again, no two write, every session ends.

`WEFT_FLEET_SESSIONS` says how many sessions (500 in `make slow`).
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Server
from tests.shared.fleet import Fleet, events_of, log_of

pytestmark = [pytest.mark.process, pytest.mark.campaign, pytest.mark.needs("postgres"), pytest.mark.timeout(7200)]

SESSIONS = int(os.environ.get("WEFT_FLEET_SESSIONS", "500"))
MADE = {"plan": 1, "draft": 3, "verify": 3, "review": 1, "report": 1}
"""How often each step of the essay comes to a result when nothing is made twice: the draft is repaired twice."""


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server(durable=True)
    try:
        yield server
    finally:
        server.close()


def test_faults_from_outside_on_four_workers(tmp_path: Path, own_server: Server) -> None:
    dice = random.Random(20)
    with own_server.database() as store:
        fleet = Fleet(tmp_path, store)
        workers = {name: fleet.worker(name) for name in ("one", "two", "three", "four")}
        answers = ("--answer", "plan=proceed", "--answer", "review=proceed")
        rows = fleet.queue(*answers, *fleet.documents(SESSIONS))
        stopped: dict[str, float] = {}
        said: Counter[str] = Counter()
        deadline = time.monotonic() + 6600
        try:
            with log_of(store) as log:
                left = len(rows)
                while left and time.monotonic() < deadline:
                    time.sleep(dice.uniform(1, 4))
                    for name, until in [*stopped.items()]:
                        if time.monotonic() > until:
                            workers[name].send_signal(signal.SIGCONT)
                            del stopped[name]
                    match dice.randrange(8):
                        case 0 | 1:
                            name = dice.choice(sorted(workers))
                            workers[name].send_signal(signal.SIGCONT)
                            workers[name].kill()
                            workers[name].wait(30)
                            stopped.pop(name, None)
                            workers[name] = fleet.worker(name)
                            said["killed"] += 1
                        case 2 | 3:
                            name = dice.choice(sorted(workers))
                            if name not in stopped:
                                workers[name].send_signal(signal.SIGSTOP)
                                stopped[name] = time.monotonic() + dice.uniform(1, 8)
                                said["stopped"] += 1
                        case 4:
                            own_server.stop("immediate")
                            time.sleep(dice.uniform(0.1, 3))
                            own_server.start()
                            said["database"] += 1
                        case _:
                            pass
                    found = log.rows("SELECT count(*) FROM weft.sessions WHERE run IS DISTINCT FROM 'done'")
                    left = int(found[0][0])
                told = {name: fleet.said(name)[-1500:] for name in workers}
                stuck = log.rows("SELECT session, run, holder FROM weft.sessions WHERE run IS DISTINCT FROM 'done'")
                assert stuck == [], (said, told)
                fenced = sum(fleet.said(name).count("went on elsewhere") for name in workers)
                for row in rows:
                    events = events_of(log, row["session"])
                    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
                    epochs = [one["by_epoch"] for one in events]
                    assert epochs == sorted(epochs), f"{row['session']} had two writers"
                    made = Counter(one["step"] for one in events if one["type"] == "step_completed")
                    assert made == MADE, (row["session"], made)
            verified = fleet.weft("sessions", "verify", timeout=600)
            assert verified.code == 0, verified.out[-3000:]
            print(f"{SESSIONS} sessions done; {dict(said)}; {fenced} times a writer was fenced")  # noqa: T201
        finally:
            fleet.close()
