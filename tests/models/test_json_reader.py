"""The tolerant reader: what it reads, what it says about it, and what it refuses to make up."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.models.json_reader import READINGS_LIMIT, look, read
from weft.models.json_scan import scan

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "orch_json_extractor.json").read_text())["cases"]

OURS: dict[str, tuple[Any, str]] = {
    "two objects with array inside: greedy brackets": ({"a": [1]}, "the first whole value, not a piece of it"),
    "trailing comma rejected": ({"a": 1}, "a slip, put right and said"),
    "comment rejected": ({"a": 1}, "a slip, put right and said"),
    "big ints lose precision in JS, keep as number": ({"a": 12345678901234567890}, "integers are exact here"),
    "two objects in prose: greedy span invalid, no array -> null": ({"a": 1}, "weak spot of the reference"),
    "brace in prose after object breaks it": ({"a": 1}, "weak spot of the reference"),
    "single quotes rejected": ({"a": 1}, "a slip, put right and said"),
    "truncated object": ({"a": 1, "b": [1, 2]}, "weak spot of the reference; called incomplete"),
    "thinking preface with braces": ({"a": 1}, "weak spot of the reference"),
}
"""Where ours differs on purpose: what it reads, and why."""


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: str(case["name"]))
def test_the_vectors(case: dict[str, Any]) -> None:
    accept = None
    if schema := case.get("schema"):
        accept = jsonschema_rs.validator_for({k: v for k, v in schema.items() if k != "unknown_keys"}).is_valid
    found = read(case["args"][0], accept)
    expected = OURS[case["name"]][0] if case["name"] in OURS else case.get("result")
    assert (found.value if found else None) == expected
    if case["name"] in OURS and "integers" not in OURS[case["name"]][1]:
        assert found
        assert found.corrections, "what was put right is said"


READ: list[tuple[str, Any, set[str]]] = [
    ('{"a": "he said "hi" to me", "b": 2}', {"a": 'he said "hi" to me', "b": 2}, {"quotes"}),
    ('{"a": "he said "hi", then left", "b": 2}', {"a": 'he said "hi", then left', "b": 2}, {"quotes"}),
    ('["x "y" z", "w"]', ['x "y" z', "w"], {"quotes"}),
    ('{"a":"x"\n"b":"y"}', {"a": "x", "b": "y"}, {"comma"}),
    ('{"a": "x" "b": 1}', {"a": "x", "b": 1}, {"comma"}),
    ('{"a":1 "b":2}', {"a": 1, "b": 2}, {"comma"}),
    ('["a" "b"]', ["a", "b"], {"comma"}),
    ("[1,,2,]", [1, 2], {"comma"}),
    ("{'it': 'it's ok', 'n': None, 't': True}", {"it": "it's ok", "n": None, "t": True}, {"quotes", "literal"}),
    ('{"a":"line\nbreak\tand tab"}', {"a": "line\nbreak\tand tab"}, {"character"}),
    ('{a: 1, b_2: true, // why\n c: "x" # more\n}', {"a": 1, "b_2": True, "c": "x"}, {"quotes", "comment"}),
    ("{“a”: “b”, „c“: 1}", {"a": "b", "c": 1}, {"quotes"}),
    ('{"a":"""x\ny "q" """, "b":1}', {"a": 'x\ny "q" ', "b": 1}, {"quotes"}),
    ('{"a": .5, "b": +1, "c": 1_000, "d": 5.}', {"a": 0.5, "b": 1, "c": 1000, "d": 5.0}, {"number"}),
    ('{"re": "\\d+", "q": "it\\\'s"}', {"re": "\\d+", "q": "it's"}, {"escape"}),
    ('{"s": ok, "n": 1}', {"s": "ok", "n": 1}, {"quotes"}),
    ('{"a":[{"b":1],"c":2}', {"a": [{"b": 1}], "c": 2}, {"bracket"}),
    ('[1] says so: {"b":1}', {"b": 1}, {"several values"}),
    ('- [ ] a box\n{"a": 1}', {"a": 1}, {"several values"}),
    ('<think>maybe {"a":0}</think> {"a":1}', {"a": 1}, {"several values"}),
    ('a draft {"a":0}\n```json\n{"a":1}\n```', {"a": 1}, {"several values"}),
    ('{\\"a\\": \\"b\\"}', {"a": "b"}, {"escape"}),
    ('"a": 1, "b": [2]', {"a": 1, "b": [2]}, {"bracket"}),
    ('{"a":1,"a":2}', {"a": 2}, {"repeated key"}),
    ('{"a":"\\ud83d\\ude00 \\ud83d"}', {"a": "😀 \ufffd"}, {"character"}),
    ('{"a": "x", "it\'s": "b", "k\\"q": 1,}', {"a": "x", "it's": "b", 'k"q': 1}, {"comma"}),
    ('{"a": "x" + "y" + \n"z", "b": 1}', {"a": "xyz", "b": 1}, {"quotes"}),
    ('["a" + "b", "c + d"]', ["ab", "c + d"], {"quotes"}),
    ('{"a"：1，"b"：["x"，"y"]}', {"a": 1, "b": ["x", "y"]}, {"character"}),
    ("{'a': '''x\ny''', 'b': 1}", {"a": "x\ny", "b": 1}, {"quotes"}),
    ("{&quot;a&quot;: 1}", {"a": 1}, {"escape"}),
    ('<answer>{"a":\u200b 1}</answer>', {"a": 1}, {"around"}),
    ("Answer: {\"a\": 'x'} and then {not json", {"a": "x"}, {"quotes", "skipped"}),
]


@pytest.mark.parametrize(("text", "value", "kinds"), READ, ids=[text for text, _, _ in READ])
def test_slips_are_read_and_said(text: str, value: Any, kinds: set[str]) -> None:
    found = read(text)
    assert found
    assert found.value == value
    assert found.complete
    assert {one.kind for one in found.corrections} == kinds


CUT: list[tuple[str, Any]] = [
    ('{"a":1,"b":tr', {"a": 1, "b": True}),
    ('{"a":1,"b":', {"a": 1}),
    ('{"a":1,"b', {"a": 1}),
    ('{"a":"half a sent', {"a": "half a sent"}),
    ('{"a":"x\\', {"a": "x"}),
    ('{"a":"x\\u00', {"a": "x"}),
    ('{"a":[{"b":1},{"b"', {"a": [{"b": 1}, {}]}),
    ('{"a": [1, 2, ...], "b": 1}', {"a": [1, 2], "b": 1}),
    ('```json\n{"a": 1,\n"b": [1,2\n```\nthanks', {"a": 1, "b": [1, 2]}),
]


@pytest.mark.parametrize(("text", "value"), CUT, ids=[text for text, _ in CUT])
def test_what_was_cut_off_is_called_incomplete(text: str, value: Any) -> None:
    found = read(text)
    assert found
    assert found.value == value
    assert not found.complete


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a":NaN,"b":{"c":1}}', "line 1, column 6: NaN is not a JSON value"),
        ('{"a": Infinity}', "Infinity is not a JSON value"),
        ('{"a":}', "a value must stand here"),
        ('{\n"a": 5 kg}', "line 2, column 8"),
        ('{"a": 10%}', "a number with something else behind it"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 007}', "this is not a number"),
        ("{maybe}", "followed by a colon"),
        ("[see below]", "see is not a JSON value"),
        ("nothing here", "there is no JSON value"),
        ("  \n", "the answer is empty"),
        ("{", "ends before its JSON value says anything"),
    ],
)
def test_nothing_is_made_up(text: str, fault: str) -> None:
    found = look(text)
    assert found.readings == ()
    assert fault in found.fault


def test_a_schema_chooses_among_several() -> None:
    has_b = jsonschema_rs.validator_for({"type": "object", "required": ["b"]}).is_valid
    for text in ('{"a":1} then {"b":2}', '[{"b":2}]', '{"result": {"b":2}}', '"{\\"b\\":2}"'):
        found = read(text, has_b)
        assert found
        assert found.value == {"b": 2}
        assert found.corrections


def test_values_one_after_the_other_are_a_list_where_one_is_asked_for() -> None:
    listed = jsonschema_rs.validator_for({"type": "array", "items": {"type": "object"}}).is_valid
    found = read('{"a":1}\n{"a":2}\n{"a":3}', listed)
    assert found
    assert found.value == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [one.kind for one in found.corrections] == ["several values"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(json_values, max_size=4) | st.dictionaries(st.text(), json_values, max_size=4)


@settings(deadline=None)
@given(json_values, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_it_is(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = read(text)
    assert found
    assert found.value == value
    assert found.corrections == () or {one.kind for one in found.corrections} == {"character"}


@settings(deadline=None)
@given(containers.filter(bool), st.booleans())
def test_the_scanner_agrees_with_json_on_json(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    scanned = scan(text + " and more", 0)
    assert (scanned.value, scanned.complete, scanned.end) == (value, True, len(text))


@settings(deadline=None)
@given(containers.filter(bool))
def test_prose_around_changes_nothing(value: Any) -> None:
    found = read(f"Sure, here it is (as you asked):\n\n{json.dumps(value)}\n\nAnything else?")
    assert found
    assert found.value == value


@settings(deadline=None)
@example({"a}b": {"c": '\\"'}, "d": [None, "\x1f"], "e": None}, 42)
@example({"": None, '0"\x1f\x1f\x1f\x07𐀀𐀀𐀀𐀀': [], "\x1f": {"": None}}, 114)
@given(containers, st.integers(min_value=0))
def test_a_cut_anywhere_is_never_called_complete(value: Any, where: int) -> None:
    text = json.dumps(value)
    cut = text[: where % len(text)]
    for reading in look(cut).readings:
        assert not reading.complete


@settings(deadline=None)
@given(st.text(alphabet="{}[]\":,'\\/*#`.-+0eE1atrufslnN \n“”…<>", max_size=60))
def test_any_text_is_answered(text: str) -> None:
    found = look(text)
    assert bool(found.readings) != bool(found.fault)
    for reading in found.readings:
        json.dumps(reading.value, allow_nan=False).encode()


SIZE = 15_000
HOSTILE = {
    "brackets": "[" * SIZE,
    "braces": "{" * SIZE,
    "keys": '{"a":' * SIZE,
    "broken": '{"a":x ' * SIZE,
    "numbers": "[1," * SIZE,
    "digits": "[" + "1" * SIZE,
    "quotes": '["' + '" ' * SIZE,
    "commas": '{"a":"' + '", ' * SIZE,
    "spaces": ('["a"' + " " * 50) * (SIZE // 20),
    "backslashes": '["' + '\\"' * SIZE,
    "comments": '{"a":1 /' * SIZE,
    "unclosed comments": "{/*" * SIZE,
    "long strings": '{"a":"""' * SIZE,
    "escaped": '{\\"a' * SIZE,
    "thoughts": "</think>{" * SIZE,
    "mismatched": '{"x":1 ]' * SIZE,
    "open quotes": '{"a":x "' * SIZE,
    "joined": '["a"' + ' + "a"' * SIZE,
    "objects": '{"a":1} ' * SIZE,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_no_longer_than_its_length(name: str) -> None:
    """If anything went back each would take many seconds, and minutes when it is longer."""
    begun = time.process_time()
    assert len(look(HOSTILE[name]).readings) <= READINGS_LIMIT
    assert time.process_time() - begun < 3
