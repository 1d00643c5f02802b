"""What a run does next: one pure function from what is known and what just happened to events and effects.

`decide(spec, state, progress, command)` is used for the start, every settlement and every interrupt, and a run that is
taken up again starts through the same door. `state` is the fold of the log before the command; `progress` is what this
run has done so far and is carried from decision to decision (it is itself a fold of this run's events). Nothing here
reads a clock or a disk, so every interleaving can be tried in a test.

- Independent steps run side by side, at most `limit` of them.
- A step is judged when all it requires is settled, with the real hashes of what they yielded. So a re-run that yields
  identical bytes stops the wave.
- What follows from a step that is done (a verdict, a round, a gate) is in `consequences`.
- Once a step has failed for good, or the budget is reached, nothing new starts, not even a retry; what runs may finish.
- A run that has taken too long has failed: what runs is stopped, and what is made on failure and at the end is made.
- A settlement for an attempt that is no longer open meets a closed gate: it changes nothing.
- The steps of a pipeline for each item wait until what the items are in is made, and the pipeline has been unfolded
  from that. What fails for good in one of them may be that item's alone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final, assert_never

from weft.models.budget import Allowance, CallEstimate, Ledger, allowance, breach, exceeded, overlaid
from weft.orchestrator.after_step import (
    asks_for,
    consequences,
    gate_before,
    passed_by,
    step_hash,
    unasked,
    withdrawn,
)
from weft.orchestrator.plan import forced_steps, judge, passed_over, wanted_items, wanted_steps
from weft.orchestrator.progress import (
    SHORT_SLEEP,
    Decision,
    EndRun,
    FindItems,
    Progress,
    RunSpec,
    StartAttempt,
    StepProgress,
    StopAttempt,
    WakeAt,
)
from weft.orchestrator.run_history import RunHistory, extra_inputs, on_base, outside, overruled, said
from weft.protocol import events as e
from weft.protocol.call_events import Used
from weft.protocol.commands import (
    AttemptFailed,
    AttemptRested,
    AttemptSucceeded,
    Command,
    InterruptRun,
    ItemsFound,
    Settlement,
    StartRun,
    TimeCame,
)
from weft.protocol.hashes import combine, hash_value
from weft.protocol.values import replace
from weft.session.recovery import waiting_for
from weft.session.state import RunState, SessionState, StepState, WaitState
from weft.session.timestamps import moment_seconds, moment_text
from weft.workspace.flow import Budget
from weft.workspace.mapping import item_name
from weft.workspace.pipeline import Step

OVERTIME: Final = "the run has taken longer than it may"


def decide(
    spec: RunSpec, state: SessionState, progress: Progress | None, command: Command, now: float = 0.0
) -> Decision:
    """`now`: seconds since 1970, from whoever has a clock."""
    if isinstance(command, StartRun):
        return _start(spec, state, now)
    if progress is None:
        raise ValueError(f"{command.type} before a run has started")
    progress = replace(progress, now=max(now, progress.now))
    if _is_closed(progress, command):
        return Decision(progress)
    match command:
        case AttemptSucceeded():
            return _succeeded(spec, state, progress, command)
        case AttemptFailed():
            return _failed(spec, state, progress, command)
        case AttemptRested():
            return _rested(spec, state, progress, command)
        case InterruptRun():
            return _interrupted(spec, state, progress, command)
        case TimeCame():
            return _advance(spec, state, Decision(progress))
        case ItemsFound():
            return _unfolded(spec, state, progress, command)
        case _:
            assert_never(command)


def overtime(progress: Progress, now: float) -> bool:
    """The run has taken longer than it may, and what runs is to be stopped."""
    counts = progress.until is not None and not progress.ending and not progress.stopped and not progress.at_end
    return counts and now >= (progress.until or 0.0)


def _start(spec: RunSpec, state: SessionState, now: float) -> Decision:
    wanted = wanted_steps(spec.pipeline, spec.wish)
    last = state.run if state.run and state.run.pipeline == spec.pipeline.name else None
    before = last if last and not last.over else None
    run = before.run if before else (state.run.run if state.run else 0) + 1
    limits = {**(before.budget if before else {}), **spec.wish.budget}
    steps = {name: StepProgress("waiting" if name in wanted else "left") for name in spec.pipeline.steps}
    started = e.RunStarted(
        run=run,
        pipeline=spec.pipeline.name,
        steps=tuple(spec.pipeline.steps),
        desired=spec.wish.until or spec.pipeline.final,
        parameters=spec.parameters,
        session=state.session,
        requires={name: list(step.before) for name, step in spec.pipeline.steps.items()},
        executors={name: step.executor for name, step in spec.pipeline.steps.items()},
        chosen=spec.chosen,
        model=spec.model,
        chosen_model=spec.chosen_model,
        profile=spec.wish.profile,
        resumed=before is not None,
        budget=limits,
        answers={**(before.answers if before else {}), **spec.wish.answers},
    )
    progress = Progress(
        run,
        steps,
        RunHistory.of(state, spec.pipeline),
        budget=overlaid(spec.pipeline.budget, limits),
        ledger=Ledger.of(before.spent) if before else Ledger(),
        gates={**state.gates},
        gates_opened=state.gates_opened,
        approved={name: step.approved for name, step in state.steps.items() if step.approved},
        verdicts={**state.verdicts},
        waits={**state.waits},
        until=_latest(spec, before, now),
        given_up=_given_up(spec, state, before),
        now=now,
    )
    return _advance(spec, state, Decision(progress, (started,)).then(_without_gone(progress, steps)))


def _unfolded(spec: RunSpec, state: SessionState, progress: Progress, command: ItemsFound) -> Decision:
    """What is settled and what runs stays; the steps of items that are new wait for their turn."""
    wanted = wanted_steps(spec.pipeline, spec.wish)
    steps = {
        name: progress.steps.get(name) or StepProgress("waiting" if name in wanted else "left")
        for name in spec.pipeline.steps
    }
    after = _without_gone(progress, steps)
    events: list[e.DurableEvent] = []
    for place in [one for one in command.steps if one in spec.pipeline.mapped]:
        theirs = [name for name in steps if name.startswith(f"{place}.")]
        known = {name: spec.pipeline.steps[name] for name in (*theirs, place)}
        events.append(
            e.StepsUnfolded(
                run=progress.run,
                step=place,
                items=spec.pipeline.mapped[place].items,
                steps=tuple(theirs),
                requires={name: list(step.before) for name, step in known.items()},
                executors={name: step.executor for name, step in known.items()},
            )
        )
    return _advance(spec, state, after.then(Decision(replace(after.progress, steps=steps), tuple(events))))


def _without_gone(progress: Progress, steps: Container[str]) -> Decision:
    """The gates of steps that the pipeline does not have any more ask about nothing."""
    after = Decision(progress)
    for gone in [name for name in progress.gates if name not in steps]:
        after = after.then(withdrawn(after.progress, gone))
    return after


def _waits_for_items(spec: RunSpec, progress: Progress) -> dict[str, str]:
    """The steps with a pipeline for each item whose items are in something that was made since they were looked for:
    with the hash of that."""
    found: dict[str, str] = {}
    for place, one in spec.pipeline.mapped.items():
        if one.source is None or progress.steps[place].phase not in ("waiting", "left"):
            continue
        maker, artifact = one.source
        done = progress.steps[maker]
        made = done.artifacts.get(artifact, "") if done.phase == "done" else ""
        if made and made != one.known and _is_asked_for(spec, progress, place):
            found[place] = done.artifacts[artifact]
    return found


def _is_asked_for(spec: RunSpec, progress: Progress, place: str) -> bool:
    """It is, or a step of one of its items."""
    if progress.steps[place].phase == "waiting":
        return True
    return bool(spec.wish.only) and place in wanted_steps(spec.pipeline, replace(spec.wish, only=frozenset()))


def _given_up(spec: RunSpec, state: SessionState, before: RunState | None) -> frozenset[str]:
    """A run that has failed, or may spend more now, tries all of it again."""
    if not spec.pipeline.mapped or before is None or before.outcome in ("failed", "over_budget"):
        return frozenset()
    failed = [name for name in before.spent if name in state.steps and state.steps[name].status == "failed"]
    kept = {place for place, one in spec.pipeline.mapped.items() if one.over.failed != "stop"}
    return frozenset(one for one in failed if any(place in kept for place, _ in spec.pipeline.items_around(one)))


def _latest(spec: RunSpec, before: RunState | None, now: float) -> float | None:
    """The moment at which the run has taken too long. One that had failed begins its time anew."""
    if spec.pipeline.timeout is None:
        return None
    begun = moment_seconds(before.begun) if before and before.begun and before.outcome != "failed" else now
    return begun + spec.pipeline.timeout


def _succeeded(spec: RunSpec, state: SessionState, progress: Progress, command: AttemptSucceeded) -> Decision:
    step = progress.steps[command.step]
    hashes = {artifact.name: artifact.hash for artifact in command.artifacts}
    events: list[e.DurableEvent] = [
        artifact.accepted(progress.run, command.step, command.attempt) for artifact in command.artifacts
    ]
    events.append(
        e.StepCompleted(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            hash=step_hash(hashes),
            schema_version=spec.facts[command.step].schema_version,
            reused=command.reused,
            **command.used.told,
        )
    )
    size = sum(len(artifact.data) for artifact in command.artifacts)
    done = replace(step, phase="done", artifacts=hashes, edited=False, size=size, estimate=None, again=None)
    settled = replace(_settled(progress, command, done), seen={**progress.seen, **command.seen})
    made = Decision(progress, tuple(events)).then(_overrun(spec, progress, settled, command.step))
    settled = made.progress
    if any(hashes[name] != known.hash for name in hashes if (known := state.artifacts.get(name))):
        # What was said of it before is about another result: a verifier that finds itself up to date says it again.
        about = {name for name in settled.verdicts if command.step in spec.pipeline.upstream(name)}
        settled = replace(settled, verdicts={name: v for name, v in settled.verdicts.items() if name not in about})
    return _advance(spec, state, made.then(consequences(spec, settled, command.step, fresh=True)))


def _settled(progress: Progress, command: Settlement, step: StepProgress) -> Progress:
    """With what the attempt took, and its step as it is from now on."""
    used = command.used
    ledger = progress.ledger.with_attempt(command.step, used.model, used.usage, used.ms, used.by_model)
    return replace(progress.with_step(command.step, step), ledger=ledger)


def _failed(spec: RunSpec, state: SessionState, progress: Progress, command: AttemptFailed) -> Decision:
    step = progress.steps[command.step]
    tries_left = step.tries < spec.pipeline.steps[command.step].attempts
    settled = _settled(progress, command, replace(step, estimate=None))
    over = _overrun(spec, progress, settled, command.step)
    progress = over.progress
    policy = spec.pipeline.steps[command.step].retry
    apart = spec.pipeline.steps[command.step].runs != "in_order"  # what failed before does not concern it
    stopped = bool(_fatal(spec, progress)) and not apart
    retrying = command.retryable and tries_left and policy.takes(command.kind) and not stopped
    budgets, estimate = _budgets(spec, progress, command.step), _estimate(spec, progress, command.step)
    short = progress.over or _short(spec, progress, command.step, budgets, estimate) if retrying else ""
    short = short or (command.message if command.kind == "over_budget" else "")
    retrying = retrying and not short
    events: list[e.DurableEvent] = [
        e.ArtifactRejected(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            artifact=artifact,
            findings=tuple(finding for finding in command.findings if finding.artifact == artifact),
        )
        for artifact in dict.fromkeys(finding.artifact for finding in command.findings)
    ]
    events.append(
        e.StepFailed(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            kind=command.kind,
            message=command.message,
            retrying=retrying,
            resumable=command.resumable,
            trace=command.trace,
            **command.used.told,
        )
    )
    failed = Decision(progress, tuple(events)).then(over)
    if short:
        reached = () if progress.over else (e.BudgetReached(run=progress.run, step=command.step, message=short),)
        waiting = replace(progress, over=short).with_step(command.step, replace(step, phase="waiting", estimate=None))
        return _advance(spec, state, failed.then(Decision(waiting, reached)))
    if not retrying:
        ended = replace(step, phase="failed", estimate=None, problem=command.message)
        return _advance(spec, state, failed.then(Decision(progress.with_step(command.step, ended))))
    feedback = tuple(one.with_hint for one in command.findings) or (command.message,)
    cause: e.Cause = "resume" if command.resumable and _keeps_its_work(spec, command.step) else "retry"
    reason = f"attempt {step.attempt} failed"
    wait = policy.wait(step.tries, f"{state.session} {command.step} {step.attempt}")
    return failed.then(
        _begin(spec, progress, command.step, step.inputs, cause, reason, feedback, step.attempt, wait=wait)
    )


def _rested(spec: RunSpec, state: SessionState, progress: Progress, command: AttemptRested) -> Decision:
    """The items that were asked for are made: the step waits for the others, and nothing that needs it is made. Or it
    waits for a person."""
    left = _settled(progress, command, replace(progress.steps[command.step], phase="left", estimate=None))
    interrupted = e.StepInterrupted(
        run=progress.run, step=command.step, attempt=command.attempt, why=command.message, **command.used.told
    )
    rested = Decision(progress, (interrupted,)).then(_overrun(spec, progress, left, command.step))
    if command.asks:
        return _advance(spec, state, rested.then(asks_for(spec, rested.progress, command.step, command.asks)))
    return _advance(spec, state, replace(rested, progress=rested.progress.with_note(command.step, command.message)))


def _interrupted(spec: RunSpec, state: SessionState, progress: Progress, command: InterruptRun) -> Decision:
    running = {name: progress.steps[name] for name in progress.of("running")}
    events = tuple(
        e.StepInterrupted(
            run=progress.run, step=name, attempt=step.attempt, why=command.why, **command.used.get(name, Used()).told
        )
        for name, step in running.items()
    )
    stops = tuple(StopAttempt(name, step.attempt) for name, step in running.items())
    if command.outcome == "failed":
        return _advance(spec, state, Decision(_out_of_time(spec, state, progress), events, stops))
    ended = replace(progress, ending=command.outcome, message=command.why)
    return Decision(ended, events, (*stops, EndRun(progress.run, command.outcome, command.why)))


def _out_of_time(spec: RunSpec, state: SessionState, progress: Progress) -> Progress:
    """What held the run up has failed: what ran, what waited for its time or a person's word, else what would be next.
    What waits for a person to see it is there all the same (`held`)."""
    late = [*progress.of("running"), *progress.of("asked"), *(one for one in progress.steps if _sleeps(progress, one))]
    if not late and not progress.of("held"):
        missing = [one for one in progress.of("waiting") if one not in state.steps or not state.steps[one].completion]
        late = [one for one in missing if spec.pipeline.steps[one].runs == "in_order"][:1]
    failed = {
        name: replace(progress.steps[name], phase="failed", estimate=None, asleep=False, problem=OVERTIME)
        for name in late
    }
    return replace(progress, steps={**progress.steps, **failed}, stopped=True)


def _advance(spec: RunSpec, state: SessionState, decided: Decision) -> Decision:
    """Judge and start every step whose turn has come; come to rest when nothing is left."""
    decided = decided.then(_in_order(spec, state, decided.progress))
    progress = decided.progress
    if overtime(progress, progress.now) and not progress.of("running"):
        progress = _out_of_time(spec, state, progress)
    unknown = _waits_for_items(spec, progress) if spec.pipeline.mapped and _goes_on(spec, progress) else {}
    if unknown:
        return decided.then(Decision(progress, effects=(FindItems(unknown),)))
    if not progress.of("running") and _outcome(spec, progress)[0] in ("done", "failed"):
        decided = decided.then(_at_the_end(spec, state, progress))
        progress = replace(decided.progress, at_end=True)
    due = _due(progress)
    outcome, message = _outcome(spec, progress)
    if progress.of("running") or (outcome == "asleep" and due is not None and due - progress.now <= SHORT_SLEEP):
        return decided.then(Decision(progress, effects=(WakeAt(due),) if due is not None else ()))
    if outcome == "done":
        decided = decided.then(unasked(spec, state, progress))
        progress = decided.progress
        message = "; ".join(progress.notes.values())
    progress = replace(progress, ending=outcome, message=message)
    told = moment_text(due) if due is not None and outcome in ("waiting", "asleep") else ""
    return decided.then(Decision(progress, effects=(EndRun(progress.run, outcome, message, told),)))


def _late(progress: Progress) -> bool:
    return progress.stopped or overtime(progress, progress.now)


def _due(progress: Progress) -> float | None:
    """The next moment at which something is to be looked at: a wait is over, or the run has taken too long."""
    waits = (moment_seconds(one.until) for name, one in progress.waits.items() if _sleeps(progress, name))
    ends = (progress.until,) if progress.until is not None and not progress.stopped and not progress.at_end else ()
    return min((*waits, *ends), default=None)


def _sleeps(progress: Progress, name: str) -> bool:
    step = progress.steps.get(name)
    return step is not None and step.phase == "waiting" and step.asleep


def _in_order(spec: RunSpec, state: SessionState, progress: Progress) -> Decision:
    decided = Decision(progress)
    again = True
    unknown = _waits_for_items(spec, progress) if spec.pipeline.mapped else {}
    while again and _goes_on(spec, progress):
        again = False
        for name, step in spec.pipeline.steps.items():
            waiting = progress.steps[name].phase == "waiting" and step.runs == "in_order"
            if not waiting or not _ready(spec, progress, step):
                continue
            if unknown and any(name == place or name.startswith(f"{place}.") for place in unknown):
                continue
            if spec.pipeline.mapped and not _has_room(spec, progress, name):
                continue
            turn = _turn(spec, state, progress, name)
            again |= any(isinstance(event, e.StepSkipped) for event in turn.events)  # others may have waited for it
            decided, progress = decided.then(turn), turn.progress
            if progress.over:
                break
    return decided


def _goes_on(spec: RunSpec, progress: Progress) -> bool:
    """Something new may be begun."""
    return not progress.over and not _late(progress) and not (progress.of("failed") and _fatal(spec, progress))


def _has_room(spec: RunSpec, progress: Progress, name: str) -> bool:
    """So many items at once as their map says; in one of them so many steps as in a run."""
    around = spec.pipeline.items_around(name)
    running = progress.of("running") if around else []
    if around and len([one for one in running if one.startswith(f"{around[0][1]}.")]) >= spec.limit:
        return False
    for place, spot in around:
        others = {one[len(place) + 1 :].partition(".")[0] for one in running if one.startswith(f"{place}.")}
        others.discard(spot[len(place) + 1 :])
        if len(others) >= spec.pipeline.mapped[place].over.at_once:
            return False
    return True


def _contained(spec: RunSpec, progress: Progress) -> dict[str, str]:
    """The steps whose failure is an item's alone: each with what the steps of that item begin with."""
    left, found = progress.of("failed"), dict[str, str]()
    for place, one in [*spec.pipeline.mapped.items()][::-1] if left else ():
        failed = {name: spot for name in left for at, spot in spec.pipeline.items_around(name) if at == place}
        items, allowed = len({*failed.values()}), one.over.allowed(len(one.items))
        if one.over.failed != "stop" and items <= allowed and items < len(one.items):
            found |= failed
            left = [name for name in left if name not in failed]
    return found


def _fatal(spec: RunSpec, progress: Progress) -> list[str]:
    """The steps whose failure is the run's."""
    failed = progress.of("failed")
    if not failed or not spec.pipeline.mapped:
        return failed
    contained = _contained(spec, progress)
    return [name for name in failed if name not in contained]


def _failed_items(spec: RunSpec, progress: Progress, place: str) -> dict[str, str]:
    """Of a step that gathers: by key, why an item has no result."""
    if place not in spec.pipeline.mapped:
        return {}
    spots = {spot: name for name, spot in _contained(spec, progress).items()}
    keys = {f"{place}.{item_name(key)}": key for key in spec.pipeline.mapped[place].items}
    return {key: f"{spots[spot]}: {progress.steps[spots[spot]].problem}" for spot, key in keys.items() if spot in spots}


def _at_the_end(spec: RunSpec, state: SessionState, progress: Progress) -> Decision:
    """The steps that are made when one has failed, or last in any case: nothing else runs or can."""
    decided = Decision(progress)
    for name, step in spec.pipeline.steps.items():
        progress = decided.progress
        others = [one for one in step.before if spec.pipeline.steps[one].runs != "in_order"]
        free = all(progress.steps[one].phase not in ("waiting", "running") for one in others)
        beside = [one for one in others if spec.pipeline.steps[one].at_end == step.at_end]  # of one inner pipeline
        free = free and not any(progress.steps[one].phase == "failed" for one in beside)
        if step.runs == "in_order" or progress.steps[name].phase != "waiting" or not free or progress.over:
            continue
        if step.runs == "on_failure" and not _failures(spec, progress, name):
            skipped = e.StepSkipped(run=progress.run, step=name, reason="passed over: nothing has failed")
            turn = Decision(progress.with_step(name, StepProgress("passed")), (skipped,))
        else:
            turn = _turn(spec, state, progress, name)
        decided = decided.then(turn)
    return decided


def _failures(spec: RunSpec, progress: Progress, name: str) -> dict[str, str]:
    """What failed for good in the pipeline of a step that is made then: by step, why."""
    step = spec.pipeline.steps[name]
    if step.runs == "in_order":
        return {}
    within = step.at_end.rpartition(".")[0]
    inside = f"{within}." if within else ""
    alone = _contained(spec, progress)
    failed = [one for one in progress.of("failed") if one not in alone or inside.startswith(f"{alone[one]}.")]
    failed += progress.of("held") if progress.stopped else []
    found = [one for one in failed if spec.pipeline.steps[one].runs == "in_order" and one.startswith(inside)]
    return {one: progress.steps[one].problem or OVERTIME for one in found}


def _turn(spec: RunSpec, state: SessionState, progress: Progress, name: str) -> Decision:
    """A step whose turn has come: passed over, up to date, held up by its gate or its time, or begun."""
    step = spec.pipeline.steps[name]
    if step.when and not step.when.holds(spec.parameters, progress.seen):
        skipped = e.StepSkipped(run=progress.run, step=name, reason=passed_over(step))
        return Decision(progress, (skipped,)).then(passed_by(spec, progress, name))
    forced = forced_steps(spec.pipeline, spec.wish)
    if spec.pipeline.units_of(name):
        hashes = {**_unasked_hashes(progress, state), **progress.hashes}
        progress = replace(progress, history=on_base(spec.pipeline, spec.facts, progress.history, name, hashes))
    before = progress.steps[name]
    upstream, edited = _yielded(spec, progress, step)
    record = state.steps.get(name) or StepState()
    extra = extra_inputs(spec.pipeline, progress.history, name)
    late = f" {moment_text(progress.until)}" if progress.stopped and progress.until is not None else ""
    extra |= {f"failed:{one}": f"{progress.steps[one].attempt}{late}" for one in _failures(spec, progress, name)}
    if lost := _failed_items(spec, progress, name):
        extra |= {f"failed:item {key}": hash_value(why) for key, why in lost.items()}
        told = f"{len(lost)} of {len(spec.pipeline.mapped[name].items)} items of {name} failed: {', '.join(lost)}"
        progress = progress.with_note(name, told)
    why = before.again[1] if before.again else forced.get(name, "")
    verdict = judge(step, spec.facts[name], record, upstream, extra=extra, edited=edited, forced=why)
    if verdict.action == "skip" and record.completion is not None:
        skip = e.StepSkipped(run=progress.run, step=name, reason=verdict.reason)
        progress = _skip(spec, progress, name, record, verdict.inputs)
        return Decision(progress, (skip,)).then(consequences(spec, progress, name, fresh=False))
    if name in progress.given_up and not why and record.input_hash == combine(verdict.inputs):
        return Decision(progress.with_step(name, StepProgress("failed", record.attempt, problem=record.problem)))
    if not spec.pipeline.items_around(name) and len(_outside_items(spec, progress)) >= spec.limit:
        return Decision(progress)
    held = _held_up(spec, progress, name, verdict.inputs)
    if held.progress.steps[name].phase == "asked" or _sleeps(held.progress, name):
        return held
    progress = held.progress
    cause: e.Cause = before.again[0] if before.again else verdict.cause if record.attempt else "first"
    if not why and record.resumable and _keeps_its_work(spec, name) and record.input_hash == combine(verdict.inputs):
        cause = "resume"
    anew = name in forced
    return held.then(_begin(spec, progress, name, verdict.inputs, cause, verdict.reason, (), record.attempt, anew=anew))


def _held_up(spec: RunSpec, progress: Progress, name: str, inputs: Mapping[str, str]) -> Decision:
    """What must come before an attempt besides what the step requires: a person's word, then its time."""
    step = spec.pipeline.steps[name]
    asked = gate_before(spec, progress, name, inputs)
    progress = asked.progress
    if progress.steps[name].phase == "asked" or not (step.wait or step.until):
        return asked
    digest, known = combine(inputs), progress.waits.get(name)
    events = asked.events
    if known is None or known.input_hash != digest:
        until = max(progress.now + step.wait if step.wait else 0.0, spec.facts[name].until)
        if until <= progress.now:
            return Decision(_awake(progress, name), events)
        known = WaitState(moment_text(until), digest)
        events = (*events, e.WaitStarted(run=progress.run, step=name, until=known.until, input_hash=digest))
        progress = replace(progress, waits={**progress.waits, name: known})
    if moment_seconds(known.until) <= progress.now:
        return Decision(_awake(progress, name), events)
    return Decision(progress.with_step(name, replace(progress.steps[name], asleep=True)), events)


def _awake(progress: Progress, name: str) -> Progress:
    return progress.with_step(name, replace(progress.steps[name], asleep=False))


def _ready(spec: RunSpec, progress: Progress, step: Step) -> bool:
    """All it requires is settled; and all that a unit around it needs from outside, so that the unit has one base."""
    if step.name in spec.pipeline.mapped and progress.of("failed"):
        return _all_ended(spec, progress, step)
    for name in step.before:
        if progress.steps[name].phase not in ("done", "passed"):
            return False
    units = spec.pipeline.units_of(step.name)
    around = (name for unit in units for name in outside(spec.pipeline, unit))
    return not units or all(progress.steps[name].phase in ("done", "passed", "left") for name in around)


def _all_ended(spec: RunSpec, progress: Progress, step: Step) -> bool:
    """Every item of a step that gathers has its result, or has failed and nothing of it runs any more."""
    spots = {*_contained(spec, progress).values()}
    running = progress.of("running")
    lost = {one for one in spots if not any(name.startswith(f"{one}.") for name in running)}
    of_lost = {name for name in step.requires for _, spot in spec.pipeline.items_around(name) if spot in lost}
    return all(progress.steps[name].phase in ("done", "passed") for name in step.before if name not in of_lost)


def _outside_items(spec: RunSpec, progress: Progress) -> list[str]:
    running = progress.of("running")
    return [name for name in running if not spec.pipeline.items_around(name)] if spec.pipeline.mapped else running


def _unasked_hashes(progress: Progress, state: SessionState) -> dict[str, str]:
    """Of the artifacts of steps that are not asked for, as the log has them: a unit's base has them in it too."""
    records = [state.steps[name].completion for name in progress.of("left") if name in state.steps]
    return {name: digest for done in records if done for name, digest in done.artifacts.items()}


def _skip(spec: RunSpec, progress: Progress, name: str, record: StepState, inputs: Mapping[str, str]) -> Progress:
    kept = record.completion
    if kept is None:
        raise AssertionError("only a completed step is skipped")
    facts = spec.facts[name]
    size = sum(file.size for file in facts.files.values())
    skipped = StepProgress(
        "done", record.attempt, artifacts=kept.artifacts, edited=kept.how == "edited", inputs=inputs, size=size
    )
    return replace(progress.with_step(name, skipped), seen={**progress.seen, **facts.seen})


def _begin(
    spec: RunSpec,
    progress: Progress,
    name: str,
    inputs: Mapping[str, str],
    cause: e.Cause,
    reason: str,
    feedback: tuple[str, ...],
    recorded: int,
    *,
    anew: bool = False,
    wait: float = 0.0,
) -> Decision:
    """An attempt, or the budget that forbids it."""
    budgets, estimate = _budgets(spec, progress, name), _estimate(spec, progress, name)
    short = _short(spec, progress, name, budgets, estimate)
    if short:
        reached = e.BudgetReached(run=progress.run, step=name, message=short)
        return Decision(replace(progress, over=short), (reached,))
    after, step = withdrawn(progress, name), progress.steps[name]
    progress = after.progress
    only = wanted_items(spec.wish, name) if spec.pipeline.steps[name].map else frozenset()
    attempt, digest = max(recorded, step.attempt) + (cause != "resume"), combine(inputs)
    started = e.StepStarted(
        run=progress.run,
        step=name,
        attempt=attempt,
        cause=cause,
        reason=reason,
        input_hash=digest,
        inputs=inputs,
        anew=anew,
        wait_ms=round(wait * 1000),
        only=tuple(sorted(only)),
    )
    running = replace(
        step,
        phase="running",
        attempt=attempt,
        tries=step.tries + 1,
        inputs=inputs,
        estimate=estimate,
        again=None,
        asleep=False,
    )
    upstream, _ = _yielded(spec, progress, spec.pipeline.steps[name])
    replies, rounds = said(spec.pipeline, progress.history, name)
    limits = [
        (one, progress.ledger.spent(steps, spec.price), _beside(progress, name, steps)) for one, steps, _ in budgets
    ]
    effect = StartAttempt(
        run=progress.run,
        step=name,
        attempt=attempt,
        feedback=feedback,
        upstream=upstream,
        idempotency_key=f"{name}-{digest}",
        replies=replies,
        rounds=rounds,
        overruled=overruled(spec.pipeline, progress.history, name),
        allowance=allowance(limits, spec.price, [whose for _, _, whose in budgets]) if limits else Allowance(),
        resumed=cause == "resume",
        inputs=inputs,
        only=only,
        wait=wait,
        anew=anew,
        failed=_failed_items(spec, progress, name) or _failures(spec, progress, name),
    )
    return after.then(Decision(progress.with_step(name, running), (started,), (effect,)))


def _keeps_its_work(spec: RunSpec, name: str) -> bool:
    """An agent's conversation, a tool's calls and items are in the log as they happen; code and a single answer are
    not."""
    step = spec.pipeline.steps[name]
    return step.map is not None or step.calls is not None or (step.executor == "agent" and bool(spec.facts[name].model))


_NO_LIMIT: Final = Budget()
StepBudget = tuple[Budget, list[str], str]
"""A limit that a step is under, with the steps that count against it and whose it is."""


def _budgets(spec: RunSpec, progress: Progress, name: str) -> list[StepBudget]:
    found: list[StepBudget] = []
    if progress.budget != _NO_LIMIT:
        found.append((progress.budget, [*progress.steps], "the run"))
    for inner in spec.pipeline.inner:
        if name in inner.steps:
            limits = [budget for budget in inner.budgets if budget != _NO_LIMIT]
            found += [(budget, [*inner.steps], f"the step {inner.place}") for budget in limits]
    own = spec.pipeline.steps[name].budget
    return [*found, (own, [name], f"the step {name}")] if own != _NO_LIMIT else found


def _short(
    spec: RunSpec, progress: Progress, name: str, budgets: Sequence[StepBudget], own: CallEstimate | None
) -> str:
    """Why the budgets do not allow another attempt of a step; "" when they do. `own`: what it is taken to need."""
    for budget, steps, whose in budgets:
        ahead = [own, *_beside(progress, name, steps)] if own else []
        limits = budget if own else Budget(minutes=budget.minutes)  # code costs nothing but time
        fault = breach(limits, progress.ledger.spent(steps, spec.price), ahead, spec.price, whose)
        if fault:
            return fault
    return ""


def _beside(progress: Progress, name: str, steps: Sequence[str]) -> list[CallEstimate]:
    """What the attempts of these steps that run now are taken to need, without this step's."""
    others = [progress.steps[other] for other in steps if other != name and progress.steps[other].phase == "running"]
    return [step.estimate for step in others if step.estimate]


def _overrun(spec: RunSpec, before: Progress, after: Progress, name: str) -> Decision:
    """What an attempt really took may be more than its estimate: the first that breaks a limit says so."""
    events: list[e.DurableEvent] = []
    for budget, steps, whose in _budgets(spec, after, name):
        fault = exceeded(budget, after.ledger.spent(steps, spec.price), whose)
        if fault:
            after = after.with_note(f"budget of {whose}", fault)
            if not exceeded(budget, before.ledger.spent(steps, spec.price), whose):
                events.append(e.BudgetReached(run=after.run, step=name, message=fault))
    return Decision(after, tuple(events))


def _estimate(spec: RunSpec, progress: Progress, name: str) -> CallEstimate | None:
    facts = spec.facts[name]
    if not facts.model:
        return None
    read = sum(progress.steps[before].size for before in spec.pipeline.steps[name].requires)
    return CallEstimate(facts.model, facts.reads + read // 4, least=spec.pipeline.steps[name].executor == "agent")


def _yielded(spec: RunSpec, progress: Progress, step: Step) -> tuple[dict[str, str], set[str]]:
    """The artifacts of the required steps with their hashes in this run, and which are kept edits."""
    found: dict[str, str] = {}
    edited: set[str] = set()
    for before in step.requires:
        done = progress.steps[before]
        for name in spec.pipeline.steps[before].artifacts if done.phase == "done" else ():
            found[name] = done.artifacts[name]
            if done.edited:
                edited.add(name)
    return found, edited


def _outcome(spec: RunSpec, progress: Progress) -> tuple[e.Outcome, str]:
    if _late(progress):
        return "failed", OVERTIME
    failed = _fatal(spec, progress)
    if failed:
        return "failed", f"failed: {', '.join(failed)}"
    if progress.over:
        return "over_budget", progress.over
    held = [*progress.of("held"), *progress.of("asked")]
    if held:
        return "waiting", waiting_for(progress.gates[name].gate for name in held)
    asleep = {name: progress.waits[name].until for name in progress.of("waiting") if _sleeps(progress, name)}
    if asleep:
        first = min(asleep, key=lambda name: asleep[name])
        return "asleep", f"until {asleep[first]}, when {first} begins"
    return "done", ""


def _is_closed(progress: Progress, command: Command) -> bool:
    """The run has ended, or the attempt that this settles is not open any more."""
    if progress.ending or not isinstance(command, Settlement):
        return bool(progress.ending)
    step = progress.steps[command.step]
    return step.phase != "running" or step.attempt != command.attempt
