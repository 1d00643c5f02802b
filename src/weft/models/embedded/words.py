"""Words: tokens of any script, what of them is compared, and how many there are.

A token is a word with its inner apostrophes and hyphens. Scripts without spaces give one token per run of characters;
what is compared there are pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.language.sentences import UNSPACED_LETTERS

# `\w` knows no combining marks, which are half of the letters in Hindi and some in Arabic, Hebrew and Thai.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bcd\u0c00-\u0c56"
    "\u0c81-\u0cd6\u0d00-\u0d57\u0d81-\u0df3\u200c\u200d"
)
_INNER: Final = "'’‘ʼ\\-‑"
# The point inside a number belongs to it: python3.11 is not about python3.
_POINT: Final = r"(?<=\d)[.,](?=\d)"
_SPACED_WORD: Final = re.compile(rf"(?:[^\W_]|[{_MARKS}])+(?:(?:[{_INNER}]|{_POINT})(?:[^\W_]|[{_MARKS}])+)*")
_ELIDED_WORD: Final = re.compile(
    rf"aujourd['’]hui|(?:[^\W_]|[{_MARKS}])+(?:(?:[\-‑]|{_POINT})(?:[^\W_]|[{_MARKS}])+)*", re.I
)
_MIXED_WORD: Final = re.compile(
    rf"[{UNSPACED_LETTERS}]+|(?:(?![{UNSPACED_LETTERS}])[^\W_]|[{_MARKS}])+(?:(?:[{_INNER}]|{_POINT})(?:(?![{UNSPACED_LETTERS}])[^\W_]|[{_MARKS}])+)*"
)
UNSPACED: Final = re.compile(f"[{UNSPACED_LETTERS}]")
UNSPACED_RUN: Final = re.compile(f"[{UNSPACED_LETTERS}]+")
BROKEN_RUN: Final = re.compile(f"(?<=[{UNSPACED_LETTERS}])[ \\t]*\\n\\s*(?=[{UNSPACED_LETTERS}])")
ANY_WORD: Final = re.compile(r"[^\W_]")
_CHUNK: Final = re.compile(r"\S+")
_ELIDING: Final = ("fr", "it", "ca")
_VOWELS: Final = re.compile("[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœаеёиоуыэюя]+")


def word_pattern(text: str, code: str) -> re.Pattern[str]:
    if not text.isascii() and UNSPACED.search(text):
        return _MIXED_WORD
    return _ELIDED_WORD if code in _ELIDING else _SPACED_WORD


def tokens(text: str, code: str = "und") -> list[str]:
    """The words of a text in small letters."""
    return [word.lower().replace("’", "'") for word in word_pattern(text, code).findall(text)]


def is_unspaced(word: str) -> bool:
    return not word.isascii() and UNSPACED.match(word) is not None


def pairs(run: str) -> list[str]:
    """What of a run of characters without spaces is compared: every two neighbours."""
    return [run] if len(run) < 2 else [run[at : at + 2] for at in range(len(run) - 1)]


def count_words(text: str) -> int:
    """As a person counts: what white space parts; each character of a script without spaces for itself."""
    if text.isascii() or not UNSPACED.search(text):
        return sum(1 for chunk in _CHUNK.findall(text) if ANY_WORD.search(chunk))
    single = len(UNSPACED.findall(text))
    return single + sum(1 for chunk in UNSPACED.sub(" ", text).split() if ANY_WORD.search(chunk))


@lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """A fair guess for alphabets with vowels: groups of vowels, without the silent e of English."""
    found = len(_VOWELS.findall(word))
    if word.endswith("e") and not word.endswith("le") and found > 1:
        found -= 1
    return max(1, found)
