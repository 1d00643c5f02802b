"""From the parts of a stream to one answer: the message to keep, what it used, why it stopped.

An `Answer` grows with each part and is valid at any moment, so that an interrupted stream leaves what was said so far.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import field
from typing import Any, cast

from weft.models.model import Part, Stop, TextDelta, ThinkingDelta
from weft.protocol.messages import Content, Message, StopReason, Text, Thinking, ToolCall, Usage
from weft.protocol.values import dataclass


@dataclass(slots=True)
class Answer:
    """Parts in, a message out."""

    usage: Usage = field(default_factory=Usage)
    stop: StopReason | None = None
    content: list[Content] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _kind: str = ""

    def add(self, part: Part) -> None:
        if isinstance(part, TextDelta):
            self._grow("text", part.text)
        elif isinstance(part, ThinkingDelta):
            self._grow("thinking", part.text)
            if part.signature:
                self._close(part.signature)
        elif isinstance(part, ToolCall):
            self._close()
            self.content.append(part)
        elif isinstance(part, Usage):
            self.usage = part
        elif isinstance(part, Stop):
            self.stop = part.reason

    @property
    def message(self) -> Message:
        self._close()
        return Message(role="assistant", content=tuple(self.content))

    @property
    def text(self) -> str:
        """All that was said, without thinking and calls."""
        return "".join(one.text for one in self.message.content if isinstance(one, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(one for one in self.content if isinstance(one, ToolCall))

    def _grow(self, kind: str, text: str) -> None:
        if kind != self._kind:
            self._close()
            self._kind = kind
        self._open.append(text)

    def _close(self, signature: str = "") -> None:
        said, kind = "".join(self._open), self._kind
        self._open, self._kind = [], ""
        if kind == "text" and said:
            self.content.append(Text(text=said))
        elif kind == "thinking" and (said or signature):
            self.content.append(Thinking(text=said, signature=signature))


async def gather(parts: AsyncIterator[Part], on_part: Callable[[Part], None] | None = None) -> Answer:
    """The whole answer of a stream; the stream is closed however this ends."""
    answer = Answer()
    async with aclosing(cast(Any, parts)) as stream:
        async for part in stream:
            answer.add(part)
            if on_part is not None:
                on_part(part)
    return answer


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of two calls; what neither reported stays unknown."""

    def both(first: int | None, second: int | None) -> int | None:
        return None if first is None and second is None else (first or 0) + (second or 0)

    return Usage(
        input=both(one.input, other.input),
        output=both(one.output, other.output),
        cache_read=both(one.cache_read, other.cache_read),
        cache_write=both(one.cache_write, other.cache_write),
        reasoning=both(one.reasoning, other.reasoning),
    )
