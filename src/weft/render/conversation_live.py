"""The live part of a conversation: what is being written, what runs, what is asked, what is queued.

It is drawn anew for each frame and must fit: a question to the person always stays whole, then come the queue and the
calls at work; the text that is being written gives way first, from its beginning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from weft.protocol.events import StatusChanged
from weft.render.calls import calls_block
from weft.render.cells import fold
from weft.render.conversation_blocks import call_words, marked_lines, telling
from weft.render.conversation_view import MAIN, CallView, ConversationView, WrittenSpeech
from weft.render.markdown import markdown_lines
from weft.render.page import Page
from weft.render.units import count, human_seconds

MOST_THINKING: Final = 4
MOST_SHOWN: Final = 12
"""Lines of what a call that needs an approval would do."""
MOST_QUEUED: Final = 3
MOST_RUNNING: Final = 8
MODE_STYLES: Final = {"plan": "bold magenta", "safe": "bold green", "ask": "bold cyan", "auto": "bold yellow"}


def live_lines(
    view: ConversationView, now: float, sheet: Page, *, height: int, extra: list[Text] | None = None
) -> list[Text]:
    """At most `height` lines. `extra` are lines of the face's own that must be seen, below all others."""
    asked = approval_lines(view, sheet) or plan_keys(view, sheet)
    below = [*_queue(view, sheet), *(extra or [])]
    height = max(height, 1)
    if len(asked) + len(below) >= height:  # a low screen: the keys in as few lines as they need
        asked = approval_lines(view, sheet, low=True) or plan_keys(view, sheet, low=True)
    least = asked + below
    if len(least) >= height:
        room = height - len(below)
        kept = asked if len(asked) <= room else [*asked[: room - 1], asked[-1]] if room > 0 else asked[-1:]
        return (kept + below)[:height]
    running = _running(view, now, sheet)[-(height - len(least)) :]
    room = height - len(least) - len(running)
    writing = _writing(view, now, sheet, room)[-room:] if room > 0 else []
    return writing + running + least


# -- what is being written


def _writing(view: ConversationView, now: float, sheet: Page, room: int) -> list[Text]:
    speech = view.speeches.get(MAIN)
    if speech is None:
        waits = view.turning and not view.calls
        return [_at_work("", None, now, sheet)] if waits else []
    if speech.tail.strip():
        tail = speech.tail[-sheet.width * room :]  # a line without an end must not cost more than the screen it fills
        return ([] if speech.begun else [Text()]) + markdown_lines([tail], sheet, fence=speech.fence)
    if speech.thinking:
        return _thinking(speech, now, sheet)
    return [Text(), _at_work("waiting for the model", speech.started, now, sheet)] if not speech.begun else []


def _thinking(speech: WrittenSpeech, now: float, sheet: Page) -> list[Text]:
    text = speech.thinking[-sheet.width * MOST_THINKING * 2 :]
    lines = sheet.wrapped(text, 2, "dim")[-MOST_THINKING:]
    return [Text(), _at_work("thinking", speech.thinking_since, now, sheet), *lines]


def _at_work(words: str, since: float | None, now: float, sheet: Page) -> Text:
    clock = "" if since is None else human_seconds(now - since)
    return sheet.line((f"{sheet.signs.spin(now)} ", "cyan"), (words, "dim"), right=(clock, "dim"))


# -- what runs


def _running(view: ConversationView, now: float, sheet: Page) -> list[Text]:
    lines: list[Text] = []
    for work in view.run.working.values():
        told = work.progress and f"  {sheet.signs.dot} {work.progress}"
        again = f"  attempt {work.attempt}" if work.attempt > 1 else ""
        lines.append(
            sheet.line(
                (f"  {sheet.signs.spin(now)} ", "cyan"),
                (work.step, "bold"),
                (again + (told or ""), "dim"),
                right=(human_seconds(now - work.started), "dim"),
            )
        )
        lines += calls_block(work.calls, now, 4, sheet, None)
    for call in view.running:
        lines += _call(view, call, now, sheet, 2)
    if len(lines) > MOST_RUNNING:
        hidden = len(lines) - MOST_RUNNING + 1
        lines = [*lines[: MOST_RUNNING - 1], sheet.line((f"    and {count(hidden, 'more line')}", "dim"))]
    return lines


def _call(view: ConversationView, call: CallView, now: float, sheet: Page, indent: int) -> list[Text]:
    told = call.progress and f"  {sheet.signs.dot} {call.progress}"
    lines = [
        sheet.line(
            (" " * indent + sheet.signs.spin(now) + " ", "cyan"),
            (call.tool, "bold"),
            ("  " + call_words(call.input), ""),
            (told or "", "dim"),
            right=("" if call.started is None else human_seconds(now - call.started), "dim"),
        )
    ]
    ended = [inner for inner in call.inner if inner.phase == "ended"]
    if ended:
        last = f"{ended[-1].tool} {call_words(ended[-1].input)}"
        so_far = f"{count(len(ended), 'call')} done, last: {last}"
        lines.append(sheet.line((" " * (indent + 4) + f"{sheet.signs.state('done')} {so_far}", "dim")))
    for inner in call.inner:
        if inner.phase == "running":
            lines += _call(view, inner, now, sheet, indent + 4)
        elif inner.phase == "asked":
            waits = f"{inner.tool}  {call_words(inner.input)}"
            lines.append(sheet.line((" " * (indent + 4) + "? ", "yellow"), (f"{waits} waits for you", "dim")))
    if call.child and not any(inner.phase != "ended" for inner in call.inner):
        speech = view.speeches.get(call.child)
        words = " ".join((speech.tail or speech.thinking).split())[-sheet.width :] if speech else ""
        lines.append(sheet.line((" " * (indent + 4) + f"{sheet.signs.dot} {words or 'at work'}", "dim")))
    return lines


# -- what is asked and queued


def approval_lines(view: ConversationView, sheet: Page, *, low: bool = False) -> list[Text]:
    """The first question that waits, with all that a person needs to answer it."""
    waiting = view.approvals
    if not waiting:
        return []
    call = waiting[0]
    agent = call.conversation.removeprefix(f"{MAIN}/")
    who = "" if agent == MAIN else f" (asked by the sub-agent {agent})"
    more = f"  {sheet.signs.dot} {count(len(waiting) - 1, 'more question')} after this" if len(waiting) > 1 else ""
    lines = [
        Text(),
        sheet.line(("? ", "bold yellow"), (f"May {call.tool} do this?", "bold yellow"), (who + more, "dim")),
    ]
    lines += _wanted(call, sheet)
    if call.reason:
        lines += sheet.wrapped(f"asks because {call.reason}", 2, "dim", most=4)
    if call.tainted:
        lines += sheet.wrapped(
            "content from outside is in this conversation: what it asks for may be somebody else's wish",
            4,
            "yellow",
            lead=[("  ! ", "bold yellow")],
        )
    return [*lines, *_keys(call, sheet, low=low)]


def plan_keys(view: ConversationView, sheet: Page, *, low: bool = False) -> list[Text]:
    """What may be said to the plan that waits."""
    if not view.plan or view.busy:
        return []
    keys = [
        ("y", "carry it out"),
        ("c", "carry it out, and forget the way to it"),
        ("n", "drop it"),
    ]
    lines = [Text(), sheet.line(("? ", "bold yellow"), ("Is this the plan?", "bold yellow"))]
    return [*lines, *_in_lines(keys, "then Enter; or say what should be otherwise", sheet, low=low)]


def _wanted(call: CallView, sheet: Page) -> list[Text]:
    """What the call would do, and how much of it there is no room for."""
    lines = wanted_lines(call, sheet)
    if len(lines) <= MOST_SHOWN:
        return lines
    more = f"    {sheet.signs.ellipsis} {len(lines) - MOST_SHOWN} more lines; Ctrl+O shows all of it"
    return [*lines[:MOST_SHOWN], sheet.line((more, "bold yellow"))]


def wanted_lines(call: CallView, sheet: Page) -> list[Text]:
    """All that a call was given, with its line breaks: a change of a text as a diff, the rest by name."""
    given = dict(call.input)
    key = telling(given)
    lines = _literal(str(given.pop(key)), sheet, "bold") if key else []
    marks = [(name, mark) for name, mark in (("old", "-"), ("new", "+"), ("content", "+")) if name in given]
    marked = [mark + line for name, mark in marks for line in str(given.pop(name)).split("\n")]
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        lines += _literal(f"{name}: {text}", sheet, "dim")
    return lines + marked_lines(marked, sheet, 4, len(marked))


def _literal(text: str, sheet: Page, style: str) -> list[Text]:
    pieces = [piece for line in text.split("\n") for piece in fold(sheet.clean(line.expandtabs(4)), sheet.width - 4)]
    return [sheet.line(("    ", ""), (piece, style)) for piece in pieces]


def _keys(call: CallView, sheet: Page, *, low: bool) -> list[Text]:
    keys = [("y", "yes, once"), ("n", "no"), ("r", "no, with a reason")]
    if call.tainted:
        keys.insert(1, ("t", "yes, once, and what came from outside is fine"))
    if call.always:
        keys.insert(1, ("f", f"yes, from now on, by a rule: {_rule_words(call.always)}"))
    if call.key:
        keys.insert(1, ("a", f"yes, always in this session ({call.key})"))
    return _in_lines(keys, "then Enter", sheet, low=low)


def _rule_words(rule: str) -> str:
    """A rule as it is written, without the signs of its file."""
    try:
        told = json.loads(rule)
    except ValueError:
        return rule
    return " ".join(f"{value}" if key == "tool" else f"{key} {value}" for key, value in told.items())


def _in_lines(keys: Sequence[tuple[str, str]], how: str, sheet: Page, *, low: bool) -> list[Text]:
    """One key a line; on a low screen as many in a line as fit."""
    if not low:
        lines = [line for key, words in keys for line in sheet.wrapped(words, 5, lead=[(f"  {key}  ", "bold cyan")])]
        return [*lines, *sheet.wrapped(how, 2, "dim")]
    line = Text(no_wrap=True, overflow="crop")
    lines = []
    for key, words in (*keys, ("", how)):
        part = Text().append(f"  {key} ", "bold").append(sheet.cut(sheet.clean(words), sheet.width - 6))
        if line.cell_len and line.cell_len + part.cell_len > sheet.width:
            lines.append(line)
            line = Text(no_wrap=True, overflow="crop")
        line.append_text(part)
    return [*lines, line]


def question_lines(text: str, options: Sequence[str], several: bool, sheet: Page) -> list[Text]:
    """A question of the model itself, with what may be chosen."""
    lines = [Text(), *sheet.wrapped(text, 2, "bold", lead=[("? ", "bold yellow")])]
    for number, option in enumerate(options, 1):
        lines += sheet.wrapped(option, 6, lead=[(f"  {number:>2}  ", "bold")])
    how = "type your answer"
    if options:
        how = "type the numbers of your choices" if several else "type the number of your choice"
        how += ", or an answer of your own"
    return [*lines, *sheet.wrapped(f"{how}, then Enter", 2, "dim")]


def _queue(view: ConversationView, sheet: Page) -> list[Text]:
    texts = list(view.queued.values())
    if not texts:
        return []
    lines = [sheet.line(("  queued: ", "yellow"), (" ".join(text.split()), "dim")) for text in texts[:MOST_QUEUED]]
    if len(texts) > MOST_QUEUED:
        lines.append(sheet.line((f"  and {len(texts) - MOST_QUEUED} more queued", "yellow")))
    return lines


# -- the status line


def status_line(fields: StatusChanged, sheet: Page) -> Text:
    """On a narrow screen the words go first, then the end of the model's name: the figures stay."""
    dot = f" {sheet.signs.dot} "
    model, room, parts = sheet.clean(fields.model), 0, list[str]()
    for short in (False, True):
        parts = _figures(fields, short=short)
        room = sheet.width - sum(cell_len(dot + part) for part in (fields.mode, *parts))
        if cell_len(model) <= room:
            break
    else:
        model = sheet.cut(model, max(room, 8))
    return sheet.line((fields.mode, MODE_STYLES.get(fields.mode, "")), (dot + dot.join([model, *parts]), "dim"))


def _figures(fields: StatusChanged, *, short: bool) -> list[str]:
    found: list[str] = []
    if fields.tokens is not None:
        found.append(f"{fields.tokens:,}" if short else f"{fields.tokens:,} token{'' if fields.tokens == 1 else 's'}")
    if fields.cost:
        found.append(fields.cost if any(sign.isdigit() for sign in fields.cost) else f"cost {fields.cost}")
    if fields.context_used is not None:
        found.append(f"{fields.context_used:.0%}" + ("" if short else " of context used"))
    if fields.limits:
        found.append(fields.limits)
    return found
