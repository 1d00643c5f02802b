"""OpenAI Chat Completions at any address: OpenAI, Azure, gateways, OpenRouter, Ollama, llama.cpp, vLLM.

Servers that speak it differ in what they leave out and add. What is sent is what all of them take; what is read allows
for every habit that was met: usage in each chunk as the total so far or once at the end, calls without a number or in
one piece, thinking in a field of its own or between `<think>` tags, an error in place of a chunk.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from typing import Any, Final
from urllib.parse import urlsplit

from weft.models.endpoint import Endpoint
from weft.models.http_model import HttpModel, Reader
from weft.models.model import ModelError, Part, Request, Stop, TextDelta, ThinkingDelta, text_of
from weft.models.provider_errors import malformed, told_error
from weft.models.structured import Way
from weft.protocol.messages import Content, Media, Message, StopReason, Text, Thinking, ToolCall, ToolResult, Usage
from weft.protocol.values import dataclass

BASE_URL: Final = "https://api.openai.com/v1"
MAX_TOKENS: Final = 8192
"""Of an answer, where nobody says: an endless one must have an end."""
USAGE_EVERY: Final = 32
"""Chunks: a total in each of them is told so often, and at the end."""
THINKERS: Final = re.compile(r"(?:gpt-(?:[5-9]|oss)|o[1-9])", re.ASCII)
"""Models that take a level of thinking; others refuse the word."""
_COUNTED: Final = re.compile(r"(?i)max_tokens|in the completion|completion tokens|output tokens")
_STOPS: Final[Mapping[str, StopReason]] = {
    "stop": "end",
    "length": "max_tokens",
    "content_filter": "refused",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
_PLAIN: Final = frozenset(
    {"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items", "properties",
    "required", "title", "type"}
)  # fmt: skip
"""What a schema may hold that OpenAI enforces to the letter."""


class OpenAIChat(HttpModel):
    output_ways: tuple[Way, ...] = ("native", "tool", "prompted")

    def url(self) -> str:
        return (self._endpoint.base_url or BASE_URL).rstrip("/") + "/chat/completions"

    def reader(self) -> Reader:
        return _ChatReader(self.name)

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        said = False
        try:
            async for part in super().stream(request):
                said = said or not isinstance(part, Usage)
                yield part
            return
        except ModelError as error:
            # Some servers count the most that may be answered as part of the prompt. That is our number, not theirs.
            counted = error.kind == "context_too_long" and _COUNTED.search(error.message)
            if said or not counted or request.max_tokens is not None:
                raise
        body = {key: value for key, value in self.body(request).items() if key != "max_tokens"}
        async for part in self.answer(body):
            yield part

    def body(self, request: Request) -> dict[str, Any]:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        for message in request.messages:
            messages += _answered(message) if message.role == "assistant" else _told(message)
        body: dict[str, Any] = {"model": self._endpoint.model, "messages": messages, "stream": True}
        body["stream_options"] = {"include_usage": True}
        body |= self._most(request)
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.input_schema),
                    },
                }
                for tool in request.tools
            ]
            body["tool_choice"] = "required" if request.must_call else "auto"
        if request.schema is not None:
            wanted = {"name": "answer", "schema": dict(request.schema), "strict": is_strict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if request.thinking != "off" and THINKERS.match(self._endpoint.model.rpartition("/")[2]):
            body["reasoning_effort"] = request.thinking
        elif request.temperature is not None:
            body["temperature"] = request.temperature
        return body

    def _most(self, request: Request) -> dict[str, int]:
        """OpenAI has another word for it; all others know the older word."""
        most = most_tokens(self._endpoint, request)
        if most is None:
            return {}
        return {"max_completion_tokens" if is_openai(self._endpoint) else "max_tokens": most}


def is_openai(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url or BASE_URL).hostname or ""
    return host == "api.openai.com" or host.endswith(".openai.azure.com")


def most_tokens(endpoint: Endpoint, request: Request) -> int | None:
    """Of an answer; None where OpenAI's own bound for each model counts."""
    if request.max_tokens is not None or is_openai(endpoint):
        return request.max_tokens
    return min(MAX_TOKENS, endpoint.window // 2 or MAX_TOKENS)


def _told(message: Message) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    said: list[dict[str, Any]] = []
    for one in message.content:
        if isinstance(one, ToolResult):
            made.append({"role": "tool", "tool_call_id": one.call, "content": one.text})
        elif isinstance(one, Text):
            said.append({"type": "text", "text": one.text})
        elif isinstance(one, Media):
            said.append(_media(one))
    if said:
        alone = said[0]["text"] if len(said) == 1 and said[0]["type"] == "text" else said
        made.append({"role": "user", "content": alone})
    return made


def data_url(one: Media) -> str:
    return f"data:{one.media_type};base64,{base64.b64encode(one.data).decode()}"


def _media(one: Media) -> dict[str, Any]:
    if one.media_type.startswith("text/"):
        return {"type": "text", "text": text_of(one)}
    url = data_url(one)
    if one.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url, "filename": one.name or "file"}}


def _answered(message: Message) -> list[dict[str, Any]]:
    text = "".join(_as_text(one) for one in message.content)
    made: dict[str, Any] = {"role": "assistant", "content": text or None}
    calls = [
        {
            "id": one.call,
            "type": "function",
            "function": {"name": one.tool, "arguments": json.dumps(dict(one.input), ensure_ascii=False)},
        }
        for one in message.content
        if isinstance(one, ToolCall)
    ]
    return [{**made, "tool_calls": calls} if calls else {**made, "content": text}]


def _as_text(one: Content) -> str:
    if isinstance(one, Thinking):
        return f"<think>\n{one.text}\n</think>\n\n" if one.text else ""
    return one.text if isinstance(one, Text) else ""


def is_strict(schema: Any) -> bool:
    """Whether OpenAI can hold a model to it: every object closed, all its keys required, no word it does not know."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if not schema.keys() <= _PLAIN:
        return False
    properties = schema.get("properties", {})
    if "properties" in schema or schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    inner = [*properties.values(), *schema.get("$defs", {}).values(), schema.get("items"), schema.get("anyOf")]
    return all(map(is_strict, inner))


@dataclass(slots=True)
class _Call:
    call: str
    tool: str = ""
    arguments: list[str] = field(default_factory=list)


class _ChatReader:
    """Chunks in, parts out. Text goes out as it comes; calls when they are whole, at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: list[_Call] = []
        self._places: dict[int, int] = {}
        """By the number that a server gives a call, its place among them."""
        self._usage, self._told = Usage(), Usage()
        self._stop = ""
        self._refused = self._done = self._spoke = False
        self._tags = _ThinkTags()
        self._chunks = 0

    def take(self, event: Any) -> list[Part]:
        if event is None:
            self._done = True
            return []
        if not isinstance(event, dict):
            raise malformed(self._name, f"a chunk is no object: {str(event)[:80]}")
        if event.get("error"):
            raise told_error(self._name, event["error"])
        made: list[Part] = []
        for choice in event.get("choices") or ():
            if not isinstance(choice, dict):
                continue
            if choice.get("error"):
                raise told_error(self._name, choice["error"])
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._delta(delta, made)
            self._stop = choice.get("finish_reason") or self._stop
        used = event.get("usage") or (event.get("x_groq") or {}).get("usage")
        if isinstance(used, dict):
            self._usage = _usage(used)  # the last one counts: those who tell it in each chunk tell the total so far
        self._chunks += 1
        if self._chunks % USAGE_EVERY == 1 and self._usage != self._told:
            made.append(self._usage)
            self._told = self._usage
        return made

    def whole(self, value: Mapping[str, Any]) -> list[Part] | None:
        choices = value.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return None
        chunk = {**choices[0], "delta": choices[0].get("message"), "finish_reason": choices[0].get("finish_reason")}
        return [*self.take({**value, "choices": [chunk]}), *(self.end() or ())]

    def end(self) -> list[Part] | None:
        if not self._stop and not (self._done and (self._spoke or self._calls)):
            return None
        reason: StopReason = "refused" if self._refused else _STOPS.get(self._stop, "end")
        if self._calls and reason == "end":
            reason = "tool_calls"
        elif reason == "tool_calls" and not self._calls:
            reason = "end"
        calls = [tool_call(one.call, one.tool, "".join(one.arguments)) for one in self._calls]
        return [*self._tags.rest(), *calls, self._usage, Stop(reason=reason)]

    def _delta(self, delta: Mapping[str, Any], made: list[Part]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            made.append(ThinkingDelta(text=thought))
        content = delta.get("content")
        if isinstance(content, str) and content:
            self._spoke = True
            made += self._tags.take(content)
        elif isinstance(content, list):
            made += self._blocks(content)
        if delta.get("refusal"):
            self._refused = self._spoke = True
            made.append(TextDelta(text=str(delta["refusal"])))
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict):
                self._call(call)

    def _blocks(self, content: list[Any]) -> list[Part]:
        """Some send a list of blocks in place of a text."""
        made: list[Part] = []
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                self._spoke = True
                made.append(TextDelta(text=block["text"]))
            elif isinstance(block, dict) and isinstance(block.get("thinking"), list):
                said = "".join(str(one.get("text", "")) for one in block["thinking"] if isinstance(one, dict))
                made.append(ThinkingDelta(text=said))
        return made

    def _call(self, piece: Mapping[str, Any]) -> None:
        given = piece.get("function")
        function: Mapping[str, Any] = given if isinstance(given, dict) else {}
        number, ident, tool = piece.get("index"), piece.get("id"), function.get("name")
        place = self._places.get(number) if isinstance(number, int) else None
        if place is None and not isinstance(number, int) and self._calls and not tool:
            place = len(self._calls) - 1
        if place is None or (ident and tool and self._calls[place].call != ident):
            # Not all give a number, and some give all calls the same.
            place = len(self._calls)
            self._calls.append(_Call(str(ident or f"call_{place + 1}")))
        if isinstance(number, int):
            self._places[number] = place
        call = self._calls[place]
        call.tool = call.tool or str(tool or "")
        arguments = function.get("arguments")
        if arguments:
            call.arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))


class _ThinkTags:
    """Thinking that a server leaves in the text, between tags at its very beginning."""

    OPEN, CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"

    def take(self, text: str) -> list[Part]:
        if self._state == "after":
            return [TextDelta(text=text)]
        if self._state == "gap":
            self._held = text.lstrip("\n")
            self._state = "after" if self._held else "gap"
            return self.rest()
        self._held += text
        if self._state == "before":
            head = self._held.lstrip()
            if self.OPEN.startswith(head[: len(self.OPEN)]) and len(head) < len(self.OPEN):
                return []
            if not head.startswith(self.OPEN):
                self._state = "after"
                return self.rest()
            self._state, self._held = "inside", head[len(self.OPEN) :].lstrip("\n")
        thought, closed, after = self._held.partition(self.CLOSE)
        if closed:
            self._held = after.lstrip("\n")
            self._state = "after" if self._held else "gap"
            return [ThinkingDelta(text=thought.rstrip("\n")), *self.rest()] if thought.strip() else self.rest()
        kept = len(self.CLOSE) + 1
        out, self._held = self._held[:-kept], self._held[-kept:]
        return [ThinkingDelta(text=out)] if out else []

    def rest(self) -> list[Part]:
        held, self._held = self._held, ""
        if not held:
            return []
        return [ThinkingDelta(text=held) if self._state == "inside" else TextDelta(text=held)]


def tool_call(call: str, tool: str, arguments: str) -> ToolCall:
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return ToolCall(call=call, tool=tool, input={}, malformed=arguments)
    return ToolCall(call=call, tool=tool, input=value)


def _usage(used: Mapping[str, Any]) -> Usage:
    read = count(used.get("prompt_tokens_details"), "cached_tokens")
    return Usage(
        input=count(used, "prompt_tokens"),
        output=count(used, "completion_tokens"),
        cache_read=count(used, "prompt_cache_hit_tokens") if read is None else read,
        reasoning=count(used.get("completion_tokens_details"), "reasoning_tokens"),
    )


def count(found: Any, key: str) -> int | None:
    """A number that was reported; None for anything else."""
    value = found.get(key) if isinstance(found, dict) else None
    return value if type(value) is int and value >= 0 else None
