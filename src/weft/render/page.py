"""A page of a known width: every line put on it is clean, is measured in cells and fits; only a path may go on.

Lines are `rich.text.Text`, never markup, so that no bracket in an artifact's text is taken for a style.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from weft.protocol.values import dataclass
from weft.render.cells import clean, cut, fold, paragraphs, wrap
from weft.render.signs import Signs, signs

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

Part = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True, slots=True)
class Page:
    width: int
    signs: Signs

    def line(self, *parts: Part, right: Part = ("", "")) -> Text:
        """The parts one after the other, cut where the room ends; `right` keeps its place at the right margin."""
        tail = self.clean(right[0])
        room = self.width - (cell_len(tail) + 2 if tail else 0)
        from rich.text import Text  # plain text does without, and is written most

        line = Text(no_wrap=True, overflow="crop")
        for text, style in parts:
            left = room - line.cell_len
            if left > 0:
                line.append(self.cut(self.clean(text), left), style)
        if tail and room > 0:
            line.append(" " * (self.width - cell_len(tail) - line.cell_len))
            line.append(tail, right[1])
        return line

    def title(self, first: str, second: str, right: str = "") -> Text:
        rest = f" {self.signs.dot} {second}" if second else ""
        return self.line((first, "bold"), (rest, "dim"), right=(right, "dim"))

    def wrapped(
        self, text: str, indent: int, style: str = "", *, lead: Sequence[Part] = (), most: int = 0
    ) -> list[Text]:
        """The text on as many lines as it has and needs (or `most`), behind an indent that a `lead` may stand in."""
        pieces = [
            piece
            for paragraph in paragraphs(text, ascii=self.signs.ascii) or [""]
            for piece in wrap(paragraph, self.width - indent)
        ]
        if most and len(pieces) > most:
            pieces = [*pieces[: most - 1], self.cut(" ".join(pieces[most - 1 :]), self.width - indent)]
        return self._behind(pieces, indent, style, lead)

    def folded(self, text: str, indent: int, style: str = "", *, lead: Sequence[Part] = ()) -> list[Text]:
        """A path, a command or an id, whole: broken anywhere, but never shortened."""
        return self._behind(fold(self.clean(text), self.width - indent), indent, style, lead)

    def path(self, text: str, indent: int, style: str = "", *, lead: Sequence[Part] = ()) -> list[Text]:
        """A path as one line, however long: the terminal breaks it where it must, and it is copied as one."""
        line = self.line(*lead)
        line.overflow = "ignore"
        return [line.append(" " * (indent - line.cell_len)).append(self.clean(text), style)]

    def clean(self, text: str) -> str:
        return clean(text, ascii=self.signs.ascii)

    def cut(self, text: str, width: int) -> str:
        return cut(text, width, self.signs.ellipsis)

    def _behind(self, pieces: Sequence[str], indent: int, style: str, lead: Sequence[Part]) -> list[Text]:
        first = self.line(*lead)
        first.append(" " * (indent - first.cell_len)).append(pieces[0], style)
        return [first, *(self.line((" " * indent, ""), (piece, style)) for piece in pieces[1:])]


def page(width: int, ascii: bool) -> Page:
    """Nothing can be laid out on a few columns: a narrower terminal sees this page cropped."""
    return Page(max(width, 30), signs(ascii))


def group(lines: Sequence[Text]) -> Group:
    from rich.console import Group

    return Group(*lines)
