"""The interactive face: finished blocks go up into the terminal's own history; under them live area, input, status.

The program is thin: `ConversationView` folds the events, `render/` lays lines out, and this holds the terminal. All
output goes through one place, `_draw`: it takes the live area away, prints what is finished, and lets it be drawn
again, so nothing ever writes across it. The terminal stays in raw mode all the time: what is typed meanwhile is neither
echoed nor lost.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, get_args

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, FilterOrBool
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Dimension, FormattedTextControl, HSplit, Layout, VerticalAlign, Window
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output.vt100 import Vt100_Output
from rich.cells import cell_len
from rich.text import Text

from weft.app import (
    Attach,
    Build,
    Export,
    Fork,
    GivenFile,
    KnownWords,
    Leave,
    LibraryDraft,
    Mentionable,
    OpenedSession,
    Overview,
    being_typed,
    complete,
    dropped_path,
    files_named,
    notify_wishes,
    ranked,
    read_slash,
)
from weft.cli.chat.ending import last_words, let_go
from weft.cli.chat.opening import begin
from weft.cli.chat.paint import Paint
from weft.cli.chat.questions import PLAN_LETTERS, Questions, decided, letters
from weft.cli.chat.reflow import ReflowingRenderer
from weft.cli.place import is_ascii
from weft.cli.screen import event_of
from weft.cli.stopping import TERMINAL
from weft.protocol.commands import Accepted, Interrupt, Mode, Refused, Reply, Say, SessionCommand, SetMode, StartRun
from weft.protocol.conversation_commands import DecidePlan
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, WeftError
from weft.protocol.events import RunEnded, StatusChanged
from weft.render.conversation_blocks import block_lines, diff_lines, whole_lines
from weft.render.conversation_live import live_lines, question_lines, status_line, wanted_lines
from weft.render.conversation_view import (
    Answered,
    Called,
    CallView,
    ConversationBlock,
    ConversationView,
    Noted,
    SpokenMessage,
    Thought,
)
from weft.render.page import Page, page
from weft.render.units import count

FRAME: Final = 0.1
"""Seconds between two frames while something runs: its clock ticks."""
BREATH: Final = 0.03
"""Seconds after a frame before the next: a flood of events costs no more frames than a person can see."""
TWICE: Final = 2.0
"""Seconds in which a second Ctrl+C leaves."""
EXCHANGES: Final = 3
"""Messages of the past that are shown, with their answers, when a conversation is opened again."""
MOST_INPUT: Final = 8
LONG_PASTE: Final = 4_000
"""Characters that are pasted at once from which on they go along as a file."""
PASTED: Final = "[pasted "
"""What stands for it then; taken out of the message, it is not given."""
LONG_WORK: Final = 15.0
"""Seconds after which the end of some work is worth the bell."""
KNOWN_FOR: Final = 5.0
"""Seconds for which the list of what can be named counts."""
OFFERS: Final = 8
"""Commands that are offered at a time."""
MODES: Final = {
    "plan": "reads only, until you accept a plan",
    "safe": "reads only",
    "ask": "asks before it changes something",
    "edits": "changes files without asking, asks for the rest",
    "auto": "asks only where it must",
}
HELP: Final = "Enter sends, / lists commands, Alt+Enter breaks the line, Ctrl+C stops, Shift+Tab: mode, Ctrl+D leaves"


class ChatScreen:
    def __init__(self, session: OpenedSession, *, program: str) -> None:
        self._session = session
        self._questions = Questions()
        self._known: KnownWords | None = None
        self._named: tuple[float, list[Mentionable]] = (float("-inf"), [])
        """What can be named with an at sign, and when that was looked up."""
        self._draft: LibraryDraft | None = None
        self._picked: int | None = None
        """Which of what is offered the arrow keys have gone to."""
        self._searching: tuple[str, int] | None = None
        """The words that Ctrl+R looks for, and which of what has them is shown."""
        self._said_before: list[str] = []
        self._placing = False
        self._state = "ready"
        self._since = time.monotonic()
        """When what goes on began."""
        self._attached: dict[str, GivenFile] = {}
        """Files that go with the next message, by the words that stand for them in it."""
        self._beside: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Future[Reply]] = set()
        self._program = program
        self._view = ConversationView()
        self._paint = Paint(colour=not os.environ.get("NO_COLOR"))
        self._ascii = is_ascii(sys.stdout)
        self._dirty = asyncio.Event()
        self._hint = ""
        self._hint_until = 0.0
        self._pressed = float("-inf")
        self._reason_for: CallView | None = None
        self._answered: CallView | None = None
        self._drawing: CallView | None = None
        self._seen: CallView | None = None
        self._typed_for: tuple[str, ...] = ()
        """What was asked when what is typed was begun."""
        self._shown: list[Text] = []
        self._folded: Thought | Called | None = None
        self._unfolding: list[Text] = []
        self._height = 0
        self._leaving: int | None = None
        self._closing = False
        self._deaf = False
        self._buffer = Buffer(multiline=True, history=InMemoryHistory())
        self._buffer.on_text_changed += self._typed
        self._app = self._application()

    # -- the terminal

    def _application(self) -> Application[int]:
        last = Size(rows=24, columns=80)

        def size() -> Size:
            nonlocal last
            with suppress(OSError):  # the terminal has gone; what went away did not become narrower
                found = os.get_terminal_size(sys.stdout.fileno())
                last = Size(rows=found.lines or 24, columns=found.columns or 80)
            return last

        # It asks the terminal nothing: an answer that comes late, or never, would end up in what is typed.
        output = Vt100_Output(sys.stdout, size, term=os.environ.get("TERM"), enable_cpr=False)
        field = BufferControl(self._buffer, input_processors=[BeforeInput(self._prompt)])
        parts = [
            Window(FormattedTextControl(self._live_text), dont_extend_height=True, wrap_lines=False),
            Window(field, height=Dimension(min=1, max=MOST_INPUT), dont_extend_height=True, wrap_lines=True),
            Window(FormattedTextControl(self._status_text), height=1, dont_extend_height=True),
        ]
        app: Application[int] = Application(
            layout=Layout(HSplit(parts, align=VerticalAlign.TOP), focused_element=field),
            key_bindings=self._keys(),
            output=output,
            erase_when_done=True,
            enable_page_navigation_bindings=False,
        )
        app.ttimeoutlen, app.timeoutlen = 0.05, 0.3  # a lone Esc is an interrupt: it must not wait long
        app.renderer = ReflowingRenderer(output)
        app.after_render += self._rendered
        return app

    @property
    def _sheet(self) -> Page:
        return page(self._app.output.get_size().columns, self._ascii)

    def _live_text(self) -> ANSI:
        """What goes on is never shown before what came before it: finished blocks are printed first."""
        if not self._view.finished:
            self._shown = self._live()
            self._drawing = next(iter(self._view.approvals), None)
        return ANSI(self._paint.lines(self._shown))

    def _live(self) -> list[Text]:
        rows = self._app.output.get_size().rows
        room = max(rows - self._typed_rows() - 2, 3)
        return live_lines(self._view, time.monotonic(), self._sheet, height=room, extra=self._own_lines())

    def _typed_rows(self) -> int:
        columns = self._app.output.get_size().columns
        rows = sum((cell_len(line) + 2) // columns + 1 for line in self._buffer.document.lines)
        return min(rows, MOST_INPUT)

    def _own_lines(self) -> list[Text]:
        """What the face itself has to say: a question of the model, a hint."""
        lines: list[Text] = []
        question = self._questions.current(self._view.questions)
        if question is not None and not self._view.approvals:
            options, several = question.get("options") or (), bool(question.get("several"))
            lines += question_lines(str(question["text"]), options, several, self._sheet)
        lines += self._offers()
        if attached := [file.name for words, file in self._attached.items() if not words.startswith(PASTED)]:
            lines += self._sheet.wrapped(f"with your next message: {', '.join(attached)}", 2, "dim")
        if self._hint and time.monotonic() < self._hint_until:
            lines += self._sheet.wrapped(self._hint, 2, "yellow")
        elif self._view.approvals and self._buffer.text and self._reason_for is None:
            lines += self._sheet.wrapped("send or clear what you typed to answer the question", 2, "yellow")
        return lines

    def _offers(self) -> list[Text]:
        """What the command or the name that is being typed may become."""
        offered = self._offered()
        first = max((self._picked or 0) - OFFERS + 1, 0)
        shown = offered[first : first + OFFERS]
        wide = min(max((cell_len(words) for words, _, _ in shown), default=0) + 2, 48, self._sheet.width // 2)
        lines = []
        for number, (words, about, _) in enumerate(shown, first):
            sign, look = (self._sheet.signs.arrow, "bold cyan") if number == self._picked else (" ", "cyan")
            lines.append(self._sheet.line((f"{sign} {words.ljust(wide)} ", look), (about, "dim")))
        if len(offered) > first + OFFERS:
            more = f"  and {len(offered) - first - OFFERS} more: arrow keys, Tab"
            lines.append(self._sheet.line((more, "dim")))
        return lines

    def _offered(self) -> list[tuple[str, str, str]]:
        """As words, what each is, and what is typed with it."""
        if (named := self._mentions()) is not None:
            return [(f"@{one.words}", one.about or one.kind, one.words) for one in named]
        offered = complete(self._buffer.text, self._known) if self._known else []
        return [(f"/{one.name} {one.takes}".rstrip(), one.about, f"/{one.name}") for one in offered]

    @property
    def _offering(self) -> bool:
        offered = self._offered()
        return bool(offered) and [typed for _, _, typed in offered] != [self._buffer.text]

    def _pick(self, step: int) -> None:
        last = len(self._offered()) - 1
        self._picked = max(min(0 if self._picked is None else self._picked + step, last), 0)
        self._dirty.set()

    def _typed(self, _: object) -> None:
        self._picked = None
        self._typed_for = (self._typed_for or self._asked) if self._buffer.text else ()
        if not self._placing:
            self._searching = None
        if self._buffer.text == "/":
            self._do(self._learn())
        naming = being_typed(self._buffer.document.text_before_cursor) is not None
        if naming and time.monotonic() - self._named[0] > KNOWN_FOR:
            self._named = (time.monotonic(), self._named[1])
            self._do(self._learn_names())
        if naming or self._buffer.text.startswith("/"):
            self._dirty.set()

    @property
    def _asked(self) -> tuple[str, ...]:
        """What a line answers now; () when it is a message."""
        if waiting := self._view.approvals:
            return ("call", waiting[0].conversation, waiting[0].call)
        if (question := self._questions.current(self._view.questions)) is not None:
            return ("question", str(question["text"]))
        return ("plan", self._view.plan) if self._view.plan and not self._view.busy else ()

    def _put_aside(self) -> bool:
        """Whether what is typed was for a question that is gone: it answers none that took its place."""
        asked, text = self._typed_for, self._buffer.text
        if not asked or asked == self._asked:
            return False
        answers = asked[0] == "question" or self._reason_for is not None or len(text.strip()) == 1
        self._typed_for, self._reason_for = (), None
        if answers and text.strip():
            self._buffer.append_to_history()
            self._buffer.reset()
            self._tell(f'put aside, for that question is gone: "{text.strip()}" (arrow up brings it back)', 10)
        return answers

    def _mentions(self) -> list[Mentionable] | None:
        typed = being_typed(self._buffer.document.text_before_cursor)
        return None if typed is None else ranked(typed, self._named[1])

    async def _learn_names(self) -> None:
        try:
            self._named = (time.monotonic(), await self._session.mentionable())
        except WeftError as error:
            self._tell(str(error))
        self._dirty.set()

    async def _learn(self) -> None:
        self._known = await self._session.known_words()
        self._dirty.set()

    def _complete(self) -> None:
        """As far as what is typed can only become one thing; of a name, the best that it may become; or what was
        picked."""
        picked = self._picked or 0
        if named := self._mentions():
            typed = being_typed(self._buffer.document.text_before_cursor) or ""
            before = self._buffer.document.text_before_cursor
            start = before.rindex("@", 0, len(before) - len(typed) or None)
            words = f"@{named[picked].words}" + ("" if named[picked].kind == "folder" else " ")
            self._buffer.document = Document(
                before[:start] + words + self._buffer.document.text_after_cursor, start + len(words)
            )
            return
        offered = [f"/{one.name}" for one in complete(self._buffer.text, self._known)] if self._known else []
        if not offered:
            return
        if self._picked is not None:
            offered = [offered[picked]]
        more = offered[0]
        while not all(one.startswith(more) for one in offered):
            more = more[:-1]
        if len(offered) == 1 and not more.endswith("="):
            more += " "
        if len(more) > len(self._buffer.text):
            self._buffer.document = Document(more, len(more))

    def _search_history(self) -> None:
        """What was said before, in any conversation, that has the words that are typed; again for an earlier one."""
        if self._searching is None:
            self._searching = (self._buffer.text, 0)
            self._do(self._search(fresh=True))
        else:
            self._searching = (self._searching[0], self._searching[1] + 1)
            self._do(self._search(fresh=False))

    async def _search(self, *, fresh: bool) -> None:
        if fresh:
            self._said_before = await self._session.said_before()
        if self._searching is None:
            return None
        words, number = self._searching
        found = [text for text in self._said_before if words.lower() in text.lower()]
        if number >= len(found):
            self._searching = None
            return self._tell(f"nothing earlier has: {words}" if words else "nothing earlier was said", 4)
        self._placing = True
        self._buffer.document = Document(found[number], len(found[number]))
        self._placing = False
        more = "Ctrl+R again for an earlier one" + ("" if words else "; type words before it to look for them")
        return self._tell(f"{number + 1} of {len(found)}: {more}", 8)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Something that ends by itself; it is waited for on leaving."""
        task = asyncio.get_running_loop().create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def _command(self, text: str) -> None:
        """What was typed with a slash: done, shown, or told what is wrong with it."""
        try:
            self._known = await self._session.known_words()
            wanted = read_slash(text, self._known)
            match wanted:
                case None:
                    self._say(text)
                case Leave():
                    self._leave()
                case Overview():
                    shown = await self._session.answered(wanted)
                    lines = block_lines(Answered(shown), self._sheet)
                    self._unfolding += [Text(), self._sheet.line((text.strip(), "bold cyan")), *lines]
                case Fork():
                    name = await self._session.answered(wanted)
                    told = f"forked as {name}: {self._program} chat --session {name}"
                    self._unfolding += self._sheet.wrapped(told, 2, "dim")
                case Export():
                    self._unfolding += self._sheet.path(
                        await self._session.answered(wanted), 11, lead=[("  written: ", "dim")]
                    )
                case Interrupt():
                    self._interrupt()
                case Build():
                    await self._build(wanted.words)
                case Attach():
                    self._attached[f"[{wanted.file.name}]"] = wanted.file
                case _:
                    if isinstance(wanted, StartRun):
                        self._unfolding += [Text(), self._sheet.line((text.strip(), "bold cyan"))]
                    self._give(wanted)
        except WeftError as error:
            self._tell(str(error), 10)
            self._put_back(text)
        self._dirty.set()

    async def _build(self, words: str) -> None:
        """A draft is shown as a diff; nothing is changed before it is accepted."""
        if words == "accept":
            if self._draft is None:
                return self._tell("nothing was drafted", 5)
            draft, self._draft = self._draft, None
            await self._session.lay(draft)
            self._unfolding += self._sheet.wrapped(f"laid: {', '.join(draft.files)}", 2, "dim")
            tries = {"pipeline": f"/run {draft.name} FILE", "source": f"{self._program} sources test {draft.name}"}
            if how := tries.get(draft.kind):
                self._unfolding += self._sheet.wrapped(f"try it: {how}", 2, "dim")
            return None
        self._tell("drafting", 600)
        draft = self._draft = await self._session.build(words)
        lines = [Text(), self._sheet.line((f"{draft.kind} {draft.name}", "bold cyan"))]
        lines += diff_lines(draft.diff, self._sheet, 2, most=len(draft.diff), names=True)
        self._unfolding += lines
        return self._tell("/build accept lays it into the workspace; or /build again, in other words", 30)

    def _status_text(self) -> ANSI:
        status = self._view.status or StatusChanged(mode="ask", model="")
        return ANSI(self._paint.lines([status_line(status, self._sheet)]))

    def _prompt(self) -> ANSI:
        return ANSI(self._paint.lines([Text("reason: " if self._reason_for else "> ", "bold cyan")]))

    def _rendered(self, _: object) -> None:
        self._seen = self._drawing

    # -- showing

    def _draw(self) -> None:
        """Print what is finished above the live area, and draw that again."""
        self._put_aside()
        if self._reason_for is not None and not any(call is self._reason_for for call in self._view.approvals):
            self._reason_for = None  # the question was settled elsewhere
        blocks = self._view.take()
        height = max(len(self._live()), 1) + self._typed_rows()
        lines = [line for block in blocks for line in block_lines(block, self._sheet)] + self._unfolding
        if self._app.is_running and (lines or height < self._height):
            self._app.renderer.erase()
        if lines:
            self._print(lines)
        self._height, self._unfolding = height, []
        self._folded = next((b for b in reversed(blocks) if isinstance(b, Thought | Called)), self._folded)
        self._app.invalidate()

    def _print(self, lines: list[Text]) -> None:
        if self._deaf:
            return
        output = self._app.output
        try:
            output.write_raw("".join(self._paint.line(line) + "\r\n" for line in lines))
            output.flush()
        except OSError:
            self._deaf = True  # the terminal has gone; whoever reads the log misses nothing
            self._leave(EXIT_INTERRUPTED)

    def _tell(self, text: str, seconds: float = TWICE) -> None:
        self._hint, self._hint_until = text, time.monotonic() + seconds
        self._dirty.set()

    async def _keep_drawing(self) -> None:
        while True:
            ticking = self._view.speeches or self._view.running or self._view.run.working or self._hint
            with suppress(TimeoutError):
                async with asyncio.timeout(FRAME if ticking else None):
                    await self._dirty.wait()
            self._dirty.clear()
            if self._hint and time.monotonic() >= self._hint_until:
                self._hint = ""
            self._draw()
            await asyncio.sleep(BREATH)

    async def _follow(self, after: int) -> None:
        async for item in self._session.events(after):
            event = event_of(item)
            self._view.apply(event, time.monotonic())
            if isinstance(event, RunEnded) and event.outcome == "done":
                self._do(self._show_result())
            self._call_attention()
            self._dirty.set()

    async def _show_result(self) -> None:
        """What a run made, where it was begun and waited for."""
        with suppress(WeftError):  # /result says why
            shown = await self._session.answered(Overview("result"))
            self._unfolding += [Text(), *block_lines(Answered(shown), self._sheet)]
        self._dirty.set()

    def _call_attention(self) -> None:
        """The bell when a person is needed, or what they wait for took long; the title says how it stands."""
        view = self._view
        waits = bool(view.approvals or view.questions or (view.plan and not view.busy))
        state = "waits for you" if waits else "at work" if view.busy else "ready"
        if state == self._state:
            return
        long = time.monotonic() - self._since >= LONG_WORK
        wishes = notify_wishes(os.environ.get("WEFT_NOTIFY", ""))
        output = self._app.output
        rings = wishes.bell and (waits or (state == "ready" and self._state == "at work" and long))
        if state == "at work" and self._state == "ready":
            self._since = time.monotonic()
        self._state = state
        with suppress(OSError):  # the terminal has gone
            if rings:
                output.bell()
            if wishes.title:
                output.set_title(f"weft: {state}")
            output.flush()

    # -- from the beginning to the end

    async def run(self, message: str | None = None) -> int:
        with self._signals():
            past, seen = await begin(self._session, self._view, time.monotonic())
            self._open(past)
            following = asyncio.create_task(self._follow(seen))
            if message:
                self._give(Say(text=message))
            drawing = asyncio.create_task(self._keep_drawing())
            for task in (following, drawing):
                task.add_done_callback(lambda _: self._leave())
            faults: list[BaseException] = []
            code = EXIT_INTERRUPTED
            try:
                code = await self._app.run_async(pre_run=self._left_already, handle_sigint=False)
            except (EOFError, OSError, termios.error):
                self._deaf = True  # the terminal has gone
            except Exception as error:  # noqa: BLE001  whatever the face did, the conversation is let go of first
                faults.append(error)
            self._closing = True
            drawing.cancel()
            await asyncio.wait({drawing})
            if not drawing.cancelled() and (fault := drawing.exception()) and not isinstance(fault, OSError):
                faults.append(fault)
            code = await self._close(following, code)
        if faults:
            raise faults[0]
        return code

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """From the first line to the last: a Ctrl+C that comes while the terminal changes hands must do no harm."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._press_ctrl_c)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, EXIT_INTERRUPTED)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _open(self, past: list[ConversationBlock]) -> None:
        """Who is here, and the last of what was said."""
        for block in past:
            if isinstance(block, SpokenMessage):
                self._buffer.history.append_string(block.text)
        sheet = self._sheet
        lines = [sheet.title("weft chat", self._session.id), *sheet.wrapped(HELP, 0, "dim")]
        shown, left = _last(past)
        self._folded = next((b for b in reversed(shown) if isinstance(b, Thought | Called)), None)
        if left:
            earlier = f"{count(left, 'earlier message')}: {self._program} sessions show {self._session.id}"
            lines += [Text(), *sheet.wrapped(earlier, 2, "dim")]
        self._print(lines + [line for block in shown for line in block_lines(block, sheet)] + [Text()])

    async def _close(self, following: asyncio.Task[None], code: int) -> int:
        if self._view.busy and not self._view.approvals:
            self._print(self._sheet.wrapped("stopping what runs", 2, "dim"))
        if self._beside:
            await asyncio.wait({*self._beside}, timeout=TWICE)
            for task in self._beside:
                task.cancel()
        clean_end = await let_go(self._session, self._view)
        await asyncio.wait({following}, timeout=TWICE)
        if not following.done():
            following.cancel()
            await asyncio.wait({following})
        blocks: list[ConversationBlock] = self._view.take()
        error = None if following.cancelled() else following.exception()
        if error is not None:
            code = EXIT_FAILED
            why = f"the conversation can't be kept any more: {error}; the log has everything up to here"
            blocks.append(Noted(why, "error"))
        blocks += last_words(self._view, self._session.id, self._program, clean=clean_end or error is not None)
        self._print([Text(), *(line for block in blocks for line in block_lines(block, self._sheet))])
        if error is not None and not isinstance(error, OSError | WeftError):
            raise error
        return code

    # -- what the keys do

    def _keys(self) -> KeyBindings:
        empty, offering = Condition(lambda: not self._buffer.text), Condition(lambda: self._offering)
        keys = KeyBindings()

        def on(*sequence: str, does: Callable[[], object], when: FilterOrBool = True) -> None:
            @keys.add(*sequence, filter=when)
            def _(_: KeyPressEvent) -> None:
                does()

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            self._paste(event.data.replace("\r\n", "\n").replace("\r", "\n"))

        on("c-c", does=self._press_ctrl_c)
        on("<sigint>", does=self._press_ctrl_c)
        on("escape", does=self._press_escape)
        on("c-d", does=self._leave, when=empty)
        on("enter", does=self._submit)
        on("c-j", does=self._submit)  # what Enter was when it was pressed before the program had the terminal
        on("escape", "enter", does=lambda: self._buffer.insert_text("\n"))
        on("escape", "c-j", does=lambda: self._buffer.insert_text("\n"))
        on("s-tab", does=self._cycle_mode)
        on("tab", does=self._complete)
        on("down", does=lambda: self._pick(1), when=offering)
        on("up", does=lambda: self._pick(-1), when=offering)
        on("c-r", does=self._search_history)
        on("c-x", "c-e", does=self._buffer.open_in_editor)
        on("c-o", does=self._unfold)
        # Stopping the process would stop what runs in the middle; and it must not become part of a message.
        on("c-z", does=lambda: None)
        return keys

    def _leave(self, code: int = EXIT_DONE) -> None:
        self._leaving = code if self._leaving is None else self._leaving
        if self._app.future is not None and not self._app.future.done():
            self._app.exit(result=self._leaving)

    def _left_already(self) -> None:
        """A wish to leave that came before there was anything to leave."""
        if self._leaving is not None:
            self._leave()

    def _press_ctrl_c(self) -> None:
        """Stops what runs; where nothing does, a second one leaves."""
        if self._closing:
            return None
        if self._reason_for is not None:
            return self._end_reason()
        if self._interrupt():
            self._pressed = float("-inf")
            return None
        if time.monotonic() - self._pressed <= TWICE:
            return self._leave()
        self._pressed = time.monotonic()
        return self._tell("press Ctrl+C again to leave")

    def _press_escape(self) -> None:
        if self._reason_for is not None:
            self._end_reason()
        else:
            self._interrupt()

    def _interrupt(self) -> bool:
        """Whether there was something to stop."""
        reply = self._give(Interrupt())
        if not reply.done():  # it is held elsewhere
            return self._view.busy
        accepted = reply.result()
        match accepted.note if isinstance(accepted, Accepted) else "":
            case "nothing_to_interrupt" | "":
                return False
            case "interrupt_in_progress":
                self._tell("it is being stopped")
            case "unsupported":
                self._tell("what runs now can't be stopped; it ends by itself")
            case _:
                self._dirty.set()
        return True

    def _cycle_mode(self) -> None:
        modes: tuple[Mode, ...] = get_args(Mode)
        now = self._view.status.mode if self._view.status else "ask"
        mode = modes[(modes.index(now) + 1) % len(modes)] if now in modes else "ask"
        self._give(SetMode(mode=mode))
        self._tell(f"mode: {mode} ({MODES[mode]})")

    def _unfold(self) -> None:
        """What a question is about, or else the last thinking or result, whole."""
        if waiting := self._view.approvals:
            self._unfolding = [
                Text(),
                self._sheet.line((f"{waiting[0].tool}:", "bold")),
                *wanted_lines(waiting[0], self._sheet),
            ]
        elif self._folded is not None:
            self._unfolding = whole_lines(self._folded, self._sheet)
        else:
            return self._tell("there is no thinking and no result yet")
        return self._dirty.set()

    def _answered_by(self, text: str) -> bool:
        """Whether a line answers the question on the screen: by its letter alone, with Enter.

        A letter by itself answers nothing: it may be the first of a sentence.
        """
        call = self._view.approvals[0] if self._view.approvals else None
        key = text.strip().lower()
        if call is None and self._view.plan and not self._view.busy and (said := PLAN_LETTERS.get(key)):
            self._buffer.reset()
            self._give(DecidePlan(decision=said, plan=self._view.plan))
            return True
        if call is None or key not in letters(call):
            return False
        self._buffer.reset()
        if call is not self._seen or call is self._answered:
            return True  # only what a person has seen can be answered, and only once
        if key == "r":
            self._reason_for = call
            self._dirty.set()
        else:
            self._decide(call, key)
        return True

    def _submit(self) -> None:
        if self._picked is not None:
            return self._complete()
        if self._put_aside():
            return None
        text, self._hint = self._buffer.text, ""
        if (call := self._reason_for) is not None:
            self._end_reason()
            if any(call is waiting for waiting in self._view.approvals):
                self._decide(call, "r", text.strip())
        elif not text.strip() or self._answered_by(text):
            return None
        elif self._questions.current(self._view.questions) is not None and not self._view.approvals:
            if (answers := self._questions.answer(self._view.questions, text)) is not None:
                self._give(answers)
            self._buffer.reset()
            self._dirty.set()
        else:
            if text.lstrip().startswith("/"):
                self._do(self._command(text))
            else:
                self._say(text)
            self._buffer.append_to_history()
            self._buffer.reset()
            self._dirty.set()
        return None

    def _paste(self, text: str) -> None:
        """What is pasted is typed; a file that was dropped is named, and what is very long goes along as a file."""
        if (path := dropped_path(text)) is not None:
            text = f"{path} "
        elif len(text) > LONG_PASTE:
            number = len(self._attached) + 1
            words = f"{PASTED}{number}: {len(text):,} characters]"
            self._attached[words] = GivenFile(text.encode("utf-8", "surrogatepass"), f"pasted-{number}.txt")
            text = words
        self._buffer.insert_text(text)

    def _say(self, text: str) -> None:
        """A message, with the files that it names outside the working folder and those that wait for it."""
        try:
            named = files_named(text, self._session.working)
        except WeftError as error:
            self._tell(str(error), 10)
            self._put_back(text)
            return
        waiting, self._attached = self._attached, {}
        given = [file for words, file in waiting.items() if words in text or not words.startswith(PASTED)]
        self._give(Say(text=text, attachments=(*given, *named)))

    def _give(self, command: SessionCommand) -> asyncio.Future[Reply]:
        """A command; when it is refused the reason is shown, and what was typed stands there again."""
        reply = self._session.submit(command, by=TERMINAL)
        self._sending.add(reply)

        def replied(done: asyncio.Future[Reply]) -> None:
            self._sending.discard(done)
            if done.cancelled() or not isinstance(refused := done.result(), Refused):
                return
            if isinstance(command, Say):
                self._put_back(command.text)
            self._tell(str(refused.error()), 10)

        reply.add_done_callback(replied)
        return reply

    def _put_back(self, text: str) -> None:
        """What was typed and not taken stands there again, unless something else does by now."""
        if not self._buffer.text:
            self._buffer.document = Document(text, len(text))

    def _decide(self, call: CallView, letter: str, reason: str = "") -> None:
        self._answered = call
        for command in decided(call, letter, reason):
            self._give(command)

    def _end_reason(self) -> None:
        self._reason_for = None
        self._buffer.reset()
        self._dirty.set()


def _last(blocks: list[ConversationBlock]) -> tuple[list[ConversationBlock], int]:
    """The blocks of the last few exchanges, and how many messages stand before them."""
    starts = [index for index, block in enumerate(blocks) if isinstance(block, SpokenMessage)]
    if len(starts) <= EXCHANGES:
        return blocks, 0
    return blocks[starts[-EXCHANGES] :], len(starts) - EXCHANGES
