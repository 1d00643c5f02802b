"""A tiny world around the whole run machine: gates, rounds, budgets, breakouts, crashes, and a ledger of promises.

The world plays everything that may happen to a run: settlements in every order, failures, interrupts, a process that
dies at any point (also between its last decision and the record of the end), replies, amendments, breakouts, budgets
that are raised. The ledger (`flow_ledger`) is independent of the machine: it looks only at the events and effects that
come out, and at what the world itself did.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.orchestrator.flow_ledger import SOURCE, Ledger
from tests.orchestrator.model import is_as_before, promise
from weft.orchestrator.machine import decide
from weft.orchestrator.map_expansion import unfold
from weft.orchestrator.plan import make_plan
from weft.orchestrator.progress import Decision, EndRun, FindItems, Progress, RunSpec, StartAttempt
from weft.orchestrator.rest_commands import asked_back, at_rest
from weft.orchestrator.step_facts import OnDisk, StepFacts
from weft.protocol import events as e
from weft.protocol.call_events import Used
from weft.protocol.commands import (
    Artifact,
    AttemptFailed,
    AttemptSucceeded,
    CancelRun,
    Command,
    InterruptRun,
    ItemsFound,
    ReplyToGate,
    ResolveConfirmation,
    RestCommand,
    StartRun,
)
from weft.protocol.events import DurableEvent, Record
from weft.protocol.hashes import hash_bytes
from weft.session.codec import decode, encode
from weft.session.recovery import closing
from weft.session.state import SessionState, fold
from weft.session.transitions import Standing, after
from weft.workspace.flow import look
from weft.workspace.pipeline import Pipeline

MODEL = "m"
READS = 100
USED = {"input": 500, "output": 400}
"""What each attempt of a model really takes."""
Move = tuple[str, str]
ITEMS = {"1": ["p", "q"], "2": ["q", "r"], "3": ["q"]}
"""By its version."""


def price(model: str, usage: Mapping[str, int]) -> Decimal | None:
    return Decimal(sum(usage.values())) / 1000 if model == MODEL else None


@dataclass
class FlowWorld:
    pipeline: Pipeline
    """With the steps of the items that were last looked for."""
    needs: Mapping[str, int | None] = field(default_factory=dict)
    """By step that closes a unit: content from which round on; None when it can't tell."""
    models: frozenset[str] = frozenset()
    """The steps that a model makes; code makes the others."""
    parameters: dict[str, Any] = field(default_factory=dict)
    limit: int = 2
    version: dict[str, str] = field(default_factory=dict)
    budget: dict[str, float] = field(default_factory=dict)
    """The last one a person set."""
    state: SessionState = field(default_factory=SessionState)
    standing: Standing = field(default_factory=Standing)
    records: list[Record] = field(default_factory=list)
    disk: dict[str, bytes] = field(default_factory=dict)
    progress: Progress | None = None
    spec: RunSpec | None = None
    running: dict[tuple[str, int], StartAttempt] = field(default_factory=dict)
    ended: EndRun | None = None
    dies_at_the_end: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    written: Pipeline = field(init=False)
    """As it is in the files: without items."""

    def __post_init__(self) -> None:
        self.written = self.pipeline

    def unfold(self) -> None:
        """The items that are on the disk now."""
        if self.written.mapped:
            self.pipeline, _ = unfold(self.written, self.disk.get, {}, {})

    def plain(self, step: str) -> str:
        """Its name in the files: what it needs, and who makes it, is said there."""
        return self.written.written(step)

    def is_of_model(self, step: str) -> bool:
        return self.plain(step) in self.models

    def copied(self) -> FlowWorld:
        twin = copy.copy(self)
        twin.state, twin.standing, twin.ledger = pickle.loads(pickle.dumps((self.state, self.standing, self.ledger)))
        twin.records, twin.disk, twin.running = [*self.records], {**self.disk}, {**self.running}
        twin.version, twin.parameters, twin.budget = {**self.version}, {**self.parameters}, {**self.budget}
        return twin

    def key(self) -> int:
        """What tells two situations apart: everything that can make a difference from here on."""
        state = self.state
        told = (state.steps, state.run, state.gates, state.rounds, state.verdicts, state.confirming, state.gates_opened)
        mine = (sorted(self.running), self.ended, sorted(self.disk.items()), self.dies_at_the_end, self.ledger)
        return hash(repr((told, self.progress, mine, self.version, self.parameters, self.budget)))

    # -- what is made

    def made(self, step: str, start: StartAttempt) -> bytes:
        """What a deterministic step yields from what it is given, and from nothing else."""
        value: dict[str, Any] = {
            "step": step,
            "version": self.version.get(step, "1"),
            "from": dict(sorted(start.upstream.items())),
            "rounds": {unit: [now["round"], now["feedback"]] for unit, now in sorted(start.rounds.items())},
            "replies": {name: list(texts) for name, texts in sorted(start.replies.items())},
            "turn": sum(now["round"] for now in start.rounds.values()),
        }
        if self.plain(step) in self.needs:
            need, now = self.needs[self.plain(step)], start.rounds.get(step, {"round": 0})["round"]
            value |= {"feedback": f"more than {now}", "again": need is not None and now < need}
            value["verdict"] = "maybe" if need is None else "passed" if now >= need else "failed"
        if step.rpartition(".")[2].startswith("c"):
            value = {"step": step}
        if step == SOURCE:
            value["items"] = ITEMS[value["version"]]
        return json.dumps(value).encode()

    def seen(self, step: str) -> dict[str, tuple[Any, ...]]:
        there = {a: json.loads(self.disk[a]) for a in self.pipeline.steps[step].artifacts if a in self.disk}
        return look(self.pipeline.steps[step].looks, there)

    def facts(self) -> dict[str, StepFacts]:
        found = {}
        for name, step in self.pipeline.steps.items():
            files = {
                a: OnDisk(hash_bytes(self.disk[a]), size=len(self.disk[a])) if a in self.disk else OnDisk(None)
                for a in step.artifacts
            }
            model = MODEL if self.is_of_model(name) else ""
            reads = READS if model else 0
            version = {"code:x": self.version.get(name, "1")}
            found[name] = StepFacts(version, files, seen=self.seen(name), model=model, reads=reads)
        return found

    # -- commands

    def start(self, wish: StartRun | None = None) -> None:
        wish = wish or StartRun()
        if wish.budget:
            self.budget = {**self.budget, **wish.budget}
        self.unfold()
        facts, before = self.facts(), pickle.dumps(self.state)
        plan = make_plan(self.pipeline, facts, self.state, wish, self.parameters)
        promise(is_as_before(self.state, before), "planning changes nothing")
        self.spec = RunSpec(self.pipeline, facts, wish, self.parameters, limit=self.limit, price=price)
        self.progress, self.ended, self.running = None, None, {}
        count = len(self.records)
        self.take(wish)
        self.ledger.judge_plan(self, plan, [record.event for record in self.records[count:]])

    def take(self, command: Command) -> None:
        assert self.spec is not None
        before = pickle.dumps(self.state)
        decision = decide(self.spec, self.state, self.progress, command)
        promise(is_as_before(self.state, before), "deciding changes nothing")
        if isinstance(command, AttemptSucceeded) and decision.events:
            self.disk |= {artifact.name: artifact.data for artifact in command.artifacts}
        self.record(decision.events)
        self.progress = decision.progress
        self._act(decision)

    def record(self, events: tuple[DurableEvent, ...] | list[DurableEvent]) -> None:
        self.standing = after(self.standing, events)
        for event in events:
            self.ledger.judge(self, event)
            record = decode(encode(Record(self.state.seq + 1, "now", event))).record
            self.records.append(record)
            self.state.apply(record)

    def say(self, command: RestCommand) -> None:
        before = pickle.dumps(self.state)
        events = at_rest(self.state, command)
        promise(is_as_before(self.state, before), "replying changes nothing before it is recorded")
        self.record(events)

    def crash(self) -> None:
        """The process dies; the next writer puts the log in order."""
        self.running, self.progress, self.dies_at_the_end = {}, None, False
        promise(fold(self.records) == self.state, "the state is the fold of the log")
        self.state = fold(self.records)
        events = closing(self.state)
        self.record(events)
        if events:
            last = events[-1]
            assert isinstance(last, e.RunEnded)
            self.ended = EndRun(last.run, last.outcome, last.message)
        elif self.ended is None:
            self.ended = EndRun(0, "interrupted", "")

    def success(self, key: tuple[str, int]) -> AttemptSucceeded:
        step, attempt = key
        start = self.running[key]
        for name, digest in start.upstream.items():
            promise(hash_bytes(self.disk[name]) == digest, "an attempt reads exactly what it is made from")
        data = self.made(step, start)
        name = self.pipeline.steps[step].artifacts[0]
        seen = look(self.pipeline.steps[step].looks, {name: json.loads(data)})
        artifact = Artifact(name, data, hash_bytes(data))
        return AttemptSucceeded(step=step, attempt=attempt, artifacts=(artifact,), used=self._took(step), seen=seen)

    def _took(self, step: str) -> Used:
        return Used(MODEL, USED, ms=60) if self.is_of_model(step) else Used(ms=60)

    def fail(self, key: tuple[str, int]) -> None:
        step, attempt = key
        late = self.success(key)
        self.take(AttemptFailed(step=step, attempt=attempt, kind="error", message="bad", used=self._took(step)))

        self._refused([late])

    def interrupt(self) -> None:
        late = [self.success(key) for key in self.running]
        self.take(InterruptRun())
        self._refused(late)

    def _refused(self, late: list[AttemptSucceeded]) -> None:
        for settlement in late if self.progress else ():
            count = len(self.records)
            self.take(settlement)
            promise(len(self.records) == count, "a late result meets a closed gate")

    # -- effects

    def _act(self, decision: Decision) -> None:
        for effect in decision.effects:
            promise(self.ended is None, "nothing happens after the end")
            if isinstance(effect, StartAttempt):
                self.ledger.judge_start(self, effect)
                self.running[effect.step, effect.attempt] = effect
            elif isinstance(effect, EndRun):
                self.ended = effect
        found = next((effect for effect in decision.effects if isinstance(effect, FindItems)), None)
        if found is not None and self.spec is not None:
            self.unfold()
            self.spec = replace(self.spec, pipeline=self.pipeline, facts=self.facts())
            self.take(ItemsFound(steps=tuple(found.steps)))
            return
        still = self.state.steps
        self.running = {
            key: start for key, start in self.running.items() if still[key[0]].open and still[key[0]].attempt == key[1]
        }
        promise(self.ended is not None or bool(self.running), "a run that has not ended has something running")
        if self.ended and self.state.unfinished:
            promise(not self.running, "a run ends when nothing runs")
            if self.dies_at_the_end:
                self.crash()
                return
            self.ledger.judge_end(self, self.ended)
            self.record([e.RunEnded(run=self.ended.run, outcome=self.ended.outcome, message=self.ended.message)])


# -- what may happen next


def moves(world: FlowWorld, *, amend: bool = True) -> list[tuple[Move, int]]:
    """Each with how much it disturbs: an undisturbed life has none of those."""
    if not world.ended:
        keys = [f"{step} {attempt}" for step, attempt in world.running]
        done: list[tuple[Move, int]] = [(("succeed", key), 0) for key in keys]
        failed: list[tuple[Move, int]] = [(("fail", key), 1) for key in keys]
        return [*done, *failed, (("interrupt", ""), 1), (("crash", ""), 1), (("die at the end", ""), 1)]
    state = world.state
    if state.run is None or state.run.over:
        return []
    found: list[tuple[Move, int]] = [(("restart", ""), 1)]
    if state.confirming:
        found += [(("stay", ""), 0), (("leave", ""), 1)]
    for gate in state.gates.values():
        found.append((("proceed", gate.gate), 0))
        if amend:
            found += [(("amend", gate.gate), 1), (("cancel", gate.gate), 1)]
    if state.gates and not state.confirming:
        found.append((("break out", ""), 1))
    if state.run.outcome == "over_budget":
        found.append((("raise", ""), 0))
    return found


def play(world: FlowWorld, move: Move) -> None:  # noqa: C901  one case for each thing that may happen
    kind, what = move
    match kind:
        case "succeed" | "fail":
            step, _, attempt = what.partition(" ")
            key = (step, int(attempt))
            if kind == "succeed":
                world.take(world.success(key))
            else:
                world.fail(key)
        case "interrupt":
            world.interrupt()
        case "crash":
            world.crash()
        case "die at the end":
            world.dies_at_the_end = True
        case "restart":
            world.start()
        case "raise":
            world.start(StartRun(budget={"tokens": world.budget.get("tokens", 0) + 4_000}))
        case "proceed":
            world.say(ReplyToGate(gate=what, choice="proceed"))
            promise(world.ledger.gates[what] == "proceed", "a reply resolves the gate it names")
            world.start()
        case "amend":
            world.say(ReplyToGate(gate=what, choice="amend", text=f"change {len(world.ledger.amended)}"))
            world.start()
        case "cancel":
            world.say(ReplyToGate(gate=what, choice="cancel"))
        case "break out":
            world.record(asked_back(world.state, f"b{len(world.records)}", "breakout", "what is the weather?"))
        case "stay" | "leave":
            confirming = world.state.confirming
            assert confirming is not None
            world.say(
                ResolveConfirmation(confirmation=confirming.confirmation, choice="stay" if kind == "stay" else "leave")
            )
        case "end":
            world.say(CancelRun())


def finish(world: FlowWorld) -> None:
    """From wherever it is, a run that is only answered comes to its end, and the one after it has nothing to do."""
    world.dies_at_the_end = False
    if not world.ended and not world.running:
        world.start()
    for _ in range(400):
        if not world.ended:
            play(world, ("succeed", "{} {}".format(*next(iter(world.running)))))
            continue
        run = world.state.run
        if run is None or run.over:
            break
        gate = next(iter(world.state.gates.values()), None)
        if gate:
            world.say(ReplyToGate(gate=gate.gate, choice="proceed"))
        play(world, ("raise" if run.outcome == "over_budget" else "restart", ""))
    promise(world.state.run is not None and world.state.run.over, "a run that is answered comes to its end")
    if world.state.run and world.state.run.outcome == "cancelled":
        world.start()
        finish(world)
        return
    world.start()
    promise(not world.running, "a finished session has nothing to do")
    promise(world.ended is not None and world.ended.outcome == "done", "a finished session is done")


def undisturbed(world: FlowWorld) -> dict[str, bytes]:
    """The artifacts of a life in which the person said the same, and nothing else happened."""
    fresh = FlowWorld(world.written, world.needs, world.models, {**world.parameters}, world.limit, {**world.version})
    for step, text in world.ledger.amended:
        record = fresh.state.step(step)
        record.replies = (*record.replies, (f"{step} {len(record.replies)}", text))
        fresh.ledger.amended.append((step, text))
    finish(fresh)
    return {name: fresh.disk[name] for name in world.ledger.standing(fresh)}


def comes_to_a_good_end(world: FlowWorld, known: dict[str, dict[str, bytes]] | None = None) -> None:
    """`known`: what undisturbed lives of the same pipeline come to, by what a person said and set in them."""
    finish(world)
    known = {} if known is None else known
    said = repr((world.parameters, world.version, world.ledger.amended))
    wanted = known[said] if said in known else known.setdefault(said, undisturbed(world))
    found = {name: world.disk[name] for name in world.ledger.standing(world)}
    promise(found == wanted, "whatever happened, the artifacts are those of an undisturbed run")


@dataclass
class Explored:
    states: int = 0
    ends: int = 0


def explore(world: FlowWorld, disturbances: int, *, amend: bool = True) -> Explored:
    """Every life with at most so many disturbances; from wherever a run rests, the session comes to a good end."""
    found, seen = Explored(), set[tuple[int, int]]()
    known: dict[str, dict[str, bytes]] = {}
    todo = [(world, disturbances)]
    while todo:
        now, left = todo.pop()
        key = (now.key(), left)
        if key in seen:
            continue
        seen.add(key)
        found.states += 1
        if now.ended:
            found.ends += 1
            comes_to_a_good_end(now.copied(), known)
        for move, cost in moves(now, amend=amend):
            if cost <= left:
                branch = now.copied()
                play(branch, move)
                todo.append((branch, left - cost))
    return found
