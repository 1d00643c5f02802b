"""`sessions list` and `sessions show`: a table on a terminal, tab-separated fields on a pipe.

A wide terminal gets one line a session; on a narrow one each takes two, since an id is there to be copied and is never
cut. On a pipe nothing is cut or made relative: the columns are the fields of `SessionRow` and `StepRow` in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Final

from weft.protocol.values import dataclass
from weft.render.cells import clean, pad, widest
from weft.render.page import Page, group, page
from weft.render.signs import style
from weft.render.units import count, human_ms, human_time

YOU: Final = "you"
"""Who said it, when it was no model."""

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    pipeline: str
    status: str
    steps_done: int
    steps_total: int
    updated: str
    note: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class StepRow:
    name: str
    status: str
    attempts: int = 0
    artifact: str = ""
    ms: int | None = None
    message: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SessionPage:
    id: str
    pipeline: str
    status: str
    created: str
    updated: str
    steps: Sequence[StepRow] = ()
    folder: str = ""
    notes: Sequence[str] = ()
    title: str = ""
    works_in: str = ""
    """Where the tools of its conversation worked last."""
    said: Sequence[tuple[str, str]] = ()
    """Its conversation: who (`you`, or the model) and what, the oldest first."""


def sessions_text(rows: Sequence[SessionRow]) -> str:
    return "\n".join(_tabbed(astuple(row)) for row in rows)


def session_text(content: SessionPage) -> str:
    """A line per field (`status<tab>done`), then a line per step that begins with the word `step`."""
    fields = ("id", "pipeline", "status", "created", "updated", "folder")
    lines = [_tabbed((field, getattr(content, field))) for field in fields]
    lines += [_tabbed((field, told)) for field in ("title", "works_in") if (told := getattr(content, field))]
    lines += [_tabbed(("note", note)) for note in content.notes]
    lines += [_tabbed(("step", *astuple(step))) for step in content.steps]
    return "\n".join([*lines, *(_tabbed(("said", who, text)) for who, text in content.said)])


def sessions_table(rows: Sequence[SessionRow], width: int, now_iso: str, *, ascii: bool = False) -> Group:
    sheet = page(width, ascii)
    cells = [_cells(row, sheet, now_iso) for row in rows]
    widths = [widest(column) for column in zip(*cells, strict=True)]
    if 4 + sum(widths) + 2 * (len(widths) - 1) > sheet.width:
        return group([line for row in rows for line in _stacked(row, sheet, now_iso)])
    lines: list[Text] = []
    for row, texts in zip(rows, cells, strict=True):
        looks = ("bold", "dim", style(row.status), "", "dim")
        padded = [pad(text, width) + "  " for text, width in zip(texts, widths, strict=True)]
        padded[-1] = texts[-1]
        lines.append(sheet.line(_sign(row.status, sheet), *zip(padded, looks, strict=True)))
        lines += _note(row, sheet)
    return group(lines)


def session_screen(
    content: SessionPage, width: int, now_iso: str, program: str = "weft", *, ascii: bool = False
) -> Group:
    sheet = page(width, ascii)
    when = f"created {human_time(content.created, now_iso)}, updated {human_time(content.updated, now_iso)}"
    lines = sheet.folded(content.id, 0, "bold")
    if content.title:
        lines += sheet.wrapped(content.title, 0)
    status, what = content.status.replace("_", " "), content.pipeline or "conversation"
    lines.append(sheet.line((status, style(content.status)), (f" {sheet.signs.dot} {what}", "dim")))
    lines += sheet.wrapped(when, 0, "dim")
    if content.works_in:
        lines += sheet.folded(content.works_in, 9, "dim", lead=[("works in ", "dim")])
    if content.folder:
        lines += sheet.folded(content.folder, 0, "dim")
    lines.append(sheet.line())
    names = min(widest(sheet.clean(step.name) for step in content.steps), sheet.width // 3)
    for step in content.steps:
        lines += _step(step, names, sheet)
    for note in content.notes:
        lines += [sheet.line(), *sheet.wrapped(f"note: {note}", 4, "yellow")]
    if content.status in ("failed", "interrupted") and content.steps:
        lines += [sheet.line(), *sheet.wrapped("What is finished is kept. Go on with:", 4)]
        lines += sheet.wrapped(f"{program} run --session-id {content.id}", 6, "bold")
    return group(lines)


def _step(step: StepRow, names: int, sheet: Page) -> list[Text]:
    dot = f" {sheet.signs.dot} "
    facts = [step.status.replace("_", " "), step.artifact, count(step.attempts, "attempt") if step.attempts > 1 else ""]
    head = sheet.line(
        _sign(step.status, sheet),
        (pad(sheet.cut(sheet.clean(step.name), names), names) + "  ", ""),
        (dot.join(fact for fact in facts if fact), "dim"),
        right=("" if step.ms is None else human_ms(step.ms), "dim"),
    )
    lines = [head]
    if step.reason:
        lines += sheet.wrapped(f"why: {step.reason}", 4, "dim")
    if step.message:
        lines += sheet.wrapped(step.message, 4, style(step.status), most=12)
    return lines


def _cells(row: SessionRow, sheet: Page, now_iso: str) -> list[str]:
    steps = f"{row.steps_done} of {count(row.steps_total, 'step')}" if row.steps_total else ""
    texts = (
        row.id,
        row.pipeline or "conversation",
        row.status.replace("_", " "),
        steps,
        human_time(row.updated, now_iso),
    )
    return [sheet.clean(text) for text in texts]


def _stacked(row: SessionRow, sheet: Page, now_iso: str) -> list[Text]:
    name, pipeline, status, steps, updated = _cells(row, sheet, now_iso)
    facts = f" {sheet.signs.dot} ".join(fact for fact in (status, steps, pipeline, updated) if fact)
    head = sheet.folded(name, 4, "bold", lead=[_sign(row.status, sheet)])
    return [*head, *sheet.wrapped(facts, 4, "dim"), *_note(row, sheet)]


def _note(row: SessionRow, sheet: Page) -> list[Text]:
    title = sheet.wrapped(row.title, 4) if row.title and row.title != row.id else []
    return [*title, *(sheet.wrapped(row.note, 4, "yellow") if row.note else [])]


def _sign(status: str, sheet: Page) -> tuple[str, str]:
    return f"  {sheet.signs.state(status)} ", style(status)


def _tabbed(fields: Sequence[object]) -> str:
    return "\t".join("" if field is None else clean(str(field)) for field in fields)
