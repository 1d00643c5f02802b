"""The Anthropic Messages format: named events, blocks that start, grow and stop, pings between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.testing.wire.replies import Event, Reply, Wire, cut_arguments, event

_STOPS = {"end": "end_turn", "tool_calls": "tool_use", "max_tokens": "max_tokens", "refused": "refusal"}
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
_TYPES |= {413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


def _stream(reply: Reply, request: Mapping[str, Any]) -> list[Event]:
    usage = {
        "input_tokens": reply.input - reply.cache_read - reply.cache_write,
        "cache_read_input_tokens": reply.cache_read,
        "cache_creation_input_tokens": reply.cache_write,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model"),
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    made = [_event("message_start", message=message)]
    index = 0
    if reply.thinking:
        made.append(_start(index, {"type": "thinking", "thinking": "", "signature": ""}))
        made.append(_delta(index, {"type": "thinking_delta", "thinking": reply.thinking}))
        if reply.signature:
            made.append(_delta(index, {"type": "signature_delta", "signature": reply.signature}))
        made.append(_event("content_block_stop", index=index))
        index += 1
    if reply.text:
        made.append(_start(index, {"type": "text", "text": ""}))
        made += [_delta(index, {"type": "text_delta", "text": piece}, said=True) for piece in reply.texts()]
        made.append(_event("content_block_stop", index=index))
        index += 1
    for call in reply.calls:
        made.append(_start(index, {"type": "tool_use", "id": call.call, "name": call.tool, "input": {}}))
        made += [
            _delta(index, {"type": "input_json_delta", "partial_json": piece})
            for piece in cut_arguments(call.arguments)
        ]
        made.append(_event("content_block_stop", index=index))
        index += 1
    ended = {"stop_reason": _STOPS[reply.why], "stop_sequence": None}
    made.append(_event("message_delta", delta=ended, usage={"output_tokens": reply.output}))
    made.append(_event("message_stop"))
    return made


def _event(name: str, *, said: bool = False, **fields: Any) -> Event:
    return event({"type": name, **fields}, name=name, said=said)


def _start(index: int, block: Mapping[str, Any]) -> Event:
    return _event("content_block_start", index=index, content_block=block)


def _delta(index: int, delta: Mapping[str, Any], *, said: bool = False) -> Event:
    return _event("content_block_delta", index=index, delta=delta, said=said)


def _error(reply: Reply) -> dict[str, Any]:
    kind = reply.error_type or _TYPES.get(reply.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": reply.error or kind}, "request_id": "req_1"}


def _error_event(reply: Reply) -> Event:
    kind = reply.error_type or "overloaded_error"
    return _event("error", error={"type": kind, "message": reply.error or "Overloaded"})


anthropic_wire = Wire(
    name="anthropic",
    path="/v1/messages",
    base="",
    stream=_stream,
    error_body=_error,
    error_event=_error_event,
    broken=b'event: content_block_delta\ndata: {"type": "content_block_delta", "ind\n\n',
    ping=b'event: ping\ndata: {"type": "ping"}\n\n',
)
