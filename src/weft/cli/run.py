"""`weft run`: bring one or more sessions up to date, in full view, and stop cleanly when asked to."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from weft.app import App, Ask, OpenSession
from weft.cli.asking import ask_options, asks, program_words, start_run
from weft.cli.place import is_terminal, json_option, open_app, workspace_option, workspace_path
from weft.cli.screen import LiveScreen, Screen, screen_for
from weft.cli.stopping import interruptible, reachable
from weft.orchestrator.workbench import Permission
from weft.protocol.commands import StartRun
from weft.protocol.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OVER_BUDGET,
    EXIT_WAITING,
    UsageError,
    WeftError,
)
from weft.protocol.events import Event, Outcome, Record, StepCompleted

OUTCOMES: dict[Outcome, int] = {
    "done": EXIT_DONE,
    "failed": EXIT_FAILED,
    "interrupted": EXIT_INTERRUPTED,
    "waiting": EXIT_WAITING,
    "over_budget": EXIT_OVER_BUDGET,
    "cancelled": EXIT_FAILED,
    "left": EXIT_WAITING,
}


@click.command("run")
@ask_options
@click.option("--output", "-o", metavar="PATH", help="Copy the wanted artifact there; - prints it.")
@click.option("--watch", "watching", is_flag=True, help="Go on: run again whenever a file it depends on is saved.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@workspace_option
def command(
    words: tuple[str, ...],
    output: str | None,
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

    The same file and pipeline come back to the same session: what is finished is not done again.
    """
    from weft.cli.init import ensure_workspace

    place = workspace_path(workspace)
    ensure_workspace(place)

    def once() -> int:
        with open_app(workspace) as app:
            wish, found = start_run(given), asks(app, words, given)
            if output and len(found) > 1:
                raise UsageError("--output takes one file's result; there are several files")
            if len(found) == 1:
                asked = not watching  # a question would keep it from seeing what is saved
                return asyncio.run(_one(app, found[0], wish, output, as_json=as_json, plain=plain, asks=asked))
            from weft.cli.batch import Batch

            return asyncio.run(Batch(app, found, wish, as_json=as_json, plain=plain).run())

    if not watching:
        return once()
    from weft.cli.commands import complain
    from weft.cli.watching import watch

    with open_app(workspace) as app:
        files = _watchable(asks(app, words, given))
    return watch(files, place, once, complain)


def _watchable(found: list[Ask]) -> list[Path]:
    given = [file for ask in found for file in (ask.file, *ask.together, *ask.inputs.values())]
    files = [file for file in given if isinstance(file, Path)]
    if not files or any(file is not None and not isinstance(file, Path) for file in given):
        raise UsageError("--watch needs files: standard input and addresses can't be watched")
    return files


async def _one(
    app: App, ask: Ask, wish: StartRun, output: str | None, *, as_json: bool, plain: bool, asks: bool
) -> int:
    async with follow(app, ask, wish, as_json=as_json, plain=plain, asks=asks) as followed:
        return OUTCOMES[await followed.to_the_end(wish, output)]


class Followed:
    """A session with a screen that shows what happens in it."""

    def __init__(
        self, app: App, session: OpenSession, screen: Screen, made: set[str], *, as_json: bool, shown: bool, asks: bool
    ) -> None:
        self.session = session
        self._app = app
        self._made = made
        """The steps that were made while it was followed."""
        self.program = program_words(app)
        self.asks = asks
        """A person sits in front: they are asked at a gate."""
        self.live = isinstance(screen, LiveScreen)
        self._screen = screen
        self._questions = asyncio.Lock()
        if asks:
            session.approve = self._approve
        self._as_json = as_json
        self._shown = shown

    async def to_the_end(self, wish: StartRun | None, output: str | None) -> Outcome:
        """As `run`, but a person who sits in front is asked at each gate; without a wish they are asked first."""
        from weft.cli.gates import Asking

        outcome: Outcome = await self.run(wish, output) if wish else "waiting"
        asking = Asking(self.session, self.program)
        while outcome == "waiting" and self.asks:
            wish = await asking.next_wish()
            if wish is None:
                run = self.session.state.run
                return run.outcome or outcome if run else outcome
            outcome = await self.run(wish, output)
        return outcome

    async def _approve(self, permission: Permission) -> bool:
        """Steps run side by side; a person is asked one thing at a time."""
        from weft.cli.gates import Asking

        async with self._questions, self._screen.paused() if isinstance(self._screen, LiveScreen) else nullcontext():
            return await Asking(self.session, self.program).allows(permission)

    async def run(self, wish: StartRun, output: str | None) -> Outcome:
        """To where the run comes to rest; what was wanted is delivered when it is done."""
        with interruptible(self.session.interrupt):
            async with reachable(self.session), self._screen.going():
                outcome = await self.session.submit(wish)
        if outcome == "done" and not self._as_json and (output or not self._shown):
            deliver(self.session, wish.until or self.session.pipeline.final, output)
        agents = any(self.session.pipeline.steps[name].agent for name in self._made)
        if outcome == "done" and agents and is_terminal(sys.stderr) and not self._as_json and self._app.has_no_model:
            print("made by the embedded engine; `weft models add` connects a model", file=sys.stderr)
        return outcome


@asynccontextmanager
async def follow(
    app: App, ask: Ask, wish: StartRun | None, *, as_json: bool, plain: bool, asks: bool = True
) -> AsyncIterator[Followed]:
    """`asks`: a person may be asked at a gate, if one sits in front."""
    held: list[Any] = []
    show: Any = held.append
    made: set[str] = set()

    def heard(event: Record | Event) -> None:
        if isinstance(event, Record) and isinstance(event.event, StepCompleted):
            made.add(event.event.step)
        show(event)

    async with app.session(ask, heard, wish) as session:
        artifacts = {name: step.artifacts for name, step in session.pipeline.steps.items()}
        asks = asks and is_terminal(sys.stdin) and is_terminal(sys.stderr) and not plain and not as_json
        screen = screen_for(
            session.id,
            str(session.folder),
            artifacts,
            program_words(app),
            as_json=as_json,
            plain=plain,
            price=app.price,
            asks=asks,
        )
        show = screen.show
        for event in held:
            screen.show(event)
        shown = is_terminal(sys.stdout) and is_terminal(sys.stderr) and not plain
        yield Followed(app, session, screen, made, as_json=as_json, shown=shown, asks=asks)


def deliver(session: OpenSession, step: str, output: str | None) -> None:
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
