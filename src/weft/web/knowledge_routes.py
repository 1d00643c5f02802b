"""Collections: made, filled with progress, searched with the reasons, followed by reference, asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, File, Form, Query, UploadFile
from pydantic import Field

from weft.app import CollectionRow, Collections, Identity, Inquiry, ask_of, lay_missing
from weft.protocol.commands import StartRun
from weft.web import shapes as s
from weft.web.asking import At, Looks, NotThereError, Runs, ServedHere
from weft.web.jobs import SIGNING_IN, Job, Tell
from weft.web.place import ServedWorkspace
from weft.web.session_routes import keyed, started

knowledge_routes = APIRouter(prefix="/api/w/{workspace}")
_MODES: Final[Mapping[SearchMode, Literal["keyword", "vector", "hybrid"]]] = {
    "words": "keyword",
    "meaning": "vector",
    "both": "hybrid",
}


SearchMode = Literal["words", "meaning", "both"]


class NewCollection(s.Shape):
    name: str = Field(max_length=64)
    title: str = Field(default="", max_length=200)
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class CollectionDocument(s.Shape):
    file: str
    key: str
    title: str
    tier: str
    kind: str
    pages: int
    passages: int
    notes: tuple[str, ...]


class CollectionDocuments(s.Shape):
    name: str
    title: str
    counts: Mapping[str, int]
    """Of documents, passages, mentions, edges and vectors."""
    documents: tuple[CollectionDocument, ...]


class Passage(s.Shape):
    id: str
    ref: str
    text: str
    document: str
    file: str
    page: int | None
    heading: str
    tier: str


class PassageHit(Passage):
    score: float
    paths: tuple[str, ...]
    """How it was found: keyword, vector."""
    bm25: float | None
    likeness: float | None
    words: tuple[str, ...]
    """Of the question, that it has in some form."""


class PassagesFound(s.Shape):
    hits: tuple[PassageHit, ...]
    warnings: tuple[str, ...]


class PassageShown(s.Shape):
    passage: Passage
    related: tuple[Mapping[str, Any], ...]
    """What it refers to and what refers to it, each with its `relation`."""


class HopShown(Passage):
    score: float
    hops: int


class ClaimAsked(s.Shape):
    claim: str = Field(max_length=5000)
    passage: str = Field(default="", max_length=200)
    """A reference or an id; without one the passage is looked for."""


class ClaimsAsked(s.Shape):
    claims: tuple[ClaimAsked, ...] = Field(min_length=1, max_length=50)


class ResearchQuestion(s.Shape):
    question: str = Field(min_length=1, max_length=5000)
    pipeline: Literal["ask", "research"] = "ask"
    depth: str = "quick"
    follows: str = ""
    """The session whose answer this goes on from."""
    new: bool = False
    key: str = Field(default="", max_length=200)


def _collections(place: ServedWorkspace) -> Collections:
    return Collections(place.app.workspace)


@knowledge_routes.get("/collections")
async def list_collections(place: At, who: Looks) -> tuple[CollectionRow, ...]:
    return tuple(await place.app.off_loop(_collections(place).rows))


@knowledge_routes.post("/collections", status_code=201)
async def make_collection(asked: NewCollection, place: At, served: ServedHere, who: Runs) -> CollectionRow:
    async def made() -> CollectionRow:
        await place.app.off_loop(lambda: _collections(place).create(asked.name, asked.title))
        return CollectionRow(name=asked.name, title=asked.title or asked.name, counts={})

    return await served.once((who.person, "collection", str(place.app.workspace.path)), asked.key, made, asked)


@knowledge_routes.get("/collections/{collection}")
async def show_collection(collection: str, place: At, who: Looks) -> CollectionDocuments:
    """Its documents, with what is to be known of each."""

    def read() -> CollectionDocuments:
        with _collections(place).opened(collection) as one:
            return CollectionDocuments.of(one.row, documents=tuple(map(CollectionDocument.of, one.documents())))

    return await place.app.off_loop(read)


@knowledge_routes.post("/collections/{collection}/documents", status_code=202)
async def add_documents(
    collection: str,
    place: At,
    who: Runs,
    files: Annotated[list[UploadFile], File()],
    key: Annotated[str, Form(max_length=200, description="Names this wish: the same one again is the same job.")] = "",
) -> Job:
    """Files are copied into the collection and read; the job says how far that is."""
    given = [(file.filename or "", await file.read()) for file in files]

    def added() -> None:  # a wrong name, or a kind that is not read, is said at once
        with _collections(place).opened(collection) as one:
            one.add_bytes(given)

    await place.app.off_loop(added)
    return _begin_update(place, collection, key)


@knowledge_routes.post("/collections/{collection}/update", status_code=202)
async def update_collection(collection: str, place: At, who: Runs) -> Job:
    """What changed is read again, what is gone is taken out, vectors are made."""

    def known() -> None:
        with _collections(place).opened(collection):
            pass

    await place.app.off_loop(known)
    return _begin_update(place, collection)


@knowledge_routes.delete("/collections/{collection}/documents/{file:path}", status_code=202)
async def remove_document(collection: str, file: str, place: At, who: Runs) -> Job:
    """The collection's own copy is deleted; nothing outside is touched."""

    def removed() -> None:
        with _collections(place).opened(collection) as one:
            one.remove([file])

    await place.app.off_loop(removed)
    return _begin_update(place, collection)


def _begin_update(place: ServedWorkspace, collection: str, key: str = "") -> Job:
    def read(tell: Tell) -> list[str]:
        with _collections(place).opened(collection) as one:
            report = one.update(tell)
            one.make_vectors(tell)
        skipped = [f"passed over ({why}): {', '.join(names[:5])}" for why, names in report.skipped.items()]
        return [*map(str, report.problems), *report.notes, *skipped]

    async def work(tell: Tell) -> list[str]:
        return await asyncio.to_thread(read, tell)

    return place.jobs.begin(f"reading {collection}", work, key=key, in_thread=True)


@knowledge_routes.get("/jobs")
async def list_jobs(place: At, who: Looks) -> tuple[Job, ...]:
    return tuple(_told(job, who) for job in place.jobs.all())


@knowledge_routes.get("/jobs/{job}")
async def show_job(job: str, place: At, who: Looks) -> Job:
    found = place.jobs.get(job)
    if found is None:
        raise NotThereError(f"there is no job {job[:40]}", hint="the last 200 are kept")
    return _told(found, who)


def _told(job: Job, who: Identity) -> Job:
    hidden = job.about.startswith(SIGNING_IN) and not who.may("administer")
    return replace(job, at="") if hidden else job


@knowledge_routes.get("/collections/{collection}/search")
async def search_collection(
    collection: str,
    place: At,
    who: Looks,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    mode: SearchMode = "both",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    document: str = "",
    tier: Annotated[str, Query(pattern="^(standards|guides|)$")] = "",
) -> PassagesFound:
    """Passages, the best first, each with why: how it was found, its scores, and the words it has of the question."""

    def found() -> PassagesFound:
        with _collections(place).opened(collection) as one:
            hits, warnings = one.search(q, limit=limit, mode=_MODES[mode], document=document, tier=tier, why=True)
        return PassagesFound(hits=tuple(PassageHit(**_hit(hit)) for hit in hits), warnings=tuple(warnings))

    return await place.app.off_loop(found)


@knowledge_routes.get("/collections/{collection}/passages/{passage:path}")
async def show_passage(collection: str, passage: str, place: At, who: Looks) -> PassageShown:
    """A passage by its reference or id: what it says, what it refers to, and what refers to it."""

    def read() -> PassageShown:
        with _collections(place).opened(collection) as one:
            answer = one.ask("kb_get", {"identifier": passage})
        if not answer["found"]:
            raise NotThereError(answer["error"], hint=answer.get("hint", ""))
        return PassageShown(passage=Passage(**_passage(answer["paragraph"])), related=tuple(answer["related"]))

    return await place.app.off_loop(read)


@knowledge_routes.get("/collections/{collection}/hops/{passage:path}")
async def follow_references(
    collection: str, passage: str, place: At, who: Looks, depth: Annotated[int, Query(ge=1, le=6)] = 2
) -> tuple[HopShown, ...]:
    """What a passage refers to, and what that refers to, the surest first."""

    def read() -> tuple[HopShown, ...]:
        with _collections(place).opened(collection) as one:
            answer = one.ask("kb_hops", {"paragraph_id": passage, "max_hops": depth})
        if "error" in answer:
            raise NotThereError(str(answer["error"]), hint=str(answer.get("hint", "")))
        return tuple(
            HopShown(**_passage(row), score=row["hop_score"], hops=row["hop_depth"]) for row in answer["connected"]
        )

    return await place.app.off_loop(read)


@knowledge_routes.post("/collections/{collection}/verify")
async def verify_claims(asked: ClaimsAsked, collection: str, place: At, who: Looks) -> tuple[dict[str, Any], ...]:
    """Claims held against the passages they cite, or against the nearest: quoted, contradicted or not checked."""

    def judged() -> tuple[dict[str, Any], ...]:
        citations = [{"paragraph_ref": one.passage, "claim": one.claim} for one in asked.claims]
        with _collections(place).opened(collection) as one:
            return tuple(one.ask("kb_verify_citations", {"citations": citations})["details"])

    return await place.app.off_loop(judged)


@knowledge_routes.post("/collections/{collection}/ask", status_code=201)
async def ask_collection(asked: ResearchQuestion, collection: str, place: At, who: Runs) -> s.Begun:
    """A question: `ask` for a short answer, `research` for one that takes it apart. The same question has the same
    session."""

    def prepared() -> Any:
        lay_missing(place.app.workspace.path, place.app.consents, "research")
        inquiry = Inquiry(
            question=asked.question,
            collection=collection,
            pipeline=asked.pipeline,
            follows=asked.follows or None,
            session=keyed(asked.key, f"{asked.pipeline} {asked.question}") if asked.new and asked.key else None,
            new=asked.new,
        )
        return ask_of(place.app, inquiry)

    request = await place.app.off_loop(prepared)
    return await started(place, request, StartRun(parameters={"depth": asked.depth}), asked.key, who)


def _passage(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "ref": row["paragraph_ref"],
        "text": row["content"],
        "document": row["document"],
        "file": row["source_doc"],
        "page": row["page_number"],
        "heading": row["heading"] or "",
        "tier": "guides" if row["tier"] == 1 else "standards",
    }


def _hit(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **_passage(row),
        "score": row["confidence"],
        "paths": tuple(row["retrieval_path"].split("+")),
        "bm25": row["bm25"],
        "likeness": row["likeness"],
        "words": tuple(row["words"]),
    }
