"""Runs, steps and calls as spans and metrics, in a collector in memory. Nothing of what was said is in them."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from weft.app import App, SessionRequest
from weft.app.sessions.telemetry import Telemetry
from weft.protocol.commands import GivenFile, StartRun
from weft.testing.scripted import ScriptedModel, Turn, says

pytestmark = pytest.mark.process

PIPELINE = """\
name: letter
description: A letter.
steps:
  draft: {artifact: draft.json, agent: writer, schema: draft.json, attempts: 2}
  count: {artifact: count.json, code: "letter.py:count", requires: [draft], final: true}
"""


def ran(workspace: Path, replies: list[str]) -> tuple[dict[str, ReadableSpan], dict[str, Any]]:
    for folder in ("pipelines", "code", "schemas", ".claude/agents"):
        (workspace / folder).mkdir(parents=True)
    (workspace / "pipelines/letter.yaml").write_text(PIPELINE)
    (workspace / "schemas/draft.json").write_text('{"type": "object", "required": ["text"]}')
    (workspace / "code/letter.py").write_text("def count(step):\n    return {'words': 2}\n")
    front = "---\nname: writer\ndescription: Writes.\nmodel: desk/big\n---\nWrite to Ada.\n"
    (workspace / ".claude/agents/writer.md").write_text(front)
    spans, reader, traces = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    meters = MeterProvider([reader])
    model = ScriptedModel([Turn(says(text)) for text in replies], name="desk/big")

    async def go() -> None:
        with App.open(workspace, models={"desk/big": model}) as app:
            app.__dict__["telemetry"] = Telemetry(
                traces.get_tracer("t"), meters.get_meter("t"), lambda _, usage: Decimal(usage.get("input", 0))
            )
            async with app.session(
                SessionRequest(session="one", file=GivenFile(b"To Ada: the secret plan", "/a.md"))
            ) as opened:
                await opened.run(StartRun())

    asyncio.run(go())
    found = reader.get_metrics_data()
    assert found is not None
    metrics = {m.name: m.data.data_points for r in found.resource_metrics for s in r.scope_metrics for m in s.metrics}
    meters.shutdown()
    told = str([(span.name, dict(span.attributes or {})) for span in spans.get_finished_spans()])
    assert "secret plan" not in told
    assert "Dear" not in told
    return {f"{number} {span.name}": span for number, span in enumerate(spans.get_finished_spans())}, metrics


def test_a_run_its_steps_and_calls_are_one_trace_with_what_they_cost(workspace: Path) -> None:
    spans, metrics = ran(workspace, ['{"nothing": 1}', '{"text": "Dear Ada"}'])
    names = [name.split(" ", 1)[1] for name in spans]
    assert names[-1] == "run letter"
    assert names.count("chat big") == 2
    assert "step draft" in names
    assert "step count" in names
    run = next(span for name, span in spans.items() if name.endswith("run letter"))
    assert run.context is not None
    assert {span.context.trace_id for span in spans.values() if span.context} == {run.context.trace_id}
    assert dict(run.attributes or {}) == {
        "weft.session": "one",
        "weft.pipeline": "letter",
        "weft.run": 1,
        "weft.outcome": "done",
    }
    by_id = {span.context.span_id: span for span in spans.values() if span.context}
    call = next(span for name, span in spans.items() if name.endswith("chat big"))
    assert call.parent is not None
    assert by_id[call.parent.span_id].name == "step draft"
    about = dict(call.attributes or {})
    assert (about["gen_ai.operation.name"], about["gen_ai.provider.name"], about["gen_ai.request.model"]) == (
        "chat",
        "desk",
        "big",
    )
    assert about["weft.cost.usd"] == about["gen_ai.usage.input_tokens"]
    assert call.start_time is not None
    assert call.end_time is not None
    assert call.start_time <= call.end_time
    (runs,) = metrics["weft.runs"]
    assert runs.value == 1
    assert {point.attributes["gen_ai.token.type"] for point in metrics["gen_ai.client.token.usage"]} == {
        "input",
        "output",
    }
    assert sum(point.count for point in metrics["gen_ai.client.operation.duration"]) == 2


def test_it_is_off_unless_it_is_wanted(workspace: Path) -> None:
    with App.open(workspace) as app:
        assert app.telemetry is None
