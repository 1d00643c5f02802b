"""What runs and can be stopped: a task, a thread, a group of processes. One way to start, to stop and to wait for each.

Each has `interrupt(reason)`, which asks it to stop and returns at once, and `wait()`, which gives its end, or None when
it was stopped and has none. Whoever waits decides how long: a thread that ignores the request can't be ended, only left
behind, so it is a daemon and holds nobody up; a process group gets TERM, and KILL after a grace.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from weft.protocol.conversation_commands import ToolEnd

KILL_GRACE: Final = 0.25
SWITCH_INTERVAL: Final = 0.0005
OUTPUT_LIMIT: Final = 8 * 2**20
"""Bytes of a process's output that are kept; the rest is read and dropped, so that it never blocks."""


class TaskRun:
    """A coroutine in a task of its own."""

    def __init__(self, work: Awaitable[ToolEnd], name: str = "") -> None:
        self._task: asyncio.Task[ToolEnd] = asyncio.create_task(_awaited(work), name=name or None)
        if isinstance(work, Coroutine):
            self._task.add_done_callback(lambda _: work.close())  # one that was stopped before it began is dropped

    def interrupt(self, reason: str) -> None:
        self._task.cancel(reason)

    async def wait(self) -> ToolEnd | None:
        await asyncio.wait({self._task})
        return None if self._task.cancelled() else self._task.result()


async def _awaited(work: Awaitable[ToolEnd]) -> ToolEnd:
    return await work


class ThreadRun:
    """A blocking function in a daemon thread of its own. It is given an event that is set when it should stop."""

    def __init__(self, function: Callable[[threading.Event], ToolEnd], name: str = "") -> None:
        self.stopped = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[ToolEnd] = self._loop.create_future()
        # A thread that computes gives the loop a turn only every `switchinterval`; stopping it must not wait for many.
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        self.thread = threading.Thread(target=self._run, args=(function,), name=name or None, daemon=True)
        self.thread.start()

    def interrupt(self, reason: str) -> None:
        self.stopped.set()

    async def wait(self) -> ToolEnd | None:
        return await self._end

    def _run(self, function: Callable[[threading.Event], ToolEnd]) -> None:
        try:
            end, error = function(self.stopped), None
        except BaseException as raised:  # noqa: BLE001  it is handed to whoever waits
            end, error = None, raised
        try:
            self._loop.call_soon_threadsafe(self._tell, end, error)
        except RuntimeError:
            return  # the loop is gone and with it everybody who could be told

    def _tell(self, end: ToolEnd | None, error: BaseException | None) -> None:
        if self._end.done():
            return
        if error is not None:
            self._end.set_exception(error)
        elif end is not None:
            self._end.set_result(end)


class _Output(asyncio.SubprocessProtocol):
    """Keeps what a process writes and tells when it has ended and when its output has.

    These are two things: whoever inherited the pipe may keep it open long after the process is gone.
    """

    def __init__(self) -> None:
        self.kept = bytearray()
        self.exited = asyncio.Event()
        self.finished = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.kept += data[: max(0, OUTPUT_LIMIT - len(self.kept))]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.finished.set()

    def process_exited(self) -> None:
        self.exited.set()


class ProcessRun:
    """A program in a process group of its own. When it ends, or is stopped, nothing of the group is left."""

    def __init__(self, transport: asyncio.SubprocessTransport, output: _Output, grace: float) -> None:
        self.pid = transport.get_pid()
        self._transport = transport
        self._output = output
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._kill: asyncio.TimerHandle | None = None
        self._interrupted = False

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        grace: float = KILL_GRACE,
    ) -> ProcessRun:
        transport, output = await asyncio.get_running_loop().subprocess_exec(
            _Output,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        return cls(transport, output, grace)

    def interrupt(self, reason: str) -> None:
        if self._interrupted:
            return
        self._interrupted = True
        _signal_group(self.pid, signal.SIGTERM)
        self._kill = self._loop.call_later(self._grace, _signal_group, self.pid, signal.SIGKILL)

    async def wait(self) -> ToolEnd | None:
        """The output once the program itself has ended. What it left behind in its group is ended then."""
        try:
            await self._output.exited.wait()
            _signal_group(self.pid, signal.SIGKILL)
            async with asyncio.timeout(self._grace):
                await self._output.finished.wait()
        except TimeoutError:
            pass  # somebody outside the group holds the pipe; what came until now is the output
        finally:  # also when nobody waits any longer
            if self._kill is not None:
                self._kill.cancel()
            _signal_group(self.pid, signal.SIGKILL)
            code = self._transport.get_returncode()
            self._transport.close()
        if self._interrupted:
            return None
        text = self._output.kept.decode(errors="replace")
        return ToolEnd(text=text if not code else f"{text}\n(exit code {code})".lstrip(), failed=bool(code))


def _signal_group(group: int, number: Any) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in it, or only what has become somebody else's
