"""A conversation in plain lines: messages from standard input, answers on standard output, all else on error.

One message after the other, each when the last has been answered. With a person at a terminal (`--plain`, for screen
readers) what is asked is written in lines, and the next line answers it. Else nobody is there to be asked, so every
approval is denied, every question declined, and the model is told why. A line that is refused is said, and the next is
taken; the exit code tells of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator

from rich.text import Text

from weft.app import (
    Attach,
    Build,
    Export,
    Fork,
    GivenFile,
    Leave,
    OpenedSession,
    Overview,
    files_named,
    read_slash,
)
from weft.cli.chat.ending import last_words, let_go
from weft.cli.chat.opening import begin
from weft.cli.chat.questions import PLAN_LETTERS, Questions, decided, letters
from weft.cli.place import is_ascii, screen_width
from weft.cli.screen import event_of
from weft.cli.stopping import TERMINAL, interruptible
from weft.protocol.commands import AnswerQuestion, Interrupt, Say, SessionCommand
from weft.protocol.conversation_commands import DecideApproval, DecidePlan
from weft.protocol.conversation_events import TurnCompleted
from weft.protocol.envelope import Actor
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, ExternalError, UserError, WeftError
from weft.render.cells import clean
from weft.render.conversation_blocks import block_lines
from weft.render.conversation_live import approval_lines, plan_keys, question_lines
from weft.render.conversation_view import MAIN, Answered, CallView, ConversationView, SpokenMessage
from weft.render.page import page

NOBODY = "nobody is there to approve it: the conversation runs without a terminal"
NOBODY_ANSWERS = "nobody is there to answer: the conversation runs without a terminal"
UNATTENDED = Actor("rule", "without a terminal", "terminal")
WIDTH = 120
HELP = "Enter sends, /help lists commands, Ctrl+C stops, Ctrl+D leaves"


class PlainChat:
    def __init__(self, session: OpenedSession, *, attended: bool, program: str) -> None:
        self._session = session
        self._program = program
        self._attended = attended
        self._view = ConversationView()
        self._sheet = page(screen_width(sys.stderr) if attended else WIDTH, is_ascii(sys.stderr))
        self._questions = Questions()
        self._asked = asyncio.Event()
        """Something waits for the person's next line."""
        self._told: object = None
        """The question that was written last."""
        self._reason_for: CallView | None = None
        self._failed = False
        self._cut_off = False
        """Something was interrupted elsewhere, or with whoever held the session: it has no answer."""
        self._stopped = asyncio.Event()
        self._attached: list[GivenFile] = []
        """Files that go with the next message."""

    async def run(self, message: str | None, whole_input: bool) -> int:
        _, seen = await begin(self._session, self._view, time.monotonic())
        self._view.failed = False  # that was another time
        if self._attended:
            _complain(self._sheet.title("weft chat", self._session.id))
            _complain(Text(HELP))
        following = asyncio.create_task(self._follow(seen))
        stopped = asyncio.create_task(self._stopped.wait())
        talking = asyncio.create_task(self._talk_through(message, whole_input))
        with interruptible(self._stop, self._end):
            self._ask()
            await asyncio.wait({following, stopped, talking}, return_when=asyncio.FIRST_COMPLETED)
            for task in (stopped, talking):
                task.cancel()
            await asyncio.wait({stopped, talking})
            clean_end = await let_go(self._session, self._view)
            await asyncio.wait({following}, timeout=1)
            following.cancel()
            await asyncio.wait({following})
        self._show()
        _raise_what_went_wrong(talking, following)
        if self._attended:
            print(file=sys.stderr)  # behind the sign that a line may be written
            for block in last_words(self._view, self._session.id, self._program, clean=clean_end):
                for line in block_lines(block, self._sheet):
                    _complain(line)
        if self._stopped.is_set() or (self._cut_off and not self._attended):
            return EXIT_INTERRUPTED
        return EXIT_FAILED if self._failed else EXIT_DONE

    async def _talk_through(self, message: str | None, whole_input: bool) -> None:
        await self._quiet()
        async for text in _messages(message, whole_input):
            try:
                if await self._line(text):
                    return
            except WeftError as error:
                if isinstance(error, ExternalError) or message is not None or whole_input:
                    raise  # nothing that came behind it could be said
                _complain(Text(str(error)))
                self._failed = self._failed or not self._attended
            await self._quiet()

    async def _line(self, text: str) -> bool:
        """What one line says; whether it was that the person leaves."""
        if not text.strip():
            return False
        answers = self._answers(text)
        for one in [await self._wanted(text)] if answers is None else answers:
            if isinstance(one, Leave):
                return True
            if one is not None:
                (await self._session.submit(one, by=TERMINAL)).check()
        return False

    def _answers(self, text: str) -> list[SessionCommand] | None:
        """What a line says to what was asked, [] when more is to come; None when it answers nothing."""
        call = next(iter(self._view.approvals), None)
        word, _, rest = text.strip().partition(" ")
        if not self._attended:
            return None
        if call is not None and self._reason_for is not None and self._reason_for is call:
            self._reason_for = None
            return decided(call, "r", text.strip())
        if call is not None and (word.lower() == "r" or (not rest and word.lower() in letters(call))):
            if word.lower() == "r" and not rest:
                self._reason_for = call
                _complain(Text("why not? The next line is told to the model."))
                return []
            return decided(call, word.lower(), rest)
        if call is None and self._view.questions:
            answers = self._questions.answer(self._view.questions, text)
            self._ask()
            return [answers] if answers is not None else []
        if call is None and self._view.plan and not rest and (said := PLAN_LETTERS.get(word.lower())):
            return [DecidePlan(decision=said, plan=self._view.plan)]
        return None

    async def _quiet(self) -> None:
        """Until there is nothing to wait for but the person."""
        if not self._attended:
            await self._session.rest()
            return
        asked, rest = asyncio.create_task(self._asked.wait()), asyncio.create_task(self._session.rest())
        try:
            await asyncio.wait({asked, rest}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asked, rest):
                task.cancel()
            await asyncio.wait({asked, rest})
        if rest.done() and not rest.cancelled():
            rest.result()
        print("> ", end="", file=sys.stderr, flush=True)

    async def _wanted(self, text: str) -> SessionCommand | Leave | None:
        """The command that a line is; None when it was only a look, which is answered."""
        if not text.lstrip().startswith("/"):
            return self._said(text)
        wanted = read_slash(text, await self._session.known_words())
        if isinstance(wanted, Overview | Fork | Export):
            print(_whole(await self._session.answered(wanted)), flush=True)
            return None
        if isinstance(wanted, Build):
            draft = await self._session.build(wanted.words)
            print(_whole(draft.diff), flush=True)
            print(f"not laid: weft build does that, with --yes where nobody is asked ({draft.name})", file=sys.stderr)
            return None
        if isinstance(wanted, Attach):
            self._attached.append(wanted.file)
            return None
        return wanted or self._said(text)

    def _said(self, text: str) -> Say:
        files, self._attached = [*self._attached, *files_named(text, self._session.working)], []
        return Say(text=text, attachments=tuple(files))

    async def _follow(self, after: int) -> None:
        async for item in self._session.events(after):
            event = event_of(item)
            self._view.apply(event, time.monotonic())
            self._failed = self._failed or self._view.failed
            if isinstance(event, TurnCompleted) and event.conversation == MAIN:
                self._cut_off = self._cut_off or event.disposition == "interrupted"
            self._show()
            self._ask()

    def _ask(self) -> None:
        """What waits for a person: written once, or declined where nobody is."""
        if not self._attended:
            return self._decline()
        call, question = next(iter(self._view.approvals), None), self._questions.current(self._view.questions)
        waits: object = call or question or (self._view.plan if not self._view.busy else "")
        if waits:
            self._asked.set()
        else:
            self._asked.clear()
        if not waits or waits is self._told or waits == self._told:
            return None
        self._told = waits
        lines = approval_lines(self._view, self._sheet)
        if not lines and question is not None:
            options, several = question.get("options") or (), bool(question.get("several"))
            lines = question_lines(str(question["text"]), options, several, self._sheet)
        for line in lines or plan_keys(self._view, self._sheet):
            _complain(line)
        return None

    def _decline(self) -> None:
        for call in self._view.approvals:
            command = DecideApproval(conversation=call.conversation, call=call.call, decision="denied", reason=NOBODY)
            self._session.submit(command, by=UNATTENDED)
            call.phase = "running"
        for name in [*self._view.questions]:
            self._session.submit(AnswerQuestion(question=name, declined=NOBODY_ANSWERS), by=UNATTENDED)
            del self._view.questions[name]

    def _stop(self) -> bool:
        """Whether that is the end: a person stops what runs first, and leaves where nothing does."""
        if not (self._attended and self._view.busy):
            return self._end()
        self._session.submit(Interrupt(), by=TERMINAL)
        return False

    def _end(self) -> bool:
        self._session.submit(Interrupt(), by=TERMINAL)
        self._stopped.set()
        return True

    def _show(self) -> None:
        for block in self._view.take():
            match block:
                case Answered():
                    for line in block.text.split("\n"):
                        print(_printable(line), flush=True)
                case SpokenMessage():
                    pass  # whoever pipes knows what was said
                case _:
                    for text in block_lines(block, self._sheet):
                        _complain(text)


def _raise_what_went_wrong(*tasks: asyncio.Task[None]) -> None:
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception())]
    for error in errors:
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):  # whoever read the answers has gone
            raise UserError(
                f"the conversation can't be kept any more: {error}", hint="the log has everything up to then"
            ) from error
        raise error


def _printable(line: str) -> str:
    """A line of data: its tabs stay, what a terminal would obey does not."""
    return "\t".join(clean(part) for part in line.split("\t"))


def _whole(text: str) -> str:
    return "\n".join(_printable(line) for line in text.split("\n"))


def _complain(line: Text) -> None:
    if line.plain.strip():
        print(line.plain.rstrip(), file=sys.stderr, flush=True)


async def _messages(message: str | None, whole_input: bool) -> AsyncIterator[str]:
    if message is not None:
        yield message
        return
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    # A reader of its own: Python can't end while another thread waits inside that of `sys.stdin`, and aborts.
    source = os.fdopen(sys.stdin.fileno(), "rb", closefd=False)

    def read() -> None:
        try:
            for data in [source.read()] if whole_input else source:
                loop.call_soon_threadsafe(lines.put_nowait, data.decode(errors="replace").rstrip("\r\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)
        except RuntimeError:
            return  # the loop has ended meanwhile

    # A daemon: a read that never returns must not keep the program from leaving.
    threading.Thread(target=read, name="weft-input", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line
