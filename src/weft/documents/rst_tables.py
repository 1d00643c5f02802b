"""Tables of reStructuredText as rows of markdown: with a grid drawn around the cells, and between rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from textwrap import dedent
from typing import Final

_GRID: Final = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_GRID_ROW: Final = re.compile(r"\s*[|+].*[|+]\s*$")
_RULE: Final = re.compile(r"\s*=+(?: +=+)+\s*$")
_SPANS: Final = re.compile(r"\s*-[- ]*$")
Cells = list[str]


def read_table(lines: Sequence[str], at: int) -> tuple[list[str], int] | None:
    """The table that begins at a line, and the line behind it. What stands in one cell alone comes as lines of its own:
    that is a box around some text."""
    if _GRID.match(lines[at]):
        return _grid(lines, at)
    return _ruled(lines, at) if _RULE.match(lines[at]) else None


def _grid(lines: Sequence[str], at: int) -> tuple[list[str], int] | None:
    end = at
    while end < len(lines) and _GRID_ROW.match(lines[end]):
        end += 1
    drawn = [line.strip() for line in lines[at:end]]
    if not _GRID.match(drawn[-1]) or end - at < 3:
        return None
    edges = sorted({place for line in drawn if _GRID.match(line) for place, sign in enumerate(line) if sign == "+"})
    rows: list[Cells] = []
    header, boxes = 0, [[""] for _ in edges[1:]]
    for line in drawn[1:]:
        if _GRID.match(line):
            rows.append([dedent("\n".join(box)).strip() for box in boxes])
            boxes = [[""] for _ in edges[1:]]
            header = len(rows) if "=" in line else header
            continue
        first = 0
        for column, edge in enumerate(edges[1:]):
            # A cell that goes over several columns has no line between them.
            if line[edge : edge + 1] in ("|", "+") or column == len(edges) - 2:
                boxes[first].append(line[edges[first] + 1 : edge].rstrip())
                first = column + 1
    if len(edges) == 2:
        return [line for row in rows for line in ("", *row[0].split("\n"), "")], end
    return _rows(rows, header), end


def _ruled(lines: Sequence[str], at: int) -> tuple[list[str], int] | None:
    rules = [at]
    end = at + 1
    while end < len(lines) and (lines[end].strip() or not _is_closed(lines, rules, end)):
        if _RULE.match(lines[end]):
            rules.append(end)
        end += 1
    if len(rules) < 2:
        return None
    end = rules[-1] + 1
    starts = [found.start() for found in re.finditer(r"=+", lines[at])]
    rows: list[Cells] = []
    header = 0
    for place in range(at + 1, end):
        line = lines[place]
        if place in rules:
            header = len(rows) if place != rules[-1] else header
        elif line.strip() and not (_SPANS.match(line) and rows):
            cells = [line[start:stop].strip() for start, stop in pairwise([*starts, None])]
            if rows and len(rows) != header and not cells[0]:
                rows[-1] = [f"{one} {other}".strip() for one, other in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
    return _rows(rows, header), end


def _is_closed(lines: Sequence[str], rules: Sequence[int], end: int) -> bool:
    """Whether the rule before a blank line is the last one: a row may have blank lines before it."""
    return len(rules) > 1 and not lines[end - 1].strip(" =")


def _rows(rows: Sequence[Cells], header: int) -> list[str]:
    told = [
        ["" for _ in rows[0]]
        if not header
        else [" ".join(filter(None, cell)) for cell in zip(*rows[:header], strict=True)]
    ]
    told += rows[header:]
    shown = ["| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |" for row in told]
    return ["", shown[0], "|" + " --- |" * len(rows[0]), *shown[1:], ""]
