"""Words to the keyword index and to queries of it that mean what the person typed, whatever they typed.

The index holds stems, by the one stemmer of the house, and a query is stemmed alike. Nothing of a question is ever read
as the index's own query language: every word goes in as a quoted string. A phrase in quotes must occur as it stands, a
word that ends in `*` matches what begins with it, and the rest are alternatives that BM25 weighs, each as often as it
was said. Words that say nothing are left out while others remain.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from weft.language.stems import stem
from weft.models.embedded.lexicon import KNOWN, detect, lexicon

_PHRASE: Final = re.compile(r"[\"“„]([^\"“”„]{1,300})[\"”]")
_WORD: Final = re.compile(r"\d\w*(?:[.\-/]\w+)+|[^\W\d_]+['’]\w+|\w+\*?")
"""A number with points (`315.12`) is one word, a phrase to the index; what a hyphen joins is several."""
_STOP: Final = frozenset(
    "a about all also an and any are as at be been being but by can could did do does for from had has have how i if in"  # noqa: SIM905
    " into is it its me more most my no nor of on one or our out over so some such than that the their them then there"
    " these they this those to under up upon us very was we were what when where which while who whom why will with"
    " would you your".split()
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
TERM_LIMIT: Final = 256
"""A question has fewer words; a whole document as a query is cut."""


def stems(text: str) -> list[str]:
    """The words of a text as the index has them."""
    return [stem(word) for word in _TOKEN.findall(text)]


class _Pieces(dict[str, str]):
    """Stretches of letters, digits and apostrophes, each with its stems. A text has few that another had not."""

    LIMIT: Final = 200_000

    def __missing__(self, piece: str) -> str:
        if len(self) >= self.LIMIT:
            self.clear()
        found = self[piece] = " ".join(stems(piece))
        return found


_PIECES: Final = _Pieces()
_TO_PIECES: Final = bytes(sign if chr(sign).isalnum() or sign == ord("'") else ord(" ") for sign in range(128)).lower()


def indexed_text(text: str) -> str:
    """The stems of a text, for the index."""
    if not text.isascii():
        return " ".join(stems(text))
    pieces = text.encode().translate(_TO_PIECES.ljust(256)).decode().split()
    return " ".join(filter(None, map(_PIECES.__getitem__, pieces)))


def folded(term: str) -> str:
    """Without accents, as the index writes it."""
    return "".join(sign for sign in unicodedata.normalize("NFD", term) if unicodedata.category(sign) != "Mn")


def telling_words(text: str) -> list[str]:
    """What carries the sense of a question, as stems, each as often as it was said; all words when none does."""
    return [found for word in _telling(text) for found in stems(word)]


def plain_words(text: str) -> list[str] | None:
    """The words of a question as the index has them, each as often as it was said; None when it asks for more than
    words: a phrase, what begins so, a word that is several to the index."""
    found = [stems(word) for word in _telling(text)[:TERM_LIMIT] if not word.endswith("*")]
    words = [folded(own[0]) for own in found if len(own) == 1 and own[0].isalnum()]
    return None if _PHRASE.search(text) or len(words) < len(_telling(text)[:TERM_LIMIT]) else words


def _telling(text: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    small = _small_words(detect(text))
    return [word for word in words if word not in small] or words


@lru_cache(maxsize=len(KNOWN))
def _small_words(code: str) -> frozenset[str]:
    return lexicon(code).function if code in KNOWN and code != "en" else _STOP


def match_query(text: str) -> str:
    """For `MATCH`; "" when there is no word in `text`."""
    phrases = [_quoted(indexed_text(phrase)) for phrase in _PHRASE.findall(text) if _TOKEN.search(phrase)]
    rest = _PHRASE.sub(" ", text)
    telling = [word for word in _telling(rest) if not phrases or word not in _STOP]
    terms = [term for word in telling[:TERM_LIMIT] if (term := _term(word))]
    required = " AND ".join(phrases)
    if required and terms:
        # What must occur decides what is found; the rest only helps to order it.
        return f"({required}) OR ({required} AND ({' OR '.join(terms)}))"
    return required or " OR ".join(terms)


def _term(word: str) -> str:
    if not word.endswith("*"):
        found = indexed_text(word)
        return _quoted(found) if found else ""
    begin, whole = word[:-1], indexed_text(word[:-1])
    if whole.startswith(begin):
        return f"{_quoted(begin)}*"
    return f"({_quoted(begin)}* OR {_quoted(whole)})" if whole else ""


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', '""') + '"'
