"""Google's generateContent format: whole responses in a row, arguments as objects, usage growing with each."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from weft.testing.wire.replies import Event, Reply, Wire, event

MODEL = "gemini-2.5-flash"
_STOPS = {"end": "STOP", "tool_calls": "STOP", "max_tokens": "MAX_TOKENS", "refused": "SAFETY"}
_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
_STATUSES |= {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}


def _stream(reply: Reply, request: Mapping[str, Any]) -> list[Event]:
    made: list[Event] = []
    if reply.thinking:
        made.append(_part(reply, {"text": reply.thinking, "thought": True}))
    seal = {"thoughtSignature": base64.b64encode(reply.signature.encode()).decode()} if reply.signature else {}
    for number, piece in enumerate(reply.texts()):
        made.append(_part(reply, {"text": piece, **(seal if number == 0 else {})}, said=True))
    for call in reply.calls:
        called = {"name": call.tool, "args": json.loads(call.arguments or "{}"), "id": call.call}
        made.append(_part(reply, {"functionCall": called}))
    last = {"candidates": [{"content": {"role": "model"}, "finishReason": _STOPS[reply.why], "index": 0}]}
    made.append(event({**last, "usageMetadata": _usage(reply, reply.output), **_NAMES}))
    return made


_NAMES = {"modelVersion": MODEL, "responseId": "resp_1"}


def _part(reply: Reply, part: Mapping[str, Any], *, said: bool = False) -> Event:
    candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
    return event({"candidates": [candidate], "usageMetadata": _usage(reply, 1), **_NAMES}, said=said)


def _usage(reply: Reply, output: int) -> dict[str, int]:
    """Thinking is counted beside the answer here, not in it."""
    used = {"promptTokenCount": reply.input, "candidatesTokenCount": max(0, output - reply.reasoning)}
    if reply.reasoning:
        used["thoughtsTokenCount"] = reply.reasoning
    if reply.cache_read:
        used["cachedContentTokenCount"] = reply.cache_read
    return {**used, "totalTokenCount": reply.input + output}


def _error(reply: Reply) -> dict[str, Any]:
    status = reply.error_type or _STATUSES.get(reply.status, "UNKNOWN")
    return {"error": {"code": reply.status, "message": reply.error or status, "status": status}}


def _error_event(reply: Reply) -> Event:
    message = reply.error or "The model is overloaded."
    return event({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})


google_wire = Wire(
    name="google",
    path=f"/v1/models/{MODEL}:streamGenerateContent",
    base="",
    stream=_stream,
    error_body=_error,
    error_event=_error_event,
    broken=b'data: {"candidates": [{"cont\n\n',
    ping=b"",
)
