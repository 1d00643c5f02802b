"""Lives of a conversation with its executor, its log and its files, each decided by one seed.

The engine, the executor, the session's log and the tools `Read`, `Write` and `Edit` are the real ones, on a loop where
one seed decides the order of every step (`tests.conversation.lockstep`). A model asks for random calls, also through
sub-conversations; a person speaks, interrupts, approves, and changes files with an editor of their own; the process is
killed at any step and opened again. The judge keeps books of what really happened to each file and reads the log:

- what was told as a success is there: exactly one change by that call, of exactly what it said
- what was told not to have happened did not; of what was interrupted nobody can say more than that it was at most once
- the changes of a turn are in the order declared
- no change was made to something that the conversation had not seen, so nobody's change is lost
- the log keeps the promises of every conversation, and its fold is the state
"""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import os
import random
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests import lanes
from tests.conversation.lockstep import KilledError, Lockstep, SteppingDisk
from weft.conversation.conversation import Conversation, Settings
from weft.conversation.ports import Ports, SessionJournal
from weft.conversation.state import fold
from weft.conversation.tool_calls import ToolAccess
from weft.conversation.turns import TurnRules
from weft.files import Folder
from weft.models.model import Part, Request, Stop, TextDelta
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import DecideApproval, ToolAsk
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.events import DurableEvent, Record, SessionCreated
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import ToolCall
from weft.session.log import LogReader
from weft.session.session import Session
from weft.testing.oracle import Books
from weft.testing.simulation import promise
from weft.testing.stand_ins import PlainContext
from weft.tools.builtin.files import EDIT, READ, WRITE
from weft.tools.builtin.people import TASK
from weft.tools.builtin.schema import closed, text
from weft.tools.permission_file import app_rules
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Handle, Outcome, Tool, begin
from weft.tools.toolbox import Toolbox

FILES: Final = ("a.txt", "b.txt", "in/c.txt")
MOST_TURNS: Final = 6
PERSON: Final = ("", "")


@dataclass(frozen=True, slots=True)
class Change:
    """What really happened to a file, and by which call of which conversation and execution of it."""

    by: tuple[str, str]
    name: str
    before: bytes | None
    after: bytes
    written: int
    """Records in the log when it happened."""


class WatchedDisk(SteppingDisk):
    """Notes every file that is put in place, for one call."""

    def __init__(self, world: World, by: tuple[str, str]) -> None:
        super().__init__()
        self.world, self.by = world, by

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        self.pause()
        before = _content(target, dir_fd)
        os.replace(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        after = _content(target, dir_fd)
        folder = os.path.relpath(os.readlink(f"/proc/self/fd/{dir_fd}"), os.path.realpath(self.world.working))
        name = os.path.normpath(f"{folder}/{target}")
        self.world.changes.append(Change(self.by, name, before, after or b"", self.world.logged))
        self.pause()


def _content(name: str, dir_fd: int) -> bytes | None:
    try:
        fd = os.open(name, os.O_RDONLY, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def appending(given: Mapping[str, Any], context: Context, stopped: threading.Event) -> Outcome:
    """A command: it changes a file after a while, takes no lock, and is dead once it was stopped."""
    disk = context.working.disk
    assert isinstance(disk, WatchedDisk)
    for _ in range(disk.world.rng.randint(1, 6)):
        disk.pause()
    if not stopped.is_set():
        disk.world.put(disk.by, str(given["path"]), f"{given['line']}\n".encode())
    return Outcome(text="done")


async def _start_command(given: Mapping[str, Any], context: Context) -> Handle:
    stopped = threading.Event()

    async def run() -> Outcome:
        try:
            return await in_thread(lambda: appending(given, context, stopped), "command")
        finally:
            stopped.set()

    return await begin(run())


COMMAND: Final = Tool(
    name="Command",
    description="Append a line.",
    input_schema=closed({"path": text("a file"), "line": text("a line")}),
    kind="process",
    start=_start_command,
)


@dataclass
class World:
    seed: int
    place: Path
    rng: random.Random = field(init=False)
    changes: list[Change] = field(default_factory=list)
    logged: int = 0
    words: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    kills: int = 0
    started: set[tuple[str, str]] = field(default_factory=set)
    talk: Conversation = field(init=False)
    folders: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.working = self.place / "working"
        self.working.mkdir()
        for name in FILES[: self.rng.randint(0, 2)]:
            lines = "".join(f"w{next(self.words)}\n" for _ in range(6)).encode()
            (self.working / name).write_bytes(lines)
            self.changes.append(Change(PERSON, name, None, lines, 0))
        self.parallel = self.rng.random() < 0.4
        """Commands are left out where sub-conversations run side by side: only files have one writer at a time."""

    # -- one process after the other, until a life is over

    def live(self) -> None:
        for number in range(4):
            steps = self.rng.randint(20, 600) if number < 3 and self.rng.random() < 0.6 else None
            loop = Lockstep(random.Random(self.rng.random()), steps=steps)
            with self._session() as session:
                try:
                    loop.live(self._process(session))
                except KilledError:
                    self.kills += 1
                else:
                    break
                finally:
                    self.folders.close()  # a process that ends lets go of what it holds
                    promise(not loop.faults, f"the loop heard of {loop.faults}")
        self.judge()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with Folder.open(self.place, SteppingDisk()) as above:
            parent = above.folder("sessions", create=True)
            with Session.open(parent, "life", lambda: datetime.now(UTC), create=True) as session:
                if not session.state.seq:
                    session.record([SessionCreated(session="life", pipeline="", weft="0")])
                yield session

    async def _process(self, session: Session) -> None:
        access = _Judging(self, Toolbox([READ, WRITE, EDIT, COMMAND, TASK]))
        ports = Ports(
            model=lambda name: Speaker(self, name),
            toolbox=access,
            context=PlainContext(),
            ids=lambda: f"m{next(self.words)}",
            now=asyncio.get_running_loop().time,
            off_loop=in_thread,
        )
        self.logged = session.state.seq
        journal = _Counting(session)
        journal.tell(self, asyncio.get_running_loop())
        talk = await Conversation.open(journal, ports, Settings(rules=TurnRules(failures=3)))
        self.talk = talk
        for _ in range(self.rng.randint(1, 4)):
            talk.say("go on")
            await self._beside(talk)
        answering = asyncio.create_task(self._answering(talk))
        async with asyncio.timeout(10_000):
            await talk.idle()
        answering.cancel()
        promise(fold("main", session_records(session)) == talk.state, "the state is the fold of the log")
        await talk.shutdown(5)

    async def _beside(self, talk: Conversation) -> None:
        """What a person does while a conversation goes on."""
        for _ in range(self.rng.randint(0, 4)):
            await self._moment()
            chance = self.rng.random()
            if chance < 0.1:
                talk.interrupt()
            elif chance < 0.45:
                self._edit_by_hand()
            elif chance < 0.5:
                talk.submit(c.SetLimits(conversation="main", limits={"turns": self.rng.randint(1, 6)}))
            else:
                self._answer(talk)
        if self.rng.random() < 0.5:
            talk.submit(c.SetLimits(conversation="main", limits={}))

    async def _moment(self) -> None:
        """In the middle of what goes on, or when it has come to wait for something."""
        if self.rng.random() < 0.3:
            await asyncio.sleep(self.rng.random() * 4)
        for _ in range(self.rng.randint(0, 60)):
            await asyncio.sleep(0)

    async def _answering(self, talk: Conversation) -> None:
        while True:
            self._answer(talk)
            await asyncio.sleep(1)

    def _answer(self, talk: Conversation) -> None:
        for name, one in talk.state.talks.items():
            for call_id, call in one.turn.calls.items() if one.turn else ():
                if call.phase == "asked":
                    decision: t.Decision = "denied" if self.rng.random() < 0.2 else "once"
                    talk.submit(DecideApproval(conversation=name, call=call_id, decision=decision))

    def _edit_by_hand(self) -> None:
        """An editor that is as polite as our tools: it does not write while somebody else does."""
        name = self.rng.choice(FILES)
        path = self.working / name
        path.parent.mkdir(exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        else:
            self.put(PERSON, name, f"w{next(self.words)}\n".encode())
        finally:
            os.close(folder)

    def put(self, by: tuple[str, str], name: str, more: bytes) -> None:
        """Append to a file, in no time."""
        path = self.working / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes() if path.exists() else None
        after = (before or b"") + more
        path.write_bytes(after)
        self.changes.append(Change(by, name, before, after, self.logged))

    # -- what the model asks for

    def calls(self, conversation: str) -> list[ToolCall]:
        rng = self.rng
        return [self._call(conversation, f"c{number}") for number in range(rng.choice([0, 1, 2, 2, 3, 4]))]

    def _call(self, conversation: str, name: str) -> ToolCall:
        rng = self.rng
        path = rng.choice(FILES[:2] if self.parallel else FILES)
        kinds = ["Read", "Read", "Write", "Edit", "Edit", "Edit", "Edit"] + (
            [] if self.parallel else ["Command", "Command"]
        )
        if self.parallel and conversation.count("/") < 2:
            kinds += ["Task"] * 6
        kind = rng.choice(kinds)
        fresh = f"w{next(self.words)}"
        given: dict[str, Any] = {"path": path}
        match kind:
            case "Write":
                given["content"] = f"{fresh}\nx{fresh}\n"
            case "Edit":
                known = (self.working / path).read_text().split() if (self.working / path).exists() else []
                given |= {"old": f"{rng.choice(known)}\n" if known else "nothing\n", "new": f"{fresh}\n"}
            case "Command":
                given["line"] = fresh
            case "Task":
                given = {"description": "more", "prompt": "go on"}
        return ToolCall(call=name, tool=kind, input=given)

    # -- the judge

    def judge(self) -> None:
        with Folder.open(self.place) as above, above.folder("sessions") as sessions, sessions.folder("life") as folder:
            log = list(LogReader(folder).read())
        Books(log)
        self._judge_files()
        book = _Book()
        for record in log:
            book.take(record)
        for change in self.changes:
            if change.by != PERSON:
                self._judge_change(book, change)
        for x, end in book.ends.items():
            self._judge_end(book, x, end)
        self._judge_order(book)
        promise(not book.open, f"{book.open} have no settlement")

    def _judge_files(self) -> None:
        for name in FILES:
            mine = [change for change in self.changes if change.name == name]
            path = self.working / name
            there = path.read_bytes() if path.exists() else None
            promise(there == (mine[-1].after if mine else None), f"{name} is not what was last put there")
            for one, other in itertools.pairwise(mine):
                promise(one.after == other.before, f"a change of {name} was lost")

    def _judge_change(self, book: _Book, change: Change) -> None:
        promise(change.by in book.asked, f"{change.by} changed {change.name} and was never asked for")
        asked = book.asked[change.by]
        promise(change.by in book.began, f"{change.by} changed {change.name} before its intent")
        promise(book.began[change.by] <= change.written, f"{change.by} ran before its intent was durable")
        promise(asked.input["path"] == change.name, f"{change.by} changed {change.name}")
        promise(change.after == _made(asked, change.before), f"{change.by} made something else than it said")
        if asked.tool in ("Write", "Edit"):
            seen = book.seen_before(change.by).get(change.name)
            known = seen is None or change.before is None or seen == hash_bytes(change.before)
            promise(known, f"{change.by} overwrote what its conversation had not seen")
            blind = asked.tool == "Write" and seen is None and change.before is not None
            promise(not blind, f"{change.by} replaced a file that was never read")

    def _judge_end(self, book: _Book, x: tuple[str, str], end: t.ToolSettled) -> None:
        asked = book.asked.get(x)
        if asked is None or asked.tool not in ("Write", "Edit", "Command"):
            return
        mine = [change for change in self.changes if change.by == x]
        match end.outcome:
            case "succeeded":
                promise(len(mine) == 1 or "was so already" in end.text, f"{x} succeeded with {len(mine)} changes")
            case "interrupted":
                promise(len(mine) <= 1, f"{x} was made {len(mine)} times")
            case "failed":
                promise(not mine, f"{x} failed and changed something")
            case _:
                promise(x not in self.started, f"{x} was {end.outcome} and was started")

    def _judge_order(self, book: _Book) -> None:
        """A change comes before everything that was declared behind it, and before its own settlement if it has one."""
        place = {x: number for number, x in enumerate(book.order)}
        last: dict[tuple[str, str], int] = {}
        for change in self.changes:
            if change.by == PERSON:
                continue
            turn = (change.by[0], change.by[1].partition("/")[0])
            promise(last.get(turn, -1) <= place[change.by], f"{change.by} came after what was declared behind it")
            last[turn] = place[change.by]


def _made(asked: t.ToolRequested, before: bytes | None) -> bytes:
    given = asked.input
    match asked.tool:
        case "Write":
            return str(given["content"]).encode()
        case "Edit":
            return (before or b"").replace(str(given["old"]).encode(), str(given["new"]).encode())
        case _:
            return (before or b"") + f"{given['line']}\n".encode()


@dataclass
class _Book:
    """The log, as far as it speaks of effects."""

    asked: dict[tuple[str, str], t.ToolRequested] = field(default_factory=dict)
    began: dict[tuple[str, str], int] = field(default_factory=dict)
    ends: dict[tuple[str, str], t.ToolSettled] = field(default_factory=dict)
    order: list[tuple[str, str]] = field(default_factory=list)
    open: set[tuple[str, str]] = field(default_factory=set)
    seen: list[tuple[int, str, Mapping[str, str]]] = field(default_factory=list)

    def take(self, record: Record) -> None:
        event = record.event
        match event:
            case t.ToolRequested():
                x = (event.conversation, f"t{event.turn}/{event.call}")
                self.asked[x] = event
                self.order.append(x)
                self.open.add(x)
            case t.IntentRecorded() if event.kind != "model":
                self.began[event.conversation, event.execution] = record.seq
            case t.ToolSettled():
                self.ends[event.conversation, event.execution] = event
                self.open.discard((event.conversation, event.execution))
                self.seen.append((record.seq, event.conversation, event.seen))

    def seen_before(self, x: tuple[str, str]) -> dict[str, str]:
        """The files as the conversation knew them when this call began."""
        known: dict[str, str] = {}
        for seq, conversation, seen in self.seen:
            if conversation == x[0] and seq < self.began[x]:
                known.update(seen)
        return known


def session_records(session: Session) -> list[Record]:
    return list(LogReader(session.folder).read())


class _Counting(SessionJournal):
    """The session's log, telling the world how far it is. Now and then somebody stops what they see begin."""

    __slots__ = ("_loop", "_world")

    def tell(self, world: World, loop: asyncio.AbstractEventLoop) -> None:
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_loop", loop)

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        records = SessionJournal.record(self, events)
        world: World = self._world  # type: ignore[attr-defined]
        world.logged = records[-1].seq
        begins = any(isinstance(event, t.IntentRecorded) and event.kind == "tool" for event in events)
        if begins and world.rng.random() < 0.03:
            self._loop.call_soon_threadsafe(world.talk.interrupt)  # type: ignore[attr-defined]
        return records


class _Judging:
    """The tools as a conversation uses them. Every fifth change wants a person's approval."""

    def __init__(self, world: World, box: Toolbox) -> None:
        self._world = world
        self._access = ToolAccess(lambda _: box, app_rules(), self._context, mode="auto")

    def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
        asked = self._access.judge(call, conversation=conversation, tainted=tainted)
        wants = asked.ruling == "allow" and asked.in_order and self._world.rng.random() < 0.2
        return replace(asked, ruling="ask", reason="it writes") if wants else asked

    def _context(self, conversation: str, call: str, say: Callable[[str], None]) -> Context:
        x = (conversation, f"t{self._world.talk.state.talks[conversation].turns}/{call}")
        self._world.started.add(x)
        disk = WatchedDisk(self._world, x)
        working = self._world.folders.enter_context(Folder.open(self._world.working, disk))
        return Context(call=call, working=working, progress=say)

    async def start(self, call: ToolCall, *, conversation: str, say: Any, seen: Mapping[str, str]) -> Any:
        return await self._access.start(call, conversation=conversation, say=say, seen=seen)


@dataclass
class Speaker:
    """A model: some text, then calls, until it has said enough."""

    world: World
    conversation: str
    name: str = "speaker"
    window: int = 100_000

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        await asyncio.sleep(self.world.rng.choice([0, 0, 1]))
        yield TextDelta(text="let me see")
        await asyncio.sleep(self.world.rng.choice([0, 0, 1]))
        most = MOST_TURNS if self.conversation == "main" else 2
        if sum(message.role == "assistant" for message in request.messages) % most < most - 1:
            for call in self.world.calls(self.conversation):
                yield call
        yield Stop(reason="end")


def life(seed: int) -> World:
    """One life in a folder of its own, in memory where there is such a place."""
    shared = lanes.memory()
    place = Path(tempfile.mkdtemp(prefix="weft-life-", dir=shared))
    try:
        world = World(seed, place)
        world.live()
        return world
    finally:
        shutil.rmtree(place)
