"""Words: tokens of any script, what of them is compared, and how many there are.

A token is a word with its inner apostrophes and hyphens. Scripts without spaces give one token per run of characters;
what is compared there are pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from typing import Final

from weft.language.sentences import UNSPACED_LETTERS
from weft.language.stems import stem
from weft.models.embedded.lexicon import UNSPACED, Lexicon

# `\w` knows no combining marks, which are half of the letters in Hindi and some in Arabic, Hebrew and Thai.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bcd\u0c00-\u0c56"
    "\u0c81-\u0cd6\u0d00-\u0d57\u0d81-\u0df3\u200c\u200d"
)
_LETTER: Final = rf"(?:(?![{UNSPACED_LETTERS}])[^\W_]|[{_MARKS}])"
# The point inside a number belongs to it: python3.11 is not about python3.
_WORD: Final = re.compile(rf"[{UNSPACED_LETTERS}]+|{_LETTER}+(?:(?:['’‘ʼ\-‑]|(?<=\d)[.,](?=\d)){_LETTER}+)*")
_ELIDED: Final = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’](?=\w)", re.I)
ANY_WORD: Final = re.compile(r"[^\W_]")


def surface_words(text: str) -> list[str]:
    return _WORD.findall(text)


def tokens(text: str) -> list[str]:
    """The words of a text in small letters."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def terms(words: list[str], known: Lexicon) -> tuple[str, ...]:
    """What of a row of words is compared: stems of those that carry content, each once."""
    found: dict[str, None] = {}
    for word in words:
        if UNSPACED.match(word):
            found.update(dict.fromkeys(_pairs(word)))
            continue
        bare = _ELIDED.sub("", word) if known.code in ("fr", "it", "ca") else word
        if bare not in known.function and (len(bare) > 1 or bare.isdigit()):
            found[stem(bare, known.code)] = None
    return tuple(found)


def _pairs(run: str) -> list[str]:
    return [run] if len(run) < 2 else [run[at : at + 2] for at in range(len(run) - 1)]


def count_words(text: str) -> int:
    """As a person counts: what white space parts; each character of a script without spaces for itself."""
    if text.isascii() or not UNSPACED.search(text):
        return sum(1 for chunk in text.split() if ANY_WORD.search(chunk))
    single = len(UNSPACED.findall(text))
    return single + sum(1 for chunk in UNSPACED.sub(" ", text).split() if ANY_WORD.search(chunk))
