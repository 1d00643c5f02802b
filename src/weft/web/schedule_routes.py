"""Schedules: which there are, what became of them, begun now, paused, and called by programs with a token for it."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Request
from pydantic import Field
from starlette.exceptions import HTTPException

from weft.app import Identity
from weft.app.schedules.schedule_due import ScheduleEntry
from weft.web import shapes as s
from weft.web.asking import At, Looks, Runs
from weft.web.place import ServedWorkspace

schedule_routes = APIRouter(prefix="/api/w/{workspace}")
MOST_SHOWN = 100


class ScheduleEntryShown(s.Shape):
    """One line of a schedule's history."""

    at: str
    kind: str
    """seen, decided, skipped, begun, failed, paused, resumed or carried."""
    key: str
    cause: str
    """time, change, call or person."""
    due: str
    times: int
    session: str
    seq: int
    why: str


class ScheduleShown(s.Shape):
    """A schedule, when it comes next and what became of it last."""

    name: str
    description: str
    when: str
    paused: bool
    next: str
    last: ScheduleEntryShown | None
    problem: str


class ScheduleCall(s.Shape):
    key: str = Field(default="", max_length=200)
    """With it, it is begun once, however often it is asked for."""
    parameters: dict[str, Any] = Field(default={})
    """Of a call: those that the schedule's file lets a call set."""


Asked = Annotated[ScheduleCall, Body()]
NOTHING_ASKED = ScheduleCall()
"""A plain POST begins it."""


def _may_call(request: Request) -> Identity:
    """A token with the scope `trigger`, of somebody who may run; or somebody who may run."""
    who: Identity | None = request.state.who
    if who is None or not (who.may("run") or (who.may_use("trigger") and who.role in ("run", "administer"))):
        hint = "weft tokens add NAME --scope trigger makes one that is"
        raise HTTPException(403, json.dumps({"what": "this token is not for calls", "hint": hint}))
    return who


_may_call.role = "run"  # type: ignore[attr-defined]
Calls = Annotated[Identity, Depends(_may_call)]


@schedule_routes.get("/schedules")
async def list_schedules(place: At, who: Looks) -> tuple[ScheduleShown, ...]:
    """Every schedule with when it comes next and what became of it last; one that can't be read with its problem."""
    rows = await place.app.off_loop(place.schedules.rows)
    return tuple(
        ScheduleShown(**{**asdict(row), "last": None if row.last is None else _entry(row.last)}) for row in rows
    )


@schedule_routes.get("/schedules/{name}/history")
async def schedule_history(name: str, place: At, who: Looks) -> tuple[ScheduleEntryShown, ...]:
    """What was decided, begun, skipped and why, the newest last."""

    def looked() -> tuple[ScheduleEntryShown, ...]:
        place.schedules.one(name)
        return tuple(_entry(one) for one in place.schedules.history(name).entries[-MOST_SHOWN:])

    return await place.app.off_loop(looked)


@schedule_routes.post("/schedules/{name}/run", status_code=202)
async def run_schedule(name: str, place: At, who: Runs, asked: Asked = NOTHING_ASKED) -> ScheduleEntryShown:
    """Begin it now, whatever its time is. With a key it is begun once, however often it is asked for."""
    return await _begin(name, asked, place, "person", {})


@schedule_routes.post("/schedules/{name}/call", status_code=202)
async def call_schedule(name: str, place: At, who: Calls, asked: Asked = NOTHING_ASKED) -> ScheduleEntryShown:
    """Begin a schedule that says `call`; a token with the scope `trigger` can do this and nothing else."""
    return await _begin(name, asked, place, "call", asked.parameters)


@schedule_routes.post("/schedules/{name}/pause", status_code=204)
async def pause_schedule(name: str, place: At, who: Runs) -> None:
    await place.app.off_loop(partial(place.schedules.pause, name))


@schedule_routes.post("/schedules/{name}/resume", status_code=204)
async def resume_schedule(name: str, place: At, who: Runs) -> None:
    await place.app.off_loop(partial(place.schedules.resume, name))


async def _begin(
    name: str, asked: ScheduleCall, place: ServedWorkspace, cause: str, parameters: dict[str, Any]
) -> ScheduleEntryShown:
    key = asked.key or secrets.token_hex(8)

    def decided() -> ScheduleEntry:
        return place.schedules.decide(name, key, cause, parameters)

    async def made() -> ScheduleEntry:
        return await place.app.off_loop(decided)

    entry = await place.once(("schedule", name), asked.key, made, parameters)
    place.carry_out(name, entry)
    return _entry(entry)


def _entry(entry: ScheduleEntry) -> ScheduleEntryShown:
    return ScheduleEntryShown(**{name: getattr(entry, name) for name in ScheduleEntryShown.model_fields})
