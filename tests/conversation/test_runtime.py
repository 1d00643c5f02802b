"""A conversation on a real loop: models, tools, threads and processes, a log on the disk, and what a face sees."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from weft.conversation.conversation import Conversation, Settings
from weft.conversation.ports import Journal, Ports, Running, SessionJournal, in_thread
from weft.conversation.turns import TurnRules
from weft.files import Disk, Folder
from weft.models.model import ModelError, Part, Request, Stop, TextDelta, ThinkingDelta
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import ToolAsk, ToolEnd
from weft.protocol.errors import UserError
from weft.protocol.events import Record, SessionCreated
from weft.protocol.messages import Text, Thinking, ToolCall, ToolResult, Usage
from weft.session.session import Session
from weft.testing.handles import ProcessRun, TaskRun, ThreadRun
from weft.testing.scenario_real import members
from weft.testing.simulation import World
from weft.testing.stand_ins import MemoryJournal, ScriptedModel, ScriptedTools, calling, ports, saying


def played(story: Callable[[], Awaitable[None]]) -> None:
    """Run a story on a loop; one that hangs fails."""

    async def bounded() -> None:
        async with asyncio.timeout(30):
            await story()

    asyncio.run(bounded())


def call(name: str, tool: str, **given: Any) -> ToolCall:
    return ToolCall(call=name, tool=tool, input=given)


def quick(text: str = "42", **words: Any) -> Callable[..., Awaitable[Running]]:
    async def start(asked: ToolCall, say: Callable[[str], None]) -> Running:
        async def work() -> ToolEnd:
            say("at work")
            return ToolEnd(text=text, **words)

        return TaskRun(work())

    return start


async def slow(asked: ToolCall, say: Callable[[str], None]) -> Running:
    async def work() -> ToolEnd:
        await asyncio.sleep(600)
        return ToolEnd(text="slept")

    return TaskRun(work())


async def broken(asked: ToolCall, say: Callable[[str], None]) -> Running:
    raise OSError("no such program")


def asking(tool: str, **words: Any) -> ToolAsk:
    return ToolAsk(call="", tool=tool, ruling="ask", reason="it writes", **words)


async def until(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


@asynccontextmanager
async def talking(journal: Journal, given: Ports, **settings: Any) -> AsyncIterator[Conversation]:
    talk = await Conversation.open(journal, given, Settings(**settings))
    try:
        yield talk
    finally:
        await talk.shutdown(5)


def events_of(journal: MemoryJournal, kind: type) -> list[Any]:
    return [record.event for record in journal.records if isinstance(record.event, kind)]


@contextmanager
def session_in(place: Path, *, sync: bool = False) -> Iterator[Session]:
    with Folder.open(place, Disk(sync=sync)) as above:
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            if not session.state.seq:
                session.record([SessionCreated(session="talk", pipeline="chat", weft="0")])
            yield session


def test_a_message_a_tool_and_an_answer() -> None:
    async def story() -> None:
        model = ScriptedModel([calling(call("a", "count", path="x"), text="Let me see."), saying("It is 42.")])
        journal = MemoryJournal()
        async with talking(journal, ports(model, ScriptedTools({"count": quick()}))) as talk:
            talk.say("how many?")
            await talk.idle()
            assert talk.status == "idle"
            assert [said.text for said in talk.transcript().entries] == [
                "how many?",
                "Let me see.",
                "",
                "42",
                "It is 42.",
            ]
        told = model.requests[1].messages
        assert [message.role for message in told] == ["user", "assistant", "user"]
        assert told[1].content == (Text(text="Let me see."), call("a", "count", path="x"))
        assert told[2].content == (ToolResult(call="a", tool="count", text="42"),)
        assert [type(record.event).__name__ for record in journal.records][-2:] == [
            "ShutdownRequested",
            "ConversationStopped",
        ]

    played(story)


def test_a_face_sees_records_in_order_and_live_events_between_them() -> None:
    async def story() -> None:
        parts: list[Any] = [
            ThinkingDelta(text="hm", signature="seal"),
            TextDelta(text="a"),
            TextDelta(text="b"),
            Usage(input=3, output=2),
            Stop(reason="end"),
        ]
        journal = MemoryJournal()
        async with talking(journal, ports(ScriptedModel([parts]))) as talk:
            seen: list[Any] = []

            async def watch() -> None:
                seen.extend([item async for item in talk.events()])

            watching = asyncio.create_task(watch())
            await asyncio.sleep(0)
            talk.say("go")
            await talk.idle()
            await talk.shutdown(5)
            await watching
        records = [item for item in seen if isinstance(item, Record)]
        assert [record.seq for record in records] == list(range(1, len(journal.records) + 1))
        assert "".join(item.text for item in seen if isinstance(item, t.TextStreamed)) == "ab"
        assert [item.text for item in seen if isinstance(item, t.ThinkingStreamed)] == ["hm"]
        (settled,) = events_of(journal, t.ModelSettled)
        assert (settled.text, settled.usage, settled.model) == ("ab", {"input": 3, "output": 2}, "scripted")
        assert settled.thinking == ({"text": "hm", "signature": "seal"},)
        last_text = max(i for i, item in enumerate(seen) if isinstance(item, t.TextStreamed))
        end = next(i for i, item in enumerate(seen) if isinstance(item, Record) and item.event == settled)
        assert last_text < end

    played(story)


def test_thinking_goes_back_with_its_seal() -> None:
    async def story() -> None:
        thought: list[Any] = [ThinkingDelta(text="hm", signature="seal"), *calling(call("a", "count"))]
        model = ScriptedModel([thought, saying("done")])
        async with talking(MemoryJournal(), ports(model, ScriptedTools({"count": quick()}))) as talk:
            talk.say("go")
            await talk.idle()
        assert Thinking(text="hm", signature="seal") in model.requests[1].messages[1].content

    played(story)


def test_a_message_typed_meanwhile_waits_and_joins() -> None:
    async def story() -> None:
        model = ScriptedModel([calling(call("a", "slow")), saying("next")])
        journal = MemoryJournal()
        async with talking(journal, ports(model, ScriptedTools({"slow": slow}))) as talk:
            talk.say("one")
            await until(lambda: talk.running("tool"))
            talk.say("two")
            assert talk.interrupt().status == "accepted"
            assert talk.interrupt().status == "interrupt_in_progress"
            await talk.idle()
            assert talk.interrupt().status == "nothing_to_interrupt"
        last = model.requests[1].messages[-1].content
        assert isinstance(last[0], ToolResult)
        assert "may have done some, all or none" in last[0].text
        assert last[1] == Text(text="two")
        assert [e.disposition for e in events_of(journal, t.TurnCompleted)] == ["interrupted", "final"]

    played(story)


def test_streamed_text_survives_an_interrupt_and_nothing_comes_after_it() -> None:
    async def story() -> None:
        async def endless(request: Request) -> AsyncIterator[Part]:
            yield Usage(input=120, output=1)
            while True:
                yield TextDelta(text="word ")

        journal = MemoryJournal()
        model = ScriptedModel([endless, saying("ok")])
        async with talking(journal, ports(model)) as talk:
            shown: list[str] = []
            ended = False
            talk.say("go")
            async for item in talk.events():
                if isinstance(item, t.TextStreamed):
                    assert not ended
                    shown.append(item.text)
                    if sum(map(len, shown)) > 5000:
                        talk.interrupt()
                elif isinstance(item, Record) and isinstance(item.event, t.TurnCompleted):
                    ended = True
                elif ended and isinstance(item, Record) and isinstance(item.event, t.IdleReached):
                    break
            talk.say("again")
            await talk.idle()
        first = events_of(journal, t.ModelSettled)[0]
        assert first.outcome == "interrupted"
        assert first.text == "".join(shown)
        assert first.text.startswith("word word ")
        assert (first.model, first.usage) == (model.name, {"input": 120, "output": 1}), "it must be paid all the same"

    played(story)


def test_a_model_that_fails_is_a_fact_and_the_next_message_works() -> None:
    async def story() -> None:
        model = ScriptedModel(
            [[TextDelta(text="par"), ModelError("network", "the line is dead", hint="try later")], saying("ok")]
        )
        journal = MemoryJournal()
        async with talking(journal, ports(model)) as talk:
            talk.say("one")
            await talk.idle()
            talk.say("two")
            await talk.idle()
        failed = events_of(journal, t.ModelSettled)[0]
        assert (failed.outcome, failed.text) == ("failed", "par")
        assert failed.reason == "the line is dead\n  try later"
        assert [e.disposition for e in events_of(journal, t.TurnCompleted)] == ["failed", "final"]

    played(story)


def test_an_answer_that_breaks_off_is_no_answer() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        async with talking(journal, ports(ScriptedModel([[TextDelta(text="so"), call("a", "count")]]))) as talk:
            talk.say("one")
            await talk.idle()
        assert events_of(journal, t.ModelSettled)[0].outcome == "failed"
        assert events_of(journal, t.ToolRequested) == []

    played(story)


def test_faults_of_tools_are_results() -> None:
    async def story() -> None:
        asked = [call("a", "broken"), call("b", "unknown"), call("b", "count"), call("", "count")]
        model = ScriptedModel([calling(*asked), saying("done")])
        journal = MemoryJournal()
        async with talking(journal, ports(model, ScriptedTools({"broken": broken, "count": quick()}))) as talk:
            talk.say("go")
            await talk.idle()
        settled = {e.call: (e.outcome, e.effect, e.text) for e in events_of(journal, t.ToolSettled)}
        assert settled == {
            "a": ("failed", "none", "OSError: no such program"),
            "b": ("failed", "none", "there is no tool unknown"),
            "b-2": ("succeeded", "completed", "42"),
            "call-2": ("succeeded", "completed", "42"),
        }

    played(story)


def test_approvals_once_for_the_session_and_denied() -> None:
    async def story() -> None:
        tools = ScriptedTools({"write": quick("written")}, {"write": asking("write", key="write:notes.md")})
        model = ScriptedModel(
            [calling(call("a", "write")), calling(call("b", "write")), calling(call("c", "write")), saying("done")]
        )
        journal = MemoryJournal()
        async with talking(journal, ports(model, tools)) as talk:
            talk.say("go")
            await until(lambda: talk.status == "awaiting_approval")
            talk.approve("a", "denied", reason="not yet")
            await until(lambda: len(events_of(journal, t.ApprovalRequested)) == 2)
            talk.approve("b", "session")
            await talk.idle()
            assert talk.state.allowed == {"write:notes.md"}
        assert tools.started == ["b", "c"]
        assert len(events_of(journal, t.ApprovalRequested)) == 2
        told = model.requests[1].messages[-1].content[0]
        assert isinstance(told, ToolResult)
        assert told.text == "This call was not allowed: not yet"

    played(story)


def test_what_comes_from_outside_taints_the_conversation() -> None:
    async def story() -> None:
        heard: list[bool] = []

        class Wary(ScriptedTools):
            def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
                heard.append(tainted)
                return super().judge(call, conversation=conversation, tainted=tainted)

        model = ScriptedModel([calling(call("a", "fetch")), calling(call("b", "fetch")), saying("done")])
        async with talking(MemoryJournal(), ports(model, Wary({"fetch": quick("page", tainting=True)}))) as talk:
            talk.say("go")
            await talk.idle()
            assert talk.state.tainted
        assert heard == [False, True]

    played(story)


def test_the_taint_ends_when_the_person_says_so_and_comes_back_with_what_comes_next() -> None:
    async def story() -> None:
        heard: list[bool] = []

        class Wary(ScriptedTools):
            def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
                heard.append(tainted)
                return super().judge(call, conversation=conversation, tainted=tainted)

        turns = [calling(call(name, "fetch")) for name in "abc"]
        journal = MemoryJournal()
        model = ScriptedModel([turns[0], saying("read"), turns[1], turns[2], saying("done")])
        async with talking(journal, ports(model, Wary({"fetch": quick("page", tainting=True)}))) as talk:
            talk.submit(c.ClearTaint(conversation="main"))
            talk.say("go")
            await talk.idle()
            talk.submit(c.ClearTaint(conversation="main"))
            await until(lambda: not talk.state.tainted)
            talk.say("and on")
            await talk.idle()
            assert talk.state.tainted
        assert heard == [False, False, True]
        assert len(events_of(journal, t.TaintCleared)) == 1, "there was nothing to clear at first"

    played(story)


def test_a_pending_approval_and_a_queued_message_survive_a_killed_process(tmp_path: Path) -> None:
    async def story() -> None:
        tools = ScriptedTools({"write": quick("written")}, {"write": asking("write")})
        with session_in(tmp_path) as session:
            model = ScriptedModel([calling(call("a", "write", path="n.md"))])
            talk = await Conversation.open(SessionJournal(session), ports(model, tools, off_loop=in_thread))
            talk.say("go")
            await until(lambda: talk.status == "awaiting_approval")
            talk.say("and then?")
            await until(lambda: b"and then?" in (session.folder.path / "log.jsonl").read_bytes())
            # no shutdown: the process is gone
        with session_in(tmp_path) as session:
            model = ScriptedModel([saying("done")])
            async with talking(SessionJournal(session), ports(model, tools, off_loop=in_thread)) as talk:
                assert talk.status == "awaiting_approval"
                assert model.requests == []
                talk.approve("a", "once")
                await talk.idle()
                seen = [said.kind for said in talk.transcript().entries]
        assert seen == ["message", "call", "result", "message", "answer"]
        assert tools.started == ["a"]

    played(story)


@pytest.mark.parametrize("retry", [False, True])
def test_lost_work_is_never_run_again_unless_it_may(tmp_path: Path, retry: bool) -> None:
    async def story() -> None:
        asks = {"look": ToolAsk(call="", tool="look", safe_to_retry=True), "pay": ToolAsk(call="", tool="pay")}
        with session_in(tmp_path) as session:
            model = ScriptedModel([calling(call("a", "look"), call("b", "pay"))])
            tools = ScriptedTools({"look": slow, "pay": slow}, asks)
            talk = await Conversation.open(SessionJournal(session), ports(model, tools))
            talk.say("go")
            await until(lambda: len(talk.running("tool")) == 2)
        with session_in(tmp_path) as session:
            model = ScriptedModel([saying("done")] if retry else [])
            tools = ScriptedTools({"look": quick(), "pay": quick()}, asks)
            async with talking(SessionJournal(session), ports(model, tools), rules=TurnRules(goes_on=retry)) as talk:
                await talk.idle()
                results = {s.call: (s.outcome, s.effect) for s in talk.transcript().entries if s.kind == "result"}
        assert results["b"] == ("interrupted", "unknown")
        assert results["a"] == (("succeeded", "completed") if retry else ("interrupted", "unknown"))
        assert tools.started == (["a"] if retry else [])

    played(story)


def test_a_continuation_that_was_due_is_taken_up(tmp_path: Path) -> None:
    async def story() -> None:
        world = World()
        world.submit(c.SendMessage(conversation="main", message="m1", text="go"))
        world.run("t1/model")
        asks = (ToolAsk(call="a", tool="count"),)
        world.settle(c.SettleModel(conversation="main", execution="t1/model", outcome="completed", asks=asks))
        world.run("t1/a")
        world.settle(c.SettleTool(conversation="main", execution="t1/a", end=c.ToolEnd(text="42")))
        assert world.state.talks["main"].pending == "main:t1"
        with session_in(tmp_path) as session:
            session.record(world.events)
            model = ScriptedModel([saying("done")])
            async with talking(SessionJournal(session), ports(model)) as talk:
                await talk.idle()
                assert talk.transcript().entries[-1].text == "done"

    played(story)


def test_a_sub_conversation_is_one_result_of_its_parent() -> None:
    async def story() -> None:
        model = ScriptedModel(
            [calling(call("a", "task"), call("b", "count")), saying("I looked: 7"), saying("The sub says 7.")]
        )
        tools = ScriptedTools({"count": quick()}, {"task": ToolAsk(call="", tool="task", prompt="look into it")})
        journal = MemoryJournal()
        async with talking(journal, ports(model, tools)) as talk:
            talk.say("go")
            await talk.idle()
        assert model.requests[1].messages[0].content == (Text(text="look into it"),)
        result = model.requests[2].messages[-1].content[0]
        assert result == ToolResult(call="a", tool="task", text="I looked: 7")
        assert [e.conversation for e in events_of(journal, t.ConversationEnded)] == ["main/a1"]

    played(story)


@pytest.mark.parametrize("target", [None, "main/a1"])
def test_an_interrupt_takes_all_or_names_its_target(target: str | None) -> None:
    async def story() -> None:
        model = ScriptedModel([calling(call("a", "task")), calling(call("x", "slow")), saying("I see.")])
        tools = ScriptedTools({"slow": slow}, {"task": ToolAsk(call="", tool="task", prompt="look into it")})
        journal = MemoryJournal()
        async with talking(journal, ports(model, tools)) as talk:
            talk.say("go")
            await until(lambda: "main/a1 t1/x" in talk.running("tool"))
            assert talk.interrupt(target).status == "accepted"
            await talk.idle()
        ends = {(e.conversation, e.turn): e.disposition for e in events_of(journal, t.TurnCompleted)}
        if target is None:
            assert ends == {("main", 1): "interrupted", ("main/a1", 1): "interrupted"}
        else:
            assert ends == {("main/a1", 1): "interrupted", ("main", 1): "continue", ("main", 2): "final"}

    played(story)


def test_sub_conversations_are_bounded() -> None:
    async def story() -> None:
        model = ScriptedModel([calling(call("a", "task"), call("b", "task")), saying("one"), saying("done")])
        tools = ScriptedTools({}, {"task": ToolAsk(call="", tool="task", prompt="look")})
        journal = MemoryJournal()
        async with talking(journal, ports(model, tools), rules=TurnRules(children=1)) as talk:
            talk.say("go")
            await talk.idle()
        settled = {e.call: e for e in events_of(journal, t.ToolSettled)}
        assert settled["a"].outcome == "succeeded"
        assert settled["b"].outcome == "failed"
        assert "1 sub-conversations are open" in settled["b"].text

    played(story)


def test_a_thread_that_ignores_its_end_is_left_behind_and_its_result_dropped() -> None:
    async def story() -> None:
        release, began = threading.Event(), threading.Event()

        async def stubborn(asked: ToolCall, say: Callable[[str], None]) -> Running:
            def work(stopped: threading.Event) -> ToolEnd:
                began.set()
                release.wait(30)
                return ToolEnd(text="late")

            return ThreadRun(work)

        journal = MemoryJournal()
        model = ScriptedModel([calling(call("a", "stubborn")), saying("go on")])
        async with talking(journal, ports(model, ScriptedTools({"stubborn": stubborn})), grace=0.02) as talk:
            talk.say("go")
            await until(lambda: talk.running("tool") and began.is_set())
            talk.interrupt()
            await talk.idle()
            assert talk.left_behind == {("main", "t1/a")}
            talk.say("next")
            await talk.idle()
            release.set()
            await until(lambda: events_of(journal, t.CommandRefused))
            assert talk.left_behind == frozenset()
        (refused,) = events_of(journal, t.CommandRefused)
        assert (refused.refusal, refused.text) == ("stale_settlement", "late")

    played(story)


def test_a_process_group_is_dead_after_an_interrupt() -> None:
    async def story() -> None:
        groups: list[int] = []

        async def shell(asked: ToolCall, say: Callable[[str], None]) -> Running:
            running = await ProcessRun.start(["sh", "-c", "trap '' TERM; sleep 600 & sleep 600 & wait"], grace=0.05)
            groups.append(running.pid)
            return running

        model = ScriptedModel([calling(call("a", "shell"))])
        async with talking(MemoryJournal(), ports(model, ScriptedTools({"shell": shell}))) as talk:
            talk.say("go")
            await until(lambda: talk.running("tool") and len(members(groups[0])) == 3)
            talk.interrupt()
            await until(lambda: not members(groups[0]))
            await talk.idle()

    played(story)


def test_a_program_gives_its_output_and_leaves_nobody_behind() -> None:
    async def story() -> None:
        running = await ProcessRun.start(["sh", "-c", "sleep 600 & echo out; echo err >&2; exit 3"])
        end = await running.wait()
        assert end == ToolEnd(text="out\nerr\n\n(exit code 3)", failed=True)
        await until(lambda: not members(running.pid))

    played(story)


def test_a_shutdown_interrupts_settles_everything_and_returns() -> None:
    async def story() -> None:
        held = threading.Event()

        async def solid(asked: ToolCall, say: Callable[[str], None]) -> Running:
            return ThreadRun(lambda stopped: ToolEnd(text=str(held.wait(30))))

        tools = ScriptedTools(
            {"solid": solid, "slow": slow, "write": quick()},
            {"solid": ToolAsk(call="", tool="solid", interruptible=False), "write": asking("write")},
        )
        model = ScriptedModel([calling(call("a", "solid"), call("b", "slow"), call("c", "write"))])
        journal = MemoryJournal()
        talk = await Conversation.open(journal, ports(model, tools))
        talk.say("go")
        await until(lambda: len(talk.running("tool")) == 2)
        talk.say("later")
        assert not await talk.shutdown(0.05)
        held.set()
        outcomes = {e.call: (e.outcome, e.effect) for e in events_of(journal, t.ToolSettled)}
        assert outcomes == {
            "a": ("interrupted", "unknown"),
            "b": ("interrupted", "unknown"),
            "c": ("interrupted_before_execution", "none"),
        }
        assert journal.records[-1].event == t.ConversationStopped(conversation="main", clean=False)
        with pytest.raises(UserError, match="was shut down"):
            talk.say("too late")
        model = ScriptedModel([saying("here I am")])
        async with talking(journal, ports(model)) as talk:
            await talk.idle()
            assert model.requests[0].messages[-1].content[-1] == Text(text="later")

    played(story)


def test_a_log_that_cant_be_written_ends_it_and_nothing_unrecorded_is_shown() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        model = ScriptedModel([calling(call("a", "slow"))])
        tools = ScriptedTools({"slow": slow})
        talk = await Conversation.open(journal, ports(model, tools))
        seen: list[Any] = []

        async def watch() -> None:
            async for item in talk.events():
                seen.append(item)  # noqa: PERF401  what came before the error is looked at

        watching = asyncio.create_task(watch())
        talk.say("go")
        await until(lambda: talk.running("tool"))
        journal.failing = True
        talk.say("more")
        with pytest.raises(OSError, match="disk is full"):
            await watching
        assert [item.seq for item in seen if isinstance(item, Record)] == [r.seq for r in journal.records]
        with pytest.raises(UserError, match="can't be kept any more"):
            talk.say("again")
        with pytest.raises(UserError, match="can't be kept any more"):
            await talk.idle()
        assert talk.interrupt().status == "nothing_to_interrupt"
        assert not await talk.shutdown(1)

    played(story)


def test_a_run_and_a_conversation_share_a_log(tmp_path: Path) -> None:
    async def story() -> None:
        with session_in(tmp_path) as session:
            model = ScriptedModel([saying(f"answer {n}") for n in range(20)])
            async with talking(SessionJournal(session), ports(model, off_loop=in_thread)) as talk:

                def others() -> None:
                    for _ in range(50):
                        session.record([SessionCreated(session="talk", pipeline="chat", weft="0")])

                beside = asyncio.create_task(asyncio.to_thread(others))
                for n in range(20):
                    talk.say(f"question {n}")
                    await talk.idle()
                await beside
        with session_in(tmp_path) as session:
            assert session.take_notices() == []
            assert session.state.seq > 150
            async with talking(SessionJournal(session), ports(ScriptedModel())) as talk:
                assert len(talk.transcript().entries) == 40

    played(story)


def test_watching_from_the_middle_misses_nothing() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        async with talking(journal, ports(ScriptedModel([saying("one"), saying("two")]))) as talk:
            talk.say("a")
            await talk.idle()
            middle = len(journal.records) - 2
            numbers: list[int] = []

            async def watch() -> None:
                numbers.extend([i.seq async for i in talk.events(after=middle) if isinstance(i, Record)])

            watching = asyncio.create_task(watch())
            talk.say("b")
            await talk.idle()
            await talk.shutdown(5)
            await watching
            assert numbers == list(range(middle + 1, len(journal.records) + 1))

    played(story)


def test_an_interrupt_may_come_from_a_signal_or_another_thread() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        model = ScriptedModel([calling(call("a", "slow")), calling(call("b", "slow"))])
        journal = MemoryJournal()
        async with talking(journal, ports(model, ScriptedTools({"slow": slow}))) as talk:
            loop.add_signal_handler(10, talk.interrupt)
            for way in (lambda: os.kill(os.getpid(), 10), lambda: loop.call_soon_threadsafe(talk.interrupt)):
                talk.say("go")
                await until(lambda: talk.running("tool"))
                threading.Thread(target=way).start()
                await talk.idle()
            loop.remove_signal_handler(10)
        assert [e.disposition for e in events_of(journal, t.TurnCompleted)] == ["interrupted", "interrupted"]

    played(story)


def test_commands_from_anywhere_are_recorded_if_only_as_refused() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        async with talking(journal, ports(ScriptedModel())) as talk:
            talk.approve("nobody", "once")
            talk.submit(c.SettleTool(conversation="main", execution="t1/a", end=c.ToolEnd(text="smuggled")))
            talk.submit(c.SendMessage(conversation="main/a9", message="m", text="hello?"))
            await talk.idle()
        assert [e.refusal for e in events_of(journal, t.CommandRefused)] == [
            "stale_approval",
            "stale_settlement",
            "unknown_conversation",
        ]

    played(story)
