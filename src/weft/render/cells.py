"""Text that is safe to show and fits: clean it, measure it in terminal cells, cut it, wrap it.

Text from models and artifacts may hold escape sequences, bidirectional overrides or line breaks. `clean` turns each of
them into something visible, so that one string is always one line and can't move the cursor or reorder what a person
reads. It also drops the joiners and modifiers on whose width terminals disagree: an emoji family becomes its members,
which every terminal draws equally wide. After it a text's width is the sum of its characters' widths.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len, get_character_cell_size

_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_BREAK: Final = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"
_BREAKS: Final = "\n\x85\u2028\u2029"
_NON_JOINER: Final = "\u200c"
"""Harmless, of no width, and Persian can't be written without it."""


def _table() -> dict[int, str]:
    pictures = {code: chr(0x2400 + code) for code in range(0x20)}
    pictures[0x7F] = "\N{SYMBOL FOR DELETE}"
    pictures |= dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT)
    breaks = {ord(character): _BREAK for character in _BREAKS}
    dropped = dict.fromkeys([0xAD, 0x200D, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400)], "")
    return pictures | breaks | dropped | {ord("\t"): " "}


_TABLE: Final = _table()


def clean(text: str, *, ascii: bool = False) -> str:
    """The text on one line with nothing in it that a terminal would obey. `ascii` spells other letters as escapes."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if ascii:
        letters = text.replace("\t", " ")
        return "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in letters)
    text = text.translate(_TABLE)
    return "".join(
        _REPLACEMENT if unicodedata.category(c) in ("Cf", "Cs", "Cc") and c != _NON_JOINER else c for c in text
    )


def clean_row(cells: Iterable[str]) -> str:
    """Cells with tabs between them, for programs and people."""
    return "\t".join(map(clean, cells))


def clean_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(clean, text.split("\n")))


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """The text in at most `width` cells; what had to go is shown by the ellipsis."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    return _head(text, room).rstrip() + ellipsis if room >= 0 else _head(text, width)


def pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken between words where that is possible; at least one line."""
    width = max(width, 2)
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        pieces = fold(word, width)
        if lines[-1]:
            lines.extend(pieces)
        else:
            lines[-1:] = pieces
    return lines


def fold(text: str, width: int, *, words: bool = False) -> list[str]:
    """Lines of at most `width` cells, broken anywhere: for paths and commands, of which nothing may be lost. With
    `words` at a space where a line has one, for what a person wrote."""
    width = max(width, 2)
    lines: list[str] = []
    while cell_len(text) > width:
        head = _head(text, width)
        space = head.rfind(" ") if words and text[len(head)] != " " else -1
        if head[: max(space, 0)].strip():
            head = head[:space]
        lines.append(head)
        text = text[len(head) :].removeprefix(" " if words else "")
    return [*lines, text]


def paragraphs(text: str, *, ascii: bool = False) -> list[str]:
    """The lines a person meant by their line breaks, each clean; empty ones left out."""
    lines = (clean(line, ascii=ascii) for line in text.replace("\r\n", "\n").split("\n"))
    return [line for line in lines if line.strip()]


def widest(texts: Iterable[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


def _head(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > width:
            return text[:index]
    return text
