"""`weft sessions show SESSION STEP ITEM`: one item of a step that is made item by item, with every try of it. Pure."""

from __future__ import annotations

from typing import Any

from weft.protocol.events import ItemSettled
from weft.protocol.values import dataclass
from weft.render.calls import Price, cost_of, spent_of, spent_parts
from weft.render.signs import style
from weft.render.step_history import ItemHistory, StepHistory
from weft.render.step_page import Row, call_rows
from weft.render.units import human_ms, human_size


@dataclass(frozen=True, slots=True)
class ItemPage:
    session: str
    step: str
    item: str
    tries: tuple[ItemHistory, ...]
    file: str = ""
    """How the item's file is now: "" as recorded, changed by hand, missing."""

    @property
    def last(self) -> ItemSettled:
        return self.tries[-1].settled


def item_keys(history: StepHistory) -> list[str]:
    return list(dict.fromkeys(key for attempt in history.attempts for key in attempt.items))


def item_tries(history: StepHistory, item: str) -> tuple[ItemHistory, ...]:
    return tuple(tried for attempt in history.attempts for tried in attempt.items.get(item, ()))


def item_rows(page: ItemPage, price: Price | None) -> list[Row]:
    last = page.last
    status = "completed" if last.ok else "failed"
    spent = [one for tried in page.tries for one in spent_of(tried.settled)]
    took = sum(tried.settled.ms for tried in page.tries)
    cost = ["1 try" if len(page.tries) == 1 else f"{len(page.tries)} tries", human_ms(took), *spent_parts(spent, price)]
    rows = [
        Row(0, f"{page.session} · step {page.step} · item {page.item}", "bold"),
        Row(0, status, style(status)),
        Row(0, "in all: " + ", ".join(cost)),
    ]
    if last.ok:
        state = f": {page.file}" if page.file else ""
        rows.append(Row(0, f"{last.artifact} ({human_size(last.size)}) {last.hash}{state}"))
    for tried in page.tries:
        settled = tried.settled
        how = "completed" if settled.ok else "failed"
        head = f"try {settled.tries} {how} in {human_ms(settled.ms)} (run {tried.run}, attempt {settled.attempt})"
        rows += [Row(0, ""), Row(2, head, style(how)), Row(4, f"inputs {settled.input_hash}", "dim")]
        rows += [Row(4, settled.message, "red")] if settled.message and not tried.findings else []
        for finding in tried.findings:
            rows.append(Row(4, f"- {finding}", "yellow"))
            rows += [Row(6, f"hint: {finding.hint}", "dim")] if finding.hint else []
        rows += call_rows(tried.calls, price)
    return rows


def item_json(page: ItemPage, price: Price | None) -> dict[str, Any]:
    return {
        "session": page.session,
        "step": page.step,
        "item": page.item,
        "ok": page.last.ok,
        "artifact": page.last.artifact or None,
        "hash": page.last.hash if page.last.ok else None,
        "file": page.file or "as recorded",
        "tries": [
            {
                "run": tried.run,
                "attempt": tried.settled.attempt,
                "try": tried.settled.tries,
                "ok": tried.settled.ok,
                "message": tried.settled.message,
                "ms": tried.settled.ms,
                "input_hash": tried.settled.input_hash,
                "usage": dict(tried.settled.usage),
                "model": tried.settled.model,
                "cost": cost_of(spent_of(tried.settled), price),
                "findings": [{"at": one.at, "message": one.message, "hint": one.hint} for one in tried.findings],
                "calls": [{"call": one.call, "name": one.name, "ok": one.ok, "ms": one.ms} for one in tried.calls],
            }
            for tried in page.tries
        ],
    }
