"""Faults of what a pipeline says of time, of failures and of one step in place of another, with the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from weft.protocol.errors import Problem

HEAD: Final = """\
name: p
description: d
parameters: {n: {type: integer, default: 1}}
steps:
  a: {artifact: a.json, code: 'make.py:a', parameters: [], when: {parameter: n, is: 1}}
"""
LAST: Final = "  z: {artifact: z.json, code: 'make.py:b', requires: [b], final: true}\n"
FAULTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "until: soon": ("until", "must be a date and a time, not the text 'soon'", "2026-12-01T09:00"),
    "wait: 2 weeks": ("wait", "must be a time", "seconds"),
    "else: x": ("else", "unknown step 'x'", "steps with a 'when'"),
    "else: z": ("else", "'z' has no 'when'", "a"),
    "else: a, when: {parameter: n, is: 2}": ("else", "'when' or 'else', not both", "remove one"),
    "on_failure: true": ("requires[0]", "'b' is made when all else is", "remove it"),
    "finally: true": ("requires[0]", "'b' is made when all else is", "a step of the end too"),
    "finally: true, gate: {}": ("gate", "nothing reads 'gate' in a step with 'finally'", "remove one"),
    "on_failure: true, finally: true": ("finally", "not both", "remove one"),
    "gate: {then: remind}": ("then", "after 'within'", "within: 2d"),
    "gate: {within: 2d, then: go}": ("then", "offers no choice 'go'", "remind"),
    "gate: {within: 2d, then: amend}": ("then", "nobody would say what is to be changed", "goes on or cancels"),
    "gate: {within: 2d, auto: true}": ("within", "waits for nobody", "remove one"),
    "gate: {before: true, auto: true}": ("before", "holds up nothing", "remove one"),
    "gate: {before: true, choices: {proceed: Go, amend: Change}}": ("amend", "nothing to be changed", "'form'"),
    "gate: {before: true, show: [{artifact: b.json, at: x}]}": ("artifact", "can't look at 'b.json'", "not made yet"),
}


@pytest.mark.parametrize("written", FAULTS)
def test_a_fault_is_told_at_its_key_with_the_way_out(written: str, problems_of: Callable[[str], list[Problem]]) -> None:
    key, message, hint = FAULTS[written]
    found = problems_of(f"{HEAD}  b: {{artifact: b.json, code: 'make.py:b', {written}}}\n{LAST}")
    (problem,) = [one for one in found if message in one.message]
    assert hint in problem.hint
    assert problem.key.endswith(key)
