"""Models and what they cost, packs, the profile, and what permission rules say to a call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from weft.app import (
    PIECE_WORDS,
    TONES,
    VOICES,
    Ability,
    ModelRow,
    ModelSettings,
    Spent,
    judge_call,
    lay,
    pack_differences,
    read_profile_file,
    shipped_packs,
    tools_listed,
    write_profile_file,
)
from weft.app.sessions.spending import By, SpendingAsk, spending
from weft.app.sessions.stats import Over, StatsAsk, stats
from weft.protocol.commands import Mode
from weft.web import shapes as s
from weft.web.asking import Administers, At, Looks
from weft.web.place import ServedWorkspace

settings_routes = APIRouter(prefix="/api/w/{workspace}")


# -- models


class RoleShown(s.Shape):
    role: str
    model: str
    """Empty where none is chosen: what asks for the role is refused."""


class ModelTested(s.Shape):
    model: str
    first_part: float | None
    """Seconds."""
    whole: float | None
    answers: Ability
    streaming: Ability
    tools: Ability
    schema_: Ability = Field(alias="schema")


class ModelName(s.Shape):
    model: str = Field(max_length=200)


class ModelExplained(s.Shape):
    lines: tuple[str, ...]


class CostLine(s.Shape):
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


class CostTable(s.Shape):
    by: str
    rows: tuple[CostLine, ...]
    total: CostLine
    troubles: tuple[str, ...]


class PackShown(s.Shape):
    name: str
    version: str
    description: str
    differences: Mapping[str, str]
    """By file of the workspace, how it differs from the pack's."""


class ProfileShown(s.Shape):
    profile: Mapping[str, Any]
    hash: str
    tones: tuple[str, ...] = TONES
    voices: tuple[str, ...] = VOICES
    least_words: int = PIECE_WORDS[0]
    most_words: int = PIECE_WORDS[1]


class ProfileGiven(s.Shape):
    profile: Mapping[str, Any]
    expected: str = Field(default="", alias="if")


class CallToJudge(s.Shape):
    tool: str = Field(default="Shell", max_length=100)
    subject: str = Field(max_length=20_000)
    """The command, address or path; or the whole input as a JSON object."""
    mode: Mode = "ask"
    tainted: bool = False


class CallJudged(s.Shape):
    decision: str
    reason: str
    rule: str
    file: str
    remember_key: str | None
    needs: tuple[str, ...]


class RuleShown(s.Shape):
    verb: str
    """allow, ask or deny."""
    rule: str
    place: str
    """File and line."""
    why: str
    when_tainted: bool
    """It holds once content from outside is there."""


class PermissionsShown(s.Shape):
    rules: tuple[RuleShown, ...]
    not_used: str
    """In words, what files allow that nobody agreed to; "" for nothing."""


class ToolShown(s.Shape):
    name: str
    effect: str
    description: str


class StatsLine(s.Shape):
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


class StatsTable(s.Shape):
    over: str
    rows: tuple[StatsLine, ...]
    troubles: tuple[str, ...]


@settings_routes.get("/models")
async def list_models(place: At, who: Looks) -> tuple[ModelRow, ...]:
    return tuple(await place.app.off_loop(lambda: _models(place).rows()))


@settings_routes.post("/models/test")
async def try_model(asked: ModelName, place: At, who: Administers) -> ModelTested:
    """Really calls it: does it answer, how fast, does it stream, call tools, keep to a schema?"""
    chosen = await place.app.off_loop(lambda: _models(place).chosen(asked.model or None))
    if chosen.is_embedded:
        always = Ability(works=True, note="built in: no key, no network")
        none = Ability(works=None, note="not asked")
        return ModelTested(
            model="embedded", first_part=None, whole=None, answers=always, streaming=none, tools=none, schema=none
        )
    found = await chosen.probe()
    shown = ("model", "first_part", "whole", "answers", "streaming", "tools", "schema")
    return ModelTested(**{name: getattr(found, name) for name in shown})


@settings_routes.put("/models/default")
async def choose_model(asked: ModelName, place: At, who: Administers) -> ModelName:
    """The workspace's default from now on."""
    reference = await place.app.off_loop(lambda: _models(place).set_default(asked.model))
    return ModelName(model=reference)


@settings_routes.get("/models/roles")
async def list_roles(place: At, who: Looks) -> tuple[RoleShown, ...]:
    """What may be named in place of a model, and which model it stands for."""
    found = await place.app.off_loop(lambda: _models(place).roles())
    return tuple(RoleShown(role=role, model=model) for role, model in found.items())


@settings_routes.put("/models/roles/{role}")
async def choose_role(role: str, asked: ModelName, place: At, who: Administers) -> RoleShown:
    """The model that it stands for from now on; "" for none."""
    model = await place.app.off_loop(lambda: _models(place).set_role(role, asked.model))
    return RoleShown(role=role, model=model)


@settings_routes.get("/models/explain")
async def explain_model(place: At, who: Looks, session: str = "", step: str = "", agent: str = "") -> ModelExplained:
    """Which model is meant, and why."""

    def told() -> list[str]:
        return _models(place).explain(session=session or None, step=step or None, agent=agent or None)

    return ModelExplained(lines=tuple(await place.app.off_loop(told)))


def _models(place: ServedWorkspace) -> ModelSettings:
    return ModelSettings(place.app.workspace.path, place.app.surroundings, None, place.app.consents)


# -- costs


@settings_routes.get("/costs")
async def show_costs(
    place: At,
    who: Looks,
    by: By = "day",
    days: Annotated[int | None, Query(ge=1, le=36_500, description="Only the last so many.")] = None,
    session: Annotated[list[str] | None, Query()] = None,
) -> CostTable:
    """What models took and cost. What is not known is said and never counted as nothing."""
    since = date.today() - timedelta(days=days - 1) if days else None
    ask = SpendingAsk(sessions=tuple(session or ()), by=by, since=since)
    found = await place.app.off_loop(lambda: spending(place.app.sessions, place.app.models().price, ask))
    rows = tuple(_cost(name, one) for name, one in found.groups.items())
    return CostTable(by=by, rows=rows, total=_cost("total", found.total), troubles=found.troubles)


def _cost(name: str, one: Spent) -> CostLine:
    usd = float(one.usd) if one.usd or not one.unpriced else None
    return CostLine.of(one, name=name, saved=float(one.saved), usd=usd)


@settings_routes.get("/stats")
async def show_stats(
    place: At,
    who: Looks,
    over: Over = "all",
    by_model: bool = False,
    days: Annotated[int | None, Query(ge=1, le=36_500, description="Only the last so many.")] = None,
    pipeline: Annotated[list[str] | None, Query()] = None,
) -> StatsTable:
    """What came of every step over many runs; a row with no step is its pipeline as a whole."""
    since = date.today() - timedelta(days=days - 1) if days else None
    ask = StatsAsk(pipelines=tuple(pipeline or ()), over=over, by_model=by_model, since=since)
    found = await place.app.off_loop(lambda: stats(place.app.sessions, place.app.models().price, ask))
    return StatsTable(over=over, rows=tuple(StatsLine(**row.told()) for row in found.rows), troubles=found.troubles)


# -- packs, profile, permissions


@settings_routes.get("/packs")
async def list_packs(place: At, who: Looks) -> tuple[PackShown, ...]:
    """The packs that come with Weft, and how the workspace's files differ from them."""

    def read() -> tuple[PackShown, ...]:
        path = place.app.workspace.path
        return tuple(
            PackShown.of(pack, differences={one.path: one.state for one in pack_differences(pack.name, path)})
            for pack in shipped_packs()
        )

    return await place.app.off_loop(read)


@settings_routes.post("/packs/{name}")
async def lay_pack(name: str, place: At, who: Administers) -> dict[str, str]:
    """Lay a pack into the workspace; what a person changed is kept. By file, what was done."""
    if name not in {pack.name for pack in shipped_packs()}:
        name = Path(name).name or "nosuch"
    _, laid = await place.app.off_loop(lambda: lay(name, place.app.workspace.path, place.app.consents))
    return {one.path: one.action for one in laid}


@settings_routes.get("/profile")
async def show_profile(place: At, who: Looks) -> ProfileShown:
    value, digest = await place.app.off_loop(lambda: read_profile_file(place.app.workspace))
    return ProfileShown(profile=value, hash=digest)


@settings_routes.put("/profile")
async def save_profile(given: ProfileGiven, place: At, who: Administers) -> ProfileShown:
    """The whole of it; 409 when it was changed meanwhile. The next run makes again what depends on it."""
    workspace = place.app.workspace
    value, digest = await place.app.off_loop(lambda: write_profile_file(workspace, given.profile, given.expected))
    return ProfileShown(profile=value, hash=digest)


@settings_routes.get("/permissions")
async def list_permissions(place: At, who: Looks) -> PermissionsShown:
    """The rules that hold, of the app, the workspace and every source, each with its place; and what files allow that
    nobody agreed to."""

    def read() -> PermissionsShown:
        return PermissionsShown(
            rules=tuple(RuleShown.of(one, rule=str(one)) for one in place.app.rules().rules),
            not_used=place.app.rules_not_used(),
        )

    return await place.app.off_loop(read)


@settings_routes.post("/permissions/judge")
async def judge_a_call(asked: CallToJudge, place: At, who: Looks) -> CallJudged:
    """What would this call get, and by which rule? Nothing is run."""
    path = place.app.workspace.path
    found = await place.app.off_loop(
        lambda: judge_call(path, asked.tool, asked.subject, asked.mode, tainted=asked.tainted)
    )
    return CallJudged.of(found, needs=tuple(sorted(found.needs)))


@settings_routes.get("/tools")
async def list_tools(place: At, who: Looks) -> tuple[ToolShown, ...]:
    """Every tool exactly as a model is told of it."""
    listed = await place.app.off_loop(lambda: tools_listed(place.app.workspace.path))
    return tuple(
        ToolShown(name=str(one["name"]), effect=str(one["effect"]), description=str(one["description"]))
        for one in listed
    )
