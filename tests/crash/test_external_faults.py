"""Faults from outside: a library that is loaded before Weft makes one of its calls to the disk fail, write half, or be
the last, with nothing of Weft taking part. Nothing acknowledged is lost, nothing is done twice, words instead of
tracebacks, and the same command then works. A sample here; every call with every fault in `make slow`."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.wired import wired
from tests.lanes import need, program
from tests.made import Ran, Weft, lay_out
from weft.testing.wire import Reply

HOWS = (str(errno.ENOSPC), str(errno.EIO), str(errno.EROFS), "half", "before", "after")
SAMPLE = 1
"""Faults of each command in the default lane, spread over its calls."""
DONE = (0, 1, 3, 130)


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    need(["compiler"])
    compiler = program("compiler")
    assert compiler is not None
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"], check=True)
    return str(made)


@dataclass
class Place:
    """A workspace and a home, as they were before the command."""

    weft: Weft
    top: Path

    def run(self, words: tuple[str, ...], given: str = "", **more: str) -> Ran:
        done = subprocess.run(
            self.weft.command(*words),
            env={**self.weft.env, "HOME": str(self.top / "home"), "WEFT_CREDENTIALS_KEY": "open sesame", **more},
            input=given.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    check: Callable[[Place, Ran], None]
    """That everything is as it is without a fault; given what the repeated command said."""
    given: str = ""
    acknowledged: Callable[[Place, Ran], None] = lambda _, __: None
    """That what the disturbed command said is kept."""


def _poem(place: Place, _: Ran) -> None:
    session = place.weft.session("poem")
    assert (session / "report.md").read_text().startswith("8 words: a, barrow")
    assert place.run(("sessions", "verify", "poem")).code == 0
    ran = place.weft.ran()
    assert set(ran) == {"count", "list", "report"}


def _steps_kept(place: Place, disturbed: Ran) -> None:
    """A step that was shown as completed is in the log, and was made once."""
    shown = [json.loads(line) for line in disturbed.out.splitlines() if line.endswith("}")]
    done = [event["step"] for event in shown if event["type"] == "step_completed"]
    logged = [event["step"] for event in place.weft.log("poem") if event["type"] == "step_completed"] if done else []
    assert set(done) <= set(logged)
    ran = place.weft.ledger.read_text().split() if place.weft.ledger.exists() else []
    for step in done:
        assert ran.count(step) == 1, "what was acknowledged was done once"


def _collection(place: Place, _: Ran) -> None:
    found = place.run(("kb", "search", "poems", "wheel", "--json"))
    assert found.code == 0, found.err
    assert "barrow" in found.out


def _profile(place: Place, _: Ran) -> None:
    assert json.loads((place.weft.workspace / "profile.json").read_text())["style"]["tone"] == "expert"


def _model(place: Place, _: Ran) -> None:
    assert "store:desk" in place.run(("models", "explain", "--session", "desk/m")).out
    assert place.run(("models", "list")).code == 0


def _secret(place: Place, _: Ran) -> None:
    assert place.run(("secrets", "list")).out == "own\n"


COMMANDS = {
    "run": Command(("run", "poem.txt", "--session-id", "poem", "--json"), _poem, acknowledged=_steps_kept),
    "kb create": Command(("kb", "create", "poems", "poem.md"), _collection),
    "profile set": Command(("profile", "set", "--tone", "expert"), _profile),
    "models add": Command(
        ("models", "add", "desk", "--kind", "openai", "--model", "m", "--base-url", "https://desk.example/v1"),
        _model,
        given="sk-0123456789\n",
    ),
    "secrets set": Command(("secrets", "set", "own"), _secret, given="correct-horse\n"),
}


@contextmanager
def place(tmp_path: Path, name: str) -> Iterator[Place]:
    top = tmp_path / name
    workspace = top / "workspace"
    workspace.mkdir(parents=True)
    (top / "home").mkdir()
    shutil.copytree(Path(os.environ["HOME"]), top / "home", dirs_exist_ok=True)
    lay_out(workspace)
    (top / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    (top / "poem.md").write_text("# A poem\n\nSo much depends upon a red wheel barrow.\n")
    made = Place(Weft(workspace), top)
    try:
        yield made
    finally:
        shutil.rmtree(top)


def words_of(command: Command, here: Place) -> tuple[str, ...]:
    return tuple(str(here.top / word) if word.startswith("poem.") else word for word in command.words)


def counted(command: Command, tmp_path: Path, shim: str) -> int:
    with place(tmp_path, "counted") as here:
        file = tmp_path / "count"
        file.unlink(missing_ok=True)
        ran = here.run(
            words_of(command, here), command.given, LD_PRELOAD=shim, FAULT_UNDER=str(here.top), FAULT_COUNT=str(file)
        )
        assert ran.code == 0, ran.err
        return file.stat().st_size


def disturb(command: Command, tmp_path: Path, shim: str, at: int, how: str) -> None:
    with place(tmp_path, "disturbed") as here:
        words = words_of(command, here)
        fault = {"LD_PRELOAD": shim, "FAULT_UNDER": str(here.top), "FAULT_AT": str(at), "FAULT_HOW": how}
        ran = here.run(words, command.given, **fault)
        what = f"call {at}, {how}: {ran.err}"
        assert "Traceback" not in ran.err, what
        assert ran.code in (*DONE, -signal.SIGKILL), what
        command.acknowledged(here, ran)
        again = here.run(words, command.given)
        assert "Traceback" not in again.err, f"{what}\nagain: {again.err}"
        assert again.code == 0, f"{what}\nagain: {again.err}"
        command.check(here, again)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_from_outside_is_survived(name: str, tmp_path: Path, shim: str) -> None:
    calls = counted(COMMANDS[name], tmp_path, shim)
    assert calls > 3, "the shim sees what the command writes"
    seed = sum(map(ord, name))
    for index in range(SAMPLE):
        at = 1 + (calls * (2 * index + 1)) // (2 * SAMPLE)
        disturb(COMMANDS[name], tmp_path, shim, at, HOWS[(seed + index) % len(HOWS)])


@pytest.mark.campaign
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_with_every_fault(name: str, how: str, tmp_path: Path, shim: str) -> None:
    for at in range(1, counted(COMMANDS[name], tmp_path, shim) + 1):
        disturb(COMMANDS[name], tmp_path, shim, at, how)


def test_a_chat_that_is_disturbed_keeps_what_it_answered(tmp_path: Path, shim: str) -> None:
    """What standard output showed is in the log; the same conversation then goes on."""
    for how in (str(errno.ENOSPC),):
        with place(tmp_path, f"chat-{how}") as here, wired(here.weft, [Reply(text="hello you")] * 6):
            fault = {"LD_PRELOAD": shim, "FAULT_UNDER": str(here.top), "FAULT_AT": "14", "FAULT_HOW": how}
            ran = here.run(("chat", "--plain", "--session", "talk", "hello"), **fault)
            assert "Traceback" not in ran.err, ran.err
            if "hello you" in ran.out:
                assert "hello you" in (here.weft.session("talk") / "log.jsonl").read_text()
            again = here.run(("chat", "--plain", "--session", "talk", "hello again"))
            assert again.code == 0, again.err
            assert "hello you" in again.out
