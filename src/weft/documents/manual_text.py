"""What `man` and `info` show, as markdown: headings, options before what is said of them, examples line by line.

Both are text that is laid out by indentation alone. Read as any text, an option runs into its description, the lines of
an example or a table into one, and a page of forty options is one section. Only text that says of itself what it is
(the line above a manual page, the line before each node of Info) is read so: letters and poems are indented too.

What is deeper than the text around it is an example where its lines end before they are full, and else what is said of
the line above it. Words go nowhere, but the lines that lead around: a page's first, and those before nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from weft.documents.document import Draft
from weft.protocol.patterns import pattern

_PAGE: Final = pattern(r"\s*(?P<page>[^\s()]{1,100}\([0-9][^\s()]{0,8}\))[ \t][^\n]{0,200}[ \t](?P=page)[ \t]*\n")
_SECTION: Final = pattern(r"^[^\W\d_a-z][^\n]{0,80}\n(?=(?: {3,}|\t)\S)", re.MULTILINE)
_NODE: Final = pattern(r"^File: [^\n,]{1,200}, {1,2}Node: [^\n]{1,400}$", re.MULTILINE)
_TAGS: Final = pattern(r"^(?:Tag Table:|Indirect:)\n", re.MULTILINE)
_AROUND: Final = pattern(
    r"^(?:(?:INFO-DIR-SECTION[^\n]*\n)?START-INFO-DIR-ENTRY\n(?:[^\n]*\n){0,50}?END-INFO-DIR-ENTRY|\* Menu:)$",
    re.MULTILINE,
)
"""What places it in the list of all manuals, and the line above a list of nodes."""
_NOTE: Final = pattern(
    r"(?:\b[Ss]ee\s{1,20})?\*(?P<note>[Nn])ote\s{1,20}(?P<named>[^:*]{1,200}):(?::|\s{0,20}(?:\([^()\n]{1,100}\))?[^.,:*()]{0,100}(?=[.,]))"
)
_UNDERLINE: Final = pattern(r"(?:\*{2,}|={2,}|-{2,}|\.{2,})\Z")
_LEVELS: Final = "*=-."
_TERM: Final = 40
_HANGING: Final = pattern(r"(?P<term>\S(?:.{0,40}?\S)??) {2,}(?P<said>\S.*)")
_BULLET: Final = pattern(r"(?P<mark>[•·o*+-]|\(?\w{1,2}[.)]) +(?P<said>\S.*)")
_CUT_WORD: Final = pattern(r"(?<=\w)\u2010\n(?P<margin> {0,60})(?P<rest>\S{1,100})(?P<more> {1,60}|(?=\n|\Z))")
_OWN_HYPHEN: Final = pattern(r"\u2010(?!\n)")
"""Where a page writes all hyphens so, what the end of a line has cut can't be told from them."""
_COLUMNS: Final = re.compile(r" {2,}")
_FOOT: Final = 3
"""Columns of a page's last line: what it is of, its day, and on the right its name or again what it is of."""
_ENDED: Final = (".", "!", "?", ":", ";", ",", ")")
_CALLS: Final = 3
"""Lines, up to which what stands no deeper than the text are the ways to call what is told below, and no example."""
_DEEPER: Final = 2
"""Columns, from which on what stands below a line is said of it."""
_DEEPEST: Final = 100
"""Columns, from which on nothing is said of anything else: no page is that wide."""
_EXAMPLE: Final = 4
"""Columns, from which on what stands deeper by itself is no paragraph that begins with an indented line."""


def is_manual_page(text: str) -> bool:
    page = _PAGE.match(text)
    return page is not None and len(_SECTION.findall(text)) > 1


def is_info(text: str) -> bool:
    return len(_NODE.findall(text)) > 1


def read_manual_page(text: str) -> Draft:
    page = _PAGE.match(text)
    assert page is not None
    text = text[page.end() :].expandtabs()
    if not _OWN_HYPHEN.search(text):
        text = _CUT_WORD.sub(lambda cut: cut["rest"] + (f"\n{cut['margin']}" if cut["more"] else ""), text)
    lines = text.split("\n")
    title = page["page"]
    named = next((line.split()[0] for line in lines if line.startswith(" ") and line.strip()), "").rstrip(",")
    if named.lower() == title.partition("(")[0].lower():
        title = f"{named}({title.partition('(')[2]}"
    out = [f"# {title}"]
    body: list[str] = []
    depths = [_depth(line) for line in lines if line.strip() and _depth(line) > 3]
    reader = _Layout(_width(lines), min(depths, default=0))
    for number, line in enumerate(lines):
        depth = _depth(line)
        foot = line.rstrip().endswith(page["page"]) or len(_COLUMNS.split(line.strip())) == _FOOT
        last = foot and not any(map(str.strip, lines[number + 1 :]))
        if not line.strip() or depth > 3 or last:
            body.append(" ".join(line.split()) if last else line)
            continue
        out += [*reader.read(body), f"{'###' if depth else '##'} {line.strip()}"]
        body = []
    return Draft(kind="markdown", text="\n\n".join([*out, *reader.read(body)]), title=title)


def read_info(text: str) -> Draft:
    tags = _TAGS.search(text)
    text = _NODE.sub("", _AROUND.sub("", text[: tags.start()] if tags else text)).expandtabs()
    text = _NOTE.sub(_led_to, text)
    lines = text.split("\n")
    out: list[str] = []
    body: list[str] = []
    reader = _Layout(_width(lines), 0)
    for line, under in zip(lines, [*lines[1:], ""], strict=True):
        if _is_heading(line, under):
            out += [*reader.read(body), f"{'#' * (1 + _LEVELS.index(under[0]))} {line.strip()}"]
            body = [""]
        elif not (_UNDERLINE.match(line.strip()) and body == [""]):
            body.append(line)
    title = next((one.removeprefix("# ") for one in out if one.startswith("# ")), "")  # far below its licence
    return Draft(kind="markdown", text="\n\n".join([*out, *reader.read(body)]), title=title)


def _led_to(note: re.Match[str]) -> str:
    see = "See" if note[0].startswith("S") or (note["note"] == "N" and not note[0].startswith("s")) else "see"
    return f"{see} {' '.join(note['named'].split())}"


def _is_heading(line: str, under: str) -> bool:
    if not line.strip() or line[0] == " " or not _UNDERLINE.match(under):
        return False
    return abs(len(under) - len(line.rstrip())) <= 2


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _width(lines: Sequence[str]) -> int:
    """How long a full line is: nine of ten lines are no longer."""
    lengths = sorted(len(line.rstrip()) for line in lines if len(line.strip()) > 40)
    return lengths[len(lengths) * 9 // 10] if lengths else 0


class _Layout:
    """The text of a section by its indentation."""

    def __init__(self, width: int, margin: int) -> None:
        self._width = width
        self._margin = margin

    def read(self, lines: Sequence[str]) -> list[str]:
        out: list[str] = []
        level = self._margin
        """How deep the text stands that is read."""
        example: list[str] = []
        """Its lines, as long as nothing else follows."""
        for chunk in _chunks(lines):
            depth = min(map(_depth, chunk[1:])) if _begins_deeper(chunk) else _depth(chunk[0])
            level = min(level, depth)
            announced = not example and bool(out) and out[-1].endswith(":")
            if self._is_example(chunk, depth, level, announced=announced):
                example += ["", *chunk] if example else chunk
                continue
            out += [_code(example)] if example else []
            example = []
            if _in_two_columns(chunk):
                out.append("\n".join(map(_item, chunk)))
                continue
            level = depth
            out += self._parts(chunk)
            below = [_depth(line) for line in chunk[1:] if _depth(line) >= depth + _DEEPER]
            if below and not _begins_deeper(chunk):
                level = min(below)
        return [*out, _code(example)] if example else out

    def _is_example(self, chunk: Sequence[str], depth: int, level: int, *, announced: bool) -> bool:
        said = [line.strip() for line in chunk]
        if any(line.startswith(("#", "```", "~~~")) for line in said):
            return True
        if _in_two_columns(chunk) or (_HANGING.match(said[0]) and depth == level and len(chunk) == 1):
            return False
        deeper = depth >= level + _EXAMPLE
        if announced and len(chunk) <= _CALLS and not _hangs(chunk) and not said[-1].endswith(_ENDED):
            return not any(map(_BULLET.match, said)) and self._broken([*chunk, "."]) == len(chunk)
        if len(chunk) == 1:
            sentence = said[0].endswith((".", ":")) or _BULLET.match(said[0]) is not None
            return deeper and not sentence
        if _hangs(chunk) or _BULLET.match(said[0]):
            return deeper and not said[-1].endswith(".")
        if not deeper and len(chunk) <= _CALLS:
            return False
        broken = self._broken(chunk)
        ended = sum(line.endswith(_ENDED) for line in said)
        return 2 * broken > len(chunk) - 1 and 2 * ended <= len(chunk)

    def _broken(self, chunk: Sequence[str]) -> int:
        """How many lines end although the next word would have had room."""
        return sum(len(line) + 1 + len(after.split()[0]) < self._width for line, after in pairwise(chunk))

    def _parts(self, chunk: Sequence[str]) -> Iterator[str]:
        """A chunk that is text: an option and what is said of it, an item, or a paragraph."""
        if _begins_deeper(chunk) and not _hangs(chunk):
            yield _text(chunk)
            return
        at = 0
        while at < len(chunk):
            depth = _depth(chunk[at])
            end = at + 1
            while end < len(chunk) and _depth(chunk[end]) == depth:
                end += 1
            below = end
            while below < len(chunk) and _depth(chunk[below]) >= depth + _DEEPER:
                below += 1
            own, said = chunk[at:end], chunk[end:below]
            hanging, bullet = _HANGING.match(own[-1].strip()), _BULLET.match(own[-1].strip())
            if bullet and (said or at + 1 == end):
                yield from [_text(own[:-1])] if own[:-1] else []
                yield _item(" ".join([own[-1], *said]))
            elif hanging and said and depth + hanging.start("said") == _depth(said[0]):
                yield from [_text(own[:-1])] if own[:-1] else []
                yield hanging["term"]
                yield _text([hanging["said"], *said])
            elif hanging and not said and len(own) == 1 and hanging.start("said") in (7, 8, 4):
                yield hanging["term"]
                yield hanging["said"]
            elif said:
                yield _text(own)
                yield from self._said_of(own, said)
            else:
                yield _text(own)
            at = below

    def _said_of(self, own: Sequence[str], said: Sequence[str]) -> Iterator[str]:
        if own[-1].rstrip().endswith((".", ":")) and not said[-1].rstrip().endswith(_ENDED):
            yield _code(said)
        elif _depth(said[0]) > _DEEPEST:
            yield _text(said)
        else:
            yield from self._parts(said)


def _chunks(lines: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            chunk.append(line.rstrip())
        elif chunk:
            yield chunk
            chunk = []


def _begins_deeper(chunk: Sequence[str]) -> bool:
    """Whether only its first line is indented, as paragraphs are."""
    return len(chunk) > 1 and 0 < _depth(chunk[0]) - max(map(_depth, chunk[1:])) < 6


def _hangs(chunk: Sequence[str]) -> bool:
    return any(_depth(line) >= _depth(chunk[0]) + _DEEPER for line in chunk[1:])


def _in_two_columns(chunk: Sequence[str]) -> bool:
    """Whether each line is a word or two, and behind a gap what they are."""
    parts = [_COLUMNS.split(line.strip()) for line in chunk]
    starts = {line.rindex(part[-1]) for line, part in zip(chunk, parts, strict=True)}
    return len(chunk) > 1 and len(starts) == 1 and all(len(part) == 2 and len(part[0]) <= _TERM for part in parts)


def _item(line: str) -> str:
    bullet = _BULLET.match(line.strip())
    mark = bullet["mark"] if bullet and bullet["mark"][-1] in ".)" else "-"
    return f"{mark} {_text([bullet['said'] if bullet else line])}"


def _text(lines: Sequence[str]) -> str:
    return "\n".join(" ".join(line.split()) for line in lines)


def _code(lines: Sequence[str]) -> str:
    depth = min(_depth(line) for line in lines if line)
    text = "\n".join(line[depth:] for line in lines)
    fence = "`" * max(3, 1 + max((len(found) for found in re.findall(r"`{3,}", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
