"""Sources: which there are, whether they work, their tools; added, tested, signed in to and switched by who may
administer. One that was added is reached when it is tested or first used, not before."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from weft.app import AddRequest, SourceSettings, wake_waiting
from weft.protocol.commands import SwitchSource
from weft.protocol.errors import UsageError, UserError
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks, Runs, ServedHere, Session, actor, taken
from weft.web.jobs import SIGNING_IN, Job, Tell
from weft.web.place import ServedWorkspace

source_routes = APIRouter(prefix="/api/w/{workspace}")


class SourceRow(s.Shape):
    """A source, and how the last try to reach it ended."""

    slug: str
    name: str = ""
    kind: str
    state: str
    """untested, ready, failed, needs sign-in or broken."""
    why: str
    enabled: bool
    tools: int
    address: str = ""
    declared: str = ""
    tested: str = ""
    server: str = ""
    description: str = ""


class SourceShown(SourceRow):
    """All that is known of a source."""

    file: str
    protocol: str
    reaches: tuple[str, ...]
    """What it runs or reaches, in words."""
    guide: str
    prompts: tuple[str, ...]
    left_out: dict[str, str]
    """Tools that no model is offered, and why."""
    sign_in: Literal["", "secret", "oauth"]
    """How a person signs in to it."""


class SourceGiven(s.Shape):
    """A source as a person names it: by `words`, or by the `text` of a configuration or an OpenAPI document."""

    words: str = Field(default="", max_length=4000)
    """An address, a folder where the server runs, or a command as in a shell."""
    text: str = Field(default="", max_length=4_000_000)
    """Of .mcp.json or its like of another program, or an OpenAPI document, as JSON or YAML."""
    slug: str = Field(default="", max_length=100)
    kind: Literal["", "api", "search"] = ""
    """Where an address could be an MCP server, an API or a search; "" is an MCP server."""
    provider: Literal["", "brave", "tavily", "searxng", "exa"] = ""
    """Of a search."""
    network: bool = False
    """A command may use the network."""
    hosts: tuple[str, ...] = ()
    """Hosts that a command may reach by HTTP, and no other."""
    description: str = Field(default="", max_length=2000)
    replace: bool = False
    """In place of one of the same name."""
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class SourceSignIn(s.Shape):
    secret: str = Field(default="", max_length=20_000)
    """Of a source that is let in by a secret; one by OAuth needs none."""


class SourceResource(s.Shape):
    """Something that a source has to read."""

    uri: str
    name: str
    description: str


class SessionSource(s.Shape):
    """Whether a session's conversation has a source's tools; None: as the source's own file says."""

    enabled: bool | None = None
    key: str = ""


class SourceToolShown(s.Shape):
    name: str
    description: str
    effect: str
    retryable: bool
    input_schema: dict[str, Any]


class SourceSwitch(s.Shape):
    enabled: bool


@source_routes.get("/sources")
async def list_sources(place: At, who: Looks) -> tuple[SourceRow, ...]:
    """Every source with how the last try to reach it ended. Nothing is started."""

    def rows() -> tuple[SourceRow, ...]:
        keys = SourceRow.model_fields
        found = SourceSettings(place.app).rows()
        return tuple(SourceRow(**{key: row[key] for key in keys if key in row}) for row in found)

    return await place.app.off_loop(rows)


@source_routes.post("/sources", status_code=201)
async def add_source(given: SourceGiven, place: At, served: ServedHere, who: Administers) -> tuple[SourceShown, ...]:
    """Connect something: its folder is written, and what it reaches is said. It is not reached yet: test it."""

    def added() -> tuple[SourceShown, ...]:
        shelf = SourceSettings(place.app)
        with tempfile.TemporaryDirectory() as folder:
            request = _request(given, Path(folder))
            found, files = shelf.to_add(request), shelf.files(request)
        made = [shelf.add(one, mine=False, replace=given.replace, files=files) for one in found]
        return tuple(_shown(shelf, one.slug) for one in made)

    wish = (who.person, "source", str(place.app.workspace.path))
    return await served.once(wish, given.key, lambda: place.app.off_loop(added), given)


def _request(given: SourceGiven, folder: Path) -> AddRequest:
    if bool(given.text.strip()) == bool(given.words.strip()):
        raise UsageError("give an address, a folder or a command, or the text of a configuration: one of them")
    if given.text.strip():
        file = folder / f"configuration.{'json' if given.text.lstrip().startswith(('{', '[', '/')) else 'yaml'}"
        file.write_text(given.text, encoding="utf-8")
        words = [str(file)]
    else:
        try:
            words = shlex.split(given.words)
        except ValueError as error:
            raise UsageError(f"the command can't be read: {error}", hint="close every quotation mark") from error
    return AddRequest(
        words=words,
        slug=given.slug,
        kind=given.kind,
        provider=given.provider,
        network=given.network,
        hosts=given.hosts,
        description=given.description,
    )


@source_routes.get("/sources/{slug}")
async def show_source(slug: str, place: At, who: Looks) -> SourceShown:
    """All that is known of it. Nothing is started."""
    return await place.app.off_loop(lambda: _shown(SourceSettings(place.app), slug))


@source_routes.delete("/sources/{slug}", status_code=204)
async def remove_source(slug: str, place: At, who: Administers) -> None:
    """Its folder is moved aside, not deleted."""
    await place.app.off_loop(lambda: SourceSettings(place.app).remove(slug))


@source_routes.post("/sources/{slug}/sign-in", status_code=202)
async def sign_in_to_source(slug: str, given: SourceSignIn, place: At, who: Administers) -> Job:
    """With a secret, or by OAuth: then the job's `at` is the address where the person agrees, in a browser on the
    machine that the server runs on. It ends when they did and the source was tested; what waited for it goes on."""
    shelf = SourceSettings(place.app)
    await place.app.off_loop(lambda: shelf.one(slug))

    def secret(what: str) -> str:
        if not given.secret:
            raise UserError(f"{what} is missing", hint="give it as `secret`")
        return given.secret

    async def work(tell: Tell) -> list[str]:
        reached = await shelf.sign_in(slug, show=lambda address: tell(0, 1, address), secret=secret)
        if reached.state != "ready":
            raise UserError(f"signed in to {slug}, and it does not work: {reached.why}", hint="test it again")
        went_on, left = await wake_waiting(place.app, slug, actor(who))
        return [
            *(f"session {session} waited for this, and goes on" for session in went_on),
            *(f"session {session} waited for this" for session, _ in left),
        ]

    return place.jobs.begin(f"{SIGNING_IN} {slug}", work)


@source_routes.delete("/sources/{slug}/sign-in", status_code=204)
async def sign_out_of_source(slug: str, place: At, who: Administers) -> None:
    """Forget what it is let in with."""
    await place.app.off_loop(lambda: SourceSettings(place.app).sign_out(slug))


@source_routes.get("/sources/{slug}/tools")
async def list_source_tools(slug: str, place: At, who: Looks) -> tuple[SourceToolShown, ...]:
    """Its tools, as a model is offered them."""

    def tools() -> tuple[SourceToolShown, ...]:
        shelf = SourceSettings(place.app)
        keys = SourceToolShown.model_fields
        return tuple(SourceToolShown(**{key: one[key] for key in keys}) for one in shelf.tools(shelf.one(slug)))

    return await place.app.off_loop(tools)


@source_routes.get("/sources/{slug}/resources")
async def list_source_resources(slug: str, place: At, who: Runs) -> tuple[SourceResource, ...]:
    """What an MCP server has to read, as it lists it now; `@source:SLUG/URI` in a message names one."""
    return tuple(SourceResource(**one) for one in await SourceSettings(place.app).resources(slug))


@source_routes.post("/sources/{slug}/test")
async def test_source(slug: str, place: At, who: Administers) -> SourceRow:
    """Really reaches it, and says how that ended."""
    await SourceSettings(place.app).test([slug])
    return await _row(slug, place)


@source_routes.put("/sources/{slug}/enabled")
async def switch_source(given: SourceSwitch, slug: str, place: At, who: Administers) -> SourceRow:
    """On: every conversation gets its tools. Off: only agents and steps that name it."""
    await place.app.off_loop(lambda: SourceSettings(place.app).switch(slug, on=given.enabled))
    return await _row(slug, place)


@source_routes.get("/sessions/{session}/sources")
async def list_session_sources(session: Session, place: At, who: Looks) -> tuple[SourceRow, ...]:
    """Every source, on or off as it is for the conversation of this session."""
    switched = (await place.app.off_loop(lambda: place.app.sessions.read(session))).state.sources
    rows = await list_sources(place, who)
    return tuple(row.model_copy(update={"enabled": switched.get(row.slug, row.enabled)}) for row in rows)


@source_routes.put("/sessions/{session}/sources/{slug}")
async def switch_session_source(
    given: SessionSource, session: Session, slug: str, place: At, who: Runs
) -> tuple[SourceRow, ...]:
    """On or off for this session alone, in its log. Nothing that runs is disturbed."""
    command = SwitchSource(source=slug, on=given.enabled)
    taken(await place.describe(session, command, key=given.key, by=actor(who)))
    return await list_session_sources(session, place, who)


async def _row(slug: str, place: ServedWorkspace) -> SourceRow:
    def row() -> SourceRow:
        shelf = SourceSettings(place.app)
        found = shelf.row(shelf.one(slug))
        return SourceRow(**{key: found[key] for key in SourceRow.model_fields})

    return await place.app.off_loop(row)


def _shown(shelf: SourceSettings, slug: str) -> SourceShown:
    found = shelf.shown(shelf.one(slug))
    return SourceShown(**{key: found[key] for key in SourceShown.model_fields})
