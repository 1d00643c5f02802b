"""The end of a run on a screen: how it ended, where the result is, and what to do next.

Paths are one line each, commands are broken where they must be, and neither is cut: they are there to be copied.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.protocol.events import GateOpened
from weft.render.flow import STEP_BUDGET, gate_lines, gate_title, is_of_step, more_budget
from weft.render.page import Page
from weft.render.signs import style
from weft.render.units import human_seconds
from weft.render.view import RunView

if TYPE_CHECKING:
    from rich.text import Text

_MOST_ERROR_LINES = 8
_MOST_SHOWN_LINES = 8
"""Of one value at a gate; the file has all of it."""
_INTERRUPTED = "interrupted"


def outcome_lines(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    if view.outcome == "done":
        return _done(view, now, sheet, program)
    if view.outcome == "failed":
        return _failed(view, now, sheet, program)
    if view.outcome == "waiting":
        return _waiting(view, now, sheet, program)
    if view.outcome in ("left", "cancelled", "over_budget", "asleep"):
        return _at_rest(view, now, sheet, program)
    return _interrupted(view, now, sheet, program)


def result_paths(view: RunView) -> list[str]:
    """Where the artifacts of the desired step are."""
    return [os.path.join(view.folder, name) for name in view.files(view.desired)]


def _done(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    states = [step.state for step in view.steps.values()]
    ran, skipped = states.count("done"), states.count("skipped")
    made = f"{ran} ran, {skipped} skipped" if ran else "everything was up to date"
    lines = [_headline(view, now, sheet, "Done in", f" {sheet.signs.dot} {made}")]
    lines += _message(view, sheet)
    paths = result_paths(view)
    for path in paths:
        lines += sheet.path(path, 4, "bold")
    if any(path.endswith(".html") for path in paths):
        lines += sheet.wrapped(f"{program} open {view.session}", 4)
    return lines


def _failed(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    lines = [_headline(view, now, sheet, "Failed after")]
    failed = [step for step in view.steps.values() if step.state == "failed"]
    for step in failed:
        lines += sheet.wrapped(f"{step.name}: {step.message}", 4, "red", most=_MOST_ERROR_LINES)
    if not any(step.name in view.message for step in failed):
        lines += _message(view, sheet)
    lines += [sheet.line(), *sheet.wrapped("What is finished is kept. Try again:", 4)]
    lines += sheet.wrapped(f"{program} run --session-id {view.session}", 6, "bold")
    lines += sheet.wrapped("Every attempt with its errors:", 4)
    return lines + sheet.wrapped(f"{program} sessions log {view.session}", 6, "bold")


def _waiting(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    """What is asked. How to answer is for whoever does not sit in front of it."""
    lines = [_headline(view, now, sheet, "Waits for you after")]
    if view.asks_here:
        return lines
    for gate in view.gates.values():
        lines += [sheet.line(), *gate_page(gate, view.folder, view.files(gate.step), sheet)]
    if not view.gates:
        lines += _message(view, sheet)
    several = " --gate GATE" if len(view.gates) > 1 else ""
    lines += [sheet.line(), *sheet.wrapped("Nothing goes on until you reply:", 4)]
    return lines + sheet.wrapped(f"{program} reply {view.session}{several} proceed", 6, "bold")


def _at_rest(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    words = {
        "left": "Left after",
        "cancelled": "Cancelled after",
        "over_budget": "Over its budget after",
        "asleep": "Asleep after",
    }
    lines = [_headline(view, now, sheet, words.get(view.outcome or "", "")), *_message(view, sheet)]
    if view.outcome == "cancelled":
        return lines
    of_step = view.outcome == "over_budget" and is_of_step(view.message)
    more = f" {more_budget(view.message)}" if view.outcome == "over_budget" and not of_step else ""
    how = f"Nothing is lost: {STEP_BUDGET}, then:" if of_step else "Nothing is lost. Take it up again with:"
    if view.outcome == "asleep":
        how = "It goes on then by itself under weft serve, or with:"
    lines += sheet.wrapped(how, 4)
    return lines + sheet.wrapped(f"{program} run --session-id {view.session}{more}", 6, "bold")


def gate_page(gate: GateOpened, folder: str, artifacts: Sequence[str], sheet: Page) -> list[Text]:
    """A gate as it is asked: the question, what is to be looked at, the choices by number, where the file is."""
    lines = [sheet.line((f"  ? {gate_title(gate)}", "bold yellow"), (f"  {gate.gate}", "dim"))]
    for line in gate_lines(gate):
        bare = line.lstrip()
        number = bare.partition(" ")[0] if bare.partition(" ")[0].isdecimal() else ""
        lines += sheet.wrapped(bare, len(line) - len(bare) + 2, "bold" if number else "", most=_MOST_SHOWN_LINES)
    for name in artifacts:
        lines += sheet.path(os.path.join(folder, name), 4, "dim")
    return lines


def _interrupted(view: RunView, now: float, sheet: Page, program: str) -> list[Text]:
    if view.message.startswith(_INTERRUPTED):
        lines = [_headline(view, now, sheet, "Interrupted after", view.message.removeprefix(_INTERRUPTED))]
    else:
        lines = [_headline(view, now, sheet, "Interrupted after"), *_message(view, sheet)]
    lines += sheet.wrapped("Nothing is lost. Continue with:", 4)
    return lines + sheet.wrapped(f"{program} run --session-id {view.session}", 6, "bold")


def _headline(view: RunView, now: float, sheet: Page, words: str, more: str = "") -> Text:
    state = view.outcome or ""
    sign, look = sheet.signs.state(state), style(state) if state in ("done", "failed", "interrupted") else "yellow"
    return sheet.line((f"  {sign} {words} {human_seconds(view.elapsed(now))}", f"bold {look}"), (more, "dim"))


def _message(view: RunView, sheet: Page) -> list[Text]:
    return sheet.wrapped(view.message, 4, most=_MOST_ERROR_LINES) if view.message else []
