"""What every route starts from: who asks, which workspace and session is meant, and the one shape of what goes wrong.

Each route names the role it needs (`Looks`, `Answers`, `Runs`, `Administers`); the guard in front has already made sure
who asks. Errors have the words that the terminal has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from weft.app import ME, Access, EditConflictError, Identity, NothingThereError, Role, check_named
from weft.protocol.commands import Accepted, Refused, Reply
from weft.protocol.envelope import Actor
from weft.protocol.errors import ExternalError, UserError, WeftError, WorkspaceError
from weft.protocol.values import dataclass
from weft.web import shapes as s
from weft.web.frames import Frames
from weft.web.guard import House
from weft.web.once import Once, OtherWishError
from weft.web.place import ServedWorkspace

PAGE_LIMIT: Final = 500
STREAM_HEADERS: Final = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    code: {"model": s.ApiProblem, "description": text}
    for code, text in {
        400: "it can't be done as asked",
        401: "not signed in",
        403: "not allowed to",
        404: "there is no such thing",
        409: "it can't be taken now",
        413: "too large",
        422: "not of the right shape",
        503: "something outside is out of reach; trying again can help",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Served:
    """What the routes work with."""

    places: dict[str, ServedWorkspace]
    access: Access
    house: House
    frames: Frames
    once: Once = field(default_factory=Once)


def needs(role: Role) -> Any:
    """A route's dependency: whoever asks must have this role. Gives who asks."""

    def check(request: Request) -> Identity:
        who: Identity | None = request.state.who
        if who is None or not who.may(role):
            raise not_allowed(role, who)
        return who

    check.role = role  # type: ignore[attr-defined]
    return Depends(check)


def not_allowed(role: Role, who: Identity | None) -> HTTPException:
    what, hint = who.why_not(role) if who else (f"this needs the role {role}", "sign in")
    return HTTPException(403, json.dumps({"what": what, "hint": hint}))


def actor(who: Identity) -> Actor:
    """Who gave a command, as the log has it."""
    return Actor("person", "" if who.person == ME else who.person, "web")


# -- errors


def _problem(status: int, what: str, where: str, hint: str = "") -> JSONResponse:
    return JSONResponse({"what": what, "where": where, "hint": hint}, status)


async def told(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, WeftError)
    where = request.url.path
    match error:
        case NotThereError() | NothingThereError():
            status = 404
        case RefusedCommandError() | OtherWishError() | EditConflictError():
            status = 409
        case ExternalError():
            status = 503
        case WorkspaceError() if error.problems:
            problem = error.problems[0]
            return _problem(400, problem.message, f"{problem.file}:{problem.line}", problem.hint or error.hint)
        case _:
            status = 400
    return _problem(status, error.message, where, error.hint)


async def misshapen(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    what = _MISSHAPEN.get(first["type"], first["msg"])
    return _problem(422, what.format(name=first["loc"][-1] if first["loc"] else ""), place, "see /api/openapi.json")


_MISSHAPEN: Final = {
    "json_invalid": "the body is not valid JSON",
    "model_attributes_type": "the body is not a JSON object, or its Content-Type is not application/json",
    "extra_forbidden": "unknown key '{name}'",
    "missing": "'{name}' is missing",
}
"""What a library says in words of its own."""


async def refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    try:
        told = json.loads(error.detail)
    except ValueError:
        told = {"what": str(error.detail).lower(), "hint": ""}
    return _problem(error.status_code, told["what"], request.url.path, told.get("hint", ""))


async def broken(request: Request, error: Exception) -> JSONResponse:
    """The trace goes to the server's standard error; who asked gets the one shape."""
    what = f"this is a bug in Weft, not in your files: {type(error).__name__}"
    return _problem(500, what, request.url.path, "the log is intact; the server's standard error has more")


class NotThereError(UserError):
    """What the address names is not there."""


class RefusedCommandError(UserError):
    """A command can't be taken now."""


def taken(reply: Reply) -> Accepted:
    if isinstance(reply, Refused):
        raise RefusedCommandError(reply.reason, hint=reply.hint)
    return reply


async def check_names(place: ServedWorkspace, who: Identity, pipeline: str, values: Mapping[str, Any]) -> None:
    """What is named as a parameter is read by this server: whoever may not run names what is in the workspace, and only
    who administers names a place of keys."""
    if not values or who.has_role("administer"):
        return
    inside = None if who.has_role("run") else place.app.workspace.path
    await place.app.off_loop(lambda: check_named(place.app.parameter_kinds(pipeline), values, inside))


# -- what routes are given


def served_by(request: Request) -> Served:
    served: Served = request.app.state.served
    return served


def _place(workspace: str, request: Request) -> ServedWorkspace:
    place = served_by(request).places.get(workspace)
    if place is None:
        raise NotThereError(f"this server has no workspace {workspace}", hint="/api/me lists the ones there are")
    return place


def _session(session: str, place: Annotated[ServedWorkspace, Depends(_place)]) -> str:
    if not place.app.is_begun(session):
        raise NotThereError(f"there is no session {session}", hint="it may be in the trash")
    return session


At = Annotated[ServedWorkspace, Depends(_place)]
Session = Annotated[str, Depends(_session)]
ServedHere = Annotated[Served, Depends(served_by)]
Looks = Annotated[Identity, needs("look")]
Answers = Annotated[Identity, needs("answer")]
Runs = Annotated[Identity, needs("run")]
Administers = Annotated[Identity, needs("administer")]
