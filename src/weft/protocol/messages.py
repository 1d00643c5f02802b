"""What a model is told and what it answered: messages made of typed content, the same for every model.

A message is a role and a tuple of content. A tool call is content of the assistant's message, its result content of
the user message that follows; every call has exactly one result before the next model call. All values are plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from weft.protocol.values import dataclass

StopReason = Literal["end", "tool_calls", "max_tokens", "refused", "stop_sequence", "repeated"]
"""Why a model ended its answer, or was ended: `repeated` when it said the same without end."""
CUT_OFF: Final = ("max_tokens", "repeated")


def told_stop(stop: StopReason | None, text: str) -> str:
    """What is to be said of an answer that is not simply at its end, in words; "" when it is, or nobody knows."""
    if stop == "max_tokens":
        return "cut off: it reached the most that it may write at once"
    if stop == "repeated":
        return "cut off: the model said the same again and again"
    if stop == "refused":
        return "the model refused to answer"
    if stop in ("end", "stop_sequence") and not text.strip():
        return "the model ended its answer without a word"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """What a model thought; `signature` is the provider's seal, given back unchanged."""

    text: str
    signature: str = ""
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model asks for a tool. `malformed` is the text it wrote when that was no JSON object (`input` is then {})."""

    call: str
    tool: str
    input: Mapping[str, Any]
    malformed: str = ""
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    call: str
    tool: str
    text: str
    is_error: bool = False
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image or a document given to a model that takes it."""

    media_type: str
    data: bytes
    name: str = ""
    type: Literal["media"] = "media"


Content = Text | Thinking | ToolCall | ToolResult | Media


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Literal["user", "assistant"]
    content: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it: those that `weft tools` lists, in the spelling that models know."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call. `input` counts all of the prompt, cached parts included; None is "not reported"."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def told(self) -> dict[str, int]:
        """The counts that were reported, by name."""
        return {name: count for name in self.__slots__ if (count := getattr(self, name)) is not None}
