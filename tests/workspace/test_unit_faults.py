"""Faults of what a run keeps to (replies, loop, repair, depth, budget): the place, the sentence and the way out; and
what is good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jsonschema_rs
import pytest
from ruamel.yaml import YAML

from weft.protocol.errors import Problem
from weft.workspace.pipeline_file import pipeline_json_schema


def at(line: int, column: int, key: str, message: str, hint: str) -> Problem:
    return Problem("pipelines/p.yaml", message, line, column, key, hint)


HEAD: Final = (
    "name: p\ndescription: d\nparameters:\n  n: {type: integer, default: 1, minimum: 0}\n"
    "  web: {type: boolean, default: false}\n"
)


def steps(a: str = "", b: str = "", top: str = "") -> str:
    """Two steps, a before b; what is added to each begins on line 9 or after."""
    one = f"  a:\n    artifact: a.json\n    code: make.py:a\n{a}"
    two = f"  b:\n    artifact: b.json\n    code: make.py:b\n    requires: [a]\n    final: true\n{b}"
    return f"{HEAD}{top}steps:\n{one}{two}"


def loop(text: str) -> str:
    return steps(b=f"    loop: {text}\n")


PATH: Final = (
    "'x[' is not a path (from '[' on): a path is keys joined by dots, with [*] for every element or [0] for one, "
    "such as quotes[*].text"
)
CASES: dict[str, tuple[str, list[Problem]]] = {
    "replies from a step without a gate": (
        steps(b="    replies: [a]\n"),
        [at(15, 15, "steps.b.replies[0]", "'a' has no gate", "there are no steps with a gate")],
    ),
    "a loop to nowhere": (
        loop("{to: c, when: {parameter: web, is: true}, at_most: 1}"),
        [at(15, 16, "steps.b.loop.to", "unknown step 'c'", "the steps before it are: a, b")],
    ),
    "a loop to what comes later": (
        steps(a="    loop: {to: b, when: {parameter: web, is: true}, at_most: 1}\n"),
        [at(10, 16, "steps.a.loop.to", "b is not before it", "the steps before it are: a")],
    ),
    "a loop without a bound": (
        loop("{to: a, when: {parameter: web, is: true}}"),
        [
            at(
                15,
                5,
                "steps.b.loop.at_most",
                "'at_most' is missing",
                "add 'at_most': how often: a number, or the name of a parameter",
            )
        ],
    ),
    "a loop with a bad bound": (
        loop("{to: a, when: {parameter: web, is: true}, at_most: often}"),
        [at(15, 62, "steps.b.loop.at_most", "unknown parameter 'often'", "the parameters are: n, web")],
    ),
    "a loop with too many rounds": (
        loop("{to: a, when: {parameter: web, is: true}, at_most: 101}"),
        [
            at(
                15,
                62,
                "steps.b.loop.at_most",
                "must be a number from 0 to 100, or the name of a parameter, not the number 101",
                "how often: a number, or the name of a parameter",
            )
        ],
    ),
    "a loop with a bound that is no number": (
        loop("{to: a, when: {parameter: web, is: true}, at_most: web}"),
        [at(15, 62, "steps.b.loop.at_most", "the parameter web is a boolean", "it must be an integer")],
    ),
    "a repair of unknown steps": (
        steps(top="repair:\n  - {steps: [a, c], rounds: 1}\n"),
        [at(7, 17, "repair[0].steps[1]", "unknown step 'c'", "the steps are: a, b")],
    ),
    "a repair of one step": (
        steps(top="repair:\n  - {steps: [a], rounds: 1}\n"),
        [
            at(
                7,
                13,
                "repair[0].steps",
                "must have at least 2 entries, not 1",
                "the steps of the unit; the last one is the verifier",
            )
        ],
    ),
    "a repair that names a step twice": (
        steps(top="repair:\n  - {steps: [a, a], rounds: 1}\n"),
        [at(7, 13, "repair[0].steps", "names a step twice", "remove one of them")],
    ),
    "a verifier that reads nothing": (
        steps(top="repair:\n  - {steps: [b, a], rounds: 1}\n"),
        [
            at(
                7,
                13,
                "repair[0].steps",
                "the verifier a does not depend on b",
                "let it require it, or take it out of the unit",
            )
        ],
    ),
    "a repair without rounds": (
        steps(top="repair:\n  - {steps: [a, b]}\n"),
        [
            at(
                7,
                5,
                "repair[0].rounds",
                "'rounds' is missing",
                "add 'rounds': how often it is made again at most: a number, or the name of a parameter",
            )
        ],
    ),
    "a repair with a place that can't be read": (
        steps(top="repair:\n  - {steps: [a, b], rounds: 1, verdict: 'x['}\n"),
        [
            at(
                7,
                41,
                "repair[0].verdict",
                PATH,
                "",
            )
        ],
    ),
    "units that overlap": (
        steps(
            b="    loop: {to: a, when: {parameter: web, is: true}, at_most: 1}\n",
            top="repair:\n  - {steps: [a, b], rounds: 1}\n",
        ),
        [
            at(
                17,
                5,
                "steps.b.loop",
                "overlaps with the unit that b closes",
                "a unit is inside another one, or apart from it; each closes elsewhere",
            )
        ],
    ),
    "a step that reads out of a unit": (
        steps(
            b="  c:\n    artifact: c.json\n    code: make.py:b\n    requires: [a]\n",
            top="repair:\n  - {steps: [a, b], rounds: 1}\n",
        ),
        [
            at(
                7,
                5,
                "repair[0]",
                "'c' reads a, which may be made again until b is content",
                "let 'c' require b too, or take it into the unit",
            )
        ],
    ),
    "depth that is a list": (
        steps(top="depth: [quick]\n"),
        [
            at(
                6,
                8,
                "depth",
                "must be a mapping of modes, each with the parameters it sets",
                "write {quick: {sources: 3}, deep: {…}}",
            )
        ],
    ),
    "a depth with an unknown parameter": (
        steps(top="depth: {quick: {m: 1}}\n"),
        [at(6, 17, "depth.quick.m", "unknown parameter 'm'", "the parameters are: n, web")],
    ),
    "a depth with a bad value": (
        steps(top="depth: {quick: {n: -1}}\n"),
        [
            at(
                6,
                20,
                "depth.quick.n",
                "must be a whole number, at least 0, not the number -1",
                "change it, or what the parameter allows",
            )
        ],
    ),
    "a depth with a bad name": (
        steps(top="depth: {'Very Deep': {n: 1}}\n"),
        [at(6, 9, "depth.Very Deep", "'Very Deep' is not a good name", "a name is small letters, digits, _ and -")],
    ),
    "a parameter called depth": (
        steps(top="  depth: {type: string, default: x}\ndepth: {quick: {n: 1}}\n"),
        [at(6, 3, "parameters.depth", "the key 'depth' makes this parameter itself", "remove it here")],
    ),
    "an empty budget": (
        steps(top="budget: {}\n"),
        [at(6, 1, "budget", "a budget has at least one limit", "write {usd: 2}, {tokens: 100000} or {minutes: 30}")],
    ),
    "a budget of nothing": (
        steps(top="budget: {usd: 0}\n"),
        [at(6, 15, "budget.usd", "must be more than 0, not 0", "leave it out for no limit")],
    ),
    "a budget with an unknown key": (
        steps(top="budget: {dollars: 3}\n"),
        [at(6, 10, "budget.dollars", "unknown key 'dollars'", "the keys are: usd, tokens, minutes")],
    ),
    "a step's budget of nothing": (
        steps(a="    budget: {minutes: -1}\n"),
        [at(10, 23, "steps.a.budget.minutes", "must be more than 0, not -1", "leave it out for no limit")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_told_with_its_place_and_the_way_out(case: str, problems_of: Callable[[str], list[Problem]]) -> None:
    text, expected = CASES[case]
    assert problems_of(text) == expected


def test_every_fault_has_a_place_and_all_but_paths_a_hint() -> None:
    """A path that can't be read has what to write in its sentence already."""
    for _, problems in CASES.values():
        (problem,) = problems
        assert problem.line
        assert problem.column
        assert problem.hint or "is not a path" in problem.message


GOOD = {
    "all of it": steps(
        a="    gate: {message: Good?, show: [x, {at: y, label: Y}], when: {parameter: web, is: true}}\n"
        "    budget: {usd: 1}\n",
        b="    replies: [a]\n"
        "    loop: {to: b, when: {artifact: b.json, at: again, is: true}, at_most: n, feedback: why}\n",
        top="depth: {quick: {n: 0}, deep: {n: 3, web: true}}\nbudget: {tokens: 1000, minutes: 5}\n",
    ),
    "choices": steps(a="    gate: {choices: {go: {label: Go, does: proceed, set: {web: true}}, amend: Change it}}\n"),
    "joined": steps(a="    when: {any: [{parameter: web, is: true}, {none: [{parameter: n, above: 3}]}]}\n"),
    "an automatic gate": steps(a="    gate: {auto: true, show: [x]}\n"),
    "nested units": steps(
        b="    loop: {to: b, when: {artifact: b.json, at: again, is: true}, at_most: 1}\n"
        "  c:\n    artifact: c.json\n    code: make.py:a\n    requires: [b]\n",
        top="repair:\n  - {steps: [a, b, c], rounds: n}\n",
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_is_good_has_no_problems_and_fits_the_json_schema(
    case: str, problems_of: Callable[[str], list[Problem]]
) -> None:
    assert problems_of(GOOD[case]) == []
    written = YAML(typ="safe", pure=True).load(GOOD[case])
    jsonschema_rs.validator_for(pipeline_json_schema()).validate(written)


@pytest.mark.parametrize("case", ["a repair without rounds", "a budget with an unknown key", "a loop without a bound"])
def test_the_json_schema_knows_the_keys_too(case: str) -> None:
    written = YAML(typ="safe", pure=True).load(CASES[case][0])
    assert not jsonschema_rs.validator_for(pipeline_json_schema()).is_valid(written)


def test_a_step_is_not_made_from_the_number_of_rounds_it_may_have(make_workspace: Any) -> None:
    """So that more rounds can be allowed later, and go on from where they were."""
    top = "repair:\n  - {steps: [a, b], rounds: n}\n"
    pipeline = make_workspace(
        {"code/make.py": "def a(s): ...\ndef b(s): ...\n", "pipelines/p.yaml": steps(top=top)}
    ).pipeline("p")
    assert {step.parameters for step in pipeline.steps.values()} == {("web",)}
