"""`count` and `sum_near`."""

from __future__ import annotations

from typing import Any

import pytest

from weft.checks import CheckInput, parse_check, run_check
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
    ("value", "options", "message"),
    [
        ([1, 2, 3], {"min": 3, "max": 7}, ""),
        ([1, 2], {"min": 3, "max": 7}, "has 2 elements, not 3 to 7"),
        (list(range(8)), {"min": 3, "max": 7}, "has 8 elements, not 3 to 7"),
        ([1], {"min": 2}, "has 1 element, not 2 or more"),
        ([], {"min": 1}, "has 0 elements"),
        ([], {"max": 0}, ""),
        ([1], {"max": 0}, "not exactly 0"),
        ({"a": 1, "b": 2}, {"exactly": 2}, ""),
        ([1, 2], {"min": 2, "max": 2}, ""),
        ([], {"exactly": 0}, ""),
        ({"a": 1}, {"exactly": 2}, "not exactly 2"),
        ("one two  three\nfour", {"exactly": 4, "of": "words"}, ""),
        ("one two", {"min": 3, "of": "words"}, "has 2 words, not 3 or more"),
        ("größe", {"exactly": 5, "of": "characters"}, ""),
        ("天气很好", {"max": 3, "of": "characters"}, "has 4 characters, not 0 to 3"),
        ("text", {"min": 1}, "is text, so its elements can't be counted"),
        ([1], {"min": 1, "of": "words"}, "is a list, so its words"),
        (5, {"min": 1}, "is a number"),
        (True, {"min": 1}, "is true or false"),
        (None, {"max": 5}, "it is null"),
    ],
)
def test_count(value: Any, options: dict[str, Any], message: str) -> None:
    found = findings("count", {"x": value}, at="x", **options)
    assert pointers(found) == (["/x"] if message else [])
    assert all(message in finding.message and finding.hint for finding in found)


def test_count_says_how_many_to_add_or_take_away() -> None:
    assert findings("count", [1], min=4)[0].hint == "add 3, so that there are 4 or more"
    assert findings("count", "text", min=4)[0].hint == "the check counts elements: put a list or a mapping here"
    assert findings("count", [1], min=4, of="words")[0].hint == "the check counts words: put text here"
    assert findings("count", None, min=4)[0].message == "nothing for the artifact here: it is null"
    assert findings("count", [1, 2, 3], exactly=1)[0].hint == "take away 2, so that there are exactly 1"


def test_count_of_each_place_and_of_missing_ones() -> None:
    value = {"ideas": [{"points": [1]}, {"points": []}, {}]}
    assert pointers(findings("count", value, at="ideas[*].points", min=1)) == ["/ideas/1/points", "/ideas/2/points"]
    assert pointers(findings("count", {}, at="ideas", max=3)) == ["/ideas"]
    assert pointers(findings("count", "a text of words", at="", of="words", max=3)) == [""]


@pytest.mark.parametrize(
    ("words", "target", "within", "near"),
    [
        ([500, 500], 1000, None, True),
        ([500, 600], 1000, None, True),
        ([500, 601], 1000, None, False),
        ([400, 500], 1000, None, True),
        ([400, 499], 1000, None, False),
        ([129], 100, 0.29, True),
        ([0.1, 0.2], 0.3, 0, True),
        ([0.1, 0.2], 0.31, 0, False),
        ([0], 0, 0.5, True),
        ([1], 0, 0.5, False),
        ([-110], -100, 0.1, True),
        ([-111], -100, 0.1, False),
        ([2000], 1000, 1, True),
        ([1e308, 1e308], 1e307, 0.1, False),
    ],
)
def test_sum_near(words: list[float], target: float, within: float | None, near: bool) -> None:
    value = {"sections": [{"words": number} for number in words]}
    options: dict[str, Any] = {} if within is None else {"within": within}
    assert (findings("sum_near", value, at="sections[*].words", target=target, **options) == ()) is near


def test_sum_near_says_what_to_do() -> None:
    value = {"sections": [{"words": 700}, {"words": 550}]}
    (finding,) = findings("sum_near", value, at="sections[*].words", target=1000)
    assert finding == Finding(
        "a.json",
        "/sections",
        "the sum of 2 numbers is 1250, which is more than 10 % off 1000",
        "make it 900 to 1100: take away 250 to hit the target",
    )
    (exact,) = findings("sum_near", {"n": 2.5}, at="n", target=3, within=0)
    assert (exact.at, exact.message, exact.hint) == (
        "/n",
        "the sum is 2.5, which is not 3",
        "make it 3: add 0.5 to hit the target",
    )


@pytest.mark.parametrize(
    ("value", "faulty"),
    [
        ({}, ["/sections"]),
        ({"sections": []}, ["/sections"]),
        ({"sections": [{"words": 1000}, {}]}, ["/sections/1/words"]),
        ({"sections": [{"words": 1000}, {"words": None}]}, ["/sections/1/words"]),
        ({"sections": [{"words": "1000"}]}, ["/sections/0/words"]),
        ({"sections": [{"words": 1000}, {"words": True}]}, ["/sections/1/words"]),
        ({"sections": [{"words": float("nan")}]}, ["/sections/0/words"]),
        ({"sections": [1000]}, ["/sections/0"]),
    ],
)
def test_a_sum_with_a_part_missing_is_a_finding(value: Any, faulty: list[str]) -> None:
    assert pointers(findings("sum_near", value, at="sections[*].words", target=1000)) == faulty


@pytest.mark.parametrize(
    ("given_target", "near"), [(100, True), (100.0, True), (200, False), ("100", False), (None, False)]
)
def test_the_target_may_be_a_parameter_or_in_a_document(given_target: Any, near: bool) -> None:
    by_parameter = findings("sum_near", [60, 40], {}, {"words": given_target}, at="[*]", target={"parameter": "words"})
    assert (by_parameter == ()) is near
    target = {"document": "plan.json", "at": "total[0]"}
    by_document = findings("sum_near", [60, 40], {"plan.json": {"total": [given_target]}}, at="[*]", target=target)
    assert (by_document == ()) is near


def test_a_missing_target_is_a_finding() -> None:
    (finding,) = findings("sum_near", [1], at="[*]", target={"parameter": "words"})
    assert "the parameter words is null" in finding.message
    (other,) = findings("sum_near", [1], {"plan.json": {}}, at="[*]", target={"document": "plan.json", "at": "total"})
    assert "`total` of plan.json" in other.message


def test_sums_over_several_paths() -> None:
    assert findings("sum_near", {"a": 60, "b": [20, 20]}, at=["a", "b[*]"], target=100, within=0) == ()
    assert pointers(findings("sum_near", {"a": 60, "b": [20, 21]}, at=["a", "b[*]"], target=100, within=0)) == [""]
