"""A program for the tests of the terminal face: a real conversation over a real session folder, and a model that does
what the message says. It is started as a process of its own, so that it can be killed and started again.

    python -m tests.e2e.chat_program FOLDER [--message TEXT] [--whole-input]
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from weft.app import KnownWords, LibraryDraft, Mentionable, OpenedSession
from weft.app.live.slash_commands import OverviewName
from weft.cli.chat.face import run_chat
from weft.cli.commands import let_go
from weft.conversation.conversation import Conversation
from weft.conversation.ports import Ports, Running, SessionJournal
from weft.files import Folder
from weft.models.model import ModelError, Part, Request, Stop, TextDelta, ThinkingDelta
from weft.protocol.commands import (
    Accepted,
    AnswerQuestion,
    Interrupt,
    Reply,
    Say,
    SessionCommand,
    SetMode,
    refusal,
)
from weft.protocol.conversation_commands import DecideApproval, ToolAsk, ToolEnd
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import UserError, WeftError
from weft.protocol.events import (
    DurableEvent,
    Event,
    LiveEvent,
    Outcome,
    QuestionAsked,
    QuestionClosed,
    Record,
    StatusChanged,
)
from weft.protocol.messages import Text, ToolCall, ToolResult
from weft.session.session import Session
from weft.session.state import SessionState
from weft.testing.handles import ProcessRun, TaskRun
from weft.testing.stand_ins import PlainContext, ScriptedTools, Work
from weft.tools.tool import Question
from weft.workspace.pipeline import Pipeline

DIFF = """changed notes.md:
--- notes.md
+++ notes.md
@@ -1,2 +1,2 @@
 one
-two
+three
"""
HELLO = """# A heading

Some **bold** words with `code` and 日本語 in one line that is long enough to be wrapped on a narrow screen, but whole.

- first
- second

```python
print("weft")
```
The end of it.
"""
EVIL = "before \x1b[2J\x1b]0;owned\x07\x1b[31m\u202eafter\x9b2J"
STUCK = "echo $$ >> pids; sleep 1000 & echo $! >> pids; (sleep 1000 & echo $! >> pids; wait) & wait"


class Obedient:
    """Each message says what the answer is to be."""

    name = "obedient"
    window = 100_000

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        last = request.messages[-1].content[-1]
        calls: tuple[ToolCall, ...] = ()
        if isinstance(last, ToolResult):
            said = f"The tool said: {last.text.splitlines()[0] if last.text else 'nothing'}"
            async for part in _pieces(said):
                yield part
        elif isinstance(last, Text):
            word = last.text.split()[0]
            calls = CALLS.get(word, ())
            async for part in self._answer(word, last.text):
                yield part
        for call in calls:
            yield call
        yield Stop(reason="tool_calls" if calls else "end")

    async def _answer(self, word: str, text: str) -> AsyncIterator[Part]:
        match word:
            case "hello":
                yield ThinkingDelta(text="how shall I greet")
                await self._until("thought")
                async for part in _pieces(HELLO):
                    yield part
            case "wait":
                yield TextDelta(text="one moment")
                await self._until("go")
                yield TextDelta(text=" and now it is done")
            case "flood":
                number = 0
                while True:
                    number += 1
                    yield TextDelta(text=f"line {number} of the flood\n" if number % 7 else "words without an end ")
            case "evil":
                yield TextDelta(text=EVIL)
            case "fail":
                raise ModelError("overloaded", "the model is overloaded")
            case _ if word not in CALLS:
                async for part in _pieces(f"You said: {text}"):
                    yield part

    async def _until(self, name: str) -> None:
        while not (self._folder / name).exists():
            await asyncio.sleep(0.01)


CALLS = {
    "edit": (ToolCall(call="c1", tool="Edit", input={"path": "notes.md", "old": "two", "new": "three"}),),
    "push": (ToolCall(call="c1", tool="Shell", input={"command": "git push"}),),
    "hang": (ToolCall(call="c1", tool="Hang", input={"command": "sleep 1000"}),),
    "evil": (ToolCall(call="c1", tool="Evil", input={"path": EVIL}),),
    "task": (ToolCall(call="c1", tool="Task", input={"description": "look into it", "prompt": "inner"}),),
    "inner": (ToolCall(call="i1", tool="Slow", input={"path": "deep.md"}),),
    "ask": (ToolCall(call="c1", tool="AskUser", input={"question": "Which colour?"}),),
    "both": (
        ToolCall(call="c1", tool="Shell", input={"command": "git push"}),
        ToolCall(call="c2", tool="Edit", input={"path": "notes.md", "old": "two", "new": "three"}),
    ),
}


async def _pieces(text: str, size: int = 7) -> AsyncIterator[Part]:
    for at in range(0, len(text), size):
        await asyncio.sleep(0)
        yield TextDelta(text=text[at : at + size])


def tools(folder: Path, desk: Held) -> ScriptedTools:
    async def edit(call: ToolCall, say: Callable[[str], None]) -> Running:
        return TaskRun(_ended(ToolEnd(text=DIFF)))

    async def push(call: ToolCall, say: Callable[[str], None]) -> Running:
        with (folder / "pushes").open("a") as file:
            file.write("pushed\n")
        return TaskRun(_ended(ToolEnd(text="pushed\nto the origin\n")))

    async def hang(call: ToolCall, say: Callable[[str], None]) -> Running:
        return await ProcessRun.start(["bash", "-c", STUCK], cwd=str(folder))

    async def evil(call: ToolCall, say: Callable[[str], None]) -> Running:
        return TaskRun(_ended(ToolEnd(text=EVIL, failed=True)))

    async def slow(call: ToolCall, say: Callable[[str], None]) -> Running:
        async def work() -> ToolEnd:
            say("turning the pages")
            while not (folder / "go").exists():
                await asyncio.sleep(0.01)
            return ToolEnd(text="it was deep")

        return TaskRun(work())

    async def ask(call: ToolCall, say: Callable[[str], None]) -> Running:
        async def work() -> ToolEnd:
            question = Question(text=str(call.input["question"]), options=("red", "green"))
            answers = await desk.ask((question, Question(text="Why?")))
            return ToolEnd(text="; ".join(answers.values()))

        return TaskRun(work())

    works: dict[str, Work] = {"Edit": edit, "Shell": push, "Hang": hang, "Evil": evil, "Slow": slow, "AskUser": ask}
    asks = {
        "Edit": ToolAsk(call="", tool="Edit", ruling="ask", reason="it writes a file", key="Edit notes.md"),
        "Shell": ToolAsk(call="", tool="Shell", ruling="ask", reason="it sends data out", tainted=True),
        "Task": ToolAsk(call="", tool="Task", prompt="inner"),
    }
    return ScriptedTools(works=works, asks=asks)


async def _ended(end: ToolEnd) -> ToolEnd:
    return end


@dataclass(frozen=True, slots=True)
class Disk(SessionJournal):
    """The log, on a disk that is full once there is a file named `full`."""

    full: Path

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        if self.full.exists():
            raise OSError(28, "no space left on device")
        return self.session.record(events, by=by, key=key)


class Held(OpenedSession):
    """A session with nothing but this conversation, behind the door that a face uses."""

    id = "talk"
    asks = ()
    unfinished = ""

    def __init__(self) -> None:
        self.talk: Conversation
        self._mode = "ask"
        self._asked: dict[str, asyncio.Future[Mapping[str, str]]] = {}

    @property
    def state(self) -> SessionState:
        raise AssertionError("there is no run here")

    @property
    def pipeline(self) -> Pipeline:
        raise AssertionError("there is no run here")

    @property
    def status(self) -> StatusChanged:
        return StatusChanged(mode=self._mode, model="obedient", tokens=1234, cost="$0.02", context_used=0.12)

    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = MACHINE) -> asyncio.Future[Reply]:
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        note = ""
        try:
            match command:
                case Say():
                    note = self.talk.say(command.text)
                case Interrupt():
                    note = self.talk.interrupt(command.target or None).status
                case DecideApproval():
                    self.talk.submit(command)
                case SetMode():
                    self._mode = command.mode
                    self.show(self.status)
                case AnswerQuestion():
                    self._answer(command)
        except WeftError as error:
            reply.set_result(refusal(error))
            return reply
        reply.set_result(Accepted(seq=0, note=note))
        return reply

    async def known_words(self) -> KnownWords:
        return KnownWords(working=Path.cwd())

    async def mentionable(self) -> list[Mentionable]:
        return [Mentionable("file", "notes.md")]

    @property
    def working(self) -> Path:
        return Path.cwd()

    async def look(self, what: OverviewName) -> str:
        return await self.look_inside(what)

    async def fork(self) -> str:
        return "talk-fork"

    async def build(self, words: str) -> LibraryDraft:
        raise UserError("nothing is built here")

    async def lay(self, draft: LibraryDraft) -> None:
        raise AssertionError("nothing was drafted")

    async def said_before(self) -> list[str]:
        return ["an earlier word"]

    def show(self, event: LiveEvent) -> None:
        self.talk._feed.put(event)

    async def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        yield self.status
        async for item in self.talk.events(after):
            yield item

    async def records(self, after: int = 0) -> list[Record]:
        return list(self.talk._journal.read(after))

    async def look_inside(self, what: OverviewName) -> str:
        return f"a look at {what}"

    async def run_at_rest(self) -> Outcome | None:
        return await self.rest()

    async def rest(self) -> Outcome | None:
        await self.talk.idle()
        return None

    async def close(self, *, keep_open: bool | None = None) -> bool:
        return await (self.talk.suspend() if keep_open else self.talk.shutdown())

    async def ask(self, questions: tuple[Question, ...]) -> Mapping[str, str]:
        name = uuid4().hex[:8]
        self._asked[name] = asyncio.get_running_loop().create_future()
        self.show(QuestionAsked(question=name, questions=tuple(asdict(one) for one in questions)))
        try:
            return await self._asked[name]
        finally:
            self.show(QuestionClosed(question=name))

    def _answer(self, command: AnswerQuestion) -> None:
        if command.declined:
            self._asked[command.question].set_exception(UserError(command.declined))
        else:
            self._asked[command.question].set_result(command.answers)


async def _answered_elsewhere(held: Held, told: Path) -> None:
    """Another door says no to the call that a file names."""
    while not told.exists():
        await asyncio.sleep(0.05)
    held.talk.submit(DecideApproval(conversation="main", call=told.read_text(), decision="denied"))


async def main(folder: Path, words: list[str]) -> int:
    held = Held()
    model = Obedient(folder)
    with Folder.open(folder) as above:
        parent = above.folder("sessions", create=True)
        with Session.open(parent, "talk", lambda: datetime.now(UTC), create=True) as session:
            ports = Ports(
                model=lambda _: model,
                toolbox=tools(folder, held),
                context=PlainContext(),
                ids=lambda: uuid4().hex[:8],
            )
            held.talk = await Conversation.open(Disk(session, folder / "full"), ports)
            if "--told-to-leave" in words:  # before the face has begun
                asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
            message = words[words.index("--message") + 1] if "--message" in words else None
            elsewhere = asyncio.create_task(_answered_elsewhere(held, folder / "denied-elsewhere"))
            try:
                return await run_chat(held, message=message, whole_input="--whole-input" in words)
            finally:
                elsewhere.cancel()


if __name__ == "__main__":
    code = asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
    let_go()
    sys.exit(code)
