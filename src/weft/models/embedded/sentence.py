"""The sentences of a document, each with its place, its words and what it does in the argument.

Rows of tables, lines of code and headings are no sentences; they stand in for them only in a document that has nearly
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from weft.models.embedded.languages import Language, Role
from weft.models.embedded.layout import GAP, Block, Kind, Layout
from weft.models.embedded.splitting import split_sentences
from weft.models.embedded.tables import cells
from weft.models.embedded.words import ANY_WORD, is_unspaced, pairs, stem, word_pattern

Span = tuple[int, int]
FEW: Final = 3
"""With fewer sentences than this, whatever else there is has to speak for a document."""
_QUESTION: Final = re.compile(r"[?？؟][\"'”’»›)\]』」）]*$")
_ENDED: Final = re.compile(r"[.!?…。！？؟।｡][\"'”’»›)\]』」）]*$")
_RULE_ROW: Final = re.compile(r"[\s|:+=-]*$")
_ADDRESS: Final = re.compile(r"\w+://|www\.|\S+@\S+\.\w|[\w-]+/[\w-]+/")
_LETTER: Final = re.compile(r"[^\W\d_]")
_INSIDE: Final = re.compile(r"^[\s'’\-‑]*$")


@dataclass(slots=True, eq=False)
class Sentence:
    index: int
    start: int
    end: int
    text: str
    """On one line, without mark-up."""
    kind: Kind
    block: int
    section: int
    first: bool
    """Whether it begins its block."""
    quoted: bool
    speaker: str
    verbatim: bool
    """Whether the document has `text` exactly so, white space aside."""
    header: Span | None = None
    surface: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    breaks: frozenset[int] = frozenset()
    """Which words have more than a space before them."""
    terms: tuple[str, ...] = ()
    """The stems of its content words, each once."""
    roles: frozenset[Role] = frozenset()
    size: int = 0
    """In words; two characters of a script without spaces count as one."""
    rank: float = 0.0
    near: tuple[tuple[int, float], ...] = field(default=())
    """The sentences most like it."""

    @property
    def spans(self) -> tuple[Span, ...]:
        return ((self.start, self.end),) if self.header is None else ((self.start, self.end), self.header)

    @property
    def asks(self) -> bool:
        return bool(_QUESTION.search(self.text))

    @property
    def ended(self) -> bool:
        return bool(_ENDED.search(self.text))

    @property
    def sound(self) -> bool:
        """Whether it can be shown to a reader by itself: a sentence of letters, neither a scrap nor a monster."""
        if self.kind not in ("prose", "item") or not 4 <= self.size <= 60 or _ADDRESS.search(self.text):
            return False
        letters = len(_LETTER.findall(self.text))
        return letters >= 0.55 * len(self.text.replace(" ", "")) and not self.text.isupper()


def build_sentences(text: str, layout: Layout, language: Language, small: frozenset[str]) -> list[Sentence]:
    """`small`: the words that carry no content, of all languages of the document."""
    found: list[Sentence] = []
    spare: list[Sentence] = []
    section = -1
    header: Span | None = None
    for number, block in enumerate(layout.blocks):
        if block.kind == "heading":
            section += 1
        header = _header(layout, number, header)
        for at, (low, high) in enumerate(_places(layout.plain, block, language)):
            sentence = _sentence(text, layout, block, low, high, header)
            if sentence is None or sentence.start == (header or (-1, 0))[0]:
                continue
            sentence.block, sentence.section, sentence.first = number, section, at == 0
            (found if block.kind in ("prose", "item") else spare).append(sentence)
    if sum(1 for sentence in found if _has_size(sentence, language)) < FEW:
        found = sorted([*found, *spare], key=lambda sentence: sentence.start)
    marked = _marks(language)
    for index, sentence in enumerate(found):
        sentence.index = index
        _read_words(sentence, language, small)
        sentence.roles = frozenset(marked.roles(sentence))
    return found


def clean(plain: str) -> str:
    return " ".join(plain.replace(GAP, "").split())


def _has_size(sentence: Sentence, language: Language) -> bool:
    return len(sentence.text) >= 12 and (sentence.text.count(" ") >= 3 or not language.spaced)


def _places(plain: str, block: Block, language: Language) -> list[Span]:
    if block.kind in ("prose", "item"):
        return split_sentences(plain, block.start, block.end, language)
    return [(block.start, block.end)]


def _sentence(
    text: str, layout: Layout, block: Block, low: int, high: int, header: Span | None
) -> Sentence | None:  # fmt: skip
    said = clean(layout.plain[low:high])
    over = header if block.kind == "table" else None
    if block.kind == "table":
        names = cells(clean(layout.plain[over[0] : over[1]])) if over else []
        said = _row(layout.plain[low:high], names)
    if not ANY_WORD.search(said):
        return None
    same = said == " ".join(text[low:high].split())
    return Sentence(0, low, high, said, block.kind, 0, 0, False, block.quoted, block.speaker, same, over)


def _header(layout: Layout, number: int, before: Span | None) -> Span | None:
    """The first row of the table that a row belongs to; it names the columns."""
    block = layout.blocks[number]
    if block.kind != "table":
        return None
    if number and layout.blocks[number - 1].kind == "table":
        return before
    return (block.start, block.end)


def _row(plain: str, names: list[str]) -> str:
    if _RULE_ROW.match(plain):
        return ""
    values = [clean(value) for value in cells(plain.replace(GAP, ""))]
    if len(names) == len(values):
        return "; ".join(
            f"{name}: {value}" if name else value for name, value in zip(names, values, strict=True) if value
        )
    return ", ".join(value for value in values if value)


def _read_words(sentence: Sentence, language: Language, small: frozenset[str]) -> None:
    surface: list[str] = []
    breaks: list[int] = []
    end = 0
    size = 0.0
    for match in word_pattern(sentence.text, language.code).finditer(sentence.text):
        if surface and not _INSIDE.match(sentence.text[end : match.start()]):
            breaks.append(len(surface))
        surface.append(match.group())
        size += len(match.group()) / 2 if is_unspaced(match.group()) else 1
        end = match.end()
    sentence.surface = tuple(surface)
    sentence.words = tuple(word.lower().replace("’", "'") for word in surface)
    sentence.breaks = frozenset(breaks)
    sentence.size = round(size)
    sentence.terms = tuple(dict.fromkeys(_terms(sentence.words, language, small)))


def _terms(words: Sequence[str], language: Language, small: frozenset[str]) -> Iterator[str]:
    for word in words:
        if is_unspaced(word):
            yield from (pair for pair in pairs(word) if small.isdisjoint(pair) and pair not in small)
        elif word not in small and len(word) > 1 and not word[0].isdigit():
            yield stem(word, language)


class _Marks:
    """The marks of a language, found by their first word; as a pattern where words are not parted."""

    def __init__(self, language: Language) -> None:
        self._by_word: dict[str, list[tuple[tuple[str, ...], Role]]] = {}
        self._patterns: list[tuple[re.Pattern[str], Role]] = []
        for role, marks in language.roles.items():
            if not language.spaced:
                self._patterns.append((re.compile("|".join(map(re.escape, marks))), role))
                continue
            for mark in marks:
                first, *rest = mark.split()
                self._by_word.setdefault(first, []).append((tuple(rest), role))

    def roles(self, sentence: Sentence) -> Iterator[Role]:
        yield from (role for pattern, role in self._patterns if pattern.search(sentence.text))
        words = sentence.words
        for at, word in enumerate(words):
            for rest, role in self._by_word.get(word, ()):
                if not rest or words[at + 1 : at + 1 + len(rest)] == rest:
                    yield role


@lru_cache(maxsize=32)
def _marks(language: Language) -> _Marks:
    return _Marks(language)
