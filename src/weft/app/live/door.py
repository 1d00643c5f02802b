"""The door of a session that is held open: a local socket through which other processes of the same person reach it.

The socket lies in a folder of the person's own, readable for nobody else, under a name made from the session's path,
since the path of a socket may not be long. A line of JSON goes in:

    {"do": "submit", "command": {…}, "key": "…", "by": {…}}    one line comes back: accepted or refused
    {"do": "events", "after": 12}                              a line for each event, until one of the two goes
    {"do": "look", "what": "context"}                          one line: what only the holder knows, as Markdown
    {"do": "rest", "run": true}                                one line, when the session has come to rest

In a shared workspace the same lines go through the store (`remote_door.py`) where another machine holds the session.
`AttachedSession` is the other side: a session that another process holds, with the same doors as one that is held here.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from weft.app.live.door_messages import (
    actor_from_wire,
    command_from_wire,
    item_from_wire,
    item_to_wire,
    reply_from_wire,
    to_wire,
)
from weft.app.live.live_session import LiveSession
from weft.app.live.opened_session import HOLDER_GONE, HeldElsewhere
from weft.app.live.overviews import INSIDE
from weft.app.live.remote_door import Visit
from weft.app.live.slash_commands import OverviewName
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest
from weft.protocol.commands import Accepted, Reply, SessionCommand, StartRun, refusal
from weft.protocol.envelope import PERSON, Actor
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.events import Event, Outcome, Record, StatusChanged
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline

LINE_LIMIT: Final = 256 * 2**20
"""Bytes of one line: a command may bring documents."""
FIRST_LINE_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 60.0


def door_path(session: Path) -> Path:
    name = hash_bytes(os.fsencode(os.path.realpath(session)))[:24]
    return _own_folder() / f"{name}.sock"


def _own_folder() -> Path:
    """A folder for sockets that only this person can look into; refused when somebody else has made it."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base) / f"weft-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UserError(
            f"{folder} is not a folder of yours alone", hint="remove it, or set XDG_RUNTIME_DIR to a folder of your own"
        )
    return folder


@asynccontextmanager
async def open_door(session: LiveSession) -> AsyncIterator[str]:
    """While this is open, other processes reach the session; then it is let go of, and who followed it hears its end.
    Who holds its lock takes the place of a dead one.

    Gives "" or, where no socket can be made, the reason: a session without a door is as good as any other inside.
    """
    meetings: set[asyncio.Task[None]] = set()

    def begin(meeting: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(meeting, name="meets at the door")
        meetings.add(task)
        task.add_done_callback(meetings.discard)

    def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begin(_meet(session, reader, writer))

    knocks = session.knocks
    async with knocks.listening() if knocks else nullcontext():
        path, server, trouble = None, None, ""
        try:
            path = door_path(session.folder)
            path.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(meet, path=str(path), limit=LINE_LIMIT)
        except (OSError, UserError) as error:
            trouble = f"other terminals can't reach this session: {error}"
        try:
            if server is not None and path is not None:
                path.chmod(0o600)
            answering = knocks.answering(session.id, lambda visit: begin(_meet_far(session, visit))) if knocks else None
            async with answering or nullcontext():
                yield trouble
        finally:
            if server is not None and path is not None:
                path.unlink(missing_ok=True)  # before the lock is let go of: the next holder puts its own there
                server.close()
            await session.close()
            await asyncio.sleep(0)  # who came at the last moment is met too
            if meetings:  # who follows gets to hear the end of it
                await asyncio.wait({*meetings}, timeout=1)
            while left := {*meetings}:
                for task in left:
                    task.cancel()
                await asyncio.wait(left)
            if server is not None:
                await server.wait_closed()


async def _meet(session: LiveSession, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Who comes through the socket."""

    async def write(value: Mapping[str, Any]) -> None:
        await _write(writer, value)

    try:
        line = await asyncio.wait_for(reader.readline(), FIRST_LINE_SECONDS)
        await _hear(session, line, write, lambda: reader.read(1))
    except (OSError, TimeoutError, ValueError):
        pass  # whoever knocked has gone, or never said anything
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _meet_far(session: LiveSession, visit: Visit) -> None:
    """Who comes through the store."""

    async def write(value: Mapping[str, Any]) -> None:
        await visit.write(_line(value))

    try:
        await _hear(session, visit.asked, write, visit.gone.wait)
    finally:
        await visit.end()


Write = Callable[[Mapping[str, Any]], Awaitable[None]]
Gone = Callable[[], Coroutine[Any, Any, object]]


async def _hear(session: LiveSession, line: bytes, write: Write, gone: Gone) -> None:
    """While the session is let go of, whoever can't be served gets no answer: to them its holder has gone, and the next
    one serves them."""
    try:
        asked = json_value(line)
        if not isinstance(asked, dict):
            raise UserError("not an object")
        await _answer(session, asked, write, gone)
    except ValueError:
        await write({"error": "not JSON"})
    except WeftError as error:
        if not session.is_closed:
            await write({"error": error.message, "hint": error.hint})


async def _answer(session: LiveSession, asked: Mapping[str, Any], write: Write, gone: Gone) -> None:
    match asked.get("do"):
        case "submit":
            by = actor_from_wire(asked["by"]) if "by" in asked else PERSON
            reply = await session.submit(command_from_wire(asked.get("command")), key=str(asked.get("key", "")), by=by)
            if isinstance(reply, Accepted) or not session.is_closed:
                await write(to_wire(reply))
        case "events":
            after = asked.get("after", 0)
            if type(after) is not int or after < 0:
                raise UserError("after is a number of an event")
            await _follow(session, after, write, gone)
        case "rest":
            outcome = await (session.run_at_rest() if asked.get("run") else session.rest())
            await write({"outcome": outcome})
        case "look":
            if asked.get("what") not in INSIDE:
                raise UserError("there is nothing of that name to look at")
            await write({"text": await session.look_inside(asked["what"])})
        case other:
            raise UserError(f"the session does not know how to {str(other)[:40]!r}")


async def _follow(session: LiveSession, after: int, write: Write, gone: Gone) -> None:
    """Until the session is let go of, or the follower goes."""

    async def send() -> None:
        async for item in session.events(after):
            await write(item_to_wire(item))

    sending, left = asyncio.ensure_future(send()), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({sending, left}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, left):
            task.cancel()
        await asyncio.wait({sending, left})


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


async def _write(writer: asyncio.StreamWriter, value: Mapping[str, Any]) -> None:
    writer.write(_line(value))
    await writer.drain()


class Lines(Protocol):
    async def readline(self) -> bytes: ...


Way = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[Lines]]
"""To a door: what is asked, and the lines that come back."""


class HolderGoneError(ExternalError):
    """Nobody is behind the door any more: what was said may have been taken or not."""

    def __init__(self) -> None:
        super().__init__(HOLDER_GONE, hint="give it again: whoever holds it then gets it", retryable=True)


class AttachedSession(HeldElsewhere):
    """A session that another process holds."""

    def __init__(self, parts: Parts, name: str, folder: Path, request: SessionRequest, way: Way) -> None:
        super().__init__(parts, request, name, folder)
        self._way = way
        self._status: StatusChanged | None = None

    async def _submit(self, command: SessionCommand, key: str, by: Actor) -> Reply:
        if isinstance(command, StartRun) and not command.inputs:  # the files that were named here
            given = self._parts.given(self.pipeline, self._request)
            command = replace(command, inputs={name: one.files for name, one in given.items()})
        if isinstance(command, StartRun) and not command.pipeline and not self.state.pipeline:
            command = replace(command, pipeline=self.pipeline.name)  # the session has none yet
        async with self._order:
            asked = {"do": "submit", "command": to_wire(command), "key": key, "by": to_wire(by)}
            try:
                return reply_from_wire(await self._asked(asked, ANSWER_SECONDS))
            except WeftError as error:
                return refusal(error)

    async def _asked(self, asked: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
        try:
            return await _ask(self._way, asked, seconds)
        except HolderGoneError:
            self.is_lost = True
            raise

    async def events(self, after: int = 0) -> AsyncIterator[Record | Event]:
        try:
            async with self._way({"do": "events", "after": after}) as reader:
                while line := await reader.readline():
                    item = item_from_wire(_read(line))
                    if isinstance(item, StatusChanged):
                        self._status = item
                    yield item
        except HolderGoneError:
            pass  # as where the lines end
        self.is_lost = True

    @property
    def state(self) -> SessionState:
        """What the log adds up to now."""
        return self._parts.sessions.read(self.id).state

    @property
    def status(self) -> StatusChanged | None:
        """As it was last told to whoever follows the events here."""
        return self._status

    @property
    def pipeline(self) -> Pipeline:
        named = self._request.pipeline
        if isinstance(named, Pipeline):
            return named
        return self._parts.workspace.pipeline(self.state.pipeline or named or "")

    async def run_at_rest(self) -> Outcome | None:
        return await self._rest(run=True)

    async def rest(self) -> Outcome | None:
        return await self._rest(run=False)

    async def _rest(self, *, run: bool) -> Outcome | None:
        async with self._order:  # behind what was submitted
            pass
        outcome: Outcome | None = (await self._asked({"do": "rest", "run": run}, None))["outcome"]
        return outcome

    async def look_inside(self, what: OverviewName) -> str:
        return str((await self._asked({"do": "look", "what": what}, ANSWER_SECONDS))["text"])


async def attach(parts: Parts, name: str, request: SessionRequest) -> AttachedSession | None:
    """The session as another process holds it, here or on another machine; None when nobody does, or not within
    reach."""
    if not parts.sessions.exists(name):
        return None  # its holder has recorded nothing yet
    with parts.sessions.folder(name) as folder:
        path = folder.path
    try:
        _, writer = await asyncio.open_unix_connection(str(door_path(path)))
    except (OSError, UserError):
        shared, knocks = parts.shared, parts.knocks
        if shared is None or knocks is None or await parts.off_loop(lambda: shared.holder(name)) is None:
            return None
        return AttachedSession(parts, name, path, request, lambda asked: knocks.knocking(name, _line(asked)))
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return AttachedSession(parts, name, path, request, lambda asked: _knocking(path, asked))


@asynccontextmanager
async def _knocking(session: Path, asked: Mapping[str, Any]) -> AsyncIterator[Lines]:
    try:
        reader, writer = await asyncio.open_unix_connection(str(door_path(session)), limit=LINE_LIMIT)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise HolderGoneError from error
    try:
        await _write(writer, asked)
        yield reader
    except OSError as error:
        raise HolderGoneError from error
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _ask(way: Way, asked: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    """One line in, one line out."""
    try:
        async with way(asked) as reader, asyncio.timeout(seconds):
            line = await reader.readline()
    except TimeoutError as error:
        hint = "what was given may still be carried out there: look before you give it again"
        raise ExternalError("the process that holds the session does not answer", hint=hint, retryable=True) from error
    if not line:
        raise HolderGoneError
    return _read(line)


def _read(line: bytes) -> dict[str, Any]:
    reply = json_value(line)
    assert isinstance(reply, dict)
    if "error" in reply:
        raise UserError(str(reply["error"]), hint=str(reply.get("hint", "")))
    return reply
