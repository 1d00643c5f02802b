"""What a model can do, found out by asking it: does it answer, how fast, does it stream, call tools, keep to a schema,
see a picture.

Five short calls. Each finding says what was seen; a call that fails says why and does not keep the others from being
made, unless the first one fails: then there is nothing to find out.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import field
from typing import Any, Final, cast

from weft.models.answer import Answer, add_usage, gather
from weft.models.model import Model, ModelError, Request, TextDelta, ThinkingDelta, prepare
from weft.models.structured import ask
from weft.protocol.errors import ModelFeedback
from weft.protocol.messages import Media, Message, Text, ToolSpec, Usage
from weft.protocol.values import dataclass

_TOOL: Final = ToolSpec(
    name="note_number",
    description="Notes a number",
    input_schema={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
)
_SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "letters": {"type": "integer"}},
    "required": ["city", "letters"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """`works` is None when it could not be found out; `note` says what was seen."""

    works: bool | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Seconds to the first part and to the end of a short answer, and what works."""

    model: str
    answers: Ability
    first_part: float | None = None
    whole: float | None = None
    streaming: Ability = Ability(works=None, note="not asked")
    tools: Ability = Ability(works=None, note="not asked")
    schema: Ability = Ability(works=None, note="not asked")
    pictures: Ability = Ability(works=None, note="not asked")
    window: int = 0
    """Tokens that fit, as it is taken to be."""
    usage: Usage = field(default_factory=Usage)


async def probe(model: Model, clock: Callable[[], float], *, pictures: bool = False) -> Probe:
    """Really calls. `clock` gives seconds that only grow. What is loaded once is not part of the latency."""
    try:
        await prepare(model)
    except ModelError as error:
        return Probe(model=model.name, answers=Ability(works=False, note=_said(error)))
    began = clock()
    first: float | None = None
    deltas = 0
    answer = Answer()
    try:
        async with aclosing(
            cast(Any, model.stream(_asking("Count from one to ten, in words, separated by spaces.")))
        ) as parts:
            async for part in parts:
                if isinstance(part, TextDelta | ThinkingDelta):
                    first = clock() - began if first is None else first
                    deltas += 1
                answer.add(part)
    except ModelError as error:
        return Probe(model=model.name, answers=Ability(works=False, note=_said(error)))
    whole = clock() - began
    used = answer.usage
    tools, used = await _tools(model, used)
    schema, used = await _schema(model, used)
    seen = Ability(works=None, note="not asked")
    if pictures:
        seen, used = await _picture(model, used)
    return Probe(
        model=model.name,
        answers=Ability(works=bool(answer.text.strip()), note=answer.text.strip()[:80] or "it said nothing"),
        first_part=first,
        whole=whole,
        streaming=Ability(works=deltas > 1, note=f"{deltas} pieces"),
        tools=tools,
        schema=schema,
        pictures=seen,
        window=model.window,
        usage=used,
    )


async def _tools(model: Model, used: Usage) -> tuple[Ability, Usage]:
    asking = _asking("Call the tool note_number with the number 7.")
    request = Request(system=asking.system, messages=asking.messages, tools=(_TOOL,), max_tokens=asking.max_tokens)
    try:
        answer = await gather(model.stream(request))
    except ModelError as error:
        return Ability(works=False, note=_said(error)), used
    used = add_usage(used, answer.usage)
    called = [call for call in answer.calls if call.tool == _TOOL.name]
    if not called:
        return Ability(works=False, note="it answered without calling the tool"), used
    if called[0].malformed:
        return Ability(works=False, note="it called the tool with something that is not JSON"), used
    return Ability(works=True, note=f"called with {dict(called[0].input)}"), used


async def _schema(model: Model, used: Usage) -> tuple[Ability, Usage]:
    try:
        found = await ask(model, _asking("Name the capital of France and count its letters."), _SCHEMA, asks=2)
    except ModelError as error:
        return Ability(works=False, note=_said(error)), used
    except ModelFeedback as error:
        return Ability(works=False, note=error.findings[0].message), used
    times = "at once" if found.asks == 1 else f"after being asked {found.asks} times"
    return Ability(works=True, note=f"{found.way}, {times}"), add_usage(used, found.usage)


async def _picture(model: Model, used: Usage) -> tuple[Ability, Usage]:
    asked = Text(text="Which colour is this picture? Answer with one word.")
    content = (asked, Media(media_type="image/png", data=_red_picture(), name="picture.png"))
    request = Request(system="", messages=(Message(role="user", content=content),), max_tokens=400)
    try:
        answer = await gather(model.stream(request))
    except ModelError as error:
        return Ability(works=False, note=_said(error)), used
    said = answer.text.strip()[:80]
    return Ability(works="red" in said.lower(), note=f"of a red one it says: {said or 'nothing'}"), add_usage(
        used, answer.usage
    )


def _red_picture() -> bytes:
    """A red square of 64 by 64, as PNG."""

    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * 64) * 64
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + block(b"IHDR", head) + block(b"IDAT", zlib.compress(rows, 9)) + block(b"IEND", b"")


def _asking(what: str) -> Request:
    return Request(system="", messages=(Message(role="user", content=(Text(text=what),)),), max_tokens=400)


def _said(error: ModelError) -> str:
    return f"{error.kind}: {error.message}" + (f"; {error.hint}" if error.hint else "")
