"""The runtime's process: under a supervisor, so that it and all it started can be ended at once, in an environment that
has nothing of ours but what a command may see. Its key comes through a pipe: what it runs can't find it there.

This is a transport of the SDK's client. `stop` is synchronous and needs nobody's consent.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.files import translated
from weft.tools.processes import MARK, end_marked, plain_environment, supervised
from weft.tools.threads import in_thread

LINE: Final = 64 * 2**20
"""Bytes of one message of the runtime."""
FAREWELL: Final = 3.0
"""Seconds it has to write its transcript when its input has ended."""
_OAUTH: Final = "sk-ant-oat"
_NOT_PASSED: Final = ("HOME", "CI", "USER", "LOGNAME")
_GIT: Final = {"core.fsmonitor": "false", "safe.bareRepository": "explicit", "log.showSignature": "false"}
_SWITCHES: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    "CLAUDE_CODE_DISABLE_WORKFLOWS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
    "CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING": "1",
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}


def own_folders(folder: Path) -> tuple[Path, ...]:
    """What the runtime's own folder has to hold before it starts."""
    return folder, folder / "home", folder / "tmp"


def environment(
    surroundings: Mapping[str, str], folder: Path, base_url: str, roots: Sequence[Path] = ()
) -> dict[str, str]:
    """All that the child sees. `folder` is the runtime's own: its home, its settings, its transcripts.

    Programs in `roots`, where it works, come last, so that none of them can pass for one of the system's.
    """
    kept = {
        name: value
        for name, value in plain_environment(surroundings).items()
        if name not in _NOT_PASSED and not name.startswith("XDG_")
    }
    places = {"CLAUDE_CONFIG_DIR": folder, "HOME": folder / "home", "CLAUDE_CODE_TMPDIR": folder / "tmp"}
    inside = [os.path.realpath(root).rstrip("/") + "/" for root in roots]
    entries = kept["PATH"].split(os.pathsep)
    entries.sort(key=lambda entry: any(f"{os.path.realpath(entry)}/".startswith(root) for root in inside))
    kept["PATH"] = os.pathsep.join(entries)
    made = {**kept, **_SWITCHES, **_git_settings(), **{name: str(place) for name, place in places.items()}}
    if base_url:
        made["ANTHROPIC_BASE_URL"] = base_url
    identity = Path(surroundings.get("HOME", "/nonexistent")) / ".gitconfig"
    if identity.is_file():
        made["GIT_CONFIG_GLOBAL"] = str(identity)  # its home is not the person's, but a commit is
    return made


def _git_settings() -> dict[str, str]:
    """What keeps git from running a folder's programs when it is only asked to show something."""
    settings = {"GIT_CONFIG_COUNT": str(len(_GIT)), "GIT_OPTIONAL_LOCKS": "0"}
    for index, (key, value) in enumerate(_GIT.items()):
        settings |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return settings


class Child:
    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], key: str) -> None:
        self._command = command
        self._folder = folder
        self._environment = environment
        self._key = key
        self._mark = secrets.token_hex(16)
        self._inner: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listener: asyncio.Task[None] | None = None
        self._control = self._status = -1
        self._last_words: deque[str] = deque(maxlen=10)
        self._report: dict[str, int | None] | None = None
        self._gone = asyncio.Event()
        self.stopped = False

    # -- what the SDK's client calls

    async def connect(self) -> None:
        if self.stopped:
            raise ConnectionError("the Claude runtime was stopped before it began")
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        os.set_blocking(self._status, False)
        ours, theirs = socket.socketpair()
        key_read, variables = _handed_over(self._key)
        passed = [status_write, folder, theirs.fileno(), *([key_read] if key_read >= 0 else [])]
        try:
            self._inner = await asyncio.create_subprocess_exec(
                *supervised(status_write, folder, given=theirs.fileno()),
                *self._command,
                stdin=control_read,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self._environment, **variables, MARK: self._mark},
                pass_fds=passed,
                start_new_session=True,
                limit=LINE,
            )
        except OSError as error:
            ours.close()
            self.stop()
            os.close(self._status)
            self._status = -1
            raise translated(error, "can't run the Claude runtime") from error
        finally:
            theirs.close()
            for handle in (control_read, status_write, folder, key_read):
                if handle >= 0:
                    os.close(handle)
        _, self._writer = await asyncio.open_connection(sock=ours)
        self._listener = asyncio.create_task(self._listen(), name="claude stderr")

    async def write(self, data: str) -> None:
        if self._writer is None or self._writer.is_closing():
            raise ConnectionError("the Claude runtime takes no input any more")
        self._writer.write(data.encode())
        await self._writer.drain()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Until it has ended, which is always said with an error: the client gives up what it waits for only then."""
        assert self._inner is not None
        assert self._inner.stdout is not None
        while line := await self._inner.stdout.readline():
            if line.startswith(b"{") and line.endswith(b"\n"):
                yield json.loads(line)
        await self.gone()
        raise ConnectionError(self.epitaph())

    async def close(self) -> None:
        """Its input ends, so that it can finish its transcript; then it is ended."""
        await self.end_input()
        if self._inner is None:
            return
        try:
            async with asyncio.timeout(FAREWELL):
                await self._inner.wait()
        except TimeoutError:
            pass
        finally:
            self.stop()
        await self.gone()

    def is_ready(self) -> bool:
        return self._inner is not None and not self.stopped

    async def end_input(self) -> None:
        if self._writer is not None:
            self._writer.close()

    # -- ours

    @property
    def alive(self) -> bool:
        return self._inner is not None and self._inner.returncode is None and not self.stopped

    def stop(self) -> None:
        """Ends it and everything it started. Returns at once; `gone` says when that is done."""
        self.stopped = True
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    async def gone(self) -> None:
        """Until nothing of it is left."""
        if self._inner is None or self._gone.is_set():
            return
        await self._inner.wait()
        if self._status >= 0:
            self._report = _read_report(self._status)
            os.close(self._status)
            self._status = -1
            if self._report is None:
                await in_thread(lambda: end_marked(self._mark), "weft-sweep")
            self._gone.set()
        else:
            await self._gone.wait()
        self.stop()
        if self._listener is not None:
            await asyncio.wait({self._listener}, timeout=1.0)
            self._listener.cancel()
        if self._writer is not None:
            self._writer.close()

    def epitaph(self) -> str:
        code = self._report["code"] if self._report else None
        how = "it is not known how" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        said = f"; it last said: {' | '.join(list(self._last_words)[-3:])}" if self._last_words else ""
        return f"the Claude runtime ended ({how}){said}"

    async def _listen(self) -> None:
        assert self._inner is not None
        assert self._inner.stderr is not None
        while line := await self._inner.stderr.readline():
            if text := line.decode(errors="replace").strip():
                self._last_words.append(text[:500])


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Waits for work that must be finished, however often this task is cancelled meanwhile; that counts afterwards."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


def _handed_over(key: str) -> tuple[int, dict[str, str]]:
    """A pipe that holds the key, and the variable that names it; -1 when there is none."""
    if not key:
        return -1, {"ANTHROPIC_API_KEY": "none-needed"}
    read, write = os.pipe()
    os.write(write, key.encode())
    os.close(write)
    name = (
        "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR" if key.startswith(_OAUTH) else "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"
    )
    return read, {name: str(read)}


def _read_report(status: int) -> dict[str, int | None] | None:
    try:
        told = os.read(status, 4096)
    except BlockingIOError:
        return None
    return json.loads(told) if told else None
