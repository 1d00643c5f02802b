"""A model that follows a script, strictly: a request the script does not expect fails the test with a diff.

    model = ScriptedModel([
        Turn(says("Let me look. "), calls("read", {"path": "a.md"}), expect={"messages/-1/content/0/text": "Hi"}),
        Turn(says("Done.")),
    ])
    …
    model.assert_done()

A turn's items are streamed in order: parts, errors that are raised, and a `Hold` where the stream waits for the test.
`Usage` and `Stop` are added at the end unless the turn has its own.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.models.model import ModelError, Part, Request, Stop, TextDelta, ThinkingDelta, as_json
from weft.models.structured import Way
from weft.protocol.messages import ToolCall, Usage
from weft.workspace.model_table import MediaKind


@dataclass(slots=True)
class Hold:
    """The stream stops here until the test lets it go: `await hold.reached.wait()`, then `hold.release.set()`."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)


Item = Part | ModelError | Hold
Expected = Request | Mapping[str, Any] | Callable[[Request], bool] | None


def says(text: str, *, pieces: int = 2) -> list[Item]:
    """Text in so many deltas (at least one)."""
    size = max(1, -(-len(text) // max(1, pieces)))
    return [TextDelta(text=text[at : at + size]) for at in range(0, len(text), size)] or [TextDelta(text="")]


def thinks(text: str, *, signature: str = "") -> list[Item]:
    return [ThinkingDelta(text=text), ThinkingDelta(text="", signature=signature)]


def calls(tool: str, given: Mapping[str, Any], *, call: str = "") -> list[Item]:
    return [ToolCall(call=call or f"call-{tool}", tool=tool, input=dict(given))]


class Turn:
    """What one request gets, and what it must be.

    `expect` is the whole request, a mapping from paths in it ("messages/-1/content/0/text") to values, or a function.
    """

    def __init__(self, *items: Item | Iterable[Item], expect: Expected = None) -> None:
        self.items: list[Item] = []
        for item in items:
            if isinstance(item, Iterable):
                self.items += item
            else:
                self.items.append(item)
        self.expect = expect

    def stream(self) -> list[Item]:
        made = list(self.items)
        if any(isinstance(item, ModelError) for item in made):
            return made
        if not any(isinstance(item, Usage) for item in made):
            said = sum(len(item.text) for item in made if isinstance(item, TextDelta))
            made.append(Usage(input=10, output=max(1, said // 4)))
        if not any(isinstance(item, Stop) for item in made):
            made.append(Stop(reason="tool_calls" if any(isinstance(item, ToolCall) for item in made) else "end"))
        return made


class UnexpectedRequest(AssertionError):  # noqa: N818
    """The model was asked what the script does not have."""


class ScriptedModel:
    def __init__(
        self,
        turns: Sequence[Turn] = (),
        *,
        name: str = "scripted",
        window: int = 100_000,
        output_ways: tuple[Way, ...] = ("native", "tool", "prompted"),
        media: frozenset[MediaKind] = frozenset(),
    ) -> None:
        self._turns = list(turns)
        self._name = name
        self._window = window
        self.output_ways = output_ways
        self.media = media
        self.requests: list[Request] = []
        self._unexpected: UnexpectedRequest | None = None
        self.closed = 0
        """How many streams were closed before their end."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return self._window

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        try:
            turn = self._turn(request)
        except UnexpectedRequest as error:
            self._unexpected = self._unexpected or error
            raise
        ended = False
        try:
            for item in turn.stream():
                if isinstance(item, Hold):
                    item.reached.set()
                    await item.release.wait()
                elif isinstance(item, ModelError):
                    ended = True
                    raise item
                else:
                    ended = ended or isinstance(item, Stop)
                    yield item
            ended = True
        finally:
            self.closed += not ended

    def _turn(self, request: Request) -> Turn:
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._turns):
            raise UnexpectedRequest(
                f"request {number + 1}, but the script has {len(self._turns)} turns:\n{_pretty(as_json(request))}"
            )
        _compare(number, self._turns[number].expect, request)
        return self._turns[number]

    def assert_done(self) -> None:
        """That it was asked for all it has and for nothing else, also where a conversation took that for a fault of a
        provider and went on."""
        if self._unexpected is not None:
            raise self._unexpected
        left = len(self._turns) - len(self.requests)
        if left > 0:
            raise AssertionError(f"{left} of {len(self._turns)} turns of the script were never asked for")


def _compare(number: int, expected: Expected, request: Request) -> None:
    got = as_json(request)
    if expected is None:
        return
    if isinstance(expected, Request):
        wanted: Any = as_json(expected)
    elif isinstance(expected, Mapping):
        wanted = {path: as_json(value) for path, value in expected.items()}
        got = {path: _at(got, path) for path in expected}
    elif expected(request):
        return
    else:
        raise UnexpectedRequest(f"request {number + 1} is not what the script expects:\n{_pretty(got)}")
    if got != wanted:
        lines = difflib.unified_diff(
            _pretty(wanted).splitlines(), _pretty(got).splitlines(), "expected", "asked", lineterm=""
        )
        raise UnexpectedRequest(f"request {number + 1} is not what the script expects:\n" + "\n".join(lines))


def _at(value: Any, path: str) -> Any:
    for step in path.split("/"):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            return f"(nothing at {path})"
    return value


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=str)
