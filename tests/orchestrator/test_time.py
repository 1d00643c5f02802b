"""Waits, gates before steps and what is made at the end: every way through small pipelines, with crashes and the clock
going on anywhere, and mutants of the machine that must be caught. The oracle looks only at what comes out."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pytest

from tests.orchestrator.model import BrokenPromiseError, pipeline, promise
from weft.orchestrator import machine
from weft.orchestrator.machine import decide
from weft.orchestrator.progress import Decision, EndRun, Progress, RunSpec, StartAttempt, WakeAt
from weft.orchestrator.rest_commands import at_rest, overdue
from weft.orchestrator.step_facts import OnDisk, StepFacts
from weft.protocol import events as e
from weft.protocol.call_events import Used
from weft.protocol.commands import (
    Artifact,
    AttemptFailed,
    AttemptSucceeded,
    Command,
    InterruptRun,
    ReplyToGate,
    StartRun,
    TimeCame,
)
from weft.protocol.events import DurableEvent, Record
from weft.protocol.hashes import hash_bytes
from weft.session.recovery import closing
from weft.session.state import SessionState, fold
from weft.session.timestamps import moment_seconds, moment_text
from weft.session.transitions import Standing, after
from weft.workspace.flow import Gate
from weft.workspace.flow_rules import DEFAULT_CHOICES
from weft.workspace.pipeline import Pipeline

BEGIN: Final = 1_000_000.0
WAIT: Final = 100.0
TICK: Final = 70.0
BEFORE: Final = Gate(tuple(one for one in DEFAULT_CHOICES if one.does != "amend"), before=True)


def timed(*, gate: Gate | None = None, timeout: float | None = None) -> Pipeline:
    """a -> b (waits) -> c (a gate before it), tell (on failure), tidy (in any case)."""
    bare = pipeline({"a": (), "b": ("a",), "tell": ("a",), "tidy": (), "c": ("b",)}, attempts=1)
    change: dict[str, dict[str, Any]] = {
        "b": {"wait": WAIT},
        "c": {"gate": gate},
        "tell": {"runs": "on_failure"},
        "tidy": {"runs": "finally"},
    }
    steps = {name: replace(step, **change.get(name, {})) for name, step in bare.steps.items()}
    return replace(bare, steps=steps, timeout=timeout)


def nested() -> Pipeline:
    """a -> late (a pipeline: x waits, then y) -> c; tell (one that is made on failure: x, then y), tidy."""
    requires = {"a": (), "late.x": ("a",), "late.y": ("late.x",), "tell.x": (), "tell.y": ("tell.x",), "tidy": ()}
    bare = pipeline({**requires, "c": ("late.y",)}, attempts=1)
    change: dict[str, dict[str, Any]] = {
        "late.x": {"wait": WAIT},
        "tell.x": {"runs": "on_failure", "at_end": "tell"},
        "tell.y": {"runs": "on_failure", "at_end": "tell"},
        "tidy": {"runs": "finally", "at_end": "tidy"},
    }
    return replace(bare, steps={name: replace(step, **change.get(name, {})) for name, step in bare.steps.items()})


@dataclass
class World:
    pipeline: Pipeline
    now: float = BEGIN
    state: SessionState = field(default_factory=SessionState)
    standing: Standing = field(default_factory=Standing)
    records: list[Record] = field(default_factory=list)
    disk: dict[str, str] = field(default_factory=dict)
    progress: Progress | None = None
    running: dict[str, StartAttempt] = field(default_factory=dict)
    wakes: float | None = None
    failed: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    """Since the run was last started."""
    made: tuple[str, ...] = ()

    # -- what may happen

    def ways(self) -> Iterator[tuple[str, Callable[[World], None]]]:
        if self.progress is not None:
            for name in self.running:
                yield f"{name} succeeds", partial(World.settle, name=name, ok=True)
                yield f"{name} fails", partial(World.settle, name=name, ok=False)
            yield "crash", World.crash
            if self.wakes is not None:
                yield "time", World.tick
            return
        run = self.state.run
        if run is None or not run.over:
            yield "start", World.start
        if run is not None and self.state.gates:
            yield "reply", World.reply
        if run is not None and self.state.due:
            yield "time", World.tick

    def start(self) -> None:
        facts = {
            name: StepFacts({"code:x": "1"}, {f"{name}.json": OnDisk(self.disk.get(f"{name}.json"))})
            for name in self.pipeline.steps
        }
        self.spec = RunSpec(self.pipeline, facts, StartRun(), {})
        self.failed, self.begun = set(), set()
        self.take(StartRun())

    def take(self, command: Command) -> None:
        decision = decide(self.spec, self.state, self.progress, command, self.now)
        self.record(decision.events)
        self.progress, self.wakes = decision.progress, None
        if isinstance(command, AttemptSucceeded):
            self.disk |= {one.name: one.hash for one in command.artifacts}
        ends = [one for one in decision.effects if isinstance(one, EndRun)]
        for effect in decision.effects:
            if isinstance(effect, StartAttempt):
                self.running[effect.step] = effect
            elif isinstance(effect, WakeAt):
                self.wakes = effect.at
        going = bool(ends) or bool(self.running) or self.wakes is not None
        promise(going, "a run that has not ended has something to wait for")
        for end in ends:
            self.record([e.RunEnded(run=end.run, outcome=end.outcome, message=end.message, due=end.due)])
            self.progress, self.wakes = None, None
            self.rested(end)

    def settle(self, name: str, *, ok: bool) -> None:
        start = self.running.pop(name)
        if ok:
            data = f"{name} {sorted(start.upstream.items())} {sorted(start.failed)}".encode()
            artifact = Artifact(f"{name}.json", data, hash_bytes(data))
            self.take(AttemptSucceeded(step=name, attempt=start.attempt, artifacts=(artifact,), used=Used(ms=1)))
        else:
            self.take(AttemptFailed(step=name, attempt=start.attempt, kind="error", message="no", used=Used(ms=1)))

    def tick(self) -> None:
        """The clock goes on to the next moment that matters, or not quite."""
        due = self.wakes if self.wakes is not None else moment_seconds(self.state.due)
        self.now = max(self.now, min(due, self.now + TICK))
        if self.progress is not None:
            if machine.overtime(self.progress, self.now):
                self.running = {}
                self.take(InterruptRun(why=machine.OVERTIME, outcome="failed"))
            else:
                self.take(TimeCame())
        elif self.now >= due:
            self.record(overdue(self.state, self.now))
            if self.state.run is not None and not self.state.run.over:
                self.start()

    def reply(self) -> None:
        gate = next(iter(self.state.gates.values()))
        self.record(at_rest(self.state, ReplyToGate(gate=gate.gate, choice="proceed")))
        self.start()

    def crash(self) -> None:
        self.running, self.progress, self.wakes = {}, None, None
        self.state = fold(self.records)
        self.record(closing(self.state))

    # -- what must hold

    def record(self, events: tuple[DurableEvent, ...] | list[DurableEvent]) -> None:
        self.standing = after(self.standing, events)
        for event in events:
            self.judge(event)
            record = Record(self.state.seq + 1, moment_text(self.now), event)
            self.records.append(record)
            self.state.apply(record)

    def judge(self, event: DurableEvent) -> None:
        past = [record.event for record in self.records]
        match event:
            case e.WaitStarted():
                same = [one for one in past if isinstance(one, e.WaitStarted) and one.step == event.step]
                done = [i for i, one in enumerate(past) if isinstance(one, e.StepCompleted) and one.step == event.step]
                anew = all(one.input_hash != event.input_hash for one in same)
                promise(anew or bool(done), "the same thing is waited for once")
                promise(moment_seconds(event.until) >= self.now + WAIT - 0.01, "it waits as long as it says")
            case e.StepFailed():
                self.failed.add(event.step)
            case e.StepStarted():
                self.begins(event, past)
            case _:
                pass

    @property
    def ends(self) -> set[str]:
        return {name for name, step in self.pipeline.steps.items() if step.runs != "in_order"}

    def inside(self, name: str) -> list[str]:
        """What must be there before a step of an inner pipeline that is made at the end."""
        step = self.pipeline.steps[name]
        return [one for one in step.requires if step.at_end and self.pipeline.steps[one].at_end == step.at_end]

    def begins(self, event: e.StepStarted, past: list[DurableEvent]) -> None:
        step = self.pipeline.steps[event.step]
        for before in self.inside(event.step):
            done = before in self.state.steps and self.state.steps[before].status == "completed"
            promise(done, "an inner pipeline at the end goes in order, as far as it succeeds")
        self.begun.add(event.step)
        if step.runs == "in_order":
            promise(not self.failed, "after a failure nothing in order begins")
            promise(not self.late, "out of time nothing in order begins")
        if step.runs == "on_failure":
            follows = bool(self.failed - self.ends) or self.late
            promise(follows, "what is made on failure follows one")
        if step.runs != "in_order":
            promise(all(self.pipeline.steps[one].runs != "in_order" for one in self.running), "the end comes last")
        if step.wait:
            waits = [one for one in past if isinstance(one, e.WaitStarted) and one.step == event.step]
            fits = [one for one in waits if one.input_hash == event.input_hash]
            promise(bool(fits), "it has waited for what it is made from")
            promise(moment_seconds(fits[-1].until) <= self.now, "its time has come")
        if step.gate is not None:
            let = [one for one in past if isinstance(one, e.GateResolved) and one.does == "proceed"]
            promise(bool(let), "it was let pass")

    @property
    def late(self) -> bool:
        """Told from the log alone: a run that failed began its time anew."""
        begun = [one for one in self.records if isinstance(one.event, e.RunStarted)]
        ended = [one.seq for one in self.records if isinstance(one.event, e.RunEnded) and one.event.outcome == "failed"]
        first = next((one for one in begun if not ended or one.seq > ended[-1]), None)
        limit = self.pipeline.timeout
        return limit is not None and first is not None and self.now >= moment_seconds(first.at) + limit

    def rested(self, end: EndRun) -> None:
        promise(fold(self.records) == self.state, "the log says it all")
        self.made = (*self.made, end.outcome)
        steps = self.state.steps
        match end.outcome:
            case "done":
                for name, step in self.pipeline.steps.items():
                    if step.runs == "on_failure":
                        promise(name not in self.begun, "nothing failed")
                    else:
                        promise(steps[name].status == "completed", f"{name} is there")
            case "failed" if self.failed - self.ends or not self.failed:
                for name in self.ends:
                    if any(one in self.failed for one in self.inside(name)):
                        continue
                    known = steps[name].status in ("completed", "failed")
                    promise(known and name in self.begun, f"{name} was made after the failure")
            case "asleep":
                promise(moment_seconds(end.due) > self.now, "it goes on later")
            case "waiting":
                promise(bool(self.state.gates), "a gate is open")
            case _:
                pass

    @property
    def key(self) -> str:
        run = self.state.run
        phases = {n: (s.phase, s.attempt, s.asleep) for n, s in self.progress.steps.items()} if self.progress else {}
        seen = {n: (s.status, s.attempt, s.approved, s.input_hash) for n, s in self.state.steps.items()}
        rest = (self.now, self.wakes, sorted(self.running), self.state.waits, self.state.gates)
        return repr((phases, seen, run and (run.outcome, run.due, run.begun), rest, sorted(self.failed), self.begun))


def explored(flow: Pipeline, depth: int) -> tuple[int, set[str]]:
    """Every way of at most so many things that happen; how many worlds there were, and how their runs came to rest."""
    seen: set[str] = set()
    outcomes: set[str] = set()
    ahead = [World(flow)]
    for _ in range(depth):
        following: list[World] = []
        for world in ahead:
            for _, way in world.ways():
                other = pickle.loads(pickle.dumps(world))
                way(other)
                outcomes.update(other.made)
                if other.key not in seen:
                    seen.add(other.key)
                    following.append(other)
        ahead = following
    return len(seen), outcomes


@pytest.mark.slow
def test_every_way_through_a_wait_a_failure_and_the_end() -> None:
    worlds, outcomes = explored(timed(), 8)
    assert worlds > 200
    assert outcomes == {"asleep", "done", "failed"}


def test_every_way_through_inner_pipelines_that_wait_and_come_last() -> None:
    worlds, outcomes = explored(nested(), 7)
    assert worlds > 100
    assert outcomes >= {"asleep", "failed"}


@pytest.mark.slow
def test_every_way_through_a_gate_before_a_step() -> None:
    worlds, outcomes = explored(timed(gate=BEFORE), 8)
    assert worlds > 200
    assert outcomes >= {"asleep", "waiting", "failed"}


@pytest.mark.slow
def test_every_way_through_a_gate_whose_time_ends_and_a_run_that_takes_too_long() -> None:
    chooses = replace(BEFORE, within=WAIT, then="proceed")
    _, outcomes = explored(timed(gate=chooses), 7)
    assert outcomes >= {"asleep", "waiting"}
    _, outcomes = explored(timed(timeout=150.0), 7)
    assert outcomes == {"asleep", "done", "failed"}


def _never_asleep(*given: Any) -> Any:
    return Decision(given[1])


def _always_anew(spec: RunSpec, progress: Progress, name: str, inputs: Any) -> Any:
    return _HELD_UP(spec, replace(progress, waits={}), name, inputs)


def _all_at_once(spec: RunSpec, state: SessionState, progress: Progress) -> Decision:
    steps = {name: replace(step, requires=()) for name, step in spec.pipeline.steps.items()}
    return _AT_THE_END(replace(spec, pipeline=replace(spec.pipeline, steps=steps)), state, progress)


_HELD_UP = machine._held_up
_AT_THE_END = machine._at_the_end
MUTANTS: Final[dict[str, tuple[Any, str, Any]]] = {
    "no step waits": (machine, "_held_up", _never_asleep),
    "a wait is forgotten": (machine, "_held_up", _always_anew),
    "nobody is asked before": (machine, "gate_before", lambda spec, progress, *_: Decision(progress)),
    "a failure is not looked at": (machine, "_failures", lambda *_: {}),
    "every end is a failure": (machine, "_failures", lambda *_: {"a": "no"}),
    "nothing is due": (machine, "_due", lambda *_: None),
    "out of time there is no end": (machine, "_out_of_time", lambda *given: replace(given[2], stopped=True, over="x")),
    "the end is out of time too": (machine, "_latest", lambda spec, before, now: now),
    "an inner pipeline at the end goes all at once": (machine, "_at_the_end", _all_at_once),
    "the end comes at once": (machine, "_at_the_end", lambda spec, state, progress: Decision(progress)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, mutant = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, mutant)

    def lives() -> None:
        if "out of time" in name:
            explored(timed(timeout=150.0), 6)
            return
        if "inner" in name:
            explored(nested(), 6)
            return
        explored(timed(gate=BEFORE), 7)
        explored(timed(), 8)

    with pytest.raises((BrokenPromiseError, AssertionError, KeyError, ValueError)):
        lives()
