"""`weft run`: bring one or more sessions up to date, in full view, and stop cleanly when asked to."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from typing import Any

import click

from weft.app import App, Ask, OpenSession
from weft.cli.asking import ask_options, asks, program_words, start_run
from weft.cli.place import is_terminal, json_option, open_app, workspace_option, workspace_path
from weft.cli.screen import screen_for
from weft.protocol.commands import StartRun
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UsageError, WeftError
from weft.protocol.events import Outcome

OUTCOMES: dict[Outcome, int] = {"done": EXIT_DONE, "failed": EXIT_FAILED, "interrupted": EXIT_INTERRUPTED}


@click.command("run")
@ask_options
@click.option("--output", "-o", metavar="PATH", help="Copy the wanted artifact there; - prints it.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@workspace_option
def command(
    words: tuple[str, ...], output: str | None, plain: bool, as_json: bool, workspace: str | None, **given: Any
) -> int:
    """Bring a session up to date: run what is still to be done, and say why.

    \b
    weft run FILE                 the workspace's only or default pipeline
    weft run PIPELINE FILE…       one session for each file
    weft run --session-id ID      continue a session

    The same file and pipeline come back to the same session: what is finished is not done again.
    """
    from weft.cli.init import ensure_workspace

    ensure_workspace(workspace_path(workspace))
    with open_app(workspace) as app:
        wish = start_run(given)
        found = asks(app, words, given)
        if output and len(found) > 1:
            raise UsageError("--output takes one file's result; there are several files")
        worst = EXIT_DONE
        for ask in found:
            code = asyncio.run(_one(app, ask, wish, output, as_json=as_json, plain=plain))
            worst = max(worst, code)
            if code == EXIT_INTERRUPTED:
                break
    return worst


async def _one(app: App, ask: Ask, wish: StartRun, output: str | None, *, as_json: bool, plain: bool) -> int:
    held: list[Any] = []
    show: Any = held.append
    async with app.session(ask, lambda event: show(event), wish) as session:
        artifacts = {name: step.artifacts for name, step in session.pipeline.steps.items()}
        screen = screen_for(
            session.id, str(session.folder), artifacts, program_words(app), as_json=as_json, plain=plain
        )
        show = screen.show
        with _interruptible(session):
            async with screen.going():
                for event in held:
                    screen.show(event)
                outcome = await session.submit(wish)
        shown = is_terminal(sys.stdout) and is_terminal(sys.stderr) and not plain
        if outcome == "done" and not as_json and (output or not shown):
            _deliver(session, wish.until or session.pipeline.final, output)
    return OUTCOMES[outcome]


def _deliver(session: OpenSession, step: str, output: str | None) -> None:
    """The data: the wanted artifact's path on standard output, or the artifact where the person wants it."""
    for artifact in session.pipeline.steps[step].artifacts:
        path = session.folder / artifact
        if output == "-":
            sys.stdout.buffer.write(path.read_bytes())
            sys.stdout.buffer.flush()
        elif output:
            try:
                shutil.copyfile(path, output)
            except OSError as error:
                raise WeftError(f"the run is done, but {output} can't be written: {error.strerror}") from error
        else:
            print(path)


class _interruptible:  # noqa: N801  a context manager, read as a word
    """Ctrl+C (or a polite kill) interrupts the run; a second one leaves at once: the log is safe either way."""

    def __init__(self, session: OpenSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._pressed = False

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(number, self._press)

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.remove_signal_handler(number)

    def _press(self) -> None:
        if self._pressed:
            os._exit(EXIT_INTERRUPTED)
        self._pressed = True
        self._session.interrupt()
