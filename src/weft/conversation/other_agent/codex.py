"""How Codex is spoken to: `codex app-server`, one thread for a conversation.

Its own sandbox is left open, because the whole of it runs in our boundary; it asks before every command that it does
not know to be harmless and before every change of a file. A thread is kept in its own folder and gone on with.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weft.conversation.other_agent.runtime import (
    AgentReach,
    AgentRuntime,
    PromptEnded,
    PromptFailed,
    WantedCall,
    count,
    script_of,
)
from weft.models.model import ModelError, TextDelta, ThinkingDelta
from weft.protocol.json_text import json_value
from weft.protocol.messages import Usage

KEY: Final = "WEFT_AGENT_KEY"
"""The variable that its key is handed over in."""
SIGN_IN: Final = ".codex/auth.json"
"""Where `codex login` keeps what it got, in the person's home."""
_ADDRESS: Final = "https://api.openai.com/v1"
STEER_SECONDS: Final = 10.0
_COUNTS: Final = ("inputTokens", "outputTokens", "cachedInputTokens")


class CodexRuntime(AgentRuntime):
    _turn = ""
    _items: dict[str, Mapping[str, Any]]
    _spoken = ""
    """The message that the last piece belonged to: two of them are two paragraphs."""
    _used: Mapping[str, int]
    """Tokens of the thread so far; `_counted`: those that were told already."""
    _counted: Mapping[str, int] | None = None

    def arguments(self, reach: AgentReach) -> list[str]:
        settings = ["analytics.enabled=false", 'cli_auth_credentials_store="file"']
        if SIGN_IN not in reach.home or reach.base_url:  # else it goes where its sign-in is from
            provider: dict[str, Any] = {"name": "weft", "base_url": reach.base_url or _ADDRESS, "wire_api": "responses"}
            if SIGN_IN in reach.home:
                provider["requires_openai_auth"] = True
            elif KEY in reach.variables:
                provider["env_key"] = KEY
            table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in provider.items())
            settings += [f"model_providers.weft={{{table}}}", 'model_provider="weft"']
        if reach.model and reach.model != "agent":
            settings.append(f"model={json.dumps(reach.model)}")
        return ["app-server", *(word for setting in settings for word in ("-c", setting))]

    def own_variables(self, own: Path) -> dict[str, str]:
        place = own / "home" / ".codex"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        return {"CODEX_HOME": str(place)}

    def handed_over(self, name: str, data: bytes) -> bytes:
        """The person's sign-in without what renews it: one that is renewed here would end theirs."""
        try:
            told = json_value(data) if name == SIGN_IN else None
        except ValueError:
            return data
        if not isinstance(told, dict) or not isinstance(told.get("tokens"), dict):
            return data
        return json.dumps({**told, "tokens": {**told["tokens"], "refresh_token": ""}}).encode()

    async def shake_hands(self) -> None:
        self._items, self._used = {}, {}
        await self.call("initialize", {"clientInfo": {"name": "weft", "title": "Weft", "version": "1"}})
        await self.write({"method": "initialized"})
        rules = {"cwd": str(self.working), "approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
        if self.conversation:
            try:
                await self.call("thread/resume", {**rules, "threadId": self.conversation, "excludeTurns": True})
                self.resumed = True
                return
            except ModelError:
                if not self.alive:
                    raise  # else it has no record of it any more, and begins anew
        self.conversation = str((await self.call("thread/start", rules))["thread"]["id"])

    async def tell(self, text: str) -> None:
        self._spoken = ""
        given = {"threadId": self.conversation, "input": [{"type": "text", "text": text}]}
        self._turn = str((await self.call("turn/start", given))["turn"]["id"])

    async def tell_more(self, text: str) -> bool:
        given = {"threadId": self.conversation, "expectedTurnId": self._turn}
        try:
            async with asyncio.timeout(STEER_SECONDS):
                await self.call("turn/steer", {**given, "input": [{"type": "text", "text": text}]})
        except (ModelError, TimeoutError):
            return False  # it has just ended, or does not listen: it is told then
        return True

    def ruling(self, wanted: WantedCall, *, allowed: bool) -> Mapping[str, Any]:
        return {"decision": "accept" if allowed else "decline"}

    async def hear(self, method: str, params: Mapping[str, Any], request: Any) -> bool:
        item = params.get("item") or {}
        match method:
            case "item/agentMessage/delta":
                message = str(params.get("itemId"))
                apart = "\n\n" if self._spoken not in ("", message) else ""
                self._spoken = message
                self.queue.put_nowait(TextDelta(text=f"{apart}{params.get('delta', '')}"))
            case "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta":
                self.queue.put_nowait(ThinkingDelta(text=str(params.get("delta", ""))))
            case "item/started":
                self._items[str(item.get("id"))] = item
            case "item/completed" if item.get("type") in ("commandExecution", "fileChange", "mcpToolCall", "webSearch"):
                self._completed(item)
            case "item/commandExecution/requestApproval":
                self._command(request, params)
            case "item/fileChange/requestApproval":
                self._change(request, str(params.get("itemId")))
            case "thread/tokenUsage/updated":
                self._count(params.get("tokenUsage") or {})
            case "turn/completed":
                self._turn_completed(params.get("turn") or {})
            case _:
                return False
        return True

    def _command(self, request: Any, params: Mapping[str, Any]) -> None:
        name = str(params.get("itemId"))
        command = script_of(params.get("command") or self._items.get(name, {}).get("command", ""))
        folder = str(params.get("cwd") or self.working)
        if Path(folder) != self.working:
            command = f"cd {shlex.quote(folder)} && {command}"
        self.want(name, WantedCall(request, "Shell", {"command": command}))

    def _change(self, request: Any, name: str) -> None:
        changes = [one for one in self._items.get(name, {}).get("changes") or () if isinstance(one, Mapping)]
        moved = [(one.get("kind") or {}).get("move_path") for one in changes if isinstance(one.get("kind"), Mapping)]
        given = [{"path": str(one.get("path")), "diff": str(one.get("diff", ""))} for one in changes]
        given += [{"path": str(path), "about": "moved there"} for path in moved if path]
        wanted = [WantedCall(request, "Edit", one, last=False) for one in given or [{"about": "a change of files"}]]
        wanted[-1].last = True
        self.want(name, *wanted)

    def _completed(self, item: Mapping[str, Any]) -> None:
        name, status = str(item.get("id")), str(item.get("status") or "completed")
        told = self._items.pop(name, {})
        what = item.get("command") or item.get("query") or item.get("tool") or _paths(item) or _paths(told)
        text = str(item.get("aggregatedOutput") or "")
        if item.get("exitCode") not in (None, 0):
            text = f"{text}\n[exit code {item['exitCode']}]".strip()
        if not self.done(name, text or status, failed=status != "completed"):
            what = script_of(what) if item.get("command") else what
            self.queue.put_nowait(ThinkingDelta(text=f"[{what}: {status}]\n"))

    def _count(self, told: Mapping[str, Any]) -> None:
        def counts(part: str) -> dict[str, int]:
            return {key: number for key in _COUNTS if (number := count(told.get(part) or {}, key)) is not None}

        self._used = counts("total")
        if self._counted is None:  # a thread that was gone on with has used some before
            last = counts("last")
            self._counted = {key: number - last.get(key, 0) for key, number in self._used.items()}

    def _turn_completed(self, turn: Mapping[str, Any]) -> None:
        if turn.get("status") == "completed":
            before = self._counted or {}
            new = {key: number - before.get(key, 0) for key, number in self._used.items()}
            self._counted = self._used
            usage = Usage(
                input=new.get("inputTokens"),
                output=new.get("outputTokens"),
                cache_read=new.get("cachedInputTokens") or None,
            )
            self.queue.put_nowait(PromptEnded("end", usage))
            return
        error = turn.get("error") or {}
        self.queue.put_nowait(PromptFailed(str(error.get("message") or f"its turn ended as {turn.get('status')}")))


def _paths(item: Mapping[str, Any]) -> str:
    return ", ".join(str(one.get("path")) for one in item.get("changes") or () if isinstance(one, Mapping))
