"""Claude through the Anthropic Messages API, or any server that speaks it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from weft.models.http_model import HttpModel, Reader
from weft.models.model import Part, Request, Stop, TextDelta, ThinkingDelta, text_of
from weft.models.openai_chat import count, tool_call
from weft.models.provider_errors import malformed, told_error
from weft.protocol.messages import Content, Media, Message, StopReason, Text, Thinking, ToolCall, ToolResult, Usage

BASE_URL: Final = "https://api.anthropic.com"
VERSION: Final = "2026-10-21"
MAX_TOKENS: Final = 8192
_CACHE: Final = {"cache_control": {"type": "ephemeral"}}
_BUDGETS: Final = {"low": 2048, "medium": 8192, "high": 12288}
"""Tokens of thinking, for models that take a number; it stays below the most they may write."""
_BY_NUMBER: Final = re.compile(r"claude-(?:3.*|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:[-@]\d{8})?)\Z")
"""Models that are told how long to think by a number; those after them, by a level."""
_REDACTED: Final = "redacted_thinking\n"
"""Begins the seal of a block whose text is kept from us, so that it can go back as what it was."""
_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refused",
}
_NOT_ENFORCED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
    "maxItems", "uniqueItems", "minProperties", "maxProperties", "pattern"}
)  # fmt: skip
"""Words of a schema that the provider refuses; our own check holds the answer to them."""


class AnthropicMessages(HttpModel):
    def url(self) -> str:
        base = (self._endpoint.base_url or BASE_URL).rstrip("/")
        return f"{base.removesuffix('/v1')}/v1/messages"

    def headers(self) -> dict[str, str]:
        return {**super().headers(), "anthropic-version": VERSION}

    def reader(self) -> Reader:
        return _MessagesReader(self.name)

    def body(self, request: Request) -> dict[str, Any]:
        thinks = request.thinking != "off"
        most = request.max_tokens or MAX_TOKENS
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "max_tokens": max(most, 2 * MAX_TOKENS) if thinks else most,
            "messages": _with_cache_mark([made for one in request.messages if (made := _message(one))]),
            "stream": True,
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, **_CACHE}]
        if request.tools:
            tools = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
                for tool in request.tools
            ]
            body["tools"] = [*tools[:-1], {**tools[-1], **_CACHE}]
            if request.must_call and not thinks:  # a thinking model may not be held to one tool
                body["tool_choice"] = {"type": "tool", "name": request.must_call}
        config: dict[str, Any] = {}
        if thinks and _BY_NUMBER.match(self._endpoint.model):
            body["thinking"] = {"type": "enabled", "budget_tokens": _BUDGETS[request.thinking]}
        elif thinks:
            body["thinking"] = {"type": "adaptive"}
            config["effort"] = request.thinking
        elif request.temperature is not None:  # a thinking model refuses any but its own
            body["temperature"] = request.temperature
        if request.schema is not None:
            config["format"] = {"type": "json_schema", "schema": _enforced(request.schema)}
        return {**body, "output_config": config} if config else body


def _message(message: Message) -> dict[str, Any] | None:
    content = [block for one in message.content if (block := _block(one)) is not None]
    return {"role": message.role, "content": content} if content else None


def _block(one: Content) -> dict[str, Any] | None:
    if isinstance(one, Text):
        return {"type": "text", "text": one.text} if one.text.strip() else None
    if isinstance(one, Thinking):
        if one.signature.startswith(_REDACTED):
            return {"type": "redacted_thinking", "data": one.signature.removeprefix(_REDACTED)}
        return {"type": "thinking", "thinking": one.text, "signature": one.signature} if one.signature else None
    if isinstance(one, ToolCall):
        return {"type": "tool_use", "id": one.call, "name": one.tool, "input": dict(one.input)}
    if isinstance(one, ToolResult):
        told = {"content": [{"type": "text", "text": one.text}]} if one.text.strip() else {}
        return {"type": "tool_result", "tool_use_id": one.call, "is_error": one.is_error, **told}
    if isinstance(one, Media):
        return _media(one)
    return None


def _media(one: Media) -> dict[str, Any]:
    if one.media_type.startswith("text/"):
        return {"type": "text", "text": text_of(one)}
    source = {"type": "base64", "media_type": one.media_type, "data": base64.b64encode(one.data).decode()}
    return {"type": "image" if one.media_type.startswith("image/") else "document", "source": source}


def _with_cache_mark(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last block is where the next call of the same conversation finds what it can read from the cache."""
    if not messages:
        return messages
    last = messages[-1]
    blocks = last["content"]
    if blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        return messages
    return [*messages[:-1], {**last, "content": [*blocks[:-1], {**blocks[-1], **_CACHE}]}]


def _enforced(schema: Any) -> Any:
    """The part of a schema that the provider holds a model to: closed objects, no bounds of numbers and lengths."""
    if isinstance(schema, list):
        return [_enforced(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: _enforced(value) for key, value in schema.items() if key not in _NOT_ENFORCED}
    if isinstance(schema.get("properties"), Mapping):
        made["properties"] = {key: _enforced(value) for key, value in schema["properties"].items()}
    if schema.get("type") == "object" or "properties" in schema:
        made["additionalProperties"] = False
    return made


class _MessagesReader:
    """Blocks that start, grow and stop. A call goes out when its block stops."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._used: dict[str, int] = {}
        self._stop = ""
        self._done = False
        self._calls: list[Part] = []

    def take(self, event: Any) -> list[Part]:
        if event is None:  # some servers end with [DONE], as on the other wire
            return []
        kind = event.get("type") if isinstance(event, dict) else None
        match kind:
            case "content_block_delta":
                return self._delta(event)
            case "content_block_start":
                block = event.get("content_block")
                self._blocks[event.get("index")] = {**block, "pieces": []} if isinstance(block, dict) else {}
                return self._opened(self._blocks[event.get("index")])
            case "content_block_stop":
                return self._closed(self._blocks.pop(event.get("index"), {}))
            case "message_start":
                return self._count((event.get("message") or {}).get("usage"))
            case "message_delta":
                self._stop = (event.get("delta") or {}).get("stop_reason") or self._stop
                self._count(event.get("usage"))
            case "message_stop":
                self._done = True
            case "error":
                raise told_error(self._name, event.get("error") or event)
            case None:
                raise malformed(self._name, f"an event has no type: {str(event)[:80]}")
        return []

    def whole(self, value: Mapping[str, Any]) -> list[Part] | None:
        blocks = value.get("content")
        if value.get("type") != "message" or not isinstance(blocks, list):
            return None
        made = self.take({"type": "message_start", "message": value})
        for number, block in enumerate(blocks):
            made += self.take({"type": "content_block_start", "index": number, "content_block": block})
            made += self.take({"type": "content_block_stop", "index": number})
        self._stop = str(value.get("stop_reason") or "")
        return [*made, *(self.end() or ())]

    def end(self) -> list[Part] | None:
        if not self._stop:
            return None
        reason = _STOPS.get(self._stop, "end")
        if self._calls and reason == "end":
            reason = "tool_calls"
        return [*self._calls, self._usage(), Stop(reason=reason)]

    def _opened(self, block: dict[str, Any]) -> list[Part]:
        if block.get("type") == "text" and block.get("text"):
            return [TextDelta(text=block["text"])]
        if block.get("type") == "thinking" and block.get("thinking"):
            return [ThinkingDelta(text=block["thinking"])]
        return []

    def _delta(self, event: Mapping[str, Any]) -> list[Part]:
        delta = event.get("delta") or {}
        match delta.get("type"):
            case "text_delta":
                return [TextDelta(text=delta["text"])] if delta.get("text") else []
            case "thinking_delta":
                return [ThinkingDelta(text=delta["thinking"])] if delta.get("thinking") else []
            case "signature_delta":
                block = self._blocks.get(event.get("index"), {})
                block["signature"] = (block.get("signature") or "") + str(delta.get("signature") or "")
            case "input_json_delta":
                pieces = self._blocks.get(event.get("index"), {}).get("pieces")
                if pieces is not None:
                    pieces.append(str(delta.get("partial_json") or ""))
        return []

    def _closed(self, block: Mapping[str, Any]) -> list[Part]:
        match block.get("type"):
            case "thinking" if block.get("signature"):
                return [ThinkingDelta(text="", signature=block["signature"])]
            case "redacted_thinking":
                return [ThinkingDelta(text="", signature=f"{_REDACTED}{block.get('data', '')}")]
            case "tool_use":
                written, given = "".join(block["pieces"]), block.get("input")
                call, tool = str(block.get("id") or ""), str(block.get("name") or "")
                if not written and isinstance(given, dict) and given:
                    self._calls.append(ToolCall(call=call, tool=tool, input=given))
                else:
                    self._calls.append(tool_call(call, tool, written))
        return []

    def _count(self, used: Any) -> list[Part]:
        """Each report has the totals so far of what it names; what it leaves out stays as it was."""
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        found = {name: number for name in names if (number := count(used, name)) is not None}
        self._used |= found
        return [self._usage()] if found else []

    def _usage(self) -> Usage:
        read, written = self._used.get("cache_read_input_tokens"), self._used.get("cache_creation_input_tokens")
        plain = self._used.get("input_tokens")
        return Usage(
            input=None if plain is None else plain + (read or 0) + (written or 0),  # cached ones are counted apart here
            output=self._used.get("output_tokens"),
            cache_read=read,
            cache_write=written,
        )
