"""`matches`: whole texts, in linear time."""

from __future__ import annotations

from typing import Any

import pytest

from weft.checks import CheckInput, parse_check, run_check
from weft.protocol.errors import Finding


def findings(value: Any, **options: Any) -> tuple[Finding, ...]:
    return run_check(parse_check("matches", options), CheckInput("a.json", value, {}, {}))


def pointers(found: tuple[Finding, ...]) -> list[str]:
    return [finding.at for finding in found]


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (r"\d{1,2}:\d{2}", "1:02", True),
        (r"\d{1,2}:\d{2}", "1:023", False),
        (r"\d{1,2}:\d{2}", "x1:02", False),
        (r"\d{1,2}:\d{2}", "1:02\n", False),
        ("a|ab", "ab", True),
        ("a|b", "ab", False),
        ("^abc$", "abc", True),
        ("(?i)abc", "ABC", True),
        ("", "", True),
        ("", "x", False),
        (".*", "two\nlines", False),
        ("(?s).*", "two\nlines", True),
        (r"\p{Han}+", "天气", True),
        (r"\w+", "größe٣", True),
        ("a+", "a\ud800", False),
    ],
)
def test_matches_the_whole_text(pattern: str, text: str, matched: bool) -> None:
    found = findings({"x": [text]}, at="x[*]", pattern=pattern)
    assert pointers(found) == ([] if matched else ["/x/0"])
    assert all(pattern in finding.hint for finding in found)


@pytest.mark.parametrize("value", [5, ["a"], {"a": "a"}, False])
def test_only_text_can_match(value: Any) -> None:
    (finding,) = findings({"x": value}, at="x", pattern=".*")
    assert "not text" in finding.message


def test_a_text_beyond_the_limit_is_a_finding_and_one_at_it_is_not() -> None:
    assert findings("a" * 100_000, pattern="a*") == ()
    (finding,) = findings("a" * 100_001, pattern="a*")
    assert "100,001 characters" in finding.message


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a*)*b", "(.*a){12}b"])
def test_no_pattern_takes_more_than_linear_time(pattern: str) -> None:
    assert len(findings("a" * 20_000, pattern=pattern)) == 1


def test_matches_of_absent_data() -> None:
    value = {"quotes": [{"at": "1:00"}, {}, {"at": None}]}
    assert findings(value, at="quotes[*].at", pattern=r"\d:\d\d") == ()
    found = findings(value, at="quotes[*].at", pattern=r"\d:\d\d", required=True)
    assert pointers(found) == ["/quotes/1/at", "/quotes/2/at"]
