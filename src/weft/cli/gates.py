"""Asks a person who sits in front of a run what it waits for: the gate, their words, what was understood of them.

What they say is judged behind the session's door; here it is only read and shown, all of it on standard error.
Ctrl+C and Ctrl+D leave the run waiting: nothing is lost, and any other way to answer it is still there.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from weft.app import OpenedSession
from weft.cli.chat.paint import Paint
from weft.cli.place import from_here, is_ascii, screen_width
from weft.cli.stopping import TERMINAL
from weft.protocol import conversation_events as t
from weft.protocol.commands import Interrupt, ReplyToGate, Say
from weft.protocol.errors import WeftError
from weft.protocol.events import ConfirmationAsked, ConfirmationKind, GateOpened, Outcome
from weft.render.cells import clean
from weft.render.flow import confirmation_lines, form_lines
from weft.render.outcome import gate_page
from weft.render.page import Page, page

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from rich.text import Text

HELP = "a number, a choice, or your own words; edit the file first if you like; Ctrl+D leaves it waiting"
SHORT = 200
TOLD = 2_000
"""Characters of a call that are shown to whoever may allow it."""
_LEAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HELP_BACK: Final[Mapping[ConfirmationKind, str]] = {
    "breakout": "1 or 2, or your own words; Ctrl+D leaves the question open",
    "reply": "1 or 2, or another reply; Ctrl+D leaves the question open",
    "change": "say what you want changed; Ctrl+D leaves the question open",
    "fresh": "1 or 2; Ctrl+D leaves the question open",
}


class MovedOnError(Exception):
    """What was asked is not asked any more, or not here: another door has changed it."""


class Asking:
    def __init__(self, session: OpenedSession, program: str) -> None:
        self.session = session
        self._asked: tuple[GateOpened | ConfirmationAsked, ...] = ()
        """What is on the screen; it is what words answer."""
        self._withdraw: Callable[[], None] | None = None
        """Takes away the prompt that is up."""
        self._program = program
        self._paint = Paint(colour=not os.environ.get("NO_COLOR"))
        self._reader: PromptSession[str] | None = None
        self.one = asyncio.Lock()
        """One thing is asked at a time."""
        self.calls: dict[t.Question, t.ToolRequested] = {}
        """What tools are to be called with."""
        self.over: set[t.Question] = set()
        """Calls that nobody waits for a word on any more."""
        self._approving: t.Question | None = None

    async def read(self) -> str | None:
        """What the run waits for is shown, and what a person says to it read; None when they leave it waiting.
        MovedOnError when another door has answered it, or asks something else by now."""
        async with self.one:
            if not self.session.is_heard or self.session.is_lost:
                raise MovedOnError
            self._reader = self._reader or _reader()
            with suppress(termios.error):  # what was typed before the question was seen is no answer to it
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
            shows = True
            while (text := await self._read("> ", shows=shows)) is not None and not text.strip():
                shows = False
            return text

    def look(self) -> None:
        """Something has changed: what is not asked any more is taken away."""
        session = self.session
        if self._withdraw is not None and (session.is_lost or not session.is_heard or session.asks != self._asked):
            self._withdraw()

    async def filled(self, text: str) -> Say | ReplyToGate:
        """What was said; when it goes on at a gate with a form, with what the person fills in field by field."""
        asked = self._asked
        names = tuple(one.gate if isinstance(one, GateOpened) else one.confirmation for one in asked)
        said = Say(text=text, to="run", asked=names)
        if len(asked) != 1 or not isinstance(gate := asked[0], GateOpened) or not gate.form:
            return said
        word = text.split()[0]
        choice = next(
            (one for number, one in enumerate(gate.choices, 1) if word.lower() in (one.id, str(number))), None
        )
        if choice is None or choice.does != "proceed":
            return said
        values: dict[str, str] = {}
        async with self.one:
            for line, one in zip(form_lines(gate.form), gate.form, strict=True):
                self._say(clean(f"  {line}"))
                answer = await self._read(f"  {one['name']}: ", shows=False)
                if answer is None:
                    break  # they leave the rest as it is
                if answer.strip():
                    given = answer.strip()
                    is_file = one.get("type") == "file"
                    values[str(one["name"])] = from_here(given) if is_file else given
        return ReplyToGate(gate=gate.gate, choice=choice.id, text="", values=values)

    async def allows(self, asked: t.ApprovalRequested) -> t.Decision | None:
        """What a person says to a step's tool that a rule wants them asked about; only a clear yes allows it. None when
        they leave with an interrupt. MovedOnError when it was answered elsewhere, or nobody waits for it any more."""
        question = t.question_of(asked)
        if question in self.over:
            raise MovedOnError
        call = self.calls.get(question)
        given = call.input if call else {}
        told = " ".join(str(value) for value in given.values() if isinstance(value, str)) or str(dict(given))
        self._say(
            "",
            clean(f"  {_who(asked.conversation)} wants to use {asked.tool}: {told[:TOLD]}"),
            clean(f"  {asked.reason}"),
        )
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        reader, self._approving = _reader(), question
        try:
            with self._withdrawable(reader) as begun:
                answer = await reader.prompt_async("  allow it, this once? (y/n) ", handle_sigint=False, pre_run=begun)
        except EOFError:
            return "denied"
        except KeyboardInterrupt:
            self.session.submit(Interrupt(), by=TERMINAL)
            return None
        finally:
            self._approving = None
        return "once" if answer.strip().lower() in ("y", "yes") else "denied"

    def settled(self, question: t.Question) -> None:
        """Nobody waits for a word on this call any more."""
        self.over.add(question)
        if self._approving == question and self._withdraw is not None:
            self._withdraw()

    def tell(self, *lines: str) -> None:
        self._say(*(clean(f"  {line}") for line in lines))

    @contextmanager
    def _withdrawable(self, reader: PromptSession[str]) -> Iterator[Callable[[], None]]:
        """While this is open, the prompt can be taken away; what was typed by then answers nothing. Gives what the
        prompt calls when it is up."""
        gone = False

        def withdraw() -> None:
            nonlocal gone
            gone = True
            if reader.app.is_running and reader.app.future and not reader.app.future.done():
                typed = reader.default_buffer.text.strip()
                reader.app.exit(exception=MovedOnError(typed))

        def begun() -> None:
            if gone:
                withdraw()

        self._withdraw = withdraw
        try:
            yield begun
        except MovedOnError as error:
            if typed := str(error):
                self.tell(f'put aside, for what it answered is not asked any more: "{typed}"')
            raise
        finally:
            self._withdraw = None

    def _ask(self) -> None:
        """What the run waits for now."""
        sheet = page(screen_width(sys.stderr), is_ascii(sys.stderr))
        asked = self._asked = self.session.asks
        lines = question_page(self.session, sheet)
        back = next((event for event in asked if isinstance(event, ConfirmationAsked)), None)
        lines += sheet.wrapped(HELP if back is None else HELP_BACK[back.kind], 2, "dim")
        self._say("", *(self._paint.line(line) for line in lines))

    def leave_waiting(self) -> None:
        self._say("The run waits. Go on with:", self._how())

    def complain(self, error: WeftError) -> None:
        self._say(clean(f"  {error.message}"), *([clean(f"  {error.hint}")] if error.hint else []))

    def farewell(self, outcome: Outcome) -> None:
        """What whoever sits at a run that was left, or ended for good, should know."""
        if outcome == "left":
            self._say("You have left the run. It is kept as it is; take it up again with:", self._how("resume"))
            self._say("To talk:", f"  {chat_command(self._program, self.session.id, self.session.left_for)}")
        elif outcome == "cancelled":
            self._say("The run is cancelled. What it made stays.")

    def _how(self, word: str = "…") -> str:
        return f"  {self._program} reply {self.session.id} {word}"

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
            with self._withdrawable(reader) as begun:
                if shows:
                    self._ask()
                self.look()  # what came before the prompt was there to be taken away

                def up() -> None:
                    left_already()
                    begun()

                return await reader.prompt_async(prompt, handle_sigint=False, pre_run=up)
        except (EOFError, KeyboardInterrupt, OSError):
            return None
        finally:
            for number in _LEAVING:
                loop.remove_signal_handler(number)


def chat_command(program: str, session: str, text: str) -> str:
    """What answers a message that led out of a run."""
    said = f" {shlex.quote(text)}" if text and len(text) <= SHORT and "\n" not in text else ""
    return clean(f"{program} chat --session {session}{said}")


def question_page(session: OpenedSession, sheet: Page) -> list[Text]:
    """What a session's run asks: what was meant, or what it waits for at its gates."""
    steps = session.state.steps
    lines: list[Text] = []
    for event in session.asks:
        if isinstance(event, ConfirmationAsked):
            lines += [line for text in confirmation_lines(event) for line in sheet.wrapped(text, 2)]
        else:
            made = steps[event.step].completion if event.step in steps else None
            lines += gate_page(event, str(session.folder), [*made.artifacts] if made else [], sheet)
    return lines


def _who(conversation: str) -> str:
    """The step whose conversation it is."""
    place = t.step_place(conversation)
    return place.step if place else conversation


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
