"""`same` and `unique`: the equality of JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.checks import CheckInput, parse_check, run_check
from weft.checks.equality import value_key
from weft.protocol.errors import Finding


def findings(
    check: str,
    value: Any,
    documents: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    /,
    **options: Any,
) -> tuple[Finding, ...]:
    call = parse_check(check, {key.rstrip("_"): option for key, option in options.items()})
    return run_check(call, CheckInput("a.json", value, documents or {}, parameters or {}))


def pointers(found: tuple[Finding, ...]) -> list[str]:
    return [finding.at for finding in found]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (0, None, False),
        ("", None, False),
        ("1", 1, False),
        ("a", "A", False),
        ("é", "e\u0301", False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([[1], 2], [[1, 2]], False),
        ([], {}, False),
        ([[], []], [[[]]], False),
        ({"a": [True]}, {"a": [1]}, False),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_same_compares_json_values(one: Any, other: Any, equal: bool) -> None:
    assert (findings("same", {"x": one}, at="x", value=other) == ()) is equal
    assert (findings("same", {"x": one}, {"b.json": {"y": [other]}}, at="x", as_="b.json", as_at="y[0]") == ()) is equal


def test_same_names_both_values_and_what_to_write() -> None:
    (finding,) = findings("same", {"id": "abc"}, {"b.json": {"id": "abd"}}, at="id", as_="b.json", as_at="id")
    assert finding == Finding(
        "a.json", "/id", "“abc” is not the same as “abd”, which is in b.json at /id", "write “abd” here"
    )


def test_values_in_messages_are_cut_at_eighty_characters() -> None:
    (whole,) = findings("same", "x" * 80, value="y")
    assert whole.message.startswith(f"“{'x' * 80}” is not")
    (cut,) = findings("same", "x" * 81, value=list(range(100)))
    assert cut.message == f"“{'x' * 79}…” is not the same as {str(list(range(100))).replace(' ', '')[:79]}…"


def test_same_of_every_element_and_of_whole_documents() -> None:
    assert pointers(findings("same", [{"k": "x"}, {"k": "y"}, {}], at="[*].k", value="x")) == ["/1/k", "/2/k"]
    assert findings("same", "whole text", {"source": "whole text"}, as_="source") == ()
    assert pointers(findings("same", "whole text", {"source": "other text"}, as_="source")) == [""]
    assert findings("same", {"x": None}, at="x", value=None) == ()


@pytest.mark.parametrize(("value", "document"), [({}, {"id": 1}), ({"id": 1}, {}), ({"id": 1}, "text"), ({}, {})])
def test_same_with_nothing_on_either_side_is_a_finding(value: Any, document: Any) -> None:
    assert len(findings("same", value, {"b.json": document}, at="id", as_="b.json", as_at="id")) == 1


@pytest.mark.parametrize(
    ("values", "exact", "faulty"),
    [
        (["a", "b", "c"], False, []),
        (["Straße", "b", "STRASSE"], False, ["/2"]),
        (["a  b", " a\u00a0b\n"], False, ["/1"]),
        (["a  b", "a b", "A b"], True, []),
        (["a", "a", "a"], True, ["/1", "/2"]),
        ([1, 1.0, True, "1", None, None], False, ["/1"]),
        ([{"t": "A"}, {"t": "a"}], False, ["/1"]),
        ([{"t": "A"}, {"t": "a"}], True, []),
        ([["a"], ["a"], "a"], False, ["/1"]),
        ([], False, []),
    ],
)
def test_unique(values: list[Any], exact: bool, faulty: list[str]) -> None:
    assert pointers(findings("unique", values, at="[*]", exact=exact)) == faulty


def test_unique_names_both_positions() -> None:
    (finding,) = findings(
        "unique", {"ideas": [{"title": "One"}, {"title": "Two"}, {"title": "one "}]}, at="ideas[*].title"
    )
    assert finding.at == "/ideas/2/title"
    assert finding.message == "“one” at /ideas/2/title is the same as the one at /ideas/0/title (“One”)"


def test_unique_across_paths_does_not_compare_a_place_with_itself() -> None:
    value = {"a": ["x", "y"], "b": ["z", "X"]}
    assert pointers(findings("unique", value, at=["a[*]", "b[*]", "a[0]"])) == ["/b/1"]
    assert pointers(findings("unique", value, at=["a[0]", "b[1]"])) == ["/b/1"]


def test_unique_of_absent_data() -> None:
    assert findings("unique", {}, at="ideas[*]") == ()
    assert pointers(findings("unique", {}, at="ideas[*]", required=True)) == ["/ideas"]
    assert pointers(findings("unique", {"ideas": "x"}, at="ideas[*]")) == ["/ideas"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5]) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=2),
    max_leaves=8,
)


def equal(one: Any, other: Any) -> bool:
    """What JSON equality is, written down independently."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(one == other)


@settings(deadline=None)
@given(JSON, JSON)
def test_keys_of_values_are_equal_exactly_when_the_values_are(one: Any, other: Any) -> None:
    assert (value_key(one) == value_key(other)) is equal(one, other)


def test_values_of_any_depth_can_be_compared() -> None:
    one: Any = 1
    for _ in range(50_000):
        one = [one]
    (finding,) = findings("same", {"x": one}, at="x", value=1)
    assert "too deep to show" in finding.message
