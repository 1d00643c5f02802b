"""What differs between two texts, line by line, in time that grows with them.

`difflib` alone takes the cube of the length for texts made to be trouble: minutes for 4,000 lines. Here lines that both
have once hold the two together first, and it is asked only about what stands between them, as long as that is little;
where it is not, all of it counts as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Final

_WORK: Final = 5_000_000
"""How often equal lines may be looked at for one comparison: about a second."""
_CONTEXT: Final = 3


def unified_lines(before: Sequence[str], after: Sequence[str], first: str, second: str) -> Iterator[str]:
    """The lines of a unified difference; none when nothing differs."""
    groups = line_matcher(before, after).get_grouped_opcodes(_CONTEXT)
    for number, group in enumerate(groups):
        if not number:
            yield from (f"--- {first}", f"+++ {second}")
        begins, ends = group[0], group[-1]
        yield f"@@ -{_range(begins[1], ends[2])} +{_range(begins[3], ends[4])} @@"
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from (f" {line}" for line in before[a:b])
                continue
            yield from (f"-{line}" for line in before[a:b])
            yield from (f"+{line}" for line in after[c:d])


def line_matcher(before: Sequence[str], after: Sequence[str]) -> SequenceMatcher[str]:
    """As `difflib` has it, bounded."""
    return _Bounded(before, after)


def _range(begin: int, end: int) -> str:
    length = end - begin
    if length == 1:
        return str(begin + 1)
    return f"{begin + 1 if length else begin},{length}"


class _Bounded(SequenceMatcher[str]):
    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after, autojunk=False)
        self._texts = before, after

    def get_matching_blocks(self) -> list[Match]:
        a, b = self._texts
        blocks: list[Match] = []
        work, place_a, place_b = _WORK, 0, 0
        for next_a, next_b in [*_held_together(a, b), (len(a), len(b))]:
            between_a, between_b = a[place_a:next_a], b[place_b:next_b]
            there = Counter(between_b)
            cost = sum(there[line] for line in between_a) * min(len(between_a), len(between_b))
            if cost <= work:
                work -= cost
                found = SequenceMatcher(None, between_a, between_b, autojunk=False).get_matching_blocks()
                blocks += [Match(place_a + one.a, place_b + one.b, one.size) for one in found if one.size]
            if next_a < len(a):
                blocks.append(Match(next_a, next_b, 1))
            place_a, place_b = next_a + 1, next_b + 1
        return [*_joined(blocks), Match(len(a), len(b), 0)]


def _held_together(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Equal beginnings and ends, and the longest row of lines that each of the two has once, in the same order."""
    least = min(len(a), len(b))
    head = next((at for at in range(least) if a[at] != b[at]), least)
    tail = next((at for at in range(least - head) if a[-1 - at] != b[-1 - at]), least - head)
    where: dict[str, int] = {}
    how_often = Counter(a[head : len(a) - tail])
    for at in range(head, len(b) - tail):
        where[b[at]] = -1 if b[at] in where else at
    ends: list[int] = []
    """For each length of a row, the line of `b` that the earliest one ends with; `last` is its entry in `found`."""
    last: list[int] = []
    found: list[tuple[int, int, int]] = []
    """Line of `a`, of `b`, and the entry before it in its row."""
    for at in range(head, len(a) - tail):
        there = where.get(a[at], -1)
        if there < 0 or how_often[a[at]] != 1:
            continue
        length = bisect_left(ends, there)
        found.append((at, there, last[length - 1] if length else -1))
        ends[length : length + 1] = [there]
        last[length : length + 1] = [len(found) - 1]
    middle: list[tuple[int, int]] = []
    entry = last[-1] if last else -1
    while entry >= 0:
        one, other, entry = found[entry]
        middle.append((one, other))
    at_end = ((len(a) - tail + at, len(b) - tail + at) for at in range(tail))
    return [*((at, at) for at in range(head)), *reversed(middle), *at_end]


def _joined(blocks: Sequence[Match]) -> Iterator[Match]:
    """Blocks that follow each other without a gap are one."""
    going: Match | None = None
    for one in blocks:
        if going and (going.a + going.size, going.b + going.size) == (one.a, one.b):
            going = Match(going.a, going.b, going.size + one.size)
            continue
        if going:
            yield going
        going = one
    if going:
        yield going
