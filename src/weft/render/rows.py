"""Rows of cells: with tabs between them for programs, in columns for whoever reads them on a terminal.

The first columns stand beside each other as long as their cells are short. From the first one with longer cells on (a
description, a chain of steps) each cell is wrapped in the room that is left, on lines of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.render.cells import clean, clean_row, pad, widest, wrap

_SHORT: Final = 24
"""Cells: what a column may take to stand beside others."""
_LEAST: Final = 30
"""Cells that a longer column needs; where they are not there it begins on the next line."""
_INDENT: Final = 4


def tabbed_rows(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(map(clean_row, rows))


def wrapped_rows(rows: Sequence[Sequence[str]], width: int) -> str:
    columns = range(max((len(row) for row in rows), default=0))
    table = [[clean(row[at]) if at < len(row) else "" for at in columns] for row in rows]
    widths = [widest(row[at] for row in table) for at in columns]
    beside = [at for at in columns if at == 0 or max(widths[1 : at + 1]) <= _SHORT]
    beside = [at for at in beside if widths[at]]
    below = [at for at in columns if at not in beside]
    start = sum(widths[at] + 2 for at in beside)
    indent = start if width - start >= _LEAST else _INDENT
    lines: list[str] = []
    for row in table:
        head = "".join(pad(row[at], widths[at] + 2) for at in beside)
        texts = [line for at in below if row[at] for line in wrap(row[at], width - indent)]
        if indent == start and texts:
            head += texts.pop(0)
        lines += [head.rstrip(), *(" " * indent + line for line in texts)]
    return "\n".join(lines)
