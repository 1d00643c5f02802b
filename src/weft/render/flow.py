"""Gates, rounds, verdicts and budgets in words, for every face that shows lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, assert_never

from weft.protocol import events as e
from weft.render.cells import clean, paragraphs
from weft.render.units import count
from weft.render.words import MEANINGS, REPLIED

_VERDICTS: Final = {"not_checked": "not checked"}
STEP_BUDGET: Final = "allow more under its `budget` in the pipeline's file (--budget is the run's)"


def is_of_step(message: str) -> bool:
    """Whether the budget that was reached is a step's own: a run's is set with --budget, that one is not."""
    return message.startswith("the step ")


def more_budget(message: str) -> str:
    """The option that allows more of what was reached."""
    kind = "tokens" if " tokens" in message else "minutes" if " minutes" in message else "usd"
    return f"--budget {kind}=…"


def flow_lines(event: e.FlowEvent) -> list[str]:
    match event:
        case e.GateOpened():
            return [clean(f"gate {event.gate} opened: {gate_title(event)}"), *gate_lines(event)]
        case e.GateResolved():
            return _resolved(event)
        case e.ConfirmationAsked():
            return confirmation_lines(event)
        case e.WordsSaid():
            return [clean(f"said: {line}") for line in paragraphs(event.text)]
        case e.WordsUnderstood():
            return [clean(f"understood: {understood(event)}")]
        case e.ReplyClassified():
            return [clean(f"{event.model} was asked what was meant: {event.reason}")]
        case e.ConfirmationResolved():
            return [clean(f"answered: {event.choice}")]
        case e.VerdictGiven() | e.VerdictOverruled():
            return verdict_lines(event)
        case e.RoundStarted():
            steps = ", ".join(event.steps)
            return [clean(f"{event.kind} round {event.round} of {event.most}, asked for by {event.unit}: {steps}")]
        case e.BudgetReached():
            return [clean(f"budget reached at {event.step}: {event.message}")]
        case e.GateReminded() | e.WaitStarted() | e.StepsUnfolded():
            return _in_time(event)
        case _:
            assert_never(event)


def _resolved(event: e.GateResolved) -> list[str]:
    if event.does == "withdrawn":
        return [clean(f"gate {event.gate} withdrawn: there is nothing to ask any more")]
    said = f" ({event.text})" if event.text else ""
    return [clean(f"gate {event.gate}: {event.choice}{said}, by {REPLIED.get(event.by, event.by)}")]


def _in_time(event: e.GateReminded | e.WaitStarted | e.StepsUnfolded) -> list[str]:
    if isinstance(event, e.StepsUnfolded):
        return [clean(f"step {event.step} has {count(len(event.items), 'item')}")]
    if isinstance(event, e.WaitStarted):
        return [clean(f"step {event.step} waits until {event.until}")]
    return [clean(f"gate {event.gate} still waits for a reply; it is said again at {event.due}")]


def gate_title(gate: e.GateOpened) -> str:
    """What a gate is about."""
    return f"before {gate.step}" if gate.before else f"{gate.step} is done"


def gate_waits(gate: e.GateOpened) -> str:
    return f"{gate_title(gate)}; the run waits for you"


def in_verdict(verdict: str) -> str:
    return _VERDICTS.get(verdict, verdict)


def verdict_lines(event: e.VerdictGiven | e.VerdictOverruled) -> list[str]:
    if isinstance(event, e.VerdictOverruled):
        said = f"{in_verdict(event.verdict)} instead of {in_verdict(event.was)}"
        lines = paragraphs(f"overruled: {event.claim} of {event.step} is {said}: {event.why}")
        return [clean(line) for line in [*lines, f"  > {event.text}"]]
    after = f" after {event.round} of {event.most} repairs" if event.round else ""
    claims = event.claims if _is_mapping(event.claims) else {}  # a log may come from a later version
    told = [f"{number} {in_verdict(state)}" for state, number in claims.items() if number]
    of_claims = f" ({', '.join(told)})" if told else ""
    return [clean(f"{event.step}: {in_verdict(event.verdict)}{after}{of_claims}")]


def understood(event: e.WordsUnderstood) -> str:
    """What was made of a person's words, for them."""
    meant = f"{event.choice}: {event.text}" if event.text else event.choice
    if event.meaning == "refused":
        wanted = f"{event.choice}, but it can't be done: " if event.choice else ""
        return f"{wanted}{event.reason}" + (f"; {event.text}" if event.text else "")
    said = {"reply": meant, "confirm": f"perhaps {meant}", **MEANINGS}[event.meaning]
    told_again = event.reason.strip('"') in said.casefold()
    return f"{said} ({event.reason})" if event.reason and not told_again else said


def confirmation_lines(asked: e.ConfirmationAsked) -> list[str]:
    """What a person is asked back. The order is the one that a number counts in."""
    words = [clean(f"  > {line}") for line in paragraphs(asked.text)]
    match asked.kind:
        case "breakout":
            return [
                "Leave the run for this?",
                *words,
                "  1 leave: the run is kept, and can be taken up again",
                "  2 stay",
            ]
        case "reply":
            meant = f"{asked.choice}: {asked.change}" if asked.change else asked.choice
            ends = ", which ends the run" if asked.does == "cancel" else ""
            lines = paragraphs(f"I understood: {meant}{ends}. Yes?")
            return [clean(lines[0]), *(clean(f"  {line}") for line in lines[1:]), *words, "  1 yes", "  2 no"]
        case "change":
            return ["What should be changed?"]
        case "fresh":
            return [
                "Start afresh? That ends the run that is there for good; what it made stays.",
                *words,
                "  1 yes",
                "  2 no",
            ]
        case _:
            assert_never(asked.kind)


def gate_lines(gate: e.GateOpened) -> list[str]:
    """The message, what is to be looked at, and the choices by number."""
    lines = [clean(f"  {line}") for line in paragraphs(gate.message)] if gate.message else []
    for one in filter(_is_mapping, gate.shown):  # a log may come from a later version, with another shape
        lines += _shown(one)
    lines += [clean(f"  {number} {one.id}: {one.label}") for number, one in enumerate(gate.choices, 1)]
    return [*lines, *(clean(f"  {line}") for line in form_lines(gate.form))]


def form_lines(form: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is asked for besides the choice: each with what is good for it and what it is now."""
    fields = [one for one in form if _is_mapping(one)]
    lines = []
    for one in fields:
        name, value = one.get("name"), in_words(one.get("value"))
        good = " | ".join(map(in_words, one["choices"])) if one.get("choices") else str(one.get("type"))
        lines.append(f"--set {name}=… ({one.get('label')}: {good}; now {value})")
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
