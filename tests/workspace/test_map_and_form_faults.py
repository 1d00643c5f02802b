"""Faults of steps that are made item by item, and of forms at gates: the sentence and the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from weft.protocol.errors import Problem
from weft.workspace.workspace import Workspace

HEAD: Final = """\
name: p
description: d
inputs: {source: {}, table: {kind: text}}
parameters: {n: {type: integer, default: 1}, place: {type: folder}}
steps:
"""
MAPS: Final[Mapping[str, tuple[str, str]]] = {
    "{at: 'x[*]'}": ("a map is over something", "artifact (with at), step, folder (with files), rows, pages"),
    "{artifact: a.json, at: 'x[*]', rows: table}": (
        "is over one thing, not over 'artifact' and 'rows'",
        "write one",
    ),
    "{artifact: a.json, at: x}": ("this place has one value, not several", "write at: x[*]"),
    "{artifact: z.json, at: 'x[*]'}": ("can't look at 'z.json'", "did you mean"),
    "{step: a}": ("'a' is no step with a map", "there are no steps with a map"),
    "{folder: plaec}": ("there is no parameter 'plaec' of the type folder", "did you mean 'place'?"),
    "{folder: n}": ("the parameter 'n' is not a folder", "write 'type: folder'"),
    "{rows: source}": ("there is no input 'source' of the kind text", "write 'kind: text' under inputs: source"),
    "{pages: tabel}": ("there is no input 'tabel' of the kind document", "the inputs of the kind document are: source"),
    "{rows: table, at: x}": ("'at' is a place in an artifact, and this map is over rows", "remove it"),
    "{rows: table, files: x}": ("'files' says which files of a folder, and this map is over rows", "remove it"),
    "{pages: source, key: id}": ("nothing reads 'key' here: a page by its number", "remove it"),
    "{rows: table, key: 'a['}": ("'a[' is not a path", ""),
    "{rows: table, as: table}": ("'table' is an input's name", "call the items something else"),
    "{rows: table, as: A b}": ("'A b' is not a good name", "small letters"),
    "{rows: table, most_failed: 3}": ("'most_failed' has no meaning with 'failed: stop'", "write 'failed: keep'"),
    "{rows: table, failed: keep, most_failed: 110%}": ("must be a number or a share", 'write 3, or "10%"'),
    "{rows: table, at_once: 0}": ("must be at least 1", ""),
}
Problems = Callable[[str], list[Problem]]


@pytest.mark.parametrize("written", MAPS)
def test_a_fault_of_a_map_is_told_with_the_way_out(written: str, problems_of: Problems) -> None:
    text = (
        f"{HEAD}  a: {{artifact: a.json, code: 'make.py:a'}}\n"
        f"  b: {{map: {written}, artifact: b.json, code: 'make.py:b', requires: [a], final: true}}\n"
    )
    (problem,) = problems_of(text)
    message, hint = MAPS[written]
    assert message in problem.message
    assert hint in problem.hint
    assert problem.key.startswith("steps.b.map")


def test_what_a_step_with_a_map_makes(problems_of: Problems) -> None:
    text = HEAD + "  blobs: {map: {rows: table}, artifact: b.md, code: 'make.py:b', final: true}\n"
    said = {problem.message for problem in problems_of(text)}
    assert "a step with 'map' makes one .json file, in which its items are gathered" in said
    assert "its items would be in blobs/, which the session keeps for itself" in said


def test_each_is_answered_with_map(problems_of: Problems) -> None:
    text = (
        f"{HEAD}  a: {{artifact: a.json, code: 'make.py:a'}}\n"
        "  b: {artifact: b.json, code: 'make.py:b', requires: [a], each: {artifact: a.json, as: x}, final: true}\n"
    )
    (problem,) = problems_of(text)
    assert problem.hint == "write 'map' in its place: every step may be made item by item"


FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "form: [m]": ("unknown parameter 'm'", "the parameters are: n, place"),
    "form: [place]": ("the folder 'place' is named when the run begins", "ask for it there"),
    "form: [n], auto: true": ("an automatic gate asks nobody", "remove one of the two"),
}


@pytest.mark.parametrize("written", FORMS)
def test_a_fault_of_a_form_is_told_with_the_way_out(written: str, problems_of: Problems) -> None:
    text = (
        f"{HEAD}  a: {{artifact: a.json, code: 'make.py:a', gate: {{{written}}}}}\n"
        "  b: {artifact: b.json, code: 'make.py:b', requires: [a], final: true}\n"
    )
    (problem,) = problems_of(text)
    assert FORMS[written][0] in problem.message
    assert FORMS[written][1] in problem.hint


def test_what_is_asked_at_a_gate_is_not_read_before_it(problems_of: Problems) -> None:
    text = (
        f"{HEAD}  a: {{artifact: a.json, code: 'make.py:a', parameters: [n], gate: {{form: [n]}}}}\n"
        "  b: {artifact: b.json, code: 'make.py:b', requires: [a], final: true}\n"
    )
    (problem,) = problems_of(text)
    assert problem.message == "the step 'a' reads 'n' before it is asked for"


def test_without_a_word_a_step_before_the_gate_does_not_read_what_is_asked_there(
    make_workspace: Callable[[Mapping[str, str]], Workspace],
) -> None:
    text = HEAD.replace(", place: {type: folder}", "") + (
        "  a: {artifact: a.json, code: 'make.py:a'}\n"
        "  b: {artifact: b.json, code: 'make.py:a', requires: [a], gate: {form: [n]}}\n"
        "  c: {artifact: c.json, code: 'make.py:a', requires: [b], final: true}\n"
    )
    space = make_workspace({"pipelines/p.yaml": text, "code/make.py": "def a(step): ...\n"})
    steps = space.pipeline("p").steps
    assert {name: step.parameters for name, step in steps.items()} == {"a": (), "b": (), "c": ("n",)}
