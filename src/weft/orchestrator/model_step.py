"""A step that a connected model makes: one focused call with shaped context, its answer held to the artifact's schema.

The prompt has each thing the step reads under its own name (`step_prompt`); what had to be left out of it is said and
kept with the call. Schema faults go back to the model inside the attempt; the checks judge afterwards, as they judge
code. Each ask is a call of the attempt, so that what it used is known whatever comes of it. A model that runs a loop of
its own writes the artifacts itself, and is told what is wrong with each as it is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from weft.models.answer import Answer, gather
from weft.models.file_making import FileMakingModel, FilesRequest
from weft.models.media import media_kind, media_taken
from weft.models.model import Model, ModelError, Request
from weft.models.structured import ask
from weft.orchestrator.attempt_calls import AttemptCalls
from weft.orchestrator.prompt_text import prompt_text
from weft.orchestrator.step_prompt import step_prompt
from weft.orchestrator.validate import is_json, parse
from weft.protocol.errors import Finding, ModelFeedback
from weft.protocol.messages import Media, Message, Text, told_stop
from weft.protocol.steps import StepInput
from weft.protocol.values import dataclass
from weft.workspace.pipeline import Step

PICTURE_TOKENS: Final = 1_600
"""What a picture takes of a model's window, about."""
ASKS: Final = 2
"""How often a model is asked within one attempt; the attempts themselves are the pipeline's."""
Judge = Callable[[str, Any], list[Finding]]
"""What is wrong with the value of an artifact."""


@dataclass(frozen=True, slots=True)
class ModelAsk:
    step: Step
    given: StepInput
    nonce: str
    calls: AttemptCalls
    patience: float
    """Seconds it may wait for a model that is busy: what the step and its budget have left."""
    judge: Judge
    media: tuple[Media, ...] = ()
    """The pictures among what it reads."""


async def ask_model(model: Model, reference: str, asked: ModelAsk) -> Any:
    """The value of the step's artifact, or of all of them by name. ModelFeedback when it never fits its schema.
    `reference` is what the model is priced by."""
    step, schema = asked.step, wanted_schema(asked.step)
    extra = "" if schema is None else json.dumps(schema, ensure_ascii=False)
    _check_seen(model, asked.media)
    room = model.window - PICTURE_TOKENS * len(asked.media)
    prompt = step_prompt(task_of(step, asked.given), asked.given, asked.nonce, room, extra)
    for what in prompt.dropped:
        asked.calls.say(f"more than the model can read, left out: {what}")
    request = replace(prompt.request, patience=asked.patience)
    if asked.media:
        told = request.messages[0]
        request = replace(request, messages=(replace(told, content=(*asked.media, *told.content)),))
    title = f"make {' and '.join(step.artifacts)}"
    if isinstance(model, FileMakingModel):
        return await _made_by(model, reference, title, request, asked, prompt.dropped)
    watched = asked.calls.watched(model, reference, title, dropped=prompt.dropped)
    if schema is None:
        return _whole_text(await gather(watched.stream(request)), model.name, step.artifacts[0])
    name = step.artifacts[0] if len(step.artifacts) == 1 else "answer"
    return (await ask(watched, request, schema, artifact=name, asks=ASKS)).value


def _check_seen(model: Model, media: tuple[Media, ...]) -> None:
    for one in media:
        if media_kind(one.media_type) not in media_taken(model):
            what = "PDFs" if one.media_type == "application/pdf" else "pictures"
            raise ModelError(
                "invalid_request",
                f"{model.name} takes no {what}, and {one.name} is one",
                hint="name a model that does for this step (`weft models test` says what one takes)",
            )


def _whole_text(answer: Answer, model: str, artifact: str) -> str:
    """What the model wrote. Half a text is no artifact: it looks like one that is whole."""
    if answer.stop == "refused":
        raise ModelError("refused", f"{model} refused to answer", hint="put the task in other words")
    if wrong := told_stop(answer.stop, answer.text):
        raise ModelFeedback((Finding(artifact, "", wrong, "give the whole text, and be brief"),))
    return answer.text


async def _made_by(
    maker: FileMakingModel, reference: str, title: str, request: Request, asked: ModelAsk, dropped: tuple[str, ...]
) -> Any:
    step = asked.step

    def faults(name: str, data: bytes) -> list[Finding]:
        value, broken = parse(name, data)
        return [broken] if broken is not None else asked.judge(name, value)

    shapes = [f"The schema of {name}:\n{json.dumps(dict(one.schema))}" for name, one in step.schemas.items()]
    content = (*request.messages[0].content, *(Text(text=shape) for shape in shapes))
    told = replace(request, messages=(Message(role="user", content=content),))
    async with asked.calls.model(reference, title, prompt_text(told), dropped=dropped) as call:
        made = await maker.make(FilesRequest(request=told, files=step.artifacts, judge=faults, say=asked.calls.say))
        call.settle(usage=made.usage)
    values = {name: parse(name, data)[0] for name, data in made.files.items()}
    return values[step.artifacts[0]] if len(step.artifacts) == 1 else values


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
