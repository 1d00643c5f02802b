"""Steps that an agent makes with tools: a real project, a scripted model, and one way to hand in a result."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agents import (
    BROKEN,
    FIXED,
    PIPELINE,
    TESTS,
    Kept,
    at_work_in,
    called,
    hands_in,
    lay_project,
    lay_workspace,
    log,
    results,
    run,
    script,
    search_path,
    until,
)
from tests.made import Weft
from weft.app import App, Filter, OpenedSession
from weft.models.model import ModelError
from weft.protocol.commands import Interrupt
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalRequested, Decision, ToolRequested
from weft.protocol.events import Record, RunEnded
from weft.protocol.messages import ToolCall
from weft.testing.scripted import Hold, Turn, calls, says

GOOD = {"summary": "Add adds", "files": ["sums.py"]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", search_path())
    return lay_project(tmp_path / "project")


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return lay_workspace(tmp_path / "space")


def test_an_agent_reads_changes_tests_and_hands_in(space: Path, project: Path) -> None:
    model = script(
        calls("Read", {"path": "sums.py"}),
        calls("Shell", {"command": TESTS}),
        calls("Edit", {"path": "sums.py", "old": "a - b", "new": "a + b"}),
        calls("Shell", {"command": TESTS}),
        hands_in(**GOOD),
    )
    assert run(space, model, project) == "done"
    model.assert_done()
    assert (project / "sums.py").read_text() == FIXED
    first, last = model.requests[0], results(model.requests[-1])
    assert [tool.name for tool in first.tools] == ["Read", "Write", "Edit", "Bash", "hand_in"]
    assert "Build what is asked for." in first.system
    assert str(project) in first.system
    assert "Make add add." in str(first.messages)
    assert "return a - b" in last[0]
    assert "1 failed" in last[1]
    assert "1 passed" in last[3]
    (done,) = log(space, "step_completed")
    assert (done["model"], done["usage"]["input"]) == ("scripted", 50), "the tokens of all five calls"
    settled = [(call.kind, call.name, call.ok) for call in called(space)]
    assert settled == [
        ("model", "scripted", True),
        ("tool", "Read", True),
        ("model", "scripted", True),
        ("tool", "Shell", False),
        ("model", "scripted", True),
        ("tool", "Edit", True),
        ("model", "scripted", True),
        ("tool", "Shell", True),
        ("model", "scripted", True),
        ("tool", "hand_in", True),
    ]
    assert run(space, script(), project) == "done", "what is up to date is not made again"


def test_what_is_wrong_with_a_result_goes_back_in_exact_words(space: Path, project: Path) -> None:
    model = script(
        hands_in(summary="add adds"),
        hands_in(summary="add adds", files=[]),
        hands_in(summary="Add adds", files=[]),
    )
    assert run(space, model, project) == "done"
    schema, check = results(model.requests[2])
    assert "files" in schema
    assert "required" in schema
    assert "[A-Z].*" in check
    assert not log(space, "step_failed"), "one attempt was enough"


def test_a_result_that_is_never_good_is_a_clear_failure(space: Path, project: Path) -> None:
    model = script(*[hands_in(summary="x") for _ in range(4)])
    assert run(space, model, project) == "failed"
    model.assert_done()
    (failed,) = log(space, "step_failed")
    assert failed["kind"] == "rejected"
    assert "files" in failed["message"]
    assert not (space / "sessions/fix/fix.json").exists()


def test_stopping_without_a_result_is_not_finishing(space: Path, project: Path) -> None:
    model = script(*[says("I am done.") for _ in range(4)])
    assert run(space, model, project) == "failed"
    assert "nothing counts" in str(model.requests[1].messages[-1])
    (failed,) = log(space, "step_failed")
    assert "stopped 4 times without handing in a result" in failed["message"]


def test_the_turns_are_bounded_and_the_last_is_for_the_result(space: Path, project: Path) -> None:
    model = script(*[calls("Read", {"path": "sums.py"}) for _ in range(8)])
    assert run(space, model, project) == "failed"
    last = model.requests[-1]
    assert [tool.name for tool in last.tools] == ["hand_in"]
    assert last.must_call == "hand_in"
    assert "You have 1 more turn" in str(last.messages[-1])
    (failed,) = log(space, "step_failed")
    assert "used all its 8 turns" in failed["message"]


def test_a_result_is_handed_in_alone(space: Path, project: Path) -> None:
    model = script([*calls("Read", {"path": "sums.py"}), *hands_in(**GOOD)], hands_in(**GOOD))
    assert run(space, model, project) == "done"
    assert "alone" in results(model.requests[1])[1]


REFUSED = {
    "a command that no rule allows": (
        calls("Shell", {"command": "touch made.txt"}),
        ["in a run nobody is asked", 'allow: [{tool: Shell, command: "touch made.txt"}]', "pipelines/fix.yaml"],
    ),
    "a path that climbs": (calls("Write", {"path": "../made.txt", "content": "x"}), ["climbs out of its folder"]),
    "an absolute path": (calls("Write", {"path": "/tmp/made.txt", "content": "x"}), ["outside the working folder"]),
    "a link that leads out": (calls("Write", {"path": "out/made.txt", "content": "x"}), ["out"]),
    "what a rule wants asked": (
        calls("Write", {"path": ".git/hooks/pre-commit", "content": "x"}),
        ["a rule wants a person asked"],
    ),
    "reading outside by the shell": (calls("Shell", {"command": "cat /etc/passwd"}), ["outside the working folder"]),
    "reading through a link": (calls("Shell", {"command": "cat out/request.txt"}), ["outside the working folder"]),
    "a tool that is not in its scope": (calls("Grep", {"pattern": "x"}), ["there is no tool 'Grep'"]),
    "the session's own files": (calls("Read", {"path": "@session/log.jsonl"}), ["no session folder"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_happens_outside_the_folder_or_the_rules(case: str, space: Path, project: Path) -> None:
    asked, words = REFUSED[case]
    (project / "out").symlink_to(space)
    before = {path: path.read_bytes() for path in space.rglob("*") if path.is_file()}
    model = script(asked, hands_in(**GOOD))
    assert run(space, model, project) == "done"
    (told,) = results(model.requests[1])
    for word in words:
        assert word in told
    assert (project / "sums.py").read_text() == BROKEN
    assert not list(project.rglob("made.txt"))
    assert all(path.read_bytes() == data for path, data in before.items())
    assert [(call.name, call.ok) for call in called(space) if call.kind == "tool" and call.name != "hand_in"] == [
        (asked[0].tool if isinstance(asked[0], ToolCall) else "", False)
    ]


def test_a_command_that_the_person_chose_runs_in_these_very_words(space: Path, project: Path) -> None:
    (project / "check").write_text("#!/bin/sh\necho checked\n")
    (project / "check").chmod(0o755)
    chosen = "./check && ./check"
    model = script(calls("Shell", {"command": chosen}), calls("Shell", {"command": "./check"}), hands_in(**GOOD))
    assert run(space, model, project, tests=chosen) == "done"
    ran, refused = results(model.requests[2])
    assert ran == "checked\nchecked"
    assert "not allowed" in refused


def test_steps_in_the_same_folder_work_one_at_a_time(tmp_path: Path, project: Path) -> None:
    both = PIPELINE + PIPELINE[PIPELINE.index("  fix:\n") :].replace("  fix:\n", "  other:\n").replace(
        "artifact: fix.json", "artifact: other.json\n    final: true"
    )
    space = lay_workspace(tmp_path / "space", both)
    reads = calls("Read", {"path": "sums.py"})
    model = script(reads, hands_in(**GOOD), reads, hands_in(**{**GOOD, "summary": "Other"}))
    assert run(space, model, project) == "done"
    one, two = (str(request.messages[0]) for request in model.requests[::2])
    assert "Make fix.json" in one
    assert "Make other.json" in two
    assert [len(request.messages) for request in model.requests] == [1, 3, 1, 3]


@pytest.mark.parametrize("yes", [False, True])
def test_a_face_that_can_ask_is_asked(yes: bool, space: Path, project: Path) -> None:
    asked: list[Any] = []

    async def face(session: OpenedSession) -> None:
        async for item in session.events():
            if isinstance(item, Record) and isinstance(item.event, ToolRequested | ApprovalRequested):
                asked.append(item.event)
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                decision: Decision = "once" if yes else "denied"
                await session.submit(
                    DecideApproval(conversation=item.event.conversation, call=item.event.call, decision=decision)
                )
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                return

    model = script(
        calls("Shell", {"command": "touch made.txt"}),
        calls("Write", {"path": "../made.txt", "content": "x"}),
        hands_in(**GOOD),
    )
    assert run(space, model, project, meanwhile=face, attended=True) == "done"
    (wanted,) = [event for event in asked if isinstance(event, ToolRequested) and event.verdict == "ask"]
    assert (wanted.conversation, wanted.tool, wanted.input) == ("run-1/fix#1", "Shell", {"command": "touch made.txt"})
    assert (project / "made.txt").exists() is yes
    first, second = results(model.requests[2])
    assert ("not allowed by the person" in first) is not yes
    assert "climbs out of its folder" in second, "what is denied is not asked about"


def test_the_time_of_a_step_does_not_count_while_somebody_is_asked(tmp_path: Path, project: Path) -> None:
    space = lay_workspace(tmp_path / "space", PIPELINE.replace("  fix:\n", "  fix:\n    timeout: 2s\n"))

    async def face(session: OpenedSession) -> None:
        async for item in session.events():
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                await asyncio.sleep(3)  # the clock of the step itself is what is looked at
                said = DecideApproval(conversation=item.event.conversation, call=item.event.call, decision="once")
                await session.submit(said)
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                return

    model = script(calls("Shell", {"command": "touch made.txt"}), hands_in(**GOOD))
    assert run(space, model, project, meanwhile=face, attended=True) == "done"
    assert (project / "made.txt").exists()
    assert not log(space, "step_failed")


@pytest.mark.parametrize("where", ["{space}/code/made.py", "space/code/made.py", "space/config.toml"])
def test_a_folder_that_holds_the_workspace_does_not_open_it(where: str, tmp_path: Path, space: Path) -> None:
    written = {"path": where.format(space=space), "content": "x"}
    model = script(calls("Write", written), calls("Write", {"path": "code/other.py", "content": "x"}), hands_in(**GOOD))
    assert run(space, model, tmp_path) == "done"
    refused, done = results(model.requests[2])
    assert "runs are made of it" in refused
    assert "made code/other.py" in done, "only the workspace's own is closed"
    assert not (space / "code").exists()
    assert (space / "config.toml").read_text() != "x"


def test_a_folder_inside_what_is_run_is_refused(space: Path) -> None:
    (space / "code").mkdir()
    assert run(space, script(), space / "code") == "failed"
    assert "is part of the workspace" in log(space, "step_failed")[0]["message"]


@pytest.mark.parametrize("allowed", [False, True])
def test_with_documents_from_outside_a_command_needs_to_be_allowed_for_that(
    allowed: bool, tmp_path: Path, project: Path
) -> None:
    pipeline = PIPELINE.replace("{kind: text, description", "{description")
    if allowed:
        pipeline = pipeline.replace("parameter: tests}", "parameter: tests, when_tainted: true}")
    space = lay_workspace(tmp_path / "space", pipeline)
    model = script(calls("Shell", {"command": TESTS}), hands_in(**GOOD))
    assert run(space, model, project) == "done"
    (told,) = results(model.requests[1])
    assert ("1 failed" in told) is allowed
    assert ("a rule with 'when_tainted: true' under 'allow'" in told) is not allowed


def test_an_interrupt_ends_a_tool_in_the_middle_and_all_it_started(tmp_path: Path, project: Path) -> None:
    command = "sh -c 'sleep 600 & echo $! > pid; wait'"
    rule = '      - {tool: Shell, command: "sh *"}\n'
    space = lay_workspace(tmp_path / "space", PIPELINE + rule)

    async def stop(session: OpenedSession) -> None:
        while not (project / "pid").is_file() or not (project / "pid").read_text().strip():
            await asyncio.sleep(0.02)
        session.submit(Interrupt())

    model = script(calls("Shell", {"command": command}))
    assert run(space, model, project, meanwhile=stop) == "interrupted"
    until(lambda: not at_work_in(project))
    (stopped,) = log(space, "step_interrupted")
    assert stopped["usage"] == {"input": 10, "output": 1}, "what it had used is known"
    again = script(hands_in(**GOOD))
    assert run(space, again, project) == "done"
    assert [(start["attempt"], start["cause"]) for start in log(space, "step_started")] == [(1, "first"), (1, "resume")]
    (told,) = results(again.requests[0])
    assert "It may have done some, all or none of its work" in told, "it goes on, and says what nobody knows"
    (done,) = log(space, "step_completed")
    assert done["usage"]["input"] == 10, "the first call was paid before"


READER = "---\nname: reader\ndescription: Reads\ntools: Read, Write\n---\nRead closely.\n"


def test_a_sub_agent_works_within_the_scope_and_stands_under_its_call(tmp_path: Path, project: Path) -> None:
    pipeline = PIPELINE.replace("tools: [Read, Write, Edit, Shell]", "tools: [Read, Shell, Task]")
    space = lay_workspace(tmp_path / "space", pipeline, {".claude/agents/reader.md": READER})
    agent = space / ".claude/agents/builder.md"
    agent.write_text(agent.read_text().replace("tools: Read", "tools: Task, Read"))
    task = {"description": "look at sums", "prompt": "What does add do?", "agent": "reader"}
    model = script(
        calls("Task", task),
        calls("Read", {"path": "sums.py"}),
        says("It subtracts."),
        calls("Task", {**task, "agent": "nobody"}),
        hands_in(**GOOD),
    )
    assert run(space, model, project) == "done"
    model.assert_done()
    inner = model.requests[1]
    assert "Read closely." in inner.system
    assert [tool.name for tool in inner.tools] == ["Read"], "what the step does not have, a sub-agent has not either"
    assert "Make add add." not in str(inner.messages)
    first, second = results(model.requests[4])
    assert first == "It subtracts."
    assert "unknown agent 'nobody'" in second
    settled = {call.call: (call.kind, call.name, call.parent) for call in called(space)}
    assert settled["2"] == ("agent", "reader", "")
    assert [settled[name] for name in ("3", "4", "5")] == [
        ("model", "scripted", "2"),
        ("tool", "Read", "2"),
        ("model", "scripted", "2"),
    ]
    (done,) = log(space, "step_completed")
    assert done["usage"]["input"] == 50, "what it used counts"


def test_an_interrupt_ends_the_tool_of_a_sub_agent(tmp_path: Path, project: Path) -> None:
    pipeline = PIPELINE.replace("tools: [Read, Write, Edit, Shell]", "tools: [Shell, Task]")
    space = lay_workspace(tmp_path / "space", pipeline + '      - {tool: Shell, command: "sh *"}\n')
    agent = space / ".claude/agents/builder.md"
    agent.write_text(agent.read_text().replace("tools: Read", "tools: Task, Read"))

    async def stop(session: OpenedSession) -> None:
        while not (project / "pid").is_file() or not (project / "pid").read_text().strip():
            await asyncio.sleep(0.02)
        session.submit(Interrupt())

    model = script(
        calls("Task", {"description": "wait", "prompt": "Wait."}),
        calls("Shell", {"command": "sh -c 'echo $$ > pid; sleep 600'"}),
    )
    assert run(space, model, project, meanwhile=stop) == "interrupted"
    until(lambda: not at_work_in(project))
    begun = [line["kind"] for line in log(space, "intent_recorded")]
    assert begun == ["model", "child", "model", "tool"]


def test_an_interrupt_while_the_model_writes(space: Path, project: Path) -> None:
    hold = Hold()

    async def stop(session: OpenedSession) -> None:
        await hold.reached.wait()
        session.submit(Interrupt())

    assert run(space, script(Turn(says("Let me"), hold)), project, meanwhile=stop) == "interrupted"


def test_what_is_left_to_spend_is_looked_at_before_each_call(tmp_path: Path, project: Path) -> None:
    space = lay_workspace(tmp_path / "space", PIPELINE.replace("    turns: 8\n", "    budget: {tokens: 4000}\n"))
    long = "x" * 20_000
    (project / "long.txt").write_text("\n".join(long[at : at + 100] for at in range(0, len(long), 100)))
    model = script(calls("Read", {"path": "long.txt"}))
    kept = Kept()
    assert run(space, model, project, kept) == "over_budget"
    model.assert_done()
    (failed,) = kept.durable("step_failed")
    assert failed.kind == "over_budget"
    assert "the step fix has 4,000 tokens: 11 are spent, the next call takes about" in failed.message
    assert "would be enough for it" in failed.message
    assert kept.durable("budget_reached")
    assert run(space, script(), project) == "over_budget", "it is no shorter than it was"
    page = Weft(space)("sessions", "show", "fix", "fix").out
    assert "the step fix has 4,000 tokens: 11 are spent" in page
    assert "turn 2" not in page, "no model was asked"
    assert "process_lost" not in page
    (space / "pipelines/fix.yaml").write_text(PIPELINE.replace("    turns: 8\n", "    budget: {tokens: 40000}\n"))
    more = script(hands_in(**GOOD))
    assert run(space, more, project) == "done"
    assert len(results(more.requests[0])) == 1, "with a larger budget it goes on where it was"
    assert [call.ok for call in called(space) if call.kind == "model" and call.usage] == [True, True]


def test_another_folder_or_another_rule_makes_it_again(space: Path, project: Path, tmp_path: Path) -> None:
    assert run(space, script(hands_in(**GOOD)), project) == "done"
    other = lay_project(tmp_path / "other")
    assert run(space, script(hands_in(**GOOD)), other) == "done"
    (space / "pipelines/fix.yaml").write_text(PIPELINE + '      - {tool: Shell, command: "make lint"}\n')
    assert run(space, script(hands_in(**GOOD)), other) == "done"
    reasons = [start["reason"] for start in log(space, "step_started")]
    assert "the parameter place was changed" in reasons[1]
    assert "what it is allowed was changed" in reasons[2]


def test_a_sub_agent_that_was_cut_off_goes_on_too(tmp_path: Path, project: Path) -> None:
    pipeline = PIPELINE.replace("tools: [Read, Write, Edit, Shell]", "tools: [Read, Shell, Task]")
    space = lay_workspace(tmp_path / "space", pipeline)
    agent = space / ".claude/agents/builder.md"
    agent.write_text(agent.read_text().replace("tools: Read", "tools: Task, Read"))
    hold = Hold()

    async def stop(session: OpenedSession) -> None:
        await hold.reached.wait()
        session.submit(Interrupt())

    task = {"description": "look at sums", "prompt": "What does add do?"}
    first = script(calls("Task", task), calls("Read", {"path": "sums.py"}), Turn(says("It"), hold))
    assert run(space, first, project, meanwhile=stop) == "interrupted"
    again = script(says("It subtracts."), hands_in(**GOOD))
    assert run(space, again, project) == "done"
    again.assert_done()
    inner, outer = again.requests
    assert "You do one piece of work for another agent" in inner.system
    assert "return a - b" in results(inner)[0], "what it had read is not read again"
    assert results(outer) == ["It subtracts."], "and whoever sent it was not asked again"


def test_a_provider_that_fails_in_the_middle_does_not_cost_the_conversation(tmp_path: Path, project: Path) -> None:
    space = lay_workspace(tmp_path / "space", PIPELINE.replace("attempts: 1", "attempts: 2"))
    lost = ModelError("network", "the line is down", retryable=True)
    model = script(calls("Read", {"path": "sums.py"}), [lost], hands_in(**GOOD))
    assert run(space, model, project) == "done"
    model.assert_done()
    assert [(start["attempt"], start["cause"]) for start in log(space, "step_started")] == [(1, "first"), (1, "resume")]
    assert len(results(model.requests[2])) == 1, "what it had read is not read again"
    assert "You were stopped in the middle (the line is down)" in str(model.requests[2].messages[-1])


def test_another_agent_file_is_another_attempt(space: Path, project: Path) -> None:
    hold = Hold()

    async def stop(session: OpenedSession) -> None:
        await hold.reached.wait()
        session.submit(Interrupt())

    first = script(calls("Read", {"path": "sums.py"}), Turn(says("Let me"), hold))
    assert run(space, first, project, meanwhile=stop) == "interrupted"
    agent = space / ".claude/agents/builder.md"
    agent.write_text(agent.read_text() + "Be quick.\n")
    again = script(hands_in(**GOOD))
    assert run(space, again, project) == "done"
    assert [start["attempt"] for start in log(space, "step_started")] == [1, 2]
    assert results(again.requests[0]) == []
    assert {line["conversation"] for line in log(space, "turn_started")} == {"run-1/fix#1", "run-1/fix#2"}


def test_a_question_that_nobody_answered_is_asked_again(space: Path, project: Path) -> None:
    async def go_away(session: OpenedSession) -> None:
        async for item in session.events():
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                session.submit(Interrupt())
                return

    async def come_back(session: OpenedSession) -> None:
        async for item in session.events():
            if isinstance(item, ApprovalRequested):  # asked again, not only read in the log
                await session.submit(DecideApproval(conversation=item.conversation, call=item.call, decision="once"))
                return

    model = script(calls("Shell", {"command": "touch made.txt"}))
    assert run(space, model, project, meanwhile=go_away, attended=True) == "interrupted"
    assert not (project / "made.txt").exists()
    again = script(hands_in(**GOOD))
    assert run(space, again, project, meanwhile=come_back, attended=True) == "done"
    assert (project / "made.txt").exists()
    assert len(log(space, "approval_requested")) == 1, "the question is the one of the log"
    assert [line["decision"] for line in log(space, "approval_decided")] == ["once"]


def test_a_question_that_stands_open_is_not_denied_because_nobody_attends(space: Path, project: Path) -> None:
    asked: list[ApprovalRequested] = []

    async def go_away(session: OpenedSession) -> None:
        async for item in session.events():
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                asked.append(item.event)
                session.submit(Interrupt())
                return

    model = script(calls("Shell", {"command": "touch made.txt"}))
    assert run(space, model, project, meanwhile=go_away, attended=True) == "interrupted"
    assert run(space, script(hands_in(**GOOD)), project) == "interrupted"
    assert log(space, "approval_decided") == []
    assert "waits for somebody's word: weft approve" in log(space, "run_ended")[-1]["message"]

    async def answer(session: OpenedSession) -> None:
        decided = DecideApproval(conversation=asked[0].conversation, call=asked[0].call, decision="once")
        await session.submit(decided)

    again = script(hands_in(**GOOD))
    assert run(space, again, project, meanwhile=answer, attended=True) == "done"
    assert (project / "made.txt").exists()
    assert [line["decision"] for line in log(space, "approval_decided")] == ["once"]


def test_a_step_that_was_left_in_the_middle_and_made_anew_leaves_nothing_at_work(space: Path, project: Path) -> None:
    hold = Hold()

    async def stop(session: OpenedSession) -> None:
        await hold.reached.wait()
        await session.submit(Interrupt())

    def listed() -> str:
        with App.open(space) as app:
            (one,) = app.catalogue.page(Filter())
            return one.state

    assert run(space, script(Turn(hold, says("never"))), project, meanwhile=stop) == "interrupted"
    assert listed() == "interrupted"
    assert run(space, script(hands_in(**GOOD)), project, force=frozenset({"fix"})) == "done"
    assert listed() == "done"
