"""The markdown that models write, modestly, line by line: headings, lists, quotes, code, tables, and emphasis.

Each line of the source stands for itself, so the lines of an answer that are complete can be put on the screen for
good while the next is still being written; all that must be known of the lines before is which code fence is open.
Only a table is drawn as a whole: whoever hands lines over keeps those of one together (`is_row`).
Lines are cleaned before anything else: no escape sequence, no bracket of rich's own survives as anything but text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from weft.language.markdown import inline
from weft.render.cells import fold
from weft.render.page import Page, Part

CODE: Final = "cyan"
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([^`]*)$")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_ITEM: Final = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$")
_QUOTE: Final = re.compile(r"\s{0,3}>\s?(.*)$")
_RULE: Final = re.compile(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_STYLES: Final = {"code": CODE, "strong": "bold", "em": "italic"}
_DEEPEST: Final = 12
"""Columns a list is indented at most: the words must keep some room on a narrow screen."""


def fence_after(lines: Iterable[str], fence: str = "") -> str:
    """The code fence that is open after these lines, with its language; "" for none."""
    for line in lines:
        fence = _turned(line, fence)
    return fence


def _turned(line: str, fence: str) -> str:
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1] + match[2].strip().split(" ")[0]
    marks = fence[: len(fence) - len(fence.lstrip(fence[0]))]
    closes = match[1].startswith(marks) and not match[2].strip()
    return "" if closes else fence


def is_row(line: str) -> bool:
    """Whether a line may be one of a table."""
    return line.lstrip().startswith("|")


def markdown_lines(lines: Iterable[str], sheet: Page, *, fence: str = "") -> list[Text]:
    """The lines on the page. `fence` is the code fence that was open before the first of them."""
    found: list[Text] = []
    rows: list[str] = []
    for line in lines:
        if not fence and is_row(line):
            rows.append(line)
            continue
        if rows:
            found += _table(rows, sheet)
            rows = []
        after = _turned(line, fence)
        if after != fence:
            language = line.strip().strip("`~").strip()
            if after and language:
                found.append(sheet.line(("  " + language, "dim")))
        elif fence:
            found += _code(line, sheet, fence.lstrip("`~"))
        else:
            found += _plain(line, sheet)
        fence = after
    return found + (_table(rows, sheet) if rows else [])


# -- code


def _code(line: str, sheet: Page, language: str) -> list[Text]:
    text = sheet.clean(line.expandtabs(4))
    room = sheet.width - 2
    coloured = _coloured(text, language) if cell_len(text) <= room else None
    if coloured is not None:
        return [_behind(2, coloured)]
    return [_behind(2, [(piece, CODE)]) for piece in fold(text, room)]


def _coloured(text: str, language: str) -> list[Part] | None:
    """A line of code in stretches of one colour; None for a language that nobody knows."""
    lexer = _lexer(language.lower()) if language else None
    if lexer is None:
        return None
    parts: list[Part] = []
    for kind, value in lexer.get_tokens(text):
        name = str(kind)
        look = next((look for word, look in _COLOURS if word in name), CODE)
        parts.append((value.rstrip("\n"), look))
    return parts


@cache
def _lexer(language: str) -> Any:
    """Loading it takes a moment: only where there is code."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_COLOURS: Final = (
    ("Comment", "dim italic"),
    ("Literal.String", "green"),
    ("Literal.Number", "yellow"),
    ("Keyword", "bold magenta"),
    ("Name.Function", "bold blue"),
    ("Name.Class", "bold blue"),
    ("Name.Builtin", "blue"),
    ("Generic.Deleted", "red"),
    ("Generic.Inserted", "green"),
)
"""By a part of what a stretch of code is; the rest is as code always was."""


# -- tables


def _table(rows: Sequence[str], sheet: Page) -> list[Text]:
    """Drawn when it fits and its second line says how it is set; else its lines as they are."""
    cells = [_cells(sheet.clean(row.strip().expandtabs(4))) for row in rows]
    rule = cells[1] if len(cells) > 1 else []
    if not rule or not all(_RULED.match(cell) for cell in rule):
        return [line for row in rows for line in _as_it_is(row, sheet)]
    body = [cells[0], *cells[2:]]
    count = len(cells[0])
    runs = [[_runs(row[at]) if at < len(row) else [] for at in range(count)] for row in body]
    sizes = [max(sum(cell_len(text) for text, _ in row[at]) for row in runs) for at in range(count)]
    sizes = _fitted(sizes, sheet.width - 3 * (count - 1))
    if not sizes:
        return [line for row in rows for line in _as_it_is(row, sheet)]
    bar, line = ("|", "-") if sheet.signs.ascii else ("│", "─")
    rights = [cell.endswith(":") and not cell.startswith(":") for cell in (*rule, *[""] * count)][:count]
    found: list[Text] = []
    for number, row in enumerate(runs):
        columns = [
            [[(piece, f"bold {look}".strip() if not number else look) for piece, look in parts] for parts in wrapped]
            for wrapped in (_broken_lines(cell, size) for cell, size in zip(row, sizes, strict=True))
        ]
        for at in range(max(map(len, columns))):
            parts: list[Part] = []
            for place, (column, size) in enumerate(zip(columns, sizes, strict=True)):
                inner = column[at] if at < len(column) else []
                space = " " * (size - sum(cell_len(piece) for piece, _ in inner))
                parts += [(f" {bar} ", "dim")] if place else []
                parts += [(space, ""), *inner] if rights[place] else [*inner, (space, "")]
            found.append(_behind(0, parts))
        if not number:
            joint = f"{line}{'+' if sheet.signs.ascii else '┼'}{line}"
            found.append(_behind(0, [(joint.join(line * size for size in sizes), "dim")]))
    return found


_RULED: Final = re.compile(r"\s*:?-+:?\s*\Z")
_LEAST_COLUMN: Final = 4


def _cells(row: str) -> list[str]:
    inner = row.removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _fitted(sizes: Sequence[int], room: int) -> list[int]:
    """The widest columns give way until all fit; [] when there is no room for any."""
    found = [max(size, 1) for size in sizes]
    while sum(found) > room:
        widest = max(range(len(found)), key=found.__getitem__)
        if found[widest] <= _LEAST_COLUMN:
            return []
        found[widest] -= 1
    return found


def _as_it_is(row: str, sheet: Page) -> list[Text]:
    text = sheet.clean(row.expandtabs(4)).rstrip()
    return [_behind(0, [(piece, "")]) for piece in fold(text, sheet.width)]


def _plain(line: str, sheet: Page) -> list[Text]:
    text = sheet.clean(line.expandtabs(4)).rstrip()
    if not text:
        return [Text()]
    if match := _HEADING.match(text):
        return _wrapped([(piece, f"bold {style}".strip()) for piece, style in _runs(match[2])], sheet, 0)
    if _RULE.match(text):
        return [_behind(0, [("-" * 3 if sheet.signs.ascii else "─" * 3, "dim")])]
    if match := _ITEM.match(text):
        deep = min(len(match[1]), _DEEPEST)
        mark = match[2] if match[2][0].isdigit() else ("-" if sheet.signs.ascii else "•")
        return _wrapped(_runs(match[3]), sheet, deep + len(mark) + 1, lead=" " * deep + mark)
    if match := _QUOTE.match(text):
        bar = "|" if sheet.signs.ascii else "│"
        quoted = [(piece, f"dim {style}".strip()) for piece, style in _runs(match[1])]
        return _wrapped(quoted, sheet, 2, lead=bar, every=True)
    return _wrapped(_runs(text), sheet, 0)


def _runs(text: str) -> list[Part]:
    """The text in stretches of one style."""
    marks, links = inline(text)
    found: list[tuple[int, int, str]] = []
    at = 0
    for start, end, kind in (*marks, (len(text), len(text), "syntax")):
        found.append((at, start, ""))
        if kind != "syntax":
            found.append((start, end, _STYLES[kind]))
        at = end
    runs: list[Part] = []
    ends = sorted((link.end, link.target) for link in links)
    inside = [link.words for link in links]
    for start, end, style in (*found, (len(text), len(text), "")):
        while ends and ends[0][0] <= start:
            runs.append((f" ({ends.pop(0)[1]})", "dim"))
        linked = any(low <= start and end <= high for low, high in inside)
        if start < end:
            runs.append((text[start:end], f"{style} underline".strip() if linked else style))
    return runs


def _wrapped(runs: Sequence[Part], sheet: Page, indent: int, *, lead: str = "", every: bool = False) -> list[Text]:
    """The runs in lines between words, behind an indent; the `lead` stands in the first one's, or in `every`."""
    lines = _broken_lines(runs, max(sheet.width - indent, 2))
    return [_behind(indent, line, lead if every or not number else "") for number, line in enumerate(lines)]


def _broken_lines(runs: Sequence[Part], room: int) -> list[list[Part]]:
    """The runs in lines of so much room, broken between words where that can be."""
    lines: list[list[Part]] = [[]]
    used = 0
    for word in _words(runs):
        size = sum(cell_len(piece) for piece, _ in word)
        if used and used + 1 + size > room:
            lines.append([])
            used = 0
        if used:
            lines[-1].append((" ", word[0][1] if lines[-1] and lines[-1][-1][1] == word[0][1] else ""))
            used += 1
        for piece, style in word:
            for number, part in enumerate(_broken(piece, room - used, room)):
                if number:
                    lines.append([])
                    used = 0
                if part:
                    lines[-1].append((part, style))
                    used += cell_len(part)
    return lines


def _broken(piece: str, first: int, room: int) -> list[str]:
    """A piece of a word that is too long for a line, broken anywhere: the first part fits behind what is there."""
    if cell_len(piece) <= first:
        return [piece]
    if first < 2:
        return ["", *fold(piece, room)]
    head = fold(piece, first)[0]
    return [head, *fold(piece[len(head) :], room)]


def _words(runs: Sequence[Part]) -> list[list[Part]]:
    """Words with their styles: one word may change its style within."""
    words: list[list[Part]] = [[]]
    for text, style in runs:
        for number, piece in enumerate(text.split(" ")):
            if number and words[-1]:
                words.append([])
            if piece:
                words[-1].append((piece, style))
    return [word for word in words if word]


def _behind(indent: int, parts: Sequence[Part], lead: str = "") -> Text:
    line = Text(no_wrap=True, overflow="crop")
    line.append(lead, "dim" if lead else "").append(" " * (indent - cell_len(lead)))
    for text, style in parts:
        line.append(text, style)
    return line
