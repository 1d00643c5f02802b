"""A running runtime: what it says is put into one queue for each of its conversations, and its calls wait at the gate.

Its whole life is one task that nobody cancels: it ends when the child does, and `stop` ends the child at once. A call
is named by its id alone: whoever needs it first makes its entry, be it the hook that waits for a ruling, the ruling
that comes before the hook, or the result.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from weft.conversation.claude_agent.child import Child, boundary_policy, environment, own_folders
from weft.conversation.claude_agent.options import SERVER, Reach, Start, build_options, command_of, sdk
from weft.models.model import ModelError
from weft.protocol.messages import Usage
from weft.protocol.values import dataclass
from weft.tools.threads import in_thread

MAIN: Final = ""
"""The queue of its main conversation; those of its sub-agents are named by the call that opened them."""
AGENTS: Final = ("Agent", "Task")
OWN: Final = f"mcp__{SERVER}__"
NOT_LET_THROUGH: Final = "this call was not let through"


@dataclass(slots=True)
class RuntimeCall:
    """A tool call of the runtime: its ruling, for the hook, and its end, for our log."""

    ruling: asyncio.Future[str]
    """Why it was refused; "" when it may run."""
    end: asyncio.Future[tuple[str, bool]]
    """What its model was told, and whether that is an error."""
    asked: bool = False
    """It waits at the gate, or has passed it."""
    answer: tuple[str, bool] | None = None
    """For a tool of ours, which was run here: what it said."""
    note: str = ""
    """What is wrong with what it wrote."""


@dataclass(frozen=True, slots=True)
class RuntimeAsk:
    """Something came to the gate, or back without having been there: look whether it ends a turn."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing more will come until it is told something."""


@dataclass(frozen=True, slots=True)
class Died:
    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The sub-agent has handed in its result."""

    usage: Usage | None


Written = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Takes the tool and its input, gives what is wrong; "" for nothing."""


@dataclass(slots=True)
class Runtime:
    start: Start
    reach: Reach
    written: Written | None = None
    """Judges what a tool has just written; what it says goes back to the model at once."""
    queues: dict[str, asyncio.Queue[Any]] = field(default_factory=lambda: defaultdict(asyncio.Queue))
    calls: dict[str, RuntimeCall] = field(default_factory=dict)
    death: str = ""
    open: bool = False
    """It was told something and has not finished with it."""
    untaken: set[str] = field(default_factory=set)
    """Messages it was sent and has not taken up: while there are any it is not done, whatever it says."""
    _stopped: bool = False
    _child: Child | None = None
    _client: Any = None
    _life: asyncio.Task[None] | None = None
    _ready: asyncio.Event = field(default_factory=asyncio.Event)
    _answers: dict[tuple[str, str], deque[tuple[str, bool]]] = field(default_factory=lambda: defaultdict(deque))

    # -- its life

    async def begin(self) -> None:
        """Starts it and waits until it can be told something. ModelError when it can't be started."""
        options, command = await in_thread(self._prepared, "weft-claude")
        if self._stopped:
            raise died("the Claude runtime was stopped before it began")
        roots = (self.start.working, *self.start.more_folders)
        variables = environment(self.reach.surroundings, self.start.folder, self.reach.base_url, roots)
        policy = boundary_policy(
            self.reach.surroundings, self.start.working, self.start.folder, self.start.more_folders, command
        )
        self._child = Child(
            command, folder=self.start.working, environment=variables, key=self.reach.key, policy=policy
        )
        client = sdk().ClaudeSDKClient(replace(options, permission_prompt_tool_name=None), transport=self._child)
        self._life = asyncio.create_task(self._live(client), name="claude runtime")
        await self._ready.wait()
        if self.death:
            raise died(self.death)

    def _prepared(self) -> tuple[Any, list[str]]:
        """Off the loop: the package alone takes a second to import."""
        for folder in own_folders(self.start.folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        options = build_options(self.start, self._before, self._after if self.written else None, self._deny)
        return options, command_of(options)

    async def _live(self, client: Any) -> None:
        assert self._child is not None
        try:
            await client.connect()
            self._client = client
            self._ready.set()
            async for message in client.receive_messages():
                self._take(message)
            self.death = "the Claude runtime ended"
        except Exception as error:  # noqa: BLE001  whatever it is, it is the end of this child and is told as such
            self.death = str(error) or type(error).__name__
        finally:
            self._child.stop()
            self.death = self.death or "the Claude runtime was left"
            self._tell_death()
            self._ready.set()
            await client.disconnect()

    def _tell_death(self) -> None:
        for queue in list(self.queues.values()):
            queue.put_nowait(Died(self.death))
        for call in self.calls.values():
            if not call.ruling.done():
                call.ruling.set_result(self.death)
            if not call.end.done():
                call.end.set_result((self.death, True))

    @property
    def alive(self) -> bool:
        return self._client is not None and not self.death and self._child is not None and self._child.alive

    async def send(self, text: str) -> None:
        """Tells it something: the beginning of an exchange, or a message into one that is going on."""
        self.open = True
        name = str(uuid.uuid4())
        self.untaken.add(name)
        try:
            await self._client.query(_message(text, name))
        except (ConnectionError, OSError) as error:
            raise died(self.death or str(error)) from error

    def stop(self) -> None:
        """Ends it and everything it started, now. What waits at the gate gets no answer: it would act on it."""
        self._stopped = True
        if self._child is not None:
            self._child.stop()

    async def gone(self) -> None:
        if self._child is not None:
            await self._child.gone()
        if self._life is not None:
            await asyncio.wait({self._life})

    async def aclose(self) -> None:
        """Lets it finish its transcript, then ends it."""
        if self._child is not None and self.alive:
            await self._child.close()
        self.stop()
        await self.gone()

    # -- what it says

    def _take(self, message: Any) -> None:
        package = sdk()
        if isinstance(message, package.StreamEvent | package.AssistantMessage):
            self.queues[message.parent_tool_use_id or MAIN].put_nowait(message)
        elif isinstance(message, package.UserMessage):
            self.untaken.discard(message.uuid or "")
            self._take_results(message)
        elif isinstance(message, package.ResultMessage):
            self.queues[MAIN].put_nowait(message)
        elif isinstance(message, package.SystemMessage) and message.subtype == "session_state_changed":
            self.queues[MAIN].put_nowait(Idle() if message.data.get("state") == "idle" else RuntimeAsk())

    def _take_results(self, message: Any) -> None:
        for block in message.content if isinstance(message.content, list) else ():
            if not isinstance(block, sdk().ToolResultBlock):
                continue
            call = self.call(block.tool_use_id)
            if not call.end.done():
                call.end.set_result((text_of(block.content), bool(block.is_error)))
            self.queues[message.parent_tool_use_id or MAIN].put_nowait(RuntimeAsk())
            if block.tool_use_id in self.queues:
                result = message.tool_use_result
                told = result.get("usage") if isinstance(result, Mapping) else None
                self.queues[block.tool_use_id].put_nowait(Ended(usage_of(told) if told else None))

    # -- the gate

    def call(self, call_id: str) -> RuntimeCall:
        if call_id not in self.calls:
            loop = asyncio.get_running_loop()
            self.calls[call_id] = RuntimeCall(loop.create_future(), loop.create_future())
            if self.death:
                self._tell_death()
        return self.calls[call_id]

    def release(self, call_id: str) -> None:
        self._decide(call_id, "")

    def refuse(self, call_id: str, why: str) -> None:
        self._decide(call_id, why or NOT_LET_THROUGH)

    def _decide(self, call_id: str, ruling: str) -> None:
        call = self.call(call_id)
        if not call.ruling.done() and not self._stopped:
            call.ruling.set_result(ruling)

    def answer(self, call_id: str, text: str, failed: bool) -> None:
        """A tool of ours has run: its call may pass, and gets this."""
        self.call(call_id).answer = (text, failed)
        self.release(call_id)

    async def _before(self, given: Any, call_id: str | None, _: Any) -> dict[str, Any]:
        """The PreToolUse hook. Whatever goes wrong here, the call does not run."""
        tool, tool_input = str(given["tool_name"]), dict(given["tool_input"])
        call = self.call(call_id or str(given["tool_use_id"]))
        call.asked = True
        for queue in list(self.queues.values()):
            queue.put_nowait(RuntimeAsk())
        why = await asyncio.shield(call.ruling)
        if why:
            return _decision("deny", why)
        if tool.startswith(OWN):
            self._answers[_answer_key(tool.removeprefix(OWN), tool_input)].append(
                call.answer or (NOT_LET_THROUGH, True)
            )
            return _decision("allow", "weft")
        if tool in AGENTS or "run_in_background" in tool_input:  # nothing may run on behind the log's back
            return _decision("allow", "weft", {**tool_input, "run_in_background": False})
        return _decision("allow", "weft")

    async def _after(self, given: Any, call_id: str | None, _: Any) -> dict[str, Any]:
        """The PostToolUse hook, for whoever wants to see what is written as it is written."""
        assert self.written is not None
        wrong = await self.written(str(given["tool_name"]), dict(given["tool_input"]))
        if not wrong:
            return {}
        self.call(call_id or str(given["tool_use_id"])).note = wrong
        return {"decision": "block", "reason": wrong}

    async def _deny(self, tool: str, tool_input: Any, context: Any) -> Any:
        """What our gate did not decide is not done."""
        return sdk().PermissionResultDeny(message=f"{tool} {NOT_LET_THROUGH}")

    async def answered(self, tool: str, given: Mapping[str, Any]) -> tuple[str, bool]:
        """What the call of one of our tools came to, for the runtime."""
        waiting = self._answers[_answer_key(tool, given)]
        return waiting.popleft() if waiting else (NOT_LET_THROUGH, True)


async def _message(text: str, name: str) -> AsyncIterator[dict[str, Any]]:
    content = {"role": "user", "content": text}
    yield {"type": "user", "message": content, "parent_tool_use_id": None, "uuid": name}


def died(why: str) -> ModelError:
    hint = "send your message again: it starts anew where the conversation stands"
    return ModelError("network", why, hint=hint, retryable=True)


def text_of(content: Any) -> str:
    """What a tool's result says, as text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") or f"[{part.get('type')}]" for part in parts if isinstance(part, Mapping)]
    return "\n".join(str(text) for text in texts)


def usage_of(told: Mapping[str, Any]) -> Usage:
    read, write = told.get("cache_read_input_tokens") or 0, told.get("cache_creation_input_tokens") or 0
    fresh = told.get("input_tokens")
    return Usage(
        input=None if fresh is None else fresh + read + write,
        output=told.get("output_tokens"),
        cache_read=read,
        cache_write=write,
    )


def _decision(what: str, why: str, changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    said: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": what, "permissionDecisionReason": why}
    if changed is not None:
        said["updatedInput"] = dict(changed)
    return {"hookSpecificOutput": said}


def _answer_key(tool: str, given: Mapping[str, Any]) -> tuple[str, str]:
    return tool, json.dumps(dict(given), sort_keys=True)
