"""Scenarios of the kind `real`: the conversation on a real event loop, with real threads, processes and clocks.

Each is measured as it says, over a session's log on the disk (without waiting for the disk itself, which is the
machine's figure and not ours). `figures` gives what was measured; `run` compares it with the bars of the scenario.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import re
import shlex
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from weft.conversation.conversation import Conversation
from weft.conversation.ports import Ports, Running, SessionJournal, in_thread
from weft.conversation.watchdog import Watchdog
from weft.files import Disk, Folder
from weft.models.model import Part, Request, Stop, TextDelta
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import ToolEnd
from weft.protocol.events import Record
from weft.protocol.messages import ToolCall
from weft.session.session import Session
from weft.testing.handles import ProcessRun, TaskRun, ThreadRun
from weft.testing.measuring import commands_per_second, events_per_second, percentile, resident_bytes
from weft.testing.scenario_words import ScenarioError
from weft.testing.stand_ins import (
    Answer,
    MemoryJournal,
    ScriptedModel,
    ScriptedTools,
    at_once,
    calling,
    ports,
    saying,
)

OPERATIONS: Final[Mapping[str, frozenset[str]]] = {
    "interrupt_when_running": frozenset(),
    "interrupt_after_chunks": frozenset({"n"}),
    "wait": frozenset({"ms"}),
    "shutdown": frozenset({"timeout_ms"}),
    "submit_all": frozenset(),
    "fold_from_disk": frozenset(),
    "open_idle": frozenset(),
}
PATIENCE: Final = 30.0


def run(scenario: Mapping[str, Any], scale: float = 1.0) -> list[str]:
    try:
        found = figures(scenario, scale)
    except ScenarioError as error:
        return [f"the scenario can't be understood: {error}"]
    faults = []
    for key, bar in (scenario.get("expect") or {}).items():
        if key not in found:
            return [f"the scenario can't be understood: nothing measures {key!r} here"]
        value = found[key]
        if isinstance(bar, bool | str):
            kept = value == bar
        elif key.endswith("_min"):
            kept = value >= bar
        elif key.endswith("_max") or "_ms" in key:
            kept = value <= bar
        else:
            kept = value == bar
        if not kept:
            faults.append(f"{key}: {value if not isinstance(value, float) else round(value, 2)}, the bar is {bar}")
    return faults


def figures(scenario: Mapping[str, Any], scale: float = 1.0) -> dict[str, Any]:
    """Everything the scenario measures. A `scale` below 1 makes the counts smaller, for a quick look."""
    given, steps = dict(scenario.get("given") or {}), list(scenario.get("steps") or ())
    if spare := set(given) - {"tool", "llm", "n", "commands", "events", "conversations"}:
        raise ScenarioError(f"given has an unknown key {sorted(spare)[0]!r}")
    for step in steps:
        allowed = OPERATIONS.get(step.get("op", ""))
        if allowed is None:
            raise ScenarioError(f"unknown operation {step.get('op')!r}")
        if spare := set(step) - allowed - {"op"}:
            raise ScenarioError(f"{step['op']} has an unknown key {sorted(spare)[0]!r}")

    def sized(key: str, usual: int) -> int:
        return max(1, int(given.get(key, usual) * scale))

    operations = {step["op"]: step for step in steps}
    if "submit_all" in operations:
        return {"commands_per_s_min": commands_per_second(sized("commands", 200_000), MemoryJournal(keep=False))}
    if "fold_from_disk" in operations:
        return {"events_per_s_min": events_per_second(sized("events", 1_000_000))}
    if "open_idle" in operations:
        return {"bytes_per_conversation_max": asyncio.run(_idle_bytes(sized("conversations", 10_000)))}
    if "shutdown" in operations:
        return asyncio.run(_shutdown(given["tool"], operations["shutdown"].get("timeout_ms", 1000) / 1000))
    if "interrupt_after_chunks" in operations:
        chunks = operations["interrupt_after_chunks"].get("n", 20_000)
        return asyncio.run(_flood(given.get("llm", ""), chunks, sized("n", 20)))
    if "interrupt_when_running" in operations and "tool" in given:
        pause = operations.get("wait", {}).get("ms", 0) / 1000
        return asyncio.run(_interrupts(given["tool"], sized("n", 1), pause))
    raise ScenarioError("no operation that measures anything")


# -- the tools a scenario names


class Tool:
    """The tool of a scenario, from its description, and what is left of it afterwards."""

    def __init__(self, described: str) -> None:
        self.release = threading.Event()
        self.threads: list[threading.Thread] = []
        self.groups: list[int] = []
        self.blocks = bool(re.match(r"time\.sleep\(", described))
        self.threaded = described.startswith("thread:")
        if described.startswith("await sleep("):
            self.work: Callable[[ToolCall, Callable[[str], None]], Awaitable[Running]] = self._cooperative
        elif self.threaded:
            self.work = self._busy
        elif self.blocks:
            self.seconds = float(re.findall(r"\d+\.?\d*", described)[0])
            self.work = self._blocking
        elif described.startswith("sh -c"):
            self.command = shlex.split(described)
            self.work = self._process
        else:
            raise ScenarioError(f"no such tool: {described!r}")

    async def _cooperative(self, call: ToolCall, say: Callable[[str], None]) -> Running:
        async def sleep() -> ToolEnd:
            await asyncio.sleep(60)
            return ToolEnd(text="slept")

        return TaskRun(sleep())

    async def _busy(self, call: ToolCall, say: Callable[[str], None]) -> Running:
        def spin(stopped: threading.Event) -> ToolEnd:
            while not self.release.is_set():
                sum(range(50))
            return ToolEnd(text="late")

        running = ThreadRun(spin)
        self.threads.append(running.thread)
        return running

    async def _process(self, call: ToolCall, say: Callable[[str], None]) -> Running:
        running = await ProcessRun.start(self.command)
        self.groups.append(running.pid)
        return running

    async def _blocking(self, call: ToolCall, say: Callable[[str], None]) -> Running:
        async def block() -> ToolEnd:
            time.sleep(self.seconds)  # noqa: ASYNC251  that is the fault to be named
            return ToolEnd(text="blocked everybody")

        return TaskRun(block(), name="main t1/a")

    @property
    def living(self) -> int:
        return sum(len(members(group)) for group in self.groups)


def members(group: int) -> list[int]:
    """The processes of a group that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended while we looked
            if int(fields[2]) == group and fields[0] not in ("Z", "X"):
                found.append(int(entry.name))
    return found


# -- a conversation over a session on the disk


@asynccontextmanager
async def talking(given: Ports, *, sync: bool = False) -> AsyncIterator[Conversation]:
    with tempfile.TemporaryDirectory() as place, Folder.open(Path(place), Disk(sync=sync)) as above:
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            talk = await Conversation.open(SessionJournal(session), given)
            try:
                yield talk
            finally:
                await talk.shutdown(1.0)


async def terminal(talk: Conversation, after: int) -> tuple[float, Record]:
    """The moment at which the end of a turn is shown."""
    async for item in talk.events(after):
        if isinstance(item, Record) and isinstance(item.event, t.TurnCompleted):
            return time.perf_counter(), item
    raise AssertionError("the conversation ended without completing its turn")


async def running(talk: Conversation, kind: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not talk.running(kind):  # noqa: ASYNC110  somebody else's state, looked at from outside
            await asyncio.sleep(0.001)


async def interrupt_latencies(tool: Tool, rounds: int, *, sync: bool = False) -> tuple[list[float], list[Any]]:
    """Seconds from the request to the terminal event; a busy thread is asked about from yet another thread."""
    answers: list[Answer] = [calling(ToolCall(call="a", tool="tool", input={})) for _ in range(rounds)]
    tools = ScriptedTools({"tool": tool.work})
    took: list[float] = []
    loop = asyncio.get_running_loop()
    # Waiting for the disk is a thread's work; handing a write to the kernel is not worth one.
    given = ports(ScriptedModel(answers), tools, off_loop=in_thread if sync else at_once)
    async with talking(given, sync=sync) as talk:
        for _ in range(rounds):
            seq = max((r.seq for r in talk._journal.read()), default=0)
            talk.say("go")
            await running(talk, "tool")
            watch = asyncio.create_task(terminal(talk, seq))
            await asyncio.sleep(0.005)
            begun = time.perf_counter()
            if tool.threaded:
                begun = await loop.run_in_executor(None, _request, loop, talk)
            else:
                talk.interrupt()
            moment, _ = await watch
            took.append(moment - begun)
            if tool.threaded:
                alive = all(thread.is_alive() for thread in tool.threads)
                tool.release.set()
                await talk.idle()
                for thread in tool.threads:
                    await loop.run_in_executor(None, thread.join, PATIENCE)
                tool.threads.clear()
                tool.release.clear()
                took[-1] = took[-1] if alive else float("inf")
        await talk.idle()
        refused = [r.event for r in talk._journal.read() if isinstance(r.event, t.CommandRefused)]
    return took, refused


def _request(loop: asyncio.AbstractEventLoop, talk: Conversation) -> float:
    moment = time.perf_counter()
    loop.call_soon_threadsafe(talk.interrupt)
    return moment


async def _interrupts(described: str, rounds: int, pause: float) -> dict[str, Any]:
    tool = Tool(described)
    if tool.blocks:
        return await _blocked(tool)
    took, refused = await interrupt_latencies(tool, rounds)
    await asyncio.sleep(pause)
    late = {"stale_settlement": "stale_outcome_dropped"}
    return {
        "p99_ms_request_to_terminal_event": percentile(took, 0.99) * 1000,
        "thread_still_alive": tool.threaded and float("inf") not in took,
        "late_result": next((late.get(event.refusal, event.refusal) for event in refused), None),
        "processes_left_in_group": tool.living,
    }


async def _blocked(tool: Tool) -> dict[str, Any]:
    reports: list[tuple[float, str]] = []
    answers: list[Answer] = [calling(ToolCall(call="a", tool="tool", input={})), saying("done")]
    with Watchdog(lambda name, _: reports.append((time.perf_counter(), name))):
        async with talking(ports(ScriptedModel(answers), ScriptedTools({"tool": tool.work}))) as talk:
            begun = time.perf_counter()
            talk.say("go")
            await talk.idle()
    first = reports[0] if reports else (float("inf"), "")
    return {
        "watchdog_reports_within_ms": (first[0] - begun) * 1000,
        "report_names_execution": first[1] == "main t1/a",
    }


async def flood_latencies(pieces: int, rounds: int, burst: int, *, sync: bool = False) -> tuple[list[float], int]:
    """Seconds from the request to the terminal event while a stream floods, and pieces shown after it."""

    async def flood(request: Request) -> AsyncIterator[Part]:
        for number in itertools.count(1):
            yield TextDelta(text="piece ")
            if number % burst == 0:
                await asyncio.sleep(0)
        yield Stop(reason="end")

    took: list[float] = []
    after = 0
    given = ports(ScriptedModel([flood for _ in range(rounds)]), off_loop=in_thread if sync else at_once)
    async with talking(given, sync=sync) as talk:
        for _ in range(rounds):
            seen, done = 0, asyncio.Event()
            seq = max((r.seq for r in talk._journal.read()), default=0)
            requested = 0.0

            async def watch(seq: int = seq, done: asyncio.Event = done) -> None:
                nonlocal seen, requested, after
                ended = False
                async for item in talk.events(seq):
                    if isinstance(item, t.TextStreamed):
                        seen += len(item.text) // 6
                        after += ended
                        if seen >= pieces and not requested:
                            requested = time.perf_counter()
                            talk.interrupt()
                    elif isinstance(item, Record) and isinstance(item.event, t.TurnCompleted):
                        took.append(time.perf_counter() - requested)
                        ended = True
                        done.set()
                    elif isinstance(item, Record) and isinstance(item.event, t.IdleReached) and ended:
                        return

            watching = asyncio.create_task(watch())
            await asyncio.sleep(0)
            talk.say("go")
            async with asyncio.timeout(PATIENCE):
                await watching
    return took, after


async def _flood(described: str, pieces: int, rounds: int) -> dict[str, Any]:
    found = re.findall(r"\d+", described)
    took, after = await flood_latencies(pieces, rounds, int(found[0]) if found else 1)
    return {"p99_ms_request_to_terminal_event": percentile(took, 0.99) * 1000, "chunks_after_terminal_event": after}


async def _shutdown(described: str, limit: float) -> dict[str, Any]:
    tool = Tool(described)
    answers: list[Answer] = [calling(ToolCall(call="a", tool="tool", input={}))]
    journal = MemoryJournal()
    talk = await Conversation.open(journal, ports(ScriptedModel(answers), ScriptedTools({"tool": tool.work})))
    talk.say("go")
    await running(talk, "tool")
    begun = time.perf_counter()
    await talk.shutdown(limit)
    took = time.perf_counter() - begun
    tool.release.set()
    stopped = [r.event.clean for r in journal.records if isinstance(r.event, t.ConversationStopped)]
    return {"returns_within_ms": took * 1000, "session_stopped_clean": stopped[0] if len(stopped) == 1 else None}


async def _idle_bytes(number: int) -> float:
    model, tools = ScriptedModel(), ScriptedTools()
    given = ports(model, tools)
    kept = [await Conversation.open(MemoryJournal(), given) for _ in range(min(number, 50))]
    gc.collect()
    before = resident_bytes()
    kept += [await Conversation.open(MemoryJournal(), given) for _ in range(number)]
    gc.collect()
    return (resident_bytes() - before) / number
