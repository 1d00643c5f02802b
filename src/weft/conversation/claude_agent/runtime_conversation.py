"""A conversation on the runtime: one child at most, started when it is needed, and a model for each conversation in it.

    speaking = RuntimeConnection(setup, talk=lambda: conversation)
    ports = Ports(model=speaking.model, …)            # toolbox: speaking.toolbox()
    await speaking.follow(conversation.events())      # rulings go from the log to the gate
    await speaking.aclose()

A turn that continues listens on; one that begins sends the message. When the child is gone, or what it was told about
the workspace has changed, another is started: with the transcript if it is there, else with our summary.
"""

from __future__ import annotations

import asyncio
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import field
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

from weft.conversation.claude_agent.gate import ITS_TOOLS, GateToolbox, gate_tools, in_our_words, its_name
from weft.conversation.claude_agent.message_reader import HeardTurn
from weft.conversation.claude_agent.options import OwnTool, Reach, Start, SubAgent
from weft.conversation.claude_agent.runtime import MAIN, Runtime, Written, died
from weft.conversation.claude_agent.transcript import (
    KeptRuntime,
    is_there,
    read_kept,
    transcript_of,
    what_it_is_told,
    write_kept,
)
from weft.conversation.projections import Transcript, told_to_model
from weft.conversation.state import State, turn_of
from weft.models.model import ModelError, Part, Request
from weft.protocol import conversation_events as t
from weft.protocol.events import FeedItem, Record
from weft.protocol.values import dataclass
from weft.tools.processes import to_the_end
from weft.tools.tool import Context, Tool
from weft.tools.toolbox import Toolbox

FOLDER: Final = ".claude-agent"
"""In a session's folder: the runtime's own."""


class RuntimeConversation(Protocol):
    """What it needs of the conversation that it speaks in."""

    name: str

    @property
    def state(self) -> State: ...

    def transcript(self, conversation: str | None = None) -> Transcript: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a conversation reaches the runtime and what it may touch there."""

    reach: Reach
    folder: Path
    """The runtime's own; kept between openings when it lies in the session."""
    context: Context
    tools: Toolbox
    """Ours. Those that the runtime has itself are left to it."""
    agents: Callable[[], tuple[SubAgent, ...]] = tuple
    its_tools: tuple[str, ...] = ITS_TOOLS
    keep: bool = True
    written: Written | None = None
    off_loop: Callable[[Callable[[], KeptRuntime | None]], Awaitable[KeptRuntime | None]] = field(
        default=asyncio.to_thread
    )


class HeldRuntime(Protocol):
    """A program with a loop of its own, as far as every conversation on one holds it."""

    def stop(self) -> None: ...

    async def aclose(self) -> None: ...


R = TypeVar("R", bound=HeldRuntime)


class HoldsRuntime(ABC, Generic[R]):
    """What conversations on such programs share: the one child they hold, its gate, and the way from the log to it."""

    _runtime: R | None = None
    _box: GateToolbox

    def toolbox(self) -> GateToolbox:
        return self._box

    def stop(self) -> None:
        """Ends the child and everything it started, now."""
        if self._runtime is not None:
            self._runtime.stop()

    async def aclose(self) -> None:
        if self._runtime is not None:
            await self._runtime.aclose()

    async def follow(self, events: AsyncIterator[FeedItem]) -> None:
        """Hands every settlement to the call that waits for it. An interrupt of the turn that is spoken in now stops
        the agent, whatever it was doing."""
        async for item in events:
            match item.event if isinstance(item, Record) else None:
                case t.ToolSettled() as event:
                    await self._settled(event)
                case t.TurnInterrupted() as stopped if self._is_now(stopped.conversation, stopped.turn):
                    self.stop()
                case t.ContinuationCancelled() as cancelled:
                    if self._is_now(cancelled.conversation, turn_of(cancelled.key.rpartition(":")[2])):
                        self.stop()

    @abstractmethod
    def _is_now(self, conversation: str, turn: int) -> bool: ...

    @abstractmethod
    async def _settled(self, event: t.ToolSettled) -> None: ...


class RuntimeConnection(HoldsRuntime[Runtime]):
    def __init__(self, setup: Setup, talk: Callable[[], RuntimeConversation]) -> None:
        self._setup = setup
        self._talk = talk
        self._starting = asyncio.Lock()
        self._named = in_our_words(setup.context)
        box = gate_tools(lambda: self._runtime)
        taken = {tool.name for tool in box}
        self._own: list[Tool] = [tool for tool in setup.tools if tool.name not in taken]
        allowed = [tool for tool in box if its_name(tool.name) in setup.its_tools]
        self._box = GateToolbox([*allowed, *self._own], setup.context)
        self._born = 0
        """The turn in which the child was started."""
        self._subs: dict[str, str] = {}
        """The call that each sub-conversation is."""
        self._since = 0
        """The last of our turns that the runtime has finished."""

    def model(self, conversation: str) -> RuntimeModel:
        return RuntimeModel(self, conversation)

    @property
    def name(self) -> str:
        return self._setup.reach.name

    @property
    def window(self) -> int:
        return self._setup.reach.window

    @property
    def runtime(self) -> Runtime | None:
        return self._runtime

    # -- from the log to the gate

    def _is_now(self, conversation: str, turn: int) -> bool:
        """Whether this child, and not one before it, speaks in that turn: what is past stops nobody."""
        if conversation == self._talk().name:
            return turn >= self._born
        return self._runtime is not None and self._subs.get(conversation) in self._runtime.calls

    async def _settled(self, event: t.ToolSettled) -> None:
        runtime = self._runtime
        if runtime is None or event.call not in runtime.calls:
            return
        if event.effect == "none":
            runtime.refuse(event.call, told_to_model(event.outcome, event.effect, event.text))
        else:
            runtime.answer(event.call, event.text, event.outcome != "succeeded")

    # -- turns

    async def stream(self, conversation: str, request: Request) -> AsyncIterator[Part]:
        finished = said = False
        try:
            try:
                async with aclosing(self._answer(conversation, request)) as parts:
                    async for part in parts:
                        said = True
                        yield part
            except ModelError:
                if said or conversation != self._talk().name or not self._could_not_resume():
                    raise
                async with aclosing(self._answer(conversation, request, fresh=True)) as parts:
                    async for part in parts:
                        yield part
            finished = True
        finally:
            if not finished and self._runtime is not None:
                self._runtime.stop()  # interrupted, or at fault: what it would still do must not be done
                await to_the_end(self._runtime.gone())

    async def _answer(self, conversation: str, request: Request, *, fresh: bool = False) -> AsyncGenerator[Part, None]:
        runtime = await self._listened(conversation, request, fresh)
        queue = runtime.queues[self._call_of(conversation)]
        async with aclosing(HeardTurn(runtime, self._named).parts(queue)) as parts:
            async for part in parts:
                yield part
        if conversation == self._talk().name and not runtime.open:
            await self._note_turn(runtime)

    def _could_not_resume(self) -> bool:
        """It ended over a transcript that looked right and was not."""
        runtime = self._runtime
        turn = self._talk().state.talks[self._talk().name].turns
        return runtime is not None and bool(runtime.death) and runtime.start.resume and self._born == turn

    async def _listened(self, conversation: str, request: Request, fresh: bool) -> Runtime:
        talk = self._talk()
        if conversation != talk.name:
            return self._sub_agent(conversation)
        turn = talk.state.talks[conversation].turns
        entries = talk.transcript(conversation).entries
        runtime = self._runtime
        if runtime is not None and runtime.alive and runtime.open:
            said = [said.text for said in entries if said.turn == turn and said.kind == "message"]
            if said:
                await runtime.send("\n\n".join(said))
            return runtime
        runtime = await self._ready(request, turn, fresh)
        await runtime.send(what_it_is_told(entries, turn, self._since))
        return runtime

    def _sub_agent(self, conversation: str) -> Runtime:
        runtime = self._runtime
        call = self._call_of(conversation)
        if runtime is None or call not in runtime.calls:
            raise died("the Claude runtime that had this sub-agent has ended")
        self._subs[conversation] = call
        runtime.queues[call]
        runtime.release(call)
        return runtime

    def _call_of(self, conversation: str) -> str:
        """The call that a sub-conversation is; "" for the main one."""
        talk = self._talk()
        if conversation == talk.name:
            return MAIN
        return talk.state.talks[conversation].parent_execution.partition("/")[2].partition("#")[0]

    async def _ready(self, request: Request, turn: int, fresh: bool) -> Runtime:
        """The child that is there, or another: with its transcript, or anew."""
        async with self._starting:
            runtime = self._runtime
            if runtime is not None and runtime.alive and runtime.start.system == request.system:
                return runtime
            if runtime is not None:
                await runtime.aclose()
            setup = self._setup
            kept = await setup.off_loop(self._kept) if setup.keep and not fresh else None
            self._since = kept.turn if kept else 0
            start = Start(
                model=setup.reach.model,
                working=setup.context.working.path,
                folder=setup.folder,
                system=request.system,
                tools=setup.its_tools,
                own_tools=tuple(self._offered(tool) for tool in self._own),
                agents=setup.agents(),
                session=kept.session if kept else str(uuid.uuid4()),
                resume=kept is not None,
                keep=setup.keep,
                thinking=request.thinking != "off",
                more_folders=(setup.context.session.path,) if setup.context.session else (),
            )
            self._born = turn
            self._runtime = Runtime(start, setup.reach, setup.written)
            await self._runtime.begin()
            return self._runtime

    def _kept(self) -> KeptRuntime | None:
        kept = read_kept(self._setup.folder)
        if kept is None:
            return None
        transcript = transcript_of(self._setup.folder, self._setup.context.working.path, kept.session)
        return kept if is_there(transcript) else None

    def _offered(self, tool: Tool) -> OwnTool:
        async def call(given: Mapping[str, object]) -> tuple[str, bool]:
            runtime = self._runtime
            assert runtime is not None
            return await runtime.answered(tool.name, given)

        return OwnTool(name=tool.name, description=tool.description, input_schema=tool.input_schema, call=call)

    async def _note_turn(self, runtime: Runtime) -> None:
        self._since = self._talk().state.talks[self._talk().name].turns
        kept = KeptRuntime(session=runtime.start.session, turn=self._since)
        if self._setup.keep:
            await self._setup.off_loop(lambda: write_kept(self._setup.folder, kept))


@dataclass(frozen=True, slots=True)
class RuntimeModel:
    """The model of one conversation on the runtime, as the executor wants it."""

    speaking: RuntimeConnection
    conversation: str

    @property
    def name(self) -> str:
        return self.speaking.name

    @property
    def window(self) -> int:
        return self.speaking.window

    def stream(self, request: Request) -> AsyncIterator[Part]:
        return self.speaking.stream(self.conversation, request)
