"""Faults from outside: a library that is loaded before Weft makes one of its calls to the disk fail, write half, or be
the last, with nothing of Weft taking part. Nothing acknowledged is lost, nothing is done twice, words instead of
tracebacks, and the same command then works. A sample here; every call with every fault in `make slow`."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.wired import wired
from tests.lanes import need, program
from tests.made import Ran, Weft, lay_out
from tests.web.served import CODE as NOTES_CODE
from tests.web.served import PIPELINE as NOTES
from tests.web.served import TEXT, Client, running
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
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that were given undisturbed."""
    change: Callable[[Place], None] = lambda _: None
    """What a person changed since."""
    again: tuple[int, ...] = (0,)
    """How the same command may end when it is given again."""


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


def _second(place: Place, _: Ran) -> None:
    assert "barrow" in place.run(("kb", "search", "poems", "wheel", "--json")).out
    assert "lighthouse" in place.run(("kb", "search", "poems", "lamp", "--json")).out


def _changed(place: Place) -> None:
    (place.top / "poem.md").write_text("# A poem\n\nSo much depends upon the lamp of a lighthouse.\n")


def _updated(place: Place, _: Ran) -> None:
    found = place.run(("kb", "search", "poems", "lamp", "--json"))
    assert "lighthouse" in found.out, found
    assert "barrow" not in place.run(("kb", "search", "poems", "wheel", "--json")).out


def _replied(place: Place, _: Ran) -> None:
    log = place.weft.log("held")
    assert sum(event["type"] == "gate_resolved" for event in log) == 1
    assert [event["outcome"] for event in log if event["type"] == "run_ended"][-1] == "done"
    assert place.run(("sessions", "verify", "held")).code == 0


def _source(place: Place, _: Ran) -> None:
    assert place.run(("sources", "test", "notes")).code == 0


def _profile(place: Place, _: Ran) -> None:
    assert json.loads((place.weft.workspace / "profile.json").read_text())["style"]["tone"] == "expert"


def _model(place: Place, _: Ran) -> None:
    assert "store:desk" in place.run(("models", "explain", "--session", "desk/m")).out
    assert place.run(("models", "list")).code == 0


def _secret(place: Place, _: Ran) -> None:
    assert place.run(("secrets", "list")).out == "own\n"


HELD = """\
name: held
description: Counts and waits
steps:
  count:
    artifact: count.json
    code: letters.py:count
    gate: {message: Is this right?}
    final: true
"""
COMMANDS = {
    "run": Command(("run", "letters", "poem.txt", "--session-id", "poem", "--json"), _poem, acknowledged=_steps_kept),
    "kb create": Command(("kb", "create", "poems", "poem.md"), _collection),
    "kb add": Command(("kb", "add", "poems", "poem.two.md"), _second, before=(("kb", "create", "poems", "poem.md"),)),
    "kb update": Command(
        ("kb", "update", "poems"), _updated, before=(("kb", "create", "poems", "poem.md"),), change=_changed
    ),
    "reply": Command(
        ("reply", "held", "proceed"),
        _replied,
        before=(("run", "held", "poem.txt", "--session-id", "held"),),
        again=(0, 1),
    ),
    "sources add": Command(("sources", "add", "poem.folder", "--as", "notes", "--replace"), _source),
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
    (top / "poem.two.md").write_text("# Another\n\nThe lamp of a lighthouse turns all night.\n")
    (top / "poem.folder").mkdir()
    (workspace / "pipelines/held.yaml").write_text(HELD)
    made = Place(Weft(workspace), top)
    try:
        yield made
    finally:
        shutil.rmtree(top)


def words_of(command: Command, here: Place) -> tuple[str, ...]:
    return named(command.words, here)


def named(words: tuple[str, ...], here: Place) -> tuple[str, ...]:
    return tuple(str(here.top / word) if word.startswith("poem.") else word for word in words)


def prepared(command: Command, here: Place) -> None:
    for words in command.before:
        ran = here.run(named(words, here))
        assert ran.code in (0, 3), ran.err
    command.change(here)


def counted(command: Command, tmp_path: Path, shim: str) -> int:
    with place(tmp_path, "counted") as here:
        prepared(command, here)
        file = tmp_path / "count"
        file.unlink(missing_ok=True)
        ran = here.run(
            words_of(command, here), command.given, LD_PRELOAD=shim, FAULT_UNDER=str(here.top), FAULT_COUNT=str(file)
        )
        assert ran.code == 0, ran.err
        return file.stat().st_size


def disturb(command: Command, tmp_path: Path, shim: str, at: int, how: str) -> None:
    with place(tmp_path, "disturbed") as here:
        prepared(command, here)
        words = words_of(command, here)
        fault = {"LD_PRELOAD": shim, "FAULT_UNDER": str(here.top), "FAULT_AT": str(at), "FAULT_HOW": how}
        ran = here.run(words, command.given, **fault)
        what = f"call {at}, {how}: {ran.err}"
        assert "Traceback" not in ran.err, what
        assert ran.code in (*DONE, -signal.SIGKILL), what
        command.acknowledged(here, ran)
        again = here.run(words, command.given)
        assert "Traceback" not in again.err, f"{what}\nagain: {again.err}"
        assert again.code in command.again, f"{what}\nagain: {again.err}"
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


@pytest.mark.campaign
@pytest.mark.parametrize("name", [*COMMANDS, "chat"])
def test_some_calls_with_some_faults(name: str, tmp_path: Path, shim: str) -> None:
    """As many as there is time for (`WEFT_FAULTS`), anywhere: what a busy machine can do of the campaign."""
    chance = random.Random(name)
    calls = chat_calls(tmp_path, shim) if name == "chat" else counted(COMMANDS[name], tmp_path, shim)
    for _ in range(int(os.environ.get("WEFT_FAULTS", "20"))):
        at, how = chance.randint(1, calls), chance.choice(HOWS)
        if name == "chat":
            disturb_chat(tmp_path, shim, at, how)
        else:
            disturb(COMMANDS[name], tmp_path, shim, at, how)


CHAT = ("chat", "--plain", "--session", "talk")


def chat_calls(tmp_path: Path, shim: str) -> int:
    with place(tmp_path, "chat-counted") as here, wired(here.weft, [Reply(text="hello you")] * 6):
        file = tmp_path / "chat-count"
        ran = here.run((*CHAT, "hello"), LD_PRELOAD=shim, FAULT_UNDER=str(here.top), FAULT_COUNT=str(file))
        assert ran.code == 0, ran.err
        return file.stat().st_size


def disturb_chat(tmp_path: Path, shim: str, at: int, how: str) -> None:
    """What standard output showed is in the log; the same conversation then goes on."""
    with place(tmp_path, f"chat-{at}-{how}") as here, wired(here.weft, [Reply(text="hello you")] * 6):
        fault = {"LD_PRELOAD": shim, "FAULT_UNDER": str(here.top), "FAULT_AT": str(at), "FAULT_HOW": how}
        ran = here.run((*CHAT, "hello"), **fault)
        what = f"call {at}, {how}: {ran.err}"
        assert "Traceback" not in ran.err, what
        assert ran.code in (*DONE, -signal.SIGKILL), what
        if "hello you" in ran.out:
            assert "hello you" in (here.weft.session("talk") / "log.jsonl").read_text(), what
        again = here.run((*CHAT, "hello again"))
        assert again.code == 0, f"{what}\nagain: {again.err}"
        assert "hello you" in again.out, what
        assert here.run(("sessions", "verify", "talk")).code == 0, what


def test_a_chat_that_is_disturbed_keeps_what_it_answered(tmp_path: Path, shim: str) -> None:
    disturb_chat(tmp_path, shim, 14, str(errno.ENOSPC))


@pytest.mark.campaign
@pytest.mark.parametrize("how", HOWS)
def test_a_chat_with_every_fault(tmp_path: Path, shim: str, how: str) -> None:
    for at in range(1, chat_calls(tmp_path, shim) + 1):
        disturb_chat(tmp_path, shim, at, how)


def disturb_server(home: Path, desk: Path, shim: str, at: int, how: str) -> None:
    """A session is begun over HTTP. What was accepted is there after a restart, and ends; what was not can be asked for
    again."""
    fault = {"LD_PRELOAD": shim, "FAULT_UNDER": str(desk), "FAULT_AT": str(at), "FAULT_HOW": how}
    wish = {"text": TEXT, "name": "tides.md", "pipeline": "notes", "key": "wish-1"}
    accepted, server = "", None
    try:
        with running(home, desk, **fault) as server:
            browser = server.signed_in()
            reply = browser.post("/api/w/desk/sessions", wish)
            assert reply.status != 500, reply.body
            accepted = str(reply.json["session"]) if reply.status == 201 else ""
            for _ in range(50 if accepted else 0):
                if browser.get(f"/api/w/desk/sessions/{accepted}").json["state"] not in ("running", "new"):
                    break
                time.sleep(0.1)
    except (OSError, HTTPException):
        assert how in ("before", "after"), "only a server that was killed does not answer"
    assert server is None or "Traceback" not in server.errors, server.errors
    with running(home, desk) as server:
        browser = server.signed_in()
        if not accepted:
            again = browser.post("/api/w/desk/sessions", wish)
            assert again.status == 201, again.body
            accepted = str(again.json["session"])
        until_done(browser, accepted)


def until_done(browser: Client, session: str) -> None:
    state = ""
    for _ in range(300):
        state = browser.get(f"/api/w/desk/sessions/{session}").json["state"]
        if state == "done":
            return
        if state in ("interrupted", "failed"):
            browser.post(f"/api/w/desk/sessions/{session}/commands", {"command": {"type": "start_run"}, "key": ""})
        time.sleep(0.1)
    raise AssertionError(state)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "desk"
    (folder / "pipelines").mkdir(parents=True)
    (folder / "code").mkdir()
    gateless = NOTES.replace("    gate:\n      message: Are these the lines?\n", "")
    (folder / "pipelines" / "notes.yaml").write_text(gateless)
    (folder / "code" / "notes.py").write_text(NOTES_CODE)
    return folder


def test_a_server_that_is_disturbed_keeps_what_it_accepted(tmp_path: Path, desk: Path, shim: str) -> None:
    disturb_server(tmp_path / "home", desk, shim, 9, str(errno.ENOSPC))


@pytest.mark.campaign
@pytest.mark.parametrize("how", HOWS)
def test_a_server_with_every_fault(tmp_path: Path, desk: Path, shim: str, how: str) -> None:
    for at in range(1, 60):
        disturb_server(tmp_path / f"home-{at}", desk, shim, at, how)
        shutil.rmtree(desk / "sessions", ignore_errors=True)
        (desk / "index.db").unlink(missing_ok=True)
