"""Figures of the conversation engine that need no event loop: commands and events a second, bytes of memory."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from weft.conversation.engine import Engine
from weft.conversation.ports import Journal
from weft.conversation.projections import Continuations, StatusProjection
from weft.conversation.state import State, evolve
from weft.files import Disk, Folder
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.session.codec import encode
from weft.session.log import LOG, LogReader, collector_paused

BATCH = 64


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def exchange(number: int) -> list[c.ConversationCommand]:
    """A message, a tool call, its result and the answer: what the outside sends for two turns."""
    first, second = 2 * number - 1, 2 * number
    return [
        c.SendMessage(conversation="main", message=f"m{number}", text="how long is the river?"),
        c.SettleModel(
            conversation="main",
            execution=f"t{first}/model",
            outcome="completed",
            text="Let me look.",
            asks=(c.ToolAsk(call=f"call_{number}", tool="Read", input={"path": "river.md"}),),
        ),
        c.SettleTool(conversation="main", execution=f"t{first}/call_{number}", end=c.ToolEnd(text="1233 km")),
        c.SettleModel(
            conversation="main", execution=f"t{second}/model", outcome="completed", text="The river is 1233 km long."
        ),
    ]


def commands_per_second(number: int, journal: Journal) -> float:
    """Whole turns through the engine: decided, recorded, projected, with the continuations that follow."""
    state = State("main")
    engine = Engine(state, now=time.monotonic)
    engine.projections = (
        StatusProjection("main"),
        Continuations(lambda name, key: engine.submit(c.Continue(conversation=name, key=key))),
    )
    engine.submit(c.Recover(conversation="main"))
    handled, turn = 0, 1
    begun = time.perf_counter()
    while handled < number:
        for command in exchange(turn):
            engine.submit(command)
            while engine.inbox:
                handled += min(BATCH, len(engine.inbox))
                engine.publish(journal.record(engine.take(BATCH)))
        turn += 1
    return handled / (time.perf_counter() - begun)


def spoken_events(number: int) -> Iterator[Record]:
    """The events of a long conversation: one exchange, over and over."""
    engine = Engine(State("main"), now=time.monotonic)
    pattern: list[t.ConversationEvent] = []
    for command in exchange(1):
        engine.submit(command)
        pattern += engine.take()
        if isinstance(pattern[-1], t.TurnCompleted) and pattern[-1].key:
            engine.submit(c.Continue(conversation="main", key=pattern[-1].key))
            pattern += engine.take()
    yield Record(1, "2026-01-01T00:00:00.000Z", t.ConversationOpened(conversation="main"))
    seq, turns = 1, 0
    while seq < number:
        for event in pattern:
            seq += 1
            moved = replace(event, turn=event.turn + turns) if isinstance(event, _WITH_TURN) else event
            if isinstance(moved, t.IntentRecorded | t.ModelSettled | t.ToolSettled):
                moved = replace(moved, execution=f"t{moved.turn}/{moved.execution.partition('/')[2]}")
            yield Record(seq, "2026-01-01T00:00:00.000Z", moved)
        turns += 2


_WITH_TURN = (
    t.TurnStarted
    | t.IntentRecorded
    | t.ModelSettled
    | t.CallsDeclared
    | t.ToolRequested
    | t.ToolSettled
    | t.TurnCompleted
)


def events_per_second(number: int) -> float:
    """Read a log from the disk and fold it."""
    with tempfile.TemporaryDirectory() as place:
        with (Path(place) / LOG).open("wb") as file:
            for record in spoken_events(number):
                file.write(encode(record))
        with Folder.open(Path(place), Disk()) as folder:
            state = State("main")
            count = 0
            begun = time.perf_counter()
            with collector_paused():
                for record in LogReader(folder).read():
                    evolve(state, record.event)
                    count += 1
            return count / (time.perf_counter() - begun)


def folds_per_second(number: int) -> float:
    events = [record.event for record in spoken_events(number)]
    state = State("main")
    begun = time.perf_counter()
    for event in events:
        evolve(state, event)
    return len(events) / (time.perf_counter() - begun)
