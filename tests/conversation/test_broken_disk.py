"""A disk that fails at any call: nothing is shown or started that is not in the log, and the next process goes on."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from weft.conversation.conversation import Conversation, Settings
from weft.conversation.ports import Running, SessionJournal, in_thread
from weft.files import Disk, Folder
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import ToolAsk, ToolEnd
from weft.protocol.errors import WeftError
from weft.protocol.events import Record, SessionCreated
from weft.protocol.messages import ToolCall
from weft.session.log import LogReader
from weft.session.session import Session
from weft.testing import CountingDisk, FailingDisk
from weft.testing.handles import TaskRun
from weft.testing.oracle import Books
from weft.testing.stand_ins import ScriptedModel, ScriptedTools, calling, ports, saying

ASKS = {"write": ToolAsk(call="", tool="write", ruling="ask", key="write:x")}


async def work(call: ToolCall, say: Callable[[str], None]) -> Running:
    async def done() -> ToolEnd:
        return ToolEnd(text="done")

    return TaskRun(done())


class Seen:
    """What left the conversation: records that were shown, tools that were started."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tools = ScriptedTools({"read": work, "write": work}, ASKS)


async def life(place: Path, disk: Disk, seen: Seen) -> None:
    """A message, two tools, one of them asked for, an answer, a shutdown."""
    with Folder.open(place, disk) as above:
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            if not session.state.seq:
                session.record([SessionCreated(session="talk", pipeline="chat", weft="0")])
            calls = (ToolCall(call="a", tool="read", input={}), ToolCall(call="b", tool="write", input={}))
            model = ScriptedModel([calling(*calls), saying("done")])
            talk = await Conversation.open(SessionJournal(session), ports(model, seen.tools, off_loop=in_thread))

            async def watch() -> None:
                async for item in talk.events():
                    if isinstance(item, Record):
                        seen.records.append(item)
                        if isinstance(item.event, t.ApprovalRequested):
                            talk.approve("b", "session")

            watching = asyncio.create_task(watch())
            try:
                talk.say("go")
                await talk.idle()
            finally:
                await talk.shutdown(5)
                await asyncio.gather(watching, return_exceptions=True)


async def afterwards(place: Path) -> list[Record]:
    """The next process: everything comes to rest, and a further message is answered."""
    with Folder.open(place) as above:
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            tools = ScriptedTools({"read": work, "write": work}, ASKS)
            model = ScriptedModel([saying("one"), saying("two"), saying("three")])
            names = (f"after-{session.state.seq}-{number}" for number in range(9))
            given = ports(model, tools, ids=lambda: next(names))
            talk = await Conversation.open(SessionJournal(session), given, Settings())
            for inner in list(talk.state.talks.values()):
                for name, call in inner.turn.calls.items() if inner.turn else ():
                    if call.phase == "asked":
                        talk.approve(name, "denied")
            talk.say("still there?")
            await talk.idle()
            await talk.shutdown(5)
            return list(LogReader(session.folder).read())


def renumbered(records: list[Record]) -> list[Record]:
    """The events of the conversation alone, as the oracle counts them."""
    spoken = [record for record in records if isinstance(record.event, t.ConversationEvent)]
    return [Record(number, record.at, record.event) for number, record in enumerate(spoken, 1)]


def calls_of_a_life(place: Path) -> int:
    disk = CountingDisk(sync=False)
    asyncio.run(life(place, disk, Seen()))
    return len(disk.calls)


def test_a_disk_that_fails_at_any_call(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    total = calls_of_a_life(tmp_path / "whole")
    assert total > 20
    broken = 0
    for number in range(1, total + 1):
        place = tmp_path / str(number)
        place.mkdir()
        seen = Seen()
        try:
            asyncio.run(life(place, FailingDisk(number, errno.ENOSPC, lasting=True, partial=True, sync=False), seen))
        except (WeftError, OSError):
            broken += 1
        log = asyncio.run(afterwards(place))
        kept = {record.seq: record.event for record in log}
        for record in seen.records:
            assert kept.get(record.seq) == record.event, f"call {number}: shown, but not in the log"
        intended = {event.call for event in kept.values() if isinstance(event, t.IntentRecorded)}
        assert set(seen.tools.started) <= intended, f"call {number}: started without an intent"
        books = Books(renumbered(log))
        assert books.talks["main"].turn is None
        assert not books.talks["main"].waiting
    assert broken > 5


@pytest.mark.parametrize("moment", ["first", "second"])
def test_a_conversation_opens_after_every_kind_of_end(tmp_path: Path, moment: str) -> None:
    asyncio.run(life(tmp_path, Disk(sync=False), Seen()))
    if moment == "second":
        asyncio.run(afterwards(tmp_path))
    log = asyncio.run(afterwards(tmp_path))
    assert isinstance(log[-1].event, t.ConversationStopped)
