"""OpenAI's Responses API: what its reasoning models are best reached through. Nothing is stored on their side.

What a model thought goes back sealed, as it came: without a copy of theirs it could not go on from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from weft.models.http_model import HttpModel, Reader
from weft.models.model import Part, Request, Stop, TextDelta, ThinkingDelta, text_of
from weft.models.openai_chat import BASE_URL, THINKERS, count, data_url, is_strict, most_tokens, tool_call
from weft.models.provider_errors import malformed, told_error
from weft.models.structured import Way
from weft.protocol.messages import Content, Media, Message, StopReason, Text, Thinking, ToolCall, ToolResult, Usage

_CUT: Final[Mapping[str, StopReason]] = {"max_output_tokens": "max_tokens", "content_filter": "refused"}


class OpenAIResponses(HttpModel):
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def url(self) -> str:
        return (self._endpoint.base_url or BASE_URL).rstrip("/") + "/responses"

    def reader(self) -> Reader:
        return _ResponsesReader(self.name)

    def body(self, request: Request) -> dict[str, Any]:
        items = [item for message in request.messages for item in _items(message)]
        body: dict[str, Any] = {"model": self._endpoint.model, "input": items, "stream": True, "store": False}
        if request.system:
            body["instructions"] = request.system
        if (most := most_tokens(self._endpoint, request)) is not None:
            body["max_output_tokens"] = most
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                    "strict": False,
                }
                for tool in request.tools
            ]
            body["tool_choice"] = {"type": "function", "name": request.must_call} if request.must_call else "auto"
        if request.schema is not None:
            wanted = {"name": "answer", "schema": dict(request.schema), "strict": is_strict(request.schema)}
            body["text"] = {"format": {"type": "json_schema", **wanted}}
        thinks = THINKERS.match(self._endpoint.model.rpartition("/")[2])
        if thinks:
            body["include"] = ["reasoning.encrypted_content"]
        if thinks and request.thinking != "off":
            body["reasoning"] = {"effort": request.thinking, "summary": "auto"}
        elif request.temperature is not None:
            body["temperature"] = request.temperature
        return body


def _items(message: Message) -> list[dict[str, Any]]:
    """A message as the wire has it: what is said together, each call and each result by itself, in their order."""
    made: list[dict[str, Any]] = []
    said: list[dict[str, Any]] = []
    for one in message.content:
        if isinstance(one, ToolCall):
            arguments = json.dumps(dict(one.input), ensure_ascii=False)
            made.append({"type": "function_call", "call_id": one.call, "name": one.tool, "arguments": arguments})
        elif isinstance(one, ToolResult):
            made.append({"type": "function_call_output", "call_id": one.call, "output": one.text})
        elif isinstance(one, Thinking):
            ident, line, sealed = one.signature.partition("\n")
            if line:
                summary = [{"type": "summary_text", "text": one.text}] if one.text else []
                thought = {"type": "reasoning", "id": ident, "summary": summary}
                made.append({**thought, "encrypted_content": sealed} if sealed else thought)
        elif message.role == "assistant":
            if isinstance(one, Text) and one.text:
                made.append({"role": "assistant", "content": one.text})
        else:
            said.append(_told(one))
    return [*made, {"role": "user", "content": said}] if said else made


def _told(one: Content) -> dict[str, Any]:
    if not isinstance(one, Media):
        return {"type": "input_text", "text": one.text if isinstance(one, Text) else ""}
    if one.media_type.startswith("text/"):
        return {"type": "input_text", "text": text_of(one)}
    if one.media_type.startswith("image/"):
        return {"type": "input_image", "image_url": data_url(one), "detail": "auto"}
    return {"type": "input_file", "filename": one.name or "file", "file_data": data_url(one)}


class _ResponsesReader:
    """Items that are added, grow and are done. Text goes out as it comes; calls when they are whole, at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: list[Part] = []
        self._usage = Usage()
        self._ended = ""
        """Its status, once it has one; with why it was cut."""
        self._streamed: set[Any] = set()
        """The items whose text came piece by piece."""
        self._refused = False

    def take(self, event: Any) -> list[Part]:
        if event is None:  # some servers end with [DONE], as on the other wire
            return []
        kind = event.get("type") if isinstance(event, dict) else None
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._streamed.add(event.get("item_id"))
                self._refused = self._refused or kind == "response.refusal.delta"
                return [TextDelta(text=str(event["delta"]))] if event.get("delta") else []
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._streamed.add(event.get("item_id"))
                return [ThinkingDelta(text=str(event["delta"]))] if event.get("delta") else []
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return [ThinkingDelta(text="\n\n")]
            case "response.output_item.done":
                return self._done(event.get("item"))
            case "response.completed" | "response.incomplete" | "response.done":
                return self._whole_end(event.get("response"))
            case "response.failed":
                said = event.get("response")
                raise told_error(self._name, (said.get("error") if isinstance(said, dict) else None) or event)
            case "error":
                raise told_error(self._name, event.get("error") or event)
            case None:
                if isinstance(event, dict) and event.get("error"):
                    raise told_error(self._name, event["error"])
                raise malformed(self._name, f"an event has no type: {str(event)[:80]}")
        return []

    def whole(self, value: Mapping[str, Any]) -> list[Part] | None:
        if value.get("object") != "response" or not isinstance(value.get("output"), list):
            return None
        made = [part for item in value["output"] for part in self._done(item)]
        return [*made, *self._whole_end(value), *(self.end() or ())]

    def end(self) -> list[Part] | None:
        if not self._ended:
            return None
        reason: StopReason = "refused" if self._refused else _CUT.get(self._ended, "end")
        if self._calls and reason == "end":
            reason = "tool_calls"
        return [*self._calls, self._usage, Stop(reason=reason)]

    def _whole_end(self, response: Any) -> list[Part]:
        if not isinstance(response, dict):
            raise malformed(self._name, "the answer ended without saying how")
        if response.get("error"):
            raise told_error(self._name, response["error"])
        details = response.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else ""
        self._ended = str(why or response.get("status") or "completed")
        self._usage = _usage(response.get("usage"))
        return []

    def _done(self, item: Any) -> list[Part]:
        if not isinstance(item, dict):
            return []
        match item.get("type"):
            case "function_call":
                arguments = item.get("arguments")
                written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
                call = str(item.get("call_id") or item.get("id") or f"call_{len(self._calls) + 1}")
                self._calls.append(tool_call(call, str(item.get("name") or ""), written))
            case "reasoning":
                return self._thought(item)
            case "message" if item.get("id") not in self._streamed:
                return self._said(item)
        return []

    def _thought(self, item: Mapping[str, Any]) -> list[Part]:
        told = [*(item.get("summary") or ()), *(item.get("content") or ())]
        text = "\n\n".join(str(one.get("text", "")) for one in told if isinstance(one, dict))
        made: list[Part] = []
        if text and item.get("id") not in self._streamed:
            made.append(ThinkingDelta(text=text))
        if item.get("id"):
            made.append(ThinkingDelta(text="", signature=f"{item['id']}\n{item.get('encrypted_content') or ''}"))
        return made

    def _said(self, item: Mapping[str, Any]) -> list[Part]:
        made: list[Part] = []
        for block in item.get("content") or ():
            if isinstance(block, dict):
                self._refused = self._refused or bool(block.get("refusal"))
                if text := block.get("text") or block.get("refusal"):
                    made.append(TextDelta(text=str(text)))
        return made


def _usage(used: Any) -> Usage:
    used = used if isinstance(used, dict) else {}
    return Usage(
        input=count(used, "input_tokens"),
        output=count(used, "output_tokens"),
        cache_read=count(used.get("input_tokens_details"), "cached_tokens"),
        reasoning=count(used.get("output_tokens_details"), "reasoning_tokens"),
    )
