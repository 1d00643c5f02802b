"""`weft run`: bring one or more sessions up to date, in full view, and stop cleanly when asked to."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.app import App, AttachedSession, LiveSession, OpenedSession, SessionRequest, Showing
from weft.cli.place import (
    ensure_workspace,
    is_attended,
    is_terminal,
    json_option,
    open_app,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.cli.run_options import ask_options, asks, program_words, start_run
from weft.cli.screen import LiveScreen, Screen, event_of, screen_for
from weft.cli.stopping import TERMINAL, interruptible
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import Interrupt, OverruleVerdict, Refused, ReplyToGate, Say, StartRun
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OVER_BUDGET,
    EXIT_WAITING,
    UsageError,
    WeftError,
)
from weft.render.cells import clean
from weft.render.flow import flow_lines, understood

if TYPE_CHECKING:
    from weft.cli.gates import Asking

OUTCOMES: dict[e.Outcome, int] = {
    "done": EXIT_DONE,
    "failed": EXIT_FAILED,
    "interrupted": EXIT_INTERRUPTED,
    "waiting": EXIT_WAITING,
    "asleep": EXIT_WAITING,
    "over_budget": EXIT_OVER_BUDGET,
    "cancelled": EXIT_FAILED,
    "left": EXIT_WAITING,
}


@click.command("run")
@ask_options
@click.option("--output", "-o", metavar="PATH", help="Copy the wanted artifact there; - prints it.")
@click.option("--queue", "queued", is_flag=True, help="Leave the work to the workers of a shared workspace.")
@click.option("--watch", "watching", is_flag=True, help="Go on: run again whenever a file it depends on is saved.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@trust_option
@workspace_option
def command(
    words: tuple[str, ...], output: str | None, queued: bool, watching: bool, plain: bool, as_json: bool, **given: Any
) -> int:
    """Bring a session up to date: run what is still to be done, and say why.

    \b
    weft run FILE                 the workspace's only or default pipeline
    weft run PIPELINE FILE…       one session for each file
    weft run --together FILE…     one session for all of them
    weft run -                    what comes on standard input
    weft run --session-id ID      continue a session
    weft run --queue FILE…        left to the workers of a shared workspace

    The same file and pipeline come back to the same session: what is finished is not done again.
    """
    place = workspace_path()
    ensure_workspace(place)

    def once() -> int:
        with open_app(runs=True) as app:
            wish, found = start_run(given), asks(app, words, given)
            if queued:
                from weft.cli.batches import queue_all

                return queue_all(app, found, wish, as_json=as_json, plain=plain)
            if output and len(found) > 1:
                raise UsageError("--output takes one file's result; there are several files")
            if len(found) == 1:
                asked = not watching  # a question would keep it from seeing what is saved
                return asyncio.run(_one(app, found[0], wish, output, as_json=as_json, plain=plain, asks=asked))
            from weft.cli.batch import Batch

            return asyncio.run(Batch(app, found, wish, as_json=as_json, plain=plain).run())

    if queued and (watching or output):
        raise UsageError("--queue leaves the work to others: it goes with neither --watch nor --output")
    if not watching:
        return once()
    from weft.cli.commands import complain
    from weft.cli.watching import watch

    with open_app() as app:
        files = _watchable(asks(app, words, given))
    return watch(files, place, once, complain)


def _watchable(found: list[SessionRequest]) -> list[Path]:
    given = [file for one in found for file in (one.file, *one.together, *one.inputs.values())]
    files = [file for file in given if isinstance(file, Path)]
    if not files or any(file is not None and not isinstance(file, Path) for file in given):
        raise UsageError("--watch needs files: standard input and addresses can't be watched")
    return files


async def _one(
    app: App, request: SessionRequest, wish: StartRun, output: str | None, *, as_json: bool, plain: bool, asks: bool
) -> int:
    async with follow(app, request, wish, as_json=as_json, plain=plain, asks=asks) as followed:
        if followed.going and wish == StartRun():
            outcome = await followed.joined()
            if outcome == "waiting" and followed.asks:
                return OUTCOMES[await followed.to_the_end(None, output)]
            if outcome != "done":
                return OUTCOMES[outcome]
        return OUTCOMES[await followed.to_the_end(wish, output)]  # what has changed since is made as well


class FollowedSession:
    """A session with a screen that shows what happens in it. When whoever holds it goes, it is followed where it is
    held by then, or taken up here."""

    def __init__(
        self,
        app: App,
        request: SessionRequest,
        session: OpenedSession,
        screen: Screen,
        *,
        as_json: bool,
        shown: bool,
        asks: bool,
    ) -> None:
        self.session = session
        self._request = replace(request, session=session.id)
        self._opened = AsyncExitStack()
        self._sits = False
        """A person is being asked at a gate."""
        self._told: list[str] = []
        """What was answered at another door while they were."""
        self.program = program_words(app)
        self.asks = asks
        """A person sits in front: they are asked at a gate."""
        self.live = isinstance(screen, LiveScreen)
        self.understood: e.WordsUnderstood | None = None
        """What was made of the words that were said last."""
        self._app = app
        self._made: set[str] = set()
        """The steps that were made while it was followed."""
        self._screen = screen
        self._questions: dict[asyncio.Task[None], t.Question] = {}
        self._asked: set[t.Question] = set()
        """Calls that the person was asked about."""
        self._deciding: set[t.Question] = set()
        """Those whose answer is on its way from here."""
        self._as_json = as_json
        self._shown = shown
        self.showing: Showing
        self.going = False
        """Another process holds the session, and its run is going on there."""
        self.before: e.Outcome | None = None
        """How the run came to rest that words set going which were said before, and were heard first."""
        self._began = asyncio.Event()

    @cached_property
    def _asking(self) -> Asking:
        from weft.cli.gates import Asking  # most runs ask nothing

        return Asking(self.session, self.program)

    async def joined(self) -> e.Outcome:
        """The run that is going on elsewhere, to where it comes to rest there. Ctrl+C leaves it alone."""
        told = "is going on in another process and is followed; Ctrl+C leaves it alone"
        print(f"the run {told}, {self.program} interrupt {self.session.id} stops it", file=sys.stderr, flush=True)
        return await self._at_rest()

    async def heard_before(self) -> e.Outcome | None:
        """Words that a process which is gone had not heard: the run goes on with them before anything else is said to
        it. None when they left it where it was."""
        print("what was said before is heard first", file=sys.stderr, flush=True)
        with interruptible(lambda: self.session.submit(Interrupt(), by=TERMINAL)):
            outcome = await self._at_rest()
        return outcome if self.went_on else None

    @asynccontextmanager
    async def open(self, session: OpenedSession, begun: int | None) -> AsyncIterator[None]:
        """While this is open, all that happens is shown, from now on or from a number of the log."""
        try:
            await self._watch(session, begun)
            yield
        finally:
            await self._opened.aclose()

    async def _watch(self, session: OpenedSession, after: int | None) -> None:
        self.session = session
        if "_asking" in self.__dict__:
            self._asking.session = session
        self.showing = await self._opened.enter_async_context(session.shown(self.show, after))
        ending = asyncio.create_task(self._look_when_ended(self.showing), name="looks whether its holder has gone")
        self._opened.callback(ending.cancel)

    async def _look_when_ended(self, showing: Showing) -> None:
        await showing.ended.wait()
        if self._sits:
            self._asking.look()

    async def _follow_on(self) -> None:
        """Whoever held the session has gone: it is followed where it is held now, from the last that was seen, or taken
        up here. A run that was cut off there is gone on with, as `weft run` would."""
        print("the process that held the session has ended: it is taken up again", file=sys.stderr, flush=True)
        after, run = self.showing.seq, self.session.state.run
        was_going = run is not None and run.outcome is None
        self._asked.clear()  # what was asked is asked again
        await self._opened.aclose()
        self._opened = AsyncExitStack()
        session = await self._opened.enter_async_context(self._app.session(self._request))
        await self._watch(session, after)
        if was_going:
            await gone_on_with(session)

    async def _at_rest(
        self, resting: asyncio.Future[e.Outcome | None] | None = None, *, draws: bool = True
    ) -> e.Outcome:
        """Until the run has come to rest, whoever holds it by then, and all it told was shown."""
        while True:
            resting = resting or asyncio.ensure_future(self.session.run_at_rest())
            try:
                if draws:
                    async with self._screen.going():
                        await self._all_shown(resting)
                else:
                    await self._all_shown(resting)
                return resting.result() or "waiting"
            except WeftError:
                if not self.session.is_lost:
                    raise
            finally:
                resting.cancel()
            resting, draws = None, True
            await self._follow_on()

    async def _all_shown(self, resting: asyncio.Future[e.Outcome | None]) -> None:
        """Until the run rests and all it told was shown. One that a fault ended may have written to the log what
        it told nobody: that is not waited for."""
        await asyncio.wait({resting})
        if resting.exception() is None:
            await self.showing.caught_up()
        for question in [*self._questions.values()]:  # nobody waits for an answer any more
            self._asking.settled(question)
        if self._questions:
            await asyncio.wait({*self._questions})

    async def to_the_end(self, wish: StartRun | None, output: str | None) -> e.Outcome:
        """A run, to where it comes to rest; a person who sits in front is asked at each gate. Without a wish they are
        asked first."""
        outcome: e.Outcome = await self.give(wish, output) if wish else "waiting"
        asked = outcome == "waiting"
        while self.asks and asked:
            try:
                if (said := await self._asked_here()) is None:
                    self._asking.leave_waiting()
                    break
                outcome = await self.give(said, output)
            except _moved_on():
                outcome = await self._answered_elsewhere(output)
            except WeftError as error:  # nothing was changed: they can put it right and say it again
                self._asking.complain(error)
                continue
            asked = outcome == "waiting" if self.went_on else outcome not in ("left", "cancelled", "done")
        if self.asks:
            self._asking.farewell(outcome)
        return outcome

    async def _asked_here(self) -> Say | ReplyToGate | None:
        """What a person answers; None when they leave it waiting."""
        self._began.clear()
        self._told, self._sits = [], True
        try:
            text = await self._asking.read()
            return None if text is None else await self._asking.filled(text)
        finally:
            self._sits = False

    async def _answered_elsewhere(self, output: str | None) -> e.Outcome:
        """What was asked here was answered at another door, or is asked otherwise: to where the run rests again."""
        self._asking.tell(*(f"elsewhere: {line}" for line in self._told))
        if self.session.is_lost:
            await self._follow_on()
        here = interruptible(lambda: self.session.submit(Interrupt(), by=TERMINAL))
        with here if self.session.held_here else nullcontext():
            outcome = await self._settled()
        if outcome == "done":
            self.deliver(StartRun(), output)
        return outcome

    async def _settled(self) -> e.Outcome:
        """What was said leads to a run, or leaves things as they are: until that is known, and the run has come to
        rest; one that has done so at once is shown too."""
        resting = asyncio.ensure_future(self.session.run_at_rest())
        began = asyncio.ensure_future(self._began.wait())
        try:
            await asyncio.wait({resting, began}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            began.cancel()
        quiet = resting.done()
        outcome = await self._at_rest(resting, draws=not quiet)
        if quiet and self.went_on:
            async with self._screen.going():
                pass
        return outcome

    @property
    def went_on(self) -> bool:
        """What was given last set the run going."""
        return self._began.is_set()

    async def give(self, command: StartRun | Say | ReplyToGate | OverruleVerdict, output: str | None) -> e.Outcome:
        """Until the run has come to rest; what was wanted is delivered when it is done. UserError when refused."""
        self._began.clear()
        self.understood = None
        key = self._app.new_name()
        while True:
            with interruptible(lambda: self.session.submit(Interrupt(), by=TERMINAL)):
                reply = await self.session.submit(command, key=key, by=TERMINAL)
                while isinstance(reply, Refused) and self.session.is_lost:
                    await self._follow_on()
                    reply = await self.session.submit(command, key=key, by=TERMINAL)  # it is carried out once
                if not isinstance(reply, Refused):
                    if reply.note == "queued" and not self._as_json:
                        told = "queued: no worker has taken it yet (weft workers list); Ctrl+C takes it back"
                        print(told, file=sys.stderr, flush=True)
                    outcome = await self._settled()
                    break
                if not self.session.goes_on_elsewhere(command, reply):
                    raise reply.error()
            if (outcome := await self.joined()) != "done":
                return outcome  # else what has changed since is made as well
        if outcome == "done":
            self.deliver(command, output)
        return outcome

    def deliver(self, command: StartRun | Say | ReplyToGate | OverruleVerdict, output: str | None) -> None:
        if not self._as_json and (output or not self._shown):
            run = self.session.state.run
            until = command.until if isinstance(command, StartRun) else run.desired if run else None
            deliver(self.session, until or self.session.pipeline.final, output)
        steps = self.session.pipeline.steps
        # where another process holds the session, those that were put into the run there are not known here
        agents = any(steps[name].agent for name in self._made if name in steps)
        if agents and is_terminal(sys.stderr) and not self._as_json and self._app.has_no_model:
            print("made by the embedded engine; `weft models add` connects a model", file=sys.stderr)

    def show(self, item: e.Record | e.Event) -> None:
        self._screen.show(item)
        event = event_of(item)
        if isinstance(item, e.Record) or isinstance(event, t.ToolRequested | t.ApprovalRequested):
            self._take(event)

    def _take(self, event: e.Event) -> None:
        match event:
            case e.StepCompleted():
                self._made.add(event.step)
            case e.RunStarted():
                self._began.set()
            case e.WordsUnderstood() if not self._sits:
                self.understood = event
                if self.live:
                    print(clean(f"  understood: {understood(event)}"), file=sys.stderr, flush=True)
            case t.ToolRequested():
                self._asking.calls[t.question_of(event)] = event
            case t.ApprovalRequested() if self.asks and (question := t.question_of(event)) not in self._asked:
                self._asked.add(question)
                self._asking.over.discard(question)
                task = asyncio.get_running_loop().create_task(self._approve(event), name="asks for an approval")
                self._questions[task] = question
                task.add_done_callback(lambda task: self._questions.pop(task, None))
            case t.ApprovalDecided():
                self._decided(event)
            case e.StepFailed() | e.StepInterrupted():
                self._attempt_over(event.step)
        if self._sits:
            if isinstance(event, e.WordsUnderstood | e.GateResolved):
                self._told += flow_lines(event)
            self._asking.look()

    def _decided(self, event: t.ApprovalDecided) -> None:
        question = t.question_of(event)
        if question in self._deciding or question not in self._questions.values():
            return
        self._asking.settled(question)
        said = "denied" if event.decision == "denied" else "allowed"
        self._asking.tell(f"{said}, as was answered elsewhere")

    def _attempt_over(self, step: str) -> None:
        """What was asked in it is not asked any more."""
        for question in [*self._questions.values()]:
            place = t.step_place(question[0])
            if place is not None and place.step == step:
                self._asking.settled(question)

    async def _approve(self, asked: t.ApprovalRequested) -> None:
        """Steps run side by side; a person is asked one thing at a time."""
        question = t.question_of(asked)
        async with self._asking.one, self._screen.paused():
            try:
                decision = await self._asking.allows(asked)
            except _moved_on():
                return
            if decision is None:
                return
            command = DecideApproval(
                conversation=asked.conversation, call=asked.call, decision=decision, turn=asked.turn
            )
            self._deciding.add(question)
            reply = await self.session.submit(command, by=TERMINAL)
            if isinstance(reply, Refused):
                self._deciding.discard(question)
                self._asking.complain(reply.error())
            else:
                self._asking.tell("denied" if decision == "denied" else "allowed, this once")


def _moved_on() -> type[Exception]:
    from weft.cli.gates import MovedOnError  # most runs ask nothing

    return MovedOnError


@asynccontextmanager
async def follow(
    app: App, request: SessionRequest, wish: StartRun | None, *, as_json: bool, plain: bool, asks: bool = True
) -> AsyncIterator[FollowedSession]:
    """`asks`: a person may be asked at a gate, if one sits in front."""
    asks = asks and is_attended() and not plain and not as_json
    request = replace(request, attended=asks)
    async with app.session(request, wish) as session:
        unheard = session.held_here and bool(session.state.unheard)
        nameless = isinstance(session, AttachedSession) and not (session.state.pipeline or request.pipeline)
        steps = {} if nameless else session.pipeline.steps
        screen = screen_for(
            session.id,
            str(session.folder),
            {name: step.artifacts for name, step in steps.items()},
            program_words(app),
            as_json=as_json,
            plain=plain,
            price=app.price,
            asks=asks,
        )
        shown = is_terminal(sys.stdout) and is_terminal(sys.stderr) and not plain
        followed = FollowedSession(app, request, session, screen, as_json=as_json, shown=shown, asks=asks)
        begun = await _going_since(session) if isinstance(session, AttachedSession) else None
        followed.going = begun is not None
        async with followed.open(session, begun):
            if unheard:
                followed.before = await followed.heard_before()
            yield followed


async def _going_since(session: AttachedSession) -> int | None:
    """The number in the log after which the run began that is going on; None when none is."""
    run = session.state.run
    if run is None or run.outcome is not None:
        return None
    return max(one.seq for one in await session.records() if isinstance(one.event, e.RunStarted)) - 1


async def gone_on_with(session: OpenedSession) -> None:
    """The run of a holder that has gone goes on here, where this process holds the session now and no words are heard
    first."""
    if isinstance(session, LiveSession) and not session.state.unheard:
        (await session.submit(session.continuation, by=TERMINAL)).check()


def deliver(session: OpenedSession, step: str, output: str | None) -> None:
    """The data: the wanted artifacts' paths on standard output, or one of them where the person wants it."""
    names = session.pipeline.steps[step].artifacts
    if output is None:
        for name in names:
            print(session.folder / name)
        return
    ending = os.path.splitext(output)[1]
    path = session.folder / next((name for name in names if ending and name.endswith(ending)), names[0])
    if output == "-":
        sys.stdout.buffer.write(path.read_bytes())
        sys.stdout.buffer.flush()
        return
    try:
        shutil.copyfile(path, output)
    except OSError as error:
        raise WeftError(f"the run is done, but {output} can't be written: {error.strerror}") from error
