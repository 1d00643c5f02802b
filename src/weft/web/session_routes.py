"""Sessions: list, begin, follow, give commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Final

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from weft.app import (
    Filter,
    Fork,
    FoundListing,
    GivenFile,
    Identity,
    ListedSession,
    OpenQuestions,
    Overview,
    Role,
    SessionRequest,
    TextHit,
    TrashedSession,
    command_from_wire,
    declared_marks,
    item_to_wire,
    read_slash_elsewhere,
    to_wire,
)
from weft.protocol.commands import (
    AnswerQuestion,
    DescribeSession,
    Interrupt,
    OverruleVerdict,
    ReplyToGate,
    ResolveConfirmation,
    Say,
    SessionCommand,
    StartRun,
)
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.errors import UserError
from weft.protocol.events import QuestionAsked, Record
from weft.protocol.hashes import hash_bytes
from weft.protocol.ids import slug
from weft.web import shapes as s
from weft.web.asking import (
    PAGE_LIMIT,
    STREAM_HEADERS,
    Answers,
    At,
    Looks,
    NotThereError,
    Runs,
    ServedHere,
    Session,
    actor,
    check_names,
    not_allowed,
    taken,
)
from weft.web.place import ServedWorkspace

session_routes = APIRouter(prefix="/api/w/{workspace}")
_ANSWERS: Final = (
    ReplyToGate, ResolveConfirmation, AnswerQuestion, DecideApproval, Interrupt, OverruleVerdict, Say, DescribeSession,
)  # fmt: skip
"""Commands of somebody who may answer; the others begin or change something."""


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
    asked = place.asked()
    wanted = Filter(
        states=tuple(state or ()),
        asking=tuple(asked),
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
    shown = tuple(_found(one, asked.get(one.entry.id, ())) for one in found[:limit])
    return s.SessionList(sessions=shown, counts=counts, more=len(found) > limit)


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
    return _entry(found, place.asked().get(session, ()))


@session_routes.patch("/sessions/{session}")
async def describe_session(asked: s.SessionChange, session: Session, place: At, who: Answers) -> s.SessionEntry:
    """Title, status, labels, flag, note, archive, unread: only what is set is changed. Nothing that runs is
    disturbed."""
    labels = asked.labels or {}
    seen = asked.seen
    if asked.unread is not None:
        known = await place.app.off_loop(lambda: place.catalogue.entry(session))
        seen = 0 if asked.unread or known is None else known.seq
    command = DescribeSession(
        title=asked.title,
        status=asked.status,
        labels={name: value for name, value in labels.items() if value is not None},
        unlabelled=tuple(name for name, value in labels.items() if value is None),
        flag=asked.flag,
        archived=asked.archived,
        note=asked.note,
        seen=seen,
    )
    taken(await place.describe(session, command, key=asked.key, by=actor(who)))
    return await show_session(session, place, who)


@session_routes.get("/marks")
async def list_marks(place: At, who: Looks) -> s.Marks:
    """The statuses and labels that the workspace declares."""
    statuses, labels = await place.app.off_loop(lambda: declared_marks(place.app.workspace))
    return s.Marks(statuses=statuses, labels=labels)


@session_routes.get("/trash")
async def list_trash(place: At, who: Looks) -> tuple[TrashedSession, ...]:
    return tuple(await place.app.off_loop(place.app.sessions.trashed))


@session_routes.post("/trash/{name}/restore")
async def restore_session(name: str, place: At, who: Runs) -> s.SessionEntry:
    session = await place.app.off_loop(lambda: place.app.sessions.restore(name))
    return await show_session(session, place, who)


@session_routes.delete("/sessions/{session}", status_code=204)
async def trash_session(session: Session, place: At, who: Runs) -> None:
    """Into the workspace's trash. Nothing is deleted; 400 while it is being written."""
    await place.keeper.let_go(session)
    await place.app.off_loop(lambda: place.app.sessions.trash(session))
    await place.app.off_loop(lambda: place.catalogue.forget(session))


def _entry(entry: ListedSession, asked: Sequence[QuestionAsked] = ()) -> s.SessionEntry:
    if not asked:
        return s.SessionEntry.of(entry, questions=())
    texts = (str(one["text"]) for question in asked for one in question.questions)
    questions = tuple(map(to_wire, asked))
    return s.SessionEntry.of(entry, state="waiting", waits=(*entry.waits, *texts), questions=questions)


def _found(found: FoundListing, asked: Sequence[QuestionAsked]) -> s.FoundSession:
    return s.FoundSession(session=_entry(found.entry, asked), hits=tuple(map(_hit, found.hits)))


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
    wanted = asked_for(asked)
    given = tuple([GivenFile(await file.read(), file.filename or "") for file in files])
    return await _begin(place, wanted, given, who)


async def _begin(place: ServedWorkspace, asked: s.NewSession, given: tuple[GivenFile, ...], who: Identity) -> s.Begun:
    await check_names(place, who, asked.pipeline, asked.parameters)
    request = request_of(place, asked, given)
    command = Say(text=asked.message) if request.talk else wish_of(asked)
    return await started(place, request, command, asked.key, who, start=asked.start)


def request_of(
    place: ServedWorkspace, asked: s.NewSession, given: tuple[GivenFile, ...], session: str | None = None
) -> SessionRequest:
    talk = bool(asked.message) and not given
    title = "talk" if talk else given[0].name if given else asked.pipeline
    if session is None and asked.key:
        session = keyed(asked.key, title)
    return SessionRequest(
        pipeline=asked.pipeline or None,
        file=given[0] if given else None,
        together=given[1:],
        session=session,
        new=not talk,
        talk=talk,
        model=asked.model or None,
        kb=asked.kb or None,
        mode=asked.mode,
        working=place.app.workspace.path,
    )


def keyed(key: str, title: str) -> str:
    """The name of the session that a wish with this key begins. It is the same each time, so that the log itself knows
    whether the wish was carried out: also after the server that took it is gone."""
    return f"{slug(PurePath(title).stem) or 'session'}-{hash_bytes(key.encode())[:10]}"


async def started(
    place: ServedWorkspace,
    request: SessionRequest,
    command: StartRun | Say,
    key: str,
    who: Identity,
    *,
    start: bool = True,
) -> s.Begun:
    """A session, held from now on, and its first command. The same key again begins nothing new, and is refused with
    another wish."""
    wish = command if isinstance(command, StartRun) else None

    async def made() -> s.Begun:
        async with place.keeper.new(request, wish) as session:
            if not start:
                return s.Begun(session=session.id, seq=session.state.seq)
            reply = taken(await session.submit(command, key=key, by=actor(who)))
            return s.Begun(session=session.id, seq=reply.seq)

    given = [request.file, *request.together, *request.inputs.values()]
    rest = replace(request, file=None, together=(), inputs={}, session=None)
    return await place.once(("session",), key, made, (rest, command, start, said_of(given)))


def said_of(files: Sequence[Path | GivenFile | None]) -> tuple[str, ...]:
    """Files as they are compared with what came under the same key before."""
    return tuple(
        f"{one.name} {hash_bytes(one.data)}" if isinstance(one, GivenFile) and not one.is_address else _place_of(one)
        for one in files
    )


def _place_of(file: Path | GivenFile | None) -> str:
    """What stands at an address may be another when it is asked again."""
    return file.origin if isinstance(file, GivenFile) else str(file or "")


def wish_of(asked: s.NewSession) -> StartRun:
    return StartRun(
        parameters={**asked.parameters, **({"depth": asked.depth} if asked.depth else {})},
        until=asked.until or None,
        profile=dict(asked.profile),
    )


@session_routes.post("/sessions/{session}/commands")
async def give_command(given: s.GivenCommand, session: Session, place: At, who: Answers) -> s.AcceptedCommand:
    """Any command of the protocol; 409 with the reason when it can't be taken now. A message that begins with a slash
    is the command that it says, or something to look at: the reply's `note`. It never reaches a model."""
    command = command_from_wire(given.command)
    if isinstance(command, Say) and command.text.lstrip().startswith("/"):
        async with place.keeper.using(session) as opened:
            wanted = read_slash_elsewhere(command.text, await opened.known_words())
            if isinstance(wanted, Overview):
                return s.AcceptedCommand(seq=opened.state.seq, note=await opened.answered(wanted))
            if isinstance(wanted, Fork):
                if not who.may("run"):
                    raise not_allowed("run", who)
                return s.AcceptedCommand(seq=opened.state.seq, note=f"forked as {await opened.answered(wanted)}")
        command = _with_files(wanted, command.attachments) if wanted else command
    needed: Role = "answer" if isinstance(command, _ANSWERS) else "run"
    if isinstance(command, DecideApproval) and command.always:
        needed = "administer"  # it holds for every session from now on
    if not who.may(needed):
        raise not_allowed(needed, who)
    await _check_names(place, who, session, command)
    async with place.keeper.using(session) as opened:
        reply = taken(await opened.submit(command, key=given.key, by=actor(who)))
    return s.AcceptedCommand(seq=reply.seq, note=reply.note)


async def _check_names(place: ServedWorkspace, who: Identity, session: str, command: SessionCommand) -> None:
    """Of a command that begins a run, or fills in a form."""
    match command:
        case StartRun(parameters=values) | ReplyToGate(values=values):
            asked = command.pipeline if isinstance(command, StartRun) else ""
            own = await place.app.off_loop(lambda: place.app.sessions.pipeline_of(session))
            await check_names(place, who, asked or own or "", values)


def _with_files(wanted: SessionCommand, files: tuple[GivenFile, ...]) -> SessionCommand:
    """What came with a message that is a command goes where the command takes it."""
    if not files:
        return wanted
    if isinstance(wanted, Say):
        return replace(wanted, attachments=files)
    if not isinstance(wanted, StartRun):
        raise UserError("this command takes no files", hint="give it without them, or send them with a message")
    if wanted.inputs:
        raise UserError("a run takes words or files, not both", hint="give one of them")
    return replace(wanted, inputs={"": files})


@session_routes.post("/sessions/{session}/fork", status_code=201)
async def fork_session(asked: s.ForkAsked, session: Session, place: At, served: ServedHere, who: Runs) -> s.Begun:
    """Another session that shares everything up to an event and goes its own way. What was open then is settled as
    interrupted; a gate stays open and can be answered otherwise."""

    async def made() -> s.Begun:
        name = await place.app.off_loop(lambda: place.app.fork(session, at=asked.at))
        return s.Begun(session=name, seq=asked.at or 0)

    return await served.once((who.person, "fork", str(place.app.workspace.path), session), asked.key, made, asked)


@session_routes.get("/sessions/{session}/events", response_class=StreamingResponse)
async def follow(
    session: Session,
    place: At,
    who: Looks,
    request: Request,
    after: Annotated[int, Query(ge=0, description="The number of the last event that is known.")] = 0,
    turns: Annotated[
        int, Query(ge=0, description="With `after` 0: of the conversation only so many last turns; 0 for all of it.")
    ] = 0,
    since: Annotated[int, Query(ge=0, description="With `turns`: an event that must be among them.")] = 0,
) -> StreamingResponse:
    """Server-sent events: the log after a number, then what comes. `Last-Event-ID` goes before `after`. `caught_up`
    says where the log ended, and with which event the conversation `begins` when some of it was left out."""
    last = request.headers.get("last-event-id", "")
    known = int(last) if last.isdecimal() else after
    told = place.events(session, known, turns, since)
    return StreamingResponse(told, media_type="text/event-stream", headers=STREAM_HEADERS)


@session_routes.get("/sessions/{session}/earlier")
async def read_earlier(
    session: Session,
    place: At,
    who: Looks,
    before: Annotated[int, Query(ge=1, description="The event that what is known `begins` with.")],
    turns: Annotated[int, Query(ge=1, description="How many.")] = 80,
) -> s.EarlierTurns:
    """Turns of a conversation that were left out when its events were followed with `turns`."""
    begins, records = await place.earlier(session, turns, before)
    return s.EarlierTurns(begins=begins, records=tuple(s.LogRecord(**item_to_wire(one)) for one in records))


@session_routes.get("/sessions/{session}/log")
async def read_log(
    session: Session,
    place: At,
    who: Looks,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE_LIMIT)] = PAGE_LIMIT,
    type: Annotated[list[str] | None, Query(description="Only events of these types.")] = None,
    step: str = "",
    conversation: str = "",
    words: Annotated[str, Query(description="Only events that have these words somewhere.")] = "",
) -> s.LogPage:
    """The log, a page at a time: all of it, or what the filter lets through."""

    def fits(record: Record) -> bool:
        event = record.event
        if (type and event.type not in type) or (step and getattr(event, "step", "") != step):
            return False
        if conversation and getattr(event, "conversation", "") != conversation:
            return False
        return not words or words.casefold() in str(event).casefold()

    records = await place.records(session, after, limit + 1, fits)
    shown = tuple(s.LogRecord(**item_to_wire(one)) for one in records[:limit])
    return s.LogPage(records=shown, more=len(records) > limit)


@session_routes.get("/waiting")
async def list_waiting(place: At, who: Looks) -> tuple[s.WaitingSession, ...]:
    """Everything that waits for a person, over all sessions, with all that is needed to answer it."""
    return tuple(await place.waiting(_waiting))


def _waiting(entry: ListedSession, found: OpenQuestions, questions: Sequence[QuestionAsked]) -> s.WaitingSession:
    return s.WaitingSession(
        session=_entry(entry, questions),
        gates=tuple(map(to_wire, found.gates)),
        approvals=tuple({**to_wire(asked), **to_wire(requested)} for asked, requested in found.approvals),
        confirmation=to_wire(found.confirmation) if found.confirmation else None,
        plan=to_wire(found.plan) if found.plan else None,
        questions=tuple(map(to_wire, questions)),
    )


@session_routes.post("/plan")
async def plan_new(asked: s.NewSession, place: At, who: Looks) -> s.NewPlan:
    """What a session that is not begun yet would do, and about what it would cost. Nothing is made."""
    given = (GivenFile(asked.text.encode(), asked.name),) if asked.text else ()
    return await _forecast(place, asked, given, who)


@session_routes.post("/uploads/plan")
async def plan_upload(
    place: At,
    who: Looks,
    files: Annotated[list[UploadFile], File(description="Several are read as one document.")],
    asked: Annotated[str, Form(description="A NewSession as JSON.")] = "{}",
) -> s.NewPlan:
    """The same for files. They are read and forgotten."""
    given = tuple([GivenFile(await file.read(), file.filename or "") for file in files])
    return await _forecast(place, asked_for(asked), given, who)


def asked_for(text: str) -> s.NewSession:
    """What stands beside the files of an upload. One that is no such thing is the asker's fault, as in a body."""
    try:
        return s.NewSession.model_validate_json(text)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("asked", *one["loc"])} for one in error.errors()]) from error


async def _forecast(
    place: ServedWorkspace, asked: s.NewSession, given: tuple[GivenFile, ...], who: Identity
) -> s.NewPlan:
    await check_names(place, who, asked.pipeline, asked.parameters)
    request = replace(request_of(place, asked, given), talk=False, session=None, new=True)
    plan, cost = await place.app.off_loop(lambda: place.app.forecast(request, wish_of(asked)))
    return s.NewPlan.of(plan, estimate=cost)
