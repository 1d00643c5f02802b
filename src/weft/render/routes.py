"""Lines between two layers of a picture. Every line says exactly what depends on what, and can be followed by eye.

Sources with the same targets form one *net*: their lines join on one rail and branch from it, which means "each of
these leads to each of those". Different nets never touch: each has a rail on a row of its own, each box a separate port
for every net that enters it, and where two lines cross the upright one runs through (`─│─`). A `┼` is always a joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

from weft.protocol.values import dataclass
from weft.render.layout import GraphBox

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES: Final = {3: "│", 12: "─", 5: "┘", 9: "└", 6: "┐", 10: "┌", 7: "┤", 11: "├", 13: "┴", 14: "┬", 15: "┼"}
_ILLEGAL: Final = 1000


@dataclass(slots=True, eq=False)
class Net:
    sources: list[GraphBox]
    targets: list[GraphBox]
    leaves: list[int] = field(default_factory=list)
    """The column under each source."""
    enters: list[int] = field(default_factory=list)
    """The column over each target."""
    row: int = 0

    @property
    def span(self) -> range:
        columns = self.leaves + self.enters
        return range(min(columns), max(columns) + 1)

    @property
    def straight(self) -> bool:
        return len(self.span) == 1


def nets(upper: Sequence[GraphBox]) -> list[Net]:
    """The lines that leave a layer, as few nets as possible."""
    groups: dict[frozenset[GraphBox], Net] = {}
    for item in upper:
        if item.below:
            net = groups.setdefault(frozenset(item.below), Net([], item.below))
            net.sources.append(item)
    return list(groups.values())


def place_ports(found: Sequence[Net], lower: Sequence[GraphBox]) -> None:
    """Choose the columns: in the middle where one line meets a box, side by side in the order of their sources else."""
    for net in found:
        net.leaves = [item.column for item in net.sources]
    entering = {item: sorted((net for net in found if item in net.targets), key=_middle) for item in lower}
    for net in found:
        net.enters = [_port(item, entering[item].index(net), len(entering[item])) for item in net.targets]
    for net in found:
        _straighten(net, found)


def place_rows(found: Sequence[Net]) -> int | None:
    """Give each rail a row so that few lines cross and none covers another; None when that can't be."""
    order: list[Net] = []
    for net in found:
        if not net.straight:
            costs = [_cost([*order[:place], net, *order[place:]]) for place in range(len(order) + 1)]
            order.insert(costs.index(min(costs)), net)
    if _cost(order) >= _ILLEGAL:
        return None
    for place, net in enumerate(order):
        above = [other for other in order[:place] if _meet(other, net)]
        net.row = max((other.row + 1 for other in above), default=0)
    return max((net.row + 1 for net in order), default=1)


def draw(found: Sequence[Net], rows: int, width: int) -> list[list[str]]:
    """The rows between the two layers."""
    canvas = [[" "] * width for _ in range(rows)]
    for net in found:
        for (row, column), line in _cells(net, rows).items():
            # The only cell two nets can share is a crossing, and there the upright line runs through.
            canvas[row][column] = _LINES[line] if canvas[row][column] == " " else "│"
    return canvas


def _cells(net: Net, rows: int) -> dict[tuple[int, int], int]:
    cells: dict[tuple[int, int], int] = {}

    def add(row: int, column: int, line: int) -> None:
        cells[row, column] = cells.get((row, column), 0) | line

    for column in net.leaves:
        for row in range(net.row):
            add(row, column, _UP | _DOWN)
        add(net.row, column, _UP)
    for column in net.enters:
        add(net.row, column, _DOWN)
        for row in range(net.row + 1, rows):
            add(row, column, _UP | _DOWN)
    for column in net.span[:-1]:
        add(net.row, column, _RIGHT)
        add(net.row, column + 1, _LEFT)
    return cells


def _port(item: GraphBox, place: int, total: int) -> int:
    step = 4 if item.width - 2 > 4 * (total - 1) else 2
    return item.column + (2 * place - (total - 1)) * step // 2


def _straighten(net: Net, found: Sequence[Net]) -> None:
    """A single line with a small jog becomes straight when its box has room to let it out a little aside."""
    if len(net.leaves) != 1 or len(net.enters) != 1 or net.sources[0].lane:
        return
    source, column = net.sources[0], net.enters[0]
    if abs(column - source.column) <= source.width // 4 and _free(column, net, found):
        net.leaves = [column]


def _free(column: int, net: Net, found: Sequence[Net]) -> bool:
    return all(column not in other.leaves + other.enters for other in found if other is not net)


def _middle(net: Net) -> float:
    return sum(net.leaves) / len(net.leaves)


def _cost(order: Sequence[Net]) -> int:
    return sum(_crossings(upper, lower) for i, upper in enumerate(order) for lower in order[i + 1 :])


def _crossings(upper: Net, lower: Net) -> int:
    """How often two nets cross when the first has its rail above the second's."""
    if set(upper.enters) & set(lower.leaves):
        return _ILLEGAL
    return sum(column in upper.span for column in lower.leaves) + sum(column in lower.span for column in upper.enters)


def _meet(upper: Net, lower: Net) -> bool:
    """Whether their rails would touch on one row, or an upright line of one would run into the other's rail."""
    close = upper.span.start <= lower.span.stop and lower.span.start <= upper.span.stop
    return close or bool(set(upper.leaves) & set(lower.enters))
