"""Scenarios of the kind `sim`: steps played on a simulated world, expectations compared, and the oracle asked.

Strict: an operation, a key of one, a given or an expectation that is not known here is a failure that names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from weft.conversation.turns import Processor, Result
from weft.protocol import conversation_commands as c
from weft.testing import scenario_words as words
from weft.testing.oracle import judge
from weft.testing.scenario_words import ScenarioError
from weft.testing.simulation import BrokenPromiseError, World

GIVEN: Final = {"session", "tools", "llm", "auto_project", "auto_continue", "grace_ms"}


def run(scenario: Mapping[str, Any]) -> list[str]:
    """What is wrong; nothing when all is as expected."""
    played: Played | None = None
    try:
        played = Played(scenario.get("given") or {})
        for number, step in enumerate(scenario.get("steps") or (), 1):
            played.number = number
            played.play(step)
        played.expect(scenario.get("expect") or {})
        judge(played.world)
    except ScenarioError as error:
        return [f"the scenario can't be understood: {error}"]
    except BrokenPromiseError as error:
        return [*(played.faults if played else ()), f"a promise was broken: {error}"]
    return played.faults


def _raising(_: Result) -> str:
    raise RuntimeError("this processor always fails")


def _processors(given: Mapping[str, Any]) -> tuple[Processor, ...]:
    """A scenario may ask for a processor that raises, in whatever key that names processors."""
    told = json.dumps({key: value for key, value in given.items() if "processor" in key}).lower()
    asked = any(word in told for word in ("rais", "fail", "error", "true", "boom", "bad", "throw"))
    return (_raising,) if asked else ()


def _projection(name: str | None) -> str | None:
    """Our name for a projection; None for all of them."""
    known = {"status", "continuation", "notification", "transcript"}
    if name in (None, "*", "all"):
        return None
    if name in known:
        return name
    if name and name.removesuffix("s") in known:
        return name.removesuffix("s")
    raise ScenarioError(f"unknown projection {name!r}")


class Played:
    def __init__(self, given: Mapping[str, Any]) -> None:
        unknown = [key for key in given if key not in GIVEN and "processor" not in key]
        if unknown:
            raise ScenarioError(f"given has an unknown key {unknown[0]!r}")
        self.root = given.get("session", "s1")
        self.tools = given.get("tools") or {}
        for name, tool in self.tools.items():
            if spare := set(tool) - {"interruptible", "safe_to_retry"}:
                raise ScenarioError(f"tool {name} has an unknown key {sorted(spare)[0]!r}")
        self.world = World(
            self.root,
            grace=given.get("grace_ms", 250) / 1000,
            model_interruptible=(given.get("llm") or {}).get("interruptible", True),
            auto_project=given.get("auto_project", True),
            auto_continue=given.get("auto_continue", False),
            processors=_processors(given),
        )
        self.faults: list[str] = []
        self.number = 0

    # -- steps

    def play(self, step: Mapping[str, Any]) -> None:
        op = step.get("op")
        play, allowed = _OPS.get(str(op), (None, frozenset()))
        if play is None:
            raise ScenarioError(f"step {self.number} has an unknown operation {op!r}")
        if spare := set(step) - allowed - {"op"}:
            raise ScenarioError(f"step {self.number} ({op}) has an unknown key {sorted(spare)[0]!r}")
        if not self.world.alive and op not in ("restart", "advance", "crash", "lose_checkpoint"):
            raise ScenarioError(f"step {self.number} ({op}) comes after a crash and before the restart")
        try:
            play(self, step)
        except KeyError as error:
            raise ScenarioError(f"step {self.number} ({op}) needs the key {error}") from error

    def _answer(self, step: Mapping[str, Any], found: object) -> None:
        if "expect" in step and step["expect"] != found:
            self.faults.append(f"step {self.number} ({step['op']}): expected {step['expect']!r}, found {found!r}")

    def submit(self, step: Mapping[str, Any]) -> None:
        command = words.command(step["cmd"], self.root, self.tools)
        self.world.submit(command, hold=bool(step.get("hold")))

    def settle(self, step: Mapping[str, Any]) -> None:
        self.world.settle(words.settlement(step, self.root, self.tools), hold=bool(step.get("hold")))

    def step(self, step: Mapping[str, Any]) -> None:
        crash = step.get("crash")
        if crash not in (None, "before_append", "after_append"):
            raise ScenarioError(f"step {self.number} can't crash at {crash!r}")
        self.world.step(crash)

    def interrupt(self, step: Mapping[str, Any]) -> None:
        reply = self.world.interrupt(step.get("target"), step.get("reason", "user"), hold=bool(step.get("hold")))
        self._answer(step, reply.status)
        found = {words.told_execution(target.execution): target.how for target in reply.targets}
        for name, how in (step.get("targets") or {}).items():
            if found.get(name) != how:
                self.faults.append(f"step {self.number}: target {name} is {found.get(name)!r}, expected {how!r}")

    def start(self, step: Mapping[str, Any]) -> None:
        self._answer(step, self.world.start(words.execution(step["x"])))

    def bind(self, step: Mapping[str, Any]) -> None:
        self._answer(step, self.world.bind(words.execution(step["x"])))

    def chunk(self, step: Mapping[str, Any]) -> None:
        self._answer(step, self.world.chunk(words.execution(step["x"]), step["text"]))

    def go_on(self, step: Mapping[str, Any]) -> None:
        command = c.Continue(conversation=self.root, key=step["key"])
        self.world.submit(command, hold=bool(step.get("hold")))

    # -- expectations

    def expect(self, expected: Mapping[str, Any]) -> None:
        events = [told for event in self.world.events if (told := words.told(event))]
        for key, wanted in expected.items():
            if key in _LISTS:
                for pattern in wanted:
                    words.check_pattern(pattern)
                _LISTS[key](self, events, wanted)
            elif key == "ports":
                self._ports(wanted)
            elif key in _VALUES:
                found = _VALUES[key](self)
                if key.endswith("_tail"):
                    found = found[len(found) - len(wanted) :]
                if found != wanted:
                    self.faults.append(f"{key}: expected {wanted!r}, found {found!r}")
            else:
                raise ScenarioError(f"expect has an unknown key {key!r}")

    def _sequence(self, what: str, found: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        same = len(found) == len(wanted)
        if not same or not all(words.matches(pattern, event) for pattern, event in zip(wanted, found, strict=False)):
            self.faults.append(f"{what}: expected {json.dumps(list(wanted))}, found {json.dumps(list(found))}")

    def events(self, events: list[dict[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        self._sequence("events", events, wanted)

    def tail(self, events: list[dict[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        self._sequence("tail", events[max(0, len(events) - len(wanted)) :], wanted)

    def contains(self, events: list[dict[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        for pattern in wanted:
            if not any(words.matches(pattern, event) for event in events):
                self.faults.append(f"contains: no {json.dumps(pattern)} in {json.dumps(events)}")

    def absent(self, events: list[dict[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        for pattern in wanted:
            if any(words.matches(pattern, event) for event in events):
                self.faults.append(f"absent: {json.dumps(pattern)} is there")

    def counts(self, events: list[dict[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> None:
        for counted in wanted:
            pattern = {key: value for key, value in counted.items() if key != "n"}
            found = sum(words.matches(pattern, event) for event in events)
            if found != counted["n"]:
                self.faults.append(f"counts: {found} of {json.dumps(pattern)}, expected {counted['n']}")

    def _ports(self, wanted: Mapping[str, Any]) -> None:
        ledger = self.world.ledger
        found: dict[str, Any] = {
            "starts": {words.told_execution(x): n for (_, x), n in ledger.started.items() if n},
            "handle_interrupts": {words.told_execution(x): n for (_, x), n in ledger.signals.items() if n},
            "continuations": ledger.continuations,
            "delivered_chunks": [[words.told_execution(x), text] for (_, x), text in ledger.shown],
            "notifications": ledger.notices,
        }
        for key, value in wanted.items():
            if key not in found:
                raise ScenarioError(f"expect.ports has an unknown key {key!r}")
            if found[key] != value:
                self.faults.append(f"ports.{key}: expected {value!r}, found {found[key]!r}")


_OPS: Final[Mapping[str, tuple[Callable[[Played, Mapping[str, Any]], None], frozenset[str]]]] = {
    "submit": (Played.submit, frozenset({"cmd", "hold"})),
    "settle": (
        Played.settle,
        frozenset({"x", "kind", "text", "tool_calls", "result", "error", "reason", "hold"}),
    ),
    "step": (Played.step, frozenset({"crash"})),
    "drain": (lambda p, s: p.world.drain(), frozenset()),
    "start": (Played.start, frozenset({"x", "expect"})),
    "bind": (Played.bind, frozenset({"x", "expect"})),
    "run": (lambda p, s: p.world.run(words.execution(s["x"])), frozenset({"x"})),
    "chunk": (Played.chunk, frozenset({"x", "text", "expect"})),
    "interrupt": (Played.interrupt, frozenset({"reason", "expect", "targets", "hold", "target"})),
    "continue": (Played.go_on, frozenset({"key", "hold"})),
    "project": (lambda p, s: p.world.project(_projection(s.get("name"))), frozenset({"name"})),
    "redeliver": (
        lambda p, s: p.world.redeliver(_projection(s.get("name")), s.get("from", s.get("seq", 1))),
        frozenset({"name", "from", "seq"}),
    ),
    "lose_checkpoint": (
        lambda p, s: p.world.lose_checkpoint(_projection(s["name"]) or "status"),
        frozenset({"name"}),
    ),
    "crash": (lambda p, s: p.world.crash(), frozenset()),
    "restart": (lambda p, s: p.world.restart(), frozenset()),
    "advance": (lambda p, s: p.world.advance(s["ms"] / 1000), frozenset({"ms"})),
    "reaped": (lambda p, s: p.world.returned(words.execution(s["x"])), frozenset({"x"})),
    "idle_check": (lambda p, s: p._answer(s, p.world.idle()), frozenset({"expect"})),
    "shutdown": (lambda p, s: p._answer(s, p.world.shutdown().status), frozenset({"expect", "timeout_ms", "reason"})),
    "stop": (lambda p, s: p.world.stop(s.get("clean")), frozenset({"clean"})),
}
_LISTS: Final[Mapping[str, Callable[[Played, list[dict[str, Any]], Any], None]]] = {
    "events": Played.events,
    "tail": Played.tail,
    "contains": Played.contains,
    "absent": Played.absent,
    "counts": Played.counts,
}
_VALUES: Final[Mapping[str, Callable[[Played], Any]]] = {
    "status": lambda p: p.world.status.status,
    "status_trail": lambda p: p.world.trail,
    "replies": lambda p: p.world.ledger.replies,
    "processed": lambda p: [[call, outcome] for _, call, outcome in p.world.ledger.processed],
    "dropped_chunks": lambda p: p.world.dropped,
    "abandoned": lambda p: sorted(words.told_execution(x) for _, x in p.world.engine.control.abandoned),
    "quiescent": lambda p: p.world.engine.quiescent,
    "transcript_tail": lambda p: [words.told_entry(said) for said in p.world.transcript.entries],
}
