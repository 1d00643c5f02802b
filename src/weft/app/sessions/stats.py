"""What came of the steps of each pipeline over many runs, read off the logs: how often made, at the first try or not,
what was wrong, repairs, time, cost, and what verdicts said of claims. A fold; nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import date, datetime, tzinfo
from decimal import Decimal
from statistics import median
from typing import Any, Final, Literal

from weft.app.sessions.spending import day_of, is_within
from weft.models.spending import CallReader, Price
from weft.protocol import events as e
from weft.protocol.values import dataclass
from weft.session.sessions import Sessions

Over = Literal["all", "day", "week", "month"]
PERIODS: Final[tuple[Over, ...]] = ("all", "day", "week", "month")
WHOLE: Final = ""
"""In place of a step: the pipeline as a whole."""
UNNAMED: Final = "other"
"""Findings of logs that do not say which check they are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsAsk:
    pipelines: tuple[str, ...] = ()
    over: Over = "all"
    since: date | None = None
    until: date | None = None
    by_model: bool = False
    zone: tzinfo | None = None
    """Says when a day begins; None is the machine's own."""


@dataclass(slots=True)
class StepStats:
    """Of one step in one period; of a pipeline as a whole when `step` is ""."""

    pipeline: str
    step: str
    period: str = ""
    model: str = ""
    runs: int = 0
    """In which it was begun; of a pipeline, all."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Of a pipeline: how its runs came to rest."""
    made: int = 0
    first: int = 0
    """Made at the first attempt."""
    failed: int = 0
    attempts: int = 0
    reused: int = 0
    """Up to date, so that nothing was done."""
    repairs: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    """By the check that found them."""
    times: list[int] = field(default_factory=list)
    """Milliseconds of each attempt that was completed."""
    calls: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0
    claims: dict[str, int] = field(default_factory=dict)
    """How many were quoted, judged, contradicted, not checked."""

    @property
    def first_share(self) -> float | None:
        """Of all that came to an end, the share that was made at the first attempt."""
        ended = self.made + self.failed
        return self.first / ended if ended else None

    @property
    def ms(self) -> int | None:
        return round(median(self.times)) if self.times else None

    def told(self) -> dict[str, Any]:
        """For programs. `usd` is what is known, null when nothing is."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name not in ("times", "usd")}
        share = self.first_share
        usd = float(self.usd) if self.usd or not self.unpriced else None
        return {**plain, "first_share": None if share is None else round(share, 4), "ms": self.ms, "usd": usd}


@dataclass(frozen=True, slots=True)
class Stats:
    rows: tuple[StepStats, ...]
    troubles: tuple[str, ...] = ()
    """Logs that could not be read, and so are not counted."""


def stats(sessions: Sessions, price: Price, ask: StatsAsk) -> Stats:
    """A log that can't be read is told and passed over."""
    gathered = _Gathering(ask, price)
    troubles = sessions.read_each(lambda _, records: gathered.take(list(records)))  # all of a log, or nothing of it
    rows = sorted(gathered.rows.values(), key=lambda row: (row.pipeline, row.period, row.step != WHOLE))
    return Stats(tuple(rows), tuple(troubles))


@dataclass(slots=True)
class _Gathering:
    ask: StatsAsk
    price: Price
    rows: dict[tuple[str, str, str, str], StepStats] = field(default_factory=dict)

    def take(self, records: Iterable[e.Record]) -> None:
        """One session."""
        log, calls = _OneLog(self), CallReader()
        for record in records:
            inherited = record.seq <= log.inherited
            if record.envelope is not None and record.envelope.parent is not None:
                log.inherited = record.envelope.parent.seq
            for call in calls.take(record):
                if call.step and (row := self.row(record.at, call.pipeline, call.step, call.model)):
                    cost = self.price(call).amount
                    row.calls += call.calls
                    row.tokens += (call.usage.input or 0) + (call.usage.output or 0)
                    row.usd += cost or 0
                    row.unpriced += call.calls if cost is None else 0
            if not inherited:
                log.take(record)

    def row(self, at: str, pipeline: str, step: str, model: str = "") -> StepStats | None:
        """The row that something counts in; None when it is not asked for."""
        day = day_of(at, self.ask.zone)
        asked_for = not self.ask.pipelines or pipeline in self.ask.pipelines
        if not asked_for or not is_within(day, self.ask.since, self.ask.until):
            return None
        period = _period(day, self.ask.over)
        shown = model if self.ask.by_model else ""
        key = (pipeline, step, period, shown)
        if key not in self.rows:
            self.rows[key] = StepStats(pipeline, step, period, shown)
        return self.rows[key]


def _period(day: date | None, over: Over) -> str:
    if over == "all":
        return ""
    if day is None:
        return "unknown"
    match over:
        case "day":
            return day.isoformat()
        case "week":
            return datetime.combine(day, datetime.min.time()).strftime("%G-W%V")
        case "month":
            return day.strftime("%Y-%m")


@dataclass(slots=True)
class _OneLog:
    """What has to be remembered while one log is read."""

    gathering: _Gathering
    inherited: int = 0
    """Of a fork: the last event that it has from its parent, whose log tells it."""
    pipeline: str = ""
    models: dict[str, str] = field(default_factory=dict)
    retried: dict[str, bool] = field(default_factory=dict)
    """By step: what is being made did not come at the first attempt."""
    seen: set[tuple[int, str]] = field(default_factory=set)
    """The runs in which a step was begun."""
    places: tuple[str, ...] = ()
    """The steps that are a pipeline for each item, the innermost first: their items are counted together."""

    def take(self, record: e.Record) -> None:
        event = record.event
        match event:
            case e.RunStarted() | e.RunEnded():
                self._ran(record.at, event)
            case e.StepsUnfolded():
                self._unfolded(event.executors)
            case e.StepStarted():
                self._started(record.at, event)
            case e.StepCompleted() | e.StepFailed():
                self._settled(record.at, event)
            case e.StepSkipped() | e.ArtifactRejected() | e.VerdictGiven():
                if row := self._row(record.at, event.step):
                    _judged(row, event)
            case e.RoundStarted() if event.kind == "repair":
                if row := self._row(record.at, event.unit):
                    row.repairs += 1
            case _:
                pass

    def _ran(self, at: str, event: e.RunStarted | e.RunEnded) -> None:
        if isinstance(event, e.RunStarted):
            self.pipeline, self.places = event.pipeline, ()
            self._unfolded(event.executors)
        row = self._row(at, WHOLE)
        if row is not None and isinstance(event, e.RunEnded):
            _count(row.outcomes, event.outcome)
        elif row is not None and isinstance(event, e.RunStarted):
            row.runs += not event.resumed

    def _unfolded(self, executors: Mapping[str, str]) -> None:
        found = {*self.places, *(name for name, how in executors.items() if how == "pipeline")}
        self.places = tuple(sorted(found, key=len, reverse=True))

    def _started(self, at: str, event: e.StepStarted) -> None:
        model = event.inputs.get("model", "").partition(" ")[0]
        self.models[event.step] = model
        if event.cause not in ("retry", "resume"):
            self.retried[event.step] = False
        if row := self._row(at, event.step):
            row.attempts += event.cause != "resume"
            row.runs += (event.run, event.step) not in self.seen
            self.seen.add((event.run, event.step))

    def _settled(self, at: str, event: e.StepCompleted | e.StepFailed) -> None:
        if event.model:
            self.models[event.step] = event.model
        row = self._row(at, event.step)
        first = not self.retried.get(event.step, False)
        if isinstance(event, e.StepFailed):
            self.retried[event.step] = True
            if row is not None and not event.retrying:
                row.failed += 1
            return
        self.retried[event.step] = False
        if row is not None and event.reused:
            row.reused += 1
        elif row is not None:
            row.made += 1
            row.first += first
            row.times.append(event.ms)

    def _row(self, at: str, step: str) -> StepStats | None:
        shown = step
        for place in self.places:
            if shown.startswith(f"{place}."):
                shown = place + shown[len(place) + 1 + len(shown[len(place) + 1 :].partition(".")[0]) :]
        return self.gathering.row(at, self.pipeline, shown, self.models.get(step, ""))


def _judged(row: StepStats, event: e.StepSkipped | e.ArtifactRejected | e.VerdictGiven) -> None:
    match event:
        case e.StepSkipped():
            row.reused += 1
        case e.ArtifactRejected():
            for finding in event.findings:
                _count(row.findings, finding.kind or UNNAMED)
        case e.VerdictGiven():
            for state, number in event.claims.items():
                _count(row.claims, state, number)


def _count(counts: dict[str, int], name: str, number: int = 1) -> None:
    counts[name] = counts.get(name, 0) + number
