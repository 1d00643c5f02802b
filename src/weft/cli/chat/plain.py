"""A conversation without a terminal: messages from standard input, answers on standard output, all else on error.

One message after the other, each when the last has been answered. Nobody is there to be asked, so every approval is
denied and the model is told why.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator

from rich.text import Text

from weft.cli.chat.ending import let_go
from weft.cli.chat.ports import StatusSource, Talk
from weft.cli.place import is_ascii
from weft.cli.stopping import interruptible
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, UserError
from weft.protocol.events import Record
from weft.render.cells import clean
from weft.render.page import page
from weft.render.talk_blocks import block_lines
from weft.render.talk_view import Answered, Said, TalkView

NOBODY = "nobody is there to approve it: the conversation runs without a terminal"
WIDTH = 120


async def run_plain(talk: Talk, status: StatusSource, *, message: str | None = None, whole_input: bool = False) -> int:
    if status.ask_person is not None:
        status.ask_person.nobody_answers("nobody is there to answer: the conversation runs without a terminal")
    return await PlainChat(talk).run(message, whole_input)


class PlainChat:
    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._view = TalkView(talk.name)
        self._sheet = page(WIDTH, is_ascii(sys.stderr))
        self._failed = False
        self._stopped = asyncio.Event()

    async def run(self, message: str | None, whole_input: bool) -> int:
        past = await self._talk.past()
        for record in past:
            self._view.apply(record.event, 0.0)
        self._view.take()
        self._view.failed = False  # that was another time
        following = asyncio.create_task(self._follow(past[-1].seq if past else 0))
        stopped = asyncio.create_task(self._stopped.wait())
        talking = asyncio.create_task(self._talk_through(message, whole_input))
        with interruptible(self._stop):
            self._deny()
            await asyncio.wait({following, stopped, talking}, return_when=asyncio.FIRST_COMPLETED)
            for task in (stopped, talking):
                task.cancel()
            await asyncio.wait({stopped, talking})
            await let_go(self._talk, self._view)
            await asyncio.wait({following}, timeout=1)
            following.cancel()
            await asyncio.wait({following})
        self._show()
        _raise_what_went_wrong(talking, following)
        if self._stopped.is_set():
            return EXIT_INTERRUPTED
        return EXIT_FAILED if self._failed else EXIT_DONE

    async def _talk_through(self, message: str | None, whole_input: bool) -> None:
        await self._talk.idle()
        async for text in _messages(message, whole_input):
            if text.strip():
                self._talk.say(text)
                await self._talk.idle()

    async def _follow(self, after: int) -> None:
        async for item in self._talk.events(after):
            self._view.apply(item.event if isinstance(item, Record) else item, time.monotonic())
            self._failed = self._failed or self._view.failed
            self._show()
            self._deny()

    def _deny(self) -> None:
        for call in self._view.approvals:
            self._talk.approve(call.call, "denied", conversation=call.conversation, reason=NOBODY)
            call.phase = "running"

    def _stop(self) -> None:
        self._talk.interrupt()
        self._stopped.set()

    def _show(self) -> None:
        for block in self._view.take():
            match block:
                case Answered():
                    for line in block.text.split("\n"):
                        print(_printable(line), flush=True)
                case Said():
                    pass  # whoever pipes knows what was said
                case _:
                    for text in block_lines(block, self._sheet):
                        _complain(text)


def _raise_what_went_wrong(*tasks: asyncio.Task[None]) -> None:
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception())]
    for error in errors:
        if isinstance(error, OSError):
            raise UserError(
                f"the conversation can't be kept any more: {error}", hint="the log has everything up to then"
            ) from error
        raise error


def _printable(line: str) -> str:
    """A line of data: its tabs stay, what a terminal would obey does not."""
    return "\t".join(clean(part) for part in line.split("\t"))


def _complain(line: Text) -> None:
    if line.plain.strip():
        print(line.plain.rstrip(), file=sys.stderr, flush=True)


async def _messages(message: str | None, whole_input: bool) -> AsyncIterator[str]:
    if message is not None:
        yield message
        return
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        try:
            for data in [sys.stdin.buffer.read()] if whole_input else sys.stdin.buffer:
                loop.call_soon_threadsafe(lines.put_nowait, data.decode(errors="replace").rstrip("\r\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)
        except RuntimeError:
            return  # the loop has ended meanwhile

    # A daemon: a read that never returns must not keep the program from leaving.
    threading.Thread(target=read, name="weft-input", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line
