"""Letting go of a conversation as it stands: what runs is stopped, nothing is settled, questions stay open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from weft.conversation.conversation import Conversation
from weft.conversation.ports import Running
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import ToolAsk, ToolEnd
from weft.protocol.events import Record
from weft.protocol.messages import ToolCall
from weft.testing.handles import TaskRun
from weft.testing.stand_ins import MemoryJournal, ScriptedModel, ScriptedTools, calling, ports, saying

CALLS = (ToolCall(call="a", tool="write", input={}), ToolCall(call="b", tool="slow", input={}))


class Slow:
    """A tool that runs until it is stopped."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.stopped = False

    async def start(self, call: ToolCall, say: Callable[[str], None]) -> Running:
        return TaskRun(self._work())

    async def _work(self) -> ToolEnd:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True
        raise AssertionError("it was never to end")


def tools(slow: Slow) -> ScriptedTools:
    async def write(call: ToolCall, say: Callable[[str], None]) -> Running:
        async def work() -> ToolEnd:
            return ToolEnd(text="written")

        return TaskRun(work())

    asks = {"write": ToolAsk(call="", tool="write", ruling="ask", reason="it writes")}
    return ScriptedTools(works={"write": write, "slow": slow.start}, asks=asks)


def of(journal: MemoryJournal, kind: type) -> list[t.ConversationEvent]:
    return [record.event for record in journal.records if isinstance(record.event, kind)]  # type: ignore[misc]


def test_a_question_outlives_a_suspension_and_what_ran_is_lost() -> None:
    async def scene() -> None:
        journal, slow = MemoryJournal(), Slow()
        talk = await Conversation.open(journal, ports(ScriptedModel([calling(*CALLS)]), tools(slow)))
        talk.say("go")
        await slow.started.wait()
        length = len(journal.records)
        assert await talk.suspend()
        assert slow.stopped
        assert len(journal.records) == length, "nothing may be settled"
        again = await Conversation.open(journal, ports(ScriptedModel([saying("done")]), tools(Slow())))
        lost = {event.call: event.outcome for event in of(journal, t.ToolSettled) if isinstance(event, t.ToolSettled)}
        assert lost == {"b": "interrupted"}
        again.approve("a", "once")
        await again.idle()
        ended = {event.call: event.outcome for event in of(journal, t.ToolSettled) if isinstance(event, t.ToolSettled)}
        assert ended == {"a": "succeeded", "b": "interrupted"}
        assert await again.shutdown()

    asyncio.run(scene())


def test_at_rest_a_suspension_leaves_no_trace_and_takes_nothing_more() -> None:
    async def scene() -> None:
        journal = MemoryJournal()
        talk = await Conversation.open(journal, ports(ScriptedModel([saying("hi")])))
        talk.say("hello")
        await talk.idle()
        length = len(journal.records)
        watching = asyncio.create_task(watched(talk))
        await asyncio.sleep(0)
        assert await talk.suspend()
        assert len(journal.records) == length
        assert await watching == length
        assert await talk.suspend()

    asyncio.run(scene())


async def watched(talk: Conversation) -> int:
    """Ends with the conversation; how many records there were."""
    return sum([isinstance(item, Record) async for item in talk.events()])


def test_the_past_and_what_comes_make_the_whole_log() -> None:
    async def scene() -> None:
        journal = MemoryJournal()
        talk = await Conversation.open(journal, ports(ScriptedModel([saying("one"), saying("two")])))
        talk.say("hello")
        await talk.idle()
        past = [*journal.records]
        watching = asyncio.create_task(watched_after(talk, past[-1].seq))
        talk.say("again")
        await talk.idle()
        await talk.shutdown()
        assert [*past, *await watching] == journal.records

    asyncio.run(scene())


async def watched_after(talk: Conversation, after: int) -> list[Record]:
    return [item async for item in talk.events(after) if isinstance(item, Record)]
