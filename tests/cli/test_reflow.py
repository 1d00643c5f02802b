"""Where the cursor is after the window became narrower, and which terminals break lines anew."""

from __future__ import annotations

import pytest

from weft.cli.chat.reflow import is_reflowing, reflowed


@pytest.mark.parametrize(
    ("widths", "cursor", "columns", "now"),
    [
        ([], (5, 0), 40, (5, 0)),
        ([0, 120], (23, 2), 60, (23, 3)),  # an empty line is one, a full one is two
        ([0, 120], (23, 2), 77, (23, 3)),
        ([0, 60, 60], (23, 3), 50, (23, 5)),
        ([0, 10], (70, 2), 50, (20, 3)),  # the cursor's own line is broken before it
        ([100], (0, 1), 0, (0, 100)),
    ],
)
def test_the_cursor_after_lines_were_broken_anew(
    widths: list[int], cursor: tuple[int, int], columns: int, now: tuple[int, int]
) -> None:
    assert reflowed(widths, cursor, columns) == now


@pytest.mark.parametrize(
    ("environment", "does"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "screen", "TMUX": "/tmp/tmux"}, True),
        ({"TERM": "linux"}, False),
    ],
)
def test_terminals_that_break_lines_anew(environment: dict[str, str], does: bool) -> None:
    assert is_reflowing(environment) is does
