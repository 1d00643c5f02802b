"""What follows from a step that is done: the verdict on its unit, another round, a gate. Pure.

The order is fixed: a unit is first brought to its end (repair, then nothing; loop, back or on), and only then does a
person see the result at the step's gate. Nothing here depends on what made the step, or on whether it was made now or
found up to date, except that a verdict is recorded only when it is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from weft.orchestrator.progress import Decision, Progress, RunSpec, StepProgress
from weft.orchestrator.run_history import found_in
from weft.protocol import events as e
from weft.protocol.gates import Choice
from weft.protocol.hashes import combine
from weft.protocol.values import replace
from weft.session.state import RoundState, SessionState
from weft.session.timestamps import moment_text
from weft.workspace.flow import Gate, Unit

SHOWN_LIMIT: Final = 4_000
"""Characters of one shown value that go into the log; the artifact itself has the rest."""


def consequences(spec: RunSpec, progress: Progress, name: str, *, fresh: bool) -> Decision:
    """`fresh`: the step was made just now."""
    unit = next((unit for unit in spec.pipeline.units if unit.name == name), None)
    closed = _close(spec, progress, unit, fresh=fresh) if unit else Decision(progress)
    progress = closed.progress
    if progress.steps[name].phase == "waiting":  # the unit goes round again, and the step that closes it with it
        return closed
    gate = spec.pipeline.steps[name].gate
    if gate is None or gate.before or (gate.when and not gate.when.holds(spec.parameters, progress.seen)):
        return closed.then(withdrawn(progress, name))
    return closed.then(_gate(spec, progress, name, gate, fresh=fresh))


def passed_by(spec: RunSpec, progress: Progress, name: str) -> Decision:
    """A step's condition does not hold: it has no result, so it shows nothing and asks nothing; and what it would have
    verified is not checked."""
    own = spec.pipeline.steps[name].artifacts
    seen = {key: value for key, value in progress.seen.items() if key.partition("#")[0] not in own}
    after = withdrawn(replace(progress.with_step(name, StepProgress("passed")), seen=seen), name)
    unit = next((unit for unit in spec.pipeline.units if unit.name == name and unit.kind == "repair"), None)
    if unit is None:
        return after
    said = after.then(_verdict(spec, after.progress, unit, "not_checked", fresh=False))
    return replace(said, progress=said.progress.with_note(name, f"not checked: {name} was passed over"))


def unasked(spec: RunSpec, state: SessionState, progress: Progress) -> Decision:
    """The verifiers that were not asked for: what they last said counts if it is about the results there are now."""
    decided = Decision(progress)
    for unit in spec.pipeline.units:
        progress = decided.progress
        left = progress.steps[unit.name].phase == "left"
        if unit.kind != "repair" or not left or not any(progress.steps[name].phase == "done" for name in unit.steps):
            continue
        hashes = progress.hashes
        done = state.steps[unit.name].completion if unit.name in state.steps else None
        read = {key.removeprefix("artifact:"): value for key, value in done.inputs.items()} if done else {}
        same = done is not None and all(hashes.get(name, read[name]) == read[name] for name in read)
        verdict = progress.verdicts.get(unit.name, "not_checked") if same else "not_checked"
        if verdict != "passed":
            said = _verdict(spec, progress, unit, verdict, fresh=False)
            noted = said.progress.with_note(unit.name, f"not checked: {unit.name} was not asked for")
            decided = decided.then(replace(said, progress=noted))
    return decided


def withdrawn(progress: Progress, name: str) -> Decision:
    """The open gate of a step, if there is one, asks about nothing any more."""
    standing = progress.gates.get(name)
    if standing is None:
        return Decision(progress)
    event = e.GateResolved(
        run=progress.run, gate=standing.gate, choice="withdrawn", does="withdrawn", hash=standing.hash, by="auto"
    )
    return Decision(progress.without_gate(name), (event,))


def _verdict(spec: RunSpec, progress: Progress, unit: Unit, verdict: e.Verdict, *, fresh: bool) -> Decision:
    """The verdict as an event, when it is new."""
    if not fresh and progress.verdicts.get(unit.name) == verdict:
        return Decision(progress)
    now = progress.history.round_of(unit)
    event = e.VerdictGiven(
        run=progress.run,
        step=unit.name,
        attempt=progress.steps[unit.name].attempt,
        verdict=verdict,
        round=now.round if now else 0,
        most=unit.bound(spec.parameters),
        claims=unit.counted(progress.seen) if fresh else {},
    )
    return Decision(replace(progress, verdicts={**progress.verdicts, unit.name: verdict}), (event,))


def _close(spec: RunSpec, progress: Progress, unit: Unit, *, fresh: bool) -> Decision:
    now = progress.history.round_of(unit)
    done, most = now.round if now else 0, unit.bound(spec.parameters)
    events: list[e.DurableEvent] = []
    wanted = unit.wants_round(spec.parameters, progress.seen)
    if unit.kind == "repair":
        verdict = unit.verdict(progress.seen)
        given = _verdict(spec, progress, unit, verdict, fresh=fresh)
        progress, events = given.progress, [*given.events]
        note = "" if verdict == "passed" else f"{_NOTES[verdict]}: {_why_not(unit, verdict, done)}"
    else:
        rounds = "no round is allowed" if not most else f"{most} round{'s are' if most > 1 else ' is'} the most"
        note = f"{unit.name} wanted to go back{' again' if done else ''}, but {rounds}" if wanted else ""
    found = found_in(spec.pipeline, unit, progress.steps[unit.name].inputs)
    if not wanted or done >= most or (now and now.left_it(found)):
        return Decision(progress.with_note(unit.name, note), tuple(events))
    said, base = unit.said(progress.seen), progress.history.bases[unit.name]
    begun = RoundState(unit.kind, done + 1, most, base, said, found)
    events.append(
        e.RoundStarted(
            run=progress.run,
            kind=unit.kind,
            unit=unit.name,
            round=done + 1,
            most=most,
            steps=unit.steps,
            base=base,
            feedback=said,
            found_in=found,
        )
    )
    cause: e.Cause = "repair" if unit.kind == "repair" else "rerun"
    reason = f"{unit.kind} round {done + 1} of {most}, asked for by {unit.name}"
    steps = dict(progress.steps)
    for name in unit.steps:  # one that was passed over is judged anew: what its condition looks at is made again too
        if steps[name].phase in ("done", "passed"):
            again = (cause, reason) if spec.pipeline.steps[name].hears_rounds else None
            steps[name] = replace(steps[name], phase="waiting", tries=0, again=again)
    history = progress.history.with_round(spec.pipeline, unit, begun)
    return Decision(replace(progress, steps=steps, history=history), tuple(events))


DONE_CHOICES: Final = (Choice("proceed", "Done, go on", "proceed"), Choice("cancel", "Stop here", "cancel"))
_NOTES: Final = {"failed": "not passed", "not_checked": "not checked"}


def _why_not(unit: Unit, verdict: str, done: int) -> str:
    if verdict == "not_checked":
        return f"{unit.name} could not check it"
    rounds = "no repair was allowed" if not done else f"{done} repair{'s' if done > 1 else ''} did not help"
    return f"{unit.name} says it failed, and {rounds}; this is the best there is"


def _gate(spec: RunSpec, progress: Progress, name: str, gate: Gate, *, fresh: bool) -> Decision:
    step = progress.steps[name]
    digest = step_hash(step.artifacts)
    if progress.approved.get(name) == digest or (gate.auto and not fresh):
        return withdrawn(progress, name)
    asked = _asked(spec, progress, name, gate, digest, replace(step, phase="held"))
    if not gate.auto:
        return asked
    resolved = e.GateResolved(
        run=progress.run,
        gate=asked.progress.gates[name].gate,
        choice="proceed",
        does="proceed",
        hash=digest,
        by="auto",
    )
    passed = replace(asked.progress.without_gate(name), approved={**progress.approved, name: digest})
    return asked.then(Decision(passed.with_step(name, step), (resolved,)))


def gate_before(spec: RunSpec, progress: Progress, name: str, inputs: Mapping[str, str]) -> Decision:
    """The gate before a step that is to be made: asked once for what it would be made from. What a reply sets is not
    part of that."""
    own = spec.pipeline.steps[name]
    gate = own.gate
    if gate is None or not gate.before:
        return Decision(progress)
    answered = {f"parameter:{own.local(one)}" for one in gate.sets}
    digest = combine({key: value for key, value in inputs.items() if key not in answered})
    holds = gate.when is None or gate.when.holds(spec.parameters, progress.seen)
    if not holds or progress.approved.get(name) == digest:
        return withdrawn(progress, name)
    return _asked(spec, progress, name, gate, digest, replace(progress.steps[name], phase="asked"))


def asks_for(spec: RunSpec, progress: Progress, name: str, what: str) -> Decision:
    """A step that was begun waits until a person has done something. What they let pass before is as it was."""
    gate, asked = Gate(DONE_CHOICES, what, before=True), replace(progress.steps[name], phase="asked", estimate=None)
    return _asked(spec, progress, name, gate, progress.approved.get(name, ""), asked)


def _asked(spec: RunSpec, progress: Progress, name: str, gate: Gate, digest: str, step: StepProgress) -> Decision:
    """The gate of a step is open for this result: the one that was, or a new one in the place of one about another.
    `step`: as it waits there."""
    standing = progress.gates.get(name)
    if standing is not None and standing.hash == digest:
        return Decision(progress.with_step(name, step))
    after = withdrawn(progress, name)
    opened = _opened(spec, after.progress, name, gate, digest)
    gates = {**after.progress.gates, name: opened}
    asking = replace(after.progress, gates=gates, gates_opened=progress.gates_opened + 1)
    return after.then(Decision(asking.with_step(name, step), (opened,)))


def _opened(spec: RunSpec, progress: Progress, name: str, gate: Gate, digest: str) -> e.GateOpened:
    return e.GateOpened(
        run=progress.run,
        gate=f"{name}-{progress.gates_opened + 1}",
        step=name,
        hash=digest,
        message=gate.message,
        shown=tuple({"label": one.label, "value": _value(progress, one.look.key)} for one in gate.show),
        choices=() if gate.auto else tuple(replace(choice, step="", says=()) for choice in gate.choices),
        form=tuple(_field(spec, one) for one in gate.form),
        before=gate.before,
        assignee=gate.assignee,
        due=moment_text(progress.now + gate.within) if gate.within is not None else "",
        then=gate.then,
        within=gate.within or 0.0,
    )


def _field(spec: RunSpec, name: str) -> dict[str, Any]:
    """What is asked for at a gate, with what is good for it and what it is now."""
    asked = spec.pipeline.parameters[name]
    limits = {"minimum": asked.minimum, "maximum": asked.maximum}
    return {
        "name": name,
        "type": asked.type,
        "label": asked.description or name,
        "value": spec.parameters.get(name, asked.default),
        **({"choices": list(asked.choices)} if asked.choices else {}),
        **{key: value for key, value in limits.items() if value is not None},
    }


def _value(progress: Progress, key: str) -> Any:
    found = progress.seen.get(key, ())
    value: Any = found[0] if len(found) == 1 and "[*]" not in key else list(found)
    return value if len(str(value)) <= SHOWN_LIMIT else f"{str(value)[:SHOWN_LIMIT]} …"


def step_hash(artifacts: Mapping[str, str]) -> str:
    """The content hash of a step: its artifact's own, or one over all of them."""
    return next(iter(artifacts.values())) if len(artifacts) == 1 else combine(artifacts)
