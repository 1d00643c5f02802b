"""What lies behind a run besides results: the rounds of its units, a person's replies and their word against verdicts,
as inputs of its steps.

A round or a reply is not a special way through the machine: it is one more thing that a step is made from. So a step
is made again because its inputs changed, an attempt that finished in its round is up to date after a crash, and a
later run passes over it. Rounds count only on the *base* they began on, that is everything else the unit is made
from: when a person changes an input of it, they count from 0 again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from weft.orchestrator.step_facts import StepFacts
from weft.protocol.hashes import combine, hash_value
from weft.protocol.values import dataclass, replace
from weft.session.state import Overruling, RoundState, SessionState, StepState
from weft.workspace.flow import Unit
from weft.workspace.pipeline import Pipeline, Step

SHORT = 60


@dataclass(frozen=True, slots=True)
class RunHistory:
    rounds: Mapping[str, RoundState] = field(default_factory=dict)
    replies: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """What a person wanted changed at the gate of each step, with the gate."""
    bases: Mapping[str, str] = field(default_factory=dict)
    """By unit, as far as the run has come to it."""
    overruled: Mapping[str, Mapping[str, Overruling]] = field(default_factory=dict)
    """By step and claim. Not part of a base: who overrules a verdict does not begin the repair anew."""

    @classmethod
    def of(cls, state: SessionState, pipeline: Pipeline) -> RunHistory:
        replies = {name: said for name, step in state.steps.items() if (said := _still_meant(state, step, pipeline))}
        return cls({**state.rounds}, replies, overruled={name: {**said} for name, said in state.overruled.items()})

    def round_of(self, unit: Unit) -> RoundState | None:
        """The round the unit is in; None before the first."""
        found = self.rounds.get(unit.name)
        fits = found is not None and found.kind == unit.kind and found.base == self.bases.get(unit.name)
        return found if fits else None

    def with_round(self, pipeline: Pipeline, unit: Unit, begun: RoundState) -> RunHistory:
        """The units inside begin anew: what they are made from now has this round in it."""
        inner = {other.name for other in pipeline.units if other != unit and {*other.steps} <= {*unit.steps}}
        bases = {name: base for name, base in self.bases.items() if name not in inner}
        return replace(self, rounds={**self.rounds, unit.name: begun}, bases=bases)


def _still_meant(state: SessionState, step: StepState, pipeline: Pipeline) -> tuple[tuple[str, str], ...]:
    """In a pipeline that goes on from earlier runs, what was said to one that is done was about its question, not about
    the next."""
    if not pipeline.goes_on:
        return step.replies
    over = {request for request in state.finished if request != state.request}
    return tuple(said for said, on in zip(step.replies, step.said_on, strict=True) if on not in over)


def outside(pipeline: Pipeline, unit: Unit) -> tuple[str, ...]:
    """The steps that a unit needs and does not hold."""
    needed = (before for name in unit.steps for before in pipeline.steps[name].requires)
    return tuple(dict.fromkeys(name for name in needed if name not in unit.steps))


def found_in(pipeline: Pipeline, unit: Unit, inputs: Mapping[str, str]) -> str:
    """What the verifier of a repair, made from these inputs, has looked at; "" where steps of the unit work on more
    than their artifacts."""
    steps = [pipeline.steps[name] for name in unit.steps]
    alone = all(step.executor in ("code", "model") and not step.network for step in steps)
    read = {key: value for key, value in inputs.items() if key.startswith("artifact:")}
    return combine(read) if read and alone and unit.kind == "repair" else ""


def on_base(
    pipeline: Pipeline, facts: Mapping[str, StepFacts], history: RunHistory, step: str, hashes: Mapping[str, str]
) -> RunHistory:
    """The history with the bases of all units that hold the step, the outer ones first. `hashes`: of the artifacts
    that are there."""
    for unit in reversed(pipeline.units_of(step)):
        if unit.name in history.bases:
            continue
        found: dict[str, str] = {}
        for name in unit.steps:
            made = {**facts[name].made_from, **_replies(history, pipeline.steps[name])}
            found |= {f"{name} {key}": value for key, value in made.items()}
        for other in pipeline.units:
            if other != unit and {*unit.steps} <= {*other.steps}:
                found |= _round(history, other)
        for before in outside(pipeline, unit):
            found |= {name: hashes.get(name, "") for name in pipeline.steps[before].artifacts}
        history = replace(history, bases={**history.bases, unit.name: combine(found)})
    return history


def extra_inputs(pipeline: Pipeline, history: RunHistory, step: str) -> dict[str, str]:
    """What a step is made from besides its facts and its artifacts, each thing named."""
    found = {**_replies(history, pipeline.steps[step]), **_overruled(history, pipeline.steps[step])}
    for unit in _heard(pipeline, step):
        found |= _round(history, unit)
    return found


def said(
    pipeline: Pipeline, history: RunHistory, step: str
) -> tuple[dict[str, tuple[str, ...]], dict[str, dict[str, Any]]]:
    """The same as a step is given it: the person's words by step, and the rounds it is in by unit."""
    replies = {
        name: tuple(text for _, text in history.replies[name])
        for name in pipeline.steps[step].replies
        if name in history.replies
    }
    rounds = {}
    for unit in _heard(pipeline, step):
        now = history.round_of(unit)
        if now:
            rounds[unit.name] = {"kind": now.kind, "round": now.round, "most": now.most, "feedback": now.feedback}
    return replies, rounds


def _heard(pipeline: Pipeline, step: str) -> Sequence[Unit]:
    """The units whose rounds a step is told of."""
    return pipeline.units_of(step) if pipeline.steps[step].hears_rounds else ()


def overruled(pipeline: Pipeline, history: RunHistory, step: str) -> dict[str, dict[str, str]]:
    """What a person says against verdicts of a step, as it is given it."""
    said = history.overruled.get(step, {}) if pipeline.steps[step].verdicts else {}
    return {
        claim: {"was": one.was, "verdict": one.verdict, "why": one.why, "by": one.by.name or "you"}
        for claim, one in said.items()
    }


def _overruled(history: RunHistory, step: Step) -> dict[str, str]:
    said = history.overruled.get(step.name, {}) if step.verdicts else {}
    return {
        f"overruled:{claim}": hash_value([one.was, one.verdict, one.why, one.by.name]) for claim, one in said.items()
    }


def _replies(history: RunHistory, step: Step) -> dict[str, str]:
    return {f"reply:{gate}": _short(text) for name in step.replies for gate, text in history.replies.get(name, ())}


def _round(history: RunHistory, unit: Unit) -> dict[str, str]:
    now = history.round_of(unit)
    return {f"{now.kind}:{unit.name}": f"{now.round} {hash_value(now.feedback)}"} if now else {}


def _short(text: str) -> str:
    return text if len(text) <= SHORT else hash_value(text)
