"""The documentation under /docs: the site that docs/build_site.py built, read from the package. Open to everybody who
reaches the server: it is the same for all.

Its pages have scripts inside them; each answer allows exactly those, by their hashes, and nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

site_routes = APIRouter(include_in_schema=False)
_SCRIPT: Final = re.compile(rb"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY: Final = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_NOT_BUILT: Final = "the documentation was not built here; `python docs/build_site.py` in the source builds it"


@cache
def _pages() -> dict[str, Traversable]:
    """Every file of the site by its name; {} where it was not built."""
    folder = files("weft.web") / "site"
    return dict(_below(folder, "")) if folder.is_dir() else {}


def _below(folder: Traversable, inner: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for one in folder.iterdir():
        name = f"{inner}{one.name}"
        found += _below(one, f"{name}/") if one.is_dir() else [(name, one)]
    return found


@lru_cache(maxsize=256)
def _policy(name: str) -> str:
    scripts = _SCRIPT.findall(_pages()[name].read_bytes()) if name.endswith(".html") else ()
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    return _POLICY.format(scripts=" ".join(sorted({f"'sha256-{one}'" for one in hashes})))


@site_routes.get("/docs")
@site_routes.get("/docs/")
async def front() -> Response:
    return RedirectResponse("/docs/index.html", 307)


@site_routes.get("/docs/{name:path}")
async def document(name: str) -> Response:
    found = _pages().get(name)
    if found is None:
        return Response("there is no such page" if _pages() else _NOT_BUILT, 404, media_type="text/plain")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {"Content-Security-Policy": _policy(name), "Cache-Control": "no-cache"}
    return Response(found.read_bytes(), media_type=kind, headers=headers)
