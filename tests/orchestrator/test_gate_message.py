"""What a gate shows of an artifact, and the reference's cases of it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.orchestrator.gate_message import (
    LONGEST_TEXT,
    MOST_ITEMS,
    GateMessage,
    Show,
    ShownField,
    Spent,
    as_text,
    gate_message,
    shown_fields,
)
from weft.orchestrator.replies import DEFAULT_CHOICES, Choice, judge_reply

VECTORS: Final = Path(__file__).parents[1] / "vectors" / "orch_pause_formatter.json"
DIFFERENT: Final = {
    "renderDisplayFields() > renders number and boolean as text": "a person reads yes and no, not true and false",
    "renderDisplayFields() > renders key-value field as comma-separated values": "a value is shown with its name",
    "renderDisplayFields() > key-value field filters by displayKeys": "a value is shown with its name",
    "renderDisplayFields() > key-value skips null/false/empty values": "with its name, and a no is worth knowing",
}
"""Cases of display fields where ours differs on purpose. Of the other cases only what a gate says is taken over: how
the plan and the web search of one profession are normalised belongs to its pack, as fields of a `show:`."""


def _cases(function: str) -> list[dict[str, Any]]:
    return [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if case["fn"] == function]


def _show(entry: dict[str, Any]) -> Show:
    return Show(
        key=entry["key"],
        label=entry["label"],
        kind=entry["type"],
        keys=tuple(entry.get("displayKeys", ())),
        template=entry.get("itemTemplate", ""),
    )


def _as_reference(field: ShownField) -> list[str]:
    if field.kind == "list":
        return [f"**{field.label}**", *(f"- {item}" for item in field.items), ""]
    said = field.text if field.kind == "text" else ", ".join(value for _, value in field.pairs)
    return [f"**{field.label}**: {said}", ""]


@pytest.mark.parametrize("case", _cases("renderDisplayFields"), ids=lambda case: case["name"])
def test_fields_of_the_reference(case: dict[str, Any]) -> None:
    fields, _ = shown_fields(case["args"][1], [_show(entry) for entry in case["args"][0]])
    drawn = [line for field in fields for line in _as_reference(field)]
    if case["name"] in DIFFERENT and "with" not in DIFFERENT[case["name"]]:
        assert drawn == [line.replace("true", "yes") for line in case["result"]]
    elif "a no is" in DIFFERENT.get(case["name"], ""):
        assert drawn == ["**Stack**: TypeScript, no", ""]
    else:
        assert drawn == case["result"]
    if case["name"] in DIFFERENT and fields[0].pairs:
        assert all(name for name, _ in fields[0].pairs)


@pytest.mark.parametrize(
    "case", [case for case in _cases("formatPauseMessage") if len(case["args"]) > 4], ids=lambda case: case["name"]
)
def test_messages_of_the_reference(case: dict[str, Any]) -> None:
    """Its markup is not ours; what it shows and what it does not, is."""
    _, step, data, _, config = case["args"][:5]
    message = gate_message(
        data,
        gate="review",
        step=step,
        message=config["pauseInstructions"],
        show=[_show(entry) for entry in config.get("pauseDisplayFields", [])],
    )
    text = as_text(message)
    assert step in text
    for wanted in case.get("test_asserts_contains", []):
        if not wanted.startswith(("**Stage", "<details>")):
            assert wanted.replace("**", "") in text.replace("**", "")
    for unwanted in case.get("test_asserts_not_contains", []):
        assert unwanted not in text


ARTIFACT: Final[dict[str, Any]] = {
    "title": "Costs of tides",
    "plan": {"steps": ["a", "b"], "risk": {"level": "low", "open": 0, "note": None}},
    "questions": [{"text": "Why?", "role": "first"}, {"text": "How?", "role": ""}],
    "done": False,
    "a.b": "dotted",
}


def test_without_a_kind_a_field_is_shown_as_what_it_is() -> None:
    keys = ("title", "plan.steps", "plan.risk", "questions", "done", "a.b", "plan.steps.1", "nothing.here")
    fields, missing = shown_fields(ARTIFACT, [Show(key=key) for key in keys])
    assert missing == ("nothing.here",)
    assert [(field.kind, field.text or field.items or field.pairs) for field in fields] == [
        ("text", "Costs of tides"),
        ("list", ("a", "b")),
        ("pairs", (("level", "low"), ("open", "0"))),
        ("list", ("text: Why?, role: first", "text: How?")),
        ("text", "no"),
        ("text", "dotted"),
        ("text", "b"),
    ]


def test_the_plain_form() -> None:
    message = gate_message(
        ARTIFACT,
        gate="after-plan",
        step="plan",
        show=[Show(key="title", label="Title"), Show(key="questions", label="Questions", template="{text} [{role}]")],
        choices=[*DEFAULT_CHOICES, Choice(id="again", label="", kind="goto", step="plan")],
        message="Is this what you want to know?",
        spent=Spent(input_tokens=12_345, output_tokens=678, usd=Decimal("0.0421")),
    )
    assert as_text(message) == (
        "plan is done. The run waits (after-plan).\n\n"
        "Is this what you want to know?\n\n"
        "Title: Costs of tides\n\n"
        "Questions\n- Why? [first]\n- How? []\n\n"
        "1. Proceed (proceed)\n2. Amend (amend)\n3. Cancel (cancel)\n4. again (again)\n\n"
        "so far 12,345 tokens in, 678 out, $0.0421"
    )


def test_an_unknown_price_is_not_zero() -> None:
    message = gate_message({}, gate="g", step="s", spent=Spent(input_tokens=1, output_tokens=2, usd=None))
    assert message.cost == "so far 1 tokens in, 2 out, cost not known"


def test_the_numbers_are_the_ones_a_reply_counts_in() -> None:
    choices = (Choice(id="b", label="B", kind="cancel"), *DEFAULT_CHOICES[:2], Choice(id="z", label="Z", kind="goto"))
    for offer in gate_message({}, gate="g", step="s", choices=choices).offers:
        assert judge_reply(str(offer.number), choices=choices).choice == offer.id


def test_what_is_long_is_cut_and_said() -> None:
    value = {"text": "x" * 5_000, "items": [str(number) for number in range(100)]}
    fields, _ = shown_fields(value, [Show(key="text"), Show(key="items")])
    assert fields[0].text == "x" * LONGEST_TEXT + " … (3,800 more characters)"
    assert (len(fields[1].items), fields[1].more) == (MOST_ITEMS, 75)
    assert "… and 75 more" in as_text(gate_message(value, gate="g", step="s", show=[Show(key="items")]))


def test_a_value_is_never_filled_in_again_and_never_obeyed() -> None:
    evil = {"items": [{"a": "{b}\x1b[2J\u202e\nsecond", "b": "secret"}]}
    fields, _ = shown_fields(evil, [Show(key="items", kind="object-list", template="{a}!")])
    assert fields[0].items == ("{b}[2J second!",)


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(
    JSON,
    st.text(max_size=8),
    st.sampled_from(["auto", "text", "list", "key-value", "object-list"]),
    st.text(max_size=12),
)
def test_any_artifact_can_be_shown(artifact: object, key: str, kind: Any, template: str) -> None:
    shown = gate_message(
        {"x": artifact, "y": [artifact]},
        gate="g",
        step="s",
        show=[Show(key=key), Show(key="x", kind=kind, template=template), Show(key="y", kind=kind, template=template)],
        choices=DEFAULT_CHOICES,
    )
    assert isinstance(shown, GateMessage)
    text = as_text(shown)
    assert "\x1b" not in text
    assert text.index("1. Proceed") < text.index("3. Cancel")
