"""The OpenAI Responses format: numbered events, items that are added, grow and are done, and the whole at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.testing.wire.openai_chat import openai_error
from weft.testing.wire.replies import Event, Reply, Wire, cut_arguments, event


class _Numbered:
    """Events with their running number, and the items they build."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.output: list[dict[str, Any]] = []

    def add(self, type_: str, /, *, said: bool = False, **fields: Any) -> None:
        value = {"type": type_, "sequence_number": len(self.events), **fields}
        self.events.append(event(value, name=type_, said=said))

    def begin(self, item: dict[str, Any]) -> dict[str, Any]:
        place = {"output_index": len(self.output), "item_id": item["id"]}
        self.add("response.output_item.added", output_index=place["output_index"], item=item)
        return place

    def finish(self, item: dict[str, Any]) -> None:
        self.add("response.output_item.done", output_index=len(self.output), item=item)
        self.output.append(item)


def _stream(reply: Reply, request: Mapping[str, Any]) -> list[Event]:
    made = _Numbered()
    whole: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": request.get("model")}
    whole |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "output": [], "usage": None}
    made.add("response.created", response={**whole, "status": "in_progress"})
    made.add("response.in_progress", response={**whole, "status": "in_progress"})
    if reply.thinking:
        _reasoning(made, reply)
    if reply.text or reply.why == "refused":
        _message(made, reply)
    for number, call in enumerate(reply.calls):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": call.call, "name": call.tool}
        place = made.begin({**item, "arguments": "", "status": "in_progress"})
        for piece in cut_arguments(call.arguments):
            made.add("response.function_call_arguments.delta", **place, delta=piece)
        made.add("response.function_call_arguments.done", **place, arguments=call.arguments, name=call.tool)
        made.finish({**item, "arguments": call.arguments, "status": "completed"})
    usage = {
        "input_tokens": reply.input,
        "output_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "input_tokens_details": {"cached_tokens": reply.cache_read},
        "output_tokens_details": {"reasoning_tokens": reply.reasoning},
    }
    ended: dict[str, Any] = {**whole, "output": made.output, "usage": usage, "status": "completed"}
    if reply.why in ("max_tokens", "refused"):
        reason = "max_output_tokens" if reply.why == "max_tokens" else "content_filter"
        ended |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    made.add(f"response.{ended['status']}", response=ended)
    return made.events


def _reasoning(made: _Numbered, reply: Reply) -> None:
    item: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
    place = {**made.begin(item), "summary_index": 0}
    part = {"type": "summary_text", "text": reply.thinking}
    made.add("response.reasoning_summary_part.added", **place, part={**part, "text": ""})
    made.add("response.reasoning_summary_text.delta", **place, delta=reply.thinking)
    made.add("response.reasoning_summary_text.done", **place, text=reply.thinking)
    made.add("response.reasoning_summary_part.done", **place, part=part)
    made.finish({**item, "summary": [part], "encrypted_content": reply.signature or None})


def _message(made: _Numbered, reply: Reply) -> None:
    item: dict[str, Any] = {"type": "message", "id": "m_1", "role": "assistant"}
    place = {**made.begin({**item, "status": "in_progress", "content": []}), "content_index": 0}
    part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
    made.add("response.content_part.added", **place, part=part)
    for piece in reply.texts():
        made.add("response.output_text.delta", said=True, **place, delta=piece, logprobs=[])
    made.add("response.output_text.done", **place, text=reply.text, logprobs=[])
    whole = {**part, "text": reply.text}
    made.add("response.content_part.done", **place, part=whole)
    made.finish({**item, "status": "completed", "content": [whole]})


def _error_event(reply: Reply) -> Event:
    code = reply.error_type or "server_error"
    said = reply.error or "The server had an error"
    return event({"type": "error", "sequence_number": 99, "code": code, "message": said, "param": None}, name="error")


openai_responses_wire = Wire(
    name="openai-responses",
    path="/v1/responses",
    base="/v1",
    stream=_stream,
    error_body=openai_error,
    error_event=_error_event,
    broken=b'event: response.output_text.delta\ndata: {"type": "response.output_text.del\n\n',
    ping=b": keep-alive\n\n",
)
