"""Lines of a page as text for a terminal: their styles as escape sequences, the only ones that ever reach it."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.color import ColorSystem
from rich.console import Console
from rich.text import Text


class Paint:
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._styles = Console(file=io.StringIO())  # only looks styles up

    def line(self, line: Text) -> str:
        parts: list[str] = []
        for text, style, _ in line.render(self._styles):
            if style is not None and not self._colour:
                style = style.without_color
            parts.append(style.render(text, color_system=ColorSystem.STANDARD) if style else text)
        return "".join(parts)

    def lines(self, lines: Sequence[Text]) -> str:
        return "\n".join(self.line(line) for line in lines)
