"""Lines of all pages to blocks of markdown: what repeats at the edges goes, lines are joined, hyphens are mended.

A paragraph ends where the space before the next line is larger than usual, where that line is indented, where the line
before is short and ends a sentence, or where the kind of line changes. A paragraph that a page cuts goes on over it,
past the footnotes. Headings are what is larger than most of the text, or bold and by itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final, Literal

from weft.documents.characters import is_unspaced, word_set
from weft.documents.pdf_columns import middle
from weft.documents.pdf_lines import LineOnPage
from weft.protocol.values import dataclass

_EDGE: Final = 2
_MOST: Final = 0.3
_NUMBER: Final = (0, "#")
_DIGITS: Final = re.compile(r"\d+|(?<![^\W\d_])[ivxlc]{1,7}(?![^\W\d_])", re.IGNORECASE)
_NUMBER_ONLY: Final = re.compile(
    r"\W*(?:page|seite|p\.|pag\.|página|стр\.)?\W*#(?:\W*(?:of|von|de|sur|/)\W*#)?\W*", re.IGNORECASE
)
_LEADERS: Final = re.compile(r"(?:\. ?){4,}\W*\w{1,6}\Z")
_BULLET: Final = re.compile("[•‣▪▫◦●○■□◆◇➢➤✓·∙\uf0b7\uf0a7\uf0d8\uf076]+ *|[-–—*] +(?=\\S)")
_NUMBERED: Final = re.compile(r"(?:\((\d{1,3}|[a-z])\)|(\d{1,3}|[a-z])[.)]) +(?=\S)")
_SENTENCE_END: Final = re.compile(r"[.!?…:;。！？：][\"'”’»)\]]*\Z")
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PREFIXES: Final = word_set(
    "self well non co ex all cross half high low long short so multi anti pre post semi pseudo user"
)

BlockKind = Literal["paragraph", "heading", "item", "code", "row"]


@dataclass
class PdfBlock:
    kind: BlockKind
    text: str
    size: float
    starts: list[tuple[int, int]]
    """For each page that has a part of it: the page, and where in the text that part begins."""
    level: int = 0
    small: bool = False
    indent: float = 0.0
    lines: list[LineOnPage] = field(default_factory=list)


@dataclass
class Paragraphs:
    text: str
    pages: tuple[int, ...]
    running: int
    """Lines of headers and footers that were left out."""
    contents: int
    """Lines of tables of contents that were left out."""
    mended: int


def paragraphs_of(pages: Sequence[Sequence[LineOnPage]]) -> Paragraphs:
    kept, running = _without_running_lines(pages)
    kept, contents = _without_contents(kept)
    writer = _Writer(_Habits.of(kept))
    for number, lines in enumerate(kept):
        writer.page(number, lines)
    return writer.finished(len(pages), running, contents)


# -- headers, footers, tables of contents


def _without_running_lines(pages: Sequence[Sequence[LineOnPage]]) -> tuple[list[list[LineOnPage]], int]:
    """Without lines at the top and bottom edge that other pages have there too, numbers aside."""
    edges = [_edges(page) for page in pages]
    counts = Counter(key for edge in edges for key in set(edge.values()))
    needed = 3 if len(pages) > 4 else max(2, (len(pages) + 1) // 2)
    unwanted = [{index for index, key in edge.items() if counts[key] >= needed} for edge in edges]
    letters = sum(len(line.text) for page in pages for line in page)
    gone = sum(len(page[index].text) for page, indices in zip(pages, unwanted, strict=True) for index in indices)
    if gone > _MOST * letters:
        # pages that say nearly the same are the document, not its frame
        unwanted = [
            {index for index in indices if edge[index] == _NUMBER}
            for edge, indices in zip(edges, unwanted, strict=True)
        ]
    kept = [
        [line for index, line in enumerate(page) if index not in indices]
        for page, indices in zip(pages, unwanted, strict=True)
    ]
    return kept, sum(map(len, unwanted))


def _edges(page: Sequence[LineOnPage]) -> dict[int, tuple[int, str]]:
    """The outermost lines of a page by their place in it, each as its height and what it says without numbers."""
    order = sorted(range(len(page)), key=lambda index: -page[index].y)
    found: dict[int, tuple[int, str]] = {}
    for index in (*order[:_EDGE], *order[-_EDGE:]):
        text = _DIGITS.sub("#", page[index].text).casefold()
        if _NUMBER_ONLY.fullmatch(text):
            found[index] = _NUMBER
        elif sum(character.isalpha() for character in text) > 2 and not page[index].fixed:
            found[index] = round(page[index].y / 10), text
    return found


def _without_contents(pages: list[list[LineOnPage]]) -> tuple[list[list[LineOnPage]], int]:
    """Without lines that lead with dots to a page number, where there are several."""
    total = sum(1 for page in pages for line in page if _LEADERS.search(line.text))
    if total < 3:
        return pages, 0
    return [[line for line in page if not _LEADERS.search(line.text)] for page in pages], total


# -- what is usual in this document


@dataclass(frozen=True)
class _Habits:
    size: float
    leading: float
    """From one line to the next, in sizes of the font."""
    headings: tuple[float, ...]
    words: frozenset[str]

    @classmethod
    def of(cls, pages: Sequence[Sequence[LineOnPage]]) -> _Habits:
        sizes: Counter[float] = Counter()
        steps: list[float] = []
        words: set[str] = set()
        for page in pages:
            for before, line in zip([None, *page], page, strict=False):
                # What is shown in a program's letters may be most of a document, and is smaller than what it says.
                sizes[round(line.size, 1)] += 1 if line.fixed else len(line.text)
                words.update(word.lower() for word in _WORD.findall(line.text.removesuffix("-")))
                if before is not None and before.left == line.left and line.size > 0:
                    step = (before.y - line.y) / line.size
                    if 0.8 < step < 2.5 and abs(before.size - line.size) < 0.5:
                        steps.append(step)
        size = max(sizes, key=lambda each: (sizes[each], each)) if sizes else 10.0
        larger = sorted({each for each in sizes if each > 1.15 * size}, reverse=True)
        return cls(size, middle(steps) if steps else 1.2, tuple(larger), frozenset(words))


# -- blocks


class _Writer:
    def __init__(self, habits: _Habits) -> None:
        self.habits = habits
        self.blocks: list[PdfBlock] = []
        self.mended = 0

    def page(self, number: int, lines: Sequence[LineOnPage]) -> None:
        blocks = list(self._blocks(number, lines))
        self._join_pages(blocks)
        self.blocks += blocks

    def _blocks(self, number: int, lines: Sequence[LineOnPage]) -> Iterator[PdfBlock]:
        current: PdfBlock | None = None
        for index, line in enumerate(lines):
            after = lines[index + 1] if index + 1 < len(lines) else None
            if current is not None and self._continues(current, line):
                self._add(current, line)
                continue
            if current is not None:
                yield current
            current = self._begun(number, line, current, after)
        if current is not None:
            yield current

    def _begun(self, number: int, line: LineOnPage, before: PdfBlock | None, after: LineOnPage | None) -> PdfBlock:
        kind: BlockKind = "paragraph"
        text, level = line.text, 0
        bullet = _BULLET.match(text)
        if line.fixed:
            kind = "code"
        elif self._is_heading(line, before, after):
            kind = "heading"
            larger = [size for size in self.habits.headings if size > line.size + 0.1]
            level = min(1 + len(larger), 4) if line.size > 1.15 * self.habits.size else 4
        elif bullet and bullet.end() < len(text):
            kind, text = "item", f"- {text[bullet.end() :]}"
        elif _NUMBERED.match(text):
            kind = "item"
        elif line.cells > 1:
            kind = "row"
        small = line.size < 0.92 * self.habits.size
        return PdfBlock(kind, text, line.size, [(number, 0)], level, small, line.x, [line])

    def _is_heading(self, line: LineOnPage, before: PdfBlock | None, after: LineOnPage | None) -> bool:
        if len(line.text) > 150 or line.cells > 1 or not any(character.isalpha() for character in line.text):
            return False
        if line.size > 1.15 * self.habits.size:
            return True
        if not line.bold or line.size < 0.95 * self.habits.size or _SENTENCE_END.search(line.text):
            return False
        last = before.lines[-1] if before else None
        apart = last is None or self._is_apart(last, line)
        return apart and line.end < line.right and (after is None or not after.bold) and not _BULLET.match(line.text)

    def _continues(self, block: PdfBlock, line: LineOnPage) -> bool:
        last = block.lines[-1]
        if line.fixed != last.fixed or abs(line.size - last.size) > 0.08 * max(line.size, last.size):
            return False
        same_column = (line.left, line.right) == (last.left, last.right)
        if block.kind == "code":
            return line.fixed and same_column and not self._is_apart(last, line, 2.5)
        if block.kind == "row" and line.cells > 1:
            return not self._is_apart(last, line, 2.0)
        if self._is_apart(last, line) or _BULLET.match(line.text):
            return False
        if block.kind == "heading":
            return same_column and line.bold == last.bold and len(block.text) < 150
        if block.kind == "row" or line.cells > 1:
            return False
        if line.bold and not last.bold and line.end < 0.8 * line.right:
            return False
        return not self._begins(block, last, line)

    def _is_apart(self, last: LineOnPage, line: LineOnPage, usual: float = 1.0) -> bool:
        """More space before the line than between lines, unless it stands in the next column."""
        step = last.y - line.y
        if step < -0.5 * line.size:
            return False
        return step > usual * self.habits.leading * max(last.size, line.size) * 1.2 + 1

    def _begins(self, block: PdfBlock, last: LineOnPage, line: LineOnPage) -> bool:
        """Whether a line of prose starts a paragraph of its own."""
        if last.text.endswith("-"):
            return False
        width = max(1.0, last.right - last.left)
        ended = bool(_SENTENCE_END.search(last.text))
        missing = (last.right - last.end) / width
        capital = not line.text[:1].islower()
        number = _NUMBERED.match(line.text)
        if number and (ended or missing > 0.15) and abs(line.x - block.indent) < 2 * line.size:
            return True
        # after a bullet the text hangs: only a line back at the bullet's own edge leaves it
        if block.kind == "item":
            return (
                line.x <= block.indent + 0.3 * line.size
                and len(block.lines) > 1
                and block.lines[1].x > block.indent + 0.5 * line.size
            )
        indented = line.x - line.left > 0.8 * line.size and last.x - last.left <= 0.5 * line.size
        if indented and line.x - line.left < 0.3 * width and (ended or missing > 0.15):
            return True
        return (ended and missing > 0.12 and capital) or (missing > 0.4 and capital and last.left == line.left)

    # -- joining

    def _add(self, block: PdfBlock, line: LineOnPage) -> None:
        if block.kind in ("code", "row"):
            indent = " " * max(0, round((line.x - block.indent) / (0.6 * line.size))) if block.kind == "code" else ""
            block.text += f"\n{indent}{line.text}"
        else:
            block.text = self._joined(block.text, line.text)
        block.lines.append(line)

    def _joined(self, before: str, after: str) -> str:
        if before[-1] in "-\u2010\u00ad" and len(before) > 1 and before[-2].isalpha() and after[:1].isalnum():
            return before[:-1] + self._hyphen(before, after) + after
        if (
            is_unspaced(before[-1])
            and is_unspaced(after[0])
            and unicodedata.is_normalized("NFC", before[-1] + after[0])
        ):
            return before + after
        return f"{before} {after}"

    def _hyphen(self, before: str, after: str) -> str:
        """Nothing where a word was cut at the end of a line, "-" where the hyphen belongs to it."""
        if not after[0].islower():
            return "-"
        head = _WORD.findall(before[:-1])[-1:]
        tail = _WORD.match(after)
        if not head or not tail:
            return "-"
        first, second = head[0].lower(), tail[0].lower()
        compound = f"{first}-{second}" in self.habits.words or first in _PREFIXES
        if compound and first + second not in self.habits.words:
            return "-"
        self.mended += 1
        return ""

    def _join_pages(self, blocks: list[PdfBlock]) -> None:
        """Puts the first block of a page behind what the page before broke off, footnotes in between passed over."""
        last = next((block for block in reversed(self.blocks) if not block.small), None)
        first = blocks[0] if blocks else None
        if (
            last is None
            or first is None
            or last.kind not in ("paragraph", "item")
            or first.kind != "paragraph"
            or first.small
        ):
            return
        if abs(last.size - first.size) > 0.5 or _SENTENCE_END.search(last.text):
            return
        if not first.text[0].islower() and last.text[-1] not in "-,":
            return
        joined = self._joined(last.text, first.text)
        last.starts += [(page, len(joined) - len(first.text) + offset) for page, offset in first.starts]
        last.text = joined
        del blocks[0]

    def finished(self, count: int, running: int, contents: int) -> Paragraphs:
        parts: list[str] = []
        starts: dict[int, int] = {}
        length = 0
        before: PdfBlock | None = None
        for block in self.blocks:
            tight = before is not None and before.kind == block.kind == "item"
            prefix, suffix = _dress(block)
            parts += ("" if before is None else "\n" if tight else "\n\n", prefix, block.text, suffix)
            length += len(parts[-4]) + len(prefix)
            for page, offset in block.starts:
                starts.setdefault(page, length - (len(prefix) if not offset else 0) + offset)
            length += len(block.text) + len(suffix)
            before = block
        pages: list[int] = []
        following = length
        for page in range(count - 1, -1, -1):
            following = min(following, starts.get(page, following))
            pages.append(following)
        return Paragraphs("".join(parts), tuple(reversed(pages)), running, contents, self.mended)


def _dress(block: PdfBlock) -> tuple[str, str]:
    if block.kind == "heading":
        return "#" * max(1, block.level) + " ", ""
    return ("```\n", "\n```") if block.kind == "code" else ("", "")
