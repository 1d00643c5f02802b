"""The API: JSON over HTTP for everything a person can do with the sessions of a workspace. It decides nothing.

Each route names the role it needs (`needs`); the guard in front has already made sure who asks. What changes a session
is a command of the protocol, given at the session's door; what only looks reads the log and the index. Errors have one
shape and the words that the terminal has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, File, Form, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from weft import __version__
from weft.app import (
    ME,
    Access,
    Filter,
    FoundListing,
    GivenFile,
    Identity,
    ListedSession,
    Role,
    SessionRequest,
    TextHit,
    command_from_wire,
    item_to_wire,
)
from weft.protocol.commands import (
    AnswerQuestion,
    Interrupt,
    Refused,
    ReplyToGate,
    ResolveConfirmation,
    Say,
    StartRun,
)
from weft.protocol.envelope import Actor
from weft.protocol.errors import ExternalError, UserError, WeftError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.protocol.talk_commands import DecideApproval
from weft.render.html import code_html, markdown_html
from weft.web import shapes as s
from weft.web.guard import House
from weft.web.pages import page_routes
from weft.web.place import Place

PAGE_LIMIT: Final = 500
_ANSWERS: Final = (ReplyToGate, ResolveConfirmation, AnswerQuestion, DecideApproval, Interrupt, Say)
"""Commands of somebody who may answer; the others begin or change something."""
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

    places: dict[str, Place]
    access: Access
    house: House


def needs(role: Role) -> Any:
    """A route's dependency: whoever asks must have this role. Gives who asks."""

    def check(request: Request) -> Identity:
        who: Identity | None = request.state.who
        if who is None or not who.may(role):
            raise _not_allowed(role)
        return who

    check.role = role  # type: ignore[attr-defined]
    return Depends(check)


def _not_allowed(role: Role) -> HTTPException:
    return HTTPException(403, json.dumps({"what": f"this needs the role {role}", "hint": "ask who administers here"}))


def actor(who: Identity) -> Actor:
    """Who gave a command, as the log has it."""
    return Actor("person", "" if who.person == ME else who.person, "web")


def make_api(served: Served) -> FastAPI:
    app = FastAPI(
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
    app.include_router(page_routes)
    app.include_router(server_routes)
    app.include_router(session_routes)
    app.add_exception_handler(WeftError, _told)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _refused)
    return app


# -- errors


def _problem(status: int, what: str, where: str, hint: str = "") -> JSONResponse:
    return JSONResponse({"what": what, "where": where, "hint": hint}, status)


async def _told(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, WeftError)
    where = request.url.path
    match error:
        case NotThereError():
            status = 404
        case RefusedError():
            status = 409
        case ExternalError():
            status = 503
        case WorkspaceError() if error.problems:
            problem = error.problems[0]
            return _problem(400, problem.message, f"{problem.file}:{problem.line}", problem.hint or error.hint)
        case _:
            status = 400
    return _problem(status, error.message, where, error.hint)


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return _problem(422, first["msg"], ".".join(str(part) for part in first["loc"]), "see /api/openapi.json")


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    try:
        told = json.loads(error.detail)
    except ValueError:
        told = {"what": str(error.detail).lower(), "hint": ""}
    return _problem(error.status_code, told["what"], request.url.path, told.get("hint", ""))


class NotThereError(UserError):
    """What the address names is not there."""


class RefusedError(UserError):
    """A command can't be taken now."""


# -- what routes are given


def _served(request: Request) -> Served:
    served: Served = request.app.state.served
    return served


def _place(workspace: str, request: Request) -> Place:
    place = _served(request).places.get(workspace)
    if place is None:
        raise NotThereError(f"this server has no workspace {workspace}", hint="/api/me lists the ones there are")
    return place


def _session(session: str, place: Annotated[Place, Depends(_place)]) -> str:
    if not place.app.sessions.exists(session):
        raise NotThereError(f"there is no session {session}", hint="it may be in the trash")
    return session


At = Annotated[Place, Depends(_place)]
Session = Annotated[str, Depends(_session)]
Looks = Annotated[Identity, needs("look")]
Answers = Annotated[Identity, needs("answer")]
Runs = Annotated[Identity, needs("run")]
Administers = Annotated[Identity, needs("administer")]

server_routes = APIRouter(prefix="/api")
session_routes = APIRouter(prefix="/api/w/{workspace}")


# -- the server


@server_routes.get("/me")
async def me(who: Looks, request: Request) -> s.Me:
    """Who asks, and which workspaces there are."""
    places = _served(request).places.values()
    names = tuple(s.WorkspaceName(name=place.name, path=str(place.app.workspace.path)) for place in places)
    return s.Me(person=who.person, role=who.role, by=who.by, version=__version__, workspaces=names)


@server_routes.get("/tokens")
async def list_tokens(who: Administers, request: Request) -> tuple[s.TokenShown, ...]:
    return tuple(_token(token) for token in _served(request).access.tokens())


@server_routes.post("/tokens", status_code=201)
async def make_token(asked: s.NewToken, who: Administers, request: Request) -> s.TokenMade:
    access = _served(request).access
    token, secret = access.add_token(asked.person or who.person, asked.scopes, asked.title, asked.days)
    return s.TokenMade(token=_token(token), secret=secret)


@server_routes.delete("/tokens/{token}", status_code=204)
async def revoke_token(token: str, who: Administers, request: Request) -> None:
    """Also a browser: it is signed out."""
    _served(request).access.revoke(token)


@server_routes.get("/browsers")
async def list_browsers(who: Administers, request: Request) -> tuple[s.BrowserShown, ...]:
    return tuple(
        s.BrowserShown(
            id=one.id,
            person=one.person,
            agent=one.agent,
            created=one.created.isoformat(),
            expires=one.expires.isoformat() if one.expires else None,
            this=one.id == who.id,
        )
        for one in _served(request).access.browsers()
    )


def _token(token: Any) -> s.TokenShown:
    return s.TokenShown(
        id=token.id,
        person=token.person,
        title=token.title,
        scopes=token.scopes,
        created=token.created.isoformat(),
        expires=token.expires.isoformat() if token.expires else None,
    )


# -- sessions


@session_routes.get("/sessions")
async def list_sessions(
    place: At,
    who: Looks,
    q: Annotated[
        str, Query(description="Words that must all be in it; several in quotation marks must stand together.")
    ] = "",
    state: Annotated[list[str] | None, Query()] = None,
    status: Annotated[list[str] | None, Query()] = None,
    label: Annotated[list[str] | None, Query(description="`name` or `name=value`.")] = None,
    pipeline: str = "",
    flag: bool | None = None,
    unread: bool | None = None,
    archived: bool | None = False,
    order: s.Order = "updated",
    limit: Annotated[int, Query(ge=1, le=PAGE_LIMIT)] = 100,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> s.SessionList:
    """The sessions of a workspace, the one changed last first; with words, the ones that have them."""
    wanted = Filter(
        states=tuple(state or ()),
        statuses=tuple(status or ()),
        labels=tuple(label or ()),
        pipeline=pipeline,
        flag=flag,
        unread=unread,
        archived=archived,
        order=order,
        limit=limit + 1,
        offset=offset,
    )
    found, counts = await place.sessions(q, wanted)
    return s.SessionList(sessions=tuple(map(_found, found[:limit])), counts=counts, more=len(found) > limit)


@session_routes.get("/events", response_class=StreamingResponse)
async def follow_all(place: At, who: Looks) -> StreamingResponse:
    """Server-sent events: every session whose place in the list has changed (`session`), and the names that are left
    when some were taken away (`left`)."""
    return StreamingResponse(place.list_events(_entry), media_type="text/event-stream", headers=STREAM_HEADERS)


@session_routes.get("/sessions/{session}")
async def show_session(session: Session, place: At, who: Looks) -> s.SessionEntry:
    found = await place.app.off_loop(lambda: place.catalogue.entry(session))
    if found is None:
        raise NotThereError(f"there is no session {session}", hint="it may be in the trash")
    return _entry(found)


@session_routes.delete("/sessions/{session}", status_code=204)
async def trash_session(session: Session, place: At, who: Runs) -> None:
    """Into the workspace's trash. Nothing is deleted; 400 while it is being written."""
    await place.keeper.let_go(session)
    await place.app.off_loop(lambda: place.app.sessions.trash(session))


def _entry(entry: ListedSession) -> s.SessionEntry:
    return s.SessionEntry(**{name: getattr(entry, name) for name in s.SessionEntry.model_fields})


def _found(found: FoundListing) -> s.FoundSession:
    return s.FoundSession(session=_entry(found.entry), hits=tuple(map(_hit, found.hits)))


def _hit(hit: TextHit) -> s.SessionHit:
    before, _, rest = hit.snippet.partition("\x02")
    middle, _, after = rest.rpartition("\x03")
    found = middle.replace("\x02", "").replace("\x03", "")
    return s.SessionHit(kind=hit.kind, name=hit.name, seq=hit.seq, before=before, found=found, after=after)


@session_routes.post("/sessions", status_code=201)
async def begin(asked: s.NewSession, place: At, who: Runs) -> s.Begun:
    """A new session: from a text, an address or a message."""
    given = None
    if asked.address:
        given = await place.app.fetch_input(asked.address)
    elif asked.text:
        given = GivenFile(asked.text.encode(), asked.name)
    elif not asked.message and not asked.pipeline:
        raise UserError("there is nothing to begin with", hint="give a text, an address or a message")
    return await _begin(place, asked, (given,) if given else (), who)


@session_routes.post("/uploads", status_code=201)
async def upload(
    place: At,
    who: Runs,
    files: Annotated[list[UploadFile], File(description="Several are read as one document.")],
    asked: Annotated[str, Form(description="A NewSession as JSON.")] = "{}",
) -> s.Begun:
    """A new session from files."""
    wanted = s.NewSession.model_validate_json(asked)
    given = tuple([GivenFile(await file.read(), file.filename or "") for file in files])
    return await _begin(place, wanted, given, who)


async def _begin(place: Place, asked: s.NewSession, given: tuple[GivenFile, ...], who: Identity) -> s.Begun:
    talk = bool(asked.message) and not given
    request = SessionRequest(
        pipeline=asked.pipeline or None,
        file=given[0] if given else None,
        together=given[1:],
        new=not talk,
        talk=talk,
        model=asked.model or None,
        kb=asked.kb or None,
        mode=asked.mode,
        working=place.app.workspace.path,
    )
    wish = StartRun(
        parameters={**asked.parameters, **({"depth": asked.depth} if asked.depth else {})},
        until=asked.until or None,
        profile=dict(asked.profile),
    )
    async with place.keeper.new(request, None if talk else wish) as session:
        command = Say(text=asked.message) if talk else wish
        if not asked.start:
            return s.Begun(session=session.id, seq=session.state.seq)
        reply = await session.submit(command, key=asked.key, by=actor(who))
        if isinstance(reply, Refused):
            raise RefusedError(reply.reason, hint=reply.hint)
        return s.Begun(session=session.id, seq=reply.seq)


@session_routes.post("/sessions/{session}/commands")
async def give_command(given: s.GivenCommand, session: Session, place: At, who: Answers) -> s.AcceptedCommand:
    """Any command of the protocol; 409 with the reason when it can't be taken now."""
    command = command_from_wire(given.command)
    needed: Role = "answer" if isinstance(command, _ANSWERS) else "run"
    if not who.may(needed):
        raise _not_allowed(needed)
    async with place.keeper.using(session) as opened:
        reply = await opened.submit(command, key=given.key, by=actor(who))
    if isinstance(reply, Refused):
        raise RefusedError(reply.reason, hint=reply.hint)
    return s.AcceptedCommand(seq=reply.seq, note=reply.note)


@session_routes.get("/sessions/{session}/events", response_class=StreamingResponse)
async def follow(
    session: Session,
    place: At,
    who: Looks,
    request: Request,
    after: Annotated[int, Query(ge=0, description="The number of the last event that is known.")] = 0,
) -> StreamingResponse:
    """Server-sent events: the log after a number, then what comes. `Last-Event-ID` goes before `after`."""
    last = request.headers.get("last-event-id", "")
    since = int(last) if last.isdecimal() else after
    return StreamingResponse(place.events(session, since), media_type="text/event-stream", headers=STREAM_HEADERS)


@session_routes.get("/sessions/{session}/log")
async def read_log(
    session: Session,
    place: At,
    who: Looks,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE_LIMIT)] = PAGE_LIMIT,
) -> s.LogPage:
    records = await place.records(session, after, limit + 1)
    return s.LogPage(records=tuple(item_to_wire(one) for one in records[:limit]), more=len(records) > limit)


@session_routes.get("/sessions/{session}/artifacts")
async def list_artifacts(session: Session, place: At, who: Looks) -> tuple[s.ArtifactName, ...]:
    reading = await place.app.off_loop(lambda: place.app.sessions.read(session))
    return tuple(s.ArtifactName(name=name, hash=one.hash) for name, one in reading.state.artifacts.items())


@session_routes.get("/sessions/{session}/artifacts/{name}")
async def show_artifact(session: Session, name: str, place: At, who: Looks) -> s.ArtifactText:
    """An artifact as its file is now: 404 for what is none of this session's."""

    def read() -> s.ArtifactText:
        state = place.app.sessions.read(session).state
        known = state.artifacts.get(name)
        with place.app.sessions.folder(session) as folder:
            data = folder.read_or_none(name) if known else None
        if known is None or data is None:
            raise NotThereError(
                f"session {session} has no artifact {name}", hint="the list of artifacts has their names"
            )
        text = data.decode("utf-8", "replace")
        shown = markdown_html(text) if name.endswith(".md") else code_html(text, name.rpartition(".")[2])
        return s.ArtifactText(
            name=name, accepted=known.hash, edited=hash_bytes(data) != known.hash, text=text, html=shown
        )

    return await place.app.off_loop(read)
