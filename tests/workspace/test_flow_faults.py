"""Faults of how a run flows (when, gate, repair, loop, depth, budget): the place, the sentence and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from weft.protocol.errors import Problem


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


def when(text: str) -> str:
    return steps(a=f"    when: {text}\n")


def gate(text: str) -> str:
    return steps(a=f"    gate: {text}\n")


def loop(text: str) -> str:
    return steps(b=f"    loop: {text}\n")


KEYS: Final = (
    "the keys of a condition are: parameter, artifact, at, is, is_not, one_of, above, below, at_least, at_most, "
    "exists, all, any, none"
)
PATH: Final = (
    "'x[' is not a path (from '[' on): a path is keys joined by dots, with [*] for every element or [0] for one, "
    "such as quotes[*].text"
)
CASES: dict[str, tuple[str, list[Problem]]] = {
    "a condition that is none": (
        when("true"),
        [
            at(
                10,
                11,
                "steps.a.when",
                "must be a condition, not true (yes or no)",
                "write {parameter: web, is: true}, or {artifact: plan.json, at: clarity, below: 0.7}",
            )
        ],
    ),
    "a condition that is empty": (
        when("{}"),
        [
            at(
                10,
                11,
                "steps.a.when",
                "is empty",
                "write {parameter: web, is: true}, or {artifact: plan.json, at: clarity, below: 0.7}",
            )
        ],
    ),
    "a condition without a test": (
        when("{parameter: web}"),
        [
            at(
                10,
                5,
                "steps.a.when",
                "this condition tests nothing",
                "write one of is, is_not, one_of, above, below, at_least, at_most, exists",
            )
        ],
    ),
    "a condition with two tests": (
        when("{parameter: n, above: 1, below: 3}"),
        [
            at(
                10,
                5,
                "steps.a.when",
                "a condition has exactly one test",
                "write one of is, is_not, one_of, above, below, at_least, at_most, exists",
            )
        ],
    ),
    "a condition that looks at nothing": (
        when("{is: true}"),
        [at(10, 5, "steps.a.when", "a condition looks at a 'parameter' or at an 'artifact'", "write one of the two")],
    ),
    "a condition that looks at two things": (
        when("{parameter: web, artifact: a.json, is: true}"),
        [at(10, 5, "steps.a.when", "a condition looks at a 'parameter' or at an 'artifact'", "write one of the two")],
    ),
    "a condition with an unknown key": (
        when("{parameter: web, equals: true}"),
        [
            at(
                10,
                28,
                "steps.a.when.equals",
                "unknown key 'equals'",
                KEYS,
            )
        ],
    ),
    "a condition on an unknown parameter": (
        when("{parameter: wep, is: true}"),
        [at(10, 23, "steps.a.when.parameter", "unknown parameter 'wep'", "did you mean 'web'?")],
    ),
    "a condition that can never hold": (
        when("{parameter: web, is: 3}"),
        [
            at(
                10,
                32,
                "steps.a.when.is",
                "can never hold: the parameter must be true or false, not the number 3",
                "change it",
            )
        ],
    ),
    "a condition with a place in a parameter": (
        when("{parameter: web, at: x, is: true}"),
        [at(10, 28, "steps.a.when.at", "'at' is a place in an artifact", "remove it")],
    ),
    "above what is no number": (
        when("{parameter: n, above: much}"),
        [at(10, 33, "steps.a.when.above", "must be a number, not the text 'much'", "write above: 3")],
    ),
    "one of no list": (
        when("{parameter: n, one_of: 3}"),
        [at(10, 34, "steps.a.when.one_of", "must be a list of values, not the number 3", "write one_of: [a, b]")],
    ),
    "exists maybe": (
        when("{parameter: n, exists: maybe}"),
        [at(10, 34, "steps.a.when.exists", "must be true or false, not the text 'maybe'", "write exists: true")],
    ),
    "a condition on the step's own artifact": (
        when("{artifact: a.json, at: x, is: 1}"),
        [at(10, 22, "steps.a.when.artifact", "can't look at 'a.json'", "the step is not made yet when this is judged")],
    ),
    "a condition on an artifact it does not require": (
        when("{artifact: b.json, at: x, is: 1}"),
        [
            at(
                10,
                22,
                "steps.a.when.artifact",
                "can't look at 'b.json'",
                "it is made by the step 'b': add that to 'requires'",
            )
        ],
    ),
    "a condition on an artifact nobody makes": (
        steps(b="    when: {artifact: aa.json, at: x, is: 1}\n"),
        [at(15, 22, "steps.b.when.artifact", "can't look at 'aa.json'", "did you mean 'a.json'?")],
    ),
    "a place that can't be read": (
        steps(a="    gate: {when: {artifact: a.json, at: 'x[', is: 1}}\n"),
        [
            at(
                10,
                41,
                "steps.a.gate.when.at",
                PATH,
                "",
            )
        ],
    ),
    "a place that is no text": (
        steps(a="    gate: {when: {artifact: a.json, at: 3, is: 1}}\n"),
        [
            at(
                10,
                41,
                "steps.a.gate.when.at",
                "must be a place in the artifact, not the number 3",
                "write at: parts[*].title",
            )
        ],
    ),
    "a look into text": (
        f"{HEAD}steps:\n  a:\n    artifact: a.md\n    code: make.py:a\n    gate: {{show: [title]}}\n",
        [at(10, 19, "steps.a.gate.show[0].artifact", "can't look at ''", "the artifacts it can look at are: a.md")],
    ),
    "a loop of a step that makes text": (
        (
            f"{HEAD}steps:\n  a:\n    artifact: a.md\n    code: make.py:a\n"
            "    loop: {to: a, when: {parameter: web, is: true}, at_most: 1, feedback: x}\n"
        ),
        [
            at(
                10,
                5,
                "steps.a.loop",
                "the step that closes it makes no JSON to look into",
                "let it make a .json artifact",
            )
        ],
    ),
    "rounds that could be negative": (
        (
            "name: p\ndescription: d\nparameters:\n  n: {type: integer, default: 1}\n"
            "steps:\n  a:\n    artifact: a.json\n"
            "    code: make.py:a\n    loop: {to: a, when: {artifact: a.json, at: x, is: 1}, at_most: n}\n"
        ),
        [at(9, 68, "steps.a.loop.at_most", "the parameter n could be negative", "give it 'minimum: 0'")],
    ),
    "a join beside other keys": (
        when("{all: [{parameter: web, is: true}], is: true}"),
        [at(10, 12, "steps.a.when.all", "'all' stands alone", "put the other keys into its list")],
    ),
    "a join of no list": (
        when("{any: {parameter: web, is: true}}"),
        [at(10, 17, "steps.a.when.any", "must be a list of conditions", "write any: [{…}, {…}]")],
    ),
    "a join with a bad part": (
        when("{any: [{parameter: web, is: true}, {parameter: wep, is: true}]}"),
        [at(10, 58, "steps.a.when.any[1].parameter", "unknown parameter 'wep'", "did you mean 'web'?")],
    ),
    "a condition on the final step": (
        steps(b="    when: {parameter: web, is: true}\n"),
        [
            at(
                15,
                5,
                "steps.b.when",
                "the final step is what a run is for, and 'b' may be passed over",
                "put the condition on a step before it",
            )
        ],
    ),
    "a gate that is none": (
        gate("yes please"),
        [
            at(
                10,
                11,
                "steps.a.gate",
                "must be a mapping of keys to values, not the text 'yes please'",
                "the keys are: message, show, when, form, auto, choices, before, assignee, within, then",
            )
        ],
    ),
    "a gate with an unknown key": (
        gate("{mesage: Good?}"),
        [at(10, 12, "steps.a.gate.mesage", "unknown key 'mesage'", "did you mean 'message'?")],
    ),
    "a gate that shows what is not there": (
        gate("{show: [{artifact: c.json, at: x}]}"),
        [at(10, 30, "steps.a.gate.show[0].artifact", "can't look at 'c.json'", "did you mean 'a.json'?")],
    ),
    "a gate that shows nothing": (
        gate("{show: [3]}"),
        [
            at(
                10,
                19,
                "steps.a.gate.show[0]",
                "must be a place such as title, or a mapping with at and label, not the number 3",
                "what of the artifact is shown: places, each with a label",
            )
        ],
    ),
    "a gate that shows with an unknown key": (
        gate("{show: [{at: x, lable: X}]}"),
        [at(10, 27, "steps.a.gate.show[0].lable", "unknown key 'lable'", "did you mean 'label'?")],
    ),
    "choices that are a list": (
        gate("{choices: [proceed, cancel]}"),
        [
            at(
                10,
                21,
                "steps.a.gate.choices",
                "must be a mapping of ids to labels, not a list",
                "write {proceed: Go on}",
            )
        ],
    ),
    "a choice without a label": (
        gate("{choices: {proceed: {does: proceed}}}"),
        [at(10, 22, "steps.a.gate.choices.proceed.label", "'label' is missing", "add 'label': what the person reads")],
    ),
    "a choice with a bad id": (
        gate("{choices: {'Go On': Go}}"),
        [
            at(
                10,
                22,
                "steps.a.gate.choices.Go On",
                "'Go On' is not a good id",
                "small letters, digits, _ and -, not a number",
            )
        ],
    ),
    "a choice that is a number": (
        gate("{choices: {'1': Go}}"),
        [at(10, 22, "steps.a.gate.choices.1", "'1' is not a good id", "small letters, digits, _ and -, not a number")],
    ),
    "a choice that does nothing known": (
        gate("{choices: {proceed: Go, deeper: Look deeper}}"),
        [
            at(
                10,
                35,
                "steps.a.gate.choices.deeper",
                "what does 'deeper' do?",
                "add 'does: ' with one of proceed, amend, cancel",
            )
        ],
    ),
    "a choice that does something else": (
        gate("{choices: {proceed: Go, deeper: {label: X, does: restart}}}"),
        [
            at(
                10,
                35,
                "steps.a.gate.choices.deeper",
                "'restart' is nothing a choice does",
                "add 'does: ' with one of proceed, amend, cancel",
            )
        ],
    ),
    "a choice that sets an unknown parameter": (
        gate("{choices: {proceed: {label: Go, set: {wep: true}}}}"),
        [at(10, 49, "steps.a.gate.choices.proceed.set.wep", "unknown parameter 'wep'", "did you mean 'web'?")],
    ),
    "a choice that sets a bad value": (
        gate("{choices: {proceed: {label: Go, set: {n: -1}}}}"),
        [
            at(
                10,
                52,
                "steps.a.gate.choices.proceed.set.n",
                "must be a whole number, at least 0, not the number -1",
                "change it",
            )
        ],
    ),
    "no way on": (
        gate("{choices: {cancel: Stop}}"),
        [at(10, 21, "steps.a.gate.choices", "no choice lets the run go on", "add 'proceed: Go on'")],
    ),
    "an automatic gate with choices": (
        gate("{auto: true, choices: {proceed: Go}}"),
        [at(10, 24, "steps.a.gate.choices", "an automatic gate waits for no choice", "remove one of the two")],
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
