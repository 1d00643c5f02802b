"""Steps that call models: seen while it happens, and what was used survives an interrupt and a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wired import held_to_a_list, wired
from tests.made import Weft
from tests.terminal import Terminal
from weft.protocol.hashes import hash_bytes
from weft.testing.scripted import Hold
from weft.testing.wire import Reply

BAD, GOOD = Reply(text='{"words": 1}'), Reply(text='["red", "barrow"]')
TOKENS, COST = 19, 0.026
"""Of one reply, by the prices of `wired`."""


@pytest.fixture
def listed(weft: Weft) -> Weft:
    held_to_a_list(weft)
    return weft


def of(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [event for event in weft.log("poem") if event["type"] == kind and event.get("step") == "list"]


def tokens(event: dict[str, Any]) -> tuple[int, int]:
    return event["usage"]["input"], event["usage"]["output"]


def wait_until(weft: Weft, kind: str, number: int = 1) -> None:
    deadline = time.monotonic() + 60
    log = weft.session("poem") / "log.jsonl"
    while not log.exists() or log.read_text().count(f'"type":"{kind}","run":1,"step":"list"') < number:
        assert time.monotonic() < deadline, f"no {kind} came"
        time.sleep(0.05)


def started(weft: Weft, source: Path) -> subprocess.Popen[bytes]:
    words = weft.command("run", source, "--session-id", "poem", "--plain")
    return subprocess.Popen(words, env=weft.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_what_a_killed_process_had_used_still_counts(listed: Weft, source: Path) -> None:
    with wired(listed, [BAD, Reply(text="never", hold=Hold())]):
        process = started(listed, source)
        wait_until(listed, "call_settled")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    assert of(listed, "step_interrupted") == []
    with wired(listed, [GOOD]) as there:
        stopped = listed("run", "--session-id", "poem", "--plain", "--budget", "tokens=1")
        assert stopped.code == 4, stopped.err
        assert f"{TOKENS} are spent" in stopped.err
        assert there.server.seen == []
        (interrupted,) = of(listed, "step_interrupted")
        assert tokens(interrupted) == (12, 7)
        assert interrupted["model"] == "work/m"
        assert interrupted["ms"] == of(listed, "call_settled")[0]["ms"]
        done = listed("run", "--session-id", "poem", "--plain", "--budget", "tokens=100000")
        assert done.code == 0, done.err
    page = json.loads(listed("sessions", "show", "poem", "list", "--json").out)
    assert [attempt["result"] for attempt in page["attempts"]] == ["interrupted", "completed"]
    assert page["cost"] == pytest.approx(2 * COST)


def test_a_limit_in_tokens_goes_on_where_a_price_is_not_known(listed: Weft, source: Path) -> None:
    pipeline = listed.workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text().replace("steps:\n", "budget: {usd: 1}\nsteps:\n", 1))
    with wired(listed, [GOOD]):
        config = listed.workspace / "config.toml"
        config.write_text("\n".join(line for line in config.read_text().splitlines() if not line.startswith("price")))
        stopped = listed("run", source, "--session-id", "poem", "--plain")
        assert stopped.code == 4
        assert "the price of work/m is not known: set a price in config.toml, or a limit in tokens" in stopped.err
        done = listed("run", "--session-id", "poem", "--plain", "--budget", "tokens=100000")
        assert done.code == 0, done.err


def test_an_interrupt_keeps_what_was_used_and_settles_the_open_call(listed: Weft, source: Path) -> None:
    hold = Hold()
    with wired(listed, [BAD, Reply(text="half of an answer", hold=hold, hold_after=2)]) as there:
        process = started(listed, source)
        wait_until(listed, "call_settled")
        deadline = time.monotonic() + 60
        while not hold.reached.is_set():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert len(there.server.seen) == 2
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    (interrupted,) = of(listed, "step_interrupted")
    assert tokens(interrupted) == (12, 7)
    assert interrupted["ms"] > 0
    first, second = of(listed, "call_settled")
    assert (first["ok"], second["ok"], second["message"]) == (True, False, "interrupted")
    assert second["seq"] < interrupted["seq"]
    assert "asked again" in second["title"]
    assert "step list model work/m failed (make list.json, asked again (2))" in err.decode()


def test_json_has_the_calls_their_text_and_their_cost(listed: Weft, source: Path) -> None:
    with wired(listed, [BAD, GOOD]):
        ran = listed("run", source, "--session-id", "poem", "--json")
    assert ran.code == 0, ran.err
    calls = [event for event in ran.events if event["type"].startswith("call_")]
    assert [(event["type"], event["call"]) for event in calls] == [
        ("call_started", "1"),
        ("call_settled", "1"),
        ("call_started", "2"),
        ("call_settled", "2"),
    ]
    assert [event["cost"] for event in calls if event["type"] == "call_settled"] == [pytest.approx(COST)] * 2
    written = "".join(event["text"] for event in ran.events if event["type"] == "step_text_streamed")
    assert written == BAD.text + GOOD.text
    (completed,) = [event for event in ran.events if event["type"] == "step_completed" and event["step"] == "list"]
    assert completed["cost"] == pytest.approx(2 * COST)
    assert tokens(completed) == (24, 14)
    sequence = [event["seq"] for event in ran.events if "seq" in event]
    assert sequence == sorted(sequence)
    data = (listed.session("poem") / "blobs" / calls[1]["request"]).read_bytes()
    assert hash_bytes(data) == calls[1]["request"]
    assert b"List every word once." in data
    assert listed("sessions", "verify", "poem").code == 0


def test_what_did_not_fit_into_the_prompt_is_said_and_kept(listed: Weft, source: Path) -> None:
    source.write_text("so much depends " + "upon a red wheel barrow " * 2_000 + "beside the white chickens\n")
    with wired(listed, [GOOD], window=8_000):
        ran = listed("run", source, "--session-id", "poem", "--plain")
    assert ran.code == 0, ran.err
    (settled,) = of(listed, "call_settled")
    (dropped,) = settled["dropped"]
    assert dropped.endswith("characters of the middle of source")
    assert f"more than the model can read, left out: {dropped}" in ran.err
    shown = listed("sessions", "show", "poem", "list").out
    assert f"left out: {dropped}" in shown


@pytest.mark.parametrize("width", [60, 120])
def test_the_live_view_has_the_calls_under_their_step(listed: Weft, source: Path, width: int) -> None:
    hold = Hold()
    text = '["red", "a wheel barrow glazed with rain water beside the white chickens"]'
    with wired(listed, [BAD, Reply(text=text, pieces=12, hold=hold, hold_after=9)]) as there:
        terminal = Terminal(listed, "run", str(source), "--session-id", "poem", width=width)
        shown = terminal.wait_for("asked again (2)", "beside", seconds=60)
        lines = [line.strip() for line in shown.splitlines()]
        (ended,) = [line for line in lines if line.startswith("✓ work/m · make list.json")]
        assert "$0.0260" in ended
        assert ("19 tok" if width < 90 else "12 in, 7 out") in ended
        place = next(at for at, line in enumerate(lines) if "asked again (2)" in line)
        assert '["red", "a wheel' in lines[place + 1]
        assert all(len(line) <= width for line in shown.splitlines())
        there.release(hold)
        terminal.wait_for("Done in", seconds=60)
        assert terminal.end() == 0
    done = terminal.text()
    assert "38 tok" in done
    assert "$0.0520" in done
    assert "asked again" not in done


def test_the_page_of_a_step(listed: Weft, source: Path) -> None:
    with wired(listed, [Reply(text='["red", "red"]'), GOOD]):
        assert listed("run", source, "--session-id", "poem", "--plain").code == 0
    page = listed("sessions", "show", "poem", "list").out
    for words in (
        "poem · letters · step list\ncompleted\nin all: 2 attempts, ",
        "inputs of attempt 2\n  input:source  ",
        "  1 failed (run 1, first: not yet made)\n",
        "    rejected: 1 finding\n    - list.json at /1",
        "  2 completed (run 1, retry: attempt 1 failed)\n",
        "    model work/m · make list.json (",
        "12 in, 7 out, $0.0260",
        "output\n  list.json (",
        "checks (all passed by attempt 2)\n  unique on list.json",
        "--prompt shows the whole text",
    ):
        assert words in page, page
    whole = listed("sessions", "show", "poem", "list", "--prompt").out
    assert whole.startswith("--- call 1, work/m ---\n=== system ===\nList every word once.")
    assert "Your last attempt was rejected" in whole
    assert "so much depends upon" in whole
    assert "no model was asked" in listed("sessions", "show", "poem", "count", "--prompt").err
    unknown = listed("sessions", "show", "poem", "nothing")
    assert unknown.code == 1
    assert "it has count, list, report" in unknown.err
    assert listed("sessions", "show", "poem", "--prompt").code == 2
    (blob,) = [path for path in (listed.session("poem") / "blobs").iterdir() if b"rejected" in path.read_bytes()]
    blob.write_bytes(b"something else")
    (listed.session("poem") / "list.json").write_text("[]")
    log = listed.session("poem") / "log.jsonl"
    log.write_bytes(log.read_bytes() + b"not a line\n" + log.read_bytes().splitlines(keepends=True)[-1])
    damaged = listed("sessions", "show", "poem", "list").out
    assert "its text is gone" in damaged
    assert "its file was changed by hand" in damaged
    assert "note: log.jsonl line" in damaged
