"""Gates, rounds, verdicts and budgets in words, for every face that shows lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from weft.protocol.events import (
    BudgetReached,
    ConfirmationAsked,
    ConfirmationResolved,
    FlowEvent,
    GateOpened,
    GateResolved,
    ReplyClassified,
    RoundStarted,
    VerdictGiven,
)
from weft.render.cells import clean, paragraphs

_VERDICTS: Final = {"passed": "verified", "failed": "failed", "not_verified": "could not be verified"}
_BY: Final = {"person": "you", "answer": "your answer in advance", "auto": "the pipeline"}


def flow_lines(event: FlowEvent) -> list[str]:
    match event:
        case GateOpened():
            return [clean(f"gate {event.gate} opened: {event.step} is done"), *gate_lines(event)]
        case GateResolved() if event.does == "withdrawn":
            return [clean(f"gate {event.gate} withdrawn: there is nothing to ask any more")]
        case GateResolved():
            said = f" ({event.text})" if event.text else ""
            return [clean(f"gate {event.gate}: {event.choice}{said}, by {_BY.get(event.by, event.by)}")]
        case ConfirmationAsked():
            return confirmation_lines(event.text)
        case ReplyClassified():
            return [clean(f"{event.model} was asked what was meant: {event.reason}")]
        case ConfirmationResolved():
            return [clean(f"answered: {event.choice}")]
        case VerdictGiven():
            after = f" after {event.round} of {event.most} repairs" if event.round else ""
            return [clean(f"{event.step}: {_VERDICTS.get(event.verdict, event.verdict)}{after}")]
        case RoundStarted():
            steps = ", ".join(event.steps)
            return [clean(f"{event.kind} round {event.round} of {event.most}, asked for by {event.unit}: {steps}")]
        case BudgetReached():
            return [clean(f"budget reached at {event.step}: {event.message}")]
        case _:
            assert_never(event)


def confirmation_lines(text: str) -> list[str]:
    """The question whether to leave a waiting run. The order is the one that a number counts in."""
    asked = [clean(f"  > {line}") for line in paragraphs(text)]
    return ["Leave the run for this?", *asked, "  1 leave: the run is kept, and can be taken up again", "  2 stay"]


def gate_lines(gate: GateOpened) -> list[str]:
    """The message, what is to be looked at, and the choices by number."""
    lines = [clean(f"  {line}") for line in paragraphs(gate.message)] if gate.message else []
    for one in filter(_is_mapping, gate.shown):  # a log may come from a later version, with another shape
        lines += _shown(one)
    for number, choice in enumerate(filter(_is_mapping, gate.choices), 1):
        lines.append(clean(f"  {number} {choice.get('id')}: {choice.get('label')}"))
    return lines


def _is_mapping(one: object) -> bool:
    return isinstance(one, Mapping)


def _shown(one: Mapping[str, Any]) -> list[str]:
    label, value = one.get("label", ""), one.get("value")
    if isinstance(value, list):
        if not value:
            return [clean(f"  {label}: none")]
        return [clean(f"  {label}:"), *(clean(f"    - {in_words(item)}") for item in value)]
    if isinstance(value, dict):
        return [clean(f"  {label}:"), *(clean(f"    {key}: {in_words(item)}") for key, item in value.items())]
    return [clean(f"  {label}: {in_words(value)}")]


def in_words(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key}: {in_words(item)}" for key, item in value.items())
        case list():
            return ", ".join(map(in_words, value))
        case _:
            return str(value)
