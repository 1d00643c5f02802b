"""The small question a model may be asked about words to a run at rest.

The model that is connected is asked only when the words alone are unclear, outside of any conversation, with an answer
of a few tokens; what it took is in the log. What it says is an opinion,
and leads to nothing but a question back to the person (`orchestrator/hearing`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from weft.models.model import Model, Part, Request
from weft.models.structured import ask
from weft.orchestrator.attempt_calls import counts
from weft.orchestrator.replies import Judgement
from weft.orchestrator.reply_classification import CLASSIFICATION_SCHEMA, classification_prompt, read_classification
from weft.protocol.errors import WeftError
from weft.protocol.events import GateOpened, ReplyClassified
from weft.protocol.messages import Message, Text, Usage

ANSWER_TOKENS: Final = 300
PATIENCE: Final = 30.0
"""Seconds a model has to say what it takes the words for."""


async def classify(
    model: Model, run: int, gate: GateOpened, text: str, *, nonce: str
) -> tuple[Judgement, ReplyClassified]:
    """What a model takes the words for, and the record of having asked it. It never raises for the model's sake: a
    model that can't say leaves the words unclear."""
    choices = gate.choices
    shown = "\n".join([gate.message, *(f"{one.get('label')}: {one.get('value')}" for one in gate.shown)])
    prompt = classification_prompt(text, choices=choices, nonce=nonce, shown=shown)
    asked = Request(
        system=prompt.system,
        messages=(Message(role="user", content=(Text(text=prompt.text),)),),
        max_tokens=ANSWER_TOKENS,
    )
    used: Mapping[str, int] = {}

    def watch(part: Part) -> None:
        nonlocal used
        if isinstance(part, Usage):
            used = counts(part)

    begun = time.monotonic()
    try:
        async with asyncio.timeout(PATIENCE):
            answered = await ask(model, asked, CLASSIFICATION_SCHEMA, asks=1, on_part=watch)
        judged = read_classification(answered.value, text=text, choices=choices)
    except TimeoutError:
        judged = Judgement(kind="unclear", reason=f"{model.name} did not say within {PATIENCE:g} s")
    except WeftError as error:
        judged = Judgement(kind="unclear", reason=f"{model.name} could not say: {error.message}")
    return judged, ReplyClassified(
        run=run,
        step=gate.step,
        meaning="reply"
        if judged.kind in ("choice", "amend")
        else "breakout"
        if judged.kind == "breakout"
        else "unclear",
        choice=judged.choice,
        reason=judged.reason,
        model=model.name,
        ms=round((time.monotonic() - begun) * 1000),
        usage=used,
    )
