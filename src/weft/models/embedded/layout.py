"""The parts of a document: headings, prose, items, tables, code; and what stands beside the text and is not of it.

`lay_out` gives blocks with their place in the text, and `plain`: the text with everything that is not said (marks of
emphasis, addresses of links, bullets, times) replaced by `GAP` or spaces, character by character, so that a place in
`plain` is the same place in the text. The structure is the markdown reader's; what plain text says by its looks alone
(a heading without a mark, a page of a manual, a row of columns, a turn of a talk) is seen here.

An aside is a byline, a sponsor, a line of navigation, a notice of rights, a bibliography: read, and never told.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from typing import Final, Literal

from weft.language import markdown
from weft.language.sentences import GAP
from weft.models.embedded.code_lines import (
    comment_mark,
    is_code,
    is_comment,
    is_dense,
    looks_like_program,
    without_fences,
)
from weft.models.embedded.lexicon import signs
from weft.models.embedded.speaker_turns import Turn, find_turns
from weft.models.embedded.tables import table_runs
from weft.models.embedded.words import ANY_WORD
from weft.protocol.values import dataclass

Kind = Literal["heading", "prose", "item", "table", "code", "aside"]
Span = tuple[int, int]
_FRONT_MATTER: Final = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(?:.*\n){0,200}?\1[ \t]*(?:\n|\Z)")
_MAIL_HEAD: Final = re.compile(
    r"\s*(?=(?:[A-Z][\w-]*:.*\n|[ \t]+\S.*\n)*?Subject: )(?:[A-Z][\w-]*:.*\n(?:[ \t]+\S.*\n)*){3,200}(?=[ \t]*\n)"
)
"""What stands over a mail: fields, each of which may go on in lines that are set in."""
_HIDDEN: Final = re.compile(
    r"<!--.{0,3000}?-->|-\*-[^\n]{1,80}?-\*-|<(script|style)\b.{0,20000}?</\1>|^\.\. [^\n]*$"
    r"|^\[[^\]\n]{1,80}\]: \S+[^\n]*$",
    re.S | re.M | re.I,
)
_FURNITURE: Final = re.compile(
    r"^(?P<name>[A-Za-z][\w.:+-]*\(\d\w?\))[ \t].*(?P=name)[ \t]*$|\A\ufeff?WEBVTT.*$|^\f?.*\[Page \d+\]$"
    r"|^\f?RFC \d+ .*\d{4}$|^[ \t]*(?:Page |Seite )?-? ?\d{1,4} ?-?[ \t]*$|\f",
    re.M,
)
"""The heads and feet of pages."""
_HYPHENATED: Final = re.compile("(?<=\\w)[\u2010\u00ad]\\n[ \\t]*(?=[a-z\u00df-\u00ff])")
_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")
_BULLET: Final = re.compile(
    r"\s*(?:[•‣◦▪●○–·☐✓✔]|[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?|\(?[a-z][.)]|\([ivx\d]{1,4}\)|\d{1,2}/\d{0,2}"
    r"|\d{1,3}[.)]|\d{1,2} [-–](?=\s[A-ZÀ-Þ]))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_CLAUSE: Final = re.compile(r"(?:§\s*)?\d{1,2}(?:\.\d{1,2}){0,3}[.)]?[ \t]+(?=\S)")
_ON_A_DAY: Final = r"(?:,? (?:\d{1,2}\.? [A-Z][a-z]+|[A-Z][a-z]+\.? \d{1,2})\.?(?:,? \d{4})?)?"
_DASH: Final = r"(?:\s?(?:[—–]{1,2}|--)\s?|\s-\s?|-\s)"
"""A hyphen in a word is none: `POV-Ray`."""
_DATELINE: Final = re.compile(
    rf"(?:[A-ZÀ-Þ][A-ZÀ-Þ .,'’-]{{2,30}}(?:,? [A-Z][a-z]+\.?)?{_ON_A_DAY}(?: \([A-Za-z/ ]+\))?|\(?[A-Z]{{2,8}}\)?)"
    rf"{_DASH}(?=[A-Z\"“])|[A-Z][\w.,'’ -]{{1,40}} \([A-Z][A-Za-z/ ]{{1,14}}\){_DASH}(?=[A-Z\"“])"
    r"|\([A-Z]{2,8}(?: [A-Z][a-z]+)?\)\s*[—–-]*\s*(?=[A-Z\"“])"
    # an agency without a dash behind it: `Moscow (CNN)The`, `MOSCOW, February 9. /TASS/.`
    r"|[A-Z][\w.,'’/ -]{1,40} \([A-Z]{2,8}\)(?=[A-Z\"“])"
    r"|(?:[A-ZÀ-Þ][A-ZÀ-Þ .'’-]{2,30}, [A-Z][a-z]+ \d{1,2}\. ?)?/[A-Z]{3,12}/\.?\s+(?=[A-Z\"“])"
    # a town and its country
    rf"|[A-Z][a-z'’]+(?: [A-Z][a-z]+)?, (?:the |[a-z]+ )?[A-Z][a-z]+(?: [A-Z][a-z]+)?{_ON_A_DAY}"
    rf"{_DASH}(?=[A-Z\"“])"
)
_NICK: Final = re.compile(r"\s*<[^\s<>@/:]{1,20}> \S")
"""With this a line of a chat begins that somebody tells of."""
DECK: Final = "deck"
"""The label of what stands as a heading right below the title and says in a clause what the text says."""
_CLAUSED: Final = 8
"""Words of one."""
ASKED: Final = "asked"
"""The label of a line that is marked as a question."""
DATELINE: Final = "dateline"
"""The label of a paragraph that begins with a place or an agency."""
_RUN_IN: Final = re.compile(
    rf"(?:\*\*|__)?(?:{signs('run_in')})(?:\*\*|__)?(?:[:.](?:\*\*|__)?[ \t]+|[ \t]*[—–-]+[ \t]*)(?=\S)"
)
_ASKED_IN_BOLD: Final = re.compile(r"\s*(\*\*|__)(?:(?!\1).){3,400}\?\s*\1\s+(?=\S)", re.S)
"""A question in bold at the head of a paragraph, as a printed interview has it: what follows answers it."""
_ENDED: Final = re.compile(r"[.!?…。！？؟।:;,،；：][\"'”’»)\]]*$")
_LETTER: Final = re.compile(r"[^\W\d_]")
_HOST: Final = re.compile(r"\bwww\.|://")
_TECHNICAL: Final = re.compile(r"[\[\]{}|=<>$%\\]|--|\bwww\.|://")

# -- asides

_BYLINE: Final = re.compile(
    r"(?:by|von|par|por|di)\s+[A-ZÀ-Þ][\w.'’-]+(?:\s+(?:and\s+|und\s+|et\s+|y\s+)?[A-ZÀ-Þ(][\w.,'’()-]+){0,7}"
    r"(?:\s*[|·•,–-].{0,60})?$",
    re.I,
)
_STAMP: Final = re.compile(
    rf"(?:{signs('stamp')})\b.{{0,60}}$|(?:\w+,? )?\d{{1,2}}\.? \w+ \d{{4}}(?:,? \d{{1,2}}[:.]\d\d.{{0,12}})?$"
    r"|\w+ \d{1,2},? \d{4}(?:,? \d{1,2}[:.]\d\d.{0,12})?$|\d{4}-\d\d-\d\d$"
    r"|\d+ min(?:ute)?s? (?:read|to read|lesezeit).*$",
    re.I,
)
_RELEASED: Final = r"[a-z0-9][\w.+-]* \(\S+\) [\w -]+; urgency=\w+"
"""The head of an entry in the list of changes of a package."""
_PICTURE: Final = rf"(?:{signs('picture')})s?"
_BESIDE: Final = re.compile(
    rf"(?:{signs('key_words')})\s?[:—–-].*$|(?:{signs('figure')}) \d+ ?[.:].*$"
    rf"|{_PICTURE}(?: by| credit)?\s?[:/©].{{0,120}}$|{_PICTURE} (?:by|courtesy of|von|de)\b.{{0,100}}$"
    rf"|(?:{signs('advert')})\b.{{0,80}}$"
    rf"|(?:{signs('around')})\b[^.]{{0,100}}$|(?:{signs('rights')})$|{_RELEASED}$",
    re.I,
)
_SPONSOR: Final = re.compile(rf"\b(?:{signs('sponsor')})\b", re.I)
_CREDIT: Final = re.compile(
    r"(?i:\b(?:photo(?:graph)?|image|picture|foto|bild|illustration|credit)s?(?: credit| courtesy)?(?: by\b|\s?[:/©]))"
    r"\s?[^.!?]{2,60}\.?$"
    r"|^(?:[A-Z][\w.'’-]+ ){1,2}[A-Z][\w.'’-]+/[A-Z][\w.]+ (?=[A-Z])"
    r"|\((?:[A-Z][\w.'’-]*\s?){1,4}(?:/|\bvia |\bfor (?:the )?)\s?[A-Z][\w. /'’-]{1,40}\)\.?$"
    r"|\b[A-Z][\w'’-]+\s?/\s?(?:Getty(?: Images)?|AFP|AP|Reuters|EPA|dpa|Shutterstock|Alamy|PA|TASS)\b\W*$"
)
"""With these a paragraph ends, or begins, that stands below a picture: who took it."""
_CAPTION: Final = 400
"""The most characters of one."""
_REFERENCES: Final = re.compile(rf"(?:\W*\d+\W+)?(?:{signs('references')})\W*$", re.I)
_ENTRY: Final = re.compile(
    r"\[?\d{1,3}[\].)]?\s+[A-ZÀ-Þ][\w'’-]+,? (?:[A-Z]\.|and |et al).*\d{4}|\[[\w+-]{1,12}\]\s+[A-ZÀ-Þ].*\d{4}"
    r"|[A-ZÀ-Þ][\w'’-]+,? [A-Z]\.(?:[ ,A-Z.&-]|and |[A-ZÀ-Þ][\w'’-]+)*\(?\d{4}[a-z]?\)?[.,:]"
)
_COURTESY: Final = re.compile(
    rf"(?:{signs('salutation')})\b[^.?!\n]{{0,60}}[,:!]?$|(?:{signs('closing')})\b[^.?!]{{0,80}}$", re.I
)
_SIGNED: Final = re.compile(r"(?:--|[—–])\s*[A-ZÀ-Þ][\w.'’-]+(?: [\w.'’-]+){0,4}(?: <?\S+@\S+.{0,60}|, .{1,60})?$")
"""Who has said or written what stands above it."""
_OF_SOMEBODY: Final = re.compile(r"(?:--|[—–])\s*[\"“_'‘A-ZÀ-Þ][^.!?]{2,80}$")
"""The same, said in more words."""
_NOTED: Final = re.compile(rf"(?:{signs('please_note')})\b|\[[^\[\]]*\]$", re.I)
"""What is said to the reader before the text begins."""
_ABOUT_ITSELF: Final = re.compile(rf"\W*(?:{signs('noted')})\s?[:：]", re.I)
"""With this a paragraph begins that a text has about itself: who paid, what was put right."""
_WRITER: Final = re.compile(
    rf"(?P<name>[A-ZÀ-Þ][\w.'’-]+(?: [A-ZÀ-Þ][\w.'’-]+){{1,3}}),? (?:{signs('writes')})\b[^.!?]{{0,160}}\b"
    rf"(?:{signs('writer')})\b"
)
"""Who wrote it, told in a paragraph of its own."""
_HERALD: Final = re.compile(rf"\s*(?:{signs('herald')}|{_RELEASED})\W*$", re.I)
"""What stands over the title, to say what kind of paper it is."""
_REPLIED: Final = re.compile(rf"^[> ]*(?:{signs('wrote')})[ \t]*:[ \t]*$", re.I | re.M)
"""With this a letter quotes the one that it answers."""
_FIRST: Final = 2
_TOP: Final = 8
"""Blocks at the beginning among which bylines, dates and the like stand."""
_MOSTLY: Final = 0.4
"""Asides that are more of a document than this are the document: a licence is about rights."""


@dataclass(frozen=True, slots=True)
class LaidBlock:
    kind: Kind
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 is the title of the whole."""
    quoted: bool = False
    set_off: bool = False
    """Whether a line with a colon announces it: somebody's words, an example, the end of that sentence."""
    speaker: str = ""
    label: str = ""
    """What stands before it in its first line: `results`."""
    guessed: bool = False
    """Of a heading: whether only its looks say so."""


@dataclass(frozen=True, slots=True)
class Layout:
    plain: str
    blocks: tuple[LaidBlock, ...]
    times: tuple[tuple[int, str], ...]
    """Where in the text which time is named."""
    body: int
    """Where the document begins after its front matter."""
    program: bool
    dateline: bool
    byline: str
    """Who the text says has written it; "" where it does not."""


def lay_out(text: str) -> Layout:
    front = _FRONT_MATTER.match(text) or _MAIL_HEAD.match(text)
    body = front.end() if front else 0
    plain = _masked(text, body)
    lines = without_fences(plain.split("\n"))
    program = looks_like_program(lines)
    turns = {} if program else find_turns(lines)
    starts = _starts(lines)
    times = tuple((starts[number], turn.time) for number, turn in sorted(turns.items()) if turn.time)
    for number, turn in turns.items():
        lines[number] = " " * turn.text_at + lines[number][turn.text_at :]
    reader = _Reader("\n".join(lines), lines, starts, turns)
    blocks = list(reader.program() if program else reader.blocks())
    plain = reader.plain()
    blocks = [block for block in blocks if plain[block.start : block.end].strip(GAP + " \t\n")]
    blocks = _spoken(blocks, plain, starts, turns)
    byline = next((words for one in blocks[:6] if _BYLINE.match(words := _said(plain, one))), "")
    return Layout(plain, tuple(_beside(blocks, plain)), times, body, program, reader.dateline, byline)


def as_it_is(text: str) -> Layout:
    """Everything as prose: for a document in which nothing else is left to be read."""
    plain = text.replace(GAP, " ").replace("\r", " ")
    return Layout(plain, (LaidBlock("prose", 0, len(plain)),), (), 0, False, False, "")


def _masked(text: str, body: int) -> str:
    plain = re.sub(r"[^\n]", " ", text[:body]) + text[body:].replace(GAP, " ").replace("\r", " ")
    plain = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), plain)
    plain = _FURNITURE.sub(lambda match: " " * len(match.group()), plain)
    return _HYPHENATED.sub(lambda match: GAP * len(match.group()), plain)


def _starts(lines: Sequence[str]) -> list[int]:
    return [0, *accumulate(len(line) + 1 for line in lines)]


class _Reader:
    def __init__(self, text: str, lines: Sequence[str], starts: Sequence[int], turns: dict[int, Turn]) -> None:
        self._text = text
        self._lines = lines
        self._starts = starts
        self._turns = turns
        self._gaps: list[Span] = []
        self._set_off = -1
        """How far in what stands that a line with a colon has announced; -1 where nothing was."""
        self._announced = False
        """Whether such a line stands before a list."""
        self.dateline = False

    def plain(self) -> str:
        """The text without what is only a mark."""
        signs = list(self._text)
        for low, high in self._gaps:
            signs[low:high] = [sign if sign == "\n" else GAP for sign in signs[low:high]]
        return "".join(signs)

    def program(self) -> Iterator[LaidBlock]:
        """A file of code: what its comments say, and the rest."""
        for comment, run in groupby(range(len(self._lines)), key=lambda at: is_comment(self._lines[at])):
            numbers = list(run)
            starts, ends = ([self._starts[at + more] for at in numbers] for more in (0, 1))
            if comment:
                marks = (comment_mark(self._lines[at]) for at in numbers)
                self._gaps += [(start, start + mark) for start, mark in zip(starts, marks, strict=True)]
                yield LaidBlock("prose", starts[0], ends[-1] - 1, quoted=True)
            else:
                spans = zip(starts, ends, strict=True)
                yield from (LaidBlock("code", low, high - 1) for low, high in spans if self._text[low:high].strip())

    def blocks(self) -> Iterator[LaidBlock]:
        found = markdown.blocks(self._text)
        tables = table_runs(self._lines)
        under, first = False, True
        self._set_off = -1
        for at, block in enumerate(found):
            following = found[at + 1] if at + 1 < len(found) else None
            match block.kind:
                case "code":
                    yield from (LaidBlock("code", low, high) for low, high in block.lines[1:-1] or block.lines[:1])
                case "table":
                    rows = (span for span in block.lines if ANY_WORD.search(self._text, *span))
                    yield from (LaidBlock("table", low, high) for low, high in rows)
                case "html":
                    self._gaps += [match.span() for match in _TAG.finditer(self._text, block.start, block.end)]
                    yield LaidBlock("prose", block.start, block.end)
                case "heading" if is_code(self._text[block.start : block.end].split("\n")[0]):
                    # Code above a line of dashes, which ends it elsewhere than in markdown.
                    yield from (LaidBlock("code", low, high) for low, high in block.lines[:1])
                case "heading":
                    self._mark(block)
                    self._announced = False
                    under = under and block.level > 1 and _is_deck(self._text[block.start : block.end])
                    kind: Kind = "prose" if under else "heading"
                    yield LaidBlock(kind, block.start, block.end, block.level, label=DECK if under else "")
                    under, first = under or block.level == 1, False
                    continue
                case _ if first and _HERALD.match(self._text, block.start, block.end):
                    yield LaidBlock("aside", block.start, block.end)
                    continue
                case _:
                    yield from self._paragraph(block, following, tables, first=first)
            under = first = False

    def _mark(self, block: markdown.Block) -> None:
        self._gaps += [(low, high) for low, high, kind in markdown.marks(self._text, block) if kind == "syntax"]

    def _paragraph(
        self, block: markdown.Block, following: markdown.Block | None, tables: dict[int, int], *, first: bool
    ) -> Iterator[LaidBlock]:  # fmt: skip
        rows = [self._text[low:high] for low, high in block.lines]
        if sum(is_code(row) or is_dense(row) for row in rows) > 0.5 * len(rows):
            yield from (LaidBlock("code", low, high) for low, high in block.lines)
            return
        self._mark(block)
        indent = _indent(self._lines[bisect_right(self._starts, block.lines[0][0]) - 1])
        deeper = 0 <= self._set_off < indent
        if _NICK.match(rows[0]):
            self._set_off, deeper = indent - 1, True
        elif not deeper:
            self._set_off = indent if rows[-1].rstrip().endswith(":") else -1
        for low, high in self._pieces(block, tables):
            for piece in self._piece(block, low, high, following, alone=len(block.lines) == 1, first=first):
                if piece.kind == "prose":
                    self._announced = self._text[piece.start : piece.end].rstrip(" *_").endswith(":")
                set_off = deeper if piece.kind == "prose" else piece.kind == "item" and self._announced
                yield replace(piece, set_off=set_off)

    def _pieces(self, block: markdown.Block, tables: dict[int, int]) -> Iterator[tuple[int, int]]:
        """Numbers of lines that belong together: a new speaker, a bullet, a heading in capitals, a table begin anew."""
        numbers = [bisect_right(self._starts, low) - 1 for low, _ in block.lines]
        low, table_end = 0, -1
        for at in range(1, len(numbers)):
            number, row = numbers[at], self._lines[numbers[at]]
            turn = self._turns.get(number)
            before = self._lines[numbers[at - 1]]
            bullet = _BULLET.match(row)
            fresh = bullet and (
                not bullet.group().strip()[0].isalnum() or _BULLET.match(before) or _ENDED.search(before)
            )
            heading = _is_capitals(before) and at - 1 == low and _is_label(before) and _indent(row) > _indent(before)
            signed = at == len(numbers) - 1 and _SIGNED.match(row.strip())
            if (
                number in tables
                or number == table_end
                or (turn and (turn.speaker or not turn.time))
                or fresh
                or heading
                or signed
            ):
                yield low, at
                low = at
            table_end = tables.get(number, table_end)
        yield low, len(numbers)

    def _piece(
        self, block: markdown.Block, low: int, high: int, following: markdown.Block | None, *, alone: bool, first: bool
    ) -> Iterator[LaidBlock]:  # fmt: skip
        start, end = block.lines[low][0], block.lines[high - 1][1]
        said = self._text[start:end]
        number = bisect_right(self._starts, start) - 1
        if high - low > 2 and table_runs(self._lines[number : number + high - low]).get(0, 0) >= high - low:
            yield from (LaidBlock("table", *span) for span in block.lines[low:high])
            return
        bullet = _BULLET.match(said)
        item = bool(block.number) or bullet is not None
        single = high - low == 1
        heads = following is not None and following.kind in ("paragraph", "code") and following.items == block.items
        if single and not block.quoted and not item and not block.items and (alone or _is_capitals(said)):
            if first and _is_title(said):
                yield LaidBlock("heading", start, end, 1)
                return
            if _is_label(said) and following is not None:
                loud = _is_capitals(said)
                yield LaidBlock("heading", start, end, 2 if loud else 3, guessed=not loud)
                return
        listed = block.number[:1].isdigit() and block.items == 1
        if single and listed and _is_label(said) and heads is False and block.number.rstrip(".)") != "0":
            # `3.  Security considerations` above its text: a heading, not a list of one.
            yield LaidBlock("heading", start, end, 2)
            return
        if bullet and not block.items:
            self._gaps.append((start, start + bullet.end()))
            start += bullet.end()
        if item:
            yield LaidBlock("item", start, end, quoted=block.quoted)
            return
        label = _RUN_IN.match(self._text, start, end)
        dateline = _DATELINE.match(self._text, start, end) if not label else None
        clause = _CLAUSE.match(self._text, start, end) if not (label or dateline) else None
        lead = label or dateline or (clause if clause and "." in clause.group().rstrip()[:-1] else None)
        if lead:
            self._gaps.append(lead.span())
            self.dateline = self.dateline or lead is dateline
        asking = number in self._turns and self._turns[number].asks
        name = ASKED if asking else label.group().strip(" \t*_:.—–-").lower() if label else DATELINE if dateline else ""
        asked = _ASKED_IN_BOLD.match(self._text, start, end)
        if asked:
            yield LaidBlock("prose", start, asked.end(), quoted=block.quoted)
            start = asked.end()
        yield LaidBlock("prose", start, end, quoted=block.quoted, label=name)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_label(text: str) -> bool:
    """Whether a line by itself is too short and unfinished to be a sentence."""
    said = text.strip()
    letter = _LETTER.search(said)
    if letter is None or len(said) > 80 or len(said.split()) > 10 or _TECHNICAL.search(said) or "  " in said:
        return False
    return not _ENDED.search(said) and not letter.group().islower()


def _is_deck(text: str) -> bool:
    said = text.strip("# \t\n")
    return len(said.split()) >= _CLAUSED and not said[0].isdigit() and not said.endswith("?")


def _is_title(text: str) -> bool:
    """Whether the very first line, when it stands alone, names the document. It may be longer than other headings."""
    said = text.strip()
    return len(said) <= 160 and not (_ENDED.search(said) or _HOST.search(said))


def _is_capitals(text: str) -> bool:
    letters = _LETTER.findall(text)
    return len(letters) > 2 and all(letter.isupper() for letter in letters)


_NAMED: Final = 0.25
"""Where fewer paragraphs have a name, as in the captions of a film, it holds for its own alone: others speak too."""


def _spoken(blocks: Sequence[LaidBlock], plain: str, starts: Sequence[int], turns: dict[int, Turn]) -> list[LaidBlock]:
    """Each block with who says it: the last one named before."""
    named = [(starts[number], turn.speaker) for number, turn in sorted(turns.items()) if turn.speaker]
    if not named:
        return list(blocks)
    places = [start for start, _ in named]
    found = []
    sparse = len(named) < _NAMED * len(blocks)
    for block in blocks:
        at = bisect_right(places, block.start) - 1
        speaker = named[at][1] if at >= 0 and block.kind in ("prose", "item") else ""
        if sparse and at >= 0 and "\n" in plain[places[at] : block.start]:
            speaker = ""
        found.append(replace(block, speaker=speaker))
    return found


# -- what is not of the text


def _said(plain: str, block: LaidBlock) -> str:
    return " ".join(plain[block.start : block.end].replace(GAP, "").split())


def _beside(blocks: Sequence[LaidBlock], plain: str) -> list[LaidBlock]:
    """The blocks with asides named as such, unless they would be most of the document."""
    aside = _aside_sections(blocks, plain) | {
        at
        for at, block in enumerate(blocks)
        if _is_aside(block, said := _said(plain, block), at, len(blocks))
        or ((at < _TOP or at >= len(blocks) - 3) and block.kind == "prose" and _tells_of_writer(said, plain))
    }
    blocks = (
        [
            replace(block, set_off=True) if block.kind == "prose" and _OF_SOMEBODY.match(_said(plain, after)) else block
            for block, after in zip(blocks, [*blocks[1:], blocks[-1]], strict=True)
        ]
        if blocks
        else []
    )
    if _REPLIED.search(plain):
        aside |= {at for at, block in enumerate(blocks) if block.quoted}
    size = sum(block.end - block.start for block in blocks) or 1
    if sum(blocks[at].end - blocks[at].start for at in aside) > _MOSTLY * size:
        aside = {at for at in aside if len(_said(plain, blocks[at])) < 80}
    return [
        replace(block, kind="aside", level=0) if at in aside and block.kind != "code" else block
        for at, block in enumerate(blocks)
    ]


def _is_aside(block: LaidBlock, said: str, at: int, total: int) -> bool:
    if block.kind in ("code", "table") or (block.kind == "heading" and block.level < 3):
        return block.kind == "heading" and bool(_SPONSOR.search(said))
    top, ends = at < _TOP, at < 3 or at >= total - 3
    if top and (_BYLINE.match(said) or _STAMP.match(said)):
        return True
    if _BESIDE.match(said) or _ENTRY.match(said) or _SIGNED.match(said) or (ends and _COURTESY.match(said)):
        return True
    if at < _FIRST and _NOTED.match(said):
        return True
    if block.kind == "prose" and len(said) < _CAPTION and _CREDIT.search(said):
        return True
    return bool(_SPONSOR.search(said) or _ABOUT_ITSELF.match(said)) and len(said) < 400


def _tells_of_writer(said: str, plain: str) -> bool:
    """Whether a paragraph says who the writer is: the text itself names them nowhere but in a byline."""
    told = _WRITER.match(said)
    return told is not None and plain.count(told["name"]) <= 2 and plain.count(told["name"].split()[-1]) <= 3


def _aside_sections(blocks: Sequence[LaidBlock], plain: str) -> set[int]:
    """A bibliography, thanks, rights, a sponsor: from such a heading to the next of its rank."""
    found: set[int] = set()
    level = 0
    for at, block in enumerate(blocks):
        if block.kind == "heading":
            if level and block.level <= level:
                level = 0
            said = _said(plain, block)
            if at and not level and (_REFERENCES.match(said) or _SPONSOR.search(said)):
                level = block.level
        if level:
            found.add(at)
    return found
