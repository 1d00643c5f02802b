"""`LiveSession`: one session held open, and its one door.

    submit(command)   into the inbox: accepted with its number in the log, or refused with the reason; once for each key
    events(after)     durable ones exactly once and in order, then live ones
    state             the fold of the log

There is one inbox and one task that takes from it, so that commands are decided one after the other, whoever gives
them: a terminal, another process (`door.py`), the end of a run, a model that was asked what words mean. Each command
goes to one of two pure machines. The conversation has `conversation/decide.py`. The run has `orchestrator/machine.py`
while it goes on; while it is at rest, `orchestrator/reply_intent.py` says what words mean to it and
`orchestrator/rest_commands.py` what a reply leads to. What is decided is in the log, with who gave the command, before
anything comes of it. A person's words are in the log before they are judged. Interrupts do not queue.

The loop around a gate is here and nowhere else: a run comes to rest; answers given in advance, then words that were
said meanwhile, are applied; when one of them lets it, the run goes on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from weft.app.live.command_keys import another, fingerprint, replied, replied_before
from weft.app.live.opened_session import RUN_GOES_ON, OpenedSession
from weft.app.live.runs import AT_GATE_HINT, SessionRuns
from weft.app.live.session_description import said_of_session
from weft.app.parts import EMBEDDED, Parts
from weft.app.session_requests import SessionRequest
from weft.conversation.event_feed import Feed, FellBehind
from weft.files import named_file
from weft.orchestrator.overruling import overrule
from weft.orchestrator.rest_commands import (
    at_rest,
    chosen_id,
    continued,
    is_heard,
    open_gate,
    overdue,
    resting_run,
    still_asked,
)
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import (
    Accepted,
    AcceptEdit,
    AnswerQuestion,
    CancelRun,
    Compact,
    DescribeSession,
    Interrupt,
    InterruptRun,
    OverruleVerdict,
    Refused,
    Reply,
    ReplyToGate,
    ResolveConfirmation,
    RestCommand,
    Rewind,
    Say,
    SessionCommand,
    SetMode,
    SetModel,
    StartRun,
    StopProcess,
    SwitchSource,
    Undo,
    refusal,
)
from weft.protocol.conversation_events import step_place
from weft.protocol.envelope import MACHINE, PERSON, Actor
from weft.protocol.errors import UserError, WeftError
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.session.legacy import Legacy
from weft.session.session import Session
from weft.session.state import SessionState, UnheardWords
from weft.session.timestamps import moment_seconds
from weft.workspace.pipeline import Pipeline
from weft.workspace.resource_limit import tell_waiting

if TYPE_CHECKING:
    from weft.app.live.conversations import SessionConversation
    from weft.app.live.notifications import Notifier
    from weft.app.live.remote_door import Knocks
    from weft.app.live.slash_commands import OverviewName
    from weft.models.model import Model
    from weft.orchestrator.execute import StepExecutor
    from weft.orchestrator.prepared_run import PreparedRun
    from weft.orchestrator.replies import Judgement
    from weft.orchestrator.reply_intent import HeardWords, ReplyIntent
    from weft.orchestrator.runner import Runner

LEAVING: Final = 5.0
"""Seconds that a run which is told to stop gets when the session is let go of."""
SESSION_CLOSED: Final = "the session was closed"
WAITING: Final = 5_000
"""Events that may wait for one who follows slowly; beyond that they are told the log again from where they were."""
R = TypeVar("R", bound=Accepted | Refused)
_Besides = (
    AnswerQuestion
    | Compact
    | SetMode
    | SetModel
    | c.SetLimits
    | c.ClearTaint
    | Undo
    | Rewind
    | c.DecidePlan
    | StopProcess
)
"""What a person says to the conversation besides messages."""
KEYS_IN_MIND: Final = 10_000
LONGEST_TEXT: Final = 16_000_000
"""Characters of one message."""


@dataclass(slots=True)
class _Given:
    command: SessionCommand | Callable[[], Awaitable[None]]
    """Of somebody; or what follows when something that was begun here has come to its end."""
    key: str = ""
    by: Actor = MACHINE
    stop: InterruptRun | None = None
    """An interrupt that came while this waited in the inbox to start a run."""
    reply: asyncio.Future[Reply] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    print: str = ""
    """Of the command as it was given, when it has a key."""
    twins: list[_Given] = field(default_factory=list)
    """The same command with the same key, given again before this one was answered."""

    def answer(self, reply: Reply) -> None:
        """Whoever waited may have gone."""
        for one in (self, *self.twins):
            if not one.reply.done():
                one.reply.set_result(reply)


class LiveSession(OpenedSession):
    """The one writer of a session."""

    def __init__(
        self,
        parts: Parts,
        session: Session,
        request: SessionRequest,
        pipeline: Pipeline | None = None,
        legacy: Legacy | None = None,
        prepared: tuple[StartRun, PreparedRun] | None = None,
    ) -> None:
        super().__init__(parts, request)
        self._session = session
        self.folder = session.folder.path
        self.id = self.folder.name
        self._feed = Feed()
        self._loop = asyncio.get_running_loop()
        self._posts = parts.disk_threads.posts()
        session.on_record = self._recorded
        session.keep("listing", lambda: self._parts.catalogue.listing(self.id))
        self._runs = SessionRuns(parts, session, request, pipeline, legacy, prepared, self._published)
        self._inbox: deque[_Given] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._conversation: SessionConversation | None = None
        self._running: asyncio.Task[None] | None = None
        self._runner: Runner | None = None
        self._starting = False
        self._stop: InterruptRun | None = None
        """An interrupt that came before there was a runner to take it."""
        self._started: asyncio.Future[int] | None = None
        """Gets the number of the record that the run has begun."""
        self._answered: set[str] = set()
        """Gates for which an answer given in advance was taken here: one that does not fit is told once."""
        self._asking: asyncio.Task[tuple[Judgement, e.ReplyClassified]] | None = None
        """A model that is being asked what words mean."""
        self._judging = ""
        """The words it is asked about."""
        self._judged: dict[str, ReplyIntent] = {}
        """By words that are not heard yet, what a model took them for."""
        self._rulings: dict[tuple[str, str], _Given] = {}
        """Given while the run was at rest; answered when the step that asks has them in the log."""
        self._accepted: dict[str, tuple[str, Accepted]] = {}
        """By their keys, the commands that were carried out here, the last of them: their prints and what was said."""
        self._changed = asyncio.Event()
        self._bug: BaseException | None = None
        self._closed = False
        self._wrote = False
        self._notifier: Notifier | None = None
        if parts.surroundings.get("WEFT_NOTIFY"):
            from weft.app.live.notifications import Notifier

            self._notifier = Notifier(self.id, parts.surroundings)

    # -- the door

    @property
    def knocks(self) -> Knocks | None:
        """Through which other machines come to its door."""
        return self._parts.knocks

    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = PERSON) -> asyncio.Future[Reply]:
        """Into the inbox, in order; awaiting it gives the reply. Only from the loop's own thread. With a `key` the
        command is carried out once, however often it is given. An interrupt is done when this returns."""
        given = _Given(command, key, by, print=fingerprint(command) if key else "")
        if self._closed:
            given.reply.set_result(Refused(reason=f"session {self.id} was closed", hint="open it again to go on"))
        elif isinstance(command, Interrupt):
            given.reply.set_result(self._before(given) or self._kept_in_mind(given, self._interrupt(command, by)))
        else:
            self._put(given)
        return given.reply

    async def events(self, after: int = 0) -> AsyncIterator[e.Record | e.Event]:
        """Every record after `after`, each once and in order, and what is live from now on. Ends with the session.
        Whoever follows so slowly that thousands of events wait for them gets the records all the same, from the log,
        and misses what was only live."""
        seen, behind = after, True
        with self._feed.subscribe(most=WAITING) as coming:
            while behind:
                behind = False
                # What is being written meanwhile comes by the feed.
                for record in await self.records(seen) if self._session.state.seq > seen else ():
                    seen = record.seq
                    yield record
                for event in self._standing():
                    yield event
                try:
                    async for item in coming:
                        if not isinstance(item, e.Record):
                            yield item
                        elif item.seq > seen:
                            seen = item.seq
                            yield item
                except FellBehind:
                    behind = True

    @property
    def state(self) -> SessionState:
        """What the log adds up to."""
        return self._session.state

    @property
    def pipeline(self) -> Pipeline:
        return self._runs.pipeline

    @property
    def continuation(self) -> StartRun:
        """The wish that takes the last run up again as it was meant."""
        return self._runs.to_continue()

    @property
    def is_closed(self) -> bool:
        """It is let go of, or was."""
        return self._closed

    @property
    def status(self) -> e.StatusChanged | None:
        """What a status line says of its conversation, when that is open."""
        return self._conversation.status if self._conversation else None

    @property
    def questions(self) -> tuple[e.QuestionAsked, ...]:
        return tuple(self._conversation.asked) if self._conversation else ()

    @property
    def conversation(self) -> SessionConversation | None:
        return self._conversation

    async def run_at_rest(self) -> e.Outcome | None:
        """Until no run is at work and every word to it was heard; how the last one came to rest. Raises what went
        wrong in it."""
        while self._inbox or self._is_working or self._running is not None or self._judging:
            self._changed.clear()
            await self._changed.wait()
        self._raise_bug()
        return self.state.run.outcome if self.state.run else None

    async def rest(self) -> e.Outcome | None:
        """As `run_at_rest`, and the conversation has nothing left to do either."""
        while True:
            outcome = await self.run_at_rest()
            if self._conversation is None:
                return outcome
            await self._conversation.conversation.idle()
            if not (self._inbox or self._is_working or self._running or self._judging):
                return outcome

    async def look_inside(self, what: OverviewName) -> str:
        from weft.app.live.overviews import look_inside

        return await look_inside(what, await self.open_conversation())

    async def close(self, *, keep_open: bool | None = None) -> bool:
        """What runs is stopped first."""
        if self._closed:
            return True
        self._closed = True
        if self._running is not None or self._starting or self._asking is not None:
            self._stop_run(InterruptRun(why=SESSION_CLOSED))
            tasks = {task for task in (self._running, self._asking) if task is not None}
            if tasks:
                await asyncio.wait(tasks, timeout=LEAVING)
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        if self._worker is not None:
            await asyncio.wait({self._worker}, timeout=LEAVING)
            self._worker.cancel()
            self._worker = None  # its context knows this session: the collector would have to part the two
        for given in (*self._inbox, *self._rulings.values()):
            given.answer(Refused(reason=f"session {self.id} was closed"))
        self._inbox.clear()
        clean = True
        if self._conversation is not None:
            waits = self._conversation.waits if keep_open is None else keep_open
            clean = await self._conversation.close(keep_open=waits)
        await self._parts.release_sources(self.id)
        self._session.on_record = None
        self._runs.close()
        if self._session.closes_at_once:
            self._session.close()
        else:
            await self._parts.off_loop(self._session.close)
        if self._wrote:
            await self._let_go()
        self._feed.close()
        if self._notifier is not None:
            await self._notifier.close()
        self._changed.set()
        return clean

    # -- the inbox

    def _put(self, given: _Given) -> None:
        self._inbox.append(given)
        if not self._is_working:
            self._worker = self._loop.create_task(self._work(), name=f"{self.id} inbox")

    @property
    def _is_working(self) -> bool:
        return self._worker is not None and not self._worker.done()

    async def _work(self) -> None:
        """Until the inbox is empty: one command after the other."""
        tell_waiting.set(self.notice)  # by what a conversation starts; a step says it itself
        try:
            while self._inbox:
                given = self._inbox.popleft()
                try:
                    reply = await self._handle(given)
                except WeftError as error:
                    reply = refusal(error)
                    if not isinstance(given.command, SessionCommand):
                        self._published(e.NoticeGiven(text=str(error)))
                except Exception as error:  # noqa: BLE001  a bug: whoever waits gets it, and nobody waits for ever
                    self._bug = error
                    if not given.reply.done():
                        given.reply.set_exception(error)
                        given.reply.exception()  # there may be nobody who looks
                    continue
                if reply is not None:
                    given.answer(self._kept_in_mind(given, reply))
        finally:
            self._loop.call_soon(self._changed.set)

    def _kept_in_mind(self, given: _Given, reply: R) -> R:
        if given.key and isinstance(reply, Accepted):
            self._accepted[given.key] = (given.print, reply)
            if len(self._accepted) > KEYS_IN_MIND:
                del self._accepted[next(iter(self._accepted))]
        return reply

    def _before(self, given: _Given) -> Reply | None:
        """What the command with this key was answered here; refused when it was another one."""
        known, reply = self._accepted.get(given.key, ("", None))
        return reply if reply is None or known == given.print else another(given.key)

    async def _handle(self, given: _Given) -> Reply | None:
        """None for what is answered later."""
        command, by, key = given.command, given.by, given.key
        if not isinstance(command, SessionCommand):
            await command()
            return Accepted(seq=self.state.seq)
        if key and (before := self._before(given)) is not None:
            return before
        if key and self._session.accepted(key):
            return await self._parts.off_loop(lambda: replied_before(self._session, key, command))
        match command:
            case StartRun():
                return await self._wished(command, by, key, given.stop)
            case Say():
                return await self._say(command, by, key)
            case ReplyToGate() | ResolveConfirmation() | CancelRun():
                return await self._reply(command, by, key)
            case AcceptEdit() | OverruleVerdict():
                return await self._instead(command, by, key)
            case Interrupt():
                return self._interrupt(command, by)
            case c.DecideApproval():
                return await self._decide_approval(given, command)
            case DescribeSession() | SwitchSource():
                return await self._describe(command, by, key)
            case _:
                return await self._besides(command, by, key)

    async def _describe(self, command: DescribeSession | SwitchSource, by: Actor, key: str) -> Reply:
        """What a person says of the session. It opens no conversation and disturbs nothing that runs."""
        working = self._request.working
        event = await self._parts.off_loop(lambda: said_of_session(self._parts, command, working))
        accepted = await self._record([event], by, key)
        if isinstance(event, e.SourceSwitched) and self._conversation is not None:
            self._conversation.source_switched(event.source)
        return accepted

    async def _besides(self, command: _Besides, by: Actor, key: str) -> Reply:
        opened = await self.open_conversation()
        match command:
            case AnswerQuestion():
                opened.answer(command.question, command.answers, command.declined)
            case Compact():
                opened.compact_now()
            case StopProcess():
                await opened.processes.stopped(command.process)
            case c.SetLimits() | c.ClearTaint():
                return await self._conversation_command(command, by, key)
            case SetMode():
                opened.set_mode(command.mode)
                return await self._record([e.SettingChanged(setting="mode", value=command.mode)], by, key)
            case SetModel():
                opened.set_model(command.model)
                return await self._record([e.SettingChanged(setting="model", value=command.model)], by, key)
            case Undo() | Rewind():
                undone = await (opened.undo() if isinstance(command, Undo) else opened.rewind(command.messages))
                reply = await self._conversation_command(undone, by, key)
                return replace(reply, note=", ".join(undone.files)) if isinstance(reply, Accepted) else reply
            case c.DecidePlan():
                mode = opened.access.mode
                reply = await self._conversation_command(await opened.decided_plan(command), by, key)
                if isinstance(reply, Refused):
                    opened.set_mode(mode)
                elif opened.access.mode != mode:
                    await self._record([e.SettingChanged(setting="mode", value=opened.access.mode)], by)
                return reply
        return Accepted(seq=self.state.seq)

    async def _record(self, events: Sequence[e.DurableEvent], by: Actor, key: str = "") -> Accepted:
        records = await self._parts.kept(lambda: self._session.record(events, by=by, key=key))
        return Accepted(seq=records[-1].seq)

    # -- what is seen

    def _recorded(self, records: Sequence[e.Record]) -> None:
        """From the thread that wrote them, in the log's order."""
        self._wrote = True
        self._posts.post(self._told, records)

    def _told(self, records: Sequence[e.Record]) -> None:
        self._parts.catalogue.grown(self.id)
        if self._parts.telemetry is not None:
            self._parts.telemetry.take(self.id, records)
        for record in records:
            self._feed.put(record)
            if self._conversation is not None:
                self._conversation.count(record)
            if self._notifier is not None:
                self._notifier.take(record.event)
            if self._started is not None and isinstance(record.event, e.RunStarted) and not self._started.done():
                self._started.set_result(record.seq)

    async def _let_go(self) -> None:
        """Nobody writes to it any more. Where several machines share it, the others are told what it has become."""
        self._parts.catalogue.grown(self.id)
        if self._parts.shared is not None:
            await asyncio.wrap_future(self._parts.catalogue.soon(self.id))

    def _published(self, item: e.Record | e.Event) -> None:
        """What is live. Records come from the log itself."""
        if not isinstance(item, e.Record):
            item = REDACTOR.value(item)
            self._feed.put(item)
            if isinstance(item, t.ApprovalRequested):
                self._ruled_before(item)

    def _standing(self) -> list[e.Event]:
        """What whoever begins to watch should know that is in no record."""
        waiting = self._runner.asked if self._runner is not None else []
        if self._conversation is None:
            return [*waiting]
        notes = [e.NoticeGiven(text=text) for text in self._conversation.opening_notes]
        return [*waiting, *notes, self._conversation.status, *self._conversation.asked]

    # -- the run

    async def _start(self, wish: StartRun, by: Actor, key: str = "", stop: InterruptRun | None = None) -> int:
        if self._running is not None:
            raise UserError(RUN_GOES_ON, hint="wait for its end, or stop it: weft interrupt")
        self._starting, self._stop, self._bug = True, stop, None
        executor = self._parts.executor()
        try:
            self._runner = await self._runs.begin(wish, executor, by, key, attended=self._is_attended(by))
        except BaseException:
            await executor.close()
            raise
        finally:
            self._starting = False
        self._started = self._loop.create_future()
        self._running = self._loop.create_task(self._drive(self._runner, wish, executor), name=f"{self.id} run")
        if self._stop is not None:
            self._runner.interrupt(self._stop)
        waits: set[asyncio.Future[Any]] = {self._started, self._running}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return self._session.accepted(key) or (self._started.result() if self._started.done() else self.state.seq)

    def _is_attended(self, by: Actor) -> bool:
        """Somebody is there whom a step can ask: who answers, who begins it on the page; not a schedule, also in a
        session that a person had opened."""
        if self._rulings:
            return True
        return by.kind != "rule" and (self._request.attended or (by.kind == "person" and by.face == "web"))

    async def _wished(self, command: StartRun, by: Actor, key: str, stop: InterruptRun | None) -> Accepted:
        if command.if_due:
            return await self._on_time(by)
        await self._out_of_the_way()
        if await self._past_deadlines() and self.state.run is not None and self.state.run.over:
            raise UserError(f"the run was {self.state.run.message}", hint="weft run begins another")
        return Accepted(seq=await self._start(command, by, key, stop))

    async def _past_deadlines(self) -> Sequence[e.DurableEvent]:
        """What the gates say of the end of their time happens before anything else."""
        events = () if self._running is not None else overdue(self.state, self._parts.clock())
        if events:
            await self._record(events, MACHINE)
        return events

    async def _on_time(self, by: Actor) -> Accepted:
        """Somebody looked at the clock: what is due happens, and nothing else."""
        run = self.state.run
        if self._running is not None or run is None or run.over:
            return Accepted(seq=self.state.seq)
        settled = [event for event in await self._past_deadlines() if isinstance(event, e.GateResolved)]
        due = self.state.due if not settled else ""
        over = self.state.run is None or self.state.run.over
        if not over and (settled or (due and moment_seconds(due) <= self._parts.clock())):
            await self._go_on(by)
        return Accepted(seq=self.state.seq)

    async def _drive(self, runner: Runner, wish: StartRun, executor: StepExecutor) -> None:
        try:
            await runner.run()
            self._runs.ended()
        except Exception as error:  # noqa: BLE001  whoever waits for the rest gets it
            self._bug = error
            self._published(e.NoticeGiven(text=f"the run can't go on: {type(error).__name__}: {error}"))
        finally:
            await executor.close()
            self._runner = self._running = None
            if not self._closed:
                self._put(_Given(partial(self._rested, wish)))
            self._changed.set()

    async def _rested(self, wish: StartRun) -> None:
        """A run has: it goes on as far as answers given in advance, and words that were said meanwhile, allow."""
        while self._rulings:
            _, given = self._rulings.popitem()
            given.answer(Refused(reason="the run came to rest before the step asked that again"))
        if self._bug is not None:
            return
        run = self.state.run
        found = self._answer_in_advance()
        if run is not None and found is not None:
            gate, name = found
            self._answered.add(self.state.gates[gate].gate)
            choice, _, text = run.answers[name].partition(":")
            reply = ReplyToGate(gate=gate, choice=chosen_id(self.state.gates[gate], choice.strip()), text=text)
            await self._keep_edit(reply)
            by = Actor("answer")
            await self._record(at_rest(self.state, reply, "answer"), by)
            if self.state.run is not None and not self.state.run.over:
                await self._start(continued(wish), by)
            return
        await self._hear_next()

    def _answer_in_advance(self) -> tuple[str, str] | None:
        """The gate that the run waits at and has an answer for which was not tried yet, and the answer's name."""
        run = self.state.run
        return self._runs.answered(run.answers, self._answered) if run and run.outcome == "waiting" else None

    @property
    def is_answered(self) -> bool:
        """The run waits at a gate that an answer was given in advance for."""
        return self._answer_in_advance() is not None

    async def _out_of_the_way(self) -> None:
        """A run whose end is in the log may have a moment left until its process is gone: who saw the end and answers
        at once is not told that it goes on."""
        run = self.state.run
        if self._running is not None and run is not None and run.outcome is not None:
            await asyncio.wait({self._running})

    async def _reply(self, command: RestCommand, by: Actor, key: str) -> Reply:
        """An answer that is given by name: final, and the run goes on when it lets it."""
        await self._out_of_the_way()
        if self._running is not None:
            raise UserError("the run is going on", hint="wait until it needs a reply, or stop it: weft interrupt")
        self._runs.check_sound()
        if isinstance(command, ReplyToGate):
            command = self._with_files(command)
        events = at_rest(self.state, command)
        if isinstance(command, ReplyToGate):
            await self._keep_edit(command)
            events = at_rest(self.state, command)
        asked = self.state.confirming
        accepted = await self._record(events, by, key)
        goes_on = isinstance(command, ReplyToGate) or (
            isinstance(command, ResolveConfirmation) and command.choice == "yes"
        )
        afresh = isinstance(command, ResolveConfirmation) and asked is not None and asked.kind == "fresh"
        if goes_on and (afresh or not (self.state.run is None or self.state.run.over)):
            await self._go_on(by, afresh=afresh)
        return accepted

    def _with_files(self, command: ReplyToGate) -> ReplyToGate:
        """The files that are named at a gate's form are there, and meant as they are from anywhere."""
        gate = next((one for one in self.state.gates.values() if command.gate in (one.gate, one.step)), None)
        fields = [str(one["name"]) for one in gate.form if one["type"] == "file"] if gate else []
        named = {name: str(named_file(str(command.values[name]), name)) for name in fields if command.values.get(name)}
        return replace(command, values={**command.values, **named}) if named else command

    async def _go_on(self, by: Actor, *, afresh: bool = False) -> None:
        wish = self._runs.to_continue()
        if afresh:
            wish = replace(wish, force=frozenset(self._runs.pipeline.steps))
        await self._start(wish, by)

    async def _instead(self, command: AcceptEdit | OverruleVerdict, by: Actor, key: str) -> Accepted:
        """A person's own in the place of what was made."""
        await self._out_of_the_way()
        if self._running is not None:
            raise UserError("the run is going on", hint="wait until it has come to rest")
        if isinstance(command, OverruleVerdict):
            return await self._overrule(command, by, key)
        if not await self._runs.keep_edit(command.step, by, key):
            raise UserError(f"there is no edit of {command.step} to accept")
        return Accepted(seq=self._session.accepted(key) or self.state.seq)

    async def _overrule(self, command: OverruleVerdict, by: Actor, key: str) -> Accepted:
        """The person's word is in the log before anything is made of it; the run that follows is made with it."""
        self._runs.check_sound()
        claims = await self._parts.off_loop(lambda: self._runs.claims)
        accepted = await self._record([overrule(command, claims)], by, key)
        await self._go_on(by)
        return accepted

    async def _keep_edit(self, reply: ReplyToGate) -> None:
        """Whoever proceeds with an artifact they have edited keeps the edit."""
        gate = open_gate(self.state, reply.gate)
        if not gate.before and any(one.id == reply.choice and one.does == "proceed" for one in gate.choices):
            await self._keep_edit_of(gate.step)

    async def _keep_edit_of(self, step: str) -> None:
        try:
            await self._runs.keep_edit(step, PERSON)
        except UserError as error:
            raise UserError(error.message, hint=AT_GATE_HINT) from error

    async def _decide_approval(self, given: _Given, command: c.DecideApproval) -> Reply | None:
        if command.always:
            await self._allow_from_now_on(command)
            given.command = command = replace(command, always=False)
        if step_place(command.conversation):
            return await self._decide_step(given, command)
        return await self._conversation_command(command, given.by, given.key)

    async def _allow_from_now_on(self, command: c.DecideApproval) -> None:
        """The rule that was shown with the question stands in the permission file before the call goes on."""
        from weft.workspace.rule_entry import RuleEntry

        if command.decision == "denied":
            raise UserError("it can't be denied and allowed from now on")
        asked = await self._asked(command)
        rule = asked.always if asked is not None else None
        if not rule:
            raise UserError("there is no rule that would spare this question", hint="allow it once, or for the session")
        await self._parts.off_loop(lambda: self._parts.allow_from_now_on(RuleEntry.model_validate_json(rule)))
        if self._conversation is not None:
            self._conversation.access.rules = self._parts.rules()

    async def _decide_step(self, given: _Given, command: c.DecideApproval) -> Reply | None:
        """A ruling for a call of a step. A run at rest goes on with it, and it is accepted when the step has it."""
        place = (command.conversation, command.call)
        before = self._rulings.get(place)
        if before is not None and before.key == given.key != "":
            if before.print != given.print:
                return another(given.key)
            before.twins.append(given)
            return None
        runner = self._runner
        if runner is not None and (records := await runner.decide_approval(command, given.by, given.key)) is not None:
            return replied(records)
        going = self._running is not None
        if not (going or is_heard(self.state)) or place in self._rulings:
            raise UserError("that question is no longer open")
        self._rulings[place] = given  # a step that has just been taken up asks it in a moment, or while the log is read
        try:
            if await self._asked(command) is None and self._rulings.get(place) is given:
                raise UserError("that question is no longer open")
            if not going:
                await self._go_on(given.by)
        except BaseException:
            self._rulings.pop(place, None)
            raise
        return None

    def _ruled_before(self, asked: t.ApprovalRequested) -> None:
        """A step that goes on asks again what was answered while the run was at rest."""
        given = self._rulings.pop((asked.conversation, asked.call), None)
        if given is not None:
            self._put(given)

    async def _asked(self, command: c.DecideApproval) -> t.ToolRequested | None:
        """The call that is decided about, as the log has it; None when nobody is asked about it."""
        from weft.app.sessions.session_work import open_questions

        waiting = await self._parts.off_loop(lambda: open_questions(self._parts, self.id).approvals)
        place = (command.conversation, command.call)
        found = ((call, one) for call, one in waiting if command.turn in (None, one.turn))
        return next((call for call, one in found if (one.conversation, one.call) == place), None)

    # -- words

    async def _say(self, command: Say, by: Actor, key: str) -> Reply:
        if not command.text.strip():
            raise UserError("there is nothing to send", hint="give a text")
        if len(command.text) > LONGEST_TEXT:
            raise UserError(f"the message has {len(command.text):,} characters; {LONGEST_TEXT:,} are the most")
        if command.to == "run":
            await self._out_of_the_way()
        if not self._is_for_the_run(command):
            if command.to == "run":
                resting_run(self.state)
            name = key or self._parts.new_name()
            talk = await self.open_conversation()
            text, attached = await talk.attached(command.text, command.attachments)
            message = c.SendMessage(
                conversation=t.MAIN,
                message=name,
                text=text,
                attached=attached,
                folder=str(self.working),
                tainted=await talk.tells_of_run(),
            )
            reply = await self._conversation_command(message, by, key)
            return replace(reply, note=name) if isinstance(reply, Accepted) else reply
        if command.attachments:
            raise UserError("what is said to a run can't bring files", hint="answer it first, then attach them")
        run = self.state.run
        assert run is not None
        still_asked(self.state, command.asked, command.text)
        if command.gate:
            open_gate(self.state, command.gate)
        said = e.WordsSaid(
            run=run.run,
            words=self._parts.new_name(),
            text=command.text,
            gate=command.gate,
            to=command.to,
            asked=command.asked,
        )
        accepted = await self._record([said], by, key)
        await self._hear_next()
        return accepted

    def _is_for_the_run(self, command: Say) -> bool:
        state = self.state
        if self._running is not None or self._starting:
            # An open gate is seen before the run has come to rest: what is said then is for it, and heard in a moment.
            return bool(state.gates)
        if not is_heard(state):
            return False
        if command.to == "run" or self._judging or state.unheard:
            return True
        from weft.orchestrator.reply_intent import (
            understand,  # what words mean is a lot to load, and most runs hear none
        )

        return understand(state, command.text, gate=command.gate, talking=True).meaning != "not for it"

    async def _hear_next(self) -> None:
        """The words that were said first and not heard yet, unless the run is at work or a model is asked."""
        if not self.state.unheard:
            return
        from weft.orchestrator.reply_intent import ReplyIntent, understand

        while not self._judging and self._running is None and self.state.unheard:
            words = next(iter(self.state.unheard.values()))
            if (judged := self._judged.pop(words.words, None)) is not None:
                await self._heard(words, self._as_asked(words, judged))
                continue
            try:
                meant = still_asked(self.state, words.asked, words.text)
                found = understand(self.state, words.text, gate=words.gate or meant, talking=words.to == "session")
            except UserError as error:  # what they were for has gone meanwhile
                found = ReplyIntent(meaning="refused", reason=error.message, text=error.hint)
            if found.meaning == "unclear" and found.gate and self.state.confirming is None:
                found = self._ask_model(found, words) or found
            if not self._judging:
                await self._heard(words, found)

    async def _heard(self, words: UnheardWords, found: ReplyIntent) -> None:
        from weft.orchestrator.reply_intent import ReplyIntent, hear

        by = words.by
        if found.meaning == "not for it" and not is_heard(self.state):
            found = replace(found, reason="the run it was meant for is over")
        try:
            heard = hear(self.state, words, found, self._parts.new_name())
            if heard.then in ("go on", "afresh"):
                self._runs.to_continue()  # a pipeline that can't be read is said before anything is decided
            if heard.proceeds:
                await self._keep_edit_of(heard.proceeds)
                heard = hear(self.state, words, found, self._parts.new_name())
        except WeftError as error:  # nothing was changed: they can put it right and say it again
            found = ReplyIntent(meaning="refused", reason=error.message, choice=found.choice, text=error.hint)
            heard = hear(self.state, words, found, "")
        await self._record(heard.events, Actor("model", found.model) if found.model else by)
        await self._do(heard, by)

    async def _do(self, heard: HeardWords, by: Actor) -> None:
        match heard.then:
            case "go on":
                await self._go_on(by)
            case "afresh":
                await self._go_on(by, afresh=True)
            case "answer":
                message = c.SendMessage(conversation=t.MAIN, message=self._parts.new_name(), text=heard.answer)
                await self._conversation_command(message, by, "")

    def _ask_model(self, found: ReplyIntent, words: UnheardWords) -> ReplyIntent | None:
        """Has a connected model say what it takes unclear words for; its answer comes through the inbox. Returns what
        was found when none can be asked."""
        from weft.orchestrator.reply_classification import classify
        from weft.orchestrator.reply_intent import proposed

        run = self.state.run
        model: Model | None = self._conversation.main_model if self._conversation else None
        name, own = self._parts.default_model, self._parts.step_models()
        if model is None and name != EMBEDDED:
            try:
                model = own.open(name)
            except UserError as error:
                return replace(found, reason=f"{found.reason}; {name} can't be asked: {error.message}")
        if run is None or model is None or model.name == EMBEDDED:
            return None
        gate = open_gate(self.state, found.gate)
        asked, number = model, run.run

        async def question() -> tuple[Judgement, e.ReplyClassified]:
            try:
                return await classify(asked, number, gate, words.text, nonce=self._parts.new_name())
            finally:
                await own.aclose()

        self._judging = words.words
        self._asking = self._loop.create_task(question(), name="asks what was meant")

        def answered(task: asyncio.Task[tuple[Judgement, e.ReplyClassified]]) -> None:
            self._asking = None
            if task.cancelled():
                reason = f"{found.reason}; {asked.name} was stopped before it could say"
                told = partial(self._told_by_model, words.words, replace(found, reason=reason), None)
            elif (bug := task.exception()) is not None:
                self._bug, told = bug, partial(self._told_by_model, words.words, found, None)
            else:
                judged, record = task.result()
                told = partial(self._told_by_model, words.words, proposed(gate, words.text, judged, asked.name), record)
            if not self._closed:
                self._put(_Given(told))
            self._changed.set()

        self._asking.add_done_callback(answered)
        return None

    async def _told_by_model(self, name: str, found: ReplyIntent, record: e.ReplyClassified | None) -> None:
        """A model has said what it takes words for. They are heard now, or when a run has come to rest that somebody
        set going meanwhile; what was asked was paid for either way."""
        self._judging = ""
        self._judged[name] = found
        if record is not None:
            await self._record([record], Actor("model", record.model))
        await self._hear_next()

    def _as_asked(self, words: UnheardWords, found: ReplyIntent) -> ReplyIntent:
        """What a model took words for, as long as what it was asked about is still open."""
        from weft.orchestrator.reply_intent import ReplyIntent

        open_gates = {gate.gate for gate in self.state.gates.values()}
        seen = {*words.asked} or {found.gate}
        if found.gate in open_gates and seen <= open_gates:
            return found
        return ReplyIntent(meaning="unclear", reason="what it was said to was answered meanwhile")

    # -- the conversation

    async def open_conversation(self) -> SessionConversation:
        if self._conversation is None:
            from weft.app.live.conversations import SessionConversation  # a run needs nothing of all this

            opened = SessionConversation(
                self._parts,
                self._session,
                self._request,
                self._published,
                self._feed.close,
                self._notifier,
                lambda wish, by: self.submit(wish, by=by),
            )
            await opened.begin()
            self._conversation = opened
            self._published(opened.status)
        return self._conversation

    async def _conversation_command(self, command: c.ConversationCommand, by: Actor, key: str) -> Reply:
        talk = (await self.open_conversation()).conversation
        return replied(await talk.give(command, by, key))

    # -- the fast lane

    def _interrupt(self, command: Interrupt, by: Actor) -> Accepted:
        stopped = False
        if not command.target:
            if self._running is not None or self._starting:
                self._stop_run(InterruptRun(why=command.why, by=by))
                stopped = True
            elif waiting := [given for given in self._inbox if isinstance(given.command, StartRun)]:
                for given in waiting:  # it begins, and is stopped at once: both are in the log
                    given.stop = InterruptRun(why=command.why, by=by)
                stopped = True
            elif self._asking is not None:
                stopped = self._asking.cancel()
        met: c.InterruptStatus = "nothing_to_interrupt"
        if self._conversation is not None:
            met = self._conversation.conversation.interrupt(command.target or None).status
        return Accepted(seq=self.state.seq, note="accepted" if stopped else met)

    def _stop_run(self, stop: InterruptRun) -> None:
        self._stop = stop
        if self._runner is not None:
            self._runner.interrupt(stop)
        if self._asking is not None:
            self._asking.cancel()

    def _raise_bug(self) -> None:
        bug, self._bug = self._bug, None
        if bug is not None:
            raise bug

    def notice(self, text: str) -> None:
        """Show something to everybody who watches. It changes nothing and is not in the log."""
        self._published(e.NoticeGiven(text=text))

    def wake(self) -> None:
        """Hear what a process that is gone had not heard."""
        if self.state.unheard:
            self._put(_Given(self._hear_next))
