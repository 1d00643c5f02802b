"""A tiny world around the pure machine: it plays settlements, interrupts and crashes, and keeps a ledger of promises.

The oracle is independent of the machine: it looks only at the events and effects that come out, and at what the world
itself did.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from weft.orchestrator.machine import decide
from weft.orchestrator.progress import Decision, EndRun, Progress, RunSpec, StartAttempt
from weft.orchestrator.step_facts import OnDisk, StepFacts
from weft.protocol import events as e
from weft.protocol.call_events import Used
from weft.protocol.commands import Artifact, AttemptFailed, AttemptSucceeded, Command, InterruptRun, StartRun
from weft.protocol.errors import Finding
from weft.protocol.events import DurableEvent, Record
from weft.protocol.hashes import hash_bytes
from weft.session.codec import decode, encode
from weft.session.recovery import PROCESS_ENDED, settle_open_attempts
from weft.session.state import SessionState, fold
from weft.workspace.pipeline import Pipeline, Step


def pipeline(requires: Mapping[str, tuple[str, ...]], attempts: int = 2) -> Pipeline:
    final = list(requires)[-1]
    steps = {
        name: Step(
            name=name, artifacts=(f"{name}.json",), code="code", agent=None, requires=before, inputs=(), parameters=(),
            profile=(), skills=(), model=None, schemas={}, checks=(), attempts=attempts, timeout=1, final=name == final,
        )
        for name, before in requires.items()
    }  # fmt: skip
    return Pipeline(
        name="p",
        description="d",
        version="1",
        file="p.yaml",
        hash="h",
        inputs={},
        parameters={},
        steps=steps,
        final=final,
    )


def content(step: str, inputs: Mapping[str, str], salt: str) -> bytes:
    """What a deterministic step yields. Steps named `c…` yield a constant, so that waves can stop."""
    return b"constant" if step.startswith("c") else f"{step}{sorted(inputs.items())}{salt}".encode()


class BrokenPromiseError(AssertionError):
    pass


def promise(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenPromiseError(what)


def is_as_before(state: SessionState, before: bytes) -> bool:
    """The bytes of what nobody touched are the same; of what was only looked at, what they say is."""
    return pickle.dumps(state) == before or pickle.loads(before) == state


@dataclass
class World:
    pipeline: Pipeline
    limit: int = 2
    made_from: dict[str, str] = field(default_factory=dict)
    """The version of each step's code."""
    salt: str = ""
    state: SessionState = field(default_factory=SessionState)
    records: list[Record] = field(default_factory=list)
    disk: dict[str, bytes] = field(default_factory=dict)
    progress: Progress | None = None
    spec: RunSpec | None = None
    running: dict[tuple[str, int], StartAttempt] = field(default_factory=dict)
    late: list[AttemptSucceeded] = field(default_factory=list)
    """Results of attempts that were interrupted; they may still arrive."""
    tries: dict[str, int] = field(default_factory=dict)
    ended: EndRun | None = None

    def copied(self) -> World:
        twin: World = pickle.loads(pickle.dumps(self))
        return twin

    # -- commands

    def start(self, wish: StartRun | None = None) -> None:
        wish = wish or StartRun()
        facts = {}
        for name, step in self.pipeline.steps.items():
            files = {a: OnDisk(hash_bytes(self.disk[a]) if a in self.disk else None) for a in step.artifacts}
            facts[name] = StepFacts({"code:x": self.made_from.get(name, "1")}, files)
        self.spec = RunSpec(self.pipeline, facts, wish, {}, limit=self.limit)
        self.progress, self.ended, self.tries = None, None, {}
        self.take(wish)

    def take(self, command: Command) -> None:
        assert self.spec is not None
        before = pickle.dumps(self.state)
        decision = decide(self.spec, self.state, self.progress, command)
        promise(is_as_before(self.state, before), "deciding changes nothing")
        self._record(decision.events)
        if isinstance(command, AttemptSucceeded) and decision.events:
            for artifact in command.artifacts:
                self.disk[artifact.name] = artifact.data
        self.progress = decision.progress
        self._act(decision)

    def succeed(self, key: tuple[str, int]) -> None:
        self.take(self._success(key))

    def fail(self, key: tuple[str, int]) -> None:
        step, attempt = key
        findings = (Finding(f"{step}.json", "", "bad"),)
        self.take(
            AttemptFailed(
                step=step, attempt=attempt, kind="rejected", message="bad", used=Used(ms=1), findings=findings
            )
        )

    def interrupt(self) -> None:
        self.late += [self._success(key) for key in self.running]
        self.take(InterruptRun())

    def crash(self) -> None:
        """The process dies; the next writer settles what was open."""
        self.late, self.running, self.progress = [], {}, None
        self.state = fold(self.records)
        if self.state.unfinished and self.state.run:
            ended = e.RunEnded(run=self.state.run.run, outcome="interrupted", message=PROCESS_ENDED)
            self._record([*settle_open_attempts(self.state, PROCESS_ENDED), ended])
        self.ended = EndRun(0, "interrupted", PROCESS_ENDED)

    # -- the ledger

    def _success(self, key: tuple[str, int]) -> AttemptSucceeded:
        step, attempt = key
        start = self.running[key]
        version = {"code:x": self.made_from.get(step, "1")}
        data = content(step, {**start.upstream, **version}, self.salt)
        artifact = Artifact(f"{step}.json", data, hash_bytes(data))
        return AttemptSucceeded(step=step, attempt=attempt, artifacts=(artifact,), used=Used(ms=1))

    def _record(self, events: tuple[DurableEvent, ...] | list[DurableEvent]) -> None:
        for event in events:
            self._judge(event)
            record = decode(encode(Record(self.state.seq + 1, "now", event))).record
            self.records.append(record)
            self.state.apply(record)

    def _judge(self, event: DurableEvent) -> None:
        match event:
            case e.StepStarted():
                step = self.pipeline.steps[event.step]
                earlier = {a for (s, a) in _attempts(self.records) if s == event.step}
                promise(event.attempt not in earlier, "an attempt number is used once")
                promise(not self.state.step(event.step).open, "a step has one open attempt at most")
                for before in step.requires:
                    done = self.state.step(before).completion
                    promise(done is not None, "a step starts after all it requires")
                    promise(not self.state.step(before).open, "nothing runs on an artifact that is being made")
                self.tries[event.step] = self.tries.get(event.step, 0) + 1
                promise(self.tries[event.step] <= step.attempts, "attempts are bounded")
                promise(not self._failed_for_good(), "nothing new starts after a step has failed")
                open_now = sum(state.open for state in self.state.steps.values())
                promise(open_now < self.limit, "at most `limit` steps run")
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                state = self.state.step(event.step)
                promise(state.open and state.attempt == event.attempt, "one settlement per intent")
            case e.StepSkipped():
                done = self.state.step(event.step).completion
                promise(done is not None, "only a completed step is skipped")
                name = f"{event.step}.json"
                promise(name in self.disk, "a skipped step's artifact is there")
                upstream = {
                    f"{b}.json": (c.artifacts[f"{b}.json"] if (c := self.state.step(b).completion) else "")
                    for b in self.pipeline.steps[event.step].requires
                }
                version = {"code:x": self.made_from.get(event.step, "1")}
                promise(
                    self.disk[name] == content(event.step, {**upstream, **version}, self.salt),
                    "a skipped step is what a run would make",
                )

    def _failed_for_good(self) -> bool:
        return any(isinstance(event, e.StepFailed) and not event.retrying for event in self._since_start())

    def _since_start(self) -> list[DurableEvent]:
        """What was recorded since the run was begun or taken up again."""
        start = max((n for n, r in enumerate(self.records) if isinstance(r.event, e.RunStarted)), default=0)
        return [record.event for record in self.records[start:]]

    def _act(self, decision: Decision) -> None:
        for effect in decision.effects:
            promise(self.ended is None, "nothing happens after the end")
            if isinstance(effect, StartAttempt):
                self.running[effect.step, effect.attempt] = effect
            elif isinstance(effect, EndRun):
                self.ended = effect
        self.running = {
            key: start
            for key, start in self.running.items()
            if self.state.step(key[0]).open and self.state.step(key[0]).attempt == key[1]
        }
        if self.ended and not any(isinstance(event, e.RunEnded) for event in self._since_start()):
            promise(not self.running, "a run ends when nothing runs")
            self._judge_end(self.ended)
            self._record([e.RunEnded(run=self.ended.run, outcome=self.ended.outcome, message=self.ended.message)])
        promise(self.ended is not None or bool(self.running), "a run that has not ended has something running")

    def _judge_end(self, end: EndRun) -> None:
        if end.outcome != "done":
            return
        for name, step in self.pipeline.steps.items():
            done = self.state.step(name).completion
            promise(done is not None, "done means that every step has a result")
            upstream = {f"{b}.json": hash_bytes(self.disk[f"{b}.json"]) for b in step.requires}
            version = {"code:x": self.made_from.get(name, "1")}
            promise(
                self.disk[f"{name}.json"] == content(name, {**upstream, **version}, self.salt),
                "done means that every artifact is made from the ones before it",
            )


def _attempts(records: list[Record]) -> Iterator[tuple[str, int]]:
    for record in records:
        if isinstance(record.event, e.StepStarted):
            yield record.event.step, record.event.attempt


def moves(world: World) -> list[tuple[str, tuple[str, int] | None]]:
    """Everything that may happen next."""
    if world.ended:
        return []
    found: list[tuple[str, tuple[str, int] | None]] = []
    for key in world.running:
        found += [("succeed", key), ("fail", key)]
    return [*found, ("interrupt", None), ("crash", None)]


def play(world: World, move: tuple[str, tuple[str, int] | None]) -> None:
    kind, key = move
    match kind, key:
        case "succeed", (str(), int()):
            assert key is not None
            world.succeed(key)
        case "fail", (str(), int()):
            assert key is not None
            world.fail(key)
        case "interrupt", _:
            world.interrupt()
            late, world.late = world.late, []
            for settlement in late:
                count = len(world.records)
                world.take(settlement)
                promise(len(world.records) == count, "a late result meets a closed gate")
        case _:
            world.crash()


def finish(world: World) -> None:
    """From wherever it is, an undisturbed run comes to its end, and the one after it has nothing to do."""
    for expect_nothing in (False, True):
        world.start()
        promise(not (expect_nothing and world.running), "a finished session has nothing to do")
        while not world.ended:
            world.succeed(next(iter(world.running)))
        promise(world.ended.outcome == "done", "an undisturbed run is done")


def explore(world: World, depth: int) -> int:
    """All interleavings up to a depth; from each end the session must come to a good end. Returns how many."""
    if depth == 0 or world.ended:
        closing = world.copied()
        if not closing.ended:
            closing.crash()
        finish(closing)
        return 1
    total = 0
    for move in moves(world):
        branch = world.copied()
        play(branch, move)
        total += explore(branch, depth - 1)
    return total


def random_graph(rng: random.Random) -> dict[str, tuple[str, ...]]:
    names = [f"{rng.choice('abc')}{index}" for index in range(rng.randint(1, 5))]
    graph: dict[str, tuple[str, ...]] = {}
    for index, name in enumerate(names):
        graph[name] = tuple(sorted(rng.sample(names[:index], rng.randint(0, min(2, index)))))
    return graph


def walk(seed: int) -> None:
    """One random life of a session: runs, failures, interrupts, crashes, edited and deleted files, new code."""
    rng = random.Random(seed)
    world = World(pipeline(random_graph(rng), attempts=rng.randint(1, 3)), limit=rng.randint(1, 3))
    for _ in range(rng.randint(1, 4)):
        world.start(StartRun(force=frozenset(n for n in world.pipeline.steps if rng.random() < 0.1)))
        while not world.ended:
            chosen = moves(world)
            weights = [{"succeed": 6, "fail": 2, "interrupt": 0.3, "crash": 0.3}[move[0]] for move in chosen]
            play(world, rng.choices(chosen, weights)[0])
        for name in list(world.disk):
            if rng.random() < 0.15:
                del world.disk[name]
            elif rng.random() < 0.1:
                world.disk[name] += b" edited"
        for name in world.pipeline.steps:
            if rng.random() < 0.2:
                world.made_from[name] = str(rng.randint(1, 3))
    finish(world)
