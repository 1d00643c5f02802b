"""Text to the numbers a BERT model reads: the uncased WordPiece scheme, with the vocabulary that ships beside it.

Own code because the scheme is small and the usual library brings a client of a model hub with it. The vocabulary is
that of `bert-base-uncased` (Apache-2.0), which all-MiniLM-L6-v2 uses unchanged.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD: Final = 100
_CJK: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, int]:
    text = files("weft.knowledge").joinpath("data/vocabulary.txt").read_text("utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n")) if piece}


def encode(text: str, limit: int) -> list[int]:
    """At most `limit` numbers, the marks of beginning and end included."""
    known = vocabulary()
    numbers = [known[FIRST]]
    for chunk in text.translate(_CLEAN).split():
        numbers += _numbers(chunk)
        if len(numbers) >= limit:
            break
    return [*numbers[: limit - 1], known[LAST]]


def words_of(text: str) -> list[str]:
    """The word that each piece of a text belongs to, in the order of `encode`."""
    chunks = text.translate(_CLEAN).split()
    return [word for chunk in chunks for word in _words(chunk) for _ in _pieces(word)]


@lru_cache(maxsize=65_536)
def _numbers(chunk: str) -> tuple[int, ...]:
    return tuple(number for word in _words(chunk) for number in _pieces(word))


def _words(chunk: str) -> Iterator[str]:
    """Small letters without accents; every punctuation mark by itself."""
    word = ""
    for sign in unicodedata.normalize("NFD", chunk.lower()):
        if unicodedata.category(sign) == "Mn":
            continue
        if _is_punctuation(sign):
            if word:
                yield word
            yield sign
            word = ""
        else:
            word += sign
    if word:
        yield word


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest known piece each time; a word with a piece that is not known is unknown as a whole."""
    known = vocabulary()
    if len(word) > _LONGEST_WORD:
        return (known[UNKNOWN],)
    found: list[int] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            number = known.get(word[start:end] if start == 0 else "##" + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return (known[UNKNOWN],)
    return tuple(found)


class _Clean(dict[int, str]):
    """What a sign becomes, worked out when it is first met: Chinese ones stand by themselves, those that control go."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if sign.isspace():
            found = " "
        elif code in (0, 0xFFFD) or unicodedata.category(sign).startswith("C"):
            found = ""
        elif any(low <= code <= high for low, high in _CJK):
            found = f" {sign} "
        else:
            found = sign
        self[code] = found
        return found


_CLEAN: Final = _Clean()


def _is_punctuation(sign: str) -> bool:
    code = ord(sign)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(sign).startswith("P")
