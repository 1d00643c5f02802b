"""The OpenAI Chat Completions format: unnamed chunks, usage in one of its own, and [DONE]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.testing.wire.replies import Event, Reply, Wire, cut_arguments, event

_STOPS = {"end": "stop", "tool_calls": "tool_calls", "max_tokens": "length", "refused": "content_filter"}
_TYPES = {400: "invalid_request_error", 401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def _stream(reply: Reply, request: Mapping[str, Any]) -> list[Event]:
    def chunk(delta: Mapping[str, Any] | None, *, said: bool = False, **more: Any) -> Event:
        finish = more.pop("finish", None)
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.get("model")}
        return event({**whole, "choices": choices, **more}, said=said)

    made = [chunk({"role": "assistant", "content": ""})]
    if reply.thinking:
        made.append(chunk({"reasoning_content": reply.thinking}))
    made += [chunk({"content": piece}, said=True) for piece in reply.texts()]
    for index, call in enumerate(reply.calls):
        named = {"index": index, "id": call.call, "type": "function"}
        made.append(chunk({"tool_calls": [{**named, "function": {"name": call.tool, "arguments": ""}}]}))
        made += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in cut_arguments(call.arguments)
        ]
    made.append(chunk({}, finish=_STOPS[reply.why]))
    if (request.get("stream_options") or {}).get("include_usage"):
        usage = {
            "prompt_tokens": reply.input,
            "completion_tokens": reply.output,
            "total_tokens": reply.input + reply.output,
            "prompt_tokens_details": {"cached_tokens": reply.cache_read},
            "completion_tokens_details": {"reasoning_tokens": reply.reasoning},
        }
        made.append(chunk(None, usage=usage))
    made.append(Event("[DONE]"))
    return made


def openai_error(reply: Reply) -> dict[str, Any]:
    kind = reply.error_type or _TYPES.get(reply.status, "server_error")
    return {"error": {"message": reply.error or kind, "type": kind, "param": None, "code": kind}}


def _error_event(reply: Reply) -> Event:
    return event(openai_error(reply))


openai_chat_wire = Wire(
    name="openai-chat",
    path="/v1/chat/completions",
    base="/v1",
    stream=_stream,
    error_body=openai_error,
    error_event=_error_event,
    broken=b'data: {"id": "chatcmpl-1", "object": "chat.comp\n\n',
    ping=b": ping\n\n",
)
