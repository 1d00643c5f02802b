"""The promises of a run, kept by somebody who knows nothing of the machine.

It sees events before they are recorded, effects before they are performed, plans, and the world's own files. Rounds,
replies, spending and conditions are counted here a second time, from these alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.orchestrator.model import promise
from weft.orchestrator.progress import EndRun, StartAttempt
from weft.protocol import events as e
from weft.protocol.events import DurableEvent
from weft.protocol.hashes import hash_bytes
from weft.protocol.plans import Plan
from weft.workspace import graph
from weft.workspace.flow import Unit

if TYPE_CHECKING:
    from tests.orchestrator.flow_model import FlowWorld

ANSWER = 1_000
SOURCE = "src"
"""The step that makes what items are in."""


@dataclass
class Ledger:
    gates: dict[str, str] = field(default_factory=dict)
    """Every gate there ever was, and how it was resolved; "" while it is open."""
    gate_step: dict[str, str] = field(default_factory=dict)
    let_pass: dict[str, set[str]] = field(default_factory=dict)
    """By step: the results that were let pass at its gate since the person last wanted a change."""
    amended: list[tuple[str, str]] = field(default_factory=list)
    rounds: dict[str, tuple[Any, int, Any]] = field(default_factory=dict)
    """By unit: the base of its last round as counted here, its number, its feedback."""
    counted: dict[tuple[str, str], int] = field(default_factory=dict)
    """By unit and base: the rounds since the base was last another one."""
    spent: dict[str, int] = field(default_factory=dict)
    """Tokens of this run, by step."""
    limit: float | None = None
    failed: bool = False
    said_leave: bool = False
    attempts: set[tuple[str, int]] = field(default_factory=set)

    def replies(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for step, text in self.amended:
            found.setdefault(step, []).append(text)
        return found

    # -- what is true, told from the world

    def present(self, world: FlowWorld, step: str) -> bool:
        """It has a result that counts: made, and its condition holds."""
        record = world.state.steps.get(step)
        return record is not None and record.completion is not None and not self.passed(world, step)

    def passed(self, world: FlowWorld, step: str) -> bool:
        one = world.pipeline.steps[step]
        if one.when is None:
            return False
        seen: dict[str, tuple[Any, ...]] = {}
        for before in one.requires:
            if self.present(world, before):
                seen |= world.seen(before)
        return not one.when.holds(world.parameters, seen)

    def standing(self, world: FlowWorld) -> list[str]:
        """The artifacts that count."""
        steps = world.pipeline.steps
        return sorted(a for name in steps if self.present(world, name) for a in steps[name].artifacts)

    def base(self, world: FlowWorld, unit: Unit) -> str:
        pipeline = world.pipeline
        told: dict[str, Any] = self.replies()
        outside = {b for name in unit.steps for b in pipeline.steps[name].requires if b not in unit.steps}
        found = [
            [[name, world.version.get(name, "1")] for name in unit.steps],
            [[name, told.get(other)] for name in unit.steps for other in pipeline.steps[name].replies],
            sorted(
                [a, hash_bytes(world.disk[a])]
                for b in outside
                if self.present(world, b)
                for a in pipeline.steps[b].artifacts
            ),
            [
                [other.name, self.round_now(world, other)]
                for other in pipeline.units
                if other.name != unit.name and {*unit.steps} <= {*other.steps}
            ],
        ]
        return json.dumps(found)

    def round_now(self, world: FlowWorld, unit: Unit) -> int:
        base, number, _ = self.rounds.get(unit.name, ("", 0, None))
        return number if number and base == self.base(world, unit) else 0

    def made_now(self, world: FlowWorld, step: str) -> bytes:
        """What a run would make of the step as things are."""
        one = world.pipeline.steps[step]
        upstream = {
            a: hash_bytes(world.disk[a])
            for before in one.requires
            if self.present(world, before)
            for a in world.pipeline.steps[before].artifacts
        }
        start = StartAttempt(step, 0, (), upstream, "", self._said(world, step), self._rounds_of(world, step))
        return world.made(step, start)

    def _said(self, world: FlowWorld, step: str) -> dict[str, tuple[str, ...]]:
        told = self.replies()
        return {name: tuple(told[name]) for name in world.pipeline.steps[step].replies if name in told}

    def _rounds_of(self, world: FlowWorld, step: str) -> dict[str, dict[str, Any]]:
        found = {}
        for unit in world.pipeline.units:
            if step in unit.steps and self.round_now(world, unit):
                _, number, feedback = self.rounds[unit.name]
                found[unit.name] = {"round": number, "feedback": feedback}
        return found

    # -- events

    def judge(self, world: FlowWorld, event: DurableEvent) -> None:  # noqa: C901  one case for each promise
        match event:
            case e.RunStarted():
                if not event.resumed:
                    self.spent = {}
                self.failed = False
                limit = event.budget.get("tokens", world.pipeline.budget.tokens)
                self.limit = limit
            case e.StepStarted():
                self._started(world, event)
            case e.StepCompleted() | e.StepFailed() | e.StepInterrupted():
                record = world.state.step(event.step)
                promise(record.open and record.attempt == event.attempt, "one settlement per intent")
                used = sum(event.usage.values())
                if used:
                    self.spent[event.step] = self.spent.get(event.step, 0) + used
                if isinstance(event, e.StepFailed) and not event.retrying:
                    self.failed = True
            case e.StepSkipped():
                self._skipped(world, event)
            case e.GateOpened():
                promise(event.gate not in self.gates, "a gate's name is used once")
                others = [gate for gate, how in self.gates.items() if not how and self.gate_step[gate] == event.step]
                promise(not others, "a step has one open gate at most")
                self.gates[event.gate], self.gate_step[event.gate] = "", event.step
            case e.GateResolved():
                promise(self.gates.get(event.gate) == "", "a resolution names a gate that is open")
                self.gates[event.gate] = event.does
                if event.does == "proceed":
                    self.let_pass.setdefault(self.gate_step[event.gate], set()).add(event.hash)
                if event.does == "amend":
                    self.let_pass[self.gate_step[event.gate]] = set()
                    self.amended.append((self.gate_step[event.gate], event.text))
            case e.StepsUnfolded():
                items = json.loads(world.disk[f"{SOURCE}.json"])["items"]
                promise(list(event.items) == items, "the items are those that were made")
            case e.RoundStarted():
                self._round(world, event)
            case e.VerdictGiven():
                said = self._verdict(world, event.step)
                promise(event.verdict == said, "a verdict is what the verifier says; none is not checked")
            case e.RunEnded():
                if event.outcome in ("done", "cancelled"):
                    self.gates = {gate: how or "ended" for gate, how in self.gates.items()}
                if event.outcome == "left":
                    promise(self.said_leave, "a run is left after a clear word only")
            case e.ConfirmationResolved():
                self.said_leave = event.choice == "leave"
            case _:
                pass

    def _started(self, world: FlowWorld, event: e.StepStarted) -> None:
        step = world.pipeline.steps[event.step]
        promise((event.step, event.attempt) not in self.attempts, "an attempt number is used once")
        self.attempts.add((event.step, event.attempt))
        promise(not world.state.step(event.step).open, "a step has one open attempt at most")
        promise(not self.failed, "nothing new starts after a step has failed")
        promise(not self.passed(world, event.step), "a step is made only when its condition holds")
        for before in step.before:
            promise(self.present(world, before) or self.passed(world, before), "a step starts after all it requires")
            promise(not world.state.step(before).open, "nothing runs on an artifact that is being made")
        requires = {name: one.before for name, one in world.pipeline.steps.items()}
        for gate, how in self.gates.items():
            behind = {self.gate_step[gate], *graph.dependents(requires, self.gate_step[gate])}
            promise(bool(how) or event.step not in behind, "nothing starts behind an open gate")
        self._room(world, event.step)
        if world.is_of_model(event.step) and self.limit is not None:
            running = [name for name, state in world.state.steps.items() if state.open and world.is_of_model(name)]
            ahead = sum(self._estimate(world, name) for name in [event.step, *running])
            promise(sum(self.spent.values()) + ahead <= self.limit, "no call starts that does not fit into the budget")

    def _room(self, world: FlowWorld, step: str) -> None:
        """Items have limits of their own: so many at once, and as many steps in each as in a run."""
        running = [name for name, state in world.state.steps.items() if state.open]
        around = world.pipeline.items_around(step)
        beside = [name for name in running if world.pipeline.items_around(name)[:1] == around[:1]]
        promise(len(beside) < world.limit, "at most `limit` steps run")
        for place, spot in around:
            items = {other for name in running for at, other in world.pipeline.items_around(name) if at == place}
            most = world.pipeline.mapped[place].over.at_once
            promise(len(items | {spot}) <= most, "so many items are made at once as the map says")

    def _estimate(self, world: FlowWorld, step: str) -> int:
        before = [name for name in world.pipeline.steps[step].requires if self.present(world, name)]
        size = sum(len(world.disk[a]) for name in before for a in world.pipeline.steps[name].artifacts)
        return 100 + size // 4 + ANSWER

    def _skipped(self, world: FlowWorld, event: e.StepSkipped) -> None:
        passed = self.passed(world, event.step)
        promise(passed == event.reason.startswith("passed over"), "a step is passed over when its condition fails")
        if not passed:
            promise(self.present(world, event.step), "only a completed step is skipped")
            for name in world.pipeline.steps[event.step].artifacts:
                promise(
                    world.disk.get(name) == self.made_now(world, event.step), "a skipped step is what a run would make"
                )

    def _round(self, world: FlowWorld, event: e.RoundStarted) -> None:
        unit = next(one for one in world.pipeline.units if one.name == event.unit)
        base = self.base(world, unit)
        last = self.round_now(world, unit)
        promise(event.round == last + 1, "rounds are counted one by one")
        most = unit.most if isinstance(unit.most, int) else world.parameters[unit.most]
        promise(event.round <= most == event.most, "a unit has no more rounds than it may")
        said = json.loads(world.disk[world.pipeline.steps[event.unit].artifacts[0]])
        wanted = said["verdict"] == "failed" if unit.kind == "repair" else said["again"]
        promise(wanted, "a unit goes round only when the step that closes it says so")
        promise(event.feedback == said["feedback"], "a round has the feedback of who asked for it")
        self.rounds[event.unit] = (base, event.round, event.feedback)

    def _verdict(self, world: FlowWorld, step: str) -> str:
        """As a reader of the files would tell it."""
        (file,) = world.pipeline.steps[step].artifacts
        if not self.present(world, step) or world.disk[file] != self.made_now(world, step):
            return "not_checked"
        said = json.loads(world.disk[file])["verdict"]
        return said if said in ("passed", "failed") else "not_checked"

    # -- effects, plans, ends

    def judge_start(self, world: FlowWorld, start: StartAttempt) -> None:
        wanted = self._rounds_of(world, start.step)
        given = {unit: {"round": now["round"], "feedback": now["feedback"]} for unit, now in dict(start.rounds).items()}
        promise(given == wanted, "every step of a unit is given the round it is in, with its feedback")
        promise(dict(start.replies) == self._said(world, start.step), "a step is given the person's words, all of them")

    def judge_plan(self, world: FlowWorld, plan: Plan, events: Sequence[DurableEvent]) -> None:
        """Of what a run decides at once, the plan has said nothing else."""
        lines = {line.step: line for line in plan.lines}
        found = next((at for at, event in enumerate(events) if isinstance(event, e.StepsUnfolded)), len(events))
        events = events[:found]  # what comes behind it was not known
        rounds = {name for event in events if isinstance(event, e.RoundStarted) for name in event.steps}
        for event in events:
            match event:
                case e.StepStarted():
                    promise(lines[event.step].action == "run", "what runs was planned to run")
                case e.StepSkipped() if event.reason.startswith("passed over"):
                    promise(lines[event.step].action != "skip", "what is passed over was not planned as up to date")
                case e.StepSkipped():
                    line = lines[event.step]
                    fits = line.action == "skip" or line.conditional or event.step in rounds
                    promise(fits, "what is up to date was planned so")
                case _:
                    pass

    def judge_end(self, world: FlowWorld, end: EndRun) -> None:
        promise(sum(self.spent.values()) == self._folded(world), "what was spent is what the log adds up to")
        still = [gate for gate, how in self.gates.items() if not how]
        promise((end.outcome == "waiting") <= bool(still), "a run waits at an open gate")
        if end.outcome != "done":
            return
        promise(not still, "a run is not done while a gate is open")
        for name, step in world.pipeline.steps.items():
            promise(self.present(world, name) != self.passed(world, name), "done means that every step has a result")
            if self.present(world, name):
                for artifact in step.artifacts:
                    right = world.disk[artifact] == self.made_now(world, name)
                    promise(right, "done means that every artifact is made from the ones before it")
            gate = step.gate
            asks = gate and not gate.auto and (gate.when is None or gate.when.holds(world.parameters, world.seen(name)))
            if asks and self.present(world, name):
                digest = hash_bytes(world.disk[step.artifacts[0]])
                promise(digest in self.let_pass.get(name, ()), "done means that a person let every result pass")
        for unit in world.pipeline.units:
            if unit.kind == "repair":
                verdict = self._verdict(world, unit.name)
                said = any(f"{word}: {unit.name}" in end.message for word in ("not passed", "not checked"))
                promise((verdict != "passed") == said, "what is not verified is said, and what is verified is not")
                promise(world.state.verdicts.get(unit.name) == verdict, "the state's verdict is the verifier's")

    def _folded(self, world: FlowWorld) -> int:
        run = world.state.run
        spent = run.spent.values() if run else ()
        return sum(number for one in spent for used in one.usage.values() for number in used.values())
