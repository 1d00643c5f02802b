"""Sources: which there are, whether they work, their tools; tested and switched by who may administer."""

from __future__ import annotations

from fastapi import APIRouter

from weft.app import SourceShelf
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks

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


async def _row(slug: str, place: At) -> s.SourceRow:
    def row() -> s.SourceRow:
        shelf = SourceShelf(place.app)
        found = shelf.row(shelf.one(slug))
        return s.SourceRow(**{key: found[key] for key in s.SourceRow.model_fields})

    return await place.app.off_loop(row)
