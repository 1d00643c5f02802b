"""Many documents at once: one line each while they are worked on, and a table of what became of them at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Group
from rich.text import Text

from weft.protocol.values import dataclass
from weft.render.cells import clean, pad, widest
from weft.render.page import Page, group, page
from weft.render.signs import style
from weft.render.units import count, human_seconds
from weft.render.view import RunView

DocumentState = Literal[
    "waiting",
    "running",
    "done",
    "skipped",
    "failed",
    "interrupted",
    "at a gate",
    "over budget",
    "asleep",
    "cancelled",
    "left",
]
_ORDER: tuple[DocumentState, ...] = (
    "running", "at a gate", "over budget", "asleep", "failed", "interrupted", "left", "cancelled", "waiting", "done",
    "skipped",
)  # fmt: skip
"""What a person needs most when not everything fits."""


@dataclass(slots=True)
class DocumentView:
    """One document of a batch as it stands. `run` is there from the moment its session is open."""

    name: str
    state: DocumentState = "waiting"
    run: RunView | None = None
    message: str = ""
    started: float | None = None
    ended: float | None = None

    @property
    def session(self) -> str:
        return self.run.session if self.run else ""

    def seconds(self, now: float) -> float | None:
        return None if self.started is None else (now if self.ended is None else self.ended) - self.started

    def finished(self, outcome: DocumentState, now: float, message: str = "") -> None:
        steps = self.run.steps.values() if self.run else ()
        idle = outcome == "done" and all(step.state != "done" for step in steps)
        self.state, self.ended, self.message = ("skipped" if idle else outcome), now, message

    def told(self) -> str:
        """What it is doing, or what became of it, in a few words."""
        if self.state == "running" and self.run:
            finished = sum(step.state in ("done", "skipped") for step in self.run.steps.values())
            at_work = [step.name for step in self.run.steps.values() if step.state == "running"]
            total = f"{finished} of {len(self.run.steps)}" if self.run.steps else ""
            return "  ".join(part for part in (total, ", ".join(at_work)) if part) or "opening"
        if self.state == "done" and self.run:
            ran = sum(step.state == "done" for step in self.run.steps.values())
            return f"done, {count(ran, 'step')} run"
        if self.state == "skipped":
            return "up to date"
        said = "; ".join(line.strip() for line in self.message.splitlines() if line.strip())
        return f"{self.state}: {said}" if said else self.state


def batch_lines(
    documents: Sequence[DocumentView], now: float, width: int, height: int, *, ascii: bool = False
) -> Group:
    """The screen while it goes on: a line for each document, as many as fit, and how far all of them are."""
    sheet = page(width, ascii)
    room = max(1, height - 2)
    shown = list(documents)
    if len(shown) > room:
        needed = sorted(documents, key=lambda document: _ORDER.index(document.state))[: max(1, room - 1)]
        shown = [document for document in documents if any(document is one for one in needed)]
    names = min(widest(sheet.clean(document.name) for document in documents), sheet.width // 2)
    lines = [_line(document, names, now, sheet) for document in shown]
    if hidden := len(documents) - len(shown):
        lines.append(sheet.line((f"  {sheet.signs.ellipsis} {count(hidden, 'more document')}", "dim")))
    return group([sheet.line((_totals(documents), "bold")), Text(), *lines])


def batch_table(documents: Sequence[DocumentView], now: float, width: int, *, ascii: bool = False) -> Group:
    """What became of each, with the session it is in and the whole of what went wrong."""
    sheet = page(width, ascii)
    names = min(widest(sheet.clean(document.name) for document in documents), sheet.width // 2)
    lines: list[Text] = []
    for document in documents:
        lines.append(_line(document, names, now, sheet, brief=True))
        if document.message:
            lines += sheet.wrapped(document.message, 6, style(document.state), most=6)
        if document.session:
            lines += sheet.folded(document.session, 6, "dim")
    return group([*lines, Text(), sheet.line((_totals(documents), "bold"))])


def batch_text(documents: Sequence[DocumentView], now: float) -> str:
    """The same for a pipe or a file: a line for each, then the sum."""
    names = widest(clean(document.name) for document in documents)
    sessions = widest(document.session for document in documents)
    lines = []
    for document in documents:
        seconds = document.seconds(now)
        took = human_seconds(seconds) if seconds is not None else "-"
        told = clean(document.told())
        lines.append(f"{pad(clean(document.name), names)}  {pad(document.session or '-', sessions)}  {took:>8}  {told}")
    return "\n".join([*lines, _totals(documents)])


def _line(document: DocumentView, names: int, now: float, sheet: Page, *, brief: bool = False) -> Text:
    sign = sheet.signs.spin(now) if document.state == "running" else sheet.signs.state(document.state)
    seconds = document.seconds(now)
    told = document.state if brief and document.message else document.told()
    return sheet.line(
        (f"  {sign} ", style(document.state)),
        (pad(sheet.cut(sheet.clean(document.name), names), names), ""),
        ("  ", ""),
        (told, style(document.state) if document.state in ("failed", "interrupted") else "dim"),
        right=(human_seconds(seconds) if seconds is not None else "", "dim"),
    )


def _totals(documents: Sequence[DocumentView]) -> str:
    words = {"done": "done", "skipped": "up to date", "failed": "failed", "interrupted": "interrupted"}
    found = {word: sum(document.state == state for document in documents) for state, word in words.items()}
    left = len(documents) - sum(found.values())
    parts = [f"{number} {word}" for word, number in found.items() if number]
    parts += [f"{left} to go"] if left else []
    return f"{count(len(documents), 'document')}: {', '.join(parts)}"
