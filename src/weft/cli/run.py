"""`weft run`: bring one or more sessions up to date, in full view, and stop cleanly when asked to."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.app import App, AttachedSession, OpenedSession, SessionRequest, Showing
from weft.cli.asking import ask_options, asks, program_words, start_run
from weft.cli.place import (
    ensure_workspace,
    is_terminal,
    json_option,
    open_app,
    trust_option,
    workspace_option,
    workspace_path,
)
from weft.cli.screen import LiveScreen, Screen, screen_for
from weft.cli.stopping import TERMINAL, interruptible
from weft.protocol.commands import Interrupt, OverruleVerdict, Refused, ReplyToGate, Say, StartRun
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalRequested, ToolRequested
from weft.protocol.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OVER_BUDGET,
    EXIT_WAITING,
    UsageError,
    WeftError,
)
from weft.protocol.events import Event, Outcome, Record, RunStarted, StepCompleted, WordsUnderstood
from weft.render.cells import clean
from weft.render.flow import understood

if TYPE_CHECKING:
    from weft.cli.gates import Asking

OUTCOMES: dict[Outcome, int] = {
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
    words: tuple[str, ...],
    output: str | None,
    queued: bool,
    watching: bool,
    plain: bool,
    as_json: bool,
    workspace: str | None,
    **given: Any,
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
    place = workspace_path(workspace)
    ensure_workspace(place)

    def once() -> int:
        with open_app(workspace, runs=True) as app:
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

    with open_app(workspace) as app:
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
            if outcome != "done":
                return OUTCOMES[outcome]
        return OUTCOMES[await followed.to_the_end(wish, output)]  # what has changed since is made as well


class FollowedSession:
    """A session with a screen that shows what happens in it."""

    def __init__(
        self, app: App, session: OpenedSession, screen: Screen, *, as_json: bool, shown: bool, asks: bool
    ) -> None:
        self.session = session
        self.program = program_words(app)
        self.asks = asks
        """A person sits in front: they are asked at a gate."""
        self.live = isinstance(screen, LiveScreen)
        self.understood: WordsUnderstood | None = None
        """What was made of the words that were said last."""
        self._app = app
        self._made: set[str] = set()
        """The steps that were made while it was followed."""
        self._screen = screen
        self._questions: set[asyncio.Task[None]] = set()
        self._asked: set[tuple[str, str]] = set()
        """Calls that the person was asked about."""
        self._as_json = as_json
        self._shown = shown
        self.showing: Showing
        self.going = False
        """Another process holds the session, and its run is going on there."""
        self.before: Outcome | None = None
        """How the run came to rest that words set going which were said before, and were heard first."""
        self._began = asyncio.Event()

    @cached_property
    def _asking(self) -> Asking:
        from weft.cli.gates import Asking  # most runs ask nothing

        return Asking(self.session, self.program)

    async def joined(self) -> Outcome:
        """The run that is going on elsewhere, to where it comes to rest there. Ctrl+C leaves it alone."""
        told = "is going on in another process and is followed; Ctrl+C leaves it alone"
        print(f"the run {told}, {self.program} interrupt {self.session.id} stops it", file=sys.stderr, flush=True)
        resting = asyncio.ensure_future(self.session.run_at_rest())
        try:
            async with self._screen.going():
                await self._all_shown(resting)
        finally:
            resting.cancel()
        return resting.result() or "waiting"

    async def heard_before(self) -> Outcome | None:
        """Words that a process which is gone had not heard: the run goes on with them before anything else is said to
        it. None when they left it where it was."""
        print("what was said before is heard first", file=sys.stderr, flush=True)
        with interruptible(lambda: self.session.submit(Interrupt(), by=TERMINAL)):
            resting = asyncio.ensure_future(self.session.run_at_rest())
            async with self._screen.going():
                await self._all_shown(resting)
        outcome = resting.result()
        return outcome if self.went_on else None

    async def _all_shown(self, resting: asyncio.Future[Outcome | None]) -> None:
        """Until the run rests and all it told was shown. One that a fault ended may have written to the log what
        it told nobody: that is not waited for."""
        await asyncio.wait({resting})
        if resting.exception() is None:
            await self.showing.caught_up()

    async def to_the_end(self, wish: StartRun | None, output: str | None) -> Outcome:
        """A run, to where it comes to rest; a person who sits in front is asked at each gate. Without a wish they are
        asked first."""
        outcome: Outcome = await self.give(wish, output) if wish else "waiting"
        asked = outcome == "waiting"
        while self.asks and asked:
            text = await self._asking.read()
            if text is None:
                self._asking.leave_waiting()
                break
            try:
                outcome = await self.give(await self._asking.filled(text), output)
            except WeftError as error:  # nothing was changed: they can put it right and say it again
                self._asking.complain(error)
                continue
            asked = outcome == "waiting" if self.went_on else outcome not in ("left", "cancelled", "done")
        if self.asks:
            self._asking.farewell(outcome, self.understood)
        return outcome

    @property
    def went_on(self) -> bool:
        """What was given last set the run going."""
        return self._began.is_set()

    async def give(self, command: StartRun | Say | ReplyToGate | OverruleVerdict, output: str | None) -> Outcome:
        """Until the run has come to rest; what was wanted is delivered when it is done. UserError when refused."""
        self._began.clear()
        self.understood = None
        with interruptible(lambda: self.session.submit(Interrupt(), by=TERMINAL)):
            reply = await self.session.submit(command, by=TERMINAL)
            if isinstance(reply, Refused):
                raise reply.error()
            resting = asyncio.ensure_future(self.session.run_at_rest())
            began = asyncio.ensure_future(self._began.wait())
            await asyncio.wait({resting, began}, return_when=asyncio.FIRST_COMPLETED)
            began.cancel()
            if not resting.done():
                async with self._screen.going():
                    await self._all_shown(resting)
            else:
                await self._all_shown(resting)
        outcome = resting.result() or "waiting"
        if outcome == "done":
            self.deliver(command, output)
        return outcome

    def deliver(self, command: StartRun | Say | ReplyToGate | OverruleVerdict, output: str | None) -> None:
        if not self._as_json and (output or not self._shown):
            run = self.session.state.run
            until = command.until if isinstance(command, StartRun) else run.desired if run else None
            deliver(self.session, until or self.session.pipeline.final, output)
        agents = any(self.session.pipeline.steps[name].agent for name in self._made)
        if agents and is_terminal(sys.stderr) and not self._as_json and self._app.has_no_model:
            print("made by the embedded engine; `weft models add` connects a model", file=sys.stderr)

    def show(self, item: Record | Event) -> None:
        self._screen.show(item)
        event = item.event if isinstance(item, Record) else item
        if isinstance(item, Record) or isinstance(event, ToolRequested | ApprovalRequested):
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case StepCompleted():
                self._made.add(event.step)
            case RunStarted():
                self._began.set()
            case WordsUnderstood():
                self.understood = event
                if self.live and not self._as_json:
                    print(clean(f"  understood: {understood(event)}"), file=sys.stderr, flush=True)
            case ToolRequested():
                self._asking.calls[event.conversation, event.call] = event
            case ApprovalRequested() if self.asks and (event.conversation, event.call) not in self._asked:
                self._asked.add((event.conversation, event.call))
                task = asyncio.get_running_loop().create_task(self._approve(event), name="asks for an approval")
                self._questions.add(task)
                task.add_done_callback(self._questions.discard)

    async def _approve(self, asked: ApprovalRequested) -> None:
        """Steps run side by side; a person is asked one thing at a time."""
        async with self._asking.one, self._screen.paused() if isinstance(self._screen, LiveScreen) else nullcontext():
            decision = await self._asking.allows(asked)
            command = DecideApproval(
                conversation=asked.conversation, call=asked.call, decision=decision, turn=asked.turn
            )
            reply = await self.session.submit(command, by=TERMINAL)
            if isinstance(reply, Refused):
                self._asking.complain(reply.error())


@asynccontextmanager
async def follow(
    app: App, request: SessionRequest, wish: StartRun | None, *, as_json: bool, plain: bool, asks: bool = True
) -> AsyncIterator[FollowedSession]:
    """`asks`: a person may be asked at a gate, if one sits in front."""
    asks = asks and is_terminal(sys.stdin) and is_terminal(sys.stderr) and not plain and not as_json
    async with app.session(replace(request, attended=asks), wish) as session:
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
        followed = FollowedSession(app, session, screen, as_json=as_json, shown=shown, asks=asks)
        begun = await _going_since(session) if isinstance(session, AttachedSession) else None
        followed.going = begun is not None
        async with session.shown(followed.show, begun) as followed.showing:
            if unheard:
                followed.before = await followed.heard_before()
            yield followed


async def _going_since(session: AttachedSession) -> int | None:
    """The number in the log after which the run began that is going on; None when none is."""
    run = session.state.run
    if run is None or run.outcome is not None:
        return None
    return max(one.seq for one in await session.records() if isinstance(one.event, RunStarted)) - 1


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
