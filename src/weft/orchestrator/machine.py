"""What a run does next: one pure function from what is known and what just happened to events and effects.

`decide(spec, state, progress, command)` is used for the start, every settlement and every interrupt. `state` is the
fold of the log before the command; `progress` is what this run has done so far and is carried from decision to
decision (it is itself a fold of this run's events). Nothing here reads a clock or a disk, so every interleaving can be
tried in a test.

- Independent steps run side by side, at most `limit` of them.
- A step is judged when all it requires is settled, with the real hashes of what they yielded. So a re-run that yields
  identical bytes stops the wave.
- Once a step has failed for good, nothing new starts, not even a retry; what runs may finish; the run has failed.
- A settlement for an attempt that is no longer open meets a closed gate: it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, assert_never

from weft.orchestrator.plan import StepFacts, forced_steps, judge, wanted_steps
from weft.protocol.commands import AttemptFailed, AttemptSucceeded, Command, InterruptRun, StartRun
from weft.protocol.errors import Finding
from weft.protocol.events import (
    ArtifactAccepted,
    ArtifactRejected,
    Cause,
    DurableEvent,
    Outcome,
    RunStarted,
    StepCompleted,
    StepFailed,
    StepInterrupted,
    StepSkipped,
    StepStarted,
)
from weft.protocol.hashes import combine
from weft.session.state import SessionState, StepState
from weft.workspace.pipeline import Pipeline, Step

Phase = Literal["waiting", "running", "done", "failed", "left"]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What does not change during a run: the pipeline, the facts at its start, the person's wish."""

    pipeline: Pipeline
    facts: Mapping[str, StepFacts]
    wish: StartRun
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    model: str = "embedded"
    limit: int = 4


@dataclass(frozen=True, slots=True)
class StepProgress:
    phase: Phase = "waiting"
    attempt: int = 0
    tries: int = 0
    """Attempts in this run."""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    edited: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    run: int
    steps: Mapping[str, StepProgress]
    ending: Outcome | None = None
    message: str = ""

    def of(self, phase: Phase) -> list[str]:
        return [name for name, step in self.steps.items() if step.phase == phase]


@dataclass(frozen=True, slots=True)
class StartAttempt:
    step: str
    attempt: int
    feedback: tuple[str, ...]
    upstream: Mapping[str, str]
    """Hash of each artifact it reads, to be met exactly."""
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class StopAttempt:
    step: str
    attempt: int


@dataclass(frozen=True, slots=True)
class EndRun:
    """Nothing is left to do: make the files durable, then record that the run has ended."""

    run: int
    outcome: Outcome
    message: str


Effect = StartAttempt | StopAttempt | EndRun


@dataclass(frozen=True, slots=True)
class Decision:
    progress: Progress
    events: tuple[DurableEvent, ...] = ()
    effects: tuple[Effect, ...] = ()


def decide(spec: RunSpec, state: SessionState, progress: Progress | None, command: Command) -> Decision:
    match command:
        case StartRun():
            return _start(spec, state)
        case AttemptSucceeded() | AttemptFailed() | InterruptRun() if progress is None:
            raise ValueError(f"{command.type} before a run has started")
        case AttemptSucceeded():
            return _succeeded(spec, state, progress, command)
        case AttemptFailed():
            return _failed(spec, state, progress, command)
        case InterruptRun():
            return _interrupted(progress, command)
        case _:
            assert_never(command)


def _start(spec: RunSpec, state: SessionState) -> Decision:
    wanted = wanted_steps(spec.pipeline, spec.wish)
    run = (state.run.run if state.run else 0) + 1
    steps = {name: StepProgress("waiting" if name in wanted else "left") for name in spec.pipeline.steps}
    started = RunStarted(
        run=run,
        pipeline=spec.pipeline.name,
        steps=tuple(spec.pipeline.steps),
        desired=spec.wish.until or spec.pipeline.final,
        parameters=spec.parameters,
        chosen=spec.chosen,
        model=spec.model,
        profile=spec.wish.profile,
    )
    return _advance(spec, state, Progress(run, steps), [started], [])


def _succeeded(spec: RunSpec, state: SessionState, progress: Progress, command: AttemptSucceeded) -> Decision:
    step = progress.steps[command.step]
    if not _is_open(step, command.attempt) or progress.ending:
        return Decision(progress)
    hashes = {artifact.name: artifact.hash for artifact in command.artifacts}
    events: list[DurableEvent] = [
        ArtifactAccepted(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            artifact=artifact.name,
            hash=artifact.hash,
            size=len(artifact.data),
            content=artifact.inline,
        )
        for artifact in command.artifacts
    ]
    events.append(
        StepCompleted(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            hash=step_hash(hashes),
            schema_version=spec.facts[command.step].schema_version,
            ms=command.ms,
            model=command.model,
            usage=command.usage,
        )
    )
    settled = _with(progress, command.step, replace(step, phase="done", artifacts=hashes))
    return _advance(spec, state, settled, events, [])


def _failed(spec: RunSpec, state: SessionState, progress: Progress, command: AttemptFailed) -> Decision:
    step = progress.steps[command.step]
    if not _is_open(step, command.attempt) or progress.ending:
        return Decision(progress)
    tries_left = step.tries < spec.pipeline.steps[command.step].attempts
    retrying = command.retryable and tries_left and not progress.of("failed")
    events: list[DurableEvent] = [
        ArtifactRejected(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            artifact=artifact,
            findings=tuple(finding for finding in command.findings if finding.artifact == artifact),
        )
        for artifact in dict.fromkeys(finding.artifact for finding in command.findings)
    ]
    events.append(
        StepFailed(
            run=progress.run,
            step=command.step,
            attempt=command.attempt,
            kind=command.kind,
            message=command.message,
            retrying=retrying,
            ms=command.ms,
            model=command.model,
            usage=command.usage,
        )
    )
    if not retrying:
        failed = _with(progress, command.step, replace(step, phase="failed"))
        return _advance(spec, state, failed, events, [])
    feedback = tuple(map(_with_hint, command.findings)) or (command.message,)
    reason = f"attempt {step.attempt} failed"
    return _begin(spec, progress, command.step, step.attempt, step.inputs, "retry", reason, events, feedback)


def _interrupted(progress: Progress, command: InterruptRun) -> Decision:
    if progress.ending:
        return Decision(progress)
    running = {name: progress.steps[name] for name in progress.of("running")}
    events = tuple(
        StepInterrupted(run=progress.run, step=name, attempt=step.attempt, why=command.why)
        for name, step in running.items()
    )
    stops = tuple(StopAttempt(name, step.attempt) for name, step in running.items())
    ended = replace(progress, ending="interrupted", message=command.why)
    return Decision(ended, events, (*stops, EndRun(progress.run, "interrupted", command.why)))


def _advance(
    spec: RunSpec, state: SessionState, progress: Progress, events: list[DurableEvent], effects: list[Effect]
) -> Decision:
    """Judge and start every step whose turn has come; end the run when nothing is left."""
    forced = forced_steps(spec.pipeline, spec.wish)
    for name, step in spec.pipeline.steps.items() if not progress.of("failed") else ():
        if progress.steps[name].phase != "waiting":
            continue
        if any(progress.steps[before].phase != "done" for before in step.requires):
            continue
        upstream, edited = _yielded(spec, progress, step)
        record = state.steps.get(name) or StepState()
        verdict = judge(step, spec.facts[name], record, upstream, edited=edited, forced=forced.get(name, ""))
        if verdict.action == "skip" and record.completion is not None:
            events.append(StepSkipped(run=progress.run, step=name, reason=verdict.reason))
            kept = record.completion
            skipped = StepProgress("done", record.attempt, 0, kept.artifacts, kept.how == "edited", verdict.inputs)
            progress = _with(progress, name, skipped)
        elif len(progress.of("running")) < spec.limit:
            cause: Cause = "rerun" if record.attempt else "first"
            begun = _begin(spec, progress, name, record.attempt, verdict.inputs, cause, verdict.reason, events, ())
            progress, events, effects = begun.progress, list(begun.events), [*effects, *begun.effects]
    if not progress.of("running"):
        outcome, message = _outcome(progress)
        progress = replace(progress, ending=outcome, message=message)
        effects = [*effects, EndRun(progress.run, outcome, message)]
    return Decision(progress, tuple(events), tuple(effects))


def _begin(
    spec: RunSpec,
    progress: Progress,
    name: str,
    last_attempt: int,
    inputs: Mapping[str, str],
    cause: Cause,
    reason: str,
    events: list[DurableEvent],
    feedback: tuple[str, ...],
) -> Decision:
    step = progress.steps[name]
    attempt, digest = last_attempt + 1, combine(inputs)
    started = StepStarted(
        run=progress.run, step=name, attempt=attempt, cause=cause, reason=reason, input_hash=digest, inputs=inputs
    )
    running = replace(step, phase="running", attempt=attempt, tries=step.tries + 1, inputs=inputs)
    upstream, _ = _yielded(spec, progress, spec.pipeline.steps[name])
    effect = StartAttempt(name, attempt, feedback, upstream, f"{name}-{digest}")
    return Decision(_with(progress, name, running), (*events, started), (effect,))


def _yielded(spec: RunSpec, progress: Progress, step: Step) -> tuple[dict[str, str], set[str]]:
    """The artifacts of the required steps with their hashes in this run, and which are kept edits."""
    found: dict[str, str] = {}
    edited: set[str] = set()
    for before in step.requires:
        done = progress.steps[before]
        for name in spec.pipeline.steps[before].artifacts:
            found[name] = done.artifacts[name]
            if done.edited:
                edited.add(name)
    return found, edited


def _with_hint(finding: Finding) -> str:
    return f"{finding} ({finding.hint})" if finding.hint else str(finding)


def _outcome(progress: Progress) -> tuple[Outcome, str]:
    failed = progress.of("failed")
    return ("failed", f"failed: {', '.join(failed)}") if failed else ("done", "")


def _is_open(step: StepProgress, attempt: int) -> bool:
    return step.phase == "running" and step.attempt == attempt


def _with(progress: Progress, name: str, step: StepProgress) -> Progress:
    return Progress(progress.run, {**progress.steps, name: step}, progress.ending, progress.message)


def step_hash(artifacts: Mapping[str, str]) -> str:
    """The content hash of a step: its artifact's own, or one over all of them."""
    return next(iter(artifacts.values())) if len(artifacts) == 1 else combine(artifacts)
