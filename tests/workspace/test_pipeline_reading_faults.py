"""Faults of YAML and of shape: one case each, with the place, the key, the sentence and the hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from weft.protocol.errors import Problem
from weft.workspace.pipeline_file import StepEntry

HEAD: Final = "name: p\ndescription: d\n"
STEP: Final = "steps:\n  a:\n    artifact: a.json\n    code: make.py:a\n"
STEP_KEYS: Final = (
    "artifact, artifacts, code, agent, tool, pipeline, requires, inputs, parameters, profile, skills, model, schema, "
    f"checks, attempts, retry and {len(StepEntry.model_fields) - 16} more"
)


def at(line: int, column: int, key: str, message: str, hint: str = "", file: str = "pipelines/p.yaml") -> Problem:
    return Problem(file, message, line, column, key, hint)


CASES: Final = {
    "empty": ("", [at(1, 1, "", "nothing is written here")]),
    "only a comment": ("# nothing\n", [at(1, 1, "", "nothing is written here")]),
    "not a mapping": (
        "- a\n",
        [
            at(
                1,
                1,
                "",
                "this must be a mapping of keys to values, not a list",
                "the keys are: name, description, version, inputs, parameters, depth, budget, timeout, repair, steps",
            )
        ],
    ),
    "a scalar": (
        "hello\n",
        [
            at(
                1,
                1,
                "",
                "this must be a mapping of keys to values, not the text 'hello'",
                "the keys are: name, description, version, inputs, parameters, depth, budget, timeout, repair, steps",
            )
        ],
    ),
    "tab": ("name: p\nsteps:\n\ta: 1\n", [at(3, 1, "", "a tab stands here", "YAML is indented with spaces")]),
    "colon in text": (
        "name: p\ndescription: this: that\n",
        [at(2, 18, "", "a ': ' stands where no key can be", "put the text in quotes, or mend the indent")],
    ),
    "unclosed list": (
        HEAD + "steps: [a\n",
        [at(3, 8, "", "this list is not closed, or lacks a comma", "add the ], or the comma")],
    ),
    "unclosed mapping": (
        HEAD + "steps: {a: 1\n",
        [at(3, 8, "", "this mapping is not closed, or lacks a comma", "add the }, or the comma")],
    ),
    "unclosed quote": ("name: 'p\n", [at(1, 7, "", "this quoted text is never closed", "add the closing quote")]),
    "bad indent": (
        "name: p\n  description: d\n",
        [at(2, 14, "", "a ': ' stands where no key can be", "put the text in quotes, or mend the indent")],
    ),
    "dedent": (
        "steps:\n    a: 1\n  b: 2\n",
        [at(3, 3, "", "the indent here does not fit the lines above", "align it with its neighbours")],
    ),
    "no colon": (
        "name: p\ndescription\nsteps: {}\n",
        [at(2, 1, "", "this is no 'key: value'", "add the ':', or mend the indent")],
    ),
    "second document": (
        "name: p\n---\nname: q\n",
        [at(2, 1, "", "a second document begins here", "one file holds one document: remove the ---")],
    ),
    "undefined alias": (
        "name: *p\n",
        [at(1, 7, "", "this alias has no anchor", "put the text in quotes if a * is meant")],
    ),
    "reserved character": (
        "name: @p\n",
        [at(1, 7, "", "YAML keeps this character for itself", "put the text in quotes")],
    ),
    "control character": (
        "name: p\ndescription: a\x07b\n",
        [at(2, 15, "", "a character stands here that YAML does not allow", "remove it")],
    ),
    "tag": (
        HEAD.replace("d\n", "!secret d\n") + STEP,
        [at(2, 14, "description", "the tag !secret has no meaning here", "remove it, or put the text in quotes")],
    ),
    "duplicate key": (
        HEAD + "name: q\n" + STEP,
        [at(3, 1, "name", "'name' stands here twice; the first is on line 1", "remove one of them")],
    ),
    "duplicate step": (
        HEAD + STEP + "  a:\n    artifact: b.json\n    code: make.py:b\n",
        [at(7, 3, "steps.a", "'a' stands here twice; the first is on line 4", "remove one of them")],
    ),
    "number as key": (
        HEAD + "steps:\n  12:\n    artifact: a.json\n    code: make.py:a\n",
        [at(4, 3, "steps.12", "the key 12 is not text", "put it in quotes: '12'")],
    ),
    "list as key": (
        HEAD + STEP + "    ? [x]\n    : y\n",
        [at(7, 7, "steps.a", "a key must be text, not a list or a mapping")],
    ),
    "infinite number": (
        HEAD + STEP + "    timeout: .inf\n",
        [at(7, 14, "steps.a.timeout", "'.inf' is not a number that can be worked with")],
    ),
    "recursive alias": (HEAD + "steps: &s\n  a: *s\n", [at(3, 8, "", "this is nested more than 64 levels deep")]),
    "unknown top key": (
        HEAD + "vershun: 2\n" + STEP,
        [at(3, 1, "vershun", "unknown key 'vershun'", "did you mean 'version'?")],
    ),
    "unknown step key": (
        HEAD + STEP + "    timeot: 5\n",
        [at(7, 5, "steps.a.timeot", "unknown key 'timeot'", "did you mean 'timeout'?")],
    ),
    "unknown key, nothing near": (
        HEAD + STEP + "    zzz: 5\n",
        [at(7, 5, "steps.a.zzz", "unknown key 'zzz'", f"the keys are: {STEP_KEYS}")],
    ),
    "unknown input key": (
        HEAD + "inputs: {source: {requird: true}}\n" + STEP,
        [at(3, 19, "inputs.source.requird", "unknown key 'requird'", "did you mean 'required'?")],
    ),
    "missing description": (
        "name: p\n" + STEP,
        [
            at(
                1,
                1,
                "description",
                "'description' is missing",
                "add 'description': what the pipeline makes, in one sentence",
            )
        ],
    ),
    "missing steps": (HEAD, [at(1, 1, "steps", "'steps' is missing", "add 'steps': the steps by name, at least one")]),
    "no steps": (HEAD + "steps: {}\n", [at(3, 8, "steps", "may not be empty", "a pipeline has at least one step")]),
    "misspelt description": (
        "name: p\ndescripton: d\n" + STEP,
        [at(2, 1, "descripton", "unknown key 'descripton'", "did you mean 'description'?")],
    ),
    "empty description": (
        "name: p\ndescription: ''\n" + STEP,
        [at(2, 14, "description", "may not be empty", "what the pipeline makes, in one sentence")],
    ),
    "name is a number": (
        "name: 12\ndescription: d\n" + STEP,
        [
            at(
                1,
                7,
                "name",
                "must be text, not the number 12",
                "the pipeline's name: the same as the file's name without .yaml",
            )
        ],
    ),
    "name is not the file's": (
        "name: q\ndescription: d\n" + STEP,
        [at(1, 7, "name", "the name is 'q', but the file is p.yaml", "write 'name: p', or rename the file to q.yaml")],
    ),
    "version is a float": (
        HEAD + "version: 1.0\n" + STEP,
        [at(3, 10, "version", "1.0 could also be read as a number", 'put it in quotes: "1.0"')],
    ),
    "version is a list": (
        HEAD + "version: [1]\n" + STEP,
        [
            at(
                3,
                10,
                "version",
                "must be a whole number or text, not a list",
                "the version of the pipeline: a whole number or text",
            )
        ],
    ),
    "step is text": (
        HEAD + "steps:\n  a: make.py:a\n",
        [
            at(
                4,
                6,
                "steps.a",
                "must be a mapping of keys to values, not the text 'make.py:a'",
                f"the keys are: {STEP_KEYS}",
            )
        ],
    ),
    "steps is a list": (
        HEAD + "steps: [a]\n",
        [at(3, 8, "steps", "must be a mapping of names to values, not a list", "the steps by name, at least one")],
    ),
    "requires is text": (
        HEAD + STEP + "    requires: b\n",
        [
            at(
                7,
                15,
                "steps.a.requires",
                "must be a list, such as [a, b], not the text 'b'",
                "the steps whose artifacts this step reads",
            )
        ],
    ),
    "requires without value": (
        HEAD + STEP + "    requires:\n",
        [
            at(
                7,
                5,
                "steps.a.requires",
                "must be a list, such as [a, b], not nothing",
                "the steps whose artifacts this step reads",
            )
        ],
    ),
    "model without value": (
        HEAD + "steps:\n  a:\n    artifact: a.json\n    agent: writer\n    model:\n",
        [at(7, 5, "steps.a.model", "has no value", "write one, or remove the key")],
    ),
    "attempts too many": (
        HEAD + STEP + "    attempts: 11\n",
        [at(7, 15, "steps.a.attempts", "must be at most 10, not 11", "how often the step is tried: 1 to 10")],
    ),
    "attempts not whole": (
        HEAD + STEP + "    attempts: 1.5\n",
        [
            at(
                7,
                15,
                "steps.a.attempts",
                "must be a whole number, not the number 1.5",
                "how often the step is tried: 1 to 10",
            )
        ],
    ),
    "timeout in words": (
        HEAD + STEP + "    timeout: soon\n",
        [
            at(
                7,
                14,
                "steps.a.timeout",
                "must be a time, not the text 'soon'",
                'write seconds, or a time such as "90s", "5m", "1h"',
            )
        ],
    ),
    "timeout of nothing": (
        HEAD + STEP + "    timeout: 0\n",
        [
            at(
                7,
                14,
                "steps.a.timeout",
                "must be more than 0 seconds, not 0",
                'the longest one try may take: seconds, or "90s", "5m", "1h"',
            )
        ],
    ),
    "final is yes": (
        HEAD + STEP + "    final: yes\n",
        [
            at(
                7,
                12,
                "steps.a.final",
                "must be true or false, not the text 'yes'",
                "true for the one step whose artifact the pipeline is for",
            )
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_told_with_its_place_and_the_way_out(case: str, problems_of: Callable[[str], list[Problem]]) -> None:
    text, expected = CASES[case]
    assert problems_of(text) == expected
