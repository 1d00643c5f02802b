"""Pieces of text on a page to parts in the order a person reads them; within a part one reads across, then down.

The space between two columns is white that goes through many lines at the same place: it is looked for in the whole
page, never in a line. What crosses it (a headline, a caption, a half of the page that is not in columns) divides the
page: everything above is read before it. A table keeps clear of strips too, but its cells do not fill their columns.

The order in which a file paints its text is nearly always the one it was written in. Columns that it paints one after
the other may stand close together and in a part of the page; where it paints across them, only a wide space through
nearly the whole page is believed. Where no space is found between texts that it paints apart, its own order is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from weft.documents.pdf_text import PdfText

SAME_ROW: Final = 0.45
CELL: Final = 1.6
_NARROW: Final = 0.3
_GUTTER: Final = 0.9
_TOUCH: Final = 0.15
_SEEN: Final = 0.4
_COLUMN_LINES: Final = 5
_MANY_LINES: Final = 12
_BAND_LINES: Final = 3
_TRIED: Final = 12
_FILLED: Final = 0.55
_FILLED_APART: Final = 0.3
"""A side may have columns itself, whose lines stand on different heights."""
_LETTERS: Final = 12
_DEEPEST: Final = 4
_LEADING: Final = 3.0

Drawn = tuple[int, PdfText]
"""A piece and when it was painted."""
Row = list[Drawn]


class PageParts(NamedTuple):
    parts: list[list[list[PdfText]]]
    """Rows from top to bottom, each from left to right, part by part."""
    unsure: bool
    """Whether they stand in the file's own order because the page does not show another."""


class _Gutter(NamedTuple):
    begin: float
    end: float
    painted_apart: bool = False


def parts_of(pieces: Sequence[PdfText]) -> PageParts:
    found: list[list[Row]] = []
    unsure = False
    for part in _parted(_rows(list(enumerate(pieces))), 0):
        strands = _strands(part)
        unsure = unsure or strands is not None
        found += [part] if strands is None else strands
    return PageParts([[[piece for _, piece in row] for row in rows] for rows in found], unsure)


def _rows(pieces: Iterable[Drawn]) -> list[Row]:
    rows: list[Row] = []
    heights: list[tuple[float, float]] = []
    for drawn in sorted(pieces, key=lambda drawn: (-drawn[1].y, drawn[1].x)):
        piece = drawn[1]
        # a raised or lowered small piece belongs to the larger one beside it
        for index in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            y, size = heights[index]
            if abs(piece.y - y) <= SAME_ROW * max(size, piece.size):
                rows[index].append(drawn)
                if piece.size > size:
                    heights[index] = piece.y, piece.size
                break
        else:
            rows.append([drawn])
            heights.append((piece.y, piece.size))
    for row in rows:
        row.sort(key=lambda drawn: drawn[1].x)
    return rows


def middle(values: Iterable[float]) -> float:
    """The median, without the module that brings decimals and randomness along."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


# -- columns


def _parted(rows: list[Row], depth: int) -> list[list[Row]]:
    gutter = _gutter(rows) if depth < _DEEPEST else None
    if gutter is None:
        return [rows] if rows else []
    result: list[list[Row]] = []
    across: list[Row] = []
    for is_across, run in _runs(rows, gutter):
        if is_across:
            across += run
            continue
        if across:
            result += _parted(across, depth + 1)
            across = []
        for part in _turns(run, gutter) if gutter.painted_apart else [run]:
            for side in _sides(part, gutter):
                # Rows anew: the lines of a column need not stand on the heights of those beside it.
                result += _parted(_rows(drawn for row in side for drawn in row), depth + 1)
    return result + (_parted(across, depth + 1) if across else [])


def _runs(rows: list[Row], gutter: _Gutter) -> list[tuple[bool, list[Row]]]:
    """Rows one below the other, and whether they go across the gutter or keep clear of it."""
    runs: list[tuple[bool, list[Row]]] = []
    for row in rows:
        crosses = _crosses(row, gutter)
        if runs and runs[-1][0] == crosses:
            runs[-1][1].append(row)
        else:
            runs.append((crosses, [row]))
    return [(crosses or _reads_across(run, gutter), run) for crosses, run in runs]


def _crosses(row: Row, gutter: _Gutter) -> bool:
    """Whether something of it goes over the gutter. What only pokes into it is a line that was too long."""
    centre, size = (gutter.begin + gutter.end) / 2, row[0][1].size
    if any(piece.x < gutter.begin and piece.end > gutter.end for _, piece in row):
        return True
    before = max((piece.end for _, piece in row if _is_left(piece, centre)), default=None)
    after = min((piece.x for _, piece in row if not _is_left(piece, centre)), default=None)
    if before is None or after is None:
        return False
    # Between the words of a line that goes across there is white as well, but less of it.
    return after < gutter.end - _NARROW * size or after - before < _TOUCH * size


def _reads_across(run: list[Row], gutter: _Gutter) -> bool:
    """Whether rows that keep clear are no columns: the end of a paragraph, or a few rows of a table."""
    left, right = _sides(run, gutter)
    if not left or not right:
        return True
    if not gutter.painted_apart:
        return False
    both = len(left) + len(right) - len(run)
    return 2 * both > len(run) and _switches(run, gutter) >= 2 * both - 1


def _sides(rows: Sequence[Row], gutter: _Gutter) -> tuple[list[Row], list[Row]]:
    centre = (gutter.begin + gutter.end) / 2
    left = [[drawn for drawn in row if _is_left(drawn[1], centre)] for row in rows]
    right = [[drawn for drawn in row if not _is_left(drawn[1], centre)] for row in rows]
    return [row for row in left if row], [row for row in right if row]


def _is_left(piece: PdfText, centre: float) -> bool:
    return piece.x + piece.end < 2 * centre


def _switches(rows: Iterable[Row], gutter: _Gutter) -> int:
    """How often what is painted goes from one side to the other."""
    centre = (gutter.begin + gutter.end) / 2
    order = sorted(drawn for row in rows for drawn in row)
    return sum(_is_left(before[1], centre) != _is_left(after[1], centre) for before, after in pairwise(order))


def _turns(rows: list[Row], gutter: _Gutter) -> list[list[Row]]:
    """Rows parted where both columns begin again: below a picture across them, or in the next row of a table."""
    centre = (gutter.begin + gutter.end) / 2
    last = list(accumulate((max(row) for row in rows), max))
    first = list(accumulate((min(row) for row in reversed(rows)), min))[::-1]
    cuts = [0]
    seen: set[bool] = set()
    for index in range(1, len(rows)):
        seen |= {_is_left(piece, centre) for _, piece in rows[index - 1]}
        before, after = last[index - 1], first[index]
        # All that stands above, on both sides, is painted before all that stands below.
        if len(seen) == 2 and before < after and _is_left(before[1], centre) != _is_left(after[1], centre):
            cuts.append(index)
            seen = set()
    return [rows[begin:end] for begin, end in pairwise([*cuts, len(rows)])]


# -- the space between two columns


def _gutter(rows: list[Row]) -> _Gutter | None:
    """The strip between two columns of prose, if there is one."""
    if len(rows) < _BAND_LINES:
        return None
    pieces = [piece for row in rows for _, piece in row]
    size = middle(piece.size for piece in pieces)
    best: _Gutter | None = None
    lines = 0
    for centre in _places(rows, size):
        found, count = _measured(rows, centre, size)
        if found is not None and (count, found.end - found.begin) > (lines, best.end - best.begin if best else 0.0):
            best, lines = found, count
    return best


def _places(rows: list[Row], size: float) -> list[float]:
    """Where a column may begin: beside an edge that many lines have in common."""
    pieces = [piece for row in rows for _, piece in row]
    first, last = min(piece.x for piece in pieces), max(piece.end for piece in pieces)
    inner = first + 0.1 * (last - first), last - 0.1 * (last - first)
    edges: Counter[tuple[float, int]] = Counter()
    for row in rows:
        for index, (_, piece) in enumerate(row):
            if inner[0] < piece.x < inner[1] and (index == 0 or piece.x - row[index - 1][1].end > _TOUCH * size):
                edges[round(piece.x / 2) * 2, -1] += 1
            if inner[0] < piece.end < inner[1]:
                edges[round(piece.end / 2) * 2, 1] += 1
    return [edge + side * (_TOUCH * size + 1) for (edge, side), n in edges.most_common(_TRIED) if n >= _BAND_LINES]


def _measured(rows: list[Row], centre: float, size: float) -> tuple[_Gutter | None, int]:
    """The gutter around a place, if it is one, and how many lines keep clear of it on the side that has fewer."""
    ends, begins, crossing = [], [], 0
    for row in rows:
        if any(piece.x < centre < piece.end for _, piece in row):
            crossing += 1
            continue
        left = [piece.end for _, piece in row if piece.end <= centre]
        right = [piece.x for _, piece in row if piece.x >= centre]
        ends += [max(left)] if left else []
        begins += [min(right)] if right else []
    if min(len(ends), len(begins)) < _BAND_LINES:
        return None, 0
    # One line in ten may be too long, or hang out.
    gutter = _Gutter(sorted(ends)[int(0.9 * (len(ends) - 1))], sorted(begins)[len(begins) // 10])
    runs = [run for is_across, run in _runs(rows, gutter) if not is_across]
    # Chance keeps a few rows clear anywhere: only lines one below the other, on both sides, show a column.
    stacks = [row for run in runs if min(map(len, _sides(run, gutter))) >= _BAND_LINES for row in run]
    sides = _sides(stacks, gutter)
    count = min(map(len, sides))
    apart = bool(stacks) and _painted_apart(stacks, gutter)
    filled = _FILLED_APART if apart else _FILLED
    if not stacks or not all(_is_prose(side, filled) for side in sides) or not _side_by_side(*sides):
        return None, 0
    if apart:
        wide, few = gutter.end - gutter.begin >= _NARROW * size, True
    else:
        least = _GUTTER if count < _MANY_LINES else _SEEN
        wide = count >= _COLUMN_LINES and gutter.end - gutter.begin >= least * size
        few = len(rows) - sum(map(len, runs)) <= max(2, len(rows) // 12)
    return (gutter._replace(painted_apart=apart), count) if wide and few else (None, 0)


def _painted_apart(rows: list[Row], gutter: _Gutter) -> bool:
    """Whether the file goes from side to side seldom: once for a page, or for each row of a table with long texts."""
    turns, switches = len(_turns(rows, gutter)), _switches(rows, gutter)
    fewer = min(map(len, _sides(rows, gutter)))
    return 3 * switches <= fewer or (2 * fewer >= 3 * turns and switches <= 2 * turns - 1)


def _is_prose(side: Sequence[Row], least: float = _FILLED) -> bool:
    left = min(row[0][1].x for row in side)
    width = max(row[-1][1].end for row in side) - left
    filled = [(row[-1][1].end - row[0][1].x) / width for row in side if width > 0]
    letters = [sum(len(piece.text) for _, piece in row) for row in side]
    return bool(filled) and middle(filled) >= least and middle(letters) >= _LETTERS


def _side_by_side(left: Sequence[Row], right: Sequence[Row]) -> bool:
    tops = [side[0][0][1].y for side in (left, right)]
    bottoms = [side[-1][0][1].y for side in (left, right)]
    shorter = min(top - bottom for top, bottom in zip(tops, bottoms, strict=True))
    return min(tops) - max(bottoms) >= 0.5 * shorter > 0


# -- the file's own order


def _strands(rows: list[Row]) -> list[list[Row]] | None:
    """The rows as the file paints them, if texts stand beside each other that it paints apart; else nothing."""
    pairs = [
        (before[0], after[0])
        for row in rows
        for before, after in pairwise(row)
        if after[1].x - before[1].end > _NARROW * after[1].size and not _together(row, before[0], after[0])
    ]
    if len(pairs) < _BAND_LINES:
        return None
    strands = _painted(sorted(drawn for row in rows for drawn in row))
    if len(rows) < _BAND_LINES * len(strands):
        return None
    of = {order: strand for strand, drawn in enumerate(strands) for order, _ in drawn}
    parts = [_rows(strand) for strand in strands]
    prose = [len(part) >= _BAND_LINES and _is_prose(part, _FILLED_APART) for part in parts]
    beside = sum(of[one] != of[other] and prose[of[one]] and prose[of[other]] for one, other in pairs)
    return parts if beside >= _BAND_LINES else None


def _together(row: Row, one: int, other: int) -> bool:
    """Whether nothing of another row is painted between the two."""
    low, high = sorted((one, other))
    return sum(low <= order <= high for order, _ in row) == high - low + 1


def _painted(pieces: Iterable[Drawn]) -> list[list[Drawn]]:
    """Pieces in the order they are painted, anew where the next stands neither behind the last nor below the others."""
    strands: list[list[Drawn]] = []
    left = right = 0.0
    for drawn in pieces:
        piece = drawn[1]
        last = strands[-1][-1][1] if strands else piece
        step = last.y - piece.y
        behind = abs(step) <= SAME_ROW * piece.size and -piece.size < piece.x - last.end < CELL * piece.size
        below = 0 < step < _LEADING * piece.size and piece.x < right and piece.end > left
        if not strands or not (behind or below):
            strands.append([])
            left, right = piece.x, piece.end
        strands[-1].append(drawn)
        left, right = min(left, piece.x), max(right, piece.end)
    return strands
