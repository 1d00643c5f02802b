"""A conversation in earnest: the engine, driven by an event loop, over the log of a session.

    talk = await Conversation.open(SessionJournal(session), ports)
    talk.say("hello")                     a message: kept in the log before anything happens
    talk.interrupt()                      stops what runs, at once; the reply says what it met
    talk.approve("call_1", "once")
    async for item in talk.events(): …    records and live events, in order
    await talk.idle()                     until nothing is left to do
    await talk.shutdown(timeout=5)        interrupts, waits that long at most, lets go
    await talk.suspend(timeout=5)         lets go without ending anything: approvals stay open

There is one writer: a task that takes commands from the inbox, makes what follows durable off the loop, and only then
shows it and starts what it allows. It ends when the inbox is empty, so a conversation at rest costs no task. When the
log can't be written the conversation is broken: everything is told to stop and nothing more is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Final, Self

from weft.conversation.control import Reply
from weft.conversation.engine import Engine
from weft.conversation.event_feed import Feed
from weft.conversation.executor import Executor
from weft.conversation.ports import Journal, Keeper, Ports
from weft.conversation.projections import (
    Continuations,
    Notifications,
    Status,
    StatusProjection,
    Transcript,
    Transcripts,
    replay,
)
from weft.conversation.state import State, evolve
from weft.conversation.turns import RULES, TurnRules
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError
from weft.protocol.events import FeedItem, NoticeGiven, Record
from weft.protocol.values import dataclass

BATCH: Final = 64
"""Commands whose events go into the log with one write."""
AFTERWARDS: Final = 0.2
"""Seconds a shutdown waits for tasks that were cancelled at its very end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    name: str = "main"
    grace: float = 0.25
    """Seconds an interrupted execution has to return before it is given up."""
    rules: TurnRules = RULES


@dataclass(frozen=True, slots=True)
class Folds:
    """What a log adds up to for a conversation, at one of its events."""

    seq: int
    state: State
    status: StatusProjection
    transcripts: Transcripts

    @classmethod
    def new(cls, name: str) -> Folds:
        return cls(0, State(name), StatusProjection(name), Transcripts(name))

    @classmethod
    def kept(cls, journal: Journal, name: str) -> Folds | None:
        """As the journal has kept them; None unless it has them all."""
        if not isinstance(journal, Keeper):
            return None
        state = journal.saved(f"{name} state", State)
        status = journal.saved(f"{name} status", StatusProjection)
        transcripts = journal.saved(f"{name} transcripts", Transcripts)
        if state is None or status is None or transcripts is None:
            return None
        return cls(state[0], state[1], status[1], transcripts[1])


@dataclass(frozen=True, slots=True)
class _Given:
    """Who gave a command, under which name, and who waits for it to be recorded."""

    by: Actor
    key: str
    records: asyncio.Future[Sequence[Record]]


class Conversation:
    def __init__(
        self, journal: Journal, ports: Ports, settings: Settings, records: Sequence[Record], start: Folds | None = None
    ) -> None:
        """Use `open`. `records` are all the log has, or all after `start`."""
        self.name = settings.name
        self._journal = journal
        self._ports = ports
        start = start or Folds.new(settings.name)
        state, self._status, self._transcripts = start.state, start.status, start.transcripts
        folds = (self._status, self._transcripts)
        for record in records:
            evolve(state, record.event)
        replay(folds, records)
        seq = records[-1].seq if records else start.seq
        self._engine = Engine(
            state,
            now=ports.now,
            seq=seq,
            grace=settings.grace,
            rules=settings.rules,
            projections=(*folds, Continuations(self._go_on, seq), Notifications(ports.notify, seq)),
        )
        for projection in self._engine.projections:
            projection.checkpoint = max(projection.checkpoint, seq)
        self._executor = Executor(
            self._engine,
            ports,
            submit=self.submit,
            show=self._show,
            transcript=self._transcripts.of,
            returned=self._look_up,
            stop=self.interrupt,
        )
        self._feed = Feed()
        self._writer: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._given: dict[int, _Given] = {}
        """The commands in the inbox that somebody gave, by identity."""
        self._broken: BaseException | None = None
        self._closed = False

    @classmethod
    async def open(cls, journal: Journal, ports: Ports, settings: Settings | None = None) -> Self:
        """Fold the log, settle what an ended process left open, and go on with what is due."""
        talk = await cls.read(journal, ports, settings)
        await talk.begin()
        return talk

    @classmethod
    async def read(cls, journal: Journal, ports: Ports, settings: Settings | None = None) -> Self:
        """The first half of `open`: fold the log. Nothing of it runs before `begin`."""
        settings = settings or Settings()

        def read() -> tuple[Folds | None, list[Record]]:
            start = Folds.kept(journal, settings.name)
            return start, list(journal.read(start.seq if start else 0))

        start, records = await ports.off_loop(read)
        talk = cls(journal, ports, settings, records, start)
        if isinstance(journal, Keeper):
            for name, fold in talk._folds().items():
                journal.keep(f"{talk.name} {name}", partial(talk._when_told, fold))
        return talk

    def _folds(self) -> dict[str, object]:
        return {"state": self._engine.state, "status": self._status, "transcripts": self._transcripts}

    def _when_told(self, fold: object) -> object:
        """The fold, unless something is decided that the log does not have yet."""
        written = not self._engine.inbox and (self._writer is None or self._writer.done())
        return fold if written and not self._broken else None

    async def begin(self, brief: c.Brief | None = None) -> None:
        """The second half of `open`, for whoever has to know it before anything of it runs. `brief`: what its opening
        says of it."""
        self.submit(c.Recover(conversation=self.name, brief=brief or c.Brief()))
        for name, inner in self._engine.state.talks.items():
            if inner.pending:  # it was asked for in the memory of a process that has ended
                self.submit(c.Continue(conversation=name, key=inner.pending))
        await self._written()

    # -- what a face calls

    def say(self, text: str) -> str:
        """Send a message; its name in the log."""
        message = self._ports.ids()
        self.submit(c.SendMessage(conversation=self.name, message=message, text=text))
        return message

    def approve(self, call: str, decision: t.Decision, *, conversation: str | None = None, reason: str = "") -> None:
        self.submit(
            c.DecideApproval(conversation=conversation or self.name, call=call, decision=decision, reason=reason)
        )

    def submit(self, command: c.ConversationCommand) -> None:
        """Into the inbox. Only from the loop's own thread; others use `call_soon_threadsafe`."""
        self._check()
        self._engine.submit(command)
        self._wake()

    async def give(self, command: c.ConversationCommand, by: Actor, key: str = "") -> Sequence[Record]:
        """As `submit`, for a command that somebody gave: what it was recorded as, once that is durable."""
        self._check()
        given = self._given[id(command)] = _Given(by, key, asyncio.get_running_loop().create_future())
        self._engine.submit(command)
        self._wake()
        return await given.records

    def notice(self, text: str) -> None:
        """Show something to everybody who watches. It changes nothing and is not in the log."""
        self._show(NoticeGiven(text=text))

    def interrupt(self, target: str | None = None, reason: str = "user") -> Reply:
        """Stop a conversation and all under it, or everything. Synchronous: when it returns, nothing new starts."""
        if self._broken or self._closed:
            return Reply("nothing_to_interrupt")
        reply = self._engine.interrupt(target, reason)
        if reply.status == "accepted":
            self._wake()
        self._tell_faults()
        return reply

    async def events(self, after: int = 0) -> AsyncIterator[FeedItem]:
        """Records after `after` and what comes, in order; live events only from now on. Ends with the conversation."""
        with self._feed.subscribe() as coming:
            seen = after
            for record in await self._ports.off_loop(lambda: list(self._journal.read(after))):
                seen = max(seen, record.seq)
                if self.is_mine(record):
                    yield record
            async for item in coming:
                if not isinstance(item, Record):
                    yield item
                elif item.seq > seen:
                    seen = item.seq
                    yield item

    async def idle(self) -> None:
        """Until nothing runs, waits or is due, and the log says so."""
        while not self._at_rest:
            self._check()
            await self._change()

    async def shutdown(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109  after it the caller is answered, not cancelled
        """Interrupt everything, wait at most `timeout` seconds, let go. Whether nothing was left running."""
        if self._broken or self._closed:
            await self._leave()
            return False
        self._engine.shut()
        self._wake()
        try:
            async with asyncio.timeout(timeout):
                while not self._engine.settled and not self._broken:
                    await self._change()
        except TimeoutError:
            pass  # what has not returned by now is left behind, and the log says that it was not clean
        clean = self._engine.settled and not self._engine.control.abandoned and not self._broken
        if not self._broken:
            self._engine.submit(c.Stop(conversation=self.name, clean=clean))
            self._wake()
            if self._writer is not None:  # a disk that hangs holds the writer, but not whoever wants to leave
                await asyncio.wait({self._writer}, timeout=max(AFTERWARDS, timeout))
        await self._leave()
        return clean

    async def suspend(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109  as for shutdown
        """Let go and leave the log as it stands: what runs is stopped, what waits for an approval can still get it.

        Nothing is settled here, except what has ended already. The next opening finds what ran as lost, as after a
        crash, and keeps the questions. Whether nothing was left running.
        """
        if self._writer is not None and not self._writer.done():  # an answer that is on its way to the log counts
            await asyncio.wait({self._writer}, timeout=AFTERWARDS)
        if not self._broken and not self._closed:
            self._engine.control.interrupt(sorted(self._engine.state.talks), "suspend")
            try:
                async with asyncio.timeout(timeout):
                    while self._executor.tasks or (self._writer is not None and not self._writer.done()):
                        await self._change()
            except TimeoutError:
                pass  # the same as for a shutdown: it is left behind
        left = bool(self._executor.tasks)
        await self._leave()
        return not left

    # -- what a face reads

    @property
    def state(self) -> State:
        return self._engine.state

    @property
    def status(self) -> Status:
        return self._status.status

    def transcript(self, conversation: str | None = None) -> Transcript:
        return self._transcripts.of(conversation or self.name)

    @property
    def left_behind(self) -> frozenset[tuple[str, str]]:
        """Executions that ignored their end and still run."""
        return frozenset(self._engine.control.abandoned)

    def running(self, kind: str) -> list[str]:
        """The executions of a kind (`model`, `tool`) that are at work now."""
        intents = self._engine.control.intents.values()
        return [f"{i.conversation} {i.execution}" for i in intents if i.kind == kind and i.phase == "bound"]

    def using(self) -> list[tuple[str, dict[str, int]]]:
        """The model calls at work, with what each has used so far."""
        intents = self._engine.control.intents.values()
        return [(i.model, dict(i.usage)) for i in intents if i.kind == "model" and i.usage]

    # -- the writer

    def _wake(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write(), name=f"{self.name} writer")

    async def _write(self) -> None:
        """Until the inbox is empty: decide, record, show, start."""
        engine = self._engine
        while engine.inbox and not self._broken:
            given = self._given.pop(id(engine.inbox[0]), None)
            events = engine.take(1 if given else self._ungiven())
            record = partial(self._journal.record, events)
            if given:  # a decision of its own, in which the log says whose it is
                record = partial(self._journal.record, events, by=given.by, key=given.key)
            if events:
                try:
                    records = await self._ports.off_loop(record)
                except Exception as error:  # noqa: BLE001  whatever it is, what was decided is not in the log
                    self._break(error)
                    if given:
                        given.records.set_exception(error)
                    return
                self._publish(records)
                if given and not given.records.done():
                    given.records.set_result(records)
            if not engine.inbox:
                engine.note_idle()
        self._set_timer()
        self._changed()

    def _ungiven(self) -> int:
        """How many commands can be decided together: up to the next that somebody gave."""
        count = 0
        for command in self._engine.inbox:
            if count == BATCH or id(command) in self._given:
                break
            count += 1
        return count

    def _publish(self, records: Sequence[Record]) -> None:
        for record in records:
            if self.is_mine(record):
                self._feed.put(record)
        for intent in self._engine.publish(records):
            self._executor.launch(intent)

    def is_mine(self, record: Record) -> bool:
        return isinstance(record.event, t.ConversationEvent) and self._engine.state.holds(record.event.conversation)

    def _go_on(self, conversation: str, key: str) -> None:
        self._engine.submit(c.Continue(conversation=conversation, key=key))

    async def _written(self) -> None:
        while self._writer is not None and not self._writer.done():
            await asyncio.wait({self._writer})
        self._check()

    def _break(self, error: BaseException) -> None:
        self._broken = error
        for given in self._given.values():
            given.records.set_exception(error)
        self._given.clear()
        self._engine.inbox.clear()
        self._engine.control.interrupt(sorted(self._engine.state.talks), "the log can't be written")
        self._engine.inbox.clear()
        self._feed.close(error)
        self._changed()

    def _check(self) -> None:
        if self._broken is not None:
            raise UserError(
                f"the conversation {self.name} can't be kept any more: {self._broken}",
                hint="put the disk right and open the session again: the log has everything up to then",
            ) from self._broken
        if self._closed:
            raise UserError(f"the conversation {self.name} was shut down", hint="open it again to go on")

    # -- coming to rest

    @property
    def _at_rest(self) -> bool:
        writing = self._writer is not None and not self._writer.done()
        return not writing and self._engine.quiescent and self._engine.state.rested

    def _look_up(self) -> None:
        """Something returned: it may have been the last."""
        if not self._broken and not self._closed and self._engine.note_idle() and self._engine.inbox:
            self._wake()
        else:
            self._changed()

    def _set_timer(self) -> None:
        deadline = self._engine.control.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            pause = max(0.0, deadline - self._ports.now())
            self._timer = asyncio.get_running_loop().call_later(pause, self._give_up)

    def _give_up(self) -> None:
        for name, execution in self._engine.control.expire():
            self._show(NoticeGiven(text=f"{name} {execution} ignores its end; its result will not be taken"))
        self._tell_faults()
        self._set_timer()
        self._look_up()

    async def _change(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def _changed(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _show(self, event: t.LiveConversationEvent | NoticeGiven) -> None:
        self._feed.put(event)
        self._ports.show(event)

    def _tell_faults(self) -> None:
        faults, self._engine.control.faults = self._engine.control.faults, []
        for text in faults:
            self._show(NoticeGiven(text=text))

    async def _leave(self) -> None:
        """Cancel what still listens to it; what does not is a thread that no one can end, and is left behind."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._executor.tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=AFTERWARDS)
        self._feed.close()
        self._changed()
