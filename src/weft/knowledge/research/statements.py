"""A passage as statements: sentences as they are read, each with its place, and the lines of code that stand behind it.

What is shown of a passage is called quoted, so nothing is joined here that the passage does not join, and no character
goes that is not mark-up of the file's own format: a star or a backslash of a web page is what its reader sees. A few
words in a block of their own are the term that the next block explains only where nothing else is possible: behind
what is finished, and before what explains it. Where short blocks follow each other nobody can tell which explains
which, and each stays by itself. What is left out takes its number with it, so that the gap can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from weft.language.markdown import inline
from weft.language.pointing import points_elsewhere
from weft.language.sentences import sentence_spans
from weft.protocol.values import dataclass

CODE: Final = 400
"""Characters of code that are shown with the sentence before it, in whole lines."""
CUT: Final = "…"
"""A line of its own, where code goes on."""
SHORTEST: Final = 3
"""Words; what has fewer says nothing on its own."""


@dataclass(frozen=True, slots=True)
class PassageStatement:
    """A sentence of a passage as it is read, without its mark-up."""

    text: str
    block: int
    """Which paragraph or item it stands in."""
    item: bool = False
    """Whether that is an item of a list."""
    code: str = ""
    """The lines of code right behind it, or the first of them: without them it says half."""
    number: int = 0
    """Its place among all that the passage says."""
    entry: bool = False
    """Whether it belongs to an item that says first what it is about: an option, a field, a row of a table."""

    @property
    def shown(self) -> str:
        return f"{self.text}\n{self.code}" if self.code else self.text

    @property
    def announces(self) -> bool:
        """Whether it says nothing but that something follows, which it does not have."""
        return self.text.endswith(":") and not self.code

    @property
    def is_brief(self) -> bool:
        """Whether it is too short to be what answers; it may stand with that."""
        return not self.item and not self.code and len(self.text.split()) < SHORTEST

    @property
    def says(self) -> bool:
        """Whether it is a sentence that says something: no question, no title, no line of contents."""
        return self.text.endswith(ENDS) or _OWN_DEFAULT.search(self.text) is not None

    @property
    def tells(self) -> bool:
        """Whether it says something, or what something is: a title alone does neither."""
        return self.says or self.item or ": " in self.text or bool(self.code)

    @property
    def asks(self) -> bool:
        """Whether it is a question: a line of contents often is the very one that was asked."""
        return self.text.endswith("?") and not self.code

    @property
    def points(self) -> bool:
        """Whether it sends the reader elsewhere: it names what is asked, often in the question's own words, and answers
        nothing."""
        return points_elsewhere(self.text)


ENDS: Final = (".", "!", ":", ";", ")", "”", '"', "’", "'", "。")
_STOPS: Final = (*ENDS, "?", "…", "\u200b")
_SIGNATURE: Final = re.compile(r"(?:class |def )?[A-Za-z_][\w.]*\([^()]*\)(?:\[\w+\])?:?\Z")
"""How something is called, and nothing about it."""
_NAMED: Final = re.compile(r"(?!By [A-Z])\S+(?:\s+\S+){0,7}(?<![.!?:;,”\"’'。])\Z")
"""A few words that are no sentence, with a paragraph below them: an option with its default, a key, a file."""
_FACT: Final = re.compile(r"(?:\w+ ){0,2}\w+: (?=\S)[^:]{1,60}(?<![.!?:;,”\"’'。])\Z")
_OWN_DEFAULT: Final = re.compile(r"(?:^|(?<=[.!?)] ))Defaults?\b(?: value)?(?::| to\b| is\b)")
"""What something is by default, said without its name: it belongs to the sentence before it."""
_ENTRY: Final = re.compile(r"\S+(?: \S+){0,2}: (?=\S)")
_FENCE: Final = re.compile(r"^(?P<before>\s*)(?P<fence>`{3,}|~{3,})")
_QUOTED_CODE: Final = re.compile(
    r"^(?P<quote>(?:>[ \t]?)+)(?P<fence>`{3,}|~{3,}).*(?:\n(?P=quote).*|\n(?!(?P=quote))[> \t]*$)*?"
    r"\n(?P=quote)(?P=fence)[ \t]*$",
    re.MULTILINE,
)
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\(?(?P<number>\d{1,3}|[^\W\d_]\d?|[ivxIVX]{2,4})[.)])\s+(?=\S)")
"""A word that ends with a stop is none, where a line happens to begin with it: `… the set is used` and `in. Once …`."""
_FIRST: Final = (None, "1", "a", "A", "i", "I")
"""What may begin a list within a paragraph; any other number goes on with one: `… with mode` and `600) for …`."""
_TABLE_OF_ONE: Final = re.compile(
    r"^\|(?P<heads>[^\n]*\|)\n\|[\s|:-]*\n\|(?P<values>[^\n]*\|)(?=\n(?!\|)|\Z)", re.MULTILINE
)
_RULE: Final = re.compile(r"^[\s|:=~*_+-]*$")
_HEADING: Final = re.compile(r"\s*#{1,6}(?:\s|\Z)")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_NUMBER: Final = re.compile(r"[\d.]+\.")
"""What a paragraph is called: `1.7.` belongs to what it says."""
_STANDS_ALONE: Final = re.compile(r"(?:^|\s)[.!?]+\Z")
"""A sign that is spoken of (`Type a ? to …`) and ends nothing where a small letter follows."""
_WRITTEN: Final = frozenset((".txt", ".text", ".pdf", ".docx", ".srt", ".vtt", ".csv", ".tsv", ".xlsx"))
"""Files in which every character is what the reader sees."""
_PAGES: Final = frozenset((".html", ".htm", ".xhtml", ".xht", ".epub"))
"""Files that are read into text in which only quotes of code are mark-up."""
_CODE_SPAN: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def statements(content: str, file: str = "") -> list[PassageStatement]:
    """The sentences of a passage of `file`, in order. Rules and headings are no sentences; a row of a table is one.
    `Default value:` and `128` below it are one statement, and such statements in a row are a list. The items of a list
    may be short where it is announced, or where others of it are not. `Default: no` behind what is said of an option is
    one statement with it, for nothing else tells whose default it is. `Type: number`, `Default: 30` between a term and
    what is said of it are one statement, and belong to what follows."""
    reader = _PassageReader(_blocks(content), PurePosixPath(file).suffix.lower())
    reader.read()
    return reader.found


class _PassageReader:
    def __init__(self, blocks: Sequence[_Block], ending: str) -> None:
        self.found: list[PassageStatement] = []
        self._blocks = blocks
        self._ending = ending
        self._place = 0
        self._waiting: list[tuple[int, str]] = []
        """A term, or short blocks of which nobody can tell which explains which; with the number of each."""
        self._finished = True
        """Whether what stands before is: only behind that a term begins."""
        self._announced = False

    def read(self) -> None:
        facts: list[str] = []
        whole = _whole_lists(self._blocks)
        for number, block in enumerate(self._blocks):
            if block.tells_facts and _has_text(self._blocks[number + 1 :]):
                facts += map(self._bare, block.lines)
                continue
            if facts:
                self._add(", ".join(facts), number)
                facts = []
            if block.item:
                self._read_item(number, block, kept=number in whole)
            else:
                self._read_paragraph(number, block)
            self._place += block.unread
        self._flush()

    def _read_item(self, number: int, block: _Block, *, kept: bool) -> None:
        self._flush()
        own = self._bare(" ".join(block.lines))
        last = self.found[-1].text if self.found else ""
        self._announced = not block.row and (self._announced or last.endswith(":"))
        if len(own.split()) >= SHORTEST or (not block.heads and (kept or self._announced or block.code)):
            self._add_sentences(own, number, block, item=True)
        else:
            self._place += not block.heads
        self._finished = True

    def _read_paragraph(self, number: int, block: _Block) -> None:
        self._announced = False
        own = self._bare((", " if block.tells_facts else " ").join(block.lines))
        label = self._waiting[-1][1] if self._waiting and self._waiting[-1][1].endswith(":") else ""
        brief = 0 < len(own.split()) < SHORTEST and not own.endswith((".", "!", "?"))
        if label and not (brief and own.endswith(":")):
            self._waiting.pop()
            self._flush()
            self._add_sentences(f"{label} {own}", number, block, item=True)
            self._finished = True
            return
        named = _NAMED.match(own) is not None and _has_text(self._blocks[number + 1 :])
        short = not block.code and (brief or (named and not self._waiting) or _SIGNATURE.match(own) is not None)
        ended = own.endswith(_STOPS) or bool(block.code) or len(sentence_spans(own)) > 1
        if len(self._waiting) == 1 and not short and (ended or self._in_pairs(number)):
            term = self._waiting.pop()[1]
            self._add_sentences(f"{term}: {own}", number, block)
            self._finished = True
            return
        if short or (self._waiting and not ended):
            if not self._finished and not self._waiting:
                self._waiting.append((number, ""))  # it may belong to what stands before
            self._waiting.append((number, own))
            return
        self._flush()
        self._add_sentences(own, number, block)
        self._finished = ended

    def _in_pairs(self, number: int) -> bool:
        """Whether few words and more words take turns from the term on, up to what is a sentence or no paragraph: so
        it is told what explains what where nothing ends with a stop."""
        in_turn = len(self._waiting[0][1].split()) < SHORTEST
        for at, block in enumerate(self._blocks[number + 1 :]):
            own = self._bare(" ".join(block.lines))
            if not in_turn or block.item or block.tells_facts or block.code or own.endswith(_STOPS):
                break
            in_turn = (len(own.split()) < SHORTEST) is (at % 2 == 0)
        return in_turn

    def _flush(self) -> None:
        """What waited for an explanation, and has none that is sure to be its own: each as it stands."""
        several = len(self._waiting) > 1
        for number, text in self._waiting:
            if text:
                self._add(text, number, item=several and not text.endswith(":"))
        self._finished = not several
        self._waiting = []

    def _add_sentences(self, text: str, number: int, block: _Block, *, item: bool = False) -> None:
        entry = block.item and _ENTRY.match(text) is not None
        spans = _sentence_spans(text)
        for start, end in spans:
            sentence = text[start:end]
            code = _first_lines(block.code) if (start, end) == spans[-1] else ""
            if _OWN_DEFAULT.match(sentence) and self.found and self.found[-1].block == number:
                self.found[-1] = replace(self.found[-1], text=f"{self.found[-1].text} {sentence}", code=code)
                continue
            self._add(sentence, number, item=item, code=code, entry=entry)
        told = bool(spans) and bool(
            self.found[-1].code
        )  # a block that is only mark-up (`[](#preventEval)`) says nothing
        self._place += bool(block.code) and not told

    def _add(self, text: str, number: int, *, item: bool = False, code: str = "", entry: bool = False) -> None:
        self.found.append(PassageStatement(text, number, item, code, self._place, entry))
        self._place += 1

    def _bare(self, text: str) -> str:
        """Without mark-up, as far as the file's format has any."""
        if self._ending in _PAGES:
            text = _CODE_SPAN.sub(r"\1", text)
        elif self._ending not in _WRITTEN:
            marks = [(start, end) for start, end, kind in inline(text)[0] if kind == "syntax"]
            for start, end in reversed(marks):
                text = text[:start] + text[end:]
        return " ".join(text.split())


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        cut = text[start].islower() and found and _STANDS_ALONE.search(text[: found[-1][1]])
        if cut or (found and _NUMBER.fullmatch(text[slice(*found[-1])])):
            start = found.pop()[0]
        found.append((start, end))
    return found


def _first_lines(code: Sequence[str]) -> str:
    """The lines of code as they stand, as far as there is room for whole ones."""
    shown: list[str] = []
    room = CODE
    for line in code:
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*shown, CUT)) if shown else ""
        shown.append(line)
    return "\n".join(shown)


def _has_text(after: Sequence[_Block]) -> bool:
    """Whether what comes next is a paragraph: a list or a table is not said of a few words before it."""
    return bool(after) and not after[0].item


def _whole_lists(blocks: Sequence[_Block]) -> frozenset[int]:
    """The items of lists that say something, by number: of those a short one is no link or button."""
    kept: list[int] = []
    own: list[int] = []
    for number, block in enumerate((*blocks, _Block("", item=False))):
        if number < len(blocks) and block.item and not block.heads:
            own.append(number)
            continue
        if any(len(" ".join(blocks[at].lines).split()) >= SHORTEST for at in own):
            kept += own
        own = []
    return frozenset(kept)


class _Block:
    """A paragraph, an item or a row, and the code that stands right behind it."""

    def __init__(self, line: str, *, item: bool, row: bool = False) -> None:
        self.lines = [line]
        self.item = item
        self.row = row
        self.heads = False
        """Whether it is a row that names the columns of those below it."""
        self.code: list[str] = []
        self.unread = 0
        """How much more code stands behind it."""

    @property
    def tells_facts(self) -> bool:
        """Whether all it does is name things and what they are."""
        return not self.item and not self.code and all(_FACT.match(line.strip()) for line in self.lines)


def _blocks(content: str) -> list[_Block]:
    blocks: list[_Block] = []
    fence = ""
    margin = 0
    shown = False
    fresh = True
    for line in _TABLE_OF_ONE.sub(_as_facts, _QUOTED_CODE.sub(_unquoted, content)).split("\n"):
        marked = _FENCE.match(line)
        if marked and (not fence or marked["fence"].startswith(fence)):
            shown = not fence and bool(blocks) and not blocks[-1].code  # the first code behind it, no other
            if blocks and not fence and not shown:
                blocks[-1].unread += 1
            fence, margin = "" if fence else marked["fence"], len(marked["before"])
            fresh = True
        elif fence:
            if shown:
                blocks[-1].code.append(_within(line, margin))
        elif not line.strip() or _RULE.match(line) or _HEADING.match(line):
            if "|" in line and blocks and blocks[-1].row:
                blocks[-1].heads = True
            fresh = True
        elif line.lstrip().startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line.strip())]
            blocks.append(_Block(": ".join(filter(None, cells)), item=True, row=True))
            fresh = True
        elif (item := _ITEM.match(line)) and (fresh or blocks[-1].item or item["number"] in _FIRST):
            blocks.append(_Block(_ITEM.sub("", line), item=True))
            fresh = False
        elif fresh or not blocks:
            blocks.append(_Block(line.lstrip("> "), item=False))
            fresh = False
        else:
            blocks[-1].lines.append(line.strip().lstrip("> "))
    return blocks


def _unquoted(code: re.Match[str]) -> str:
    """Code without the marks of the quotation that it stands in; a line that has fewer of them is empty."""
    quote = code["quote"]
    return "\n".join(line.removeprefix(quote) if line.startswith(quote) else "" for line in code[0].split("\n"))


def _within(line: str, margin: int) -> str:
    """A line of code without what the item it stands in is indented by."""
    return line[margin:].rstrip() if not line[:margin].strip() else line.strip()


def _as_facts(table: re.Match[str]) -> str:
    """What a table of one row says, line by line: each cell is what its head names."""
    heads, values = ([cell.strip() for cell in table[name].split("|")] for name in ("heads", "values"))
    told = (f"{head}: {value}" for head, value in zip(heads, values, strict=False) if head and value)
    return "\n" + "\n".join(told) + "\n"
