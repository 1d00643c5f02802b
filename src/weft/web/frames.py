"""What others wrote, shown as the page it is: in a frame with an origin of its own, no cookie, no way out.

An address is made for somebody who may look, names one version of one artifact, and is good for a few minutes: signed,
because no cookie comes along that could say who asks. The guard puts `Content-Security-Policy: sandbox` on the answer.
Opened by itself it would be nobody's frame, and could go on to another address with what it knows: it is not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import mimetypes
import time
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from weft.app import artifact_bytes
from weft.protocol.errors import WeftError
from weft.web.guard import NO_CONNECTION

MINUTES: Final = 10
_SHOWN: Final = ("text/html", "image/", "text/plain", "text/markdown", "application/json", "text/css")
"""What a frame may show; the rest is offered as a file."""


class Frames:
    def __init__(self, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock

    def address(self, workspace: str, session: str, artifact: str, version: str) -> str:
        until = int(self._clock()) + MINUTES * 60
        told = json.dumps([workspace, session, artifact, version, until]).encode()
        return f"/frame/{_text(told)}.{_text(self._signature(told))}"

    def opened(self, name: str) -> tuple[str, str, str, str] | None:
        """What an address is of; None when it was not made here, or is too old."""
        first, _, second = name.partition(".")
        try:
            told, signature = _bytes(first), _bytes(second)
        except ValueError:
            return None
        if not hmac.compare_digest(self._signature(told), signature):
            return None
        workspace, session, artifact, version, until = json.loads(told)
        return (workspace, session, artifact, version) if until > self._clock() else None

    def _signature(self, told: bytes) -> bytes:
        return hmac.digest(self._secret, told, hashlib.sha256)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))


frame_routes = APIRouter(include_in_schema=False)


@frame_routes.get("/frame/{name}")
async def show_frame(name: str, request: Request) -> Response:
    served = request.app.state.served
    if request.headers.get("sec-fetch-dest", "iframe") != "iframe":
        return _said("This is shown in the page alone: by itself it could lead anywhere.", 404)
    found = served.frames.opened(name)
    place = served.places.get(found[0]) if found else None
    if found is None or place is None:
        return _said("This is no longer shown here. Open it again.", 404)
    _, session, artifact, version = found
    try:
        data = await place.app.off_loop(lambda: artifact_bytes(place.app, session, artifact, version))
    except WeftError as error:
        return _said(error.message, 404)
    kind = mimetypes.guess_type(artifact)[0] or "application/octet-stream"
    shown = kind.startswith(_SHOWN) and kind != "image/svg+xml"
    headers = NO_CONNECTION if shown else {"Content-Disposition": "attachment"}
    return Response(data, media_type=kind if shown else "application/octet-stream", headers=headers)


def _said(text: str, status: int) -> Response:
    return Response(text, status, media_type="text/plain")
