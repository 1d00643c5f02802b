"""From what the runtime says in one of its conversations to the parts of one turn.

A turn ends when its message ends and has calls; or, where no end is told (sub-agents are not streamed), when a call of
it waits at the gate; or when the runtime is done. Text that was streamed comes once more, whole: that copy is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from weft.conversation.claude_agent.options import sdk
from weft.conversation.claude_agent.runtime import Died, Ended, Idle, Runtime, died, usage_of
from weft.models.model import ErrorKind, ModelError, Part, Stop, TextDelta, ThinkingDelta
from weft.protocol.messages import ToolCall, Usage
from weft.protocol.values import dataclass

_KINDS: Final[dict[int, ErrorKind]] = {
    400: "invalid_request",
    401: "auth",
    403: "auth",
    404: "invalid_request",
    413: "context_too_long",
    429: "rate_limited",
    529: "overloaded",
}
_HINTS: Final[Mapping[str, str]] = {
    "auth": "check the key with `weft models test`, or give a new one with `weft models add`",
    "rate_limited": "wait, or use another model for now",
    "overloaded": "try again in a minute, or use another model for now",
}
Named = Callable[[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]
"""The tool and the input of a call in our words."""


@dataclass(slots=True)
class HeardTurn:
    """One turn of the runtime, as far as it has been heard."""

    runtime: Runtime
    named: Named
    streaming: bool = False
    copies: int = 0
    """Blocks that were streamed and will come once more."""
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    idle: bool = False
    result: Any = None
    fault: str = ""
    complete: bool = False
    """The end of a message was told."""
    _before: int = 0
    """Tokens of answers before this one in the same turn."""

    async def parts(self, queue: asyncio.Queue[Any]) -> AsyncGenerator[Part, None]:
        package = sdk()
        while True:
            item = await queue.get()
            if isinstance(item, package.StreamEvent):
                for part in self._streamed(item.event):
                    yield part
                if self._calls_are_due():
                    break
            elif isinstance(item, package.AssistantMessage):
                for part in self._whole(item):
                    yield part
                if self._calls_are_due():
                    break
            elif self._is_over(item) or self._calls_are_due():
                break
        for call in self.calls:
            yield call
        yield self.usage
        yield Stop(reason="tool_calls" if self.calls else "end")

    def _is_over(self, item: Any) -> bool:
        """Whether this ends the turn, whatever it has said. ModelError when it ends badly."""
        if isinstance(item, sdk().ResultMessage):
            self.result = item
        if isinstance(item, Died):
            raise died(item.why)
        if isinstance(item, Ended):
            self.usage = item.usage or self.usage
            return True
        self.idle = self.idle or isinstance(item, Idle)
        if self.idle and self.result is not None and not self.runtime.untaken:
            self.runtime.open = False
            self._check(self.result)
            return True
        return False

    def _calls_are_due(self) -> bool:
        if not self.calls or self.streaming:
            return False
        known = [self.runtime.call(call.call) for call in self.calls]
        return self.complete or any(call.asked or call.end.done() for call in known)

    def _streamed(self, event: Mapping[str, Any]) -> list[Part]:
        match event.get("type"):
            case "message_start":
                self.streaming, self.complete, self.copies = True, False, 0
                self.idle, self.result = False, None
                self.calls = []  # an answer that broke off is asked for again by the runtime itself
                self._use(usage_of(event["message"].get("usage") or {}))
            case "content_block_start":
                self.copies += event["content_block"].get("type") in ("text", "thinking")
            case "content_block_delta":
                return _delta(event["delta"])
            case "message_delta":
                written = (event.get("usage") or {}).get("output_tokens") or 0
                self.usage = replace(self.usage, output=self._before + written)
            case "message_stop":
                self.streaming, self.complete = False, True
        return []

    def _use(self, more: Usage) -> None:
        """Adds the next message's prompt; its answer is counted when it ends."""
        self._before = self.usage.output or 0
        self.usage = Usage(
            input=(self.usage.input or 0) + (more.input or 0),
            output=self._before + (more.output or 0),
            cache_read=(self.usage.cache_read or 0) + (more.cache_read or 0),
            cache_write=(self.usage.cache_write or 0) + (more.cache_write or 0),
        )

    def _whole(self, message: Any) -> list[Part]:
        package = sdk()
        found: list[Part] = []
        if message.error:
            self.fault = " ".join(block.text for block in message.content if isinstance(block, package.TextBlock))
            return []
        if not self.streaming and message.usage:
            self.usage = usage_of(message.usage)
        for block in message.content:
            if isinstance(block, package.ToolUseBlock):
                tool, given = self.named(block.name, block.input)
                self.calls.append(ToolCall(call=block.id, tool=tool, input=given))
            elif self.copies:
                self.copies -= 1
            elif isinstance(block, package.TextBlock):
                found.append(TextDelta(text=block.text))
            elif isinstance(block, package.ThinkingBlock):
                found.append(ThinkingDelta(text=block.thinking, signature=block.signature))
        return found

    def _check(self, result: Any) -> None:
        if not result.is_error and not self.fault:
            return
        status = result.api_error_status or 0
        kind = _KINDS.get(status, "overloaded" if status >= 500 else "network")
        said = self.fault or result.result or "; ".join(result.errors or ()) or result.subtype
        if "prompt is too long" in said.lower():
            kind = "context_too_long"
        hint = _HINTS.get(kind, "try again; `weft models test` says more")
        raise ModelError(kind, f"the Claude runtime: {said[:400]}", hint=hint)


def _delta(delta: Mapping[str, Any]) -> list[Part]:
    match delta.get("type"):
        case "text_delta":
            return [TextDelta(text=delta["text"])]
        case "thinking_delta":
            return [ThinkingDelta(text=delta["thinking"])]
        case "signature_delta":
            return [ThinkingDelta(text="", signature=delta["signature"])]
    return []
