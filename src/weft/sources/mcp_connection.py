"""One MCP server, kept up: a supervisor that starts it when it is first used and again when it is needed again.

    idle -> starting -> up -> (ended, lost, expired) -> idle …

Whoever calls waits for it to be up. A start that fails is not tried again at once: the wait doubles, and a call in
between fails with the reason. A call that was refused because the server had forgotten the session was not carried out:
it is made again on a new one. A call whose end was lost is made again only when the tool may be repeated; else its
effect is unknown, and that is said. What the server says that its tools are is asked again when it says they changed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from weft.protocol.errors import WeftError
from weft.protocol.values import dataclass
from weft.sources.connector import NeedsSignInError, SourceDownError
from weft.sources.elicitation import Elicitation
from weft.sources.http_client import WIRE_CODE
from weft.sources.listing import Listing, OfferedPrompt, OfferedTool
from weft.sources.schemas import tool_of
from weft.sources.tool_results import outcome_of
from weft.tools.builtin.schema import closed, text
from weft.tools.results import bounded
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Outcome, failed
from weft.version import __version__

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.shared.exceptions import MCPError

_T = TypeVar("_T")
START_SECONDS: Final = 45.0
"""A program that is fetched when it is started takes its time."""
LONGEST_SECONDS: Final = 3600.0
"""The longest a call may take, however often it gives a sign of life."""
PATIENCE: Final = 1.0
"""A call waits so long for the next start; when that is further away, it fails with the reason of the last."""
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 60.0
PAGES: Final = 50
MOST_TOOLS: Final = 500
PROGRESS_EVERY: Final = 0.1
"""Seconds between two lines of progress."""
_EXPIRED: Final = "Session terminated"
_CLOSED: Final = "Connection closed"
"""What the library says of a connection that has ended as a whole."""
_UNREAD: Final = -32700
_NOT_DONE: Final = frozenset({-32601, -32602})
"""Of the protocol's errors: the call was not understood, so nothing came of it. The others the library also says of an
answer that it can't read, and then the call may have been carried out."""
_VALIDATION: Final = re.compile(r": \d+ validation errors? for .*", re.DOTALL)
"""Field by field what is wrong with it: nothing that a person can use."""


LIST_RESOURCES: Final = "resources/list"
READ_RESOURCE: Final = "resources/read"
GET_PROMPT: Final = "prompts/get"
RESOURCE_TOOLS: Final = (
    OfferedTool(
        name=LIST_RESOURCES,
        description="The resources that can be read here: address, name and description of each.",
        input_schema=closed({}),
        repeatable=True,
    ),
    OfferedTool(
        name=READ_RESOURCE,
        description="Read a resource by its address.",
        input_schema=closed({"uri": text("Its address, as the list has it", shortest=1, longest=2000)}),
        repeatable=True,
    ),
)


def prompt_tool(prompts: Sequence[OfferedPrompt]) -> OfferedTool:
    names = [prompt.name for prompt in prompts]
    about = "; ".join(f"{one.name}({', '.join(one.arguments)}) {one.description}".strip() for one in prompts)
    values = {"type": "object", "additionalProperties": {"type": "string"}, "description": "Its arguments by name"}
    return OfferedTool(
        name=GET_PROMPT,
        description=f"The text of a prompt that was prepared here: {about}"[:2000],
        input_schema=closed({"name": {"type": "string", "enum": names}}, {"arguments": values}),
        repeatable=True,
    )


class McpLine(AbstractAsyncContextManager["TransportStreams"]):
    """One way to a server: its streams, and what is known when they end."""

    ended: asyncio.Event
    """Set when nothing more will come."""

    def told(self) -> tuple[str, tuple[str, ...]]:
        """Why it ended, when it knows, and the last words it heard."""
        return "", ()

    def older(self) -> McpLine | None:
        """The way that servers of before have, where nobody said which this one has."""
        return None


@dataclass(slots=True)
class _Up:
    """A server that answers."""

    client: Client
    line: McpLine
    gone: asyncio.Future[str]
    """Gets the reason when it is gone."""
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    fault: NeedsSignInError | None = None
    """What ended it, when that is for a person to put right."""

    @property
    def answers(self) -> bool:
        """As far as is known: nothing is sent to one that has ended and is only being buried."""
        return not self.gone.done() and not self.line.ended.is_set()


class McpConnection:
    """`line` opens a new way to the server; `changed` is told when the server's tools are others."""

    def __init__(
        self,
        slug: str,
        line: Callable[[], McpLine],
        *,
        seconds: float,
        repeatable: Callable[[str], bool],
        changed: Callable[[Listing], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._slug = slug
        self._line = line
        self._seconds = seconds
        self._repeatable = repeatable
        self._changed = changed
        self._clock = clock
        self._start_seconds = start_seconds
        self._up: _Up | None = None
        self._life: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._last_fault: WeftError | None = None
        self._is_old = False
        self._timed_out = False
        self._elicitation = Elicitation(slug)
        self._beside: set[asyncio.Task[None]] = set()
        self.starts = 0
        """How often it was started."""

    # -- its life

    @property
    def answers(self) -> bool:
        """Whether it is there now, as far as is known."""
        return self._up is not None and self._up.answers

    async def _ready(self) -> _Up:
        async with self._starting:
            if self._up is not None and self._up.answers:
                return self._up
            wait = self._not_before - self._clock()
            if wait > PATIENCE and self._last_fault is not None:
                fault = self._last_fault
                raise SourceDownError(f"{fault.message}; it is tried again in {wait:.0f} s", hint=fault.hint)
            if wait > 0:
                await asyncio.sleep(wait)
            return await self._start()

    async def _start(self) -> _Up:
        await self._end_life()
        await in_thread(_load, "weft-mcp")
        self.starts += 1
        line = self._line()
        older = line.older()
        try:
            if older is not None and self._is_old:
                self._up = await self._begun(older)
            else:
                self._up = await self._begun(line)
        except SourceDownError as error:
            if older is None or self._is_old or self._timed_out:
                raise self._noted(error) from error
            await self._end_life()
            try:
                self._up = await self._begun(older)
            except WeftError:
                raise self._noted(error) from error
            self._is_old = True
        except WeftError as error:
            raise self._noted(error) from error
        self._failures, self._not_before, self._last_fault = 0, 0.0, None
        return self._up

    async def _begun(self, line: McpLine) -> _Up:
        ready: asyncio.Future[_Up] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(line, ready), name=f"source {self._slug}")
        self._timed_out = False
        try:
            async with asyncio.timeout(self._start_seconds):
                return await asyncio.shield(ready)
        except TimeoutError:
            await self._end_life()
            self._timed_out = True
            raise self._failed(f"it did not answer within {self._start_seconds:g} seconds", line) from None
        except WeftError:
            raise
        except BaseException:
            ready.cancel()
            await self._end_life()
            raise

    def _failed(self, why: str, line: McpLine) -> WeftError:
        return SourceDownError(f"the source {self._slug} can't be reached: {_last_words(line, why)}")

    def _noted(self, fault: WeftError) -> WeftError:
        self._failures += 1
        self._not_before = self._clock() + min(FIRST_WAIT * 2 ** (self._failures - 1), LONGEST_WAIT)
        self._last_fault = fault
        return fault

    async def _live(self, line: McpLine, ready: asyncio.Future[_Up]) -> None:
        """In a task of its own from its start to its end: what is opened here is closed here."""
        up: _Up | None = None
        reason = "it was closed"
        try:
            async with self._open_client(line) as client:
                up = _Up(client, line, asyncio.get_running_loop().create_future())
                if not ready.done():
                    ready.set_result(up)
                self._watch_changes(up)
                waits = {asyncio.ensure_future(up.leave.wait()), asyncio.ensure_future(line.ended.wait())}
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for one in waits:
                        one.cancel()
            if line.ended.is_set():
                reason = "the connection ended"
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  whatever ends a connection, those who wait for it hear of it
            leaf = _leaf(error)
            reason = leaf.message if isinstance(leaf, WeftError) else f"{type(leaf).__name__}: {leaf}"
            if up is not None and isinstance(leaf, NeedsSignInError):
                up.fault = leaf
            if not ready.done():
                ready.set_exception(self._start_fault(leaf, line))
        finally:
            if not ready.done():
                ready.set_exception(self._start_fault(Exception(reason), line))
            if ready.done() and not ready.cancelled():
                ready.exception()  # there may be nobody who looks
            if up is not None and not up.gone.done():
                up.gone.set_result(_last_words(line, reason))

    def _start_fault(self, leaf: BaseException, line: McpLine) -> WeftError:
        from mcp.shared.exceptions import MCPError

        if isinstance(leaf, WeftError):
            return leaf
        if isinstance(leaf, MCPError) and _status(leaf) == 401:
            return NeedsSignInError(self._slug)
        return self._failed(leaf.message if isinstance(leaf, MCPError) else str(leaf) or type(leaf).__name__, line)

    @asynccontextmanager
    async def _open_client(self, line: McpLine) -> AsyncIterator[Client]:
        from mcp import Client
        from mcp.types import Implementation

        hush()
        client = Client(
            line,
            client_info=Implementation(name="weft", version=__version__),
            elicitation_callback=self._elicitation.answer,
            message_handler=self._heard,
            cache=None,
        )
        async with client:
            yield client

    async def _end_life(self) -> None:
        if self._life is None:
            return
        if self._up is not None:
            self._up.leave.set()
            await asyncio.wait({self._life}, timeout=5)
        self._life.cancel()
        await asyncio.wait({self._life})
        self._life, self._up = None, None

    async def close(self) -> None:
        for task in list(self._beside):
            task.cancel()
        if self._beside:
            await asyncio.wait(self._beside)
        async with self._starting:
            await self._end_life()

    # -- what it offers

    async def listing(self) -> Listing:
        for again in (True, False):
            up = await self._ready()
            try:
                return await self._bounded(up, self._listed(up), START_SECONDS)
            except _GoneError as gone:
                if not again:
                    raise SourceDownError(f"the source {self._slug} can't be reached: {gone.why}") from gone
            except _ExpiredError:
                await self._end_life_of(up)
            except (_RefusedError, _UnsentError, _LateError) as error:
                why = str(error) or "it gave no answer"
                raise SourceDownError(f"the tools of the source {self._slug} can't be listed: {why}") from error
        raise SourceDownError(f"the source {self._slug} ends every session at once")

    async def _listed(self, up: _Up) -> Listing:
        client = up.client
        tools: dict[str, OfferedTool] = {}
        left_out: dict[str, str] = {}
        cursor: str | None = None
        for _ in range(PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                if len(tools) >= MOST_TOOLS:
                    left_out[tool.name[:80]] = f"the source has more than {MOST_TOOLS} tools"
                    continue
                made = tool_of(tool)
                if isinstance(made, str):
                    left_out[tool.name[:80]] = made
                else:
                    tools.setdefault(made.name, made)
            cursor = page.next_cursor
            if cursor is None:
                break
        capabilities = client.server_capabilities
        info = client.server_info
        prompts = tuple(await self._prompts(client)) if capabilities.prompts else ()
        own = [*(RESOURCE_TOOLS if capabilities.resources else ()), *([prompt_tool(prompts)] if prompts else ())]
        return Listing(
            tools=(*tools.values(), *own),
            prompts=prompts,
            resources=capabilities.resources is not None,
            server=f"{info.name} {info.version}".strip() if info else "",
            protocol=client.protocol_version,
            instructions=(client.instructions or "")[:4000],
            left_out=left_out,
        )

    async def _prompts(self, client: Client) -> list[OfferedPrompt]:
        page = await client.list_prompts()
        return [
            OfferedPrompt(
                name=prompt.name,
                description=(prompt.description or "")[:400],
                arguments=tuple(one.name for one in prompt.arguments or ()),
                required=tuple(one.name for one in prompt.arguments or () if one.required),
            )
            for prompt in page.prompts[:200]
        ]

    async def _heard(self, message: Any) -> None:
        import mcp.types as types

        if isinstance(message, types.ToolListChangedNotification):
            self._aside(self._list_again())

    def _watch_changes(self, up: _Up) -> None:
        """Where the protocol has no back channel, what changes is subscribed to."""
        from mcp.types.version import MODERN_PROTOCOL_VERSIONS

        tools = up.client.server_capabilities.tools
        if tools is not None and tools.list_changed and up.client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._aside(self._subscribed(up))

    async def _subscribed(self, up: _Up) -> None:
        try:
            async with up.client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self._list_again()
        except Exception:  # noqa: BLE001  a subscription that is lost is not the connection: the next listing is whole
            return

    async def _list_again(self) -> None:
        try:
            self._changed(await self.listing())
        except WeftError:
            return  # the next call says what is wrong

    def _aside(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    # -- calls

    async def call(self, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
        context.progress(f"{self._slug}: {tool}")
        if tool in (LIST_RESOURCES, READ_RESOURCE, GET_PROMPT):
            return await self._looked_up(tool, given, context)
        for again in (True, False):
            try:
                up = await self._ready()
            except NeedsSignInError:
                raise
            except WeftError as error:
                return failed(str(error))
            try:
                return await self._called(up, tool, given, context)
            except _ExpiredError as expired:
                if not again:
                    return failed(f"the source {self._slug} ends every session at once: {expired}")
                await self._end_life_of(up)
            except _UnsentError as unsent:
                if not again:
                    return failed(f"the source {self._slug} can't be reached: {unsent}")
            except _GoneError as gone:
                if not again or not self._repeatable(tool):
                    return self._lost(tool, gone.why)
                await self._end_life_of(up)
        raise AssertionError("unreachable")

    def _lost(self, tool: str, why: str) -> Outcome:
        text = (
            f"the source {self._slug} was lost in the middle of {tool}: {why}. Whether the call was carried out is not "
            "known: look before it is made again. The source is started again with the next call."
        )
        return failed(text, effect="unknown")

    async def _end_life_of(self, up: _Up) -> None:
        async with self._starting:
            if self._up is up:
                await self._end_life()

    async def _called(self, up: _Up, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
        deadline = _Deadline(self._seconds)
        told = 0.0

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            nonlocal told
            deadline.extend()
            if self._clock() - told >= PROGRESS_EVERY:
                told = self._clock()
                share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
                context.progress(f"{self._slug}: {message or share}"[:400])

        with self._elicitation.asking(context, deadline):
            try:
                result = await self._bounded(
                    up, up.client.call_tool(tool, dict(given), progress_callback=progressed), deadline
                )
            except _LateError:
                text = (
                    f"{tool} of the source {self._slug} gave no sign of life for {self._seconds:g} seconds and was "
                    "cancelled; whether it was carried out is not known"
                )
                return failed(text, effect="unknown")
            except _RefusedError as refused:
                return failed(f"the source {self._slug} refused {tool}: {refused.words}", effect=refused.effect)
        return await outcome_of(self._slug, result, context)

    async def _bounded(self, up: _Up, work: Coroutine[Any, Any, _T], limit: _Deadline | float) -> _T:
        """The end of some work with the server, or why there is none. Cancelled, it cancels the request.

        It runs in the task of whoever waits for it: a task of its own would be a third of what a call costs.
        """
        from mcp.shared.exceptions import MCPError

        deadline = limit if isinstance(limit, _Deadline) else _Deadline(limit)
        if up.gone.done():
            work.close()
            raise _GoneError(up.gone.result())
        up.gone.add_done_callback(deadline.cut)
        try:
            async with deadline:
                return await work
        except MCPError as error:
            raise await self._fault(up, error) from error
        except WeftError:
            raise
        except Exception as error:
            if deadline.over:
                raise await self._gone(up, "") if up.gone.done() else _LateError() from error
            raise _RefusedError(f"its answer is not what it declares: {' '.join(str(error).split())[:400]}") from error
        finally:
            up.gone.remove_done_callback(deadline.cut)

    async def _fault(self, up: _Up, error: MCPError) -> Exception:
        """What an error of the protocol means for the call that met it."""
        from mcp.types import CONNECTION_CLOSED

        data = error.data if isinstance(error.data, dict) else {}
        if data.get("expired") or error.message == _EXPIRED:
            return _ExpiredError(error.message)
        if error.code == CONNECTION_CLOSED:
            return await self._gone(up, error.message)
        if error.code == WIRE_CODE and data.get("unsent"):
            return _UnsentError(error.message)
        if error.code == WIRE_CODE and data.get("lost"):
            return _GoneError(error.message)
        if data.get("status") == 401:
            return NeedsSignInError(self._slug)
        if error.code == _UNREAD:
            return _RefusedError(f"its answer can't be read: {_VALIDATION.sub('', error.message)}")
        return _RefusedError(error.message, done=error.code not in _NOT_DONE)

    async def _gone(self, up: _Up, otherwise: str) -> Exception:
        """Why it is gone; known a moment later than that it is. The end of one stream is not the end of the whole."""
        if up.line.ended.is_set() or otherwise == _CLOSED:
            await asyncio.wait({up.gone}, timeout=3)
        return up.fault or _GoneError(up.gone.result() if up.gone.done() else otherwise)

    # -- prompts and resources

    async def _looked_up(self, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
        """What we offer as tools of a server beside its own: what else the protocol has."""
        if tool == LIST_RESOURCES:
            found = await self.resources()
            said = "\n".join(f"{uri}\t{name}\t{about}" for uri, name, about in found) or "[none]"
        elif tool == READ_RESOURCE:
            parts = await self.resource(str(given["uri"]))
            said = "\n\n".join([await _shown(media_type, data, context) for media_type, data in parts])
        else:
            said = await self.prompt(str(given["name"]), given.get("arguments", {}))
        lines = said.count("\n") + 1
        outcome = Outcome(
            text=said, effect="none", summary=f"{lines} lines from {self._slug}", outside=(f"the source {self._slug}",)
        )
        return await bounded(outcome, context)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """The text of a prompt. UserError or SourceDownError in words."""
        result = await self._asked(lambda up: up.client.get_prompt(name, dict(arguments)))
        texts = [getattr(message.content, "text", "") for message in result.messages]
        return "\n\n".join(filter(None, texts))

    async def resources(self) -> list[tuple[str, str, str]]:
        """Address, name and description of each."""
        result = await self._asked(lambda up: up.client.list_resources())
        return [(str(one.uri), one.name, one.description or "") for one in result.resources]

    async def resource(self, uri: str) -> list[tuple[str, bytes]]:
        """Its contents, each with its media type."""
        import base64

        result = await self._asked(lambda up: up.client.read_resource(uri))
        found = []
        for part in result.contents:
            text, blob = getattr(part, "text", None), getattr(part, "blob", None)
            try:
                data = text.encode("utf-8", "replace") if text is not None else base64.b64decode(blob or "")
            except ValueError as error:
                raise SourceDownError(f"the source {self._slug} gave {uri[:200]} in no base64: {error}") from error
            found.append((part.mime_type or "text/plain", data))
        return found

    async def _asked(self, ask: Callable[[_Up], Any]) -> Any:
        up = await self._ready()
        try:
            return await self._bounded(up, ask(up), self._seconds)
        except _RefusedError as refused:
            raise SourceDownError(f"the source {self._slug} refused: {refused.words}") from refused
        except (_GoneError, _ExpiredError, _UnsentError, _LateError) as error:
            raise SourceDownError(f"the source {self._slug} gave no answer: {error}") from error


class _Deadline:
    """Holds some work to so many seconds without a sign of life, as far as nobody is being asked."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._time = asyncio.get_running_loop().time
        self._last = self._time() + LONGEST_SECONDS
        self._scope = asyncio.timeout(seconds)
        self._paused = 0
        self._runs = False

    async def __aenter__(self) -> None:
        await self._scope.__aenter__()
        self._runs = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runs = False
        await self._scope.__aexit__(kind, error, trace)

    @property
    def over(self) -> bool:
        """Whether it was this that ended the work."""
        return self._scope.expired()

    def extend(self) -> None:
        if self._runs and not self._paused:
            self._scope.reschedule(min(self._time() + self._seconds, self._last))

    def cut(self, _: object = None) -> None:
        """Now."""
        if self._runs:
            self._scope.reschedule(self._time())

    def pause(self) -> None:
        self._paused += 1
        if self._runs:
            self._scope.reschedule(None)

    def go_on(self) -> None:
        self._paused -= 1
        self.extend()


def _last_words(line: McpLine, why: str) -> str:
    """Why a way to a server ended, as the way knows it (else `why`), and what it heard last."""
    known, tail = line.told()
    return f"{known or why}; it last said: {' | '.join(tail)}" if tail else known or why


class _GoneError(Exception):
    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class _ExpiredError(Exception):
    pass


class _UnsentError(Exception):
    pass


class _LateError(Exception):
    pass


class _RefusedError(Exception):
    def __init__(self, words: str, *, done: bool = True) -> None:
        super().__init__(words)
        self.words = words
        self.effect: Any = "unknown" if done else "none"


async def _shown(media_type: str, data: bytes, context: Context) -> str:
    if media_type.startswith("text/") or media_type.endswith(("json", "xml", "yaml")):
        return data.decode("utf-8", "replace")
    keep = context.keep
    where = f", kept as @session/blobs/{await in_thread(lambda: keep(data), 'weft-keep')}" if keep else ""
    return f"[{media_type}, {len(data):,} bytes{where}]"


def _status(error: Any) -> int:
    return int(error.data.get("status", 0)) if isinstance(error.data, dict) else 0


def _leaf(error: BaseException) -> BaseException:
    """The first cause in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _load() -> None:
    """The library takes its time to be loaded: not where everybody else has to wait."""
    import mcp.client.streamable_http  # noqa: F401


def hush() -> None:
    """The library tells of every odd line of a server on our standard error; what matters is in our own words."""
    for name in ("mcp", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
