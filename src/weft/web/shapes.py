"""What the API takes and gives of the server itself and of sessions; what else it takes and gives stands with its
routes. The OpenAPI document and the page's types are made from both."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from weft.app import Estimate, LabelEntry, Role, Scope, StatusEntry
from weft.protocol.commands import Mode
from weft.protocol.plans import PlanLine

Order = Literal["updated", "created", "title", "cost"]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, value: object, **besides: Any) -> Self:
        """What a value of ours has under the names of the shape, and what is to be said besides."""
        own = {name: getattr(value, name) for name in cls.model_fields if name not in besides}
        return cls(**own, **besides)


Moment = Annotated[str, BeforeValidator(lambda at: at.isoformat() if isinstance(at, datetime) else at)]


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
    questions: tuple[Mapping[str, Any], ...] = ()
    """What tools ask now; it is in no log."""


class SessionChange(Shape):
    """What a person says of a session; what is not set stays as it is."""

    title: str | None = Field(default=None, max_length=200)
    """Empty for the one it has by itself."""
    status: str | None = None
    labels: Mapping[str, str | None] | None = None
    """Put on with a value ("" for none), or taken off with null."""
    flag: bool | None = None
    archived: bool | None = None
    note: str | None = Field(default=None, max_length=20_000)
    unread: bool | None = None
    seen: int | None = Field(default=None, ge=0)
    """The last event that was looked at; what comes after it is unread."""
    key: str = Field(default="", max_length=200)


class Marks(Shape):
    statuses: tuple[StatusEntry, ...]
    labels: tuple[LabelEntry, ...] | None
    """null when any label is fine."""


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


class ForkAsked(Shape):
    at: int | None = Field(default=None, ge=1)
    """The last event that both share; None for all there are."""
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


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


class LogRecord(Shape):
    """A durable event with its place in the log, and what its decision says of itself: who led to it."""

    seq: int
    at: str
    event: Mapping[str, Any]
    envelope: Mapping[str, Any] | None = None


class LogPage(Shape):
    records: tuple[LogRecord, ...]
    more: bool


class EarlierTurns(Shape):
    begins: int
    """With this event; 0 when there are no earlier ones."""
    records: tuple[LogRecord, ...]


class PlanShown(Shape):
    session: str
    pipeline: str
    lines: tuple[PlanLine, ...]
    notes: tuple[str, ...]


class NewPlan(PlanShown):
    estimate: Estimate


class WaitingSession(Shape):
    """What a session waits for, with all that is needed to answer it."""

    session: SessionEntry
    gates: tuple[Mapping[str, Any], ...]
    approvals: tuple[Mapping[str, Any], ...]
    confirmation: Mapping[str, Any] | None
    plan: Mapping[str, Any] | None
    """What a model would do, once a person says so."""
    questions: tuple[Mapping[str, Any], ...]


class TextToRender(Shape):
    kind: Literal["markdown", "code", "diff"] = "markdown"
    text: str = Field(max_length=400_000)
    language: str = Field(default="", max_length=40)
    before: str = Field(default="", max_length=400_000)
    """For a diff: what `text` was before; without it, `text` is itself a diff."""


class RenderAsk(Shape):
    texts: tuple[TextToRender, ...] = Field(max_length=200)


class RenderedTexts(Shape):
    html: tuple[str, ...]


class TokenShown(Shape):
    id: str
    person: str
    title: str
    scopes: tuple[Scope, ...]
    created: Moment
    expires: Moment | None


class NewToken(Shape):
    title: str
    scopes: tuple[Scope, ...]
    days: int | None = None
    person: str = ""
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class TokenMade(Shape):
    token: TokenShown
    secret: str
    """Told this once."""


class BrowserShown(Shape):
    id: str
    person: str
    agent: str
    created: Moment
    expires: Moment | None
    this: bool


Me.model_rebuild()
