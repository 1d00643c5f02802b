"""Processes that can really be ended: each under a supervisor of its own, its output counted, its environment plain.

`stop()` is synchronous and closes the pipe that keeps the supervisor waiting; the supervisor then ends the command with
everything it started. Should a command end its supervisor, what is left is found by a mark in its environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Literal

from weft.files import translated
from weft.protocol.errors import ExternalError, WeftError
from weft.protocol.values import dataclass
from weft.tools.boundary import Policy, boundary_here
from weft.tools.host_proxy import HostProxy
from weft.tools.supervisor import family, signal_all
from weft.tools.threads import in_thread

GRACE: Final = 0.2
"""Seconds between asking a process to end and ending it."""
HOLDING: Final = 0.5
"""Seconds in which what is held has come to a stop."""
PATIENCE: Final = 10.0
"""Seconds a supervisor has for that before it is ended itself."""
MARK: Final = "WEFT_CALL"
_SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))

_PLAIN: Final = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|VIRTUAL_ENV|CONDA_PREFIX|JAVA_HOME"
    r"|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PYENV_ROOT|XDG_[A-Z_]+|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)"
    r"|(?:HTTPS?|ALL|NO)_PROXY|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|CI)\Z"
)
_ADDED: Final = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LESSSECURE": "1",
}

_LOADS: Final = re.compile(r"(?:LD_|DYLD_)\w*|GCONV_PATH|LOCPATH|GLIBC_TUNABLES")
"""By which a program is told what to load. The command gets these inside: what puts it there obeys none of them."""
_SIGNALLED: Final = 128
"""What ends inside a boundary by a signal is told as a number above this one."""

Ended = Literal["exited", "stopped", "flooded"]


def plain_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command may see of ours: no keys, no tokens, nothing that makes programs run others."""
    found = {name: value for name, value in environment.items() if _PLAIN.match(name)}
    folders = [folder for folder in found.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    found["PATH"] = os.pathsep.join(folders)
    return {**found, **_ADDED}


def shield_environment() -> None:
    """Makes our own environment, with the keys in it, unreadable to the programs we run. Linux; not against root."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    ended: Ended
    code: int | None
    """The exit code, negative for a signal; None when it could not be learnt."""
    output: bytes
    """Standard output and error as they came, up to the limit."""
    size: int
    """How much there was, also beyond the limit."""
    strays: int
    """Processes it had left behind, which were ended."""
    over: str = ""
    """The limit it went over, if it was ended for that: memory, processes or disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """The most that a command and all it started may take together."""

    memory: int
    processes: int
    disk: int
    """Bytes by which the free space may shrink, and that one file may have."""


def usual_limits() -> ProcessLimits:
    """Three quarters of the memory, so that the machine stays usable; far more of the rest than a build takes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return ProcessLimits(memory=memory * 3 // 4, processes=1000, disk=20 * 2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a supervisor says at its end."""

    code: int | None
    strays: int
    over: str


class Supervised:
    """A process under a supervisor of its own: how it is started, how it is ended, how it came to its end.

    What it says is read by whoever started it, from `inner`; what it is told goes to `writer`, when it takes input.
    """

    def __init__(
        self, inner: asyncio.subprocess.Process, control: int, status: int, mark: str, *, inside: bool
    ) -> None:
        self.inner = inner
        self._inside = inside
        self.writer: asyncio.StreamWriter | None = None
        self._control = control
        self._status = status
        self._mark = mark
        self._ending: asyncio.Task[Report | None] | None = None
        self._proxy: HostProxy | None = None
        self._held: list[int] = []

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        policy: Policy,
        limits: ProcessLimits | None = None,
        takes_input: bool = False,
        errors_apart: bool = False,
        line_limit: int = 2**16,
        passed: Sequence[int] = (),
    ) -> Supervised:
        """Runs `command` in the folder that this handle is open on, inside the boundary.

        Whoever is cancelled meanwhile leaves nothing behind: it is started, ended and gone before that counts.
        """
        if policy.hosts and "outside" not in policy.needs:
            return await cls._start_with_hosts(
                command,
                policy,
                environment,
                folder=folder,
                limits=limits,
                takes_input=takes_input,
                errors_apart=errors_apart,
                line_limit=line_limit,
                passed=passed,
            )
        loads = [f"{name}={value}" for name, value in environment.items() if _LOADS.fullmatch(name)]
        given_inside = ("/usr/bin/env", *loads, *command) if loads else tuple(command)
        words = boundary_here().wrap(given_inside, policy)
        outer = {name: value for name, value in environment.items() if not _LOADS.fullmatch(name)}

        async def begin() -> Supervised:
            mark = secrets.token_hex(16)
            with ExitStack() as theirs, ExitStack() as ours:
                control_read, control_write = _pipe(theirs, ours)
                status_read, status_write = _pipe(ours, theirs)
                os.set_blocking(status_read, False)
                here, there = socket.socketpair() if takes_input else (None, None)
                if here and there:
                    ours.callback(here.close)
                    theirs.callback(there.close)
                given = there.fileno() if there else -1
                most = json.dumps(asdict(limits) if limits else {})
                told = (str(status_write), str(folder), str(GRACE), str(given), most)
                try:
                    inner = await asyncio.create_subprocess_exec(
                        *(sys.executable, "-I", "-S", _SUPERVISOR, *told),
                        *words,
                        stdin=control_read,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=asyncio.subprocess.PIPE if errors_apart else asyncio.subprocess.STDOUT,
                        env={**outer, MARK: mark},
                        pass_fds=[status_write, folder, *([given] if there else []), *passed],
                        start_new_session=True,
                        limit=line_limit,
                    )
                except OSError as error:
                    raise translated(error, f"can't run {command[0]}") from error
                made = cls(inner, control_write, status_read, mark, inside=words != given_inside)
                if here:
                    _, made.writer = await asyncio.open_connection(sock=here)
                ours.pop_all()
                return made

        starting = asyncio.create_task(begin(), name="starts a process")
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await to_the_end(_undone(starting))
            raise

    @classmethod
    async def _start_with_hosts(
        cls, command: Sequence[str], policy: Policy, environment: Mapping[str, str], **more: Any
    ) -> Supervised:
        """Without a network, and with a way to the hosts alone that were named."""
        proxy = await HostProxy.start(policy.hosts, boundary_here())
        seen = (*policy.readable, proxy.folder, Path(__file__).parent)
        closed = replace(policy, hosts=(), needs=policy.needs - {"network"}, readable=seen)
        try:
            made = await cls.start(
                proxy.bridged(command), policy=closed, environment={**environment, **proxy.environment}, **more
            )
        except BaseException:
            await proxy.close()
            raise
        made._proxy = proxy
        return made

    @property
    def stopped(self) -> bool:
        return self._control < 0

    def hold(self) -> bool:
        """Nothing of it goes on until `go_on`. False where that can't be had: then it is to be stopped. Linux."""
        until = time.monotonic() + HOLDING
        while time.monotonic() < until:
            below = family(self.inner.pid)
            signal_all([pid for pid in below if pid not in self._held], signal.SIGSTOP)
            known, self._held = self._held, below
            if known == below and all(map(is_still, below)):
                return True
        return False

    def go_on(self) -> None:
        signal_all(self._held, signal.SIGCONT)
        self._held = []

    def stop(self) -> None:
        """Ends it and everything it started. Returns at once; `gone` says when that is done."""
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    async def gone(self) -> Report | None:
        """Waits until nothing of it is left. None when it ended its own supervisor; then all it left was found."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._gone())
        return await asyncio.shield(self._ending)

    async def _gone(self) -> Report | None:
        await self.inner.wait()
        try:
            told = os.read(self._status, 4096)
        except BlockingIOError:
            told = b""
        os.close(self._status)
        if not told:
            await self.sweep()
        self.stop()
        if self.writer is not None:
            self.writer.close()
        if self._proxy is not None:
            await self._proxy.close()
        if not told:
            return None
        report = Report(**json.loads(told))
        if self._inside and report.code is not None and _SIGNALLED < report.code < _SIGNALLED + signal.NSIG:
            return replace(report, code=_SIGNALLED - report.code)
        return report

    async def sweep(self) -> None:
        """Ends whatever still carries the mark."""
        await in_thread(lambda: end_marked(self._mark), "weft-sweep")


class Process:
    """A running command. `finished()` waits for its end and for everything it started to be gone."""

    def __init__(self, running: Supervised, limit: int, seen: Callable[[bytes], None]) -> None:
        self._running = running
        self._limit = limit
        self._seen = seen
        self._ended: Ended = "exited"
        self._deadline = float("inf")
        self._task = asyncio.create_task(self._follow())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        folder: int,
        environment: Mapping[str, str],
        policy: Policy,
        output_limit: int,
        limits: ProcessLimits | None = None,
        seen: Callable[[bytes], None] = lambda _: None,
    ) -> Process:
        """Runs `command` in the folder that this handle is open on, inside the boundary."""
        running = await Supervised.start(command, folder=folder, environment=environment, policy=policy, limits=limits)
        return cls(running, output_limit, seen)

    def stop(self, ended: Ended = "stopped") -> None:
        """Ends it and everything it started. Returns at once; `finished()` says when that is done."""
        if not self._running.stopped:
            self._ended = ended
            self._deadline = asyncio.get_running_loop().time() + PATIENCE
            self._running.stop()

    async def finished(self) -> Finished:
        return await asyncio.shield(self._task)

    async def _follow(self) -> Finished:
        pieces: list[bytes] = []
        size = 0
        try:
            while piece := await self._read():
                if size < self._limit:
                    pieces.append(piece[: self._limit - size])
                    self._seen(pieces[-1])
                size += len(piece)
                if size > self._limit:
                    self.stop("flooded")
        finally:
            if self._ended != "exited":
                self._running.stop()
            report = await self._running.gone()
        return Finished(
            ended=self._ended,
            code=report.code if report else None,
            output=b"".join(pieces),
            size=size,
            strays=report.strays if report and self._ended == "exited" else 0,
            over=report.over if report else "",
        )

    async def _read(self) -> bytes:
        """The next piece; b"" when all is said, or when a stopped command takes too long to be gone."""
        inner = self._running.inner
        assert inner.stdout is not None
        reading = asyncio.ensure_future(inner.stdout.read(65536))
        while True:
            done, _ = await asyncio.wait({reading}, timeout=1.0)
            if done:
                return reading.result()
            late = asyncio.get_running_loop().time() > self._deadline
            if inner.returncode is None and not late:
                continue
            # the supervisor is gone or stuck and something still holds the pipe: it is found by its mark
            if inner.returncode is None:
                inner.kill()
            await self._running.sweep()
            done, _ = await asyncio.wait({reading}, timeout=PATIENCE)
            if not done:
                reading.cancel()
                raise ExternalError("a process of the command can't be ended", hint="look for it with ps")


def is_still(pid: int) -> bool:
    """No thread of it does anything: each is stopped, or dead."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[0] not in (b"T", b"t", b"Z", b"X"):
                    return False
    except OSError:
        return True  # it is gone
    return True


def end_marked(mark: str) -> int:
    """Ends every process whose environment carries this mark. How many there were."""
    wanted = f"{MARK}={mark}".encode()
    count = 0
    for _ in range(50):
        found = [pid for pid in _pids() if wanted in _environment(pid)]
        if not found:
            return count
        count += len(found)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    return count


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # it is gone, dead, or not ours


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


async def _undone(starting: asyncio.Task[Supervised]) -> None:
    try:
        made = await starting
    except WeftError:
        return  # it never began
    made.stop()
    await made.gone()


def _pipe(reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
    """Each end closed with its stack."""
    read, write = os.pipe()
    reads.callback(os.close, read)
    writes.callback(os.close, write)
    return read, write
