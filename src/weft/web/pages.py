"""The few pages that need no script: signing in, and what a browser gets where the page was not built."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any, Final
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from weft.app import BROWSER_DAYS
from weft.protocol.patterns import pattern
from weft.web.assets import stylesheet
from weft.web.shapes import ApiProblem

page_routes = APIRouter()
PLACE_SECONDS: Final = 15 * 60
"""How long the place somebody wanted to see is kept for the link that signs them in: as long as a link is good."""
_PLACE: Final = pattern(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
_PAGE: Final[dict[str, Any]] = {"content": {"text/html": {"schema": {"type": "string"}}}}
_LIMITED: Final[dict[str, Any]] = {"model": ApiProblem, "description": "too many tries; wait a minute"}
_SIGNED_IN: Final[dict[str, Any]] = {
    "description": "signed in: on to the page, with the cookie that every further request carries",
    "headers": {
        "Location": {"schema": {"type": "string"}},
        "Set-Cookie": {"schema": {"type": "string"}, "description": "HttpOnly, SameSite=Strict"},
    },
}
_FRAME: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Weft</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="/static/icon.svg">{style}</head>
<body><main class="page sign-in"><h1>Weft</h1>{body}</main></body>
</html>"""
_PASSPHRASE: Final = """<p>{told}</p>
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="{next}">
<p><label>Name <input name="person" autocomplete="username" required></label></p>
<p><label>Passphrase <input name="passphrase" type="password" autocomplete="current-password" required></label></p>
<p><button class="primary">Sign in</button></p>
</form>"""
_ASK_LINK: Final = """<p>{told}</p>
<p>Open the link that <code>weft serve</code> printed, or make a new one:
<code>weft tokens link {here}</code>.</p>"""
_CONFIRM: Final = """<p>Sign this browser in?</p>
<form method="post" action="/sign-in">
<input type="hidden" name="link" value="{link}"><input type="hidden" name="next" value="{next}">
<p><button class="primary" autofocus>Sign in</button></p>
</form>"""


@page_routes.get("/sign-in", response_class=HTMLResponse)
async def sign_in_page(
    request: Request,
    link: Annotated[str, Query(max_length=200)] = "",
    next: Annotated[str, Query(max_length=2000, description="The place of the page to go on to.")] = "",
) -> Response:
    """The form that signs a browser in. A link is used by a click, not by being looked at: programs that look at links
    in messages must not use it up. It leads to the place that was asked for in this browser before."""
    if link:
        place = next or unquote(request.cookies.get(_place_cookie(request), ""))
        told = {"link": link, "next": place if is_place(place) else ""}
        return _page(_CONFIRM.format(**{name: escape(value, quote=True) for name, value in told.items()}))
    return _ask(request, "You are not signed in.", next)


@page_routes.post(
    "/sign-in",
    status_code=303,
    response_class=RedirectResponse,
    responses={
        303: _SIGNED_IN,
        403: {**_PAGE, "description": "not right, used up, or sent by another site"},
        429: _LIMITED,
    },
)
async def sign_in(
    request: Request,
    link: Annotated[str, Form(max_length=200)] = "",
    person: Annotated[str, Form(max_length=64)] = "",
    passphrase: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """By a link that is good once, or by name and passphrase. The request must tell its `Origin`, as browsers do."""
    served = request.app.state.served
    agent = request.headers.get("user-agent", "")
    if link:
        cookie = served.access.use_link(link, agent)
        told = "This link was used already, or is too old."
    else:
        cookie = served.access.use_passphrase(person, passphrase, agent)
        told = "That is not right."
    if cookie is None:
        page = _ask(request, told, next)
        page.status_code = 403
        return page
    answer = RedirectResponse(next if is_place(next) else "/", status_code=303)
    if _place_cookie(request) in request.cookies:
        answer.delete_cookie(_place_cookie(request), secure=served.house.secure, httponly=True, samesite="lax")
    answer.set_cookie(
        served.house.cookie,
        cookie,
        max_age=BROWSER_DAYS * 24 * 3600,
        path="/",
        secure=served.house.secure,
        httponly=True,
        samesite="strict",
    )
    return answer


def is_place(address: str) -> bool:
    """An address of this page and of no other host, however a browser reads it."""
    return bool(_PLACE.fullmatch(address))


def _ask(request: Request, told: str, next: str) -> HTMLResponse:
    body = _PASSPHRASE if request.app.state.served.access.has_passphrase else _ASK_LINK
    house = request.app.state.served.house
    here = f"{'https' if house.secure else 'http'}://{request.url.netloc}"
    page = _page(body.format(told=told, next=escape(next, quote=True), here=escape(here)))
    if is_place(next):
        kept = {"max_age": PLACE_SECONDS, "secure": house.secure, "httponly": True}
        page.set_cookie(_place_cookie(request), quote(next, safe=""), samesite="lax", **kept)
    return page


def _place_cookie(request: Request) -> str:
    """Keeps the place for a link, which knows of none. It is no secret and allows nothing."""
    return f"{request.app.state.served.house.cookie}-place"


def _page(body: str) -> HTMLResponse:
    style = f'<link rel="stylesheet" href="/static/{name}">' if (name := stylesheet()) else ""
    return HTMLResponse(_FRAME.format(body=body, style=style))
