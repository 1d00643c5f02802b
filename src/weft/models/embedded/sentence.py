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

from weft.language.sentences import GAP
from weft.language.stems import stem
from weft.models.embedded.languages import Language, Role
from weft.models.embedded.layout import Block, Kind, Layout
from weft.models.embedded.splitting import split_sentences
from weft.models.embedded.tables import cells
from weft.models.embedded.ties import has_verb, lacks_antecedent
from weft.models.embedded.words import ANY_WORD, BROKEN_RUN, is_unspaced, pairs, word_pattern

Span = tuple[int, int]
FEW: Final = 3
"""With fewer sentences than this, whatever else there is has to speak for a document."""
_QUESTION: Final = re.compile(r"[?？؟][\"'”’»›)\]』」）]*$")
_ENDED: Final = re.compile(r"[.!?…。！？؟।｡][\"'”’»›)\]』」）]*$")
_RULE_ROW: Final = re.compile(r"[\s|:+=-]*$")
_UNSAID: Final = re.compile(
    r"\w+://|www\.|\S+@\S+\.\w|[\w-]+/[\w-]+/|\[-?-?[\w.=]+\]|%[sdc]\b|\{\w+\||©|\(c\) \d{4}|^copyright\b|(?<!\w)[@#]\w"
    r"|all rights reserved|you should have received a copy|without even the implied warranty",
    re.I,
)
"""Addresses, syntax, marks of ownership: nothing that somebody says."""
_LONG_LINE: Final = 40
_BEGINNING: Final = re.compile(r"[\w\"'“”„«»‘’「『(\[¿¡`@#$€£§…]|[^\x00-\x7f]")
_LABEL: Final = re.compile(r"[^\W\d_][\w'’]*(?: [\w'’]+){0,2}:\s")
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
    label: str = ""
    """The word before its paragraph: `results`."""
    surface: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()
    """Where in `text` each word begins."""
    words: tuple[str, ...] = ()
    breaks: frozenset[int] = frozenset()
    """Which words have more than a space before them."""
    terms: tuple[str, ...] = ()
    """The stems of its content words, each once."""
    roles: frozenset[Role] = frozenset()
    size: int = 0
    """In words; two characters of a script without spaces count as one."""
    asks: bool = False
    ended: bool = False
    """Whether it has its stop."""
    sound: bool = False
    """See `is_sound`."""
    elsewhere: bool | None = None
    """See `points_elsewhere`; None until somebody asks."""
    piece: bool = False
    """Whether it is only a part of a sentence."""
    free: bool = False
    """Whether it may lean all the same: a line of a poem stands as it is."""
    tied: bool = False
    """Whether it speaks of somebody or something that only the sentences before name: see `tied`."""
    fragment: bool = False
    """Whether it begins in small letters where others begin with a capital."""
    rank: float = 0.0
    near: tuple[tuple[int, float], ...] = field(default=())
    """The sentences most like it."""

    @property
    def spans(self) -> tuple[Span, ...]:
        return ((self.start, self.end),) if self.header is None else ((self.start, self.end), self.header)

    def words_from(self, start: int, end: int) -> str:
        """Some of its words, with what stands between them."""
        return self.text[self.offsets[start] : self.offsets[end - 1] + len(self.surface[end - 1])]


def is_sound(sentence: Sentence) -> bool:
    """Whether it can be shown to a reader by itself: a sentence of letters, neither a scrap nor a monster."""
    if sentence.kind not in ("prose", "item") or not 4 <= sentence.size <= 60 or _UNSAID.search(sentence.text):
        return False
    if sentence.kind == "prose" and sentence.size < 8 and not sentence.ended:
        return False
    if not _BEGINNING.match(sentence.text) or sentence.text.startswith(("_", "を")):
        # An option or an identifier with what it does, or the rest of a line.
        return False
    if sentence.text.endswith((":", "：")):
        # It only leads to what follows.
        return False
    letters = len(_LETTER.findall(sentence.text))
    return letters >= 0.6 * len(sentence.text.replace(" ", "")) and not sentence.text.isupper()


def is_scrap(sentence: Sentence, language: Language) -> bool:
    """Whether it is only a label with what belongs to it, `Action: Peter, by 20 May`, or a few words without a verb."""
    if not language.verbs:
        return False
    label = _LABEL.match(sentence.text)
    if label and sentence.size < 14 and not has_verb(sentence.words[label.group().count(" ") :], language):
        return True
    few = 8 if language.code == "en" else 5
    short = sentence.kind == "prose" and sentence.size < few and not sentence.asks
    return short and not has_verb(sentence.words, language)


def is_tied(sentence: Sentence, language: Language) -> bool:
    return language.spaced and lacks_antecedent(
        sentence.text, sentence.surface, sentence.words, sentence.breaks, language
    )


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
            sentence.label = block.label
            (found if block.kind in ("prose", "item") else spare).append(sentence)
    if sum(1 for sentence in found if _has_size(sentence, language)) < FEW:
        found = sorted([*found, *spare], key=lambda sentence: sentence.start)
    small_starts = [sentence for sentence in found if sentence.text[:1].islower()]
    for sentence in small_starts if 2 * len(small_starts) < len(found) else ():
        sentence.fragment = True
    _part(found)
    marked = _marks(language)
    for index, sentence in enumerate(found):
        sentence.index = index
        _read_words(sentence, language, small)
        roles = frozenset(marked.roles(sentence))
        sentence.roles = roles - {"advice"} if "unknown" in roles else roles
        sentence.asks = bool(_QUESTION.search(sentence.text))
        sentence.ended = bool(_ENDED.search(sentence.text))
        sentence.sound = is_sound(sentence) and not (sentence.piece or is_scrap(sentence, language))
        sentence.tied = is_tied(sentence, language)
    return found


def _part(found: Sequence[Sentence]) -> None:
    """Mark the pieces of sentences that were cut for their length, or that a list or a table cuts off.

    Only where the others have their stops: captions have none at all.
    """
    prose = [one for one in found if one.kind in ("prose", "item") and len(one.text) > _LONG_LINE]
    if sum(1 for sentence in prose if _ENDED.search(sentence.text)) < 0.6 * len(prose):
        return
    before: Sentence | None = None
    for sentence in found:
        cut = before is not None and before.block == sentence.block and before.piece
        unended = len(sentence.text) > _LONG_LINE and not _ENDED.search(sentence.text)
        sentence.piece = sentence.kind in ("prose", "item") and (unended or cut) and not sentence.speaker
        before = sentence if unended else None


def clean(plain: str) -> str:
    """On one line; without a space where a line breaks inside a script that has none."""
    return " ".join(BROKEN_RUN.sub("", plain.replace(GAP, "")).split())


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
    offsets: list[int] = []
    breaks: list[int] = []
    end = 0
    size = 0.0
    for match in word_pattern(sentence.text, language.code).finditer(sentence.text):
        if surface and not _INSIDE.match(sentence.text[end : match.start()]):
            breaks.append(len(surface))
        surface.append(match.group())
        offsets.append(match.start())
        size += len(match.group()) / 2 if is_unspaced(match.group()) else 1
        end = match.end()
    sentence.surface, sentence.offsets = tuple(surface), tuple(offsets)
    sentence.words = tuple(word.lower().replace("’", "'") for word in surface)
    sentence.breaks = frozenset(breaks)
    sentence.size = round(size)
    sentence.terms = tuple(dict.fromkeys(_terms(sentence.words, language, small)))


def _terms(words: Sequence[str], language: Language, small: frozenset[str]) -> Iterator[str]:
    for word in words:
        if is_unspaced(word):
            yield from (pair for pair in pairs(word) if small.isdisjoint(pair) and pair not in small)
        elif word not in small and len(word) > 1 and not word[0].isdigit():
            yield stem(word, language.code)


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
                if rest and words[at + 1 : at + 1 + len(rest)] != rest:
                    continue
                # `should have been` regrets, it advises nothing.
                if role != "advice" or words[at + 1 + len(rest) : at + 2 + len(rest)] not in (("have",), ("haben",)):
                    yield role


@lru_cache(maxsize=32)
def _marks(language: Language) -> _Marks:
    return _Marks(language)
