"""What goes on for a while without a session: how far it is, and how it ended. Kept in memory: a server that starts
again knows of none, and whatever a job was doing can be asked for again."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Literal

from weft.protocol.errors import WeftError
from weft.protocol.values import dataclass

MOST_JOBS: Final = 200
Tell = Callable[[int, int, str], None]


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


class Jobs:
    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def get(self, name: str) -> Job | None:
        return self._jobs.get(name)

    def all(self) -> list[Job]:
        return [*reversed(self._jobs.values())]

    def begin(self, about: str, work: Callable[[Tell], list[str]]) -> Job:
        """`work` runs in a thread and says how far it is; it returns what is to be known of the result."""
        job = Job(secrets.token_hex(6), about)
        self._jobs[job.id] = job
        while len(self._jobs) > MOST_JOBS:
            self._jobs.popitem(last=False)

        def tell(done: int, total: int, at: str) -> None:
            job.done, job.total, job.at = done, total, at

        async def run() -> None:
            try:
                job.notes = tuple(await asyncio.to_thread(work, tell))
                job.state = "done"
            except WeftError as error:
                job.notes, job.state = (str(error),), "failed"
            except Exception as error:  # noqa: BLE001  one job's trouble is not the server's
                job.notes, job.state = (f"{type(error).__name__}: {error}",), "failed"

        self._tasks.create_task(run(), name=f"job {about}")
        return job
