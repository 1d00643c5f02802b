"""What a session made and why: artifacts with their versions, steps with their attempts, documents, the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import PurePath
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from weft.app import (
    FILE_NOW,
    ArtifactName,
    ClaimOnRecord,
    PlaceShown,
    SessionDocument,
    SessionRequest,
    Sheet,
    StepShort,
    artifact_bytes,
    artifact_versions,
    artifacts_now,
    attachment_bytes,
    attachment_sheets,
    blob_text,
    original_bytes,
    place_in,
    save_edit,
    session_document,
    session_documents,
    step_page,
    steps_now,
)
from weft.protocol.commands import StartRun
from weft.protocol.envelope import Actor
from weft.protocol.errors import Finding
from weft.protocol.hashes import hash_bytes
from weft.render.html import code_html, difference_html, markdown_html
from weft.render.step_page import step_json
from weft.web import shapes as s
from weft.web.asking import At, Looks, Runs, ServedHere, Session, check_names

_PICTURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
work_routes = APIRouter(prefix="/api/w/{workspace}")
Version = Annotated[str, Query(description="A hash; `accepted` for the one last accepted; else what the file is now.")]


# -- artifacts


class ArtifactText(s.Shape):
    """A version of an artifact; without one named, what stands in its file now."""

    name: str
    hash: str
    accepted: str
    """The hash of the version that was last accepted."""
    edited: bool
    """Its file is another one: a person changed it."""
    text: str
    html: str
    """As it is to be read: markdown formatted, code with colours; nothing active in it."""


class ArtifactVersionShown(s.Shape):
    hash: str
    seq: int
    at: str
    by: Actor
    how: str
    """made, edited, adopted, or set aside: changed by a person when a new one took its place."""
    step: str
    attempt: int
    run: int
    size: int | None
    there: bool
    """Its bytes are still kept."""
    current: bool


class ArtifactDifference(s.Shape):
    before: str
    after: str
    html: str


class FrameAddress(s.Shape):
    address: str
    """Good for a few minutes; for a frame with `sandbox="allow-scripts"`."""


class PlanAsk(s.Shape):
    """What would be wished for; `edits` are artifacts' texts that are not saved yet."""

    parameters: Mapping[str, Any] = Field(default_factory=dict)
    depth: str = ""
    force: tuple[str, ...] = ()
    start_from: str = ""
    until: str = ""
    accept: tuple[str, ...] = ()
    profile: Mapping[str, Any] = Field(default_factory=dict)
    edits: Mapping[str, str] = Field(default_factory=dict)


class PlanAnswer(s.PlanShown):
    findings: tuple[Finding, ...] = ()
    """What is wrong with the edits; the plan is as if they were kept when nothing is."""


class EditedText(s.Shape):
    text: str
    expected: str = Field(default="", alias="if")
    """The hash of what was changed: 409 when something else stands there now."""


class EditSaved(s.Shape):
    hash: str
    findings: tuple[Finding, ...]
    plan: s.PlanShown | None
    """What a run would do that keeps it; null when something is wrong with it."""


class CallShown(s.Shape):
    call: str
    item: str
    """Of a step that is made item by item: which one."""
    parent: str
    kind: str
    name: str
    title: str
    ok: bool
    message: str
    stop: str
    """Why the answer ended."""
    ms: int
    usage: Mapping[str, int]
    cost: float | None
    request: str
    """The hash of what was asked; `/blobs/HASH` has it."""
    dropped: tuple[str, ...]


class ReplyGiven(s.Shape):
    gate: str
    text: Any


class RoundGiven(s.Shape):
    round: str
    feedback: Any


class ItemShown(s.Shape):
    ok: bool
    tries: int
    message: str


class AttemptShown(s.Shape):
    attempt: int
    run: int
    cause: str
    reason: str
    at: str
    input_hash: str = Field(alias="inputHash")
    inputs: Mapping[str, str]
    changed: Mapping[str, str | None]
    """Inputs that are not as they were for the attempt before, each with what it was then; null when it is new."""
    replies: tuple[ReplyGiven, ...]
    rounds: tuple[RoundGiven, ...]
    result: str
    kind: str
    message: str
    trace: str
    """Where code failed, call by call."""
    findings: tuple[Finding, ...]
    verdict: str
    ms: int | None
    model: str | None
    usage: Mapping[str, int]
    cost: float | None
    artifacts: Mapping[str, str]
    items: Mapping[str, ItemShown]
    """By item, how its last try ended."""
    calls: tuple[CallShown, ...]


class PromptShown(s.Shape):
    attempt: int
    call: str
    name: str
    hash: str
    dropped: tuple[str, ...]
    text: str | None = None
    """null when its copy is gone."""


class OutputShown(s.Shape):
    hash: str
    size: int
    file: str
    """What is to be known of its file: changed by hand, missing; empty when it is as recorded."""


class StepShown(s.Shape):
    """All about one step: what it was made from and why, every attempt with its calls and findings, its gates."""

    session: str
    pipeline: str
    step: str
    status: str
    kept: str
    skipped: str
    attempts: tuple[AttemptShown, ...]
    prompts: tuple[PromptShown, ...]
    output: Mapping[str, OutputShown]
    checks: tuple[str, ...]
    gates: tuple[Mapping[str, Any], ...]
    cost: float | None
    notes: tuple[str, ...]


class BlobText(s.Shape):
    hash: str
    text: str


class DocumentShown(s.Shape):
    """An input of a session, as its steps read it."""

    input: str
    title: str
    kind: str
    words: int
    author: str
    published: str
    language: str
    url: str
    file: str
    hash: str
    size: int
    origin: str
    edited: bool
    originals: tuple[str, ...]
    notes: tuple[str, ...]


class DocumentText(DocumentShown):
    text: str
    """Places in it are counted in characters (code points) of this."""
    html: str


@work_routes.get("/sessions/{session}/artifacts")
async def list_artifacts(session: Session, place: At, who: Looks) -> tuple[ArtifactName, ...]:
    found = await place.app.off_loop(lambda: artifacts_now(place.app, session))
    return tuple(found)


@work_routes.get("/sessions/{session}/claims")
async def list_claims(session: Session, place: At, who: Looks) -> tuple[ClaimOnRecord, ...]:
    """The claims of a session with the verdict on each; `overrule_verdict` says otherwise."""
    return tuple(await place.app.off_loop(lambda: place.app.claims(session)))


@work_routes.get("/sessions/{session}/artifacts/{name}")
async def show_artifact(session: Session, name: str, place: At, who: Looks, version: Version = "") -> ArtifactText:
    """An artifact as its file is now, or one of its versions."""

    def read() -> ArtifactText:
        data = artifact_bytes(place.app, session, name, _version(version))
        now = next(one for one in artifacts_now(place.app, session) if one.name == name)
        text = data.decode("utf-8", "replace")
        return ArtifactText(
            name=name, hash=hash_bytes(data), accepted=now.hash, edited=now.edited, text=text, html=_html(name, text)
        )

    return await place.app.off_loop(read)


@work_routes.get("/sessions/{session}/artifacts/{name}/versions")
async def list_versions(session: Session, name: str, place: At, who: Looks) -> tuple[ArtifactVersionShown, ...]:
    """Every version there was, the newest first."""
    found = await place.app.off_loop(lambda: artifact_versions(place.app, session, name))
    accepted = [one.seq for one in found if one.how != "set aside"]
    return tuple(ArtifactVersionShown(**asdict(one), current=[one.seq] == accepted[-1:]) for one in reversed(found))


@work_routes.get("/sessions/{session}/artifacts/{name}/raw", response_class=Response)
async def raw_artifact(session: Session, name: str, place: At, who: Looks, version: Version = "") -> Response:
    """Its bytes, as a file to keep."""
    data = await place.app.off_loop(lambda: artifact_bytes(place.app, session, name, _version(version)))
    return download(name, data)


@work_routes.get("/sessions/{session}/artifacts/{name}/difference")
async def compare_versions(
    session: Session, name: str, place: At, who: Looks, before: Version = "accepted", after: Version = ""
) -> ArtifactDifference:
    """What differs between two versions, line by line."""

    def compared() -> ArtifactDifference:
        sides = [artifact_bytes(place.app, session, name, _version(one)) for one in (before, after)]
        first, second = (side.decode("utf-8", "replace") for side in sides)
        names = [f"{name} {hash_bytes(side)[:8]}" for side in sides]
        html = difference_html(first, second, names=names)
        return ArtifactDifference(before=hash_bytes(sides[0]), after=hash_bytes(sides[1]), html=html)

    return await place.app.off_loop(compared)


@work_routes.put("/sessions/{session}/artifacts/{name}")
async def save_artifact(edit: EditedText, session: Session, name: str, place: At, who: Runs) -> EditSaved:
    """A person's version goes into the file, whatever is wrong with it. The command `accept_edit` makes it count."""
    data = edit.text.encode()
    digest = await place.app.off_loop(lambda: save_edit(place.app, session, name, data, edit.expected))
    found, plan = await place.app.try_edit(session, name, data)
    return EditSaved(hash=digest, findings=tuple(found), plan=s.PlanShown.of(plan) if plan else None)


@work_routes.get("/sessions/{session}/artifacts/{name}/frame")
async def frame_artifact(
    session: Session, name: str, place: At, served: ServedHere, who: Looks, version: Version = ""
) -> FrameAddress:
    """Where a frame can show it: an address without a cookie, in an origin of its own, good for a few minutes."""
    chosen = _version(version)
    await place.app.off_loop(lambda: artifact_bytes(place.app, session, name, chosen))
    return FrameAddress(address=served.frames.address(place.name, session, name, chosen))


def _version(version: str) -> str:
    return "" if version == "accepted" else version or FILE_NOW


def _html(name: str, text: str) -> str:
    return markdown_html(text) if name.endswith(".md") else code_html(text, name.rpartition(".")[2])


def download(name: str, data: bytes) -> Response:
    """Never shown by the browser itself: what others wrote is not to run as this server's page."""
    plain = "".join(letter for letter in PurePath(name).name if letter.isascii() and letter.isprintable())
    safe = plain.replace('"', "").replace("\\", "") or "file"
    return Response(data, media_type="application/octet-stream", headers={"Content-Disposition": _attached(safe)})


def _attached(name: str) -> str:
    return f'attachment; filename="{name}"'


# -- the plan


@work_routes.get("/sessions/{session}/plan")
async def show_plan(session: Session, place: At, who: Looks, until: str = "") -> s.PlanShown:
    """What a run would do now, and why."""
    request, wish = SessionRequest(session=session), StartRun(until=until or None)
    return s.PlanShown.of(await place.app.off_loop(lambda: place.app.plan(request, wish)))


@work_routes.post("/sessions/{session}/plan")
async def try_plan(asked: PlanAsk, session: Session, place: At, who: Looks) -> PlanAnswer:
    """The same for a wish, and for edits that are not saved yet. Nothing is changed."""
    pipeline = await place.app.off_loop(lambda: place.app.sessions.pipeline_of(session))
    await check_names(place, who, pipeline or "", asked.parameters)
    found: list[Finding] = []
    accepted: set[str] = {*asked.accept}
    edits = {name: text.encode() for name, text in asked.edits.items()}
    made_by = {one.name: one.step for one in await place.app.off_loop(lambda: artifacts_now(place.app, session))}
    for name, data in edits.items():
        wrong, _ = await place.app.try_edit(session, name, data)
        found += wrong
        accepted |= {made_by[name]} if name in made_by else set()
    wish = StartRun(
        parameters={**asked.parameters, **({"depth": asked.depth} if asked.depth else {})},
        force=frozenset(asked.force),
        start_from=asked.start_from or None,
        until=asked.until or None,
        accept=frozenset() if found else frozenset(accepted),
        profile=dict(asked.profile),
    )
    request = SessionRequest(session=session)
    plan = await place.app.off_loop(lambda: place.app.plan(request, wish, {} if found else edits))
    return PlanAnswer.of(plan, findings=tuple(found))


# -- steps


@work_routes.get("/sessions/{session}/steps")
async def list_steps(session: Session, place: At, who: Looks) -> tuple[StepShort, ...]:
    found = await place.app.off_loop(lambda: steps_now(place.app, session))
    return tuple(found)


@work_routes.get("/sessions/{session}/steps/{step}")
async def show_step(
    session: Session,
    step: str,
    place: At,
    who: Looks,
    attempt: Annotated[int | None, Query(ge=1, description="Whose prompts; else the last that asked a model.")] = None,
) -> StepShown:
    """Why it was made and from what, every attempt with its calls and findings, its prompts, gates and cost."""

    def read() -> dict[str, Any]:
        page = step_page(place.app, session, step, attempt)
        return step_json(page, place.app.price, whole_prompts=True)

    return StepShown.model_validate(await place.app.off_loop(read))


@work_routes.get("/sessions/{session}/attachments/{name}", response_class=Response)
async def raw_attachment(session: Session, name: str, place: At, who: Looks) -> Response:
    """A file that was given with a message, to keep. A picture can be shown too: nothing in it runs."""
    data = await place.app.off_loop(lambda: attachment_bytes(place.app, session, name))
    answer = download(name, data)
    kind = next((kind for head, kind in _PICTURES.items() if data.startswith(head)), None)
    if kind:
        answer.headers["Content-Type"] = kind
    return answer


@work_routes.get("/sessions/{session}/attachments/{name}/sheets")
async def show_sheets(session: Session, name: str, place: At, who: Looks) -> tuple[Sheet, ...]:
    """The sheets of a workbook that was given with a message: what their cells show, of a large one the beginning."""
    return tuple(await place.app.off_loop(lambda: attachment_sheets(place.app, session, name)))


@work_routes.get("/sessions/{session}/blobs/{digest}")
async def show_blob(session: Session, digest: str, place: At, who: Looks) -> BlobText:
    """A text that the log names by its hash: what a model was asked, a result that is large."""
    text = await place.app.off_loop(lambda: blob_text(place.app, session, digest))
    return BlobText(hash=digest, text=text)


# -- documents


@work_routes.get("/sessions/{session}/documents")
async def list_documents(session: Session, place: At, who: Looks) -> tuple[DocumentShown, ...]:
    found = await place.app.off_loop(lambda: session_documents(place.app, session))
    return tuple(DocumentShown(**_document(one)) for one in found)


@work_routes.get("/sessions/{session}/documents/{name}")
async def show_document(session: Session, name: str, place: At, who: Looks) -> DocumentText:
    def read() -> DocumentText:
        one = session_document(place.app, session, name)
        shown: Callable[[str], str] = code_html if one.document.kind == "text" else markdown_html
        return DocumentText(**_document(one), text=one.document.text, html=shown(one.document.text))

    return await place.app.off_loop(read)


@work_routes.get("/sessions/{session}/documents/{name}/place")
async def show_place(
    session: Session,
    name: str,
    place: At,
    who: Looks,
    quote: Annotated[str, Query(max_length=5000, description="Its exact words, whatever the white space.")] = "",
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 0,
) -> PlaceShown:
    """Where a quote stands, or what stands at a place, with its surroundings."""

    def read() -> PlaceShown:
        one = session_document(place.app, session, name)
        return place_in(one, quote=quote, start=start, end=end)

    return await place.app.off_loop(read)


@work_routes.get("/sessions/{session}/documents/{name}/original", response_class=Response)
async def raw_document(session: Session, name: str, place: At, who: Looks, file: str = "") -> Response:
    """A file as it was given."""
    called, data = await place.app.off_loop(lambda: original_bytes(place.app, session, name, file))
    return download(called, data)


def _document(one: SessionDocument) -> dict[str, Any]:
    document, given = one.document, one.given
    own = ("title", "kind", "words", "author", "published", "language", "url", "notes")
    return {
        **{name: getattr(document, name) for name in own},
        **{name: getattr(given, name) for name in ("file", "hash", "size", "origin", "edited")},
        "input": one.input,
        "originals": tuple(given.originals),
    }
