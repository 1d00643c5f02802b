"""Lists: tabs for programs, columns for whoever reads them on a terminal."""

from __future__ import annotations

import pytest

from weft.render.cells import widest
from weft.render.rows import tabbed_rows, wrapped_rows

PIPELINES = [
    ("ask", "look -> draft -> claims -> judge -> answer", "A short answer over a collection, with its sources."),
    ("writing", "summary -> kit", "A kit."),
]


def test_what_is_long_is_wrapped_behind_what_is_short() -> None:
    assert wrapped_rows(PIPELINES, 45).splitlines() == [
        "ask      look -> draft -> claims -> judge ->",
        "         answer",
        "         A short answer over a collection,",
        "         with its sources.",
        "writing  summary -> kit",
        "         A kit.",
    ]


def test_short_cells_stand_in_columns_and_one_behind_a_long_one_stands_below_it() -> None:
    rows = [("a", "", "x" * 20 + " " + "y" * 20, "late"), ("bcd", "model", "short", "")]
    assert wrapped_rows(rows, 60).splitlines() == [
        "a           xxxxxxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyyyyyy",
        "            late",
        "bcd  model  short",
    ]
    assert wrapped_rows([("one",), ("two",)], 60) == "one\ntwo"
    assert wrapped_rows([], 60) == ""


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert widest(wrapped_rows(PIPELINES, width).splitlines()) <= width


def test_a_name_that_leaves_no_room_has_the_rest_on_lines_below() -> None:
    assert wrapped_rows([("f" * 32, "code of the pack writing, agreed to")], 50).splitlines() == [
        "f" * 32,
        "    code of the pack writing, agreed to",
    ]


def test_nothing_in_a_cell_commands_a_terminal_or_makes_a_column() -> None:
    assert tabbed_rows([("a\tb", "\x1b[31mred"), ("c", "")]) == "a b\t␛[31mred\nc\t"
    assert "\x1b" not in wrapped_rows([("a", "\x1b[31mred")], 80)
