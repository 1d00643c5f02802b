"""A step that a connected model makes: one focused call with shaped context, its answer held to the artifact's schema.

The prompt has each thing the step reads under its own name (`step_prompt`); what had to be left out of it is said and
kept with the call. Schema faults go back to the model inside the attempt; the checks judge afterwards, as they judge
code. Each ask is a call of the attempt, so that what it used is known whatever comes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.models.answer import gather
from weft.models.model import Model
from weft.models.structured import ask
from weft.orchestrator.calls import Calls
from weft.orchestrator.step_prompt import step_prompt
from weft.orchestrator.validate import is_json
from weft.protocol.steps import StepInput
from weft.workspace.pipeline import Step

ASKS: Final = 2
"""How often a model is asked within one attempt; the attempts themselves are the pipeline's."""
Say = Callable[[str], None]


async def ask_model(
    model: Model, reference: str, step: Step, given: StepInput, nonce: str, say: Say, calls: Calls
) -> Any:
    """The value of the step's artifact, or of all of them by name. ModelFeedback when it never fits its schema.
    `reference` is what the model is priced by."""
    schema = wanted_schema(step)
    extra = "" if schema is None else json.dumps(schema, ensure_ascii=False)
    prompt = step_prompt(task_of(step, given), given, nonce, model.window, extra)
    for what in prompt.dropped:
        say(f"more than the model can read, left out: {what}")
    made = " and ".join(step.artifacts)
    watched = calls.watched(model, reference, f"make {made}", dropped=prompt.dropped)
    if schema is None:
        return (await gather(watched.stream(prompt.request))).text
    name = step.artifacts[0] if len(step.artifacts) == 1 else "answer"
    return (await ask(watched, prompt.request, schema, artifact=name, asks=ASKS)).value


def task_of(step: Step, given: StepInput) -> str:
    return f"Make {' and '.join(step.artifacts)}. The content id is {given.session}."


def wanted_schema(step: Step) -> Mapping[str, Any] | None:
    """What the answer must look like; None for one artifact of plain text."""
    if len(step.artifacts) == 1:
        return _schema_of(step, step.artifacts[0]) if is_json(step.artifacts[0]) else None
    properties = {name: _schema_of(step, name) if is_json(name) else {"type": "string"} for name in step.artifacts}
    return {
        "type": "object",
        "properties": properties,
        "required": list(step.artifacts),
        "additionalProperties": False,
    }


def _schema_of(step: Step, artifact: str) -> Mapping[str, Any]:
    found = step.schemas.get(artifact)
    return found.schema if found else {}
