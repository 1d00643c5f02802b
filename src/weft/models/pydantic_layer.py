"""Our contract on top of pydantic-ai's model layer: its providers and wire formats, not its agent loop.

`LayeredModel` is the whole of it: our request to its messages, its stream events to our parts, its errors to ours. A
provider's file adds only how its client is built and which settings it takes. Nothing here is imported until the first
call, and then in a thread: loading a provider's client takes about a second.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from weft.models.endpoint import UNPAID, Endpoint, EndpointModel, http_client
from weft.models.model import (
    ModelError,
    Part,
    Request,
    Stop,
    TextDelta,
    ThinkingDelta,
    text_of,
)
from weft.models.provider_errors import MOST_OF_AN_ERROR, broken_off, malformed, no_stream, sorted_error
from weft.protocol.messages import Content, Media, Message, StopReason, Text, Thinking, ToolCall, ToolResult, Usage

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart
    from pydantic_ai.models import Model as LayerModel
    from pydantic_ai.models import ModelRequestParameters, StreamedResponse

_REPLIES: Final[ContextVar[list[httpx2.Response] | None]] = ContextVar("replies", default=None)
"""What came back to the call that is being made: requests are sent in the context of their stream."""
USAGE_EVERY: Final = 32
"""Events of a stream: what was used is looked at so often, and at the end. Looking costs as much as a chunk."""
_STOPS: Final[dict[str, StopReason]] = {"stop": "end", "length": "max_tokens", "content_filter": "refused"}


class LayeredModel(EndpointModel):
    """One model through pydantic-ai. Subclasses say how it is built and what it takes."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._built: tuple[asyncio.AbstractEventLoop, LayerModel, httpx2.AsyncClient] | None = None

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        built = await self._ready()
        if request.thinking == "off" and self._endpoint.thinking != "off":
            request = replace(request, thinking=self._endpoint.thinking)
        translated = _Translated(self.name)
        replies: list[httpx2.Response] = []
        _REPLIES.set(replies)
        try:
            messages = to_messages(request, built.system)
            settings, parameters = self.settings(request), _parameters(request)
            async with built.request_stream(messages, cast(Any, settings), parameters) as response:
                async for event in response:
                    for part in translated.parts(event, response):
                        yield part
                for part in translated.end(response):
                    yield part
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - sorted by kind, and raised again when it is a bug
            sorted_out = sorted_error(error, self.name, self._redact)
            if sorted_out.kind in UNPAID and not translated.begun:
                yield Usage(input=0, output=0)
            raise sorted_out from None
        finally:
            for reply in replies:  # not every client lets go of an answer that nobody reads to its end
                if not reply.is_closed:
                    await reply.aclose()

    async def prepare(self) -> None:
        """Loads the provider's client, which the first call would wait for."""
        await self._ready()

    async def aclose(self) -> None:
        """Lets go of the connections. The model may be used again."""
        built, self._built = self._built, None
        if built is not None and built[0] is asyncio.get_running_loop():
            await built[2].aclose()

    def build(self, http_client: httpx2.AsyncClient) -> LayerModel:
        """The pydantic-ai model, its client made from the endpoint and nothing else."""
        raise TypeError("a provider's file says how its model is built")

    extra = ""
    """Of Weft: brings the provider's client."""

    def not_installed(self) -> ModelError:
        what = f"{self.name} needs its provider's client, which is not installed"
        return ModelError("invalid_request", what, hint=f"pip install 'weft[{self.extra}]'")

    def settings(self, request: Request) -> dict[str, Any]:
        """What every provider understands; a provider's file adds its own."""
        made: dict[str, Any] = {"max_retries": 0, "cache": True}
        if request.max_tokens is not None:
            made["max_tokens"] = request.max_tokens
        if request.temperature is not None:
            made["temperature"] = request.temperature
        if request.thinking != "off":
            made["thinking"] = request.thinking
        if request.must_call:
            made["tool_choice"] = [request.must_call]
        return made

    async def _ready(self) -> LayerModel:
        """Connections belong to the loop that opened them, so another loop gets a client of its own."""
        loop = asyncio.get_running_loop()
        if self._built is None or self._built[0] is not loop:
            client, model = await asyncio.to_thread(self._load)
            if self._built is None or self._built[0] is not loop:
                self._built = (loop, model, client)
            else:
                await client.aclose()  # another call was first
        return self._built[1]

    def _load(self) -> tuple[httpx2.AsyncClient, LayerModel]:
        try:
            from pydantic_ai.exceptions import UnsupportedSettingWarning
        except ImportError as error:
            raise self.not_installed() from error
        # What a model can't do is left out of the request; a face has no place for a library's warnings about it.
        warnings.filterwarnings("ignore", category=UnsupportedSettingWarning)
        warnings.filterwarnings("ignore", message="The model '", category=DeprecationWarning)
        client = http_client(self._endpoint, event_hooks={"response": [_note_reply]})
        return client, self.build(client)


async def _note_reply(reply: httpx2.Response) -> None:
    replies = _REPLIES.get()
    if replies is not None:
        replies.append(reply)
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if reply.headers.get("content-encoding", "identity").lower() != "identity":
        raise malformed("the server", "the answer is packed, which was not asked for", retryable=False)
    if reply.status_code == 200 and kind == "text/html":
        said = b""
        async for piece in reply.aiter_raw():
            said += piece
            if len(said) > MOST_OF_AN_ERROR:
                break
        raise no_stream("the server", said.decode("utf-8", "replace"), None)


def to_messages(request: Request, provider: str) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse

    made: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "user":
            made.append(ModelRequest(parts=_told(message), instructions=request.system or None))
        else:
            answered = [part for one in message.content if (part := _answered(one, provider)) is not None]
            made.append(ModelResponse(parts=answered, provider_name=provider))
    return made


def _told(message: Message) -> list[ModelRequestPart]:
    from pydantic_ai.messages import BinaryContent, ToolReturnPart, UserPromptPart

    parts: list[ModelRequestPart] = []
    said: list[Any] = []
    for one in message.content:
        if isinstance(one, ToolResult):
            outcome: Any = "failed" if one.is_error else "success"
            parts.append(ToolReturnPart(tool_name=one.tool, content=one.text, tool_call_id=one.call, outcome=outcome))
        elif isinstance(one, Text):
            said.append(one.text)
        elif isinstance(one, Media):
            if one.media_type.startswith("text/"):
                said.append(text_of(one))
            else:
                said.append(BinaryContent(data=one.data, media_type=one.media_type))
    if said:
        parts.append(UserPromptPart(content=said[0] if len(said) == 1 and isinstance(said[0], str) else said))
    return parts


def _answered(one: Content, provider: str) -> ModelResponsePart | None:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    if isinstance(one, Text):
        return TextPart(content=one.text)
    if isinstance(one, Thinking):
        ident, signature = _unsealed(one.signature)
        return ThinkingPart(content=one.text, id=ident, signature=signature, provider_name=provider)
    if isinstance(one, ToolCall):
        return ToolCallPart(tool_name=one.tool, args=dict(one.input), tool_call_id=one.call)
    return None


def _sealed(ident: str | None, signature: str | None) -> str:
    """What a provider wants back with its thinking: two values in the one field we keep."""
    return f"{ident or ''}\n{signature or ''}" if ident else signature or ""


def _unsealed(seal: str) -> tuple[str | None, str | None]:
    ident, line, signature = seal.partition("\n")
    return (ident or None, signature or None) if line else (None, seal or None)


def _parameters(request: Request) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.input_schema))
        for tool in request.tools
    ]
    if request.schema is None:
        return ModelRequestParameters(function_tools=tools, output_mode="text", allow_text_output=True)
    wanted = OutputObjectDefinition(json_schema=dict(request.schema), name="answer")
    return ModelRequestParameters(
        function_tools=tools, output_mode="native", output_object=wanted, allow_text_output=True
    )


class _Translated:
    """Stream events to parts. Text and thinking go out as they come; calls when they are whole, at the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._usage = Usage()
        self._told = False
        self.begun = False
        self._events = 0

    def parts(self, event: Any, response: StreamedResponse) -> list[Part]:
        kind = event.event_kind
        self.begun = True
        self._events += 1
        made: list[Part] = []
        if kind == "part_delta":
            self._delta(event.delta, made)
        elif kind == "part_start":
            self._start(event.part, made)
        elif kind == "part_end" and event.part.part_kind == "thinking":
            seal = _sealed(event.part.id, event.part.signature)
            if seal:
                made.append(ThinkingDelta(text="", signature=seal))
        if self._events % USAGE_EVERY == 1 and (used := _usage(response)) != self._usage:
            self._usage, self._told = used, True
            made.append(used)
        return made

    def _delta(self, delta: Any, made: list[Part]) -> None:
        if delta.part_delta_kind == "text" and delta.content_delta:
            made.append(TextDelta(text=delta.content_delta))
        elif delta.part_delta_kind == "thinking" and delta.content_delta:
            made.append(ThinkingDelta(text=delta.content_delta))

    def _start(self, part: Any, made: list[Part]) -> None:
        if part.part_kind == "text" and part.content:
            made.append(TextDelta(text=part.content))
        elif part.part_kind == "thinking" and part.content:
            made.append(ThinkingDelta(text=part.content))

    def end(self, response: StreamedResponse) -> list[Part]:
        whole = response.get()
        calls = [_call(part) for part in whole.parts if part.part_kind == "tool-call"]
        told = (whole.provider_details or {}).get("finish_reason")
        if not told and whole.finish_reason != "content_filter":
            # The layer takes the end of the connection for the end of the answer; only a reason is one.
            raise broken_off(self._name)
        reason = _STOPS.get(whole.finish_reason or "stop", "end")
        if calls and reason == "end":
            reason = "tool_calls"
        if told == "stop_sequence":
            reason = "stop_sequence"
        used = _usage(response)
        last = [] if self._told and used == self._usage else [used]
        return [*calls, *last, Stop(reason=reason)]


def _call(part: Any) -> ToolCall:
    given, malformed = part.args, ""
    if isinstance(given, str):
        try:
            value = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            value, malformed = {}, given
        given = value
    return ToolCall(call=part.tool_call_id, tool=part.tool_name, input=given or {}, malformed=malformed)


def _usage(response: StreamedResponse) -> Usage:
    used = response.usage
    details = used.details or {}
    reasoning = details.get("reasoning_tokens", details.get("thoughts_tokens"))
    if not used.has_values():
        return Usage()
    return Usage(
        input=used.input_tokens or None,
        output=used.output_tokens,
        cache_read=used.cache_read_tokens,
        cache_write=used.cache_write_tokens,
        reasoning=reasoning,
    )
