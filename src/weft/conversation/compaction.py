"""When the window fills, older turns are told in short. The log keeps everything; only what a model is told changes.

The summary is made by the model itself in one call of its own. When it can't (the embedded engine, an error), it is put
together from the conversation: what was asked, and how each answer began. It says of itself which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

from weft.conversation.projections import Said, compacted, messages_of
from weft.conversation.prompt import Prompt, as_data, data_rule, fence
from weft.models.model import Model, ModelError, Request, TextDelta
from weft.protocol.messages import Message, Text, Usage
from weft.protocol.values import dataclass

FULL: Final = 0.8
"""Of the room for a prompt: beyond it older turns are told in short."""
KEPT_TURNS: Final = 2
"""The last turns are always told whole."""
LONGEST: Final = 8_000
"""Characters of a summary."""
_LINE: Final = 300
INSTRUCTIONS: Final = """\
Write down what somebody needs to go on with this conversation who has not read it: what the person wants, what was
found out and where it stands (names of files, numbers, quotes word for word), what was decided or refused, what was
changed, and what is still to be done. Leave out greetings, plans that were dropped, and how things were found. At most
600 words. Write nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    turn: int
    """The last turn that it stands for."""
    text: str
    model: str = ""
    """Who wrote it; "" when it was put together by rule."""
    usage: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    """Why the model could not write it, when it was to."""


async def fitted(
    model: Model,
    entries: Sequence[Said],
    prompt_of: Callable[[Sequence[Said]], Prompt],
    nonce: str,
    recorded: Callable[[Summary], None],
) -> Prompt:
    """The prompt for these entries; when it fills the window, that of a summary of older turns and the rest."""
    prompt = prompt_of(entries)
    turn = turn_to_compact(entries) if prompt.share > FULL or prompt.dropped else 0
    if not turn:
        return prompt
    summary = await summarise(model, entries, turn, nonce)
    recorded(summary)
    return prompt_of(compacted(entries, turn, summary.text))


def turn_to_compact(entries: Sequence[Said]) -> int:
    """Up to which turn there is something worth telling in short; 0 when there is nothing."""
    turns = sorted({said.turn for said in entries if said.kind != "summary" and not said.given})
    return turns[-KEPT_TURNS - 1] if len(turns) > KEPT_TURNS else 0


async def summarise(model: Model, entries: Sequence[Said], turn: int, nonce: str) -> Summary:
    old = [said for said in entries if said.turn <= turn]
    if model.name == "embedded":
        return Summary(turn=turn, text=by_rule(old))
    try:
        return await _by_model(model, old, turn, nonce)
    except ModelError as error:  # a summary by rule is worse, and better than a conversation that can't go on
        return Summary(turn=turn, text=by_rule(old), trouble=error.message)


async def _by_model(model: Model, old: Sequence[Said], turn: int, nonce: str) -> Summary:
    """What came from outside is data to this call too: what it asks for would stand in the summary as the person's."""
    ask = Message(role="user", content=(Text(text=INSTRUCTIONS),))
    told = messages_of(old, lambda one: Text(text=fence("[attached]", nonce, str(one["name"]))))
    messages = [*as_data(told, frozenset(said.call for said in old if said.outside), nonce), ask]
    if len(messages) > 1 and messages[-2].role == "user":
        messages[-2:] = [Message(role="user", content=(*messages[-2].content, *ask.content))]
    texts: list[str] = []
    usage: dict[str, Any] = {}
    request = Request(system=f"{INSTRUCTIONS}\n\n{data_rule(nonce)}", messages=tuple(messages), max_tokens=2_000)
    async for part in model.stream(request):
        if isinstance(part, TextDelta):
            texts.append(part.text)
        elif isinstance(part, Usage):
            usage = part.told()
    text = "".join(texts).strip()
    if not text:
        raise ModelError("malformed", "the model wrote no summary")
    return Summary(turn=turn, text=text[:LONGEST], model=model.name, usage=usage)


def by_rule(old: Sequence[Said]) -> str:
    """Who asked what, and how each answer began; the newest first to stay when it gets long."""
    lines: list[str] = []
    for said in old:
        text = " ".join(said.text.split())
        if said.kind == "summary":
            lines.append(said.text)
        elif said.kind == "message":
            lines.append(f"The person: {_short(text)}")
        elif said.kind == "answer" and text:
            lines.append(f"The answer began: {_short(text)}")
        elif said.kind == "result":
            lines.append(f"{said.tool} {said.outcome}: {_short(text)}")
    kept: list[str] = []
    room = LONGEST
    for line in reversed(lines):
        if len(line) > room:
            break
        room -= len(line) + 1
        kept.append(line)
    if not kept and lines:
        kept = [lines[-1][:LONGEST]]
    return "\n".join(reversed(kept))


def _short(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"
