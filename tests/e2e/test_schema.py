"""What the commands print fits the JSON Schemas they print."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs

from tests.made import Weft
from weft.protocol.schema import command_schema, event_schema


def test_a_real_run_prints_what_fits_and_says_how_its_steps_hang_together(weft: Weft, source: Path) -> None:
    schema = json.loads(weft("sessions", "schema").out)
    assert schema == event_schema()
    assert json.loads(weft("sessions", "schema", "commands").out) == command_schema()
    validator = jsonschema_rs.validator_for(schema)
    printed = weft("run", "letters", source, "--session-id", "poem", "--json").out.splitlines()
    logged = (weft.session("poem") / "log.jsonl").read_text().splitlines()
    shown = weft("sessions", "log", "poem", "--json").out.splitlines()
    assert len(printed) >= len(logged) == len(shown) > 5
    for line in (*printed, *logged, *shown):
        assert [error.message for error in validator.iter_errors(json.loads(line))] == [], line
    started = next(event for line in printed if (event := json.loads(line))["type"] == "run_started")
    assert started["session"] == "poem"
    assert set(started["requires"]) == set(started["executors"]) == set(started["steps"])
    assert any(started["requires"].values())
    assert set(started["executors"].values()) == {"code", "model"}
