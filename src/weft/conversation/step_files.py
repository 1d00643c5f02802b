"""A step on a program that runs a loop of its own: a conversation that nobody watches, in a folder that holds nothing
but what it makes.

Nobody can be asked there: what our rules would ask about is refused, and the program is told so. Where it can be told
at once what is wrong with a file that it has written, it is; when it says that it is done and it is not, it is told
so, a bounded number of times. Then that is the failure.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Protocol

from weft.conversation.conversation import Conversation
from weft.conversation.ports import Ports
from weft.conversation.projections import Transcript
from weft.conversation.tool_calls import ToolAccess
from weft.files import Folder
from weft.models.answer import add_usage
from weft.models.file_making import FilesMade, FilesRequest
from weft.models.model import ModelError, Request
from weft.models.spending import usage_of
from weft.protocol import conversation_events as t
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import Finding, ModelFeedback
from weft.protocol.events import DurableEvent, FeedItem, Record
from weft.protocol.messages import Text, Usage
from weft.protocol.values import dataclass
from weft.tools.permission_file import app_rules
from weft.tools.processes import to_the_end
from weft.tools.tool import Context
from weft.tools.toolbox import Toolbox

UNWINDING: Final = 0.5
"""Seconds for the conversation to come to rest after that."""
NOBODY: Final = "a step has nobody to ask: do it without this"


@dataclass(slots=True)
class _Unkept:
    """A log that nobody reads afterwards: what a step makes is what counts, and that is in the session's log."""

    records: list[Record] = field(default_factory=list)

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        made = [Record(number, "", event) for number, event in enumerate(events, len(self.records) + 1)]
        self.records += made
        return made

    def read(self, after: int = 0) -> Iterable[Record]:
        return self.records[after:]


@dataclass(frozen=True, slots=True)
class _Fixed:
    request: Request

    async def build(self, conversation: str, transcript: Transcript) -> Request:
        return self.request


Judge = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Takes the name of a tool that has written and its input, gives what is wrong; "" for nothing."""


class StepSpeaking(Protocol):
    """What speaks with such a program in one conversation."""

    def model(self, conversation: str) -> Any: ...

    def toolbox(self) -> Toolbox: ...

    async def follow(self, events: AsyncIterator[FeedItem]) -> None: ...

    def stop(self) -> None: ...

    async def aclose(self) -> None: ...


OpenSpeaking = Callable[[Context, Path, Callable[[], Conversation], Judge], StepSpeaking]
"""Takes where it works, its own folder, the conversation, and who judges a file as it is written."""


async def make_files(open_speaking: OpenSpeaking, name: str, ask: FilesRequest) -> FilesMade:
    with tempfile.TemporaryDirectory(prefix="weft-step-") as made, ExitStack() as folders:
        working, own = Path(made) / "work", Path(made) / "own"
        working.mkdir()
        return await _made(open_speaking, name, ask, folders.enter_context(Folder.open(working)), own)


async def _made(open_speaking: OpenSpeaking, name: str, ask: FilesRequest, working: Folder, own: Path) -> FilesMade:
    async def written(_: str, given: Mapping[str, Any]) -> str:
        file = Path(str(given.get("file_path", ""))).name
        return _words(await asyncio.to_thread(_faults, ask, working, (file,))) if file in ask.files else ""

    talk: Conversation
    speaking = open_speaking(Context(call="", working=working), own, lambda: talk, written)
    access = ToolAccess(lambda _: speaking.toolbox(), app_rules(), _contexts(working), mode="auto")
    numbers = itertools.count(1)
    ports = Ports(
        model=speaking.model,
        toolbox=access,
        context=_Fixed(Request(system=ask.request.system, messages=())),
        ids=lambda: f"m{next(numbers)}",
    )
    journal = _Unkept()
    talk = await Conversation.open(journal, ports)
    following = asyncio.create_task(_follow(talk, speaking, ask.say))
    try:
        return await _until_right(talk, name, journal, ask, working)
    finally:
        speaking.stop()  # whatever it is doing: what is made is made
        await to_the_end(_unwind(talk, following, speaking))


async def _unwind(talk: Conversation, following: asyncio.Task[None], speaking: StepSpeaking) -> None:
    await talk.shutdown(timeout=UNWINDING)
    following.cancel()
    await asyncio.wait({following})
    await speaking.aclose()


async def _until_right(
    talk: Conversation, name: str, journal: _Unkept, ask: FilesRequest, working: Folder
) -> FilesMade:
    words = _prompt(ask, working.path)
    wrong: Sequence[Finding] = ()
    for _ in range(ask.asks):
        talk.say(words)
        await talk.idle()
        last = next(r.event for r in reversed(journal.records) if isinstance(r.event, t.ModelSettled))
        if last.outcome != "completed":
            raise ModelError("network", last.reason or f"{name} was stopped", retryable=True)
        wrong = await asyncio.to_thread(_faults, ask, working, ask.files)
        if not wrong:
            files = {name: working.read(name) for name in ask.files}
            return FilesMade(files=files, usage=_used(journal.records))
        ask.say(f"not done: {wrong[0]}")
        words = f"You are not done. Put right exactly this, then stop:\n{_words(wrong)}"
    raise ModelFeedback(wrong)


async def _follow(talk: Conversation, speaking: StepSpeaking, say: Callable[[str], None]) -> None:
    async def shown() -> AsyncIterator[FeedItem]:
        async for item in talk.events():
            match item.event if isinstance(item, Record) else None:
                case t.ToolRequested() as asked:
                    about = asked.input.get("path") or asked.input.get("command") or ""
                    say(f"{asked.tool} {about}".strip())
                case t.ApprovalRequested() as asked:
                    talk.approve(asked.call, "denied", reason=NOBODY)
            yield item

    await speaking.follow(shown())


def _contexts(working: Folder) -> Callable[[str, str, Callable[[str], None]], Context]:
    return lambda conversation, call, say: Context(call=call, working=working, progress=say)


def _prompt(ask: FilesRequest, working: Path) -> str:
    texts = [part.text for message in ask.request.messages for part in message.content if isinstance(part, Text)]
    names = ", ".join(ask.files)
    how = (
        f"Write the result into files of the folder {working}: {names}. Each file is judged as you write it, and you "
        "are told what is wrong with it. You are done when every one of them is there and nothing is wrong."
    )
    return "\n\n".join([*texts, how])


def _faults(ask: FilesRequest, working: Folder, names: Sequence[str]) -> list[Finding]:
    found: list[Finding] = []
    for name in names:
        data = working.read_or_none(name)
        found += [Finding(name, "", "was not written", "write it")] if data is None else ask.judge(name, data)
    return found


def _words(findings: Sequence[Finding]) -> str:
    return "\n".join(f"- {one.with_hint}" for one in findings)


def _used(records: Sequence[Record]) -> Usage:
    used = Usage()
    for record in records:
        if isinstance(record.event, t.ModelSettled):
            used = add_usage(used, usage_of(record.event.usage))
    return used
