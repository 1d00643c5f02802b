"""What goes on for a while without a session: how far it is, and how it ended.

That there is one, and how it ended, is kept in a file of the workspace: who asks with the same key gets the same job,
also from a server that was started again. One that was going on when a server ended has failed, and says so; whatever
it was doing can be asked for again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import asdict, field
from typing import Final, Literal, Protocol

from weft.protocol.errors import WeftError
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.web.keeping import EndingError

MOST_JOBS: Final = 200
SIGNING_IN: Final = "signing in to"
"""What a job is about whose `at` is where a person agrees: whoever has that could sign in there as somebody else."""
_ENDED: Final = "the server ended before it was done; ask for it again"
Tell = Callable[[int, int, str], None]
Work = Callable[[Tell], Awaitable[list[str]]]


class Keeping(Protocol):
    """Where the jobs are kept."""

    def read(self) -> bytes | None: ...

    def write(self, data: bytes) -> None: ...


@dataclass(slots=True)
class JobItem:
    """One of the things a job is about, with the session it has or will have."""

    name: str
    session: str
    problem: str = ""
    """Why it could not be begun."""


@dataclass(slots=True)
class Job:
    id: str
    about: str
    state: Literal["working", "done", "failed"] = "working"
    done: int = 0
    total: int = 0
    at: str = ""
    """What it is at now."""
    notes: tuple[str, ...] = ()
    """What is to be known of the result, or why it failed."""
    items: list[JobItem] = field(default_factory=list)


class Jobs:
    def __init__(self, tasks: asyncio.TaskGroup, kept: Keeping) -> None:
        self._tasks = tasks
        self._kept = kept
        self._working: set[asyncio.Task[None]] = set()
        """Those that can be cancelled."""
        self._ending = False
        self._jobs: OrderedDict[str, Job] | None = None

    def get(self, name: str) -> Job | None:
        return self._known().get(name)

    def all(self) -> list[Job]:
        return [*reversed(self._known().values())]

    def begin(
        self, about: str, work: Work, *, key: str = "", items: list[JobItem] | None = None, in_thread: bool = False
    ) -> Job:
        """`work` says how far it is and returns what is to be known of the result. The same key is the same job, unless
        that has failed. `in_thread`: it can't be cancelled, and is ended when it next says how far it is."""
        name = hashlib.sha256(key.encode()).hexdigest()[:12] if key else secrets.token_hex(6)
        known = self._known().pop(name, None)
        if known is not None and known.state != "failed":
            self._known()[name] = known
            return known
        job = self._known()[name] = Job(name, about, items=items or [])
        while len(self._known()) > MOST_JOBS:
            self._known().popitem(last=False)

        def tell(done: int, total: int, at: str) -> None:
            if self._ending:
                raise EndingError(_ENDED)
            job.done, job.total, job.at = done, total, at

        async def run() -> None:
            try:
                await self._write()
                job.notes = tuple(await work(tell))
                job.state = "done"
            except asyncio.CancelledError:  # the server ends
                job.notes, job.state = (_ENDED,), "failed"
            except WeftError as error:
                job.notes, job.state = (str(error),), "failed"
            except Exception as error:  # noqa: BLE001  one job's trouble is not the server's
                job.notes, job.state = (f"{type(error).__name__}: {error}",), "failed"
            await self._write()

        task = self._tasks.create_task(run(), name=f"job {about}")
        if not in_thread:
            self._working.add(task)
            task.add_done_callback(self._working.discard)
        return job

    async def close(self) -> None:
        """The server ends: what works is stopped, and is failed. Asked for again, it goes on where it can."""
        self._ending = True
        working = {*self._working}
        for task in working:
            task.cancel()
        if working:
            await asyncio.wait(working)

    def _known(self) -> OrderedDict[str, Job]:
        if self._jobs is None:
            self._jobs = OrderedDict((one.id, one) for one in _read(self._kept.read()))
        return self._jobs

    async def _write(self) -> None:
        data = json.dumps([asdict(one) for one in self._known().values()], ensure_ascii=False).encode()
        await asyncio.to_thread(self._kept.write, data)


def _read(data: bytes | None) -> list[Job]:
    """The jobs of an earlier server. A file that can't be read has none: nothing but their list is lost with it."""
    try:
        found = json_value(data or b"[]")
        jobs = [Job(**{**one, "items": [JobItem(**item) for item in one["items"]]}) for one in found]
    except (ValueError, TypeError, KeyError):
        return []
    for job in jobs:
        job.notes = tuple(job.notes)
        if job.state == "working":
            job.state, job.notes = "failed", (_ENDED,)
    return jobs
