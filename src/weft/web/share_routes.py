"""What leaves the server: exports, and links that show one session to whoever has them, until a day."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, Response
from pydantic import Field

from weft.app import ExportKind, LeavingShown, exported, taken_in, would_leave
from weft.protocol.errors import WeftError
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks, NotThereError, Runs, ServedHere, Session
from weft.web.work_routes import download

share_routes = APIRouter(prefix="/api/w/{workspace}")
shared_pages = APIRouter(include_in_schema=False)


class NewShare(s.Shape):
    session: str
    days: int = Field(default=7, ge=1, le=365)
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class ShareShown(s.Shape):
    id: str
    person: str
    session: str
    created: s.Moment
    expires: s.Moment | None


class ShareMade(s.Shape):
    share: ShareShown
    address: str
    """Told this once."""


@share_routes.get("/sessions/{session}/export", response_class=Response)
async def export_session(session: Session, place: At, who: Looks, kind: ExportKind = "html") -> Response:
    """One self-contained page, markdown, or a bundle that another Weft opens."""
    name, data = await place.app.off_loop(lambda: exported(place.app, session, kind))
    return download(name, data)


@share_routes.get("/sessions/{session}/export/preview")
async def preview_export(session: Session, place: At, who: Looks, kind: ExportKind = "html") -> LeavingShown:
    """What would leave: files, names of persons, paths, addresses, and what looks like a key."""
    return await place.app.off_loop(lambda: would_leave(place.app, session, kind))


@share_routes.post("/imports", status_code=201)
async def import_session(
    bundle: UploadFile,
    place: At,
    served: ServedHere,
    who: Runs,
    key: Annotated[str, Query(max_length=200, description="With it, it is taken in once.")] = "",
) -> s.Begun:
    """A session from a bundle."""

    async def made() -> s.Begun:
        data = await bundle.read()
        session = await place.app.off_loop(lambda: taken_in(place.app, data))
        entry = await place.app.off_loop(lambda: place.catalogue.entry(session))
        return s.Begun(session=session, seq=entry.seq if entry else 0)

    return await served.once(
        (who.person, "import", str(place.app.workspace.path)), key, made, (bundle.filename, bundle.size)
    )


@share_routes.post("/shares", status_code=201)
async def make_share(asked: NewShare, place: At, served: ServedHere, who: Runs) -> ShareMade:
    """A link that shows a session as it is then, read-only, until a day; it can be revoked."""
    if not place.app.sessions.exists(asked.session):
        raise NotThereError(f"there is no session {asked.session}")
    here = str(place.app.workspace.path)

    async def made() -> ShareMade:
        share, secret = served.access.add_share(who.person, here, asked.session, asked.days)
        return ShareMade(share=ShareShown.of(share), address=f"/x/{secret}")

    return await served.once((who.person, "share", here), asked.key, made, asked)


@share_routes.get("/shares")
async def list_shares(place: At, served: ServedHere, who: Looks) -> tuple[ShareShown, ...]:
    here = str(place.app.workspace.path)
    return tuple(ShareShown.of(one) for one in served.access.shares() if one.workspace == here)


@share_routes.delete("/shares/{share}", status_code=204)
async def revoke_share(share: str, place: At, served: ServedHere, who: Administers) -> None:
    served.access.revoke(share)


@shared_pages.get("/x/{secret}")
async def show_shared(secret: str, request: Request) -> Response:
    served = request.app.state.served
    share = served.access.use_share(secret)
    places = [one for one in served.places.values() if share and str(one.app.workspace.path) == share.workspace]
    gone = HTMLResponse("<!doctype html><title>Weft</title><p>This link is over, or was never one.</p>", 404)
    if share is None or not places:
        return gone
    app = places[0].app

    def page() -> bytes | None:
        began = app.sessions.read(share.session).state.created_at
        if began and datetime.fromisoformat(began) > share.created:
            return None  # another has its name now
        return exported(app, share.session, "html")[1]

    try:
        data = await app.off_loop(page)
    except WeftError:
        return gone
    return HTMLResponse(data) if data is not None else gone
