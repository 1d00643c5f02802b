"""What a server answers, in words that hold for every wire format: what is said, and what goes wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weft.testing.scripted import Hold

Break = Literal["dropped", "ended", "error event", "broken json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool call; `arguments` is the text on the wire, which need not be JSON."""

    tool: str
    arguments: str = "{}"
    call: str = "call_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer. `break_after` and `hold_after` count pieces of text; `split` is bytes to a network write."""

    text: str = ""
    thinking: str = ""
    signature: str = ""
    calls: tuple[Called, ...] = ()
    stop: Literal["end", "tool_calls", "max_tokens", "refused"] | None = None
    input: int = 12
    output: int = 7
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    pieces: int = 3
    a_second: float = 0
    """Pieces of text in a second; 0 for as fast as they can be written."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """A body that is sent as it is, with `headers`, in place of all the wire would make."""
    error_type: str = ""
    error: str = ""
    pings: bool = False
    split: int = 0
    break_after: int | None = None
    break_as: Break = "dropped"
    hold: Hold | None = None
    hold_after: int | None = None

    @property
    def why(self) -> str:
        return self.stop or ("tool_calls" if self.calls else "end")

    def texts(self) -> list[str]:
        return _cut(self.text, self.pieces)


@dataclass(frozen=True, slots=True)
class Event:
    """One event on the wire. `said` marks a piece of text, which faults count by."""

    data: str
    name: str = ""
    said: bool = False

    def encode(self) -> bytes:
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {self.data}\n\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A wire format: its path, its stream, its errors."""

    name: str
    path: str
    base: str
    stream: Callable[[Reply, Mapping[str, Any]], Sequence[Event]]
    error_body: Callable[[Reply], Mapping[str, Any]]
    error_event: Callable[[Reply], Event]
    ping: bytes
    broken: bytes


def event(value: Mapping[str, Any], *, name: str = "", said: bool = False) -> Event:
    return Event(json.dumps(value, ensure_ascii=False), name, said)


def cut_arguments(arguments: str) -> list[str]:
    return _cut(arguments, 2)


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[at : at + size] for at in range(0, len(text), size)]
