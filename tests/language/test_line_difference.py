"""Differences of lines: right for any two texts, and quick for those that are made to be trouble."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from weft.language.line_difference import line_matcher, unified_lines


def applied(before: Sequence[str], difference: Sequence[str]) -> list[str]:
    """What the difference makes of the first text."""
    made: list[str] = []
    at = 0
    for line in difference[2:]:
        if found := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            start = int(found[1]) - (found[2] != "0")
            made += before[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert before[at] == line[1:]
            made += before[at : at + 1] if line[0] == " " else []
            at += 1
    return [*made, *before[at:]]


@pytest.mark.parametrize("kinds", [2, 5, 30])
def test_a_difference_makes_the_second_text_of_the_first(kinds: int) -> None:
    chance = random.Random(kinds)
    for _ in range(300):
        before = [f"line {chance.randrange(kinds)}" for _ in range(chance.randrange(30))]
        after = [line for line in before if chance.random() < 0.8]
        for _ in range(chance.randrange(4)):
            after.insert(chance.randrange(len(after) + 1), f"line {chance.randrange(kinds)}")
        told = list(unified_lines(before, after, "before", "after"))
        assert bool(told) == (before != after)
        assert applied(before, told) == after


def test_it_is_written_as_everywhere() -> None:
    before = [f"{number}" for number in range(20)]
    after = [*before[:4], "new", *before[5:]]
    assert list(unified_lines(before, after, "a", "b")) == [
        *("--- a", "+++ b", "@@ -2,7 +2,7 @@", " 1", " 2", " 3", "-4", "+new", " 5", " 6", " 7")
    ]


def test_texts_that_are_made_to_be_trouble_are_compared_all_the_same() -> None:
    """For difflib alone these take hours: each line comes many times, and every second one is new."""
    before = [str(number % 101) for number in range(40_000)]
    after = [line for number in range(20_000) for line in (str(number % 101), f"new {number}")]
    told = list(unified_lines(before, after, "before", "after"))
    assert applied(before, told) == after


def test_lines_that_both_have_once_hold_the_two_together() -> None:
    before = [*(["same"] * 3_000), "here", *(["same"] * 3_000)]
    after = [*(["other", "same"] * 3_000), "here", *(["same", "other"] * 3_000)]
    blocks = line_matcher(before, after).get_matching_blocks()
    assert any(one.a <= 3_000 < one.a + one.size and one.b - one.a == 3_000 for one in blocks)
