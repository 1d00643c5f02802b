"""What follows from a step that is done: the verdict on its unit, another round, a gate. Pure.

The order is fixed: a unit is first brought to its end (repair, then nothing; loop, back or on), and only then does a
person see the result at the step's gate. Nothing here depends on what made the step, or on whether it was made now or
found up to date, except that a verdict is recorded only when it is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from weft.orchestrator.progress import Progress, RunSpec
from weft.protocol.events import Cause, DurableEvent, GateOpened, GateResolved, RoundStarted, VerdictGiven
from weft.protocol.hashes import combine
from weft.session.state import GateState, RoundState
from weft.workspace.flow import Choice, Gate, Unit

SHOWN_LIMIT: Final = 4_000
"""Characters of one shown value that go into the log; the artifact itself has the rest."""


@dataclass(frozen=True, slots=True)
class After:
    progress: Progress
    events: tuple[DurableEvent, ...] = ()
    back: bool = False
    """Steps before it are to be made again."""


def consequences(spec: RunSpec, progress: Progress, name: str, *, fresh: bool) -> After:
    """`fresh`: the step was made just now."""
    unit = next((unit for unit in spec.pipeline.units if unit.name == name), None)
    events: tuple[DurableEvent, ...] = ()
    if unit:
        found = _close(spec, progress, unit, fresh=fresh)
        if found.back:
            return found
        progress, events = found.progress, found.events
    gate = spec.pipeline.steps[name].gate
    if gate is None or (gate.when and not gate.when.holds(spec.parameters, progress.seen)):
        return After(progress, events)
    held = _gate(progress, name, gate, fresh=fresh)
    return replace(held, events=(*events, *held.events))


def _close(spec: RunSpec, progress: Progress, unit: Unit, *, fresh: bool) -> After:
    now = progress.course.round_of(unit)
    done, most = now.round if now else 0, unit.bound(spec.parameters)
    events: list[DurableEvent] = []
    if unit.kind == "repair":
        verdict = unit.verdict(progress.seen)
        attempt = progress.steps[unit.name].attempt
        if fresh:
            events.append(
                VerdictGiven(run=progress.run, step=unit.name, attempt=attempt, verdict=verdict, round=done, most=most)
            )
        wanted = verdict == "failed"
        note = "" if verdict == "passed" else f"not verified: {_why_not(unit, verdict, done)}"
        word = "repair"
    else:
        wanted = unit.when is not None and unit.when.holds(spec.parameters, progress.seen)
        note = f"{unit.name} wanted to go back again, but {done} rounds are the most" if wanted else ""
        word = "loop"
    if not wanted or done >= most:
        notes = (*(old for old in progress.notes if not old.startswith(_about(unit))), *([note] if note else []))
        return After(replace(progress, notes=notes), tuple(events))
    said, base = unit.said(progress.seen), progress.course.bases[unit.name]
    begun = RoundState(unit.kind, done + 1, most, base, said)
    events.append(
        RoundStarted(
            run=progress.run,
            kind=unit.kind,
            unit=unit.name,
            round=done + 1,
            most=most,
            steps=unit.steps,
            base=base,
            feedback=said,
        )
    )
    cause: Cause = "repair" if unit.kind == "repair" else "rerun"
    reason = f"{word} round {done + 1} of {most}, asked for by {unit.name}"
    steps = {
        name: replace(step, phase="waiting", tries=0, again=(cause, reason))
        if name in unit.steps and step.phase in ("done", "passed")
        else step
        for name, step in progress.steps.items()
    }
    course = progress.course.with_round(spec.pipeline, unit, begun)
    return After(replace(progress, steps=steps, course=course), tuple(events), back=True)


def _about(unit: Unit) -> str:
    return f"not verified: {unit.name}" if unit.kind == "repair" else f"{unit.name} wanted"


def _why_not(unit: Unit, verdict: str, done: int) -> str:
    if verdict == "not_verified":
        return f"{unit.name} could not check it"
    rounds = "no repair was allowed" if not done else f"{done} repair{'s' if done > 1 else ''} did not help"
    return f"{unit.name} says it failed, and {rounds}; this is the best there is"


def _gate(progress: Progress, name: str, gate: Gate, *, fresh: bool) -> After:
    step = progress.steps[name]
    digest = step_hash(step.artifacts)
    if progress.approved.get(name) == digest or (gate.auto and not fresh):
        return After(progress)
    events: list[DurableEvent] = []
    standing = progress.gates.get(name)
    if standing is None or standing.hash != digest:
        opened = GateOpened(
            run=progress.run,
            gate=f"{name}-{progress.gates_opened + 1}",
            step=name,
            hash=digest,
            message=gate.message,
            shown=tuple({"label": one.label, "value": _value(progress, one.look.key)} for one in gate.show),
            choices=tuple(_offered(choice) for choice in gate.choices),
        )
        standing = GateState(opened.gate, name, digest, opened.choices, opened.message, opened.shown)
        gates = {**progress.gates, name: standing}
        progress = replace(progress, gates=gates, gates_opened=progress.gates_opened + 1)
        events.append(opened)
    if gate.auto:
        resolved = GateResolved(
            run=progress.run, gate=standing.gate, choice="proceed", does="proceed", hash=digest, by="auto"
        )
        gates = {other: open_ for other, open_ in progress.gates.items() if other != name}
        passed = replace(progress, gates=gates, approved={**progress.approved, name: digest})
        return After(passed, (*events, resolved))
    return After(progress.with_step(name, replace(step, phase="held")), tuple(events))


def _offered(choice: Choice) -> dict[str, Any]:
    offered: dict[str, Any] = {"id": choice.id, "label": choice.label, "does": choice.does}
    return {**offered, "set": dict(choice.set)} if choice.set else offered


def _value(progress: Progress, key: str) -> Any:
    found = progress.seen.get(key, ())
    value: Any = found[0] if len(found) == 1 and "[*]" not in key else list(found)
    return value if len(str(value)) <= SHOWN_LIMIT else f"{str(value)[:SHOWN_LIMIT]} …"


def step_hash(artifacts: Mapping[str, str]) -> str:
    """The content hash of a step: its artifact's own, or one over all of them."""
    return next(iter(artifacts.values())) if len(artifacts) == 1 else combine(artifacts)
