"""Taking the live area away after the window became narrower: its lines have been broken anew by the terminal.

The library that draws counts the lines as it drew them. Most terminals break what is too long for a narrower window
into more lines, so it went back too few, and the first of them were left standing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import Output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import default_ui_style


def is_reflowing(environment: Mapping[str, str]) -> bool:
    """Whether this terminal breaks lines anew when its window changes; xterm, screen and consoles cut them off."""
    if "TMUX" in environment:
        return True
    return "XTERM_VERSION" not in environment and not environment.get("TERM", "").startswith(("linux", "screen", "vt"))


def reflowed(widths: Sequence[int], cursor: tuple[int, int], columns: int) -> tuple[int, int]:
    """Where the cursor is now, column and line: `widths` are those of the lines above it, as they were drawn."""
    columns = max(columns, 1)
    column, _ = cursor
    above = sum(max((width + columns - 1) // columns, 1) for width in widths)
    return column % columns, above + column // columns


class ReflowingRenderer(Renderer):
    def __init__(self, output: Output) -> None:
        super().__init__(default_ui_style(), output)
        self._reflows = is_reflowing({**os.environ})
        self._columns = 0
        """Of the window, when it was last drawn in."""

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        columns = self.output.get_size().columns
        if self._columns not in (0, columns):
            self.erase(leave_alternate_screen=False)  # what was drawn stands elsewhere by now
        super().render(app, layout, is_done)
        self._columns = columns

    def erase(self, leave_alternate_screen: bool = True) -> None:
        drawn, columns = self.last_rendered_screen, self.output.get_size().columns
        if self._reflows and drawn is not None and columns < self._columns:
            rows = [drawn.data_buffer[line] for line in range(self._cursor_pos.y)]
            used = [[at + cell.width for at, cell in row.items() if cell.char.strip()] for row in rows]
            widths = [max(ends, default=0) for ends in used]
            column, line = reflowed(widths, (self._cursor_pos.x, self._cursor_pos.y), columns)
            self._cursor_pos = Point(x=column, y=line)
        if drawn is not None:
            self._clear_upwards()
        super().erase(leave_alternate_screen)

    def _clear_upwards(self) -> None:
        """Line by line: what is cleared as a whole from the window's first place on goes into the history of some
        terminals (tmux), a copy each time. What has gone out of the window by itself can't be taken back."""
        output = self.output
        output.write_raw("\r")
        output.erase_down()
        for _ in range(self._cursor_pos.y):
            output.cursor_up(1)
            output.erase_end_of_line()
        self._cursor_pos = Point(x=0, y=0)
