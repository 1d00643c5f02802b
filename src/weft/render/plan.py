"""A plan in words: each step with run, skip or leave and the reason, then the notes and the sum.

`plan_text` is for pipes (`ideas: run, summary.json was edited by hand`), `plan_table` for a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.protocol.plans import Plan, PlanLine
from weft.render.cells import clean, pad, widest
from weft.render.page import group, page
from weft.render.signs import style

if TYPE_CHECKING:
    from rich.console import Group

_ONLY_IF: Final = "skipped if that yields the same bytes"


def plan_lines(plan: Plan) -> list[str]:
    lines = [clean(f"{line.step}: {line.action}, {_reason(line)}") for line in plan.lines]
    return [*lines, *(clean(f"note: {note}") for note in plan.notes), plan_summary(plan)]


def plan_text(plan: Plan) -> str:
    return "\n".join(plan_lines(plan))


def plan_summary(plan: Plan) -> str:
    """`2 to run, 1 up to date`."""
    actions = [line.action for line in plan.lines]
    run, skip, leave = actions.count("run"), actions.count("skip"), actions.count("leave")
    if not run and not leave:
        return f"nothing to run, {skip} up to date"
    parts = [f"{run} to run", f"{skip} up to date"] + ([f"{leave} not asked for"] if leave else [])
    return ", ".join(parts)


def plan_table(plan: Plan, width: int, *, ascii: bool = False) -> Group:
    """Reasons are what a plan is read for: they wrap in their column and are never cut."""
    sheet = page(width, ascii)
    names = min(widest(sheet.clean(line.step) for line in plan.lines), sheet.width // 3)
    indent = names + 13
    lines = [sheet.title(plan.pipeline, plan.session), sheet.line()]
    for line in plan.lines:
        bright = "" if line.action == "run" else "dim"
        step = pad(sheet.cut(sheet.clean(line.step), names), names)
        lead = [(f"  {sheet.signs.state(line.action)} ", style(line.action)), (step, bright)]
        lines += sheet.wrapped(_reason(line), indent, bright, lead=[*lead, (f"  {line.action}", style(line.action))])
    if plan.notes:
        lines.append(sheet.line())
        for note in plan.notes:
            lines += sheet.wrapped(f"note: {note}", 4, "yellow")
    return group([*lines, sheet.line(), sheet.line((f"  {plan_summary(plan)}", "bold"))])


def _reason(line: PlanLine) -> str:
    reason = line.reason or "no reason given"
    return f"{reason} ({_ONLY_IF})" if line.conditional else reason
