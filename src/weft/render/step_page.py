"""`weft sessions show SESSION STEP`: everything about one step, on a terminal, on a pipe and as JSON.

The page is made once, as rows of text with an indent; a terminal wraps them, a pipe gets them as they are. It is
bounded: of much, the latest is shown and the rest is counted. `--json` and `--prompt` leave nothing out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from itertools import islice
from typing import Any, Final

from rich.console import Group
from rich.text import Text

from weft.protocol.call_events import CallSettled
from weft.protocol.values import dataclass
from weft.render.calls import Price, call_number, cost_of, figures, nested, spent_parts
from weft.render.cells import clean, paragraphs
from weft.render.flow import in_words
from weft.render.page import group, page
from weft.render.signs import style
from weft.render.step_history import AttemptHistory, Change, GateHistory, StepHistory
from weft.render.units import count, human_ms, human_size

MOST_ATTEMPTS: Final = 10
MOST_CALLS: Final = 40
MOST_INPUTS: Final = 40
MOST_FINDINGS: Final = 12
MOST_GATES: Final = 10
MOST_TEXT: Final = 400
"""Characters of one text."""


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """What a model call was asked. `text` is None when its blob is gone."""

    attempt: int
    call: str
    name: str
    hash: str
    text: str | None
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepPage:
    session: str
    pipeline: str
    status: str
    history: StepHistory
    files: Mapping[str, str] = field(default_factory=dict)
    """How each artifact's file is now: as recorded, changed by hand, missing."""
    checks: Sequence[str] = ()
    """As the pipeline declares them now."""
    prompts: Sequence[AskedPrompt] = ()
    """Of the last attempt that asked a model."""
    folder: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Row:
    indent: int
    text: str
    look: str = ""


def step_text(content: StepPage, price: Price | None) -> str:
    return rows_text(step_rows(content, price))


def step_screen(content: StepPage, price: Price | None, width: int, *, ascii: bool = False) -> Group:
    return rows_screen(step_rows(content, price), width, ascii=ascii)


def rows_text(rows: Iterable[Row]) -> str:
    return "\n".join(" " * row.indent + clean(row.text) for row in rows)


def rows_screen(rows: Iterable[Row], width: int, *, ascii: bool = False) -> Group:
    sheet = page(width, ascii)
    lines: list[Text] = []
    for row in rows:
        text = row.text.replace(" · ", f" {sheet.signs.dot} ")
        lines += sheet.wrapped(text, row.indent, row.look) if text else [Text()]
    return group(lines)


def step_rows(content: StepPage, price: Price | None) -> list[Row]:
    history = content.history
    head = f"{content.session} · {content.pipeline} · step {history.step}"
    rows = [Row(0, head, "bold"), Row(0, content.status.replace("_", " "), style(content.status))]
    rows += [Row(0, f"result: {history.kept}")] if history.kept else []
    rows += [Row(0, f"last run: skipped, {history.skipped}", "dim")] if history.skipped else []
    spent = [one for attempt in history.attempts for one in attempt.spent]
    took = sum(attempt.ms or 0 for attempt in history.attempts)
    cost = [count(len(history.attempts), "attempt"), human_ms(took), *spent_parts(spent, price)]
    rows += [Row(0, "in all: " + ", ".join(cost))] if history.attempts else [Row(0, "no attempt was made yet")]
    for block in (_inputs(history), _prompts(content), _attempts(history, price), _output(content), _gates(history)):
        rows += [Row(0, ""), *block] if block else []
    rows += [Row(0, ""), *(Row(0, f"note: {note}", "yellow") for note in content.notes)] if content.notes else []
    return rows


def _inputs(history: StepHistory) -> list[Row]:
    if not history.attempts:
        return []
    last = history.attempts[-1]
    rows = [Row(0, f"inputs of attempt {last.attempt}", "bold")]
    for name, value in [*last.inputs.items()][:MOST_INPUTS]:
        changed = next((one for one in last.changes if one.name == name), None)
        rows.append(Row(2, f"{name}  {_short(value, 60)}" + (f"  ({_change(changed)})" if changed else "")))
    gone = [one.name for one in last.changes if one.now is None]
    rows += [Row(2, f"no longer: {', '.join(gone)}", "dim")] if gone else []
    return rows + _more(len(last.inputs) - MOST_INPUTS, "input", 2)


def _change(change: Change) -> str:
    return "new" if change.before is None else f"was {_short(change.before, 40)}"


def _prompts(content: StepPage) -> list[Row]:
    if not content.prompts:
        return []
    rows = [Row(0, f"prompts of attempt {content.prompts[0].attempt}", "bold")]
    for prompt in content.prompts[-MOST_CALLS:]:
        size = "its text is gone" if prompt.text is None else human_size(len(prompt.text.encode("utf-8", "replace")))
        rows.append(Row(2, f"call {prompt.call}, {prompt.name}: {size}, blobs/{prompt.hash}"))
        rows += [Row(4, f"left out: {what}", "yellow") for what in prompt.dropped]
    rows.append(Row(2, "--prompt shows the whole text", "dim"))
    return rows


def _attempts(history: StepHistory, price: Price | None) -> list[Row]:
    shown = history.attempts[-MOST_ATTEMPTS:]
    rows = [Row(0, "attempts", "bold")] if shown else []
    rows += _more(len(history.attempts) - len(shown), "earlier attempt", 2)
    for attempt in shown:
        rows += _attempt(attempt, price)
    return rows


def _attempt(attempt: AttemptHistory, price: Price | None) -> list[Row]:
    result = {"open": "not settled"}.get(attempt.result, attempt.result)
    look = style(attempt.result)
    took = [human_ms(attempt.ms)] if attempt.ms is not None else []
    facts = [*took, *([attempt.model] if attempt.model else []), *spent_parts(attempt.spent, price)]
    head = f"{attempt.attempt} {result} (run {attempt.run}, {attempt.cause}: {attempt.reason})"
    rows = [Row(2, head, look), Row(4, f"{attempt.at}  inputs {attempt.input_hash}", "dim")]
    rows += [Row(4, ", ".join(facts))] if facts else []
    if attempt.changes:
        rows.append(Row(4, "changed: " + ", ".join(change.name for change in attempt.changes[:MOST_INPUTS])))
    rows += [Row(4, f"reply at {one.source}: {_short(in_words(one.text))}") for one in attempt.replies]
    rows += [Row(4, f"{one.source}: {_short(in_words(one.text))}") for one in attempt.rounds]
    if attempt.message:
        kind = f"{attempt.kind}: " if attempt.kind else ""
        said = count(len(attempt.findings), "finding") if attempt.findings else _short(attempt.message)
        rows.append(Row(4, kind + said, look))
    rows += [Row(6, line, "dim") for line in attempt.trace.splitlines()]
    for finding in attempt.findings[:MOST_FINDINGS]:
        rows.append(Row(4, f"- {_short(str(finding))}", "yellow"))
        rows += [Row(6, f"hint: {_short(finding.hint)}", "dim")] if finding.hint else []
    rows += _more(len(attempt.findings) - MOST_FINDINGS, "finding", 4)
    rows += [Row(4, f"verdict: {attempt.verdict.replace('_', ' ')}")] if attempt.verdict else []
    rows += _items(attempt)
    rows += call_rows(attempt.calls, price)
    rows += [Row(4, f"made {name} ({human_size(size)}) {digest}") for name, (digest, size) in attempt.artifacts.items()]
    return rows


def _items(attempt: AttemptHistory) -> list[Row]:
    """How many items it made, and those that failed for good."""
    if not attempt.items:
        return []
    failed = [tries[-1].settled for tries in attempt.items.values() if not tries[-1].settled.ok]
    made = f"{count(len(attempt.items) - len(failed), 'item')} made"
    rows = [Row(4, f"{made}, {len(failed)} failed" if failed else made)]
    rows += [Row(6, f"{one.item}: {_short(one.message)}", "red") for one in failed[:MOST_FINDINGS]]
    return rows + _more(len(failed) - MOST_FINDINGS, "item", 6)


def call_rows(calls: Sequence[CallSettled], price: Price | None) -> list[Row]:
    """Nested, in the order they began."""
    rows: list[Row] = []
    for call, depth in islice(nested(sorted(calls, key=call_number)), MOST_CALLS):
        facts = [human_ms(call.ms), *figures(call.model, call.usage, price)]
        sign, title = "" if call.ok else "failed: ", f" · {call.title}" if call.title else ""
        said = f" · {_short(call.message)}" if call.message else ""
        name = call.name if call.model in (None, call.name) or call.kind != "model" else f"{call.name} → {call.model}"
        text = f"{sign}{call.kind} {name}{title} ({', '.join(facts)}){said}"
        rows.append(Row(4 + 2 * min(depth, 6), text, "" if call.ok else "red"))
        rows += [Row(6 + 2 * min(depth, 6), f"left out of the prompt: {what}", "yellow") for what in call.dropped]
    return rows + _more(len(calls) - MOST_CALLS, "call", 4)


def _output(content: StepPage) -> list[Row]:
    history = content.history
    rows: list[Row] = []
    if history.result:
        rows.append(Row(0, "output", "bold"))
        for name, (digest, size) in history.result.items():
            state = content.files.get(name, "")
            rows.append(Row(2, f"{name} ({human_size(size)}) {digest}" + (f": {state}" if state else "")))
    rows += [Row(2, f"an earlier version of {name}, changed by hand: {kept}", "dim") for name, kept in history.aside]
    if content.checks:
        done = history.completed
        who = f"what was {history.kept}" if history.kept else f"attempt {done.attempt}" if done else ""
        rows.append(Row(0, f"checks ({f'all passed by {who}' if who else 'not passed yet'})", "bold"))
        rows += [Row(2, text) for text in content.checks]
    return rows


def _gates(history: StepHistory) -> list[Row]:
    rows = [Row(0, "gates", "bold")] if history.gates else []
    rows += _more(len(history.gates) - MOST_GATES, "earlier gate", 2)
    for gate in history.gates[-MOST_GATES:]:
        rows.append(Row(2, f"{gate.opened.gate}: {_reply(gate)}", "" if gate.reply else "yellow"))
        rows += [Row(4, _short(line)) for line in paragraphs(gate.opened.message)]
        if gate.reply is None:
            rows += [Row(4, f"{one.id}: {one.label}") for one in gate.opened.choices]
    return rows


def _reply(gate: GateHistory) -> str:
    if gate.reply is None:
        return "open, waits for a reply"
    said = f": {_short(gate.reply.text)}" if gate.reply.text else ""
    return f"{gate.reply.choice} by {gate.reply.by}{said} ({gate.replied})"


def _more(number: int, word: str, indent: int) -> list[Row]:
    return [Row(indent, f"and {count(number, f'more {word}')}", "dim")] if number > 0 else []


def _short(text: str, most: int = MOST_TEXT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def prompts_text(prompts: Iterable[AskedPrompt]) -> str:
    """The whole text of each, one after the other."""
    return "\n".join(
        f"--- call {prompt.call}, {prompt.name} ---\n{prompt.text if prompt.text is not None else '(its text is gone)'}"
        for prompt in prompts
    )


def step_json(content: StepPage, price: Price | None, *, whole_prompts: bool) -> dict[str, Any]:
    history = content.history
    return {
        "session": content.session,
        "pipeline": content.pipeline,
        "step": history.step,
        "status": content.status,
        "kept": history.kept,
        "skipped": history.skipped,
        "attempts": [_attempt_json(attempt, price) for attempt in history.attempts],
        "prompts": [
            {"attempt": one.attempt, "call": one.call, "name": one.name, "hash": one.hash, "dropped": list(one.dropped)}
            | ({"text": one.text} if whole_prompts else {})
            for one in content.prompts
        ],
        "output": {
            name: {"hash": digest, "size": size, "file": content.files.get(name, "")}
            for name, (digest, size) in history.result.items()
        },
        "checks": list(content.checks),
        "gates": [
            {"gate": gate.opened.gate, "at": gate.at, "message": gate.opened.message}
            | (
                {"choice": gate.reply.choice, "by": gate.reply.by, "text": gate.reply.text, "replied": gate.replied}
                if gate.reply
                else {"choices": [one.told() for one in gate.opened.choices]}
            )
            for gate in history.gates
        ],
        "cost": cost_of([one for attempt in history.attempts for one in attempt.spent], price),
        "notes": list(content.notes),
    }


def _attempt_json(attempt: AttemptHistory, price: Price | None) -> dict[str, Any]:
    return {
        "attempt": attempt.attempt,
        "run": attempt.run,
        "cause": attempt.cause,
        "reason": attempt.reason,
        "at": attempt.at,
        "inputHash": attempt.input_hash,
        "inputs": dict(attempt.inputs),
        "changed": {one.name: one.before for one in attempt.changes},
        "replies": [{"gate": one.source, "text": one.text} for one in attempt.replies],
        "rounds": [{"round": one.source, "feedback": one.text} for one in attempt.rounds],
        "result": attempt.result,
        "kind": attempt.kind,
        "message": attempt.message,
        "trace": attempt.trace,
        "findings": [asdict(one) for one in attempt.findings],
        "verdict": attempt.verdict,
        "ms": attempt.ms,
        "model": attempt.model,
        "usage": dict(attempt.usage),
        "cost": cost_of(attempt.spent, price),
        "artifacts": {name: digest for name, (digest, _) in attempt.artifacts.items()},
        "items": {
            key: {"ok": tries[-1].settled.ok, "tries": len(tries), "message": tries[-1].settled.message}
            for key, tries in attempt.items.items()
        },
        "calls": [
            {
                "call": call.call,
                "item": call.item,
                "parent": call.parent,
                "kind": call.kind,
                "name": call.name,
                "title": call.title,
                "ok": call.ok,
                "message": call.message,
                "stop": call.stop,
                "ms": call.ms,
                "usage": dict(call.usage),
                "cost": cost_of([(call.model, call.usage)], price) if call.model else 0.0,
                "request": call.request,
                "dropped": list(call.dropped),
            }
            for call in attempt.calls
        ],
    }
