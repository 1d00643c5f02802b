"""Stand-ins for what a conversation talks to: a log in memory, a model and tools that do as they are told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weft.conversation.ports import Ports, Running, ToolboxPort
from weft.conversation.projections import Transcript
from weft.models.model import Part, Request, Stop, TextDelta
from weft.protocol.conversation_commands import ToolAsk
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.events import DurableEvent, Record
from weft.protocol.messages import ToolCall


@dataclass
class MemoryJournal:
    records: list[Record] = field(default_factory=list)
    keep: bool = True
    """Without it only the numbers are kept, for measuring."""
    seq: int = 0
    failing: bool = False

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        if self.failing:
            raise OSError("the disk is full")
        first = self.seq + 1
        made = [Record(number, "", event) for number, event in enumerate(events, first)]
        self.seq += len(made)
        if self.keep:
            self.records += made
        return made

    def read(self, after: int = 0) -> Iterable[Record]:
        return self.records[after:]


Answer = Sequence[Part | BaseException] | Callable[[Request], AsyncIterator[Part]]


@dataclass
class ScriptedModel:
    """Answers in order; a request beyond the script is a failure, not an empty answer. Keeps every request."""

    answers: list[Answer] = field(default_factory=list)
    name: str = "scripted"
    window: int = 100_000
    requests: list[Request] = field(default_factory=list)

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        self.requests.append(request)
        if not self.answers:
            raise AssertionError("the script has no answer to this request")
        answer = self.answers.pop(0)
        if callable(answer):
            async for part in answer(request):
                yield part
            return
        for piece in answer:
            await asyncio.sleep(0)
            if isinstance(piece, BaseException):
                raise piece
            yield piece


def saying(text: str) -> list[Part]:
    return [TextDelta(text=text), Stop(reason="end")]


def calling(*calls: ToolCall, text: str = "") -> list[Part]:
    return [*([TextDelta(text=text)] if text else ()), *calls, Stop(reason="tool_calls")]


Work = Callable[[ToolCall, Callable[[str], None]], Awaitable[Running]]


@dataclass
class ScriptedTools:
    """Tools by name: what each does when it starts, and what the rules say to it."""

    works: dict[str, Work] = field(default_factory=dict)
    asks: dict[str, ToolAsk] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)

    def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
        known = self.asks.get(call.tool, ToolAsk(call=call.call, tool=call.tool))
        if call.tool not in self.works and known.prompt is None:
            return ToolAsk(call=call.call, tool=call.tool, ruling="fault", reason=f"there is no tool {call.tool}")
        return replace(known, call=call.call, tool=call.tool, input=call.input, malformed=call.malformed)

    async def start(
        self, call: ToolCall, *, conversation: str, say: Callable[[str], None], seen: Mapping[str, str]
    ) -> Running:
        self.started.append(call.call)
        return await self.works[call.tool](call, say)


@dataclass
class PlainContext:
    system: str = "be brief"

    async def build(self, conversation: str, transcript: Transcript) -> Request:
        return Request(system=self.system, messages=transcript.messages())


async def at_once(work: Callable[[], Any]) -> Any:
    """Blocking work on the loop, for a log in memory."""
    return work()


def ports(model: Any, toolbox: ToolboxPort | None = None, **others: Any) -> Ports:
    numbers = itertools.count(1)
    found: dict[str, Any] = {
        "model": lambda _: model,
        "toolbox": toolbox or ScriptedTools(),
        "context": PlainContext(),
        "ids": lambda: f"m{next(numbers)}",
        "off_loop": at_once,
    }
    return Ports(**{**found, **others})
