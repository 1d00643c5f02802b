"""Pictures of pipelines. A reader that only follows lines finds exactly the edges that were drawn."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.cells import cell_len

from tests.lanes import lives
from weft.render.graph import graph_text, mermaid
from weft.render.layout import layers, put_in_columns, put_in_order, ranks

from .screens import DIAMOND

Steps = Mapping[str, Sequence[str]]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = {"│": 3, "─": 12, "┘": 5, "└": 9, "┐": 6, "┌": 10, "┤": 7, "├": 11, "┴": 13, "┬": 14, "┼": 15}
MOVES = {DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}
BACK = {DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}


def edges(steps: Steps) -> set[tuple[str, str]]:
    return {(required, step) for step in steps for required in steps[step]}


def box(grid: list[str], name: str) -> tuple[int, int, int]:
    """Top row, left and right column of the one box with this name."""
    [(row, column)] = [(row, line.index(f" {name} ")) for row, line in enumerate(grid) if f" {name} " in line]
    left, right = column, column + 1
    while grid[row][left] not in "│║":
        left -= 1
    while grid[row][right] not in "│║":
        right += 1
    return row - 1, left, right


def read(picture: str, names: Sequence[str], height: int) -> set[tuple[str, ...]]:
    """Follow every line that leaves a box, never upwards; where lines cross go straight on."""
    lines = picture.split("\n")
    grid = [line.ljust(max(map(len, lines))) for line in lines]
    boxes = {name: box(grid, name) for name in names}
    found: set[tuple[str, ...]] = set()
    for name, (top, left, right) in boxes.items():
        bottom = top + height - 1
        todo = [(bottom + 1, column, DOWN) for column in range(left, right) if grid[bottom][column] in "┬╤"]
        seen = set()
        while todo:
            row, column, heading = place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            sign = grid[row][column]
            if sign == "▼":
                assert heading == DOWN
                under = [other for other, (y, start, end) in boxes.items() if y == row and start < column < end]
                found.add((name, *under))
                continue
            if heading != DOWN and sign == "│":
                onward = heading
            else:
                assert LINES[sign] & BACK[heading], f"a line ends nowhere at {row}:{column}"
                onward = LINES[sign] & ~BACK[heading] & ~UP
            todo += [(row + y, column + x, move) for move, (y, x) in MOVES.items() if onward & move]
    return found


def test_lines_that_must_cross_do_not_touch() -> None:
    steps = {"a": [], "b": [], "c": [], "d": ["b", "c"], "e": ["a", "c"], "f": ["a", "b"]}
    picture = graph_text(steps, width=60)
    assert picture == snapshot("""\
┌───┐   ┌───┐   ┌───┐
│ a │   │ b │   │ c │
└─┬─┘   └─┬─┘   └─┬─┘
  │       │┌──────┴┐
  │┌──────┴│─────┐ │
 ┌┴│─────┐ │     │ │
┌▼─▼┐   ┌▼─▼┐   ┌▼─▼┐
│ f │   │ e │   │ d │
└───┘   └───┘   └───┘\
""")
    assert read(picture, list(steps), 3) == edges(steps)


def test_labels_go_before_the_picture_does() -> None:
    labels = {step: "a-label-that-takes-a-lot-of-room.json" for step in DIAMOND}
    picture = graph_text(DIAMOND, labels=labels, final="kit", width=40)
    assert "label" not in picture
    assert read(picture, list(DIAMOND), 3) == edges(DIAMOND)


def test_a_circle_is_listed_rather_than_followed_for_ever() -> None:
    assert graph_text({"a": ["b"], "b": ["a"]}, width=60) == "• a\n  requires: b\n• b\n  requires: a"


def test_a_step_that_is_only_required_is_shown() -> None:
    assert read(graph_text({"kit": ["ghost"]}, width=60), ["kit", "ghost"], 3) == {("ghost", "kit")}


def test_no_steps() -> None:
    assert graph_text({}, width=60) == ""
    assert mermaid({}) == "flowchart TD\n"


def test_escapes_in_labels_are_only_text() -> None:
    assert "│ ␛[2Jx │" in graph_text({"a": []}, labels={"a": "\x1b[2Jx"}, width=60)


@st.composite
def pipelines(draw: st.DrawFn) -> dict[str, list[str]]:
    names = [f"n{number}" for number in range(draw(st.integers(1, 9)))]
    return {name: [other for other in names[:place] if draw(st.booleans())] for place, name in enumerate(names)}


@pytest.mark.lives
@settings(max_examples=lives(200, 2000), deadline=None)
@given(pipelines(), st.booleans())
def test_every_picture_says_exactly_the_edges(steps: dict[str, list[str]], labelled: bool) -> None:
    labels = {step: f"{step}-file" for step in steps} if labelled else {}
    picture = graph_text(steps, labels=labels, final=list(steps)[-1], width=300)
    rows = 4 if "-file" in picture else 3  # where lines would touch, the labels go first
    assert picture.startswith("•") or read(picture, list(steps), rows) == edges(steps)


@pytest.mark.lives
@settings(max_examples=lives(100, 1000), deadline=None)
@given(pipelines(), st.integers(20, 80))
def test_every_picture_and_listing_fits_and_names_every_step(steps: dict[str, list[str]], width: int) -> None:
    text = graph_text(steps, width=width)
    assert max(cell_len(line) for line in text.split("\n")) <= width
    assert set(re.findall(r"n\d", text)) == set(steps)


@pytest.mark.lives
@settings(max_examples=lives(100, 1000), deadline=None)
@given(pipelines(), st.sampled_from((2, 3, 4)))
def test_neighbours_keep_their_distance(steps: dict[str, list[str]], gap: int) -> None:
    rank = ranks(steps)
    assert rank is not None
    levels = layers(steps, rank)
    for level in levels:
        for item in level:
            item.width = 1 if item.lane else 7
    put_in_order(levels)
    width = put_in_columns(levels, gap)
    for level in levels:
        edges_of = [(item.column - item.width // 2, item.column + item.width // 2) for item in level]
        assert all(right - left > gap for (_, left), (right, _) in pairwise(edges_of))
        assert edges_of[0][0] >= 0
        assert edges_of[-1][1] < width


def test_a_start_that_is_needed_late_stands_right_above_its_use() -> None:
    assert ranks({"a": [], "b": ["a"], "c": ["b"], "late": [], "kit": ["c", "late"]}) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "late": 2,
        "kit": 3,
    }


def test_nearly_every_pipeline_can_be_drawn() -> None:
    chance = random.Random(7)
    listed = 0
    for _ in range(300):
        size, density = chance.randint(2, 9), chance.choice((0.15, 0.3, 0.5))
        steps = {f"n{i}": [f"n{j}" for j in range(i) if chance.random() < density] for i in range(size)}
        listed += graph_text(steps, width=300).startswith("•")
    assert listed <= 3


def test_a_big_pipeline_is_listed_at_once() -> None:
    steps = {f"n{i}": [f"n{j}" for j in range(max(0, i - 3), i)] for i in range(400)}
    assert graph_text(steps, width=200).count("requires:") == 399


@pytest.mark.parametrize("name", ["end", 'a"]', "%%{init: 1}%%", "x\ny --> z", "`code`", "#quot;", "<b>", "\x1b[2J"])
def test_no_name_can_break_mermaid(name: str) -> None:
    """Every line keeps its shape: a quoted text with nothing in it but letters, harmless marks and entity codes."""
    head, *lines = mermaid({name: [], "next": [name]}, {name: name}, name).splitlines()
    assert head == "flowchart TD"
    text = r"[\w .,/-]*(?:#\d+;[\w .,/-]*)*"
    assert re.fullmatch(rf'    s1\[\["{text}<br/>{text}"\]\]', lines[0])
    assert lines[1:] == ['    s2["next"]', "    s1 --> s2"]


@settings(deadline=None)
@given(pipelines())
def test_mermaid_has_every_step_and_edge(steps: dict[str, list[str]]) -> None:
    text = mermaid(steps)
    ids = {found[1]: found[2] for found in re.finditer(r'(s\d+)\["(n\d)"\]', text)}
    assert set(ids.values()) == set(steps)
    assert {(ids[a], ids[b]) for a, b in re.findall(r"(s\d+) --> (s\d+)", text)} == edges(steps)
