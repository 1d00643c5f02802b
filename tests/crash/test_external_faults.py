"""Faults from outside: a library that is loaded before Weft makes one of its calls to the disk fail, write half, or be
the last, with nothing of Weft taking part. Nothing acknowledged is lost, nothing is done twice, words instead of
tracebacks, and the same command then works. A sample here; every call with every fault in `make slow`."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.wired import wired
from tests.lanes import need, program
from tests.made import Ran, Weft, lay_out
from tests.web.served import CODE as NOTES_CODE
from tests.web.served import PIPELINE as NOTES
from tests.web.served import TEXT, Client, NotSignedInError, NotStartedError, running
from weft.testing.wire import Reply

HOWS = (str(errno.ENOSPC), str(errno.EIO), str(errno.EROFS), "half", "before", "after")
SAMPLE = 1
"""Faults of each command in the default lane, spread over its calls."""
FEW = 8
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
    replies: Sequence[Reply] = ()
    """What a model behind an address says, where the command has one."""


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


def _answer_kept(place: Place, disturbed: Ran) -> None:
    if "hello you" in disturbed.out:
        assert "hello you" in (place.weft.session("talk") / "log.jsonl").read_text(), disturbed.err


def _talked(place: Place, again: Ran) -> None:
    assert "hello you" in again.out
    assert place.run(("sessions", "verify", "talk")).code == 0


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
    "chat": Command(
        ("chat", "--plain", "--session", "talk", "hello"),
        _talked,
        acknowledged=_answer_kept,
        replies=[Reply(text="hello you")] * 2000,
    ),
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


def named(words: tuple[str, ...], here: Place) -> tuple[str, ...]:
    return tuple(str(here.top / word) if word.startswith("poem.") else word for word in words)


class Scene:
    """A command in its place, which is laid out once and put back before each time."""

    def __init__(self, command: Command, here: Place, shim: str) -> None:
        self._command, self._here, self._shim = command, here, shim
        self._words = named(command.words, here)
        for words in command.before:
            ran = here.run(named(words, here))
            assert ran.code in (0, 3), ran.err
        command.change(here)
        self._kept = here.top.with_name(f"{here.top.name}-before")
        shutil.copytree(here.top, self._kept, symlinks=True)

    def close(self) -> None:
        shutil.rmtree(self._kept)

    def _put_back(self) -> None:
        shutil.rmtree(self._here.top)
        shutil.copytree(self._kept, self._here.top, symlinks=True)

    def _run(self, **variables: str) -> Ran:
        fault = {"LD_PRELOAD": self._shim, "FAULT_UNDER": str(self._here.top), **variables}
        return self._here.run(self._words, self._command.given, **fault)

    def calls(self) -> list[str]:
        """The calls that change the disk: what each does, to which file."""
        file = self._kept.with_suffix(".calls")
        ran = self._run(FAULT_COUNT=str(file))
        assert ran.code == 0, ran.err
        found = file.read_text().splitlines()
        file.unlink()
        assert len(found) > 3, "the shim sees what the command writes"
        return found

    def disturb(self, at: int, how: str) -> None:
        self._put_back()
        here, command = self._here, self._command
        ran = self._run(FAULT_AT=str(at), FAULT_HOW=how)
        what = f"call {at}, {how}: {ran.err}"
        assert "Traceback" not in ran.err, what
        assert ran.code in (*DONE, -signal.SIGKILL), what
        command.acknowledged(here, ran)
        again = here.run(self._words, command.given)
        assert "Traceback" not in again.err, f"{what}\nagain: {again.err}"
        assert again.code in command.again, f"{what}\nagain: {again.err}"
        command.check(here, again)


@contextmanager
def scene(name: str, tmp_path: Path, shim: str) -> Iterator[Scene]:
    command = COMMANDS[name]
    with place(tmp_path, "place") as here, wired(here.weft, command.replies) if command.replies else nullcontext():
        made = Scene(command, here, shim)
        try:
            yield made
        finally:
            made.close()


def of_each_kind(calls: Sequence[str]) -> list[int]:
    """The numbers of the calls, from 1: each that is one of few of its kind (what it does to which file), and of many
    the first, the one in the middle and the last. Most calls of a command are pages of an index."""
    kinds: dict[str, list[int]] = {}
    for number, call in enumerate(calls, 1):
        kinds.setdefault(re.sub(r"[0-9a-f]{6,}|\d+", "#", call), []).append(number)
    return sorted(
        number
        for numbers in kinds.values()
        for number in (numbers if len(numbers) <= FEW else {numbers[0], numbers[len(numbers) // 2], numbers[-1]})
    )


def test_a_full_disk_behind_the_log_ends_a_run_with_words(tmp_path: Path, shim: str) -> None:
    """The log has the step and its file can't be laid: what was told to nobody is not waited for."""
    with scene("run", tmp_path, shim) as command:
        calls = enumerate(command.calls(), 1)
        command.disturb(
            next(number for number, call in calls if call.startswith("openat64") and "count.json" in call),
            str(errno.ENOSPC),
        )


def chosen(calls: Sequence[str]) -> Sequence[int]:
    """For a campaign: `WEFT_FAULTS=all` takes every page of an index too."""
    return range(1, len(calls) + 1) if os.environ.get("WEFT_FAULTS") == "all" else of_each_kind(calls)


def all_hold(command: Scene | Served, calls: Sequence[int], how: str) -> None:
    """Every fault is tried, whatever came of the one before."""
    broken = []
    for at in calls:
        try:
            command.disturb(at, how)
        except AssertionError as error:
            broken.append(f"{at}: {error}")
    assert not broken, "\n\n".join(broken)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_from_outside_is_survived(name: str, tmp_path: Path, shim: str) -> None:
    with scene(name, tmp_path, shim) as command:
        calls = of_each_kind(command.calls())
        seed = sum(map(ord, name))
        for index in range(SAMPLE):
            command.disturb(calls[len(calls) * (2 * index + 1) // (2 * SAMPLE)], HOWS[(seed + index) % len(HOWS)])


@pytest.mark.campaign
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_each_kind_of_call_with_every_fault(name: str, how: str, tmp_path: Path, shim: str) -> None:
    with scene(name, tmp_path, shim) as command:
        all_hold(command, chosen(command.calls()), how)


class Served:
    """A server of one workspace, over whose door a session is begun. What was accepted is there after a restart, and
    ends; what was not can be asked for again."""

    def __init__(self, top: Path, shim: str) -> None:
        self._top, self._desk, self._shim = top, top / "desk", shim

    def _lay_out(self) -> None:
        shutil.rmtree(self._top, ignore_errors=True)
        (self._desk / "pipelines").mkdir(parents=True)
        (self._desk / "code").mkdir()
        gateless = NOTES.replace("    gate:\n      message: Are these the lines?\n", "")
        (self._desk / "pipelines" / "notes.yaml").write_text(gateless)
        (self._desk / "code" / "notes.py").write_text(NOTES_CODE)

    def calls(self) -> list[str]:
        file = self._top.with_suffix(".calls")
        self._lay_out()
        accepted, said = self._begin(FAULT_COUNT=str(file))
        assert accepted, said
        found = file.read_text().splitlines()
        file.unlink()
        return found

    def disturb(self, at: int, how: str) -> None:
        self._lay_out()
        accepted, said = self._begin(FAULT_AT=str(at), FAULT_HOW=how)
        what = f"call {at}, {how}: {said}"
        assert "Traceback" not in said, what
        with running(self._top / "home", self._desk) as server:
            browser = server.signed_in()
            again = browser.post("/api/w/desk/sessions", WISH)
            assert again.status == 201, (what, again.body)
            assert accepted in ("", again.json["session"]), f"{what}: begun twice"
            until_done(browser, str(again.json["session"]))
        sessions = [path.name for path in (self._desk / "sessions").iterdir() if (path / "log.jsonl").exists()]
        assert sessions == [again.json["session"]], what

    def _begin(self, **fault: str) -> tuple[str, str]:
        """The session that was accepted, and what the server said on standard error."""
        fault = {"LD_PRELOAD": self._shim, "FAULT_UNDER": str(self._top), **fault}
        accepted, server, refused = "", None, 0
        try:
            with running(self._top / "home", self._desk, **fault) as server:
                browser = server.signed_in()
                reply = browser.post("/api/w/desk/sessions", WISH)
                assert reply.status != 500, reply.body
                accepted = str(reply.json["session"]) if reply.status == 201 else ""
                for _ in range(100 if accepted else 0):
                    shown = browser.get(f"/api/w/desk/sessions/{accepted}")
                    assert shown.status != 500, shown.body
                    if shown.status == 200 and shown.json["state"] not in ("running", "new", "working"):
                        break
                    time.sleep(0.05)
        except NotStartedError as error:
            return "", str(error)
        except NotSignedInError as error:
            refused = error.args[0]
        except (OSError, HTTPException):
            assert fault.get("FAULT_HOW") in ("before", "after"), "only a server that was killed does not answer"
        assert refused != 500
        return accepted, server.errors if server else ""


WISH = {"text": TEXT, "name": "tides.md", "pipeline": "notes", "key": "wish-1"}


def until_done(browser: Client, session: str) -> None:
    state = ""
    for _ in range(300):
        state = browser.get(f"/api/w/desk/sessions/{session}").json["state"]
        if state == "done":
            return
        if state in ("interrupted", "failed"):
            browser.post(f"/api/w/desk/sessions/{session}/commands", {"command": {"type": "start_run"}, "key": ""})
        time.sleep(0.05)
    raise AssertionError(state)


def test_a_server_that_is_disturbed_keeps_what_it_accepted(tmp_path: Path, shim: str) -> None:
    Served(tmp_path / "served", shim).disturb(9, str(errno.ENOSPC))


@pytest.mark.campaign
@pytest.mark.parametrize("how", HOWS)
def test_a_server_with_every_fault(tmp_path: Path, shim: str, how: str) -> None:
    served = Served(tmp_path / "served", shim)
    all_hold(served, chosen(served.calls()), how)
