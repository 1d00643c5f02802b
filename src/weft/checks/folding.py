"""When two texts are the same words: after white space and the style of quotation marks are made alike.

Any run of white space (line breaks and no-break spaces too) is one space. Double quotation marks of any style are one
sign and single ones another: not the same one, because 5' and 5" are different lengths. Texts are composed first
(NFC), since é as one code point or as two is the same letter to Unicode and to every reader. Nothing else is alike.

Folding keeps a second text, `shown`, with the document's own quotation marks; both have the same positions.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Any, Final

from weft.checks.paths import ValuePlace, leaves
from weft.protocol.values import dataclass

# All that have Unicode's Quotation_Mark property, and the apostrophe that is a letter. Corner brackets go by rank.
_DOUBLE: Final = (
    "\u00ab\u00bb\u201c\u201d\u201e\u201f\u2e42\u300c\u300d\u301d\u301e\u301f\ufe41\ufe42\uff02\uff62\uff63"
)
_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2039\u203a\u300e\u300f\ufe43\ufe44\uff07\u02bc"
_QUOTES: Final = {ord(mark): '"' for mark in _DOUBLE} | {ord(mark): "'" for mark in _SINGLE}


@dataclass(frozen=True)
class Folded:
    name: str
    shown: str
    text: str

    @cached_property
    def lowered(self) -> str:
        """In small letters, for looking, position by position the same as `text`."""
        return lower_each(self.text)


def fold(text: str, name: str = "") -> Folded:
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    return Folded(name, spaced, spaced if spaced.isascii() else spaced.translate(_QUOTES))


def place_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, word by word, whatever the white space and the quotation marks; None when it
    does not."""
    words = fold(quote).text.split(" ")
    if words == [""]:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text.translate(_QUOTES))
    return found.span() if found else None


def places_of(words: str, text: str) -> list[tuple[int, int]]:
    """Wherever words stand in a text; white space, marks of emphasis and the style of quotation marks do not count."""
    parts = [re.escape(part) for part in re.split(r"[\s*_]+", fold(words).text) if part]
    if not parts:
        return []
    return [found.span() for found in re.finditer(r"[\s*_>]+".join(parts), text.translate(_QUOTES))]


def lower_each(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    # A few capitals (İ) become two code points; leaving those alone keeps the positions.
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def text_of(document: Any) -> str:
    """A document as text: itself, or all string values of parsed JSON, a line each."""
    if isinstance(document, str):
        return document
    return "\n".join(leaf.value for leaf in leaves(ValuePlace("", document)) if isinstance(leaf.value, str))
