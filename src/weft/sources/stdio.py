"""An MCP server that is a command: started inside the boundary, spoken to by lines, ended with everything it started.

It gets the plain environment and what its config declares, no network and nothing to write unless declared. What it
says on standard error is kept as a short tail, for the words of an error; a line of standard output that is no message
of the protocol is kept there too. A message over the limit ends it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.sources.config import McpConfig
from weft.sources.declared_sources import Source
from weft.sources.importing import LAUNCHERS
from weft.sources.secrets import Secrets
from weft.tools.boundary import Need, Policy, command_files, program_folders
from weft.tools.processes import Supervised, plain_environment, to_the_end, usual_limits

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_FETCHED: Final = frozenset(place for places in LAUNCHERS.values() for place in places)
"""Where a launcher keeps what it runs: nobody works there, and whole repositories come and go."""
MESSAGE_LIMIT: Final = 16 * 2**20
"""Bytes of one message."""
WAITING: Final = 16
"""Messages that may wait on either side before whoever sends must wait."""
TAIL_LINES: Final = 8
TAIL_WIDTH: Final = 400
LEAVING_SECONDS: Final = 1.0
"""What a server gets to end by itself once its input is closed."""


@dataclass(frozen=True, slots=True)
class Launch:
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    policy: Policy


def launch_of(source: Source, surroundings: Mapping[str, str], secrets: Secrets) -> Launch:
    """How a source's command is started. UserError when a folder or a secret that it names is not there."""
    config = source.config
    assert config.kind == "mcp"
    assert config.command is not None
    environment = plain_environment(surroundings)
    home = Path(environment.get("HOME", "/nonexistent"))
    folder = source.place(secrets.value(config.cwd)) if config.cwd else _usual_folder(source, home)
    if not folder.is_dir():
        raise UserError(f"the source {source.slug} is to be started in {folder}, which is no folder")
    changed = tuple(map(source.place, config.write))
    for place in changed:
        if os.path.lexists(place):
            continue
        if not place.suffix:  # a launcher's cache before its first use; it was shown that it may be changed
            place.mkdir(parents=True, mode=0o700)
        elif not any(place.is_relative_to(other) for other in changed if other.is_dir()):
            raise UserError(
                f"the source {source.slug} may change {place}, which is not there",
                hint=f"to make it, it needs the folder: weft sources allow {source.slug} --write {place.parent}",
            )
    needs: frozenset[Need] = frozenset({"network"} if config.network else ())
    declared = secrets.values(config.env)
    known = replace(secrets, variables={**secrets.variables, **declared})  # an argument may name what `env` declares
    command = (secrets.value(config.command), *map(known.value, config.args))
    if "/" not in command[0] and shutil.which(command[0], path={**environment, **declared}["PATH"]) is None:
        raise UserError(
            f"the source {source.slug} is started by {command[0]}, which is not installed here",
            hint=f"install it, or say where it is: 'command' in {source.file}",
        )
    policy = Policy(
        working=folder,
        home=home,
        needs=needs,
        readable=(*program_folders(environment), *command_files(command), *map(source.place, config.read)),
        writable=changed,
        kept=tuple(place for name, place in zip(config.write, changed, strict=True) if name not in _FETCHED),
        hosts=tuple(config.hosts),
    )
    return Launch(command, folder, {**environment, **declared}, policy)


_NO_NETWORK: Final = re.compile(
    r"fetch failed|ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|[Cc]ould not resolve|Name or service not known|"
    r"[Nn]etwork is unreachable|[Nn]ame resolution|[Cc]onnection (?:refused|error)|ECONNREFUSED|Max retries exceeded|"
    r"Connect(?:ion)?Error|No route to host"
)
_NOT_WRITABLE: Final = re.compile(
    r"[Rr]ead-only file ?system|EROFS|readonly database|unable to open database|EACCES|EPERM|[Pp]ermission denied|"
    r"Operation not permitted|mkdir|could not be obtained|[Cc]an(?:no|')t (?:write|create)"
)


def what_held_it(config: McpConfig, slug: str, said: str) -> str:
    """When a command fails with words that sound like the boundary: what it is held to, and how to change that. ""
    when it is held to nothing of the kind."""
    if config.command is None:
        return ""
    if _NO_NETWORK.search(said) and not config.network:
        reached = f"only the hosts {', '.join(config.hosts)}" if config.hosts else "no network"
        return f"It has {reached}; to give it more: weft sources allow {slug} --network, or --host NAME"
    if _NOT_WRITABLE.search(said):
        written = f"only {', '.join(config.write)}" if config.write else "nothing"
        return f"It may change {written}; to give it more: weft sources allow {slug} --write FOLDER"
    return ""


def _usual_folder(source: Source, home: Path) -> Path:
    """Where it is declared; for a person's own source their home, as theirs for settings can't be seen from inside."""
    return home if source.declared == "person" else source.base


class StdioServer:
    """One run of a command, and the streams to it."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.ended = asyncio.Event()
        """Set when it says nothing more: it ended, or it was ended for saying too much."""
        self.why = ""
        """Why we ended it."""

    def epitaph(self, code: int | None) -> str:
        how = f"with exit code {code}" if code is not None and code >= 0 else f"by signal {-code}" if code else ""
        return self.why or f"the command ended {how}".rstrip()

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        from mcp.shared.message import SessionMessage

        running = await self._start()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](WAITING)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](WAITING)
        tasks = [
            asyncio.create_task(self._listen(running, incoming)),
            asyncio.create_task(self._speak(running, outgoing)),
            asyncio.create_task(self._hear_errors(running)),
        ]
        try:
            yield read, write
        finally:
            for stream in (read, write):
                stream.close()
            try:
                await to_the_end(self._end(running, tasks))
            finally:
                for other in (incoming, outgoing):
                    other.close()

    async def _start(self) -> Supervised:
        launch = self._launch
        here = os.open(launch.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return await Supervised.start(
                launch.command,
                folder=here,
                environment=launch.environment,
                policy=launch.policy,
                limits=usual_limits(),
                takes_input=True,
                errors_apart=True,
                line_limit=MESSAGE_LIMIT,
            )
        finally:
            os.close(here)

    async def _listen(
        self, running: Supervised, incoming: anyio.abc.ObjectSendStream[SessionMessage | Exception]
    ) -> None:
        import mcp.types as types
        from mcp.shared.message import SessionMessage

        stdout = running.inner.stdout
        assert stdout is not None
        closed = False
        try:
            while True:
                try:
                    line = await stdout.readline()
                except ValueError:
                    self.why = f"it sent a message of more than {MESSAGE_LIMIT // 2**20} MB and was ended"
                    running.stop()
                    break
                if not line:
                    break
                if closed:
                    continue  # nobody listens any more: only read, so that it can end
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self._keep(line.decode(errors="replace").rstrip())
                    continue
                try:
                    await incoming.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    closed = True
        finally:
            self.ended.set()
            await incoming.aclose()
        while await stdout.read(65536):
            continue

    async def _speak(self, running: Supervised, outgoing: anyio.abc.ObjectReceiveStream[SessionMessage]) -> None:
        writer = running.writer
        assert writer is not None
        try:
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()
        except (OSError, anyio.ClosedResourceError):
            self.ended.set()
        finally:
            await outgoing.aclose()

    async def _hear_errors(self, running: Supervised) -> None:
        stderr = running.inner.stderr
        assert stderr is not None
        while True:
            try:
                line = await stderr.readline()
            except ValueError:
                continue  # a line without an end: what is left of it comes next
            if not line:
                return
            if text := line.decode(errors="replace").strip():
                self._keep(text)

    def _keep(self, line: str) -> None:
        """Without secrets before it is cut: what is left of one at the end would be known to nobody."""
        self.tail.append(REDACTOR.text(line)[:TAIL_WIDTH])

    async def _end(self, running: Supervised, tasks: list[asyncio.Task[None]]) -> None:
        """First its input is closed; then it is ended with all it started."""
        if running.writer is not None:
            running.writer.close()
        gone = asyncio.ensure_future(running.gone())
        done, _ = await asyncio.wait({gone}, timeout=0 if running.stopped else LEAVING_SECONDS)
        if not done:
            running.stop()
        report = await gone
        if not self.why:
            self.why = self.epitaph(report.code if report else None) if done else ""
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        if running.writer is not None:
            with suppress(OSError):
                await running.writer.wait_closed()
        running.inner._transport.close()  # type: ignore[attr-defined]
