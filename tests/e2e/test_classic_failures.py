"""The classic ways a pipeline of files breaks, each by name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.gated import wait_for_file
from tests.made import CODE, PIPELINE, Weft


@pytest.fixture
def done(weft: Weft, source: Path) -> Weft:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    weft.ran()
    return weft


def reason(weft: Weft, step: str) -> str:
    out = weft("plan", "--session-id", "poem").out
    return next(line for line in out.splitlines() if line.startswith(f"{step}:"))


def again(weft: Weft, *words: str) -> list[str]:
    ran = weft("run", "--session-id", "poem", *words)
    assert ran.code == 0, ran.err
    return weft.ran()


def kept(weft: Weft) -> dict[str, bytes]:
    """What is in the session's folder, but for who last held its lock."""
    files = (file for file in weft.session("poem").iterdir() if file.is_file() and file.name != ".lock")
    return {file.name: file.read_bytes() for file in files}


def test_partial_write(done: Weft) -> None:
    path = done.session("poem") / "list.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:10])
    assert reason(done, "list").startswith("list: run, list.json is damaged: is not JSON")
    assert again(done) == ["list"]
    assert path.read_bytes() == whole


def test_old_schema(done: Weft) -> None:
    path = done.workspace / "schemas/count.schema.json"
    schema = json.loads(path.read_text())
    schema["version"] = "2"
    schema["required"].append("longest")
    schema["properties"]["longest"] = {"type": "string"}
    path.write_text(json.dumps(schema))
    assert reason(done, "count") == "count: run, the schema of count.json was changed"
    refused = done("run", "--session-id", "poem")
    assert refused.code == 1
    assert '"longest" is a required property' in refused.err
    assert "add the key that is missing" in refused.err


def test_corrupted_file(done: Weft) -> None:
    (done.session("poem") / "count.json").write_bytes(b"\xff\xfe\x00rubbish")
    assert reason(done, "count").startswith("count: run, count.json is damaged: is not UTF-8 text")
    assert again(done) == ["count"]


def test_changed_source(done: Weft, source: Path) -> None:
    source.write_text("a different poem")
    assert "count: run, the source was changed" in done("plan", source, "--session-id", "poem").out


def test_missing_artifact(done: Weft) -> None:
    gone = done.session("poem") / "list.json"
    whole = gone.read_bytes()
    gone.unlink()
    assert reason(done, "list") == "list: skip, up to date"
    assert "list.json is gone and will be written again from the log" in done("plan", "--session-id", "poem").out
    assert again(done) == [], "what the log has is not made again"
    assert gone.read_bytes() == whole
    gone.unlink()
    assert again(done, "--force", "list") == ["list"]


def test_interrupted_process(weft: Weft, source: Path) -> None:
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text().replace("def listing(step):\n", "def listing(step):\n    time.sleep(60)\n"))
    command = weft.command("run", "letters", source, "--session-id", "poem", "--json")
    process = subprocess.Popen(command, env=weft.env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "step_started" and json.loads(line)["step"] == "list":
            break
    worker = _children(process.pid)
    process.kill()
    process.wait()
    process.stdout.close()
    assert weft.ran() == ["count"]
    # The code that was running must not live on behind the killed run.
    deadline = time.monotonic() + 60
    while any(_alive(pid) for pid in worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in worker if _alive(pid)] == []
    assert weft("sessions", "list").out.split("\t")[2] == "interrupted"
    assert reason(weft, "list") == "list: run, the last attempt did not finish"
    code.write_text(code.read_text().replace("    time.sleep(60)\n", ""))
    continued = weft("run", "--session-id", "poem", "--json")
    assert continued.code == 0
    assert weft.ran()[-2:] == ["list", "report"]
    settled = [event for event in weft.log("poem") if event["type"] == "step_interrupted"]
    assert [(event["step"], event["why"]) for event in settled] == [("list", "the process ended")]


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found.append(int(entry.name))
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_vanished_input_is_a_clear_error_and_the_session_continues_without_it(done: Weft, source: Path) -> None:
    source.unlink()
    gone = done("run", "letters", source)
    assert gone.code == 2
    assert f"there is no file {source}" in gone.err
    assert "--session-id" in gone.err
    assert again(done) == []


def test_an_artifact_removed_while_the_run_goes_on(done: Weft) -> None:
    """What an earlier run made is read from the disk, and must still be what the log says."""
    code = done.workspace / "code/letters.py"
    wait = (
        "    traces = Path(__file__).parent.parent / 'traces'\n"
        "    (traces / 'held').touch()\n"
        "    while not (traces / 'go').exists(): time.sleep(0.01)\n"
    )
    code.write_text(code.read_text().replace("def listing(step):\n", "def listing(step):\n" + wait))
    pipeline = done.workspace / "pipelines/letters.yaml"
    # `count` has code of its own, so that it is up to date and its artifact is read from the disk twice.
    (done.workspace / "code/counting.py").write_text(CODE)
    pipeline.write_text(PIPELINE.replace("letters.py:count", "counting.py:count"))
    assert done("run", "--session-id", "poem", "--until", "count").code == 0
    words = done.command("run", "--session-id", "poem")
    with subprocess.Popen(words, env=done.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        wait_for_file(done.ledger.parent / "held")
        (done.session("poem") / "count.json").unlink()
        (done.ledger.parent / "go").touch()
        _, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "count.json was removed while the run was going on" in err


def test_a_damaged_line_in_the_middle_is_reported_and_kept(done: Weft) -> None:
    path = done.session("poem") / "log.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    index = next(i for i, line in enumerate(lines) if '"type":"step_completed"' in line and '"step":"list"' in line)
    lines[index] = lines[index][:20] + "#" + lines[index][21:]
    path.write_text("".join(lines))
    plan = done("plan", "--session-id", "poem")
    assert f"log.jsonl line {index + 1}" in plan.out
    verified = done("sessions", "verify", "poem")
    assert verified.code == 1
    assert f"log.jsonl line {index + 1}" in verified.out
    refused = done("run", "--session-id", "poem")
    assert (refused.code, done.ran()) == (1, [])
    assert f"log.jsonl line {index + 1}" in refused.err
    assert "weft sessions accept-cut poem" in refused.err
    assert path.read_text() == "".join(lines)
    assert f"log.jsonl line {index + 1}" in done("sessions", "accept-cut", "poem").out
    assert again(done) == ["list"]
    assert lines[index] in path.read_text()
    assert "accepted by event" in done("sessions", "verify", "poem").out


def test_a_log_that_was_cut_stops_a_run_before_anything_is_made_again(done: Weft) -> None:
    path = done.session("poem") / "log.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    files = kept(done)
    checked = done("sessions", "verify", "poem")
    assert checked.code == 1
    assert "poem: not intact (4 events)" in checked.out
    assert f"log.jsonl ends after event 4, and session.json was made from {len(lines)}" in checked.out
    assert "its log was cut" in done("sessions", "list").out
    for command in (("run", "--session-id", "poem"), ("run", "--session-id", "poem", "--until", "count")):
        stopped = done(*command)
        assert (stopped.code, done.ran()) == (1, [])
        assert f"events 5 to {len(lines)} are missing" in stopped.err
    assert kept(done) == files
    path.write_bytes(b"".join(lines))
    assert again(done) == []
    path.write_bytes(b"".join(lines[:4]))
    assert done("sessions", "accept-cut", "poem").code == 0
    assert "has lost nothing" in done("sessions", "accept-cut", "poem").err
    assert again(done) != []
    assert done("sessions", "verify", "poem").code == 0


def test_a_log_that_was_cut_is_not_forked(done: Weft) -> None:
    path = done.session("poem") / "log.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for whole in (4, len(lines) - 1):
        path.write_bytes(b"".join(lines[:whole]))
        stopped = done("run", "--session-id", "poem")
        for at in ((), ("--at", "2")):
            refused = done("sessions", "fork", "poem", *at)
            assert (refused.code, refused.err, refused.out) == (1, stopped.err, "")
        assert "weft sessions accept-cut poem" in stopped.err
        assert (f"event {len(lines)} is missing" in stopped.err) == (whole == len(lines) - 1)
    assert done("sessions", "accept-cut", "poem").code == 0
    assert done("sessions", "fork", "poem").out == "poem-fork\n"
    assert done("sessions", "verify", "poem-fork").code == 0


@pytest.mark.parametrize("left", [b"", None])
def test_of_a_log_that_is_gone_every_command_says_that_it_is_lost(done: Weft, left: bytes | None) -> None:
    path = done.session("poem") / "log.jsonl"
    assert "poem" in done("sessions", "list").out
    path.unlink() if left is None else path.write_bytes(left)
    listed = done("sessions", "list")
    assert "unreadable" in listed.out
    assert "its log is lost: weft sessions verify poem" in listed.out
    verified = done("sessions", "verify", "poem")
    assert "take away session.json" in verified.out
    assert "accept-cut" not in verified.out
    for command in (
        ("run", "--session-id", "poem"), ("sessions", "show", "poem"), ("sessions", "fork", "poem"),
        ("sessions", "rename", "poem", "Rain"), ("sessions", "accept-cut", "poem"),
    ):  # fmt: skip
        refused = done(*command)
        assert refused.code == 1
        assert "the log of session poem is lost" in refused.err, command
        assert "older system" not in refused.err.partition("take away session.json")[0]
    (done.session("poem") / "session.json").unlink()
    assert done("run", "--session-id", "poem").code == 0
    assert "lost" not in done("sessions", "list").out


def test_a_torn_tail_is_dropped_and_kept_aside(done: Weft) -> None:
    path = done.session("poem") / "log.jsonl"
    before = path.read_bytes()
    path.write_bytes(before + b'{"seq":99,"at":"2026')
    ran = done("run", "--session-id", "poem")
    assert ran.code == 0
    assert "dropped an unfinished write of 20 bytes" in ran.err
    assert path.read_bytes().startswith(before + b'{"seq"')
    assert [file.read_bytes() for file in (done.session("poem") / "aside").iterdir()] == [b'{"seq":99,"at":"2026']


@pytest.mark.parametrize("damage", ["delete", "truncate", "rubbish", "older run"])
def test_the_manifest_comes_back_identical(done: Weft, damage: str) -> None:
    path = done.session("poem") / "session.json"
    whole = path.read_bytes()
    match damage:
        case "delete":
            path.unlink()
        case "truncate":
            path.write_bytes(whole[: len(whole) // 2])
        case "rubbish":
            path.write_bytes(b"\x00\x01")
        case "older run":
            path.write_bytes(whole.replace(b"completed", b"pending"))
    assert done("sessions", "show", "poem").code == 0
    assert path.read_bytes() == whole


def test_a_second_writer_follows_or_is_told_who_holds_the_session(weft: Weft, source: Path) -> None:
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text().replace("def count(step):\n", "def count(step):\n    time.sleep(60)\n"))
    command = weft.command("run", "letters", source, "--session-id", "poem", "--json")
    process = subprocess.Popen(command, env=weft.env, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        while b"step_started" not in process.stdout.readline():
            pass
        following = subprocess.Popen(weft.command("run", "--session-id", "poem"), env=weft.env, stderr=subprocess.PIPE)
        assert following.stderr is not None
        assert b"is followed" in following.stderr.readline()
        other = weft("run", "--session-id", "poem", "--force", "count")
        assert other.code == 1
        assert "a run is going on in this session" in other.err
        removed = weft("sessions", "rm", "poem")
        assert removed.code == 1
        assert f"session poem is being written by process {process.pid}" in removed.err
        # Readers are never blocked.
        assert weft("sessions", "list").out.split("\t")[2] == "running"
        assert "being written by process" in weft("plan", "--session-id", "poem").out
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        if process.stdout is not None:
            process.stdout.close()
    with following:
        assert b"interrupted" in following.stderr.read()
    assert following.returncode == 130
    assert weft("sessions", "list").out.split("\t")[2] == "interrupted"
