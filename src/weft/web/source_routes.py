"""Sources: which there are, whether they work, their tools; tested and switched by who may administer."""

from __future__ import annotations

from fastapi import APIRouter

from weft.app import SourceShelf
from weft.protocol.commands import Refused, SwitchSource
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks, Runs, Session, actor, refuse

source_routes = APIRouter(prefix="/api/w/{workspace}")


@source_routes.get("/sources")
async def list_sources(place: At, who: Looks) -> tuple[s.SourceRow, ...]:
    """Every source with how the last try to reach it ended. Nothing is started."""

    def rows() -> tuple[s.SourceRow, ...]:
        keys = s.SourceRow.model_fields
        found = SourceShelf(place.app).rows()
        return tuple(s.SourceRow(**{key: row[key] for key in keys if key in row}) for row in found)

    return await place.app.off_loop(rows)


@source_routes.get("/sources/{slug}/tools")
async def list_source_tools(slug: str, place: At, who: Looks) -> tuple[s.SourceToolShown, ...]:
    """Its tools, as a model is offered them."""

    def tools() -> tuple[s.SourceToolShown, ...]:
        shelf = SourceShelf(place.app)
        keys = s.SourceToolShown.model_fields
        return tuple(s.SourceToolShown(**{key: one[key] for key in keys}) for one in shelf.tools(shelf.one(slug)))

    return await place.app.off_loop(tools)


@source_routes.get("/sources/{slug}/resources")
async def list_source_resources(slug: str, place: At, who: Runs) -> tuple[s.SourceResource, ...]:
    """What an MCP server has to read, as it lists it now; `@source:SLUG/URI` in a message names one."""
    return tuple(s.SourceResource(**one) for one in await SourceShelf(place.app).resources(slug))


@source_routes.post("/sources/{slug}/test")
async def test_source(slug: str, place: At, who: Administers) -> s.SourceRow:
    """Really reaches it, and says how that ended."""
    await SourceShelf(place.app).test([slug])
    return await _row(slug, place)


@source_routes.put("/sources/{slug}/enabled")
async def switch_source(given: s.SourceSwitch, slug: str, place: At, who: Administers) -> s.SourceRow:
    """On: every conversation gets its tools. Off: only agents and steps that name it."""
    await place.app.off_loop(lambda: SourceShelf(place.app).switch(slug, on=given.enabled))
    return await _row(slug, place)


@source_routes.get("/sessions/{session}/sources")
async def list_session_sources(session: Session, place: At, who: Looks) -> tuple[s.SourceRow, ...]:
    """Every source, on or off as it is for the conversation of this session."""
    switched = (await place.app.off_loop(lambda: place.app.sessions.read(session))).state.sources
    rows = await list_sources(place, who)
    return tuple(row.model_copy(update={"enabled": switched.get(row.slug, row.enabled)}) for row in rows)


@source_routes.put("/sessions/{session}/sources/{slug}")
async def switch_session_source(
    given: s.SessionSource, session: Session, slug: str, place: At, who: Runs
) -> tuple[s.SourceRow, ...]:
    """On or off for this session alone, in its log. Nothing that runs is disturbed."""
    command = SwitchSource(source=slug, on=given.enabled)
    held = place.keeper.holding(session)
    if held is not None:
        reply = await held.submit(command, key=given.key, by=actor(who))
    else:
        reply = await place.app.describe(session, command, key=given.key, by=actor(who))
    if isinstance(reply, Refused):
        raise refuse(reply)
    return await list_session_sources(session, place, who)


async def _row(slug: str, place: At) -> s.SourceRow:
    def row() -> s.SourceRow:
        shelf = SourceShelf(place.app)
        found = shelf.row(shelf.one(slug))
        return s.SourceRow(**{key: found[key] for key in s.SourceRow.model_fields})

    return await place.app.off_loop(row)
