"""The writing pipeline on a real small model: whatever it writes, there is a valid kit or a clear failure.

    python -m tests.models.small_model && pytest tests/e2e/test_small_model.py     # the model is fetched once

A model of 135 million parameters is asked in words, without a grammar that would hold it to the schema: this is as
untidy as answers get. Each goes through the reader, the schema, the findings that go back, and bounded attempts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.made import Weft
from tests.models import small_model
from weft.app import App, SessionRequest
from weft.models.local_gguf import LocalGguf
from weft.models.model import Part, Request
from weft.models.structured import Way
from weft.protocol.commands import StartRun
from weft.protocol.events import Outcome

WINDOW = 4096
MOST = 256
"""Tokens of an answer: enough to be wrong in every way, and few enough to wait for."""


class Untidy(LocalGguf):
    output_ways: tuple[Way, ...] = ("prompted",)

    def stream(self, request: Request) -> AsyncIterator[Part]:
        return super().stream(replace(request, max_tokens=MOST))


@pytest.fixture
def writing(tmp_path: Path) -> Weft:
    weft = Weft(tmp_path / "desk")
    assert weft("init").code == 0
    (weft.workspace / "config.toml").write_text('model = "small"\n')
    return weft


def run(weft: Weft, source: Path) -> Outcome:
    async def go() -> Outcome:
        model = Untidy(name="small", file=small_model.PLACE, window=WINDOW, threads=1)
        try:
            with App.open(weft.workspace, models={"small": model}) as app:
                ask = SessionRequest(pipeline="writing", file=source, session="tides")
                async with app.session(ask) as session:
                    return await session.run(StartRun())
        finally:
            await model.aclose()

    return asyncio.run(go())


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not small_model.is_there(), reason="no small model: python -m tests.models.small_model")
def test_a_valid_kit_or_a_clear_failure_and_never_an_invalid_kit(writing: Weft) -> None:
    source = Path(__file__).parents[2] / "examples" / "tides.md"
    outcome = run(writing, source)
    log: list[dict[str, Any]] = writing.log("tides")
    accepted = [event for event in log if event["type"] == "artifact_accepted"]
    for event in accepted:
        if event["artifact"].endswith(".json"):
            schema = json.loads((writing.workspace / "schemas" / _schema(event["artifact"])).read_text())
            jsonschema_rs.validator_for(schema).validate(json.loads(event["content"]))
    kit = writing.session("tides") / "writing-kit.json"
    assert kit.exists() == (outcome == "done")
    if outcome == "done":
        return
    failed = [event for event in log if event["type"] == "step_failed"]
    assert 1 <= len(failed) <= 9, "attempts are bounded"
    assert failed[-1]["retrying"] is False
    assert all(event["kind"] in ("rejected", "error") and event["message"] for event in failed)
    assert all(event["model"] == "small" for event in failed), "what it took is told although it came to nothing"
    found = [event for event in log if event["type"] == "artifact_rejected"]
    assert all(finding["message"] for event in found for finding in event["findings"])
    ended = next(event for event in log if event["type"] == "run_ended")
    assert ended["outcome"] == "failed"
    assert failed[-1]["step"] in ended["message"]
    assert writing("sessions", "verify", "tides").code == 0


def _schema(artifact: str) -> str:
    return artifact.replace(".json", ".schema.json")
