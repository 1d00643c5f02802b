"""Pieces of text on a page to lines in the order a person reads them: across, then down, one column after another.

Pieces on one height make rows; a wide gap cuts a row into segments. A white strip from top to bottom that segments of
prose keep clear of is the space between columns. What crosses it (a headline, a caption) divides the page: everything
above is read before it. A table keeps clear of strips too, but its segments do not fill their columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from weft.documents.characters import normalise, squeezed
from weft.documents.pdf_text import PdfText
from weft.protocol.values import dataclass

_SAME_ROW: Final = 0.45
_WORD: Final = 0.16
_GAP: Final = 1.6
_GUTTER: Final = 0.9
_COLUMN_LINES: Final = 5
_FILLED: Final = 0.55
_DEEPEST: Final = 2
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


def lines_of(pieces: Sequence[PdfText]) -> list[LineOnPage]:
    segments = [segment for row in _rows(pieces) for segment in _segments(row)]
    return _ordered([segment for segment in segments if segment.text], 0)


# -- rows and segments


def _rows(pieces: Sequence[PdfText]) -> list[list[PdfText]]:
    rows: list[list[PdfText]] = []
    heights: list[tuple[float, float]] = []
    for piece in sorted(pieces, key=lambda piece: (-piece.y, piece.x)):
        # a raised or lowered small piece belongs to the larger one beside it
        for index in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            y, size = heights[index]
            if abs(piece.y - y) <= _SAME_ROW * max(size, piece.size):
                rows[index].append(piece)
                if piece.size > size:
                    heights[index] = piece.y, piece.size
                break
        else:
            rows.append([piece])
            heights.append((piece.y, piece.size))
    return rows


def _segments(row: list[PdfText]) -> list[LineOnPage]:
    row.sort(key=lambda piece: piece.x)
    groups: list[list[PdfText]] = []
    end = 0.0
    for piece in row:
        size = max(piece.size, groups[-1][-1].size) if groups else piece.size
        if groups and piece.x - end <= _GAP * size:
            groups[-1].append(piece)
            end = max(end, piece.end)
        else:
            groups.append([piece])
            end = piece.end
    return [_segment(group) for group in groups]


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


# -- columns


def _ordered(segments: list[LineOnPage], depth: int) -> list[LineOnPage]:
    gutter = _gutter(segments) if depth < _DEEPEST else None
    if gutter is None:
        return _column(segments)
    begin, end = gutter
    result: list[LineOnPage] = []
    left: list[LineOnPage] = []
    right: list[LineOnPage] = []

    def flush() -> None:
        for side in (left, right):
            result.extend(_ordered(list(side), depth + 1))
            side.clear()

    for segment in sorted(segments, key=lambda segment: (-segment.y, segment.x)):
        if segment.end <= end:
            left.append(segment)
        elif segment.x >= begin:
            right.append(segment)
        else:
            flush()
            result.extend(_column([segment]))
    flush()
    return result


def _gutter(segments: Sequence[LineOnPage]) -> tuple[float, float] | None:
    """The strip between two columns of prose, if the page has one."""
    if len(segments) < 2 * _COLUMN_LINES:
        return None
    first, last = min(segment.x for segment in segments), max(segment.end for segment in segments)
    width = last - first
    size = middle(segment.size for segment in segments)
    best: tuple[float, float] | None = None
    for begin, end in _clear_strips(segments, first + 0.15 * width, last - 0.15 * width):
        if end - begin >= _GUTTER * size and (best is None or end - begin > best[1] - best[0]):
            best = begin, end
    if best is None:
        return None
    begin, end = best
    left = [segment for segment in segments if segment.end <= end]
    right = [segment for segment in segments if segment.x >= begin]
    return best if _is_prose(left) and _is_prose(right) and _side_by_side(left, right) else None


def _clear_strips(segments: Sequence[LineOnPage], first: float, last: float) -> list[tuple[float, float]]:
    """Where hardly a segment stands: a headline may cross, a tenth of the lines may not."""
    events = sorted([(segment.x, 1) for segment in segments] + [(segment.end, -1) for segment in segments])
    most = max(2, len(segments) // 12)
    strips: list[tuple[float, float]] = []
    open_from: float | None = None
    crossing = 0
    for place, change in events:
        crossing += change
        if crossing <= most and open_from is None:
            open_from = place
        elif crossing > most and open_from is not None:
            strips.append((open_from, place))
            open_from = None
    clipped = ((max(begin, first), min(end, last)) for begin, end in strips)
    return [(begin, end) for begin, end in clipped if end > begin]


def middle(values: Iterable[float]) -> float:
    """The median, without the module that brings decimals and randomness along."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _is_prose(side: Sequence[LineOnPage]) -> bool:
    if len(side) < _COLUMN_LINES:
        return False
    width = max(segment.end for segment in side) - min(segment.x for segment in side)
    filled = [(segment.end - segment.x) / width for segment in side if width > 0]
    return bool(filled) and middle(filled) >= _FILLED and middle(len(segment.text) for segment in side) >= 12


def _side_by_side(left: Sequence[LineOnPage], right: Sequence[LineOnPage]) -> bool:
    top = min(max(segment.y for segment in left), max(segment.y for segment in right))
    bottom = max(min(segment.y for segment in left), min(segment.y for segment in right))
    shorter = min(max(s.y for s in side) - min(s.y for s in side) for side in (left, right))
    return top - bottom >= 0.5 * shorter > 0


def _column(segments: Sequence[LineOnPage]) -> list[LineOnPage]:
    """One column from top to bottom; segments of one height become one line again, with its number of cells."""
    if not segments:
        return []
    left = min(segment.x for segment in segments)
    right = sorted(segment.end for segment in segments)[int(0.95 * (len(segments) - 1))]
    lines: list[LineOnPage] = []
    for segment in sorted(segments, key=lambda segment: (-segment.y, segment.x)):
        last = lines[-1] if lines else None
        if last is not None and abs(last.y - segment.y) <= _SAME_ROW * max(last.size, segment.size):
            before, after = (last, segment) if last.x <= segment.x else (segment, last)
            backwards = bool(_RIGHT_TO_LEFT.search(last.text)) and bool(_RIGHT_TO_LEFT.search(segment.text))
            text = f"{after.text} {before.text}" if backwards else f"{before.text} {after.text}"
            lines[-1] = replace(
                last,
                text=text,
                x=before.x,
                end=max(last.end, segment.end),
                cells=last.cells + 1,
                bold=last.bold and segment.bold,
            )
        else:
            lines.append(replace(segment, left=left, right=right))
    return lines
