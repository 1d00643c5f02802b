"""What a person fills in at a gate: every kind of field, held to what the gate says is good."""

from __future__ import annotations

from typing import Any

import pytest

from weft.orchestrator.rest_commands import filled_in
from weft.protocol.errors import UserError
from weft.protocol.events import GateOpened
from weft.protocol.values import replace

FORM = (
    {"name": "tone", "type": "string", "label": "How", "value": "warm", "choices": ["warm", "dry"]},
    {"name": "copies", "type": "integer", "label": "How many", "value": 1, "minimum": 1, "maximum": 9},
    {"name": "share", "type": "number", "label": "Part", "value": 0.5, "maximum": 1},
    {"name": "day", "type": "date", "label": "When", "value": "2026-12-01"},
    {"name": "seal", "type": "boolean", "label": "Sealed", "value": False},
)
GATE = GateOpened(run=1, gate="points-1", step="points", hash="h", form=FORM)


@pytest.mark.parametrize(
    ("name", "given", "settled"),
    [
        ("tone", "dry", "dry"),
        ("copies", "9", 9),
        ("copies", 3, 3),
        ("share", "1", 1.0),
        ("day", "2027-02-28", "2027-02-28"),
        ("seal", "yes", True),
        ("seal", False, False),
    ],
)
def test_a_good_value_arrives_as_one_of_its_kind(name: str, given: Any, settled: Any) -> None:
    found = filled_in(GATE, {name: given})
    assert found == {name: settled}
    assert type(found[name]) is type(settled)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("tone", "loud", "tone must be one of warm, dry"),
        ("copies", "0", "copies must be a whole number from 1 to 9"),
        ("copies", "1.5", "copies must be a whole number"),
        ("copies", True, "copies must be a whole number"),
        ("share", "much", "share must be a number, at most 1"),
        ("share", "nan", "share must be a number"),
        ("day", "2027-02-29", "day must be a date such as 2026-12-01"),
        ("day", "tomorrow", "day must be a date"),
        ("seal", "perhaps", "seal must be true or false"),
        ("tune", "dry", "the gate points-1 does not ask for tune"),
    ],
)
def test_anything_else_is_refused_and_nothing_is_kept(name: str, given: Any, said: str) -> None:
    with pytest.raises(UserError) as refused:
        filled_in(GATE, {"seal": "no", name: given})
    assert said in refused.value.message


def test_a_field_without_a_description_is_not_told_as_what_to_do() -> None:
    """Its label is then its name."""
    plain = replace(GATE, form=({**FORM[0], "label": "tone"},))
    with pytest.raises(UserError) as refused:
        filled_in(plain, {"tone": "loud"})
    assert refused.value.hint == ""
