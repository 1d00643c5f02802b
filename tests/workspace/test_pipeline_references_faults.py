"""Faults of inputs, parameters, schemas and checks: one case each, with the place, the key and the hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from weft.protocol.errors import Problem

HEAD: Final = "name: p\ndescription: d\n"
STEP: Final = "steps:\n  a:\n    artifact: a.json\n    code: make.py:a\n"
TWO: Final = STEP + "  b:\n    artifact: b.json\n    code: make.py:b\n    final: true\n"


def at(line: int, column: int, key: str, message: str, hint: str = "", file: str = "pipelines/p.yaml") -> Problem:
    return Problem(file, message, line, column, key, hint)


CASES: Final = {
    "unknown input": (
        HEAD + STEP + "    inputs: [sorce]\n",
        [at(7, 14, "steps.a.inputs[0]", "unknown input 'sorce'", "did you mean 'source'?")],
    ),
    "unknown parameter": (
        HEAD + "parameters: {words: {type: integer, default: 1}}\n" + STEP + "    parameters: [words, wrds]\n",
        [at(8, 25, "steps.a.parameters[1]", "unknown parameter 'wrds'", "did you mean 'words'?")],
    ),
    "unused input": (
        HEAD + "inputs: {source: {}, notes: {}}\n" + STEP + "    inputs: [source]\n",
        [
            at(
                3,
                22,
                "inputs.notes",
                "no step reads the input 'notes'",
                "name it under 'inputs' of a step, or remove it",
            )
        ],
    ),
    "unused parameter": (
        HEAD + "parameters: {words: {type: integer, default: 1}}\n" + STEP + "    parameters: []\n",
        [
            at(
                3,
                14,
                "parameters.words",
                "no step reads the parameter 'words'",
                "name it under 'parameters' of a step, or remove it",
            )
        ],
    ),
    "default input unused": (
        HEAD + STEP + "    inputs: []\n",
        [
            at(
                1,
                1,
                "inputs",
                "no step reads the input 'source', which a pipeline has that declares none",
                "write 'inputs: {}'",
            )
        ],
    ),
    "default of another type": (
        HEAD + "parameters: {words: {type: integer, default: many}}\n" + STEP,
        [
            at(
                3,
                46,
                "parameters.words.default",
                "the default must be a whole number, not the text 'many'",
                "change it, or what it must be",
            )
        ],
    ),
    "default below its minimum": (
        HEAD + "parameters: {words: {type: integer, default: 1, minimum: 2}}\n" + STEP,
        [
            at(
                3,
                46,
                "parameters.words.default",
                "the default must be a whole number, at least 2, not the number 1",
                "change it, or what it must be",
            )
        ],
    ),
    "default not a choice": (
        HEAD + "parameters: {tone: {type: string, default: a, choices: [b, c]}}\n" + STEP,
        [
            at(
                3,
                44,
                "parameters.tone.default",
                "the default must be one of b, c, not the text 'a'",
                "change it, or what it must be",
            )
        ],
    ),
    "choice of another type": (
        HEAD + "parameters: {tone: {type: string, default: a, choices: [a, 1]}}\n" + STEP,
        [at(3, 60, "parameters.tone.choices[1]", "the number 1 is not of the type string", 'put it in quotes: "1"')],
    ),
    "minimum over maximum": (
        HEAD + "parameters: {n: {type: number, default: 1, minimum: 3, maximum: 2}}\n" + STEP,
        [at(3, 53, "parameters.n.minimum", "the minimum 3 is more than the maximum 2", "swap them")],
    ),
    "minimum of a text": (
        HEAD + "parameters: {n: {type: string, default: a, minimum: 3}}\n" + STEP,
        [at(3, 44, "parameters.n.minimum", "'minimum' has no meaning for a string", "remove it")],
    ),
    "unknown type": (
        HEAD + "parameters: {n: {type: integr, default: 1}}\n" + STEP,
        [
            at(
                3,
                24,
                "parameters.n.type",
                "'integr' is not one of integer, number, string, boolean, date, list, object, file, folder, secret",
                "did you mean 'integer'?",
            )
        ],
    ),
    "no default": (
        HEAD + "parameters: {n: {type: integer}}\n" + STEP,
        [
            at(
                3,
                14,
                "parameters.n.default",
                "'default' is missing",
                "add 'default': the value when a person gives none",
            )
        ],
    ),
    "minimum is text": (
        HEAD + "parameters: {n: {type: integer, default: 1, minimum: few}}\n" + STEP,
        [
            at(
                3,
                54,
                "parameters.n.minimum",
                "must be a number, not the text 'few'",
                "the smallest good value of an integer or number",
            )
        ],
    ),
    "missing schema": (
        HEAD + STEP + "    schema: god.json\n",
        [at(7, 13, "steps.a.schema", "there is no schemas/god.json", "did you mean 'good.json'?")],
    ),
    "schema outside": (
        HEAD + STEP + "    schema: ../good.json\n",
        [at(7, 13, "steps.a.schema", "'../good.json' may not contain '..'", "name a file in schemas/")],
    ),
    "schema is no JSON": (
        HEAD + STEP + "    schema: torn.json\n",
        [
            at(
                3,
                1,
                "",
                "this is not valid JSON: expecting property name enclosed in double quotes",
                file="schemas/torn.json",
            )
        ],
    ),
    "schema is a list": (
        HEAD + STEP + "    schema: list.json\n",
        [at(1, 1, "", "a JSON Schema is an object, not a list", file="schemas/list.json")],
    ),
    "schema is no schema": (
        HEAD + STEP + "    schema: odd.json\n",
        [
            at(
                3,
                23,
                "properties.title.type",
                "'strin' is not a type of JSON",
                "did you mean 'string'?",
                file="schemas/odd.json",
            ),
            at(
                4,
                22,
                "properties.n.minimum",
                'this is not valid in a JSON Schema: "x" is not of type "number"',
                file="schemas/odd.json",
            ),
        ],
    ),
    "schema refers outside": (
        HEAD + STEP + "    schema: outside.json\n",
        [
            at(
                2,
                21,
                "items.$ref",
                "this refers to nothing in this file",
                "refer to a part of the same file, such as #/$defs/name",
                file="schemas/outside.json",
            )
        ],
    ),
    "schema of unknown draft": (
        HEAD + STEP + "    schema: draft.json\n",
        [
            at(
                2,
                14,
                "$schema",
                "this is not a draft of JSON Schema that is known here",
                "use https://json-schema.org/draft/2020-12/schema",
                file="schemas/draft.json",
            )
        ],
    ),
    "schema of a text": (
        HEAD + STEP.replace("a.json", "a.md") + "    schema: good.json\n",
        [at(7, 13, "steps.a.schema", "a schema describes JSON, and a.md is text", "remove it, or use checks")],
    ),
    "one schema, two artifacts": (
        HEAD + "steps:\n  a:\n    artifacts: [a.json, b.json]\n    code: make.py:a\n    schema: good.json\n",
        [
            at(
                7,
                13,
                "steps.a.schema",
                "a step with several artifacts says which of them a schema is for",
                "write a mapping: {a.json: good.json}",
            )
        ],
    ),
    "schema of another's artifact": (
        HEAD + STEP + "    schema: {aa.json: good.json}\n",
        [at(7, 14, "steps.a.schema.aa.json", "this step makes no 'aa.json'", "did you mean 'a.json'?")],
    ),
    "schema is a number": (
        HEAD + STEP + "    schema: 3\n",
        [
            at(
                7,
                13,
                "steps.a.schema",
                "must be a file in schemas/, or a mapping of artifacts to such files",
                "the JSON Schema of the artifact: a file in schemas/; for several artifacts a mapping to files",
            )
        ],
    ),
    "unknown check": (
        HEAD + STEP + "    checks: [{verbatm: {at: x, in: source}}]\n",
        [at(7, 15, "steps.a.checks[0].verbatm", "unknown check 'verbatm'", "did you mean 'verbatim'?")],
    ),
    "unknown option": (
        HEAD + STEP + "    checks: [{unique: {att: x}}]\n",
        [at(7, 24, "steps.a.checks[0].unique.att", "unknown option 'att'", "did you mean 'at'?")],
    ),
    "options are text": (
        HEAD + STEP + "    checks: [{unique: x}]\n",
        [
            at(
                7,
                14,
                "steps.a.checks[0]",
                "the options of 'unique' must be a mapping of keys to values, not the text 'x'",
                "tests of the artifacts beyond their schema: a list of checks, each with its options",
            )
        ],
    ),
    "check not indented": (
        HEAD + STEP + "    checks:\n      - unique:\n        at: x\n",
        [
            at(
                8,
                9,
                "steps.a.checks[0]",
                "one entry holds one check",
                "indent the options of 'unique' under it, or begin each check with its own '-'",
            )
        ],
    ),
    "check is a number": (
        HEAD + STEP + "    checks: [3]\n",
        [
            at(
                7,
                14,
                "steps.a.checks[0]",
                "must be a check's name with its options, not the number 3",
                "tests of the artifacts beyond their schema: a list of checks, each with its options",
            )
        ],
    ),
    "unknown document": (
        HEAD + STEP + "    checks: [{verbatim: {at: x, in: sorce}}]\n",
        [at(7, 37, "steps.a.checks[0].verbatim.in", "this step can't read 'sorce'", "did you mean 'source'?")],
    ),
    "document of a step not required": (
        HEAD + TWO + "    checks: [{verbatim: {at: x, in: [source, a.json]}}]\n",
        [
            at(
                11,
                46,
                "steps.b.checks[0].verbatim.in[1]",
                "this step can't read 'a.json'",
                "it is made by the step 'a': add that to 'requires'",
            )
        ],
    ),
    "check of unknown artifact": (
        HEAD + STEP + "    checks: [{unique: {at: 'x[*]', artifact: aa.json}}]\n",
        [at(7, 46, "steps.a.checks[0].unique.artifact", "this step makes no 'aa.json'", "did you mean 'a.json'?")],
    ),
    "check of no artifact": (
        HEAD
        + "steps:\n  a:\n    artifacts: [a.json, b.json]\n    code: make.py:a\n    checks: [{unique: {at: 'x[*]'}}]\n",
        [
            at(
                7,
                15,
                "steps.a.checks[0].unique",
                "a step with several artifacts says which of them a check is for",
                "add 'artifact: a.json' to its options",
            )
        ],
    ),
    "own check in no file": (
        HEAD + STEP + "    checks: ['mak.py:polite']\n",
        [at(7, 14, "steps.a.checks[0]", "there is no code/mak.py", "did you mean 'make.py'?")],
    ),
    "own check, no function": (
        HEAD + STEP + "    checks: [{'make.py:polite': {}}]\n",
        [
            at(
                7,
                15,
                "steps.a.checks[0].make.py:polite",
                "code/make.py has no function 'polite'",
                "the functions of make.py are: a, b",
            )
        ],
    ),
    "check with unknown parameter": (
        HEAD + STEP + "    checks: [{sum_near: {at: x, target: {parameter: words}}}]\n",
        [
            at(
                7,
                53,
                "steps.a.checks[0].sum_near.target.parameter",
                "this step reads no parameter 'words'",
                "there are no parameters this step reads",
            )
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_told_with_its_place_and_the_way_out(case: str, problems_of: Callable[[str], list[Problem]]) -> None:
    text, expected = CASES[case]
    assert problems_of(text) == expected


@pytest.mark.parametrize(
    ("artifact", "check", "place"),
    [
        ("a.json", "{verbatim: {at: x}}", (7, 15, "steps.a.checks[0].verbatim.in")),
        ("a.json", "{unique: {at: /x}}", (7, 28, "steps.a.checks[0].unique.at")),
        ("a.md", "{unique: {at: 'x[*]'}}", (7, 28, "steps.a.checks[0].unique.at")),
    ],
)
def test_what_a_check_says_of_its_options_is_told_where_the_option_stands(
    artifact: str, check: str, place: tuple[int, int, str], problems_of: Callable[[str], list[Problem]]
) -> None:
    (problem,) = problems_of(HEAD + STEP.replace("a.json", artifact) + f"    checks: [{check}]\n")
    assert (problem.line, problem.column, problem.key) == place
    assert problem.message
