"""Every scenario of the kept file holds, and a scenario that can't be understood never passes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.more_scenarios import MORE, scenario
from weft.testing.scenarios import faults_of, load, main

FILE = Path(__file__).parent.parent / "vectors" / "interrupt_scenarios.json"
SCENARIOS = {one["id"]: one for one in load(FILE)}
TIMED = ("_ms", "_min", "_max")
"""Bars for a quiet machine. The tests run anywhere, so they look at what happened and not at how long it took; the
benchmarks and `python -m weft.testing.scenarios` measure."""
SCALE = {"P02": 0.1, "P03": 0.15, "P04": 0.1}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    scenario = copy.deepcopy(SCENARIOS[name])
    if scenario["kind"] == "real":
        bars = scenario["expect"]
        scenario["expect"] = {key: bar for key, bar in bars.items() if not any(mark in key for mark in TIMED)}
    assert faults_of(scenario, SCALE.get(name, 0.01)) == []


@pytest.mark.parametrize("name", MORE)
def test_further_scenario(name: str) -> None:
    assert faults_of(MORE[name]) == []


def test_there_is_a_scenario_for_every_requirement() -> None:
    told = {number for one in [*SCENARIOS.values(), *MORE.values()] for number in one["requirement"]}
    assert told == set(range(1, 27))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "dream"}, "unknown kind 'dream'"),
        ({"more": 1}, "unknown key 'more'"),
        ({"given": {"weather": "fine"}}, "unknown key 'weather'"),
        ({"given": {"tools": {"read": {"colour": "red"}}}}, "unknown key 'colour'"),
        ({"steps": [{"op": "dance"}]}, "unknown operation 'dance'"),
        ({"steps": [{"op": "drain", "slowly": True}]}, "unknown key 'slowly'"),
        ({"steps": [{"op": "submit", "cmd": {"type": "Sing"}}]}, "unknown command 'Sing'"),
        ({"steps": [{"op": "submit", "cmd": {"type": "UserMessage", "msg": "m", "loud": 1}}]}, "loud"),
        ({"steps": [{"op": "start"}]}, "needs the key 'x'"),
        ({"steps": [{"op": "crash"}, {"op": "drain"}]}, "after a crash"),
        ({"steps": [{"op": "step", "crash": "during_lunch"}]}, "during_lunch"),
        ({"steps": [{"op": "project", "name": "cinema"}]}, "unknown projection 'cinema'"),
        ({"expect": {"mood": "good"}}, "unknown key 'mood'"),
        ({"expect": {"ports": {"harbour": []}}}, "unknown key 'harbour'"),
        ({"expect": {"contains": [{"type": "Applause"}]}}, "unknown event type 'Applause'"),
        ({"expect": {"status": "thinking"}}, "expected 'thinking', found 'idle'"),
        ({"expect": {"counts": [{"type": "TurnStarted", "n": 1}]}}, "0 of"),
        ({"expect": {"tail": [{"type": "TurnStarted"}]}}, "tail: expected"),
        ({"kind": "static", "steps": [{"op": "static", "check": {"kind": "smell"}}]}, "unknown check 'smell'"),
        ({"kind": "real", "given": {"tool": "await sleep(60)"}, "steps": [{"op": "sleep"}]}, "unknown operation"),
    ],
)
def test_what_is_not_understood_or_not_so_is_a_failure(change: dict[str, Any], said: str) -> None:
    faults = faults_of({**scenario("Z", [1], "a trial", [], {}), **change})
    assert faults
    assert said in faults[0]


def test_a_rule_about_the_source_can_fail() -> None:
    check = {"kind": "references", "name": "TurnCompleted(", "allowed_in": ["ports.py"]}
    faults = faults_of(
        {"id": "Z", "kind": "static", "steps": [{"op": "static", "check": check}], "expect": {"violations": 0}}
    )
    assert any("turns.py" in fault for fault in faults)


def test_the_command_prints_a_line_for_each_and_a_total(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = SCENARIOS["R01-a"]
    bad = {**good, "id": "bad", "expect": {"status": "idle"}}
    file = tmp_path / "some.json"
    file.write_text(json.dumps([good, bad]))
    assert main([str(file)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("ok   R01-a")
    assert out[1].startswith("FAIL bad")
    assert out[-1] == "1 of 2 scenarios hold"
    assert main([str(file), "--only", "R01-a"]) == 0
    assert main([str(tmp_path / "none.json")]) == 2
