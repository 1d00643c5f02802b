"""The connection that an agent of others is, and a conversation on it: one process at most, started when needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from weft.conversation.claude_agent.gate import GateToolbox, origins
from weft.conversation.claude_agent.runtime_conversation import HoldsRuntime, RuntimeConversation
from weft.conversation.claude_agent.transcript import KeptRuntime, read_kept, what_it_is_told, write_kept
from weft.conversation.other_agent.acp import KINDS, OTHER_TOOL, AcpRuntime
from weft.conversation.other_agent.codex import CodexRuntime
from weft.conversation.other_agent.runtime import AgentReach, AgentRuntime, PromptEnded, PromptFailed, WantedCall
from weft.conversation.projections import told_to_model
from weft.conversation.step_files import make_files
from weft.models.file_making import FilesMade, FilesRequest
from weft.models.model import ModelError, Part, Request, Stop
from weft.models.structured import Way
from weft.protocol import conversation_events as t
from weft.protocol.errors import WeftError
from weft.protocol.messages import ToolCall
from weft.tools.processes import to_the_end
from weft.tools.tool import Context, Handle, Outcome, SettledHandle, SubjectKind, Tool, ToolKind, WorkHandle, failed
from weft.tools.tool_paths import place

WINDOW: Final = 128_000
_MOST_READ: Final = 2**20
_LOST: Final = "the agent that asked for this has ended since; it was not run"
_TOOLS: Final[Mapping[str, tuple[ToolKind, tuple[SubjectKind, str] | None]]] = {
    "Shell": ("process", ("command", "command")),
    "Edit": ("write", ("path", "path")),
    "Write": ("write", ("path", "path")),
    "Read": ("read", ("path", "path")),
    "Grep": ("read", ("path", "path")),
    "WebFetch": ("network", None),
    OTHER_TOOL: ("process", None),
}
assert set(KINDS.values()) <= set(_TOOLS)
_BRINGING: Final = ("WebFetch", OTHER_TOOL)
"""What they bring is from outside, or nobody knows where it is from."""
_RUNTIMES: Final[Mapping[str, type[AgentRuntime]]] = {"acp": AcpRuntime, "codex": CodexRuntime}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAgent:
    """A connection of the kind acp or codex. It runs conversations and steps; a single question it is not asked."""

    reach: AgentReach
    protocol: Literal["acp", "codex"]
    window: int = WINDOW
    output_ways: tuple[Way, ...] = ("prompted",)

    @property
    def name(self) -> str:
        return self.reach.name

    @property
    def folder(self) -> str:
        """In a session's folder: the agent's own home."""
        return f".{self.protocol}-agent"

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        hint = "name another model for `weft ask`, `weft models test` and summaries"
        raise ModelError(
            "invalid_request",
            f"{self.name} is an agent with a loop of its own: it holds conversations and makes steps",
            hint=hint,
        )
        yield  # a stream, as every model has one

    async def make(self, ask: FilesRequest) -> FilesMade:
        """A step: the agent writes the files itself."""
        return await make_files(
            lambda context, own, talk, _: OtherSpeaking(self, context, own, talk, keep=False), self.name, ask
        )

    async def aclose(self) -> None:
        """Nothing is held open between conversations."""


class OtherSpeaking(HoldsRuntime[AgentRuntime]):
    def __init__(
        self,
        agent: OtherAgent,
        context: Context,
        own: Path,
        talk: Callable[[], RuntimeConversation],
        *,
        keep: bool = True,
    ) -> None:
        self._agent = agent
        self._context = context
        self._own = own
        self._talk = talk
        self._keep = keep
        self._since = 0
        """The last of our turns that the agent has finished."""
        self._late: list[str] = []
        """What the person said meanwhile and the agent could not be told yet."""
        self._box = GateToolbox(_gate_tools(lambda: self._runtime), context)

    @property
    def name(self) -> str:
        return self._agent.name

    @property
    def window(self) -> int:
        return self._agent.window

    def model(self, conversation: str) -> OtherSpeaking:
        return self

    def _is_now(self, conversation: str, turn: int) -> bool:
        return turn > self._since

    async def _settled(self, event: t.ToolSettled) -> None:
        runtime = self._runtime
        if runtime is None or event.call not in runtime.calls or not runtime.alive:
            return
        try:
            if runtime.calls[event.call].is_file:
                told = told_to_model(event.outcome, event.effect, event.text)
                await runtime.answer_file(event.call, told, failed=event.outcome != "succeeded")
            else:
                await runtime.decide(event.call, allowed=False)  # one that ran was allowed already
        except ModelError:
            return  # it has ended: the turn that listens to it says so

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        finished = False
        try:
            async with aclosing(self._answer()) as parts:
                async for part in parts:
                    yield part
            finished = True
        finally:
            if not finished and self._runtime is not None:
                self._runtime.stop()  # interrupted, or at fault: what it would still do must not be done
                await to_the_end(self._runtime.gone())

    async def _answer(self) -> Any:
        runtime = await self._listened()
        while True:
            match await runtime.queue.get():
                case str() as call:
                    wanted = runtime.calls[call]
                    yield ToolCall(call=call, tool=wanted.tool, input=wanted.given)
                    yield Stop(reason="tool_calls")
                    return
                case PromptEnded() if self._late:
                    text = "\n\n".join(self._late)
                    self._late.clear()
                    await runtime.send(text)
                case PromptEnded() as ended:
                    runtime.open = False
                    self._since = self._talk().state.talks[self._talk().name].turns
                    await self._keep_note(runtime)
                    yield ended.usage
                    yield Stop(reason=ended.reason)
                    return
                case PromptFailed() as died:
                    raise runtime.failed(died.why)
                case part:
                    yield part

    async def _keep_note(self, runtime: AgentRuntime) -> None:
        if self._keep:
            kept = KeptRuntime(session=runtime.conversation, turn=self._since)
            await asyncio.to_thread(write_kept, self._own, kept)

    async def _listened(self) -> AgentRuntime:
        talk = self._talk()
        turn = talk.state.talks[talk.name].turns
        entries = talk.transcript(talk.name).entries
        runtime = self._runtime
        if runtime is not None and runtime.alive and runtime.open:  # it goes on with what it was told
            for said in [one.text for one in entries if one.turn == turn and one.kind == "message"]:
                if self._late or not await runtime.tell_more(said):
                    self._late.append(said)
            return runtime
        if runtime is None or not runtime.alive:
            if runtime is not None:
                await runtime.aclose()
            runtime = await self._started()
        await runtime.send(what_it_is_told(entries, turn, self._since))
        return runtime

    async def _serve(self, wanted: WantedCall) -> tuple[str, bool]:
        try:
            outcome = await _file(wanted, wanted.tool, wanted.given, self._context)
        except (WeftError, OSError) as error:
            return str(error), True
        return outcome.text, outcome.is_error

    async def _started(self) -> AgentRuntime:
        kept = await asyncio.to_thread(read_kept, self._own) if self._keep else None
        self._late.clear()
        self._since = 0
        made = _RUNTIMES[self._agent.protocol]
        self._runtime = runtime = made(
            self._agent.reach, self._context.working.path, self._own, kept.session if kept else ""
        )
        runtime.serve = self._serve
        await runtime.begin()
        if kept is not None and runtime.resumed:
            self._since = kept.turn
        return runtime


class _HeldHandle(WorkHandle):
    """A call that the agent runs. To stop it is to stop the agent: nothing less is sure."""

    def __init__(self, work: Coroutine[Any, Any, Outcome], runtime: AgentRuntime) -> None:
        super().__init__(work)
        self._runtime = runtime

    def interrupt(self, reason: str) -> None:
        super().interrupt(reason)
        self._runtime.stop()


def _gate_tools(current: Callable[[], AgentRuntime | None]) -> list[Tool]:
    def starter(name: str) -> Any:
        async def begin(given: Mapping[str, Any], context: Context) -> Handle:
            runtime = current()
            wanted = runtime.calls.get(context.call) if runtime is not None else None
            if runtime is None or wanted is None:
                return SettledHandle(failed(_LOST))
            if wanted.is_file:
                return WorkHandle(_file(wanted, name, given, context))
            return _HeldHandle(_pass(runtime, wanted, name, given, context), runtime)

        return begin

    return [
        Tool(
            name=name,
            description="",
            input_schema={"type": "object"},
            kind=effect,
            start=starter(name),
            subject=subject,
            keeps_order=True,
        )
        for name, (effect, subject) in _TOOLS.items()
    ]


async def _pass(
    runtime: AgentRuntime, wanted: WantedCall, name: str, given: Mapping[str, Any], context: Context
) -> Outcome:
    await runtime.decide(context.call, allowed=True)
    if not wanted.last and not wanted.end.done():
        return Outcome(text="allowed; it is changed together with the other files of this change", effect="none")
    text, bad = await asyncio.shield(wanted.end)
    outside = (f"{name} of the agent",) if name in _BRINGING else origins(name, given, context)
    return Outcome(text=text or "[no output]", is_error=bad, effect="unknown" if bad else "completed", outside=outside)


async def _file(wanted: WantedCall, name: str, given: Mapping[str, Any], context: Context) -> Outcome:
    """A file, read or written by us through the confined opener."""
    where = place(str(given.get("path", "")), context)
    if name == "Write":
        if where.machine_made:
            return failed(f"{where.shown} is written by the session itself")
        data = str(given.get("content", "")).encode()
        await asyncio.to_thread(where.folder.replace, where.name, data)
        return Outcome(text=f"wrote {len(data)} bytes to {where.shown}")
    data = await asyncio.to_thread(where.folder.read, where.name, _MOST_READ)
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    first = max(int(given.get("line") or 1) - 1, 0)
    limit = int(given["limit"]) if given.get("limit") else len(lines)
    wanted.content = "".join(lines[first : first + limit])
    outside = (f"the document {where.shown}",) if where.from_outside else ()
    return Outcome(text=f"read {where.shown}", outside=outside)
