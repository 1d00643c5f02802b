"""Effects under the discipline of the log: order, one writer a file, compare-and-swap, and limits. With real tools."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.test_runtime import call, events_of, played, session_in, talking
from weft.conversation.ports import SessionJournal, in_thread
from weft.conversation.tool_calls import ToolAccess
from weft.conversation.turns import TurnRules
from weft.files import Folder
from weft.models.model import Part, Request
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.messages import ToolCall, Usage
from weft.testing.stand_ins import MemoryJournal, ScriptedModel, calling, ports, saying
from weft.tools.builtin import builtin_tools
from weft.tools.permission_file import Rules, app_rules, rule_of
from weft.tools.processes import plain_environment
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox
from weft.workspace.rule_entry import RuleEntry


@contextmanager
def tools_in(place: Path) -> Iterator[ToolAccess]:
    with Folder.open(place) as folder:
        environment = plain_environment({"PATH": "/usr/bin:/bin"})

        def context(conversation: str, name: str, say: Callable[[str], None]) -> Context:
            return Context(call=name, working=folder, environment=environment, progress=say)

        box = Toolbox(builtin_tools())
        yield ToolAccess(lambda _: box, app_rules(), context, mode="auto")


def test_a_rule_holds_for_a_file_by_its_whole_path_too(tmp_path: Path) -> None:
    (tmp_path / "led").symlink_to(tmp_path / "work")
    (tmp_path / "work").mkdir()
    denies = rule_of("deny", RuleEntry(tool="Write", path="notes/**"), "permissions.yaml")
    for named in ("work", "led"):
        with tools_in(tmp_path / named) as access:
            access.rules += Rules((denies,))
            for path in ("notes/a.md", f"{tmp_path}/work/notes/a.md", f"{tmp_path}/{named}/notes/a.md"):
                call = ToolCall(call="1", tool="Write", input={"path": path, "content": ""})
                assert access.judge(call, conversation="main", tainted=False).ruling == "deny", path


def told(place: Path, *answers: Any, messages: tuple[str, ...] = ("go",), **settings: Any) -> list[Any]:
    """The events of a conversation whose model gives these answers."""
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(place) as access:
            async with talking(journal, ports(ScriptedModel(list(answers)), access), **settings) as talk:
                for message in messages:
                    talk.say(message)
                    await talk.idle()

    played(story)
    return [record.event for record in journal.records]


def settled(events: list[Any], conversation: str = "main") -> dict[str, t.ToolSettled]:
    return {e.call: e for e in events if isinstance(e, t.ToolSettled) and e.conversation == conversation}


def edit(name: str, path: str, old: str, new: str) -> ToolCall:
    return call(name, "Edit", path=path, old=old, new=new)


# -- order


@pytest.mark.parametrize("count", [2, 3, 5])
def test_no_edit_of_a_file_is_lost(tmp_path: Path, count: int) -> None:
    for number in range(10):
        (tmp_path / f"f{number}.txt").write_text("".join(f"line {n}\n" for n in range(count)))
    edits = [
        edit(f"e{number}-{n}", f"f{number}.txt", f"line {n}\n", f"row {n}\n")
        for number in range(10)
        for n in range(count)
    ]
    ends = settled(told(tmp_path, calling(*edits), saying("done")))
    assert {end.outcome for end in ends.values()} == {"succeeded"}
    for number in range(10):
        assert (tmp_path / f"f{number}.txt").read_text() == "".join(f"row {n}\n" for n in range(count))


def test_commands_run_in_the_order_declared(tmp_path: Path) -> None:
    commands = {"a": "sleep 0.3; echo A >> out", "b": "echo B >> out", "c": "sleep 0.1; echo C >> out"}
    asked = [call(name, "Shell", command=command) for name, command in commands.items()]
    told(tmp_path, calling(*asked), saying("done"))
    assert (tmp_path / "out").read_text() == "A\nB\nC\n"


def test_a_look_sees_what_was_changed_before_it_and_not_what_is_changed_behind_it(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("one\n")
    asked = [
        call("first", "Read", path="x"),
        edit("change", "x", "one", "two"),
        call("between", "Read", path="x"),
        call("shell", "Shell", command="echo three > x"),
        call("last", "Read", path="x"),
    ]
    ends = settled(told(tmp_path, calling(*asked), saying("done")))
    assert [ends[name].text.split("\t")[1] for name in ("first", "between", "last")] == ["one", "two", "three"]


def test_looks_run_side_by_side(tmp_path: Path) -> None:
    events = told(tmp_path, calling(*(call(f"r{n}", "Read", path="missing") for n in range(3))), saying("done"))
    kinds = [e.type for e in events if isinstance(e, t.IntentRecorded | t.ToolSettled) and e.turn == 1]
    assert kinds == ["intent_recorded"] * 4 + ["tool_settled"] * 3


def test_what_was_stopped_does_not_begin_later(tmp_path: Path) -> None:
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(tmp_path) as access:
            asked = [
                call("slow", "Shell", command="touch began; sleep 600"),
                call("next", "Shell", command="touch never"),
            ]
            async with talking(journal, ports(ScriptedModel([calling(*asked)]), access)) as talk:
                talk.say("go")
                while not (tmp_path / "began").exists():
                    await asyncio.sleep(0.01)
                talk.interrupt()
                await talk.idle()

    played(story)
    ends = settled([record.event for record in journal.records])
    assert (ends["slow"].outcome, ends["slow"].effect) == ("interrupted", "unknown")
    assert (ends["next"].outcome, ends["next"].effect) == ("interrupted_before_execution", "none")
    assert not (tmp_path / "never").exists()


# -- one writer a file, and compare-and-swap


def test_sub_conversations_that_change_one_file_do_not_lose_a_change(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("".join(f"line {n}\n" for n in range(6)))
    journal = MemoryJournal()

    class Speaker:
        name, window = "speaker", 100_000

        def __init__(self, conversation: str) -> None:
            self.conversation = conversation

        async def stream(self, request: Request) -> Any:
            number = self.conversation.rpartition("/a")[2]
            turns = sum(message.role == "assistant" for message in request.messages)
            parts: list[Part] = []
            if self.conversation == "main" and not turns:
                parts = calling(*(call(f"t{n}", "Task", description="edit", prompt="go") for n in range(6)))
            elif self.conversation != "main" and not turns:
                n = int(number) - 1
                parts = calling(edit("e", "x", f"line {n}\n", f"row {n}\n"))
            for part in parts or saying("done"):
                yield part

    async def story() -> None:
        with tools_in(tmp_path) as access:
            given = replace(ports(None, access), model=Speaker)
            async with talking(journal, given) as talk:
                talk.say("go")
                await talk.idle()

    played(story)
    assert len([e for e in events_of(journal, t.ToolSettled) if e.outcome == "succeeded"]) == 12
    assert (tmp_path / "x").read_text() == "".join(f"row {n}\n" for n in range(6))


def test_what_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    """Not by an edit, not by a whole file; after it was read again both go through."""
    (tmp_path / "x").write_text("one\ntwo\n")
    said = ["go", "now"]

    async def meanwhile(request: Request) -> Any:
        (tmp_path / "x").write_text("ONE\ntwo\n")
        for part in calling(edit("stale", "x", "two", "2"), call("blind", "Write", path="x", content="mine\n")):
            yield part

    events = told(
        tmp_path,
        calling(call("r", "Read", path="x")),
        meanwhile,
        calling(call("again", "Read", path="x"), edit("good", "x", "two", "2")),
        saying("done"),
        calling(call("whole", "Write", path="x", content="mine\n")),
        saying("done"),
        messages=tuple(said),
    )
    ends = settled(events)
    for name in ("stale", "blind"):
        assert ends[name].outcome == "failed"
        assert "has changed since you last saw it" in ends[name].text
    assert [ends[name].outcome for name in ("again", "good", "whole")] == ["succeeded"] * 3
    assert (tmp_path / "x").read_text() == "mine\n"


def test_a_file_that_was_never_read_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("somebody's\n")
    events = told(tmp_path, calling(call("w", "Write", path="x", content="mine\n")), saying("done"))
    assert "was not read" in settled(events)["w"].text
    assert (tmp_path / "x").read_text() == "somebody's\n"


def test_what_was_seen_is_known_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "x").write_text("one\n")
    answers: list[Any] = [calling(call("r", "Read", path="x")), saying("read")]
    later: list[Any] = [calling(edit("e", "x", "one", "1")), saying("done")]

    async def story() -> None:
        for script in (answers, later):
            with session_in(tmp_path / "home") as session, tools_in(tmp_path / "work") as access:
                given = ports(ScriptedModel(script), access, off_loop=in_thread)
                async with talking(SessionJournal(session), given) as talk:
                    talk.say("go")
                    await talk.idle()
                    ends.extend(session.records())
            (tmp_path / "work" / "x").write_text("one and more\n")

    ends: list[Any] = []
    (tmp_path / "home").mkdir()
    played(story)
    end = settled([record.event for record in ends])["e"]
    assert end.outcome == "failed"
    assert "has changed since you last saw it" in end.text


def test_two_processes_that_edit_one_file_do_not_lose_a_change(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("".join(f"line {n}\n" for n in range(40)))
    program = """
import asyncio, sys
from pathlib import Path
from weft.files import Folder
from weft.protocol.messages import ToolCall
from weft.tools.builtin import builtin_tools
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox

async def main():
    box = Toolbox(builtin_tools())
    with Folder.open(Path(sys.argv[1])) as folder:
        for n in range(int(sys.argv[2]), 40, 2):
            given = {"path": "x", "old": f"line {n}\\n", "new": f"row {n}\\n"}
            handle = await box.start(ToolCall(call="c", tool="Edit", input=given), Context(call="c", working=folder))
            outcome = await handle.result()
            assert not outcome.is_error, outcome.text
asyncio.run(main())
"""
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(n)], stderr=subprocess.PIPE) for n in (0, 1)
    ]
    for child in children:
        assert child.communicate(timeout=60)[1] == b""
    assert (tmp_path / "x").read_text() == "".join(f"row {n}\n" for n in range(40))


# -- limits


def test_a_call_that_fails_again_and_again_is_stopped_and_said(tmp_path: Path) -> None:
    failing = calling(call("c", "Read", path="missing"))
    events = told(tmp_path, *[failing] * 6, saying("I see."), messages=("go", "try something else"))
    (reached,) = [e for e in events if isinstance(e, t.LimitReached)]
    assert (reached.limit, reached.reason) == (
        "failures",
        "Read failed 5 times with the same input, and was asked for again and again",
    )
    warned = [e.text for e in events if isinstance(e, t.ToolSettled) and "once more" in e.text]
    assert len(warned) == 1
    assert "has failed 4 times" in warned[0]
    assert [e.disposition for e in events if isinstance(e, t.TurnCompleted)] == ["continue"] * 6 + ["final"]
    (after,) = [e for e in events if isinstance(e, t.TurnStarted) and e.messages == ("m2",)]
    assert after.continues == reached.key == "main:t5"


def test_a_command_that_fails_between_changes_is_not_stopped(tmp_path: Path) -> None:
    answers: list[Any] = []
    for number in range(8):
        answers += [
            calling(call("t", "Shell", command="false")),
            calling(call("w", "Write", path=f"f{number}", content="x")),
        ]
    events = told(tmp_path, *answers, saying("given up"))
    assert not [e for e in events if isinstance(e, t.LimitReached)]


def use(tokens: int, *parts: Part) -> list[Part]:
    return [*parts[:-1], Usage(input=tokens, output=0), parts[-1]]


def priced(model: str, usage: Mapping[str, int]) -> Decimal | None:
    return Decimal(usage.get("input", 0)) / 10_000


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"turns": 2}, "main may have 2 turns, and has had 2"),
        ({"tokens": 150}, "main may take 150 tokens, and has taken 200"),
        ({"usd": 0.02}, "main may cost $0.02, and has cost $0.0200"),
    ],
)
def test_a_limit_holds_the_model_back_until_it_is_wider(tmp_path: Path, limits: dict[str, float], said: str) -> None:
    (tmp_path / "x").write_text("x\n")
    journal = MemoryJournal()
    look = use(100, *calling(call("r", "Read", path="x")))
    model = ScriptedModel([look, look, look, saying("done")])

    async def story() -> None:
        with tools_in(tmp_path) as access:
            async with talking(journal, ports(model, access), rules=TurnRules(price=priced)) as talk:
                talk.submit(c.SetLimits(conversation="main", limits=limits))
                talk.say("go")
                await talk.idle()
                assert len(model.requests) == 2
                talk.say("and on")
                await talk.idle()
                assert len(model.requests) == 2
                talk.submit(c.SetLimits(conversation="main", limits={}))
                await talk.idle()

    played(story)
    reached = events_of(journal, t.LimitReached)
    assert [one.reason for one in reached] == [said, said]
    assert [m.delivery for m in events_of(journal, t.MessageAccepted)] == ["started", "queued"]
    assert len(model.requests) == 4
    assert events_of(journal, t.TurnStarted)[2].messages == ("m2",)


def test_a_price_that_is_not_known_is_said_and_not_guessed(tmp_path: Path) -> None:
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(tmp_path) as access:
            model = ScriptedModel([use(5, *calling(call("r", "Read", path="x"))), saying("no")])
            async with talking(journal, ports(model, access)) as talk:
                talk.submit(c.SetLimits(conversation="main", limits={"usd": 1}))
                talk.say("go")
                await talk.idle()

    played(story)
    assert "the price of scripted is not known" in events_of(journal, t.LimitReached)[0].reason


def test_minutes_that_are_over_stop_what_runs(tmp_path: Path) -> None:
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(tmp_path) as access:
            model = ScriptedModel([calling(call("s", "Shell", command="sleep 600")), saying("never")])
            async with talking(journal, ports(model, access)) as talk:
                talk.submit(c.SetLimits(conversation="main", limits={"minutes": 0.005}))
                talk.say("go")
                await talk.idle()
                (said,) = events_of(journal, t.LimitReached)
                assert (said.limit, said.reason) == ("minutes", "main may work for 0.005 minutes, and they are over")
                talk.submit(c.SetLimits(conversation="main", limits={"minutes": 600}))
                await talk.idle()
                assert len(model.requests) == 1, "of a turn that was stopped nothing is due"
                talk.submit(c.SetLimits(conversation="main", limits={"minutes": 0.005}))
                talk.say("and now?")
                await talk.idle()

    played(story)
    (stopped,) = events_of(journal, t.TurnInterrupted)
    assert stopped.reason == "time_is_over"
    assert [one.limit for one in events_of(journal, t.LimitReached)] == ["minutes", "minutes"]


def test_a_sub_conversation_counts_for_its_parent_and_ends_with_the_limit(tmp_path: Path) -> None:
    journal = MemoryJournal()
    (tmp_path / "x").write_text("x")

    async def story() -> None:
        with tools_in(tmp_path) as access:
            look = calling(call("r", "Read", path="x"))
            model = ScriptedModel([calling(call("t", "Task", description="d", prompt="go")), look, look, saying("no")])
            async with talking(journal, ports(model, access)) as talk:
                talk.submit(c.SetLimits(conversation="main", limits={"turns": 3}))
                talk.say("go")
                await talk.idle()

    played(story)
    assert [(one.conversation, one.limit) for one in events_of(journal, t.LimitReached)] == [
        ("main/a1", "turns"),
        ("main", "turns"),
    ]
    end = settled([record.event for record in journal.records])["t"]
    assert end.outcome == "failed"
    assert "stopped: main may have 3 turns" in end.text


def test_odd_limits_are_refused(tmp_path: Path) -> None:
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(tmp_path) as access:
            async with talking(journal, ports(ScriptedModel([]), access)) as talk:
                for odd in ({"turnz": 1.0}, {"usd": -1.0}, {"tokens": float("nan")}):
                    talk.submit(c.SetLimits(conversation="main", limits=odd))
                await talk.idle()

    played(story)
    assert [(e.refusal, bool(e.text)) for e in events_of(journal, t.CommandRefused)] == [("odd_limits", True)] * 3
    assert not events_of(journal, t.LimitsSet)


def test_a_read_that_fails_has_done_nothing_and_of_a_command_nobody_knows(tmp_path: Path) -> None:
    journal = MemoryJournal()

    async def story() -> None:
        with tools_in(tmp_path) as access:
            both = calling(call("r", "Read", path="none.txt"), call("w", "Edit", path="none.txt", old="a", new="b"))
            async with talking(journal, ports(ScriptedModel([both, saying("well")]), access)) as talk:
                talk.say("go")
                await talk.idle()

    played(story)
    ended = {one.call: (one.outcome, one.effect) for one in events_of(journal, t.ToolSettled)}
    assert ended == {"r": ("failed", "none"), "w": ("failed", "unknown")}
