"""Small pipelines with everything a run can meet, for the model checker; and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.orchestrator.flow_ledger import SOURCE
from tests.orchestrator.flow_model import FlowWorld
from tests.orchestrator.model import pipeline
from weft.workspace import graph
from weft.workspace.flow import ArtifactPlace, Budget, Condition, Gate, Unit
from weft.workspace.flow_rules import DEFAULT_CHOICES
from weft.workspace.inner import expanded
from weft.workspace.mapping import Map
from weft.workspace.pipeline import Given, MappedPipeline, Pipeline, Step


def shape(
    requires: Mapping[str, tuple[str, ...]],
    *,
    gates: tuple[str, ...] = (),
    auto: tuple[str, ...] = (),
    repair: Mapping[tuple[str, ...], int | str] | None = None,
    loop: Mapping[tuple[str, ...], int | str] | None = None,
    when: Mapping[str, Condition] | None = None,
    gate_when: Mapping[str, Condition] | None = None,
    replies: Mapping[str, tuple[str, ...]] | None = None,
    budget: Budget | None = None,
    attempts: int = 2,
) -> Pipeline:
    """`repair` and `loop`: the steps of a unit in running order, and how many rounds it may have."""
    plain = pipeline(requires, attempts)
    units = [
        Unit("repair", steps, most, _at(steps[-1], "verdict"), _at(steps[-1], "feedback"))
        for steps, most in (repair or {}).items()
    ]
    units += [
        Unit("loop", steps, most, None, _at(steps[-1], "feedback"), again(steps[-1]))
        for steps, most in (loop or {}).items()
    ]
    units.sort(key=lambda unit: len(unit.steps))
    looks: dict[str, list[ArtifactPlace]] = {name: [] for name in requires}
    conditions = [*(when or {}).values(), *(gate_when or {}).values(), *(unit.when for unit in units if unit.when)]
    found = [one for condition in conditions for one in condition.looks()]
    found += [one for unit in units for one in (unit.look, unit.feedback) if one]
    for one in found:
        looks[one.artifact.removesuffix(".json")].append(one)
    steps: dict[str, Step] = {}
    for name, step in plain.steps.items():
        gate = None
        if name in (*gates, *auto):
            gate = Gate(DEFAULT_CHOICES, "?", (), (gate_when or {}).get(name), name in auto)
        said = tuple(dict.fromkeys([*([name] if gate else []), *(replies or {}).get(name, ())]))
        steps[name] = replace(
            step, gate=gate, when=(when or {}).get(name), replies=said, looks=tuple(dict.fromkeys(looks[name]))
        )
    return replace(plain, steps=steps, units=tuple(units), budget=budget or Budget())


def _at(step: str, place: str) -> ArtifactPlace:
    return ArtifactPlace(f"{step}.json", place)


def again(step: str) -> Condition:
    return Condition(look=_at(step, "again"), operator="is", value=True)


def wants(name: str, value: Any = True) -> Condition:
    return Condition(parameter=name, operator="is", value=value)


def within(child: Pipeline, *, items: bool = False, gate: bool = False, at_once: int = 2) -> Pipeline:
    """A pipeline in which another one is a step, `in`: once, or for each item that `src` makes."""
    outer = shape({SOURCE: (), "in": (SOURCE,), "end": ("in",)}, gates=("in",) if gate else ())
    places = {"src.json": SOURCE, "in.json": "in", "end.json": "end"}
    step = replace(outer.steps["in"], executor="pipeline", code=None, requires=(SOURCE,))
    outer = replace(outer, steps={**outer.steps, "in": step})
    inner = Given(child, {}, {})
    over = Map(look=ArtifactPlace("src.json", "items[*]"), at_once=at_once)
    mapped = {"in": MappedPipeline(over=over, given=inner, makers={})} if items else {}
    return expanded(outer, {"in": inner}, mapped, places)


def worlds() -> dict[str, FlowWorld]:
    chain: dict[str, tuple[str, ...]] = {"plan": (), "draft": ("plan",), "verify": ("draft",), "end": ("verify",)}
    unit: dict[tuple[str, ...], int | str] = {("draft", "verify"): 2}
    web: dict[str, tuple[str, ...]] = {"plan": (), "web": ("plan",), "draft": ("plan", "web"), "end": ("draft",)}
    return {
        "gate": FlowWorld(shape({"plan": (), "draft": ("plan",), "end": ("draft",)}, gates=("plan",))),
        "two gates": FlowWorld(shape({"a": (), "b": (), "end": ("a", "b")}, gates=("a", "b"))),
        "repair": FlowWorld(shape(chain, gates=("plan",), repair=unit), {"verify": 1}),
        "repair in vain": FlowWorld(shape(chain, repair=unit), {"verify": 9}),
        "not to be told": FlowWorld(shape(chain, repair=unit, auto=("end",)), {"verify": None}),
        "gate in a unit": FlowWorld(
            shape(chain, gates=("draft", "verify"), repair={("draft", "verify"): 1}), {"verify": 1}
        ),
        "loop": FlowWorld(shape(chain, loop={("draft", "verify"): 2}, gates=("verify",)), {"verify": 1}),
        "self loop": FlowWorld(shape({"a": (), "b": ("a",), "end": ("b",)}, loop={("b",): 2}), {"b": 2}),
        "nested": FlowWorld(
            shape(
                {"plan": (), "draft": ("plan",), "verify": ("draft",), "decide": ("verify",)},
                repair={("draft", "verify"): 1},
                loop={("plan", "draft", "verify", "decide"): 1},
            ),
            {"verify": 1, "decide": 1},
        ),
        "unit with two sides": FlowWorld(
            shape(
                {"draft": (), "facts": (), "verify": ("draft", "facts"), "end": ("verify",)},
                repair={("draft", "verify"): 1},
                gates=("facts",),
            ),
            {"verify": 1},
        ),
        "passed over": FlowWorld(shape(web, when={"web": wants("web")}, gates=("draft",)), parameters={"web": False}),
        "verifier passed over": FlowWorld(
            shape(chain, repair=unit, when={"verify": wants("check")}), {"verify": 1}, parameters={"check": False}
        ),
        "condition in a loop": FlowWorld(
            shape(
                {"a": (), "look": ("a",), "web": ("look",), "end": ("look", "web")},
                loop={("a", "look"): 1},
                when={"web": Condition(look=_at("look", "again"), operator="is", value=False)},
            ),
            {"look": 1},
        ),
        "budget": FlowWorld(
            shape({"a": (), "b": (), "d": ("a", "b"), "end": ("d",)}, budget=Budget(tokens=2_500)),
            models=frozenset({"a", "b", "d"}),
        ),
        "inner pipeline": FlowWorld(
            within(shape({"draft": (), "verify": ("draft",)}, repair={("draft", "verify"): 1}, gates=("verify",))),
            {"in.verify": 1},
        ),
        "pipeline for each item": FlowWorld(within(shape({"a": ()}), items=True, gate=True, at_once=1)),
        "gate and loop for each item": FlowWorld(
            within(shape({"b": ()}, loop={("b",): 1}, gates=("b",)), items=True, at_once=1), {"in.b": 1}
        ),
        "budget and repair": FlowWorld(
            shape(chain, repair=unit, budget=Budget(tokens=4_500), gates=("draft",)),
            {"verify": 1},
            models=frozenset({"draft", "verify"}),
        ),
    }


def random_world(rng: random.Random) -> FlowWorld:
    """A chain with side steps, so that most units are legal; gates, conditions, models where they fall."""
    count = rng.randint(3, 6)
    names = [f"{rng.choice('abcd')}{index}" for index in range(count)]
    requires: dict[str, tuple[str, ...]] = {}
    for index, name in enumerate(names):
        before = {names[index - 1]} if index and rng.random() < 0.8 else set()
        before |= {one for one in names[:index] if rng.random() < 0.2}
        requires[name] = tuple(one for one in names if one in before)
    units: dict[tuple[str, ...], int | str] = {}
    loops: dict[tuple[str, ...], int | str] = {}
    for _ in range(2):
        last = rng.randrange(count)
        first = rng.randrange(last + 1)
        upstream = graph.upstream(requires, names[last])
        steps = tuple(
            name
            for name in names[: last + 1]
            if name == names[last]
            or (name in upstream and (name == names[first] or names[first] in graph.upstream(requires, name)))
        )
        kind = units if len(steps) > 1 and rng.random() < 0.6 else loops
        if _fits(requires, steps, [*units, *loops]) and not names[last].startswith("c"):
            kind[steps] = "rounds" if rng.random() < 0.3 else rng.randint(0, 2)
    closers = [steps[-1] for steps in (*units, *loops)]
    needs = {name: rng.choice([0, 1, 1, 2, 5, None]) for name in closers}
    # What a verifier repaired stays repaired when it is passed over later; so an undisturbed life would differ.
    free = [name for name in names[:-1] if name not in closers]
    when = {name: wants("web") for name in free if rng.random() < 0.15}
    for name in free[1:]:
        looked = [one for one in requires[name] if one in closers]
        if looked and rng.random() < 0.4:
            when[name] = Condition(look=_at(looked[0], "again"), operator="is", value=rng.random() < 0.5)
    gates = tuple(name for name in names if rng.random() < 0.3)
    auto = tuple(name for name in names if name not in gates and rng.random() < 0.1)
    asked = [name for name in gates if rng.random() < 0.3]
    replies = {name: tuple(one for one in asked if one != name) for name in names if rng.random() < 0.3}
    built = shape(
        requires,
        gates=gates,
        auto=auto,
        repair=units,
        loop=loops,
        when=when,
        gate_when={name: wants("ask") for name in gates if rng.random() < 0.3},
        replies=replies,
        budget=Budget(tokens=rng.randint(2, 8) * 1_000) if rng.random() < 0.4 else None,
        attempts=rng.randint(1, 3),
    )
    models = frozenset(name for name in names if rng.random() < 0.4)
    parameters: dict[str, Any] = {"web": rng.random() < 0.5, "ask": rng.random() < 0.7, "rounds": rng.randint(0, 2)}
    limit = rng.randint(1, 3)
    if rng.random() < 0.85:
        return FlowWorld(built, needs, models, parameters, limit)
    items = rng.random() < 0.6
    held = within(replace(built, budget=Budget()), items=items, gate=items and rng.random() < 0.3, at_once=limit)
    built = replace(held, budget=built.budget)  # a pipeline's own is not raised with the run's
    places = [f"in.{item}" for item in ("p", "q", "r")] if items else ["in"]
    parameters |= {f"{place}.{name}": value for place in places for name, value in parameters.items()}
    needs = {f"in.{name}": need for name, need in needs.items()}
    return FlowWorld(built, needs, frozenset(f"in.{name}" for name in models), parameters, limit)


def _fits(requires: Mapping[str, tuple[str, ...]], steps: tuple[str, ...], others: list[tuple[str, ...]]) -> bool:
    for other in others:
        shared = {*steps} & {*other}
        if steps[-1] == other[-1] or (shared and not ({*other} <= {*steps} or {*steps} <= {*other})):
            return False
    for name in requires:
        inside = any(one in steps for one in requires[name])
        if name not in steps and inside and steps[-1] not in graph.upstream(requires, name):
            return False
    return True
