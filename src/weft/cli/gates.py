"""Asks a person who sits in front of a run what it waits for: the gate, their words, what was understood of them.

What they say is judged in one place (`OpenSession.hear`); here it is only read and shown, all of it on standard error.
Ctrl+C and Ctrl+D leave the run waiting: nothing is lost, and any other way to answer it is still there.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import termios
from contextlib import suppress
from typing import TYPE_CHECKING

from weft.app import OpenSession
from weft.cli.chat.paint import Paint
from weft.cli.place import is_ascii, screen_width
from weft.orchestrator.hearing import FRESH, Asked
from weft.protocol.commands import StartRun
from weft.protocol.errors import UserError
from weft.protocol.events import GateOpened
from weft.render.cells import clean
from weft.render.flow import confirmation_lines
from weft.render.outcome import gate_page
from weft.render.page import Page, page
from weft.session.state import SessionState

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from rich.text import Text

    from weft.app.hearing import Heard
    from weft.orchestrator.workbench import Permission

HELP = "a number, a choice, or your own words; edit the file first if you like; Ctrl+D leaves it waiting"
SHORT = 200
TOLD = 2_000
"""Characters of a call that are shown to whoever may allow it."""
_LEAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HELP_LEAVING = "1 or 2, or your own words; Ctrl+D leaves the question open"


class Asking:
    def __init__(self, session: OpenSession, program: str) -> None:
        self._session = session
        self._program = program
        self._paint = Paint(colour=not os.environ.get("NO_COLOR"))
        self._reader: PromptSession[str] | None = None

    async def next_wish(self) -> StartRun | None:
        """How the run goes on, or None: it was left, cancelled, or waits for another time."""
        asked: Asked = ""
        shows = True
        self._reader = self._reader or _reader()
        with suppress(termios.error):  # what was typed before the question was seen is no answer to it
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        while True:
            text = await self._read("what should be changed? " if asked == "change?" else "> ", shows=shows)
            shows = False
            if text is None:
                self._say("The run waits. Go on with:", self._how())
                return None
            if not text.strip():
                continue
            try:
                heard = await self._session.hear(text, asked=asked)
            except UserError as error:  # nothing was changed: they can put it right and say it again
                self._say(clean(f"  {error.message}"), *([clean(f"  {error.hint}")] if error.hint else []))
                continue
            self._say(clean(f"  understood: {heard}"))
            if heard.wish is not None:
                return heard.wish
            if heard.meaning in ("leave", "reply"):
                self._farewell(heard)
                return None
            asked = heard.meaning if heard.meaning in ("change?", "fresh?") else ""
            if heard.meaning == "fresh?":
                self._say(f"  {FRESH}.")
            shows = not asked

    async def allows(self, permission: Permission) -> bool:
        """Whether a step's tool may do what a rule wants a person asked about; once, and only on a clear yes."""
        call = permission.call
        told = " ".join(str(value) for value in call.input.values() if isinstance(value, str)) or str(dict(call.input))
        self._say(
            "", clean(f"  {permission.step} wants to use {call.tool}: {told[:TOLD]}"), clean(f"  {permission.why}")
        )
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        reader = _reader()
        try:
            answer = await reader.prompt_async("  allow it, this once? (y/n) ", handle_sigint=False)
        except EOFError:
            answer = ""
        except KeyboardInterrupt:
            self._session.interrupt()
            answer = ""
        allowed = answer.strip().lower() in ("y", "yes")
        self._say("  allowed, this once" if allowed else "  denied")
        return allowed

    def _ask(self) -> None:
        """What the run waits for now."""
        state, sheet = self._session.state, page(screen_width(sys.stderr), is_ascii(sys.stderr))
        lines = question_page(state, str(self._session.folder), sheet)
        lines += sheet.wrapped(HELP_LEAVING if state.confirming else HELP, 2, "dim")
        self._say("", *(self._paint.line(line) for line in lines))

    def _farewell(self, heard: Heard) -> None:
        name, program = self._session.id, self._program
        if heard.meaning == "leave":
            self._say("You have left the run. It is kept as it is; take it up again with:", self._how("resume"))
            self._say("To talk:", f"  {chat_command(program, name, heard.answer)}")
        else:
            self._say("The run is cancelled. What it made stays.")

    def _how(self, word: str = "…") -> str:
        return f"  {self._program} reply {self._session.id} {word}"

    def _say(self, *lines: str) -> None:
        for line in lines:
            print(line, file=sys.stderr)
        sys.stderr.flush()

    async def _read(self, prompt: str, *, shows: bool) -> str | None:
        """A line from the person; None when they want to go, from the moment they can see the question."""
        reader, loop, leaving = self._reader or _reader(), asyncio.get_running_loop(), False

        def leave() -> None:
            nonlocal leaving
            leaving = True
            if reader.app.is_running and reader.app.future and not reader.app.future.done():
                reader.app.exit(exception=EOFError)

        def left_already() -> None:
            if leaving:
                leave()

        for number in _LEAVING:  # the terminal is given back in order
            loop.add_signal_handler(number, leave)
        try:
            if shows:
                self._ask()
            return await reader.prompt_async(prompt, handle_sigint=False, pre_run=left_already)
        except (EOFError, KeyboardInterrupt, OSError):
            return None
        finally:
            for number in _LEAVING:
                loop.remove_signal_handler(number)


def chat_command(program: str, session: str, text: str) -> str:
    """What answers a message that led out of a run."""
    said = f" {shlex.quote(text)}" if text and len(text) <= SHORT and "\n" not in text else ""
    return clean(f"{program} chat --session {session}{said}")


def question_page(state: SessionState, folder: str, sheet: Page) -> list[Text]:
    """What a session's run asks: to leave or to stay, or what it waits for at its gates."""
    if state.confirming:
        return [line for text in confirmation_lines(state.confirming.text) for line in sheet.wrapped(text, 2)]
    lines: list[Text] = []
    for gate in state.gates.values():
        done = state.steps[gate.step].completion
        opened = GateOpened(
            run=0,
            gate=gate.gate,
            step=gate.step,
            hash=gate.hash,
            message=gate.message,
            shown=gate.shown,
            choices=gate.choices,
        )
        lines += gate_page(opened, folder, tuple(done.artifacts) if done else (), sheet)
    return lines


def _reader() -> PromptSession[str]:
    """On standard error, for standard output is for data. It asks the terminal nothing that may be answered late."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.output.vt100 import Vt100_Output

    def size() -> Size:
        try:
            found = os.get_terminal_size(sys.stderr.fileno())
        except OSError:
            return Size(rows=24, columns=80)  # the terminal has gone
        return Size(rows=found.lines or 24, columns=found.columns or 80)

    return PromptSession(output=Vt100_Output(sys.stderr, size, term=os.environ.get("TERM"), enable_cpr=False))
