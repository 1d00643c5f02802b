"""The door of a session that is open: a local socket through which other processes of the same person reach its holder.

The socket lies in a folder of the person's own, readable for nobody else, under a name made from the session's path,
since the path of a socket may not be long. One line of JSON goes in, one comes back. Nothing here needs the log: what a
command leads to is recorded by the one writer, as always.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from weft.protocol.errors import ExternalError, UserError
from weft.protocol.hashes import hash_bytes

LINE_LIMIT: Final = 4 * 2**20
ANSWER_SECONDS: Final = 10.0

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Takes what is asked and says what became of it. Synchronous: it only puts something into the inbox."""


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
async def open_door(session: Path, answer: Answer) -> AsyncIterator[str]:
    """While this is open, `knock` reaches `answer`. Who holds the session's lock takes the place of a dead one.

    Gives "" or, where no socket can be made, the reason: a session without a door is as good as any other inside.
    """
    try:
        path = door_path(session)
        path.unlink(missing_ok=True)
        server = await _serve(path, answer)
    except (OSError, UserError) as error:
        yield f"other terminals can't reach this session: {error}"
        return
    try:
        path.chmod(0o600)
        yield ""
    finally:
        server.close()
        await server.wait_closed()
        path.unlink(missing_ok=True)


async def _serve(path: Path, answer: Answer) -> asyncio.AbstractServer:

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readline(), ANSWER_SECONDS)
            try:
                asked = json.loads(line)
                reply = answer(asked) if isinstance(asked, dict) else {"error": "not an object"}
            except ValueError:
                reply = {"error": "not JSON"}
            except UserError as error:
                reply = {"error": error.message, "hint": error.hint}
            writer.write(json.dumps(dict(reply)).encode() + b"\n")
            await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # whoever knocked has gone, or never said anything
        finally:
            writer.close()

    return await asyncio.start_unix_server(meet, path=str(path), limit=LINE_LIMIT)


async def knock(session: Path, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the holder of the session says; None when nobody holds it open."""
    try:
        reader, writer = await asyncio.open_unix_connection(str(door_path(session)), limit=LINE_LIMIT)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    try:
        writer.write(json.dumps(dict(asked)).encode() + b"\n")
        await writer.drain()
        line = await asyncio.wait_for(reader.readline(), ANSWER_SECONDS)
    except (OSError, TimeoutError) as error:
        raise ExternalError("the process that holds the session does not answer", retryable=True) from error
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    if not line:
        raise ExternalError("the process that holds the session has just ended", retryable=True)
    reply = json.loads(line)
    if "error" in reply:
        raise UserError(str(reply["error"]), hint=str(reply.get("hint", "")))
    assert isinstance(reply, dict)
    return reply
