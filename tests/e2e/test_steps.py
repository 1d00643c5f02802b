"""How a step's code can go wrong, and what the person sees: rejected, failing, crashing, hanging, printing, leaking."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.made import Weft
from weft.tools.boundary import boundary_here

PIPELINE = """\
name: one
description: One step.
inputs: {{}}
steps:
  make:
    artifact: made.json
    code: one.py:make
    schema: made.json
    attempts: {attempts}
    timeout: {timeout}
    checks: [{checks}]
    final: true
"""
SCHEMA = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string", "minLength": 3}}}


@pytest.fixture
def one(tmp_path: Path, workspace: Path) -> Weft:
    return Weft(workspace)


def lay(weft: Weft, code: str, *, attempts: int = 3, timeout: str = "20", checks: str = "") -> None:
    for name, text in {
        "pipelines/one.yaml": PIPELINE.format(attempts=attempts, timeout=timeout, checks=checks),
        "schemas/made.json": json.dumps(SCHEMA),
        "code/one.py": code,
    }.items():
        path = weft.workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def settled(weft: Weft) -> list[tuple[str, str]]:
    """What became of each attempt."""
    events = weft.log("one-one")
    return [(e["type"], e.get("kind", "")) for e in events if e["type"] in ("step_completed", "step_failed")]


def go(weft: Weft, *words: str) -> tuple[int, str]:
    ran = weft("run", "one", "--session-id", "one-one", *words)
    return ran.code, ran.err


def test_the_exact_errors_go_to_the_next_attempt(one: Weft) -> None:
    lay(
        one,
        "def make(step):\n    return {'title': 'long' if step.feedback else 'x', 'told': list(step.feedback)}\n",
    )
    assert go(one)[0] == 0
    made = json.loads((one.session("one-one") / "made.json").read_text())
    assert made["told"] == ['made.json at /title: "x" is shorter than 3 characters (write more)']
    assert settled(one) == [("step_failed", "rejected"), ("step_completed", "")]
    causes = [event["cause"] for event in one.log("one-one") if event["type"] == "step_started"]
    assert causes == ["first", "retry"]


def test_attempts_are_bounded_and_the_errors_stay_on_screen(one: Weft) -> None:
    lay(one, "def make(step):\n    return {'title': 'x'}\n", attempts=2)
    code, err = go(one)
    assert code == 1
    assert settled(one) == [("step_failed", "rejected")] * 2
    assert not (one.session("one-one") / "made.json").exists()
    assert '"x" is shorter than 3 characters' in err
    assert "write more" in err
    assert "weft --workspace" in err


def test_code_that_raises_names_its_line(one: Weft) -> None:
    lay(one, "def make(step):\n    return {}['title']\n", attempts=1)
    code, err = go(one)
    assert code == 1
    assert "KeyError: 'title' (code/one.py, line 2)" in err


def test_code_that_can_not_be_loaded(one: Weft) -> None:
    lay(one, "import no_such_thing\ndef make(step):\n    return {}\n", attempts=1)
    code, err = go(one)
    assert code == 1
    assert "No module named 'no_such_thing'" in err


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(7)", "exit code 7"),
        ("os.kill(os.getpid(), 11)", "killed by signal 11"),
        ("sys.exit(3)", "the code called exit(3)"),
    ],
)
def test_code_that_ends_its_process(one: Weft, end: str, said: str) -> None:
    lay(one, f"import os, sys\ndef make(step):\n    print('last words', file=sys.stderr)\n    {end}\n", attempts=1)
    code, err = go(one)
    assert code == 1
    assert said in err


def test_a_step_over_its_time_is_really_ended_with_its_children(one: Weft) -> None:
    begun, seconds = one.ledger.parent / "begun", f"9{secrets.randbelow(10**9):09}"
    lay(
        one,
        "import subprocess\n"
        "def make(step):\n"
        f"    subprocess.Popen(['sleep', {seconds!r}])\n"
        f"    open({str(begun)!r}, 'w').close()\n"
        "    while True: pass\n",
        attempts=1,
        timeout="3s",
    )
    code, err = go(one)
    assert code == 1
    assert "took longer than 3 s and was ended" in err
    assert begun.exists()
    assert sleepers(seconds) == 0


def test_what_code_prints_is_progress_not_data(one: Weft) -> None:
    lay(one, "def make(step):\n    print('half way')\n    return {'title': 'fine'}\n")
    ran = one("run", "one", "--session-id", "one-one", "--json")
    assert [event["text"] for event in ran.events if event["type"] == "step_progressed"] == ["half way"]
    assert all("seq" in event for event in ran.events if event["type"] not in ("step_progressed", "notice_given"))
    assert [event for event in ran.events if "seq" in event] == one.log("one-one")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("object()", "one.py:make returned an object, which JSON can't hold"),
        ("{'title': 'long', 'mean': float('nan')}", "one.py:make returned nan at /mean, which JSON can't hold"),
        ("{'title': 'long', 'parts': [1, {'all': {1, 2}}]}", "returned a set at /parts/1/all, which JSON can't hold"),
        ("{'title': 'long', (1, 2): 3}", "returned a tuple as a key, which JSON can't hold"),
        ("{'title': 'long', 1: 2, '1': 3}", "returned 1 (an int) as a key, which JSON can't hold"),
        (
            "{'title': 'long', 'rows': [{True: 'x'}]}",
            "returned True (a bool) as a key at /rows/0, which JSON can't hold",
        ),
        ("{'title': 'long', 'by': {None: ()}}", "returned None as a key at /by, which JSON can't hold"),
        ("__import__('functools').reduce(lambda v, _: [v], range(9999), 1)", "nested more than 200 deep"),
        ("'just text'", 'is not of type "object"'),
        ("None", "one.py:make returned nothing: is a 'return' missing?"),
        ("{'title': 'a\\ud800b'}", "surrogate"),
    ],
)
def test_values_that_are_no_artifact(one: Weft, value: str, said: str) -> None:
    lay(one, f"def make(step):\n    return {value}\n", attempts=1)
    code, err = go(one)
    assert code == 1
    assert said in err


def test_async_code_and_a_pack_s_own_check(one: Weft) -> None:
    lay(
        one,
        "async def make(step):\n    return {'title': 'Hello!'}\n"
        "def calm(value, options, documents):\n"
        "    return [options['say']] if '!' in value['title'] else []\n",
        attempts=1,
        checks="{'one.py:calm': {say: no shouting}}",
    )
    code, err = go(one)
    assert code == 1
    assert "no shouting" in err


def test_ctrl_c_ends_the_run_cleanly(one: Weft) -> None:
    lay(one, "import time\ndef make(step):\n    time.sleep(60)\n    return {'title': 'late'}\n")
    process = subprocess.Popen(
        one.command("run", "one", "--session-id", "one-one", "--json"), env=one.env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    while b"step_started" not in process.stdout.readline():
        pass
    process.send_signal(2)
    rest = [json.loads(line) for line in process.stdout]
    assert process.wait(20) == 130
    process.stdout.close()
    assert [event["type"] for event in rest if "seq" in event] == ["step_interrupted", "run_ended"]
    assert rest[-1]["outcome"] == "interrupted"
    lay(one, "def make(step):\n    return {'title': 'on time'}\n")
    assert go(one)[0] == 0
    assert "interrupted by the person" in one("sessions", "log", "one-one").out


def test_independent_steps_run_side_by_side_within_the_limit(one: Weft) -> None:
    names = "abcdef"
    steps = "".join(f"  {n}: {{artifact: {n}.json, code: 'six.py:make'}}\n" for n in names)
    last = f"  end: {{artifact: end.json, code: 'six.py:make', requires: [{', '.join(names)}], final: true}}\n"
    (one.workspace / "pipelines").mkdir()
    (one.workspace / "code").mkdir()
    (one.workspace / "pipelines/six.yaml").write_text(f"name: six\ndescription: x\ninputs: {{}}\nsteps:\n{steps}{last}")
    (one.workspace / "code/six.py").write_text("import time\ndef make(step):\n    time.sleep(0.2)\n    return {}\n")
    (one.workspace / "config.toml").write_text("concurrency = 3\n")
    assert one("run", "six", "--session-id", "six-six").code == 0
    running, most = 0, 0
    for event in one.log("six-six"):
        running += {"step_started": 1, "step_completed": -1}.get(event["type"], 0)
        most = max(most, running)
    assert most == 3


def test_code_sees_no_key_of_the_environment(one: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "WEFT_CREDENTIALS_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "GH_TOKEN"):
        monkeypatch.setenv(name, "SECRET-VALUE")
    told = "import os\ndef make(step):\n    return {'title': 'seen', 'variables': dict(os.environ), 'above': above()}\n"
    told += "def above():\n    try:\n        return open(f'/proc/{os.getppid()}/environ').read()\n"
    told += "    except OSError:\n        return ''\n"
    lay(one, told)
    assert go(one)[0] == 0
    made = (one.session("one-one") / "made.json").read_text()
    assert "SECRET-VALUE" not in made
    assert '"PATH"' in made


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us find what left its group")
def test_nothing_that_code_started_outlives_ctrl_c(one: Weft) -> None:
    """Not a child in a session of its own either, with a child of its own."""
    seconds = f"9{secrets.randbelow(10**9):09}"
    start = f"subprocess.Popen(['setsid', 'sh', '-c', 'setsid sleep {seconds} & sleep {seconds}'])"
    lay(one, f"import subprocess, time\ndef make(step):\n    {start}\n    time.sleep(600)\n", timeout="600")
    running = subprocess.Popen(one.command("run", "one", "--session-id", "one-one"), env=one.env)
    deadline = time.monotonic() + 60
    while sleepers(seconds) < 2:
        assert time.monotonic() < deadline, "the code never began"
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    running.wait(timeout=60)
    while sleepers(seconds):
        assert time.monotonic() < deadline, "it lives on"
        time.sleep(0.01)


def sleepers(seconds: str) -> int:
    return sum(
        seconds in (process.info["cmdline"] or []) and process.info["name"] == "sleep"
        for process in psutil.process_iter(["name", "cmdline"])
    )


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no boundary that holds here")
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("urllib.request.urlopen('http://weft.example', timeout=5)", "network: [api.example.com]"),
        ("pathlib.Path('/usr/made').write_text('x')", "code writes in its workspace alone"),
    ],
)
def test_what_the_boundary_refuses_is_said_with_the_way_out_and_not_tried_again(
    one: Weft, does: str, said: str
) -> None:
    lay(one, f"import pathlib\nimport urllib.request\n\n\ndef make(step):\n    {does}\n")
    code, err = go(one)
    assert (code, settled(one)) == (1, [("step_failed", "error")])
    assert said in err


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no boundary that holds here")
def test_code_changes_nothing_but_its_workspace_and_reaches_nobody(one: Weft, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    tries = f"""\
import socket
from pathlib import Path

def make(step):
    found = {{"title": "tried"}}
    for name, do in {{
        "outside": lambda: Path({str(kept)!r}).write_text("gone"),
        "log": lambda: Path({str(one.session("one-one") / "log.jsonl")!r}).open("a").write("x"),
        "settings": lambda: Path({str(one.workspace / "config.toml")!r}).write_text("x"),
        "network": lambda: socket.create_connection(("192.0.2.1", 80), 2),
    }}.items():
        try:
            do()
            found[name] = "done"
        except OSError as error:
            found[name] = type(error).__name__
    Path({str(one.workspace / "own.txt")!r}).write_text("mine")
    return found
"""
    (one.workspace / "config.toml").write_text("")
    lay(one, tries)
    assert go(one)[0] == 0
    made = json.loads((one.session("one-one") / "made.json").read_text())
    assert "done" not in {made[name] for name in ("log", "settings", "network")}, made
    assert kept.read_text() == "kept"
    assert (one.workspace / "own.txt").read_text() == "mine"


def test_a_workspace_named_on_a_way_up_runs_its_code(one: Weft, tmp_path: Path) -> None:
    """Inside the boundary the folder beside it, which the way goes through, is not there."""
    lay(one, "def make(step):\n    return {'title': 'long'}\n", attempts=1)
    (tmp_path / "beside").mkdir()
    up = Weft(tmp_path / "beside" / ".." / "workspace")
    assert up("run", "one", "--session-id", "one-one").code == 0, go(one)[1]


def test_where_the_code_failed_is_told_call_by_call_and_kept(one: Weft) -> None:
    """An error deep in a library says little without the way that led there."""
    code = "import json\n\ndef parsed(text):\n    return json.loads(text)\n\ndef make(step):\n    return parsed('{')\n"
    lay(one, code, attempts=1)
    err = go(one)[1]
    for told in (err, one("sessions", "show", "one-one", "make").out, one("sessions", "log", "one-one").out):
        way = [line.strip() for line in told.splitlines() if 'one.py", line' in line]
        assert [line.rpartition(" ")[2] for line in way] == ["make", "parsed"]
        assert "return json.loads(text)" in told
        assert "decoder.py" in told
        assert "orchestrator/code_worker.py" not in told  # nobody's business but ours
    page = json.loads(one("sessions", "show", "one-one", "make", "--json").out)
    assert "in parsed" in page["attempts"][0]["trace"]


def test_an_error_of_megabytes_is_told_by_its_head(one: Weft) -> None:
    lay(one, "def make(step):\n    raise ValueError('z' * 5_000_000)\n", attempts=1)
    code, err = go(one)
    assert code == 1
    assert "ValueError: zzz" in err
    assert "code/one.py, line 2" in err
    assert len(err) < 20_000
    assert (one.session("one-one") / "log.jsonl").stat().st_size < 50_000


def test_code_that_asks_at_a_keyboard_is_told_that_nobody_is_there(one: Weft) -> None:
    lay(one, "def make(step):\n    return {'title': input('your name? ')}\n", attempts=1, timeout="300")
    code, err = go(one)
    assert code == 1
    assert settled(one) == [("step_failed", "error")]
    assert "EOFError" in err
    assert "code/one.py, line 2" in err


def test_code_that_reads_standard_input_takes_nothing_that_is_meant_for_the_next_call(one: Weft) -> None:
    lay(one, "import sys\ndef make(step):\n    return {'title': 'long', 'read': sys.stdin.read()}\n", timeout="300")
    assert go(one)[0] == 0
    assert json.loads((one.session("one-one") / "made.json").read_text())["read"] == ""


DECIDES = (".git/config", ".envrc", "AGENTS.override.md", "schedules/nightly.yaml", ".github/workflows/ci.yml")


@pytest.mark.parametrize("end", ["return {'title': 'done'}", "import os; os._exit(1)", "import time; time.sleep(60)"])
def test_what_code_makes_that_decides_what_is_run_is_put_away(one: Weft, end: str) -> None:
    """A `.git/config` names programs, which the person's next `git status` runs with no boundary at all."""
    plants = f"""\
import threading, time
from pathlib import Path

def plant(*names):
    for name in names:
        place = Path({str(one.workspace)!r}, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("planted")

def make(step):
    plant("own.txt", *{DECIDES!r})
    {end}
"""
    (one.workspace / ".github").mkdir()
    lay(one, plants, attempts=1, timeout="3")
    said = go(one)[1]
    assert (one.workspace / "own.txt").exists()
    for name in DECIDES:
        kept = name.replace("/workflows", "/workflows.stopped") if "workflows" in name else ""
        top, _, rest = name.partition("/")
        kept = kept or f"{top}.stopped/{rest}".rstrip("/")
        assert not (one.workspace / name).exists(), name
        assert (one.workspace / kept).read_text() == "planted", name
        assert kept.split("/ci")[0].split("/nightly")[0].split("/config")[0] in said


@pytest.mark.skipif(sys.platform != "linux", reason="processes are held where they can be listed")
def test_what_code_leaves_going_on_makes_nothing_between_its_calls(one: Weft) -> None:
    """What comes meanwhile is a person's own, and keeps its name."""
    late = f"""\
import threading, time
from pathlib import Path

def later():
    while not Path({str(one.session("one-one") / "made.json")!r}).exists():
        time.sleep(0.001)
    Path({str(one.workspace)!r}, ".envrc").write_text("planted")

def make(step):
    threading.Thread(target=later, daemon=True).start()
    return {{'title': 'done'}}

def then(step):
    time.sleep(0.5)
    return {{'title': 'done'}}
"""
    lay(one, late, attempts=1)
    (one.workspace / "pipelines/one.yaml").write_text(
        "name: one\ndescription: Two steps.\ninputs: {}\nsteps:\n  make: {artifact: made.json, code: 'one.py:make'}\n"
        "  pause: {artifact: p.json, code: 'one.py:then', requires: [make], wait: 1s, final: true}\n"
    )
    code, said = go(one)
    assert code == 0, said
    assert not (one.workspace / ".envrc").exists()
    assert (one.workspace / ".envrc.stopped").read_text() == "planted"
