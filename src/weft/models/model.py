"""The one contract of every model: a request in, a stream of typed parts out.

    async for part in model.stream(request): …

Deltas (`TextDelta`, `ThinkingDelta`) come as the model writes; each tool call comes whole, as a `ToolCall`; usage comes
as one or more `Usage` values, each the total so far; the stream ends with exactly one `Stop`, or with a `ModelError`.
A model that tries again by itself says so with a `Retried` before each wait.
Closing the stream (`aclose`) ends the call at once. A model holds no conversation: the request has it all.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Protocol

from weft.protocol.errors import ExternalError
from weft.protocol.messages import Media, Message, StopReason, ToolCall, ToolSpec, Usage
from weft.protocol.values import dataclass

ThinkingLevel = Literal["off", "low", "medium", "high"]
ErrorKind = Literal[
    "auth",
    "rate_limited",
    "overloaded",
    "context_too_long",
    "refused",
    "invalid_request",
    "network",
    "malformed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    text: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """A piece of thinking; a `signature` closes the block it belongs to."""

    text: str
    signature: str = ""
    type: Literal["thinking_delta"] = "thinking_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    reason: StopReason
    type: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """The call failed before anything was said, and is made again after `wait` seconds: this was try number `tries`."""

    tries: int
    wait: float
    kind: ErrorKind
    reason: str
    instead: str = ""
    """The name of another model that is asked from now on; "" for the same one."""
    type: Literal["retried"] = "retried"


Part = TextDelta | ThinkingDelta | ToolCall | Usage | Stop | Retried


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All a model needs for one answer. `system` is the stable prefix; `schema` asks for a JSON value of its shape.

    `must_call` names the one tool the answer has to be a call of, where the model can be held to that.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    thinking: ThinkingLevel = "off"
    temperature: float | None = None
    must_call: str = ""
    patience: float | None = None
    """Seconds that waits before new tries may take together; None leaves it to whoever tries again."""


class Model(Protocol):
    """`name` is what a person calls it and the log records, such as "embedded" or "work/claude-sonnet-4-5"."""

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int:
        """How many tokens of prompt and answer fit."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Part]: ...


def as_json(value: Any) -> Any:
    """A request or a part as plain JSON: the form that is compared and shown."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def turns_read(model: Model) -> int | None:
    """With how many of the person's last messages, and what followed each, a model does all it can do; None when it
    makes use of the whole conversation."""
    read: int | None = getattr(model, "turns_read", None)
    return read


def text_of(file: Media) -> str:
    """A file of text as a model reads it: below its name, where it has one."""
    return f"{file.name}:\n{file.data.decode('utf-8', 'replace')}".removeprefix(":\n")


async def prepare(model: Model) -> None:
    """Loads what the first call of a model would wait for, where it has such a thing."""
    load = getattr(model, "prepare", None)
    if load is not None:
        await load()


class ModelError(ExternalError):
    """A model call failed. `kind` says how, `hint` what the person can do, `wait` the pause the provider asks for."""

    def __init__(
        self, kind: ErrorKind, message: str, *, hint: str = "", retryable: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.kind = kind
        self.wait = wait
