"""What the API takes and gives of what sessions made, of the library, of knowledge and of settings: what is loaded
after the server has begun to answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from weft.app import PIECE_WORDS, TONES, VOICES
from weft.protocol.commands import Mode
from weft.protocol.events import ClaimVerdict
from weft.web.shapes import PlanShown, Shape, Who

SearchMode = Literal["words", "meaning", "both"]


class SheetShown(Shape):
    name: str
    rows: tuple[tuple[str, ...], ...]
    all_rows: int
    """How many there are; the last ones of a large sheet are left out."""


class BatchItem(Shape):
    """One file of a batch: the session it has or will have."""

    name: str
    session: str
    problem: str = ""
    """Why it could not be begun."""


class BatchShown(Shape):
    id: str
    pipeline: str
    state: Literal["working", "done", "failed"]
    items: tuple[BatchItem, ...]


# -- what a session made


class ArtifactName(Shape):
    name: str
    hash: str
    """Of the version that was last accepted."""
    step: str
    size: int | None
    """Of its file; null when that is missing."""
    edited: bool
    """Its file is another one: a person changed it."""


class ClaimVerdictShown(Shape):
    """A claim of a session, and what is known of it."""

    step: str
    """The one that gave the verdict."""
    claim: str
    """Its id there."""
    text: str
    verdict: ClaimVerdict
    was: ClaimVerdict
    """What the step itself says, when the verdict is a person's."""
    why: str
    by: str
    """The person, when the verdict is theirs."""


class ArtifactText(Shape):
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


class ArtifactVersionShown(Shape):
    hash: str
    seq: int
    at: str
    by: Who
    how: str
    """made, edited, adopted, or set aside: changed by a person when a new one took its place."""
    step: str
    attempt: int
    run: int
    size: int | None
    there: bool
    """Its bytes are still kept."""
    current: bool


class ArtifactDifference(Shape):
    before: str
    after: str
    html: str


class FrameAddress(Shape):
    address: str
    """Good for a few minutes; for a frame with `sandbox="allow-scripts"`."""


class FindingShown(Shape):
    artifact: str
    at: str
    message: str
    hint: str


class PlanAsk(Shape):
    """What would be wished for; `edits` are artifacts' texts that are not saved yet."""

    parameters: Mapping[str, Any] = Field(default_factory=dict)
    depth: str = ""
    force: tuple[str, ...] = ()
    start_from: str = ""
    until: str = ""
    accept: tuple[str, ...] = ()
    profile: Mapping[str, Any] = Field(default_factory=dict)
    edits: Mapping[str, str] = Field(default_factory=dict)


class PlanAnswer(PlanShown):
    findings: tuple[FindingShown, ...] = ()
    """What is wrong with the edits; the plan is as if they were kept when nothing is."""


class EditedText(Shape):
    text: str
    expected: str = Field(default="", alias="if")
    """The hash of what was changed: 409 when something else stands there now."""


class EditSaved(Shape):
    hash: str
    findings: tuple[FindingShown, ...]
    plan: PlanShown | None
    """What a run would do that keeps it; null when something is wrong with it."""


class StepShort(Shape):
    step: str
    status: str
    attempt: int
    artifacts: tuple[str, ...]
    ms: int | None
    problem: str
    requires: tuple[str, ...]
    executor: str
    reason: str
    """Why it was last begun or skipped."""
    usd: float | None
    tokens: int


class CallShown(Shape):
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


class ReplyGiven(Shape):
    gate: str
    text: Any


class RoundGiven(Shape):
    round: str
    feedback: Any


class ItemShown(Shape):
    ok: bool
    tries: int
    message: str


class AttemptShown(Shape):
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
    findings: tuple[FindingShown, ...]
    verdict: str
    ms: int | None
    model: str | None
    usage: Mapping[str, int]
    cost: float | None
    artifacts: Mapping[str, str]
    items: Mapping[str, ItemShown]
    """By item, how its last try ended."""
    calls: tuple[CallShown, ...]


class PromptShown(Shape):
    attempt: int
    call: str
    name: str
    hash: str
    dropped: tuple[str, ...]
    text: str | None = None
    """null when its copy is gone."""


class OutputShown(Shape):
    hash: str
    size: int
    file: str
    """What is to be known of its file: changed by hand, missing; empty when it is as recorded."""


class StepShown(Shape):
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


class BlobText(Shape):
    hash: str
    text: str


class DocumentShown(Shape):
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


class PlaceShown(Shape):
    start: int
    end: int
    before: str
    found: str
    after: str
    heading: str
    page: int | None
    seconds: float | None


# -- what pipelines are made of


class ProblemShown(Shape):
    file: str
    line: int
    column: int
    key: str
    message: str
    hint: str


class InputShown(Shape):
    name: str
    description: str
    optional: bool
    kind: str


class ParameterShown(Shape):
    name: str
    type: str
    default: Any
    description: str
    minimum: float | None
    maximum: float | None
    choices: tuple[Any, ...]
    asked: bool = False
    """Of a file: a person is asked for it at a gate, and there is none before."""
    good: str
    """Its good values, in words."""


class GateShown(Shape):
    message: str
    auto: bool
    when: str
    choices: tuple[Mapping[str, Any], ...]


class PipelineStep(Shape):
    name: str
    artifacts: tuple[str, ...]
    requires: tuple[str, ...]
    executor: str
    agent: str
    code: str
    tool: str
    model: str
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    schemas: Mapping[str, str]
    """By artifact, the file that has its schema."""
    checks: tuple[str, ...]
    gate: GateShown | None
    when: str
    budget: str
    final: bool
    attempts: int
    seconds: float


class UnitShown(Shape):
    """Steps that are made again together: a repair or a loop."""

    kind: str
    steps: tuple[str, ...]
    most: int | str
    when: str


class PipelineShort(Shape):
    name: str
    description: str
    version: str
    inputs: tuple[InputShown, ...]
    parameters: tuple[ParameterShown, ...]
    depths: Mapping[str, Mapping[str, Any]]
    steps: tuple[str, ...]
    budget: str
    """The most a run may take, in words; "" when nothing is said."""
    problems: tuple[ProblemShown, ...]
    default: bool


class PipelineDrawn(PipelineShort):
    """A pipeline that is known to be good, or its problems."""

    graph: tuple[PipelineStep, ...]
    units: tuple[UnitShown, ...]
    final: str
    warnings: tuple[ProblemShown, ...]


class PipelineRun(Shape):
    session: str
    title: str
    outcome: str
    at: str
    ms: int
    usd: float | None
    steps: Mapping[str, StepTook]


class StepTook(Shape):
    ms: int
    tokens: int
    usd: float | None
    attempts: int


class PipelineShown(PipelineDrawn):
    file: str
    hash: str
    yaml: str
    runs: tuple[PipelineRun, ...]


class GivenText(Shape):
    text: str
    expected: str = Field(default="", alias="if")
    """The hash of what was changed; empty for a new file."""


class NewFiles(Shape):
    files: tuple[str, ...]
    """Paths below the workspace."""


class TextSaved(Shape):
    hash: str
    problems: tuple[ProblemShown, ...]


class LibraryEntry(Shape):
    """An agent or a skill."""

    kind: str
    name: str
    description: str
    file: str
    hash: str
    text: str
    model: str
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    used_by: tuple[str, ...]
    problems: tuple[ProblemShown, ...]


# -- knowledge


class CollectionShown(Shape):
    name: str
    title: str
    counts: Mapping[str, int]
    """Of documents, passages, mentions, edges and vectors."""


class NewCollection(Shape):
    name: str = Field(max_length=64)
    title: str = Field(default="", max_length=200)
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class CollectionDocument(Shape):
    file: str
    key: str
    title: str
    tier: str
    kind: str
    pages: int
    passages: int
    notes: tuple[str, ...]


class CollectionDocuments(CollectionShown):
    documents: tuple[CollectionDocument, ...]


class JobShown(Shape):
    id: str
    about: str
    state: Literal["working", "done", "failed"]
    done: int
    total: int
    at: str
    notes: tuple[str, ...]


class Passage(Shape):
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


class PassagesFound(Shape):
    hits: tuple[PassageHit, ...]
    warnings: tuple[str, ...]


class PassageShown(Shape):
    passage: Passage
    related: tuple[Mapping[str, Any], ...]
    """What it refers to and what refers to it, each with its `relation`."""


class HopShown(Passage):
    score: float
    hops: int


class ClaimAsked(Shape):
    claim: str = Field(max_length=5000)
    passage: str = Field(max_length=200)


class ClaimsAsked(Shape):
    claims: tuple[ClaimAsked, ...] = Field(min_length=1, max_length=50)


class ResearchQuestion(Shape):
    question: str = Field(min_length=1, max_length=5000)
    pipeline: Literal["ask", "research"] = "ask"
    depth: str = "quick"
    follows: str = ""
    """The session whose answer this goes on from."""
    new: bool = False
    key: str = Field(default="", max_length=200)


# -- models and money


class ModelShown(Shape):
    model: str
    kind: str
    where: str
    default: bool


class AbilityShown(Shape):
    works: bool | None
    note: str


class ModelTested(Shape):
    model: str
    first_part: float | None
    """Seconds."""
    whole: float | None
    answers: AbilityShown
    streaming: AbilityShown
    tools: AbilityShown
    schema_: AbilityShown = Field(alias="schema")


class ModelName(Shape):
    model: str = Field(max_length=200)


class ModelExplained(Shape):
    lines: tuple[str, ...]


class CostLine(Shape):
    name: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    usd: float | None
    """What is known; the whole cost only when `unpriced` is 0; null when nothing is known."""
    saved: float
    """US dollars that providers' caches saved."""
    unpriced: int
    uncounted: int


class CostTable(Shape):
    by: str
    rows: tuple[CostLine, ...]
    total: CostLine
    troubles: tuple[str, ...]


# -- settings


class PackShown(Shape):
    name: str
    version: str
    description: str
    differences: Mapping[str, str]
    """By file of the workspace, how it differs from the pack's."""


class ProfileShown(Shape):
    profile: Mapping[str, Any]
    hash: str
    tones: tuple[str, ...] = TONES
    voices: tuple[str, ...] = VOICES
    least_words: int = PIECE_WORDS[0]
    most_words: int = PIECE_WORDS[1]


class ProfileGiven(Shape):
    profile: Mapping[str, Any]
    expected: str = Field(default="", alias="if")


class CallToJudge(Shape):
    tool: str = Field(default="Shell", max_length=100)
    subject: str = Field(max_length=20_000)
    """The command, address or path; or the whole input as a JSON object."""
    mode: Mode = "ask"
    tainted: bool = False


class CallJudged(Shape):
    decision: str
    reason: str
    rule: str
    file: str
    remember_key: str | None
    needs: tuple[str, ...]


class RuleShown(Shape):
    verb: str
    """allow, ask or deny."""
    rule: str
    place: str
    """File and line."""
    why: str
    when_tainted: bool
    """It holds once content from outside is there."""


class PermissionsShown(Shape):
    rules: tuple[RuleShown, ...]
    not_used: str
    """In words, what files allow that nobody agreed to; "" for nothing."""


class ToolShown(Shape):
    name: str
    effect: str
    description: str


class LeavingShown(Shape):
    files: tuple[str, ...]
    size: int
    persons: tuple[str, ...]
    paths: tuple[str, ...]
    addresses: tuple[str, ...]
    keys: tuple[str, ...]
    """What looks like a key, cut short."""


class NewShare(Shape):
    session: str
    days: int = Field(default=7, ge=1, le=365)
    key: str = Field(default="", max_length=200)
    """With it, it is made once, however often it is asked for."""


class ShareShown(Shape):
    id: str
    person: str
    session: str
    created: str
    expires: str | None


class ShareMade(Shape):
    share: ShareShown
    address: str
    """Told this once."""


# -- sources


class SourceRow(Shape):
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


class SourceGiven(Shape):
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


class SourceSignIn(Shape):
    secret: str = Field(default="", max_length=20_000)
    """Of a source that is let in by a secret; one by OAuth needs none."""


class SourceResource(Shape):
    """Something that a source has to read."""

    uri: str
    name: str
    description: str


class SessionSource(Shape):
    """Whether a session's conversation has a source's tools; None: as the source's own file says."""

    enabled: bool | None = None
    key: str = ""


class SourceToolShown(Shape):
    name: str
    description: str
    effect: str
    retryable: bool
    input_schema: dict[str, Any]


class SourceSwitch(Shape):
    enabled: bool


# -- schedules


class ScheduleEntryShown(Shape):
    """One line of a schedule's history."""

    at: str
    kind: str
    """seen, decided, skipped, begun, failed, paused, resumed or carried."""
    key: str
    cause: str
    """time, change, call or person."""
    due: str
    times: int
    session: str
    seq: int
    why: str


class ScheduleShown(Shape):
    """A schedule, when it comes next and what became of it last."""

    name: str
    description: str
    when: str
    paused: bool
    next: str
    last: ScheduleEntryShown | None
    problem: str


class ScheduleCall(Shape):
    key: str = Field(default="", max_length=200)
    """With it, it is begun once, however often it is asked for."""
    parameters: dict[str, Any] = Field(default={})
    """Of a call: those that the schedule's file lets a call set."""


# -- stats


class StatsLine(Shape):
    """A step in a period; a pipeline as a whole when `step` is ""."""

    pipeline: str
    step: str
    period: str
    model: str
    runs: int
    outcomes: Mapping[str, int]
    made: int
    first: int
    first_share: float | None
    """Of all that came to an end, the share that was made at the first attempt."""
    failed: int
    attempts: int
    reused: int
    repairs: int
    findings: Mapping[str, int]
    """By the check that found them."""
    ms: int | None
    """The middle one of the times."""
    calls: int
    tokens: int
    usd: float | None
    """What is known; it is the whole cost only when `unpriced` is 0."""
    unpriced: int
    claims: Mapping[str, int]


class StatsTable(Shape):
    over: str
    rows: tuple[StatsLine, ...]
    troubles: tuple[str, ...]


PipelineRun.model_rebuild()
PipelineShown.model_rebuild()
