"""Writing from a reading: lines of text that carry the places they come from.

`Writer` puts lines of the source into the engine's own connective words (`wording`), in the source's language. What a
language has no wording for is left to the source's sentences alone. With which of several wordings it begins depends on
the document, so documents differ and the same one never does; no wording comes twice before all came once.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import gcd
from typing import Final

from weft.models.embedded.clauses import finished, unfinished
from weft.models.embedded.reading import Reading
from weft.models.embedded.sentence import Sentence, Span
from weft.models.embedded.wording import ENGLISH_FORMS, ENGLISH_ONLY, wording

_ANGLED: Final = ("«", "»")
_MARKS: Final = {"de": ("„", "“"), "ja": ("「", "」"), **dict.fromkeys(("fr", "es", "it", "pt", "ru", "ar"), _ANGLED)}
_OTHER: Final = {"“": ("‘", "’", ""), "„": ("»", "«", "")}
_DOUBLED: Final = re.compile(r"([…?!？！؟])\.(?!\.)")
"""The stop of a wording after a part that has its own."""
_IN_NUMBER: Final = re.compile(r"\d")
_NUMBER_END: Final = re.compile(r"[\d.,'’٫٬]+$")
_COMMON: Final = (
    "tion",
    "sion",
    "tions",
    "sions",
    "ment",
    "ments",
    "ness",
    "ity",
    "ities",
    "ings",
    "ers",
    "ance",
    "ence",
)
_FIELD: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def evidence(self) -> list[list[int]]:
        return [[start, end] for start, end in self.spans]


NOTHING: Final = Line("")


def spans_of(lines: Iterable[Line | str]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for line in lines if isinstance(line, Line) for span in line.spans))


class Writer:
    """One for each artifact: it remembers which wordings it has used."""

    def __init__(self, reading: Reading, group: str = "", taste: str = "") -> None:
        """`group`: what the document is made of (`kinds.group`); some wordings are different for it.

        `taste`: for whom it is written; two people begin with different wordings for the same document.
        """
        self.reading = reading
        self.group = group
        self.language = reading.language
        self._wording = wording(reading.language.code)
        self._used: Counter[str] = Counter()
        self._salt = zlib.crc32(f"{reading.sentences[0].text}{taste}".encode("utf-8", "replace"))
        self._small = frozenset(
            word for sentence in reading.sentences[:400] for word in sentence.surface if word.islower()
        )

    def can(self, key: str) -> bool:
        return bool(self._variants(key))

    def _variants(self, key: str) -> tuple[str, ...]:
        special = self._wording.get(f"{key}.{self.group}", ()) if self.group else ()
        return special or self._wording.get(key, ())

    def forms(self) -> tuple[str, ...]:
        """Names for a text that has too few words to name anything."""
        return self._wording.get("form", ENGLISH_FORMS)

    def say(self, key: str, **parts: Line | str) -> Line:
        """The wording with its parts put in; nothing when the language has no such wording."""
        variants = self._variants(key)
        if not variants:
            return NOTHING
        chance = zlib.crc32(key.encode(), self._salt)
        stride = next(step for step in (chance // 97 % len(variants), 1) if gcd(step, len(variants)) == 1)
        at = (chance + self._used[key] * stride) % len(variants)
        self._used[key] += 1
        text = _FIELD.sub(lambda match: _text(parts.get(match.group(1), "")), variants[at])
        return Line(_DOUBLED.sub(r"\1", text), spans_of(parts.values()))

    def quoted(self, line: Line) -> Line:
        """In the quotation marks of the language; inner marks of the same style step back."""
        opening, closing = _MARKS.get(self.language.code, ("“", "”"))
        text = unfinished(line.text) if not line.text.endswith(("?", "!", "？", "！", "؟")) else line.text
        bare = text.strip('"“”„«»「」 ')
        text = text if any(mark in bare for mark in '"“”„«»「」') else bare
        space = "\u00a0" if self.language.code == "fr" else ""
        if opening in text:
            # The same marks inside each other can't be told apart.
            opening, closing, space = _OTHER.get(opening, ("“", "”", ""))
        return Line(f"{opening}{space}{text}{space}{closing}", line.spans)

    def cited(self, line: Line) -> Line:
        """In quotation marks, with its own stop inside: somebody's words before a question about them."""
        quoted = self.quoted(line).text
        bare = quoted[:-1].rstrip("\u00a0")
        return Line(f"{finished(bare)}{quoted[len(bare) :]}", line.spans)

    @property
    def colon(self) -> str:
        return "：" if not self.language.spaced else "\u00a0: " if self.language.code == "fr" else ": "

    def row(self, lines: Iterable[Line]) -> Line:
        """One after the other."""
        told = [line for line in lines if line]
        gap = " " if self.language.spaced else ""
        return Line(gap.join(line.text for line in told), spans_of(told))

    def paragraphs(self, lines: Iterable[Line]) -> Line:
        told = [line for line in lines if line]
        return Line("\n\n".join(line.text for line in told), spans_of(told))

    def listed(self, items: Sequence[str]) -> str:
        if not self.language.spaced:
            return "、".join(items)
        last = self._wording.get("and")
        if len(items) < 2 or not last:
            return ", ".join(items)
        # In Arabic it is written together with the word behind it.
        gap = "" if self.language.code == "ar" else " "
        return f"{', '.join(items[:-1])} {last[0]}{gap}{items[-1]}"

    def inside(self, line: Line) -> Line:
        """For the middle of a sentence: without its stop, and in small letters unless its first word never is."""
        text = unfinished(line.text)
        first = re.match(r"[\w'’-]+", text)
        word = first.group() if first else ""
        lowered = word[:1].lower() + word[1:]
        if (
            word != "I"
            and not word.startswith(("I'", "I’"))
            and (lowered in self._small or lowered in self.language.function or self._is_common(word))
        ):
            text = text[:1].lower() + text[1:]
        return Line(text, line.spans)

    def _is_common(self, word: str) -> bool:
        """Whether an English word with a capital is no name: by its ending, and because nobody here is called so."""
        named = any(word in name.text.split() for name in self.reading.names)
        return self.language.code == "en" and word.lower().endswith(_COMMON) and not named

    def at_least(self, line: Line, least: int, more: Iterable[Line] = ()) -> Line:
        """Long enough for its field: with more of the source, then by saying that there is no more."""
        rest = (line_of(sentence, finished(sentence.text)) for sentence in self.reading.sentences[:60])
        for extra in chain(more, rest):
            if len(line.text) >= least:
                return line
            if unfinished(extra.text) not in line.text:
                line = self.row([line, extra])
        for note in self._wording.get("only", ENGLISH_ONLY):
            if len(line.text) < least:
                line = self.row([Line(finished(line.text), line.spans), Line(note)])
        while len(line.text) < least:
            line = Line(f"{line.text} · {line.text}", line.spans)
        return line


def _text(part: Line | str) -> str:
    return part.text if isinstance(part, Line) else part


def line_of(sentence: Sentence, text: str = "") -> Line:
    return Line(text or sentence.text, sentence.spans)


def fits(text: str, most: int) -> str:
    """Cut to a number of characters, at a space where there is one, with a sign that it was cut."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    space = head.rfind(" ")
    if space > most // 2:
        head = head[:space]
    elif _IN_NUMBER.search(text, max(0, most - 24), most + 1):
        # Half of a number is another number.
        head = _NUMBER_END.sub("", head)
    return head.rstrip(" ,;:–—-") + "…"
