"""A person in front of a run that waits: asked, understood, asked again. Real programs in real pseudo-terminals."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.wired import wired
from tests.gated import lay_out_gated, started, wait_for_file
from tests.made import Weft
from tests.terminal import Terminal
from weft.app import App, SessionRequest
from weft.protocol.commands import Accepted, Refused, Say
from weft.testing.wire import Called, Reply


@pytest.fixture(autouse=True)
def own_runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))


@contextmanager
def terminal(weft: Weft, *words: str, width: int = 100, height: int = 60) -> Iterator[Terminal]:
    found = Terminal(weft, *words, width=width, height=height)
    try:
        yield found
    finally:
        found.child.close(force=True)


def say(screen: Terminal, text: str, *wanted: str) -> None:
    """Type a line, then wait for what it leads to, on a screen of its own."""
    screen.screen.reset()
    screen.child.send(text + "\r")
    screen.wait_for(*wanted, seconds=60)


def events(weft: Weft) -> list[str]:
    kept = ("gate_opened", "gate_resolved", "confirmation_asked", "confirmation_resolved", "run_ended")
    said = {"gate_opened": "gate", "gate_resolved": "choice", "confirmation_resolved": "choice", "run_ended": "outcome"}
    return [line.get(said.get(line["type"], ""), "asked back") for line in weft.log("essay") if line["type"] in kept]


def test_gate_amend_gate_breakout_deny_proceed_done(tmp_path: Path, workspace: Path) -> None:
    lay_out_gated(workspace)
    weft = Weft(workspace)
    (tmp_path / "subject.txt").write_text("On rivers. They flow.\n")
    with terminal(weft, "run", str(tmp_path / "subject.txt"), "--session-id", "essay") as screen:
        screen.wait_for("Waits for you", "Is this the plan?", "title: On rivers", "2 amend", "leaves it waiting", ">")
        say(screen, "hmm", "not clear", "plan-1")
        say(screen, "2", "what should be changed?")
        say(screen, "the middle", "understood: amend: the middle", "plan-2", "- the middle", "leaves it waiting")
        say(screen, "never mind, I have another question", "Leave the run for this?", "1 leave", "2 stay")
        say(screen, "no", "stay with the run", "plan-2", "leaves it waiting")
        say(screen, "looks good", "understood: proceed", "Shall it be handed in?", "verdict: passed", "leaves it")
        screen.child.send("1\r")
        assert screen.end() == 0
    assert (weft.session("essay") / "report.md").read_text() == "beginning, the middle, end\n"
    assert events(weft) == [
        *["plan-1", "waiting", "asked back", "yes", "amend"],
        *["plan-2", "waiting", "asked back", "stay", "proceed"],
        *["review-3", "waiting", "proceed", "done"],
    ]
    assert weft.ran() == ["plan", "plan", *["draft", "verify"] * 3, "review", "report"]


@pytest.mark.parametrize(("key", "width"), [("\x04", 60), ("\x03", 120)])
def test_leaving_the_question_leaves_the_run_waiting(tmp_path: Path, workspace: Path, key: str, width: int) -> None:
    weft = started(tmp_path, workspace)
    before = (weft.session("essay") / "log.jsonl").read_bytes()
    with terminal(weft, "reply", "essay", width=width) as screen:
        screen.wait_for("Is this the plan?", "1 proceed: Go on", "leaves it waiting >")
        assert all(len(line.rstrip()) <= width for line in screen.screen.display)
        screen.child.send(key)
        screen.wait_for("The run waits. Go on with:")
        assert screen.end() == 3
    assert (weft.session("essay") / "log.jsonl").read_bytes() == before


def test_an_edit_is_kept_when_it_passes_and_refused_with_its_fault_when_not(tmp_path: Path, workspace: Path) -> None:
    weft = started(tmp_path, workspace)
    plan = weft.session("essay") / "plan.json"
    with terminal(weft, "reply", "essay") as screen:
        screen.wait_for("leaves it waiting")
        plan.write_text(json.dumps({"title": "mine"}))
        say(screen, "proceed", '"parts" is a required property', ">")
        plan.write_text(json.dumps({"title": "mine", "parts": ["one"]}))
        say(screen, "proceed", "understood: proceed", "Shall it be handed in?", "leaves it waiting")
        screen.child.send("proceed\r")
        assert screen.end() == 0
    assert (weft.session("essay") / "report.md").read_text() == "one\n"


def test_a_chat_in_a_session_with_a_waiting_run(tmp_path: Path, workspace: Path) -> None:
    weft = started(tmp_path, workspace)
    with terminal(weft, "chat", "--session", "essay", width=80) as screen:
        screen.wait_for("Is this the plan?", "1 proceed: Go on", "embedded")
        say(screen, "hmm", "not clear", "Is this the plan?")
        say(screen, "add the middle", "✓ plan", "plan-2", "- add the middle")
        say(screen, "never mind, where do rivers flow?", "Leave the run for this?", "1 leave")
        say(screen, "2", "stay with the run", "plan-2")
        say(screen, "something else: where do rivers flow?", "Leave the run for this?")
        say(
            screen, "yes", "run left for the conversation", "> something else: where do rivers flow?", "embedded engine"
        )
        say(screen, "resume the run", "go on with the run", "Is this the plan?")
        say(screen, "proceed", "passed after 2 of 2 repairs", "Shall it be handed in?")
        say(screen, "proceed", "✓ report: report.md", "is done")
        screen.child.send("\x04")
        assert screen.end() == 0
    assert (weft.session("essay") / "report.md").read_text() == "beginning, add the middle, end\n"
    said = [line["text"] for line in weft.log("essay") if line["type"] == "message_accepted"]
    assert said == ["something else: where do rivers flow?"]


PERMITTED = """\
name: permitted
description: a step whose tool no rule allows
inputs: {}
parameters:
  project: {type: folder, description: where it works}
steps:
  make:
    artifact: made.json
    tool: Shell
    folder: project
    with: {command: touch a-file}
    attempts: 1
"""


def permitted(tmp_path: Path, workspace: Path) -> tuple[Weft, Path]:
    lay_out_gated(workspace)
    (workspace / "pipelines" / "permitted.yaml").write_text(PERMITTED)
    project = tmp_path / "project"
    project.mkdir()
    return Weft(workspace), project


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("yesterday", 1)])
def test_a_person_in_front_is_asked_what_a_tool_may_do(tmp_path: Path, workspace: Path, answer: str, code: int) -> None:
    weft, project = permitted(tmp_path, workspace)
    with terminal(weft, "run", "permitted", "--set", f"project={project}", "--session-id", "work") as screen:
        screen.wait_for("make wants to use Shell: touch a-file", "allow it, this once? (y/n)")
        screen.child.send(answer + "\r")
        screen.wait_for("allowed, this once" if code == 0 else "denied")
        assert screen.end() == code
    assert (project / "a-file").exists() == (code == 0)


AGENT = """\
name: handy
description: an agent whose tool no rule allows
inputs: {}
parameters:
  project: {type: folder, description: where it works}
steps:
  make:
    artifact: made.json
    agent: builder
    executor: agent
    tools: [Shell]
    folder: project
    attempts: 1
    final: true
"""


def test_a_person_is_asked_about_each_call_also_of_a_model_that_calls_all_the_same(
    tmp_path: Path, workspace: Path
) -> None:
    weft, project = permitted(tmp_path, workspace)
    (workspace / "pipelines/handy.yaml").write_text(AGENT)
    (workspace / ".claude/agents").mkdir(parents=True)
    (workspace / ".claude/agents/builder.md").write_text("---\nname: builder\ndescription: Builds\n---\nBuild.\n")

    def called(tool: str, **given: object) -> Reply:
        return Reply(calls=(Called(tool=tool, arguments=json.dumps(given), call="call_1"),))

    replies = [called("Shell", command=f"touch {name}-file") for name in ("a", "b")]
    words = ("run", "handy", "--set", f"project={project}", "--session-id", "work")
    with wired(weft, [*replies, called("hand_in", made="both")]), terminal(weft, *words) as screen:
        for name in ("a", "b"):
            screen.wait_for(f"make wants to use Shell: touch {name}-file", "allow it, this once? (y/n)")
            screen.child.send("y\r")
            screen.wait_for("allowed, this once")
            screen.screen.reset()
        screen.wait_for("Done in")
        assert screen.end() == 0
    assert {one.name for one in project.iterdir()} == {"a-file", "b-file"}


def test_an_interrupt_ends_the_question_too(tmp_path: Path, workspace: Path) -> None:
    weft, project = permitted(tmp_path, workspace)
    with terminal(weft, "run", "permitted", "--set", f"project={project}", "--session-id", "work") as screen:
        screen.wait_for("allow it, this once? (y/n)")
        screen.child.send("\x03")
        assert screen.end() == 130
    assert not (project / "a-file").exists()
    assert [line["outcome"] for line in weft.log("work") if line["type"] == "run_ended"] == ["interrupted"]


def test_what_is_answered_at_another_door_is_not_answered_here(tmp_path: Path, workspace: Path) -> None:
    """The plan that a person sees is the plan that their number approves: another one is shown first."""
    weft = started(tmp_path, workspace)
    with terminal(weft, "reply", "essay") as screen:
        screen.wait_for("Is this the plan?", "leaves it waiting >")
        screen.child.send("1")
        screen.wait_for("> 1")
        screen.screen.reset()
        assert weft("reply", "essay", "add the middle").code == 3
        screen.wait_for(
            "elsewhere: gate plan-1: amend (add the middle), by you", "put aside", "- add the middle", '"1"'
        )
        screen.wait_for("leaves it waiting >")
        assert [one["gate"] for one in weft.log("essay") if one["type"] == "gate_resolved"] == ["plan-1"]
        screen.screen.reset()
        assert weft("reply", "essay", "quit").code == 3
        screen.wait_for("I understood: cancel, which ends the run. Yes?", "1 yes", "2 no", "leaves the question open >")
        say(screen, "2", "understood: no", "Is this the plan?", "leaves it waiting >")
        screen.screen.reset()
        assert weft("reply", "essay", "proceed").code == 3
        screen.wait_for("elsewhere: gate plan-2: proceed, by you", "Shall it be handed in?", "leaves it waiting >")
        say(screen, "1", "understood: proceed")
        assert screen.end() == 0
    resolved = [(one["gate"], one["choice"]) for one in weft.log("essay") if one["type"] == "gate_resolved"]
    assert resolved == [("plan-1", "amend"), ("plan-2", "proceed"), ("review-3", "proceed")]


def test_a_run_that_is_ended_elsewhere_is_ended_here(tmp_path: Path, workspace: Path) -> None:
    weft = started(tmp_path, workspace)
    with terminal(weft, "run", "--session-id", "essay") as screen:
        screen.wait_for("Is this the plan?", "leaves it waiting >")
        assert weft("reply", "essay", "cancel").code == 0
        screen.wait_for("elsewhere: gate plan-1: cancel, by you", "The run is cancelled. What it made stays.")
        assert screen.end() == 1


def test_a_question_is_withdrawn_when_it_is_answered_elsewhere(tmp_path: Path, workspace: Path) -> None:
    weft, project = permitted(tmp_path, workspace)
    with terminal(weft, "run", "permitted", "--set", f"project={project}", "--session-id", "work") as screen:
        screen.wait_for("make wants to use Shell: touch a-file", "allow it, this once? (y/n)")
        screen.child.send("n")
        (call, *_) = weft("approve", "work").out.split()
        told = weft("approve", "work", call)
        assert told.code == 0
        screen.wait_for(
            "allowed, as was answered elsewhere", 'put aside, for what it answered is not asked any more: "n"'
        )
        assert screen.end() == 0
    assert (project / "a-file").exists()


def test_words_that_answer_what_is_not_asked_any_more_are_refused_with_what_is(tmp_path: Path, workspace: Path) -> None:
    started(tmp_path, workspace)

    async def go() -> None:
        with App.open(workspace) as app:
            async with app.session(SessionRequest(session="essay")) as session:
                seen = ("plan-1",)
                assert isinstance(await session.submit(Say(text="add rain", to="run", asked=seen)), Accepted)
                assert await session.run_at_rest() == "waiting"
                before = session.state.seq
                for late in (Say(text="1", to="run", asked=seen), Say(text="1", to="run", gate="plan-1")):
                    refused = await session.submit(late)
                    assert isinstance(refused, Refused)
                    told = f"{refused.reason}: {refused.hint}"
                    assert "plan-2" in told
                assert session.state.seq == before
                assert not session.state.unheard
                assert await session.run(Say(text="quit", to="run", asked=("plan-2",))) == "waiting"
                refused = await session.submit(Say(text="1", to="run", asked=("plan-2",)))
                assert isinstance(refused, Refused)
                assert "asked back" in refused.hint
                assert session.state.confirming is not None
                name = session.state.confirming.confirmation
                assert await session.run(Say(text="2", to="run", asked=(name,))) == "waiting"
                assert session.asks[0].type == "gate_opened"

    asyncio.run(asyncio.wait_for(go(), 60))


HOLDER = """
import asyncio, sys
from pathlib import Path
from weft.app import App, SessionRequest

async def main():
    with App.open(Path(sys.argv[1])) as app:
        async with app.session(SessionRequest(session="essay")) as session:
            print("held", flush=True)
            await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("at_work", [False, True])
def test_a_holder_that_is_killed_leaves_nobody_hanging(tmp_path: Path, workspace: Path, at_work: bool) -> None:
    """Whoever follows takes the session up: the run goes on, and each answer counts once."""
    weft = started(tmp_path, workspace)
    words = [sys.executable, "-c", HOLDER, str(workspace)]
    holder = subprocess.Popen(words, env=weft.env, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with terminal(weft, "run", "--session-id", "essay") as screen:
            screen.wait_for("Is this the plan?", "leaves it waiting >")
            screen.screen.reset()
            hold = workspace / "traces" / "hold-draft-0"
            if at_work:
                hold.touch()
                screen.child.send("1\r")
                wait_for_file(hold.with_name("held-draft-0"))
            holder.kill()
            holder.wait(30)
            hold.unlink(missing_ok=True)
            screen.wait_for("the process that held the session has ended: it is taken up again")
            if not at_work:
                screen.wait_for("Is this the plan?", "leaves it waiting >")
                screen.child.send("1\r")
            screen.wait_for("Shall it be handed in?", "leaves it waiting >")
            screen.child.send("1\r")
            assert screen.end() == 0
    finally:
        holder.kill()
        holder.wait(30)
        holder.stdout.close()
    resolved = [(one["gate"], one["choice"]) for one in weft.log("essay") if one["type"] == "gate_resolved"]
    assert [choice for _, choice in resolved] == ["proceed", "proceed"]
    assert resolved[0][0] == "plan-1"


def test_whoever_joins_a_run_that_is_at_work_is_asked_too_where_it_waits(tmp_path: Path, workspace: Path) -> None:
    weft = started(tmp_path, workspace)
    hold = workspace / "traces" / "hold-draft-0"
    hold.touch()
    with subprocess.Popen(weft.command("reply", "essay", "proceed", "--plain"), env=weft.env) as going:
        wait_for_file(hold.with_name("held-draft-0"))
        with terminal(weft, "run", "--session-id", "essay") as screen:
            screen.wait_for("is going on in another process and is followed")
            hold.unlink()
            screen.wait_for("Shall it be handed in?", "leaves it waiting >")
            screen.child.send("1\r")
            assert screen.end() == 0
        assert going.wait(60) in (0, 3), "it may have gone before"
    assert [one["choice"] for one in weft.log("essay") if one["type"] == "gate_resolved"] == ["proceed", "proceed"]


TWO_CALLS = """\
name: permitted
description: two steps whose tools no rule allows
inputs: {}
parameters:
  project: {type: folder, description: where it works}
steps:
  make:
    artifact: made.json
    tool: Shell
    folder: project
    with: {command: touch a-file}
    attempts: 1
  more:
    artifact: more.json
    tool: Shell
    folder: project
    with: {command: ls no-such-file}
    attempts: 1
    requires: [make]
    final: true
"""


def test_what_comes_of_an_approval_is_told_and_what_waits_next(tmp_path: Path, workspace: Path) -> None:
    weft, project = permitted(tmp_path, workspace)
    (workspace / "pipelines" / "permitted.yaml").write_text(TWO_CALLS.replace("ls no-such", "rm no-such"))
    with terminal(weft, "run", "permitted", "--set", f"project={project}", "--session-id", "work") as screen:
        screen.wait_for("allow it, this once? (y/n)")
        screen.child.kill(9)
        screen.child.wait()
    (call, *_) = weft("approve", "work").out.split()
    first = weft("approve", "work", call, timeout=60)
    assert first.code == 3
    assert "allowed" in first.err
    assert "Shell waits for you too" in first.err
    assert (project / "a-file").exists()
    (call, *_) = weft("approve", "work").out.split()
    second = weft("approve", "work", call, timeout=60)
    assert second.code == 1
    assert "no-such-file" in second.err
    assert "failed" in second.err


def test_the_time_of_a_step_stands_still_while_a_person_is_asked(tmp_path: Path, workspace: Path) -> None:
    """It counts again behind the answer, and what took too long is told."""
    weft, project = permitted(tmp_path, workspace)
    slow = PERMITTED.replace("touch a-file", "touch a-file; sleep 30").replace(
        "attempts: 1", "attempts: 1\n    timeout: 2s"
    )
    (workspace / "pipelines" / "permitted.yaml").write_text(slow)
    with terminal(weft, "run", "permitted", "--set", f"project={project}", "--session-id", "work") as screen:
        screen.wait_for("allow it, this once? (y/n)")
        begun = time.monotonic()
        while time.monotonic() - begun < 3:  # the clock of the step itself is what is looked at
            screen.feed()
        assert "took longer" not in screen.words()
        screen.child.send("y\r")
        screen.wait_for("allowed, this once", "took longer than 2 s")
        assert screen.end() == 1
    assert (project / "a-file").exists()
