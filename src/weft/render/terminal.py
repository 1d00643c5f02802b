"""The live view of a run: a header, a line for each step with its findings and artifacts under it, notices, an end.

`live` draws the whole screen from a `RunView` each time; the face calls it some ten times a second. Long texts are cut
or wrapped to the width. When `height` is given and the run has more to say than fits, what is finished folds first,
then what waits: the steps at work and their errors are the last to go.
"""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from weft.protocol.plans import NOT_YET_MADE
from weft.render.calls import Price, calls_block, spent_parts
from weft.render.cells import pad, widest
from weft.render.flow import gate_lines, gate_waits
from weft.render.outcome import outcome_lines
from weft.render.page import Page, group, page
from weft.render.signs import style
from weft.render.units import count, human_ms, human_seconds
from weft.render.view import RunView, StepView

MOST_FINDINGS = 5
MOST_NOTICES = 5
MOST_GATE_LINES = 12
NARROW = 90
PASSED_OVER = "passed over"
"""What was skipped because its condition does not hold says so by itself."""
_INDENT = 6

StepBlock = tuple[StepView, list[Text]]


def live(
    view: RunView,
    now: float,
    width: int,
    *,
    ascii: bool = False,
    height: int | None = None,
    program: str = "weft",
    price: Price | None = None,
) -> Group:
    """The screen at this moment. `program` is how the commands it proposes begin (`weft --workspace …`).

    The last screen of a run is best drawn without a `height`: it stays in the terminal's history.
    """
    sheet = page(width, ascii)
    head = [_header(view, now, sheet, price), Text()]
    names = min(widest(sheet.clean(name) for name in view.steps), sheet.width // 3)
    blocks: list[StepBlock] = [(step, _block(view, step, now, names, sheet, price)) for step in view.steps.values()]
    tail = _notices(view, sheet)
    if view.outcome is None:
        tail += _gates(view, sheet)
    if view.outcome is not None:
        tail += [Text(), *outcome_lines(view, now, sheet, program)]
    if height is None:
        return group(head + [line for _, block in blocks for line in block] + tail)
    folded = _fold_blocks(blocks, height - len(head) - len(tail), sheet)
    return group((head + [line for block in folded for line in block] + tail)[: max(height, 1)])


def _header(view: RunView, now: float, sheet: Page, price: Price | None) -> Text:
    finished = sum(step.state in ("done", "skipped") for step in view.steps.values())
    clock = f"{finished} of {count(len(view.steps), 'step')}" if view.steps else ""
    if view.started is not None:
        clock += (f" {sheet.signs.dot} " if clock else "") + human_seconds(view.elapsed(now))
    spent = [one for step in view.steps.values() for one in step.spent]
    clock += "".join(f" {sheet.signs.dot} {part}" for part in spent_parts(spent, price, short=sheet.width < NARROW))
    return sheet.title(view.pipeline or "weft", view.session, clock)


def _block(view: RunView, step: StepView, now: float, names: int, sheet: Page, price: Price | None) -> list[Text]:
    sign = sheet.signs.spin(now) if step.state == "running" else sheet.signs.state(step.state)
    look = style(step.state)
    name = pad(sheet.cut(sheet.clean(step.name), names), names)
    lines = [
        sheet.line(
            (f"  {sign} ", look),
            (name, "" if step.state in ("running", "done") else look),
            ("  ", ""),
            (_detail(view, step, sheet), look if step.state in ("failed", "interrupted") else "dim"),
            right=(_figures(step, now, sheet, price), "dim"),
        )
    ]
    if step.state == "running":
        lines += calls_block(step.calls, now, _INDENT - 2, sheet, price)
    if step.state in ("running", "waiting", "failed", "interrupted") and step.findings:
        lines += _findings(step, sheet)
    if step.state == "done" and step.artifacts:
        lines += sheet.wrapped(", ".join(step.artifacts), _INDENT, "dim", lead=[(f"    {sheet.signs.arrow} ", "dim")])
    return lines


def _detail(view: RunView, step: StepView, sheet: Page) -> str:
    """What the step is doing, or why it did what it did."""
    if step.state == "running":
        before = f"after: {step.message}" if step.message and not step.findings else step.reason
        text = step.progress or before
    elif step.state == "waiting" and step.message:
        text = f"tries again, {step.message}"
    elif step.state == "waiting":
        text = {None: "waiting", "done": "not asked for"}.get(view.outcome, "not run")
    else:
        word = "ran" if step.state == "done" else step.state
        why = step.reason if step.state in ("done", "skipped") else step.message
        why = "first time" if step.state == "done" and why == NOT_YET_MADE else why
        text = why if why.startswith((word, PASSED_OVER)) else f"{word}: {why}" if why else word
    return f"attempt {step.attempt} {sheet.signs.dot} {text}" if step.tries_in_run > 1 else text


def _figures(step: StepView, now: float, sheet: Page, price: Price | None) -> str:
    """What a finished step took; while it runs its calls say it."""
    ended = step.state in ("done", "failed", "interrupted")
    spent = spent_parts(step.spent, price, short=sheet.width < NARROW) if ended else []
    return f" {sheet.signs.dot} ".join(filter(None, [*spent, _time(step, now)]))


def _time(step: StepView, now: float) -> str:
    if step.state == "running" and step.started is not None:
        return human_seconds(now - step.started)
    shown = step.state in ("done", "failed", "interrupted") and step.ms is not None
    return human_ms(step.ms or 0) if shown else ""


def _findings(step: StepView, sheet: Page) -> list[Text]:
    look = "red" if step.state == "failed" else "yellow"
    lines = sheet.wrapped(f"attempt {step.rejected_attempt} was rejected", _INDENT - 2, "dim")
    sign = [(f"    {sheet.signs.state('failed')} ", look)]
    for finding in step.findings[:MOST_FINDINGS]:
        lines += sheet.wrapped(str(finding), _INDENT, look, lead=sign, most=4)
        if finding.hint:
            lines += sheet.wrapped(f"hint: {finding.hint}", _INDENT, most=4)
    more = len(step.findings) - MOST_FINDINGS
    return lines + (sheet.wrapped(f"and {more} more", _INDENT, "dim") if more > 0 else [])


def _gates(view: RunView, sheet: Page) -> list[Text]:
    """Those that are open while other steps still run; at the end of a run they are part of how it ended."""
    lines: list[Text] = []
    for gate in view.gates.values():
        lines += [
            Text(),
            sheet.line((f"  ? {gate_waits(gate)}", "yellow"), (f"  {gate.gate}", "dim")),
        ]
        for line in gate_lines(gate)[:MOST_GATE_LINES]:
            bare = line.lstrip()
            lines += sheet.wrapped(bare, len(line) - len(bare) + 2, most=2)
    return lines


def _notices(view: RunView, sheet: Page) -> list[Text]:
    if not view.notices:
        return []
    lines = [Text()]
    earlier = len(view.notices) - MOST_NOTICES
    if earlier > 0:
        lines += sheet.wrapped(f"{count(earlier, 'earlier notice')}", 4, "dim")
    for notice in view.notices[-MOST_NOTICES:]:
        lines += sheet.wrapped(f"note: {notice}", 4, "yellow", most=4)
    return lines


def _fold_blocks(blocks: list[StepBlock], room: int, sheet: Page) -> list[list[Text]]:
    """The blocks in `room` lines, giving up first what a person needs least."""
    short = [lines[:1] if step.state == "done" else lines for step, lines in blocks]
    finished = [lines for step, lines in blocks if step.state in ("done", "skipped")]
    waiting = [lines for step, lines in blocks if _only_waits(step)]
    active = [lines for step, lines in blocks if step.state not in ("done", "skipped") and not _only_waits(step)]
    first, last = _folded(finished, "done", "finished", sheet), _folded(waiting, "waiting", "waiting", sheet)
    stages = [[lines for _, lines in blocks], short, [*first, *active, *waiting], [*first, *active, *last]]
    for stage in stages:
        if sum(map(len, stage)) <= room:
            return stage
    least = [list(lines) for lines in stages[-1]]
    while sum(map(len, least)) > room and any(len(lines) > 1 for lines in least):
        max(least, key=len).pop()
    return least


def _only_waits(step: StepView) -> bool:
    return step.state == "waiting" and not step.message


def _folded(blocks: list[list[Text]], state: str, word: str, sheet: Page) -> list[list[Text]]:
    if len(blocks) < 2:
        return [lines[:1] for lines in blocks]
    return [[sheet.line((f"  {sheet.signs.state(state)} {count(len(blocks), 'step')} {word}", "dim"))]]
