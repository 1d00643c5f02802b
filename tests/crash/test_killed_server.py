"""The server is killed at random moments while clients stream; each comes back with the number it had.

What a client has put together across all lives of the server is the log: nothing missing, nothing twice, in order; and
what it adds up to for the client is what the log adds up to. Ten kills in the default lane; the campaign has five
hundred.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import urllib.error
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.web.served import PIPELINE, TEXT, Client, running
from weft.app.live.door_messages import item_from_wire
from weft.files import Folder
from weft.protocol.events import Record
from weft.session.log import LogReader
from weft.session.state import fold

pytestmark = pytest.mark.slow
CODE = """
import time


def lines(step):
    for number in range(20):
        print(number, flush=True)
        time.sleep(0.02)
    return step.text.split("\\n")


def count(step):
    for number in range(20):
        print(number, flush=True)
        time.sleep(0.02)
    return {"lines": len(step.artifacts["lines.json"])}
"""
GATELESS = PIPELINE.replace("    gate:\n      message: Are these the lines?\n", "")


class Follower(threading.Thread):
    """A client that keeps what it is told, and comes back after the last number it has."""

    def __init__(self, session: str) -> None:
        super().__init__(daemon=True)
        self.session = session
        self.client: Client | None = None
        self.seen: list[Record] = []
        self.over = False

    @property
    def is_over(self) -> bool:
        return self.over

    def run(self) -> None:
        while not self.is_over:
            client, last = self.client, self.seen[-1].seq if self.seen else 0
            try:
                if client is None:
                    raise ConnectionError
                for event, number, data in client.events(f"/api/w/desk/sessions/{self.session}/events?after={last}"):
                    if number is not None:
                        told = item_from_wire(data)
                        assert isinstance(told, Record)
                        self.seen.append(told)
                    if event == "reload" or self.is_over:
                        break
            except (OSError, HTTPException, urllib.error.URLError, ValueError, KeyError):
                time.sleep(0.05)


def lives(home: Path, desk: Path, kills: int, seed: int, longest: float = 1.5) -> None:
    chance, followers = random.Random(seed), list[Follower]()
    for life in range(kills + 1):
        with running(home, desk) as server:
            browser = server.signed_in()
            for follower in followers:
                follower.client = browser
            if life % 2 == 0:  # in the others what was begun before is taken up and killed again
                wish = {"text": f"{TEXT}\n{life}\n", "name": f"{life}.md", "pipeline": "notes", "key": f"wish-{life}"}
                begun = browser.post("/api/w/desk/sessions", wish).json["session"]
                for _ in range(2):
                    follower = Follower(begun)
                    follower.client = browser
                    followers.append(follower)
                    follower.start()
            if life < kills:
                time.sleep(chance.random() * longest)
                os.kill(server.process.pid, signal.SIGKILL)
                server.process.wait()
                continue
            names = {follower.session for follower in followers}
            for _ in range(1200):
                states = {name: browser.get(f"/api/w/desk/sessions/{name}").json["state"] for name in names}
                if set(states.values()) == {"done"} and all(_log(desk, one.session) == one.seen for one in followers):
                    break
                for name in (name for name, state in states.items() if state == "interrupted"):
                    # taken up three times and killed each time before it came to anything: it waits for a person
                    browser.post(f"/api/w/desk/sessions/{name}/commands", {"command": {"type": "start_run"}})
                time.sleep(0.1)
            for follower in followers:
                follower.over = True
    for follower in followers:
        log = _log(desk, follower.session)
        assert [one.seq for one in follower.seen] == [one.seq for one in log]
        assert follower.seen == log
        assert fold(follower.seen) == fold(log)
        assert follower.seen[-1].event.type == "run_ended"


def _log(desk: Path, session: str) -> list[Record]:
    with Folder.open(desk / "sessions" / session) as folder:
        return list(LogReader(folder).read())


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    (folder / "pipelines").mkdir(parents=True)
    (folder / "code").mkdir()
    (folder / "pipelines" / "notes.yaml").write_text(GATELESS)
    (folder / "code" / "notes.py").write_text(CODE)
    return folder


@pytest.mark.timeout(900)
def test_clients_of_a_killed_server_miss_nothing(tmp_path: Path, desk: Path) -> None:
    lives(tmp_path / "home", desk, kills=10, seed=1)


@pytest.mark.campaign
@pytest.mark.timeout(36_000)
@pytest.mark.parametrize("seed", range(50))
def test_five_hundred_kills(tmp_path: Path, desk: Path, seed: int) -> None:
    lives(tmp_path / "home", desk, kills=10, seed=seed)
