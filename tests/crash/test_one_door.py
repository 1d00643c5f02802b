"""Random lives of one session that several faces have at once, each of them killed at any moment, its holder too.

Runs, replies, messages and chats in pipes come and go; what they are told is held against the log afterwards, and what
the code of steps and the model did against both. Then everybody is killed, and the run is brought to its end.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wired import wired
from tests.gated import started
from tests.lanes import lives
from tests.made import Weft
from weft.testing.wire import Reply

pytestmark = pytest.mark.slow
ACTIONS = 16
WORDS = ("proceed", "please add a part on floods", "hmm", "leave", "resume", "looks good", "yes", "no", "1")
MOST_MODEL_CALLS = 300


class Life:
    def __init__(self, weft: Weft, source: Path, seed: int) -> None:
        self.weft = weft
        self.source = source
        self.chance = random.Random(seed)
        self.faces: list[subprocess.Popen[str]] = []
        self.sent: dict[str, subprocess.Popen[str]] = {}
        """By its word, each message of `weft send`."""
        self.piped: list[str] = []

    def begin(self, *words: object, said: str = "") -> subprocess.Popen[str]:
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        face = subprocess.Popen(self.weft.command(*words), env=self.weft.env, text=True, **streams)
        assert face.stdin is not None
        face.stdin.write(said)
        face.stdin.close()
        self.faces.append(face)
        return face

    def act(self) -> None:
        number = len(self.faces)
        match self.chance.choice(("run", "reply", "reply", "send", "chat", "chat", "kill", "kill")):
            case "run":
                self.begin("run", "essay", self.source, "--session-id", "essay", "--plain")
            case "reply":
                self.begin("reply", "essay", *self.chance.choice(WORDS).split(), "--plain")
            case "send":
                self.sent[f"sent{number}."] = self.begin("send", "essay", f"sent{number}.")
            case "chat":
                words = [f"piped{number}-{one}." for one in range(self.chance.randrange(1, 4))]
                self.piped += words
                self.begin("chat", "--plain", "--session", "essay", said="\n".join(["leave", "leave", *words]))
            case _:
                alive = [face for face in self.faces if face.poll() is None]
                if alive:
                    self.chance.choice(alive).kill()

    def end(self) -> None:
        for face in self.faces:
            face.kill()
            face.wait(60)
        for _ in range(12):
            ran = self.weft("run", "essay", self.source, "--session-id", "essay", "--plain")
            if ran.code == 0:
                return
            assert ran.code in (3, 130), ran.err
            for word in ("resume", "proceed", "yes"):
                told = self.weft("reply", "essay", word, "--plain")
                assert told.code in (0, 1, 3), told.err
        raise AssertionError("the run does not come to its end")

    def faults(self) -> Iterator[str]:
        log = self.weft.log("essay")
        heard = [event["text"] for event in log if event["type"] in ("message_accepted", "words_said")]
        for word, face in self.sent.items():
            times = sum(word in text for text in heard)
            if times > 1 or (face.returncode == 0 and not times):
                yield f"{word}, with exit code {face.returncode}, was heard {times} times"
        yield from (f"{word} was said twice" for word in self.piped if sum(word in text for text in heard) > 1)
        for kind, names in ONCE.items():
            found = Counter(tuple(event[name] for name in names) for event in log if event["type"] == kind)
            yield from (f"{kind} {times} times for {key}" for key, times in found.items() if times > 1)
        given = {(event["envelope"]["key"], event["envelope"]["prev"]) for event in log if event["envelope"].get("key")}
        yield from (f"the command {key} was taken twice" for key, n in Counter(k for k, _ in given).items() if n > 1)
        begun = Counter(event["step"] for event in log if event["type"] == "step_started")
        made = Counter(self.weft.ran())
        yield from (f"{step} was made {made[step]} times in {begun[step]} attempts" for step in made - begun)
        for face in self.faces:
            told = "".join(stream.read() for stream in (face.stdout, face.stderr) if stream is not None)
            if "Traceback" in told or (face.returncode not in (0, 1, 2, 3, 4, 130, -9)):
                yield f"exit code {face.returncode}: {told}"
        verified = self.weft("sessions", "verify", "essay")
        if verified.code:
            yield verified.out + verified.err


ONCE = {
    "gate_opened": ("gate",),
    "gate_resolved": ("gate",),
    "words_understood": ("words",),
    "turn_started": ("conversation", "turn"),
    "model_settled": ("conversation", "execution"),
    "step_completed": ("run", "step", "attempt"),
}


@contextmanager
def lived(weft: Weft, source: Path, seed: int) -> Iterator[Life]:
    life = Life(weft, source, seed)
    try:
        yield life
    finally:
        for face in life.faces:
            face.kill()
            face.wait(60)
            for stream in (face.stdout, face.stderr):
                if stream is not None:
                    stream.close()


@pytest.mark.lives
@pytest.mark.parametrize("seed", range(lives(3, 300)))
def test_what_any_face_is_told_is_so_and_nothing_is_done_twice(tmp_path: Path, workspace: Path, seed: int) -> None:
    weft = started(tmp_path, workspace)
    unclear = Reply(text=json.dumps({"meaning": "unclear", "choice": "", "confidence": 1}))
    with wired(weft, [unclear] * MOST_MODEL_CALLS), lived(weft, tmp_path / "subject.txt", seed) as life:
        for _ in range(ACTIONS):
            life.act()
            time.sleep(life.chance.random() ** 2)
        life.end()
        assert not [*life.faults()]
    assert "beginning" in (weft.session("essay") / "report.md").read_text()
