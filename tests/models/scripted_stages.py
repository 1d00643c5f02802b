"""The stage of the conformance suite that needs no wire: the replies as a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from weft.models.model import ErrorKind, Model, ModelError, Stop, TextDelta, ThinkingDelta
from weft.protocol.messages import ToolCall, Usage
from weft.testing.scripted import Item, ScriptedModel, Turn
from weft.testing.wire.replies import Called, Reply

_KINDS: Final[dict[int, ErrorKind]] = {401: "auth", 404: "invalid_request", 429: "rate_limited"}
_BREAKS: Final[dict[str, ErrorKind]] = {"error event": "overloaded", "broken json": "malformed"}


@asynccontextmanager
async def scripted_stage(replies: Sequence[Reply]) -> AsyncIterator[Model]:
    yield ScriptedModel([Turn(items_of(reply)) for reply in replies])


def items_of(reply: Reply) -> list[Item]:
    """What a reply is in our own parts."""
    failed = _failure(reply)
    if failed is not None and reply.break_after is None:
        return [failed]
    items: list[Item] = [reply.hold] if reply.hold is not None and reply.hold_after is None else []
    if reply.thinking:
        items += [ThinkingDelta(text=reply.thinking), ThinkingDelta(text="", signature=reply.signature)]
    for number, piece in enumerate(reply.texts()):
        if failed is not None and reply.break_after == number:
            return [*items, failed]
        if reply.hold is not None and reply.hold_after == number:
            items.append(reply.hold)
        items.append(TextDelta(text=piece))
    items += [_called(call) for call in reply.calls]
    items.append(Usage(input=reply.input, output=reply.output, reasoning=reply.reasoning or None))
    items.append(Stop(reason=reply.stop or ("tool_calls" if reply.calls else "end")))
    return items


def _called(call: Called) -> ToolCall:
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        value = None
    if isinstance(value, dict):
        return ToolCall(call=call.call, tool=call.tool, input=value)
    return ToolCall(call=call.call, tool=call.tool, input={}, malformed=call.arguments)


def _failure(reply: Reply) -> ModelError | None:
    if reply.break_after is not None:
        return ModelError(_BREAKS.get(reply.break_as, "network"), "it broke off", hint="try again", retryable=True)
    if reply.status == 200:
        return None
    long = "too long" in reply.error
    kind: ErrorKind = "overloaded" if reply.status >= 500 else _KINDS.get(reply.status, "invalid_request")
    wait = float(reply.headers["retry-after"]) if "retry-after" in reply.headers else None
    retryable = reply.status == 429 or reply.status >= 500
    hint = "what a person can do"
    return ModelError("context_too_long" if long else kind, reply.error, hint=hint, retryable=retryable, wait=wait)
