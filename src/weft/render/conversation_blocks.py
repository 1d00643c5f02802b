"""The finished blocks of a conversation as lines of a page: what a face leaves in the terminal's history."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, assert_never

from rich.cells import cell_len
from rich.text import Text

from weft.render.cells import clean, fold, wrap
from weft.render.conversation_view import (
    Answered,
    Called,
    CallView,
    ConversationBlock,
    Noted,
    Planned,
    Ran,
    SpokenMessage,
    Thought,
)
from weft.render.markdown import markdown_lines
from weft.render.page import Page
from weft.render.sessions import YOU
from weft.render.signs import style
from weft.render.units import count, human_ms, human_seconds
from weft.render.words import TELLING

MOST_DIFF: Final = 40
MOST_INNER: Final = 8
MOST_NOTE: Final = 12
MOST_WHOLE: Final = 500
MOST_SAID: Final = 20
"""Messages and answers that the page of a session shows on a terminal; a pipe gets all of them."""
MOST_RESULT: Final = 3
"""Lines of a result that are shown folded; of tools that only look, one."""
_LOOKS: Final = ("Read", "Glob", "Grep", "Skill")
_HEAD: Final = re.compile(r"^--- .*\n\+\+\+ .*\n@@ ", re.MULTILINE)
_OUTCOMES: Final = {
    "succeeded": "done",
    "failed": "failed",
    "denied": "failed",
    "interrupted": "interrupted",
    "interrupted_before_execution": "interrupted",
}


def block_lines(block: ConversationBlock, sheet: Page) -> list[Text]:
    match block:
        case SpokenMessage():
            return [Text(), *said_lines(block.text, sheet)]
        case Answered():
            before = [Text()] if block.first else []
            return before + markdown_lines(block.text.split("\n"), sheet, fence=block.fence)
        case Thought():
            return [Text(), sheet.line((f"{sheet.signs.dot} {thought_words(block)}", "dim"))]
        case Called():
            return call_lines(block.call, sheet)
        case Noted():
            look = {"note": "dim", "warning": "yellow", "error": "red"}[block.look]
            sign = sheet.signs.state({"note": "skipped", "warning": "interrupted", "error": "failed"}[block.look])
            return sheet.wrapped(block.text, 4, look, lead=[(f"  {sign} ", look)], most=MOST_NOTE)
        case Ran():
            return ran_lines(block, sheet)
        case Planned():
            return plan_lines(block, sheet)
        case _:
            assert_never(block)


def plan_lines(block: Planned, sheet: Page) -> list[Text]:
    """A plan, set off by a bar, so that its end is seen."""
    bar = "|" if sheet.signs.ascii else "│"
    inner = markdown_lines(block.text.strip("\n").split("\n"), replace(sheet, width=max(sheet.width - 4, 10)))
    lines = [Text(), sheet.line((f"  {bar} ", "cyan"), ("plan", "bold cyan"))]
    return [*lines, *(Text(f"  {bar} ", "cyan", no_wrap=True, overflow="crop").append_text(line) for line in inner)]


def ran_lines(block: Ran, sheet: Page) -> list[Text]:
    """A step's end, a round, a question of the run: what it asks stands out, and its parts keep their indents."""
    first, *rest = block.lines
    if block.state:
        sign, look = f"{sheet.signs.state(block.state)} ", style(block.state)
        room = sheet.width - 4 - (cell_len(block.right) + 2 if block.right else 0)
        head, *more = wrap(sheet.clean(first), room)
        lines = [sheet.line((f"  {sign}", look), (head, ""), right=(block.right, "dim"))]
        lines += [sheet.line(("    " + piece, "")) for piece in more[:MOST_NOTE]]
    else:
        sign, look = ("? ", "bold yellow") if block.asks else (f"{sheet.signs.dot} ", "dim")
        lines = sheet.wrapped(first, 4, look, lead=[(f"  {sign}", look)], most=MOST_NOTE)
    for line in rest:
        bare = line.lstrip()
        lines += sheet.wrapped(bare, 4 + len(line) - len(bare), "" if block.asks else "dim", most=MOST_NOTE)
    return ([Text()] if block.asks else []) + lines


def said_lines(text: str, sheet: Page) -> list[Text]:
    """What a person wrote, whole, with its line breaks."""
    lines: list[Text] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        for piece in fold(sheet.clean(line.expandtabs(4)), sheet.width - 2, words=True):
            lines.append(sheet.line(("> " if not lines else "  ", "bold cyan"), (piece, "bold")))
    return lines


def conversation_lines(said: Sequence[tuple[str, str]], sheet: Page) -> list[Text]:
    """The last of a conversation as it was shown: who (`YOU`, or a model) and what."""
    left = len(said) - MOST_SAID
    lines = [sheet.line((f"{count(left, 'earlier message')}: weft sessions export", "dim"))] if left > 0 else []
    for number, (who, text) in enumerate(said[-MOST_SAID:]):
        lines += [sheet.line()] if number else []
        lines += said_lines(text, sheet) if who == YOU else markdown_lines(text.strip("\n").split("\n"), sheet)
    return lines


def thought_words(block: Thought) -> str:
    return "thought" if block.seconds is None else f"thought for {human_seconds(block.seconds)}"


def whole_lines(block: Thought | Called, sheet: Page) -> list[Text]:
    """What a block keeps folded: the thinking, or the result."""
    text = block.text if isinstance(block, Thought) else block.call.text
    title = thought_words(block) if isinstance(block, Thought) else f"{block.call.tool}  {call_words(block.call.input)}"
    lines = text.strip("\n").replace("\r\n", "\n").split("\n")
    found = [Text(), sheet.line((f"{sheet.signs.arrow} {title}", "bold"))]
    for line in lines[:MOST_WHOLE]:
        pieces = fold(sheet.clean(line.expandtabs(4)), sheet.width - 2)
        found += [sheet.line(("  ", ""), (piece, "dim")) for piece in pieces]
    if len(lines) > MOST_WHOLE:
        found.append(
            sheet.line((f"  {sheet.signs.ellipsis} {len(lines) - MOST_WHOLE} more lines are in the log", "dim"))
        )
    return found


# -- tool calls


def call_lines(call: CallView, sheet: Page, indent: int = 2) -> list[Text]:
    """A call that has ended: what it was, how long it took, its result in a line, its diff."""
    outcome = call.outcome or "succeeded"
    look = style(_OUTCOMES[outcome])
    lines = [
        sheet.line(
            (" " * indent + sheet.signs.state(_OUTCOMES[outcome]) + " ", look),
            (call.tool, "bold"),
            ("  " + call_words(call.input), ""),
            right=("" if call.ms is None else human_ms(call.ms), "dim"),
        )
    ]
    for inner in call.inner[:MOST_INNER]:
        lines += call_lines(inner, sheet, indent + 4)[:2] if inner.outcome else []
    if len(call.inner) > MOST_INNER:
        lines.append(sheet.line((" " * (indent + 4) + f"and {len(call.inner) - MOST_INNER} more", "dim")))
    text, diff = parted(call.text)
    if call.tool == "TodoWrite" and outcome == "succeeded":  # the list is what it is about: whole
        return [*lines, *todo_lines(text, sheet, indent + 4)]
    for told in _result(call, text, sheet):
        lines.append(sheet.line((" " * (indent + 4) + told, look if outcome != "succeeded" else "dim")))
    return lines + diff_lines(diff, sheet, indent + 4)


def todo_lines(text: str, sheet: Page, indent: int) -> list[Text]:
    looks = {"[x]": ("done", "dim"), "[>]": ("running", "bold"), "[ ]": ("waiting", "")}
    lines: list[Text] = []
    for line in text.split("\n"):
        sign, look = looks.get(line[:3], ("", ""))
        mark = f"{sheet.signs.state('done')} " if sign == "done" else f"{line[1:2]} " if sign == "running" else "  "
        lead = [(" " * indent + mark, "green" if sign == "done" else "cyan")]
        lines += sheet.wrapped(line[3:].strip() if sign else line, indent + 2, look, lead=lead)
    return lines


def call_words(given: Mapping[str, Any]) -> str:
    """What a call is about, in one line."""
    if key := telling(given):
        return clean(given[key].strip().replace("\n", " "))
    for key, value in given.items():
        if isinstance(value, list) and value:
            texts = [str(each.get("question", "")) for each in value if isinstance(each, Mapping)]
            return clean(" ".join(filter(None, texts)).replace("\n", " ")) or clean(f"{len(value)} {key}")
    return clean(json.dumps(dict(given), ensure_ascii=False, default=str)) if given else ""


def telling(given: Mapping[str, Any]) -> str:
    """The key of an input that says best what a call is about; "" for none."""
    return next((key for key in TELLING if isinstance(given.get(key), str) and given[key].strip()), "")


def _result(call: CallView, text: str, sheet: Page) -> list[str]:
    """The beginning of what came of a call, and how much more there is."""
    told = text.strip("\n").split("\n") if text.strip() else []
    first = told[0].strip() if told else ""
    match call.outcome:
        case "denied":
            return [f"denied: {first}" if first else "denied"]
        case "interrupted_before_execution":
            return ["interrupted before it began"]
        case "interrupted":
            return ["interrupted; " + ("it had just ended" if call.effect == "completed" else "it may be done in part")]
    if call.tool == "AskUser" and call.outcome == "succeeded":
        asked = [block.partition("\n") for block in text.strip().split("\n\n")]
        return [answer if len(asked) == 1 else f"{question} {answer}" for question, _, answer in asked]
    most = 1 if call.tool in _LOOKS else MOST_RESULT
    shown = told if len(told) <= most + 1 else told[:most]
    more = f"{sheet.signs.ellipsis} {count(len(told) - len(shown), 'more line')}: Ctrl+O"
    return [line.rstrip() for line in shown or ["no output"]] + ([more] if len(shown) < len(told) else [])


# -- diffs


def parted(text: str) -> tuple[str, str]:
    """A result without the unified diffs in it, and the diffs; one that comes again, whole or in part, is told once."""
    starts = [match.start() for match in _HEAD.finditer(text)]
    if not starts:
        return text, ""
    pieces = [text[start:end].rstrip("\n") for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    kept = [piece for index, piece in enumerate(pieces) if not any(x.startswith(piece) for x in pieces[index + 1 :])]
    return text[: starts[0]].rstrip(":\n"), "\n".join(kept) + "\n"


def diff_lines(diff: str, sheet: Page, indent: int, most: int = MOST_DIFF, *, names: bool = False) -> list[Text]:
    """A unified diff in colour; the name of the file is in the line above it, or with `names` above its changes."""
    lines = diff.rstrip("\n").split("\n")
    heads = {at for at, (line, after) in enumerate(pairwise(lines)) if line[:4] == "--- " and after[:4] == "+++ "}
    kept = [
        line.removeprefix("+++ ") if at - 1 in heads else line
        for at, line in enumerate(lines)
        if line and at not in heads and (names or at - 1 not in heads)
    ]
    return marked_lines(kept, sheet, indent, most)


def marked_lines(lines: Sequence[str], sheet: Page, indent: int, most: int = MOST_DIFF) -> list[Text]:
    """Lines that begin with +, - or @@, each in its colour."""
    looks = {"+": "green", "-": "red", "@": "cyan"}
    found: list[Text] = []
    for line in lines[:most]:
        look = looks.get(line[:1], "dim")
        pieces = fold(sheet.clean(line.expandtabs(4)), sheet.width - indent)
        found += [sheet.line((" " * indent, ""), (piece, look)) for piece in pieces]
    if len(lines) > most:
        found.append(sheet.line((" " * indent + f"{sheet.signs.ellipsis} {len(lines) - most} more lines", "dim")))
    return found
