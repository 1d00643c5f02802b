"""The API: JSON over HTTP for everything a person can do with the sessions of a workspace. It decides nothing.

What changes a session is a command of the protocol, given at the session's door; what only looks reads the log and the
index. The routes stand by what they are about: the server itself here, then `session_routes`, `work_routes` (what a
session made), `library_routes` (pipelines, agents, skills, packs).

It is made in two steps. What a person meets first (signing in, the page, the sessions) is there at once; the rest is
loaded when the first request for it comes, or a moment after the start.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from weft.protocol.errors import WeftError
from weft.version import __version__
from weft.web import shapes as s
from weft.web.asking import PROBLEMS, Administers, Looks, Served, broken, misshapen, refused, served_by, told
from weft.web.assets import asset_routes
from weft.web.guard import COOKIE, ASGIApp, Receive, Scope, Send
from weft.web.pages import page_routes
from weft.web.session_routes import session_routes

server_routes = APIRouter(prefix="/api")
WAYS_IN: Final[dict[str, Any]] = {
    "token": {"type": "http", "scheme": "bearer", "description": "made by `weft tokens add`"},
    "browser": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "given by `POST /sign-in`"},
}


class Api(FastAPI):
    """Its document also says what the guard in front asks for: every request below `/api` is somebody's."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            document["components"]["securitySchemes"] = WAYS_IN
            for path, methods in document["paths"].items():
                if path.startswith("/api/"):
                    for operation in methods.values():
                        operation["security"] = [{name: []} for name in WAYS_IN]
            self.openapi_schema = document
        return self.openapi_schema


def make_api(served: Served, routers: Sequence[APIRouter] | None = None) -> FastAPI:
    """All of it, unless it is said which part."""
    app = Api(
        title="Weft",
        version=__version__,
        description="Every session of a workspace behind one door.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.served = served
    for router in (*told_routers(), *untold_routers()) if routers is None else routers:
        app.include_router(router)
    app.include_router(asset_routes)  # the last: every address that is nobody else's is a place of the page
    app.add_exception_handler(WeftError, told)
    app.add_exception_handler(RequestValidationError, misshapen)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, broken)
    return app


@server_routes.get("/me")
async def me(who: Looks, request: Request) -> s.Me:
    """Who asks, and which workspaces there are."""
    places = served_by(request).places.values()
    names = tuple(s.WorkspaceName(name=place.name, path=str(place.app.workspace.path)) for place in places)
    return s.Me(person=who.person, role=who.role, by=who.by, version=__version__, workspaces=names)


@server_routes.get("/tokens")
async def list_tokens(who: Administers, request: Request) -> tuple[s.TokenShown, ...]:
    return tuple(map(s.TokenShown.of, served_by(request).access.tokens()))


@server_routes.post("/tokens", status_code=201)
async def make_token(asked: s.NewToken, who: Administers, request: Request) -> s.TokenMade:
    """By somebody who signed in: a token that made others would outlive its own end, and reach further than it may."""
    if who.by == "token":
        hint = "sign in with a browser, or where the server runs: weft tokens add"
        raise HTTPException(403, json.dumps({"what": "a token makes no tokens", "hint": hint}))
    served = served_by(request)

    async def made() -> s.TokenMade:
        person = asked.person or who.person
        token, secret = served.access.add_token(person, asked.scopes, asked.title, asked.days)
        return s.TokenMade(token=s.TokenShown.of(token), secret=secret)

    return await served.once((who.person, "token"), asked.key, made, asked)


@server_routes.delete("/tokens/{token}", status_code=204)
async def revoke_token(token: str, who: Administers, request: Request) -> None:
    """Also a browser: it is signed out."""
    served_by(request).access.revoke(token)


@server_routes.get("/browsers")
async def list_browsers(who: Administers, request: Request) -> tuple[s.BrowserShown, ...]:
    return tuple(s.BrowserShown.of(one, this=one.id == who.id) for one in served_by(request).access.browsers())


@server_routes.post("/render")
async def render(asked: s.RenderAsk, who: Looks) -> s.RenderedTexts:
    """Texts as they are to be read: markdown formatted, code with colours, differences marked; nothing active."""
    html = await asyncio.to_thread(lambda: tuple(map(_rendered, asked.texts)))
    return s.RenderedTexts(html=html)


def _rendered(one: s.TextToRender) -> str:
    from weft.render.html import code_html, difference_html, markdown_html

    match one.kind:
        case "markdown":
            return markdown_html(one.text)
        case "code":
            return code_html(one.text, one.language)
        case "diff":
            return difference_html(one.before, one.text) if one.before else code_html(one.text, "diff")


FIRST: Final = (page_routes, server_routes, session_routes)
_LATER_PLACES: Final = ("api", "docs", "frame", "x")
"""Where addresses of the second step are; everything else is a place of the page."""
LATER_SECONDS: Final = 1.0


def told_routers() -> tuple[APIRouter, ...]:
    """Of what the OpenAPI document tells."""
    from weft.web.batch_routes import batch_routes
    from weft.web.knowledge_routes import knowledge_routes
    from weft.web.library_routes import library_routes
    from weft.web.schedule_routes import schedule_routes
    from weft.web.settings_routes import settings_routes
    from weft.web.share_routes import share_routes
    from weft.web.source_routes import source_routes
    from weft.web.work_routes import work_routes

    return (
        page_routes,
        server_routes,
        session_routes,
        batch_routes,
        work_routes,
        library_routes,
        source_routes,
        knowledge_routes,
        settings_routes,
        share_routes,
        schedule_routes,
    )


def untold_routers() -> tuple[APIRouter, ...]:
    from weft.web.documentation import site_routes
    from weft.web.frames import frame_routes
    from weft.web.share_routes import shared_pages

    return (frame_routes, shared_pages, site_routes)


class ApiInSteps:
    """The API from its first step on: a request that the first step does not know waits for the second."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._known = [route for router in FIRST for route in router.routes]
        self._app: ASGIApp = make_api(served, FIRST)
        self._whole = False
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._whole and self.is_later(scope):
            await self.load()
        await self._app(scope, receive, send)

    async def load_soon(self) -> None:
        await asyncio.sleep(LATER_SECONDS)
        await self.load()

    async def load(self) -> None:
        async with self._loading:
            if not self._whole:
                self._app = await asyncio.to_thread(make_api, self._served)
                self._whole = True

    def is_later(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["path"].split("/")[1] not in _LATER_PLACES:
            return False
        return not any(route.matches(scope)[0] is Match.FULL for route in self._known)
