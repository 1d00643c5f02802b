"""What happens inside an attempt of a step: its calls of models, tools and agents. Part of the union in `events.py`.

A call is named within its attempt ("1", "2", …, in the order they begin) and may stand inside another, its `parent`.
What a call used is its own, never that of the calls inside it: so the sum over all calls of an attempt is what the
attempt used, and the settlement of the step has that sum. Whoever adds up cost reads the settlements of steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

CallKind = Literal["model", "tool", "agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """Live: a step calls a model, a tool or an agent."""

    step: str
    attempt: int
    call: str
    kind: CallKind
    name: str
    parent: str = ""
    title: str = ""
    type: Literal["call_started"] = "call_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettled:
    """A call of a step has ended. It is durable at once, so that what it used is known whatever happens next."""

    run: int
    step: str
    attempt: int
    call: str
    kind: CallKind
    name: str
    ms: int
    ok: bool
    parent: str = ""
    title: str = ""
    message: str = ""
    """Why it has no result, or what came of it, in a few words."""
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    request: str = ""
    """The hash of the prompt or the tool's input, kept as `blobs/<hash>`; "" when none is kept."""
    dropped: tuple[str, ...] = ()
    """What did not fit into the prompt, in words."""
    type: Literal["call_settled"] = "call_settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTextStreamed:
    """Live: a piece of what a model writes for a step."""

    step: str
    attempt: int
    call: str
    text: str
    thinking: bool = False
    type: Literal["step_text_streamed"] = "step_text_streamed"


LiveCallEvent = CallStarted | StepTextStreamed
CallEvent = CallSettled | LiveCallEvent


@dataclass(frozen=True, slots=True)
class Used:
    """What an attempt took, as the settlement of its step tells it."""

    model: str | None = None
    """The one that was called, or the first of them."""
    usage: Mapping[str, int] = field(default_factory=dict)
    by_model: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Only when there was more than one."""
    ms: int = 0


def used_by(calls: Iterable[CallSettled]) -> Used:
    """The sum over calls of one attempt. `ms` counts a call inside another that has ended only once; what ran side by
    side counts in full, so it is rather too much than too little."""
    calls = list(calls)
    ended = {call.call for call in calls}
    by_model: dict[str, dict[str, int]] = {}
    for call in calls:
        for kind, number in call.usage.items():
            tokens = by_model.setdefault(call.model or call.name, {})
            tokens[kind] = tokens.get(kind, 0) + number
    total: dict[str, int] = {}
    for tokens in by_model.values():
        for kind, number in tokens.items():
            total[kind] = total.get(kind, 0) + number
    ms = sum(call.ms for call in calls if call.parent not in ended)
    asked = next((call.model for call in calls if call.model), None)  # one that told nothing of its use
    return Used(next(iter(by_model), asked), total, by_model if len(by_model) > 1 else {}, ms)
