"""Numbers in the words a person uses."""

from __future__ import annotations

import pytest

from weft.render.units import count, human_ms, human_seconds, human_size, human_time

NOW = "2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0 ms"),
        (-5, "0 ms"),
        (99, "99 ms"),
        (99.6, "0.1 s"),
        (412, "0.4 s"),
        (59_940, "59.9 s"),
        (59_960, "1 min 00 s"),
        (125_000, "2 min 05 s"),
        (3_599_400, "59 min 59 s"),
        (3_599_600, "1 h 00 min"),
        (3_720_000, "1 h 02 min"),
        (360_000_000, "100 h 00 min"),
    ],
)
def test_milliseconds(ms: float, words: str) -> None:
    assert human_ms(ms) == words


def test_a_ticking_clock_has_no_milliseconds() -> None:
    assert human_seconds(0.04) == "0.0 s"
    assert human_seconds(-1) == "0.0 s"


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_951, "10 kB"),
        (999_499, "999 kB"),
        (999_501, "1.0 MB"),
        (34_000_000, "34 MB"),
        (5_200_000_000, "5.2 GB"),
        (999_499_000_000, "999 GB"),
        (12_340_000_000_000, "12.3 TB"),
    ],
)
def test_sizes(size: int, words: str) -> None:
    assert human_size(size) == words


@pytest.mark.parametrize(
    ("iso", "words"),
    [
        ("2026-03-01T11:59:30Z", "just now"),
        ("2026-03-01T12:00:30Z", "just now"),
        ("2026-03-01T11:57:00", "3 min ago"),
        ("2026-03-01T11:00:01Z", "59 min ago"),
        ("2026-03-01T11:00:00Z", "1 h ago"),
        ("2026-03-01T07:00:00Z", "5 h ago"),
        ("2026-02-28T12:00:00Z", "1 day ago"),
        ("2026-02-27T12:00:00Z", "2 days ago"),
        ("2026-03-01T12:01:00Z", "just now"),
        ("2026-03-01T12:01:01Z", "2026-03-01 12:01"),
        ("2026-02-15T12:00:00Z", "2026-02-15"),
        ("2026-03-01T12:57:00+02:00", "1 h ago"),
        ("2026-02-28T11:00:00Z", "1 day ago"),
        ("2026-02-20T12:00:00Z", "9 days ago"),
        ("2026-01-05T12:00:00Z", "2026-01-05"),
        ("2026-03-01T14:30:00Z", "2026-03-01 14:30"),
        ("no\x1bdate", "no␛date"),
    ],
)
def test_moments(iso: str, words: str) -> None:
    assert human_time(iso, NOW) == words


def test_a_moment_without_a_now_is_a_date() -> None:
    assert human_time("2026-03-01T11:59:30Z", "") == "2026-03-01 11:59"


def test_counting() -> None:
    assert (count(0, "step"), count(1, "step"), count(2, "step")) == ("0 steps", "1 step", "2 steps")
