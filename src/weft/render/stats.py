"""`weft stats`: what came of steps over many runs, as a table; tab-separated fields on a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.protocol.values import dataclass
from weft.render.cells import clean, pad, widest
from weft.render.cost import short
from weft.render.units import human_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsRow:
    """A step in a period; a pipeline as a whole when `step` is ""."""

    pipeline: str
    step: str
    period: str
    model: str
    runs: int
    outcomes: Mapping[str, int]
    made: int
    first_share: float | None
    failed: int
    repairs: int
    findings: Mapping[str, int]
    ms: int | None
    calls: int
    tokens: int
    cost: str
    claims: Mapping[str, int]


HEAD = ("", "runs", "made", "first try", "failed", "repairs", "findings", "time", "tokens", "cost", "claims")


def stats_text(rows: Sequence[StatsRow]) -> str:
    """One line a row: pipeline, step, period, model, then the columns of the table."""
    return "\n".join(
        "\t".join(clean(cell) for cell in (row.pipeline, row.step, row.period, row.model, *_cells(row)[1:]))
        for row in rows
    )


def stats_table(rows: Sequence[StatsRow]) -> str:
    lines = [_cells(row) for row in rows]
    used = [at for at in range(len(HEAD)) if at < 4 or any(line[at] for line in lines)]
    table = [HEAD, *lines]
    widths = [widest(clean(line[at]) for line in table) for at in used]
    out = []
    for line in table:
        cells = [pad(clean(line[at]), width) for at, width in zip(used, widths, strict=True)]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def _cells(row: StatsRow) -> tuple[str, ...]:
    name = row.pipeline if not row.step else f"  {row.step}"
    name = " ".join(filter(None, (name, row.period, row.model)))
    share = "" if row.first_share is None else f"{row.first_share:.0%}"
    runs = f"{row.runs}" if row.step else f"{row.runs}: {_counts(row.outcomes)}" if row.outcomes else f"{row.runs}"
    return (
        name,
        runs,
        _number(row.made),
        share,
        _number(row.failed),
        _number(row.repairs),
        _counts(row.findings),
        "" if row.ms is None else human_ms(row.ms),
        short(row.tokens) if row.tokens else "",
        row.cost if row.calls else "",
        _shares(row.claims),
    )


def _number(number: int) -> str:
    return str(number) if number else ""


def _counts(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in most)


def _shares(claims: Mapping[str, int]) -> str:
    whole = sum(claims.values())
    return ", ".join(f"{number / whole:.0%} {name.replace('_', ' ')}" for name, number in claims.items() if number)
