"""How an agent is spoken to by the Agent Client Protocol: opencode, Gemini CLI, claude-code-acp, …"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from weft.conversation.other_agent.runtime import AgentRuntime, PromptEnded, PromptFailed, WantedCall, count, script_of
from weft.models.model import ModelError, TextDelta, ThinkingDelta
from weft.protocol.messages import StopReason, Usage

KINDS: Final[Mapping[str, str]] = {
    "execute": "Shell",
    "edit": "Edit",
    "delete": "Edit",
    "move": "Edit",
    "read": "Read",
    "search": "Grep",
    "fetch": "WebFetch",
}
"""What its kinds of calls are called here, so that the same rules hold."""
OTHER_TOOL: Final = "AgentTool"
_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_tokens",
    "refusal": "refused",
}


class AcpRuntime(AgentRuntime):
    _told: dict[str, dict[str, Any]]
    _replays = False
    """It says again what was said before: that is in our log already."""

    async def shake_hands(self) -> None:
        self._told = {}
        able = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
        hello = await self.call("initialize", {"protocolVersion": 1, "clientCapabilities": able})
        where = {"cwd": str(self.working), "mcpServers": []}
        if self.conversation and ((hello or {}).get("agentCapabilities") or {}).get("loadSession"):
            self._replays = True
            try:
                await self.call("session/load", {**where, "sessionId": self.conversation})
                self.resumed = True
                return
            except ModelError:
                if not self.alive:
                    raise  # else it does not know that one any more, and begins anew
            finally:
                self._replays = False
        self.conversation = str((await self.call("session/new", where))["sessionId"])

    async def tell(self, text: str) -> None:
        blocks = [{"type": "text", "text": text}]
        asked = await self.ask("session/prompt", {"sessionId": self.conversation, "prompt": blocks})
        asked.add_done_callback(self._prompt_ended)

    async def tell_more(self, text: str) -> bool:
        return False

    def ruling(self, wanted: WantedCall, *, allowed: bool) -> Mapping[str, Any]:
        kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
        found = [one for kind in kinds for one in wanted.options if one.get("kind") == kind]
        outcome = {"outcome": "selected", "optionId": found[0].get("optionId")} if found else {"outcome": "cancelled"}
        return {"outcome": outcome}

    async def hear(self, method: str, params: Mapping[str, Any], request: Any) -> bool:
        if method == "session/update":
            if not self._replays:
                self._update(params.get("update") or {})
        elif method == "session/request_permission":
            self._permission(request, params)
        elif method in ("fs/read_text_file", "fs/write_text_file"):
            name = "Read" if method == "fs/read_text_file" else "Write"
            given = {key: params[key] for key in ("path", "content", "line", "limit") if params.get(key) is not None}
            self.want(f"file-{next(self.numbers)}", WantedCall(request, name, given, is_file=True))
        else:
            return False
        return True

    def _update(self, update: Mapping[str, Any]) -> None:
        kind, content = update.get("sessionUpdate"), update.get("content")
        if kind in ("agent_message_chunk", "agent_thought_chunk") and isinstance(content, Mapping):
            text = str(content.get("text") or "")
            if text:
                self.queue.put_nowait(
                    TextDelta(text=text) if kind == "agent_message_chunk" else ThinkingDelta(text=text)
                )
        elif kind in ("tool_call", "tool_call_update"):
            name = str(update.get("toolCallId"))
            if kind == "tool_call":
                self._told.pop(name, None)  # a new call, though it may have the name of an old one
            told = self._told.setdefault(name, {})
            told |= {key: value for key, value in update.items() if value is not None}
            if told.get("status") not in ("completed", "failed"):
                return
            asked = self.done(name, _text_of(told), failed=told["status"] == "failed")
            if not asked and update.get("status"):  # it did this without asking
                self.queue.put_nowait(ThinkingDelta(text=f"[{told.get('title') or name}: {told['status']}]\n"))

    def _permission(self, request: Any, params: Mapping[str, Any]) -> None:
        asked = params.get("toolCall") or {}
        name = str(asked.get("toolCallId") or f"call-{next(self.numbers)}")
        told = self._told.setdefault(name, {})
        told |= {key: value for key, value in asked.items() if value is not None}
        tool = KINDS.get(str(told.get("kind")), OTHER_TOOL)
        options = tuple(one for one in params.get("options") or () if isinstance(one, Mapping))
        self.want(name, WantedCall(request, tool, _given(tool, told), options=options))

    def _prompt_ended(self, asked: asyncio.Future[Any]) -> None:
        if asked.cancelled():
            return
        if (error := asked.exception()) is not None:
            self.queue.put_nowait(PromptFailed(getattr(error, "message", str(error))))
            return
        result = asked.result() if isinstance(asked.result(), Mapping) else {}
        reason = str(result.get("stopReason") or "end_turn")
        if reason == "cancelled":
            self.queue.put_nowait(PromptFailed("it says that it was cancelled"))
            return
        told = result.get("usage") or {}
        usage = Usage(
            input=count(told, "inputTokens"),
            output=count(told, "outputTokens"),
            cache_read=count(told, "cachedReadTokens"),
        )
        self.queue.put_nowait(PromptEnded(_STOPS.get(reason, "end"), usage))


def _given(tool: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input of a call as our tools have it, as far as the agent says what it is about."""
    given = told.get("rawInput")
    raw: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    title = str(told.get("title") or "")
    if tool == "Shell":
        return {"command": script_of(raw.get("command", title))}
    places = [str(one.get("path")) for one in told.get("locations") or () if isinstance(one, Mapping)]
    diffs = [str(one["path"]) for one in told.get("content") or () if isinstance(one, Mapping) and one.get("path")]
    named = [str(raw[key]) for key in ("path", "file_path", "filePath", "filepath") if raw.get(key)]
    path = next(iter([*diffs, *named, *places]), "")
    return {**({"path": path} if path else {}), "about": title, **({"url": raw["url"]} if raw.get("url") else {})}


def _text_of(told: Mapping[str, Any]) -> str:
    blocks = [one.get("content") for one in told.get("content") or () if isinstance(one, Mapping)]
    return "\n".join(str(one.get("text")) for one in blocks if isinstance(one, Mapping) and one.get("text"))
