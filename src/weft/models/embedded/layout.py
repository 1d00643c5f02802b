"""The parts of a document: headings, prose, items of lists, rows of tables, code; and what is only mark-up.

`lay_out` gives blocks with their place in the text, and `plain`: the text with everything that is not said (marks of
emphasis, addresses of links, bullets, times) replaced by `GAP` or spaces, character by character, so that a place in
`plain` is the same place in the text. A block is code or a table by what its lines look like, never by indentation
alone: licences and manuals indent their prose.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from weft.language.sentences import GAP
from weft.models.embedded.code_lines import (
    begins_literal,
    comment_mark,
    is_code,
    is_comment,
    is_dense,
    is_session,
    looks_like_program,
)
from weft.models.embedded.tables import table_runs
from weft.models.embedded.turns import Turn, find_turns

Kind = Literal["heading", "prose", "item", "table", "code", "meta"]
_FRONT_MATTER: Final = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(?:.*\n){0,200}?\1[ \t]*(?:\n|\Z)")
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r"\s{0,3}(#{1,6})[ \t]+(\S.*?)[ \t]*#*\s*$")
_UNDERLINE: Final = re.compile(r"\s{0,3}([=\-~^\"*+])\1{2,}\s*$")
_RULE: Final = re.compile(r"\s*(?:[-*_=~#+.][ \t]?){3,}\s*$")
_ITEM: Final = re.compile(
    r"\s*(?:[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?\s*)?"
    r"(?:[-*+•‣◦▪●○–·☐✓✔]|\(?\d{1,3}[.)]|\d{1,2}/(?:\d{1,2})?|\(?[a-z][.)]|\([ivx]{1,4}\))[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_CLAUSE: Final = re.compile(r"\s*(?:§\s*)?\d{1,2}(?:\.\d{1,2}){1,3}[.)]?[ \t]+(?=[^\W\d_a-z]|[\"“„«(])")
"""The number of a clause of a contract or a paragraph of a statute; what follows is a sentence, not an item."""
_NUMBERED: Final = re.compile(r"\s*(?:§\s*|[IVX]{1,5}\.\s|\d{1,2}(?:\.\d{1,2})*[.)]?\s)\s*\S")
_RUN_IN: Final = re.compile(
    r"[ \t]*(?:\*\*|__)?(?:Background|Objectives?|Aims?|Purpose|Introduction|Methods?|Materials and methods|Design"
    r"|Setting|Results|Findings|Discussion|Conclusions?|Interpretation|Abstract|Summary|Notes?|NOTE|Tip|TIP|Warning|WARNING|Caution|CAUTION|IMPORTANT|Achtung|ACHTUNG|Hintergrund"
    r"|Methoden|Ergebnisse|Fazit|Contexte|Méthodes|Résultats|Conclusión|Métodos|Resultados)(?:\*\*|__)?[:.]"
    r"(?:\*\*|__)?[ \t]+(?=\S)"
)
_DATELINE: Final = re.compile(
    r"[A-ZÀ-Þ][A-ZÀ-Þ .,'’-]{2,30}(?:,? [A-Z][a-z]+\.?(?: \d{1,2})?)?(?: \([A-Za-z/ ]+\))?\s[—–-]{1,2}\s(?=\S)"
)
_QUOTED: Final = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_ENDED: Final = re.compile(r"[.!?…。！？؟।:;,،；：]['\"”’»)\]]*$")
_SEVERAL: Final = re.compile(r"[a-z][.!?]\s+\S")
_TECHNICAL: Final = re.compile(r"[\[\]{}|=<>$%\\]|--")
_LETTER: Final = re.compile(r"[^\W\d_]")
_FURNITURE: Final = re.compile(r"^(?P<name>[A-Za-z][\w.:+-]*\(\d\w?\))[ \t].*(?P=name)[ \t]*$|\A\ufeff?WEBVTT.*$", re.M)
"""The head of a page of a manual, or of a file of captions."""
_HYPHENATED: Final = re.compile("(?<=\\w)[\u2010\u00ad]\\n[ \\t]*(?=[a-z\u00df-\u00ff])")
_HIDDEN: Final = re.compile(
    r"<!--(?:(?!<!--|-->).)*-->|<(script|style)\b(?:(?!<(?:script|style)\b|</(?:script|style)>).)*</\1>|\$\$.{1,2000}?\$\$",
    re.S | re.I,
)
"""None of these looks further than to its next beginning: a page of unclosed marks must not take hours."""
_TAGS: Final = "a|abbr|b|c|cite|code|em|font|i|img|kbd|label|mark|s|small|span|strong|sub|sup|u|v"
_PARTING: Final = re.compile(
    r"</?(?:article|aside|blockquote|body|br|button|center|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|head"
    r"|header|hr|html|input|li|link|main|meta|nav|ol|p|picture|pre|section|source|summary|table|tbody|td|th|thead|title"
    r"|tr|ul|video)(?:\s[^<>]{0,300})?/?>"
)
"""Tags between which something new begins."""
_INLINE: Final = re.compile(
    r"!\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)"  # an image
    r"|\[\^?\d{1,3}\]|\[\^[\w-]{1,20}\]"  # a note
    r"|\]\([^)\s]{0,500}(?:\s+\"[^\"\n]{0,200}\")?\)|\]\[[\w .-]{0,40}\]"  # the address of a link
    rf"|</?(?:{_TAGS})(?:[\s.][^<>\n]{{0,300}})?/?>"  # a tag inside a sentence
    r"|~~"
    r"|(?<=[^\s`])(?:\s*<[^<>\s]{3,300}>)?`__?(?!\w)|`(?=[^`\n]{1,120}`__?(?!\w))"  # a link of reStructuredText
    r"|(?<!`)``(?!`)"
    r"|\[(?=[^\[\]\n]{1,200}\](?:\(|\[))"  # the beginning of a link
)


_EMPHASIS: Final = re.compile(
    r"(?<![\w*])(?P<star>\*{1,3})(?=[^\s*])[^*\n]{1,300}(?:\n[^*\n]{1,300}){0,3}(?<=[^\s*])(?P=star)(?![\w*])"
    r"|(?<![\w])(?P<line>_{1,3})(?=[^\s_])[^_\n]{1,300}(?:\n[^_\n]{1,300}){0,3}(?<=[^\s_])(?P=line)(?![\w])"
)
"""Only in pairs around something: 10*1024 is a number."""


_COURTESY: Final = re.compile(
    r"(?:Dear|Hi|Hello|Sehr geehrte|Liebe[rs]?|Hallo|Cher|Chère|Bonjour|Estimad[oa]s?|Querid[oa]s?|Gentile|Prezad[oa])"
    r"\b[^.?!\n]{0,60}[,:!]?$|(?:Yours|Sincerely|Kind regards|Best (?:regards|wishes)|Regards|Mit freundlichen Grüßen"
    r"|Herzliche Grüße|Cordialement|Bien à vous|Atentamente|Un saludo|Cordiali saluti|Atenciosamente)\b[^.?!]{0,80}$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 is the title of the whole."""
    quoted: bool = False
    speaker: str = ""
    label: str = ""
    """What stands before it in its first line: `Results`."""


@dataclass(frozen=True, slots=True)
class Layout:
    plain: str
    blocks: tuple[Block, ...]
    times: tuple[tuple[int, str], ...]
    """Where in the text which time is named."""
    body: int
    """Where the document begins after its front matter."""


@dataclass(frozen=True, slots=True)
class Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def lay_out(text: str) -> Layout:
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    plain = _mask(text, body)
    lines = _lines(plain, body)
    program = looks_like_program([line.text for line in lines])
    turns = {} if program else find_turns([line.text for line in lines])
    times = tuple((lines[number].start, turn.time) for number, turn in sorted(turns.items()) if turn.time)
    for number, turn in turns.items():
        lines[number] = _without_turn(lines[number], turn)
    blocks = list(_blocks(lines, program, turns))
    plain = _mask_inline("".join((" " * body, "\n".join(line.text for line in lines))), blocks)
    blocks = [_labelled(block, text) for block in _spoken(blocks, lines, turns)]
    return Layout(plain, tuple(_courtesies(list(_tidy(blocks, plain)), plain)), times, body)


def _labelled(block: Block, text: str) -> Block:
    label = _RUN_IN.match(text, block.start, block.end) if block.kind == "prose" else None
    return replace(block, label=label.group().strip(" \t*_:.").lower()) if label else block


def as_it_is(text: str) -> Layout:
    """Everything as prose: for a document in which nothing else is left to be read."""
    plain = text.replace(GAP, " ").replace("\r", " ")
    return Layout(plain, (Block("prose", 0, len(plain)),), (), 0)


def _without_turn(line: Line, turn: Turn) -> Line:
    return Line(line.start, " " * turn.text_at + line.text[turn.text_at :])


def _spoken(blocks: Sequence[Block], lines: Sequence[Line], turns: dict[int, Turn]) -> list[Block]:
    """Each block with who says it: the last one named before."""
    named = [(lines[number].start, turn.speaker) for number, turn in sorted(turns.items()) if turn.speaker]
    if not named:
        return list(blocks)
    starts = [start for start, _ in named]
    found = []
    for block in blocks:
        at = bisect_right(starts, block.start) - 1
        speaker = named[at][1] if at >= 0 and block.kind != "heading" else ""
        found.append(replace(block, speaker=speaker))
    return found


def _mask(text: str, body: int) -> str:
    plain = " " * body + text[body:].replace(GAP, " ").replace("\r", " ")
    plain = _PARTING.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), plain)
    plain = _FURNITURE.sub(lambda match: " " * len(match.group()), plain)
    plain = _HYPHENATED.sub(lambda match: GAP * len(match.group()), plain)
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), plain)


def _mask_inline(plain: str, blocks: Sequence[Block]) -> str:
    parts: list[str] = []
    position = 0
    for block in blocks:
        parts.append(plain[position : block.start])
        inside = plain[block.start : block.end]
        if block.quoted:
            inside = "\n".join(_unquoted(line) for line in inside.split("\n"))
        label = _RUN_IN.match(inside) or _DATELINE.match(inside)
        if label and block.kind == "prose":
            inside = GAP * label.end() + inside[label.end() :]
        if block.kind != "code":
            inside = _INLINE.sub(lambda match: GAP * len(match.group()), inside)
            # What is very strong is marked twice, one pair inside the other.
            inside = _EMPHASIS.sub(_without_marks, _EMPHASIS.sub(_without_marks, inside))
        parts.append(inside)
        position = block.end
    return "".join(parts) + plain[position:]


def _without_marks(match: re.Match[str]) -> str:
    size = len(match.group("star") or match.group("line"))
    return GAP * size + match.group()[size:-size] + GAP * size


def _unquoted(line: str) -> str:
    mark = _QUOTED.match(line)
    size = mark.end() if mark and mark.group().strip() else comment_mark(line)
    return " " * size + line[size:]


def _lines(plain: str, body: int) -> list[Line]:
    found = []
    position = body
    for text in plain[body:].split("\n"):
        found.append(Line(position, text))
        position += len(text) + 1
    return found


def _blocks(lines: list[Line], program: bool, turns: dict[int, Turn]) -> Iterator[Block]:
    tables = table_runs([line.text for line in lines])
    # Words go on over a line that only says when; a new speaker begins anew.
    breaks = {*tables, *(number for number, turn in turns.items() if turn.speaker)}
    at = 0
    nothing_yet = True
    while at < len(lines):
        line = lines[at]
        nothing_yet = nothing_yet and not any(row.text.strip() for row in lines[max(0, at - 1) : at])
        fence = _FENCE.match(line.text)
        if not line.text.strip():
            at += 1
        elif fence:
            after = _fence_end(lines, at, fence.group(1))
            closed = after > at + 1 and lines[after - 1].text.strip().startswith(fence.group(1))
            yield from (Block("code", row.start, row.end) for row in lines[at + 1 : after - closed])
            at = after
        elif begins_literal(line.text) and not program and (after := _literal_end(lines, at)) > at + 1:
            said = line.text.rstrip(": ")
            if said.strip() and not line.text.lstrip().startswith(".."):
                yield Block("prose", line.start + line.indent, line.start + len(said))
            yield from (Block("code", row.start, row.end) for row in lines[at + 1 : after] if row.text.strip())
            at = after
        elif at in tables:
            yield from (Block("table", row.start, row.end) for row in lines[at : tables[at]] if row.text.strip())
            at = tables[at]
        elif program:
            after = _same_sort(lines, at)
            yield from _program_part(lines[at:after])
            at = after
        else:
            after = _paragraph_end(lines, at, breaks)
            if nothing_yet and after == at + 1 and _is_title(line.text):
                yield Block("heading", line.start + line.indent, line.end, 1)
            else:
                yield from _paragraph(lines, at, after)
            at = after


def _fence_end(lines: list[Line], at: int, fence: str) -> int:
    for after in range(at + 1, len(lines)):
        if lines[after].text.strip().startswith(fence):
            return after + 1
    return len(lines)


def _literal_end(lines: list[Line], at: int) -> int:
    """Behind the lines below a mark that are further in than it."""
    after, last = at + 1, at + 1
    while after < len(lines) and (not lines[after].text.strip() or lines[after].indent > lines[at].indent):
        after += 1
        last = after if lines[after - 1].text.strip() else last
    return last


def _same_sort(lines: list[Line], at: int) -> int:
    comment = is_comment(lines[at].text)
    after = at + 1
    while after < len(lines) and lines[after].text.strip() and is_comment(lines[after].text) == comment:
        after += 1
    return after


def _program_part(lines: list[Line]) -> Iterator[Block]:
    if is_comment(lines[0].text):
        yield Block("prose", lines[0].start, lines[-1].end, quoted=True)
    else:
        yield from (Block("code", line.start, line.end) for line in lines)


def _paragraph_end(lines: list[Line], at: int, breaks: Container[int]) -> int:
    after = at + 1
    while after < len(lines) and lines[after].text.strip() and after not in breaks:
        if _FENCE.match(lines[after].text):
            break
        after += 1
    return after


def _paragraph(lines: list[Line], at: int, after: int) -> Iterator[Block]:
    """The blocks of lines without an empty one between them."""
    rows = lines[at:after]
    talk = any(is_session(row.text) for row in rows)
    if talk or sum(is_code(row.text) or is_dense(row.text) for row in rows) > 0.5 * len(rows):
        yield from (Block("code", row.start, row.end) for row in rows)
        return
    started: Block | None = None
    for number, row in enumerate(rows):
        following = rows[number + 1] if number + 1 < len(rows) else None
        fresh = _begins(row, following, started is None, alone=len(rows) == 1)
        if fresh is None and started is not None:
            started = replace(started, end=row.end)
            continue
        if started is not None:
            yield started
        started = fresh
        if started is not None and started.kind == "heading":
            yield started
            started = None
    if started is not None:
        yield started


def _begins(row: Line, following: Line | None, first: bool, *, alone: bool) -> Block | None:
    """The block that a line begins; None when it goes on with the one before, or is only a rule."""
    if _RULE.match(row.text) or _UNDERLINE.match(row.text):
        return None
    heading = _ATX.match(row.text)
    if heading:
        return Block("heading", row.start + heading.start(2), row.start + heading.end(2), len(heading.group(1)))
    start, end = row.start + row.indent, row.end
    if following is not None and first and _UNDERLINE.match(following.text) and len(row.text.strip()) < 120:
        return Block("heading", start, end, 1 if "=" in following.text else 2)
    item = _ITEM.match(row.text)
    if alone and _is_label(row.text) and not (item and row.text.lstrip()[0] in "-*+•"):
        return Block("heading", start, end, 3)
    clause = _CLAUSE.match(row.text)
    if clause:
        return Block("prose", row.start + clause.end(), end)
    if item:
        if following is not None and _CLAUSE.match(following.text) and _is_label(row.text):
            return Block("heading", start, end, 3)
        return Block("item", row.start + item.end(), end)
    if (
        first
        and following is not None
        and following.indent > row.indent
        and _is_label(row.text)
        and _is_capitals(row.text)
    ):
        return Block("heading", start, end, 2)
    quoted = _QUOTED.match(row.text)
    if quoted and quoted.group().strip():
        return Block("prose", row.start + quoted.end(), end, quoted=True) if first else None
    return Block("prose", start, end) if first else None


def _is_label(text: str) -> bool:
    """Whether a line by itself is too short and unfinished to be a sentence."""
    said = text.strip()
    if not _LETTER.search(said) or len(said) > 90 or len(said.split()) > 12 or _TECHNICAL.search(said):
        return False
    if _NUMBERED.match(text) and len(said) <= 70 and said.count(".") <= 2 and len(said.split()) <= 8:
        # `1. Source Code.` is a heading, `7.2 The fee is due at once.` is none.
        small = sum(1 for word in said.split()[1:] if word[:1].islower())
        return not (said.endswith(".") and small > 2)
    if _ENDED.search(said):
        return False
    first = _LETTER.search(said)
    return first is not None and not first.group().islower() and "  " not in said and len(said) <= 80


def _is_title(text: str) -> bool:
    """Whether the very first line, when it stands alone, names the document. It may be longer than other headings."""
    said = text.strip()
    return (
        len(said) <= 160
        and bool(_LETTER.search(said))
        and not (_ATX.match(text) or _ENDED.search(said) or _SEVERAL.search(said) or is_code(said))
    )


def _is_capitals(text: str) -> bool:
    letters = _LETTER.findall(text)
    return len(letters) > 2 and all(letter.isupper() for letter in letters)


def _tidy(blocks: list[Block], plain: str) -> Iterator[Block]:
    """Without empty blocks; short lines in a row that look like headings are a list, not so many headings."""
    kept = [block for block in blocks if plain[block.start : block.end].strip(GAP + " \t\n")]
    for at, block in enumerate(kept):
        if block.kind != "heading" or block.level != 3:
            yield block
            continue
        before = kept[at - 1] if at else None
        behind = kept[at + 1] if at + 1 < len(kept) else None
        between = behind is not None and behind.kind == "heading" and behind.level == 3
        crowd = between and (before is None or (before.kind == "heading" and before.level == 3)) and at > 0
        yield replace(block, kind="item", level=0) if crowd or (behind is None and at > 0) else block


def is_verse(layout: Layout) -> bool:
    """Short lines in stanzas, most of which end before the sentence does."""
    stanzas = [
        layout.plain[block.start : block.end].strip().split("\n")
        for block in layout.blocks
        if block.kind == "prose" and not block.speaker
    ]
    lines = [line.strip() for stanza in stanzas for line in stanza if line.strip()]
    if len(lines) < 8 or len(lines) < 3 * len(stanzas) or max(map(len, lines)) > 64:
        return False
    ended = sum(1 for line in lines if line.endswith((".", "!", "?", "。", "！", "？")))
    return sum(map(len, lines)) < 46 * len(lines) and 2 * ended < len(lines)


def _courtesies(blocks: list[Block], plain: str) -> list[Block]:
    """What only greets or signs at the two ends of a letter says nothing about its subject."""
    found = list(blocks)
    for at in {0, 1, len(found) - 2, len(found) - 1}:
        if 0 <= at < len(found) and _COURTESY.match(plain[found[at].start : found[at].end].strip(GAP + " \t\n")):
            found[at] = replace(found[at], kind="meta", level=0)
    return found if any(block.kind != "meta" for block in found) else list(blocks)
