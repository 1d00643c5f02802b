"""Parts of a page to lines: a gap makes a space, a wide one a cell, and letters come in the order they are read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from weft.documents.characters import normalise, squeezed
from weft.documents.pdf_columns import CELL, parts_of
from weft.documents.pdf_text import PdfText
from weft.protocol.values import dataclass

_WORD: Final = 0.16
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_PRESENTATION: Final = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc]+")
_LEFT_TO_RIGHT_RUN: Final = re.compile(
    r"[A-Za-z0-9À-ɏ](?:[\w.,:/%+@'’-]*[A-Za-z0-9À-ɏ%])?(?: [A-Za-zÀ-ɏ][\w.,:/%'’-]*)*"
)
_MIRRORED: Final = str.maketrans("()[]{}<>«»", ")(][}{><»«")


@dataclass(frozen=True, slots=True)
class LineOnPage:
    text: str
    x: float
    end: float
    y: float
    size: float
    fixed: bool = False
    bold: bool = False
    cells: int = 1
    left: float = 0.0
    right: float = 0.0
    """The edges of the column it stands in."""


def lines_of(pieces: Sequence[PdfText]) -> tuple[list[LineOnPage], bool]:
    """The lines, and whether they stand in the file's own order because the page does not show another."""
    parts, unsure = parts_of(pieces)
    return [line for part in parts for line in _column([_cells(row) for row in part])], unsure


def _cells(row: list[PdfText]) -> list[LineOnPage]:
    """The parts of a row that wide gaps cut."""
    groups: list[list[PdfText]] = []
    end = 0.0
    for piece in row:
        size = max(piece.size, groups[-1][-1].size) if groups else piece.size
        if groups and piece.x - end <= CELL * size:
            groups[-1].append(piece)
            end = max(end, piece.end)
        else:
            groups.append([piece])
            end = piece.end
    return [segment for segment in map(_segment, groups) if segment.text]


def _segment(group: list[PdfText]) -> LineOnPage:
    text = ""
    end = group[0].x
    seen: set[tuple[str, int, int]] = set()
    for piece in group:
        # bold is sometimes made by painting twice
        key = (piece.text, round(piece.x / 2), round(piece.y / 2))
        if key in seen:
            continue
        seen.add(key)
        gap = piece.x - end
        apart = gap > _WORD * piece.size and text and not text[-1].isspace() and not piece.text[0].isspace()
        text += (" " if apart else "") + piece.text
        end = max(end, piece.end)
    letters = sum(len(piece.text) for piece in group)
    main = max(group, key=lambda piece: len(piece.text))
    fixed = 2 * sum(len(piece.text) for piece in group if piece.fixed) > letters
    return LineOnPage(
        text=_logical(_letters(text, spaces=fixed)),
        x=group[0].x,
        end=max(piece.end for piece in group),
        y=main.y,
        size=main.size,
        fixed=fixed,
        bold=all(piece.bold for piece in group),
    )


def _letters(text: str, *, spaces: bool) -> str:
    """Ligatures and the shapes that Arabic letters take beside each other, as letters. In code spaces are kept."""
    if _PRESENTATION.search(text):
        text = _PRESENTATION.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    plain = normalise(text.replace("\xad", "-"))
    if not spaces:
        return squeezed(plain)
    return " " * (len(text) - len(text.lstrip(" "))) + plain.replace("\n", " ") if plain else ""


def _logical(text: str) -> str:
    """What is painted from left to right, in the order it is read: the other way round for Hebrew and Arabic."""
    count = len(_RIGHT_TO_LEFT.findall(text))
    if not count or count < sum(1 for character in text if character.isalpha()) / 2:
        return text
    turned = normalise(text[::-1].translate(_MIRRORED))
    return _LEFT_TO_RIGHT_RUN.sub(lambda found: found[0][::-1], turned)


def _column(rows: Sequence[Sequence[LineOnPage]]) -> list[LineOnPage]:
    """One column from top to bottom, with its edges; the cells of a row are one line, with their number."""
    segments = [segment for row in rows for segment in row]
    if not segments:
        return []
    left = min(segment.x for segment in segments)
    right = sorted(segment.end for segment in segments)[int(0.95 * (len(segments) - 1))]
    return [replace(_joined(row), left=left, right=right) for row in rows if row]


def _joined(row: Sequence[LineOnPage]) -> LineOnPage:
    backwards = all(_RIGHT_TO_LEFT.search(cell.text) for cell in row)
    return replace(
        row[0],
        text=" ".join(cell.text for cell in (reversed(row) if backwards else row)),
        end=max(cell.end for cell in row),
        cells=len(row),
        bold=all(cell.bold for cell in row),
    )
