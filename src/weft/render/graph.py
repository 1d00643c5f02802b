"""A pipeline as a picture: boxes and lines in a terminal, or a mermaid flowchart.

`graph_text` draws top to bottom, with the final step's box in double lines. What would not fit the width loses its
labels first; what still does not fit (or can't be drawn without lines covering each other) becomes a listing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from rich.cells import cell_len, get_character_cell_size

from weft.render.cells import clean, widest, wrap
from weft.render.layout import GraphBox, layers, put_in_columns, put_in_order, ranks
from weft.render.routes import draw, nets, place_ports, place_rows

_PLAIN: Final = str.maketrans(
    {**dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝╤", "+"), "─": "-", "│": "|", "═": "=", "║": "|", "▼": "v", "•": "*"}
)
_MOST_STEPS: Final = 60
"""A picture of more than this helps nobody."""
_GAPS: Final = (3, 2, 4)
"""Free columns between boxes, as tried: three look best, two fit where three do not, and rarely lines that would cover
each other at one distance are free at another."""

Labels = Mapping[str, str]
Steps = Mapping[str, Sequence[str]]
Texts = Mapping[str, Sequence[str]]


def graph_text(
    steps: Steps, *, labels: Labels | None = None, final: str | None = None, width: int, ascii: bool = False
) -> str:
    """The steps (each with what it requires) as a picture no wider than `width`."""
    whole = _whole(steps)
    rank = ranks(whole)
    names = {step: clean(step, ascii=ascii) for step in whole}
    notes = {step: clean(text, ascii=ascii) for step, text in (labels or {}).items() if text and step in whole}
    picture: list[str] | None = None
    if rank is not None and 0 < len(whole) <= _MOST_STEPS:
        texts = {step: [names[step], *([notes[step]] if step in notes else [])] for step in whole}
        bare = {step: [names[step]] for step in whole}
        tries = ((words, gap) for words in ([texts, bare] if notes else [bare]) for gap in _GAPS)
        pictures = (_picture(whole, rank, words, final, width, gap) for words, gap in tries)
        picture = next((found for found in pictures if found is not None), None)
    lines = _listing(whole, rank or {}, names, notes, final, width) if picture is None else picture
    text = "\n".join(lines)
    return text.translate(_PLAIN) if ascii else text


def mermaid(steps: Steps, labels: Labels | None = None, final: str | None = None) -> str:
    """A mermaid flowchart. Ids are numbers, so that no step's name can be taken for a word of mermaid's own."""
    whole = _whole(steps)
    ids = {step: f"s{number}" for number, step in enumerate(whole, 1)}
    lines = ["flowchart TD"]
    for step in whole:
        label = (labels or {}).get(step, "")
        text = _escaped(step) + (f"<br/>{_escaped(label)}" if label else "")
        before, after = ("[[", "]]") if step == final else ("[", "]")
        lines.append(f'    {ids[step]}{before}"{text}"{after}')
    lines += [f"    {ids[required]} --> {ids[step]}" for step in whole for required in whole[step]]
    return "\n".join(lines) + "\n"


def _whole(steps: Steps) -> dict[str, list[str]]:
    """Every step that is named, also one that is only required, with its requirements once each."""
    whole = {step: list(dict.fromkeys(required)) for step, required in steps.items()}
    for required in list(whole.values()):
        for step in required:
            whole.setdefault(step, [])
    return whole


def _picture(
    steps: Steps, rank: Mapping[str, int], texts: Texts, final: str | None, width: int, gap: int
) -> list[str] | None:
    levels = layers(steps, rank)
    put_in_order(levels)
    for level, found in zip(levels, [[], *map(nets, levels)], strict=False):
        for item in level:
            if not item.lane:
                entering = sum(item in net.targets for net in found)
                item.width = max(widest(texts[item.step]) + 4, 2 * entering + 1) | 1
    columns = put_in_columns(levels, gap)
    if columns > width:
        return None
    height = max(map(len, texts.values()))
    boxes = [_boxes(level, texts, height, final, columns) for level in levels]
    rows = list(boxes[0])
    for (upper, lower), (above, below) in zip(pairwise(levels), pairwise(boxes), strict=True):
        found = nets(upper)
        place_ports(found, lower)
        between = place_rows(found)
        if between is None:
            return None
        for net in found:
            for item, column in zip(net.sources, net.leaves, strict=True):
                above[-1][column] = "│" if item.lane else "╤" if item.step == final else "┬"
            for item, column in zip(net.targets, net.enters, strict=True):
                below[0][column] = "│" if item.lane else "▼"
        rows += [*draw(found, between, columns), *below]
    return ["".join(row).rstrip() for row in rows]


def _boxes(level: Sequence[GraphBox], texts: Texts, height: int, final: str | None, columns: int) -> list[list[str]]:
    rows = [[" "] * columns for _ in range(height + 2)]
    for item in level:
        if item.lane:
            for row in rows:
                row[item.column] = "│"
            continue
        corners, flat, side = ("╔╗╚╝", "═", "║") if item.step == final else ("┌┐└┘", "─", "│")
        left, inner = item.column - item.width // 2, item.width - 2
        _write(rows[0], left, corners[0] + flat * inner + corners[1])
        _write(rows[-1], left, corners[2] + flat * inner + corners[3])
        for row, text in zip(rows[1:-1], [*texts[item.step], *[""] * height], strict=False):
            _write(row, left, side + " " * inner + side)
            _write(row, left + 1 + (inner - cell_len(text)) // 2, text)
    return rows


def _write(row: list[str], column: int, text: str) -> None:
    """Cell by cell: a wide character empties the cell after it, a combining one shares the cell before it."""
    for character in text:
        cells = get_character_cell_size(character)
        if cells == 0:
            row[column - 1] += character
            continue
        row[column] = character
        if cells == 2:
            row[column + 1] = ""
        column += cells


def _listing(
    steps: Steps, rank: Mapping[str, int], names: Labels, notes: Labels, final: str | None, width: int
) -> list[str]:
    lines: list[str] = []
    order = list(steps)
    for step in sorted(steps, key=lambda step: (rank.get(step, 0), order.index(step))):
        indent = " " * min(2 * rank.get(step, 0), max(width // 3, 0))
        facts = [notes.get(step, ""), "final" if step == final else ""]
        about = ", ".join(fact for fact in facts if fact)
        heading = f"{names[step]} ({about})" if about else names[step]
        lines += _hanging(f"{indent}• ", heading, width)
        if steps[step]:
            lines += _hanging(
                f"{indent}  ", f"requires: {', '.join(names[required] for required in steps[step])}", width
            )
    return lines


def _hanging(lead: str, text: str, width: int) -> list[str]:
    first, *rest = wrap(text, width - len(lead))
    return [lead + first, *(" " * len(lead) + line for line in rest)]


def _escaped(text: str) -> str:
    """Letters, digits and harmless marks as they are, everything else as mermaid's entity codes."""
    return "".join(c if c.isalnum() or c in " .,-_/" else f"#{ord(c)};" for c in clean(text))
