"""Conversations on an agent of others that speaks the Agent Client Protocol: opencode, Gemini CLI, claude-code-acp, …

As with the Claude runtime (`claude_agent`), neither loop is put inside the other: they go through it together. What
the agent says is the answer of one turn of ours; what it asks us for (a permission, a file) is a tool call of that
turn, judged by our rules and kept in the log before it happens; what comes back is its settlement; and what it says
then is the continuation. What it does without asking is only told, as it tells it.

    AcpRuntime   the process, in our boundary and environment; what it says in one queue; calls that wait for a verdict
    AcpSpeaking  the model of a conversation on it: the same port as `claude_agent.speaking.Speaking`

To stop it is to end the process. Another one is told in short what was said before: the protocol has no sure resume.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from weft.conversation.claude_agent.child import Child, boundary_policy, environment
from weft.conversation.claude_agent.gate import GateToolbox
from weft.conversation.claude_agent.kept import what_it_is_told
from weft.conversation.claude_agent.speaking import RuntimeTalk
from weft.conversation.projections import told_to_model
from weft.conversation.state import turn_of
from weft.models.model import ModelError, Part, Request, Stop, TextDelta, ThinkingDelta
from weft.models.structured import Way
from weft.protocol import talk as t
from weft.protocol.errors import UserError
from weft.protocol.events import FeedItem, Record
from weft.protocol.messages import StopReason, ToolCall, Usage
from weft.tools.places import place
from weft.tools.processes import to_the_end
from weft.tools.tool import Context, Effect, Handle, Outcome, SettledHandle, SubjectKind, Tool, WorkHandle, failed

WINDOW: Final = 128_000
FOLDER: Final = ".acp-agent"
"""In a session's folder: the agent's own home."""
START_SECONDS: Final = 60.0
_MOST_READ: Final = 2**20
_TOOLS: Final[Mapping[str, tuple[str, Effect, tuple[SubjectKind, str] | None]]] = {
    "execute": ("Shell", "process", ("command", "command")),
    "edit": ("Edit", "write", ("path", "path")),
    "delete": ("Edit", "write", ("path", "path")),
    "move": ("Edit", "write", ("path", "path")),
    "read": ("Read", "read", ("path", "path")),
    "search": ("Grep", "read", ("path", "path")),
    "fetch": ("WebFetch", "network", None),
}
"""What its kinds of calls are called here, so that the same rules hold."""
OTHER_TOOL: Final = ("AgentTool", "process", None)
_STOPS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_tokens",
    "refusal": "refused",
}
_LOST: Final = "the agent that asked for this has ended since; it was not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpAgent:
    """A connection of the kind acp. It runs conversations; a single question it is not asked."""

    name: str
    command: tuple[str, ...]
    surroundings: Mapping[str, str]
    key: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variable that its key is handed over in, if it has one."""
    window: int = WINDOW
    output_ways: tuple[Way, ...] = ("prompted",)

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        hint = "name another model for steps, `weft ask` and `weft models test`"
        raise ModelError(
            "invalid_request", f"{self.name} is an agent with a loop of its own: it holds conversations", hint=hint
        )
        yield  # a stream, as every model has one

    async def aclose(self) -> None:
        """Nothing is held open between conversations."""


@dataclass(slots=True)
class _Wanted:
    """Something that the agent asked for and waits for: the request, and what came of it."""

    request: Any
    tool: str
    given: Mapping[str, Any]
    options: tuple[Mapping[str, Any], ...] = ()
    """Of a permission: what may be answered. None of them: it is a file, which we read or write ourselves."""
    end: asyncio.Future[tuple[str, bool]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    content: str | None = None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class _Ended:
    reason: str
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Died:
    why: str


class AcpRuntime:
    """One process and one session of it."""

    def __init__(self, agent: AcpAgent, working: Path, own: Path) -> None:
        program = shutil.which(agent.command[0], path=agent.surroundings.get("PATH"))
        if program is None:
            raise UserError(
                f"{agent.name}: there is no program {agent.command[0]}", hint="install it, or name its path"
            )
        command = [program, *agent.command[1:]]
        own.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (own / "home", own / "tmp"):
            folder.mkdir(exist_ok=True, mode=0o700)
        variables = {**environment(agent.surroundings, own, "", (working,)), "TMPDIR": str(own / "tmp"), **agent.key}
        policy = boundary_policy(agent.surroundings, working, own, (), command)
        policy = replace(policy, readable=(*policy.readable, *_installed(program)))
        self._child = Child(command, folder=working, environment=variables, key=None, policy=policy)
        self._name = agent.name
        self._working = working
        self.queue: asyncio.Queue[Part | str | _Ended | _Died] = asyncio.Queue()
        """Parts of its answer, the names of calls it asks for, its end."""
        self.calls: dict[str, _Wanted] = {}
        self.open = False
        """It was told something, and its end was not taken in yet."""
        self.late: list[str] = []
        """What the person said meanwhile: the protocol has no way to say it before the end."""
        self.death = ""
        self._told: dict[str, dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._life: asyncio.Task[None] | None = None
        self._session = ""

    @property
    def alive(self) -> bool:
        return not self.death and self._child.alive

    async def begin(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._child.connect()
                self._life = asyncio.create_task(self._live(), name=f"{self._name} runs")
                files = {"readTextFile": True, "writeTextFile": True}
                able = {"fs": files, "terminal": False}
                await self._call("initialize", {"protocolVersion": 1, "clientCapabilities": able})
                made = await self._call("session/new", {"cwd": str(self._working), "mcpServers": []})
                self._session = str(made["sessionId"])
        except TimeoutError:
            self.stop()
            raise _failed(self._name, f"it did not begin within {START_SECONDS:g} s") from None
        except (KeyError, TypeError, ConnectionError, OSError) as error:
            self.stop()
            raise _failed(self._name, self.death or f"it can't be started: {error}") from None

    async def send(self, text: str) -> None:
        self.open = True
        blocks = [{"type": "text", "text": text}]
        number, asked = self._numbered()
        asked.add_done_callback(self._prompt_ended)
        await self._write(
            {"id": number, "method": "session/prompt", "params": {"sessionId": self._session, "prompt": blocks}}
        )

    def stop(self) -> None:
        self._child.stop()

    async def gone(self) -> None:
        await self._child.gone()
        if self._life is not None:
            await asyncio.wait({self._life})

    async def aclose(self) -> None:
        if self._child.alive:
            await self._child.close()
        self.stop()
        await self.gone()

    # -- what it waits for

    async def decide(self, call: str, *, allowed: bool) -> None:
        """Answers a permission; once, whatever it asked for."""
        wanted = self.calls[call]
        if wanted.answered or not wanted.options:
            return
        wanted.answered = True
        kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
        found = [one for kind in kinds for one in wanted.options if one.get("kind") == kind]
        outcome = {"outcome": "selected", "optionId": found[0].get("optionId")} if found else {"outcome": "cancelled"}
        await self._write({"id": wanted.request, "result": {"outcome": outcome}})

    async def answer_file(self, call: str, text: str, *, failed: bool) -> None:
        wanted = self.calls[call]
        if wanted.answered:
            return
        wanted.answered = True
        if failed:
            await self._write({"id": wanted.request, "error": {"code": -32000, "message": text[:2000]}})
        else:
            result = {} if wanted.content is None else {"content": wanted.content}
            await self._write({"id": wanted.request, "result": result})

    # -- messages

    def _numbered(self) -> tuple[int, asyncio.Future[Any]]:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        return number, self._waiting[number]

    async def _call(self, method: str, params: Mapping[str, Any]) -> Any:
        number, answered = self._numbered()
        await self._write({"id": number, "method": method, "params": params})
        return await answered

    async def _write(self, message: Mapping[str, Any]) -> None:
        try:
            await self._child.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
        except (ConnectionError, OSError) as error:
            raise _failed(self._name, self.death or str(error)) from None

    async def _live(self) -> None:
        try:
            async for message in self._child.read_messages():
                await self._take(message)
        except Exception as error:  # noqa: BLE001  whatever it is, it is the end of this process and is told as such
            self.death = str(error) or type(error).__name__
        finally:
            self.stop()
            self.death = (self.death or "the agent has ended").replace("the Claude runtime", "the agent")
            self.queue.put_nowait(_Died(self.death))
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_failed(self._name, self.death))
                    waiting.exception()
            for wanted in self.calls.values():
                if not wanted.end.done():
                    wanted.end.set_result((self.death, True))

    async def _take(self, message: Mapping[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            waiting = self._waiting.pop(message.get("id", -1), None)
            if waiting is not None and not waiting.done():
                if "error" in message:
                    said = str((message["error"] or {}).get("message") or message["error"])
                    waiting.set_exception(_failed(self._name, said[:400]))
                    waiting.exception()
                else:
                    waiting.set_result(message.get("result"))
        elif method == "session/update":
            self._update(params.get("update") or {})
        elif method == "session/request_permission":
            self._permission(message["id"], params)
        elif method in ("fs/read_text_file", "fs/write_text_file"):
            name = "Read" if method == "fs/read_text_file" else "Write"
            given = {key: params[key] for key in ("path", "content", "line", "limit") if params.get(key) is not None}
            self._ask(f"file-{next(self._numbers)}", _Wanted(message["id"], name, given))
        elif "id" in message:
            error = {"code": -32601, "message": f"{method} is not offered here"}
            await self._write({"id": message["id"], "error": error})

    def _ask(self, call: str, wanted: _Wanted) -> None:
        wanted.given = self._in_our_words(wanted.given)
        self.calls[call] = wanted
        self.queue.put_nowait(call)

    def _in_our_words(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Paths as rules and people write them: from the working folder."""
        path = given.get("path")
        root = os.path.realpath(self._working)
        if not isinstance(path, str) or not path.startswith("/"):
            return given
        for one in (str(self._working), root):
            if path.startswith(one.rstrip("/") + "/"):
                return {**given, "path": path[len(one.rstrip("/")) + 1 :]}
        return given

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
            told = self._told.setdefault(name, {})
            told |= {key: value for key, value in update.items() if value is not None}
            if told.get("status") not in ("completed", "failed"):
                return
            if name in self.calls:
                if not self.calls[name].end.done():
                    self.calls[name].end.set_result((_text_of(told), told["status"] == "failed"))
            elif update.get("status"):  # it did this without asking
                self.queue.put_nowait(ThinkingDelta(text=f"[{told.get('title') or name}: {told['status']}]\n"))

    def _permission(self, request: Any, params: Mapping[str, Any]) -> None:
        asked = params.get("toolCall") or {}
        name = str(asked.get("toolCallId") or f"call-{next(self._numbers)}")
        told = self._told.setdefault(name, {})
        told |= {key: value for key, value in asked.items() if value is not None}
        tool = _TOOLS.get(str(told.get("kind")), OTHER_TOOL)[0]
        options = tuple(one for one in params.get("options") or () if isinstance(one, Mapping))
        if name in self.calls:  # it asks again for the same call
            name = f"{name}-{next(self._numbers)}"
        self._ask(name, _Wanted(request, tool, _given(tool, told), options or ({"kind": "none"},)))

    def _prompt_ended(self, asked: asyncio.Future[Any]) -> None:
        if asked.cancelled():
            return
        if (error := asked.exception()) is not None:
            self.queue.put_nowait(_Died(getattr(error, "message", str(error))))
            return
        result = asked.result() if isinstance(asked.result(), Mapping) else {}
        self.queue.put_nowait(_Ended(str(result.get("stopReason") or "end_turn"), result.get("usage") or {}))


class AcpSpeaking:
    """A conversation on the agent: one process at most, started when it is needed."""

    def __init__(self, agent: AcpAgent, context: Context, own: Path, talk: Callable[[], RuntimeTalk]) -> None:
        self._agent = agent
        self._context = context
        self._own = own
        self._talk = talk
        self._runtime: AcpRuntime | None = None
        self._since = 0
        self._box = GateToolbox(_gate_tools(lambda: self._runtime), context)

    @property
    def name(self) -> str:
        return self._agent.name

    @property
    def window(self) -> int:
        return self._agent.window

    def model(self, conversation: str) -> AcpSpeaking:
        return self

    def toolbox(self) -> GateToolbox:
        return self._box

    def stop(self) -> None:
        if self._runtime is not None:
            self._runtime.stop()

    async def aclose(self) -> None:
        if self._runtime is not None:
            await self._runtime.aclose()

    async def follow(self, events: AsyncIterator[FeedItem]) -> None:
        """Hands every settlement to what waits for it. An interrupt stops the agent, whatever it was doing."""
        async for item in events:
            match item.event if isinstance(item, Record) else None:
                case t.ToolSettled() as settled:
                    await self._settled(settled)
                case t.TurnInterrupted() as stopped if stopped.turn > self._since:
                    self.stop()
                case t.ContinuationCancelled() as cancelled:
                    if turn_of(cancelled.key.rpartition(":")[2]) > self._since:
                        self.stop()

    async def _settled(self, event: t.ToolSettled) -> None:
        runtime = self._runtime
        if runtime is None or event.call not in runtime.calls or not runtime.alive:
            return
        try:
            if runtime.calls[event.call].options:
                await runtime.decide(event.call, allowed=False)  # one that ran was allowed already
            else:
                told = told_to_model(event.outcome, event.effect, event.text)
                await runtime.answer_file(event.call, told, failed=event.outcome != "succeeded")
        except ModelError:
            return  # it has ended: the turn that listens to it says so

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        finished = False
        try:
            async with aclosing(self._answer(request)) as parts:
                async for part in parts:
                    yield part
            finished = True
        finally:
            if not finished and self._runtime is not None:
                self._runtime.stop()  # interrupted, or at fault: what it would still do must not be done
                await to_the_end(self._runtime.gone())

    async def _answer(self, request: Request) -> Any:
        runtime = await self._listened(request)
        while True:
            match await runtime.queue.get():
                case str() as call:
                    wanted = runtime.calls[call]
                    yield ToolCall(call=call, tool=wanted.tool, input=wanted.given)
                    yield Stop(reason="tool_calls")
                    return
                case _Ended() if runtime.late:
                    text = "\n\n".join(runtime.late)
                    runtime.late.clear()
                    await runtime.send(text)
                case _Ended() as ended:
                    runtime.open = False
                    self._since = self._talk().state.talks[self._talk().name].turns
                    if ended.reason == "cancelled":
                        raise _failed(self.name, "it says that it was cancelled")
                    yield _usage(ended.usage)
                    yield Stop(reason=_STOPS.get(ended.reason, "end"))
                    return
                case _Died() as died:
                    raise _failed(self.name, died.why)
                case part:
                    yield part

    async def _listened(self, request: Request) -> AcpRuntime:
        talk = self._talk()
        turn = talk.state.talks[talk.name].turns
        entries = talk.transcript(talk.name).entries
        runtime = self._runtime
        if runtime is not None and runtime.alive and runtime.open:
            runtime.late += [said.text for said in entries if said.turn == turn and said.kind == "message"]
            return runtime  # it goes on with what it was told
        if runtime is None or not runtime.alive:
            if runtime is not None:
                await runtime.aclose()
            self._since = 0
            self._runtime = runtime = AcpRuntime(self._agent, self._context.working.path, self._own)
            await runtime.begin()
        await runtime.send(what_it_is_told(entries, turn, self._since))
        return runtime


class _HeldHandle(WorkHandle):
    """A call that the agent runs. To stop it is to stop the agent: nothing less is sure."""

    def __init__(self, work: Coroutine[Any, Any, Outcome], runtime: AcpRuntime) -> None:
        super().__init__(work)
        self._runtime = runtime

    def interrupt(self, reason: str) -> None:
        super().interrupt(reason)
        self._runtime.stop()


def _gate_tools(current: Callable[[], AcpRuntime | None]) -> list[Tool]:
    def starter(name: str) -> Any:
        async def begin(given: Mapping[str, Any], context: Context) -> Handle:
            runtime = current()
            wanted = runtime.calls.get(context.call) if runtime is not None else None
            if runtime is None or wanted is None:
                return SettledHandle(failed(_LOST))
            if not wanted.options:
                return WorkHandle(_file(wanted, name, given, context))
            return _HeldHandle(_pass(runtime, wanted, context.call), runtime)

        return begin

    found = {name: (effect, subject) for name, effect, subject in (*_TOOLS.values(), OTHER_TOOL)}
    found["Write"] = ("write", ("path", "path"))
    return [
        Tool(
            name=name,
            description="",
            input_schema={"type": "object"},
            effect=effect,
            start=starter(name),
            subject=subject,
            keeps_order=True,
        )
        for name, (effect, subject) in found.items()
    ]


async def _pass(runtime: AcpRuntime, wanted: _Wanted, call: str) -> Outcome:
    await runtime.decide(call, allowed=True)
    text, bad = await asyncio.shield(wanted.end)
    return Outcome(text=text or "[no output]", is_error=bad, effect="unknown" if bad else "completed")


async def _file(wanted: _Wanted, name: str, given: Mapping[str, Any], context: Context) -> Outcome:
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


def _installed(program: str) -> list[Path]:
    """Where a program really lies: what is on the path is often a link into a folder of packages."""
    real = Path(os.path.realpath(program))
    packages = [place for place in real.parents if place.name == "node_modules"]
    return [real.parent, *packages[-1:]]


def _given(tool: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input of a call as our tools have it, as far as the agent says what it is about."""
    given = told.get("rawInput")
    raw: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    title = str(told.get("title") or "")
    if tool == "Shell":
        command = raw.get("command", title)
        return {"command": " ".join(map(str, command)) if isinstance(command, list) else str(command)}
    places = [str(one.get("path")) for one in told.get("locations") or () if isinstance(one, Mapping)]
    diffs = [str(one["path"]) for one in told.get("content") or () if isinstance(one, Mapping) and one.get("path")]
    named = [str(raw[key]) for key in ("path", "file_path", "filePath", "filepath") if raw.get(key)]
    path = next(iter([*diffs, *named, *places]), "")
    return {**({"path": path} if path else {}), "about": title, **({"url": raw["url"]} if raw.get("url") else {})}


def _text_of(told: Mapping[str, Any]) -> str:
    blocks = [one.get("content") for one in told.get("content") or () if isinstance(one, Mapping)]
    return "\n".join(str(one.get("text")) for one in blocks if isinstance(one, Mapping) and one.get("text"))


def _usage(told: Mapping[str, Any]) -> Usage:
    def number(key: str) -> int | None:
        value = told.get(key)
        return value if type(value) is int else None

    read = number("cachedReadTokens")
    return Usage(input=number("inputTokens"), output=number("outputTokens"), cache_read=read)


def _failed(name: str, why: str) -> ModelError:
    return ModelError("network", f"{name}: {why}", hint="look whether the agent runs by itself, and is signed in")
