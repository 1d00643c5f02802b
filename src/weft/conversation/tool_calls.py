"""The toolbox as a conversation uses it: the permission rules judge each call, and a started tool becomes one end.

`mode` may change while a conversation goes on; the next judgement sees it. A call of Task is no execution of ours: it
becomes a sub-conversation that begins with its prompt.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Final

from weft.protocol.conversation_commands import ToolAsk, ToolEnd
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass
from weft.tools.boundary import Need
from weft.tools.permission import NOWHERE, Mode, Ruling, judge
from weft.tools.permission_file import Rules
from weft.tools.shell.needs import Ground
from weft.tools.tool import Context, Handle, SettledHandle, Tool, failed
from weft.tools.toolbox import Toolbox

SUB_AGENT: Final = "Task"


@dataclass(slots=True)
class RunningTool:
    """A handle of a tool as the conversation's control wants it."""

    handle: Handle
    after: Callable[[ToolEnd], Awaitable[ToolEnd]] | None = None
    """What has a word on its end."""

    def interrupt(self, reason: str) -> None:
        self.handle.interrupt(reason)

    async def wait(self) -> ToolEnd | None:
        outcome = await self.handle.result()
        await self.handle.closed()
        if outcome.interrupted:
            return None
        text = outcome.text
        if outcome.diff and outcome.diff not in text:
            text = f"{text}\n\n{outcome.diff}"
        end = ToolEnd(
            text=text,
            failed=outcome.is_error,
            tainting=bool(outcome.outside),
            seen=outcome.seen,
            before=outcome.before,
            after=outcome.after,
            ends=outcome.ends,
        )
        return end if self.after is None else await self.after(end)


@dataclass(slots=True)
class ToolAccess:
    """The tools of one conversation and its sub-conversations, and what they may do."""

    toolbox: Callable[[str], Toolbox]
    """The tools of each conversation, by its name."""
    rules: Rules
    context: Callable[[str, str, Callable[[str], None]], Context]
    """Takes the conversation, the call and where progress goes."""
    ground: Callable[[], Ground] = lambda: NOWHERE
    """Where commands run; asked for only when there is one to judge."""
    before_call: Callable[[ToolCall], Awaitable[str]] | None = None
    """Has a word on a call that may run: why it does not, "" when it does."""
    after_call: Callable[[ToolCall, ToolEnd], Awaitable[ToolEnd]] | None = None
    mode: Mode = "ask"
    remembered: set[str] = field(default_factory=set)
    _granted: dict[tuple[str, str], frozenset[Need]] = field(default_factory=dict)
    """What was opened in the boundary for calls that have not begun."""

    def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
        box = self.toolbox(conversation)
        call = box.corrected(call)
        tool = box.get(call.tool)
        if fault := box.fault(call):
            return ToolAsk(
                call=call.call,
                tool=call.tool,
                input=call.input,
                ruling="fault",
                reason=fault,
                malformed=call.malformed,
            )
        taint = ("what was read before",) if tainted else ()
        assert tool is not None
        is_command = tool.subject is not None and tool.subject[0] == "command"
        ruling = judge(
            call,
            tool,
            mode=self.mode,
            rules=self.rules,
            taint=taint,
            remembered=self.remembered,
            ground=self.ground() if is_command else self._place(conversation, call, tool),
        )
        if is_command:
            self._granted[conversation, call.call] = ruling.needs
        return ToolAsk(
            call=call.call,
            tool=call.tool,
            input=call.input,
            ruling=ruling.decision,
            reason=_reason(ruling),
            key=ruling.remember_key or "",
            always=ruling.always.told if ruling.always else "",
            tainted=tainted,
            prompt=_prompt(call),
            interruptible=tool.interruptible,
            safe_to_retry=tool.retryable,
            in_order=tool.in_order,
        )

    def _place(self, conversation: str, call: ToolCall, tool: Tool) -> Ground:
        """For a whole path: the folder that rules name files from."""
        if tool.subject is None or not str(call.input.get(tool.subject[1], "")).startswith("/"):
            return NOWHERE
        path = str(self.context(conversation, call.call, lambda _: None).working.path)
        return Ground(os.path.realpath(path), named=path)

    async def start(
        self, call: ToolCall, *, conversation: str, say: Callable[[str], None], seen: Mapping[str, str]
    ) -> RunningTool:
        granted = self._granted.pop((conversation, call.call), None)
        if self.before_call is not None and (why := await self.before_call(call)):
            return RunningTool(SettledHandle(failed(f"it was refused: {why}")))
        context = replace(self.context(conversation, call.call, say), seen=seen, needs=granted)
        after = partial(self.after_call, call) if self.after_call is not None else None
        return RunningTool(await self.toolbox(conversation).start(call, context), after)


def _prompt(call: ToolCall) -> str | None:
    return str(call.input.get("prompt", "")) if call.tool == SUB_AGENT else None


def _reason(ruling: Ruling) -> str:
    """Why, and by which rule: a denial that can't be traced can't be put right."""
    return f"{ruling.reason} ({ruling.rule}, {ruling.file})"


def sub_agent(input: Mapping[str, object]) -> str:
    """The agent that a call of Task names; "" for none."""
    return str(input.get("agent", ""))
