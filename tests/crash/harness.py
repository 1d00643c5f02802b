"""Runs the work in processes that may die: a small single-threaded server forks one for every job.

A test process has threads and must not fork, and starting Python anew for each of thousands of runs would take hours.
So the test asks the server over a pipe; the server forks a child, the child does the job with the disk it was given
and is killed by that disk, by the server after a while, or ends by itself and tells what came of it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests import copied
from tests.crash import agent_work, item_work
from tests.crash.weaving import Place, run
from weft.files import Disk
from weft.protocol.commands import StartRun
from weft.protocol.events import DurableEvent, Record
from weft.session import session as session_module
from weft.session.log import LogWriter
from weft.testing import Call, CountingDisk, Recording, RecordingDisk

REPOSITORY = Path(__file__).parent.parent.parent
UNSYNCED = partial(Disk, sync=False)
"""An ordinary disk without the cost of real syncs."""


Work = Callable[..., dict[str, Any]]
"""Takes a place, a disk, and the rest as `weaving.run` does."""


@dataclass(frozen=True)
class Job:
    place: Place
    disk: Callable[[], Disk]
    kill_after: float | None = None
    """Seconds until the server kills the child."""
    wish: StartRun | None = None
    insist: bool = False
    work: Work = run


@dataclass
class Ended:
    """How a child ended: by a signal, or with a result."""

    signal: int | None = None
    result: dict[str, Any] = field(default_factory=dict)
    calls: Sequence[Call] = ()
    failed: Sequence[Call] = ()
    recording: Recording | None = None
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        return self.signal == signal.SIGKILL

    @property
    def outcome(self) -> str:
        """ "done", "failed", "interrupted", or the error in words."""
        return str(self.result.get("outcome") or self.result.get("error") or self.result.get("bug") or self.signal)


class Harness:
    """The test's end of the pipe. Close it, or use it in a `with`."""

    def __init__(self) -> None:
        program = f"from tests.crash.harness import serve; serve({copied.is_spared})"
        command = [sys.executable, "-c", program]
        self._server = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def __call__(
        self,
        place: Place,
        disk: Callable[[], Disk],
        *,
        kill_after: float | None = None,
        wish: StartRun | None = None,
        insist: bool = False,
        work: Work = run,
    ) -> Ended:
        if self._server.stdin is None or self._server.stdout is None:
            raise AssertionError("the server is always started with pipes")
        pickle.dump(Job(place, disk, kill_after, wish, insist, work), self._server.stdin)
        self._server.stdin.flush()
        ended = pickle.load(self._server.stdout)
        if not isinstance(ended, Ended):
            raise TypeError(f"the server answered {ended!r:.200}")
        return ended


def serve(spared: bool) -> None:
    """The server's loop: one job after the other, until the pipe is closed."""
    if spared:
        copied.spare_syncs()
    # The manifest follows every decision instead of once a second: more points to die at, the same every time.
    setattr(session_module, "MANIFEST_PAUSE", 0.0)  # noqa: B010  it is Final for everybody else
    setattr(session_module, "SNAPSHOT_EVERY", 1)  # noqa: B010  a snapshot at every end, to die at too
    jobs, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        run(Place.lay_out(Path(folder) / "warming"), Disk(sync=False))  # what is slow the first time is inherited
        agent_work.run(agent_work.lay_out(Path(folder) / "agent"), Disk(sync=False))
        item_work.run(item_work.lay_out(Path(folder) / "items"), Disk(sync=False))
    if threading.active_count() > 1:
        raise AssertionError("a process with threads must not fork")
    gc.collect()
    gc.freeze()  # else every child would look through all that was loaded, and have it copied by that
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        pickle.dump(_fork(job), answers)
        answers.flush()


def _fork(job: Job) -> Ended:
    begun = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(job, writing)
    os.close(writing)
    if job.kill_after is not None:
        time.sleep(job.kill_after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    ended = pickle.loads(told) if told and os.WIFEXITED(status) else Ended()
    if not isinstance(ended, Ended):
        raise TypeError(f"the child answered {ended!r:.200}")
    ended.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    ended.seconds = time.monotonic() - begun
    return ended


def _child(job: Job, writing: int) -> None:
    """Never returns."""
    try:
        disk = job.disk()
        mark = disk.mark if isinstance(disk, RecordingDisk) else None
        if mark:
            _mark_appends(mark)
        ended = Ended(result=job.work(job.place, disk, mark, job.wish, job.insist))
        if isinstance(disk, CountingDisk):
            ended.calls, ended.failed = disk.calls, getattr(disk, "failed", ())
        if isinstance(disk, RecordingDisk):
            ended.recording = disk.recording
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(ended, pipe)
    finally:
        os._exit(0)


def _mark_appends(mark: Callable[[int], None]) -> None:
    """Acknowledged is what an append has returned for. The first decision is so only when it is published: before
    that the session's own entry may not be durable."""
    append = LogWriter.append

    def marking(self: LogWriter, events: Sequence[DurableEvent], **given: Any) -> list[Record]:
        records = append(self, events, **given)
        for record in records:
            if records[0].seq > 1:
                mark(record.seq)
        return records

    setattr(LogWriter, "append", marking)  # noqa: B010  this process ends after the one job
