"""Several files at once: a session for each, a few at a time, and one table of what became of them."""

from __future__ import annotations

import asyncio
import os
import secrets
from typing import Annotated, Final, Literal

from fastapi import APIRouter, File, Form, UploadFile

from weft.app import GivenFile, Identity
from weft.protocol.commands import Refused
from weft.protocol.errors import UserError, WeftError
from weft.web import shapes as s
from weft.web.asking import At, Looks, NotThereError, Runs, actor, check_names
from weft.web.jobs import Job, JobItem, Tell
from weft.web.place import ServedWorkspace
from weft.web.session_routes import asked_for, keyed, request_of, said_of, wish_of

AT_ONCE: Final = min(4, os.cpu_count() or 1)
MOST: Final = 500
batch_routes = APIRouter(prefix="/api/w/{workspace}")


class BatchShown(s.Shape):
    id: str
    pipeline: str
    state: Literal["working", "done", "failed"]
    items: tuple[JobItem, ...]


@batch_routes.post("/batches", status_code=201)
async def begin_batch(
    place: At,
    who: Runs,
    files: Annotated[list[UploadFile], File(description="Each becomes a session of its own.")],
    asked: Annotated[str, Form(description="A NewSession as JSON, for all of them.")] = "{}",
) -> BatchShown:
    """A session for each file. One that fails does not stop the others; the same key again begins nothing new."""
    wanted = asked_for(asked)
    await check_names(place, who, wanted.pipeline, wanted.parameters)
    if len(files) > MOST:
        raise UserError(f"{len(files)} files are too many at once", hint=f"at most {MOST}")
    given = [GivenFile(await file.read(), file.filename or "") for file in files]
    key = wanted.key or secrets.token_hex(8)
    items = [JobItem(one.name, keyed(f"{key}/{at}", one.name)) for at, one in enumerate(given)]
    pipeline = wanted.pipeline or place.app.default_pipeline or ""

    async def work(tell: Tell) -> list[str]:
        free, ended = asyncio.Semaphore(AT_ONCE), 0

        async def one(file: GivenFile, item: JobItem) -> None:
            nonlocal ended
            async with free:
                tell(ended, len(items), item.name)
                await _one(place, wanted, file, item, who)
                ended += 1
                tell(ended, len(items), item.name)

        async with asyncio.TaskGroup() as group:
            for file, item in zip(given, items, strict=True):
                group.create_task(one(file, item))
        return []

    async def begun() -> Job:
        return place.jobs.begin(f"batch {pipeline}", work, key=key, items=items)

    return _shown(await place.once(("batch",), wanted.key, begun, (wanted, said_of(given))))


async def _one(place: ServedWorkspace, asked: s.NewSession, file: GivenFile, item: JobItem, who: Identity) -> None:
    """Begun, and waited for until it is at rest."""
    try:
        request, wish = request_of(place, asked, (file,), item.session), wish_of(asked)
        async with place.keeper.new(request, wish) as session:
            reply = await session.submit(wish, key=item.session, by=actor(who))
            if isinstance(reply, Refused):
                item.problem = reply.reason
            else:
                await session.rest()
    except WeftError as error:
        item.problem = error.message


@batch_routes.get("/batches/{batch}")
async def show_batch(batch: str, place: At, who: Looks) -> BatchShown:
    """The files in their order; what each session does, the list of sessions says."""
    found = place.jobs.get(batch)
    if found is None or not found.items:
        raise NotThereError(f"there is no batch {batch[:40]}", hint="its sessions are in the list all the same")
    return _shown(found)


def _shown(job: Job) -> BatchShown:
    pipeline = job.about.removeprefix("batch ")
    return BatchShown(id=job.id, pipeline=pipeline, state=job.state, items=tuple(job.items))
