"""The language of `at`: what it accepts, where it leads, and what stands in the way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.checks.paths import EVERY, Every, Gap, ValuePlace, find, leaves, parse_path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("title", ("title",)),
        ("a.b.c", ("a", "b", "c")),
        ("quotes[*].text", ("quotes", EVERY, "text")),
        ("[*]", (EVERY,)),
        ("[*].title", (EVERY, "title")),
        ("rows[0][12]", ("rows", 0, 12)),
        ("größe.名前", ("größe", "名前")),
        ("with space.under_score-dash", ("with space", "under_score-dash")),
        ("a.0", ("a", "0")),
    ],
)
def test_a_path_has_its_parts(text: str, parts: tuple[str | int | Every, ...]) -> None:
    assert parse_path(text).parts == parts
    assert parse_path(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        *(".", ".a", "a.", "a..b", "a[", "a]", "a[]", "a[x]", "a[-1]", "a[1", "a[*", "a[*]b", "a.[0]", "a[ 0]", "a[٣]"),
        *(" ", " a", "a ", "a. b", "/a/b", "$", "$.a", "a.*", "*", "*.a", "a[0]b", "[*]]", "a[0000000000]"),
    ],
)
def test_a_malformed_path_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not a path") as caught:
        parse_path(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "places"),
    [
        ("", {"a": 1}, [("", {"a": 1})]),
        ("", None, [("", None)]),
        ("a", {"a": None}, [("/a", None)]),
        ("a[*].b", {"a": [{"b": 1}, {"b": 2}]}, [("/a/0/b", 1), ("/a/1/b", 2)]),
        ("a[1]", {"a": ["x", "y"]}, [("/a/1", "y")]),
        ("a[*]", {"a": {"x": 1, "y/z": 2, "~": 3}}, [("/a/x", 1), ("/a/y~1z", 2), ("/a/~0", 3)]),
        ("[*][*]", [[1, 2], [3]], [("/0/0", 1), ("/0/1", 2), ("/1/0", 3)]),
    ],
)
def test_a_path_leads_to_places_with_concrete_pointers(path: str, value: Any, places: list[tuple[str, Any]]) -> None:
    assert find(parse_path(path), value) == [ValuePlace(pointer, found) for pointer, found in places]


@pytest.mark.parametrize(
    ("path", "value", "pointer", "misshapen"),
    [
        ("a", {}, "/a", False),
        ("a.b", {"a": {}}, "/a/b", False),
        ("a.b", {"a": None}, "/a", False),
        ("a[*]", {"a": []}, "/a", False),
        ("a[*]", {"a": {}}, "/a", False),
        ("a[*].b", {"a": None}, "/a", False),
        ("a[2]", {"a": [0, 1]}, "/a/2", False),
        ("a[*].b", {"a": ["plain"]}, "/a/0", True),
        ("a[*]", {"a": "plain"}, "/a", True),
        ("a[0]", {"a": {"0": 1}}, "/a", True),
        ("a.b", {"a": [1]}, "/a", True),
        ("a", 5, "", True),
        ("a.b", {"a": False}, "/a", True),
    ],
)
def test_what_is_absent_differs_from_what_has_another_shape(
    path: str, value: Any, pointer: str, misshapen: bool
) -> None:
    (item,) = find(parse_path(path), value)
    assert isinstance(item, Gap)
    assert (item.pointer, item.misshapen) == (pointer, misshapen)


def test_a_gap_in_one_element_leaves_the_others() -> None:
    items = find(parse_path("a[*].b"), {"a": [{"b": 1}, {}, {"b": 3}]})
    assert [(type(item), item.pointer) for item in items] == [
        (ValuePlace, "/a/0/b"),
        (Gap, "/a/1/b"),
        (ValuePlace, "/a/2/b"),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def resolve(pointer: str, value: Any) -> Any:
    """RFC 6901, written down independently."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@settings(deadline=None)
@given(JSON)
def test_leaves_are_all_scalars_in_order_and_their_pointers_lead_to_them(value: Any) -> None:
    def scalars(part: Any) -> list[Any]:
        if isinstance(part, list | dict):
            inner = part if isinstance(part, list) else list(part.values())
            return [leaf for each in inner for leaf in scalars(each)]
        return [part]

    found = list(leaves(ValuePlace("", value)))
    assert [leaf.value for leaf in found] == scalars(value)
    assert all(resolve(leaf.pointer, value) is leaf.value for leaf in found)


def test_leaves_go_to_any_depth() -> None:
    value: Any = "bottom"
    for _ in range(50_000):
        value = [value]
    assert [leaf.value for leaf in leaves(ValuePlace("", value))] == ["bottom"]
