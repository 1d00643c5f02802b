"""Lines of a page as text for a terminal: their styles as escape sequences, the only ones that ever reach it."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text


class Paint:
    def __init__(self, *, colour: bool) -> None:
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="standard",
            no_color=not colour,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            width=100_000,
        )

    def line(self, line: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(line, end="", soft_wrap=True)
        return captured.get()

    def lines(self, lines: Sequence[Text]) -> str:
        return "\n".join(self.line(line) for line in lines)
