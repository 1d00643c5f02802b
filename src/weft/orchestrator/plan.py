"""Decides which steps are up to date, and says why in words. Pure: facts in, verdicts out.

A step is up to date when it completed, each artifact is on the disk with the recorded hash, and everything it was made
from is as it was. `inputs` names that everything: one entry per thing, with its hash (or its value, when that is
short), so that the reason can name what changed. What passed its schema and checks then passes now, because both are
inputs too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from weft.orchestrator.items import MapItem, item_hash
from weft.orchestrator.plan_preview import Outlook
from weft.orchestrator.run_history import found_in
from weft.orchestrator.step_facts import StepFacts
from weft.protocol.commands import StartRun
from weft.protocol.events import Cause
from weft.protocol.hashes import combine
from weft.protocol.plans import NOT_YET_MADE, Action, Plan, PlanLine
from weft.protocol.values import dataclass, replace
from weft.session.state import Completion, SessionState, StepState
from weft.workspace.mapping import item_name
from weft.workspace.pipeline import Pipeline, Step

Elsewhere = Callable[[str, Mapping[str, str], Mapping[str, str]], tuple[str, Mapping[str, str]] | None]
"""For a step, what it reads and all it is made from: the session that has its result, and the artifacts' hashes."""


@dataclass(frozen=True, slots=True)
class RunOrSkip:
    action: Action
    reason: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    cause: Cause = "rerun"
    """Of an attempt that follows others."""

    @property
    def input_hash(self) -> str:
        return combine(self.inputs)


def inputs_of(facts: StepFacts, upstream: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Everything the step's result depends on. `upstream` has the hash of each artifact of its required steps, `extra`
    the rounds and replies it is made with."""
    return {**facts.made_from, **{f"artifact:{name}": digest for name, digest in upstream.items()}, **(extra or {})}


def judge(
    step: Step,
    facts: StepFacts,
    state: StepState,
    upstream: Mapping[str, str],
    *,
    extra: Mapping[str, str] | None = None,
    edited: Container[str] = (),
    forced: str = "",
) -> RunOrSkip:
    """Run or skip, and why. `edited` are upstream artifacts that a person changed and kept; `forced` is the reason the
    person gave for running it whatever the facts are."""
    inputs = inputs_of(facts, upstream, extra)
    reason = forced or _why_run(step, facts, state, inputs, edited)
    if reason:
        return RunOrSkip("run", reason, inputs, "rerun" if forced else _cause(state, inputs))
    return RunOrSkip("skip", _why_skip(state), inputs)


def _why_run(step: Step, facts: StepFacts, state: StepState, inputs: Mapping[str, str], edited: Container[str]) -> str:
    done = state.completion
    if done is None:
        return f"the last attempt did not finish: {state.problem}" if state.problem else _never(state)
    if state.attempt > done.attempt and state.problem and state.input_hash == combine(inputs):
        return f"the last attempt did not finish: {state.problem}"
    return _file_reason(step, facts, done) or _changed(done.inputs, inputs, edited)


def _never(state: StepState) -> str:
    return "the last attempt did not finish" if state.open else NOT_YET_MADE


def _cause(state: StepState, inputs: Mapping[str, str]) -> Cause:
    """What made it necessary, when that is a person's reply or a verifier's feedback."""
    before = state.completion.inputs if state.completion else state.inputs
    changed = {key.partition(":")[0] for key in inputs.keys() - before.keys()}
    changed |= {key.partition(":")[0] for key in inputs if key in before and before[key] != inputs[key]}
    return "amend" if changed & {"reply", "overruled"} else "repair" if "repair" in changed else "rerun"


def _why_skip(state: StepState) -> str:
    how = state.completion.how if state.completion else "made"
    return {"made": "up to date", "edited": "up to date (your edit is kept)", "adopted": "up to date (adopted)"}[how]


def _file_reason(step: Step, facts: StepFacts, done: Completion) -> str:
    for name in step.artifacts:
        file, recorded = facts.files[name], done.artifacts.get(name)
        if recorded is None:
            return f"{name} is new in the pipeline"
        if file.hash is None:
            return f"{name} is missing"
        if file.hash != recorded:
            return f"{name} is damaged: {file.fault}" if file.fault else f"{name} was edited by hand"
    return f"{facts.edited[0]} was edited by hand" if facts.edited else ""


def _changed(before: Mapping[str, str], now: Mapping[str, str], edited: Container[str]) -> str:
    """What differs between two sets of inputs, in words; "" when nothing does."""
    keys = sorted(before.keys() | now.keys())
    words = [_difference(key, before.get(key), now.get(key), edited) for key in keys]
    return ", ".join(word for word in words if word)


def _difference(key: str, before: str | None, now: str | None, edited: Container[str]) -> str:
    if before == now:
        return ""
    kind, _, name = key.partition(":")
    if kind in _WORDS and now is not None:
        return _WORDS[kind].format(name=name, round=now.partition(" ")[0])
    thing = _THINGS.get(kind, kind).format(name=name) if name != "source" else "the source"
    if before is None:
        return f"it now depends on {thing}"
    if now is None:
        return f"it no longer depends on {thing}"
    if kind == "artifact" and name in edited:
        return f"{name} was edited by hand"
    verb = "were changed" if kind in ("checks", "tools") else "was changed"
    return f"{thing} {verb}" + (f" ({before} -> {now})" if kind in ("parameter", "model") else "")


_THINGS: Final = {
    "input": "the input {name}",
    "artifact": "{name}",
    "agent": "the agent {name}",
    "skill": "the skill {name}",
    "profile": "{name} in the profile",
    "parameter": "the parameter {name}",
    "schema": "the schema of {name}",
    "code": "the code in {name}",
    "checks": "its checks",
    "tools": "its tools",
    "allow": "what it is allowed",
    "map": "what its map is over",
    "files": "what is in the folder {name}",
    "calls": "its call",
    "model": "the model",
    "reply": "your reply at the gate {name}",
    "overruled": "your word against the verdict on {name}",
    "repair": "the repair that {name} asked for",
    "loop": "the loop of {name}",
    "failed": "the failure of {name}",
    "prior": "what earlier runs made of {name}",
}
_WORDS: Final = {
    "reply": "you asked for a change at the gate {name}",
    "overruled": "you overruled the verdict on {name}",
    "repair": "repair round {round}, asked for by {name}",
    "loop": "round {round} of the loop of {name}",
    "failed": "{name} has failed",
}


def forced_steps(pipeline: Pipeline, wish: StartRun) -> dict[str, str]:
    """The steps the person asks to run whatever the planner thinks, each with that reason."""
    forced = dict.fromkeys(wish.force, "asked for with --force")
    if wish.start_from:
        reason = f"asked for with --from {wish.start_from}"
        forced |= dict.fromkeys([wish.start_from, *pipeline.dependents(wish.start_from)], reason)
    for place in [name for name in forced if name in pipeline.mapped]:
        theirs = [name for name in pipeline.steps if name.startswith(f"{place}.")]
        forced = {**dict.fromkeys(theirs, forced[place]), **forced}
    return forced


def wanted_steps(pipeline: Pipeline, wish: StartRun) -> frozenset[str]:
    wanted = frozenset({wish.until, *pipeline.upstream(wish.until)} if wish.until else pipeline.steps)
    if not wish.only or not pipeline.mapped:
        return wanted
    return wanted - {name for place in pipeline.mapped for name in _not_asked_for(pipeline, wish, place)}


def _not_asked_for(pipeline: Pipeline, wish: StartRun, place: str) -> set[str]:
    """Of a pipeline for each item, the steps of the other items, and what needs the whole."""
    only = wanted_items(wish, place)
    asked = {f"{place}.{item_name(key)}." for key in pipeline.mapped[place].items if key in only}
    if not asked:  # items of another step are meant
        return set()
    theirs = {name for name in pipeline.steps if name.startswith(f"{place}.")}
    others = {name for name in theirs if not any(name.startswith(one) for one in asked)}
    return {place, *others, *(pipeline.dependents(place) - theirs)}


def wanted_items(wish: StartRun, step: str) -> frozenset[str]:
    """The items of a step that a person asks for; none for all."""
    return frozenset(one.removeprefix(f"{step}/") for one in wish.only)


def items_to_make(
    step: Step, facts: StepFacts, state: SessionState, verdict: RunOrSkip, only: frozenset[str], *, anew: bool
) -> str:
    """How many items of a step would be made and why, in words; "" when that can't be told."""
    if step.map is None or facts.items is None or verdict.action != "run":
        return ""
    items = state.items.get(step.name, {})
    known = {digest: one for digest, one in items.items() if not anew or (only and one.item not in only)}
    names = {one.item for one in known.values()}
    ahead: list[tuple[str, str]] = []
    for key, digest in facts.items:
        if only and key not in only:
            continue
        before = known.get(item_hash(step.map, verdict.inputs, MapItem(key, digest)))
        if before is None:
            ahead.append((key, "was changed" if key in names else "is new"))
        elif not before.ok:
            ahead.append((key, "failed before"))
        elif before.artifact in facts.edited:
            ahead.append((key, "was edited by hand"))
    count = f"{len(ahead)} of {len(facts.items)} items"
    if not ahead:
        return f"{count}, only gathered anew: {verdict.reason}"
    if only:
        return f"{count}: asked for with --only"
    if len(ahead) == len(facts.items):
        return f"{count}: {verdict.reason}"
    more = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    return f"{count}: item '{ahead[0][0]}' {ahead[0][1]}{more}"


def make_plan(
    pipeline: Pipeline,
    facts: Mapping[str, StepFacts],
    state: SessionState,
    wish: StartRun,
    parameters: Mapping[str, Any],
    notes: tuple[str, ...] = (),
    elsewhere: Elsewhere = lambda *_: None,
) -> Plan:
    """What a run would do now. A step behind one that runs is `conditional`: identical bytes would spare it.
    `elsewhere` knows what other sessions have of the same inputs."""
    forced, wanted = forced_steps(pipeline, wish), wanted_steps(pipeline, wish)
    lines: dict[str, PlanLine] = {}
    outlook = Outlook.of(pipeline, facts, state, parameters)
    for name, step in pipeline.steps.items():
        if name not in wanted:
            lines[name] = _line(step, "leave", f"not needed for {wish.until}")
            continue
        if step.runs == "on_failure":
            lines[name] = _line(step, "leave", "only if a step fails")
            continue
        ahead = outlook.at(name)
        if ahead is None:
            lines[name] = _line(step, "leave", passed_over(step))
            continue
        record, why = state.steps.get(name) or StepState(), forced.get(name, "")
        verdict = judge(step, facts[name], record, ahead.upstream, extra=ahead.extra, edited=ahead.edited, forced=why)
        only = wanted_items(wish, name)
        told = items_to_make(step, facts[name], state, verdict, only, anew=bool(why)) if ahead.stands else ""
        lines[name] = _line(step, verdict.action, told or verdict.reason)
        if verdict.action == "run" and not why and not ahead.extra and ahead.stands:
            taken = elsewhere(name, ahead.upstream, verdict.inputs)
            if taken is not None:
                reason = f"{verdict.reason}, reused from session {taken[0]}"
                lines[name] = replace(lines[name], reason=reason, reused=taken[0])
                outlook.will_take_over(name, taken[1])
        _follow(pipeline, lines, name)
        if (mapped := pipeline.mapped.get(name)) and mapped.source and mapped.source[0] in outlook.to_make:
            reason = f"for each item in {mapped.source[1]}, which is made before it"
            lines[name] = _line(step, "run", reason, conditional=lines[name].conditional)
        if lines[name].action == "run":
            outlook.will_make(name)
        _send_round(pipeline, lines, outlook, wanted, name)
    gates = _at_gates(pipeline, lines, outlook)
    return Plan(session=state.session, pipeline=pipeline.name, lines=tuple(lines.values()), notes=(*notes, *gates))


def _line(step: Step, action: Action, reason: str, *, conditional: bool = False) -> PlanLine:
    return PlanLine(step=step.name, action=action, reason=reason, artifacts=step.artifacts, conditional=conditional)


def _follow(pipeline: Pipeline, lines: dict[str, PlanLine], name: str) -> None:
    """What is up to date is made again after all when something it reads is."""
    step = pipeline.steps[name]
    running = [lines[before] for before in step.requires if lines[before].action == "run"]
    if lines[name].action == "skip" and running:
        lines[name] = _line(step, "run", _because_of(running[0]), conditional=True)


def _send_round(
    pipeline: Pipeline, lines: dict[str, PlanLine], outlook: Outlook, wanted: Container[str], name: str
) -> None:
    """A step that closes a unit and is up to date may still send it round again: more rounds are allowed now."""
    unit = next((unit for unit in pipeline.units if unit.name == name), None)
    if unit is None or lines[name].action != "skip":
        return
    if any(_holds_up(pipeline, lines, outlook, before) for before in pipeline.upstream(name)):
        return
    now = outlook.history.round_of(unit)
    done, most = now.round if now else 0, unit.bound(outlook.parameters)
    record = outlook.state.steps.get(name)
    if now and record and record.completion and now.left_it(found_in(pipeline, unit, record.completion.inputs)):
        return
    if done < most and unit.wants_round(outlook.parameters, outlook.seen):
        for inner in unit.steps:
            if lines[inner].action == "skip":
                reason = f"{unit.kind} round {done + 1} of {most}, asked for by {unit.name}"
                heard = pipeline.steps[inner].hears_rounds
                lines[inner] = _line(pipeline.steps[inner], "run", reason, conditional=not heard)
                outlook.will_make(inner)


def _at_gates(pipeline: Pipeline, lines: Mapping[str, PlanLine], outlook: Outlook) -> Iterator[str]:
    """Where the run would wait for a person, as far as it can be told."""
    for name, step in pipeline.steps.items():
        gate, line = step.gate, lines[name]
        if gate is None or gate.auto or line.action == "leave":
            continue
        if line.action == "run":
            may = "may wait" if gate.when or line.conditional else "will wait"
            yield f"the run {may} for your reply {'before' if gate.before else 'after'} {name}"
            continue
        if gate.before:
            continue
        if _holds_up(pipeline, lines, outlook, name):
            yield f"the run waits for your reply at the gate of {name}: what comes after it is made then"


def _holds_up(pipeline: Pipeline, lines: Mapping[str, PlanLine], outlook: Outlook, name: str) -> bool:
    """It is up to date, and nobody let it pass yet."""
    gate, record = pipeline.steps[name].gate, outlook.state.steps.get(name)
    if gate is None or gate.auto or gate.before or record is None or lines[name].action != "skip":
        return False
    approved = record.completion is not None and record.approved == record.completion.hash
    return not approved and (gate.when is None or gate.when.holds(outlook.parameters, outlook.seen))


def passed_over(step: Step) -> str:
    return f"passed over: only when {step.when}"


def _because_of(before: PlanLine) -> str:
    named = any(before.reason.startswith(name) for name in before.artifacts)
    return before.reason if named else f"{before.step} is made again"
