"""The runtime's process: under a supervisor, so that it and all it started can be ended at once, in an environment that
has nothing of ours but what a command may see. Its key comes through a pipe: what it runs can't find it there.

This is a transport of the SDK's client. `stop` is synchronous and needs nobody's consent.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.tools.boundary import Policy, command_files, program_folders
from weft.tools.processes import Report, Supervised, plain_environment

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


def boundary_policy(
    surroundings: Mapping[str, str], working: Path, own: Path, more: Sequence[Path], command: Sequence[str]
) -> Policy:
    """What the runtime gets of the machine: where it works, its own folder, and the network for its model."""
    return Policy(
        working=working,
        home=Path(surroundings.get("HOME", "/nonexistent")),
        needs=frozenset({"write", "git", "network"}),
        writable=(own, *more),
        readable=(*program_folders(surroundings), Path(command[0]).parent, *command_files(command)),
    )


def _git_settings() -> dict[str, str]:
    """What keeps git from running a folder's programs when it is only asked to show something."""
    settings = {"GIT_CONFIG_COUNT": str(len(_GIT)), "GIT_OPTIONAL_LOCKS": "0"}
    for index, (key, value) in enumerate(_GIT.items()):
        settings |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return settings


class Child:
    def __init__(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], key: str | None, policy: Policy
    ) -> None:
        self._command = command
        self._policy = policy
        self._folder = folder
        self._environment = environment
        self._key = key
        self._running: Supervised | None = None
        self._listener: asyncio.Task[None] | None = None
        self._last_words: deque[str] = deque(maxlen=10)
        self._report: Report | None = None
        self.stopped = False

    # -- what the SDK's client calls

    async def connect(self) -> None:
        if self.stopped:
            raise ConnectionError("the Claude runtime was stopped before it began")
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        key_read, variables = _handed_over(self._key)
        try:
            running = await Supervised.start(
                self._command,
                policy=self._policy,
                folder=folder,
                environment={**self._environment, **variables},
                takes_input=True,
                errors_apart=True,
                line_limit=LINE,
                passed=[key_read] if key_read >= 0 else [],
            )
        finally:
            for handle in (folder, key_read):
                if handle >= 0:
                    os.close(handle)
        self._running = running
        if self.stopped:
            running.stop()
        self._listener = asyncio.create_task(self._listen(running.inner), name="claude stderr")

    async def write(self, data: str) -> None:
        writer = self._running.writer if self._running else None
        if writer is None or writer.is_closing():
            raise ConnectionError("the Claude runtime takes no input any more")
        writer.write(data.encode())
        await writer.drain()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Until it has ended, which is always said with an error: the client gives up what it waits for only then."""
        assert self._running is not None
        assert self._running.inner.stdout is not None
        while line := await self._running.inner.stdout.readline():
            if line.startswith(b"{") and line.endswith(b"\n"):
                yield json.loads(line)
        await self.gone()
        raise ConnectionError(self.epitaph())

    async def close(self) -> None:
        """Its input ends, so that it can finish its transcript; then it is ended."""
        await self.end_input()
        if self._running is None:
            return
        try:
            async with asyncio.timeout(FAREWELL):
                await self._running.inner.wait()
        except TimeoutError:
            pass
        finally:
            self.stop()
        await self.gone()

    def is_ready(self) -> bool:
        return self._running is not None and not self.stopped

    async def end_input(self) -> None:
        if self._running is not None and self._running.writer is not None:
            self._running.writer.close()

    # -- ours

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.inner.returncode is None and not self.stopped

    def stop(self) -> None:
        """Ends it and everything it started. Returns at once; `gone` says when that is done."""
        self.stopped = True
        if self._running is not None:
            self._running.stop()

    async def gone(self) -> None:
        """Until nothing of it is left."""
        if self._running is None:
            return
        self._report = await self._running.gone()
        self.stopped = True
        if self._listener is not None:
            await asyncio.wait({self._listener}, timeout=1.0)
            self._listener.cancel()

    def epitaph(self) -> str:
        code = self._report.code if self._report else None
        how = "it is not known how" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        said = f"; it last said: {' | '.join(list(self._last_words)[-3:])}" if self._last_words else ""
        return f"the Claude runtime ended ({how}){said}"

    async def _listen(self, inner: asyncio.subprocess.Process) -> None:
        assert inner.stderr is not None
        while line := await inner.stderr.readline():
            if text := line.decode(errors="replace").strip():
                self._last_words.append(text[:500])


def _handed_over(key: str | None) -> tuple[int, dict[str, str]]:
    """A pipe that holds the key, and the variable that names it; -1 when there is none. None: it takes none so."""
    if key is None:
        return -1, {}
    if not key:
        return -1, {"ANTHROPIC_API_KEY": "none-needed"}
    read, write = os.pipe()
    os.write(write, key.encode())
    os.close(write)
    name = (
        "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR" if key.startswith(_OAUTH) else "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"
    )
    return read, {name: str(read)}
