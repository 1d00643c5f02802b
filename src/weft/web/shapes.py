"""What the API takes and gives. The OpenAPI document and the page's types are made from these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weft.app import Role, Scope
from weft.protocol.commands import Mode

Order = Literal["updated", "created", "title", "cost"]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ApiProblem(Shape):
    """What went wrong, where, and what to do: in the words that the terminal has."""

    what: str
    where: str = ""
    hint: str = ""


class Me(Shape):
    """Who is signed in, and what this server has."""

    person: str
    role: Role
    by: Literal["browser", "token"]
    version: str
    workspaces: tuple[WorkspaceName, ...]


class WorkspaceName(Shape):
    name: str
    path: str


class SessionEntry(Shape):
    """A session as a list shows it."""

    id: str
    title: str
    kind: str
    pipeline: str
    state: str
    waits: tuple[str, ...]
    done: int
    steps: int
    status: str
    labels: Mapping[str, str]
    flag: bool
    archived: bool
    unread: bool
    note: str
    model: str
    tokens: int
    usd: float | None
    created: str
    updated: str
    problem: str
    seq: int


class SessionHit(Shape):
    kind: str
    name: str
    seq: int
    before: str
    found: str
    after: str


class FoundSession(Shape):
    session: SessionEntry
    hits: tuple[SessionHit, ...] = ()


class SessionList(Shape):
    sessions: tuple[FoundSession, ...]
    counts: Mapping[str, int]
    """How many there are in each state, all pages together."""
    more: bool
    """There are further ones: ask with a larger `offset`."""


class NewSession(Shape):
    """Begin a session: with a document (its text, or its address), or with a message to talk about."""

    text: str = ""
    name: str = ""
    """What the document is called, for a text."""
    address: str = ""
    message: str = ""
    pipeline: str = ""
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    depth: str = ""
    profile: Mapping[str, Any] = Field(default_factory=dict)
    model: str = ""
    mode: Mode = "ask"
    kb: str = ""
    until: str = ""
    start: bool = True
    """Begin the run at once."""
    key: str = ""
    """Names this wish: the same one again begins nothing new."""


class Begun(Shape):
    session: str
    seq: int


class GivenCommand(Shape):
    """A command of the protocol, by its `type`; docs/reference/events.schema.json has them all."""

    command: Mapping[str, Any]
    key: str = ""


class AcceptedCommand(Shape):
    seq: int
    note: str = ""


class LogPage(Shape):
    records: tuple[Mapping[str, Any], ...]
    more: bool


class ArtifactName(Shape):
    name: str
    hash: str
    """Of the version that was last accepted."""


class ArtifactText(Shape):
    """What stands in an artifact's file now."""

    name: str
    accepted: str
    """The hash of the version that was last accepted."""
    edited: bool
    """Its file is another one: a person changed it."""
    text: str
    html: str
    """As it is to be read: markdown formatted, code with colours; nothing active in it."""


class TokenShown(Shape):
    id: str
    person: str
    title: str
    scopes: tuple[Scope, ...]
    created: str
    expires: str | None


class NewToken(Shape):
    title: str
    scopes: tuple[Scope, ...]
    days: int | None = None
    person: str = ""


class TokenMade(Shape):
    token: TokenShown
    secret: str
    """Told this once."""


class BrowserShown(Shape):
    id: str
    person: str
    agent: str
    created: str
    expires: str | None
    this: bool


Me.model_rebuild()
