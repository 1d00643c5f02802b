"""Steps that a connected model makes: the same pipeline, schema, checks and log as with code."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.made import Weft
from weft.app import App, SessionRequest
from weft.models.embedded_version import VERSION
from weft.models.model import ModelError
from weft.protocol.commands import StartRun
from weft.protocol.errors import UserError
from weft.protocol.events import Outcome
from weft.testing.scripted import ScriptedModel, Turn, says


@pytest.fixture
def scripted(weft: Weft) -> Weft:
    """The letters pipeline whose lister is a model, held to a schema and a check."""
    pipeline = weft.workspace / "pipelines/letters.yaml"
    text = pipeline.read_text().replace(
        "    agent: lister\n",
        "    agent: lister\n    schema: list.schema.json\n    checks:\n      - unique: {at: '[*]'}\n",
    )
    pipeline.write_text(text)
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    (weft.workspace / "schemas/list.schema.json").write_text(json.dumps(schema))
    (weft.workspace / "config.toml").write_text('model = "scripted"\n')
    return weft


def run(weft: Weft, model: ScriptedModel, source: Path) -> Outcome:
    async def go() -> Outcome:
        with App.open(weft.workspace, models={"scripted": model}) as app:
            async with app.session(SessionRequest(file=source, session="poem")) as session:
                return await session.run(StartRun())

    return asyncio.run(asyncio.wait_for(go(), 60))


def events(weft: Weft, kind: str) -> list[dict[str, Any]]:
    return [event for event in weft.log("poem") if event["type"] == kind and event["step"] == "list"]


def test_a_model_makes_the_artifact_and_its_tokens_are_in_the_log(scripted: Weft, source: Path) -> None:
    model = ScriptedModel([Turn(says('["barrow", "red"]'))])
    assert run(scripted, model, source) == "done"
    assert json.loads((scripted.session("poem") / "list.json").read_text()) == ["barrow", "red"]
    (request,) = model.requests
    assert "List every word once." in request.system
    told = str(request.messages)
    assert "so much depends upon" in told
    assert "count.json" in told
    assert "The content id is poem." in told
    (completed,) = events(scripted, "step_completed")
    assert completed["model"] == "scripted"
    assert completed["usage"]["output"] >= 1
    (started,) = events(scripted, "step_started")
    assert started["inputs"]["model"] == "scripted"


def test_schema_faults_go_back_within_an_attempt_and_check_faults_to_the_next(scripted: Weft, source: Path) -> None:
    model = ScriptedModel(
        [
            Turn(says('{"words": "barrow"}')),  # not a list
            Turn(says('["red", "red"]')),  # fits the schema, fails the check
            Turn(says('["red"]')),
        ]
    )
    assert run(scripted, model, source) == "done"
    (rejected,) = events(scripted, "artifact_rejected")
    assert "/1" in rejected["findings"][0]["at"]
    assert "Your last attempt was rejected" in str(model.requests[2].messages)
    assert json.loads((scripted.session("poem") / "list.json").read_text()) == ["red"]


def test_a_model_that_never_fits_is_a_clear_failure_and_nothing_invalid_stays(scripted: Weft, source: Path) -> None:
    model = ScriptedModel([Turn(says("I would rather not.")) for _ in range(6)])
    assert run(scripted, model, source) == "failed"
    assert len(events(scripted, "step_failed")) == 3
    assert not (scripted.session("poem") / "list.json").exists()


def test_an_error_is_retried_only_where_that_can_help(scripted: Weft, source: Path) -> None:
    refused = ModelError("auth", "the key is not valid", hint="weft models add")
    model = ScriptedModel([Turn(refused)])
    assert run(scripted, model, source) == "failed"
    (failed,) = events(scripted, "step_failed")
    assert "the key is not valid" in failed["message"]
    busy = ModelError("overloaded", "try later", retryable=True)
    assert run(scripted, ScriptedModel([Turn(busy), Turn(says('["red"]'))]), source) == "done"


def test_the_text_of_a_document_is_fenced_and_cut_to_the_window(scripted: Weft, source: Path) -> None:
    source.write_text("so much depends " + "upon a red wheel barrow " * 5_000 + "beside the white chickens\n")
    model = ScriptedModel([Turn(says('["red"]'))], window=8_000)
    assert run(scripted, model, source) == "done"
    told = "".join(getattr(part, "text", "") for message in model.requests[0].messages for part in message.content)
    assert told.startswith("<data-")
    assert "characters left out" in told
    assert "so much depends" in told
    assert "beside the white chickens" in told
    assert len(told) < 8_000 * 4


def test_another_model_makes_it_again_and_says_so(scripted: Weft, source: Path) -> None:
    assert run(scripted, ScriptedModel([Turn(says('["red"]'))]), source) == "done"
    (scripted.workspace / "config.toml").write_text("")
    plan = scripted("plan", "--session-id", "poem").out
    assert f"the model was changed (scripted -> embedded {VERSION})" in plan


def test_a_model_that_is_not_connected(scripted: Weft, source: Path) -> None:
    (scripted.workspace / "config.toml").write_text('model = "work/claude"\n')
    ran = scripted("run", source, "--session-id", "poem")
    assert ran.code == 1
    assert "there is no connection 'work'" in ran.err
    with App.open(scripted.workspace) as app, pytest.raises(UserError):
        app.step_models().open("nobody")
