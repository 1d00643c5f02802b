"""Workers on a shared workspace: queued, waiting at gates, killed, stopped and continued, drained."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared.fleet import Fleet, events_of, log_of, until
from weft.consent import FILE

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]


@pytest.fixture
def fleet(tmp_path: Path, store: str) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path, store)
    try:
        yield fleet
    finally:
        fleet.close()


def states(fleet: Fleet, batch: str) -> list[str]:
    return [one["state"] for one in fleet.weft("batches", "show", batch, "--json").events]


def test_a_queued_run_waits_at_its_gates_with_no_worker_and_goes_on_by_a_reply(fleet: Fleet) -> None:
    rows = fleet.queue(*fleet.documents(1))
    assert [row["state"] for row in rows] == ["waiting"]
    (session,), batch = [row["session"] for row in rows], fleet.batch()
    worker = fleet.worker("one")
    shown = fleet.weft("batches", "show", batch, "--wait", "--json", timeout=120)
    assert (shown.code, [one["state"] for one in shown.events]) == (3, ["at a gate"]), fleet.said("one")
    listed = fleet.weft("workers", "list")
    assert "one" in listed.out, listed
    assert "0 queued, 0 at work" in listed.out
    assert fleet.weft("reply", session, "proceed", "--json", timeout=120).code == 3, fleet.said("one")
    replied = fleet.weft("reply", session, "proceed", "--json", timeout=120)
    assert replied.code == 0, (replied, fleet.said("one"))
    assert states(fleet, batch) == ["done"]
    # the person's machine has a working copy of what the worker made
    assert (fleet.workspace / "sessions" / session / "report.md").read_text().startswith("beginning")
    verified = fleet.weft("sessions", "verify", session)
    assert verified.code == 0, verified
    with log_of(fleet.store) as log:
        assert [one["by_epoch"] for one in events_of(log, session)][-1] >= 3
    assert fleet.weft("workers", "drain", "one").code == 0
    assert worker.wait(90) == 0, fleet.said("one")


def test_a_run_that_sleeps_is_shown_so(fleet: Fleet) -> None:
    (fleet.workspace / "pipelines/nap.yaml").write_text(
        'name: nap\ndescription: d\nsteps:\n  a: {artifact: plan.json, code: "essay.py:plan", wait: 90m}\n'
    )
    fleet.queue(*fleet.documents(1), pipeline="nap")
    fleet.worker("one")
    shown = fleet.weft("batches", "show", fleet.batch(), "--wait", "--json", timeout=120)
    assert (shown.code, [one["state"] for one in shown.events]) == (3, ["asleep"]), fleet.said("one")


def test_a_reply_that_no_worker_takes_says_that_it_waits(fleet: Fleet) -> None:
    (row,) = fleet.queue(*fleet.documents(1))
    worker = fleet.worker("one")
    until(lambda: states(fleet, fleet.batch()) == ["at a gate"], told=lambda: fleet.said("one"))
    worker.terminate()
    worker.wait(90)
    weft = fleet.weft
    with subprocess.Popen(weft.command("reply", row["session"], "proceed"), env=weft.env, stderr=subprocess.PIPE) as it:
        assert it.stderr is not None
        said = it.stderr.readline().decode()
        it.send_signal(signal.SIGINT)
        said += it.stderr.read().decode()
    assert said.startswith("queued: no worker has taken it yet"), said
    assert "reply with: weft" in said or "reply: weft" in said


def test_what_a_worker_refused_before_it_began_can_be_queued_again(fleet: Fleet) -> None:
    """Nobody had agreed to the code there. The documents and what was asked for are still known."""
    fleet.queue("--answer", "plan=proceed", *fleet.documents(2))
    batch = fleet.batch()
    (Path(os.environ["HOME"]) / ".config" / "weft" / FILE).unlink()
    first = fleet.worker("one")
    shown = fleet.weft("batches", "show", batch, "--wait", "--json", timeout=120)
    assert [one["state"] for one in shown.events] == ["failed", "failed"], fleet.said("one")
    assert "nobody has agreed to code" in shown.events[0]["problem"]
    first.terminate()
    first.wait(90)
    found = re.search(r"--trust ([0-9a-f]{32})", fleet.said("one"))
    assert found
    fleet.worker("two", "--trust", found[1])
    assert fleet.weft("batches", "retry", batch).out == "2 queued again\n"
    shown = fleet.weft("batches", "show", batch, "--wait", "--json", timeout=120)
    assert [one["state"] for one in shown.events] == ["at a gate", "at a gate"], fleet.said("two")
    with log_of(fleet.store) as log:
        seen = events_of(log, shown.events[1]["session"])
    opened = [one["step"] for one in seen if one["type"] == "gate_opened"]
    assert opened == ["plan", "review"], "with the answer that was given in advance"


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.campaign), signal.SIGSTOP])
def test_what_a_dead_or_stopped_worker_had_goes_on_elsewhere(fleet: Fleet, how: signal.Signals) -> None:
    traces = fleet.workspace / "traces"
    traces.mkdir(exist_ok=True)
    (traces / "hold-draft-0").touch()
    (row,) = fleet.queue("--answer", "plan=proceed", "--answer", "review=proceed", *fleet.documents(1))
    session, batch = row["session"], fleet.batch()
    first = fleet.worker("one")
    held = until(
        lambda: (t := fleet.traces("one")) and (t / "held-draft-0").exists() and t, told=lambda: fleet.said("one")
    )
    first.send_signal(how)
    fleet.worker("two")
    there = until(
        lambda: (t := fleet.traces("two")) and (t / "held-draft-0").exists() and t, told=lambda: fleet.said("two")
    )
    (there / "hold-draft-0").unlink()
    shown = fleet.weft("batches", "show", batch, "--wait", "--json", timeout=120)
    assert [one["state"] for one in shown.events] == ["done"], fleet.said("two")
    with log_of(fleet.store) as log:
        before = events_of(log, session)
        if how == signal.SIGSTOP:
            (held / "hold-draft-0").unlink()
            first.send_signal(signal.SIGCONT)
            until(lambda: "went on elsewhere" in fleet.said("one"), told=lambda: fleet.said("one"))
        after = events_of(log, session)
    assert after == before, "nothing of the first worker's came after the second had it"
    epochs = [one["by_epoch"] for one in before]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) == 2
    completed = [one["step"] for one in before if one["type"] == "step_completed"]
    assert completed.count("plan") == 1, "a settled step is not made again"
    if how == signal.SIGSTOP:  # it lets go, and works on
        (row,) = fleet.queue("--new", "--until", "plan", *fleet.documents(1))
        until(lambda: states(fleet, fleet.batch()) == ["at a gate"], told=lambda: fleet.said("one") + fleet.said("two"))


def test_a_server_hands_runs_and_replies_to_the_workers(fleet: Fleet) -> None:
    token = fleet.weft("tokens", "add", "script", "--scope", "read", "--scope", "write").out.split()[0]
    fleet.worker("one")
    with fleet.serving() as address:

        def ask(path: str, body: dict[str, Any] | None = None) -> Any:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            data = json.dumps(body).encode() if body is not None else None
            request = urllib.request.Request(f"{address}/api/w/workspace/{path}", data=data, headers=headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())

        def waiting_for() -> str:
            found = ask("waiting")
            return str(found[0]["gates"][0]["message"]) if found and found[0]["gates"] else ""

        text = "On rivers. They flow."
        session = ask("sessions", {"text": text, "pipeline": "essay", "name": "note.txt"})["session"]
        until(lambda: waiting_for() == "Is this the plan?", told=lambda: fleet.said("one"))
        gate = ask("waiting")[0]["gates"][0]["gate"]
        ask(f"sessions/{session}/commands", {"command": {"type": "reply_to_gate", "gate": gate, "choice": "proceed"}})
        until(lambda: waiting_for() == "Shall it be handed in?", told=lambda: fleet.said("one"))
    # the worker did it, and the server none of it; it says so when it has let go of the session
    until(lambda: fleet.said("one").count(f"{session}: waiting") >= 2, told=lambda: fleet.said("one"))
