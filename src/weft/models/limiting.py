"""How often something outside may be used at once and in a time: connections to models, and sources. For all runs and
processes of a workspace together; of a shared one, on all its machines.

Alone on a machine the kernel keeps the count: using a resource is holding the lock of one of its so many slot files,
which a process that dies lets go of. When it was last used stands in a file that is read and written under its lock.
What several machines share keeps both in its own way (`SharedUses`). Whoever waits looks again after a moment; nobody
has a place in a queue.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol, cast

from weft.files import Folder
from weft.models.model import Model, Part, Request
from weft.models.wrapping import WrappedModel
from weft.protocol.hashes import hash_value
from weft.protocol.json_text import json_value
from weft.workspace.resource_limit import ResourceLimit, tell_waiting

FOLDER: Final = ".limits"
LOOK_SECONDS: Final = 0.05
LONGEST_LOOK: Final = 1.0


def wait_for_rate(times: Sequence[float], limit: ResourceLimit, now: float) -> float:
    """Seconds until one more use fits; 0 when it does now. `times` are those of earlier uses, in any order."""
    if not limit.uses:
        return 0.0
    recent = sorted(one for one in times if now - limit.seconds < one <= now)
    if len(recent) < limit.uses:
        return 0.0
    return max(0.0, recent[-limit.uses] + limit.seconds - now)


class SharedUses(Protocol):
    """The uses of all machines."""

    def take_slot(self, resource: str, at_once: int) -> str:
        """A place among so many, until it is let go of or nothing is heard from here any more; "" if none is free."""

    def let_slot_go(self, slot: str) -> None: ...

    def note_use(self, resource: str, uses: int, seconds: float) -> float:
        """Note one more use, or say how many seconds it has to wait."""


class ResourceLimits:
    def __init__(
        self,
        workspace: Path,
        limits: Mapping[str, ResourceLimit],
        *,
        shared: SharedUses | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._workspace = workspace
        self._limits = limits
        self._shared = shared
        self._clock = clock
        self._sleep = sleep

    def limits(self, resource: str) -> bool:
        return resource in self._limits

    @asynccontextmanager
    async def using(self, resource: str) -> AsyncIterator[None]:
        """Waits for its turn; what has no limit has none to wait for."""
        limit = self._limits.get(resource)
        if limit is None:
            yield
            return
        if self._shared is not None:
            async with self._using_shared(self._shared, resource, limit):
                yield
            return
        name = f"{resource[:40]}-{hash_value(resource)[:6]}" if not resource.isalnum() else resource
        with Folder.open(self._workspace) as workspace, workspace.folder(FOLDER, create=True) as folder:
            tells = _Once(tell_waiting.get(), f"waits for its turn with {resource} ({limit})")
            slot = await self._slot(folder, name, limit, tells) if limit.at_once else -1
            try:
                while (wait := self._noted(folder, name, limit)) > 0:
                    tells()
                    await self._sleep(wait)
                yield
            finally:
                if slot >= 0:
                    os.close(slot)

    @asynccontextmanager
    async def _using_shared(self, shared: SharedUses, resource: str, limit: ResourceLimit) -> AsyncIterator[None]:
        tells = _Once(tell_waiting.get(), f"waits for its turn with {resource} ({limit})")
        look, slot = LOOK_SECONDS, ""
        while limit.at_once and not (slot := await asyncio.to_thread(shared.take_slot, resource, limit.at_once)):
            tells()
            await self._sleep(look)
            look = min(LONGEST_LOOK, look * 1.5)
        try:
            while limit.uses:
                wait = await asyncio.to_thread(shared.note_use, resource, limit.uses, limit.seconds)
                if not wait:
                    break
                tells()
                await self._sleep(wait)
            yield
        finally:
            if slot:
                await asyncio.shield(asyncio.to_thread(shared.let_slot_go, slot))

    async def _slot(self, folder: Folder, name: str, limit: ResourceLimit, tells: _Once) -> int:
        look = LOOK_SECONDS
        while True:
            for number in range(limit.at_once):
                fd = folder.open_fd(f"{name}.{number}", os.O_RDWR | os.O_CREAT)
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return fd
                except BlockingIOError:
                    os.close(fd)
            tells()
            await self._sleep(look)
            look = min(LONGEST_LOOK, look * 1.5)

    def _noted(self, folder: Folder, name: str, limit: ResourceLimit) -> float:
        """Note one more use, or say how long it has to wait."""
        if not limit.uses:
            return 0.0
        with folder.locked(f"{name}.times") as fd:
            now = self._clock()
            times = _times(os.pread(fd, os.fstat(fd).st_size, 0))
            wait = wait_for_rate(times, limit, now)
            if not wait:
                kept = [one for one in times if now - limit.seconds < one <= now] + [now]
                os.ftruncate(fd, 0)
                os.pwrite(fd, json.dumps(kept).encode(), 0)
            return wait


class _Once:
    def __init__(self, tell: Callable[[str], None] | None, text: str) -> None:
        self._tell, self._text = tell, text

    def __call__(self) -> None:
        if self._tell is not None:
            self._tell(self._text)
            self._tell = None


def _times(data: bytes) -> list[float]:
    """What was cut off by a crash says nothing."""
    try:
        found = json_value(data or b"[]")
    except ValueError:
        return []
    return [one for one in found if isinstance(one, int | float)] if isinstance(found, list) else []


class LimitedModel(WrappedModel):
    """Any model, asked when its connection's limits allow it. The time it waits is not the provider's."""

    def __init__(self, model: Model, limits: ResourceLimits, resource: str) -> None:
        super().__init__(model)
        self._limits = limits
        self._resource = resource

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        using, parts = self._limits.using(self._resource), cast(Any, self._model.stream(request))
        async with using, aclosing(parts):
            async for part in parts:
                yield part
