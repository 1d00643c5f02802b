"""Words to a query of the keyword index that means what the person typed, whatever they typed.

Nothing of the text is ever read as the index's own query language: every word goes in as a quoted string. A phrase in
quotes must occur as it stands, a word that ends in `*` matches what begins with it, and the rest are alternatives that
BM25 weighs. Words that say nothing are left out while others remain.
"""

from __future__ import annotations

import re
from typing import Final

_PHRASE: Final = re.compile(r"[\"“„]([^\"“”„]{1,300})[\"”]")
_WORD: Final = re.compile(r"\d\w*(?:[.\-/]\w+)+|[^\W\d_]+['’]\w+|\w+\*?")
"""A number with points (`315.12`) is one word, a phrase to the index; what a hyphen joins is several."""
_STOP: Final = frozenset(
    "a about all also an and any are as at be been being but by can could did do does for from had has have how i if in"  # noqa: SIM905
    " into is it its me more most my no nor of on one or our out over so some such than that the their them then there"
    " these they this those to under up upon us very was we were what when where which while who whom why will with"
    " would you your".split()
)
TERM_LIMIT: Final = 64
"""A question has fewer words; a whole document as a query is cut."""


def match_query(text: str) -> str:
    """For `MATCH`; "" when there is no word in `text`."""
    phrases = [_quoted(phrase) for phrase in _PHRASE.findall(text) if _WORD.search(phrase)]
    rest = list(dict.fromkeys(word.lower() for word in _WORD.findall(_PHRASE.sub(" ", text))))
    telling = [word for word in rest if word not in _STOP] or ([] if phrases else rest)
    terms = [f"{_quoted(word[:-1])}*" if word.endswith("*") else _quoted(word) for word in telling[:TERM_LIMIT]]
    required = " AND ".join(phrases)
    if required and terms:
        # What must occur decides what is found; the rest only helps to order it.
        return f"({required}) OR ({required} AND ({' OR '.join(terms)}))"
    return required or " OR ".join(terms)


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace('"', '""') + '"'
