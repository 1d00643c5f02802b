"""Conditions on versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.workspace.versions import fits, is_condition


@pytest.mark.parametrize(
    ("condition", "version", "expected"),
    [
        (">=0.1,<1", "0.1.0", True),
        (">=0.1,<1", "0.0.9", False),
        (">=0.1,<1", "1.0", False),
        (">=0.1,<1", "0.99.3", True),
        (" >= 0.1 , < 1 ", "0.2", True),
        ("==1.0", "1", True),
        ("==1.0", "1.0.1", False),
        ("!=0.2", "0.2.0", False),
        ("!=0.2", "0.3", True),
        (">0.9", "0.10", True),
        (">0.9", "0.9.0", False),
        ("<=2", "2.0", True),
        ("<=2", "2.0.1", False),
        (">=0.2", "0.2.0.dev1", True),
        (">=0", "0", True),
    ],
)
def test_a_version_fits_or_not(condition: str, version: str, expected: bool) -> None:
    assert fits(condition, version) is expected


@pytest.mark.parametrize("text", ["", ">=", "0.1", "~=1", ">=1.x", ">=1,,<2", ">=1 <2", "=1", ">=1.*"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    assert not is_condition(text)
    with pytest.raises(ValueError, match="is not a condition"):
        fits(text, "1.0")


def test_what_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="'dev' is not a version"):
        fits(">=1", "dev")


VERSIONS = st.lists(st.integers(0, 12), min_size=1, max_size=4)


@given(VERSIONS, VERSIONS)
def test_exactly_one_of_less_equal_and_more_holds(one: list[int], other: list[int]) -> None:
    left, right = ".".join(map(str, one)), ".".join(map(str, other))
    assert [fits(f"{sign}{right}", left) for sign in ("<", "==", ">")].count(True) == 1
    assert fits(f"<={right}", left) == (not fits(f">{right}", left))
    assert fits(f"!={right}", left) == (not fits(f"=={right}", left))
    padded = [[*part, *[0] * (4 - len(part))] for part in (one, other)]
    assert fits(f"<{right}", left) == (padded[0] < padded[1])
