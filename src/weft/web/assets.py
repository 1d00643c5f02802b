"""The page's files: built by page/build.py into `static`, read once and served from memory.

Every address that is not the API's is a place of the page, so that a link to any of them can be opened. Names of built
files carry a hash of what is in them and are kept by browsers for good; the page itself is asked for each time.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from weft.web.guard import NO_CONNECTION

asset_routes = APIRouter(include_in_schema=False)
_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_NO_PLACES: Final = ("api", "docs", "frame", "static", "mcp")
_KEPT: Final = "public, max-age=31536000, immutable"
_NOT_BUILT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Weft</title></head>
<body><main><h1>Weft</h1><p>The page was not built here. <code>make page</code> in the source builds it; the API works
without it.</p></main></body></html>"""


@cache
def _built() -> dict[str, bytes]:
    """Every file by its name; {} where the page was not built."""
    folder = files("weft.web") / "static"
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()} if folder.is_dir() else {}


def stylesheet() -> str:
    """The name of the page's style, for pages that are made here; "" where it was not built."""
    return next((name for name in _built() if name.startswith("page-") and name.endswith(".css")), "")


def _sent(request: Request, name: str, *, kept: bool) -> Response | None:
    built = _built()
    ending = name[name.rfind(".") :]
    if name not in built or ending not in _TYPES:
        return None
    headers = {"Cache-Control": _KEPT if kept else "no-cache", "Vary": "Accept-Encoding"}
    body = built[name]
    if f"{name}.gz" in built and "gzip" in request.headers.get("accept-encoding", ""):
        body = built[f"{name}.gz"]
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type=_TYPES[ending], headers=headers)


@asset_routes.get("/static/{name}")
async def asset(name: str, request: Request) -> Response:
    return _sent(request, name, kept="-" in name) or Response("there is no such file", 404, media_type="text/plain")


@asset_routes.get("/frame/own/{name}")
async def frame_asset(name: str, request: Request) -> Response:
    """A frame of the page's own making, which runs code of others: the guard gives it an origin of its own."""
    found = _sent(request, name, kept=True) if name.startswith("frame-") else None
    if found is None:
        return Response("there is no such frame", 404, media_type="text/plain")
    found.headers.update(NO_CONNECTION)
    return found


@asset_routes.api_route("/{address:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def page(address: str, request: Request) -> Response:
    """Any place of the page: which one, the page itself finds out. Who is not signed in is asked to be."""
    if request.method not in ("GET", "HEAD") or address.partition("/")[0] in _NO_PLACES:
        raise HTTPException(404, "there is nothing here")
    served = request.app.state.served
    if not served.access.identify_browser(request.cookies.get(served.house.cookie, "")):
        wanted = f"{quote(f'/{address}')}?{request.url.query}".removesuffix("?")
        return RedirectResponse(f"/sign-in?next={quote(wanted, safe='/')}" if address else "/sign-in", 303)
    return _sent(request, "index.html", kept=False) or HTMLResponse(_NOT_BUILT, 503)
