"""The stem of a word: what its forms have in common (`tide` and `tides`, `make`, `makes` and `making`).

Snowball's algorithms, by the code of the language. A language without one keeps its words as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import Stemmer

ALGORITHMS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "id": "indonesian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_POSSESSIVE: Final = ("'s", "’s", "'", "’")


@lru_cache(maxsize=65_536)
def stem(word: str, code: str = "en") -> str:
    """Of one word, in any case; `code` is the language's two letters."""
    small = word.lower()
    for ending in _POSSESSIVE:
        small = small.removesuffix(ending)
    stemmer = _stemmer(code)
    return small if stemmer is None else str(stemmer.stemWord(small))


@lru_cache(maxsize=len(ALGORITHMS) + 1)
def _stemmer(code: str) -> Stemmer.Stemmer | None:
    if code not in ALGORITHMS:
        return None
    return Stemmer.Stemmer(ALGORITHMS[code], 0)
