"""The markdown that models write, modestly, line by line: headings, lists, quotes, code, and emphasis within a line.

Each line of the source stands for itself, so the lines of an answer that are complete can be put on the screen for
good while the next is still being written; all that must be known of the lines before is whether a code fence is open.
Lines are cleaned before anything else: no escape sequence, no bracket of rich's own survives as anything but text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

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
    """The code fence that is open after these lines, "" for none."""
    for line in lines:
        fence = _turned(line, fence)
    return fence


def _turned(line: str, fence: str) -> str:
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence


def markdown_lines(lines: Iterable[str], sheet: Page, *, fence: str = "", indent: int = 0) -> list[Text]:
    """The lines on the page. `fence` is the code fence that was open before the first of them."""
    found: list[Text] = []
    for line in lines:
        after = _turned(line, fence)
        if after != fence:
            language = line.strip().strip("`~").strip()
            if after and language:
                found.append(sheet.line((" " * (indent + 2) + language, "dim")))
        elif fence:
            found += _code(line, sheet, indent)
        else:
            found += _plain(line, sheet, indent)
        fence = after
    return found


def _code(line: str, sheet: Page, indent: int) -> list[Text]:
    text = sheet.clean(line.expandtabs(4))
    return [_behind(indent + 2, [(piece, CODE)]) for piece in fold(text, sheet.width - indent - 2)]


def _plain(line: str, sheet: Page, indent: int) -> list[Text]:
    text = sheet.clean(line.expandtabs(4)).rstrip()
    if not text:
        return [Text()]
    if match := _HEADING.match(text):
        return _wrapped([(piece, f"bold {style}".strip()) for piece, style in _runs(match[2])], sheet, indent)
    if _RULE.match(text):
        return [_behind(indent, [("-" * 3 if sheet.signs.ascii else "─" * 3, "dim")])]
    if match := _ITEM.match(text):
        deep = indent + min(len(match[1]), _DEEPEST)
        mark = match[2] if match[2][0].isdigit() else ("-" if sheet.signs.ascii else "•")
        return _wrapped(_runs(match[3]), sheet, deep + len(mark) + 1, lead=" " * deep + mark)
    if match := _QUOTE.match(text):
        bar = "|" if sheet.signs.ascii else "│"
        quoted = [(piece, f"dim {style}".strip()) for piece, style in _runs(match[1])]
        return _wrapped(quoted, sheet, indent + 2, lead=" " * indent + bar, every=True)
    if text.lstrip().startswith("|"):
        return [_behind(indent, [(piece, "")]) for piece in fold(text, sheet.width - indent)]
    return _wrapped(_runs(text), sheet, indent)


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
    ends = {link.end: link.target for link in links}
    inside = [link.words for link in links]
    for start, end, style in found:
        linked = any(low <= start and end <= high for low, high in inside)
        if start < end:
            runs.append((text[start:end], f"{style} underline".strip() if linked else style))
        if end in ends:
            runs.append((f" ({ends.pop(end)})", "dim"))
    return runs


def _wrapped(runs: Sequence[Part], sheet: Page, indent: int, *, lead: str = "", every: bool = False) -> list[Text]:
    """The runs in lines between words, behind an indent; the `lead` stands in the first one's, or in `every`."""
    lines: list[list[Part]] = [[]]
    room = max(sheet.width - indent, 2)
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
    return [_behind(indent, line, lead if every or not number else "") for number, line in enumerate(lines)]


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
