"""`weft cost`: a table on a terminal, tab-separated fields on a pipe. A price that is not known is never shown as 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from rich.console import Group
from rich.text import Text

from weft.protocol.values import dataclass
from weft.render.cells import clean, pad, widest
from weft.render.page import Page, group, page
from weft.render.units import count


@dataclass(frozen=True, slots=True)
class CostRow:
    """The columns on a pipe, in order. `usd` is what is known, "unknown" when nothing is; `cost` says it in words."""

    name: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    usd: str
    unpriced: int
    cost: str
    saved: float = 0.0
    """US dollars that providers' caches saved."""


def cost_text(rows: Sequence[CostRow]) -> str:
    return "\n".join("\t".join(clean(str(field)) for field in astuple(row)[:-2]) for row in rows)


def cost_table(rows: Sequence[CostRow], width: int, *, ascii: bool = False) -> Group:
    """The last row is the sum."""
    sheet = page(width, ascii)
    names = widest(sheet.clean(row.name) for row in rows)
    facts = [_facts(row, sheet) for row in rows]
    costs = widest(row.cost for row in rows)
    wide = names + 2 + widest(facts) + 2 + costs <= sheet.width
    lines: list[Text] = []
    for row, fact in zip(rows, facts, strict=True):
        last = row is rows[-1]
        if last and len(rows) > 1:
            lines.append(Text())
        look = "bold" if last else ""
        if wide:
            name = pad(sheet.clean(row.name), names) + "  "
            lines.append(sheet.line((name, look), (fact, "dim"), right=(row.cost, look)))
        else:
            lines += sheet.folded(row.name, 0, look)
            lines += sheet.wrapped(row.cost, 2, look)
            lines += sheet.wrapped(fact, 2, "dim")
    return group(lines)


def _facts(row: CostRow, sheet: Page) -> str:
    parts = [count(row.calls, "call"), f"{short(row.input)} in, {short(row.output)} out"]
    if row.cache_read:
        parts.append(f"{short(row.cache_read)} from the cache")
    if row.cache_write:
        parts.append(f"{short(row.cache_write)} into the cache")
    if row.saved > 0:
        parts.append(f"${row.saved:.4f} saved by it")
    if row.reasoning:
        parts.append(f"{short(row.reasoning)} thinking")
    return f" {sheet.signs.dot} ".join(parts)


def short(tokens: int) -> str:
    """`812`, `34.1k`, `2.3M`."""
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1_000:.1f}k" if tokens < 999_950 else f"{tokens / 1_000_000:.1f}M"
