"""Runs, steps and calls as OpenTelemetry spans and metrics: one more projection of the log, off by default.

    run {pipeline}  >  step {step}  >  chat {model}      with the GenAI conventions' names, and what it cost

Names and numbers alone leave: no prompt, no answer, no title. Where to is the surroundings' business (the usual OTEL_*
variables); whether at all, `telemetry = true` in config.toml. It needs the extra `weft[otel]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from weft.models.spending import moment
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled
from weft.protocol.errors import UserError
from weft.protocol.values import dataclass
from weft.version import __version__

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Span, Tracer

NAME: Final = "weft"
Price = Callable[[str, Mapping[str, int]], Decimal | None]


@dataclass(slots=True)
class _Open:
    """The spans of one session that have begun and not ended."""

    run: Span | None = None
    steps: dict[str, Span] = field(default_factory=dict)


class Telemetry:
    def __init__(self, tracer: Tracer, meter: Meter, price: Price, close: Callable[[], object] = lambda: None) -> None:
        self._tracer = tracer
        self._price = price
        self._close = close
        self._open: dict[str, _Open] = {}
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens read and written")
        self._seconds = meter.create_histogram("gen_ai.client.operation.duration", "s", "How long a call took")
        self._cost = meter.create_counter("weft.cost", "{USD}", "What calls of models cost, as far as prices are known")
        self._runs = meter.create_counter("weft.runs", "{run}", "Runs that came to rest, by outcome")

    def close(self) -> None:
        """What is not sent yet is."""
        self._close()

    def take(self, session: str, records: Sequence[e.Record]) -> None:
        """In the log's order. A session that is opened again begins with the spans of what it does from then on."""
        spans = self._open.setdefault(session, _Open())
        for record in records:
            self._take(session, spans, record)

    def _take(self, session: str, spans: _Open, record: e.Record) -> None:
        event, at = record.event, _nanoseconds(record.at)
        match event:
            case e.RunStarted():
                self._end_all(spans, at)
                about: dict[str, Any] = {
                    "weft.session": session,
                    "weft.pipeline": event.pipeline,
                    "weft.run": event.run,
                }
                spans.run = self._tracer.start_span(f"run {event.pipeline}", start_time=at, attributes=about)
            case e.RunEnded():
                if spans.run is not None:
                    spans.run.set_attribute("weft.outcome", event.outcome)
                    self._failed(spans.run, event.outcome == "failed", event.outcome)
                self._end_all(spans, at)
                self._runs.add(1, {"weft.outcome": event.outcome})
            case e.StepStarted():
                about = {"weft.step": event.step, "weft.attempt": event.attempt, "weft.cause": event.cause}
                spans.steps[event.step] = self._tracer.start_span(
                    f"step {event.step}", self._below(spans.run), start_time=at, attributes=about
                )
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                self._step_ended(spans, event, at)
            case CallSettled() | t.ModelSettled():
                self._called(spans, event, at)
            case _:
                pass

    def _step_ended(self, spans: _Open, event: e.StepCompleted | e.StepFailed | e.StepInterrupted, at: int) -> None:
        span = spans.steps.pop(event.step, None)
        if span is None:
            return
        costs = [self._price(model, usage) for model, usage in _by_model(event).items()]
        if costs and None not in costs:
            span.set_attribute("weft.cost.usd", float(sum(cost for cost in costs if cost is not None)))
        if isinstance(event, e.StepFailed):
            self._failed(span, True, event.kind)
        if isinstance(event, e.StepCompleted) and event.reused:
            span.set_attribute("weft.reused", event.reused)
        span.end(at)

    def _called(self, spans: _Open, event: CallSettled | t.ModelSettled, at: int) -> None:
        is_model = isinstance(event, t.ModelSettled) or event.kind == "model"
        place = t.step_place(event.conversation) if isinstance(event, t.ModelSettled) else None
        step = event.step if isinstance(event, CallSettled) else place.step if place else ""
        name = (event.model or "unknown") if is_model else f"{event.name}" if isinstance(event, CallSettled) else ""
        connection, _, model = name.partition("/")
        about: dict[str, Any] = {"gen_ai.operation.name": "chat" if is_model else "execute_tool"}
        if is_model:
            about |= {"gen_ai.provider.name": connection, "gen_ai.request.model": model or connection}
            about |= {
                f"gen_ai.usage.{kind}_tokens": event.usage[kind] for kind in ("input", "output") if kind in event.usage
            }
        else:
            about["gen_ai.tool.name"] = name
        cost = self._price(name, event.usage) if is_model and event.usage else None
        if cost is not None:
            about["weft.cost.usd"] = float(cost)
        parent = spans.steps.get(step) or spans.run
        span = self._tracer.start_span(
            f"{about['gen_ai.operation.name']} {model or name}",
            self._below(parent),
            start_time=at - event.ms * 1_000_000,
            attributes=about,
        )
        failed = not event.ok if isinstance(event, CallSettled) else event.outcome == "failed"
        self._failed(span, failed, "failed")
        span.end(at)
        if is_model:
            self._count(about, event.usage, event.ms, cost)

    def _count(self, about: Mapping[str, Any], usage: Mapping[str, int], ms: int, cost: Decimal | None) -> None:
        named = {key: value for key, value in about.items() if not key.startswith(("gen_ai.usage", "weft."))}
        for kind in ("input", "output"):
            if kind in usage:
                self._tokens.record(usage[kind], {**named, "gen_ai.token.type": kind})
        self._seconds.record(ms / 1000, named)
        if cost is not None:
            self._cost.add(float(cost), named)

    def _below(self, parent: Span | None) -> Any:
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(parent) if parent is not None else None

    def _failed(self, span: Span, failed: bool, why: str) -> None:
        if failed:
            from opentelemetry.trace import Status, StatusCode

            span.set_status(Status(StatusCode.ERROR))
            span.set_attribute("error.type", why)

    def _end_all(self, spans: _Open, at: int) -> None:
        for span in [*spans.steps.values(), *([spans.run] if spans.run else [])]:
            span.end(at)
        spans.steps.clear()
        spans.run = None


def exporting(price: Price) -> Telemetry:
    """To where the surroundings say (OTEL_EXPORTER_OTLP_ENDPOINT …). UserError when the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise UserError(
            "config.toml says telemetry, and OpenTelemetry is not installed",
            hint="pip install 'weft[otel]', or take it out of config.toml",
        ) from error
    about = Resource.create({"service.name": NAME, "service.version": __version__})
    traces = TracerProvider(resource=about)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    metrics = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource=about)

    def close() -> None:
        traces.shutdown()
        metrics.shutdown()

    return Telemetry(traces.get_tracer(NAME, __version__), metrics.get_meter(NAME, __version__), price, close)


def _by_model(event: e.StepCompleted | e.StepFailed | e.StepInterrupted) -> Mapping[str, Mapping[str, int]]:
    if event.by_model:
        return event.by_model
    return {event.model: event.usage} if event.model else {}


def _nanoseconds(at: str) -> int:
    found = moment(at) or datetime.fromtimestamp(0)
    return int(found.timestamp() * 1_000_000) * 1000
