"""What a step's model would be told today, held against what it was told when the step was made. Pure.

A step is told its inputs first, then its task, then what was said to earlier tries of it (replies, rounds, findings):
what it would be told first is a part of what it was told, unless something about it is otherwise now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from weft.language.line_difference import line_matcher
from weft.orchestrator.facts import Material, local_values, taken_inputs
from weft.orchestrator.model_step import task_of
from weft.orchestrator.step_prompt import step_prompt
from weft.protocol.messages import Text
from weft.protocol.patterns import pattern
from weft.protocol.steps import StepInput
from weft.workspace.pipeline import Step

_WINDOW: Final = 10_000_000
"""Nothing is left out: what did not fit then is not compared."""
_NONCE: Final = "0123456789abcdef"
_MARK: Final = pattern(r"data-[0-9a-z]{6,}")
_HEAD: Final = pattern(r"=== .* ===\Z")
"""What `prompt_text` sets over each part."""
MOST_LINES: Final = 3
LONGEST_LINE: Final = 120


def told_otherwise(step: Step, material: Material, values: Mapping[str, Any], session: str, then: str) -> list[str]:
    """Lines that would be new in a step's first prompt (`+`) and lines that would be gone (`-`), the first few of each;
    [] when it would be told the same. `values` are the artifacts of the steps before it, `then` is what it was told."""
    own, taken = step.own, taken_inputs(step, values)
    fresh = {name: one.text for name, one in taken.items()}
    given = StepInput(
        session=session,
        step=own.name,
        attempt=1,
        idempotency_key="",
        inputs={name: text for name in own.inputs if (text := {**material.inputs, **fresh}.get(name)) is not None},
        artifacts=local_values(step, values),
        parameters=material.parameters,
        profile=material.profile,
        instructions=material.instructions,
        skills=material.skills,
        prior=material.prior,
    )
    request = step_prompt(task_of(own, given), given, _NONCE, _WINDOW).request
    told = [part.text for message in request.messages for part in message.content if isinstance(part, Text)]
    now, before = _unmarked("\n\n".join([request.system, *told])), _unmarked(then)
    if _unmarked(request.system) in before and all(_unmarked(text) in before for text in told):
        return []
    return _changed(before.splitlines(), now.splitlines())


def _changed(before: list[str], now: list[str]) -> list[str]:
    """The first places where something is new, each with what stood there; what was only told to a later try is no
    change, unless nothing is new."""
    places = [
        (before[a:b], now[c:d]) for kind, a, b, c, d in line_matcher(before, now).get_opcodes() if kind != "equal"
    ]
    places = [place for place in places if any(line.strip() for line in place[1])] or places
    lines: list[str] = []
    for gone, new in places:
        lines += [f"- {line}" for line in gone if line.strip() and not _HEAD.match(line)][:MOST_LINES]
        lines += [f"+ {line}" for line in new if line.strip()][:MOST_LINES]
    return [line[:LONGEST_LINE] for line in lines[: 2 * MOST_LINES]]


def _unmarked(text: str) -> str:
    """Without what is new in each run: the marks around data."""
    return _MARK.sub("data", text)
